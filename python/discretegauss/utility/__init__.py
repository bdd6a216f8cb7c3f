"""Comparisons of integer noise with other noise, as in arXiv 2004.00010.

- `compare_noise`: the continuous, the rounded and the discrete Gaussian and the discrete Laplace
  side by side, at the same zCDP budget.
- `compare_queries`: the noise that k queries need for (epsilon, delta), Gaussian and Laplace.
- Their parts: `rounded_gaussian_pmf`, `rounded_gaussian_sf`, `rounded_gaussian_variance`;
  `continuous_gaussian_sf`, `continuous_gaussian_delta`.

Nothing here draws noise. ``examples/paper_figures.py`` draws the paper's figures.
"""

from .compare import compare_noise, compare_queries
from .gaussians import (
    continuous_gaussian_delta,
    continuous_gaussian_sf,
    rounded_gaussian_pmf,
    rounded_gaussian_sf,
    rounded_gaussian_variance,
)

__all__ = [
    "compare_noise",
    "compare_queries",
    "continuous_gaussian_delta",
    "continuous_gaussian_sf",
    "rounded_gaussian_pmf",
    "rounded_gaussian_sf",
    "rounded_gaussian_variance",
]
__dir__ = __all__.copy  # dir() and completion show these names alone
