"""The noise of tables that count the same people, and their joint cost.

`docs/person.md` has the proofs. Two bounds on (epsilon, delta) hold for all records of a person.
Corollary 13 of arXiv 2004.00010 follows from rho. The other is that of normal noise, from which the
integer noise can be made, if no sigma2 is too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .._inputs.budget import Budget
from .._inputs.messages import describe
from ..errors import ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy import zcdp_epsilon, zcdp_rho
from ..privacy.calibration import law_of_budget
from ..utility import continuous_gaussian_delta
from .person import Counting, Person, change, together

COROLLARY, NORMAL = "arXiv 2004.00010, Corollary 13", "nearly normal noise"

_LEAST_STEPS = 42
_R2_STEP = Fraction(22, 625)
"""At least log(2)/(2 pi**2). Noise made of normal noise and a remainder of variance n steps differs
from the discrete Gaussian by a factor within some 2**-n of 1."""

_T = Fraction(1, 2**38)
"""A bound on the logarithm of all factors of a table, for 42 steps and one for each doubling."""

_NARROW = 2
"""Each sigma2 must be above this multiple of the remainder's variance."""

_NORM2_BELOW = 2**3000
"""Beyond this norm, or below its inverse, no bound from normal noise is computed."""

_DIGITS = 9
"""The digits of a rho that (epsilon, delta) decides."""


def sigma2_of(
    person: Person, tables: Sequence[Counting], shares: Sequence[Fraction], rho: Fraction
) -> list[Fraction]:
    """Return the variances of noise whose joint cost is rho, exactly.

    Parameters
    ----------
    shares : sequence of Fraction
        The cost of each table by itself is in proportion to its share. They add up to 1.
    """
    alone = [
        change(person, table).norm2 / (2 * share * rho)
        for table, share in zip(tables, shares, strict=True)
    ]
    scale = rho_of(person, tables, alone) / rho
    return [scale * sigma2 for sigma2 in alone]


def rho_of(person: Person, tables: Sequence[Counting], sigma2: Sequence[Fraction]) -> Fraction:
    """Return the joint cost of noise of these variances."""
    return together(person, tables, [1 / one for one in sigma2]) / 2


def largest_rho(
    person: Person,
    tables: Sequence[Counting],
    shares: Sequence[Fraction],
    epsilon: Fraction,
    delta: Fraction,
) -> Fraction:
    """Return about the largest rho whose noise is proven to have (epsilon, delta).

    Returns
    -------
    Fraction
        A decimal of 9 digits, or `zcdp_rho` if the noise would be too narrow for more.

    Raises
    ------
    ParameterValueError
        If epsilon and delta leave no positive rho.
    """
    good = Fraction(zcdp_rho(epsilon, delta))
    if good <= 0:
        raise ParameterValueError(
            f"epsilon and delta must allow a positive rho, got {describe(epsilon)} and "
            f"{describe(delta)}"
        )

    def meets(rho: Fraction) -> bool:
        sigma2 = sigma2_of(person, tables, shares, rho)
        norm2 = _norm2_of_normal(person, tables, sigma2)
        return norm2 is not None and _delta(norm2, len(tables), epsilon) <= delta

    bad = 2 * good
    while meets(bad) and bad < 2**20 * good:
        good, bad = bad, 2 * bad
    unit = Fraction(10) ** (math.floor(math.log10(good)) - _DIGITS + 1)
    low, high = math.ceil(good / unit), math.floor(bad / unit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if meets(middle * unit) else (low, middle)
    return low * unit if meets(low * unit) else good


def least_epsilon(
    person: Person, tables: Sequence[Counting], sigma2: Sequence[Fraction], delta: Fraction
) -> tuple[float, str]:
    """Return an upper bound on epsilon at delta, for all tables together, and its proof."""
    by_rho = zcdp_epsilon(rho_of(person, tables, sigma2), delta)
    norm2 = _norm2_of_normal(person, tables, sigma2)
    if math.isinf(by_rho) or norm2 is None:
        return by_rho, COROLLARY
    if _delta(norm2, len(tables), Fraction(by_rho)) > delta:
        return by_rho, COROLLARY
    if _delta(norm2, len(tables), Fraction(0)) <= delta:
        return 0.0, NORMAL
    low, high = 0.0, by_rho
    for _ in range(60):
        middle = (low + high) / 2
        met = _delta(norm2, len(tables), Fraction(middle)) <= delta
        low, high = (low, middle) if met else (middle, high)
    return high, NORMAL


def law_of_one(person: Person, table: Counting, budget: Budget) -> DiscreteGaussian:
    """Return the noise of one table that spends the whole budget."""
    changed = change(person, table)
    if changed.part is not None:
        sensitivity, queries = changed.part
        return law_of_budget(DiscreteGaussian, budget, sensitivity, queries)
    rho = budget.rho
    if budget.epsilon is not None and budget.delta is not None:
        rho = largest_rho(person, [table], [Fraction(1)], budget.epsilon, budget.delta)
    return law_of_budget(DiscreteGaussian, Budget(rho=rho), queries=changed.norm2)


def _norm2_of_normal(
    person: Person, tables: Sequence[Counting], sigma2: Sequence[Fraction]
) -> Fraction | None:
    """Return (change/deviation)**2 of normal noise that costs no less, or None."""
    weights = []
    for table, one in zip(tables, sigma2, strict=True):
        cells = 2 * person.records * table.at_once
        remainder = _R2_STEP * (_LEAST_STEPS + cells.bit_length())
        if one <= _NARROW * remainder:
            return None
        weights.append(1 / (one - remainder))
    norm2 = together(person, tables, weights)
    return norm2 if Fraction(1, _NORM2_BELOW) < norm2 < _NORM2_BELOW else None


def _delta(norm2: Fraction, n_tables: int, epsilon: Fraction) -> Fraction:
    """Return an upper bound on delta from normal noise of this (change/deviation)**2."""
    t = n_tables * _T
    of_normal = Fraction(continuous_gaussian_delta(1 / norm2, max(epsilon - t, Fraction(0))))
    of_normal += max(t - epsilon, Fraction(0))  # delta falls by at most 1 for each unit of epsilon
    return of_normal * (1 + 2 * t)  # at least exp(t), for t <= 1
