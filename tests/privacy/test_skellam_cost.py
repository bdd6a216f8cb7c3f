"""The bounds hold for the true law of the sum, and agree with mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from evidence_cases import at_once, crossed, evidence
from privacy_reference import delta_by_theorem_7
from six_digits import beside

import discretegauss as dg
from discretegauss import Skellam
from discretegauss.privacy import calibrate, delta, epsilon, loss, renyi


def formula(order: int, m: Any, norm: Any, sum_norm: Any, terms: slice = slice(None)) -> Any:
    """Agarwal, Kairouz, Liu, Corollary 3.6, in mpmath, by one term of its minimum."""
    extra = ((2 * order - 1) * norm**2 + 6 * sum_norm) / (4 * m**2), 3 * sum_norm / (2 * m)
    return order * norm**2 / (2 * m) + min(extra[terms])


@at_once(("v", "n"), [("1/4", 1), (3, 7), ("5/3", 100)])
@at_once(("norm", "d"), [(1, 1), (12, 1000), (3, 2)])
@at_once(("order", "queries"), [(2, 1), (9, 7), (500, 1)])
def test_renyi_is_the_formula_rounded_up(
    v: Any, n: int, norm: int, d: int, order: int, queries: int
) -> None:
    found = renyi(Skellam(v).sum(n), order, norm, dimension=d, queries=queries)
    with mpmath.workdps(50):
        m = mpmath.mpf(Fraction(v).numerator) / Fraction(v).denominator * n
        exact = queries * formula(order, m, norm, min(mpmath.sqrt(d) * norm, norm**2))
        assert exact * (1 - mpmath.mpf(2) ** -120) <= found <= exact * (1 + mpmath.mpf(2) ** -52)


@pytest.mark.parametrize(
    ("m", "change"), crossed([Fraction(1, 2), Fraction(3), Fraction(60)], [1, 2, 5], n=3)
)
def test_the_true_divergence_is_below(m: Fraction, change: int) -> None:
    """Summed at 60 digits. For wide noise the bound is at most 5 % above."""
    with mpmath.workdps(60):
        v = mpmath.mpf(m.numerator) / m.denominator
        ks = range(-260, 261)
        p = {k: mpmath.exp(-v) * mpmath.besseli(abs(k), v) for k in ks}
        for order in (2, 3, 8):
            terms = [p[k] ** order * p[k - change] ** (1 - order) for k in ks if k - change in p]
            truth = mpmath.log(mpmath.fsum(terms)) / (order - 1)
            bound = renyi(Skellam(m), order, change)
            assert truth <= bound
            if m == 60 and change == 1:
                assert bound < 1.05 * truth


def least_of_whole_orders(at: Callable[[int], Any], powers: int = 1100) -> Any:
    """Return the least of a convex function, first among powers of 2 and then between two."""
    best = min(range(1, powers), key=lambda k: at(2**k))
    low, high = max(2, 2 ** (best - 1)), 2 ** (best + 1)
    for _ in range(120):
        third = (high - low) // 3
        if not third:
            break
        if at(low + third) < at(high - third):
            high -= third
        else:
            low += third
    return min(at(order) for order in range(low, min(high, low + 3) + 1))


@pytest.mark.parametrize(
    ("v", "delta"),
    crossed(
        ["1e-320", "1/4", 3000, "1e12", "1e300"], ["1e-400", "1e-6", "1/2", "0.999999999"], n=5
    ),
)
def test_epsilon_is_the_least_of_all_whole_orders(v: str, delta: str) -> None:
    """Either term of the bound may decide. No float is below it."""
    how: dict[str, Any] = {"sensitivity": 12, "dimension": 50, "queries": 9}
    with mpmath.workdps(60):
        m = mpmath.mpf(Fraction(v).numerator) / Fraction(v).denominator * 7
        log_delta = mpmath.log(mpmath.mpf(Fraction(delta).numerator) / Fraction(delta).denominator)

        def at(order: int, term: int) -> Any:
            cost = 9 * formula(order, m, 12, 12 * mpmath.sqrt(50), terms=slice(term, term + 1))
            shrinks = mpmath.log1p(-mpmath.mpf(1) / order)
            return cost + shrinks - (mpmath.log(order) + log_delta) / (order - 1)

        least = max(0, min(least_of_whole_orders(partial(at, term=t)) for t in (0, 1)))
        found = epsilon(Skellam(v).sum(7), delta, **how)
        assert least * (1 - mpmath.mpf(2) ** -70) <= found
        assert found <= least * (1 + mpmath.mpf(2) ** -50) or least > 1e308


@pytest.mark.parametrize(
    ("v", "eps", "clients"), [("1/4", 90, [7, 9, 7]), (40, 5, [7]), (3000, "1/2", [9, 7])]
)
def test_delta_is_the_least_of_all_whole_orders(v: Any, eps: Any, clients: list[int]) -> None:
    """Both sides, and rounds that differ: delta and its logarithm are the formula, rounded up."""
    how: dict[str, Any] = {"sensitivity": 3, "dimension": 5, "queries": 2}
    laws = [Skellam(v).sum(n) for n in clients]
    with mpmath.workdps(60):
        m, e = (mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (v, eps))

        def log_delta(order: int, term: int) -> Any:
            terms = slice(term, term + 1)
            cost = sum(2 * formula(order, m * n, 3, 3 * mpmath.sqrt(5), terms) for n in clients)
            shrinks = order * mpmath.log1p(-mpmath.mpf(1) / order)
            return (order - 1) * (cost - e) + shrinks - mpmath.log(order - 1)

        exact = min(least_of_whole_orders(partial(log_delta, term=t), 30) for t in (0, 1))
        found = dg.privacy.log_delta(laws, eps, **how)
        assert exact <= found <= exact * (1 - mpmath.mpf(2) ** -52) < -0.01
        exact, found = mpmath.exp(exact), delta(laws, eps, **how)
        assert exact <= found <= exact * (1 + mpmath.mpf(2) ** -51)


def test_releases_add_and_wide_noise_is_nearly_gaussian() -> None:
    how: dict[str, Any] = {"sensitivity": 3, "dimension": 10, "queries": 100}
    wide = epsilon(Skellam(10**9).sum(10), "1e-5", **how)
    rho: Any = dg.privacy.rho(dg.DiscreteGaussian(10**9).sum(10), **how)
    gaussian = dg.privacy.zcdp_epsilon(rho, "1e-5")
    assert gaussian <= wide < 1.01 * gaussian + 1e-4
    assert delta(Skellam(10**9).sum(10), wide, **how) <= 1.0001e-5


@pytest.mark.parametrize("budget", [1, *evidence("1/10", 8)])
def test_calibrate_is_the_least_of_its_digits(budget: Any) -> None:
    how: dict[str, Any] = {"sensitivity": 5, "dimension": 100, "queries": 3}
    law = calibrate(Skellam, epsilon=budget, delta="1e-6", clients=20, **how)
    assert epsilon(law.sum(20), "1e-6", **how) <= float(Fraction(budget))
    less = Skellam(law.variance * Fraction(99999, 100000))
    assert epsilon(less.sum(20), "1e-6", **how) > float(Fraction(budget))


def test_every_epsilon_above_0_has_its_noise() -> None:
    """Orders grow with the variance beyond machine words."""
    law = calibrate(Skellam, epsilon="1e-17", delta="1e-30", clients=2)
    assert 0.9e-17 < epsilon(law.sum(2), "1e-30", sum_norm=1) <= 1e-17


@pytest.mark.parametrize(
    ("v", "change"), [("1/4", 1), (25, 1), ("1/5", 2), *evidence((200, 3), (2000, 7))]
)
def test_of_one_number_it_is_the_least(v: Any, change: int) -> None:
    """The sum over outcomes at 50 digits, the tight delta, and the loss in buckets."""
    law = Skellam(v)
    in_buckets = loss(law, change)
    with mpmath.workdps(50):
        x = mpmath.mpf(Fraction(v).numerator) / Fraction(v).denominator
        reach = 40 + 30 * int(math.sqrt(float(x)) + 1)
        ks = range(-reach, reach + 1)
        p = np.array([mpmath.exp(-x) * mpmath.besseli(abs(k), x) for k in ks], object)
        for eps in (0, 0.3, 1.0):
            gain = p[change:] - mpmath.exp(eps) * p[:-change]
            truth = mpmath.fsum([g for g in gain if g > 0])
            found = delta(law, eps, change)
            assert truth * (1 - mpmath.mpf(10) ** -20) <= found <= truth * (1 + 2**-51)
            lower, upper = in_buckets.delta(eps, bounds=True)
            assert lower <= found <= upper
            assert upper - lower < 1e-3 * upper + 1e-30
    least = epsilon(law, "1e-6", change)
    assert delta(law, least, change) <= 1e-6 < delta(law, math.nextafter(least, 0), change)


def test_the_bound_is_above_the_loss_of_many_rounds() -> None:
    exact = epsilon(Skellam(100), "1e-6", 2, queries=30)
    bound = epsilon(Skellam(100), "1e-6", 2, queries=30, sum_norm=2)
    assert exact < bound < 1.15 * exact


def test_noise_that_is_calibrated_has_a_cost_however_wide_it_is() -> None:
    """For variances without known probabilities it comes from the Renyi divergences."""
    how: dict[str, Any] = {"sensitivity": 30_000}
    law = calibrate(Skellam, epsilon=1, delta="1e-6", **how)
    assert law.variance > 2**28
    assert 0.99 < epsilon(law, "1e-6", **how) <= 1
    assert delta(law, 1, **how) <= 1e-6
    assert dg.privacy.log_delta(law, 1, **how) <= math.log(1e-6)
    assert epsilon(law, "1e-6", queries=3, **how) > 1


def test_what_is_beyond_floats_is_infinite() -> None:
    assert epsilon(Skellam("1e-400"), "1e-6", sum_norm=1) == math.inf
    assert epsilon(dg.DiscreteGaussian("1e-400").sum(2), "1e-6") == math.inf


def test_what_is_refused() -> None:
    law = Skellam(1)
    with pytest.raises(ValueError, match="order must be at least 2"):
        renyi(law, 1)
    with pytest.raises(ValueError, match=r"order must be a whole number with .*, got 2\.5"):
        renyi(law, 2.5)
    assert renyi(law, 2) == renyi(law, Fraction(2)) == renyi(law, 2.0) == renyi(law, "2")
    with pytest.raises(ValueError, match="no rho is known for a Skellam law"):
        dg.privacy.rho(law)
    with pytest.raises(TypeError, match="law must be a DiscreteGaussian, DiscreteLaplace, Gen"):
        epsilon(3, "1e-6")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="delta must lie between"):
        epsilon(law, 1, dimension=2)
    with pytest.raises(ValueError, match=r"epsilon must be above .* got 0"):
        calibrate(Skellam, epsilon=0, delta="1/2", clients=2)
    with pytest.raises(ValueError, match="rho is a budget for discrete Gaussians and Laplaces"):
        calibrate(Skellam, rho=1)


@pytest.mark.parametrize(("e", "queries", "change"), [(1, 1, 1), (3, 20, 2), ("1/10", 3, 1)])
def test_noise_for_one_number_is_the_least_of_its_digits(e: Any, queries: int, change: int) -> None:
    """Renyi divergences would give 1.14 to 1.5 times the variance."""
    law = calibrate(Skellam, epsilon=e, delta="1e-6", sensitivity=change, queries=queries)
    less = Skellam(beside(law.variance, -1))
    assert delta(law, e, change, queries=queries) <= 1e-6
    assert delta(less, e, change, queries=queries) > 1e-6


@pytest.mark.parametrize(
    ("e", "d", "change", "queries"),
    [("0.001295", "1e-5", 1, 2), (1, "1e-6", 1000, 1)],
)
def test_wide_noise_is_found_by_its_own_law(e: Any, d: str, change: int, queries: int) -> None:
    """Renyi divergences would give 1.38 and 1.15 times the variance."""
    law = calibrate(Skellam, epsilon=e, delta=d, sensitivity=change, queries=queries)
    less = law.variance * Fraction(98, 100)
    assert delta(law, e, change, queries=queries) <= float(d)
    assert delta(Skellam(less), e, change, queries=queries) > float(d)
    # a Gaussian is like it: its delta at both ends by the theorem, in mpmath
    at = (Fraction(e), change * queries)
    here, there = (delta_by_theorem_7(v * queries, *at) for v in (law.variance, less))
    assert here < float(d) * 1.0001
    assert there > float(d) * 1.001
