"""Calibration by losses: the budget is met, and hardly more; how beta compares at many releases."""

from __future__ import annotations

from fractions import Fraction
from math import gamma, sqrt
from typing import Any

import pytest

import discretegauss as dg
from discretegauss import privacy
from discretegauss.privacy import loss as loss_of


@pytest.mark.parametrize("beta", [1, "3/2", 3])
def test_the_budget_is_met_and_hardly_more(beta: object) -> None:
    """The tight delta of one query, which uses no buckets, agrees."""
    law = privacy.calibrate(
        dg.GeneralizedGaussian, beta=beta, epsilon=1, delta="1e-5", sensitivity=2
    )
    less = dg.GeneralizedGaussian(law.scale * Fraction(9999, 10000), law.beta)
    assert privacy.delta(law, 1, 2) <= Fraction(1, 10**5) < privacy.delta(less, 1, 2)


@pytest.mark.parametrize(("beta", "epsilon"), [(20, 10), (8, 100), (1000, 0)])
def test_steep_laws_meet_the_budget(beta: int, epsilon: int) -> None:
    """It is a crossing: a little less noise breaks the budget."""
    law = privacy.calibrate(dg.GeneralizedGaussian, beta=beta, epsilon=epsilon, delta="1e-2")
    less = dg.GeneralizedGaussian(law.scale * Fraction(9999, 10000), law.beta)
    assert privacy.delta(law, epsilon) <= Fraction(1, 100) < privacy.delta(less, epsilon)


@pytest.mark.evidence
def test_sampled_queries_meet_the_budget() -> None:
    """With all buckets."""
    arguments: dict[str, Any] = {
        "epsilon": "1/2",
        "delta": "1e-6",
        "queries": 20,
        "sampling": "1/50",
    }
    law = privacy.calibrate(dg.GeneralizedGaussian, beta=2, **arguments)
    loss = loss_of(law, sampling="1/50") ** 20
    assert Fraction(99, 10**8) < loss.delta("1/2") <= Fraction(1, 10**6)


@pytest.mark.parametrize("kind", [dg.DiscreteGaussian, dg.DiscreteLaplace, dg.Skellam])
def test_all_kinds_are_calibrated_for_samples(kind: Any) -> None:
    how: dict[str, Any] = {"queries": 3, "sampling": "1/10"}
    law = privacy.calibrate(kind, epsilon=1, delta="1e-4", **how)
    assert 0.99e-4 < privacy.delta(law, 1, **how) <= 1e-4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"beta": "1/2"}, "beta must be at least 1, got '1/2'"),
        ({"delta": 1}, "delta must lie between 0 and 1"),
        ({"delta": "1e-40"}, r"delta must be at least 2\*\*-100 for each query: .* got '1/1000"),
        ({"sampling": 2}, "sampling must be at most 1, got 2"),
    ],
)
def test_refusals(wrong: dict[str, object], message: str) -> None:
    """Before anything is computed."""
    given: dict[str, Any] = {"beta": 2, "epsilon": 1, "delta": "1e-6", **wrong}
    with pytest.raises(ValueError, match=message):
        privacy.calibrate(dg.GeneralizedGaussian, **given)


@pytest.mark.evidence
def test_at_many_releases_deviations_compare_as_fisher_informations() -> None:
    """sd(beta)/sd(2) tends to sqrt(beta**2 G(3/beta) G(2 - 1/beta))/G(1/beta)."""

    def deviation(beta: object) -> float:
        law = privacy.calibrate(
            dg.GeneralizedGaussian, beta=beta, epsilon=5, delta="1e-5", queries=1000
        )
        return float(law.std())

    normal = deviation(2)
    for beta in (Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(3), Fraction(4)):
        b = float(beta)
        limit = sqrt(b**2 * gamma(3 / b) * gamma(2 - 1 / b)) / gamma(1 / b)
        assert deviation(beta) / normal == pytest.approx(limit, rel=0.01)
