"""What a release asks of the rows of its files before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inputs import must_not_draw
from same_bits import same_bits

from discretegauss import release
from discretegauss.errors import DiscreteGaussError, ParameterValueError, TableError
from discretegauss.release import Person, _first_look, commands

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

Columns = Mapping[str, Any]


def csv(columns: Columns, path: Path) -> Path:
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path = path.with_suffix(".csv")
    path.write_text("\n".join([",".join(columns), *lines, ""]))
    return path


def in_parquet(columns: Columns, path: Path) -> Path:
    """Write two row groups, so that the table comes in chunks."""
    path = path.with_suffix(".parquet")
    parquet.write_table(pa.table(columns), path, row_group_size=max(1, len(columns["n"]) // 2))
    return path


FORMATS = pytest.mark.parametrize("write", [csv, in_parquet])

TOTAL = {"town": ["A", "B", "C", "All"], "n": [31, 7, 11, 49], "m": [5, 2, 23, 30]}


def last(table: Path) -> str:
    """Return the place of the total, as an editor shows it."""
    return "line 5" if table.suffix == ".csv" else "row 4"


def released(table: Path, column: Any = "n", **options: Any) -> Any:
    out = table.with_name("out" + table.suffix)
    options = {"source": must_not_draw, "rho": 1, **options}
    return release.release_table(table, column, out, **options)


@FORMATS
def test_a_total_row_of_a_file_is_refused(
    tmp_path: Path, write: Callable[[Columns, Path], Path]
) -> None:
    table = write(TOTAL, tmp_path / "t")
    for who in ({}, {"person": Person(1), "by": "town"}, {"person": Person(3)}):
        with pytest.raises(
            TableError, match=f"{last(table)} is in every column of counts the"
        ) as e:
            released(table, ["n", "m"], **who)
        assert "49" not in str(e.value)
    assert sorted(tmp_path.iterdir()) == [table]
    released(table, ["n", "m"], rows_per_person=2, source="chacha20")


@FORMATS
def test_a_total_column_of_a_file_is_refused(
    tmp_path: Path, write: Callable[[Columns, Path], Path]
) -> None:
    table = write({"town": ["A", "B"], "n": [5, 2], "m": [8, 1], "both": [13, 3]}, tmp_path / "t")
    names = ["n", "m", "both"]
    for who in ({"disjoint": True}, {"person": Person(1), "by": "town", "across": "sex"}):
        with pytest.raises(TableError, match="column 'both' is in every row the sum of the other"):
            released(table, names, **who)
    released(table, names, source="chacha20")


@FORMATS
def test_margins_in_long_form_are_refused(
    tmp_path: Path, write: Callable[[Columns, Path], Path]
) -> None:
    cells = {("x", "p"): 5, ("x", "q"): 8, ("y", "p"): 3, ("y", "q"): 9}
    for a in "xy":
        cells[a, "All"] = cells[a, "p"] + cells[a, "q"]
    for b in ("p", "q", "All"):
        cells["All", b] = cells["x", b] + cells["y", b]
    columns = [list(x) for x in zip(*cells, strict=True)]
    table = write({"a": columns[0], "b": columns[1], "n": list(cells.values())}, tmp_path / "t")
    for who in ({}, {"person": Person(2, ["a", "b"]), "by": ["a", "b"]}):
        with pytest.raises(TableError, match="sum of the other rows that agree with it in"):
            released(table, **who)


@FORMATS
def test_a_table_that_is_not_held_is_looked_at_for_a_total_row(
    tmp_path: Path, write: Callable[[Columns, Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then noise is drawn before the last row is seen, but nothing is written."""
    monkeypatch.setattr(_first_look, "_MOST_COUNTS", 3)
    table = write(TOTAL, tmp_path / "t")
    with pytest.raises(TableError, match=f"{last(table)} is in every column of counts the sum"):
        released(table, ["n", "m"], source=same_bits())
    assert sorted(tmp_path.iterdir()) == [table]


@FORMATS
def test_ids_beside_counts_are_asked_about(
    tmp_path: Path, write: Callable[[Columns, Path], Path]
) -> None:
    """People are no counts. Stations are groups, and `by` says so."""
    table = write({"station_id": [*range(20)], "n": [*range(7, 27)]}, tmp_path / "t")
    for who in ({}, {"person": Person(1)}):
        with pytest.raises(TableError, match=r"each row looks like one person.*'station_id'"):
            released(table, **who)
    released(table, person=Person(1), by="station_id", source="chacha20")
    table.with_name("out" + table.suffix).unlink()
    mails = write({"who": [f"u{i}@example.org" for i in range(20)], "n": [*range(20)]}, table)
    with pytest.raises(TableError, match=r"each row looks like one person.*'who'"):
        released(mails)


