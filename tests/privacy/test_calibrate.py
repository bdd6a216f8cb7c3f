"""Calibration: sigma2 proven to be enough, one step less proven not to be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from evidence_cases import crossed, evidence
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_reference import DIGITS, delta_by_theorem_7, mp, rest_by_theorem_7
from six_digits import beside

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError, ParameterTypeError
from discretegauss.privacy import calibrate, calibration, cost, delta, log_delta, zcdp_rho


@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
@pytest.mark.parametrize(
    ("e", "d", "of"),
    crossed(
        ["0", "0.1", "1", "4", "10"],
        ["0.3", "1e-6", "1e-12", "1e-100"],
        [(1, 1), (1, 100), (7, 3)],
    ),
)
def test_sigma2_is_enough_and_a_thousandth_less_is_not(e: str, d: str, of: tuple[int, int]) -> None:
    """Of a sensitivity and a number of queries."""
    sensitivity, queries = of
    law = calibrate(
        dg.DiscreteGaussian, epsilon=e, delta=d, sensitivity=sensitivity, queries=queries
    )

    def achieved(sigma2: Fraction) -> float:
        return delta(dg.DiscreteGaussian(sigma2), e, sensitivity, queries=queries)

    assert achieved(law.sigma2) <= float(d)
    assert achieved(beside(law.sigma2, -1)) > float(d) * (1 - 1e-15)
    assert achieved(law.sigma2 * Fraction("0.999")) > float(d)
    # never more noise than zCDP asks for, with the same rounding
    by_rho = queries * sensitivity**2 / (2 * Fraction(zcdp_rho(e, d)))
    assert beside(law.sigma2, -1) < by_rho


@pytest.mark.parametrize("sensitivity", [1, 5])
def test_by_60_digits(sensitivity: int) -> None:
    """The same without the package's own delta."""
    for e, d in [("1", "1e-6"), ("1/10", "1e-9"), ("4", "1e-5")]:
        sigma2 = calibrate(dg.DiscreteGaussian, epsilon=e, delta=d, sensitivity=sensitivity).sigma2
        with mpmath.workdps(DIGITS):
            asked = mp(Fraction(d))
            assert delta_by_theorem_7(sigma2, Fraction(e), sensitivity) <= asked
            assert delta_by_theorem_7(beside(sigma2, -1), Fraction(e), sensitivity) > asked


def test_known_values() -> None:
    """sigma2 of the continuous analytic Gaussian mechanism is 17.9; 100 queries: 100 times that."""
    for queries, sigma2 in ((1, "17.8995"), (100, "1784.8")):
        law = calibrate(dg.DiscreteGaussian, epsilon=1, delta="1e-6", queries=queries)
        assert law.sigma2 == Fraction(sigma2)


@settings(max_examples=25)
@given(
    e=st.fractions(0, 2, max_denominator=10**6),
    exponent=st.integers(2, 200),
    sensitivity=st.integers(1, 20),
    queries=st.integers(1, 1000),
)
def test_any_budget_is_kept(e: Fraction, exponent: int, sensitivity: int, queries: int) -> None:
    d = Fraction(1, 2**exponent)
    how: Any = {"sensitivity": sensitivity, "queries": queries}
    law = calibrate(dg.DiscreteGaussian, epsilon=e, delta=d, **how)
    assert Fraction(delta(law, e, **how)) <= d
    assert Fraction(delta(dg.DiscreteGaussian(beside(law.sigma2, -1)), e, **how)) >= d


@pytest.mark.parametrize("digits", [20, 190, 400])
def test_for_a_delta_next_to_1_it_is_the_least_too(digits: int) -> None:
    rest = Fraction(1, 10**digits)
    sigma2 = calibrate(dg.DiscreteGaussian, epsilon=1, delta=1 - rest, sensitivity=60).sigma2
    assert rest_by_theorem_7(sigma2, Fraction(1), 60) >= mp(rest)
    assert rest_by_theorem_7(beside(sigma2, -1), Fraction(1), 60) < mp(rest)


