"""Bounds on probabilities of the laws at an integer.

Probabilities are quotients of sums of laws_of_integers.py. The sum is the smaller tail: a lower
tail below mu, an upper tail above. The larger tail is its complement, which is at least about 1/2
and loses no digits.
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

#: exp(-_FAR) is below every float, by far.
_FAR = 2**20


@lru_cache(maxsize=128)
def cached_normaliser(spec: LawSpec, bits: int) -> tuple[int, Interval]:
    """Return `normaliser`. The last few are cached."""
    return normaliser(spec, bits)


def pmf(spec: LawSpec, k: int, bits: int) -> Interval:
    """Return P(X = k)."""
    m0, total = cached_normaliser(spec, bits)
    return arithmetic(bits + 10).div(weight_ratio(spec, k, m0, bits), total)


def logpmf(spec: LawSpec, k: int, bits: int) -> Interval:
    """Return log P(X = k)."""
    m0, total = cached_normaliser(spec, bits)
    at = arithmetic(bits + 10)
    return _at_most(0, at.sub(log_weight_ratio(spec, k, m0, bits), at.log(total)))


class Tail(NamedTuple):
    """A probability P(Y >= m), m at or above the law's centre, or its complement."""

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
    """Return the probability; ``ratio`` is that of the tail to its first term, if known."""
    at = arithmetic(bits + 10)
    value = at.mul(pmf(tail.spec, tail.m, bits), ratio or tail_ratio(tail.spec, tail.m, bits))
    value = _at_most(1, value)
    return at.shift(_negative(value), 1) if tail.complement else value


def log_probability(tail: Tail, bits: int, ratio: Interval | None = None) -> Interval:
    """Return the logarithm of the probability, which may be below every float."""
    at = arithmetic(bits + 10)
    if tail.complement:
        other = probability(tail._replace(complement=False), bits, ratio)
        return at.log1p(_negative(other))
    log_ratio = at.log(ratio or tail_ratio(tail.spec, tail.m, bits))
    return _at_most(0, at.add(logpmf(tail.spec, tail.m, bits), log_ratio))


def tail_bound(spec: LawSpec, m: int, bits: int) -> Interval:
    """Return a bound on P(X >= m); see LawFunctions.tail_bound.

    Let f = exp(-phi) and y = m - 1 - mu >= 0, from where on f falls. The weights of m, m + 1, ...
    are at most the integrals of f over the units before them, together s/beta Gamma(a, phi(y)) with
    a = 1/beta. Divided by the integral of f, 2 (s/beta) Gamma(a), this is the tail of the law with
    density f. The weights must be divided by their sum Z instead. If Z is below the integral, the
    bound is larger by their ratio, which is computed.
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
    # for larger x exp(-x) is below every float, and e**x Gamma(a, x) <= x**(a - 1) <= 1
    far = x.lower > _FAR
    finer = arithmetic(2 * bits + 40 + a.denominator.bit_length())
    x_to_a = finer.div(finer.rational(distance), formulas_of(spec).scale_and_beta(spec, finer)[0])
    scaled = Interval(ZERO, ONE) if far else scaled_gamma(a, x, bits, x_to_a)
    tail = at.scale(at.div(at.mul(scaled, at.exp(at.neg(x))), at.gamma(a)), Fraction(1, 2))
    integral = at.scale(at.mul(scale, at.gamma(a)), 2 * a)
    m0, total = cached_normaliser(spec, bits)
    excess = at.div(integral, at.mul(total, at.exp(at.neg(phi_at(spec, m0, at)))))
    return _at_most(1, at.mul(tail, excess) if excess.upper > 1 else tail)


def miss_of_each(sure: Fraction, count: int) -> Fraction:
    """Return 1 - sure**(1/count), the probability with which each independent event may fail.

    All ``count`` events then happen with probability ``sure``, which is in (0, 1). The result is
    exact for one event, and else rounded down, by a part of about 2**-100.
    """
    if count == 1:
        return 1 - sure
    at = arithmetic(128 + sure.denominator.bit_length() + count.bit_length())
    log = at.scale(at.log(at.rational(sure)), Fraction(1, count))
    return fraction_of(at.neg(at.expm1(log)).lower)


def _negative(a: Interval) -> Interval:
    # exact, because the precision is long enough
    return arithmetic(max(a.lower.precision, a.upper.precision)).neg(a)


def _at_most(limit: int, a: Interval) -> Interval:
    return Interval(a.lower, min(a.upper, arithmetic(53).rational(limit).upper))
