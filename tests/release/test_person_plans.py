"""Plans with a statement about a person: the cases of docs/person.md, in files and in frames."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from evidence_cases import at_once
from same_bits import same_bits

import discretegauss
from discretegauss import release
from discretegauss.errors import (
    DiscreteGaussError,
    ParameterTypeError,
    ParameterValueError,
    TableError,
)
from discretegauss.release import Person, Plan, Table, _distinct_rows, commands
from discretegauss.release._person import change, checked_counting
from discretegauss.release.commands import plan_json, plan_text, read_plan, release_json
from discretegauss.testing import TapeSource

dg: Any = discretegauss

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

BUDGET = 'rho = "1/10"'
THREE = "[person]\nrecords = 3"
PERSON = '[person]\nrecords = 3\ndistinct = ["town", "age"]'
NATION = 'table = "nation.csv"\ncolumn = "n"\nby = []'
TOWNS = 'table = "towns.csv"\ncolumn = "n"\nby = ["town"]'
CELLS = 'table = "cells.csv"\ncolumn = "n"\nby = ["town", "age"]'
WIDE = 'table = "wide.csv"\ncolumn = ["young", "old"]\nby = ["town"]\nacross = "age"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nation.csv").write_text("n\n20\n")
    (tmp_path / "towns.csv").write_text("town,n\nA,13\nB,7\n")
    (tmp_path / "cells.csv").write_text("town,age,n\nA,young,5\nA,old,8\nB,young,3\nB,old,4\n")
    (tmp_path / "wide.csv").write_text("town,young,old\nA,5,8\nB,3,4\n")
    return tmp_path


def _text(*tables: str, person: str = PERSON, budget: str = BUDGET) -> str:
    parts = [f'[[tables]]\n{one}\nout = "out{i}.csv"' for i, one in enumerate(tables)]
    return "\n".join([budget, person, *parts])


def _sigma2(folder: Path, *tables: str, person: str = PERSON, budget: str = BUDGET) -> list[Any]:
    (folder / "plan.toml").write_text(_text(*tables, person=person, budget=budget))
    return [one.sigma2 for one in read_plan(folder / "plan.toml").noise]


def _refused(folder: Path, message: str, *tables: str, person: str = PERSON) -> None:
    """Require that the release is refused with the message and leaves no file."""
    (folder / "plan.toml").write_text(_text(*tables, person=person))
    files = sorted(folder.iterdir())
    with pytest.raises(DiscreteGaussError, match=message):
        dg.release.release_plan(folder / "plan.toml")
    assert sorted(folder.iterdir()) == files


# --- the cases of docs/person.md


def test_the_analyst_s_plan_is_right_without_a_thought(folder: Path) -> None:
    """With K = 3 in distinct cells, margins have the norm 3 and cells the norm sqrt(3).

    Town alone does not distinguish records. Pure epsilon is the sum of l1/scale over the tables.
    """
    assert _sigma2(folder, NATION, TOWNS, CELLS) == [135, 135, 45]
    done = dg.release.release_plan(folder / "plan.toml")
    assert [one.change.norm2 for one in done.tables] == [9, 9, 3]
    assert [one.change.l1 for one in done.tables] == [3, 3, 3]
    assert done.rho == Fraction(1, 10)
    assert [one.rows for one in done.tables] == [1, 2, 4]
    assert (folder / "out1.csv").read_text().startswith("town,n\nA,")


def test_tables_that_cross_have_less_noise(folder: Path) -> None:
    ages = TOWNS.replace('"town"', '"age"')
    assert _sigma2(folder, NATION, TOWNS, ages, CELLS) == [150, 150, 150, 50]
    text = plan_text(read_plan(folder / "plan.toml"))
    assert (
        "total rho           0.1 (zCDP); the sum by table is 0.12: nobody is the worst case" in text
    )


def test_rows_per_person_above_the_rows_cannot_be_said_any_more(folder: Path) -> None:
    """Three records of a person may all be in the only row."""
    assert _sigma2(folder, NATION, person=THREE) == [45]
    _refused(folder, "rows_per_person must not be given with .person.",
             NATION + "\nrows_per_person = 3", CELLS)  # fmt: skip


IN_EACH_COLUMN = WIDE.replace('\nacross = "age"', "")
BY_TOWN = PERSON.replace('"town", "age"', '"town"')
REPLACED = '\nneighbours = "replace"'
INCOME = TOWNS + "\nvalues = [0, 100]"


@pytest.mark.parametrize(
    ("table", "person", "sigma2"),
    [
        (IN_EACH_COLUMN, BY_TOWN, 30),  # a record counts in both columns
        (WIDE, BY_TOWN, 15),  # unless `across` says that it counts in one of them
        (WIDE, PERSON, 15),  # `distinct` has the key of the columns, too
        (WIDE, THREE, 45),  # without it the square of the norm is K**2, not K
        (CELLS, "[person]\nrecords = 5", 125),  # nothing says how many may agree
        (NATION, "[person]\nrecords = 1" + REPLACED, 10),  # in truth 5, in one row
        (INCOME, THREE, 9 * 100**2 * 5),  # a sum changes by its largest value
        (INCOME, THREE + REPLACED, 2 * 9 * 100**2 * 5),
        (TOWNS + "\nvalues = [-100, 50]", THREE + REPLACED, 4 * 9 * 100**2 * 5),
        # without a statement, a sensitivity of sqrt(6) covers rows that change by 2, 1 and 1
        (CELLS.partition("\nby")[0] + '\nsensitivity = "2.4495"', "", Fraction("2.4495") ** 2 * 5),
    ],
)
def test_a_statement_gives_its_noise(
    folder: Path, table: str, person: str, sigma2: Fraction
) -> None:
    assert _sigma2(folder, table, person=person) == [sigma2]


def test_tables_of_people_do_not_add_up(folder: Path) -> None:
    """They are refused if a person may be in several rows. With one record they add up."""
    people = TOWNS + '\ncounts = "people"'
    both = people, NATION + '\ncounts = "people"'
    assert _sigma2(folder, *both, person=THREE) == [30, 10]
    with pytest.raises(ParameterValueError, match="must all count records"):
        dg.release.release_plan(folder / "plan.toml", consistent=folder / "sums")
    assert _sigma2(folder, people, CELLS, person="[person]\nrecords = 1") == [10, 10]
    dg.release.release_plan(folder / "plan.toml", consistent=folder / "sums")
    assert (folder / "sums" / "out1.csv").exists()


def test_there_is_one_statement(folder: Path) -> None:
    """A second statement is no valid TOML, and an unknown key is refused."""
    _refused(folder, "is not a TOML file", CELLS, person=PERSON + "\n" + PERSON)
    _refused(folder, "'months' is not a key", CELLS, person=PERSON + "\nmonths = 12")


def test_a_table_of_fewer_records_changes_by_no_more() -> None:
    """The bound for a person with fewer records, as in a table of women, is not larger."""
    tables = [checked_counting(by=by) for by in ([], ["town"], ["town", "age"])]
    for table in tables:
        norms = [change(Person(k, ["town", "age"], 2), table).norm2 for k in range(1, 9)]
        assert norms == sorted(norms)


def test_the_report_says_that_no_file_shows_the_values(folder: Path) -> None:
    _sigma2(folder, INCOME, person=THREE)
    assert ", which no file can show" in plan_text(read_plan(folder / "plan.toml"))
    _refused(folder, "values needs counts = 'records'", INCOME + '\ncounts = "people"', CELLS)


def test_unknown_groups_take_the_statement(folder: Path) -> None:
    """A person is in K groups if `distinct` is the key of the groups. Others are refused."""
    (folder / "groups.csv").write_text("town,age,n\n" + "A,old,900\nB,old,800\n")
    how: Any = {"epsilon": 1, "delta": "1e-6", "force": True}
    paths = folder / "groups.csv", "n", folder / "kept.csv"
    done = commands.release_groups(*paths, person=Person(3, ["town", "age"]), **how)
    assert done.groups_per_person == 3
    for person in (Person(3), Person(3, ["town"]), Person(4, ["town", "age"], 2)):
        with pytest.raises(ParameterValueError, match="distinct must be all columns that name"):
            commands.release_groups(*paths, person=person, **how)


# --- files


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('by = ["town"]', "", "table 2: by, .* must be given with .person."),
        ('by = ["town"]', 'by = ["twon"]', "table 2: .*the table has no column 'twon'"),
        ('by = ["town"]', 'by = ["n"]', "table 2: .*by must not name a column of counts, got 'n'"),
        ('by = ["town"]', 'by = ["town"]\nacross = "town"', "across must not be in by"),
        ('by = ["town"]', 'by = ["town"]\ncounts = "all"', "counts must be 'records' or 'people'"),
        ('by = ["town"]', 'by = ["town"]\nvalues = [0, 0.5]', "values must be integers"),
        ('by = ["town"]', 'by = ["town"]\nvalues = [5, 1]', "values must be the least and the"),
        ('by = ["town"]', 'by = ["town"]\ndisjoint = true', "disjoint must not be given"),
        ("records = 3", "", "person: records, .* must be given"),
        ('distinct = ["town", "age"]', 'distinct = ["twon"]', "'twon' is in neither"),
        (PERSON, "", "table 1: by needs .person."),
        (PERSON, "person = 3", "person: must be a table"),
    ],
)
def test_a_plan_that_is_wrong_is_refused(folder: Path, old: str, new: str, message: str) -> None:
    text = _text(NATION, TOWNS, CELLS)
    assert old in text
    (folder / "plan.toml").write_text(text.replace(old, new, 1))
    files = sorted(folder.iterdir())
    with pytest.raises(DiscreteGaussError, match=message):
        dg.release.release_plan(folder / "plan.toml", source=TapeSource(b""))
    assert sorted(folder.iterdir()) == files


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_a_group_that_is_listed_twice_is_refused(folder: Path, kind: str) -> None:
    """A person would change both rows, in a file of any format."""
    towns, counts = ["A", "B", "A"], [13, 7, 1]
    if kind == "csv":
        (folder / "t.csv").write_text("town,n\nA,13\nB,7\nA,1\n")
    elif kind == "parquet":
        parquet.write_table(pa.table({"town": towns, "n": counts}), folder / "t.parquet")
    else:
        rows = np.array(list(zip(towns, counts, strict=True)), [("town", "U1"), ("n", "i8")])
        np.save(folder / "t.npy", rows)
    text = _text(TOWNS.replace("towns.csv", f"t.{kind}"), person=THREE)
    (folder / "plan.toml").write_text(text.replace("out0.csv", f"out0.{kind}"))
    files = sorted(folder.iterdir())
    with pytest.raises(
        TableError, match=r"table 1: .*(lines 2 and 4|rows 1 and 3) must differ in by \(town\)"
    ):
        dg.release.release_plan(folder / "plan.toml")
    assert sorted(folder.iterdir()) == files


@pytest.mark.parametrize("bits", [32, 64])
def test_groups_have_hashes_of_64_bits(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """Even if Python's own hash has 32 bits, 10**5 groups differ, and equal keys agree."""
    monkeypatch.setattr(_distinct_rows, "_HASH_BITS", bits)
    keys = [(f"town{i // 100}", str(i % 100)) for i in range(10**5)]
    hashes = _distinct_rows.group_hashes(keys)
    assert len(set(hashes.tolist())) == 10**5
    assert max(abs(x) for x in hashes.tolist()) > 2**55
    assert _distinct_rows.group_hashes(keys[:3]).tolist() == hashes[:3].tolist()


