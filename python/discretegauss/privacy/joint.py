"""The cost of several tables with noise, together, and the noise for a budget.

*Laplace noise* of the scales s has the pure epsilon that is the largest sum of l1/s, l1 the sum of
the absolute changes of a table by one person (docs/concepts/accounting.md). The sum of each table's
own largest l1/s is therefore a bound, and a person who reaches all of them loses exactly that.

*Gaussian noise:* rho of all tables is half of the largest sum of abs(v)**2/sigma2, v one person's
change of a table (Theorem 14 of arXiv 2004.00010). epsilon at delta is the least of these bounds:

*From rho*, by Corollary 13, for all tables.

*One law.* If one person changes k counts, each by at most D, only their sum matters, so Theorem 7
applies (hockey_stick.py). All tables of one law and one D are one query, asked several times.

*Narrow noise is composed as it is*, if the same person is the worst case of every table.

*Wide noise is nearly normal.* Let X be normal with the variance sigma2 - r**2 around an integer m,
and let Y, given X, have the weights exp(-(y - X)**2/(2 r**2)) over the integers. These sum to
r sqrt(2 pi) times a factor within 1 - eta and 1 + eta, by Poisson's formula, with

    eta = 2 sum over n >= 1 of q**(n**2) <= 2 q/(1 - q**3),    q = exp(-2 pi**2 r**2).

Integrated over X the numerators are the normal density of variance sigma2 at y - m. That of N_Z(m,
sigma2) is the same, divided by a number within 1 and 1 + eta, the same for all integers m. So
P(N_Z = y) is P(Y = y) times a factor within (1 - eta)/(1 + eta) and 1 + eta. Y is made from X, so
it tells no more than X does. Of K counts, with t = K log((1 + eta)**2/(1 - eta)),

    delta(epsilon) of the integer noise <= exp(t) delta(epsilon - t) of the normal.

Here q <= 2**-42/K, so t <= 4 K eta < 2**-38. What normal noise costs depends only on the sum of
abs(v)**2/(sigma2 - r**2) over the tables, however one person's records lie in them.

References
----------
C. Peikert, An Efficient and Parallel Gaussian Sampler for Lattices (CRYPTO 2010), Theorem 3.1: a
discrete Gaussian from a continuous one and another discrete one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from .._certified.floats import float_at_least
from .._certified.interval import ZERO, arithmetic, fraction_of
from .._certified.moments import standard_deviation
from .._inputs.budget import Budget
from .._inputs.decimal_text import rounded
from .._inputs.messages import describe
from .._law import Kind, LawSpec
from ..errors import ParameterOverflowError, ParameterValueError
from ..laws import DiscreteGaussian, DiscreteLaplace
from ._outcomes import fraction_at_least
from .calibration import law_of_budget
from .cost import epsilon as epsilon_of_law
from .hockey_stick import as_one_query
from .loss_distribution import PrivacyLoss, loss
from .normal import normal_delta
from .sensitivity import Sensitivity
from .zcdp import zcdp_epsilon, zcdp_rho

THEOREM, COROLLARY = "arXiv 2004.00010, Theorem 7", "arXiv 2004.00010, Corollary 13"
LAPLACE = "the l1 norm of the changes"
COMPOSED, NORMAL = "composition of the privacy losses", "nearly normal noise"

NoiseOfTable = DiscreteGaussian | DiscreteLaplace

_UP: Any = arithmetic(64).up

_WIDE_FROM = 2**15
"""Noise whose sum has at least this variance is treated as nearly normal. This makes its rho larger
by less than 1 in 10**4."""

_MOST_POWERS = 2**10
"""The most counts with narrow noise (sigma2 below about 3) that are composed one by one."""

_LEAST_STEPS = 42
_R2_STEP = Fraction(22, 625)
"""At least log(2)/(2 pi**2) = 0.03511...: r**2 of n steps has q <= 2**-n."""

_T = Fraction(1, 2**38)
_FACTOR = Fraction(1, 2**50)
"""The part by which the density ratio of hockey_stick.py may make delta larger."""

_BUCKETS = 1024
"""The buckets in a standard deviation of the loss."""

_LEAST_RHO, _LARGEST_RHO = Fraction(1, 10**9), Fraction(200)
"""Outside this range nothing but rho is known."""

_LOG_OF_LEAST = -369
"""Standard deviations with a smaller logarithm are printed as below 1e-160."""

_MOST_TRIES = 8
_FIRST_GAIN = Fraction(5, 4)
"""The first try exceeds the rho of zCDP by this factor."""
_CLOSE = Fraction(1, 10**6)
_DIGITS = 9


class Joint:
    """Tables that one person changes together.

    `tables` has the largest change of each table. `together` returns the largest weighted sum of
    the squared norms of one person's changes, given the weights. By default the same person is the
    worst case of every table.
    """

    def __init__(
        self,
        tables: Sequence[Sensitivity],
        together: Callable[[Sequence[Fraction]], Fraction] | None = None,
    ) -> None:
        self.tables = tables
        self._together = together or self._sum

    def _sum(self, weights: Sequence[Fraction]) -> Fraction:
        each = zip(self.tables, weights, strict=True)
        return sum((weight * table.norm2 for table, weight in each), Fraction(0))

    def rho(self, sigma2: Sequence[Fraction]) -> Fraction:
        """Return the rho of noise of these variances, exactly."""
        return self._together([1 / one for one in sigma2]) / 2

    def sigma2(self, shares: Sequence[Fraction], rho: Fraction) -> list[Fraction]:
        """Return the variances of noise whose joint cost is rho, exactly.

        The cost of each table by itself is in proportion to its share. They add up to 1.
        """
        each = zip(self.tables, shares, strict=True)
        alone = [table.norm2 / (2 * share * rho) for table, share in each]
        scale = self.rho(alone) / rho
        return [scale * one for one in alone]

    def noise(
        self, budget: Budget, shares: Sequence[Fraction], pure: Sequence[Fraction] | None = None
    ) -> JointNoise:
        """Return the noise of each table that a budget allows.

        rho asks for Gaussian noise, and epsilon alone for Laplace noise. epsilon with delta takes
        the kind whose tables have the least product of standard deviations. A product does not
        depend on the units of tables.

        `shares` are those of rho, and `pure` those of epsilon; by default the same.
        """
        laplace = gaussian = None
        if budget.epsilon:
            scales = self.scales(pure or shares, budget.epsilon)
            laplace = [DiscreteLaplace(one) for one in scales]
        if budget.delta != 0:
            try:
                sigma2 = self.sigma2(shares, self.rho_of(budget, shares))
                gaussian = [DiscreteGaussian(one) for one in sigma2]
            except (ParameterValueError, ParameterOverflowError):
                if laplace is None:
                    raise
        if laplace is None or gaussian is None:
            return JointNoise(laplace or gaussian or [])
        found, other = _log_mean(laplace), _log_mean(gaussian)
        if found <= other:
            return JointNoise(laplace, self._reason(found, other, "Gaussian"))
        return JointNoise(gaussian, self._reason(other, found, "Laplace"))

    def _reason(self, found: Any, other: Any, name: str) -> str:
        """Return why noise of this kind was chosen, given two of `_log_mean`."""
        here, there = _deviation(found), _deviation(other)
        mean = "the geometric mean of its standard deviations" if len(self.tables) > 1 else ""
        it = mean or "its standard deviation"
        return f"{it} is {here}, that of discrete {name} noise {there}"

    def scales(self, shares: Sequence[Fraction], epsilon: Fraction) -> list[Fraction]:
        """Return the scales of Laplace noise with this pure epsilon, each with its share of it."""
        each = zip(self.tables, shares, strict=True)
        return [table.l1 / (share * epsilon) for table, share in each]

    def cost(self, laws: Sequence[NoiseOfTable], delta: Fraction) -> JointCost:
        """Return what this noise costs: of Gaussian noise epsilon at delta."""
        sigma2 = [law.sigma2 for law in laws if isinstance(law, DiscreteGaussian)]
        if sigma2:
            epsilon, by = self.epsilon(sigma2, delta)
            return JointCost(self.rho(sigma2), epsilon, delta, by)
        scales = [law.scale for law in laws if isinstance(law, DiscreteLaplace)]
        each = zip(self.tables, scales, strict=True)
        pure = sum((table.l1 / scale for table, scale in each), Fraction(0))
        return JointCost(pure**2 / 2, float_at_least(pure), Fraction(0), LAPLACE)

    def epsilon(self, sigma2: Sequence[Fraction], delta: Fraction) -> tuple[float, str]:
        """Return an upper bound on epsilon at delta, for all tables together, and its proof."""
        if (one := self._as_one(sigma2)) is not None:
            law = DiscreteGaussian(sigma2[0])
            return epsilon_of_law(law, delta, one.each, queries=one.counts), THEOREM
        by_rho = zcdp_epsilon(self.rho(sigma2), delta), COROLLARY
        found = self.loss(sigma2)
        return by_rho if found is None else min(by_rho, (found.epsilon(delta), found.by))

    def loss(self, sigma2: Sequence[Fraction]) -> JointLoss | None:
        """Return the loss of all tables together; None if nothing but their rho is known."""
        if not _LEAST_RHO <= self.rho(sigma2) <= _LARGEST_RHO:
            return None
        if self._is_worst_of_all(sigma2):
            return _composed(self.tables, sigma2)
        remainders = [_remainder(table.counts) for table in self.tables]
        if any(one <= 2 * r2 for one, r2 in zip(sigma2, remainders, strict=True)):
            return None
        weights = [1 / (one - r2) for one, r2 in zip(sigma2, remainders, strict=True)]
        return JointLoss(self._together(weights), len(sigma2) * _T)

    def _is_worst_of_all(self, sigma2: Sequence[Fraction]) -> bool:
        """Return whether the same person is the worst case of each, by equal parts."""
        of_parts = None not in [table.parts for table in self.tables]
        if not of_parts or self._together == self._sum:
            return of_parts
        weights = [1 / one for one in sigma2]
        return self._together(weights) == self._sum(weights)

    def _as_one(self, sigma2: Sequence[Fraction]) -> Sensitivity | None:
        """Return all tables as queries to one law; None if laws or changes differ or are norms."""
        each, parts = self.tables[0].each, [table.parts or 0 for table in self.tables]
        alike = {(one, table.each) for one, table in zip(sigma2, self.tables, strict=True)}
        if len(alike) > 1 or each.denominator != 1 or not self._is_worst_of_all(sigma2):
            return None
        return Sensitivity.of_parts(each, sum(parts))

    def rho_of(self, budget: Budget, shares: Sequence[Fraction]) -> Fraction:
        """Return the rho that a budget allows: for (epsilon, delta) about the largest proven."""
        if budget.epsilon is None or budget.delta is None:
            return budget.rho or Fraction(0)
        unit = self.sigma2(shares, Fraction(1))
        if (one := self._as_one(unit)) is not None:
            law = law_of_budget(DiscreteGaussian, budget, one.each, one.counts)
            return one.norm2 / (2 * law.sigma2)
        rho = largest_rho(
            lambda rho: self.loss([one / rho for one in unit]), budget.epsilon, budget.delta
        )
        if rho <= 0:
            raise ParameterValueError(
                f"epsilon and delta must allow a positive rho, got {describe(budget.epsilon)} and "
                f"{describe(budget.delta)}"
            )
        return rho


class JointNoise(NamedTuple):
    """The noise of each table, and why it is of this kind; "" if there was no choice."""

    laws: Sequence[NoiseOfTable]
    reason: str = ""


class JointCost(NamedTuple):
    """The cost of all tables: rho, epsilon at delta, and the proof of epsilon.

    rho of Laplace noise is epsilon**2/2, a bound that holds for any pure epsilon (Bun and Steinke,
    arXiv 1605.02065, Proposition 1.4).
    """

    rho: Fraction
    epsilon: float
    delta: Fraction
    epsilon_by: str


class JointLoss(NamedTuple):
    """delta at epsilon is at most exp(t) times that of normal and composed noise at epsilon - t."""

    norm2: Fraction
    """(norm of the change/deviation)**2 of the normal noise; 0 if there is none."""
    t: Fraction
    composed: PrivacyLoss | None = None

    @property
    def by(self) -> str:
        """Return the proof."""
        return NORMAL if self.composed is None else COMPOSED

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound on delta."""
        less = max(epsilon - self.t, Fraction(0))
        if self.composed is not None:
            inner = self.composed.delta(less)
        else:
            inner = normal_delta(1 / self.norm2, less)
        # below 0 delta has a slope of at most 1
        at_most = Fraction(inner) + max(self.t - epsilon, Fraction(0))
        return at_most * (1 + 2 * self.t)  # at least exp(t), for t <= 1

    def epsilon(self, delta: Fraction) -> float:
        """Return an upper bound on the least epsilon."""
        if self.composed is not None:
            inner: float = self.composed.epsilon(delta / (1 + 2 * self.t))
            return inner if inner == math.inf else fraction_at_least(Fraction(inner) + self.t)
        if self.delta(Fraction(0)) <= delta:
            return 0.0
        low, high = 0.0, zcdp_epsilon(self.norm2 / 2, delta) + float_at_least(2 * float(self.t))
        for _ in range(60):
            middle = (low + high) / 2
            is_met = self.delta(Fraction(middle)) <= delta
            low, high = (low, middle) if is_met else (middle, high)
        return high if self.delta(Fraction(high)) <= delta else math.inf