def test_zeros_of_two_signs_are_one_group(tmp_path: Path) -> None:
    table = in_parquet({"g": [0.0, -0.0], "n": [1, 2]}, tmp_path / "t")
    rows = np.array([(0.0, 1), (-0.0, 2)], [("g", "f8"), ("n", "i8")])
    np.save(tmp_path / "t.npy", rows)
    for one in (table, tmp_path / "t.npy"):
        with pytest.raises(TableError, match="rows 1 and 2 must differ in by"):
            released(one, person=Person(1), by="g", source=same_bits())


# --- plans

PLAN = """rho = 1
[person]
records = 3
distinct = ["year"]
"""


def plan_of(folder: Path, *tables: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(
        PLAN + "".join(f'[[tables]]\n{one}\nout = "o{i}.csv"\n' for i, one in enumerate(tables))
    )
    return path


def refused(folder: Path, message: str, *tables: str) -> None:
    path = plan_of(folder, *tables)
    before = sorted(folder.iterdir())
    with pytest.raises(DiscreteGaussError, match=message):
        release.release_plan(path, source=must_not_draw)
    assert sorted(folder.iterdir()) == before


def test_one_name_is_one_grouping_in_all_files(tmp_path: Path) -> None:
    """Years and decades differ. Some of the years do not, nor do years in another format."""
    csv({"year": [2001, 2002, 2011], "n": [3, 4, 6]}, tmp_path / "years")
    csv({"year": [2000, 2010], "n": [3, 4]}, tmp_path / "decades")
    in_parquet({"year": [2011.0, 2001.0], "n": [3, 4]}, tmp_path / "some")
    csv({"town": ["A"], "2001": [4], "2011": [7]}, tmp_path / "wide")
    csv({"town": ["A"], "2000": [4], "2010": [7]}, tmp_path / "wide_decades")
    by_year = 'table = "{}"\ncolumn = "n"\nby = ["year"]'
    wide = 'table = "{}"\ncolumn = ["{}", "{}"]\nby = ["town"]\nacross = "year"'
    years, decades = by_year.format("years.csv"), by_year.format("decades.csv")
    message = "plan.toml: table 1 and .*table 2 must have the same groups in 'year'"
    refused(tmp_path, message, years, decades)
    refused(tmp_path, message, years, wide.format("wide_decades.csv", 2000, 2010))
    some = by_year.format("some.parquet")
    path = plan_of(tmp_path, years, some, wide.format("wide.csv", 2001, 2011))
    path.write_text(path.read_text().replace("o1.csv", "o1.parquet"))
    release.release_plan(path)


def test_a_column_that_is_a_sum_elsewhere_needs_values(tmp_path: Path) -> None:
    csv({"year": [2001, 2002], "income": [70, 20], "n": [1, 2]}, tmp_path / "t")
    table = 'table = "t.csv"\ncolumn = "income"\nby = ["year"]'
    message = "table 2 needs values: its column 'income' is a sum in table 1"
    refused(tmp_path, message, table + "\nvalues = [0, 100]", table)
    with pytest.raises(ParameterValueError, match=message):
        commands.read_plan(tmp_path / "plan.toml")
    plan = plan_of(tmp_path, table + "\nvalues = [0, 100]", table + "\nvalues = [0, 1]")
    assert len(commands.read_plan(plan).tables) == 2


# --- the report


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "one person is in one row, and changes its count by at most 1"),
        (
            {"column": ["n", "m"], "sensitivity": 2},
            "one person is in one row, and changes each of its 2 counts by at most 2",
        ),
        (
            {"column": ["n", "m"], "disjoint": True, "rows_per_person": 3},
            "one person is in at most 3 rows and in one of 2 columns, and changes a count by at mo",
        ),
        (
            {"sensitivity": "1.5"},
            "the Euclidean norm of all that one person changes is at most 1.5",
        ),
    ],
)
def test_a_report_begins_with_what_was_assumed(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    table = csv({"town": ["A", "B", "C"], "n": [31, 7, 11], "m": [5, 2, 20]}, tmp_path / "t")
    done = released(table, **{"column": "n", "source": "chacha20", **options})
    assert str(done).startswith(f"assumed             {said}")
    done = released(table, person=Person(1), source="chacha20", force=True)
    assert str(done).startswith("person ")
