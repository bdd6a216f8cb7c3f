"""The rule that keeps groups is the best, its delta is proven, and its draws are exact."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from engine import ENGINE
from inputs import must_not_draw
from scipy import stats

import discretegauss as dg
from discretegauss.errors import (
    DiscreteGaussError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
)
from discretegauss.selection import KeepRule, TruncatedLaplace, keep_groups, keep_rule

FRAME = pytest.importorskip("pandas").DataFrame({"a": [1], "b": [2]})
BUDGETS = [(e, d) for e in ("1/10", "1/2", 1, 3, 8) for d in ("1/5", "1/100", "1e-6", "1e-10")]


def _mpf(value: Any) -> Any:
    exact = Fraction(value)
    return mp.mpf(exact.numerator) / exact.denominator


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_keep_probabilities_are_the_best_there_are(epsilon: Any, delta: Any) -> None:
    """They are those of Desfontaines et al. at delta_k, the largest of its kind up to delta.

    delta_k is what n + X spends, summed over all its values in both directions.
    """
    with mp.workdps(60):
        rule = keep_rule(epsilon, delta)
        k = rule.threshold
        assert isinstance(rule.law, TruncatedLaplace)
        assert rule.law.largest == k
        e = mp.exp(_mpf(epsilon))
        weights = {x: e ** -abs(x) for x in range(-k, k + 1)}
        total = mp.fsum(weights.values())
        at = {x: w / total for x, w in weights.items()}
        spent = at[k]
        assert spent <= _mpf(delta)
        assert spent <= rule.delta <= spent * (1 + mp.mpf(2) ** -51)
        if k > 1:  # it is the largest
            assert 1 / (1 + 2 * mp.fsum(e**-x for x in range(1, k))) * e ** -(k - 1) > _mpf(delta)
        best = mp.mpf(0)
        for n in range(2 * k + 3):
            kept = rule.keep_probability(n)
            assert abs(kept - best) <= mp.mpf(2) ** -50 * best
            best = min(e * best + spent, 1 - (1 - best - spent) / e, mp.mpf(1))
        for one, other in ((0, 1), (1, 0)):
            stick = mp.fsum(
                max(at.get(x - one, 0) - e * at.get(x - other, 0), 0) for x in range(-k, k + 2)
            )
            assert abs(stick - spent) < mp.mpf(10) ** -50


def _stick(masses: Any, shift: int, epsilon: float) -> float:
    """Return the sum over integers of max(0, shifted law - exp(epsilon) law)."""
    moved = np.zeros(masses.size + shift)
    moved[shift:] = masses
    still = np.append(masses, np.zeros(shift))
    return float(np.maximum(moved - math.exp(epsilon) * still, 0).sum())


@pytest.mark.parametrize("groups", [4, 8, 64])
def test_the_delta_of_a_gaussian_threshold_is_proven(groups: int) -> None:
    """Sums over outcomes of two neighbours are at most delta, whichever groups are new."""
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    rule = keep_rule(epsilon, delta, groups)
    assert rule.delta <= delta
    assert isinstance(rule.law, dg.DiscreteGaussian)
    reach = int(rule.law.isf(1e-18))
    one = rule.law.pmf(np.arange(-reach, reach + 1))
    hidden = 1 - rule.law.sf(rule.threshold - 1)
    sums, worst = np.ones(1), 0.0
    for known in range(groups + 1):  # `sums` is the law of the noise of the known groups
        new = groups - known
        shown, log = -math.expm1(new * math.log(hidden)), new * math.log(hidden)
        with_person = shown + (1 - shown) * _stick(sums, known, float(epsilon) - log)
        worst = max(worst, with_person, _stick(sums, known, float(epsilon) + log))
        sums = np.convolve(sums, one)
    assert worst <= rule.delta * (1 + 1e-6)
    assert worst >= 0.8 * rule.delta  # the bound is not loose
    assert rule.keep_probability(0) == 0.0


def _spent(rule: KeepRule, epsilon: Fraction, groups: int) -> Any:
    """Return what a rule spends: all groups of one, or the worst number of them that are new."""
    if isinstance(rule.law, TruncatedLaplace):
        masses = [mp.exp(-x / _mpf(rule.law.scale)) for x in range(rule.threshold + 1)]
        return groups * masses[-1] / (2 * mp.fsum(masses) - 1)
    shown = Fraction(rule.law.sf(rule.threshold - 1, bounds=True)[1])
    shift = shown / (1 - shown)
    worst = groups * shown
    for new in range(groups):
        with_person, without = (
            Fraction(dg.privacy.delta(rule.law, at, queries=groups - new))
            for at in (epsilon + new * shown, epsilon - new * shift)
        )
        worst = max(worst, new * shown + with_person, without)
    return _mpf(worst)


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups"),
    [("51/25", "1/781250000", 3), *((f"{n}/10", "1e-6", 3) for n in range(1, 20)), (1, "1e-6", 8)],
)
def test_a_published_delta_is_not_below_what_is_spent(
    epsilon: Any, delta: Any, groups: int
) -> None:
    """The published delta is the least float that is at least what is spent."""
    rule = keep_rule(epsilon, delta, groups)
    with mp.workdps(400):
        spent = _spent(rule, Fraction(epsilon), groups)
        assert math.nextafter(rule.delta, 0) < spent <= rule.delta


def test_more_groups_a_person_take_gaussian_noise() -> None:
    """For 1 to 64 groups, the noise is chosen that keeps the smaller count with probability 1/2."""
    counts = []
    for groups in (1, 2, 4, 8, 16, 64):
        rule = keep_rule(1, "1e-6", groups)
        assert isinstance(rule.law, TruncatedLaplace) is (groups < 4)
        assert (
            rule.keep_probability(rule.threshold + 1) >= 0.5 > rule.keep_probability(rule.threshold)
        )
        counts.append(rule.threshold + 1)
    assert counts == [15, 28, 45, 64, 92, 190]
    # with so little epsilon the shifted one would be negative
    assert isinstance(keep_rule("1/1000", "1/10", 8).law, TruncatedLaplace)


@pytest.mark.parametrize(
    ("scale", "largest", "n"),
    [
        (1, 14, 10**5),
        ("7/3", 3, 10**5),
        (1000, 2, 3000),  # nearly uniform
        (3, 2, 3000),
        pytest.param(1, 14, 10**8, marks=pytest.mark.evidence),
        pytest.param(10, 100, 10**8, marks=pytest.mark.evidence),
    ],
)
def test_draws_have_the_law(scale: Any, largest: int, n: int) -> None:
    """Chi-square fails for a right sampler with a probability of 1e-9."""
    if ENGINE == "python":
        n = min(n, 2000)
    law = TruncatedLaplace(scale, largest)
    points = np.arange(-largest, largest + 1)
    counts = np.zeros(points.size, np.int64)
    for start in range(0, n, 10**7):
        draws = law.sample(min(10**7, n - start))
        counts += np.bincount(draws + largest, minlength=points.size)
    expected = n * law.pmf(points)
    rare = expected < 50
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    assert stats.chisquare(counts, expected * (counts.sum() / expected.sum())).pvalue > 1e-9
    assert law.sf(largest) == law.pmf(largest + 1) == law.pmf("1/2") == law.sf(math.inf) == 0
    assert law.sf(-math.inf) == law.sf(-largest - 1) == 1
    assert law.sf(points).tolist() == pytest.approx((1 - np.cumsum(law.pmf(points))).tolist())
    assert type(law.sample()) is int
    assert law.sample((2, 0, 3)).shape == (2, 0, 3)


def test_containers_come_back_without_the_groups_that_are_not_kept() -> None:
    """Each has its labels; a list or array has counts alone. A group of nobody is never named."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    large = 10**6
    counts = {"c": 2 * large, "b": 0, "a": large, "d": 0}
    for groups in (1, 16):
        assert list(keep_groups(counts, 1, "1e-6", groups)) == ["a", "c"]
    table = {"group": list(counts), "n": list(counts.values())}
    noisy = keep_groups(np.array(table["n"]), 1, "1e-6")
    assert abs(noisy - [large, 2 * large]).max() <= 14
    kinds: tuple[Any, ...] = (list, tuple)
    for kind in kinds:
        few = keep_groups(kind(table["n"]), 1, "1e-6")
        assert type(few) is kind
        assert abs(np.array(few) - [large, 2 * large]).max() <= 14
    series = keep_groups(pd.Series(counts), 1, "1e-6")
    assert list(series.index) == ["a", "c"]
    assert abs(series.to_numpy() - [large, 2 * large]).max() <= 14
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pl.LazyFrame(table), pa.table(table)):
        kept = keep_groups(frame, 1, "1e-6", columns="n")
        assert type(kept) is type(frame)
        kept = kept.collect() if isinstance(kept, pl.LazyFrame) else kept
        names, n = kept["group"], kept["n"]
        assert (names.to_pylist() if isinstance(kept, pa.Table) else list(names)) == ["a", "c"]
        assert abs(n.to_numpy() - [large, 2 * large]).max() <= 14
        assert kept.shape == (2, 2)


