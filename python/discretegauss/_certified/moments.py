"""Mean, variance and entropy of the laws, enclosed, at a cost that does not grow with sigma.

Three ways: Poisson summation (Gaussian, sigma2 >= 1/2), closed forms (Laplace), and sums of
one-sided tails weighted with powers of the distance from mu (generalised Gaussian). Where the law
sits on a few integers these lose relative precision (the variance of a law that is almost always 0
is tiny) and the sum is taken term by term around the likeliest integer.

Exact facts used: the mean is mu if 2 mu is an integer, as the law is symmetric about mu then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import count, pairwise
from typing import NamedTuple

import gmpy2

from .._law import Kind, LawSpec
from .generalized_tail import Shape, generalized_tail
from .interval import Arithmetic, Interval, arithmetic, relative_width_below
from .lattice_sums import (
    canonical,
    log_weight_ratio,
    nearest_integer,
    normaliser,
    phi_at,
    weight_ratio,
)

__all__ = [
    "entropy",
    "excess_kurtosis",
    "has_raw_moments",
    "is_symmetric",
    "mean",
    "raw_moment",
    "skewness",
    "standard_deviation",
    "variance",
]

#: A generalised Gaussian of a smaller scale is summed term by term.
_SMALL_SCALE = 2

#: Below this variance skewness and kurtosis are beyond every float, or bounded by themselves.
_TINY_VARIANCE = gmpy2.mpq(1, 2**4096)
#: From here on, by far, every number is infinite as a float.
_BEYOND_FLOATS = 2**1100


def mean(spec: LawSpec, bits: int) -> Interval:
    """Return the mean."""
    if is_symmetric(spec):
        return arithmetic(bits).rational(spec.mu)
    spec = canonical(spec)
    if spec.kind is Kind.GENERALIZED_GAUSSIAN:
        near = _mean_near_mu(spec, bits)
        if relative_width_below(near, bits):
            return near
    return _moments(spec, bits).mean


def variance(spec: LawSpec, bits: int) -> Interval:
    """Return the variance, positive."""
    return _not_negative(_moments(canonical(spec), bits).second)


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
        beyond = _skewness_of_tiny_variance(canonical(spec), second, at)
        if beyond is not None:
            return beyond
    return at.div(_moments(canonical(spec), bits).third, at.power(second, Fraction(3, 2)))


def excess_kurtosis(spec: LawSpec, bits: int) -> Interval:
    """Return E((X - mean)**4)/var**2 - 3.

    Let e be the distance from the mean to the nearest integer m, and v the variance. E((X - n)
    (X - n - 1)) >= 0 for the integer n below the mean, so v >= e (1 - e) >= e/2. Where X is not m,
    it is at least 1/2 from the mean: the fourth moment is at least (v - e**2)/4 >= (v - 4 v**2)/4,
    and the result at least 1/(4 v) - 4. That tells where v is so small that it may be no number of
    MPFR, and the quotient of intervals anything.
    """
    at = arithmetic(bits + 4)
    second = variance(spec, bits)
    if second.upper < _TINY_VARIANCE:
        least = at.down.sub(at.down.div(1, at.up.mul(4, second.upper)), 4)
        return Interval(least, gmpy2.inf())
    fourth = _moments(canonical(spec), bits).fourth
    return at.shift(at.div(fourth, at.power(second, 2)), -3)


def _skewness_of_tiny_variance(spec: LawSpec, second: Interval, at: Arithmetic) -> Interval | None:
    """Return bounds of the skewness if it is beyond every float; the law is not symmetric.

    Let p_n = P(X = m0 + n), and mu above m0 (below, mirrored). The mean is at most 2 v from an
    integer (see `excess_kurtosis`), which is m0, as P(X is another) <= 4 v. With E2 = E((X -
    m0)**2) <= v + (2 v)**2 and a = E(X - m0) = sum of n (p_n - p_-n) over n >= 1, where no term is
    negative and none more than the same of n**3, the third moment E((X - m0)**3) - 3 a E2 + 2 a**3
    is at least (1 - 3 E2) (p_1 - p_-1). Ratios of neighbours fall: p_(n+1) <= p_n p_1/p_0, and
    p_-n <= p_n, so that v <= E2 <= 3 p_1. Together the skewness is more than

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
    """Return whether `raw_moment` knows those up to the order."""
    return order <= 4 or _way(canonical(spec)) is not _generalized


