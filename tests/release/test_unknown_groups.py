"""Rows that were unknown beforehand are written if enough people are in them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import rows_of

from discretegauss.errors import (
    DiscreteGaussError,
    OutputError,
    ParameterValueError,
    TableError,
)
from discretegauss.release import Person
from discretegauss.release.commands import release_groups
from discretegauss.selection import TruncatedLaplace

BUDGET: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    table = tmp_path / "visits.csv"
    table.write_text('town,n,year\n"Dax, old",61234,1\nBex,1,1\nAix,1000,2\nAix,0,1\nCut,1,7\n')
    return table


@pytest.mark.parametrize("groups", [1, 16])
def test_only_groups_of_many_are_written(visits: Path, tmp_path: Path, groups: int) -> None:
    """The groups are sorted, with the count last, and cells are quoted if needed."""
    out = tmp_path / "kept.csv"
    done = release_groups(visits, "n", out, groups_per_person=groups, **BUDGET)
    header, *found = rows_of(out)
    assert header == ["town", "year", "n"]
    assert [row[:2] for row in found] == [["Aix", "2"], ["Dax, old", "1"]]
    assert abs(int(found[0][2]) - 1000) < 300
    assert done.rows == 2
    assert done.rule.delta <= 1e-6
    report = str(done)
    assert "2 groups" in report
    assert str(done.rule.threshold) in report
    assert "61234" not in report


def test_a_person_is_counted_once_in_a_group(visits: Path, tmp_path: Path) -> None:
    """The limit, and one beyond: one record needs no more, two have to be in distinct groups."""
    out, names = tmp_path / "kept.csv", ["town", "year"]
    for person in (
        Person(1),
        Person(1, ["town"]),
        Person(2, names),
        Person(2, names[::-1]),
    ):
        done = release_groups(visits, "n", out, force=True, person=person, **BUDGET)
        assert done.groups_per_person == person.records
    for person in (
        Person(2),
        Person(2, ["town"]),
        Person(2, names, per_cell=2),
    ):
        with pytest.raises(ParameterValueError, match="distinct must be all columns"):
            release_groups(visits, "n", out, force=True, person=person, **BUDGET)


def test_the_delta_of_the_report_is_rounded_up(visits: Path, tmp_path: Path) -> None:
    """Rounded to nearest, its six digits would be below the delta that is spent."""
    done = release_groups(visits, "n", tmp_path / "kept.csv", epsilon="1/5", delta="1e-6")
    assert f"{done.rule.delta:.6g}" == "9.13573e-07"
    assert "(1/5, 9.13574e-7)" in str(done)


def kept(table: Path) -> list[list[str]]:
    """Return the cells that name the groups of a table, all of which are kept."""
    out = table.parent / "kept.csv"
    release_groups(table, "n", out, force=True, **BUDGET)
    header, *groups = rows_of(out)
    assert header[-1] == "n"
    return [group[:-1] for group in groups]


@pytest.mark.parametrize("cell", ["y z", '" y,z "'])
def test_cells_of_text_are_published_without_quotes_or_blanks(tmp_path: Path, cell: str) -> None:
    """They hold no count, whether the core or Python reads a line."""
    table = tmp_path / "t.csv"
    table.write_text(f"a,n,b\nx,31337,{cell}\nu,\x0b31337,w\nv,31337,\n")
    assert kept(table) == [["u", "w"], ["v", ""], ["x", cell.strip('" ')]]


def test_cells_of_parquet_are_texts_without_pandas(tmp_path: Path) -> None:
    """A null is blank, and so is a cell that has no text."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    towns = pa.array(["Ulm", None]).dictionary_encode()
    at = pa.array([1, None], pa.timestamp("ns"))
    table = pa.table({"town": towns, "n": [31337, 31337], "at": at, "list": [[1], [2]]})
    pq.write_table(table, tmp_path / "t.parquet")
    nothing, ulm = kept(tmp_path / "t.parquet")
    assert nothing == ["", "", ""]
    assert re.fullmatch(r"Ulm/1970-01-01 00:00:00.0+1/", "/".join(ulm))


