"""A column that any table of a plan counts never leaves unchanged by another one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from inputs import must_not_draw
from tables import rows_of, write_plan

from discretegauss.errors import ParameterValueError
from discretegauss.release import Person, Plan, Table, release_plan
from discretegauss.release.commands import read_plan, release_json

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

PEOPLE, INCOME = 31337, 41414
PAGE = (Path(__file__).parents[2] / "docs" / "plans.md").read_text(encoding="utf-8")


def test_the_recipe_of_the_page(tmp_path: Path, run: Command) -> None:
    """Each output has its own count alone, and the report says which column it lacks."""
    section = PAGE.partition("## A count and an income in one file\n")[2]
    plan = re.findall(r"```toml\n(.*?)```", section, re.S)[0]
    (tmp_path / "plan.toml").write_text(plan.replace("rho = 0.1", "rho = 1e-9"))
    text = "".join(f"{town},{PEOPLE},{INCOME}\n" for town in "ABC")
    (tmp_path / "people.csv").write_text(f"town,people,income\n{text}")
    report = run("release", "--plan", tmp_path / "plan.toml").out
    for own, other in (("people", "income"), ("income", "people")):
        header, *rows = rows_of(tmp_path / f"{own}_noisy.csv")
        assert header == ["town", own]
        assert [row[0] for row in rows] == list("ABC")
        assert not {str(PEOPLE), str(INCOME)} & {row[1] for row in rows}
        assert f"left out            {other} (another table of the plan counts it)\n" in report
    assert report.count("other columns       1 (published unchanged)\n") == 2


def as_csv(frame: Any, path: Path) -> None:
    frame.to_csv(path, index=False)


def as_parquet(frame: Any, path: Path) -> None:
    frame.to_parquet(path)


def as_arrow(frame: Any, path: Path) -> None:
    feather.write_feather(frame, path)


def as_records(frame: Any, path: Path) -> None:
    dtypes = {"town": "U1", "note": "U8"}
    np.save(path, frame.to_records(index=False, column_dtypes=dtypes))


def read(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a file."""
    if path.suffix == ".npy":
        records = np.load(path)
        return {name: records[name].tolist() for name in records.dtype.names}
    readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".arrow": pd.read_feather}
    return {name: list(column) for name, column in readers[path.suffix](path).items()}


@pytest.mark.parametrize("same_file", [True, False])
@pytest.mark.parametrize(
    ("ending", "write"),
    [(".csv", as_csv), (".parquet", as_parquet), (".arrow", as_arrow), (".npy", as_records)],
)
def test_each_format_leaves_columns_out(
    tmp_path: Path, ending: str, write: Callable[[Any, Path], None], same_file: bool
) -> None:
    """The other columns stay, in their order. Files are compared by the names of their columns."""
    notes = ["x", 'y,"z"', "é"]
    frame = pd.DataFrame({"income": INCOME, "town": list("ABC"), "people": PEOPLE, "note": notes})
    names = [f"0{ending}", f"{0 if same_file else 1}{ending}"]
    for name in set(names):
        write(frame, tmp_path / name)
    tables = [
        {"table": table, "column": column, "out": f"{column}{ending}"}
        for table, column in zip(names, ("people", "income"), strict=True)
    ]
    done = release_plan(write_plan(tmp_path, 'rho = "1e-9"', *tables))
    people, income = (read(tmp_path / f"{column}{ending}") for column in ("people", "income"))
    assert list(people) == ["town", "people", "note"]
    assert list(income) == ["income", "town", "note"]
    assert people["town"] == income["town"] == list("ABC")
    assert people["note"] == income["note"] == notes
    assert PEOPLE not in people["people"]
    assert INCOME not in income["income"]
    assert [one.left_out for one in done.tables] == [("income",), ("people",)]
    assert [one.other_columns for one in done.tables] == [2, 2]
    assert [one["left_out"] for one in json.loads(release_json(done))["tables"]] == [
        ["income"],
        ["people"],
    ]


