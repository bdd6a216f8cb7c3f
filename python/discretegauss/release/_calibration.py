"""Find the noise of one table or several for a budget, and the cost of that noise.

A budget (epsilon, delta) becomes one rho for all tables together. If every table gets the same law
(equal whole sensitivities, and shares in proportion to the counts that one person changes), the
tables are one query asked several times, so Theorem 7 of arXiv 2004.00010 applies. Otherwise rho is
about the largest whose composed tables are proven to meet the budget (privacy/plan_loss.py).

Conversely, epsilon at delta is the least of the proven bounds. Corollary 13, from rho, always
holds. The other is Theorem 7 if there is one law, or else the composed privacy losses.

A statement about a person (`data/person_noise.py`) bounds all tables together. The tighter results
above hold for it, too, if one person changes each table by equal amounts in a fixed number of
counts, and the same person is the worst case of every table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from gmpy2 import mpz

from .._certified.floats import float_at_least
from .._certified.moments import standard_deviation
from .._certified.quantile import lower_quantile
from .._inputs.budget import Budget
from .._inputs.decimal_text import decimals
from .._inputs.messages import describe
from .._inputs.privacy_arguments import checked_probability
from .._law_functions.narrow import warn_of_narrow
from ..data.person import UNNAMED, Change, Counting, Part, Person, change, require_known
from ..data.person_noise import COROLLARY, largest_rho, least_epsilon, rho_of, sigma2_of
from ..errors import ParameterOverflowError, ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy import epsilon as tight_epsilon
from ..privacy import zcdp_epsilon
from ..privacy.calibration import law_of_budget, widest
from ..privacy.plan_loss import Table, plan_loss
from ..privacy.plan_loss import largest_rho as largest_rho_of

_DEFAULT_REPORT_DELTA = "1e-6"

_SIGMA2_BELOW = 10**1200
"""A table of decimal numbers has no use for noise of more than 600 digits."""

_THEOREM = "arXiv 2004.00010, Theorem 7"


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The privacy that noise costs.

    Attributes
    ----------
    rho : Fraction
        Exact.
    epsilon : float
        An upper bound at ``delta``; at most the least float that is not below `asked_epsilon`.
    epsilon_by : str
        The proof of that bound.
    asked_epsilon : Fraction or None
        The epsilon of the budget, or None if the budget was rho.
    """

    rho: Fraction
    epsilon: float
    delta: Fraction
    epsilon_by: str
    asked_epsilon: Fraction | None = None

    def __post_init__(self) -> None:
        if self.asked_epsilon is not None:  # the budget is met, which a computed bound may not show
            object.__setattr__(
                self, "epsilon", min(self.epsilon, float_at_least(self.asked_epsilon))
            )


class WithCost:
    """Gives the fields of the common `cost` of several tables shorter names."""

    cost: Cost

    @property
    def rho(self) -> Fraction:
        """The rho of all tables together, exact."""
        return self.cost.rho

    @property
    def epsilon(self) -> float:
        """An upper bound at `delta`, for all tables together."""
        return self.cost.epsilon

    @property
    def delta(self) -> Fraction:
        """The delta at which epsilon is reported."""
        return self.cost.delta


@dataclass(frozen=True, kw_only=True)
class Calibration(Cost):
    """Discrete Gaussian noise for a budget, and its cost.

    Attributes
    ----------
    sensitivity : Fraction
        The most by which one person changes one answer.
    queries : int
        The most answers that one person changes. Without `counting`, rho is queries *
        sensitivity**2 / (2 sigma2).
    std : Decimal
        Standard deviation of the noise; 0 if it is below 1e-160.
    bound95 : int
        The smallest k such that the noise is within -k .. k with a probability of at least 0.95.
    counting : Counting or None
        What the table counts, if the plan has a statement about a person.
    change : Change or None
        The most by which one person changes it. Then rho is change.norm2 / (2 sigma2).
    """

    law: DiscreteGaussian
    sensitivity: Fraction
    queries: int
    std: Decimal
    bound95: int
    counting: Counting | None = None
    change: Change | None = None

    @property
    def sigma2(self) -> Fraction:
        """The law's sigma2, exact."""
        return Fraction(self.law.sigma2)

    @property
    def is_tight(self) -> bool:
        """Return whether epsilon is the discrete Gaussian's own, not a bound from rho."""
        return self.epsilon_by == _THEOREM


def budget_for_error(
    error: object, confidence: object, sensitivity: Fraction, queries: int, answers: int = 1
) -> Budget:
    """Return the least rho whose noise is within the error with the confidence (None: 0.95).

    The confidence holds for `answers` answers at once.
    """
    sure = "0.95" if confidence is None else confidence
    sigma2 = widest(DiscreteGaussian, error, confidence=sure, queries=answers)
    return Budget(rho=queries * sensitivity**2 / (2 * sigma2))