def _write_of_one_more(table: Path, *, is_there: bool) -> None:
    """Write two large groups, and maybe one of one person that changes the types of all columns."""
    people = [400, 1, 500] if is_there else [500, 400]
    share = [1.0, 0.5, 2.0] if is_there else [2, 1]
    if table.suffix == ".npy":
        types = [("share", "f8" if is_there else "i8"), ("people", "i8")]
        np.save(table, np.array(list(zip(share, people, strict=True)), types))
        return
    if table.suffix == ".csv":
        rows = zip(map(str, map(Fraction, share)), people, strict=True)
        table.write_text("share,people\n" + "".join(f"{x},{n}\n" for x, n in rows))
        return
    pa = pytest.importorskip("pyarrow")
    price = [Decimal(20), Decimal("1.125"), Decimal("1.5")]
    unit = "ns" if is_there else "us"
    columns = {
        "share": share,
        "price": price if is_there else [price[2], price[0]],
        "raw": [b"y", b"\xff", b"x"] if is_there else [b"x", b"y"],
        "at": pa.array([10**9, 1, 0] if is_there else [0, 10**6], pa.timestamp(unit)),
        "people": people,
    }
    if table.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), table)
    else:
        rows = pa.table(columns)
        with pa.ipc.new_file(table, rows.schema) as file:
            file.write_table(rows)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "npy", "csv"])
def test_a_dropped_group_changes_nothing(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a cell of the output, nor a line of the report, depends on it."""
    monkeypatch.setattr(TruncatedLaplace, "sample", lambda _, size, **__: np.zeros(size, np.int64))
    table, out = tmp_path / f"t.{suffix}", tmp_path / "kept.csv"
    found = set()
    for is_there in (False, True):
        _write_of_one_more(table, is_there=is_there)
        done = release_groups(table, "people", out, force=True, **BUDGET)
        found.add((out.read_text(), str(done), repr(done)))
    ((text, _, _),) = found
    header, *rows = text.splitlines()
    assert header.startswith("share,")
    assert [row.split(",")[0] for row in rows] == ["1", "2"]
    if suffix in ("parquet", "arrow"):
        assert rows[0] == "1,20,y,1970-01-01 00:00:01,400"


def test_cells_of_an_array_are_texts(tmp_path: Path) -> None:
    types = [("town", "U3"), ("n", ">u2"), ("share", "f4", (2,))]
    np.save(tmp_path / "t.npy", np.array([("a", 31337, 0.5), ("b", 31337, 1.5)], types))
    assert kept(tmp_path / "t.npy") == [["a", "[0.5, 0.5]"], ["b", "[1.5, 1.5]"]]


def test_what_is_wrong_is_refused(visits: Path, tmp_path: Path) -> None:
    """Each error names the fault, and nothing is written."""
    out = tmp_path / "kept.csv"
    twice = tmp_path / "twice.csv"
    twice.write_text("town,n\nAix,3\nAix,4\n")
    negative = tmp_path / "negative.csv"
    negative.write_text("town,n\nAix,-3\n")
    cases: list[tuple[Path, Any, Path, dict[str, Any], type[DiscreteGaussError], str]] = [
        (twice, "n", out, {}, TableError, "one row"),
        (negative, "n", out, {}, TableError, "negative"),
        (visits, ["n", "year"], out, {}, ParameterValueError, "one column"),
        (visits, "m", out, {}, TableError, "m"),
        (visits, "n", tmp_path / "kept.tsv", {}, OutputError, "csv"),
        (visits, "n", visits, {"force": True}, OutputError, "itself"),
        (visits, "n", out, {"delta": "1/2"}, ParameterValueError, "delta"),
        (visits, "n", out, {"groups_per_person": 0}, ParameterValueError, "groups_per_person"),
    ]
    for table, column, to, changed, error, named in cases:
        with pytest.raises(error, match=named):
            release_groups(table, column, to, **BUDGET | changed)
        assert not out.exists()
    release_groups(visits, "n", out, **BUDGET)
    with pytest.raises(OutputError, match="exists"):
        release_groups(visits, "n", out, **BUDGET)
    assert release_groups(visits, "n", out, force=True, **BUDGET).rows == 2