def test_from_rho_it_is_exact_and_counts_all_queries() -> None:
    """rho = queries * sensitivity**2 / (2 sigma2) (Theorem 14), without rounding."""
    law = calibrate(dg.DiscreteGaussian, rho=Fraction(1, 7), sensitivity="5/3", queries=5)
    assert law == dg.DiscreteGaussian(5 * Fraction(25, 9) * 7 / 2)
    assert calibrate(dg.DiscreteGaussian, rho="0.1").sigma2 == 5


@pytest.mark.parametrize("budget", [{}, {"delta": 0.1}, {"rho": 1, "delta": 0.1}])
def test_a_budget_is_rho_or_epsilon(budget: dict[str, float]) -> None:
    with pytest.raises(ParameterTypeError, match="either rho, or epsilon"):
        calibrate(dg.DiscreteGaussian, **budget)  # type: ignore[arg-type]


def test_a_gaussian_needs_delta() -> None:
    """Only Laplace noise has a pure epsilon."""
    with pytest.raises(ValueError, match="got 0, which is its default; for delta = 0 use"):
        calibrate(dg.DiscreteGaussian, epsilon=1)
    assert calibrate(dg.DiscreteLaplace, epsilon=1) == dg.DiscreteLaplace(1)


@pytest.mark.parametrize(
    ("e", "queries"), [("900", 100), ("70", 10), ("60", 20), *evidence(("5e7", 10**6))]
)
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_noise_so_small_that_zcdp_decides_is_enough_too(e: str, queries: int) -> None:
    """The density ratio of several queries is useless or nearly useless here."""
    law = calibrate(dg.DiscreteGaussian, epsilon=e, delta="1e-6", queries=queries)
    assert delta(law, e, queries=queries) <= 1e-6
    less = dg.DiscreteGaussian(beside(law.sigma2, -1))
    assert delta(less, e, queries=queries) > 1e-6 * (1 - 1e-15)


@pytest.mark.parametrize(
    ("e", "d"), [(0, Fraction(1, 10**1000)), (Fraction(1, 10**3000), Fraction(1, 10**3000))]
)
def test_noise_beyond_all_measure_is_an_overflow_error(e: Any, d: Fraction) -> None:
    with pytest.raises(ParameterOverflowError, match=r"below 2\*\*2000 times the sensitivity"):
        calibrate(dg.DiscreteGaussian, epsilon=e, delta=d)


@pytest.mark.parametrize("e", [Fraction(1, 10**100), Fraction(10**50), Fraction(10**1000)])
@pytest.mark.parametrize("d", [Fraction(1, 10**300), 1 - Fraction(1, 10**60)])
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_extreme_budgets_are_kept(e: Fraction, d: Fraction) -> None:
    """log(delta) decides: the float of the second delta is 1, which tells nothing."""
    law = calibrate(dg.DiscreteGaussian, epsilon=e, delta=d)
    with mpmath.workdps(400):
        log_d = mpmath.log(mp(d))
    assert log_delta(law, e) <= log_d * (1 - 1e-15)
    assert log_delta(dg.DiscreteGaussian(beside(law.sigma2, -1)), e) > log_d * (1 + 1e-15)


