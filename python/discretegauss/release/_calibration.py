"""From a budget to noise, for one table or several, and all that a report says of it.

(epsilon, delta) becomes rho once, for all tables together. If every table gets the same law (equal
whole sensitivities D, shares in proportion to the counts that one person changes), that is the
noise of one query asked so many times, by Theorem 7 of arXiv 2004.00010. Else it is about the
largest rho whose tables, composed, are proven to meet the budget (privacy/plan_loss.py).

Conversely, epsilon at delta is the least that is proven: by Corollary 13 from rho, which holds
always; by Theorem 7 if there is one law; by the composition of the privacy losses if not.

Tables with a statement about a person are together what `data/person_noise.py` says. If each of
them changes as so many counts by so much, and the worst person for one is so for all, the above
holds for them, too, and is tighter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from gmpy2 import mpz

from .._certified.moments import standard_deviation
from .._certified.quantile import lower_quantile
from .._inputs.budget import Budget
from .._inputs.decimal_text import decimals
from .._inputs.messages import describe
from .._inputs.privacy_arguments import checked_probability
from ..data.person import Change, Counting, Person, change
from ..data.person_noise import COROLLARY, largest_rho, least_epsilon, rho_of, sigma2_of
from ..errors import ParameterOverflowError, ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy import calibrate, zcdp_epsilon
from ..privacy import epsilon as tight_epsilon
from ..privacy.plan_loss import Table, plan_loss
from ..privacy.plan_loss import largest_rho as largest_rho_of

_DEFAULT_REPORT_DELTA = "1e-6"

_SIGMA2_BELOW = 10**1200
"""Noise of more than 600 digits has no place in a table of decimal numbers."""

_THEOREM = "arXiv 2004.00010, Theorem 7"


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What noise costs.

    Attributes
    ----------
    rho : Fraction
        Exact.
    epsilon : float
        At ``delta``, an upper bound.
    epsilon_by : str
        What proves it.
    asked_epsilon : Fraction or None
        What the budget said if it was (epsilon, delta), else None.
    """

    rho: Fraction
    epsilon: float
    delta: Fraction
    epsilon_by: str
    asked_epsilon: Fraction | None = None


