"""Short decimal text for reports and messages, rounded in a stated direction."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction

_DIGITS = 6


def decimals(digits: int, rounding: str = decimal.ROUND_HALF_EVEN) -> decimal.Context:
    """Return a context of this many digits that does not depend on the caller's context."""
    return decimal.Context(digits, rounding, decimal.MIN_EMIN, decimal.MAX_EMAX, traps=[])


def rounded_up(value: Fraction) -> str:
    """Return the value rounded up to six significant digits.

    Examples
    --------
    >>> rounded_up(Fraction(1, 3)), rounded_up(Fraction(2, 10**20)), rounded_up(Fraction(5))
    ('0.333334', '2e-20', '5')
    """
    return rounded(value, decimal.ROUND_CEILING)


def rounded_down(value: Fraction) -> str:
    """Return the value rounded down to six significant digits.

    Examples
    --------
    >>> rounded_down(Fraction(2, 3))
    '0.666666'
    """
    return rounded(value, decimal.ROUND_FLOOR)


def rounded(value: Fraction, rounding: str = decimal.ROUND_HALF_EVEN) -> str:
    """Return the value with six digits, in exponent form only if below 1e-5 or from 1e12 on."""
    context = decimals(_DIGITS, rounding)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if quotient == 0:
        return "0"
    shortest = quotient.normalize(context)
    return format(shortest, "f" if -5 <= shortest.adjusted() < 12 else "e")