def calibration(
    budget: Budget,
    sensitivity: Fraction = Fraction(1),
    queries: int = 1,
    report_delta: object = None,
    person: Person | None = None,
) -> Calibration:
    """Return noise for the budget; see `privacy.calibrate`, which checks the arguments.

    With rho, epsilon is reported at ``report_delta`` (None: 1e-6): by Theorem 7 if the sensitivity
    is a whole number, else from rho. With epsilon and delta, ``report_delta`` must be None.
    With a person, all of the person's records may be in one row of the one column of counts.
    """
    if person is not None:
        table = Counting(by=(UNNAMED,))
        return calibrations(budget, [table], [Fraction(1)], report_delta, person)[0][0]
    found = _of_one(budget, Part(sensitivity, queries), _delta_of_report(budget, report_delta))
    warn_of_narrow([found.law])
    return found


def calibrations(
    budget: Budget,
    tables: Sequence[Part | Counting],
    shares: Sequence[Fraction],
    report_delta: object = None,
    person: Person | None = None,
) -> tuple[list[Calibration], Cost]:
    """Return the noise of each table, and the cost of all tables, which is exactly the budget's.

    Parameters
    ----------
    budget : Budget
        For all tables together.
    tables : sequence of Part or Counting
        With a person: what each table counts. Without one: how far one person changes the table.
    shares : sequence of Fraction
        The rho of each table by itself is in proportion to its share.
    report_delta : number, optional
        As for `calibration`.
    person : Person, optional
        The statement about every person. It is refused if no table has a column of `distinct`.
    """
    delta = _delta_of_report(budget, report_delta)
    if person is None:
        parts = [table for table in tables if isinstance(table, Part)]
        noise, cost = _of_parts(budget, parts, shares, delta)
    else:
        noise, cost = _of_statement(budget, tables, shares, delta, person)
    warn_of_narrow([one.law for one in noise])
    return noise, cost


def _of_statement(
    budget: Budget,
    tables: Sequence[Part | Counting],
    shares: Sequence[Fraction],
    delta: Fraction,
    person: Person,
) -> tuple[list[Calibration], Cost]:
    """Return the noise and cost of tables of which a person is in a known number of records."""
    counting = [table for table in tables if isinstance(table, Counting)]
    require_known(person, counting)
    changes = [change(person, table) for table in counting]
    parts = [one.part for one in changes if one.part is not None]
    alone = [one.norm2 / share for one, share in zip(changes, shares, strict=True)]
    if len(parts) == len(tables) and 2 * rho_of(person, counting, alone) == 1:
        noise, cost = _of_parts(budget, parts, shares, delta)
    else:
        rho = budget.rho or Fraction(0)
        if budget.epsilon is not None and budget.delta is not None:
            rho = largest_rho(person, counting, shares, budget.epsilon, budget.delta)
        sigma2 = sigma2_of(person, counting, shares, rho)
        noise = [_of_person(person, *one, delta) for one in zip(counting, sigma2, strict=True)]
        cost = _cost(budget, rho, delta, least_epsilon(person, counting, sigma2, delta))
    if len(noise) == 1:
        noise = [replace(noise[0], asked_epsilon=budget.epsilon)]
    described = zip(noise, counting, changes, strict=True)
    return [replace(one, counting=table, change=most) for one, table, most in described], cost


def _of_one(budget: Budget, part: Part, delta: Fraction) -> Calibration:
    """Return the noise of one table."""
    return replace(_noise(_law_for(budget, *part), part, delta), asked_epsilon=budget.epsilon)


def _of_parts(
    budget: Budget, parts: Sequence[Part], shares: Sequence[Fraction], delta: Fraction
) -> tuple[list[Calibration], Cost]:
    """Return the noise and cost of tables if the same person is the worst case of each."""
    if len(parts) == 1:
        only = _of_one(budget, parts[0], delta)
        return [only], only
    rho = _rho_of(budget, parts, shares)
    noise = [
        _noise(_law_for(Budget(rho=rho * share), *part), part, delta)
        for part, share in zip(parts, shares, strict=True)
    ]
    bounds = [(zcdp_epsilon(rho, delta), COROLLARY)]
    first = noise[0]
    if first.is_tight and len({(one.sigma2, one.sensitivity) for one in noise}) == 1:
        queries = sum(part.queries for part in parts)
        epsilon = tight_epsilon(first.law, delta, first.sensitivity, queries=queries)
        bounds.append((epsilon, _THEOREM))
    elif loss := plan_loss([Table(one.sigma2, one.sensitivity, one.queries) for one in noise]):
        bounds.append((loss.epsilon(delta), "composition of the privacy losses"))
    return noise, _cost(budget, rho, delta, min(bounds))


