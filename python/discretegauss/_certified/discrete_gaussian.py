"""The discrete Gaussian: phi(x) = (x - mu)**2/(2 sigma2), with sigma2 as the law's parameter."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any

import gmpy2

from .._law import LawSpec
from .double_double import (
    Floats,
    Pair,
    Pairs,
    exact_product,
    exact_sum,
    rational_pair,
)
from .formulas import About, RationalFormulas, nearest_integer, term_by_term
from .gaussian_tail import gaussian_tail
from .interval import Arithmetic, Interval, Rational, arithmetic

#: Sums for a smaller sigma2 are taken term by term, others by Poisson summation.
_SMALL_SIGMA2 = Fraction(1, 2)


class DiscreteGaussianFormulas(RationalFormulas):
    """The discrete Gaussian."""

    def exact_phi(self, spec: LawSpec, x: int) -> Rational:
        """Return phi(x), with mu = n/d and sigma2 = a/b."""
        n, d = spec.mu.numerator, spec.mu.denominator
        a, b = spec.parameter.numerator, spec.parameter.denominator
        return gmpy2.mpq((x * d - n) ** 2 * b, 2 * a * d * d)

    def tail_ratio(self, spec: LawSpec, m: int, bits: int) -> Interval:
        """Return the weight of all x >= m in units of that of m, for m at least mu."""
        return gaussian_tail(spec.parameter, m - spec.mu, bits)

    def scale_and_beta(self, spec: LawSpec, at: Arithmetic) -> tuple[Interval, Fraction]:
        """Return sqrt(2 sigma2) and 2."""
        return at.sqrt(at.rational(2 * spec.parameter)), Fraction(2)

    def exponents(self, spec: LawSpec, steps: Floats) -> Pairs:
        """Return j**2/(2 sigma2) + j (m0 - mu)/sigma2.

        The relative error of the pairs is 2**-105 and of each product of pairs 2**-102. So the
        error of the sum is at most 2**-100 times the first term, which is at most 2 E + 1/sigma2.
        """
        rate, offset = _rate_and_offset(spec)
        square, square_low = exact_product(steps, steps)
        first, first_low = exact_product(square, rate.high)
        first_low = first_low + (square * rate.low + square_low * rate.high)
        second, second_low = exact_product(steps, offset.high)
        second_low = second_low + steps * offset.low
        high, low = exact_sum(first, second)
        return Pairs(high, low + (first_low + second_low))

    def normaliser(self, spec: LawSpec, m0: int, bits: int) -> Interval:
        """Return the weight of all integers in units of that of m0, the integer nearest mu."""
        if spec.parameter >= _SMALL_SIGMA2:
            return _normaliser_by_poisson(spec.parameter, m0 - spec.mu, bits)
        return super().normaliser(spec, m0, bits)

    def distance_of(self, spec: LawSpec, level: Interval, at: Arithmetic) -> Interval:
        """Return the distance from mu at which phi is ``level``."""
        return at.sqrt(at.scale(level, 2 * spec.parameter))

    def whole_width(self, spec: LawSpec) -> int:
        """Return sigma, rounded down."""
        return math.isqrt(math.floor(spec.parameter))

    def moments(self, spec: LawSpec, bits: int, order: int) -> About:
        """Return the moments up to the order, about an origin that the law chooses."""
        if spec.parameter < _SMALL_SIGMA2:
            return term_by_term(self, spec, bits, order)
        return _moments_by_poisson(spec, bits, order)

    def loss_exceeds_from(self, spec: LawSpec, epsilon: Any, sensitivity: int) -> int | None:
        """Return the least x whose loss, (2 x D + D**2)/(2 sigma2), is above epsilon."""
        threshold = epsilon * gmpy2.mpq(spec.parameter) / sensitivity - gmpy2.mpq(sensitivity, 2)
        return int(threshold.numerator // threshold.denominator) + 1


@lru_cache(maxsize=64)
def _rate_and_offset(spec: LawSpec) -> tuple[Pair, Pair]:
    """Return 1/(2 sigma2) and (m0 - mu)/sigma2."""
    offset = (nearest_integer(spec.mu) - spec.mu) / spec.parameter
    return rational_pair(1 / (2 * spec.parameter)), rational_pair(offset)


def _normaliser_by_poisson(sigma2: Fraction, offset: Fraction, bits: int) -> Interval:
    """Return S for sigma2 >= 1/2 and offset = m0 - mu.

    Poisson summation: the sum over x of exp(-(x - mu)**2/(2 sigma2)) is

        sqrt(2 pi sigma2) (1 + 2 sum over k >= 1 of q**(k**2) cos(2 pi k mu)),
        q = exp(-2 pi**2 sigma2) <= exp(-pi**2).

    All after the term k is at most 2 q**((k+1)**2)/(1 - q) <= 3 q**((k+1)**2).
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
    remainder = at.scale(size, 3)
    total = Interval(
        at.down.sub(total.lower, remainder.upper), at.up.add(total.upper, remainder.upper)
    )
    unit = at.sqrt(at.scale(pi, 2 * sigma2))
    at_m0 = at.exp(at.rational(offset * offset / (2 * sigma2)))
    return at.mul(at.mul(unit, total), at_m0)


