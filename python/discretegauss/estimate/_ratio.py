"""Intervals that contain the ratio of two counts.

Let a = A + X and b = B + Y. At the true ratio r = A/B the number a - r b is X - r Y, so the set

    {r : abs(a - r b) <= t sqrt(s + r**2 u)},      s, u the variances of X and Y

(Fieller 1954) contains it with the probability P(abs(X - r Y) <= t sqrt(s + r**2 u)). We need the
least t for which that is at least the confidence at every r. X and Y are symmetric, so r >= 0 is
enough, and abs(X - r Y) > c is twice as likely as X - r Y > c. In a cell r0 <= r <= r1 and a block
y0 <= Y < y0 + h, c is at least c0 = t sqrt(s + r0**2 u), and r Y is at least r0 y0, or r1 y0 if y0
is negative. So

    P(X - r Y > c) <= sum over the blocks of P(block) P(X > c0 + min(r0 y0, r1 y0)).

Cells cover 0 <= r <= sqrt(s/u). For larger r, abs(X - r Y) = r abs(Y - X/r), so X and Y change
places. For a wide law the blocks have 1/200 of its standard deviation, and the tail of X is read at
the multiple of this step below, so the work does not grow with the noise.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.floats import float_at_most
from ..errors import ParameterOverflowError, ParameterValueError
from ._checks import Estimate, check_pairs, miss, open_noisy_column, unshifted

_CELLS = 400
_BLOCKS_PER_DEVIATION = 200

_BEYOND = Fraction(1, 10**13)
"""The probability of each tail beyond the table."""

_SLACK = 1e-9
"""More than the relative error of the sums, whose terms are good to 1e-14; t is raised by it."""

_FLOATS_ERR = 4e-15
"""The relative error of counts as floats and some ten operations, each up to 2**-53."""

_LARGEST = 2**200
"""Up to this count, a squared count times a variance is below the largest float."""

_STEPS = 1e-4
"""The precision to which t is found."""

_PIECE = 2**14
"""The number of ratios per step, which fit a processor's cache."""

_Floats = NDArray[np.float64]


def ratio(
    a: Any,
    b: Any,
    law: Any,
    law_b: Any = None,
    *,
    confidence: object = 0.95,
    at_least: int | None = None,
) -> Estimate:
    """Return the ratio a/b of counts whose noise is independent, not of a count and its own sum.

    The sum of noisy counts shares the draw of each of them, so an interval may then hold a half
    where 95 % was asked. For shares of a total, release the total with its own draw. The function
    refuses an `Estimate`; it cannot see that a plain number is a sum.

    Parameters
    ----------
    a, b : list, tuple, ndarray, or a column of another library; or one integer each
        Noisy counts, each with its own draw. Series of pandas need equal indexes.
    law, law_b : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
        The noise of a and of b, with mu = 0. law_b defaults to law.
    confidence : number, optional
        Between 0 and 1, for each ratio by itself.
    at_least : int, optional
        0 says that it is public that neither count is negative. Then low and high are not negative.
        The value is not cut.

    Returns
    -------
    Estimate
        Containers like `a`, of floats: the ratio, its standard error, and an interval that contains
        the true one. If b may be 0, low and high are -inf and inf, or with
        at_least=0 usually a number and inf.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a or b is an Estimate; if a and b have elements that are not integers, different lengths
        or different labels; or if a parameter breaks its rule.

    Notes
    -----
    Guaranteed: the interval contains the true ratio with at least the confidence, for all counts
    except a true b of 0. The normal law's critical value does not ensure that (.943 for 95 % at
    sigma2 = 5). The value is a b/(b**2 + variance), which is finite, and nearly unbiased if b is a
    few standard deviations. The error is a first-order approximation.

    References
    ----------
    E. C. Fieller, Some problems in interval estimation, 1954; the critical value: ``_ratio.py``.

    Examples
    --------
    >>> import discretegauss as dg
    >>> found = dg.estimate.ratio([200, 50], [400, 3], dg.DiscreteGaussian(5), at_least=0)
    >>> [round(x, 3) for x in found.low], [round(x, 3) for x in found.high]
    ([0.488, 6.643], [0.513, inf])
    """
    of_b = unshifted(law) if law_b is None else unshifted(law_b, "law_b")
    if at_least is not None and (isinstance(at_least, bool) or at_least != 0):
        raise ParameterValueError("at_least must be 0 or None")
    t = critical_value(unshifted(law), of_b, miss(confidence)) * (1 + _SLACK)
    check_pairs(a, b, "a and b")
    container, below = open_noisy_column(a, "a"), open_noisy_column(b, "b")
    x, y = _floats(container.cells[0]), _floats(below.cells[0])
    if x.shape != y.shape:
        raise ParameterValueError(f"a and b must have the same shape, got {x.shape} and {y.shape}")
    s, u = _variance(law), _variance(of_b)
    found = np.empty((4, *x.shape))
    flat, over, under = found.reshape(4, -1), x.reshape(-1), y.reshape(-1)
    with np.errstate(all="ignore"):
        for start in range(0, x.size, _PIECE):
            piece = slice(start, start + _PIECE)
            p, q = over[piece], under[piece]
            flat[0, piece] = value = p * q / (q * q + u)
            flat[1, piece] = np.sqrt(s + value**2 * u) / np.maximum(np.abs(q), math.sqrt(u))
            flat[2:, piece] = _fieller(p, q, s, u, t, not_negative=at_least is not None)
    return Estimate(*(container.close([part]) for part in found))


