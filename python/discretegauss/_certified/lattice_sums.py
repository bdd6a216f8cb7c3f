"""Sums of the laws over integers, enclosed, at a cost that does not grow with sigma or the scale.

A law gives the integer x the weight exp(-phi(x)), with X = abs(x - mu) and

    phi(x) = X**2/(2 sigma2)    discrete Gaussian
    phi(x) = X/scale            discrete Laplace
    phi(x) = (X/scale)**beta    generalised Gaussian

Sums are returned in units of a weight that the caller knows, so that they neither overflow nor
underflow. ``bits`` is what the relative width of a result aims at, 2**-bits; the result is an
enclosure whatever its width. Who needs a certain width checks it and asks again with more bits.
"""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2

from .._law import Kind, LawSpec
from .gaussian_tail import gaussian_tail
from .generalized_tail import Shape, exponent_guard, generalized_tail, log_ratio, phi
from .interval import Arithmetic, Interval, Rational, arithmetic

__all__ = [
    "canonical",
    "log_weight_ratio",
    "mirrored",
    "nearest_integer",
    "normaliser",
    "phi_at",
    "tail_ratio",
    "weight_ratio",
]


def canonical(spec: LawSpec) -> LawSpec:
    """Return the same law by its simplest name: beta = 1 is the Laplace, beta = 2 the Gaussian."""
    if spec.kind is Kind.GENERALIZED_GAUSSIAN:
        if spec.beta == 1:
            return LawSpec(Kind.DISCRETE_LAPLACE, spec.parameter, spec.mu)
        if spec.beta == 2:
            return LawSpec(Kind.DISCRETE_GAUSSIAN, spec.parameter**2 / 2, spec.mu)
    return spec


def mirrored(spec: LawSpec) -> LawSpec:
    """Return the law of -X."""
    return spec._replace(mu=-spec.mu)


def nearest_integer(mu: Fraction) -> int:
    """Return the integer nearest to mu, where the weight is largest; the upper one of two."""
    return math.floor(mu + Fraction(1, 2))


def phi_at(spec: LawSpec, m: int, at: Arithmetic) -> Interval:
    """Return phi(m)."""
    spec = canonical(spec)
    distance = abs(m - spec.mu)
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return at.rational(distance * distance / (2 * spec.parameter))
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return at.rational(distance / spec.parameter)
    return phi(Shape(spec.parameter, spec.beta), distance, at)


def tail_ratio(spec: LawSpec, m: int, bits: int) -> Interval:
    """Return R, the weight of all x >= m in units of that of m.

    Parameters
    ----------
    spec : LawSpec
        A discrete Gaussian, discrete Laplace or generalised Gaussian.
    m : int
        At least mu. (The other side: ``tail_ratio(mirrored(spec), -m, bits)``.)
    bits : int
        The relative width aimed at is 2**-bits.

    Returns
    -------
    Interval
        R with ``sum for x >= m of exp(-phi(x)) = exp(-phi(m)) R``; R >= 1.
    """
    spec = canonical(spec)
    d = m - spec.mu
    if d < 0:
        raise ValueError("m must be at least mu")
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return gaussian_tail(spec.parameter, d, bits)
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return _laplace_tail(spec.parameter, bits)
    return generalized_tail(Shape(spec.parameter, spec.beta), d, bits)


def _laplace_tail(scale: Fraction, bits: int) -> Interval:
    """Return 1 + q + q**2 + ... = 1/(1 - q) for q = exp(-1/scale)."""
    at = arithmetic(bits + 10)
    return at.div(at.rational(1), at.neg(at.expm1(at.rational(-1 / scale))))


def normaliser(spec: LawSpec, bits: int) -> tuple[int, Interval]:
    """Return m0 and S, the weight of all integers in units of that of m0, the integer nearest mu.

    Parameters
    ----------
    spec : LawSpec
        A discrete Gaussian, discrete Laplace or generalised Gaussian.
    bits : int
        The relative width aimed at is 2**-bits.

    Returns
    -------
    m0 : int
        The integer nearest to mu; the upper one of two.
    S : Interval
        ``sum over all integers x of exp(-phi(x)) = exp(-phi(m0)) S``; S >= 1.
    """
    spec = canonical(spec)
    m0 = nearest_integer(spec.mu)
    if spec.kind is Kind.DISCRETE_GAUSSIAN and spec.parameter >= Fraction(1, 2):
        return m0, _gaussian_by_poisson(spec.parameter, m0 - spec.mu, bits)
    at = arithmetic(bits + 10)
    # x >= m0 and, mirrored, x <= m0 - 1; one of the two ends may lie on the wrong side of mu
    right, left = _from(spec, m0, bits), _from(mirrored(spec), 1 - m0, bits)
    return m0, at.add(right, at.mul(left, weight_ratio(spec, m0 - 1, m0, bits)))


