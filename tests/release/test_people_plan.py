"""Plans in files whose tables are counted from a file of people."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from command import Command

from discretegauss import release
from discretegauss.errors import DiscreteGaussError, OutputError, ParameterValueError, TableError
from discretegauss.release.commands import count_file, read_people_plan

pl = pytest.importorskip("polars")
pytest.importorskip("narwhals")

pytestmark = pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")

PLAN = """
rho = 20400
[people]
file = "people.csv"
consistent = true
[person]
records = 2
id = "who"
[categories]
town = ["Aix", "Bex", "..."]
age = [[0, 18], [18, ""]]
[[tables]]
by = ["town", "age"]
out = "cells.csv"
share = "1/102"
[[tables]]
by = ["town"]
out = "towns.csv"
share = "1/102"
[[tables]]
by = []
column = "income"
values = [0, 10]
out = "income.csv"
share = "100/102"
"""

PEOPLE = (
    "who,town,age,income\n01,Aix,9,7\n01,Aix,9,7\n01,Aix,9,7\n1,Bex,40,99\n,Aix,9,7\n2,Cux,18,\n"
)


TOGETHER = """
[[together]]
columns = ["age", "who"]
values = [[9, "01"], [40, "1"], "..."]
[categories]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def _lines(path: Path, columns: int) -> list[str]:
    return [",".join(line.split(",")[:columns]) for line in path.read_text().splitlines()]


def _require_tables(folder: Path) -> None:
    assert _lines(folder / "towns.csv", 2) == ["town,n", "Aix,2.0", "Bex,1.0", "all others,1.0"]
    assert _lines(folder / "income.csv", 1) == ["income", "24.0"]
    assert (
        (folder / "cells.csv").read_text().startswith('town,age,n,error,low,high\nAix,"[0, 18)",2.')
    )


def test_the_command_counts_people(folder: Path, run: Command) -> None:
    """Ids stay text, an empty cell is a null, and the sentences to publish are printed."""
    plan = str(folder / "plan.toml")
    done = run("release", "--plan", plan)
    assert done.code == 0, done.err
    assert "towns.csv is written to" in done.out
    assert "More records of one who were not counted" in done.out
    _require_tables(folder)
    assert "already exists" in run("release", "--plan", plan).err
    assert "towns.csv" in run("calibrate", "--plan", plan).out
    assert run("release", "--plan", plan, "--plot=x.png").is_refused_with("counts people")


def test_reports_for_programs(folder: Path, run: Command) -> None:
    """Both commands print the noise as JSON; of a release also the sentences to publish."""
    plan = str(folder / "plan.toml")
    before = json.loads(run("calibrate", "--plan", plan, "--json").out)
    done = json.loads(run("release", "--plan", plan, "--json").out)
    assert before["publish"] == []
    assert before["tables"] == done["tables"]
    names = [Path(one["out"]).name for one in done["tables"]]
    assert names == ["cells.csv", "towns.csv", "income.csv"]
    assert [one["share"] for one in done["tables"]] == ["1/102", "1/102", "50/51"]
    assert (done["rho"], done["person"]["id"]) == ("20400", "who")
    assert any("More records of one who" in one for one in done["publish"])
    _require_tables(folder)


