"""delta and epsilon of continuous normal noise, exactly rounded up.

References
----------
B. Balle, Y.-X. Wang: Improving the Gaussian Mechanism for Differential Privacy, ICML 2018, arXiv
1805.06530, Theorem 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import gmpy2

from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import ZERO, Interval, arithmetic, relative_width_below
from .._certified.search import first_true
from .._inputs.messages import describe
from ..errors import ParameterOverflowError
from ._search import float_at, ordinal

_MOST_BITS = 2**12
"""Differences above 5e-324 lose at most 1100 bits; this precision fails only beyond MPFR's exp."""

_MOST_STEPS = 40


def normal_delta(variance: Fraction, epsilon: Fraction, change: Fraction = Fraction(1)) -> float:
    """Return the least delta, rounded up; 5e-324 for a smaller one."""
    bits = 128
    while True:
        delta, _ = _enclosed(variance, epsilon, change, bits)
        if float_at_least(delta.upper) <= 5e-324 or relative_width_below(delta, 60):
            return float_at_least(delta.upper)
        if bits >= _MOST_BITS:
            raise ParameterOverflowError(
                "epsilon must be below about 2**30 if it is near sensitivity**2/(2 sigma2), "
                f"got {describe(epsilon)}"
            )
        bits *= 2


def _enclosed(
    variance: Fraction, epsilon: Fraction, change: Fraction, bits: int
) -> tuple[Interval, Interval]:
    """Return delta, and by how much it falls for each unit of epsilon.

    With x = epsilon sigma2/D delta is P(N > x - D/2) - exp(epsilon) P(N > x + D/2).
    """
    at, middle = arithmetic(bits), epsilon * variance / change
    first = upper_tail(variance, middle - change / 2, bits)
    second = upper_tail(variance, middle + change / 2, bits)
    fall = at.mul(at.exp(at.rational(epsilon)), second)
    return at.sub(first, fall), fall


@dataclass(frozen=True)
class OneGaussian:
    """The cost of one release of an answer that a person moves by the root of ``mu2`` deviations.

    mu2 is at most 1600, so no result needs many bits.
    """

    mu2: Fraction

    def delta(self, epsilon: Fraction) -> float:
        """Return the least delta, rounded up."""
        return float_at_least(self._delta(epsilon).upper)

    def delta_below(self, epsilon: Fraction) -> float:
        """Return the least delta, rounded down."""
        return float_at_most(max(self._delta(epsilon).lower, ZERO))

    def log_delta(self, epsilon: Fraction) -> float:
        """Return the logarithm of the least delta, rounded up."""
        return min(float_at_least(arithmetic(128).up.log(self._delta(epsilon).upper)), 0.0)

    def _delta(self, epsilon: Fraction) -> Interval:
        bits = 128
        while True:
            delta, _ = _enclosed(1 / self.mu2, epsilon, Fraction(1), bits)
            if relative_width_below(delta, 60) or bits >= _MOST_BITS:
                return delta
            bits *= 2

    def epsilon(self, delta: Fraction) -> float:
        """Return the least float epsilon at which delta is proven.

        log(delta) is concave in epsilon, so Newton's method from above comes near it. Trials of
        neighbouring floats decide.
        """
        budget = gmpy2.mpq(delta)

        def holds(n: int) -> bool:
            x = float_at(n)
            return not math.isfinite(x) or bool(self._delta(Fraction(x)).upper <= budget)

        if holds(0):
            return 0.0
        mu2, up = gmpy2.mpq(self.mu2), arithmetic(64).up
        bits = 80 + max(mu2.denominator.bit_length() - mu2.numerator.bit_length(), 0)  # cancel
        wanted = up.log(up.div(budget, 1))
        x = float(up.add(mu2 / 2, up.sqrt(up.mul(-2 * mu2, wanted))))
        for _ in range(_MOST_STEPS):
            found, fall = _enclosed(1 / self.mu2, Fraction(x), Fraction(1), bits)
            above = up.sub(up.log(found.upper), wanted)
            step = float(up.div(up.mul(above, found.upper), fall.upper))
            if not math.isfinite(step) or abs(step) <= 2.0**-53 * x:
                break
            x = max(x + step, 0.0)
        return float_at(first_true(holds, ordinal(x), low=0))

    def epsilon_below(self, delta: Fraction) -> float:
        """Return an epsilon next to the least one at which more than delta is proven, or 0."""
        place, step = ordinal(self.epsilon(delta)), 1
        while place > 0:
            place, step = max(place - step, 0), 2 * step
            if self._delta(Fraction(float_at(place))).lower > gmpy2.mpq(delta):
                return float_at(place)
        return 0.0


def upper_tail(variance: Fraction, x: Fraction, bits: int) -> Interval:
    """Return P(N > x) = erfc(x / sqrt(2 sigma2))/2."""
    at = arithmetic(bits)
    ratio = at.sqrt(at.rational(x * x / (2 * variance)))
    return at.scale(at.erfc(at.neg(ratio) if x < 0 else ratio), Fraction(1, 2))