def test_a_null_is_a_group_of_its_own(folder: Path) -> None:
    """A null and an empty text are different groups."""
    parquet.write_table(pa.table({"town": ["", None, "A"], "n": [1, 2, 4]}), folder / "t.parquet")
    text = _text(TOWNS.replace("towns.csv", "t.parquet"), person="[person]\nrecords = 1")
    (folder / "plan.toml").write_text(text.replace("out0.csv", "out0.parquet"))
    assert dg.release.release_plan(folder / "plan.toml").tables[0].rows == 3


def test_a_total_of_two_rows_is_refused(folder: Path) -> None:
    (folder / "nation.csv").write_text("n\n20\n3\n")
    _refused(folder, "table 1: .*by is empty, so there must be one row, got 2", NATION, CELLS)


def test_errors_and_best_shares_know_the_statement(folder: Path) -> None:
    """An error gives the noise and so rho, and best shares follow the norms."""
    ages = TOWNS.replace('"town"', '"age"')
    each = [one + "\nerror = 20" for one in (NATION, TOWNS, ages, CELLS)]
    found = _sigma2(folder, *each, budget="")
    assert len(set(found)) == 1
    rho = read_plan(folder / "plan.toml").cost.rho
    # Towns and ages each lack a column, so two tables count 9 and the other two 3.
    assert rho == (2 * 9 + 2 * 3) / (2 * found[0])
    best = [one + f'\nshare = "best"\ncells = {n}' for one, n in ((NATION, 1), (CELLS, 3))]
    found = _sigma2(folder, *best)
    assert found == [90, 30]  # sqrt(9) and sqrt(3 * 3)


