"""Tables whose groups nobody listed: who counts, what it costs, and what comes back."""

from __future__ import annotations

import datetime
import io
import itertools
import math
import pickle
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discretegauss import privacy
from discretegauss.errors import DiscreteGaussError, ParameterTypeError, ParameterValueError
from discretegauss.release import Person, Plan, Table
from discretegauss.release._people.categories import Categories
from discretegauss.release._people.tallies import asked, tallies
from discretegauss.selection import KeepRule, TruncatedLaplace, keep_rule

nw = pytest.importorskip("narwhals.stable.v2")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

Row = tuple[Any, ...]
DROPPED = "m-SECRET-of-one-person-that-lies-out-of-line"


def _arrow(rows: Sequence[Row]) -> Any:
    names = ("id", "town", "job")
    kinds = (pa.int64(), pa.string(), pa.string())
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    return pa.table(dict(zip(names, columns, strict=True)))


def _duckdb(rows: Sequence[Row]) -> Any:
    return pytest.importorskip("duckdb").from_arrow(_arrow(rows))


FRAMES: dict[str, Callable[[Sequence[Row]], Any]] = {
    "pandas": lambda rows: _arrow(rows).to_pandas(),
    "categories": lambda rows: _arrow(rows).to_pandas().astype({"job": "category"}),
    "polars": lambda rows: pl.from_arrow(_arrow(rows)),
    "Categorical": lambda rows: pl.from_arrow(_arrow(rows)).cast({"job": pl.Categorical}),
    "lazy": lambda rows: pl.from_arrow(_arrow(rows)).lazy(),
    "pyarrow": _arrow,
    "duckdb": _duckdb,
}


def _truths(
    rows: Sequence[Row],
    person: Person,
    tables: dict[str, Table],
    listed: dict[str, list[Any]],
    library: str,
) -> list[Counter[Any]]:
    """Return the true numbers of the groups of each table; all records have the same number."""
    wanted = [
        asked(name, one.counting, one.columns, person, unknown=one.unknown)
        for name, one in tables.items()
    ]
    needed, unknown = (
        [key for one in wanted if one.unknown == free for key in one.counting.by]
        for free in (False, True)
    )
    categories = Categories(listed, needed, unknown)
    frame = nw.from_native(FRAMES[library](rows))
    found = []
    for one, (total, keys) in zip(
        wanted, tallies(frame, person, wanted, categories, lambda ids, *_: ids * 0), strict=True
    ):
        by = one.counting.by
        listed_keys = categories.keys(by) if keys is None else {}
        columns = [listed_keys[name] if keys is None else keys[name].to_list() for name in by]
        groups = [
            tuple(None if x is None or x != x else x for x in row)
            for row in zip(*columns, strict=True)
        ]
        assert len(set(groups)) == len(groups) == total.size
        found.append(+Counter(dict(zip(groups, total.tolist(), strict=True))))
    return found


def _rows(draw: random.Random, n: int, most: int = 9) -> list[Row]:
    towns, jobs = ["A", "B", "C"], [None, "", "x", "é", "z", *map(str, range(most))]
    return [(draw.randint(1, 6), draw.choice(towns), draw.choice(jobs)) for _ in range(n)]


