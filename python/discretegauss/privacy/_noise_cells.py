"""The privacy loss of noise in cells: of laws of integers, continuous Gaussian and Laplace noise.

A law of noise that the person moves by D: at a distance x from the answer with the person the
masses are w(x), and w(x + D) without. As the law is log-concave, the loss log(w(x)/w(x + D)) never
falls in x, nor does that of a sample. So a cell is an interval of x, and its losses lie between
those at its ends; integers are cells of their own where they are not too many.

For log-concave noise D is the worst change of at most D, sampled or not: for any epsilon, one
direction is s times the unsampled delta at 1 + (exp(epsilon) - 1)/s, the other (1 - exp(epsilon) (1
- s)) times the one at s exp(epsilon)/(1 - exp(epsilon) (1 - s)), both of the multiplier, and each
grows with D (hockey_stick.py).

What is computed in floats has a relative error that is counted, u = 2**-53 a rounding; exponentials
and transforms are the package's own.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .._certified.double_double import Floats
from .._certified.double_double_functions import exponential_in_floats
from ._loss_cells import TINY, Cells, Outcomes, Release, bounds_only, checked_rate, sampled_losses

#: Exponentials of losses are taken up to here.
LARGEST_LOSS = 600.0

#: Noise that reaches so far has losses next to floats of 0; so has a change below the other.
TOO_WIDE, NO_CHANGE = 2**500, Fraction(1, 2**500)


class Noise(Release):
    """Noise: of the other direction the cells are those of one, swapped; unless both are alike."""

    def __init__(self, rate: Fraction) -> None:
        self._rate, self._exact_rate = checked_rate(rate)
        self.symmetric = rate == 1
        self._kept = lru_cache(maxsize=8)(self._in_direction)

    def cells(self, *, swapped: bool, widest: float, tilt: float = 0.0) -> Cells:
        """Return all outcomes."""
        other = swapped and not self.symmetric
        return self._kept(other, *self._fineness(widest, -1 - tilt if other else tilt))

    def _in_direction(self, swapped: bool, fineness: int, tilt: float) -> Cells:
        if swapped:
            found = self._kept(False, fineness, tilt).swapped(self._rate)
        else:
            found = self._made(fineness, tilt)
        return found if self._exact_rate else bounds_only(found)

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Return how fine cells are, which may be rounded, so that they are made once."""
        return math.frexp(widest)[1] - 1, tilt

    @abstractmethod
    def _made(self, fineness: int, tilt: float) -> Cells:
        """Return cells whose losses differ by 2**fineness or so."""

    def _cells_between(
        self, low: Floats, high: Floats, here: tuple[Floats, Floats], moved: tuple[Floats, Floats]
    ) -> Cells:
        """Return cells with unsampled losses in [low, high], and bounds of both masses."""
        first, off = sampled_losses(low, self._rate)
        last, off_last = sampled_losses(high, self._rate)
        loss = first - off * (1 + 2.0**-20)
        s, rest = float(self._rate), float(1 - self._rate)
        error = 2.0**-50  # of the rounded rate, two products and a sum
        p_low, p_up = (
            (s * w + rest * m) * factor
            for w, m, factor in zip(here, moved, (1 - error, 1 + error), strict=True)
        )
        far = ~(loss <= LARGEST_LOSS) | ~(last <= LARGEST_LOSS)
        near_enough = np.minimum(loss, LARGEST_LOSS)
        lost = loss < -LARGEST_LOSS
        grown = exponential_in_floats(np.where(lost, 0.0, near_enough))
        top = np.where(far, np.inf, last - loss + off_last + 2.0**-48 * (1 + np.abs(loss)))
        found = Cells(
            near_enough,
            top,
            p_low,
            p_up + TINY,
            np.where(far, 0.0, moved[0] * grown * (1 - error)),
            moved[1] * grown * (1 + error) + TINY,
            float(p_up[lost].sum()) * (1 + 2.0**-20) + TINY,
            0.0,
            0.0,
        )
        return found.where(~lost)


def unswapped(outcomes: Outcomes) -> Cells:
    return outcomes.cells(swapped=False, widest=math.inf)
