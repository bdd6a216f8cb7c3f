"""Figure: the variance of each noise against sigma2."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .._inputs.messages import describe
from .._inputs.privacy_arguments import positive_number
from ..errors import ParameterValueError
from ..utility import compare_noise
from .look import Panels, finish, look_of

_POINTS = 81
_FIRST, _LAST = Fraction(1, 25), 10


def variance(
    ax: Any, *, first: object = _FIRST, last: object = _LAST, relative: bool = False
) -> Any:
    """Draw the variance of noises that cost the same in zCDP, against sigma2.

    Parameters
    ----------
    ax : matplotlib axes
        Where to.
    first, last : number, optional
        The least and the largest sigma2, 0 < first < last.
    relative : bool, optional
        The variances divided by sigma2.

    Returns
    -------
    matplotlib axes
        The same.
    """
    begin, end = positive_number(first, "first"), positive_number(last, "last")
    if begin >= end:
        raise ParameterValueError(f"last must be larger than first, got {describe(last)}")
    ratio = float(end / begin)
    grid = [float(begin) * ratio ** (i / (_POINTS - 1)) for i in range(_POINTS)]
    variances = [compare_noise(sigma2).variances() for sigma2 in grid]
    x = "sigma2 of the discrete Gaussian (squared counts)"
    for name in variances[0]:
        y = [v[name] / (s if relative else 1) for v, s in zip(variances, grid, strict=True)]
        (ax.semilogx if relative else ax.loglog)(grid, y, **look_of(name, name, marker=""))
    if relative:
        finish(ax, "variance relative to sigma2", x, "variance / sigma2", legend_at="lower right")
    else:
        finish(ax, "variance", x, "variance (squared counts)", legend_at="lower right")
    return ax


def draw_variance(figure: Any, panels: Panels) -> None:
    """Draw the variances, and the variances over sigma2."""
    left, right = panels
    variance(left)
    variance(right, relative=True)
    left.set_ylim(1e-5, 40)
    right.set_ylim(0, 2.25)
    figure.suptitle(
        "Variance of noise that costs the same, rho = 1/(2 sigma2) in zCDP, at sensitivity 1"
    )
