"""Intervals of counts, totals and ratios hold the truth as often as they say, and are the least."""

from __future__ import annotations

import functools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from engine import needs_core
from evidence_cases import crossed, evidence, some

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from discretegauss.estimate import interval, ratio, total
from discretegauss.testing import seeded_source

pytestmark = pytest.mark.filterwarnings("ignore:draws from a seeded source")
LAWS = [dg.DiscreteGaussian(s) for s in ("1/4", 5, 1000, 10**4)]
LEVELS = [Fraction(9, 10), Fraction(19, 20), Fraction(99, 100)]
RELEASES = 10**5


def hits(inside: Any, least: Fraction) -> None:
    """Require that few of 10**5 releases miss; a right interval fails with P below 1e-9."""
    spread = math.sqrt(RELEASES * float(least * (1 - least)))
    assert np.count_nonzero(inside) >= RELEASES * least - 6 * spread


# --- counts


@pytest.mark.parametrize(
    ("law", "level"),
    crossed([*LAWS, dg.DiscreteLaplace(3), dg.GeneralizedGaussian(9, 3)], LEVELS),
)
def test_the_radius_of_a_count_is_the_least(law: Any, level: Fraction) -> None:
    """By certified tails, P(abs(X) <= r) >= level, and not for r - 1, also for several counts."""
    for queries in (1, 7, 5268):
        low, high = interval(0, law, level, queries=queries)
        assert low == -high

        def all_inside(r: int, end: int, queries: int = queries) -> float:
            tail = law.sf(r, bounds=True)[end]
            return (1 - 2 * Fraction(tail)) ** queries  # type: ignore[return-value]

        assert all_inside(high, 1) >= level
        assert high == 0 or all_inside(high - 1, 0) < level


@needs_core
@pytest.mark.parametrize("law", [LAWS[1], *evidence(LAWS[0], *LAWS[2:])], ids=repr)
def test_intervals_hold_counts(law: dg.DiscreteGaussian) -> None:
    """An interval holds any count, cut at 0 or not, alone or with others at once."""
    source = seeded_source(1)
    for truth in (0, 3, 10**6):
        noisy = truth + law.sample(RELEASES, source=source)
        for level in LEVELS:
            low, high = interval(noisy, law, level)
            hits((low <= truth) & (truth <= high), level)
            cut, high = interval(noisy, law, level, at_least=0)
            hits((cut <= truth) & (truth <= high), level)
            assert (cut >= 0).all()
            assert (cut == np.maximum(low, 0)).all()
    many = law.sample((RELEASES, 16), source=source)
    low, high = interval(many, law, LEVELS[1], queries=16)
    hits(((low <= 0) & (high >= 0)).all(axis=1), LEVELS[1])


def test_containers_come_back() -> None:
    """Labels, nulls and integers of any size stay; ends beyond int64 are refused."""
    pd = pytest.importorskip("pandas")
    law = dg.DiscreteGaussian(5)
    frame = pd.DataFrame({"town": ["a", "b"], "n": pd.array([7, None], dtype="Int64")})
    low, high = interval(frame, law, columns="n")
    assert low["town"].tolist() == ["a", "b"]
    assert (low["n"][0], high["n"][0]) == (3, 11)
    assert low["n"].isna().tolist() == high["n"].isna().tolist() == [False, True]
    high.loc[1, "n"] = 5  # each end has its own nulls
    assert low["n"].isna().tolist() == [False, True]
    assert interval({"a": 2**80, "b": None}, law)[0] == {"a": 2**80 - 4, "b": None}
    assert interval(np.array([250], np.uint8), law)[1].tolist() == [254]
    assert interval(np.array([2**63 - 5], np.uint64), law)[1].tolist() == [2**63 - 1]
    for wide in ([2**63 - 4], [2**63 + 9]):
        with pytest.raises(ParameterOverflowError, match="radius"):
            interval(np.array(wide, np.uint64), law)
    found = ratio(frame["n"], pd.Series([10, 20]), law)
    assert found.value.isna().tolist() == [False, True]
    assert ratio([7, None], [10, 20], law).low[1] is None


