"""The noise of one table or several for a budget, and the cost of that noise, for reports.

`privacy/joint.py` has the bounds; a statement about a person (`data/person.py`) says how far one
person changes the tables.
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
from .._inputs.privacy_arguments import checked_probability, whole_sensitivity
from .._law_functions.narrow import warn_of_narrow
from ..data.person import UNNAMED, Change, Counting, Person, change, joint, require_known
from ..errors import ParameterOverflowError, ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy.calibration import widest
from ..privacy.joint import THEOREM, Changed, Joint, Part

_DEFAULT_REPORT_DELTA = "1e-6"

_SIGMA2_BELOW = 10**1200
"""A table of decimal numbers has no use for noise of more than 600 digits."""


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
            least = min(self.epsilon, float_at_least(self.asked_epsilon))
            object.__setattr__(self, "epsilon", least)

    @property
    def of_ledger(self) -> dict[str, Fraction]:
        """The cost as a ledger takes it: rho, or a pure epsilon."""
        if self.delta == 0 and self.asked_epsilon is not None:
            return {"epsilon": self.asked_epsilon}
        return {"rho": self.rho}


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
        return self.epsilon_by == THEOREM


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
    if person is None and budget.epsilon is not None:
        whole_sensitivity(sensitivity)
    table = Part(sensitivity, queries) if person is None else Counting(by=(UNNAMED,))
    return calibrations(budget, [table], [Fraction(1)], report_delta, person)[0][0]


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
    parts = [table for table in tables if isinstance(table, Part)]
    counting = [table for table in tables if isinstance(table, Counting)]
    if person is None:
        changed = Joint([Changed.of_part(part) for part in parts])
        described: list[tuple[Counting | None, Change | None]] = [(None, None)] * len(parts)
    else:
        require_known(person, counting)
        changes = [change(person, table) for table in counting]
        described = list(zip(counting, changes, strict=True))
        parts = [
            most.part or Part(Fraction(most.cell), most.rows * table.columns)
            for table, most in zip(counting, changes, strict=True)
        ]
        changed = joint(person, counting)
    rho = changed.rho_of(budget, shares)
    sigma2 = changed.sigma2(shares, rho)
    noise = []
    for i, (part, variance, (table, most)) in enumerate(zip(parts, sigma2, described, strict=True)):
        alone = Joint([changed.tables[i]])
        one = _calibration(_law(variance), part, alone, delta)
        noise.append(replace(one, counting=table, change=most))
    warn_of_narrow([one.law for one in noise])
    if len(noise) == 1:
        only = replace(noise[0], asked_epsilon=budget.epsilon)
        return [only], only
    epsilon, by = changed.epsilon(sigma2, delta)
    asked = budget.epsilon
    return noise, Cost(rho=rho, epsilon=epsilon, delta=delta, epsilon_by=by, asked_epsilon=asked)


def _law(sigma2: Fraction) -> DiscreteGaussian:
    if sigma2 >= _SIGMA2_BELOW:
        digits = mpz(math.isqrt(int(sigma2))).num_digits()
        raise ParameterOverflowError(
            "sensitivity, queries and the budget must be met by noise of at most 600 digits, "
            f"got a standard deviation of about {digits} digits"
        )
    return DiscreteGaussian(sigma2)


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


def _calibration(law: DiscreteGaussian, part: Part, alone: Joint, delta: Fraction) -> Calibration:
    """Return the noise of one table, with the cost that it has by itself."""
    epsilon, by = alone.epsilon([law.sigma2], delta)
    enclosed = standard_deviation(law._simplest, 64)
    std = Decimal(0)
    if enclosed.upper >= 1e-160:  # a Decimal, because it may be too large for a float
        numerator, denominator = enclosed.lower.as_integer_ratio()
        std = decimals(18).divide(Decimal(int(numerator)), Decimal(int(denominator)))
    return Calibration(
        law=law,
        sensitivity=part.sensitivity,
        queries=part.queries,
        rho=alone.rho([law.sigma2]),
        epsilon=epsilon,
        delta=delta,
        epsilon_by=by,
        std=std,
        bound95=lower_quantile(law._simplest, Fraction(39, 40)),  # the law is symmetric
    )
