"""Errors of the command line name its options, and lines of a text as an editor counts them."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from command import Command

from discretegauss._cli.parser import in_options

GROUPS = ("--unknown-groups", "--epsilon", 1, "--delta")

ERRORS: list[tuple[tuple[object, ...], str]] = [
    (
        ("--rho", 1, "--rows-per-person", 4),
        (
            "--rows-per-person must be at most 3, the number of "
            "rows, got 4; did you mean --sensitivity 4?"
        ),
    ),
    (("--epsilon", 0, "--delta", "1e-999"), "--epsilon and --delta must be met by noise"),
    (("--epsilon", 1, "--delta", "0.1", "--sensitivity", "1.5"), "--sensitivity must be a whole"),
    (("--rho", 1, "--column", "n"), "--column must name each column once, got 'n' twice"),
    (("--rho", 1, "--delimiter", "x"), "--delimiter must be ','"),
    ((*GROUPS, "0.5"), "--delta must be below 1/4"),
    ((*GROUPS, "0.1", "--rows-per-person", 10**30), "--rows-per-person must be at most 10000"),
]


@pytest.mark.parametrize(("more", "message"), ERRORS)
def test_an_error_names_the_option(
    tmp_path: Path, run: Command, more: tuple[object, ...], message: str
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("g,n\na,1\nb,2\na,3\n")
    done = run("release", table, "--column", "n", "--out", tmp_path / "o.csv", *more)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"discretegauss: error: {message}")


def test_only_parameters_are_renamed() -> None:
    """Columns, files and other words of an error stay, and so do the keys of a plan."""
    command = argparse.Namespace(rho=None, column=None, table=None, report_delta=None, plan=None)
    for message, shown in (
        ("rho: line 2, column 'rho': the cell is not a whole number", None),
        ("rho.csv: the table has no column 'rho' (2 columns)", None),
        ("the table must have a column", None),
        ("report_delta needs rho", "--report-delta needs rho"),
        ("give rho=1 or report_delta", "give --rho 1 or --report-delta"),
        ("x.csv: column must not be empty", "x.csv: --column must not be empty"),
    ):
        assert in_options(message, command) == (shown or message)
    assert in_options("rho must be 1", argparse.Namespace(rho=None, plan="p")) == "rho must be 1"


def test_errors_about_totals_and_people_name_what_the_command_has(
    tmp_path: Path, run: Command
) -> None:
    """It takes no law, and a person only in a plan."""
    table = tmp_path / "t.csv"
    how = ("release", table, "--out", tmp_path / "o.csv", "--rho", 1, "--column", "n")
    table.write_text("g,n,m,both\na,1,4,5\nb,2,1,3\nc,3,5,8\n")
    said = run(*how).err
    assert said.startswith(f"discretegauss: error: {table}: line 4 is in every column of counts")
    assert said.endswith("if it is no total, say --rows-per-person 2\n")
    said = run(*how, "--column", "m", "--column", "both", "--disjoint", "--rows-per-person", 2).err
    assert said.endswith("do not say that nobody is counted in two of the columns\n")
    table.write_text("user_id,n\n" + "".join(f"{i},{i**3}\n" for i in range(99)))
    assert run(*how).err.endswith("or make a plan whose table has it in by\n")


def test_rows_that_agree_are_named_by_their_lines(tmp_path: Path, run: Command) -> None:
    """Line 1 is the header. A table that is not text has rows only."""
    (tmp_path / "t.csv").write_text("g,n\na,1\nb,2\na,4\n")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'rho = 1\n[person]\nrecords = 1\n[[tables]]\ntable = "t.csv"\ncolumn = "n"\n'
        'out = "o.csv"\nby = "g"\n'
    )
    assert "t.csv: lines 2 and 4 must differ in by (g)" in run("release", "--plan", plan).err
    parquet = pytest.importorskip("pyarrow.parquet")
    csv = pytest.importorskip("pyarrow.csv")
    parquet.write_table(csv.read_csv(tmp_path / "t.csv"), tmp_path / "t.parquet")
    plan.write_text(plan.read_text().replace(".csv", ".parquet"))
    assert "t.parquet: rows 1 and 3 must differ in by" in run("release", "--plan", plan).err
