"""The noise for (epsilon, delta) is the least there is: against a scan, and dp-accounting."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discretegauss as dg
from discretegauss.privacy import calibrate, calibration, delta

EPSILONS = ["0.01", "0.05", "0.1", "0.25", "0.5", "1", "2", "3", "5", "7", "10", "12", "15"]
DELTAS = ["1e-1", "1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8", "1e-10", "1e-12"]
BUDGETS = list(itertools.product(EPSILONS, DELTAS, range(1, 6)))  # 650


def deltas(sigma2: NDArray[np.float64], e: float, change: int) -> NDArray[np.float64]:
    """The sum of P(x) max(0, 1 - exp(e - loss(x))). No term is negative, so floats are enough."""
    v = sigma2[:, None]
    reach = 9 * math.sqrt(sigma2.max()) + 3  # the mass beyond is below 1e-17
    x = np.arange(-math.ceil(reach), math.ceil(reach + e * sigma2.max() / change) + 1.0)
    p = np.exp(-x * x / (2 * v))
    gain = -np.expm1(np.minimum(0, e - (2 * x * change + change**2) / (2 * v)))
    found: NDArray[np.float64] = (p * gain).sum(axis=1) / p.sum(axis=1)
    return found


def least_above(found: float, e: float, d: float, change: int) -> float:
    """The least sigma2 that meets the budget, of 400 from found/1000 on and the ends of pieces."""
    ends = change * (2 * np.arange(400.0) + change) / (2 * e)
    grid = np.sort(np.concatenate([np.geomspace(found / 1000, found * 0.9995, 400), ends]))
    grid = grid[grid < found * 0.9995]
    for part in np.array_split(grid, max(1, len(grid) // 20)):
        enough = part[deltas(part, e, change) <= d * (1 - 1e-9)]
        if enough.size:
            return float(enough[0])
    return found


def check(e: str, d: str, change: int) -> None:
    law = calibrate(dg.DiscreteGaussian, epsilon=e, delta=d, sensitivity=change)
    assert Fraction(delta(law, e, change)) <= Fraction(d) * (1 + Fraction(1, 2**52))
    found = float(law.sigma2)
    assert found <= least_above(found, float(e), float(d), change) * 1.001
    mechanism = pytest.importorskip("dp_accounting.pld.privacy_loss_mechanism")
    common = pytest.importorskip("dp_accounting.pld.common")
    theirs = mechanism.DiscreteGaussianPrivacyLoss.from_privacy_guarantee(
        common.DifferentialPrivacyParameters(float(e), float(d)), sensitivity=change
    )
    assert math.sqrt(found) <= theirs._sigma * 1.001


@pytest.mark.parametrize(
    ("e", "d", "change"),
    [
        ("40", "1e-12", 1),  # with this and the next five, the budget is also met by more noise,
        ("20", "1e-6", 1),  # and a crossing would be up to three times the least
        ("5", "1e-2", 1),
        ("20", "1e-2", 2),
        ("15", "1e-5", 2),
        ("40", "1e-12", 5),
        ("7", "1e-1", 2),
        ("10", "1e-8", 3),
        ("3", "1e-12", 1),
        ("2", "1e-5", 4),
        ("0.5", "1e-1", 5),
        ("0.1", "1e-3", 1),
        ("0.25", "1e-12", 2),
    ],
)
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_a_dozen_budgets_get_the_least_noise(e: str, d: str, change: int) -> None:
    check(e, d, change)


@pytest.mark.parametrize(
    ("e", "d", "change", "queries"), [("0.27989", "3e-11", 2, 1), ("2.3769", "1.2e-9", 2, 2)]
)
def test_laplace_noise_is_at_most_what_delta_0_asks_for(
    e: str, d: str, change: int, queries: int
) -> None:
    """The next decimal of six digits is more here."""
    how: dict[str, Any] = {"sensitivity": change, "queries": queries}
    law = calibrate(dg.DiscreteLaplace, epsilon=e, delta=d, **how)
    assert law.scale <= calibrate(dg.DiscreteLaplace, epsilon=e, **how).scale


@pytest.mark.evidence
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
@pytest.mark.parametrize(("e", "d", "change"), BUDGETS)
def test_650_budgets_get_the_least_noise(e: str, d: str, change: int) -> None:
    check(e, d, change)


@pytest.mark.parametrize("e", ["7", "11"])
@pytest.mark.parametrize("m", [0, 1])
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_an_interval_too_short_for_six_digits_is_found(e: str, m: int) -> None:
    """Budgets just above the delta at an end of a piece, where a little more noise breaks them."""
    end = Fraction(2 * m + 1) / (2 * Fraction(e))
    at_end = Fraction(delta(dg.DiscreteGaussian(end), e))
    for above in (Fraction(1, 10**8), Fraction(1, 10**15)):
        law = calibrate(dg.DiscreteGaussian, epsilon=e, delta=at_end * (1 + above))
        assert Fraction(delta(law, e)) <= at_end * (1 + above)
        assert abs(law.sigma2 / end - 1) < above
        assert law.sigma2 == end or (law.sigma2 * 10**13).denominator == 1
    assert law.sigma2 == end
    more = dg.DiscreteGaussian(end * (1 + Fraction(1, 10**6)))
    assert Fraction(delta(more, e)) > at_end * (1 + Fraction(1, 10**8))


@pytest.mark.parametrize("guess", [Fraction(1, 10**40), Fraction(10**40)])
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_a_bad_guess_is_only_slower(guess: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """One guess makes the search take a billion ends at a step."""
    budgets = [("10", "1e-2"), ("2", "1e-5"), ("1e-9", "1e-20")]
    expected = [calibrate(dg.DiscreteGaussian, epsilon=e, delta=d) for e, d in budgets]
    monkeypatch.setattr(calibration.GaussianTarget, "guess", lambda _: guess)
    assert [calibrate(dg.DiscreteGaussian, epsilon=e, delta=d) for e, d in budgets] == expected