def test_the_report_says_who_is_counted(folder: Path) -> None:
    (folder / "sums.csv").write_text("town,income\nA,13\nB,7\n")
    sums = 'table = "sums.csv"\ncolumn = "income"\nby = ["town"]\nvalues = [0, 5]'
    (folder / "plan.toml").write_text(_text(NATION, WIDE, sums))
    text = plan_text(read_plan(folder / "plan.toml"))
    assert text.startswith(
        "person              at most 3 records, no two of them in the same town and age; "
        "one person more or less\n"
    )
    assert "grouped by          nothing: one row\n" in text
    norm = "changes counts by at most 3 in all, each by at most"
    assert f"one person          {norm} 3 (Euclidean norm 3)" in text
    assert f"one person          {norm} 1 (Euclidean norm the root of 3)" in text
    planned = json.loads(plan_json(read_plan(folder / "plan.toml")))
    done = json.loads(release_json(dg.release.release_plan(folder / "plan.toml")))
    said = {"records": 3, "distinct": ["town", "age"], "per_cell": 1, "neighbours": "add or remove"}
    assert planned["person"] == done["person"] == said
    for one in (planned, done):
        assert [table["norm2"] for table in one["tables"]] == ["9", "3", "225"]
        assert [table["by"] for table in one["tables"]] == [[], ["town"], ["town"]]
        assert one["tables"][1]["across"] == "age"
        assert one["tables"][2]["values"] == [0, 5]
    assert [table["rows_per_person"] for table in done["tables"]] == [1, 3, 3]


