"""Skellam draws follow their law, from the bits that are named. Its probabilities are proven.

The statistical tests of a default run are seeded, so none fails by chance.
"""

from __future__ import annotations

import math
import os
from fractions import Fraction
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import pytest
from evidence_cases import evidence
from law_checks import LawTable, check_law
from scipy import stats

import discretegauss as dg
from discretegauss import Skellam, testing
from discretegauss.reference import CallableBytes
from discretegauss.reference import skellam as slow_skellam
from discretegauss.testing import seeded_source as seeded

pytestmark = [
    pytest.mark.usefixtures("native_engine"),
    pytest.mark.filterwarnings("ignore::discretegauss.testing.NotPrivateWarning"),
]


def p_value(draws: Any, law: Skellam) -> float:
    """Return the least p-value of the questions of the harness."""
    reach = 20 + 12 * math.isqrt(int(law.variance) + 1)
    pmf = law.pmf(np.arange(-reach, reach + 1))
    table = LawTable(repr(law), -reach, pmf, Fraction(0), symmetric=True)
    return min(found.p_value for found in check_law(draws, table))


def exact_pmf(variance: Any, k: int) -> Any:
    v = mpmath.mpf(variance.numerator) / variance.denominator
    return mpmath.exp(-v) * mpmath.besseli(k, v)


@pytest.mark.parametrize("v", [Fraction(1, 3), Fraction(40), Fraction(10**5)])
def test_pmf_is_right_to_one_unit(v: Fraction) -> None:
    law = Skellam(v)
    with mpmath.workdps(60):
        for k in (0, 1, -7, 60, 150):
            exact = exact_pmf(v, abs(k))
            if exact > mpmath.mpf(2) ** -1022:
                assert abs(law.pmf(k) - exact) <= 2**-52 * exact
    assert law.pmf(10**6) == 0.0
    assert law.pmf([[0, 1]]).shape == (1, 2)
    assert abs(law.pmf(np.arange(-3000, 3001)).sum() - 1) < 1e-12


@pytest.mark.parametrize("v", [Fraction(1, 2), Fraction(7), Fraction(250)])
def test_draws_follow_the_law(v: Fraction) -> None:
    """20 000 draws show it if a cell of probability 1/10 is wrong by 0.013."""
    assert p_value(Skellam(v).sample(20_000, source=seeded(5)), Skellam(v)) > 1e-6


def test_the_slow_sampler_has_the_same_law() -> None:
    source = CallableBytes(seeded(6))
    draws = np.array([slow_skellam(Fraction(7, 3), source) for _ in range(5000)])
    assert p_value(draws, Skellam("7/3")) > 1e-6


@pytest.mark.parametrize("v", [Fraction(1, 4), Fraction(100), *evidence(Fraction(12345, 7))])
def test_inversion_by_mpmath_gives_the_same_draws_of_the_same_bits(
    v: Fraction,
) -> None:
    drawn = Skellam(v).sample(60, source=seeded(7))
    halves = dg.uniform_below(2**32, (60, 2), dtype=np.uint32, source=seeded(7)).tolist()
    with mpmath.workdps(40):
        for found, (high, low) in zip(drawn.tolist(), halves, strict=True):
            word = high << 32 | low
            u = mpmath.mpf(word >> 1) / 2**63
            k, below = 0, exact_pmf(v, 0)
            while below <= u:
                k += 1
                below += 2 * exact_pmf(v, k)
            assert found == (-k if word & 1 else k)


@pytest.mark.evidence
@pytest.mark.parametrize("variance", [2**28 + Fraction(2, 3), Fraction(2**60)])
def test_a_million_wide_draws_follow_the_law(variance: Fraction) -> None:
    """200 cells show the Skellam law, which is normal to 1/variance."""
    draws, deviation = Skellam(variance).sample(10**6, source="chacha20"), float(variance) ** 0.5
    edges = np.floor(stats.norm.ppf(np.arange(1, 200) / 200) * deviation)
    expected = np.diff([0, *stats.norm.cdf((edges + 0.5) / deviation), 1]) * draws.size
    seen = np.bincount(np.searchsorted(edges, draws), minlength=200)
    assert stats.chisquare(seen, expected).pvalue > 1e-9


def test_sums_follow_the_convolution_and_the_law_of_the_sum() -> None:
    law, n = Skellam("1/2"), 8
    draws = law.sample((n, 20_000), source=seeded(9)).sum(axis=0)
    convolved = reduce(np.convolve, [law.pmf(np.arange(-20, 21))] * n)
    ks = np.arange(-20 * n, 20 * n + 1)
    assert np.abs(convolved - law.sum(n).pmf(ks)).max() < 1e-15
    assert p_value(draws, law.sum(n)) > 1e-6