@dataclass(frozen=True, kw_only=True)
class Calibration(Cost):
    """Discrete Gaussian noise for a budget, and what it costs.

    Attributes
    ----------
    sensitivity : Fraction
        The most that one person changes one answer.
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
        The most that one person changes it, by that statement: rho is change.norm2 / (2 sigma2).
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
        """Whether epsilon is that of the discrete Gaussian itself, not by way of rho."""
        return self.epsilon_by == _THEOREM


def calibration(
    budget: Budget,
    sensitivity: Fraction = Fraction(1),
    queries: int = 1,
    report_delta: object = None,
) -> Calibration:
    """Return noise for the budget; see `privacy.calibrate`, which checks the arguments.

    With rho, epsilon is reported at ``report_delta`` (None: 1e-6): by Theorem 7 if the sensitivity
    is a whole number, else by way of rho. With epsilon and delta it must not be given.
    """
    delta = _delta_of_report(budget, report_delta)
    law = _law_for(budget, sensitivity, queries)
    return _noise(law, sensitivity, queries, delta, budget.epsilon)


def budget_for_error(
    error: object, confidence: object, sensitivity: Fraction, queries: int, answers: int = 1
) -> Budget:
    """Return the least rho for which answers are that near with the confidence (None: 0.95).

    The confidence is that of so many answers at once.
    """
    law = calibrate(DiscreteGaussian, error=error, confidence=confidence, queries=answers)
    return Budget(rho=queries * sensitivity**2 / (2 * law.sigma2))


def calibrations(
    budget: Budget, tables: Sequence[tuple[Fraction, int, Fraction]], report_delta: object = None
) -> tuple[list[Calibration], Cost]:
    """Return the noise of each table, and what all of it costs: of rho exactly the budget's.

    Parameters
    ----------
    budget : Budget
        Of all tables together.
    tables : sequence of (Fraction, int, Fraction)
        The sensitivity of each, the counts that one person changes there, and its share of rho.
    report_delta : number, optional
        As for `calibration`.
    """
    if len(tables) == 1 and (budget.rho is not None or tables[0][0].denominator == 1):
        only = calibration(budget, *tables[0][:2], report_delta)
        return [only], only
    delta = _delta_of_report(budget, report_delta)
    rho = _rho_of(budget, tables)
    noise = [
        _noise(_law_for(Budget(rho=rho * share), one, count), one, count, delta)
        for one, count, share in tables
    ]
    found = [(zcdp_epsilon(rho, delta), COROLLARY)]
    first = noise[0]
    if first.is_tight and len({(one.sigma2, one.sensitivity) for one in noise}) == 1:
        queries = sum(one.queries for one in noise)
        found.append(
            (tight_epsilon(first.law, delta, first.sensitivity, queries=queries), _THEOREM)
        )
    else:
        loss = plan_loss([Table(one.sigma2, one.sensitivity, one.queries) for one in noise])
        if loss is not None:
            found.append((loss.epsilon(delta), "composition of the privacy losses"))
    epsilon, by = min(found)
    return noise, Cost(
        rho=rho, epsilon=epsilon, delta=delta, epsilon_by=by, asked_epsilon=budget.epsilon
    )


def person_calibrations(
    budget: Budget,
    person: Person,
    tables: Sequence[Counting],
    shares: Sequence[Fraction],
    report_delta: object = None,
) -> tuple[list[Calibration], Cost]:
    """Return the noise of tables that count the same people, and what all of it costs.

    Parameters
    ----------
    budget : Budget
        Of all tables together.
    shares : sequence of Fraction
        The rho of each table by itself is in proportion to them.
    report_delta : number, optional
        As for `calibration`.
    """
    delta = _delta_of_report(budget, report_delta)
    changes = [change(person, table) for table in tables]
    parts = [one.part for one in changes if one.part is not None]
    alone = [one.norm2 / share for one, share in zip(changes, shares, strict=True)]
    if len(parts) == len(tables) and 2 * rho_of(person, tables, alone) == 1:
        exact = [
            (Fraction(most), queries, share)
            for (most, queries), share in zip(parts, shares, strict=True)
        ]
        noise, cost = calibrations(budget, exact, report_delta)
    else:
        rho = budget.rho
        if budget.epsilon is not None and budget.delta is not None:
            rho = largest_rho(person, tables, shares, budget.epsilon, budget.delta)
        sigma2 = sigma2_of(person, tables, shares, Fraction(rho or 0))
        noise = [
            _person_noise(person, table, one, delta)
            for table, one in zip(tables, sigma2, strict=True)
        ]
        epsilon, by = least_epsilon(person, tables, sigma2, delta)
        cost = Cost(
            rho=Fraction(rho or 0),
            epsilon=epsilon,
            delta=delta,
            epsilon_by=by,
            asked_epsilon=budget.epsilon,
        )
    if len(noise) == 1:
        noise = [replace(noise[0], asked_epsilon=budget.epsilon)]
    told = zip(noise, tables, changes, strict=True)
    return [replace(one, counting=table, change=most) for one, table, most in told], cost


def _person_noise(
    person: Person, table: Counting, sigma2: Fraction, delta: Fraction
) -> Calibration:
    """Return all that is told of the noise of one table, by itself."""
    most = change(person, table)
    law = _law_for(Budget(rho=most.norm2 / (2 * sigma2)), Fraction(1), most.norm2)
    if most.part is not None:
        return _noise(law, Fraction(most.part[0]), most.part[1], delta)
    epsilon, by = least_epsilon(person, [table], [sigma2], delta)
    return Calibration(
        law=law,
        sensitivity=Fraction(most.cell),
        queries=most.rows * table.columns,
        rho=most.norm2 / (2 * sigma2),
        epsilon=epsilon,
        delta=delta,
        epsilon_by=by,
        std=_standard_deviation(law),
        bound95=lower_quantile(law._simplest, Fraction(39, 40)),
    )


def _rho_of(budget: Budget, tables: Sequence[tuple[Fraction, int, Fraction]]) -> Fraction:
    """Return the rho that all tables together may have."""
    if budget.epsilon is None or budget.delta is None:
        return budget.rho or Fraction(0)
    change, queries = tables[0][0], sum(count for _, count, _ in tables)
    if change.denominator == 1 and all(
        one == change and count == share * queries for one, count, share in tables
    ):
        law = _law_for(budget, change, queries)
        return Fraction(queries * change**2 / (2 * law.sigma2))

    def tables_of(rho: Fraction) -> list[Table]:
        return [
            Table(count * one**2 / (2 * rho * share), one, count) for one, count, share in tables
        ]

    found = largest_rho_of(tables_of, budget.epsilon, budget.delta)
    if found <= 0:
        raise ParameterValueError(
            f"epsilon and delta must leave a positive rho, got {describe(budget.epsilon)} and "
            f"{describe(budget.delta)}"
        )
    return found


def _law_for(budget: Budget, sensitivity: Fraction, queries: int) -> DiscreteGaussian:
    law = calibrate(DiscreteGaussian, budget, sensitivity=sensitivity, queries=queries)
    if law.sigma2 >= _SIGMA2_BELOW:
        digits = mpz(math.isqrt(int(law.sigma2))).num_digits()
        raise ParameterOverflowError(
            "sensitivity, queries and the budget must ask for noise of at most 600 digits, "
            f"got a standard deviation of some {digits}"
        )
    return law


def _delta_of_report(budget: Budget, report_delta: object) -> Fraction:
    """Return the delta at which epsilon is reported."""
    if budget.delta is None:
        at = _DEFAULT_REPORT_DELTA if report_delta is None else report_delta
        return checked_probability(at, "report_delta")
    if report_delta is not None:
        raise ParameterValueError(
            "report_delta goes with rho and must not be given with epsilon and delta, "
            f"got {describe(report_delta)}"
        )
    return checked_probability(budget.delta, "delta")


def _noise(
    law: DiscreteGaussian,
    sensitivity: Fraction,
    queries: int,
    delta: Fraction,
    asked_epsilon: Fraction | None = None,
) -> Calibration:
    """Return all that is told of this noise."""
    rho = queries * sensitivity**2 / (2 * law.sigma2)
    is_tight = sensitivity.denominator == 1
    return Calibration(
        law=law,
        sensitivity=sensitivity,
        queries=queries,
        rho=rho,
        epsilon=(
            tight_epsilon(law, delta, sensitivity, queries=queries)
            if is_tight
            else zcdp_epsilon(rho, delta)
        ),
        delta=delta,
        epsilon_by=_THEOREM if is_tight else COROLLARY,
        asked_epsilon=asked_epsilon,
        std=_standard_deviation(law),
        bound95=lower_quantile(law._simplest, Fraction(39, 40)),  # the law is symmetric
    )


def _standard_deviation(law: DiscreteGaussian) -> Decimal:
    """Return it to 18 digits, as it may be too large for a float; 0 if it is below 1e-160."""
    enclosed = standard_deviation(law._simplest, 64)
    if enclosed.upper < 1e-160:
        return Decimal(0)
    numerator, denominator = enclosed.lower.as_integer_ratio()
    return decimals(18).divide(Decimal(int(numerator)), Decimal(int(denominator)))