def _of_person(person: Person, table: Counting, sigma2: Fraction, delta: Fraction) -> Calibration:
    """Return the noise of one table, with the cost that it has by itself."""
    most = change(person, table)
    rho = most.norm2 / (2 * sigma2)
    law = _law_for(Budget(rho=rho), Fraction(1), most.norm2)
    if most.part is not None:
        return _noise(law, most.part, delta)
    part = Part(Fraction(most.cell), most.rows * table.columns)
    return _calibration(law, part, rho, delta, least_epsilon(person, [table], [sigma2], delta))


def _cost(budget: Budget, rho: Fraction, delta: Fraction, bound: tuple[float, str]) -> Cost:
    epsilon, by = bound
    return Cost(rho=rho, epsilon=epsilon, delta=delta, epsilon_by=by, asked_epsilon=budget.epsilon)


def _rho_of(budget: Budget, parts: Sequence[Part], shares: Sequence[Fraction]) -> Fraction:
    """Return the rho that all tables together may spend."""
    if budget.epsilon is None or budget.delta is None:
        return budget.rho or Fraction(0)
    sensitivity, queries = parts[0].sensitivity, sum(part.queries for part in parts)
    if all(
        part.sensitivity == sensitivity and part.queries == share * queries
        for part, share in zip(parts, shares, strict=True)
    ):
        law = _law_for(budget, sensitivity, queries)
        return Fraction(queries * sensitivity**2 / (2 * law.sigma2))

    def tables_of(rho: Fraction) -> list[Table]:
        return [
            Table(part.queries * part.sensitivity**2 / (2 * rho * share), *part)
            for part, share in zip(parts, shares, strict=True)
        ]

    rho = largest_rho_of(tables_of, budget.epsilon, budget.delta)
    if rho <= 0:
        raise ParameterValueError(
            f"epsilon and delta must allow a positive rho, got {describe(budget.epsilon)} and "
            f"{describe(budget.delta)}"
        )
    return rho


def _law_for(budget: Budget, sensitivity: Fraction, queries: int) -> DiscreteGaussian:
    law = law_of_budget(DiscreteGaussian, budget, sensitivity, queries)
    if law.sigma2 >= _SIGMA2_BELOW:
        digits = mpz(math.isqrt(int(law.sigma2))).num_digits()
        raise ParameterOverflowError(
            "sensitivity, queries and the budget must be met by noise of at most 600 digits, "
            f"got a standard deviation of about {digits} digits"
        )
    return law


def _delta_of_report(budget: Budget, report_delta: object) -> Fraction:
    """Return the delta at which to report epsilon."""
    if budget.delta is None:
        at = _DEFAULT_REPORT_DELTA if report_delta is None else report_delta
        return checked_probability(at, "report_delta")
    if report_delta is not None:
        raise ParameterValueError(
            "report_delta needs rho and must not be given with epsilon and delta, "
            f"got {describe(report_delta)}"
        )
    return checked_probability(budget.delta, "delta")


def _noise(law: DiscreteGaussian, part: Part, delta: Fraction) -> Calibration:
    """Return the noise of one table with its cost, which follows from `part`."""
    rho = part.queries * part.sensitivity**2 / (2 * law.sigma2)
    if part.sensitivity.denominator == 1:
        bound = tight_epsilon(law, delta, part.sensitivity, queries=part.queries), _THEOREM
    else:
        bound = zcdp_epsilon(rho, delta), COROLLARY
    return _calibration(law, part, rho, delta, bound)


def _calibration(
    law: DiscreteGaussian, part: Part, rho: Fraction, delta: Fraction, bound: tuple[float, str]
) -> Calibration:
    enclosed = standard_deviation(law._simplest, 64)
    std = Decimal(0)
    if enclosed.upper >= 1e-160:  # a Decimal, because it may be too large for a float
        numerator, denominator = enclosed.lower.as_integer_ratio()
        std = decimals(18).divide(Decimal(int(numerator)), Decimal(int(denominator)))
    return Calibration(
        law=law,
        sensitivity=part.sensitivity,
        queries=part.queries,
        rho=rho,
        epsilon=bound[0],
        delta=delta,
        epsilon_by=bound[1],
        std=std,
        bound95=lower_quantile(law._simplest, Fraction(39, 40)),  # the law is symmetric
    )
