"""The cost of one release with continuous Laplace noise, in closed form.

The person moves the answer by D scales. With y = exp(epsilon) >= 1, delta without sampling is

    h(y) = 1 - exp(-D/2) sqrt(y),    y <= exp(D),                                            (1)

and 0 beyond. On a sample of the rate s it is s h(u), u = 1 + (y - 1)/s, for one adjacency, and
c h(v), c = 1 - y (1 - s), v = s y/c, for the other, or 0 if c <= 0 (_noise_outcomes.py). The first
is the larger: c <= s, and v - u = (y - 1)**2 (1 - s)/(s c) >= 0, while h falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import ZERO, Interval, Rational, arithmetic

_AT192 = arithmetic(192)


@dataclass(frozen=True)
class OneLaplace:
    """The cost of one release."""

    sensitivity: Rational  # D, at most 300
    rate: Fraction  # the probability s

    def delta(self, epsilon: Fraction) -> float:
        """Return the least delta, rounded up."""
        return float_at_least(self._delta(epsilon).upper)

    def delta_below(self, epsilon: Fraction) -> float:
        """Return the least delta, rounded down."""
        return float_at_most(self._delta(epsilon).lower)

    def log_delta(self, epsilon: Fraction) -> float:
        """Return the logarithm of the least delta, rounded up."""
        found = self._delta(epsilon).upper
        return float_at_least(_AT192.up.log(found)) if found > 0 else -math.inf

    def epsilon(self, delta: Fraction) -> float:
        """Return the least epsilon at a delta above 0, rounded up."""
        return float_at_least(self._epsilon(delta).upper)

    def epsilon_below(self, delta: Fraction) -> float:
        """Return the least epsilon at a delta above 0, rounded down."""
        return float_at_most(self._epsilon(delta).lower)

    def _epsilon(self, delta: Fraction) -> Interval:
        """Return log(y) for s h(u) = delta."""
        if delta >= self.rate:
            return _AT192.rational(0)
        root = _AT192.scale(_AT192.log1p(_AT192.rational(-delta / self.rate)), 2)
        grown = _AT192.expm1(_AT192.shift(root, self.sensitivity))
        return _not_below_zero(_AT192.log1p(_AT192.scale(grown, self.rate)))

    def pure(self) -> Any:
        """Return the epsilon at delta = 0, rounded up: an mpq or an mpfr."""
        if self.rate == 1:
            return self.sensitivity
        grown = _AT192.expm1(_AT192.rational(self.sensitivity))
        return _AT192.log1p(_AT192.scale(grown, self.rate)).upper

    def _delta(self, epsilon: Fraction) -> Interval:
        if gmpy2.mpq(epsilon) >= self.sensitivity:  # as for everybody
            return _AT192.rational(0)
        gap = _AT192.rational(gmpy2.mpq(epsilon) - self.sensitivity)
        if self.rate != 1:
            odds = _AT192.scale(_AT192.expm1(_AT192.rational(epsilon)), 1 / self.rate)  # u - 1
            gap = _AT192.shift(_AT192.log1p(odds), -self.sensitivity)
        found = _AT192.neg(_AT192.expm1(_AT192.scale(gap, Fraction(1, 2))))
        return _not_below_zero(_AT192.scale(found, self.rate))


def _not_below_zero(found: Interval) -> Interval:
    return Interval(max(found.lower, ZERO), max(found.upper, ZERO))
