"""Exponentials and logarithms of arrays of pairs of floats, with proven errors.

*exp(a).* With k the integer nearest to 1024 a/log 2, a = k (log 2)/1024 + r and abs(r) < 2**-11.5.
So exp(a) = 2**(k // 1024) t exp(r), t = 2**((k % 1024)/1024) from a table of pairs. (log 2)/1024 is
a sum of three floats; k is below 2**21 and the first two have 32 bits, so that their products with
k are exact, and a - k first is (Sterbenz). What is left, a.low and k third, is below 2**-53 abs(a):
its roundings are below 2**-104 abs(a) + 2**-114. Of the series of exp(r) the terms from r**4 on are
taken in floats, an error below r**4/24 2**-51 < 2**-101, and those from r**8 on, below 2**-107, are
left out. With two products of pairs:

    relative error at most 2**-100 + 2**-104 abs(a).

*exp(a) in floats.* The same with k up to 2**21 and r in floats: a - k first is exact, what is left
of a at most 2**-11.4, so r is good to 2**-63, and r + r**2/2 + ... + r**4/24 to 2**-62. With the
roundings of the table's entry, of its product with that and of the sum:

    relative error at most 2**-51, besides that of an a that is rounded.

*log(a).* If l is a float near log(a), then log(a) = l + log(1 + w), w = a exp(-l) - 1. w is known
to 2**-99.5 + 2**-104 abs(l), and where abs(w) < 2**-35 log(1 + w) is w - w**2/2 to 2**-106. Nothing
is asked of np.log: where w is larger, the result is not a number.

    absolute error at most 2**-99 + 2**-103 abs(log a).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import gmpy2
import numpy as np

from .double_double import Floats, Pair, Pairs, exact_sum, normalised, pair, pair_sum, product
from .interval import arithmetic

_STEPS = 1024

#: Where log(1 + w) is w - w**2/2.
_CLOSE = 2.0**-35


class _Constants(NamedTuple):
    powers: Pairs
    """2**(i/1024), i = 0, ..., 1023."""
    step: tuple[float, float, float]
    """(log 2)/1024"""
    sixth: Pair


@lru_cache(maxsize=1)
def _constants() -> _Constants:
    at = arithmetic(200)
    log_2 = at.log(at.rational(2))
    powers = [pair(at.exp(at.scale(log_2, Fraction(i, _STEPS)))) for i in range(_STEPS)]
    rest, parts = at.scale(log_2, Fraction(1, _STEPS)), []
    for bits in (32, 32, 53):
        unit = gmpy2.mpq(2) ** (int(gmpy2.get_exp(rest.lower)) - bits)
        parts.append(float((gmpy2.mpq(rest.lower) / unit + gmpy2.mpq(1, 2)) // 1 * unit))
        rest = at.shift(rest, -Fraction(parts[-1]))
    return _Constants(
        Pairs(np.array([p.high for p in powers]), np.array([p.low for p in powers])),
        (parts[0], parts[1], parts[2]),
        pair(at.rational(Fraction(1, 6))),
    )


def exponential(a: Pairs, doublings: int = 0) -> Pairs:
    """Return 2**doublings exp(a), for abs(a) up to 1024 and results between 2**-900 and 2**900."""
    powers, (first, second, third), _ = _constants()
    k = np.rint(a.high * (1 / first))
    high, low = exact_sum(a.high - k * first, -(k * second))
    small = _small(normalised(high, low + (a.low - k * third)))
    one_and_small = normalised(np.ones_like(k), small.high)
    whole = k.astype(np.int64)
    i = whole & (_STEPS - 1)
    result = product(
        Pairs(one_and_small.high, one_and_small.low + small.low),
        Pairs(powers.high[i], powers.low[i]),
    )
    exponents = (whole >> 10) + doublings
    return Pairs(np.ldexp(result.high, exponents), np.ldexp(result.low, exponents))


def exponential_in_floats(a: Floats, low: Floats | float = 0.0) -> Floats:
    """Return exp(a + low), a between -1024 and 1024, low below 2**-20: relative error 2**-51.

    Below exp(-700) and above exp(700) it is an error of 2**-1000 below 1, or infinity.
    """
    powers, (first, second, third), _ = _constants()
    k = np.rint(a * (1 / first))
    r = ((a - k * first) - k * second) - k * third + low
    whole = k.astype(np.int64)
    entry = powers.high[whole & (_STEPS - 1)]
    small = r + r * r * (0.5 + r * (1 / 6 + r * (1 / 24)))
    found: Floats = np.ldexp(entry + entry * small, (whole >> 10).astype(np.int32))
    return found


def _small(r: Pairs) -> Pairs:
    """Return exp(r) - 1 = r + r**2 (1/2 + r (1/6 + r (1/24 + ...))) for abs(r) < 2**-11.5."""
    x, sixth = r.high, _constants().sixth
    high, low = exact_sum(x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x * (1 / 5040)))), sixth.high)
    inner = product(r, Pairs(high, low + sixth.low))
    high, low = exact_sum(inner.high, 0.5)
    rest = product(product(r, r), Pairs(high, low + inner.low))
    return pair_sum(r, rest)


def logarithm(a: Pairs) -> Pairs:
    """Return log(a), for logarithms of at most 600 either way."""
    near = np.log(a.high)
    quotient = product(a, exponential(Pairs(-near, np.zeros_like(near))))
    w, w_low = exact_sum(quotient.high - 1.0, quotient.low)
    w = np.where(np.abs(w) < _CLOSE, w, np.nan)
    high, low = exact_sum(near, w)
    return normalised(high, low + (w_low - 0.5 * w * w))