TABLES = {
    "towns": Table(by=["town"]),
    "jobs": Table(by=["job"], unknown=True),
    "both": Table(by=["job", "town"], unknown=True),
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("has_id", [True, False])
def test_truths_are_those_of_a_loop(library: str, has_id: bool) -> None:
    """People of each group once, nulls as a group; records of other towns count nowhere."""
    draw = random.Random(3)
    listed = {"town": ["B", "A"]}
    for n in (0, 1, 60):
        rows = _rows(draw, n) if has_id else [(i, *row[1:]) for i, row in enumerate(_rows(draw, n))]
        person = Person(99, id="id") if has_id else Person(1)
        inside = [row for row in rows if row[1] in "AB"]
        found = _truths(rows, person, TABLES, listed, library)
        assert found == [
            Counter((row[1],) for row in inside),
            Counter((job,) for _, job in {(row[0], row[2]) for row in inside}),
            Counter((job, town) for _, town, job in set(inside)),
        ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_one_person_changes_at_most_that_many_groups_each_by_one(library: str) -> None:
    """Others keep the same records, though all of theirs have the same number.

    So codes are in the order of the keys, whoever else is there. The bound is reached.
    """
    draw = random.Random(5)
    most = Counter[int]()
    for _ in range(60):
        distinct = draw.choice([None, ["job"], ["town", "job"]])
        person = Person(draw.randint(1, 3), distinct, id="id")
        base = _rows(draw, 14)
        new = [(9, *row[1:]) for row in _rows(draw, draw.randint(1, 6), most=20)]
        other = [*base, *new]
        draw.shuffle(other)
        listed: dict[str, list[Any]] = {"town": ["A", "B"]}
        first, second = (_truths(x, person, TABLES, listed, library) for x in (base, other))
        for of_table, then in zip(first[1:], second[1:], strict=True):
            moved = {key: then[key] - of_table[key] for key in then | of_table}
            changed = [by for by in moved.values() if by]
            assert set(changed) <= {1}
            assert len(changed) <= person.records
            most[person.records] = max(most[person.records], len(changed))
    assert dict(most) == {1: 1, 2: 2, 3: 3}


# --- the cost ---------------------------------------------------------------------------------


def _outcomes(rule: KeepRule, n: int) -> dict[int | None, float]:
    """Return the probability of each noisy number of a group of n, and of None: not kept."""
    if n == 0:
        return {None: 1.0}
    reach = rule.threshold if isinstance(rule.law, TruncatedLaplace) else int(rule.law.isf(1e-16))
    law: dict[int | None, float] = {None: 0.0}
    for noise in range(-reach, reach + 1):
        outcome = n + noise if n + noise > rule.threshold else None
        law[outcome] = law.get(outcome, 0.0) + float(rule.law.pmf(noise))
    return law


def _delta(first: Sequence[int], second: Sequence[int], rule: KeepRule, epsilon: float) -> float:
    """Return delta at epsilon of all pairs of outcomes of groups with these true numbers."""
    laws = [[_outcomes(rule, n) for n in numbers] for numbers in (first, second)]
    total = 0.0
    for outcome in itertools.product(*({**x, **y} for x, y in zip(*laws, strict=True))):
        p, q = (
            math.prod(law.get(one, 0.0) for law, one in zip(of_side, outcome, strict=True))
            for of_side in laws
        )
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.parametrize(("most", "epsilon"), [(1, 1), (2, 3), (2, "1/2")])
def test_no_pair_of_neighbours_costs_more_than_the_share(most: int, epsilon: Any) -> None:
    """Over all outcomes of what one person changes in the true tables, in both directions.

    For one group a person delta is that of the rule, to 1e-12.
    """
    draw = random.Random(8)
    plan = Plan(
        Person(most, id="id"),
        {"jobs": Table(by=["job"], unknown=True, share="1/4"), "n": Table(by=[], share="3/4")},
        epsilon=4 * Fraction(epsilon),
        delta="1/5",
    )
    rule = plan.rules["jobs"]
    assert rule == keep_rule(epsilon, "1/20", most)
    spent, seen = 0.0, set()
    for _ in range(40):
        base = _rows(draw, draw.randint(0, 12), most=1)
        new = [(9, *row[1:]) for row in _rows(draw, 3, most=1)]
        tables = {"jobs": plan.tables["jobs"]}
        [first], [second] = (
            _truths(x, plan.person, tables, {}, "polars") for x in (base, base + new)
        )
        changed = [key for key in second | first if first[key] != second[key]]
        pair = tuple(sorted((first[key], second[key]) for key in changed))
        if pair in seen:
            continue
        seen.add(pair)
        one, other = [p for p, _ in pair], [q for _, q in pair]
        for x, y in ((one, other), (other, one)):
            spent = max(spent, _delta(x, y, rule, float(Fraction(epsilon))))
    assert len(seen) >= 3
    assert spent <= min(rule.delta, 1 / 20) + 1e-12
    if most == 1:
        assert spent == pytest.approx(rule.delta, abs=1e-12)


def test_the_budget_is_divided_by_shares(tmp_path: Any) -> None:
    """Listed tables have theirs together; the ledger has the sum, before anything is drawn."""
    tables = {
        "jobs": Table(by=["job"], unknown=True, share="1/8"),
        "towns": Table(by=["town"], share="1/2"),
        "nation": Table(by=[], share="3/8"),
    }
    plan = Plan(Person(2, id="id"), tables, epsilon=2, delta="1e-5")
    alone = Plan(
        Person(2, id="id"),
        {"towns": Table(by=["town"], share="4/7"), "nation": Table(by=[], share="3/7")},
        epsilon="7/4",
        delta=Fraction(7, 8 * 10**5),
    )
    assert plan.laws == alone.laws
    assert plan.rules == {"jobs": keep_rule("1/4", Fraction(1, 8 * 10**5), 2)}
    assert (plan.epsilon, plan.delta) == (2, Fraction(1, 10**5))
    assert not hasattr(plan, "rho")
    path = tmp_path / "p.ledger"
    ledger = privacy.Ledger.start(path, unit="a person", epsilon=30, delta="1e-4", own_delta="5e-5")
    frame = FRAMES["polars"]([(1, "A", "x")])
    result = plan.count(frame, {"town": ["A"]}, ledger=ledger)
    [entry] = privacy.Ledger(path).entries
    assert (entry.epsilon, entry.delta) == (Fraction(2), Fraction(1, 10**5))
    assert list(result) == ["jobs", "towns", "nation"]
    printed, sentences = str(plan), str(result)
    rule = plan.rules["jobs"]
    assert f"kept                groups whose noisy number is above {rule.threshold}\n" in printed
    assert "(epsilon, delta)    (0.25, 1.25e-6)\n" in printed
    assert printed.endswith(
        "total               (epsilon, delta) = (2, 0.00001), by basic composition"
    )
    assert "(epsilon, delta) = (2, 0.00001), by basic composition." in sentences
    assert f"whose noisy number of people is above {rule.threshold}." in sentences
    assert "Records with a value that is not listed are not counted." in sentences


# --- what comes back --------------------------------------------------------------------------


def _memory(result: Any) -> bytes:
    """Return all that a result says of itself: its pickle, its buffers, and files of it."""
    parts = [pickle.dumps(pickle.loads(pickle.dumps(result)))]
    if not isinstance(result, pa.Table):
        file = io.BytesIO()
        getattr(result, "write_parquet" if isinstance(result, pl.DataFrame) else "to_parquet")(file)
        parts.append(file.getvalue())
        result = result.to_arrow() if isinstance(result, pl.DataFrame) else pa.table({})
    parts.append(str(result.schema).encode())
    for column in result.columns:
        for chunk in column.chunks:
            parts += [bytes(buffer) for buffer in chunk.buffers() if buffer]
    return b"|".join(parts)


@pytest.fixture
def no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise, the same groups are kept, with the same counts."""
    monkeypatch.setattr(TruncatedLaplace, "sample", lambda _, size, **__: np.zeros(size, np.int64))


@pytest.mark.usefixtures("no_noise")
@pytest.mark.parametrize("library", FRAMES)
def test_a_dropped_group_leaves_no_trace(library: str) -> None:
    """With and without a group of one, and in another order, the result has the same memory."""
    rows = [(i, "A", "zulu") for i in range(40)] + [(i, "B", "alpha") for i in range(50, 80)]
    plan = Plan(
        Person(1, id="id"),
        {"jobs": Table(by=["job"], unknown=True), "both": Table(["town", "job"], unknown=True)},
        epsilon=2,
        delta="1e-6",
    )
    without = plan.count(FRAMES[library](rows))
    one_more = plan.count(FRAMES[library]([(99, "A", DROPPED), *rows[::-1]]))
    for name in plan.tables:
        memory = _memory(one_more[name])
        assert memory == _memory(without[name])
        assert b"SECRET" not in memory
    of_jobs = nw.from_native(one_more["jobs"])
    assert of_jobs.columns == ["job", "n"]
    assert of_jobs.rows() == [("alpha", 30), ("zulu", 40)]
    assert nw.from_native(one_more["both"]).rows() == [("A", "zulu", 40), ("B", "alpha", 30)]


@pytest.mark.usefixtures("no_noise")
def test_keys_are_text_integers_booleans_or_dates() -> None:
    """They come back in their order as they were, nulls first."""
    n = 40
    day = datetime.date(2026, 1, 1)
    for keys in ([None, "a", "é"], [None, -3, 2**60 + 1], [False, True], [None, day]):
        for make in (pl.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()):
            people = make({"key": keys[::-1] * n})
            found = Plan(
                Person(1), {"t": Table("key", "people", unknown=True)}, epsilon=1, delta="1e-6"
            ).count(people)["t"]
            assert nw.from_native(found).rows() == [(key, n) for key in keys]
    people = pd.DataFrame({"key": pd.array([None, 2, 2**60 + 1] * n, dtype="Int64")})
    plan = Plan(Person(1), {"t": Table("key", unknown=True)}, epsilon=1, delta="1e-6")
    assert plan.count(people)["t"]["key"].tolist()[1:] == [2, 2**60 + 1]


# --- what is refused --------------------------------------------------------------------------

UNKNOWN = {"jobs": Table(by=["job"], unknown=True)}


def _plan(person: Person = Person(3, id="id"), **budget: Any) -> Plan:  # noqa: B008
    return Plan(person, UNKNOWN, **(budget or {"epsilon": 1, "delta": "1e-6"}))


def _count(frame: Any = None, categories: Any = None, **more: Any) -> Any:
    def no_bits(_: memoryview) -> None:
        raise AssertionError("something was drawn")

    people = FRAMES["polars"]([(1, "A", "x")]) if frame is None else frame
    return _plan().count(people, categories, source=no_bits, **more)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: _plan(rho=1), r"tables\['jobs'\]: unknown groups need epsilon and delta, such as"),
    (lambda: _plan(epsilon=1), "unknown groups need epsilon and delta, such as delta = 1e-6"),
    (lambda: _plan(epsilon=1, delta="1/4"), "delta must be below 1/4"),
    (lambda: _plan(epsilon=1, delta="1e-6", report_delta="1e-6"), "report_delta needs rho"),
    (lambda: _plan(Person(2)), "needs a Person with id, or records = 1"),
    (lambda: _plan(Person(1, neighbours="replace")), "neighbours must be 'add or remove'"),
    (lambda: _plan(Person(1, ["jobs"], id="id")), "distinct must name columns of by"),
    (lambda: Table(by=["job"], values=(0, 1), unknown=True), "unknown needs columns in by"),
    (lambda: Table(by=["job"], across="x", unknown=True), "unknown needs columns in by"),
    (lambda: Table(by=[], unknown=True), "unknown needs columns in by"),
    (lambda: Table(by=["job"], unknown=1), "unknown must be"),  # type: ignore[arg-type]
    (lambda: _count(consistent=True), "consistent must be False for a plan with unknown groups"),
    (lambda: _count(categories={"job": ["x", ...]}), "must not have bins or ..., because"),
    (lambda: _count(pl.DataFrame({"id": [1], "job": [0.5]})), "'job' has Float64: make it Int64"),
    (lambda: _count(pl.DataFrame({"id": [1], "job": [[1]]})), "must be of text, integers"),
    (lambda: _count(pl.DataFrame({"id": [1]})), "people must have a column 'job'"),
    (lambda: _plan().add_noise({"jobs": 1}), "has unknown groups, which Plan.count counts"),
]


@pytest.mark.parametrize(("call", "named"), REFUSED)
def test_what_unknown_groups_do_not_fit_is_refused(call: Callable[[], object], named: str) -> None:
    """With a sentence that says what to give, before anything is drawn."""
    with pytest.raises((ParameterValueError, ParameterTypeError), match=named):
        call()


@pytest.mark.parametrize("library", FRAMES)
def test_nobody_is_in_no_group(library: str) -> None:
    """The result of no rows is like that of a dropped group of one; neither has shares."""
    result = _plan().count(FRAMES[library]([]))
    frame = nw.from_native(result["jobs"])
    assert (len(frame), frame.columns) == (0, ["job", "n"])
    of_one = nw.from_native(
        _plan(epsilon=1, delta="1e-30").count(FRAMES[library]([(1, "A", "x")]))["jobs"]
    )
    assert frame.schema == of_one.schema
    with pytest.raises(DiscreteGaussError, match="name must be one of"):
        result.share("jobs")
