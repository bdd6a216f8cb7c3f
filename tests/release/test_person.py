"""A statement about a person bounds every possible person's change, and the cost of tables."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import discretegauss
from discretegauss._inputs.budget import Budget
from discretegauss.errors import DiscreteGaussError, ParameterValueError
from discretegauss.privacy.joint import Joint
from discretegauss.privacy.sensitivity import Sensitivity
from discretegauss.release._person import (
    Counting,
    Person,
    change,
    checked_counting,
    joint,
    together,
)
from discretegauss.testing import TapeSource

dg: Any = discretegauss

Record = tuple[int, ...]
Changes = list[dict[Record, int]]


def _people(levels: Sequence[int], person: Person) -> tuple[NDArray[np.intp], list[Record]]:
    """Return all possible people, as places of cells for their records, and the cells.

    The last place means no record. Columns are named 0, 1, 2.
    """
    cells = list(itertools.product(*map(range, levels)))
    combined = itertools.combinations_with_replacement(range(len(cells) + 1), person.records)
    people = np.array(list(combined))
    if person.distinct:
        alike = _counts(people, cells, frozenset(person.distinct))
        people = people[alike.max(axis=1) <= person.per_cell]
    return people, cells


def _counts(people: NDArray[np.intp], cells: list[Record], keys: frozenset[str]) -> NDArray[Any]:
    """Return how many records of each person are in each group."""
    of_cells = [tuple(cell[int(key)] for key in sorted(keys)) for cell in cells]
    groups = {key: i for i, key in enumerate(dict.fromkeys(of_cells))}
    places = np.array([*map(groups.__getitem__, of_cells), len(groups)])
    counts = np.zeros((len(people), len(groups) + 1), np.int64)
    for records in people.T:
        np.add.at(counts, (np.arange(len(people)), places[records]), 1)
    return counts[:, :-1]


def _pure(changes: Sequence[NDArray[Any]], scales: Sequence[Fraction]) -> Fraction:
    """Return the largest pure loss of a person, given each person's l1 norm of each table."""
    people = np.unique(np.stack(changes, axis=1), axis=0).tolist()
    return max(
        sum((x / s for x, s in zip(one, scales, strict=True)), Fraction(0)) for one in people
    )


def _change(records: Sequence[Record], table: Counting, values: Sequence[int]) -> Any:
    """Return what records add to each cell of one column in which they are counted."""
    cells: dict[Record, int] = {}
    for record, value in zip(records, values, strict=True):
        key = tuple(record[int(c)] for c in sorted(table.keys))
        cells[key] = 1 if table.counts == "people" else cells.get(key, 0) + value
    return cells


def _columns(table: Counting) -> int:
    """Return in how many columns a record is counted."""
    return table.columns if table.across is None else 1


def _norm2(one: dict[Record, int], other: dict[Record, int], table: Counting) -> int:
    """Return the squared norm of the difference, in all columns together."""
    cells = {*one, *other}
    return _columns(table) * sum((one.get(c, 0) - other.get(c, 0)) ** 2 for c in cells)


def _plan(draw: random.Random, replaced: bool) -> tuple[list[int], Person, list[Counting]]:
    """Return a random plan that is small enough to try all people."""
    columns = draw.choice((1, 2, 2) if replaced else (1, 2, 2, 3))
    levels = [draw.choice((2, 3)) for _ in range(columns)]
    names = [str(i) for i in range(columns)]
    most = draw.choice((1, 2) if replaced else (1, 2, 3) if columns == 3 else (1, 2, 3, 4))
    distinct = draw.sample(names, draw.randint(0, columns)) or None
    person = Person(
        most,
        distinct,
        draw.randint(1, most) if distinct else 1,
        "replace" if replaced else "add or remove",
    )
    tables = []
    for _ in range(2 if replaced else draw.randint(1, 4)):
        keys = draw.sample(names, draw.randint(0, columns))
        across = keys.pop() if keys and draw.random() < 0.3 else None
        counts = "people" if draw.random() < 0.25 else "records"
        values = draw.choice(((0, 2), (-2, 1))) if replaced and counts == "records" else None
        tables.append(
            checked_counting(
                by=keys, across=across, columns=draw.choice((1, 2)), counts=counts, values=values
            )
        )
    return levels, person, tables