# --- totals


Pairs = dict[tuple[int, Fraction], int]
"""How many cells have a weight and a sigma2."""


def of_zeros(pairs: Pairs, confidence: Fraction) -> Any:
    """Return the total of as many counts of 0; its high end is the radius."""
    if len(pairs) == 1:
        ((weight, sigma2), n) = next(iter(pairs.items()))
        assert weight == 1
        return total(np.zeros(n, np.int64), dg.DiscreteGaussian(sigma2), confidence=confidence)
    cells = [one for one, n in pairs.items() for _ in range(n)]
    laws = [dg.DiscreteGaussian(sigma2) for _, sigma2 in cells]
    return total([0] * len(cells), laws, [w for w, _ in cells], confidence=confidence)


def must_tell(pairs: Pairs, inside: Any) -> None:
    """Require that the radius is right next to each P(abs(S) <= m), given in 60 digits.

    A confidence above it by 1e-30 needs more than m. One a little below it does not, by as much as
    the transforms may round.
    """
    slack = Fraction(1, 10**8) + Fraction(sum(pairs.values()), 10**13)
    r = of_zeros(pairs, Fraction(19, 20)).high
    for m in {0, max(r - 1, 0), r, r + 1}:
        exact = Fraction(mp.nstr(inside(m), 50))
        assert of_zeros(pairs, exact - slack).high <= m
        assert of_zeros(pairs, exact + Fraction(1, 10**30)).high > m


def exact_inside(pairs: Pairs, m: int) -> Any:
    """Return P(abs(S) <= m) by the definition: cells convolved one by one, in 60 digits."""
    return mp.fsum(p for at, p in convolved(tuple(pairs.items())).items() if abs(at) <= m)


@functools.cache
def convolved(pairs: tuple[tuple[tuple[int, Fraction], int], ...]) -> dict[int, Any]:
    masses = {0: mp.mpf(1)}
    for (w, sigma2), n in pairs:
        reach = math.isqrt(int(300 * sigma2)) + 2
        weights = {
            x: mp.exp(-mp.mpf(x * x) / (2 * mp.mpf(sigma2.numerator) / sigma2.denominator))
            for x in range(-reach, reach + 1)
        }
        z = mp.fsum(weights.values())
        for _ in range(n):
            new: dict[int, Any] = {}
            for at, p in masses.items():
                for x, q in weights.items():
                    new[at + w * x] = new.get(at + w * x, 0) + p * q / z
            masses = new
    return masses


@pytest.mark.parametrize(
    "pairs",
    some(
        [
            {(1, Fraction(1, 4)): 4},
            {(1, Fraction(1, 50)): 3, (2, Fraction(1, 4)): 1},
            {(1, Fraction(5)): 2},
            {(1, Fraction(5)): 1, (2, Fraction(5)): 1, (7, Fraction(1, 4)): 2},
            {(3, Fraction(1)): 2, (5, Fraction(7, 3)): 1},
            {(1, Fraction(1, 2)): 1, (1, Fraction(60)): 1},
        ],
        3,
    ),
    ids=str,
)
def test_the_law_of_a_total_is_that_of_sums(pairs: Pairs) -> None:
    with mp.workdps(60):
        must_tell(pairs, lambda m: exact_inside(pairs, m))


