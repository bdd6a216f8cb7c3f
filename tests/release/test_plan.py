"""Plans: many tables share one budget, and all of them are written, or none."""

from __future__ import annotations

import gzip
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from command import Command
from evidence_cases import at_once
from scipy import stats
from tables import EXAMPLES, FLIGHTS, copied_example, rows_of, write_plan

import discretegauss as dg
from discretegauss import DiscreteGaussian, release
from discretegauss.errors import (
    DiscreteGaussError,
    OutputError,
    ParameterValueError,
    TableError,
)
from discretegauss.privacy import calibrate, zcdp_rho
from discretegauss.privacy import loss as loss_of
from discretegauss.release import commands
from discretegauss.release.commands import FilePlan, read_plan, release_json
from discretegauss.testing import TapeSource

PLAN = """
rho = "1/10"
[[tables]]
table = "a.csv"
column = "n"
out = "a_noisy.csv"
share = "1/3"
[[tables]]
table = "b.csv"
column = ["n", "m"]
out = "b_noisy.csv"
share = "2/3"
rows_per_person = 3
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("c,n\nx,10\ny,20\n")
    (tmp_path / "b.csv").write_text("n,m\n5,3\n7,1\n0,2\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"


def _files(plan: Path) -> set[str]:
    return {path.name for path in plan.parent.iterdir()}


def test_the_parts_add_up_to_the_budget(plan: Path) -> None:
    """Each table is written with the law of its part."""
    found = release.release_plan(plan)
    assert [one.sigma2 for one in found.tables] == [15, 45]  # k/(2 rho share)
    assert sum(found.shares) == 1
    assert found.cost.rho == Fraction(1, 10)
    assert (plan.parent / "a_noisy.csv").read_text().startswith("c,n\nx,")
    assert (plan.parent / "b_noisy.csv").read_text().startswith("n,m\n")
    with pytest.raises(OutputError, match="already exists"):
        release.release_plan(plan)


def test_a_table_that_is_wrong_leaves_none_written(plan: Path) -> None:
    """The message names the table, and shows no cell."""
    for name in ("a.csv", "b.csv"):
        before = (plan.parent / name).read_text()
        (plan.parent / name).write_text(before + "4711x,4711x\n")
        files = _files(plan)
        with pytest.raises(TableError, match=r"plan.toml: table [12]: .*line [45]") as caught:
            release.release_plan(plan)
        assert "4711" not in str(caught.value)
        assert _files(plan) == files
        (plan.parent / name).write_text(before)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('share = "1/3"', 'share = "1/4"', "the shares must add up to exactly 1, got 11/12"),
        ('share = "1/3"\n', "", "share must be given for all tables or for none"),
        ('rho = "1/10"', 'rho = "-1"', "rho must be positive"),
        ("rows_per_person", "rows", "'rows' is not a key of this part of a plan"),
        (
            'out = "b_noisy.csv"',
            'out = "a_noisy.csv"',
            "is the output of table 1; the output",
        ),
        ('rho = "1/10"', "rho = ", "is not a TOML file"),
    ],
)
def test_refusals(plan: Path, old: str, new: str, message: str) -> None:
    plan.write_text(PLAN.replace(old, new, 1))
    files = _files(plan)
    with pytest.raises(DiscreteGaussError) as caught:
        release.release_plan(plan)
    assert message in str(caught.value)
    with pytest.raises(DiscreteGaussError) as caught:
        read_plan(plan)  # as `calibrate --plan` does
    assert message in str(caught.value)
    assert _files(plan) == files


def test_calibrate_touches_no_data(plan: Path, run: Command) -> None:
    """It prints the noise even if a table is missing. A release then fails."""
    (plan.parent / "a.csv").unlink()
    done = run("calibrate", "--plan", plan)
    assert "sigma2              15" in done.out
    assert "total rho           0.1 (zCDP)" in done.out
    found = json.loads(run("calibrate", "--plan", plan, "--json").out)
    assert [one["sigma2"] for one in found["tables"]] == ["15", "45"]
    assert (found["rho"], found["tables"][1]["columns"]) == ("1/10", ["n", "m"])
    assert run("release", "--plan", plan).code == 2
    assert _files(plan) == {"plan.toml", "b.csv"}


# --- the cost


def _epsilon_below(plan: FilePlan, delta: Fraction) -> float:
    """Return a lower bound on epsilon of all tables together."""
    losses = [loss_of(n.law, n.sensitivity) ** n.queries for n in plan.noise]
    lower, _ = losses[0].compose(*losses[1:]).epsilon(delta, bounds=True)
    return float(lower)


UNLIKE: list[list[dict[str, object]]] = [
    [{"share": share, "rows_per_person": 9} for share in ("1/10", "3/10", "6/10")],
    [
        {"share": "1/2", "rows_per_person": 9},
        {"share": "1/2", "sensitivity": 2, "rows_per_person": 5},
    ],
]


@pytest.mark.parametrize("tables", UNLIKE)
def test_epsilon_and_delta_are_used_up(tmp_path: Path, tables: list[dict[str, object]]) -> None:
    """The reported epsilon is at most the budget's, and its lower bound is nearly as large."""
    found = read_plan(write_plan(tmp_path, 'epsilon = 1\ndelta = "1e-6"', *tables))
    assert found.cost.epsilon_by == "composition of the privacy losses"
    assert sum(n.rho for n in found.noise) == found.cost.rho
    assert found.cost.rho > Fraction(zcdp_rho(1, "1e-6")) * Fraction(11, 10)
    lower = _epsilon_below(found, Fraction("1e-6"))
    assert 0.999 < lower <= found.cost.epsilon <= 1
    assert found.cost.epsilon > 0.99999