def test_no_person_changes_tables_by_more_than_is_said() -> None:
    """In 200 plans no person is above the bounds, and 7 of 10 plans reach rho, and epsilon."""
    draw = random.Random(1)
    reached = reached_pure = of_tables = n_tables = 0
    for _ in range(200):
        levels, person, tables = _plan(draw, replaced=False)
        weights = [Fraction(draw.randint(1, 9)) for _ in tables]
        said = [change(person, table) for table in tables]
        people, cells = _people(levels, person)
        squares, sums = [], []
        shares = [weight / sum(weights) for weight in weights]
        scales = Joint(said).scales(shares, Fraction(1, 3))
        for table, bound in zip(tables, said, strict=True):
            counts = _counts(people, cells, table.keys)
            if table.counts == "people":
                counts = np.minimum(counts, 1)
            squares.append((counts**2).sum(axis=1) * _columns(table))
            sums.append(counts.sum(axis=1) * _columns(table))
            assert sums[-1].max() <= bound.l1
            assert counts.max() <= bound.each
            assert (counts > 0).sum(axis=1).max() * _columns(table) <= bound.counts
            rows = _counts(people, cells, frozenset(table.by)) > 0
            assert rows.sum(axis=1).max() <= bound.rows
        found = max(np.stack(squares, axis=1) @ [int(weight) for weight in weights])
        worst = [int(one.max()) for one in squares]
        most = together(person, tables, weights)
        alone = sum((w * one.norm2 for w, one in zip(weights, said, strict=True)), Fraction(0))
        assert found <= most <= alone
        assert all(x <= one.norm2 for x, one in zip(worst, said, strict=True))
        assert all(one.parts is None or one.each**2 * one.parts == one.norm2 for one in said)
        reached += found == most
        pure = _pure(sums, scales)
        assert pure <= Fraction(1, 3)
        reached_pure += pure == Fraction(1, 3)
        of_tables += sum(x == one.norm2 for x, one in zip(worst, said, strict=True))
        n_tables += len(tables)
    assert reached >= 140
    assert reached_pure >= 140
    assert of_tables >= 0.85 * n_tables


def test_the_records_that_agree_are_all_that_fit() -> None:
    """Both sides, with remainders above 1: up to 8 records, in groups of per_cell and the rest."""

    def most(records: int, alike: int) -> int:
        sizes = range(1, min(records, alike) + 1)
        return max((n * n + most(records - n, alike) for n in sizes), default=0)

    table = checked_counting(by=["0", "1"], columns=2)
    for records, alike in itertools.product(range(1, 9), range(1, 6)):
        said = change(Person(records, ["0"], alike), table)
        assert said.norm2 == 2 * most(records, alike)
        assert said.each == min(records, alike)
        assert said.l1 == 2 * records
    expected = Sensitivity(Fraction(26), Fraction(10), Fraction(3), counts=20, rows=5)
    assert change(Person(5, "0", 3), table) == expected


def test_nor_does_a_person_whose_records_are_replaced() -> None:
    """40 plans, some with negative values, hold their bounds, and some reach a table's bound."""
    draw = random.Random(2)
    reached = 0
    for _ in range(40):
        levels, person, tables = _plan(draw, replaced=True)
        weights = [Fraction(draw.randint(1, 5)) for _ in tables]
        signed = any(table.values is not None and table.values[0] < 0 for table in tables)
        changes: list[Changes] = []
        people, cells = _people(levels, person)
        for places in people:
            records = [cells[i] for i in places if i < len(cells)]
            for values in itertools.product((-2, 1) if signed else (0, 2), repeat=len(records)):
                fit = [[max(v, 0) if t.values == (0, 2) else v for v in values] for t in tables]
                ones = [f if t.values else [1] * len(f) for f, t in zip(fit, tables, strict=True)]
                made = zip(tables, ones, strict=True)
                changes.append([_change(records, table, one) for table, one in made])
        draw.shuffle(changes)
        most, said = together(person, tables, weights), [change(person, t) for t in tables]
        for one, other in itertools.product(changes[:15], changes[:40]):
            each = zip(one, other, tables, strict=True)
            squares = [_norm2(a, b, table) for a, b, table in each]
            assert sum(w * x for w, x in zip(weights, squares, strict=True)) <= most
            reached += any(x == bound.norm2 for x, bound in zip(squares, said, strict=True))
        assert most <= sum(w * bound.norm2 for w, bound in zip(weights, said, strict=True))
    assert reached > 20


