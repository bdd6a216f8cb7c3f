"""Exponentials and logarithms of arrays of pairs of floats, with proven errors.

*exp(a).* Let k be the integer nearest to 1024 a/log 2. Then a = k (log 2)/1024 + r with
abs(r) < 2**-11.5, and exp(a) = 2**(k // 1024) t exp(r), with t = 2**((k % 1024)/1024) from a table
of pairs. (log 2)/1024 is a sum of three floats. k is below 2**21 and the first two floats have 32
bits, so their products with k are exact, and so is a - k first (Sterbenz). The remaining a.low and
k third are below 2**-53 abs(a), and their roundings below 2**-104 abs(a) + 2**-114. In the series
of exp(r) the terms from r**4 on are computed in floats, with an error below r**4/24 2**-51 <
2**-101. Those from r**8 on are below 2**-107 and left out. Two products of pairs follow, so

    the relative error is at most 2**-100 + 2**-104 abs(a).

*exp(a) in floats.* The method is the same, with k up to 2**21 and r in floats. a - k first is exact
and at most 2**-11.4, so the error of r is 2**-63, and that of r + r**2/2 + ... + r**4/24 is 2**-62.
With the roundings of the table's entry, of the product and of the sum,

    the relative error is at most 2**-51, besides that of a rounded a.

*log(a).* If l is a float near log(a), then log(a) = l + log(1 + w), w = a exp(-l) - 1. The error of
w is 2**-99.5 + 2**-104 abs(l). If abs(w) < 2**-35, log(1 + w) is w - w**2/2 to 2**-106. The proof
needs no accuracy of np.log: if w is larger, the result is NaN. So

    the absolute error is at most 2**-99 + 2**-103 abs(log a).
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

#: log(1 + w) is w - w**2/2 for smaller abs(w).
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
    remainder, parts = at.scale(log_2, Fraction(1, _STEPS)), []
    for bits in (32, 32, 53):
        unit = gmpy2.mpq(2) ** (int(gmpy2.get_exp(remainder.lower)) - bits)
        parts.append(float((gmpy2.mpq(remainder.lower) / unit + gmpy2.mpq(1, 2)) // 1 * unit))
        remainder = at.shift(remainder, -Fraction(parts[-1]))
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
    """Return exp(a + low) for abs(a) <= 1024 and abs(low) < 2**-20: relative error 2**-51.

    Results below exp(-700) have an absolute error of 2**-1000. Above exp(700) they may be infinite.
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
    remainder = product(product(r, r), Pairs(high, low + inner.low))
    return pair_sum(r, remainder)


def logarithm(a: Pairs) -> Pairs:
    """Return log(a), if it is between -600 and 600."""
    near = np.log(a.high)
    quotient = product(a, exponential(Pairs(-near, np.zeros_like(near))))
    w, w_low = exact_sum(quotient.high - 1.0, quotient.low)
    w = np.where(np.abs(w) < _CLOSE, w, np.nan)
    high, low = exact_sum(near, w)
    return normalised(high, low + (w_low - 0.5 * w * w))
