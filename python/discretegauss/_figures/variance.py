"""Figure: the variance of each noise against sigma2."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..utility import compare_noise
from .drawing import LINES, Panels, finish

__all__ = ["draw_variance"]

_POINTS = 81
_FIRST, _LAST = Fraction(1, 25), 10


def draw_variance(figure: Any, panels: Panels) -> None:
    """Draw the variances, and the variances over sigma2."""
    ratio = float(_LAST / _FIRST)
    grid = [float(_FIRST) * ratio ** (i / (_POINTS - 1)) for i in range(_POINTS)]
    variances = [compare_noise(sigma2).variances() for sigma2 in grid]
    left, right = panels
    for name in variances[0]:
        look = LINES[name] | {"marker": "", "label": name}
        left.loglog(grid, [v[name] for v in variances], **look)
        right.semilogx(grid, [v[name] / s for v, s in zip(variances, grid, strict=True)], **look)
    left.set_ylim(1e-5, 40)
    right.set_ylim(0, 2.25)
    figure.suptitle(
        "Variance of noise that costs the same, rho = 1/(2 sigma2) in zCDP, at sensitivity 1"
    )
    x = "sigma2 of the discrete Gaussian (squared counts)"
    finish(left, "variance", x, "variance (squared counts)", legend_at="lower right")
    finish(right, "variance relative to sigma2", x, "variance / sigma2", legend_at="lower right")
