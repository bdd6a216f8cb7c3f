"""The generalised Gaussian: phi(x) = (abs(x - mu)/scale)**beta."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import gmpy2
import numpy as np

from .._law import LawSpec
from .double_double import (
    Floats,
    Pair,
    Pairs,
    exact_sum,
    in_chunks,
    normalised,
    pair,
    parameters_in_range,
    product,
    rational_pair,
)
from .double_double_functions import exponential, logarithm
from .formulas import About, Formulas, nearest_integer, term_by_term
from .generalized_tail import TailShape, exponent_guard, generalized_tail, log_ratio, phi
from .interval import Arithmetic, Interval, arithmetic

#: Moments are summed term by term if the scale is smaller.
_SMALL_SCALE = 2

#: Weighted tails are proven up to this power.
_MOST_MOMENTS = 4

#: Exponents in pairs of floats are proven for these parameters.
_LARGEST_BETA, _LARGEST_SCALE = 2**16, 2**60
_MOST_PHI_M0 = 64

#: The logarithms of a negligible phi, and of a phi above 1000.
_LEAST_LOG, _MOST_LOG = -200.0, 7.0

#: A smaller distance from mu counts as 0.
_NO_DISTANCE = 2.0**-200


class GeneralizedGaussianFormulas(Formulas):
    """The generalised Gaussian."""

    def phi(self, spec: LawSpec, m: int, at: Arithmetic) -> Interval:
        """Return phi(m)."""
        return phi(TailShape(spec.parameter, spec.beta), abs(m - spec.mu), at)

    def log_weight_ratio(self, spec: LawSpec, x: int, y: int, bits: int) -> Interval:
        """Return phi(y) - phi(x)."""
        shape = TailShape(spec.parameter, spec.beta)
        a, b = sorted((abs(x - spec.mu), abs(y - spec.mu)))
        at = arithmetic(bits + 10 + exponent_guard(shape, b + 1))
        log = log_ratio(shape, a, b, phi(shape, a, at), at)
        return log if a == abs(y - spec.mu) else at.neg(log)

    def weight_ratio(self, spec: LawSpec, x: int, y: int, bits: int) -> Interval:
        """Return exp(phi(y) - phi(x)), the weight of x in units of that of y.

        The exponential turns absolute errors of its argument into relative ones. Arguments beyond
        2**30 leave the range of exponents.
        """
        ends = self.log_weight_ratio(spec, x, y, 32)
        size = max(gmpy2.get_exp(end) if gmpy2.is_regular(end) else 0 for end in ends)
        precise = self.log_weight_ratio(spec, x, y, bits + 4 + min(max(size, 0), 32))
        return arithmetic(bits + 4).exp(precise)

    def tail_ratio(self, spec: LawSpec, m: int, bits: int) -> Interval:
        """Return the weight of all x >= m in units of that of m, for m at least mu."""
        return generalized_tail(TailShape(spec.parameter, spec.beta), m - spec.mu, bits)

    def scale_and_beta(self, spec: LawSpec, at: Arithmetic) -> tuple[Interval, Fraction]:
        """Return the parameters."""
        return at.rational(spec.parameter), spec.beta

    def has_exponents(self, spec: LawSpec) -> bool:
        """Return whether nothing under- or overflows, and phi(m0) is at most 64."""
        return (
            parameters_in_range(spec.parameter, spec.mu)
            and spec.parameter <= _LARGEST_SCALE
            and spec.beta <= _LARGEST_BETA
            and _phi_m0(spec).upper <= _MOST_PHI_M0
        )

    def exponents(self, spec: LawSpec, steps: Floats) -> Pairs:
        """Return exp(beta log(y/s)) - phi(m0), y = abs(j + m0 - mu).

        Let u = 2**-100. The relative error of y/s is u/4. The error of its logarithm l is
        3 u + u/8 abs(l), and of g = beta l it is 3 beta u + u/4 abs(g). The relative error of
        exp(g) is then (3 beta + 1) u + u/2 abs(g). If g > 7, phi is above 1000 and 1000 or more is
        returned. Otherwise abs(g) exp(g) is at most 7 phi + 1. A smaller phi than exp(-200) becomes
        exp(-200), and phi becomes 0 if y is below 2**-200. Both errors are below u. In all, the
        error of E is at most

            (3 beta + 8) u (phi + 1)    <    (beta + 3) 2**-98 (E + 65).
        """
        c = _pairs(spec)

        def chunk(j: Floats) -> Pairs:
            high, low = exact_sum(j, c.offset.high)
            y = normalised(high, low + c.offset.low)
            at_mu = np.abs(y.high) < _NO_DISTANCE
            low = np.where(at_mu, 0.0, y.low * np.sign(y.high))
            y = Pairs(np.where(at_mu, 1.0, np.abs(y.high)), low)
            g = product(logarithm(product(y, c.per_scale)), c.beta)
            inside = (g.high > _LEAST_LOG) & (g.high < _MOST_LOG)
            g = Pairs(np.clip(g.high, _LEAST_LOG, _MOST_LOG), np.where(inside, g.low, 0.0))
            phi = exponential(g)
            high, low = exact_sum(np.where(at_mu, 0.0, phi.high), -c.phi_m0.high)
            return normalised(high, low + (np.where(at_mu, 0.0, phi.low) - c.phi_m0.low))

        return in_chunks(chunk, steps)

    def distance_of(self, spec: LawSpec, level: Interval, at: Arithmetic) -> Interval:
        """Return the distance from mu at which phi is ``level``."""
        return at.scale(at.power(level, 1 / spec.beta), spec.parameter)

    def whole_width(self, spec: LawSpec) -> int:
        """Return the scale, rounded down."""
        return math.floor(spec.parameter)

    def mean_near_mu(self, spec: LawSpec, bits: int) -> Interval | None:
        """Return mu +- (1 + beta)/(6 Z), which holds the mean; Z is the sum of exp(-phi).

        The mean is mu + A/Z, with A the sum of g(x - mu) for g(y) = y exp(-phi(y)). The derivative
        g' = (1 - beta phi(y)) exp(-phi(y)) has a bounded variation V. By Poisson summation A is the
        integral of g, which is 0 because g is odd, plus terms for k = 1, -1, 2, ... of size at most
        V/(2 pi k)**2. These sum to at most V/12. On y > 0, g' falls from 1 to
        -beta exp(-1 - 1/beta), at phi = 1 + 1/beta, and then rises to 0. It is even, so V is at
        most 2 + 4 beta/e < 2 + 2 beta.
        """
        at = arithmetic(bits + 10)
        m0 = nearest_integer(spec.mu)
        total = self.normaliser(spec, m0, bits)
        z = at.mul(total, at.exp(at.neg(self.phi(spec, m0, at))))
        off = at.div(at.rational((1 + spec.beta) / 6), z).upper
        mu = at.rational(spec.mu)
        return Interval(at.down.sub(mu.lower, off), at.up.add(mu.upper, off))

    def has_moments(self, spec: LawSpec, order: int) -> bool:
        """Return whether `moments` works up to the order."""
        return order <= _MOST_MOMENTS or spec.parameter < _SMALL_SCALE

    def moments(self, spec: LawSpec, bits: int, order: int) -> About:
        """Return the moments up to the order, about an origin that the law chooses.

        They come from one-sided sums of (y/s)**e exp(-phi(y)), e = 0..order and e = beta. The order
        is at most 4, because generalized_tail.py proves no others.
        """
        if spec.parameter < _SMALL_SCALE:
            return term_by_term(self, spec, bits, order)
        shape = TailShape(spec.parameter, spec.beta)
        mu = spec.mu
        at = arithmetic(bits + 20)
        m0 = nearest_integer(mu)
        up = math.ceil(mu)
        weights = [self.weight_ratio(spec, x, m0, bits + 10) for x in (up, up - 1)]
        distances = (up - mu, mu - up + 1)

        def both(
            power: Fraction | int, combine: Callable[[Interval, Interval], Interval]
        ) -> Interval:
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
        energy = at.sub(at.div(both(spec.beta, at.add), total), self.phi(spec, m0, at))
        return About(mu, raw, energy, at)


class _PhiInPairs(NamedTuple):
    offset: Pair
    """m0 - mu"""
    per_scale: Pair
    beta: Pair
    phi_m0: Pair


@lru_cache(maxsize=64)
def _phi_m0(spec: LawSpec) -> Interval:
    """Return phi(m0), which may be beyond all floats."""
    offset = abs(nearest_integer(spec.mu) - spec.mu)
    return phi(TailShape(spec.parameter, spec.beta), offset, arithmetic(200))


@lru_cache(maxsize=64)
def _pairs(spec: LawSpec) -> _PhiInPairs:
    return _PhiInPairs(
        rational_pair(nearest_integer(spec.mu) - spec.mu),
        rational_pair(1 / spec.parameter),
        rational_pair(spec.beta),
        pair(_phi_m0(spec)),
    )
