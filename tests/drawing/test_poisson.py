"""Poisson and Skellam draws follow their laws. The bits are seeded, so no run fails by chance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discretegauss import testing
from discretegauss.reference import CallableBytes, poisson, skellam


def seeded(seed: int) -> CallableBytes:
    with pytest.warns(testing.NotPrivateWarning):
        return CallableBytes(testing.seeded_source(seed))


@pytest.mark.parametrize("sums", [1, 3])
def test_draws_and_their_sums_follow_the_law(native_engine: None, sums: int) -> None:
    mean, n = Fraction(7, 5), 2000
    for draw, law in (
        (poisson, stats.poisson(1.4 * sums)),
        (skellam, stats.skellam(0.7 * sums, 0.7 * sums)),
    ):
        source = seeded(sums)
        draws = [sum(draw(mean, source) for _ in range(sums)) for _ in range(n)]
        cells = np.arange(-2, 6) if draw is skellam else np.arange(5)
        p = np.diff(np.concatenate([[0.0], law.cdf(cells), [1.0]]))
        seen = np.bincount(np.searchsorted(cells, draws), minlength=p.size)
        keep = p > 0.001
        assert stats.chisquare(seen[keep], p[keep] / p[keep].sum() * seen[keep].sum()).pvalue > 1e-6
