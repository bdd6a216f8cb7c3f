"""Several sampled records of a person: their loss by enumeration; equal signs are the worst."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError
from discretegauss.privacy import PrivacyLoss, loss

RATE = Fraction(1, 4)
PLACES = np.arange(-60, 61)


def chances(records: int, rate: Fraction = RATE, change: int = 1) -> dict[int, Fraction]:
    """The probability of each change by records that change the answer by as much each."""
    return {
        j * change: math.comb(records, j) * rate**j * (1 - rate) ** (records - j)
        for j in range(records + 1)
    }


def delta_of_two(law: Any, changes: tuple[int, ...], epsilon: float) -> float:
    """Delta of two rounds, summed over all pairs of outcomes, the larger one of both adjacencies.

    Each record has its change.
    """
    p = np.zeros(PLACES.size)
    for taken in itertools.product((0, 1), repeat=len(changes)):
        chance = math.prod(RATE if one else 1 - RATE for one in taken)
        p += float(chance) * law.pmf(PLACES - int(np.dot(taken, changes)))
    q = law.pmf(PLACES)
    both, other = np.outer(p, p), np.outer(q, q)
    sides = (both - math.exp(epsilon) * other, other - math.exp(epsilon) * both)
    return max(float(np.maximum(side, 0).sum()) for side in sides)


@pytest.mark.parametrize(
    "law",
    [
        dg.DiscreteGaussian(2),
        dg.DiscreteLaplace("3/2"),
        dg.Skellam(3),
        dg.GeneralizedGaussian(2, beta=3),
    ],
)
def test_records_of_equal_signs_lose_this_and_others_no_more(law: Any) -> None:
    two = PrivacyLoss.of_mixture(law, chances(3)) ** 2
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        lower, upper = two.delta(epsilon, bounds=True)
        exact = delta_of_two(law, (1, 1, 1), epsilon)
        assert lower * (1 - 1e-9) <= exact <= upper * (1 + 1e-9)
        assert upper < 1.002 * lower + 1e-9
        for changes in ((1, 1, -1), (1, -1, 0), (1, 1, 0), (-1, -1, -1)):
            assert delta_of_two(law, changes, epsilon) <= upper * (1 + 1e-9)


def test_one_record_is_one_person_on_a_sample() -> None:
    """100 rounds; and three records cost less than one with three times the change."""
    law, rate = dg.DiscreteGaussian(100), Fraction(1, 100)
    many = PrivacyLoss.of_mixture(law, chances(1, rate, 10)) ** 100
    same = loss(law, 10, sampling=rate) ** 100
    for epsilon in ("0.1", 1, 3):
        assert many.delta(epsilon) == pytest.approx(same.delta(epsilon), rel=1e-3)
    three = PrivacyLoss.of_mixture(law, chances(3, rate, 10)) ** 100
    at_once = loss(law, 30, sampling=1 - (1 - rate) ** 3) ** 100
    assert many.epsilon("1e-6") < three.epsilon("1e-6") < at_once.epsilon("1e-6") / 2


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({1: "1/2"}, ValueError, "changes must sum to 1 exactly"),
        ({-1: 1}, ValueError, "changes must be at least 0"),
        ({"1": 1}, TypeError, "changes must be an integer"),
        ({1: -1, 2: 2}, ValueError, "changes must not be negative, got -1"),
        ([1], TypeError, "changes must be a mapping of sizes to probabilities, got list"),
        ({2**20: 1}, ParameterOverflowError, "law must be narrower, or changes smaller"),
        ({}, ValueError, "changes must sum to 1 exactly"),
    ],
)
def test_refusals(changes: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        PrivacyLoss.of_mixture(dg.DiscreteGaussian(4), changes)


def test_the_noise_is_one_law() -> None:
    for bad in (4, dg.DiscreteGaussian(4).sum(2)):
        law: Any = bad
        with pytest.raises(TypeError, match="law must be one law, got"):
            PrivacyLoss.of_mixture(law, {1: 1})