def raw_moment(spec: LawSpec, order: int, bits: int) -> Interval:
    """Return E(X**order) for an order from 1 on; from 5 on if `has_raw_moments`."""
    if is_symmetric(spec) and spec.mu == 0 and order % 2:
        return arithmetic(bits).rational(0)
    if order > 4:
        return _raw_moment_of_high_order(canonical(spec), order, bits)
    first = mean(spec, bits)
    if order == 1:
        return first
    at = arithmetic(bits + 4)
    moments = _moments(canonical(spec), bits)
    third = at.rational(0) if is_symmetric(spec) else moments.third
    central = [at.rational(1), at.rational(0), variance(spec, bits), third, moments.fourth]
    return _moved(central[: order + 1], first, at)


def _raw_moment_of_high_order(spec: LawSpec, order: int, bits: int) -> Interval:
    """Return E(X**order) from the moments about the origin that the law is summed about."""
    about = _way(spec)(spec, bits, order)
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
    spec = canonical(spec)
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
    """Central, like the next two."""
    third: Interval
    fourth: Interval
    energy: Interval
    """E(phi(X)) - phi(m0)"""


class _About(NamedTuple):
    origin: Fraction | int
    raw: list[Interval]
    """E((X - origin)**n), n = 1, 2, ..."""
    energy: Interval
    at: Arithmetic


def _way(spec: LawSpec) -> Callable[[LawSpec, int, int], _About]:
    """Return how the moments of a canonical law are summed."""
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return _laplace
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return _term_by_term if spec.parameter < Fraction(1, 2) else _gaussian_by_poisson
    return _term_by_term if spec.parameter < _SMALL_SCALE else _generalized


@lru_cache(maxsize=64)
def _moments(spec: LawSpec, bits: int) -> _Moments:
    """Return the moments of a canonical law."""
    about = _way(spec)(spec, bits, 4)
    return _moments_about(about.origin, about.raw, about.energy, about.at, _exact_mean(spec))


def _moments_about(
    origin: Fraction | int,
    raw: list[Interval],
    energy: Interval,
    at: Arithmetic,
    exact_mean: Fraction | None,
) -> _Moments:
    """Return the moments from those about some origin, E((X - origin)**n) for n = 1..4."""
    first, second, third, fourth = raw
    if exact_mean is not None:
        first = at.rational(exact_mean - origin)
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


def _exact_mean(spec: LawSpec) -> Fraction | None:
    return spec.mu if is_symmetric(spec) else None


# --- term by term


def _term_by_term(spec: LawSpec, bits: int, order: int) -> _About:
    """Return the moments from sums over n = x - m0, in units of the weight of m0."""
    m0 = nearest_integer(spec.mu)
    at = arithmetic(bits + 20)
    right, left = (_side(spec, m0, direction, bits, at, order) for direction in (1, -1))
    total = at.shift(at.add(right.powers[0], left.powers[0]), 1)
    raw = [
        at.div((at.sub if n % 2 else at.add)(right.powers[n], left.powers[n]), total)
        for n in range(1, order + 1)
    ]
    energy = at.div(at.add(right.energy, left.energy), total)
    return _About(m0, raw, energy, at)


class _Side(NamedTuple):
    powers: list[Interval]
    energy: Interval


def _side(spec: LawSpec, m0: int, direction: int, bits: int, at: Arithmetic, order: int) -> _Side:
    """Return the sums of n**i w, i = 0..order, and of e w, over n = 1, 2, ...

    w = exp(-e) is the weight of m0 + n or of m0 - n, in units of that of m0.
    e is convex in n and e(0) = 0 is its least value, so that ratios of w fall, and so do those of
    n**i w, of which n**order w is the largest. After it, with ratio q to the term before, at most
    q/(1 - q) of it remains. For e w: e exp(-e) <= exp(-e/2), as e exp(-e/2) <= 1, and the ratios of
    exp(-e/2) are the roots of those of w.
    """
    zero = at.rational(0)
    sums, energy = [zero] * (order + 1), zero
    previous = zero  # -e
    for n in count(1):
        log = log_weight_ratio(spec, m0 + direction * n, m0, at.bits)
        w = at.exp(log)
        sums = [at.add(total, at.scale(w, n**i)) for i, total in enumerate(sums)]
        half = at.up.exp(at.up.div(log.upper, 2))
        here = at.mul(at.neg(log), w)
        energy = at.add(energy, Interval(here.lower, min(here.upper, half)))  # e may be infinite
        step = at.up.sub(log.upper, previous.lower)  # at least the logarithm of the ratio of w
        q = at.scale(at.exp(Interval(step, step)), Fraction(n + 1, n) ** order).upper
        root = at.up.exp(at.up.div(step, 2))
        if q < 1 and root < 1:
            last = at.scale(w, n**order).upper
            rest = at.up.div(at.up.mul(last, q), at.down.sub(1, q))
            rest_energy = at.up.div(at.up.mul(half, root), at.down.sub(1, root))
            small = _small(rest, sums[0].lower, bits) and _small(rest_energy, energy.lower, bits)
            if small or (w.lower <= 0 and q < 0.5):
                return _Side(
                    [Interval(s.lower, at.up.add(s.upper, rest)) for s in sums],
                    Interval(energy.lower, at.up.add(energy.upper, rest_energy)),
                )
        previous = log
    raise AssertionError  # count never ends


