"""Mean, variance and entropy of the laws, enclosed, at a cost that does not grow with sigma.

Three ways: Poisson summation (Gaussian, sigma2 >= 1/2), closed forms (Laplace), and sums of
one-sided tails weighted with powers of the distance from mu (generalised Gaussian). Where the law
sits on a few integers these lose relative precision (the variance of a law that is almost always 0
is tiny) and the sum is taken term by term around the likeliest integer.

Exact facts used: the mean is mu if 2 mu is an integer, as the law is symmetric about mu then.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from ._interval import Arithmetic, Interval, arithmetic
from ._lattice import (
    canonical,
    log_weight_ratio,
    nearest_integer,
    normaliser,
    phi_at,
    weight_ratio,
)
from ._spec import Kind, Spec
from ._tail_generalized import Shape, generalized_tail

__all__ = ["entropy", "mean", "standard_deviation", "variance"]

#: A generalised Gaussian of a smaller scale is summed term by term.
_SMALL_SCALE = 2


def mean(spec: Spec, bits: int) -> Interval:
    """Return the mean."""
    if (2 * spec.mu).denominator == 1:
        return arithmetic(bits).rational(spec.mu)
    return _moments(canonical(spec), bits).mean


def variance(spec: Spec, bits: int) -> Interval:
    """Return the variance, positive."""
    return _not_negative(_moments(canonical(spec), bits).variance)


def standard_deviation(spec: Spec, bits: int) -> Interval:
    """Return the standard deviation, positive."""
    return arithmetic(bits).sqrt(variance(spec, bits))


def entropy(spec: Spec, bits: int) -> Interval:
    """Return the entropy in nats, -sum of P log P = log S + E(phi) - phi(m0); positive."""
    spec = canonical(spec)
    at = arithmetic(bits + 10)
    return _not_negative(at.add(at.log(normaliser(spec, bits)[1]), _moments(spec, bits).energy))


def _not_negative(a: Interval) -> Interval:
    return Interval(max(a.lower, arithmetic(53).rational(0).lower), a.upper)


class _Moments(NamedTuple):
    mean: Interval
    variance: Interval
    energy: Interval
    """E(phi(X)) - phi(m0)"""


@lru_cache(maxsize=64)
def _moments(spec: Spec, bits: int) -> _Moments:
    """Return the moments of a canonical law."""
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return _laplace(spec, bits)
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        small = spec.parameter < Fraction(1, 2)
        return _term_by_term(spec, bits) if small else _gaussian_by_poisson(spec, bits)
    small = spec.parameter < _SMALL_SCALE
    return _term_by_term(spec, bits) if small else _generalized(spec, bits)


def _from_central(
    spec: Spec, shift: Interval, second: Interval, energy: Interval, at: Arithmetic
) -> _Moments:
    """Return the moments from E(X - mu), E((X - mu)**2) and the energy."""
    if (2 * spec.mu).denominator == 1:
        shift = at.rational(0)
    square = at.mul(shift, shift)
    return _Moments(at.shift(shift, spec.mu), at.sub(second, square), energy)


# --- term by term


def _term_by_term(spec: Spec, bits: int) -> _Moments:
    """Return the moments from sums over n = x - m0, in units of the weight of m0."""
    m0 = nearest_integer(spec.mu)
    at = arithmetic(bits + 20)
    right, left = _side(spec, m0, 1, bits, at), _side(spec, m0, -1, bits, at)
    total = at.shift(at.add(right.weight, left.weight), 1)
    first = at.div(at.sub(right.first, left.first), total)
    second = at.div(at.add(right.second, left.second), total)
    energy = at.div(at.add(right.energy, left.energy), total)
    if (2 * spec.mu).denominator == 1:  # the mean is mu: no rounding errors in it
        first = at.rational(spec.mu - m0)
    return _Moments(at.shift(first, m0), at.sub(second, at.mul(first, first)), energy)


class _Side(NamedTuple):
    weight: Interval
    first: Interval
    second: Interval
    energy: Interval


def _side(spec: Spec, m0: int, direction: int, bits: int, at: Arithmetic) -> _Side:
    """Return the sums of w, n w, n**2 w and e w, n = 1, 2, ..., w = exp(-e) the weight of m0 +- n.

    e is convex in n and e(0) = 0 is its least value, so that ratios of w fall, and so do those of
    n w and n**2 w, the latter being the largest of the three. After n**2 w with ratio q to the term
    before, at most q/(1 - q) of it remains. For e w: e exp(-e) <= exp(-e/2), as e exp(-e/2) <= 1,
    and the ratios of exp(-e/2) are the roots of those of w.
    """
    zero = at.rational(0)
    sums = [zero, zero, zero, zero]
    previous = zero  # -e
    for n in count(1):
        log = log_weight_ratio(spec, m0 + direction * n, m0, at.bits)
        w = at.exp(log)
        terms = [w, at.scale(w, n), at.scale(w, n * n), at.mul(at.neg(log), w)]
        sums = [at.add(total, term) for total, term in zip(sums, terms, strict=True)]
        step = at.up.sub(log.upper, previous.lower)  # at least the logarithm of the ratio of w
        following = Fraction(n + 1, n) ** 2
        q = at.mul(at.exp(Interval(step, step)), at.rational(following)).upper
        root = at.up.exp(at.up.div(step, 2))
        if q < 1 and root < 1:
            rest = at.up.div(at.up.mul(terms[2].upper, q), at.down.sub(1, q))
            half = at.up.exp(at.up.div(log.upper, 2))
            rest_energy = at.up.div(at.up.mul(half, root), at.down.sub(1, root))
            small = _small(rest, sums[2].lower, bits) and _small(rest_energy, sums[3].lower, bits)
            if small or (w.lower <= 0 and q < 0.5):
                rests = (rest, rest, rest, rest_energy)
                return _Side(
                    *(
                        Interval(s.lower, at.up.add(s.upper, left))
                        for s, left in zip(sums, rests, strict=True)
                    )
                )
        previous = log
    raise AssertionError  # count never ends


def _small(rest: object, total: object, bits: int) -> bool:
    return bool(arithmetic(32).up.mul_2exp(rest, bits + 3) <= total)


# --- Gaussian


def _gaussian_by_poisson(spec: Spec, bits: int) -> _Moments:
    """Return the moments of the Gaussian for sigma2 >= 1/2, from the Poisson sums.

    With q_k = exp(-2 pi**2 sigma2 k**2), sums over k >= 1, and Y = X - mu:

        Z = 1 + 2 sum q_k cos(2 pi k mu)
        E(Y) Z = -4 pi sigma2 sum k q_k sin(2 pi k mu)
        E(Y**2) Z = sigma2 (1 + 2 sum (1 - 4 pi**2 sigma2 k**2) q_k cos(2 pi k mu))

    (the Fourier transforms of exp(-y**2/(2 sigma2)) times 1, y, y**2). With L = 2 pi**2 sigma2 >=
    9.8 no summand of the three sums, factors 2 included, exceeds 2 (1 + 2 k**2 L) exp(-k**2 L).
    From one k to the next that falls to at most 4 exp(-3 L) < 1/2 of it, so what is left from k on
    is at most twice its value there.
    """
    sigma2, mu = spec.parameter, spec.mu
    at = arithmetic(bits + 20)
    pi = at.pi()
    rate = at.scale(at.mul(pi, pi), 2 * sigma2)
    z, first, second = at.rational(1), at.rational(0), at.rational(1)
    for k in count(1):
        size = at.exp(at.neg(at.scale(rate, k * k)))
        bound = at.mul(at.shift(at.scale(rate, 2 * k * k), 1), size)
        if at.up.mul_2exp(bound.upper, bits + 6) <= 1:
            break
        cosine, sine = at.cos_of_turns(k * mu), at.sin_of_turns(k * mu)
        term = at.scale(at.mul(size, cosine), 2)
        z = at.add(z, term)
        first = at.add(first, at.scale(at.mul(size, sine), k))
        second = at.add(second, at.mul(term, at.shift(at.scale(rate, -2 * k * k), 1)))
    rest = at.up.mul(bound.upper, 8)
    z, first, second = (
        Interval(at.down.sub(s.lower, rest), at.up.add(s.upper, rest)) for s in (z, first, second)
    )
    shift = at.div(at.scale(at.mul(pi, first), -4 * sigma2), z)
    second = at.div(second, z)  # E(Y**2)/sigma2
    at_m0 = (nearest_integer(mu) - mu) ** 2 / (2 * sigma2)
    energy = at.shift(at.scale(second, Fraction(1, 2)), -at_m0)
    return _from_central(spec, shift, at.scale(second, sigma2), energy, at)


# --- Laplace


def _laplace(spec: Spec, bits: int) -> _Moments:
    """Return the moments of the Laplace, from geometric sums on both sides of mu.

    From distance a on, with q = exp(-1/s), u = q/(1 - q) and the weights exp(-j/s) for j = 0, 1,
    ...: the means of a + j and of (a + j)**2 are a + u and a**2 + 2 a u + u (1 + 2 u).
    """
    s, mu = spec.parameter, spec.mu
    at = arithmetic(bits + 20)
    a = -(-mu.numerator // mu.denominator) - mu  # from mu up to the next integer
    b = 1 - a  # and down
    nearer = min(a, b)
    u = at.div(at.rational(1), at.expm1(at.rational(1 / s)))
    weights = [at.exp(at.rational((nearer - side) / s)) for side in (a, b)]
    total = at.add(*weights)
    first = [at.shift(u, side) for side in (a, b)]
    square = at.mul(u, at.shift(at.scale(u, 2), 1))
    second = [at.add(at.shift(at.scale(u, 2 * side), side * side), square) for side in (a, b)]
    above = [at.shift(u, side - nearer) for side in (a, b)]

    def weighted(
        values: list[Interval], combine: Callable[[Interval, Interval], Interval]
    ) -> Interval:
        return at.div(combine(at.mul(weights[0], values[0]), at.mul(weights[1], values[1])), total)

    return _from_central(
        spec,
        weighted(first, at.sub),
        weighted(second, at.add),
        at.scale(weighted(above, at.add), 1 / s),
        at,
    )


# --- generalised Gaussian


def _generalized(spec: Spec, bits: int) -> _Moments:
    """Return the moments from one-sided sums of y**e exp(-phi(y)), e = 0, 1, 2, beta."""
    shape = Shape(spec.parameter, spec.beta)
    mu = spec.mu
    at = arithmetic(bits + 20)
    m0 = nearest_integer(mu)
    up = -(-mu.numerator // mu.denominator)
    weights = [weight_ratio(spec, x, m0, bits + 10) for x in (up, up - 1)]
    distances = (up - mu, mu - up + 1)

    def both(power: Fraction | int, combine: Callable[[Interval, Interval], Interval]) -> Interval:
        sides = [
            at.mul(weight, generalized_tail(shape, y, bits + 10, power))
            for weight, y in zip(weights, distances, strict=True)
        ]
        return combine(*sides)

    total = both(0, at.add)
    shift = at.div(both(1, at.sub), total)
    second = at.div(both(2, at.add), total)
    energy = at.div(both(spec.beta, at.add), total)
    energy = at.div(energy, at.power(at.rational(spec.parameter), spec.beta))
    return _from_central(spec, shift, second, at.sub(energy, phi_at(spec, m0, at)), at)
