"""Several queries: against the sum of all outcomes, and the bounds that the proof uses."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from composition_reference import (
    delta_of_gaussians,
    delta_of_laplaces,
    gaussian_cases,
    laplace_cases,
)
from evidence_cases import crossed
from privacy_reference import mp

import discretegauss as dg
from discretegauss.privacy import (
    calibrate,
    delta,
    epsilon,
    log_delta,
    rho,
    zcdp_delta,
    zcdp_epsilon,
)


def test_epsilon_of_ten_queries_with_little_noise_is_the_least() -> None:
    """rho alone gives 48.75, and dp-accounting with our `pld` 46.13."""
    law = dg.DiscreteGaussian("1/4")
    found = epsilon(law, "1e-5", queries=10)
    assert 46.12 < found < 46.13
    for e, met in ((found, True), (found * (1 - 1e-9), False)):
        exact = delta_of_gaussians(Fraction(1, 4), Fraction(e), 1, 10)
        assert (exact <= mp(Fraction("1e-5"))) is met


@pytest.mark.parametrize(
    ("sigma2", "d"),
    crossed(["1/10", "1/2", "1", "2"], ["1/2", "1/5", "1/50", "1e-7", "1e-30"]),
)
def test_epsilon_of_several_queries_is_the_inverse_of_delta(sigma2: str, d: str) -> None:
    law, reached = dg.DiscreteGaussian(sigma2), float(Fraction(d))
    for k, change in ((2, 1), (3, 5), (40, 1)):
        found = epsilon(law, d, change, queries=k)
        assert delta(law, found, change, queries=k) <= reached
        less = delta(law, found * (1 - 1e-8), change, queries=k)
        assert found == 0 or less > reached * (1 - 1e-8)


def check_laplaces(cases: list[tuple[Fraction, Fraction, int]]) -> None:
    for scale, e, k in cases:
        exact = delta_of_laplaces(scale, e, k)
        found = delta(dg.DiscreteLaplace(scale), e, queries=k)
        with mpmath.workdps(50):
            assert exact * (1 - 1e-40) <= found <= exact * (1 + 1e-9), (scale, e, k)


def check_gaussians(cases: list[tuple[Fraction, Fraction, int, int]]) -> None:
    for sigma2, e, change, k in cases:
        exact = delta_of_gaussians(sigma2, e, change, k)
        found = delta(dg.DiscreteGaussian(sigma2), e, change, queries=k)
        with mpmath.workdps(50):
            assert exact <= found <= exact * (1 + 1e-9), (sigma2, e, change, k)
        assert found <= zcdp_delta(k * rho(dg.DiscreteGaussian(sigma2), change), e)


def test_several_laplaces_cost_the_optimal_composition_to_1e_9() -> None:
    check_laplaces(laplace_cases(30))


def test_several_gaussians_cost_their_convolution_to_1e_9() -> None:
    sums: list[tuple[Any, int]] = [("1/4", 2), ("1/2", 5), (1, 4), (3, 5), ("7/2", 2), (8, 3)]
    asked = itertools.product(sums, (Fraction(1, 5), Fraction(2), Fraction(6)), (1, 2))
    check_gaussians([(Fraction(sigma2), e, change, k) for (sigma2, k), e, change in asked])
    check_gaussians(gaussian_cases(20))


@pytest.mark.evidence
def test_677_random_cases_are_never_below_the_exact_value_nor_1e_9_above() -> None:
    check_laplaces(laplace_cases(400))
    check_gaussians(gaussian_cases(277))


def test_ten_million_narrow_queries_are_composed() -> None:
    """rho alone gives nearly 1. Delta is the probability that a draw is 1, exp(-50) for each."""
    law = dg.DiscreteGaussian("1/100")
    assert 10**7 * math.exp(-50) < delta(law, 50 * 10**7, queries=10**7) < 1e-13


@pytest.mark.parametrize(("mu", "limit"), [("3/10", 1.2917), (3, 18.163)])
@pytest.mark.parametrize("queries", [10**10, 2**64 - 1])
def test_very_many_laplace_queries_cost_at_most_their_rho(
    queries: int, mu: Any, limit: float
) -> None:
    """epsilon lies between the limit of a normal loss (by the closed form) and Corollary 13."""
    law = dg.DiscreteLaplace(Fraction(math.isqrt(queries)) / Fraction(mu))
    found = epsilon(law, "1e-6", queries=queries)
    assert limit <= found <= zcdp_epsilon(queries * rho(law), "1e-6") < limit * 1.08


def test_queries_with_next_to_no_noise_give_all_away() -> None:
    """Their number or their losses are far beyond the precision of floats."""
    narrow, few = dg.DiscreteLaplace("1/100"), dg.DiscreteGaussian(Fraction(1, 10**7))
    assert delta(narrow, 1, queries=2**63) == 1
    assert epsilon(narrow, "1e-6", queries=2**63) >= 99 * 2**63
    assert epsilon(few, "1e-6", queries=8) == 8 * 10**7 / 2
    with pytest.raises(OverflowError, match=r"queries must be below 2\*\*64 for this noise"):
        delta(narrow, 1, queries=2**300)


def test_delta_is_tight_for_steep_tilts_and_where_newtons_steps_alternate() -> None:
    """With the first budgets few losses exceed epsilon; with the last the tilt is hard to find.

    A tilt or a weight that is cut off makes delta 400 times too large.
    """
    check_laplaces(
        [
            (Fraction(191196, 10**4), Fraction(18637, 17822), 20),
            (Fraction("0.611"), Fraction(309 * 10**12 - 1, 611 * 10**9), 309),
            (Fraction(291735, 1000), Fraction(21880, 60089), 162),
        ]
    )


def test_log_delta_of_narrow_queries_is_an_upper_bound_loose_below_1e_30() -> None:
    """The delta of three queries from their convolution is never above the one from rho."""
    law = dg.DiscreteGaussian("1/4")
    cost = 3 * rho(law)
    for e in (20, 40, 80):
        exact = mpmath.log(delta_of_gaussians(law.sigma2, Fraction(e), 1, 3))
        found = log_delta(law, e, queries=3)
        assert exact <= found <= math.log(zcdp_delta(cost, e)) + 1e-9
        assert e == 80 or math.isclose(found, exact, rel_tol=1e-9)


@pytest.mark.parametrize(("e", "queries"), [("5", 2), ("20", 10), ("46", 10), ("15", 3)])
def test_noise_for_several_queries_is_the_least_of_a_scan(e: str, queries: int) -> None:
    for d in ("1e-2", "1e-6"):
        found = calibrate(dg.DiscreteGaussian, epsilon=e, delta=d, queries=queries).sigma2
        assert delta(dg.DiscreteGaussian(found), e, queries=queries) <= float(d)
        for i in range(0, 80, 4):
            less = found * (1000 - Fraction(i * i, 7) - 1) / 1000
            assert delta(dg.DiscreteGaussian(less), e, queries=queries) > float(d)


@pytest.mark.parametrize(("sigma2", "change"), [("2", 1), ("2", 2), ("3/2", 2), ("3", 3)])
def test_delta_holds_for_an_adaptive_second_query(sigma2: str, change: int) -> None:
    """The definition, with the worst change for each outcome of the first; in floats, to 1e-9.

    The largest change in both is the worst.
    """
    law, changes = dg.DiscreteGaussian(sigma2), range(-change, change + 1)
    p = {x: law.pmf(x) for x in range(-20, 21)}
    for e in (0.0, 0.3, 1.0, 2.0):

        def second(left: float, right: float) -> Any:
            return max(
                sum(max(0.0, left * p[x] - right * p.get(x - d, 0.0)) for x in p) for d in changes
            )

        worst = max(sum(second(p[x], math.exp(e) * p.get(x - d, 0.0)) for x in p) for d in changes)
        found = delta(law, e, change, queries=2)
        assert worst <= found * (1 + 1e-9)
        assert worst >= found * (1 - 1e-5)


def test_where_the_factor_says_nothing_it_is_less_than_by_rho() -> None:
    law = dg.DiscreteGaussian("1/10")
    cost = 100 * rho(law)
    assert delta(law, 700, queries=100) < zcdp_delta(cost, 700) / 1e15
    assert math.isclose(log_delta(law, 700, queries=100), math.log(delta(law, 700, queries=100)))
    found = epsilon(law, "1e-6", queries=100)
    assert found < zcdp_epsilon(cost, "1e-6")
    assert delta(law, found, queries=100) <= 1e-6 < delta(law, found * (1 - 1e-9), queries=100)


def test_by_rho_it_is_for_little_noise_and_an_epsilon_close_to_rho() -> None:
    cost = 10**36
    e = cost + math.isqrt(40 * cost)
    law = dg.DiscreteGaussian(Fraction(100, 2 * cost))
    assert delta(law, e, queries=100) == zcdp_delta(cost, e)
    assert math.isclose(zcdp_delta(cost, e), math.exp(-10), rel_tol=1e-12)
    assert math.isclose(log_delta(law, e, queries=100), -10)
    law = dg.DiscreteGaussian(Fraction(133283, 2 * 10**49))
    assert log_delta(law, epsilon(law, "1e-6", queries=100), queries=100) < -1.9e13


@pytest.mark.parametrize("sigma2", ["1", "10", "1784.8", "1e12"])
def test_more_queries_cost_more_and_epsilon_is_the_inverse(sigma2: str) -> None:
    law = dg.DiscreteGaussian(sigma2)
    costs = [epsilon(law, "1e-9", queries=k) for k in (1, 2, 3, 10, 100, 10**4, 10**9)]
    assert costs == sorted(costs)
    for k in (2, 100, 10**6):
        found = epsilon(law, "1e-9", queries=k)
        assert delta(law, found, queries=k) <= 1e-9
        # buckets aim at a little less than the budget
        less = 1e-8 if sigma2 == "1" else 1e-14
        assert found == 0 or delta(law, found * (1 - less), queries=k) > 1e-9


@pytest.mark.parametrize(("sigma2", "queries"), [("1/10", 200), ("1", 10**4), ("1/2", 1000)])
def test_with_little_noise_and_many_queries_buckets_are_better(sigma2: str, queries: int) -> None:
    """The law of the sum would take too long. The better bound is returned, and it holds."""
    law = dg.DiscreteGaussian(sigma2)
    loss = dg.privacy.loss(law) ** queries
    found = epsilon(law, "1e-6", queries=queries)
    lower, upper = loss.epsilon("1e-6", bounds=True)
    assert delta(law, found, queries=queries) <= 1e-6
    assert lower <= found <= upper * (1 + 1e-14)
    assert upper < 0.999 * zcdp_epsilon(rho(law) * queries, "1e-6")
    at = int(found)
    assert loss.delta(at, bounds=True)[0] <= delta(law, at, queries=queries) <= loss.delta(at)
    assert log_delta(law, at, queries=queries) == pytest.approx(
        math.log(delta(law, at, queries=queries)), rel=1e-9
    )
