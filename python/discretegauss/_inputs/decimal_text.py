"""Numbers as short decimal text that is rounded in a stated direction, for reports and messages."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction

_DIGITS = 6


def decimals(digits: int, rounding: str = decimal.ROUND_HALF_EVEN) -> decimal.Context:
    """Return the arithmetic of so many digits, whatever the context of the caller is."""
    return decimal.Context(digits, rounding, decimal.MIN_EMIN, decimal.MAX_EMAX, traps=[])


def rounded_up(value: Fraction) -> str:
    """Return six digits, not below the value.

    Examples
    --------
    >>> rounded_up(Fraction(1, 3)), rounded_up(Fraction(2, 10**20)), rounded_up(Fraction(5))
    ('0.333334', '2e-20', '5')
    """
    return rounded(value, decimal.ROUND_CEILING)


def rounded_down(value: Fraction) -> str:
    """Return six digits, not above the value.

    Examples
    --------
    >>> rounded_down(Fraction(2, 3))
    '0.666666'
    """
    return rounded(value, decimal.ROUND_FLOOR)


def rounded(value: Fraction, rounding: str = decimal.ROUND_HALF_EVEN) -> str:
    """Return the value with six significant digits, without exponent where that is readable."""
    context = decimals(_DIGITS, rounding)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if quotient == 0:
        return "0"
    shortest = quotient.normalize(context)
    return format(shortest, "f" if -5 <= shortest.adjusted() < 12 else "e")
