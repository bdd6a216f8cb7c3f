"""pmf, cdf and sf at many integers at once, rounded as the certified functions round them.

pair_weights.py gives weights, and so pmf, to 2**-72. A tail is a sum of such, and of a certified
tail behind the last: at most 2**12 sums of positive numbers, each with an error of at most 3 *
2**-106, beside the error of what is summed. wide_tails.py's are as good, and 2**-84.

So each is good to 2**-71. A float is returned where all numbers within 2**-66 of the pair round to
it. The certified functions begin with 72 bits and take the middle of their enclosure: it is nearer
than that, and they return the same float. All else is left to them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._law import LawSpec
from .double_double import Floats, Pairs, exact_sum, normalised
from .family import mirrored
from .pair_weights import (
    DOUBLINGS,
    LARGEST,
    LAST_WEIGHT,
    certified_tail,
    exponents_at,
    probabilities,
    sums_from_the_end,
)
from .wide_tails import tails_in_pieces

_Integers = NDArray[np.int64]
_Bools = NDArray[np.bool_]

#: Numbers nearer than this to where rounding changes, as a ratio, are in doubt.
_DOUBT = 2.0**-66
#: Twice the smallest float of 53 bits.
_LEAST = 2.0**-1021

#: Tails are computed where E is up to the first; exp(-second) is 0 as a float.
_LAST_TAIL, _NOTHING = 600.0, 760.0

#: Tails are summed over at most so many integers, and so many for each one asked for; those of wide
#: laws come from polynomials, if so many are asked for, over more integers than the last for each.
_MOST_TERMS, _TERMS_EACH = 2**21, 256
_MANY_TAILS, _FEW_TERMS_EACH = 256, 16


def rounded_values(name: str, spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    """Return a function at integers, and where that is the rounded value.

    Parameters
    ----------
    name : str
        pmf, cdf or sf; of other functions nothing is known.
    spec : LawSpec
        A canonical law that `has_exponents`.
    ks : ndarray of int64
        Integers, one axis.
    """
    first, last = (int(ks.min()), int(ks.max())) if ks.size else (0, 0)
    if 2 * (last - first) < ks.size:  # many are the same
        values, decided = _values(name, spec, np.arange(first, last + 1))
        return values[ks - first], decided[ks - first]
    return _values(name, spec, ks)


def _values(name: str, spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    if name == "pmf":
        return _pmf(spec, ks)
    if name in ("cdf", "sf"):
        return _tails(spec, ks, above=name == "sf")
    return np.empty(ks.size), np.zeros(ks.size, np.bool_)


def _pmf(spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    exponents, near = exponents_at(spec, ks)
    values, decided = _rounded(probabilities(spec, exponents))
    # P(X = x) is at most exp(-E)
    nothing = near & (exponents.high > _NOTHING)
    decided &= near & (exponents.high <= LAST_WEIGHT)
    return np.where(nothing, 0.0, values), decided | nothing


def _rounded(value: Pairs) -> tuple[Floats, _Bools]:
    """Return the numbers rounded to floats, and where that is beyond doubt."""
    doubt = np.abs(value.high) * _DOUBT
    rounded = value.high + (value.low - doubt)
    decided = rounded == value.high + (value.low + doubt)
    values = np.ldexp(rounded, -DOUBLINGS)
    return values, decided & (values >= _LEAST)


# --- tails


def _tails(spec: LawSpec, ks: _Integers, *, above: bool) -> tuple[Floats, _Bools]:
    """Return P(X > k) or P(X <= k), by P(Y >= m), m >= mu, of Y = X or -X, or 1 less that."""
    values, decided = np.empty(ks.size), np.zeros(ks.size, np.bool_)
    usable = (ks > -LARGEST) & (ks < LARGEST)
    c = math.ceil(spec.mu)
    right = ks >= (c - 1 if above else c)
    for side, law, complement in ((right, spec, not above), (~right, mirrored(spec), above)):
        places = np.flatnonzero(side & usable)
        if places.size:
            ms = ks[places] + 1 if law is spec else -ks[places]
            values[places], decided[places] = _upper_tails(law, ms, complement=complement)
    return values, decided


def _upper_tails(spec: LawSpec, ms: _Integers, *, complement: bool) -> tuple[Floats, _Bools]:
    """Return P(X >= m), m >= mu, or 1 less that, rounded, and where that is beyond doubt.

    P(X >= m)/P(X = m) falls as m grows (the weights are log-concave), so that P(X >= m) is at most
    P(X >= m0) exp(-E): below exp(-_NOTHING) it is 0 as a float, and long before 1 less it is 1.
    """
    exponents, near = exponents_at(spec, ms)
    nothing = near & (exponents.high > (_LAST_TAIL if complement else _NOTHING))
    values, decided = np.where(nothing, float(complement), np.nan), nothing
    within = np.flatnonzero(near & (exponents.high <= _LAST_TAIL))
    tails = _tails_within(spec, ms[within]) if within.size else None
    if tails is not None:
        values[within], decided[within] = _rounded(_from_1(tails) if complement else tails)
    return values, decided


def _tails_within(spec: LawSpec, ms: _Integers) -> Pairs | None:
    """Return P(X >= m) for m >= mu with E up to _LAST_TAIL; None if that takes too long."""
    first, last = int(ms.min()), int(ms.max())
    n = last - first + 1
    if ms.size >= _MANY_TAILS and n > _FEW_TERMS_EACH * ms.size:
        tails = tails_in_pieces(spec, ms)
        if tails is not None:
            return tails
    if n > min(_MOST_TERMS, _TERMS_EACH * ms.size):
        return None
    terms = probabilities(spec, exponents_at(spec, np.arange(first, last + 1))[0])
    table = sums_from_the_end(terms, certified_tail(spec, last + 1))
    return Pairs(table.high[ms - first], table.low[ms - first])


def _from_1(tails: Pairs) -> Pairs:
    """Return 1 less the tails, which are at most about 1/2; the error is no larger."""
    high, low = exact_sum(-tails.high, 2.0**DOUBLINGS)
    return normalised(high, low - tails.low)