@pytest.mark.parametrize(
    ("e", "d", "how"),
    [
        ("1e5000", "1e-5000", {}),
        ("1e5000", "1e-6", {}),
        ("1", "1e-5000", {"clients": 10, "sampling": "0.1"}),
    ],
)
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_budgets_beyond_floats_take_few_steps(
    e: str, d: str, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A delta below every float is met by its logarithm alone."""
    asked = []

    def counted(*of: Any) -> Any:
        asked.append(of)
        assert len(asked) < 200
        return cost.cost_of(*of)

    monkeypatch.setattr(calibration, "cost_of", counted)
    law = calibrate(dg.DiscreteGaussian, epsilon=e, delta=d, queries=100, **how)
    clients = how.pop("clients", 1)

    def log(sigma2: Fraction) -> float:
        return log_delta(dg.DiscreteGaussian(sigma2).sum(clients), e, queries=100, **how)

    with mpmath.workdps(400):
        log_d = mpmath.log(mp(Fraction(d)))
    assert log(law.sigma2) <= log_d
    assert log(law.sigma2 * Fraction(999, 1000)) > log_d


# --- other kinds, by losses


@pytest.mark.parametrize(
    ("beta", "epsilon", "d", "change"),
    [
        *((beta, 1, "1e-5", 2) for beta in (1, "3/2", 3)),
        *((beta, e, "1e-2", 1) for beta, e in ((20, 10), (8, 100), (1000, 0))),
    ],
)
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_the_budget_is_met_and_hardly_more(beta: Any, epsilon: int, d: str, change: int) -> None:
    """It is a crossing, of the tight delta of one query, which uses no buckets."""
    law = calibrate(dg.GeneralizedGaussian, beta=beta, epsilon=epsilon, delta=d, sensitivity=change)
    less = dg.GeneralizedGaussian(law.scale * Fraction(9999, 10000), law.beta)
    assert delta(law, epsilon, change) <= Fraction(d) < delta(less, epsilon, change)


@pytest.mark.evidence
def test_sampled_queries_meet_the_budget() -> None:
    """With all buckets."""
    how: Any = {"queries": 20, "sampling": "1/50"}
    law = calibrate(dg.GeneralizedGaussian, beta=2, epsilon="1/2", delta="1e-6", **how)
    loss = dg.privacy.loss(law, sampling="1/50") ** 20
    assert Fraction(99, 10**8) < loss.delta("1/2") <= Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("kind", "queries"),
    [
        *((dg.DiscreteGaussian, 3), (dg.DiscreteLaplace, 1), (dg.Skellam, 1)),
        *evidence((dg.DiscreteLaplace, 3), (dg.Skellam, 3)),
    ],
)
def test_all_kinds_are_calibrated_for_samples(kind: Any, queries: int) -> None:
    how: dict[str, Any] = {"queries": queries, "sampling": "1/10"}
    law = calibrate(kind, epsilon=1, delta="1e-4", **how)
    assert 0.99e-4 < delta(law, 1, **how) <= 1e-4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"beta": "1/2"}, "beta must be at least 1, got '1/2'"),
        ({"delta": 1}, "delta must lie between 0 and 1"),
        ({"delta": 0}, r"delta must lie between 0 and 1, .* use calibrate\(DiscreteLaplace"),
        ({"delta": "1e-40"}, r"delta must be at least 2\*\*-100 for each query: .* got '1/1000"),
        ({"sampling": 2}, "sampling must be at most 1, got 2"),
    ],
)
def test_refusals(wrong: dict[str, object], message: str) -> None:
    """Before anything is computed."""
    given: dict[str, Any] = {"beta": 2, "epsilon": 1, "delta": "1e-6", **wrong}
    with pytest.raises(ValueError, match=message):
        calibrate(dg.GeneralizedGaussian, **given)


@pytest.mark.evidence
def test_at_many_releases_deviations_compare_as_fisher_informations() -> None:
    """sd(beta)/sd(2) tends to math.sqrt(beta**2 G(3/beta) G(2 - 1/beta))/G(1/beta)."""

    def deviation(beta: object) -> float:
        law = calibrate(dg.GeneralizedGaussian, beta=beta, epsilon=5, delta="1e-5", queries=1000)
        return float(law.std())

    normal = deviation(2)
    for beta in (Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(3), Fraction(4)):
        b = float(beta)
        limit = math.sqrt(b**2 * math.gamma(3 / b) * math.gamma(2 - 1 / b)) / math.gamma(1 / b)
        assert deviation(beta) / normal == pytest.approx(limit, rel=0.01)
