"""If there are too many releases for buckets, moments bound the cost from above, and closely."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import mpmath
import numpy as np
import pytest

import discretegauss as dg
from discretegauss.privacy import PrivacyLoss
from discretegauss.privacy._loss_bounds import log_moment
from discretegauss.privacy._outcomes import Cells


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("s", [2.0**-12, 0.3, 7.0])
def test_a_moment_is_not_below_that_of_any_outcomes_in_the_cells(seed: int, s: float) -> None:
    """Outcomes with given P and Q, many a cell; the moment is what the ends of cells would have."""
    rng = np.random.default_rng(seed)
    rows, exact, ends = [], mpmath.mpf(0), mpmath.mpf(0)
    with mpmath.workdps(50):
        for width in (0.0, 1e-12, 1e-3, 0.2, 3.0):
            p = [mpmath.mpf(float(x)) for x in rng.random(5) / 25]
            losses = [mpmath.mpf(float(x)) for x in np.sort(rng.uniform(0, width, 5) - 1 - width)]
            first, last = losses[0], losses[-1]
            loss, top = math.nextafter(float(first), -9), float(last - first) + 1e-15
            mass, r = (
                mpmath.fsum(p),
                mpmath.fsum(a * mpmath.exp(loss - b) for a, b in zip(p, losses, strict=True)),
            )
            rows.append((loss, top, 0.0, float(mass) * (1 + 1e-15), float(r) * (1 - 1e-15), 1.0))
            exact += mpmath.fsum(a * mpmath.exp(s * b) for a, b in zip(p, losses, strict=True))
            ends += mass * mpmath.exp(s * last)
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        found = log_moment(Cells._make([*columns, 0.0, 0.0, 0.0, None]), s)
        assert mpmath.log(exact) <= mpmath.mpf(found) < mpmath.log(ends) + 1e-13


@pytest.mark.parametrize(
    "releases", [10**10, 10**13, pytest.param(10**18, marks=pytest.mark.evidence)]
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
    """The sum of many losses is normal, with the mean and variance of its cells."""
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
    assert many.delta(found) <= 1e-6
