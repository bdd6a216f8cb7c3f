"""Bounds of PrivacyLoss are on the right side, for both adjacencies, and close together."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evidence_cases import evidence
from loss_reference import random_case
from mpmath import mp

from discretegauss._certified.double_double_functions import exponential_in_floats
from discretegauss._certified.fourier import inverse, inverse_error, transform, transform_error
from discretegauss.privacy import PrivacyLoss


@pytest.mark.parametrize("block", [0, *evidence(*range(1000, 1250))])
def test_bounds_are_on_their_sides(block: int) -> None:
    """Random releases and epsilons, against 60 digits: 5000 cases of both adjacencies."""
    with mp.workdps(60), np.errstate(all="ignore"):
        for seed in range(20 * block, 20 * block + 20):
            case, chance = random_case(seed), random.Random(-1 - seed)
            sides = case.loss._adjacencies
            farthest = min(700.0, max(side._largest for side in sides))
            epsilon = chance.choice([0.0, farthest * chance.random() ** chance.choice([1, 3])])
            exact = case.deltas(epsilon)
            nearby = case.deltas(max(epsilon - 1 / 64, 0.0))  # an atom may lie just beyond epsilon
            for way, delta, near in zip(
                sides if len(sides) == 2 else sides * 2, exact, nearby, strict=True
            ):
                lower = _exactly(way.delta_below(Fraction(epsilon)))
                upper = _exactly(way.delta_above(Fraction(epsilon)))
                assert lower <= (delta + case.missed) * (1 + _NEXT) + _TINY, (seed, case.what)
                assert upper >= delta * (1 - _NEXT) - _TINY, (seed, case.what)
                if delta > 1e-25 and case.missed < delta * 1e-6:
                    assert upper - lower < 0.05 * delta or upper < 1.05 * near, (seed, case.what)
            delta = 10 ** chance.uniform(-12, -0.5)
            low, high = case.loss.epsilon(delta, bounds=True)
            if high < math.inf:
                assert max(case.deltas(high)) <= delta * (1 + _NEXT) + _TINY, (seed, case.what)
            if 0 < low < math.inf:
                least = max(case.deltas(low)) + case.missed
                assert least >= delta * (1 - mp.mpf("1e-13")), (seed, case.what)


@pytest.mark.parametrize(
    ("seed", "epsilon"),
    [(20418, 95.7), (20509, 0.1), (20509, 0.01), (22459, 0.0019), (23161, 0.0021), (24590, 0.13)],
)
def test_bounds_lie_close_where_weights_overflow(seed: int, epsilon: float) -> None:
    """Epsilon is near the largest finite loss, at the saddle point, or below all losses."""
    with mp.workdps(60):
        case = random_case(seed)
        low, high = case.loss.delta(epsilon, bounds=True)
        assert low <= max(case.deltas(epsilon)) <= high < low * 1.05


_NEXT, _TINY = mp.mpf("1e-28"), mp.mpf("1e-50")


def _exactly(value: Any) -> Any:
    numerator, denominator = value.as_integer_ratio()
    return mp.mpf(int(numerator)) / int(denominator)


@pytest.mark.parametrize("n", [8, 16, 128, 1024, 2**13])
def test_transforms_are_as_good_as_is_said(n: int) -> None:
    """Some values, and their inverses, are the sums at 40 digits."""
    x = np.random.default_rng(n).random(n) ** 9
    x /= x.sum()
    found = transform(x)
    with mp.workdps(40):
        for k in (0, 1, n // 3, n // 2):
            turn = mp.exp(-2j * mp.pi * k / n)
            value, power = mp.mpc(0), mp.mpc(1)
            for one in x:
                value, power = value + mp.mpf(float(one)) * power, power * turn
            assert abs(mp.mpc(complex(found[k])) - value) <= transform_error(n)
    error = inverse_error(n) * 4 / n * np.abs(found).sum() + 4 / n * found.size * transform_error(n)
    assert np.abs(inverse(found) - x).max() <= error


def test_exponentials_in_floats_are_as_good_as_is_said() -> None:
    """Random, small and large arguments, at 60 digits."""
    rng = np.random.default_rng(1)
    a = np.concatenate([rng.uniform(-690, 690, 500), rng.normal(0, 1e-3, 500)])
    low = rng.uniform(-1, 1, a.size) * 2.0**-21
    found = exponential_in_floats(a, low)
    with mp.workdps(60):
        for x, y, z in zip(a, low, found, strict=True):
            assert (
                abs(mp.mpf(float(z)) / mp.exp(mp.mpf(float(x)) + mp.mpf(float(y))) - 1)
                < mp.mpf(2) ** -51
            )


@pytest.mark.parametrize("sampling", [Fraction(1), Fraction(1, 2), Fraction(1, 1000)])
@pytest.mark.parametrize("releases", [1, 30, 10**4, *evidence(10**6)])
def test_lower_bounds_are_near_at_every_epsilon(sampling: Fraction, releases: int) -> None:
    """Within 1 %, from deltas of 1/2 to 1e-12."""
    loss = PrivacyLoss.of_gaussian(1, sampling=sampling) ** releases
    for delta in (0.5, 1e-3, 1e-6, 1e-12):
        low, high = loss.epsilon(delta, bounds=True)
        assert low <= high <= low * 1.01 + 1e-12, delta


def test_unlike_releases_are_composed() -> None:
    """In any order, with multiplicities; two Gaussians are one."""
    a = PrivacyLoss.of_gaussian(20, sampling="1/3")
    b, c = PrivacyLoss.of_pure("1/10"), PrivacyLoss.of_laplace(9, sampling="1/100")
    one, other = (a @ b) ** 7 @ c, c.compose(b**7, a**3, a**4)
    assert one.epsilon("1e-5", bounds=True) == pytest.approx(
        other.epsilon("1e-5", bounds=True), rel=1e-9
    )
    both = PrivacyLoss.of_gaussian(30) ** 10 @ PrivacyLoss.of_gaussian(60) ** 5
    single = PrivacyLoss.of_gaussian(Fraction(12, 5))
    low, high = both.delta(2, bounds=True)
    assert low <= single.delta(2, bounds=True)[1]
    assert single.delta(2, bounds=True)[0] <= high < low * 1.001