def _floats(cells: Any) -> _Floats:
    """Return the integers as floats, with NaN at nulls."""
    integers = cells.integers
    if integers.size and max(abs(int(integers.min())), abs(int(integers.max()))) > _LARGEST:
        raise ParameterOverflowError("counts of a ratio must be within 2**200")
    floats: _Floats = integers.astype(np.float64)
    return floats if cells.nulls is None else np.where(cells.nulls, np.nan, floats)


def _fieller(
    x: _Floats, y: _Floats, s: float, u: float, t: float, *, not_negative: bool
) -> tuple[_Floats, _Floats]:
    """Return the ends of the set, moved outwards by more than the floats' errors.

    The ends are the roots of q r**2 - 2 x y r + inner. Three steps keep digits that large counts
    would lose. (x y)**2 - q inner is computed as a sum of positive terms, without a fourth power.
    The first root is the one whose two terms have the same sign. The second is inner/q over the
    first. q and inner lose digits only if counts are within 10**6 deviations of 0. Then the slack
    in t is larger than the loss.
    """
    s, u = t * t * s, t * t * u
    q, inner = y * y - u, x * x - s  # r = 0 is in the set if inner <= 0
    bounded = q > 0
    # if q <= 0, the root is used only if inner > 0
    square = np.where(bounded, x * x * u + q * s, inner * u + y * y * s)
    p = x * y + np.copysign(np.sqrt(np.maximum(square, 0.0)), x * y)
    one, other = p / q, inner / p
    low, high = np.minimum(one, other), np.maximum(one, other)
    low, high = low - _FLOATS_ERR * np.abs(low), high + _FLOATS_ERR * np.abs(high)
    if not_negative:
        # If q < 0, the set lies outside the two roots: above the positive one, if 0 is not in it.
        ends = (q < 0) & (inner > 0) & (x > 0)
        positive = np.maximum(one, other) * (1 - _FLOATS_ERR)
        low = np.where(bounded, np.maximum(low, 0.0), np.where(ends, positive, 0.0))
        high = np.where(bounded, np.maximum(high, 0.0), np.inf)
    else:
        low, high = np.where(bounded, low, -np.inf), np.where(bounded, high, np.inf)
    is_null = np.isnan(x) | np.isnan(y)
    return np.where(is_null, np.nan, low), np.where(is_null, np.nan, high)


@lru_cache(maxsize=64)
def critical_value(law: Any, law_b: Any, missed: Fraction) -> float:
    """Return a t that provably suffices at every r, and is the least one up to 1e-4."""
    sweeps = [_Sweep(law, law_b)] + ([_Sweep(law_b, law)] if law != law_b else [])
    most = float_at_most(gmpy2.mpq(missed))

    def enough(t: float) -> bool:
        return all(sweep.miss_at_most(t) <= most for sweep in sweeps)

    low, high = 0.0, 2.0
    while not enough(high):
        low, high = high, 2 * high
        if high > 2**10:
            raise ParameterValueError("confidence must be at most 1 - 1e-11 for a ratio")
    while high - low > _STEPS:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class _Sweep:
    """An upper bound on P(abs(X - r Y) > t sqrt(s + r**2 u)) for all 0 <= r <= sqrt(s/u)."""

    def __init__(self, law: Any, law_b: Any) -> None:
        s, u = _variance(law), _variance(law_b)
        ends = np.linspace(0.0, math.sqrt(s / u) * (1 + _SLACK), _CELLS + 1)
        block = _block(law_b)
        last = int(law_b.isf(_BEYOND)) // block + 1
        starts = np.arange(-last, last) * block
        tails = np.asarray(law_b.sf(np.append(starts, last * block) - 1), dtype=np.float64)
        self._masses = np.maximum(tails[:-1] - tails[1:], 0.0) + 1e-15 + 2 * _error(law_b)
        self._step = _block(law)
        # beyond the end of the table, the tail at the end is an upper bound
        self._last = int(law.isf(_BEYOND)) // self._step + 1
        table = np.arange(-self._last, self._last + 1) * self._step
        self._tails = np.asarray(law.sf(table), dtype=np.float64) + _error(law)
        self._tails[0] = 1.0
        y = starts.astype(np.float64)
        shift = np.minimum(np.outer(ends[:-1], y), np.outer(ends[1:], y)) / self._step
        self._shift = shift - _SLACK * np.abs(shift)
        self._c = np.sqrt(s + ends[:-1] ** 2 * u)[:, None] / self._step

    def miss_at_most(self, t: float) -> float:
        """Return the bound at the worst r."""
        at = np.floor(t * self._c * (1 - _SLACK) + self._shift)
        at = np.clip(at, -self._last, self._last).astype(np.int64) + self._last
        worst = float((self._tails[at] @ self._masses).max())
        return 2 * (worst * (1 + _SLACK) + 3 * float(_BEYOND))


def _error(law: Any) -> float:
    """Return the error of the tails, beyond rounding."""
    return float(getattr(law, "error", 0.0))


def _variance(law: Any) -> float:
    """Return the variance, whose square must be a float."""
    found = float(law.var())
    if not 1 / _LARGEST**2 <= found <= _LARGEST**2:
        raise ParameterOverflowError("law must have a variance from 2**-400 to 2**400 for a ratio")
    return found


def _block(law: Any) -> int:
    """Return how many integers one block has: 1, unless the law is wide."""
    return max(1, int(float(law.std()) // _BLOCKS_PER_DEVIATION))
