"""The least number at which something holds: found near a guess, proven by trying."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction


def first_true(holds: Callable[[int], bool], guess: int, low: int | None = None) -> int:
    """Return an n at which holds(n) is True and holds(n - 1) is not; or low, if it holds there.

    If ``holds`` stays True once it is, that is the least n (from low on). Found by steps from the
    guess that double, then by halving.
    """
    step = 1
    if holds(guess):
        good = guess
        while True:
            if good == low:
                return good
            bad = good - step if low is None else max(good - step, low)
            if not holds(bad):
                break
            good, step = bad, 2 * step
    else:
        bad = guess
        while not holds(bad + step):
            bad, step = bad + step, 2 * step
        good = bad + step
    while good - bad > 1:
        middle = (good + bad) // 2
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good


def ordinal(x: float) -> int:
    """Return how many floats lie between 0 and x >= 0."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def float_at(n: int) -> float:
    """Return the float of that ordinal; infinity is the last."""
    return float(struct.unpack("<d", struct.pack("<q", n))[0])


_DIGITS = 6


def decimal_ordinal(value: Fraction, digits: int = _DIGITS) -> int:
    """Return the number of the smallest decimal of so many digits that is at least value > 0.

    These decimals are numbered in order; 1 has the number 0.
    """
    first: int = 10 ** (digits - 1)
    exponent = _decimal_exponent(value)
    mantissa = math.ceil(value / _power_of_ten(exponent - digits + 1))
    return exponent * 9 * first + mantissa - first


def decimal_at(n: int, digits: int = _DIGITS) -> Fraction:
    """Return the decimal of that number.

    Examples
    --------
    >>> decimal_at(decimal_ordinal(Fraction(1, 3)))
    Fraction(166667, 500000)
    """
    first: int = 10 ** (digits - 1)
    exponent, above = divmod(n, 9 * first)
    return (first + above) * _power_of_ten(exponent - digits + 1)


def _decimal_exponent(value: Fraction) -> int:
    """Return the largest e with 10**e <= value, for value > 0."""
    # log10 from the bit lengths is right up to one either way; the two loops settle that.
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    exponent = math.floor(bits * math.log10(2))
    while _power_of_ten(exponent) > value:
        exponent -= 1
    while _power_of_ten(exponent + 1) <= value:
        exponent += 1
    return exponent


def _power_of_ten(exponent: int) -> Fraction:
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)
