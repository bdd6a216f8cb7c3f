"""Probabilities of the laws at an integer, enclosed.

Probabilities are quotients of sums of laws_of_integers.py. The sum is taken from the side on which
the tail is small: a lower tail below mu, an upper tail above. Otherwise the complement is taken,
which is then at least about 1/2 and loses nothing.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from .._law import LawSpec
from .formulas import mirrored
from .incomplete_gamma import scaled_gamma
from .interval import ONE, ZERO, Interval, arithmetic, fraction_of
from .laws_of_integers import (
    formulas_of,
    log_weight_ratio,
    normaliser,
    phi_at,
    tail_ratio,
    weight_ratio,
)

#: exp(-x) is below every float from here on, by far.
_FAR = 2**20


@lru_cache(maxsize=128)
def kept_normaliser(spec: LawSpec, bits: int) -> tuple[int, Interval]:
    """Return `normaliser`; the last few are kept."""
    return normaliser(spec, bits)


def pmf(spec: LawSpec, k: int, bits: int) -> Interval:
    """Return P(X = k)."""
    m0, total = kept_normaliser(spec, bits)
    return arithmetic(bits + 10).div(weight_ratio(spec, k, m0, bits), total)


def logpmf(spec: LawSpec, k: int, bits: int) -> Interval:
    """Return log P(X = k)."""
    m0, total = kept_normaliser(spec, bits)
    at = arithmetic(bits + 10)
    return _at_most(0, at.sub(log_weight_ratio(spec, k, m0, bits), at.log(total)))


class Tail(NamedTuple):
    """A probability as P(Y >= m), m at or above the law's centre, or as 1 less that."""

    spec: LawSpec
    m: int
    complement: bool


def tail_above(spec: LawSpec, k: int) -> Tail:
    """Return P(X > k) by the smaller tail."""
    if k + 1 >= spec.mu:
        return Tail(spec, k + 1, complement=False)
    return Tail(mirrored(spec), -k, complement=True)


def tail_up_to(spec: LawSpec, k: int) -> Tail:
    """Return P(X <= k) by the smaller tail."""
    above = tail_above(spec, k)
    if k < spec.mu:
        return Tail(mirrored(spec), -k, complement=False)
    return above._replace(complement=True)


def probability(tail: Tail, bits: int, ratio: Interval | None = None) -> Interval:
    """Return the probability; ratio is that of the tail to its first term, if it is known."""
    at = arithmetic(bits + 10)
    value = at.mul(pmf(tail.spec, tail.m, bits), ratio or tail_ratio(tail.spec, tail.m, bits))
    value = _at_most(1, value)
    return at.shift(_negative(value), 1) if tail.complement else value


def log_probability(tail: Tail, bits: int, ratio: Interval | None = None) -> Interval:
    """Return the logarithm of the probability; it may be far below what a float can be."""
    at = arithmetic(bits + 10)
    if tail.complement:
        other = probability(tail._replace(complement=False), bits, ratio)
        return at.log1p(_negative(other))
    log_ratio = at.log(ratio or tail_ratio(tail.spec, tail.m, bits))
    return _at_most(0, at.add(logpmf(tail.spec, tail.m, bits), log_ratio))


def tail_bound(spec: LawSpec, m: int, bits: int) -> Interval:
    """Return a bound on P(X >= m); see LawFunctions.tail_bound.

    Let f = exp(-phi). With y = m - 1 - mu >= 0, where f falls, the weights of m, m + 1, ... are at
    most the integrals of f over the units before them: together s/beta Gamma(a, phi(y)), a =
    1/beta. Over the integral of f, 2 (s/beta) Gamma(a), that is the tail of the law with density f;
    the weights are to be taken over their sum Z, which is below that integral, if at all, by a
    factor that is computed.
    """
    at = arithmetic(bits + 20)
    own = formulas_of(spec).tail_bound(spec, m, at)
    if own is not None:
        return _at_most(1, own)
    distance = m - 1 - spec.mu
    if distance < 0:
        return at.rational(1)
    scale, beta = formulas_of(spec).scale_and_beta(spec, at)
    a = 1 / beta
    x = phi_at(spec, m - 1, arithmetic(2 * bits + 40))
    # from here on exp(-x) is below all floats, and e**x Gamma(a, x) <= x**(a - 1) at most 1
    far = x.lower > _FAR
    finer = arithmetic(2 * bits + 40 + a.denominator.bit_length())
    x_to_a = finer.div(finer.rational(distance), formulas_of(spec).scale_and_beta(spec, finer)[0])
    scaled = Interval(ZERO, ONE) if far else scaled_gamma(a, x, bits, x_to_a)
    tail = at.scale(at.div(at.mul(scaled, at.exp(at.neg(x))), at.gamma(a)), Fraction(1, 2))
    integral = at.scale(at.mul(scale, at.gamma(a)), 2 * a)
    m0, total = kept_normaliser(spec, bits)
    excess = at.div(integral, at.mul(total, at.exp(at.neg(phi_at(spec, m0, at)))))
    return _at_most(1, at.mul(tail, excess) if excess.upper > 1 else tail)


def miss_of_each(sure: Fraction, count: int) -> Fraction:
    """Return how likely each of so many independent events may fail: 1 - sure**(1/count).

    So that all of them happen with probability `sure`, in (0, 1). Exact for one; else rounded down,
    by some 2**-100 of itself.
    """
    if count == 1:
        return 1 - sure
    at = arithmetic(128 + sure.denominator.bit_length() + count.bit_length())
    log = at.scale(at.log(at.rational(sure)), Fraction(1, count))
    return fraction_of(at.neg(at.expm1(log)).lower)


def _negative(a: Interval) -> Interval:
    # exact: no rounding to a shorter precision
    return arithmetic(max(a.lower.precision, a.upper.precision)).neg(a)


def _at_most(limit: int, a: Interval) -> Interval:
    return Interval(a.lower, min(a.upper, arithmetic(53).rational(limit).upper))
