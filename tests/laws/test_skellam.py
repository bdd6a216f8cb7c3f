"""Skellam draws follow their law, from the bits that are named. Its probabilities are proven.

The statistical tests of a default run are seeded, so none fails by chance.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import pytest
from evidence_cases import evidence
from scipy import stats

import discretegauss as dg
from discretegauss import Skellam, testing
from discretegauss._certified.interval import arithmetic
from discretegauss._certified.skellam import probabilities_up_to
from discretegauss._drawing import skellam as _skellam_draws
from discretegauss._drawing import skellam_wide as wide
from discretegauss._drawing.engines import engine as engine_of
from discretegauss.reference import CallableBytes
from discretegauss.reference import skellam as slow_skellam

pytestmark = pytest.mark.usefixtures("native_engine")


def seeded(seed: int) -> testing.SeededSource:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", testing.NotPrivateWarning)
        return testing.seeded_source(seed)


def p_value(draws: Any, pmf: Callable[[Any], Any]) -> float:
    ks = np.arange(int(draws.min()), int(draws.max()) + 1)
    expected = np.asarray(pmf(ks)) * draws.size
    seen = np.array([(draws == k).sum() for k in ks])
    keep = expected > 8
    seen = np.append(seen[keep], draws.size - seen[keep].sum())
    wanted = np.append(expected[keep], draws.size - expected[keep].sum())
    if wanted[-1] < 8:
        seen, wanted = seen[:-1], wanted[:-1] * seen[:-1].sum() / wanted[:-1].sum()
    return float(stats.chisquare(seen, wanted).pvalue)


def exact_pmf(variance: Any, k: int) -> Any:
    v = mpmath.mpf(variance.numerator) / variance.denominator
    return mpmath.exp(-v) * mpmath.besseli(k, v)


@pytest.mark.parametrize("v", [Fraction(1, 10**30), Fraction(1, 3), Fraction(2), Fraction(5000)])
@pytest.mark.parametrize("bits", [7, 63, 130])
def test_the_bounds_hold_the_bessel_function(v: Fraction, bits: int) -> None:
    lower, upper = probabilities_up_to(v, bits)
    assert lower[-1] >= 2**bits - 2
    with mpmath.workdps(80):
        at = [exact_pmf(v, k) for k in range(min(len(lower), 60))]
        up_to = 2 * np.cumsum(np.array(at, object)) - at[0]
        for k, one in enumerate(up_to):
            assert lower[k] <= one * 2**bits <= upper[k]
            assert upper[k] - lower[k] <= 2


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
def test_inversion_follows_the_law(v: Fraction) -> None:
    """20 000 draws show it if a cell of probability 1/10 is wrong by 0.013."""
    draws = _skellam_draws.by_inversion(v, 20_000, wide.Draws(engine_of, seeded(5)))
    assert p_value(draws, Skellam(v).pmf) > 1e-6


@pytest.mark.parametrize("mean", [Fraction(1), Fraction(7, 2), Fraction(125)])
def test_poisson_draws_by_rejection_follow_the_law(mean: Fraction) -> None:
    """Without thresholds the decision for wide laws draws narrow ones, which few draws can test."""
    envelope, draws = wide.envelope_of(mean), wide.Draws(engine_of, seeded(5))
    ks = (envelope.centre + draws.laplace(envelope.scale, 4000)).tolist()
    words = draws.words(4000).tolist()
    kept = [
        k for k, u in zip(ks, words, strict=True) if k >= 0 and wide.keeps(envelope, k, u, draws)
    ]
    assert p_value(np.array(kept), stats.poisson(float(mean)).pmf) > 1e-6


def test_the_slow_sampler_has_the_same_law() -> None:
    source = CallableBytes(seeded(6))
    draws = np.array([slow_skellam(Fraction(7, 3), source) for _ in range(5000)])
    assert p_value(draws, Skellam("7/3").pmf) > 1e-6


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


def test_what_bounds_leave_open_more_bits_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """With bounds 2**60 units wide a third of all draws need more bits, and none changes."""
    plain = Skellam(3).sample(3000, source=seeded(8))
    lower, upper = _skellam_draws.inversion_table(Fraction(3))
    wide = np.uint64(2**58)
    coarse = type(_skellam_draws.inversion_table(Fraction(3)))(
        np.where(lower > wide, lower - wide, 0), upper + wide
    )
    asked: list[int] = []
    refined = _skellam_draws._refined

    def counted(variance: Fraction, u: int, bits: int, draws: Any) -> int:
        asked.append(u)
        return refined(variance, u, bits, draws)

    monkeypatch.setattr(_skellam_draws, "inversion_table", lambda variance: coarse)
    monkeypatch.setattr(_skellam_draws, "_refined", counted)
    assert (Skellam(3).sample(3000, source=seeded(8)) == plain).all()
    assert len(asked) > 300


LEAST_MEAN = Fraction(2**27) + Fraction(1, 3)


def steps_at_the_ends(scale: int, every: int) -> list[int]:
    """Return the least and the largest step of each cell, on both sides, and some far out."""
    ends = [-(-j * scale // wide._CELLS) for j in range(0, wide._SCALES * wide._CELLS + 2, every)]
    sizes = [s for end in ends for s in (end - 1, end) if s >= 0] + [20 * scale]
    return [*sizes, *(-s for s in sizes)]


def outside(found: wide.Thresholds, mean: Fraction, every: int) -> int:
    """Return at how many ends of cells f is not between the thresholds of the cell."""
    envelope = wide.envelope_of(mean)
    steps = steps_at_the_ends(envelope.scale, every)
    cells = wide._cells(envelope.scale, np.array(steps, object)).tolist()
    at, wrong = arithmetic(wide._bits(mean)), 0
    for step, j in zip(steps, cells, strict=True):
        excess = envelope.log_excess(envelope.centre + step, at)
        f = at.scale(at.exp(at.shift(excess, -envelope.top)), 2**64)
        wrong += not int(found.lower[j]) <= f.lower <= f.upper <= int(found.upper_less_1[j]) + 1
    return wrong


@pytest.mark.parametrize(
    ("mean", "every"), [(LEAST_MEAN, 1), (Fraction(2**59), 16), (Fraction(10**70), 16)]
)
def test_thresholds_hold_what_decides_at_the_ends_of_all_cells(mean: Fraction, every: int) -> None:
    """Between the ends f is monotone, except at its peak next to t = 1, so it is within them."""
    assert outside(wide.thresholds(), mean, every) == 0


def test_wrong_thresholds_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds without room for small means are wrong, and so are those of the next cell."""
    right = wide.thresholds()
    beside = wide.Thresholds(*(np.roll(x, 1) for x in right))
    monkeypatch.setattr(wide, "_LEAST_SCALE", 2**40)
    narrow = wide.thresholds.__wrapped__()
    for wrong in (narrow, beside):
        assert outside(wrong, LEAST_MEAN, 16) > 10


