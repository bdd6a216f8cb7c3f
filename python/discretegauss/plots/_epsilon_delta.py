"""Figure: delta against epsilon, for one discrete Gaussian, by each way to compute it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from .._inputs.privacy_arguments import positive_number
from ..laws import DiscreteGaussian
from ..privacy import delta, rho, zcdp_delta, zcdp_delta_standard
from ..utility import continuous_gaussian_delta
from .look import Panels, finish, look_of

_POINTS = 241
_LEAST_DELTA = 1e-12
_PANELS = ((Fraction(1), Fraction(8)), (Fraction(100), Fraction(4, 5)))
"""sigma2, and the largest epsilon shown."""


def epsilon_delta(ax: Any, *, sigma2: object = 1, last: object = 8) -> Any:
    """Draw delta against epsilon for one query of sensitivity 1, by each way to compute it.

    Parameters
    ----------
    ax : matplotlib axes
        Where to.
    sigma2 : number, optional
        Of the discrete Gaussian, > 0.
    last : number, optional
        The largest epsilon, > 0.

    Returns
    -------
    matplotlib axes
        The same.

    Notes
    -----
    The optimal conversion is Corollary 13 of arXiv 2004.00010, the tight curve Theorem 7.
    """
    law = DiscreteGaussian(sigma2)
    end = positive_number(last, "last")
    cost = rho(law)
    grid = [end * Fraction(i, _POINTS - 1) for i in range(_POINTS)]
    x = [float(epsilon) for epsilon in grid]
    by_standard, by_zcdp = partial(zcdp_delta_standard, cost), partial(zcdp_delta, cost)
    continuous = partial(continuous_gaussian_delta, law.sigma2)
    curves = (
        ("standard conversion", "zCDP, standard conversion", by_standard),
        ("bound or conversion", "zCDP, optimal conversion\n(Corollary 13)", by_zcdp),
        ("discrete Gaussian", "tight (Theorem 7)", partial(delta, law)),
        ("continuous Gaussian", "continuous Gaussian, tight", continuous),
    )
    for look, label, delta_at in curves:
        y = [delta_at(epsilon) for epsilon in grid]
        ax.semilogy(x, y, **look_of(look, label, marker=""))
    ax.set_ylim(_LEAST_DELTA, 3)
    title = f"sigma2 = {law.sigma2} (rho = {cost})"
    finish(ax, title, "epsilon (natural logarithm of a ratio)", "delta (a probability)")
    return ax


def draw_curves(figure: Any, panels: Panels) -> None:
    """Draw the curves for a small and for a larger sigma2."""
    for ax, (sigma2, last) in zip(panels, _PANELS, strict=True):
        epsilon_delta(ax, sigma2=sigma2, last=last)
    figure.suptitle(
        "What the discrete Gaussian costs in (epsilon, delta), one query of sensitivity 1"
    )
