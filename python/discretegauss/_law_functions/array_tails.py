"""Tails P(X >= x) of a wide law at many integers, from polynomials, in pairs of floats.

Let f be P(X = x) as a function of real x, let c be an integer and Y = c - mu. Around c

    f(c + u) = f(c) exp(phi(Y) - phi(Y + u)) = f(c) (a_0 + a_1 t + a_2 t**2 + ...),    u = h t,

and P(X >= c + u) = P(X >= c) - Q(t) + Q(0) for integers u, with (Euler and Maclaurin)

    Q = integral of f - f/2 + f'/12 - f^(3)/720 + f^(5)/30240 - f^(7)/1209600.

The pieces are c - h <= x < c + h with h = 2**k >= 2**8, r = 16 h/Y <= 1/2 and V = r beta phi(Y)
(1 + r)**(beta - 1) <= 6. These are the errors, in units of h f(c):

- abs(phi(Y + u) - phi(Y)) <= abs(u) max abs(phi') <= V for abs(t) <= 16, so abs(f) <= exp(6) f(c).
- The series of phi(Y + u) - phi(Y), with absolute values of its terms, sums to at most 4/3 V for
  abs(t) <= 16. Without absolute values, at t = 16, the sum is at most V. Terms of alternating sign
  begin after k = beta + 1 >= 3, where abs(binom(beta, k)) <= beta/k. Their absolute values add at
  most twice beta phi(Y) r/6. So the series A with abs(a_n) <= A_n sums to exp(8) at t = 16. Because
  the exponent has no constant term, it sums to exp(1/2) at t = 1.
- Terms from a_27 on are together at most 2**-95.
- n a_n is a sum of n products, rounded by at most 30 * 2**-103 n A_n. Errors pass to later a_n by
  the same recurrence. In all they are at most those of 15 * 2**-103 A**3, which is 2**-97 at t = 1.
- Some terms are computed in floats. Those from q_15 on are below 2**-48 and those from f^(3) on
  below 2**-41, so the errors are below 2**-92.
- The remainder is at most 4/(2 pi)**8 times the integral of abs(f^(8)) (euler_maclaurin.py). With
  Cauchy's bound on circles of radius 15 h it is 4 8! exp(6) 2/(30 pi h)**8 < 2**-86.

Over a distance h, phi rises by at most V/16. So each tail in the piece, and the tail from c + h on,
is at least a third of the unit. Its relative error is at most 2**-84, besides that of the weights.
Tails at the ends of pieces are sums of these, from a certified tail on. Before the first piece,
weights are added.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._certified.double_double import (
    Floats,
    Pair,
    Pairs,
    exact_product,
    normalised,
    pair,
    pair_sum,
    product,
    rational_pair,
)
from .._certified.formulas import nearest_integer
from .._certified.interval import arithmetic
from .._certified.laws_of_integers import formulas_of, phi_at
from .._law import LawSpec
from .array_weights import certified_tail, exponents_at, probabilities, sums_from_the_end

_Integers = NDArray[np.int64]

#: Pieces begin _FIRST from m0, and end where phi is _LAST_EXPONENT or at the distance FARTHEST.
_FIRST, _LAST_EXPONENT, FARTHEST = 2**13, 601, 2**51

#: The limits of log2(h), of r = 16 h/Y and of V, with some room.
_SMALLEST_LOG_H, _LARGEST_LOG_H = 8, 46
_RADIUS, _MOST_R, _MOST_V = 16, 0.499, 5.99

#: The last a_n is a_26. Terms of Q from t**14 on are so small that floats are enough.
_ORDER, _IN_PAIRS = 26, 14

#: B_(m+1)/(m+1)! for m = 3, 5, 7, in floats, too.
_HIGHER_DERIVATIVES = ((3, -1 / 720), (5, 1 / 30240), (7, -1 / 1209600))

#: The largest exponent at a centre.
_MOST_EXPONENT = 650.0

_CHUNK = 4096


def tails_in_pieces(spec: LawSpec, ms: _Integers) -> Pairs | None:
    """Return P(X >= m), in units of array_weights.py, for m >= mu with E up to 600.

    None if pieces of the law would be too short, or if an integer lies beyond the last piece. About
    1000 pieces are made once for a law, in about 0.1 s.
    """
    made = _polynomials(spec)
    steps = ms - nearest_integer(spec.mu)
    if made is None or steps.max(initial=0) >= made.pieces.end:
        return None
    result = Pairs(np.empty(ms.size), np.empty(ms.size))
    near = steps < _FIRST
    places = np.flatnonzero(near)
    result.high[places] = made.near_mu.high[steps[places]]
    result.low[places] = made.near_mu.low[steps[places]]
    places = np.flatnonzero(~near)
    for start in range(0, places.size, _CHUNK):
        some = places[start : start + _CHUNK]
        result.high[some], result.low[some] = _evaluated(made, steps[some])
    return result


# --- pieces


class _Pieces(NamedTuple):
    """Starts and centres of the pieces, counted from m0, log2 of h, and the end of all."""

    starts: _Integers
    centres: _Integers
    log_h: _Integers
    end: int


def _pieces(spec: LawSpec) -> _Pieces | None:
    """Return pieces from _FIRST until E exceeds 600; None if they would be too short."""
    at = arithmetic(64)
    formulas = formulas_of(spec)
    scale, exact_beta = formulas.scale_and_beta(spec, at)
    last = min(formulas.distance_of(spec, at.rational(_LAST_EXPONENT), at).upper, FARTHEST)
    s, beta = float(scale.lower), float(exact_beta)
    starts, centres, logs = [], [], []
    start, log_h = _FIRST, _SMALLEST_LOG_H
    while start <= last:
        log_h = min(log_h + 1, _LARGEST_LOG_H)
        while not _fits(start, 2**log_h, s, beta):
            log_h -= 1
            if log_h < _SMALLEST_LOG_H:
                return None
        starts.append(start)
        centres.append(start + 2**log_h)
        logs.append(log_h)
        start += 2 ** (log_h + 1)
    return _Pieces(np.array(starts), np.array(centres), np.array(logs), start) if starts else None


def _fits(start: int, h: int, s: float, beta: float) -> bool:
    """Return whether r and V of the piece from ``start`` on are small enough."""
    y = float(start + h)  # Y, to 1/2
    r = _RADIUS * h / (y - 1)
    if r > _MOST_R:
        return False
    log_v = math.log(r * beta) + beta * math.log((y + 1) / s) + (beta - 1) * math.log1p(r)
    return log_v <= math.log(_MOST_V)


# --- polynomials


class _Polynomials(NamedTuple):
    """P(X >= c + h t) = at_centres - q_1 t - q_2 t**2 - ..., a column for each piece."""

    pieces: _Pieces
    at_centres: Pairs
    high: Floats
    low: Floats
    near_mu: Pairs
    """P(X >= m0 + j) for j = 0, ..., _FIRST - 1."""


@lru_cache(maxsize=8)
def _polynomials(spec: LawSpec) -> _Polynomials | None:
    pieces = _pieces(spec)
    if pieces is None:
        return None
    m0 = nearest_integer(spec.mu)
    exponents, near = exponents_at(spec, m0 + pieces.centres)
    if not near.all() or exponents.high.max() > _MOST_EXPONENT:
        return None
    h = np.ldexp(1.0, pieces.log_h)
    weights = probabilities(spec, exponents)
    weights = Pairs(weights.high * h, weights.low * h)
    series = _series(spec, pieces, exponents)
    q = [product(term, weights) for term in _summed(series, pieces.log_h)]
    high, low = np.array([term.high for term in q]), np.array([term.low for term in q])

    def at_end(sign: float) -> Pairs:
        t = np.full(h.size, sign)
        return _horner(high, low, t)

    right, left = at_end(1.0), at_end(-1.0)
    masses = pair_sum(right, Pairs(-left.high, -left.low))
    behind = certified_tail(spec, m0 + pieces.end)
    from_starts = sums_from_the_end(masses, behind)
    ends = Pairs(
        np.append(from_starts.high[1:], behind.high), np.append(from_starts.low[1:], behind.low)
    )
    first = Pair(float(from_starts.high[0]), float(from_starts.low[0]))
    terms = probabilities(spec, exponents_at(spec, m0 + np.arange(_FIRST))[0])
    return _Polynomials(pieces, pair_sum(ends, right), high, low, sums_from_the_end(terms, first))


def _series(spec: LawSpec, pieces: _Pieces, exponents: Pairs) -> list[Pairs]:
    """Return a_0, a_1, ...: n a_n = -(g_1 a_(n-1) + ... + g_n a_0).

    g_k = k phi(Y) binom(beta, k) (h/Y)**k, so g_(k+1) = g_k (h/Y) (beta - k)/k.
    """
    m0, at = nearest_integer(spec.mu), arithmetic(200)
    beta = formulas_of(spec).scale_and_beta(spec, at)[1]
    phi = pair_sum(exponents, pair(phi_at(spec, m0, at)))
    y = pair_sum(
        Pairs(pieces.centres.astype(np.float64), np.zeros(pieces.centres.size)),
        rational_pair(m0 - spec.mu),
    )
    ratio = _reciprocal(y)
    h = np.ldexp(1.0, pieces.log_h)
    ratio = Pairs(ratio.high * h, ratio.low * h)
    slopes = [product(product(phi, ratio), rational_pair(-beta))]
    for k in range(1, _ORDER):
        slopes.append(product(product(slopes[-1], ratio), rational_pair((beta - k) / k)))
    series = [Pairs(np.ones_like(h), np.zeros_like(h))]
    for n in range(1, _ORDER + 1):
        total = product(slopes[0], series[n - 1])
        for k in range(2, n + 1):
            total = pair_sum(total, product(slopes[k - 1], series[n - k]))
        series.append(product(total, rational_pair(Fraction(1, n))))
    return series


def _summed(series: list[Pairs], log_h: _Integers) -> list[Pairs]:
    """Return q_1, q_2, ... in units of h f(c).

    q_k = a_(k-1)/k - a_k/(2 h) + (k + 1) a_(k+1)/(12 h**2) - ...; the term of f^(m) has (k + m)!/k!
    a_(k+m)/h**(m+1).
    """
    nothing = Pairs(np.zeros_like(series[0].high), np.zeros_like(series[0].high))
    padded = series + [nothing] * 9
    terms = []
    for k in range(1, _ORDER + 2):
        total = product(padded[k - 1], rational_pair(Fraction(1, k)))
        half = Pairs(*(np.ldexp(-part, -log_h - 1) for part in padded[k]))
        slope = product(padded[k + 1], rational_pair(Fraction(k + 1, 12)))
        total = pair_sum(
            pair_sum(total, half), Pairs(*(np.ldexp(part, -2 * log_h) for part in slope))
        )
        small = np.zeros_like(total.high)
        for m, factor in _HIGHER_DERIVATIVES:
            coefficient = factor * math.perm(k + m, m)
            small += np.ldexp(coefficient * padded[k + m].high, -(m + 1) * log_h)
        terms.append(pair_sum(total, Pairs(small, np.zeros_like(small))))
    return terms


def _evaluated(made: _Polynomials, steps: _Integers) -> Pairs:
    pieces = made.pieces
    i = np.searchsorted(pieces.starts, steps, side="right") - 1
    t = np.ldexp((steps - pieces.centres[i]).astype(np.float64), -pieces.log_h[i])  # exact
    less = _horner(made.high[:, i], made.low[:_IN_PAIRS, i], t)
    tails = Pairs(made.at_centres.high[i], made.at_centres.low[i])
    return pair_sum(tails, Pairs(-less.high, -less.low))


def _horner(high: Floats, low: Floats, t: Floats) -> Pairs:
    """Return q_1 t + q_2 t**2 + ..., with low parts for the first terms only."""
    value = high[-1]
    for k in range(high.shape[0] - 2, _IN_PAIRS - 1, -1):
        value = value * t + high[k]
    total = Pairs(value, np.zeros_like(value))
    for k in range(_IN_PAIRS - 1, -1, -1):
        total = pair_sum(_times(total, t), Pairs(high[k], low[k]))
    return _times(total, t)


def _times(a: Pairs, t: Floats) -> Pairs:
    p, low = exact_product(a.high, t)
    return normalised(p, low + a.low * t)


def _reciprocal(a: Pairs) -> Pairs:
    """Return 1/a; relative error at most 2**-100."""
    near = 1.0 / a.high
    p, p_low = exact_product(near, a.high)
    return normalised(near, near * (((1.0 - p) - p_low) - near * a.low))
