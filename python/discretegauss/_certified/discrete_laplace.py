"""The discrete Laplace: phi(x) = abs(x - mu)/scale."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import gmpy2
import numpy as np

from .._law import LawSpec
from .double_double import (
    Floats,
    Pair,
    Pairs,
    exact_product,
    exact_sum,
    rational_pair,
)
from .formulas import About, RationalFormulas, nearest_integer
from .interval import Arithmetic, Interval, Rational, arithmetic


class DiscreteLaplaceFormulas(RationalFormulas):
    """The discrete Laplace."""

    def exact_phi(self, spec: LawSpec, x: int) -> Rational:
        """Return phi(x), with mu = n/d and scale = a/b."""
        n, d = spec.mu.numerator, spec.mu.denominator
        a, b = spec.parameter.numerator, spec.parameter.denominator
        return gmpy2.mpq(abs(x * d - n) * b, a * d)

    def tail_ratio(self, spec: LawSpec, m: int, bits: int) -> Interval:
        """Return 1 + q + q**2 + ... = 1/(1 - q) for q = exp(-1/scale), whatever m is."""
        at = arithmetic(bits + 10)
        return at.div(at.rational(1), at.neg(at.expm1(at.rational(-1 / spec.parameter))))

    def scale_and_beta(self, spec: LawSpec, at: Arithmetic) -> tuple[Interval, Fraction]:
        """Return the scale and 1."""
        return at.rational(spec.parameter), Fraction(1)

    def exponents(self, spec: LawSpec, steps: Floats) -> Pairs:
        """Return abs(j)/scale, less by 2 abs(m0 - mu)/scale on mu's side of m0.

        abs(x - mu) is abs(j) + abs(m0 - mu) unless x is beyond mu, seen from m0. The relative error
        of the pairs is 2**-105 and of each product of pairs 2**-102. So the error of the result is
        at most 2**-100 times the first term, which is at most E + 1/scale.
        """
        rate, offset, side = _rate_and_offset(spec)
        distance = np.abs(steps)
        first, first_low = exact_product(distance, rate.high)
        first_low = first_low + distance * rate.low
        beyond = np.where(np.sign(steps) == side, -1.0, 0.0)
        high, low = exact_sum(first, beyond * offset.high)
        return Pairs(high, low + (first_low + beyond * offset.low))

    def distance_of(self, spec: LawSpec, level: Interval, at: Arithmetic) -> Interval:
        """Return the distance from mu at which phi is ``level``."""
        return at.scale(level, spec.parameter)

    def whole_width(self, spec: LawSpec) -> int:
        """Return the scale, rounded down."""
        return math.floor(spec.parameter)

    def pure_epsilon(self, spec: LawSpec, sensitivity: int) -> Rational:
        """Return sensitivity/scale, the loss at every x >= mu."""
        return sensitivity / gmpy2.mpq(spec.parameter)

    def moments(self, spec: LawSpec, bits: int, order: int) -> About:
        """Return the moments of the Laplace, from geometric sums on both sides of mu.

        From distance a on, the distances are a + j with weights exp(-j/s), j = 0, 1, ... With
        u = 1/(exp(1/s) - 1), the means of j, j**2, j**3, ... are u, u + 2 u**2,
        u + 6 u**2 + 6 u**3, ... The mean of j**n is the sum of c(n, k) u**k, c(n, k) = k! S(n, k)
        with Stirling numbers of the second kind.
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

        weighted = list(zip(weights, sides, strict=True))

        def mean_of(n: int) -> Interval:
            """Return E(Y**n), Y = X - mu: distances to the left are negative."""
            right, left = (at.mul(w, _binomial(powers, side, n, at)) for w, side in weighted)
            return at.div((at.sub if n % 2 else at.add)(right, left), total)

        beyond = at.add(*(at.mul(w, at.shift(u, side - nearer)) for w, side in weighted))
        energy = at.scale(at.div(beyond, total), 1 / s)
        return About(mu, [mean_of(n) for n in range(1, order + 1)], energy, at)

    def loss_exceeds_from(self, spec: LawSpec, epsilon: Any, sensitivity: int) -> int | None:
        """Return the least x whose loss is above epsilon.

        It is (2 x + D)/scale on -D <= x <= 0, and D/scale on x >= 0.
        """
        if epsilon >= self.pure_epsilon(spec, sensitivity):
            return None
        threshold = (epsilon * gmpy2.mpq(spec.parameter) - sensitivity) / 2
        return int(threshold.numerator // threshold.denominator) + 1


@lru_cache(maxsize=64)
def _rate_and_offset(spec: LawSpec) -> tuple[Pair, Pair, int]:
    """Return 1/scale, 2 abs(m0 - mu)/scale, and the side of m0 on which mu lies."""
    delta = nearest_integer(spec.mu) - spec.mu
    offset = 2 * abs(delta) / spec.parameter
    return rational_pair(1 / spec.parameter), rational_pair(offset), -1 if delta > 0 else 1


def _binomial(powers: list[Interval], shift: Fraction, n: int, at: Arithmetic) -> Interval:
    """Return the mean of (shift + j)**n from those of powers of j, shift >= 0."""
    value = at.rational(0)
    for i in range(n + 1):
        value = at.add(value, at.scale(powers[i], math.comb(n, i) * shift ** (n - i)))
    return value