def test_columns_of_an_array_are_known_by_its_file(tmp_path: Path) -> None:
    """The column "1" of one array says nothing of the column "1" of another, or of a CSV file."""
    array = np.array([[1, PEOPLE, INCOME], [2, PEOPLE, INCOME]])
    np.save(tmp_path / "a.npy", array)
    np.save(tmp_path / "b.npy", array)
    (tmp_path / "link.npy").symlink_to("a.npy")
    (tmp_path / "c.csv").write_text("0,1,n\n7,8,9\n")
    tables = [
        {"table": "a.npy", "column": "1", "out": "a1.npy"},
        {"table": "link.npy", "column": "2", "out": "a2.npy"},
        {"table": "b.npy", "column": "0", "out": "b0.npy"},
        {"table": "c.csv"},
    ]
    done = release_plan(write_plan(tmp_path, 'rho = "1e-9"', *tables))
    assert [one.left_out for one in done.tables] == [("2",), ("1",), (), ()]
    a1, a2, b0 = (np.load(tmp_path / f"{name}.npy") for name in ("a1", "a2", "b0"))
    assert a1.shape == a2.shape == (2, 2)
    assert a1[:, 0].tolist() == a2[:, 0].tolist() == [1, 2]
    assert not {PEOPLE, INCOME} & {*a1[:, 1].tolist(), *a2[:, 1].tolist()}
    assert (b0[:, 1:] == array[:, 1:]).all()
    assert (tmp_path / "out3.csv").read_text().startswith("0,1,n\n7,8,")


def test_a_left_out_column_is_no_key_of_consistent_tables(tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text("town,n,m\nA,5,77\nB,7,88\n")
    (tmp_path / "1.csv").write_text("m\n12\n")
    plan = write_plan(tmp_path, "rho = 1", {}, {"column": "m"})
    done = release_plan(plan, consistent=tmp_path / "sums")
    assert [rows_of(path)[0] for path, _ in done.consistent] == [
        ["town", "n", "error", "low", "high"],
        ["m", "error", "low", "high"],
    ]


def test_each_of_three_tables_has_its_consistent_table_beside_a_plot(tmp_path: Path) -> None:
    """Several at once: outputs, consistent tables and the plot are files of one list."""
    pytest.importorskip("matplotlib")
    for i in range(3):
        (tmp_path / f"{i}.csv").write_text("town,n\nA,5\nB,7\n")
    plan = write_plan(tmp_path, "rho = 1", {}, {}, {})
    done = release_plan(plan, consistent=tmp_path / "sums", plot=tmp_path / "plan.png")
    assert len(done.consistent) == 3
    assert all(
        rows_of(path)[0] == ["town", "n", "error", "low", "high"] for path, _ in done.consistent
    )


@pytest.mark.parametrize("key", ['by = ["m"]', 'by = []\nacross = "m"'])
def test_a_key_that_another_table_counts_is_refused(tmp_path: Path, key: str) -> None:
    """The plan contradicts itself, whatever the files hold."""
    text = 'rho = 1\n[person]\nrecords = 1\n[[tables]]\ntable = "0.csv"\ncolumn = "n"\nout = "a"\n'
    text += f'{key}\n[[tables]]\ntable = "1.csv"\ncolumn = "m"\nby = []\nout = "b"\n'
    (tmp_path / "plan.toml").write_text(text)
    rule = f"table 1: {key.split()[-3]} must not name 'm', which another table of the plan counts"
    with pytest.raises(ParameterValueError, match=rule):
        read_plan(tmp_path / "plan.toml")


def plan_of_two(**more: Any) -> Plan:
    tables = {
        "people": Table(by="town", columns="people"),
        "income": Table(columns="income", **more),
    }
    return Plan(Person(1), tables, rho="1e-9")


@pytest.mark.parametrize(
    "frame_of", [pd.DataFrame, pl.DataFrame, pa.table, lambda columns: pl.DataFrame(columns).lazy()]
)
def test_frames_leave_columns_out(frame_of: Callable[[Any], Any]) -> None:
    """The frames that were passed stay as they were."""
    columns = {"income": [INCOME] * 2, "town": ["A", "B"], "people": [PEOPLE] * 2}
    frame = frame_of(columns)
    noisy = plan_of_two(by="town").add_noise({"people": frame, "income": frame})
    for name, order in (("people", ["town", "people"]), ("income", ["income", "town"])):
        found = noisy[name]
        assert list(getattr(found, "column_names", found.columns)) == order
        assert [str(town) for town in found["town"]] == ["A", "B"]
        assert not {PEOPLE, INCOME} & {int(str(x)) for x in found[name]}
    if isinstance(frame, pd.DataFrame):
        assert frame.equals(pd.DataFrame(columns))


def test_keys_and_levels_of_frames_that_another_table_counts_are_refused() -> None:
    """A level of the index cannot be left out."""
    frame = pd.DataFrame({"income": [1, 2], "town": ["A", "B"], "people": [3, 4]})
    frames: dict[str, Any] = {"people": frame, "income": frame}
    with pytest.raises(ParameterValueError, match=r"frames\['income'\]: by must not name 'people'"):
        plan_of_two(by="people").add_noise(frames, source=must_not_draw)
    frames["people"] = frame.set_index("income")
    rule = r"frames\['people'\]: the index must not have the level 'income', which another table"
    with pytest.raises(ParameterValueError, match=rule):
        plan_of_two(by="town").add_noise(frames, source=must_not_draw)