def _moments_by_poisson(spec: LawSpec, bits: int, order: int) -> About:
    """Return the moments of the Gaussian for sigma2 >= 1/2, from the Poisson sums.

    The Fourier transform of y**n exp(-y**2/(2 sigma2)) at k is (-i sigma)**n He_n(t) times that of
    exp(-y**2/(2 sigma2)), with t = 2 pi sigma k and He_n the Hermite polynomial. Let Y = X - mu,
    q_k = exp(-t**2/2), c_k = cos(2 pi k mu) and s_k = sin(2 pi k mu). With sums over k >= 1,
    E(Y**n) Z is

        sigma**n ((n - 1)!! + 2 (-1)**(n/2) sum He_n(t) q_k c_k),    n even,
        2 sigma**n (-1)**((n + 1)/2) sum He_n(t) q_k s_k,            n odd

    (for n = 0 it is Z). By Cramer's inequality (Abramowitz and Stegun 22.14.17) abs(He_n(t)) is
    below 1.09 sqrt(n!) exp(t**2/4). Because t >= 4.4, this bound on a summand falls to less than
    half from one k to the next. So the remainder from k on is at most 5 sqrt(n!) exp(-t**2/4).
    """
    sigma2, mu = spec.parameter, spec.mu
    at = arithmetic(bits + 20 + order)
    unit = at.mul(at.scale(at.pi(), 2), at.sqrt(at.rational(sigma2)))
    largest = at.scale(at.sqrt(at.rational(math.factorial(order))), 5)
    sums = [at.rational(0 if n % 2 else math.prod(range(1, n, 2))) for n in range(order + 1)]
    for k in count(1):
        t = at.scale(unit, k)
        t2 = at.mul(t, t)
        remainder = at.mul(largest, at.exp(at.scale(t2, Fraction(-1, 4)))).upper
        if at.up.mul_2exp(remainder, bits + 6) <= 1:
            break
        q = at.scale(at.exp(at.scale(t2, Fraction(-1, 2))), 2)
        cosine, sine = at.mul(q, at.cos_of_turns(k * mu)), at.mul(q, at.sin_of_turns(k * mu))
        before, hermite = at.rational(0), at.rational(1)
        for n in range(order + 1):
            term = at.mul(hermite, sine if n % 2 else cosine)
            sums[n] = (at.sub if (n + 1) // 2 % 2 else at.add)(sums[n], term)
            before, hermite = hermite, at.sub(at.mul(t, hermite), at.scale(before, n))
    sums = [Interval(at.down.sub(s.lower, remainder), at.up.add(s.upper, remainder)) for s in sums]
    standard = [at.div(s, sums[0]) for s in sums[1:]]  # E((Y/sigma)**n)
    raw = [
        at.mul(s, at.power(at.rational(sigma2), Fraction(n, 2))) for n, s in enumerate(standard, 1)
    ]
    at_m0 = (nearest_integer(mu) - mu) ** 2 / (2 * sigma2)
    energy = at.shift(at.scale(standard[1], Fraction(1, 2)), -at_m0)
    return About(mu, raw, energy, at)
