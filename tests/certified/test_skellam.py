"""Skellam draws: bounds of probabilities and thresholds of rejection hold, and change no draw."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from law_checks import LawTable, check_law
from scipy import stats

from discretegauss import Skellam
from discretegauss._certified.interval import arithmetic
from discretegauss._certified.skellam import probabilities_up_to
from discretegauss._drawing import skellam as _skellam_draws
from discretegauss._drawing import skellam_wide as wide
from discretegauss._drawing.engines import engine as engine_of
from discretegauss.testing import seeded_source as seeded

pytestmark = [
    pytest.mark.usefixtures("native_engine"),
    pytest.mark.filterwarnings("ignore::discretegauss.testing.NotPrivateWarning"),
]


@pytest.mark.parametrize("v", [Fraction(1, 10**30), Fraction(1, 3), Fraction(2), Fraction(5000)])
@pytest.mark.parametrize("bits", [7, 63, 130])
def test_the_bounds_hold_the_bessel_function(v: Fraction, bits: int) -> None:
    lower, upper = probabilities_up_to(v, bits)
    assert lower[-1] >= 2**bits - 2
    with mpmath.workdps(80):
        mean = mpmath.mpf(v.numerator) / v.denominator
        at = [mpmath.exp(-mean) * mpmath.besseli(k, mean) for k in range(min(len(lower), 60))]
        up_to = 2 * np.cumsum(np.array(at, object)) - at[0]
        for k, one in enumerate(up_to):
            assert lower[k] <= one * 2**bits <= upper[k]
            assert upper[k] - lower[k] <= 2


def test_what_bounds_leave_open_more_bits_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """With bounds 2**60 units wide a third of all draws need more bits, and none changes."""
    plain = Skellam(3).sample(3000, source=seeded(8))
    table, width = _skellam_draws.inversion_table(Fraction(3)), np.uint64(2**58)
    lower = np.where(table.lower > width, table.lower - width, 0)
    coarse = table._replace(lower=lower, upper=table.upper + width)
    asked: list[int] = []
    refined = _skellam_draws._refined

    def counted(variance: Fraction, u: int, bits: int, draws: Any) -> int:
        asked.append(u)
        return refined(variance, u, bits, draws)

    monkeypatch.setattr(_skellam_draws, "inversion_table", lambda variance: coarse)
    monkeypatch.setattr(_skellam_draws, "_refined", counted)
    assert (Skellam(3).sample(3000, source=seeded(8)) == plain).all()
    assert len(asked) > 300


@pytest.mark.parametrize("mean", [Fraction(1), Fraction(7, 2), Fraction(125)])
def test_poisson_draws_by_rejection_follow_the_law(mean: Fraction) -> None:
    """Without thresholds the decision for wide laws draws narrow ones, which few draws can test."""
    envelope, draws = wide.envelope_of(mean), wide.Draws(engine_of, seeded(5))
    ks = (envelope.centre + draws.laplace(envelope.scale, 4000)).tolist()
    words = draws.words(4000).tolist()
    kept = [
        k for k, u in zip(ks, words, strict=True) if k >= 0 and wide.keeps(envelope, k, u, draws)
    ]
    pmf = stats.poisson(float(mean)).pmf(np.arange(400))
    table = LawTable("Poisson", 0, pmf, mean, symmetric=False)
    assert min(found.p_value for found in check_law(np.array(kept), table)) > 1e-6


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
@pytest.mark.parametrize("mean", [2**27 + Fraction(1, 3), Fraction(2**59)])
def test_a_million_wide_poisson_draws_follow_the_law(mean: Fraction) -> None:
    envelope, law = wide.envelope_of(mean), stats.poisson(float(mean))
    steps = wide.poisson_steps(envelope, 10**6, wide.Draws(engine_of, "chacha20"))
    edges = np.floor(stats.norm.ppf(np.arange(1, 200) / 200) * float(mean) ** 0.5)
    expected = np.diff([0, *law.cdf(edges + envelope.centre), 1]) * steps.size
    seen = np.bincount(np.searchsorted(edges, steps), minlength=200)
    assert stats.chisquare(seen, expected).pvalue > 1e-9