def _deviation(log: Any) -> str:
    """Return a standard deviation as text, given its logarithm."""
    if log < _LOG_OF_LEAST:  # its digits would fill the memory
        return "below 1e-160"
    return rounded(fraction_of(_UP.exp(log)))


def _log_mean(laws: Sequence[NoiseOfTable]) -> Any:
    """Return about the logarithm of the geometric mean of the standard deviations."""
    total: Any = ZERO
    for law in laws:
        total = _UP.add(total, _UP.log(standard_deviation(law._simplest, 64).upper))
    return _UP.div(total, len(laws))


def _composed(tables: Sequence[Sensitivity], sigma2: Sequence[Fraction]) -> JointLoss | None:
    """Return the loss of tables of which the same person is the worst case, by equal parts."""
    narrow: Counter[tuple[Fraction, Fraction]] = Counter()
    t = norm2 = Fraction(0)
    for table, variance in zip(tables, sigma2, strict=True):
        one, change, of_one = variance, table, None
        whole, parts = table.each.denominator == 1, table.parts or 0
        t += _FACTOR
        if whole:
            law = LawSpec(Kind.DISCRETE_GAUSSIAN, variance)
            of_one = as_one_query(law, int(table.each), parts)
        if of_one is not None:
            one, change = of_one[0].parameter, Sensitivity.of_parts(Fraction(of_one[1]), 1)
        if of_one is not None and one < _WIDE_FROM:
            narrow[one, change.each] += 1
        elif of_one is None and whole and parts <= _MOST_POWERS:
            narrow[variance, table.each] += parts
        elif one > 2 * (r2 := _remainder(change.counts)):
            norm2 += change.norm2 / (one - r2)
            t += _T
        else:
            return None
    rho = sum((table.norm2 / (2 * one) for table, one in zip(tables, sigma2, strict=True)), t)
    width = Fraction(2) ** math.floor(math.log2(math.sqrt(2 * rho) / _BUCKETS))
    losses = [
        loss(DiscreteGaussian(variance), change, width=width) ** power
        for (variance, change), power in narrow.items()
    ]
    if losses and norm2:
        losses.append(PrivacyLoss.of_gaussian(1 / norm2, width=width))
    return JointLoss(norm2, t, reduce(PrivacyLoss.compose, losses) if losses else None)