def test_equal_tables_are_one_query_asked_more_often(tmp_path: Path) -> None:
    four = {"rows_per_person": 4}
    found = read_plan(write_plan(tmp_path, 'epsilon = 1\ndelta = "1e-6"', four, four, four))
    law = calibrate(DiscreteGaussian, epsilon=1, delta="1e-6", queries=12)
    assert {n.law for n in found.noise} == {law}
    assert found.cost.epsilon_by == "arXiv 2004.00010, Theorem 7"
    assert found.cost.epsilon <= 1


@pytest.mark.parametrize("rho", ["1/7", "1e-300", "123456789/1000"])
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_the_rho_of_the_tables_add_up_exactly(tmp_path: Path, rho: str) -> None:
    tables = {"share": "1/3", "sensitivity": "7/3"}, {"share": "2/3", "rows_per_person": 7}
    found = read_plan(write_plan(tmp_path, f'rho = "{rho}"', *tables))
    assert sum(n.rho for n in found.noise) == found.cost.rho == Fraction(rho)


# --- formats and options


def test_a_plan_takes_the_formats_of_a_release(tmp_path: Path) -> None:
    """One plan takes Parquet, Arrow and compressed text, two columns, and a picture."""
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    from pyarrow import feather, parquet

    table = pyarrow.table({"n": [10**6, 2 * 10**6], "m": [5 * 10**6, 0], "c": ["x", "y"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, str(tmp_path / "b.arrow"))
    with gzip.open(tmp_path / "c.csv.gz", "wt") as file:
        file.write("c,n\nx,1000000\n")
    columns = {"a.parquet": ["n", "m"], "b.arrow": "m", "c.csv.gz": "n"}
    tables = [{"table": t, "column": c, "out": f"o_{t}"} for t, c in columns.items()]
    done = release.release_plan(write_plan(tmp_path, "rho = 10", *tables), plot=tmp_path / "p.svg")
    assert [(one.rows, one.queries) for one in done.tables] == [(2, 2), (2, 1), (1, 1)]
    a, b = parquet.read_table(tmp_path / "o_a.parquet"), feather.read_table(tmp_path / "o_b.arrow")
    with gzip.open(tmp_path / "o_c.csv.gz", "rt") as file:
        c = int(file.read().split(",")[2])
    pairs = zip(
        [a["n"][0].as_py(), a["m"][0].as_py(), b["m"][1].as_py(), c],
        [10**6, 5 * 10**6, 0, 10**6],
        strict=True,
    )
    assert all(abs(noisy - true) < 100 for noisy, true in pairs)
    assert (tmp_path / "p.svg").read_bytes().startswith(b"<?xml")
    report = json.loads(release_json(done))
    assert Fraction(report["rho"]) == sum(Fraction(one["rho"]) for one in report["tables"]) == 10
    assert report["epsilon"] == done.epsilon
    assert str(done).count("95 % interval") == 3


SET_BY_A_PLAN = "--rho=1 --epsilon=1 --delta=0.1 --report-delta=0.1 --sensitivity=2 --column=n "
SET_BY_A_PLAN += "--out=o --rows-per-person=2 --disjoint TABLE --queries=2 --delimiter=;"


@at_once("option", SET_BY_A_PLAN.split())
def test_an_option_that_the_plan_says_is_refused_by_name(
    plan: Path, run: Command, option: str
) -> None:
    files = _files(plan)
    command = "calibrate" if option == "--queries=2" else "release"
    name = option.partition("=")[0]
    done = run(command, "--plan", plan, option)
    assert done.is_refused_with(f"{name} must not be given with --plan: the plan sets it")
    assert _files(plan) == files


def test_a_plan_says_the_delimiter_of_a_table(plan: Path) -> None:
    """Each table has its own delimiter, and tables made to add up have commas."""
    text = PLAN.replace('"a.csv"', '"a.csv"\ndelimiter = ";"').replace('["n", "m"]', '"n"')
    plan.write_text(text)
    (plan.parent / "a.csv").write_text("c;n\nx;10\ny;20\n")
    (plan.parent / "b.csv").write_text("d,c,n\n1,x,3\n2,x,7\n1,y,20\n")
    release.release_plan(plan, consistent=plan.parent / "sums")
    assert (plan.parent / "a_noisy.csv").read_text().startswith("c;n\nx;")
    assert (plan.parent / "b_noisy.csv").read_text().startswith("d,c,n\n1,x,")
    assert (plan.parent / "sums" / "a_noisy.csv").read_text().startswith("c,n,error,low,high\nx,")


def test_one_person_cannot_change_more_rows_than_a_table_has(plan: Path) -> None:
    """The error names the table, whether its file or the plan says how many rows it has."""
    text = plan.read_text()
    plan.write_text(text.replace("rows_per_person = 3", "rows_per_person = 4"))
    files = _files(plan)
    said = r"table 2: rows_per_person must be at most 3, .*got 4; did you mean sensitivity=4\?"
    with pytest.raises(ParameterValueError, match=said):
        release.release_plan(plan, source=TapeSource(b""))
    assert _files(plan) == files
    best = re.sub("share = .*", 'share = "best"\ncells = 2', text)
    plan.write_text(best)
    with pytest.raises(ParameterValueError, match="table 2: rows_per_person must be at most 2, "):
        read_plan(plan)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("table", "table 2: .*line 3 has 1 field"),
        ("no sums", "the table with most columns has no .c."),
        ("plot", "must be in a folder that exists"),
        ("two columns", "must have one column of counts"),
        ("one name", r"a_noisy\.csv is the consistent table 1; the consistent table 2 must"),
        ("late", "at the first draw"),
    ],
)
def test_a_folder_for_tables_that_add_up_is_there_only_after_a_release(
    plan: Path, fault: str, message: str
) -> None:
    """No failure leaves a new folder of any depth, and a folder that existed stays."""
    parent = plan.parent
    how: dict[str, Any] = {}
    if fault != "two columns":
        plan.write_text(plan.read_text().replace('["n", "m"]', '"n"'))
    if fault == "table":
        (parent / "b.csv").write_text("n,m\n1,x\n2\n")
    if fault == "plot":
        pytest.importorskip("matplotlib")
        how["plot"] = parent / "no such folder" / "p.png"
    if fault == "one name":
        plan.write_text(plan.read_text().replace("b_noisy.csv", "a_noisy.tsv"))
    if fault == "late":

        def fail(_: memoryview) -> None:
            assert folder.is_dir()
            raise OutputError("at the first draw")

        how["source"] = fail
    files = _files(plan)
    for folder in (parent / "new", parent / "new/in/new"):
        with pytest.raises(DiscreteGaussError, match=message):
            release.release_plan(plan, consistent=folder, **how)
        assert _files(plan) == files
    (parent / "old").mkdir()
    folder = parent / "old" / "new"
    with pytest.raises(DiscreteGaussError):
        release.release_plan(plan, consistent=folder, **how)
    assert _files(plan) == files | {"old"}
    assert list((parent / "old").iterdir()) == []
    with pytest.raises(DiscreteGaussError, match=r"a\.csv is not a folder|one column"):
        release.release_plan(plan, consistent=parent / "a.csv")


