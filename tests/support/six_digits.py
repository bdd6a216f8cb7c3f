"""Decimals of six significant digits, which calibration rounds its answers to."""

from __future__ import annotations

from fractions import Fraction


def beside(value: Fraction, steps: int) -> Fraction:
    """Return the decimal of six digits that comes 1 or -1 steps after one, a positive number."""
    unit = Fraction(1)
    while value >= 10**6 * unit:
        unit *= 10
    while value < 10**5 * unit:
        unit /= 10
    assert (value / unit).denominator == 1
    return value - unit / 10 if (value, steps) == (10**5 * unit, -1) else value + steps * unit