def _remainder(counts: int) -> Fraction:
    """Return r**2 for this many counts."""
    return _R2_STEP * (_LEAST_STEPS + counts.bit_length())


def largest_rho(
    loss_of: Callable[[Fraction], JointLoss | None], epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return a rho whose loss is proven to have (epsilon, delta): about the largest.

    The result is a decimal of 9 digits, or if nothing else is proven `zcdp_rho`, which may be 0. As
    a rule a rho larger by 2 in 10**6 is not proven: at most 8 are tried.
    """
    by_zcdp = Fraction(zcdp_rho(epsilon, delta))
    good, guess = by_zcdp, by_zcdp * _FIRST_GAIN
    bad: Fraction | None = None
    for _ in range(_MOST_TRIES if guess else 0):
        tried = _decimal_below(guess)
        if tried <= good or (bad is not None and tried >= bad):
            break
        found_loss = loss_of(tried)
        if found_loss is None:
            break
        found = found_loss.delta(epsilon)
        if found <= delta:
            good = tried
        else:
            bad = tried
        if bad is not None and bad <= good * (1 + 2 * _CLOSE):
            break
        # The rho of zCDP moves by nearly the same factor from one delta to the other.
        moved = tried * by_zcdp / Fraction(zcdp_rho(epsilon, min(found, (1 + delta) / 2)))
        guess = moved * (1 - _CLOSE if found > delta else 1 + _CLOSE)
        if bad is not None and not good < guess < bad:
            guess = (good + bad) / 2
    return good


def _decimal_below(value: Fraction) -> Fraction:
    """Return the value rounded down to a decimal of nine digits."""
    exponent = math.floor(math.log10(value)) - _DIGITS + 1
    unit = Fraction(10) ** exponent
    return math.floor(value / unit) * unit
