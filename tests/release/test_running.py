"""Running counts cost what they say, for ever; all that is published is computed from the y."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inputs import must_not_draw
from numpy.typing import NDArray

import discretegauss as dg
from discretegauss.errors import (
    OutputError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
)
from discretegauss.privacy.joint import Joint
from discretegauss.privacy.sensitivity import Sensitivity
from discretegauss.release import Running
from discretegauss.release._running.weights import error_of_sum, inverse, squared_change, weights
from discretegauss.testing import seeded_source

pytestmark = pytest.mark.filterwarnings("ignore::discretegauss.testing.NotPrivateWarning")


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Running]:
    """Return a function that starts a series in a new file."""
    numbers = itertools.count()

    def run(**how: Any) -> Running:
        every: dict[str, Any] = {"period": 8, "rho": "0.1"} | how
        return Running.start(tmp_path / f"{next(numbers)}.state", **every)

    return run


def lines_of(run: Running) -> list[dict[str, Any]]:
    """Return the public parts of all days in the state."""
    lines = run._state.path.read_text().splitlines()[1:]
    return [json.loads(line.partition("\t")[0]) for line in lines]


# --- how far a person changes the weighted sums


def weighted(c: NDArray[Any], days: Any, change: Any) -> NDArray[Any]:
    """Return the weighted sums of all days if these changes are on these days."""
    column = np.zeros((max(days) + len(c), *np.shape(change[0])))
    for day, one in zip(days, change, strict=True):
        column[day : day + len(c)] += np.multiply.outer(c, one)
    return column


@pytest.mark.parametrize("apart", [1, 2, 3, 5])
def test_the_change_is_the_largest_of_all_sets_of_days(apart: int) -> None:
    """Lemma 3, by brute force; people of several series stay within it, and replaced ones."""
    draw = random.Random(apart)
    for _ in range(30):
        c = np.array(sorted((draw.randint(0, 9) for _ in range(draw.randint(1, 6))), reverse=True))
        c[0] = max(c[0], 1)
        for k in (1, 2, 3, 4):
            every = range((k - 1) * apart + 3)
            sets = [
                days
                for m in range(1, k + 1)
                for days in itertools.combinations(every, m)
                if all(q - p >= apart for p, q in itertools.pairwise(days))
            ]
            worst = max((weighted(c, days, [1] * len(days)) ** 2).sum() for days in sets)
            assert squared_change(c, k, apart) == worst
            for _ in range(5):
                days = draw.choice(sets)
                vectors = [np.array([draw.gauss(0, 1) for _ in range(3)]) for _ in days]
                units = [v / np.linalg.norm(v) for v in vectors]
                assert (weighted(c, days, units) ** 2).sum() <= worst + 1e-9
                both = (*days, *draw.choice(sets))
                signs = [1] * len(days) + [-1] * (len(both) - len(days))
                assert (weighted(c, both, signs) ** 2).sum() <= 2 * worst


CASES = [
    ((4, 2, 1), 9.0, 1, 1, 5),
    ((4, 2, 2), 6.0, 2, 2, 6),
    ((2, 1), 1.5, 3, 1, 6),
    ((8, 4, 3, 3), 20.0, 2, 1, 6),
]
"""Weights, sigma2, days, apart, and the number of days."""


def worst_case(
    last: Any, step: Any, c: tuple[int, ...], days: int, apart: int, n: int, first: Any
) -> float:
    """Return the largest value over people who choose their days from what was published.

    What matters of the past are the days so far and a state, which `step` computes.
    """

    @cache
    def value(t: int, wait: int, past: tuple[int, ...], state: Any) -> float:
        if t == n:
            return float(last(state))
        best = 0.0
        for goes in (False, True) if len(past) < days and wait == 0 else (False,):
            now = (*past, t) if goes else past
            shift = sum(c[t - s] for s in now if t - s < len(c))
            left = apart - 1 if goes else max(0, wait - 1)
            best = max(best, step(shift, state, lambda s, x=left, y=now: value(t + 1, x, y, s)))
        return best

    return value(0, 0, (), first)


@pytest.mark.parametrize(("c", "sigma2", "days", "apart", "n"), CASES)
@pytest.mark.parametrize("alpha", [1.1, 2, 10])
def test_no_adaptive_person_is_told_more_than_rho(
    c: tuple[int, ...], sigma2: float, days: int, apart: int, n: int, alpha: float
) -> None:
    """Theorem 1 by exact sums over y; at a whole order the bound is reached."""
    y = np.arange(-400.0, 401)
    mass = np.exp(-y * y / (2 * sigma2)).sum()

    def step(shift: int, state: None, then: Any) -> float:
        powers = (alpha * -((y - shift) ** 2) - (1 - alpha) * y * y) / (2 * sigma2)
        found = np.exp(powers - powers.max()).sum() / mass * then(state)
        return math.exp(powers.max()) * float(found)

    found = math.log(worst_case(lambda _: 1.0, step, c, days, apart, n, None)) / (alpha - 1)
    bound = alpha * squared_change(np.array(c), days, apart) / (2 * sigma2)
    assert found <= bound * (1 + 1e-9)
    assert found >= bound * (1 - 1e-9) or alpha != int(alpha)


@pytest.mark.parametrize(
    ("c", "sigma2", "days"), [((2, 1), 12, 2), ((4, 2, 2), 30, 1), ((3, 3), 40, 2)]
)
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_delta_holds_for_adaptive_people(
    c: tuple[int, ...], sigma2: int, days: int, epsilon: float
) -> None:
    """Theorem 2 by enumeration of three days. The bound is at most a third above the largest."""
    z = np.arange(-int(9 * sigma2**0.5), int(9 * sigma2**0.5) + 1)
    law = np.exp(-(z**2) / (2 * sigma2))
    law /= law.sum()
    likely = law > 1e-13

    def step(shift: int, state: int, then: Any) -> float:
        if not shift:  # the loss is a multiple of 1/(2 sigma2), kept as an integer
            return float(then(state))
        losses = state + (2 * z + shift) * shift
        each = zip(law[likely].tolist(), losses[likely].tolist(), strict=True)
        return float(sum(p * then(loss) for p, loss in each))

    def last(state: int) -> float:
        return max(0.0, 1 - math.exp(epsilon - state / (2 * sigma2)))

    found = worst_case(last, step, c, days, 1, 3, 0)
    norm2 = squared_change(np.array(c), days, 1)
    exact = Fraction(norm2)
    loss = Joint([Sensitivity(exact, exact, exact, norm2)]).loss([Fraction(sigma2)])
    assert loss is not None
    assert found <= loss.delta(Fraction(epsilon)) * (1 + Fraction(1, 10**9)) <= 1.4 * found


# --- weights and errors


def test_weights_are_rounded_fractions() -> None:
    exact, c = Fraction(2**16), weights(400)
    for j in range(400):
        assert abs(c[j] - exact) <= Fraction(1, 2) + Fraction(1, 10**9)
        exact *= Fraction(5 * j + 2, 5 * j + 5)
    assert (np.diff(c) <= 0).all()
    assert weights(1).tolist() == [2**16]


def test_errors_of_sums_are_those_of_the_exact_inverse() -> None:
    c, n = weights(7), 40
    exact = [Fraction(1, int(c[0]))]
    while len(exact) < n:
        known = [int(c[j]) * exact[-j] for j in range(1, min(len(c), len(exact) + 1))]
        exact.append(-sum(known, Fraction(0)) / int(c[0]))
    assert np.allclose(inverse(c, n), np.array(exact, float), rtol=0, atol=1e-19)
    sums = list(itertools.accumulate(exact))
    for window in (1, 7, 39, 40, 99):
        before = [Fraction(0)] * window + sums
        least = math.sqrt(sum((a - b) ** 2 for a, b in zip(sums, before, strict=False)))
        assert math.isclose(error_of_sum(c, n, window), least, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("days", "apart", "expected"),
    [(1, 1, (1.44, 2.23, 2.85, 3.84)), (2, 1, (2.59, 4.00, 5.10, 6.88)), (30, 1, (26.6, 41.2))],
)
def test_a_year_has_the_deviations_of_the_documentation(
    start: Callable[..., Running], days: int, apart: int, expected: tuple[float, ...]
) -> None:
    """In units of the noise of a day that is published once at the same rho."""
    run = start(period=365, rho="1/2", days=days, apart=apart)
    for window, one in zip((1, 7, 30, 365), expected, strict=False):
        assert abs(run.deviation(1000, window) / one - 1) < 0.01
    if days == 1:
        assert abs(run.deviation(365) - 3.29) < 0.005
    assert str(run).count("WORSE") == {1: 1, 2: 2, 30: 3}[days]


def test_a_period_of_one_is_fresh_noise(start: Callable[..., Running]) -> None:
    run = start(period=1, rho="1/8", days=3)
    assert math.isclose(run.deviation(50, 1), math.sqrt(3 * 4))
    assert math.isclose(run.deviation(50), math.sqrt(3 * 4 * 50))
    assert "WORSE" not in str(run)


# --- what is published


@pytest.mark.usefixtures("native_engine")
def test_the_noise_is_drawn_once_and_added_to_weighted_sums(start: Callable[..., Running]) -> None:
    """y - C x are the draws of the law by the same bits; totals are computed from y alone."""
    run, names = start(keys=list("abc"), days=2, apart=3), "abc"
    x = np.random.default_rng(5).integers(-50, 1000, (30, 3))
    seen = [run.add(row, day, source=seeded_source(day)) for day, row in enumerate(x)]
    y = np.array([line["y"] for line in lines_of(run)])
    c, estimates = weights(8), np.zeros((0, 3))
    for t in range(30):
        reach = min(t + 1, 8)
        sums = sum(c[j] * x[t - j] for j in range(reach))
        noise = run.law.sample(3, source=seeded_source(t))
        assert (y[t] == sums + noise).all()
        known = sum(c[j] * estimates[t - j] for j in range(1, reach))
        estimates = np.vstack([estimates, (y[t] - known) / 2**16])
        assert (seen[t].total == np.rint(estimates.sum(0))).all()
    assert (sum(one.value for one in seen) == seen[-1].total).all()
    assert [one.step for one in seen] == list(range(1, 31))
    again = Running(run._state.path)
    assert (again.last.total == seen[-1].total).all()  # type: ignore[union-attr]
    assert (again.published(4).value == seen[4].value).all()
    assert again.keys == tuple(names)
    assert again.law == run.law == dg.DiscreteGaussian(5 * squared_change(c, 2, 3))


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("rho", ["1/2", "1/2000"])
def test_errors_and_intervals_are_as_stated(start: Callable[..., Running], rho: str) -> None:
    """3000 series, 40 days, seeded bits: the spread of each sum, and how often it is covered.

    With little noise intervals are wider than asked, because they hold whole numbers.
    """
    run = start(period=30, rho=rho, keys=range(3000))
    x = np.random.default_rng(1).integers(0, 1000, (40, 3000))
    for day, row in enumerate(x):
        run.add(row, day, source=seeded_source(day))
    for window in (None, 1, 7, 30):
        truth = x[-(window or 40) :].sum(0)
        low, high = run.interval("0.95", window=window)
        error = (low + high) / 2 - truth
        rounding = 1 / 12 if window is None else 1 / 6
        predicted = math.sqrt(run.deviation(40, window) ** 2 + rounding)
        assert abs(error.std() / predicted - 1) * math.sqrt(2 * 3000) < 4
        assert abs(error.mean()) * math.sqrt(3000) / predicted < 4
        covered = float(((low <= truth) & (truth <= high)).mean())
        assert 0.95 - 0.016 < covered < (1 if rho == "1/2" else 0.95 + 0.016)


@pytest.mark.usefixtures("native_engine")
def test_a_series_has_any_order_and_keeps_it(start: Callable[..., Running]) -> None:
    run = start(keys=[("A", 1), ("A", 2), ("B", 1)], rho=1)
    index = pd.MultiIndex.from_tuples([("B", 1), ("A", 1), ("A", 2)])
    seen = run.add(pd.Series([300, 100, 200], index=index), "2026-02-28", source=seeded_source(1))
    assert seen.value.round(-1).tolist() == [300, 100, 200]
    assert seen.value.index.equals(index)
    assert (seen.value.name, seen.total.name) == ("n", "n_total")
    frame = pd.DataFrame({"people": [100, 300, 200]}, index=index[[1, 0, 2]])
    seen = run.add(frame, "2026-03-01", source=seeded_source(2))
    assert seen.total.round(-1).tolist() == [200, 600, 400]
    assert seen.day == date(2026, 3, 1)
    assert run.last is not None
    assert run.last.total.round(-1).tolist() == [200, 400, 600]


def test_a_budget_in_epsilon_and_delta_is_met_and_spent(start: Callable[..., Running]) -> None:
    run = start(rho=None, epsilon=1, delta="1e-6", days=2)
    assert 1 - 1e-5 < run.epsilon("1e-6") <= 1
    assert start().rho == Fraction(1, 10)


def test_sensitivity_and_rows_count_as_squares(start: Callable[..., Running]) -> None:
    one = start(keys=list("abcd")).law.sigma2
    assert start(keys=list("abcd"), sensitivity=3, rows_per_person=4).law.sigma2 == 36 * one
    assert start(keys=list("abcd"), sensitivity="1.5").law.sigma2 == Fraction(9, 4) * one


# --- days, and what is refused


def test_the_same_day_again_returns_what_was_published(start: Callable[..., Running]) -> None:
    run = start(period=5)
    first = date(2026, 12, 29)
    seen = [run.add(7 * i, first + timedelta(i)) for i in range(9)]
    for i in (8, 6, 5):  # of four days the counts are kept
        assert run.add(7 * i, str(first + timedelta(i)), source=must_not_draw) == seen[i]
    noon = datetime(2027, 1, 7)
    assert run.add(63, noon).day == date(2027, 1, 7)
    for day, counts, said in (
        (first + timedelta(8), 57, "published with other counts"),
        (first + timedelta(3), 21, "no longer kept"),
        (first - timedelta(1), 0, "no longer kept"),
        (first + timedelta(11), 0, "a day without counts is a day of 0"),
        (10, 0, "must be a date"),
    ):
        with pytest.raises((ParameterTypeError, ParameterValueError), match=said) as info:
            run.add(counts, day, source=must_not_draw)
        assert "57" not in str(info.value)
    assert len(lines_of(run)) == 10


BAD_COUNTS: list[tuple[Any, type[Exception]]] = [
    *[(one, ParameterTypeError) for one in (1.0, True, "7", None, [1], np.array([1]), 1j)],
    *[(one, ParameterOverflowError) for one in (2**62, -(2**62), 2**80, 2**46, -(2**46))],
]
BAD_TABLES: list[tuple[Any, type[Exception]]] = [
    *[(one, ParameterTypeError) for one in (5, None, "ab", [1.0, 2.0], [True, False], [2**70, 1])],
    *[(one, ParameterValueError) for one in ([1, 2, 3], [1], [[1], [2]])],
    (np.ma.masked_array([1, 2], [True, False]), ParameterTypeError),
    (pd.Series([1, 2], index=["a", "c"]), ParameterValueError),
    (pd.Series([1, 2, 3], index=["a", "b", "c"]), ParameterValueError),
    (pd.Series([1, 2], index=["a", "a"]), ParameterValueError),
    (pd.Series([1.0, 2.0], index=["a", "b"]), ParameterTypeError),
    (pd.Series([1, None], index=["a", "b"], dtype="Int64"), ParameterTypeError),
    (pd.DataFrame({"n": [1, 2], "m": [1, 2]}, index=["a", "b"]), ParameterValueError),
    (np.array([2**63, 1], np.uint64), ParameterOverflowError),
]


@pytest.mark.parametrize(("keys", "bad"), [(None, BAD_COUNTS), (["a", "b"], BAD_TABLES)])
def test_bad_counts_are_refused_before_anything_is_drawn(
    start: Callable[..., Running], keys: Any, bad: list[tuple[Any, type[Exception]]]
) -> None:
    run = start(keys=keys)
    for counts, error in bad:
        with pytest.raises(error, match=r"^counts must"):
            run.add(counts, 1, source=must_not_draw)
    assert lines_of(run) == []


def test_bad_days_are_refused(start: Callable[..., Running]) -> None:
    run = start()
    bad: list[tuple[Any, type[Exception]]] = [
        *[(one, ParameterValueError) for one in ("monday", "2026-1-2", "20260102", "", -1)],
        *[(one, ParameterTypeError) for one in (1.0, None, True, b"1")],
        (datetime(2026, 1, 2, 5), ParameterValueError),
        (2**63, ParameterOverflowError),
    ]
    for day, error in bad:
        with pytest.raises(error, match=r"^day must"):
            run.add(1, day, source=must_not_draw)


def test_bad_settings_are_refused_and_make_no_file(tmp_path: Path) -> None:
    bad: list[dict[str, Any]] = [
        *[{name: one} for name in ("period", "days", "apart") for one in (0, -1, True, 2.5)],
        {"period": 10**6 + 1},
        {"rows_per_person": 2},
        {"sensitivity": "1/2"},
        *[{"rho": one} for one in (0, "x", None, "1e-40", Fraction(1, 3**3000))],
        *[{"keys": one} for one in ([], ["a", "a"], [1, "1"], "aa", [1.5], [("a", 2.5)], 5)],
        {"epsilon": 1, "delta": "1e-6"},
        {"rho": None, "epsilon": 1},
    ]
    for how in bad:
        with pytest.raises((ParameterTypeError, ParameterValueError, ParameterOverflowError)):
            Running.start(tmp_path / "s", **{"rho": "0.1"} | how)
        assert list(tmp_path.iterdir()) == [], how


def test_questions_without_an_answer_are_refused(start: Callable[..., Running]) -> None:
    run = start()
    with pytest.raises(ParameterValueError, match="interval needs a day"):
        run.interval()
    run.add(1, 1)
    for ask, name in (
        (lambda: run.interval(1), "confidence"),
        (lambda: run.interval(1 - Fraction(1, 10**400)), "confidence"),
        (lambda: run.interval(window=0), "window"),
        (lambda: run.deviation(0), "steps"),
        (lambda: run.deviation(10**7 + 1), "steps"),
        (lambda: run.epsilon(0), "delta"),
        (lambda: run.published(2), "day"),
    ):
        with pytest.raises(ParameterValueError, match=rf"^{name} must"):
            ask()
    with pytest.raises(OutputError, match="already exists"):
        Running.start(run._state.path, rho="0.1")


def test_noise_that_protects_nobody_has_a_warning(start: Callable[..., Running]) -> None:
    with pytest.warns(dg.errors.PrivacyWarning, match="999 of 1000"):
        start(rho=100)
