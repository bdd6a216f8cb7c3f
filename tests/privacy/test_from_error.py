"""The noise for an error is the widest that is proven: the next decimal is not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import discretegauss as dg
from discretegauss._certified.search import decimal_at, decimal_ordinal
from discretegauss.errors import DiscreteGaussError, ParameterOverflowError
from discretegauss.privacy.calibration import widest


def cubic(scale: Fraction) -> dg.GeneralizedGaussian:
    return dg.GeneralizedGaussian(scale, 3)


@pytest.mark.parametrize("law_of", [dg.DiscreteGaussian, dg.DiscreteLaplace, cubic])
@pytest.mark.parametrize(
    ("error", "confidence", "queries"),
    [(5, "0.95", 1), (5, "0.95", 5268), (0, "0.95", 1), ("3/2", "0.99", 7), (10**12, 0.5, 3)],
)
def test_the_widest_law_is_found(law_of: Any, error: Any, confidence: Any, queries: int) -> None:
    """P(abs(X) <= error)**queries, by certified tails."""
    found = widest(law_of, error, confidence=confidence, queries=queries)
    following = decimal_at(decimal_ordinal(found) + 1)
    reach, sure = int(Fraction(error)), Fraction(confidence)

    def all_near(parameter: Fraction, end: int) -> Fraction:
        return (1 - 2 * Fraction(law_of(parameter).sf(reach, bounds=True)[end])) ** queries

    assert all_near(found, 1) >= sure > all_near(following, 0)


def test_the_rule_of_the_normal_law_asks_for_more_budget() -> None:
    """An error of 5 at 95 % takes rho = 0.06283; sigma = 5/1.96 takes 22 % more."""
    sigma2 = widest(dg.DiscreteGaussian, 5, confidence="0.95")
    assert float(1 / (2 * sigma2)) == pytest.approx(0.062831, abs=1e-6)
    assert 1.22 < sigma2 * Fraction("1.96") ** 2 / 25 < 1.23


@pytest.mark.parametrize(
    "wrong",
    [
        {"error": -1},
        {"error": "10**400"},
        {"error": 10**301},
        {"confidence": 1},
        {"confidence": 0},
        {"queries": 0},
    ],
    ids="+".join,
)
def test_what_is_wrong_is_named(wrong: dict[str, Any]) -> None:
    """Errors below 0, certainty, and what no noise can do."""
    given: dict[str, Any] = {"error": 5, "confidence": "0.95"} | wrong
    with pytest.raises(DiscreteGaussError, match="|".join(wrong)):
        widest(dg.DiscreteGaussian, given.pop("error"), **given)


@pytest.mark.parametrize("how", [{"error": 1000}, {"error": 300, "confidence": "0.999999"}])
def test_wide_skellam_noise_is_found_for_an_error(how: dict[str, Any]) -> None:
    """The widest of six digits, as for all kinds. The search starts near it."""
    reach, tail = how["error"], (1 - Fraction(how.get("confidence", "0.95"))) / 2
    found = dg.privacy.calibrate(dg.Skellam, **how).variance
    following = decimal_at(decimal_ordinal(found) + 1)
    assert dg.Skellam(found).sf(reach, bounds=True)[1] <= tail
    assert dg.Skellam(following).sf(reach, bounds=True)[1] > tail
    if reach == 1000:
        assert 260_000 < found < 261_000


def test_an_error_that_asks_for_wider_skellam_noise_than_is_known_is_refused() -> None:
    with pytest.raises(ParameterOverflowError, match=r"^error must be smaller .* 2\*\*16"):
        widest(dg.Skellam, 10**4, confidence="0.95", most=2**16)


def test_calibrate_takes_an_error_in_the_place_of_a_budget() -> None:
    """`calibrate` takes an error for every kind of noise, but not with a budget."""
    calibrate: Any = dg.privacy.calibrate
    law = calibrate(dg.DiscreteGaussian, error=5, queries=16)
    assert law.sigma2 == widest(dg.DiscreteGaussian, 5, confidence="0.95", queries=16)
    assert calibrate(dg.GeneralizedGaussian, error=5, confidence="0.9", beta=3).beta == 3
    for kind in (dg.DiscreteLaplace, dg.Skellam):
        found = calibrate(kind, error=5, confidence="0.9")
        assert found.sf(5) <= 0.05 < found.sf(5) + 1e-4
    for wrong in (
        {"rho": 1},
        {"epsilon": 1, "delta": "1e-6"},
        {"sampling": "1/2"},
        {"clients": 3},
        {"beta": 2},
    ):
        with pytest.raises(DiscreteGaussError, match=next(iter(wrong))):
            calibrate(dg.DiscreteGaussian, error=5, **wrong)
    with pytest.raises(DiscreteGaussError, match="confidence"):
        calibrate(dg.DiscreteGaussian, rho=1, confidence="0.9")
