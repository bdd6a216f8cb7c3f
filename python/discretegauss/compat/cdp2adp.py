"""``cdp2adp`` of the code published with the paper: zCDP to (epsilon, delta) and back.

Replace ``import cdp2adp`` by ``from discretegauss.compat import cdp2adp``. The original functions
return floats found by bisection; these return the certified bounds of `discretegauss.privacy`.
Delta and epsilon are never below the exact value, and rho, a budget, is never above it.

Source: Canonne, Kamath and Steinke, arXiv 2004.00010, Corollary 13, Theorem 7 and Proposition 3.
"""

from __future__ import annotations

from .._inputs.numbers import not_negative
from ..laws import DiscreteGaussian
from ..privacy import delta as tight_delta
from ..privacy import zcdp_delta, zcdp_delta_standard, zcdp_epsilon, zcdp_rho
from ..utility import continuous_gaussian_delta

__all__ = [
    "cdp_delta",
    "cdp_delta_standard",
    "cdp_eps",
    "cdp_rho",
    "cg_delta",
    "dg_delta",
]
__dir__ = __all__.copy  # dir() and completion show these names alone


def cdp_delta_standard(rho: object, eps: object) -> float:
    """Return delta of rho-zCDP at eps by the older conversion."""
    return zcdp_delta_standard(rho, eps)


def cdp_delta(rho: object, eps: object) -> float:
    """Return delta of rho-zCDP at eps by the optimal conversion (Corollary 13)."""
    return zcdp_delta(rho, eps)


def cdp_eps(rho: object, delta: object) -> float:
    """Return epsilon of rho-zCDP at delta > 0; 0 if delta is at least 1 or rho is 0."""
    if not_negative(delta, "delta") >= 1 or not_negative(rho, "rho") == 0:
        return 0.0
    return zcdp_epsilon(rho, delta)


def cdp_rho(eps: object, delta: object) -> float:
    """Return the largest rho that implies (eps, delta); 0 if delta is at least 1."""
    exact = not_negative(eps, "eps")
    return 0.0 if not_negative(delta, "delta") >= 1 else zcdp_rho(exact, delta)


def dg_delta(sigma2: object, eps: object, sens: object = 1, iters: object = None) -> float:
    """Return the least delta of the discrete Gaussian at eps; ``iters`` is ignored."""
    del iters
    return tight_delta(DiscreteGaussian(sigma2), eps, sens)


def cg_delta(sigma2: object, eps: object) -> float:
    """Return the least delta of the continuous Gaussian at eps."""
    return continuous_gaussian_delta(sigma2, eps)
