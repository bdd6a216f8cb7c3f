"""A sum of draws has the law of convolutions in floats, or of a nearly equal Gaussian."""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
from law_checks import LawTable, check_law

import discretegauss as dg

SUMS: list[Any] = [
    dg.DiscreteGaussian(4).sum(50),
    dg.DiscreteGaussian(16).sum(5),  # nearly N_Z(0, 80)
    dg.DiscreteGaussian("1/4").sum(9),
    dg.DiscreteGaussian(1, mu=-2).sum(3),
    dg.DiscreteLaplace(2, mu=3).sum(5),
    dg.GeneralizedGaussian(9, 3).sum(2),
    dg.GeneralizedGaussian(3, "3/2", mu=1).sum(5),
]


@pytest.mark.parametrize("total", SUMS, ids=repr)
def test_probabilities_are_those_of_the_convolution(total: Any) -> None:
    reach, law, n = 60, total.law, total.clients
    p = reduce(np.convolve, [law.pmf(np.arange(-reach, reach + 1))] * n)
    middle = n * reach
    centre = round(total.mean())
    ks = centre + np.array([-7, -1, 0, 1, 5, 12])
    assert total.pmf(ks) == pytest.approx(p[middle + ks], rel=1e-9, abs=1e-17)
    assert total.sf(ks) == pytest.approx([p[middle + k + 1 :].sum() for k in ks], rel=1e-9)
    assert total.cdf(ks) + total.sf(ks) == pytest.approx(1)
    lower, upper = total.pmf(centre, bounds=True)
    assert lower <= total.pmf(centre) <= upper <= lower * (1 + 2**-50)
    low, high = total.interval("0.95")
    assert total.sf(high) <= 0.025 < total.sf(high - 1)
    assert (low + high, total.var()) == (2 * centre, pytest.approx(n * law.var()))


def test_sums_of_wide_gaussians_are_one_gaussian_in_floats() -> None:
    wide, one = dg.DiscreteGaussian(10**6).sum(2 * 10**6), dg.DiscreteGaussian(2 * 10**12)
    assert wide.pmf([0, 10**6]).tolist() == one.pmf([0, 10**6]).tolist()
    assert wide.interval("0.95") == one.interval("0.95")


@pytest.mark.parametrize("total", SUMS, ids=repr)
def test_an_interval_may_miss_as_little_as_one_likes(total: Any) -> None:
    beyond = Fraction(1, 10**60)
    low, high = total.interval(1 - 2 * beyond)
    assert total.sf(high, bounds=True)[0] <= beyond < total.sf(high - 1, bounds=True)[1]
    assert low + high == 2 * round(total.mean())


def test_it_is_a_value_and_draws() -> None:
    total = SUMS[0]
    assert total == pickle.loads(pickle.dumps(total)) == dg.DiscreteGaussian(4).sum(50)
    assert repr(total) == "DiscreteGaussian(sigma2=4).sum(50)"
    assert isinstance(total.sample(), int)
    assert total.sample((2, 3), dtype=object).shape == (2, 3)
    assert dg.Skellam("1/3").sum(6) == dg.Skellam(2)
    assert dg.DiscreteLaplace(3).sum(1) == dg.DiscreteLaplace(3)


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    "total",
    [
        dg.DiscreteGaussian(2, mu=1).sum(3),
        dg.DiscreteLaplace("3/2").sum(2),
        dg.GeneralizedGaussian(3, 3, mu=-2).sum(4),
    ],
    ids=repr,
)
def test_draws_have_the_law_of_the_sum(total: Any) -> None:
    """Draws are asked for their law, not their mean: one draw less in each sum is found.

    A false alarm has a probability below 1e-9: each of fewer than 300 p-values is held to 1e-12.
    """
    middle = round(total.mean())
    ks = np.arange(middle - 120, middle + 121)
    table = LawTable(repr(total), int(ks[0]), total.pmf(ks), Fraction(middle), symmetric=False)
    for draws in (total.sample(30_000), [total.sample() for _ in range(1000)]):
        findings = check_law(draws, table)
        assert 3 < len(findings) < 50
        assert min(one.p_value for one in findings) > 1e-12


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(OverflowError, match="clients must be fewer, or the law narrower"):
        dg.DiscreteLaplace(10**6).sum(10**6).pmf(0)
    with pytest.raises(ValueError, match="mu must be an integer here"):
        dg.DiscreteGaussian(4, mu="1/3").sum(2).pmf(0)
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        SUMS[0].interval(1)


def test_no_sum_wraps() -> None:
    """A dtype is taken if each draw fits its share of the range."""
    for total, dtype in (
        (dg.DiscreteGaussian(2**120).sum(2), np.int64),
        (dg.DiscreteGaussian(10**10).sum(2), np.int16),
        (dg.DiscreteLaplace(3).sum(2), np.uint32),
    ):
        with pytest.raises(OverflowError, match="dtype must hold the sum"):
            total.sample(3, dtype=dtype)
    with pytest.raises(OverflowError, match="dtype must hold the sum"):
        dg.DiscreteGaussian(10**10).sum(2).sample(dtype=np.int8)
    # the limit and one beyond: a draw of G(4) is within 26 but for 2**-128, and 127 // 2 has room
    assert dg.DiscreteGaussian(4).sum(2).sample(3, dtype=np.int8).dtype == np.int8
    with pytest.raises(OverflowError, match="int8 does not"):
        dg.DiscreteGaussian(4).sum(3).sample(3, dtype=np.int8)
    draws = dg.DiscreteGaussian(4, mu=100).sum(50).sample(9, dtype=np.uint16)
    assert draws.dtype == np.uint16
    assert abs(draws.astype(int) - 5000).max() < 250  # false alarm below 1e-60