def _small(rest: object, total: object, bits: int) -> bool:
    return bool(arithmetic(32).up.mul_2exp(rest, bits + 3) <= total)


# --- Gaussian


def _gaussian_by_poisson(spec: LawSpec, bits: int, order: int) -> _About:
    """Return the moments of the Gaussian for sigma2 >= 1/2, from the Poisson sums.

    The Fourier transform of y**n exp(-y**2/(2 sigma2)) at k is (-i sigma)**n He_n(t) times that of
    the same without y**n, t = 2 pi sigma k, He_n the Hermite polynomial. So, with Y = X - mu, sums
    over k >= 1, q_k = exp(-t**2/2), c_k = cos(2 pi k mu), s_k = sin(2 pi k mu), E(Y**n) Z is

        sigma**n ((n - 1)!! + 2 (-1)**(n/2) sum He_n(t) q_k c_k),    n even,
        2 sigma**n (-1)**((n + 1)/2) sum He_n(t) q_k s_k,            n odd

    (Z itself for n = 0). By Cramer's inequality (Abramowitz and Stegun 22.14.17) abs(He_n(t)) is
    below 1.09 sqrt(n!) exp(t**2/4); t >= 4.4, so from one k to the next this bound on a summand
    falls to less than half, and what is left from k on is at most 5 sqrt(n!) exp(-t**2/4).
    """
    sigma2, mu = spec.parameter, spec.mu
    at = arithmetic(bits + 20 + order)
    unit = at.mul(at.scale(at.pi(), 2), at.sqrt(at.rational(sigma2)))
    largest = at.scale(at.sqrt(at.rational(math.factorial(order))), 5)
    sums = [at.rational(0 if n % 2 else math.prod(range(1, n, 2))) for n in range(order + 1)]
    for k in count(1):
        t = at.scale(unit, k)
        t2 = at.mul(t, t)
        rest = at.mul(largest, at.exp(at.scale(t2, Fraction(-1, 4)))).upper
        if at.up.mul_2exp(rest, bits + 6) <= 1:
            break
        q = at.scale(at.exp(at.scale(t2, Fraction(-1, 2))), 2)
        cosine, sine = at.mul(q, at.cos_of_turns(k * mu)), at.mul(q, at.sin_of_turns(k * mu))
        before, hermite = at.rational(0), at.rational(1)
        for n in range(order + 1):
            term = at.mul(hermite, sine if n % 2 else cosine)
            sums[n] = (at.sub if (n + 1) // 2 % 2 else at.add)(sums[n], term)
            before, hermite = hermite, at.sub(at.mul(t, hermite), at.scale(before, n))
    sums = [Interval(at.down.sub(s.lower, rest), at.up.add(s.upper, rest)) for s in sums]
    standard = [at.div(s, sums[0]) for s in sums[1:]]  # E((Y/sigma)**n)
    raw = [
        at.mul(s, at.power(at.rational(sigma2), Fraction(n, 2))) for n, s in enumerate(standard, 1)
    ]
    at_m0 = (nearest_integer(mu) - mu) ** 2 / (2 * sigma2)
    energy = at.shift(at.scale(standard[1], Fraction(1, 2)), -at_m0)
    return _About(mu, raw, energy, at)


# --- Laplace


def _laplace(spec: LawSpec, bits: int, order: int) -> _About:
    """Return the moments of the Laplace, from geometric sums on both sides of mu.

    From distance a on, the distances are a + j with weights exp(-j/s), j = 0, 1, ... The means of
    powers of j, with u = 1/(exp(1/s) - 1), are u, u + 2 u**2, u + 6 u**2 + 6 u**3, ...: of j**n the
    sum of c(n, k) u**k, c(n, k) = k! S(n, k) with Stirling numbers of the second kind.
    """
    s, mu = spec.parameter, spec.mu
    at = arithmetic(bits + 20 + order)
    a = math.ceil(mu) - mu  # from mu up to the next integer
    sides = (a, 1 - a)
    nearer = min(sides)
    u = at.div(at.rational(1), at.expm1(at.rational(1 / s)))

    def polynomial(coefficients: list[int]) -> Interval:
        value = at.rational(0)
        for coefficient in reversed(coefficients):
            value = at.shift(at.mul(value, u), coefficient)
        return value

    row = [1]
    powers = [polynomial(row)]
    for _ in range(order):
        row = [k * (x + y) for k, (x, y) in enumerate(pairwise([0, *row, 0]))]
        powers.append(polynomial(row))
    weights = [at.exp(at.rational((nearer - side) / s)) for side in sides]
    total = at.add(*weights)

    def mean_of(n: int, shifts: tuple[Fraction, Fraction]) -> Interval:
        """Return E(Y**n), Y = X - mu: distances to the left are negative."""
        right, left = (
            at.mul(weight, _binomial(powers, shift, n, at))
            for weight, shift in zip(weights, shifts, strict=True)
        )
        return at.div((at.sub if n % 2 else at.add)(right, left), total)

    energy = at.scale(
        at.div(
            at.add(
                *(
                    at.mul(weight, at.shift(u, side - nearer))
                    for weight, side in zip(weights, sides, strict=True)
                )
            ),
            total,
        ),
        1 / s,
    )
    raw = [mean_of(n, sides) for n in range(1, order + 1)]
    return _About(mu, raw, energy, at)


def _binomial(powers: list[Interval], shift: Fraction, n: int, at: Arithmetic) -> Interval:
    """Return the mean of (shift + j)**n from those of powers of j, shift >= 0."""
    value = at.rational(0)
    for i in range(n + 1):
        value = at.add(value, at.scale(powers[i], math.comb(n, i) * shift ** (n - i)))
    return value


# --- generalised Gaussian


def _mean_near_mu(spec: LawSpec, bits: int) -> Interval:
    """Return mu +- (1 + beta)/(6 Z), which holds the mean; Z is the sum of exp(-phi).

    The mean is mu + A/Z, A the sum of g(x - mu) with g(y) = y exp(-phi(y)). g' = (1 - beta phi(y))
    exp(-phi(y)) has a bounded variation V. So (Poisson) A is the integral of g, which is 0 as g is
    odd, and terms for k = 1, -1, 2, ... of size at most V/(2 pi k)**2: together V/12. On y > 0, g'
    falls from 1 to -beta exp(-1 - 1/beta), at phi = 1 + 1/beta, and rises to 0, and it is even: V
    is at most 2 + 4 beta/e < 2 + 2 beta.
    """
    at = arithmetic(bits + 10)
    m0, total = normaliser(spec, bits)
    z = at.mul(total, at.exp(at.neg(phi_at(spec, m0, at))))
    off = at.div(at.rational((1 + spec.beta) / 6), z).upper
    mu = at.rational(spec.mu)
    return Interval(at.down.sub(mu.lower, off), at.up.add(mu.upper, off))


def _generalized(spec: LawSpec, bits: int, order: int) -> _About:
    """Return the moments from one-sided sums of (y/s)**e exp(-phi(y)), e = 0..order, beta.

    The order is at most 4: _tail_generalized.py proves no others.
    """
    shape = Shape(spec.parameter, spec.beta)
    mu = spec.mu
    at = arithmetic(bits + 20)
    m0 = nearest_integer(mu)
    up = math.ceil(mu)
    weights = [weight_ratio(spec, x, m0, bits + 10) for x in (up, up - 1)]
    distances = (up - mu, mu - up + 1)

    def both(power: Fraction | int, combine: Callable[[Interval, Interval], Interval]) -> Interval:
        sides = [
            at.mul(weight, generalized_tail(shape, y, bits + 10, power))
            for weight, y in zip(weights, distances, strict=True)
        ]
        return combine(*sides)

    total = both(0, at.add)
    raw = [
        at.scale(at.div(both(n, at.sub if n % 2 else at.add), total), spec.parameter**n)
        for n in range(1, order + 1)
    ]
    energy = at.sub(at.div(both(spec.beta, at.add), total), phi_at(spec, m0, at))
    return _About(mu, raw, energy, at)
