"""delta of continuous normal noise, exactly rounded up.

References
----------
B. Balle, Y.-X. Wang: Improving the Gaussian Mechanism for Differential Privacy, ICML 2018, arXiv
1805.06530, Theorem 8.
"""

from __future__ import annotations

from fractions import Fraction

from .._certified.floats import float_at_least
from .._certified.interval import Interval, arithmetic, relative_width_below
from .._inputs.messages import describe
from ..errors import ParameterOverflowError

_MOST_BITS = 2**12
"""Differences above 5e-324 lose at most 1100 bits; this precision fails only beyond MPFR's exp."""


def normal_delta(variance: Fraction, epsilon: Fraction, change: Fraction = Fraction(1)) -> float:
    """Return the least delta, rounded up; 5e-324 for a smaller one."""
    # With x = epsilon sigma2/D: P(N > x - D/2) - exp(epsilon) P(N > x + D/2)
    middle = epsilon * variance / change
    bits = 128
    while True:
        at = arithmetic(bits)
        first = upper_tail(variance, middle - change / 2, bits)
        second = upper_tail(variance, middle + change / 2, bits)
        delta = at.sub(first, at.mul(at.exp(at.rational(epsilon)), second))
        if float_at_least(delta.upper) <= 5e-324 or relative_width_below(delta, 60):
            return float_at_least(delta.upper)
        if bits >= _MOST_BITS:
            raise ParameterOverflowError(
                "epsilon must be below about 2**30 if it is near sensitivity**2/(2 sigma2), "
                f"got {describe(epsilon)}"
            )
        bits *= 2


def upper_tail(variance: Fraction, x: Fraction, bits: int) -> Interval:
    """Return P(N > x) = erfc(x / sqrt(2 sigma2))/2."""
    at = arithmetic(bits)
    ratio = at.sqrt(at.rational(x * x / (2 * variance)))
    return at.scale(at.erfc(at.neg(ratio) if x < 0 else ratio), Fraction(1, 2))
