"""Conversion of enclosed numbers to floats: the nearest float, or the next one to an end."""

from __future__ import annotations

import math
from collections.abc import Callable

import gmpy2

from .interval import Interval, Real, arithmetic

#: lower <= true value <= upper
Bounds = tuple[float, float]

#: Returns an enclosure computed with some number of bits, for `float_value`.
Enclosure = Callable[[int], Interval]

#: The first precision that `float_value` tries. It is enough unless most digits cancel.
FIRST_BITS = 72
_LAST_BITS = FIRST_BITS * 2**9

#: Half a step past the largest float.
_TO_INFINITY: Real = gmpy2.mpz(2**1024 - 2**970)


def float_bounds(enclosure: Enclosure) -> Bounds:
    """Return floats around the value, at most two steps apart.

    If about 37 000 bits do not decide, which practically never happens, it raises an error.

    They may be two steps apart, because the enclosure of a value that is itself a float reaches
    both neighbours.
    """
    return _narrow(enclosure)[1]


def float_value(enclosure: Enclosure) -> float:
    """Return the value as a float, correctly rounded or, in a close case, the other neighbour."""
    return float_nearest(_narrow(enclosure)[0])


def _narrow(enclosure: Enclosure) -> tuple[Interval, Bounds]:
    bits = FIRST_BITS
    while bits <= _LAST_BITS:
        value = enclosure(bits)
        low, high = float_at_most(value.lower), float_at_least(value.upper)
        if math.nextafter(math.nextafter(low, math.inf), math.inf) >= high:
            return value, (low, high)
        bits *= 2
    raise ArithmeticError(f"the value could not be decided with {_LAST_BITS} bits")


# --- one end


def _about(x: Real) -> float:
    """Return a float next to x, or infinity if float() raises because an mpq is too large."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def float_at_most(x: Real) -> float:
    """Return the largest float that is at most x; -inf below the most negative one; never -0.0.

    Examples
    --------
    >>> float_at_most(arithmetic(100).rational(gmpy2.mpq(1, 10)).lower)
    0.09999999999999999
    """
    near = _about(x)
    while near > x:
        near = -math.nextafter(-near, math.inf)
    following = math.nextafter(near, math.inf)
    return (following if following <= x else near) or 0.0  # not -0.0


def float_at_least(x: Real) -> float:
    """Return the smallest float that is at least x; inf above the largest one; never -0.0."""
    near = _about(x)
    while near < x:
        near = math.nextafter(near, math.inf)
    preceding = math.nextafter(near, -math.inf)
    return (preceding if preceding >= x else near) or 0.0


def float_nearest(a: Interval) -> float:
    """Return the float nearest to the middle of a. If a is narrow, it is the rounded value."""
    low, high = float_at_most(a.lower), float_at_least(a.upper)
    if low == high:
        return low
    if math.isinf(low) or math.isinf(high):  # rounding overflows half a step past the last float
        if a.lower < -_TO_INFINITY:
            return low
        return high if a.upper > _TO_INFINITY or math.isinf(low) else low
    wide = arithmetic(2200)  # the sum of two floats is exact
    ends = wide.down.add(wide.down.plus(low), wide.down.plus(high))
    if math.nextafter(low, math.inf) == high:
        return high if wide.down.add(a.lower, a.upper) >= ends else low
    return low / 2 + high / 2
