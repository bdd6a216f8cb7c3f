"""Where a sum of a growing and a falling term turns: a quick search in floats.

Nothing safe depends on what is found here: callers put it into a formula that is valid for every
s > 0.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2

Balance = Callable[[Any], tuple[Any, Any]]
"""An increasing function of u = log(s), and its slope; the slope is None where it is unknown."""

_LAST_STEP = 1e-9
"""Newton's last step in u; the next would be about its square, below a float's last bit."""

_FARTHEST_LOG_S = 10**5
"""Beyond exp(10**5) no s is looked for: parameters and their quotients stay within 2**(2**17)."""

_MOST_STEPS = 300

FLOAT_BITS = 48
"""To so many bits floats find s, except values below the smallest that has all its bits."""

_SMALLEST_FULL = sys.float_info.min
_GUARD = 32
_SEARCH = gmpy2.context(emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min())


def turning_point(
    problem: Callable[..., tuple[Balance, Any]], *values: Any, bits: int = FLOAT_BITS
) -> Any:
    """Return about exp(u) where the balance is 0, to some ``bits`` bits: an mpq > 0.

    It has at most 32 bits more than that. ``problem(ops, *values)`` returns the balance and a first
    guess of u; ``ops`` is ``math``, and the values floats, or gmpy2 and mpfr where floats have too
    few bits, overflow or underflow.
    """
    try:
        floats = [float(value) for value in values]
        if bits <= FLOAT_BITS and not any(0 < abs(x) < _SMALLEST_FULL for x in floats):
            s = math.exp(solve_increasing(*problem(math, *floats)))
            if 0 < s < math.inf:
                return gmpy2.mpq(s)
    except (ArithmeticError, ValueError):
        pass  # floats are too narrow
    with search_precision(bits + _GUARD):
        close = _LAST_STEP / 2.0 ** ((bits - FLOAT_BITS) // 2)
        u = solve_increasing(*problem(gmpy2, *map(_mpfr, values)), close=close)
        return gmpy2.mpq(gmpy2.exp(min(max(u, -_FARTHEST_LOG_S), _FARTHEST_LOG_S)))


def search_precision(bits: int = 64) -> Any:
    """Return a context manager: mpfr operators round to so many bits, exponents go anywhere."""
    return gmpy2.context(_SEARCH, precision=bits)


def _mpfr(value: Any) -> Any:
    if isinstance(value, Fraction):
        value = gmpy2.mpq(value.numerator, value.denominator)
    return gmpy2.mpfr(value)


def solve_increasing(
    balance: Balance, u: Any, close: float = _LAST_STEP, within: float = math.inf
) -> Any:
    """Solve balance(u) = 0 by Newton's method, kept inside the bracket that the signs give.

    No u beyond -within and within is tried: exp(u) may be a number of very many bits.
    """
    low, high, reach = -within, within, 1.0
    u = min(max(u, low), high)
    for _ in range(_MOST_STEPS):
        value, slope = balance(u)
        low, high = (u, high) if value < 0 else (low, u)
        new = low if slope is None else u - value / slope
        if abs(new - u) <= close * max(1, abs(u)):
            return new
        if not low < new < high:
            if -math.inf < low and high < math.inf:
                new = (low + high) / 2
            else:
                new = high - reach if low == -math.inf else low + reach
                reach *= 2
        if new == u:  # an infinite guess, or no number is left between the ends
            break
        u = new
    return u