# --- frames


def _frames() -> dict[str, Any]:
    cells = {"town": ["A", "A", "B", "B"], "age": ["young", "old"] * 2, "n": [5, 8, 3, 4]}
    return {
        "nation": pd.DataFrame({"n": [20]}),
        "towns": pl.DataFrame({"town": ["A", "B"], "n": [13, 7]}),
        "cells": pa.table(cells),
    }


def _plan(**tables: Table) -> Plan:
    each = {"nation": Table([]), "towns": Table("town"), "cells": Table(["town", "age"])}
    return Plan(Person(3, ["town", "age"]), tables or each, rho="0.1")


def test_a_plan_of_frames_is_that_of_files(folder: Path) -> None:
    """It has the same noise and cost, and each frame comes back in its own library."""
    plan = _plan()
    assert [one.sigma2 for one in plan.noise.values()] == _sigma2(folder, NATION, TOWNS, CELLS)
    assert plan.rho == Fraction(1, 10)
    assert plan.epsilon == read_plan(folder / "plan.toml").cost.epsilon
    frames = _frames()
    noisy = plan.add_noise(frames, "n")
    assert {name: type(one) for name, one in noisy.items()} == {
        name: type(one) for name, one in frames.items()
    }
    assert noisy["cells"]["town"].to_pylist() == ["A", "A", "B", "B"]
    assert frames["towns"]["n"].to_list() == [13, 7]
    assert "person              at most 3 records" in str(plan)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"towns": None}, "frames must have the names of the plan's tables"),
        ({"more": 1}, "frames must have the names of the plan's tables"),
        ({"nation": pd.DataFrame({"n": [1, 2]})}, r"frames\['nation'\]: by is empty"),
        ({"towns": pl.DataFrame({"town": ["A", "A"], "n": [1, 2]})}, "rows 1 and 2 must differ"),
        ({"towns": pl.DataFrame({"t": ["A"], "n": [1]})}, r"frames\['towns'\]: .*'town' is not"),
        ({"cells": {"n": [1]}}, "must be a frame of pandas, polars or pyarrow"),
        ({"cells": pa.table({"town": ["A"], "age": ["o"], "n": [2**63 - 1]})}, "must fit int64"),
    ],
)
def test_a_frame_that_is_wrong_leaves_no_draw(changed: dict[str, Any], message: str) -> None:
    """Nothing is drawn for any frame if one is wrong."""
    frames = {name: one for name, one in (_frames() | changed).items() if one is not None}
    with pytest.raises(DiscreteGaussError, match=message):
        _plan().add_noise(frames, "n", source=TapeSource(b""))