def _from(spec: LawSpec, m: int, bits: int) -> Interval:
    """Return `tail_ratio`, also for m below mu by less than 1."""
    if m >= spec.mu:
        return tail_ratio(spec, m, bits)
    at = arithmetic(bits + 10)
    rest = at.mul(tail_ratio(spec, m + 1, bits), weight_ratio(spec, m + 1, m, bits))
    return at.add(at.rational(1), rest)


def log_weight_ratio(spec: LawSpec, x: int, y: int, bits: int) -> Interval:
    """Return phi(y) - phi(x), the logarithm of the weight of x in units of that of y."""
    spec = canonical(spec)
    if spec.kind is not Kind.GENERALIZED_GAUSSIAN:
        return arithmetic(bits).rational(_rational_log_ratio(spec, x, y))
    shape = Shape(spec.parameter, spec.beta)
    a, b = sorted((abs(x - spec.mu), abs(y - spec.mu)))
    at = arithmetic(bits + 10 + exponent_guard(shape, b + 1))
    log = log_ratio(shape, a, b, phi(shape, a, at), at)
    return log if a == abs(y - spec.mu) else at.neg(log)


def _rational_log_ratio(spec: LawSpec, x: int, y: int) -> Rational:
    """Return phi(y) - phi(x) of a Gaussian or a Laplace, with mu = n/d and its parameter a/b."""
    n, d = spec.mu.numerator, spec.mu.denominator
    a, b = spec.parameter.numerator, spec.parameter.denominator
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return gmpy2.mpq((y - x) * ((x + y) * d - 2 * n) * b, 2 * a * d)
    return gmpy2.mpq((abs(y * d - n) - abs(x * d - n)) * b, a * d)


def weight_ratio(spec: LawSpec, x: int, y: int, bits: int) -> Interval:
    """Return exp(phi(y) - phi(x)), the weight of x in units of that of y."""
    # the exponential turns absolute errors of its argument into relative ones; beyond 2**30 it
    # leaves the range of exponents
    spec = canonical(spec)
    if spec.kind is not Kind.GENERALIZED_GAUSSIAN:
        log = _rational_log_ratio(spec, x, y)
        size = log.numerator.bit_length() - log.denominator.bit_length() + 1
        precise = arithmetic(bits + 4 + min(max(size, 0), 32)).rational(log)
    else:
        ends = log_weight_ratio(spec, x, y, 32)
        size = max(gmpy2.get_exp(end) if gmpy2.is_regular(end) else 0 for end in ends)
        precise = log_weight_ratio(spec, x, y, bits + 4 + min(max(size, 0), 32))
    return arithmetic(bits + 4).exp(precise)


def _gaussian_by_poisson(sigma2: Fraction, offset: Fraction, bits: int) -> Interval:
    """Return S for sigma2 >= 1/2 and offset = m0 - mu.

    Poisson summation: the sum over x of exp(-(x - mu)**2/(2 sigma2)) is

        sqrt(2 pi sigma2) (1 + 2 sum over k >= 1 of q**(k**2) cos(2 pi k mu)),
        q = exp(-2 pi**2 sigma2) <= exp(-pi**2).

    What follows the term k is at most 2 q**((k+1)**2)/(1 - q) <= 3 q**((k+1)**2).
    """
    at = arithmetic(bits + 20)
    pi = at.pi()
    exponent = at.neg(at.scale(at.mul(pi, pi), 2 * sigma2))
    total = at.rational(1)
    k = 0
    while True:
        k += 1
        size = at.exp(at.scale(exponent, k * k))
        if at.up.mul_2exp(size.upper, bits + 6) <= 1:
            break
        total = at.add(total, at.scale(at.mul(size, at.cos_of_turns(k * offset)), 2))
    rest = at.scale(size, 3)
    total = Interval(at.down.sub(total.lower, rest.upper), at.up.add(total.upper, rest.upper))
    unit = at.sqrt(at.scale(pi, 2 * sigma2))
    at_m0 = at.exp(at.rational(offset * offset / (2 * sigma2)))
    return at.mul(at.mul(unit, total), at_m0)
