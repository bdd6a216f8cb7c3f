"""The command line: tables that add up, unknown groups, budgets from errors."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from tables import copied_example

import discretegauss as dg
from discretegauss.errors import DiscreteGaussError
from discretegauss.release import commands

ERRORS = """
confidence = "0.9"
[[tables]]
table = "a.csv"
column = "n"
out = "a_noisy.csv"
error = 5
[[tables]]
table = "b.csv"
column = "n"
out = "b_noisy.csv"
error = 20
rows_per_person = 2
"""

BEST = """
rho = 1
[[tables]]
table = "a.csv"
column = "n"
out = "a_noisy.csv"
share = "best"
cells = 100
[[tables]]
table = "b.csv"
column = "n"
out = "b_noisy.csv"
share = "best"
cells = 400
weight = 4
rows_per_person = 4
"""


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    return copied_example(tmp_path)


def columns(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a file, with counts as numbers."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table: dict[str, list[Any]] = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    numbers = float if "error" in header else int
    return {**table, "flights": [numbers(n) for n in table["flights"]]}


def test_a_plan_is_written_a_second_time_as_tables_that_add_up(run: Command, flights: Path) -> None:
    """They come from the noisy tables alone, and the report tells the gain in variance."""
    folder = flights.parent / "added_up"
    done = run("release", "--plan", flights, "--consistent", folder, "--json")
    assert (done.code, done.err) == (0, "")
    tables = json.loads(done.out)["tables"]
    gains = [table["variance_divided_by"] for table in tables]
    assert gains == pytest.approx([2.269, 1.582, 1.025], abs=0.002)
    totals = [sum(columns(Path(table["consistent"]))["flights"]) for table in tables]
    assert totals == pytest.approx([totals[0]] * 3, rel=1e-12)
    noisy = [columns(flights.parent / table["out"]) for table in tables]
    laws = [dg.DiscreteLaplace(table["scale"]) for table in tables]
    for table, expected in zip(tables, dg.estimate.consistent(noisy, laws, "flights"), strict=True):
        found = columns(Path(table["consistent"]))
        assert list(found) == list(expected)
        assert np.allclose(found["flights"], expected["flights"], rtol=1e-12)
    again = run("release", "--plan", flights, "--consistent", folder)
    assert again.code == 2
    assert "already exists" in again.err
    text = run("release", "--plan", flights, "--consistent", folder, "--force")
    assert text.out.count("made to add up") == 3


def test_tables_that_cannot_add_up_are_not_released(run: Command, flights: Path) -> None:
    """Nothing is written, and no budget is spent."""
    by_carrier = flights.parent / "flights_by_carrier.csv"
    by_carrier.write_text(by_carrier.read_text().replace("AS,", "XX,"))
    done = run("release", "--plan", flights, "--consistent", flights.parent / "added_up")
    assert done.code == 2
    assert "no row there has 'XX' in column 'carrier'" in done.err
    assert not list(flights.parent.glob("*_noisy.csv"))


def test_groups_that_nobody_knew(run: Command, tmp_path: Path) -> None:
    """Groups of enough people are written in order, and other options are refused."""
    table, out = tmp_path / "groups.csv", tmp_path / "kept.csv"
    table.write_text("town,people\nDax,5000\nBex,1\nAix,900\n")
    budget = ("--epsilon", 1, "--delta", "1e-6")
    how = ("release", table, "--unknown-groups", "--column", "people", "--out", out)
    done = run(*how, *budget, "--rows-per-person", 2)
    assert (done.code, done.err) == (0, "")
    assert "2 groups" in done.out
    assert [line.split(",")[0] for line in out.read_text().splitlines()] == ["town", "Aix", "Dax"]
    table.write_text(table.read_text().replace(",", ";"))
    assert run(*how, *budget, "--delimiter", ";", "--force").code == 0
    assert out.read_text().startswith("town;people\nAix;")
    table.write_text(table.read_text().replace(";", ","))
    # the number of groups is a secret, so K is not compared with it
    assert run(*how, *budget, "--rows-per-person", 9, "--force").code == 0
    for wrong in (
        ("--rho", 1),
        budget[:2],
        (*budget, "--json"),
        (*budget, "--sensitivity", 2),
        (*budget, "--plan", table),
    ):
        refused = run(*how, *wrong)
        assert (refused.code, refused.out) == (2, "")
        assert "--unknown-groups" in refused.err


def test_calibrate_for_an_error(run: Command) -> None:
    """It prints the widest noise and its cost. With --queries the error holds for all at once."""
    done = run("calibrate", "--error", 5, "--confidence", "0.95", "--json")
    found = json.loads(done.out)
    assert found["sigma2"] == "795787/100000"
    assert Fraction(found["rho"]) == 1 / (2 * Fraction(found["sigma2"]))
    several = json.loads(run("calibrate", "--error", 5, "--queries", 16, "--json").out)
    assert several["sigma2"] == "178173/50000"
    assert several["queries"] == 16
    for wrong in (("--rho", 1, "--error", 5), ("--rho", 1, "--confidence", "0.9")):
        assert run("calibrate", *wrong).code == 2


def test_a_plan_for_errors_has_the_budget_that_they_ask_for(tmp_path: Path) -> None:
    """Each table gets the widest noise, and the budget is the sum of their rho."""
    path = tmp_path / "plan.toml"
    path.write_text(ERRORS)
    plan = commands.read_plan(path)
    for noise, error in zip(plan.noise, (5, 20), strict=True):
        assert noise.law.sf(error) <= 0.05
        assert dg.DiscreteGaussian(noise.sigma2 * Fraction(10001, 10000)).sf(error) > 0.05
    assert plan.cost.rho == sum(noise.rho for noise in plan.noise)
    assert plan.noise[1].rho == 2 / (2 * plan.noise[1].sigma2)


def test_the_best_shares_are_sensitivity_times_root_of_weights_and_cells(tmp_path: Path) -> None:
    """The shares are as 10 to sqrt(4 * 4 * 400) = 80, and shares beside them are not better."""
    path = tmp_path / "plan.toml"
    path.write_text(BEST)
    plan = commands.read_plan(path)
    shares = [one.share for one in plan.tables]
    assert shares == [Fraction("0.1111"), Fraction("0.8889")]

    def weighted(share: Fraction) -> Fraction:
        return 100 / (2 * share) + 4 * 4 * 400 / (2 * (1 - share))

    assert all(
        weighted(shares[0]) <= weighted(shares[0] + d)
        for d in (-Fraction(1, 1000), Fraction(1, 1000))
    )


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (ERRORS.replace("error = 20", ""), "error"),
        (ERRORS.replace("error = 20", "error = -1"), "table 2: error"),
        (ERRORS.replace("error = 20", 'error = 20\nshare = "1/2"'), "share"),
        ("rho = 1\n" + ERRORS, "rho"),
        (ERRORS.replace('"0.9"', '"1.9"'), "confidence"),
        (BEST.replace("cells = 100", ""), "table 1: cells"),
        (BEST.replace("weight = 4", "weight = 0"), "table 2: weight"),
        (BEST.replace('share = "best"', "share = 0.5", 1), "weight and cells"),
        (BEST.replace('share = "best"\ncells = 100', "share = 0.5", 1), "share must be 'best'"),
        ("confidence = 0.9\n" + BEST, "confidence"),
    ],
)
def test_what_is_wrong_with_a_plan_is_named(wrong: str, named: str, tmp_path: Path) -> None:
    """The error names the key and the number of the table."""
    path = tmp_path / "plan.toml"
    path.write_text(wrong)
    with pytest.raises(DiscreteGaussError, match=named):
        commands.read_plan(path)