def _tables(*by: str) -> list[Counting]:
    return [checked_counting(by=list(keys)) for keys in by]


@pytest.mark.parametrize(
    ("person", "by", "scale"),
    [
        (Person(3, ["t", "a"]), ["", "t", "a", "ta"], Fraction(5, 6)),
        (Person(3, ["t"]), ["", "s", "st"], 1),  # nested
        (Person(12, ["m"]), ["m", "c", "mc"], 1),
        (Person(5, ["a", "b", "c"]), ["ab", "ac", "bc"], Fraction(7, 15)),
        (Person(10, ["c", "m"], 2), ["c", "cm"], 1),
        (Person(3), ["", "t", "ta"], 1),
    ],
)
def test_tables_together_cost_rho_exactly_and_never_more_noise(
    person: Person, by: list[str], scale: Fraction
) -> None:
    """Tables that cross have less noise together than one by one; nested ones have the same."""
    tables, rho = _tables(*by), Fraction(1, 10)
    share = Fraction(1, len(tables))
    found = joint(person, tables).sigma2([share] * len(tables), rho)
    alone = [change(person, table).norm2 / (2 * share * rho) for table in tables]
    assert [a / b for a, b in zip(found, alone, strict=True)] == [scale] * len(tables)
    assert joint(person, tables).rho(found) == rho


def test_epsilon_and_delta_of_a_plan_are_used_up() -> None:
    """Three records in distinct cells take sigma 23.2 and 13.4; one by one, 25.4 and 14.6."""
    person, tables = Person(3, ["t", "a"]), _tables("", "t", "a", "ta")
    shares, delta = [Fraction(1, 4)] * 4, Fraction(1, 10**6)
    changed = joint(person, tables)
    sigma2 = changed.sigma2(shares, changed.rho_of(Budget(epsilon=1, delta=delta), shares))
    assert [round(float(x) ** 0.5, 1) for x in sigma2] == [23.2, 23.2, 23.2, 13.4]
    epsilon, by = changed.epsilon(sigma2, delta)
    assert 0.99999 < epsilon <= 1
    assert by == "nearly normal noise"
    # A person with three records in one town changes two tables by 3, and two by three times 1.
    # The composed losses of these draws have a lower bound that is not above epsilon.
    parts = [(sigma2[0], 3, 1), (sigma2[1], 3, 1), (sigma2[2], 1, 3), (sigma2[3], 1, 3)]
    width = Fraction(1, 256)
    losses = [dg.privacy.loss(dg.DiscreteGaussian(s), d, width=width) ** n for s, d, n in parts]
    lower, upper = losses[0].compose(*losses[1:]).epsilon(delta, bounds=True)
    assert lower <= epsilon
    assert upper > 0.98


def test_narrow_noise_costs_what_its_rho_implies() -> None:
    """No better bound is proven for a variance below about 3."""
    changed = joint(Person(2, ["t", "a"]), _tables("t", "a"))
    sigma2 = [changed.rho([Fraction(1)] * 2)] * 2  # so that rho is 1
    epsilon, by = changed.epsilon(sigma2, Fraction(1, 10**6))
    assert by == "arXiv 2004.00010, Corollary 13"
    assert epsilon == dg.privacy.zcdp_epsilon(1, "1e-6")


