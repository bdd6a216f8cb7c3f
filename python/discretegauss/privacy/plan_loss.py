"""A tight (epsilon, delta) of tables with different discrete Gaussian noise, together.

Each table is one query with a known privacy loss. The losses of the tables add up (`PrivacyLoss`).
Three steps lead there, each on the safe side.

*k counts are one.* If one person changes k counts of a table, each by at most D, only their sum
matters. Its law is N_Z(0, k sigma2), moved by k D, up to a factor that the loss does not depend on
(hockey_stick.py). So delta of all tables grows by that factor at most.

*Wide noise is nearly continuous.* Let X be normal with the variance sigma2 - r**2 around an integer
m, and let Y, given X, have the weights exp(-(y - X)**2/(2 r**2)) over the integers. These sum to
r sqrt(2 pi) times a factor within 1 - eta and 1 + eta, by Poisson's formula, with

    eta = 2 sum over n >= 1 of q**(n**2) <= 2 q/(1 - q**3),    q = exp(-2 pi**2 r**2).

Integrated over X the numerators are the normal density of variance sigma2 at y - m. That of N_Z(m,
sigma2) is the same, divided by a number within 1 and 1 + eta, the same for all integers m. So
P(N_Z = y) is P(Y = y) times a factor within (1 - eta)/(1 + eta) and 1 + eta. Y is made from X, so
it tells no more than X does. Of K counts, with t = K log((1 + eta)**2/(1 - eta)),

    delta(epsilon) of the integer noise <= exp(t) delta(epsilon - t) of the normal.

Here q <= 2**-42/K, so t <= 4 K eta < 2**-38. The loss of the normal noise depends only on the norm
S of the change by one person, also over several tables. If S is not whole, at most S**2 counts of a
vector change, because they are integers.

*Narrow noise is composed as it is.*

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
from typing import NamedTuple

from .._law import Kind, LawSpec
from ..laws import DiscreteGaussian
from ._outcomes import fraction_at_least
from .hockey_stick import as_one_query
from .loss_distribution import PrivacyLoss
from .loss_distribution import loss as loss_of
from .zcdp import zcdp_rho

_WIDE_FROM = 2**15
"""Noise whose sum has at least this variance is treated as nearly continuous. This makes its rho
larger by less than 1 in 10**4."""

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
"""Outside this range `plan_loss` returns None."""

_MOST_TRIES = 8
_FIRST_GAIN = Fraction(5, 4)
"""The first try exceeds the rho of zCDP by this factor."""
_CLOSE = Fraction(1, 10**6)
_DIGITS = 9


class Table(NamedTuple):
    """The noise of one table, and how much one person changes of the table."""

    sigma2: Fraction
    sensitivity: Fraction
    """Of each count. If it is not whole, it is the norm of a person's changes in one column, or at
    once."""
    queries: int
    """The number of counts that one person changes, or of vectors of that norm."""

    @property
    def rho(self) -> Fraction:
        """Return the rho of the table."""
        return self.queries * self.sensitivity**2 / (2 * self.sigma2)


class PlanLoss(NamedTuple):
    """delta of the tables at epsilon is at most exp(t) times that of ``loss`` at epsilon - t."""

    loss: PrivacyLoss
    t: Fraction

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound on delta."""
        inner = Fraction(self.loss.delta(max(epsilon - self.t, Fraction(0))))
        inner += max(self.t - epsilon, Fraction(0))  # below 0 delta has a slope of at most 1
        return inner * (1 + 2 * self.t)  # at least exp(t), for t <= 1

    def epsilon(self, delta: Fraction) -> float:
        """Return an upper bound on the least epsilon."""
        inner = self.loss.epsilon(delta / (1 + 2 * self.t))
        if inner == math.inf:
            return math.inf
        return fraction_at_least(Fraction(inner) + self.t)


def plan_loss(tables: Sequence[Table]) -> PlanLoss | None:
    """Return the loss of these tables together; None if nothing but their rho is known.

    Parameters
    ----------
    tables : sequence of Table
        The noise of the tables is independent. The changes by one person in all tables are private.

    Notes
    -----
    Time: as for `PrivacyLoss`. All wide tables, from sigma2 = 2**15 on, make one release.
    """
    rho = sum((table.rho for table in tables), Fraction(0))
    if not _LEAST_RHO <= rho <= _LARGEST_RHO:
        return None
    narrow: Counter[Table] = Counter()
    t, mu2 = Fraction(0), Fraction(0)
    for table in tables:
        one = _one_query(table)
        t += _FACTOR
        if one is not None and one.sigma2 < _WIDE_FROM:
            narrow[one] += 1
        elif one is None and table.sensitivity.denominator == 1 and table.queries <= _MOST_POWERS:
            narrow[table._replace(queries=1)] += table.queries
        elif (smoothed := _smoothed(one or table)) is not None:
            mu2 += smoothed
            t += _T
        else:
            return None
    width = Fraction(2) ** math.floor(math.log2(math.sqrt(2 * rho) / _BUCKETS))
    losses = [
        loss_of(DiscreteGaussian(table.sigma2), table.sensitivity, width=width) ** power
        for table, power in narrow.items()
    ]
    if mu2:
        losses.append(PrivacyLoss.of_gaussian(1 / mu2, width=width))
    return PlanLoss(reduce(PrivacyLoss.compose, losses), t)


def _one_query(table: Table) -> Table | None:
    """Return one query that costs as much as all counts; None if there is none."""
    if table.sensitivity.denominator != 1:
        return None
    law = LawSpec(Kind.DISCRETE_GAUSSIAN, table.sigma2)
    one = as_one_query(law, int(table.sensitivity), table.queries)
    return None if one is None else Table(one[0].parameter, Fraction(one[1]), 1)


def _smoothed(table: Table) -> Fraction | None:
    """Return (norm of the change/deviation)**2 of normal noise that costs at least as much.

    None if sigma2 is too small for it.
    """
    counts = table.queries
    if table.sensitivity.denominator != 1:
        counts *= math.floor(table.sensitivity**2)
    r2 = _R2_STEP * (_LEAST_STEPS + counts.bit_length())
    if table.sigma2 <= 2 * r2:
        return None
    return table.queries * table.sensitivity**2 / (table.sigma2 - r2)


def largest_rho(
    tables_of: Callable[[Fraction], Sequence[Table]], epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return a rho whose tables are proven to have (epsilon, delta): about the largest.

    Parameters
    ----------
    tables_of : callable
        The tables, given the rho of all of them together.
    epsilon, delta : Fraction
        The budget.

    Returns
    -------
    Fraction
        A decimal of 9 digits, or if nothing else is proven `zcdp_rho`, which may be 0. As a rule a
        rho larger by 2 in 10**6 is not proven: at most 8 are tried.
    """
    by_zcdp = Fraction(zcdp_rho(epsilon, delta))
    good, guess = by_zcdp, by_zcdp * _FIRST_GAIN
    bad: Fraction | None = None
    for _ in range(_MOST_TRIES if guess else 0):
        tried = _decimal_below(guess)
        if tried <= good or (bad is not None and tried >= bad):
            break
        loss = plan_loss(tables_of(tried))
        if loss is None:
            break
        found = loss.delta(epsilon)
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
