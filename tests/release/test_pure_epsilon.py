"""epsilon alone is pure, by Laplace noise; with delta it takes the law with less deviation."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command import Command

import discretegauss
from discretegauss.errors import DiscreteGaussError
from discretegauss.privacy import Budget
from discretegauss.privacy.joint import Joint
from discretegauss.privacy.sensitivity import Sensitivity
from discretegauss.release import Person, Plan, Table
from discretegauss.release.commands import read_plan
from discretegauss.spark import noise_of_tasks
from discretegauss.testing import TapeSource

dg: Any = discretegauss

TABLES = {
    "cells": Table(by=["town", "age"]),
    "towns": Table(by=["town"]),
    "ages": Table(by=["age"]),
}
PAIR: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}
TAPE = bytes(range(1, 256)) * 400


def test_cells_and_two_margins_at_epsilon_1_have_the_scale_3() -> None:
    """It is exact, as are the scales of sums, of several records, and of shares."""
    plan = Plan(Person(1), TABLES, epsilon=1)
    assert set(plan.laws.values()) == {dg.DiscreteLaplace(3)}
    assert (plan.epsilon, plan.delta, plan.rho) == (1.0, Fraction(0), Fraction(1, 2))
    tables = {
        "n": Table("town", share="1/3"),
        "income": Table("town", columns="income", values=(-2, 7), share="1/2"),
        "people": Table([], counts="people", share="1/6"),
    }
    found = Plan(Person(3), tables, epsilon="1/2").laws
    assert list(found.values()) == [dg.DiscreteLaplace(scale) for scale in (18, 84, 12)]
    replaced = Plan(Person(3, neighbours="replace"), tables, epsilon="1/2").laws
    assert list(replaced.values()) == [dg.DiscreteLaplace(scale) for scale in (36, 168, 24)]


def test_the_loss_of_the_worst_outcome_is_epsilon() -> None:
    """A person in one cell of each table moves the probability of some outcomes by exp(epsilon)."""
    laws = Plan(Person(1), TABLES, epsilon="3/4").laws.values()
    worst = math.prod(float(law.pmf(9)) / float(law.pmf(10)) for law in laws)
    assert worst == pytest.approx(math.exp(0.75), rel=1e-12)


ARRAYS: list[tuple[dict[str, Any], int]] = [
    ({}, 3),
    ({"rows_per_person": 2}, 6),
    ({"rows_per_person": 2, "sensitivity": 5}, 30),
    ({"rows_per_person": 2, "disjoint": True}, 2),
]


@pytest.mark.parametrize(("who", "l1"), ARRAYS)
def test_an_array_gets_noise_of_its_l1_norm(who: dict[str, Any], l1: int) -> None:
    """The scale is l1/epsilon, and the draws are those of that law from the same bits."""
    counts = np.arange(12).reshape(4, 3)
    law = dg.noise_for(counts, epsilon="1/2", **who)
    assert law == dg.DiscreteLaplace(2 * l1)
    assert law == dg.noise_for(counts, Budget(epsilon="1/2"), **who)
    found = dg.add_noise(counts, epsilon="1/2", source=TapeSource(TAPE), **who)
    assert (found == dg.add_noise(counts, law, source=TapeSource(TAPE))).all()


def test_tasks_of_a_cluster_get_the_law() -> None:
    """Their template has no rows, and three columns."""
    assert noise_of_tasks(np.zeros((0, 3), int), None, epsilon=1)[0].law == dg.DiscreteLaplace(3)


@pytest.mark.parametrize("pair", [PAIR, {"epsilon": "1/2", "delta": "1e-3"}])
def test_epsilon_with_delta_takes_the_law_with_less_deviation(pair: dict[str, Any]) -> None:
    """Both laws, computed by `calibrate`, occur among 1 to 16 counts, and the lesser is taken."""
    kinds = set()
    for k in range(1, 17):
        laplace = dg.privacy.calibrate(dg.DiscreteLaplace, epsilon=pair["epsilon"], queries=k)
        gaussian = dg.privacy.calibrate(dg.DiscreteGaussian, queries=k, **pair)
        found = dg.noise_for(np.zeros((k, 1), int), rows_per_person=k, **pair)
        assert found == min(laplace, gaussian, key=lambda law: law.var())
        kinds.add(type(found))
    assert len(kinds) == 2


def test_a_plan_has_one_law_the_one_with_the_least_product_of_deviations() -> None:
    """With `distinct` Gaussian tables have 11.2, 19.4 and 19.4, above the 12.7 of Laplace noise."""
    person = Person(3, distinct=["town", "age"])
    tables = {
        "cells": Table(["town", "age"]),
        "towns": Table("town"),
        "ages": Table("age"),
    }
    plan = Plan(person, tables, **PAIR)
    assert set(plan.laws.values()) == {dg.DiscreteLaplace(9)}
    assert "chosen              discrete Laplace: the geometric mean of its standard dev" in str(
        plan
    )
    assert "is 12.7214, that of discrete Gaussian noise 16.184" in str(plan)
    assert "total epsilon       1 (pure: delta = 0), by the l1 norm of the changes" in str(plan)
    many = Plan(Person(30, distinct=["town", "age"]), tables, **PAIR)
    assert {type(law) for law in many.laws.values()} == {dg.DiscreteGaussian}
    assert "chosen              discrete Gaussian: the geometric mean" in str(many)
    assert "chosen" not in str(Plan(person, tables, epsilon=1)) + str(Plan(person, tables, rho=1))


def test_a_budget_that_no_gaussian_meets_takes_the_laplace() -> None:
    """Of (epsilon, delta) with an epsilon of 0 the Gaussian is the only law."""
    two = Joint([Sensitivity.of_parts(Fraction(1), 1), Sensitivity.of_parts(Fraction(3, 2), 1)])
    halves = [Fraction(1, 2)] * 2
    tiny = Budget(epsilon="1e-9", delta="1e-300")
    assert isinstance(two.noise(tiny, halves).laws[0], dg.DiscreteLaplace)
    assert isinstance(two.noise(Budget(epsilon=0, delta=".1"), halves).laws[0], dg.DiscreteGaussian)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"delta": "1e-6"}, "give either rho, or epsilon, alone or with delta"),
    ({"epsilon": 0}, "epsilon must be positive if delta is 0, got 0"),
    ({"epsilon": 1, "rho": 1}, "not both"),
    ({"epsilon": 1, "sensitivity": "3/2"}, "sensitivity must be a whole number"),
    ({"epsilon": 1, "delta": "1e-6", "sensitivity": "3/2"}, "sensitivity must be a whole number"),
]


@pytest.mark.parametrize(("wrong", "says"), REFUSED)
def test_refused(wrong: dict[str, Any], says: str) -> None:
    """No l1 norm is known where only a Euclidean norm is given, so epsilon refuses it."""
    with pytest.raises(DiscreteGaussError, match=says):
        dg.noise_for([1, 2, 3], **wrong)


def test_report_delta_needs_rho() -> None:
    """A pure epsilon holds at every delta."""
    with pytest.raises(DiscreteGaussError, match="report_delta needs rho"):
        Plan(Person(1), TABLES, epsilon=1, report_delta="1e-6")


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    """Return a plan of two files at epsilon 1."""
    (tmp_path / "a.csv").write_text("town,n\nAix,5\nBex,7\n", "utf-8")
    (tmp_path / "b.csv").write_text("n\n12\n", "utf-8")
    tables = '[[tables]]\ntable = "a.csv"\ncolumn = "n"\nby = ["town"]\nout = "x.csv"\n'
    tables += '[[tables]]\ntable = "b.csv"\ncolumn = "n"\nby = []\nout = "y.csv"\n'
    plan = tmp_path / "plan.toml"
    plan.write_text(f"epsilon = 1\n[person]\nrecords = 1\n{tables}", "utf-8")
    return plan


def test_a_plan_in_a_file_draws_from_its_law(plan_file: Path) -> None:
    """The report has the law, and each file the draws of it."""
    done = dg.release.release_plan(
        plan_file, source=TapeSource(TAPE), consistent=plan_file.parent / "up"
    )
    assert [one.law for one in done.tables] == [dg.DiscreteLaplace(2)] * 2
    bits = TapeSource(TAPE)
    first = dg.add_noise([5, 7], dg.DiscreteLaplace(2), source=bits)
    assert pd.read_csv(plan_file.parent / "x.csv")["n"].tolist() == first
    assert "share of epsilon    1/2" in str(done)
    assert [file.name for file, _ in done.consistent] == ["x.csv", "y.csv"]


def test_the_command_line_has_epsilon_alone(plan_file: Path, run: Command) -> None:
    """Its JSON names the law and its parameter, of a table, of a plan and of a budget."""
    table, out = plan_file.parent / "a.csv", plan_file.parent / "z.csv"
    call = ["release", str(table), "--column", "n", "--epsilon", "2", "--out", str(out), "--json"]
    for arguments, scale in (
        (call, "1/2"),
        (["calibrate", "--epsilon", "1/3", "--records", "4", "--json"], "12"),
        (["calibrate", "--plan", str(plan_file), "--json"], "2"),
    ):
        report = json.loads(run(*arguments).out)
        fields = report["tables"][0] if "tables" in report else report
        assert (fields["law"], fields["scale"]) == ("discrete Laplace", scale)
        assert "sigma2" not in fields
        assert (report["delta"], report["epsilon_by"]) == ("0", "the l1 norm of the changes")
    assert out.exists()
    both = run("calibrate", "--epsilon", "1", "--delta", "1e-6", "--json").out
    assert json.loads(both)["reason"].startswith("its standard deviation is 1.35696, that of")


def test_the_best_shares_are_those_of_the_law(plan_file: Path) -> None:
    """They are as the cube roots of l1**2 cells for epsilon, and the square roots for rho."""
    text = plan_file.read_text("utf-8")
    head, one, two = text.split("[[tables]]")
    best = 'share = "best"\ncells = '
    plan_file.write_text(f"{head}[[tables]]\n{best}2000{one}[[tables]]\n{best}1{two}", "utf-8")
    shares = [one.share for one in read_plan(plan_file).tables]
    assert shares[0] / shares[1] == pytest.approx(2000 ** (1 / 3), rel=1e-3)
    assert sum(shares) == 1
    gaussian = text.replace("epsilon = 1", "rho = 1")
    head, one, two = gaussian.split("[[tables]]")
    plan_file.write_text(f"{head}[[tables]]\n{best}2000{one}[[tables]]\n{best}1{two}", "utf-8")
    shares = [one.share for one in read_plan(plan_file).tables]
    assert shares[0] / shares[1] == pytest.approx(2000 ** (1 / 2), rel=1e-2)


def test_an_interval_of_a_pure_release_uses_its_law() -> None:
    """The radius is that of the law in the plan."""
    plan = Plan(Person(1), TABLES, epsilon=1)
    low, high = dg.estimate.interval([40], plan.laws["cells"])
    assert (low, high) == ([31], [49])
    assert plan.noise["cells"].bound95 == 9
