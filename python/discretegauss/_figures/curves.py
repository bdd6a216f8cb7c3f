"""Figure: delta against epsilon, for one discrete Gaussian, by each way to compute it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from ..laws import DiscreteGaussian
from ..privacy import delta, rho, zcdp_delta, zcdp_delta_standard
from ..utility import continuous_gaussian_delta
from .drawing import LINES, Panels, finish

__all__ = ["draw_curves"]

_POINTS = 241
_LEAST_DELTA = 1e-12
_PANELS = ((Fraction(1), Fraction(8)), (Fraction(100), Fraction(4, 5)))
"""sigma2, and the largest epsilon shown."""


def draw_curves(figure: Any, panels: Panels) -> None:
    """Draw the curves for a small and for a larger sigma2."""
    for axes, (sigma2, last) in zip(panels, _PANELS, strict=True):
        law = DiscreteGaussian(sigma2)
        cost = rho(law)
        grid = [last * Fraction(i, _POINTS - 1) for i in range(_POINTS)]
        x = [float(epsilon) for epsilon in grid]
        by_standard, by_zcdp = partial(zcdp_delta_standard, cost), partial(zcdp_delta, cost)
        continuous = partial(continuous_gaussian_delta, sigma2)
        curves = (
            ("standard conversion", "zCDP, standard conversion", by_standard),
            ("bound or conversion", "zCDP, optimal conversion\n(Corollary 13)", by_zcdp),
            ("discrete Gaussian", "tight (Theorem 7)", partial(delta, law)),
            ("continuous Gaussian", "continuous Gaussian, tight", continuous),
        )
        for look, label, delta_at in curves:
            y = [delta_at(epsilon) for epsilon in grid]
            axes.semilogy(x, y, **LINES[look] | {"marker": "", "label": label})
        axes.set_ylim(_LEAST_DELTA, 3)
        title = f"sigma2 = {sigma2} (rho = {cost})"
        finish(axes, title, "epsilon (natural logarithm of a ratio)", "delta (a probability)")
    figure.suptitle(
        "What the discrete Gaussian costs in (epsilon, delta), one query of sensitivity 1"
    )
