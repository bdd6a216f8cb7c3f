"""Pairs of floats whose sum has twice the digits of a float.

A product of two floats is exactly a sum of two floats (Dekker), and so is a sum (Knuth). If nothing
under- or overflows, the relative errors of sums and products of pairs are those proven by Joldes,
Muller and Popescu (Tight and rigorous error bounds for basic building blocks of double-word
arithmetic, ACM Transactions on Mathematical Software 44, 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .floats import float_nearest
from .interval import Interval, arithmetic

Floats = NDArray[np.float64]

#: No product under- or overflows if the parameter and the centre are in these ranges.
_SMALLEST_PARAMETER, _LARGEST_PARAMETER = Fraction(1, 2**20), Fraction(2**900)
_LARGEST_MU = 2**61

#: Arrays of this length, and those computed from them, fit the processor's cache.
_CHUNK = 4096


class Pair(NamedTuple):
    """high + low."""

    high: float
    low: float


class Pairs(NamedTuple):
    """high + low, element by element; low is at most half a unit of the last place of high."""

    high: Floats
    low: Floats


def pair(value: Interval) -> Pair:
    """Return the number as a pair. A narrow interval gives a relative error of 2**-105."""
    high = float_nearest(value)
    at = arithmetic(200)
    return Pair(high, float_nearest(at.shift(value, -Fraction(high))))


def rational_pair(value: Fraction) -> Pair:
    """Return the rational as a pair."""
    return pair(arithmetic(200).rational(value))


def parameters_in_range(parameter: Fraction, mu: Fraction) -> bool:
    """Return whether a law's sums and products of pairs neither under- nor overflow."""
    return _SMALLEST_PARAMETER <= parameter <= _LARGEST_PARAMETER and abs(mu) < _LARGEST_MU


def _split(a: Floats | float) -> tuple[Floats | float, Floats | float]:
    """Return a as a sum of two floats of 26 bits."""
    c = 134217729.0 * a  # 2**27 + 1
    high = c - (c - a)
    return high, a - high


def exact_product(a: Floats, b: Floats | float) -> tuple[Floats, Floats]:
    """Return a b as a sum of two floats, exactly."""
    p = a * b
    a1, a2 = _split(a)
    b1, b2 = _split(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def exact_sum(a: Floats, b: Floats | float) -> tuple[Floats, Floats]:
    """Return a + b as a sum of two floats, exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def normalised(a: Floats, b: Floats) -> Pairs:
    """Return a + b as a pair, exactly, if abs(b) <= abs(a) (Dekker)."""
    s = a + b
    return Pairs(s, b - (s - a))


def pair_sum(a: Pairs, b: Pairs | Pair) -> Pairs:
    """Return a + b (SloppyDWPlusDW).

    The error is at most 2**-103 (abs(a) + abs(b)), and 3 * 2**-106 abs(a + b) if a and b have the
    same sign.
    """
    high, low = exact_sum(a.high, b.high)
    return normalised(high, low + (a.low + b.low))


def product(a: Pairs, b: Pairs | Pair) -> Pairs:
    """Return a b; relative error at most 5 * 2**-106 (DWTimesDW1)."""
    high, low = exact_product(a.high, b.high)
    return normalised(high, low + (a.high * b.low + a.low * b.high))


def in_chunks(function: Callable[..., Pairs], *arrays: Floats) -> Pairs:
    """Return the function of arrays of one length, computed piece by piece."""
    n = arrays[0].size
    result = Pairs(np.empty(n), np.empty(n))
    for start in range(0, n, _CHUNK):
        piece = slice(start, start + _CHUNK)
        result.high[piece], result.low[piece] = function(*(a[piece] for a in arrays))
    return result
