"""The counts of people, before noise, are those of loops over their records, in each library."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from discretegauss.release import Person, Table
from discretegauss.release._people.categories import Categories
from discretegauss.release._people.tallies import asked, tallies

nw = pytest.importorskip("narwhals.stable.v2")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

Row = tuple[Any, ...]
NAMES = ("id", "a", "h", "b", "v", "x")


def _arrow(rows: Sequence[Row]) -> Any:
    kinds = (pa.int64(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.float64())
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], kind)
            for i, (name, kind) in enumerate(zip(NAMES, kinds, strict=True))
        }
    )


def _pandas(rows: Sequence[Row]) -> Any:
    frame = pd.DataFrame({name: [row[i] for row in rows] for i, name in enumerate(NAMES)})
    return frame.astype(
        {"id": "Int64", "a": "str", "h": "str", "b": "Int64", "v": "Int64", "x": "float64"}
    )


def _duckdb(rows: Sequence[Row]) -> Any:
    duckdb = pytest.importorskip("duckdb")
    table = _arrow(rows)
    return duckdb.from_arrow(table)


FRAMES: dict[str, Callable[[Sequence[Row]], Any]] = {
    "pandas": _pandas,
    "polars": lambda rows: pl.from_arrow(_arrow(rows)),
    "lazy": lambda rows: pl.from_arrow(_arrow(rows)).lazy(),
    "pyarrow": _arrow,
    "duckdb": _duckdb,
}


def _no_numbers(*_: object) -> Any:
    raise AssertionError("nobody has more records than are kept")


def _few_numbers(ids: Any, *_: object) -> Any:
    if ids.size:
        raise AssertionError("nobody has more records than are kept")
    return ids


def _group(value: Any, bins: Sequence[tuple[Any, Any]], others: bool) -> Any:
    """Return the place of the bin of a number, the last place for all others, or None."""
    for i, (low, high) in enumerate(bins):
        is_number = value is not None and not math.isnan(value)
        if is_number and (low is None or low <= value) and (high is None or value < high):
            return i
    return len(bins) if others else None


@pytest.mark.parametrize("library", FRAMES)
def test_truths_are_those_of_a_loop(library: str) -> None:
    """Nulls, NaN, hierarchies, values that are not listed, all others, bins, sums and people."""
    draw = random.Random(4)
    n_tables = 0
    for _ in range(25):
        rows = [
            (
                draw.randint(1, 6) if draw.random() < 0.9 else None,
                draw.choice(["x", "y", "z", None]),
                draw.choice(["p", "q", "r"]),
                draw.choice([1, 2, 3, 7, None]),
                draw.choice([-9, -1, 0, 1, 9, None]),
                draw.choice([-1.5, 0.0, 0.1, 2.0, 5.0, math.inf, math.nan, None]),
            )
            for _ in range(draw.randint(0, 40))
        ]
        pairs: Any = [("x", "p"), ("x", "q"), ("y", "r"), (None, "p")][: draw.choice([2, 4])]
        with_others = draw.random() < 0.3
        numbers: Any = draw.choice(
            [[1, 2], [3, None, 1], [2], [(1, 2), (2, 4)], [(None, 2), (2, None)]]
        )
        bins: Any = draw.choice([[(0, 0.1), (0.1, 2)], [(None, 0), (0, 5), (5, None)], [(-1.5, 5)]])
        others = draw.random() < 0.5
        categories: Any = {
            ("a", "h"): [*pairs, ...] if with_others else pairs,
            "b": numbers,
            "x": [*bins, ...] if others else bins,
        }
        has_id = draw.random() < 0.6
        person = Person(40, id="id") if has_id else Person(40)
        plan = {
            "nation": Table(by=[]),
            "a": Table(by=["a"]),
            "b": Table(by=["b", "a"]),
            "sum": Table(by=["h", "b"], columns="v", values=(-2, 3)),
            "x": Table(by=["x"]),
            "all": Table(by=["a", "h", "b", "x"]),
        }
        if has_id:
            plan["people"] = Table(by=["a"], counts="people")
        tables = [asked(name, one.counting, one.columns, person) for name, one in plan.items()]
        listed = Categories(categories, ["a", "h", "b", "x"])
        found = tallies(nw.from_native(FRAMES[library](rows)), person, tables, listed, _few_numbers)

        counted = []
        for row in rows:
            pair: Any = (
                row[1:3] if row[1:3] in pairs else ("all others",) * 2 if with_others else None
            )
            number: Any = (
                row[3] if row[3] in numbers else None if isinstance(numbers[0], tuple) else "no"
            )
            if isinstance(numbers[0], tuple):
                at = _group(row[3], numbers, False)
                number = "no" if at is None else listed.dimensions[1].rows[at][0]
            place = _group(row[5], bins, others)
            if pair is None or number == "no" or place is None or (has_id and row[0] is None):
                continue
            counted.append((row[0], *pair, number, row[4], listed.dimensions[2].rows[place][0]))
        for table, (total, _) in zip(tables, found, strict=True):
            keys = listed.keys(table.counting.by)
            combinations = list(zip(*keys.values(), strict=True)) if keys else [()]
            at_keys = [NAMES.index(name) for name in table.counting.by]
            wanted: Counter[Any] = Counter()
            seen = set()
            for one in counted:
                key = tuple(one[i] for i in at_keys)
                add = 1 if table.column is None else min(3, max(-2, one[4] or 0))
                if table.counting.counts == "people":
                    add = (key, one[0]) not in seen
                    seen.add((key, one[0]))
                wanted[key] += add
            assert set(wanted) <= set(combinations)
            assert total.tolist() == [wanted[key] for key in combinations], table
            n_tables += 1
    assert n_tables >= 150


@pytest.mark.parametrize("library", FRAMES)
def test_the_number_of_records_of_each_person_is_right(library: str) -> None:
    """`len().over(id)`, by itself: privacy trusts narwhals with this window alone."""
    draw = random.Random(6)
    for n in (1, 7, 500):
        rows = [(draw.randint(1, 50) ** 9, None, "p", 1, 1, 1.0) for _ in range(n)]
        frame = nw.from_native(FRAMES[library](rows)).with_columns(nw.len().over("id").alias("n"))
        frame = frame.select("id", "n")
        found = (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).rows()
        of_each = Counter(row[0] for row in rows)
        assert Counter(found) == Counter((row[0], of_each[row[0]]) for row in rows)
