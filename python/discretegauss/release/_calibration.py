"""The noise of one table or several for a budget, and the cost of that noise, for reports.

`privacy/joint.py` has the bounds; a statement about a person (`release/_person.py`) says how far
one person changes the tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
from ..errors import ParameterOverflowError, ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy.calibration import widest
from ..privacy.joint import LAPLACE, THEOREM, Joint, NoiseOfTable
from ..privacy.sensitivity import Sensitivity
from ._person import UNNAMED, Counting, Person, joint

_DEFAULT_REPORT_DELTA = "1e-6"

_SQUARE_BELOW = 10**1200
"""A table of decimal numbers has no use for noise of more than 600 digits."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The privacy that noise costs."""

    #: Of Gaussian noise exact; of Laplace noise epsilon**2/2, which is a bound.
    rho: Fraction
    #: An upper bound at ``delta``; at most the least float that is not below `asked_epsilon`. Of
    #: Laplace noise it is pure: ``delta`` is 0.
    epsilon: float
    delta: Fraction
    #: The proof of that bound.
    epsilon_by: str
    #: The epsilon of the budget, or None if the budget was rho.
    asked_epsilon: Fraction | None = None
    #: Why the noise is of its kind, if epsilon with delta allowed both.
    reason: str = ""

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


@dataclass(frozen=True, kw_only=True)
class Composed(Cost):
    """The cost of a plan with unknown groups, which has no rho: the sum of its tables' costs."""

    rho: Fraction = field(init=False, repr=False, compare=False)
    asked_epsilon: Fraction

    @property
    def of_ledger(self) -> dict[str, Fraction]:
        """The cost as a ledger takes it."""
        return {"epsilon": self.asked_epsilon, "delta": self.delta}


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
    """Noise for a budget, and its cost."""

    law: NoiseOfTable
    #: How far one person changes the answers. rho is change.norm2 / (2 sigma2) of Gaussian noise,
    #: and epsilon is change.l1 / scale of Laplace noise.
    change: Sensitivity
    #: Standard deviation of the noise; 0 if it is below 1e-160.
    std: Decimal
    #: The smallest k such that the noise is within -k .. k with a probability of at least 0.95.
    bound95: int
    #: Of the table, if the plan has a statement about a person.
    counting: Counting | None = None

    @property
    def sensitivity(self) -> Fraction:
        """The most by which one person changes one answer."""
        return self.change.each

    @property
    def queries(self) -> int:
        """The most answers that one person changes."""
        columns = 1 if self.counting is None else self.counting.columns
        return self.change.parts or self.change.rows * columns

    @property
    def sigma2(self) -> Fraction:
        """The sigma2 of a discrete Gaussian, exact."""
        return Fraction(self.law.sigma2)  # type: ignore[union-attr]  # or there is none

    @property
    def is_tight(self) -> bool:
        """Return whether epsilon is the law's own, not a bound from rho."""
        return self.epsilon_by in (THEOREM, LAPLACE)


def sigma2_for_error(error: object, confidence: object, answers: int = 1) -> Fraction:
    """Return the largest sigma2 whose noise is within the error with the confidence (None: 0.95).

    The confidence holds for `answers` answers at once.
    """
    sure = "0.95" if confidence is None else confidence
    return widest(DiscreteGaussian, error, confidence=sure, queries=answers)


def budget_for_error(
    error: object, confidence: object, sensitivity: Fraction, queries: int, answers: int = 1
) -> Budget:
    """Return the least rho of noise within the error, for answers that change by so much."""
    change = Sensitivity.of_parts(sensitivity, queries)
    return Budget(rho=change.norm2 / (2 * sigma2_for_error(error, confidence, answers)))


