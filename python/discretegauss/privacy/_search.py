"""Searches for the least number at which a condition holds, for a crossing, and for a zero.

Each result was tried. Guesses only save time.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

from .._certified.search import first_true

#: A value this near to 0 will do. If there is none after _MOST_TRIES steps, it is a staircase.
_CLOSE, _MOST_TRIES, _MOST_VALUE = 1e-6, 24, 4.0


def zero_of(rising: Callable[[float], float], start: float, most: float) -> float:
    """Return about where a rising function is 0, by false position (the Illinois method).

    The value there is usually within 1e-6 of 0. Nothing outside of [-most, most] is tried.
    Values are limited to [-4, 4].
    """
    low = high = min(max(start, -most), most)
    at_low = at_high = rising(low)
    step = 0.25
    while at_low > 0 and low > -most:
        high, at_high = low, at_low
        low, step = max(low - step, -most), 2 * step
        at_low = rising(low)
    while at_high <= 0 and high < most:
        low, at_low = high, at_high
        high, step = min(high + step, most), 2 * step
        at_high = rising(high)
    if not at_low <= 0 < at_high:
        return low if at_low > 0 else high
    at_low, at_high, before = max(at_low, -_MOST_VALUE), min(at_high, _MOST_VALUE), 0.0
    for _ in range(_MOST_TRIES):
        middle = low + (high - low) * (at_low / (at_low - at_high))
        here = max(min(rising(middle), _MOST_VALUE), -_MOST_VALUE)
        if abs(here) < _CLOSE or not low < middle < high:
            return middle
        again = here * before > 0  # the other end is halved while it stays
        if here <= 0:
            low, at_low, at_high = middle, here, at_high / 2 if again else at_high
        else:
            high, at_high, at_low = middle, here, at_low / 2 if again else at_low
        before = here
    return low


def ordinal(x: float) -> int:
    """Return the number of floats from 0 up to x >= 0, without 0."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def float_at(n: int) -> float:
    """Return the float of that ordinal; infinity is the last."""
    return float(struct.unpack("<d", struct.pack("<q", n))[0])


_DIGITS, _FIRST = 6, 10**5


def decimal_ordinal(value: Fraction) -> int:
    """Return the number of the smallest decimal of six digits that is at least value > 0.

    These decimals are numbered in order; 1 has the number 0.
    """
    exponent = _decimal_exponent(value)
    mantissa = math.ceil(value / _power_of_ten(exponent - _DIGITS + 1))
    return exponent * 9 * _FIRST + mantissa - _FIRST


def decimal_at(n: int) -> Fraction:
    """Return the decimal of that number.

    Examples
    --------
    >>> decimal_at(decimal_ordinal(Fraction(1, 3)))
    Fraction(166667, 500000)
    """
    exponent, above = divmod(n, 9 * _FIRST)
    return (_FIRST + above) * _power_of_ten(exponent - _DIGITS + 1)


def least_decimal(meets: Callable[[Fraction], bool], guess: Fraction) -> Fraction:
    """Return a decimal of six digits that meets a condition that the one before does not meet.

    It is the least such decimal if all larger ones meet the condition.
    """
    return decimal_at(first_true(lambda n: meets(decimal_at(n)), decimal_ordinal(guess)))


#: An excess this far below 0 does not say where it is 0.
_NOTHING = -1e4


def crossing(excess: Callable[[Fraction], float], guess: Fraction, steep: float = 16.0) -> Fraction:
    """Return a decimal with an excess of at most 0, as `least_decimal` does, in fewer steps.

    The excess falls by about ``steep`` times the logarithm of the parameter. It may also rise
    between, so the result is *a* crossing.
    """
    known: dict[int, float] = {}

    def at(k: int) -> float:
        if k not in known:
            known[k] = excess(decimal_at(k))
        return known[k]

    def beyond(k: int) -> int:
        """Return a number that is perhaps on the other side of the crossing."""
        if at(k) <= _NOTHING:
            return k - 1
        factor = math.exp(min(max(1.5 * at(k) / steep, -2.0), 2.0))
        moved = decimal_ordinal(decimal_at(k) * Fraction(factor))
        return max(moved, k + 1) if at(k) > 0 else min(moved, k - 1)

    bad = good = decimal_ordinal(guess)
    while at(good) > 0:
        bad, good = good, max(beyond(good), 3 * good - 2 * bad)
    while at(bad) <= 0:
        longer = 9 if at(bad) <= _NOTHING else 3  # no value says how far to go
        good, bad = bad, min(beyond(bad), longer * bad - (longer - 1) * good)
    # false position; the value of an end that stays is halved (the Illinois method)
    at_bad, at_good, before = at(bad), at(good), 0.0
    while good - bad > 1:
        share = 0.5 if at(good) <= _NOTHING else at_bad / (at_bad - at_good)
        # next to the estimate, on alternate sides, so that both ends come close
        k = bad + round((good - bad) * share) + (-1 if len(known) % 2 else 1)
        k = min(max(k, bad + 1), good - 1)
        here = at(k)
        again = here * before > 0
        if here > 0:
            bad, at_bad, at_good = k, here, at_good / 2 if again else at_good
        else:
            good, at_good, at_bad = k, here, at_bad / 2 if again else at_bad
        before = here
    return decimal_at(good)


def _decimal_exponent(value: Fraction) -> int:
    """Return the largest e with 10**e <= value, for value > 0."""
    # log10 from the bit lengths is off by at most one, which the two loops correct.
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    exponent = math.floor(bits * math.log10(2))
    while _power_of_ten(exponent) > value:
        exponent -= 1
    while _power_of_ten(exponent + 1) <= value:
        exponent += 1
    return exponent


def _power_of_ten(exponent: int) -> Fraction:
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)
