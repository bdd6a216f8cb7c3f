"""pmf, cdf, sf and their logarithms at many integers at once.

pmf, cdf and sf round to the same floats as the certified functions. The weights of
array_weights.py, and so pmf, have a relative error of 2**-72. A tail is a sum of weights and of a
certified tail behind the last. This takes at most 2**12 sums of positive numbers, each with an
error of at most 3 * 2**-106 besides the error of the weights. The tails of array_tails.py have an
error of 2**-84 besides that of the weights.

So each relative error is at most 2**-71. A float is returned if all numbers within 2**-66 of the
pair round to it. The certified functions begin with 72 bits and take the middle of their enclosure.
It is nearer than that, so they return the same float.

Logarithms are computed from such floats, to a relative error of 1e-14. This assumes that np.log and
np.log1p are right to 4 units of the last place, which numpy's tests check. All other cases are left
to the certified functions.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._certified.double_double import Floats, Pairs, exact_sum, normalised
from .._certified.floats import float_value
from .._certified.formulas import RationalFormulas, mirrored, nearest_integer
from .._certified.interval import arithmetic
from .._certified.laws_of_integers import formulas_of
from .._certified.probability import logpmf
from .._law import LawSpec
from .array_tails import FARTHEST, tails_in_pieces
from .array_weights import (
    DOUBLINGS,
    LARGEST,
    LAST_WEIGHT,
    certified_tail,
    exponents_at,
    probabilities,
    sums_from_the_end,
)

_Integers = NDArray[np.int64]
_Bools = NDArray[np.bool_]

#: A number is in doubt if it is nearer than this, relatively, to a change of rounding.
_DOUBT = 2.0**-66
#: Twice the smallest float of 53 bits.
_LEAST = 2.0**-1021

#: Tails are computed for E up to _LAST_TAIL. exp(-_NOTHING) is 0 as a float.
_LAST_TAIL, _NOTHING = 600.0, 760.0

#: Tails are summed over at most _MOST_TERMS integers, and at most _TERMS_EACH for each tail.
#: MANY_TAILS tails or more come from polynomials if they spread over _FEW_TERMS_EACH integers each
#: or more.
_MOST_TERMS, _TERMS_EACH = 2**21, 256
MANY_TAILS, _FEW_TERMS_EACH = 256, 16


def supported(spec: LawSpec) -> bool:
    """Return whether this module works for the law."""
    return formulas_of(spec).has_exponents(spec)


def array_values(name: str, spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    """Return a function at integers, and a mask of correctly rounded values or good logarithms.

    `name` is pmf, logpmf, cdf, logcdf, sf or logsf; `ks` has one axis.
    """
    if not supported(spec):
        return np.empty(ks.size), np.zeros(ks.size, np.bool_)
    first, last = (int(ks.min()), int(ks.max())) if ks.size else (0, 0)
    if 2 * (last - first) < ks.size:  # many are equal
        values, decided = _values(name, spec, np.arange(first, last + 1))
        return values[ks - first], decided[ks - first]
    return _values(name, spec, ks)


def _values(name: str, spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    if name == "pmf":
        return _pmf(spec, ks)
    if name == "logpmf":
        return _logpmf(spec, ks)
    return _tails(name, spec, ks)


def _pmf(spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    exponents, near = exponents_at(spec, ks)
    values, decided = _rounded(probabilities(spec, exponents))
    # P(X = x) is at most exp(-E)
    nothing = near & (exponents.high > _NOTHING)
    decided &= near & (exponents.high <= LAST_WEIGHT)
    return np.where(nothing, 0.0, values), decided | nothing


def _logpmf(spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    exponents, near = exponents_at(spec, ks)
    if not isinstance(formulas_of(spec), RationalFormulas):
        near &= exponents.high <= LAST_WEIGHT
    largest = _log_largest(spec)
    # all parts are at most 0, so nothing cancels; at m0 the exponent is 0, up to its error
    values = (largest - exponents.high) - exponents.low
    return np.where(ks == nearest_integer(spec.mu), largest, values), near


@lru_cache(maxsize=64)
def _log_largest(spec: LawSpec) -> float:
    """Return log P(X = m0)."""
    return float_value(lambda bits: logpmf(spec, nearest_integer(spec.mu), bits))


def _rounded(value: Pairs) -> tuple[Floats, _Bools]:
    """Return the numbers rounded to floats, and a mask of those beyond doubt."""
    doubt = np.abs(value.high) * _DOUBT
    rounded = value.high + (value.low - doubt)
    decided = rounded == value.high + (value.low + doubt)
    values = np.ldexp(rounded, -DOUBLINGS)
    return values, decided & (values >= _LEAST)


# --- tails


def _tails(name: str, spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    """Return P(X > k) or P(X <= k), as P(Y >= m) or 1 - P(Y >= m), m >= mu, of Y = X or -X."""
    above = name in ("sf", "logsf")
    upper_tails = _rounded_tails if name in ("cdf", "sf") else _logarithms_of_tails
    values, decided = np.empty(ks.size), np.zeros(ks.size, np.bool_)
    usable = (ks > -LARGEST) & (ks < LARGEST)
    c = math.ceil(spec.mu)
    right = ks >= (c - 1 if above else c)
    for side, law, complement in ((right, spec, not above), (~right, mirrored(spec), above)):
        places = np.flatnonzero(side & usable)
        if places.size:
            ms = ks[places] + 1 if law is spec else -ks[places]
            values[places], decided[places] = upper_tails(law, ms, complement)
    return values, decided


def _rounded_tails(spec: LawSpec, ms: _Integers, complement: bool) -> tuple[Floats, _Bools]:
    """Return P(X >= m) or 1 - P(X >= m), m >= mu, rounded, and a mask of those beyond doubt.

    The weights are log-concave, so P(X >= m)/P(X = m) falls as m grows and P(X >= m) is at most
    P(X >= m0) exp(-E). Below exp(-_NOTHING) it is 0 as a float, and 1 - P(X >= m) is 1 long before.
    """
    exponents, near = exponents_at(spec, ms)
    nothing = near & (exponents.high > (_LAST_TAIL if complement else _NOTHING))
    values, decided = np.where(nothing, float(complement), np.nan), nothing
    tails, within = upper_tails(spec, ms)
    values[within], decided[within] = _rounded(_from_1(tails) if complement else tails)
    return values, decided


def _logarithms_of_tails(spec: LawSpec, ms: _Integers, complement: bool) -> tuple[Floats, _Bools]:
    """Return log P(X >= m) or log(1 - P(X >= m)), m >= mu, and a mask of those that are good.

    They are good for tails up to 1/2. Because log 2 > 1/2, the relative error of either logarithm
    is then at most twice that of the tail.
    """
    values, good = np.full(ms.size, np.nan), np.zeros(ms.size, np.bool_)
    tails, within = upper_tails(spec, ms)
    floats = in_floats(tails)
    values[within] = np.log1p(-floats) if complement else np.log(floats)
    good[within] = floats <= 0.5
    return values, good


def in_floats(tails: Pairs) -> Floats:
    """Return probabilities in the units of array_weights.py as floats."""
    return np.ldexp(tails.high, -DOUBLINGS)


def upper_tails(spec: LawSpec, ms: _Integers) -> tuple[Pairs, NDArray[np.intp]]:
    """Return P(X >= m) for the m >= mu with E up to 600, and their places; none if it is slow."""
    exponents, near = exponents_at(spec, ms)
    places = np.flatnonzero(near & (exponents.high <= _LAST_TAIL))
    found = _tails_within(spec, ms[places]) if places.size else None
    return found or Pairs(np.empty(0), np.empty(0)), places[: None if found else 0]


def _tails_within(spec: LawSpec, ms: _Integers) -> Pairs | None:
    """Return P(X >= m) for m >= mu with E up to _LAST_TAIL; None if that takes too long."""
    first, last = int(ms.min()), int(ms.max())
    if ms.size >= MANY_TAILS and last - first + 1 > _FEW_TERMS_EACH * ms.size:
        tails = tails_in_pieces(spec, ms)
        if tails is not None:
            return tails
    table = tail_table(spec, first, last, most=_TERMS_EACH * ms.size)
    return table and Pairs(table.high[ms - first], table.low[ms - first])


def tail_table(spec: LawSpec, first: int, last: int, *, most: int) -> Pairs | None:
    """Return P(X >= m) for m = first, ..., last + 1; None if they are out of range or too many.

    The first is at least mu. At most ``most`` terms are summed.
    """
    if last - first + 1 > min(_MOST_TERMS, most):
        return None
    exponents, near = exponents_at(spec, np.arange(first, last + 1))
    if not near.all() or exponents.high.max(initial=0) > LAST_WEIGHT:
        return None
    return sums_from_the_end(probabilities(spec, exponents), certified_tail(spec, last + 1))


def wide_tails_and_terms(spec: LawSpec, ms: _Integers) -> tuple[Floats, Floats] | None:
    """Return P(X >= m) and P(X = m) for mu <= m <= `last_term`; None if that is slow."""
    tails = tails_in_pieces(spec, ms)
    if tails is None:
        return None
    return in_floats(tails), in_floats(probabilities(spec, exponents_at(spec, ms)[0]))


def last_term(spec: LawSpec) -> int:
    """Return an integer, at least mu - 1, up to which E is at most _LAST_TAIL."""
    at = arithmetic(64)
    reach = formulas_of(spec).distance_of(spec, at.rational(int(_LAST_TAIL)), at).lower
    return nearest_integer(spec.mu) + int(min(reach, FARTHEST)) - 1


def _from_1(tails: Pairs) -> Pairs:
    """Return 1 minus the tails, which are at most about 1/2. The error does not grow."""
    high, low = exact_sum(-tails.high, 2.0**DOUBLINGS)
    return normalised(high, low - tails.low)