def test_a_new_folder_that_somebody_else_uses_stays(plan: Path) -> None:
    """A folder that cannot be made is named, and those above it go again."""
    plan.write_text(plan.read_text().replace('["n", "m"]', '"n"'))
    new = plan.parent / "new"

    def use(_: memoryview) -> None:
        (new / "in").rename(new / "theirs")
        raise KeyboardInterrupt

    too_long = new / ("x" * 300) / "in"
    with pytest.raises(OSError, match="too long") as caught:
        release.release_plan(plan, consistent=too_long)
    assert caught.value.filename == str(too_long)
    assert not new.exists()
    with pytest.raises(KeyboardInterrupt):
        release.release_plan(plan, consistent=new / "in", source=use)
    assert list(new.rglob("*")) == [new / "theirs"]


def test_tables_that_add_up_have_the_names_of_the_outputs_and_their_columns(tmp_path: Path) -> None:
    """They are CSV with an error, whatever the outputs are, and replaced only with force."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    (tmp_path / "towns.csv").write_text('town,state,n\na,N,1204\nb,N,87\nc,"S, T",5530\n')
    states = pa.table({"state": ["N", "S, T"], "n": [1298, 5533]})
    parquet.write_table(states, tmp_path / "states.parquet")
    outs = {"towns.csv": "towns_noisy.csv.gz", "states.parquet": "s.parquet"}
    tables = [{"table": table, "out": out} for table, out in outs.items()]
    plan, folder = write_plan(tmp_path, "rho = 1", *tables), tmp_path / "new" / "out"
    done = release.release_plan(plan, consistent=folder)
    assert [path for path, _ in done.consistent] == [folder / "towns_noisy.csv", folder / "s.csv"]
    noisy = [
        csv.read_csv(tmp_path / "towns_noisy.csv.gz"),
        parquet.read_table(tmp_path / "s.parquet"),
    ]
    laws = [one.law for one in done.tables]
    towns, _ = dg.estimate.consistent([one.to_pydict() for one in noisy], laws, "n")
    header, *rows = rows_of(folder / "towns_noisy.csv")
    assert header == ["town", "state", *(numbers := ["n", "error", "low", "high"])]
    assert [row[:2] for row in rows] == [["a", "N"], ["b", "N"], ["c", "S, T"]]
    assert [list(map(float, row[2:])) for row in rows] == list(
        map(list, zip(*(towns[name] for name in numbers), strict=True))
    )
    for out in outs.values():
        (tmp_path / out).unlink()
    with pytest.raises(OutputError, match=r"towns_noisy\.csv already exists"):
        release.release_plan(plan, consistent=folder)
    release.release_plan(plan, consistent=folder, force=True)


def test_tables_that_contradict_each_other_leave_none_written(tmp_path: Path) -> None:
    """The error says which, by how much, and that this number has cost the budget."""
    (tmp_path / "towns.csv").write_text("town,state,n\na,N,1204\nb,N,87\nc,S,5530\n")
    (tmp_path / "states.csv").write_text("state,n\nN,1291\nS,9999\n")
    tables = [{"table": f"{name}.csv", "out": f"{name}_noisy.csv"} for name in ("towns", "states")]
    plan = write_plan(tmp_path, "rho = 1", *tables)
    files = _files(plan)
    with pytest.raises(ParameterValueError, match=r"same people.* table 1 and table 2 ") as caught:
        release.release_plan(plan, consistent=tmp_path / "sums")
    assert caught.value.__notes__ == [
        "no table is written, but this error depends on the noisy counts, so the budget is spent"
    ]
    assert _files(plan) == files
    assert not (tmp_path / "sums").exists()


# --- the example


def test_the_margins_of_the_example_are_those_of_its_table() -> None:
    rows = rows_of(FLIGHTS)[1:]
    for name, places in (("flights_by_carrier", [0]), ("flights_by_carrier_month", [0, 3])):
        sums: dict[tuple[str, ...], int] = {}
        for row in rows:
            key = tuple(row[i] for i in places)
            sums[key] = sums.get(key, 0) + int(row[4])
        margin = rows_of(EXAMPLES / f"{name}.csv")[1:]
        assert {tuple(row[:-1]): int(row[-1]) for row in margin} == sums


def test_the_example(tmp_path: Path, run: Command) -> None:
    """The plan in docs/plans.md has the noise that it reports. This fails in 1 run of 10^8."""
    pytest.importorskip("matplotlib")
    plan, plot = copied_example(tmp_path), tmp_path / "plan.png"
    report = json.loads(run("release", "--plan", plan, "--json", "--plot", plot).out)
    assert (report["epsilon"], report["delta"]) == (1, "0")
    assert [one["rows"] for one in report["tables"]] == [16, 192, 5268]
    for one in report["tables"]:
        true, noisy = rows_of(Path(one["table"])), rows_of(Path(one["out"]))
        assert [row[:-1] for row in true] == [row[:-1] for row in noisy]
        errors = [int(b[-1]) - int(a[-1]) for a, b in zip(true[1:], noisy[1:], strict=True)]
        assert abs(sum(errors)) < 9 * math.sqrt(len(errors)) * float(one["std"])
        beyond = sum(abs(error) > one["interval95"][1] for error in errors)
        assert stats.binom.sf(beyond - 1, len(errors), 0.05) > 1e-9
    assert plot.read_bytes().startswith(b"\x89PNG")
    documented = (EXAMPLES.parent / "docs" / "plans.md").read_text()
    assert (EXAMPLES / "flights_plan.toml").read_text() in documented
    assert run("release", "--plan", plan).is_refused_with("already exists")


def test_the_budget_of_an_error_counts_all_answers() -> None:
    """Several at once: sensitivity, changed answers, and answers that are right together."""
    law = calibrate(DiscreteGaussian, error=5, confidence="0.9", queries=7)
    found = commands.budget_for_error(5, "0.9", Fraction(3, 2), 4, 7)
    assert found.rho == 4 * Fraction(9, 4) / (2 * law.sigma2)
    assert found.rho == dg.privacy.rho(law, "3/2", queries=4)


def test_errors_of_tables_with_several_columns_and_rows(tmp_path: Path) -> None:
    """Several at once: each table has the noise of its error, and rho counts all that changes."""
    tables = (
        {"error": 5, "column": ["n", "m"], "rows_per_person": 3},
        {"error": 9, "sensitivity": 2},
    )
    found = read_plan(write_plan(tmp_path, 'confidence = "0.9"', *tables))
    laws = [calibrate(DiscreteGaussian, error=e, confidence="0.9") for e in (5, 9)]
    assert [one.law for one in found.noise] == laws
    costs = [dg.privacy.rho(laws[0], queries=6), dg.privacy.rho(laws[1], 2)]
    assert [one.rho for one in found.noise] == costs
    assert found.cost.rho == sum(costs)
