"""The budget of a plan: one rho for all tables, and the epsilon of the whole.

(epsilon, delta) becomes rho once, for all tables together. If every table would get the same law
(equal whole sensitivities D, shares in proportion to the counts that one person changes), that is
the noise of one query asked so many times, by Theorem 7 of arXiv 2004.00010. Else it is about the
largest rho whose tables, composed, are proven to meet the budget (privacy/different_noise.py).

Conversely, epsilon at delta is the least that is proven: by Corollary 13 from rho, which holds
always; by Theorem 7 if there is one law; by the composition of the privacy losses if not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import checked_probability, positive_number
from ..errors import ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy import calibrate, zcdp_epsilon
from ..privacy import epsilon as tight_epsilon
from ..privacy.different_noise import Part, largest_rho, loss_of_parts
from ._noise_for_budget import DEFAULT_REPORT_DELTA, Calibration

__all__ = ["PlanBudget", "PlanCost", "plan_cost", "rho_of_plan"]


@dataclass(frozen=True, kw_only=True)
class PlanBudget:
    """What a plan may spend."""

    rho: Fraction
    delta: Fraction
    """At which epsilon is reported."""
    asked_epsilon: Fraction | None


@dataclass(frozen=True, kw_only=True)
class PlanCost(PlanBudget):
    """What a plan spends: rho, exactly the budget's."""

    epsilon: float
    """At ``delta``, an upper bound."""
    epsilon_by: str
    """What proves it."""


def rho_of_plan(
    given: Mapping[str, Any], tables: Sequence[tuple[Fraction, int, Fraction]]
) -> PlanBudget:
    """Return the budget of a plan, whose tables are (sensitivity, queries, share)."""
    rho, epsilon, delta = (given.get(key) for key in ("rho", "epsilon", "delta"))
    by_epsilon = (epsilon is not None, delta is not None)
    if by_epsilon != ((True, True) if rho is None else (False, False)):
        raise ParameterValueError("a plan must give either rho, or both epsilon and delta")
    if rho is not None:
        at = given.get("report_delta", DEFAULT_REPORT_DELTA)
        return PlanBudget(
            rho=positive_number(rho, "rho"),
            delta=checked_probability(at, "report_delta"),
            asked_epsilon=None,
        )
    if "report_delta" in given:
        raise ParameterValueError(
            "report_delta goes with rho and must not be given with epsilon and delta"
        )
    asked, at = exact_rational(epsilon, "epsilon"), checked_probability(delta, "delta")
    change, queries = tables[0][0], sum(count for _, count, _ in tables)
    if change.denominator == 1 and all(
        one == change and count == share * queries for one, count, share in tables
    ):
        law = calibrate(
            DiscreteGaussian, epsilon=asked, delta=at, sensitivity=change, queries=queries
        )
        found = queries * change**2 / (2 * law.sigma2)
    else:

        def parts_of(rho: Fraction) -> list[Part]:
            return [
                Part(count * one**2 / (2 * rho * share), one, count) for one, count, share in tables
            ]

        found = largest_rho(parts_of, asked, at)
    if found <= 0:
        raise ParameterValueError(
            f"epsilon and delta must leave a positive rho, got {describe(epsilon)} and "
            f"{describe(delta)}"
        )
    return PlanBudget(rho=found, delta=at, asked_epsilon=asked)


def plan_cost(budget: PlanBudget, noise: Sequence[Calibration]) -> PlanCost:
    """Return what this noise costs, all of it together."""
    found = [(zcdp_epsilon(budget.rho, budget.delta), "arXiv 2004.00010, Corollary 13")]
    first = noise[0]
    if first.is_tight and len({(one.sigma2, one.sensitivity) for one in noise}) == 1:
        queries = sum(one.queries for one in noise)
        tight = tight_epsilon(first.law, budget.delta, first.sensitivity, queries=queries)
        found.append((tight, "arXiv 2004.00010, Theorem 7"))
    else:
        loss = loss_of_parts([Part(one.sigma2, one.sensitivity, one.queries) for one in noise])
        if loss is not None:
            found.append((loss.epsilon(budget.delta), "composition of the privacy losses"))
    epsilon, by = min(found)
    return PlanCost(**vars(budget), epsilon=epsilon, epsilon_by=by)