@pytest.mark.parametrize(("records", "columns"), [(2, 1), (3, 2), (9, 7)])
def test_normal_noise_stands_for_all_cells_of_a_person(records: int, columns: int) -> None:
    """Both sides: q of all cells, of neighbours on either side, is at most 2**-42, hardly less."""
    person, tables = Person(records), [checked_counting(by=["t"], columns=columns)] * 2
    norm2, sigma2, changed = change(person, tables[0]).norm2, Fraction(60), joint(person, tables)
    found = changed.loss([sigma2, sigma2])
    assert found is not None
    r2 = sigma2 - 2 * norm2 / found.norm2
    with mpmath.workdps(30):
        q = mpmath.exp(-2 * mpmath.pi**2 * r2.numerator / r2.denominator)
        assert mpmath.mpf(2) ** -44 < 2 * records * columns * q <= mpmath.mpf(2) ** -42
    assert changed.loss([sigma2, 2 * r2]) is None
    above = 2 * r2 + Fraction(1, 10**9)
    other = changed.loss([sigma2, above])
    assert other is not None
    assert other.norm2 == norm2 / (sigma2 - r2) + norm2 / (above - r2)
    assert other.t == 2 * Fraction(1, 2**38)


# --- one table in memory

FRAME = {"town": ["A", "A", "B"], "age": ["0-17", "18+", "0-17"], "n": [5, 8, 14]}


def _frame(library: str = "pandas") -> Any:
    module = pytest.importorskip(library)
    return (module.table if library == "pyarrow" else module.DataFrame)(FRAME)


@pytest.mark.parametrize("kind", ["reader", "stream", "relation", "lazy"])
def test_a_stream_of_a_table_is_read_once(kind: str) -> None:
    """A statement and the noise both need its rows; a second read would find none."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"town": ["A", "B"], "n": [10**6, 2 * 10**6]})
    person = Person(2, distinct="town")

    class Stream:
        """A stream of another library: it has rows for one reader only."""

        def __init__(self) -> None:
            self._reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            reader, self._reader = self._reader, None
            return reader.__arrow_c_stream__(requested_schema)

    def opened() -> Any:
        if kind == "relation":
            return pytest.importorskip("duckdb").from_arrow(table)
        if kind == "lazy":
            return pytest.importorskip("polars").from_arrow(table).lazy()
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
        return Stream() if kind == "stream" else reader

    assert dg.noise_for(opened(), rho="0.1", columns="n") == dg.DiscreteGaussian(5)
    noisy = dg.add_noise(opened(), rho="0.1", columns="n")
    noisy = noisy.collect().to_arrow() if kind == "lazy" else noisy  # lazy as it came
    assert all(abs(n - 10**6 * (i + 1)) < 1000 for i, n in enumerate(noisy["n"].to_pylist()))
    plan = dg.release.Plan(person, {"t": dg.release.Table("town", "n")}, rho="0.1")
    assert len(plan.add_noise({"t": opened()})["t"]) == 2
    plan = dg.release.Plan(person, {"t": dg.release.Table(["town", "month"], "n")}, rho="0.1")
    with pytest.raises(ParameterValueError, match=r"by must name columns of"):
        plan.add_noise({"t": opened()})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"by": ["town"]}, r"rows 1 and 2 must differ in by \(town\)"),
        ({"by": []}, "by is empty, so there must be one row, got 3"),
        ({"by": ["twon"]}, "'twon' is not there"),
        ({"by": ["n"]}, "by must not name a column of counts"),
        ({"person": Person(3, ["twon"])}, "'twon' is in neither"),
        ({"person": 3}, "person must be a release.Person"),
    ],
)
def test_a_frame_that_is_not_as_said_is_refused(asked: dict[str, Any], message: str) -> None:
    """It is refused before anything is drawn, and no cell is shown."""
    said = {"person": Person(3), "by": ["town", "age"]} | asked
    with pytest.raises(DiscreteGaussError, match=message) as caught:
        dg.release.Plan(said["person"], {"t": dg.release.Table(said["by"])}, rho="0.1").add_noise(
            {"t": _frame()}, "n", source=TapeSource(b"")
        )
    assert "A" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"records": 0}, "records must be at least 1"),
        ({"records": 2, "distinct": []}, "distinct must name at least one column"),
        ({"records": 2, "distinct": ["a", "a"]}, "'a' twice"),
        ({"records": 2, "distinct": [1]}, "distinct must be strings"),
        ({"records": 2, "per_cell": 2}, "per_cell needs distinct"),
        ({"records": 2, "neighbours": "swap"}, "neighbours must be 'add or remove' or 'replace'"),
        ({"records": 2**64}, "records must be below"),
    ],
)
def test_a_statement_that_says_nothing_is_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(DiscreteGaussError, match=message):
        Person(**said)