def test_frames_and_tables_are_paired_by_name() -> None:
    """Order of keys: frames, or tables with their shares, in another order get the same noise."""
    shares = {"nation": Table([], share="1/6"), "towns": Table("town", share="1/3")}
    shares["cells"] = Table(["town", "age"], share="1/2")
    plan, turned = _plan(**shares), _plan(**dict(reversed(shares.items())))
    assert turned.laws == plan.laws
    assert len({*plan.laws.values()}) == 3
    frames, source = _frames(), same_bits()
    expected = {
        name: (np.array(frames[name]["n"]) + law.sample(len(frames[name]), source=source)).tolist()
        for name, law in plan.laws.items()
    }
    for given in (frames, dict(reversed(frames.items()))):
        noisy = plan.add_noise(given, "n", source=same_bits())
        assert {name: np.array(one["n"]).tolist() for name, one in noisy.items()} == expected


def test_a_wide_frame_names_its_columns() -> None:
    """A `Table` without columns has one column of counts, which `add_noise` names."""
    wide = pd.DataFrame({"town": ["A", "B"], "young": [5, 3], "old": [8, 4]})
    across = Table("town", ["young", "old"], across="age")
    plan = Plan(Person(3, ["town", "age"]), {"wide": across}, rho="0.1")
    assert plan.laws["wide"] == discretegauss.DiscreteGaussian(15)
    assert plan.add_noise({"wide": wide})["wide"].shape == (2, 3)
    one = Plan(Person(3, ["town"]), {"wide": Table("town")}, rho="0.1")
    with pytest.raises(ParameterValueError, match="columns must name one column, got 2"):
        one.add_noise({"wide": wide}, ["young", "old"])
    with pytest.raises(ParameterValueError, match="columns must name the column of counts"):
        one.add_noise({"wide": wide})


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "tables must have at least one"),
        ({"a": 3}, r"tables\['a'\] must be a release.Table"),
        ({"a": Table("town", share="1/2"), "b": Table("age")}, "share must be given for all"),
        ({"a": Table("town", share="1/2"), "b": Table("age", share="1/3")}, "got 5/6"),
        ({"a": Table("town")}, "'age' is in neither"),
    ],
)
def test_a_plan_of_frames_that_is_wrong_is_refused(tables: Any, message: str) -> None:
    with pytest.raises(DiscreteGaussError, match=message):
        Plan(Person(3, ["town", "age"]), tables, rho="0.1")


def test_by_may_name_the_index() -> None:
    """A pandas index can name the groups, and two rows of one group are refused there, too."""
    plan = Plan(Person(3, ["town"]), {"towns": Table("town")}, rho="0.1")
    towns = pd.DataFrame({"n": [13, 7]}, index=pd.Index(["A", "B"], name="town"))
    assert plan.add_noise({"towns": towns}, "n")["towns"].index.tolist() == ["A", "B"]
    with pytest.raises(ParameterValueError, match="rows 1 and 2 must differ in by"):
        plan.add_noise({"towns": pd.concat([towns.iloc[:1]] * 2)}, "n")


# --- one table