@pytest.mark.parametrize(
    ("counts", "named"),
    [
        ([1, -1], "from 0 to"),
        ([1, 2**62 + 1], r"from 0 to 2\*\*62"),
        ([1, None], "nulls"),
        (np.ones((2, 2), int), "one axis"),
        (50, "one axis"),
        ([1.5], "whole"),
        ("a", "counts"),
    ],
)
def test_counts_that_are_none_are_refused(counts: Any, named: str) -> None:
    """They are refused before anything is drawn."""
    with pytest.raises((ParameterValueError, ParameterTypeError), match=named):
        keep_groups(counts, 1, "1e-6", source=must_not_draw)


def test_the_largest_arguments_are_taken() -> None:
    """One more of each is refused."""
    (noisy,) = keep_groups([2**62, 0], 1, "1e-6")
    assert abs(noisy - 2**62) <= 14
    assert keep_rule(1, "1e-6", groups_per_person=10**4).threshold > 0
    with pytest.raises(ParameterOverflowError, match="groups_per_person must be at most 10000"):
        keep_rule(1, "1e-6", groups_per_person=10**4 + 1)


def test_a_failing_source_names_no_group() -> None:
    """The source's error comes through, and nothing is returned."""
    with pytest.raises((DiscreteGaussError, OSError, ZeroDivisionError)):
        keep_groups([10**6], 1, "1e-6", source=lambda buffer: 1 // 0)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: keep_rule(1, "1e-6", 10**5), "groups_per_person"),
        (lambda: keep_rule("1e-18", "1e-20"), "epsilon"),
        (lambda: keep_rule(1, "1/2"), "delta"),
        (lambda: TruncatedLaplace(1, 2**60), "largest"),
        (lambda: keep_groups(FRAME, 1, "1e-6"), "columns"),
    ],
)
def test_what_is_wrong_is_named(call: Any, named: str) -> None:
    """Errors name thresholds and numbers of groups that cannot be drawn or proven in time."""
    with pytest.raises(DiscreteGaussError, match=named):
        call()


def test_many_groups_a_person_take_the_simpler_bound() -> None:
    """The bound is a delta, too, above that of 64 groups, which have a smaller threshold."""
    rule = keep_rule(1, "1e-6", 100)
    assert isinstance(rule.law, dg.DiscreteGaussian)
    assert keep_rule(1, "1e-6", 64).threshold < rule.threshold < 100 * 14
    assert rule.delta <= 1e-6