@pytest.mark.parametrize("v", [2**28 + 1, 2**60, 2**130])
def test_thresholds_change_no_draw(monkeypatch: pytest.MonkeyPatch, v: int) -> None:
    """The same bits make the same draws, even if thresholds leave all of them open, not 1 %."""
    fast, slow = seeded(12), seeded(12)
    drawn = Skellam(v).sample(200, dtype=object, source=fast)
    asked: list[int] = []

    def counted(envelope: Any, k: int, word: int, draws: Any) -> bool:
        asked.append(k)
        return keeps(envelope, k, word, draws)

    keeps = wide.keeps
    monkeypatch.setattr(wide, "keeps", counted)
    assert (Skellam(v).sample(200, dtype=object, source=seeded(12)) == drawn).all()
    assert len(asked) < 20
    all_open = wide.Thresholds(
        *(np.full_like(x, y) for x, y in zip(wide.thresholds(), (0, 2**64 - 1), strict=True))
    )
    monkeypatch.setattr(wide, "thresholds", lambda: all_open)
    assert (Skellam(v).sample(200, dtype=object, source=slow) == drawn).all()
    assert len(asked) > 400
    assert fast.used == slow.used


def test_no_step_wraps() -> None:
    """Differences that int64 does not hold are exact; -2**63 is in the last cell."""
    ends = np.array([2**63 - 1, -(2**63)])
    assert wide._differences(ends, ends[::-1].copy()).tolist() == [2**64 - 1, 1 - 2**64]
    last = wide._SCALES * wide._CELLS
    for scale in (2**14, 2**50):
        assert wide._cells(scale, ends).tolist() == [last, last]
        assert wide._cells(scale, np.array([scale, -scale])).tolist() == [wide._CELLS] * 2


@pytest.mark.evidence
@pytest.mark.parametrize("variance", [2**28 + Fraction(2, 3), Fraction(2**60)])
def test_a_million_wide_draws_follow_the_law(variance: Fraction) -> None:
    """200 cells show a Poisson law, and the Skellam law, which is normal to 1/variance."""
    draws, n, cells = wide.Draws(engine_of, "chacha20"), 10**6, np.arange(1, 200) / 200
    envelope = wide.envelope_of(variance / 2)
    poisson = stats.poisson(float(variance / 2))
    for found, law, centre in (
        (wide.poisson_steps(envelope, n, draws), poisson, envelope.centre),
        (Skellam(variance).sample(n), None, 0),
    ):
        if law is None:
            edges = np.floor(stats.norm.ppf(cells) * float(variance) ** 0.5)
            below = stats.norm.cdf((edges + 0.5) / float(variance) ** 0.5)
        else:
            edges = np.floor(stats.norm.ppf(cells) * float(variance / 2) ** 0.5)
            below = law.cdf(edges + centre)
        expected = np.diff([0, *below, 1]) * n
        seen = np.bincount(np.searchsorted(edges, found), minlength=200)
        assert stats.chisquare(seen, expected).pvalue > 1e-9


def test_sums_follow_the_convolution_and_the_law_of_the_sum() -> None:
    law, n = Skellam("1/2"), 8
    draws = law.sample((n, 20_000), source=seeded(9)).sum(axis=0)
    convolved = reduce(np.convolve, [law.pmf(np.arange(-20, 21))] * n)
    ks = np.arange(-20 * n, 20 * n + 1)
    assert np.abs(convolved - law.sum(n).pmf(ks)).max() < 1e-15
    assert p_value(draws, law.sum(n).pmf) > 1e-6


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