@pytest.mark.parametrize(
    ("sigma2", "n"), [("1/4", 10**6), (1000, 12), *evidence((5, 10**6), (10**4, 3))]
)
def test_the_law_of_many_cells_is_that_of_the_series(sigma2: Any, n: int) -> None:
    """It is the trigonometric sum over all k in 60 digits, with N twice as large."""
    s = Fraction(sigma2)
    with mp.workdps(60):
        width = mp.mpf(s.numerator) / s.denominator
        turns = 4 * (int(math.sqrt(60 * n * s)) + 2)

        def theta(t: Any) -> Any:
            return mp.fsum(mp.exp(-width * (t - 2 * mp.pi * j) ** 2 / 2) for j in range(-7, 8))

        def inside(m: int) -> Any:
            total = mp.mpf(2 * m + 1)
            for k in range(1, turns // 2 + 1):
                t = 2 * mp.pi * k / turns
                f = (theta(t) / theta(mp.mpf(0))) ** n
                if f < mp.mpf(10) ** -40:
                    break
                total += 2 * f * mp.sin((m + mp.mpf(1) / 2) * t) / mp.sin(t / 2)
            return total / turns

        must_tell({(1, s): n}, inside)


@pytest.mark.parametrize(
    ("weights", "sigma2"), crossed([(3, 7), (1, 100), (1, 10**9)], [10**8, 10**300], n=2)
)
def test_totals_of_wide_noise_are_nearly_normal(weights: tuple[int, int], sigma2: int) -> None:
    """The radius is the normal law's, and at most 2 % more."""
    r = of_zeros({(w, Fraction(sigma2)): 5 for w in weights}, Fraction(19, 20)).high
    spread = math.sqrt(5 * sum(w * w for w in weights)) * math.sqrt(sigma2)
    assert 1.9599 * spread < r < 1.999 * spread + 3


MIXTURES: dict[str, Pairs] = {
    "12 of 5": {(1, Fraction(5)): 12},
    "weights": {(1, Fraction(5)): 1, (2, Fraction(5)): 1, (7, Fraction(1, 4)): 3},
    "rounded": {(10**9 + w, Fraction(5)): 1 for w in range(40)},
    "12 of 1/4": {(1, Fraction(1, 4)): 12},
    "30 of 1000": {(1, Fraction(1000)): 30},
    "mixed": {(1, Fraction(5)): 3, (1, Fraction(10**4)): 1},
    "few atoms": {(w, Fraction(1, 4)): 1 for w in (997, 612, 455, 301, 300, 77, 76, 5, 4, 3, 2, 1)},
}


@needs_core
@pytest.mark.parametrize("name", [*list(MIXTURES)[:3], *evidence(*list(MIXTURES)[3:])])
def test_intervals_hold_totals(name: str) -> None:
    """Intervals hold totals with equal and other weights, and many sizes of noise."""
    pairs, source = MIXTURES[name], seeded_source(2)
    off = sum(
        w * dg.DiscreteGaussian(s).sample((RELEASES, n), source=source).sum(axis=1)
        for (w, s), n in pairs.items()
    )
    for level in LEVELS:
        found = of_zeros(pairs, level)
        hits(np.abs(off) <= found.high, level)
        times = {9: 1.645, 19: 1.96, 99: 2.576}[level.numerator]
        assert found.high < 1.1 * found.error * times + 3


def test_rounded_weights_share_their_miss() -> None:
    """With the confidence that 40 counts just hold, weights near 10**9 need the next radius.

    Their sum is 10**9 times that of the counts, and a little more. So the interval of that radius
    misses wherever the counts' does, and sometimes where the little is too much.
    """
    pairs = {(1, Fraction(5)): 40}
    low, high = Fraction(9, 10), Fraction(99, 100)
    edge = of_zeros(pairs, low).high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if of_zeros(pairs, middle).high == edge else (low, middle)
    found = of_zeros({(10**9 + w, Fraction(5)): 1 for w in range(40)}, low)
    assert (edge + 1) * 10**9 < found.high < (edge + 1.1) * 10**9


def test_totals_are_exact_sums() -> None:
    """Totals of integers of any size are exact, along an axis, with a law for each cell."""
    law = dg.DiscreteGaussian(5)
    found = total(np.array([2**62, 2**62, 2**62]), law)
    assert found.value == 3 * 2**62
    assert (found.low, found.high) == (3 * 2**62 - 8, 3 * 2**62 + 8)
    assert total([2**80, -1], law, weights=[2, 2**70]).value == 2**81 - 2**70
    square = total(np.arange(6).reshape(2, 3), law, axis=1)
    assert square.value.tolist() == [3, 12]
    assert square.low.tolist() == [-5, 4]
    assert total(np.arange(6).reshape(2, 3), law, [1, 1, -2], 1).value.tolist() == [-3, -3]
    mixed = total([5, 6], [law, dg.DiscreteGaussian(1000)])
    assert mixed.error == pytest.approx(math.sqrt(1005))
    weighed = total([5, 6], [law, dg.DiscreteGaussian(1000)], weights=[-3, 2])
    assert weighed.error == pytest.approx(math.sqrt(9 * 5 + 4 * 1000))
    assert (mixed.low, mixed.value, mixed.high) == (11 - 62, 11, 11 + 62)
    assert total(np.full((1, 2), 2**62), law, axis=1).value.tolist() == [2**63]
    assert total(np.full((1, 2), 2**62 - 1), law, axis=1).high.tolist() == [2**63 + 4]
    assert total([1, 2], law, weights=[0, 0]) == (0, 0.0, 0, 0)
    assert total([], law) == (0, 0.0, 0, 0)


# --- ratios


class Difference:
    """The difference X - r Y, with P(abs(X - r Y) > c) by the definition."""

    def __init__(self, law: dg.DiscreteGaussian, of_y: dg.DiscreteGaussian) -> None:
        self.y = np.arange(-(k := int(of_y.isf(1e-13))), k + 1)
        self.masses = of_y.pmf(self.y)
        self.end = int(law.isf(1e-13))
        self.cdf = law.cdf(np.arange(-self.end - 1, self.end + 1))

    def miss(self, r: float, c: float) -> float:
        ends = np.floor(c + r * self.y + 1e-12), np.ceil(-c + r * self.y - 1e-12) - 1
        high, low = (
            self.cdf[np.clip(x, -self.end - 1, self.end).astype(int) + self.end + 1] for x in ends
        )
        return 1 - float(np.sum(self.masses * (high - low)))


def critical_value(law: Any, of_y: Any, level: Fraction) -> float:
    """Return t, which the ends of 0/2**150 show: they are t deviations from 0."""
    return float(ratio(0, 2**150, law, of_y, confidence=level).high * 2.0**150 / law.std())


@pytest.mark.parametrize(
    ("s", "u"),
    [("1/4", "1/4"), (5, 5), (5, 50), (50, 5), *evidence((1, 1), ("1/4", 20), (10**5, 10**5))],
)
def test_the_critical_value_is_enough_at_every_ratio(s: Any, u: Any) -> None:
    """At 600 ratios and three levels, coverage is never below nominal, and not far above."""
    law, of_y = dg.DiscreteGaussian(s), dg.DiscreteGaussian(u)
    difference = Difference(law, of_y)
    rng = np.random.default_rng(3)
    ratios = {p / q for p in range(25) for q in range(1, 25)} | set(rng.random(200))
    for level in LEVELS:
        t = critical_value(law, of_y, level)
        worst = max(
            difference.miss(r, t * math.sqrt(law.var() + r * r * of_y.var()))
            for r in sorted(ratios)[:: 1 if law.sigma2 < 1000 else 40]
        )
        assert worst <= 1 - level + Fraction(1, 10**11)
    if law.sigma2 == of_y.sigma2 >= 5:
        assert critical_value(law, of_y, LEVELS[1]) < 1.03 * 1.959964


@needs_core
@pytest.mark.parametrize("sigma2", [5, *evidence("1/4", 1000, 10**4)])
def test_intervals_hold_ratios(sigma2: Any) -> None:
    """Intervals hold ratios of large and small counts, of a divisor that may be 0, and cut at 0."""
    law, source = dg.DiscreteGaussian(sigma2), seeded_source(4)
    deviation = max(1, round(math.sqrt(Fraction(sigma2))))
    for above, below in ((50, 100), (3, 12), (12, 6), (0, 4), (200, 1)):
        a = above * deviation + law.sample(RELEASES, source=source)
        b = below * deviation + law.sample(RELEASES, source=source)
        for level in LEVELS:
            for at_least in (None, 0):
                found = ratio(a, b, law, confidence=level, at_least=at_least)
                hits((found.low <= above / below) & (above / below <= found.high), level)
    assert found.low.min() >= 0  # counts are not negative, so neither is their ratio


@pytest.mark.parametrize(
    ("sigma2", "of_y"),
    [("1/4", "1/4"), (5, 7), (1, 2**40), (2**60, 3), (1000, 2**20), (2**50, 2**50)],
)
def test_ends_of_a_ratio_are_outside_the_exact_ones_and_next_to_them(
    sigma2: Any, of_y: Any
) -> None:
    """In rational arithmetic, the interval holds the exact set of t minus its slack.

    Counts are from 0 to 2**200, and many are next to t deviations, where the set opens.
    """
    rng, slack = np.random.default_rng(6), 1 + Fraction(1, 10**9)
    laws = dg.DiscreteGaussian(sigma2), dg.DiscreteGaussian(of_y)
    s, u = (Fraction(float(law.var())) for law in laws)
    t = Fraction(critical_value(*laws, LEVELS[1]))
    counts = [[_a_count(rng, float(t) * math.sqrt(v)) for v in (s, u)] for _ in range(120)]
    above, below = zip(*counts, strict=True)
    ends, cut_ends = (
        ratio(above, below, *laws, confidence=LEVELS[1], at_least=least) for least in (None, 0)
    )
    kinds = Counter[str]()
    for i, (x, y) in enumerate(counts):
        low, high, cut, top = ends.low[i], ends.high[i], cut_ends.low[i], cut_ends.high[i]

        def outside(r: Fraction, t: Fraction, x: int = x, y: int = y) -> bool:
            return (x - r * y) ** 2 > t**2 * (s + r**2 * u)

        if math.isfinite(high):
            kinds["bounded"] += 1
            middle = x * y / (y**2 - (t / slack) ** 2 * u)
            assert Fraction(low) <= middle <= Fraction(high)
            for end in (Fraction(low), Fraction(high)):
                assert outside(end, t / slack)
                far = abs(middle - end)
                inwards = min(far, far / 10**6 + abs(end) / 10**14)
                nearer = end + (inwards if end < middle else -inwards)
                assert not outside(nearer, t), (x, y, low, high)
            assert (cut, top) == (max(low, 0), max(high, 0))
        else:
            assert (low, top) == (-math.inf, math.inf)
            if cut > 0:
                kinds["from a number on"] += 1
                assert outside(Fraction(cut), t / slack)
                assert outside(Fraction(0), t / slack)
            else:
                kinds["all"] += 1
                assert x <= 0 or not outside(Fraction(1, 2**900), t)
    assert sorted(kinds) == ["all", "bounded", "from a number on"]


def test_ratios_of_no_counts_are_no_ratios() -> None:
    found = ratio([], [], LAWS[1])
    assert [list(part) for part in found] == [[], [], [], []]


def test_a_ratio_of_large_counts_keeps_its_digits() -> None:
    found = ratio(334914895, 1417173173, dg.DiscreteGaussian(5))
    assert (found.high - found.value) * 1417173173 == pytest.approx(4.55, rel=0.02)


def _a_count(rng: np.random.Generator, edge: float) -> int:
    """Return a count of any size, or one next to t deviations from 0."""
    if rng.random() < 0.5:
        away = math.pow(10, -rng.uniform(0, 9))
        return round(edge * (1 + away if rng.random() < 0.5 else 1 - away))
    size = round(math.pow(2, rng.uniform(-1, 200)))
    return size if rng.random() < 0.5 else -size


def test_the_interval_of_a_sum_of_shares_is_that_of_its_law() -> None:
    """This holds for few shares, and for many, whose sum is nearly one discrete Gaussian."""
    shares = [dg.DiscreteGaussian(4), dg.DiscreteLaplace(3), dg.GeneralizedGaussian(9, 3)]
    for law in (law.sum(clients) for law in [*shares, dg.Skellam(4)] for clients in (2, 50)):
        assert interval([7], law) == tuple([7 + end] for end in law.interval(0.95))
    with pytest.raises(ParameterValueError, match="mu = 0"):
        interval([7], dg.DiscreteGaussian(4, mu=1).sum(2))
    with pytest.raises(ParameterOverflowError, match="or the law narrower"):
        interval([7], dg.DiscreteLaplace(10**6).sum(2))


# --- what is refused

LAW, MOVED, NARROW = (dg.DiscreteGaussian(*how) for how in ((5,), (5, 1), ("1/1000",)))
SURE = 1 - Fraction(1, 10**15)
FRAME = pytest.importorskip("pandas").DataFrame({"a": [1, 2], "b": [3, 4]})


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda: interval([1], MOVED), ParameterValueError, "law"),
        (lambda: interval([1], 5), ParameterTypeError, "law"),
        (lambda: interval([1], LAW, 1), ParameterValueError, "confidence"),
        (lambda: interval([1], LAW, 0), ParameterValueError, "confidence"),
        (lambda: interval([1.5], LAW), ParameterValueError, "whole"),
        (lambda: interval([1], LAW, queries=0), ParameterValueError, "queries"),
        (lambda: interval([1], LAW, at_least=0.5), ParameterTypeError, "least"),  # type: ignore[arg-type]
        (lambda: total([1, None], LAW), ParameterValueError, "nulls"),
        (lambda: total([1], LAW, [None]), ParameterValueError, "weights"),
        (lambda: total(FRAME, LAW), ParameterTypeError, "one column"),
        (lambda: ratio(FRAME, [1, 2], LAW), ParameterTypeError, "a must be .* not a frame"),
        (lambda: ratio([1], ["2"], LAW), ParameterTypeError, "^b must be integers"),
        (lambda: interval(["1"], LAW), ParameterTypeError, "^noisy must be integers"),
        (lambda: ratio(FRAME.a, FRAME.b[::-1], LAW), ParameterValueError, "a and b .* labels"),
        (lambda: ratio({"x": 1}, {"y": 1}, LAW), ParameterValueError, "a and b .* labels"),
        (lambda: total(FRAME.a, LAW, FRAME.b[::-1]), ParameterValueError, "weights .* labels"),
        (lambda: ratio([2**200 + 1], [1], LAW), ParameterOverflowError, "counts"),
        (lambda: ratio([1], [-(2**200) - 1], LAW), ParameterOverflowError, "counts"),
        (lambda: ratio([1], [1], NARROW), ParameterOverflowError, "law"),
        (lambda: ratio([1], [1], LAW, confidence=SURE), ParameterValueError, "confidence"),
        (lambda: total([1], dg.DiscreteLaplace(5, 1)), ParameterValueError, "law must have mu"),
        (lambda: total([1], [MOVED]), ParameterValueError, "law must have mu"),
        (lambda: total([1, 2], [LAW]), ParameterValueError, "list of 2"),
        (lambda: total([1, 2], [91827, 3]), ParameterValueError, "list of 2 laws, one for each"),
        (lambda: total([1, 2], LAW, [1]), ParameterValueError, "weights"),
        (lambda: total([1], LAW, ["1"]), ParameterTypeError, "^weights"),
        (lambda: total(np.ones((1, 1), int), LAW, axis=2), ParameterValueError, "axis"),
        (lambda: ratio([1], [1, 2], LAW), ParameterValueError, "same shape"),
        (lambda: ratio([1], [1], LAW, at_least=1), ParameterValueError, "least"),
        (lambda: ratio([1], [1], LAW, 7), ParameterTypeError, "law_b"),
        (lambda: ratio(1, total([1, 2], LAW), LAW), ParameterTypeError, "^b .* not an Estimate"),
        (lambda: ratio(total([1, 2], LAW), 1, LAW), ParameterTypeError, "^a .* not an Estimate"),
        (lambda: total(total([1, 2], LAW), LAW), ParameterTypeError, "^noisy .* Estimate"),
        (lambda: interval(total([1, 2], LAW), LAW), ParameterTypeError, "^noisy .* Estimate"),
    ],
)
def test_what_is_wrong_is_named(call: Any, error: type[Exception], named: str) -> None:
    """Errors name what is wrong, and show no value of the data."""
    with pytest.raises(error, match=named):
        call()
