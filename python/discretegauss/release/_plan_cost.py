"""The budget of a plan: one rho for all tables, and the epsilon of the whole.

(epsilon, delta) becomes rho once, for all tables together. If every table would get the same law
(equal whole sensitivities D, shares in proportion to the counts that one person changes), that is
the noise of one query asked so many times, by Theorem 7 of arXiv 2004.00010. Else rho is the
largest whose optimal conversion (Corollary 13) meets the budget, rounded down.

Conversely, epsilon at delta is the least that is proven: by Corollary 13 from rho, which holds
always; by Theorem 7 if there is one law; by the composition of the privacy losses if not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import checked_probability, positive_number
from ..errors import ParameterValueError
from ..privacy import PrivacyLoss, calibrate_gaussian, zcdp_epsilon, zcdp_rho
from ..privacy import epsilon as tight_epsilon
from ._noise_for_budget import DEFAULT_REPORT_DELTA, Calibration

__all__ = ["PlanBudget", "PlanCost", "plan_cost", "rho_of_plan"]

_COMPOSED_BELOW = 2**16
"""Of wider noise (sigma2) and of more queries the losses would take minutes."""

_MOST_LOSSES = 16


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
        law = calibrate_gaussian(epsilon=asked, delta=at, sensitivity=change, queries=queries)
        found = queries * change**2 / (2 * law.sigma2)
    else:
        found = Fraction(zcdp_rho(asked, at))
    if found <= 0:
        raise ParameterValueError("epsilon and delta must leave a positive rho")
    return PlanBudget(rho=found, delta=at, asked_epsilon=asked)


def plan_cost(budget: PlanBudget, noise: Sequence[Calibration]) -> PlanCost:
    """Return what this noise costs, all of it together."""
    found = [(zcdp_epsilon(budget.rho, budget.delta), "arXiv 2004.00010, Corollary 13")]
    if all(one.is_tight for one in noise):
        first, queries = noise[0], sum(one.queries for one in noise)
        if {(one.sigma2, one.sensitivity) for one in noise} == {(first.sigma2, first.sensitivity)}:
            tight = tight_epsilon(first.law, budget.delta, first.sensitivity, queries=queries)
            found.append((tight, "arXiv 2004.00010, Theorem 7"))
        elif len(noise) <= _MOST_LOSSES and all(
            number < _COMPOSED_BELOW
            for one in noise
            for number in (one.sigma2, one.queries, one.sensitivity)
        ):
            losses = [PrivacyLoss.of_noise(n.law, n.sensitivity) ** n.queries for n in noise]
            composed = losses[0].compose(*losses[1:]).epsilon(budget.delta)
            found.append((float(composed), "composition of the privacy losses"))
    epsilon, by = min(found)
    return PlanCost(**vars(budget), epsilon=epsilon, epsilon_by=by)
