"""Weights and probabilities of a law at many integers, and their sums, in pairs of floats.

Numbers are in units of 2**-256, so none under- or overflows. A weight is exp(-E), with E from the
law's `Formulas`. Its relative error is 2**-72: the exponential adds 2**-94, and the error of E is
at most (beta + 3) 2**-98 (E + 65) with beta <= 2**16 and E <= 700, or 2**-100 (2 E + 2**20) of a
Gaussian or Laplace. P(X = x) is the weight times P(X = m0), which the certified functions give to
about 100 bits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._certified.double_double import Floats, Pair, Pairs, in_chunks, pair, pair_sum, product
from .._certified.double_double_functions import exponential
from .._certified.formulas import nearest_integer
from .._certified.interval import arithmetic
from .._certified.laws_of_integers import formulas_of
from .._certified.probability import Tail, cached_normaliser, probability
from .._law import LawSpec

#: Numbers are in units of 2**-DOUBLINGS.
DOUBLINGS = 256

#: Integers of smaller size are used if their distance from m0 is at most _FURTHEST, a float.
LARGEST, _FURTHEST = 2**61, 2**53

#: The largest E of a weight.
LAST_WEIGHT = 700.0

_BITS = 150


def exponents_at(spec: LawSpec, xs: NDArray[np.int64]) -> tuple[Pairs, NDArray[np.bool_]]:
    """Return E, and a mask of the integers near enough for it."""
    m0 = nearest_integer(spec.mu)
    near = (xs > -LARGEST) & (xs < LARGEST)  # np.abs of the least int64 is negative
    steps = np.where(near, xs, m0) - m0
    near &= np.abs(steps) <= _FURTHEST
    steps = np.where(near, steps, 0)
    return formulas_of(spec).exponents(spec, steps.astype(np.float64)), near


def probabilities(spec: LawSpec, exponents: Pairs) -> Pairs:
    """Return P(X = m0) exp(-E), for E up to LAST_WEIGHT."""
    at = arithmetic(200)
    at_m0 = pair(at.div(at.rational(1), cached_normaliser(spec, _BITS)[1]))

    def chunk(high: Floats, low: Floats) -> Pairs:
        minus = Pairs(-np.minimum(high, LAST_WEIGHT), -low)
        return product(exponential(minus, DOUBLINGS), at_m0)

    return in_chunks(chunk, *exponents)


def certified_tail(spec: LawSpec, m: int) -> Pair:
    """Return P(X >= m), m >= mu."""
    tail = Tail(spec, m, complement=False)
    return pair(arithmetic(200).scale(probability(tail, _BITS), 2**DOUBLINGS))


def sums_from_the_end(terms: Pairs, remainder: Pair) -> Pairs:
    """Return, for each term, the sum of all terms from it on and of the remainder.

    The terms form rows of about sqrt(n) columns. Sums are taken within all rows at once, and then
    the sums of later rows are added. A sum has at most as many additions as there are rows and
    columns, which is 2**12 for 2**22 terms.
    """
    n = terms.high.size
    columns = math.isqrt(n - 1) + 1
    rows = -(-n // columns)
    # columns first, so that terms that are added at once lie together
    sums = Pairs(*(np.zeros((columns, rows)) for _ in range(2)))
    for part, whole in zip(terms, sums, strict=True):
        padded = np.zeros(rows * columns)
        padded[:n] = part
        whole[:] = padded.reshape(rows, columns).T
    for i in range(columns - 2, -1, -1):
        later = Pairs(sums.high[i + 1], sums.low[i + 1])
        sums.high[i], sums.low[i] = pair_sum(Pairs(sums.high[i], sums.low[i]), later)
    after = Pairs(np.empty(rows), np.empty(rows))
    behind = Pairs(np.array(remainder.high), np.array(remainder.low))
    for row in range(rows - 1, -1, -1):
        after.high[row], after.low[row] = behind
        behind = pair_sum(Pairs(sums.high[0, row], sums.low[0, row]), behind)
    sums = pair_sum(sums, after)
    return Pairs(sums.high.T.ravel()[:n], sums.low.T.ravel()[:n])
