"""Sums of two floats: twice the digits, without error where the functions say so.

Products of two floats are split into two floats (Dekker), sums likewise (Knuth).
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .floats import float_nearest
from .interval import Interval, arithmetic

__all__ = ["Pair", "exact_product", "exact_sum", "factor", "pair"]

_Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """high + low."""

    high: float
    low: float


def pair(value: Interval) -> Pair:
    high = float_nearest(value)
    at = arithmetic(200)
    return Pair(high, float_nearest(at.shift(value, -Fraction(high))))


def factor(value: Interval) -> Pair:
    """Return high and low with value = high (1 + low); twice 0 for what is 0 as a float."""
    high, low = pair(value)
    return Pair(high, low / high if high else 0.0)


def _split(a: _Floats | float) -> tuple[_Floats | float, _Floats | float]:
    """Return a as a sum of two floats of 26 bits."""
    c = 134217729.0 * a  # 2**27 + 1
    high = c - (c - a)
    return high, a - high


def exact_product(a: _Floats, b: _Floats | float) -> tuple[_Floats, _Floats]:
    """Return a b as a sum of two floats, exactly."""
    p = a * b
    a1, a2 = _split(a)
    b1, b2 = _split(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def exact_sum(a: _Floats, b: _Floats) -> tuple[_Floats, _Floats]:
    """Return a + b as a sum of two floats, exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)