def test_one_table_takes_a_statement(tmp_path: Path) -> None:
    """All records may be in one row unless `by` is given. Then the rows must differ in `by`."""
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    table.write_text("town,n,m\na,5,1\nb,6,2\na,7,3\n")
    how: Any = {"rho": "0.1", "force": True}
    done = release.release_table(table, "n", out, person=Person(3), **how)
    assert (done.law, done.person) == (dg.DiscreteGaussian(45), Person(3))
    assert str(done).startswith("person ")
    both = release.release_table(table, ["n", "m"], out, person=Person(3), **how)
    across = release.release_table(table, ["n", "m"], out, person=Person(3), across="sex", **how)
    assert [both.sigma2, across.sigma2] == [90, 45]
    distinct = Person(3, ["town"])
    how |= {"source": same_bits()}
    with pytest.raises(TableError, match=r"lines 2 and 4 must differ in by \(town\)"):
        release.release_table(table, "n", out, person=distinct, by="town", **how)
    with pytest.raises(ParameterValueError, match="distinct must name columns of by"):
        release.release_table(table, "n", out, person=distinct, **how)
    for more in ({"sensitivity": 2}, {"rows_per_person": 2}, {"disjoint": True}):
        with pytest.raises(ParameterTypeError, match="must not be given with person"):
            release.release_table(table, "n", out, person=Person(3), **more, **how)
    with pytest.raises(ParameterTypeError, match="by needs person"):
        release.release_table(table, "n", out, by="town", **how)
    table.write_text("town,n\na,5\nb,6\n")
    done = release.release_table(table, "n", out, person=distinct, by=["town"], **how)
    assert done.law == discretegauss.DiscreteGaussian(15)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--records 3", "sigma2              45"),
        ("--records 3 --one-per-row", "sigma2              15"),
        ("--records 3 --column m --disjoint", "sigma2              45"),
        ("--records 3 --sensitivity 2", "--sensitivity must not be given with --records"),
        ("--one-per-row", "--one-per-row needs --records"),
        ("--records 4 --one-per-row", "--rows-per-person must be at most 3"),
    ],
)
def test_the_command_takes_records(run: Command, tmp_path: Path, options: str, said: str) -> None:
    (tmp_path / "t.csv").write_text("town,n,m\na,5,1\nb,6,2\nc,7,3\n")
    how = ("--column", "n", "--rho", "0.1", "--out", tmp_path / "o.csv")
    done = run("release", tmp_path / "t.csv", *how, *options.split())
    assert said in done.out if "sigma2" in said else done.is_refused_with(said)


@pytest.mark.parametrize("records", ["--records 3", "--records 3 --one-per-row"])
@pytest.mark.parametrize("budget", ["--rho 0.1", "--epsilon 1 --delta 1e-6"])
def test_calibrate_takes_records_as_release_does(
    run: Command, tmp_path: Path, budget: str, records: str
) -> None:
    """Both print the same person, noise and cost."""
    (tmp_path / "t.csv").write_text("n\n5\n6\n7\n")
    how = (*budget.split(), *records.split())
    files = (tmp_path / "t.csv", "--column", "n", "--out", tmp_path / "o.csv")
    released, calibrated = run("release", *files, *how).out, run("calibrate", *how).out
    names = ("person", "sigma2", "one person", "rho", "(epsilon")
    for line in calibrated.splitlines():
        assert not line.startswith(names) or line in released
    assert calibrated.count("\n") == (8 if "--one" not in records else 7)


@at_once(
    ("options", "said"),
    [
        ("--rho 1 --records 3 --queries 2", "--queries must not be given with --records: both say"),
        ("--rho 1 --records 3 --rows-per-person 2", "--rows-per-person must not be given with --r"),
        ("--rho 1 --one-per-row", "--one-per-row needs --records"),
        ("--plan p.toml --records 3", "--records must not be given with --plan: the plan sets it"),
        ("--error 20 --records 3", "rho                 0.0411031"),
        ("--error 20 --records 3 --one-per-row", "rho                 0.0137011"),
    ],
)
def test_calibrate_says_records_once(run: Command, options: str, said: str) -> None:
    """The same error costs 9 or 3 times the rho that it costs if a person has one record."""
    done = run("calibrate", *options.split())
    assert said in (done.err if done.code else done.out)


def test_groups_take_records_that_are_one_in_a_row(run: Command, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("town,n\na,500\nb,600\n")
    command = ["release", tmp_path / "t.csv", "--unknown-groups", "--column", "n", "--records", 3]
    command += ["--epsilon", 1, "--delta", "1e-6", "--out", tmp_path / "o.csv"]
    assert run(*command).is_refused_with("--unknown-groups needs --one-per-row")
    assert "groups a person     3" in run(*command, "--one-per-row").out