@pytest.mark.parametrize("v", [3, 10**12])
def test_every_source_is_used(monkeypatch: pytest.MonkeyPatch, v: int) -> None:
    """The same bits of a caller's source make the same draws, so no bit comes from elsewhere."""

    def refuse(n: int, flags: int = 0) -> bytes:
        raise AssertionError("bits from elsewhere")

    law = Skellam(v)
    for source in ("getrandom", "chacha20"):
        assert (law.sample(50, source=source) != law.sample(50, source=source)).any()
    monkeypatch.setattr(os, "getrandom", refuse)
    first, second = seeded(10), seeded(10)
    assert (law.sample(50, source=first) == law.sample(50, source=second)).all()
    assert first.used == second.used > 300
    with pytest.raises(EOFError):
        law.sample(1000, source=testing.TapeSource(bytes(range(100))))
    with pytest.raises(EOFError):
        dg.add_noise([1] * 1000, law, modulus=2**60, source=testing.TapeSource(b"1" * 100))


def test_wide_laws_have_their_moments() -> None:
    """The variance of 10 000 draws is off by 8 % with a probability below 1e-6."""
    for v in (2**28 + 1, 10**12, 10**40, 10**300):
        draws = Skellam(v).sample(10_000, dtype=object, source=seeded(11)).astype(float)
        draws /= v**0.5
        assert abs(draws.mean()) < 0.05
        assert abs(draws.var() - 1) < 0.08


def test_the_law_answers_what_laws_do() -> None:
    """Tails agree with scipy's, and quantiles with tails, for variances from 1/3 to 10**5."""
    for v in (Fraction(1, 3), Fraction(40), Fraction(10**5)):
        law, peer = Skellam(v), stats.skellam(float(v / 2), float(v / 2))
        ks = np.arange(-3, 4) * max(1, int(v**0.5))
        assert law.cdf(ks) == pytest.approx(peer.cdf(ks), rel=1e-6)
        assert (law.cdf(ks) + law.sf(ks)).tolist() == pytest.approx([1.0] * 7)
        assert law.logpmf(ks) == pytest.approx(peer.logpmf(ks), rel=1e-9)
        low, high = law.interval(0.95)
        assert -low == high == law.ppf(0.975) == law.isf(0.025)
        assert law.cdf(high) >= 0.975 > law.cdf(high - 1)
        assert law.sf(int(high)) <= law.tail_bound(high + 1) < 0.2
    law = Skellam("1/3")
    assert (law.mean(), law.var(), law.std()) == (0.0, 1 / 3, (1 / 3) ** 0.5)
    assert law.entropy() == pytest.approx(
        -sum(p * np.log(p) for p in law.pmf(list(range(-20, 21))))
    )
    assert law.as_scipy().stats(moments="k") == pytest.approx(3.0)  # 1/variance
    assert "<table>" in law._repr_html_()
    assert (law.pmf(10**30), law.sf(10**30), law.cdf(10**30)) == (0.0, 0.0, 1.0)
    assert Skellam(2**40).var() == 2.0**40
    with pytest.raises(OverflowError, match=r"variance must be at most 2\*\*28"):
        Skellam(2**29).pmf(0)
    with pytest.raises(OverflowError, match="k must be within"):
        Skellam(2**20).logpmf(2**17)


def test_arrays_of_variances_and_the_ways_to_draw() -> None:
    assert dg.skellam([1, 2**40, 3]).shape == (3,)
    assert dg.skellam(3, (2, 3), dtype=np.int16).dtype == np.int16
    assert dg.skellam(3, method="reference", source=seeded(3)) == slow_skellam(
        Fraction(3), CallableBytes(seeded(3))
    )
    noisy = dg.add_noise(np.array([5, 6, 7]), Skellam(1), modulus=2**10)
    assert noisy.shape == (3,)


def test_what_is_refused_draws_nothing() -> None:
    def source(buffer: memoryview) -> None:
        raise AssertionError

    with pytest.raises(ValueError, match="variance must be positive"):
        Skellam(0)
    with pytest.raises(OverflowError, match="variance must be below"):
        Skellam(2**1024)
    with pytest.raises(OverflowError, match="dtype must hold the law"):
        Skellam(2**120).sample(3, source=source)
    with pytest.raises(ValueError, match="method must be 'auto' or 'reference'"):
        Skellam(2).sample(3, method="cells", source=source)
    with pytest.raises(ValueError, match="method must be 'auto' or 'reference'"):
        dg.add_noise([1], Skellam(2), method="isochronous", source=source)
