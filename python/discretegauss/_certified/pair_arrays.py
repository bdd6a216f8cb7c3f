"""pmf, cdf and sf at many integers at once, rounded as the certified functions round them.

All numbers are pairs of floats, in units of 2**-256, so that none under- or overflows.

- A weight exp(-E), with E from the law's `Family`, is good to 2**-72: the error of E is at most
  (beta + 3) 2**-98 (E + 65) with beta <= 2**16 and E <= 700, the exponential's 2**-94.
- P(X = x) is that times P(X = m0), of which the certified functions give some 100 bits.
- A tail is a sum of such, and of a certified tail behind the last: at most 2**12 sums of positive
  numbers, each with an error of at most 3 * 2**-106, beside the error of what is summed.

So each is good to 2**-71. A float is returned where all numbers within 2**-66 of the pair round to
it. The certified functions begin with 72 bits and take the middle of their enclosure: it is nearer
than that, and they return the same float. All else is left to them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._law import LawSpec
from .double_double import (
    Floats,
    Pair,
    Pairs,
    exact_sum,
    in_chunks,
    normalised,
    pair,
    positive_sum,
    product,
)
from .double_double_functions import exponential
from .families import family_of
from .interval import arithmetic
from .lattice_sums import mirrored, nearest_integer
from .probability import Tail, kept_normaliser, probability

__all__ = ["rounded_values"]

_Integers = NDArray[np.int64]
_Bools = NDArray[np.bool_]

_BITS = 150
_DOUBLINGS = 256

#: Numbers nearer than this to where rounding changes, as a ratio, are in doubt.
_DOUBT = 2.0**-66
#: The smallest float of 53 bits, and twice that.
_LEAST = 2.0**-1021

#: Weights are computed up to the first, tails up to the second; exp(-third) is 0 as a float.
_LAST_WEIGHT, _LAST_TAIL, _NOTHING = 700.0, 600.0, 760.0

#: Integers up to this distance from m0 are floats, and numbers below the other are looked at.
_FURTHEST, _LARGEST = 2**53, 2**61

#: Tails are summed over at most so many integers, and so many for each one asked for.
_MOST_TERMS, _TERMS_EACH = 2**22, 256


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
    if name == "pmf":
        return _pmf(spec, ks)
    if name in ("cdf", "sf"):
        return _tails(spec, ks, above=name == "sf")
    return np.empty(ks.size), np.zeros(ks.size, np.bool_)


def _pmf(spec: LawSpec, ks: _Integers) -> tuple[Floats, _Bools]:
    exponents, near = _exponents(spec, ks)
    values, decided = _rounded(_probabilities(spec, exponents))
    # P(X = x) is at most exp(-E)
    nothing = near & (exponents.high > _NOTHING)
    decided &= near & (exponents.high <= _LAST_WEIGHT)
    return np.where(nothing, 0.0, values), decided | nothing


def _exponents(spec: LawSpec, xs: _Integers) -> tuple[Pairs, _Bools]:
    """Return E, and where integers are near enough for it."""
    m0 = nearest_integer(spec.mu)
    near = (xs > -_LARGEST) & (xs < _LARGEST)  # np.abs of the least integer is that again
    steps = np.where(near, xs, m0) - m0
    near &= np.abs(steps) <= _FURTHEST
    steps = np.where(near, steps, 0)
    return family_of(spec).exponents(spec, steps.astype(np.float64)), near


def _probabilities(spec: LawSpec, exponents: Pairs) -> Pairs:
    """Return P(X = m0) exp(-E), for E up to _LAST_WEIGHT."""
    at = arithmetic(200)
    at_m0 = pair(at.div(at.rational(1), kept_normaliser(spec, _BITS)[1]))

    def chunk(high: Floats, low: Floats) -> Pairs:
        minus = Pairs(-np.minimum(high, _LAST_WEIGHT), -low)
        return product(exponential(minus, _DOUBLINGS), at_m0)

    return in_chunks(chunk, *exponents)


def _rounded(value: Pairs) -> tuple[Floats, _Bools]:
    """Return the numbers rounded to floats, and where that is beyond doubt."""
    doubt = np.abs(value.high) * _DOUBT
    rounded = value.high + (value.low - doubt)
    decided = rounded == value.high + (value.low + doubt)
    values = np.ldexp(rounded, -_DOUBLINGS)
    return values, decided & (values >= _LEAST)


# --- tails


def _tails(spec: LawSpec, ks: _Integers, *, above: bool) -> tuple[Floats, _Bools]:
    """Return P(X > k) or P(X <= k), by P(Y >= m), m >= mu, of Y = X or -X, or 1 less that."""
    values, decided = np.empty(ks.size), np.zeros(ks.size, np.bool_)
    usable = (ks > -_LARGEST) & (ks < _LARGEST)
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
    exponents, near = _exponents(spec, ms)
    nothing = near & (exponents.high > (_LAST_TAIL if complement else _NOTHING))
    values, decided = np.where(nothing, float(complement), np.nan), nothing
    within = np.flatnonzero(near & (exponents.high <= _LAST_TAIL))
    if within.size:
        first, last = int(ms[within].min()), int(ms[within].max())
        if last - first < min(_MOST_TERMS, _TERMS_EACH * within.size):
            table = _table(spec, first, last)
            places = ms[within] - first
            tails = Pairs(table.high[places], table.low[places])
            if complement:
                tails = _from_1(tails)
            values[within], decided[within] = _rounded(tails)
    return values, decided


def _from_1(tails: Pairs) -> Pairs:
    """Return 1 less the tails, which are at most about 1/2; the error is no larger."""
    high, low = exact_sum(-tails.high, 2.0**_DOUBLINGS)
    return normalised(high, low - tails.low)


def _table(spec: LawSpec, first: int, last: int) -> Pairs:
    """Return P(X >= m) for m = first, ..., last, E there at most _LAST_TAIL."""
    exponents, _ = _exponents(spec, np.arange(first, last + 1))
    terms = _probabilities(spec, exponents)
    rest = probability(Tail(spec, last + 1, complement=False), _BITS)
    return _sums_from_the_end(terms, pair(arithmetic(200).scale(rest, 2**_DOUBLINGS)))


def _sums_from_the_end(terms: Pairs, rest: Pair) -> Pairs:
    """Return rest and all terms from each on, summed.

    In rows of about the root of n: within all rows at once, then what follows each row. No sum has
    more additions than columns and rows: 2**12 for 2**22 terms.
    """
    n = terms.high.size
    columns = math.isqrt(n - 1) + 1
    rows = -(-n // columns)
    # columns first: what is added at once lies together
    sums = Pairs(*(np.zeros((columns, rows)) for _ in range(2)))
    for part, whole in zip(terms, sums, strict=True):
        padded = np.zeros(rows * columns)
        padded[:n] = part
        whole[:] = padded.reshape(rows, columns).T
    for i in range(columns - 2, -1, -1):
        later = Pairs(sums.high[i + 1], sums.low[i + 1])
        sums.high[i], sums.low[i] = positive_sum(Pairs(sums.high[i], sums.low[i]), later)
    after = Pairs(np.empty(rows), np.empty(rows))
    behind = Pairs(np.array(rest.high), np.array(rest.low))
    for row in range(rows - 1, -1, -1):
        after.high[row], after.low[row] = behind
        behind = positive_sum(Pairs(sums.high[0, row], sums.low[0, row]), behind)
    sums = positive_sum(sums, after)
    return Pairs(sums.high.T.ravel()[:n], sums.low.T.ravel()[:n])
