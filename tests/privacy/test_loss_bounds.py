"""Bounds of PrivacyLoss are on the right side, for both adjacencies, and close together."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from evidence_cases import evidence
from loss_reference import random_case
from mpmath import mp

import discretegauss as dg
from discretegauss.privacy import PrivacyLoss
from discretegauss.privacy._loss_bounds import AdjacencyBounds
from discretegauss.privacy._outcomes import OutcomeCells, Outcomes
from discretegauss.privacy.loss_distribution import _outcomes


@pytest.mark.parametrize(
    ("first", "n"),
    [
        *((0, 5), (14, 1), (16, 4), (33, 1)),  # the last three have generalised Gaussians
        *evidence(*((seed, 20) for seed in range(20_000, 25_000, 20))),
    ],
)
def test_bounds_are_on_their_sides(first: int, n: int) -> None:
    """Random releases and epsilons, against 60 digits: 5000 cases of both adjacencies."""
    with mp.workdps(60), np.errstate(all="ignore"):
        for seed in range(first, first + n):
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
    [
        *((20418, 95.7), (20509, 0.1), (22459, 0.0019), (23161, 0.0021)),
        *evidence((20509, 0.01), (24590, 0.13)),
    ],
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


@pytest.mark.parametrize("sampling", [Fraction(1), Fraction(1, 2), Fraction(1, 1000)])
@pytest.mark.parametrize("releases", [1, 30, *evidence(10**4, 10**6)])
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


@pytest.mark.parametrize(
    "releases", [10**10, pytest.param(10**13, marks=pytest.mark.evidence), 10**18]
)
@pytest.mark.parametrize(
    "make",
    [
        lambda: dg.privacy.loss(dg.DiscreteGaussian(4), sampling="1/1000", most=2**12),
        lambda: PrivacyLoss.of_gaussian(4, sampling="1/1000", most=2**12),
        lambda: PrivacyLoss.of_pair(["0.5002", "0.4998"], ["0.5", "0.5"], most=2**12),
    ],
)
def test_epsilon_of_very_many_releases_is_near_that_of_normal_losses(
    make: Callable[[], PrivacyLoss], releases: int
) -> None:
    """Moments bound the cost closely: the sum of losses is normal, as those of its cells are."""
    one = make()
    cells = one._adjacencies[0]._releases[0][0].cells(adding=False, widest=1e-7, tilt=0.0)
    loss, p = cells.loss[np.isfinite(cells.spread)], cells.p_up[np.isfinite(cells.spread)]
    # E(L) = E(L - 1 + exp(-L)), which cancels less in floats
    mean = releases * float(p @ (loss + np.expm1(-loss)))
    deviation = math.sqrt(releases * float(p @ loss**2))
    low, high = mean, mean + 10 * deviation
    for _ in range(60):
        epsilon = (low + high) / 2
        z = (epsilon - mean) / deviation
        tails = NormalDist().cdf(-z), NormalDist().cdf(-z - deviation)
        # the factor exp(epsilon - mean + deviation**2/2) belongs to the second tail
        second = math.exp(min(epsilon - mean + deviation**2 / 2, 700)) * tails[1]
        low, high = (epsilon, high) if tails[0] - min(second, tails[0]) > 1e-6 else (low, epsilon)
    many = one**releases
    found = many.epsilon("1e-6")
    # masses of cells are rounded by 2**-46 each, which matters for 10**18 releases
    assert 0.999 * low <= found <= (1.1 if releases > 10**13 else 1.03) * low
    # beyond 10**14 releases sums of masses say nothing
    assert many.delta(1.1 * found) <= many.delta(found) <= 1e-6


class _TwoPartitions(Outcomes):
    """The same outcomes in fine cells, or all in one, as the tilt says."""

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
        found = super().cells(adding=adding, widest=widest, tilt=tilt)
        if tilt < 3:
            return found
        low, high = found.loss.min(), (found.loss + found.spread).max()
        parts = [np.array([low]), np.array([high - low])]
        parts += [np.array([mass.sum()]) for mass in (found.p_low, found.p_up)]
        moved = np.exp(low - found.loss)
        parts += [np.array([(mass * moved).sum()]) for mass in (found.r_low, found.r_up)]
        return OutcomeCells._make([*parts, *found[6:9], None])


def test_masses_of_several_tilts_are_of_the_same_cells() -> None:
    """The least masses of two partitions would have less mass than 1, and bound nothing."""
    outcomes = _outcomes(["0.5", "0.3", "0.2"], ["0.4", "0.3", "0.3"], bounds=False)
    release = _TwoPartitions(outcomes, Fraction(1))
    masses, width, infinite = _for_removing(release).masses()
    bottom, exact = min(masses), _for_removing(Outcomes(outcomes, Fraction(1)))
    for e in (Fraction(1, 2), Fraction(2), Fraction(4)):
        above = ((i * width, m) for i, m in masses.items() if i > bottom)
        found = infinite + sum(m * max(-math.expm1(float(e) - loss), 0) for loss, m in above)
        assert found >= exact.delta_below(e)


def _for_removing(release: Outcomes) -> AdjacencyBounds:
    return AdjacencyBounds([(release, 30)], adding=False, width=None, most=2**14)
