"""Bounds on mean, variance and entropy of the laws, at a cost that does not grow with sigma.

There are three methods: Poisson summation (Gaussian, sigma2 >= 1/2), closed forms (Laplace), and
one-sided tails weighted with powers of the distance from mu (generalised Gaussian). If a law sits
on few integers, these lose relative precision, because its variance is tiny. Then the sum is taken
term by term around the likeliest integer. Each law's file has its sums. This file turns them into
moments about the mean or about 0.

If 2 mu is an integer, the law is symmetric about mu and its mean is exactly mu.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import gmpy2

from .._law import LawSpec
from .formulas import nearest_integer
from .interval import Arithmetic, Interval, arithmetic, relative_width_below
from .laws_of_integers import formulas_of, log_weight_ratio, normaliser

#: Below this variance skewness and kurtosis exceed every float, or are bounded in another way.
_TINY_VARIANCE = gmpy2.mpq(1, 2**4096)
#: Every number above this is infinite as a float, by far.
_BEYOND_FLOATS = 2**1100


def mean(spec: LawSpec, bits: int) -> Interval:
    """Return the mean."""
    if is_symmetric(spec):
        return arithmetic(bits).rational(spec.mu)
    near = formulas_of(spec).mean_near_mu(spec, bits)
    if near is not None and relative_width_below(near, bits):
        return near
    return _moments(spec, bits).mean


def variance(spec: LawSpec, bits: int) -> Interval:
    """Return the variance, positive."""
    exact = formulas_of(spec).exact_variance(spec)
    if exact is not None:
        return arithmetic(bits).rational(exact)
    return _not_negative(_variance(spec, bits))


def standard_deviation(spec: LawSpec, bits: int) -> Interval:
    """Return the standard deviation, positive."""
    return arithmetic(bits).sqrt(variance(spec, bits))


def skewness(spec: LawSpec, bits: int) -> Interval:
    """Return E((X - mean)**3)/std**3."""
    at = arithmetic(bits)
    if is_symmetric(spec):
        return at.rational(0)
    second = variance(spec, bits)
    if second.upper < _TINY_VARIANCE:
        beyond = _skewness_of_tiny_variance(spec, second, at)
        if beyond is not None:
            return beyond
    return at.div(_moments(spec, bits).third, at.power(second, Fraction(3, 2)))


def excess_kurtosis(spec: LawSpec, bits: int) -> Interval:
    """Return E((X - mean)**4)/var**2 - 3.

    Let e be the distance from the mean to the nearest integer m, and v the variance. E((X - n)
    (X - n - 1)) >= 0 for the integer n below the mean, so v >= e (1 - e) >= e/2. If X is not m, it
    is at least 1/2 from the mean. So the fourth moment is at least (v - e**2)/4 >= (v - 4 v**2)/4,
    and the result at least 1/(4 v) - 4. This bound is used if v is so small that MPFR may not hold
    it and the quotient of intervals may be anything.
    """
    at = arithmetic(bits + 4)
    second = variance(spec, bits)
    if second.upper < _TINY_VARIANCE:
        least = at.down.sub(at.down.div(1, at.up.mul(4, second.upper)), 4)
        return Interval(least, gmpy2.inf())
    fourth = _moments(spec, bits).fourth
    return at.shift(at.div(fourth, at.power(second, 2)), -3)


def _skewness_of_tiny_variance(spec: LawSpec, second: Interval, at: Arithmetic) -> Interval | None:
    """Return bounds on the skewness if it exceeds every float; the law is not symmetric.

    Let p_n = P(X = m0 + n), and let mu be above m0; below m0 the mirrored law is used. The mean is
    at most 2 v from an integer (see `excess_kurtosis`). This is m0, because P(X is another) <= 4 v.
    Let E2 = E((X - m0)**2) <= v + (2 v)**2 and a = E(X - m0) = sum of n (p_n - p_-n) over n >= 1.
    No term of a is negative, and none exceeds the same term with n**3. So the third moment
    E((X - m0)**3) - 3 a E2 + 2 a**3 is at least (1 - 3 E2) (p_1 - p_-1). Ratios of neighbours fall,
    so p_(n+1) <= p_n p_1/p_0, and p_-n <= p_n. Hence v <= E2 <= 3 p_1, and the skewness exceeds

        (1 - p_-1/p_1)/(6 sqrt(v)).
    """
    m0 = nearest_integer(spec.mu)
    side = 1 if spec.mu > m0 else -1
    log = log_weight_ratio(spec, m0 - side, m0 + side, at.bits)
    least = at.down.div(at.neg(at.expm1(log)).lower, at.up.mul(6, at.up.sqrt(second.upper)))
    if not least > _BEYOND_FLOATS:
        return None
    beyond = Interval(least, gmpy2.inf())
    return beyond if side > 0 else at.neg(beyond)


def has_raw_moments(spec: LawSpec, order: int) -> bool:
    """Return whether `raw_moment` works up to the order."""
    return formulas_of(spec).has_moments(spec, order)


def raw_moment(spec: LawSpec, order: int, bits: int) -> Interval:
    """Return E(X**order), order >= 1. From 5 on `has_raw_moments` must hold."""
    if is_symmetric(spec) and spec.mu == 0 and order % 2:
        return arithmetic(bits).rational(0)
    if order > 4:
        return _raw_moment_of_high_order(spec, order, bits)
    first = mean(spec, bits)
    if order == 1:
        return first
    at = arithmetic(bits + 4)
    moments = _moments(spec, bits)
    third = at.rational(0) if is_symmetric(spec) else moments.third
    central = [at.rational(1), at.rational(0), variance(spec, bits), third, moments.fourth]
    return _moved(central[: order + 1], first, at)


def _raw_moment_of_high_order(spec: LawSpec, order: int, bits: int) -> Interval:
    """Return E(X**order) from the moments about the origin of the law's sums."""
    about = formulas_of(spec).moments(spec, bits, order)
    at = arithmetic(bits + 4 + order)
    raw = [at.rational(1), *about.raw]
    if is_symmetric(spec) and about.origin == spec.mu:
        raw[1::2] = [at.rational(0)] * len(raw[1::2])
    return _moved(raw, at.rational(about.origin), at)