def _read_by(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if library == "duckdb":
        pytest.importorskip("duckdb")
        found: Any = importlib.util.find_spec
        monkeypatch.setattr(
            "discretegauss.release._people_file.find_spec",
            lambda name: None if name == "polars" else found(name),
        )


@pytest.mark.parametrize("library", ["polars", "duckdb"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_polars_or_duckdb_reads_it(
    folder: Path, library: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever is there; Parquet and CSV give the same tables."""
    _read_by(library, monkeypatch)
    if kind == "parquet":
        kinds = {"who": pl.String}
        pl.read_csv(folder / "people.csv", schema_overrides=kinds).write_parquet(
            folder / "p.parquet"
        )
        (folder / "plan.toml").write_text(PLAN.replace("people.csv", "p.parquet"))
    count_file(read_people_plan(folder / "plan.toml"), force=False)
    _require_tables(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('file = "people.csv"\n', "", "file must be given"),
        ('"people.csv"', '"people.xlsx"', "must end in .parquet, .pq or .csv"),
        ('"people.csv"', '"nobody.csv"', "there is no file"),
        ('"cells.csv"', '"cells.parquet"', "table 1: out must end in .csv"),
        ('"cells.csv"', '"towns.csv"', "table 2: out must differ"),
        ('"cells.csv"', '"people.csv"', "is the file of people"),
        ("[person]", "[persons]", "'persons' is not a key"),
        ('by = ["town"]\n', "", "table 2: by must be given"),
        ('by = ["town"]\n', 'by = ["town"]\nunknown = true\n', "unknown groups need epsilon"),
        ("[categories]", "[together]", "together must have columns and values"),
        ("[categories]", TOGETHER.replace("values", "value"), "together must have columns and"),
        (
            "[categories]",
            TOGETHER.replace("[9, ", "["),
            "together.values must be lists of 2 values",
        ),
        ("[categories]", TOGETHER, "must name 'age' once"),
        ('by = ["town"]\n', 'by = ["sex"]\n', "must list the values of 'sex'"),
        ('town = ["Aix", "Bex", "..."]', 'town = "Aix"', "categories.town must be a list"),
        ('id = "who"', 'id = "whom"', "must have a column 'whom'"),
        ('column = "income"', 'column = "town"', "nobody would be counted"),
    ],
)
def test_a_wrong_plan_is_refused(folder: Path, old: str, new: str, message: str) -> None:
    """No file is left."""
    (folder / "plan.toml").write_text(PLAN.replace(old, new, 1))
    before = sorted(folder.iterdir())
    with pytest.raises((DiscreteGaussError, OSError), match=message):
        count_file(read_people_plan(folder / "plan.toml"), force=False)
    assert sorted(folder.iterdir()) == before


def test_columns_may_all_be_text(folder: Path) -> None:
    """Then nothing is made a number."""
    text = PLAN.partition("[[tables]]")[0].replace("consistent = true\n", "")
    text = (
        text.replace('[[0, 18], [18, ""]]', '["9", "40"]')
        + '[[tables]]\nby = ["age"]\nout = "ages.csv"\n'
    )
    (folder / "plan.toml").write_text(text)
    count_file(read_people_plan(folder / "plan.toml"), force=False)
    assert _lines(folder / "ages.csv", 2) == ["age,n", "9,2", "40,1"]


def test_no_cell_is_in_a_message(folder: Path) -> None:
    """The reader's own error would show it."""
    (folder / "people.csv").write_text(PEOPLE.replace("99", "secret"))
    with pytest.raises(TableError, match="columns of such values: 'age', 'income'") as refused:
        count_file(read_people_plan(folder / "plan.toml"), force=False)
    assert "secret" not in str(refused.value)
    assert refused.value.__suppress_context__
    assert not (folder / "cells.csv").exists()


def test_old_tables_stay_unless_force_is_given(folder: Path) -> None:
    (folder / "cells.csv").write_text("old")
    plan = read_people_plan(folder / "plan.toml")
    with pytest.raises(OutputError, match="already exists"):
        count_file(plan, force=False)
    count_file(plan, force=True)
    _require_tables(folder)


def test_a_plan_of_people_is_named_where_it_cannot_be_read(folder: Path) -> None:
    with pytest.raises(ParameterValueError, match="people are counted by `discretegauss release"):
        release.release_plan(folder / "plan.toml")


@pytest.mark.parametrize("library", ["polars", "duckdb"])
def test_dates_and_columns_that_belong_together(
    folder: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library that reads a CSV file parses dates; combinations have types of their columns."""
    _read_by(library, monkeypatch)
    (folder / "people.csv").write_text(
        "who,state,age,day\n1,N,9,2026-01-01\n2,N,9,\n3,S,40,2026-02-01\n4,S,9,2026-02-01\n"
    )
    head = 'rho = 10000\n[people]\nfile = "people.csv"\n[person]\nrecords = 1\n'
    lists = '[categories]\nday = [2026-02-01, 2026-01-01, "..."]\n[[together]]\n'
    lists += 'columns = ["state", "age"]\nvalues = [["S", 40], ["N", 9], "..."]\n'
    tables = '[[tables]]\nby = ["day"]\nout = "days.csv"\n'
    tables += '[[tables]]\nby = ["age", "state"]\nout = "both.csv"\n'
    (folder / "plan.toml").write_text(head + lists + tables)
    count_file(read_people_plan(folder / "plan.toml"), force=False)
    assert _lines(folder / "days.csv", 2) == [
        "day,n",
        "2026-02-01,2",
        "2026-01-01,1",
        "all others,1",
    ]
    assert _lines(folder / "both.csv", 3) == [
        "age,state,n",
        "40,S,1",
        "9,N,2",
        "all others,all others,1",
    ]
    (folder / "people.csv").write_text("who,state,age,day\n1,N,9,secret\n")
    with pytest.raises(TableError, match="such values: 'day', 'age'") as refused:
        count_file(read_people_plan(folder / "plan.toml"), force=True)
    assert "secret" not in str(refused.value)


def test_groups_that_nobody_listed(folder: Path, run: Command) -> None:
    """They are written in the order of their keys; both reports have the rule that keeps them."""
    people = [f"{i},{'Mill' if i < 300 else 'Mine'},Aix" for i in range(500)]
    (folder / "people.csv").write_text("\n".join(["who,job,town", *people, "999,Moon,Bex", ""]))
    (folder / "plan.toml").write_text(
        """
epsilon = 200
delta = "2e-6"
[people]
file = "people.csv"
[person]
records = 1
id = "who"
[categories]
town = ["Aix"]
[[tables]]
by = ["job"]
unknown = true
out = "jobs.csv"
[[tables]]
by = ["town"]
out = "towns.csv"
"""
    )
    plan = str(folder / "plan.toml")
    before = json.loads(run("calibrate", "--plan", plan, "--json").out)
    assert "groups whose noisy number is above 1" in run("calibrate", "--plan", plan).out
    done = json.loads(run("release", "--plan", plan, "--json").out)
    assert before["tables"] == done["tables"]
    jobs, towns = done["tables"]
    assert (jobs["unknown"], jobs["threshold"], jobs["by"], jobs["share"]) == (
        True,
        1,
        ["job"],
        "1/2",
    )
    assert (jobs["epsilon"], jobs["delta"]) == ("100", "1/1000000")
    assert "scale" in towns
    assert (done["epsilon"], done["delta"]) == (200, "1/500000")
    assert "rho" not in done
    assert any("nobody listed its groups" in one for one in done["publish"])
    assert _lines(folder / "jobs.csv", 2) == ["job,n", "Mill,300", "Mine,200"]
    assert _lines(folder / "towns.csv", 2) == ["town,n", "Aix,500"]
