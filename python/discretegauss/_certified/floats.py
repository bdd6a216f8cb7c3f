"""How enclosed numbers become floats: the one next to an end, or the value rounded."""

from __future__ import annotations

import math
from collections.abc import Callable

import gmpy2

from .interval import Interval, Real, arithmetic

#: lower <= true value <= upper
Bounds = tuple[float, float]

#: An enclosure at some number of bits, for `float_value`.
Enclosure = Callable[[int], Interval]

#: What `float_value` asks for first: enough, unless most digits cancel.
FIRST_BITS = 72
_LAST_BITS = FIRST_BITS * 2**9

#: Half a step past the largest float.
_TO_INFINITY: Real = gmpy2.mpz(2**1024 - 2**970)


def float_bounds(enclosure: Enclosure) -> Bounds:
    """Return floats around the value, at most two steps apart.

    Raises
    ------
    ArithmeticError
        If some 37 000 bits do not tell: as good as never, and never a wrong answer.

    Notes
    -----
    Two steps, as a value that is itself a float is enclosed by its neighbours.
    """
    return _narrow(enclosure)[1]


def float_value(enclosure: Enclosure) -> float:
    """Return the value as a float: correctly rounded, or the other neighbour in a close case."""
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
    """Return a float next to x; an mpq beyond all floats raises in float()."""
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
    """Return the float nearest to the middle of a: the rounded value, if a is narrow."""
    low, high = float_at_most(a.lower), float_at_least(a.upper)
    if low == high:
        return low
    if math.isinf(low) or math.isinf(high):  # as rounding does, from half a step past the last one
        if a.lower < -_TO_INFINITY:
            return low
        return high if a.upper > _TO_INFINITY or math.isinf(low) else low
    wide = arithmetic(2200)  # the sum of two floats is exact
    ends = wide.down.add(wide.down.plus(low), wide.down.plus(high))
    if math.nextafter(low, math.inf) == high:
        return high if wide.down.add(a.lower, a.upper) >= ends else low
    return low / 2 + high / 2