def _moved(moments: list[Interval], distance: Interval, at: Arithmetic) -> Interval:
    """Return E((Y + distance)**n) from E(Y**i), i = 0, ..., n."""
    total, n = at.rational(0), len(moments) - 1
    for i, moment in enumerate(moments):  # by Horner's rule
        total = at.add(at.mul(total, distance), at.scale(moment, math.comb(n, i)))
    return total


def entropy(spec: LawSpec, bits: int) -> Interval:
    """Return the entropy in nats, -sum of P log P = log S + E(phi) - phi(m0); positive."""
    at = arithmetic(bits + 10)
    return _not_negative(at.add(at.log(normaliser(spec, bits)[1]), _moments(spec, bits).energy))


def is_symmetric(spec: LawSpec) -> bool:
    """Return whether the law is symmetric about mu."""
    return (2 * spec.mu).denominator == 1


def _not_negative(a: Interval) -> Interval:
    return Interval(max(a.lower, arithmetic(53).rational(0).lower), a.upper)


class _Moments(NamedTuple):
    mean: Interval
    second: Interval
    """Central, as are the next two."""
    third: Interval
    fourth: Interval
    energy: Interval
    """E(phi(X)) - phi(m0)"""


@lru_cache(maxsize=64)
def _variance(spec: LawSpec, bits: int) -> Interval:
    """Return the variance from the first two moments."""
    about = formulas_of(spec).moments(spec, bits, 2)
    first, second = about.raw
    if is_symmetric(spec):
        first = about.at.rational(spec.mu - about.origin)
    return about.at.sub(second, about.at.mul(first, first))


@lru_cache(maxsize=64)
def _moments(spec: LawSpec, bits: int) -> _Moments:
    """Return the moments."""
    origin, raw, energy, at = formulas_of(spec).moments(spec, bits, 4)
    first, second, third, fourth = raw
    if is_symmetric(spec):
        first = at.rational(spec.mu - origin)
    square = at.mul(first, first)
    # central moments: E2 - a**2, E3 - 3 a E2 + 2 a**3, E4 - 4 a E3 + 6 a**2 E2 - 3 a**4
    variance = at.sub(second, square)
    twice = at.sub(at.scale(square, 2), at.scale(second, 3))
    threefold = at.sub(at.scale(second, 6), at.scale(square, 3))
    return _Moments(
        at.shift(first, origin),
        variance,
        at.add(third, at.mul(first, twice)),
        at.add(at.sub(fourth, at.scale(at.mul(first, third), 4)), at.mul(square, threefold)),
        energy,
    )