def calibration(
    budget: Budget,
    sensitivity: Fraction = Fraction(1),
    queries: int = 1,
    report_delta: object = None,
    person: Person | None = None,
) -> Calibration:
    """Return noise for the budget; see `privacy.calibrate`, which checks the arguments.

    With rho, epsilon is reported at ``report_delta`` (None: 1e-6): by Theorem 7 if the sensitivity
    is a whole number, else from rho. With epsilon, ``report_delta`` must be None.
    With a person, all of the person's records may be in one row of the one column of counts.
    """
    if person is not None:
        counting = Counting(by=(UNNAMED,))
        changed = joint(person, [counting])
        return calibrations(budget, changed, [Fraction(1)], report_delta, [counting])[0][0]
    if budget.epsilon is not None:
        whole_sensitivity(sensitivity)
    changed = Joint([Sensitivity.of_parts(sensitivity, queries)])
    return calibrations(budget, changed, [Fraction(1)], report_delta, [None])[0][0]


def calibrations(
    budget: Budget,
    changed: Joint,
    shares: Sequence[Fraction],
    report_delta: object,
    counting: Sequence[Counting | None],
    pure_shares: Sequence[Fraction] | None = None,
) -> tuple[list[Calibration], Cost]:
    """Return the noise of each table, and the cost of all tables, which is exactly the budget's.

    The rho, or the epsilon, of each table by itself is in proportion to its share; `pure_shares`
    are the shares of epsilon, if others than those of rho. `counting` says what each table counts,
    if there is a statement about a person.
    """
    delta = _delta_of_report(budget, report_delta)
    laws, reason = changed.noise(budget, shares, pure_shares)
    each = zip(laws, changed.tables, counting, strict=True)
    noise = [_calibration(law, change, table, delta) for law, change, table in each]
    warn_of_narrow([one.law for one in noise])
    if len(noise) == 1:
        only = replace(noise[0], asked_epsilon=budget.epsilon, reason=reason)
        return [only], only
    cost = changed.cost(laws, delta)._asdict()
    return noise, Cost(**cost, asked_epsilon=budget.epsilon, reason=reason)


def part_of(budget: Budget, share: Fraction) -> tuple[Fraction, Fraction]:
    """Return a part of epsilon and of delta, for a plan with unknown groups."""
    if budget.epsilon is None or not budget.delta:
        raise ParameterValueError(
            "unknown groups need epsilon and delta, such as delta = 1e-6, because without a delta "
            "no name that somebody brings may be published"
        )
    return share * budget.epsilon, share * budget.delta


def composed(budget: Budget, report_delta: object) -> Composed:
    """Return the cost of a plan with unknown groups."""
    epsilon, _ = part_of(budget, Fraction(1))
    return Composed(
        epsilon=float_at_least(epsilon),
        delta=_delta_of_report(budget, report_delta),
        epsilon_by="basic composition",
        asked_epsilon=epsilon,
    )


def _require_digits(law: NoiseOfTable) -> None:
    square = law.sigma2 if isinstance(law, DiscreteGaussian) else law.scale**2
    if square >= _SQUARE_BELOW:
        digits = mpz(math.isqrt(int(square))).num_digits()
        raise ParameterOverflowError(
            "sensitivity, queries and the budget must be met by noise of at most 600 digits, "
            f"got a standard deviation of about {digits} digits"
        )


def _delta_of_report(budget: Budget, report_delta: object) -> Fraction:
    """Return the delta at which to report epsilon."""
    if budget.delta is None:
        at = _DEFAULT_REPORT_DELTA if report_delta is None else report_delta
        return checked_probability(at, "report_delta")
    if report_delta is not None:
        raise ParameterValueError(
            "report_delta needs rho and must not be given with epsilon, "
            f"got {describe(report_delta)}"
        )
    return budget.delta


def _calibration(
    law: NoiseOfTable, change: Sensitivity, counting: Counting | None, delta: Fraction
) -> Calibration:
    """Return the noise of one table, with the cost that it has by itself."""
    _require_digits(law)
    enclosed = standard_deviation(law._simplest, 64)
    std = Decimal(0)
    if enclosed.upper >= 1e-160:  # a Decimal, because it may be too large for a float
        numerator, denominator = enclosed.lower.as_integer_ratio()
        std = decimals(18).divide(Decimal(int(numerator)), Decimal(int(denominator)))
    return Calibration(
        law=law,
        change=change,
        counting=counting,
        **Joint([change]).cost([law], delta)._asdict(),
        std=std,
        bound95=lower_quantile(law._simplest, Fraction(39, 40)),  # the law is symmetric
    )
