"""Integers change by at least 1, so every function refuses a smaller sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import Command

import discretegauss as dg
from discretegauss import release
from discretegauss.errors import ParameterValueError

privacy = dg.privacy
LAW = dg.DiscreteGaussian(10)
PAIR: dict[str, Any] = {"epsilon": 1, "delta": "0.1"}

DOORS: dict[str, Callable[..., Any]] = {
    "add_noise": lambda **how: dg.add_noise([3], rho="0.1", **how),
    "noise_for": lambda **how: dg.noise_for([3], rho="0.1", **how),
    "release_table": lambda **how: release.release_table("t.csv", "n", "o", rho="0.1", **how),
    "rho": lambda **how: privacy.rho(LAW, **how),
    "compose": lambda sensitivity: privacy.compose((LAW, sensitivity)),
    "delta": lambda **how: privacy.delta(LAW, 1, **how),
    "delta of Skellam": lambda **how: privacy.delta(dg.Skellam(10), 1, **how),
    "delta of shares": lambda **how: privacy.delta(LAW.sum(3), 1, dimension=2, **how),
    "renyi": lambda **how: privacy.renyi(dg.Skellam(10), 2, **how),
    "loss": lambda **how: privacy.loss(LAW, **how),
    **{
        f"calibrate {kind.__name__} {budget}": lambda kind=kind, budget=budget, **how: (
            privacy.calibrate(kind, **budget, **how)
        )
        for kind in (dg.DiscreteGaussian, dg.DiscreteLaplace, dg.Skellam)
        for budget in ({"rho": "0.1"}, PAIR, {**PAIR, "clients": 3})
        if (kind is not dg.Skellam or "rho" not in budget)
        and (kind is not dg.DiscreteLaplace or "clients" not in budget)
    },
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("sensitivity", ["0.5", "0.999999", 0, -1])
def test_a_sensitivity_below_1_is_refused(door: str, sensitivity: Any) -> None:
    with pytest.raises(ParameterValueError, match=r"^sensitivity must be at least 1, because"):
        DOORS[door](sensitivity=sensitivity)


@pytest.mark.parametrize("door", DOORS)
def test_a_sensitivity_of_1_is_taken(door: str) -> None:
    if door == "release_table":
        return
    DOORS[door](sensitivity=1)


def test_a_sum_norm_below_1_is_refused() -> None:
    with pytest.raises(ParameterValueError, match=r"^sum_norm must be at least 1"):
        privacy.delta(dg.Skellam(10), 1, dimension=2, sum_norm="0.5")


PLAN = """
epsilon = 1
delta = "0.1"
[[tables]]
table = "t.csv"
column = "n"
out = "o.csv"
sensitivity = "1.5"
"""


@pytest.mark.parametrize("others", ["", PLAN.partition("[[")[2]])
def test_with_epsilon_a_sensitivity_is_whole_in_plans_too(
    tmp_path: Path, run: Command, others: str
) -> None:
    """The rule is that of `calibrate`, for a plan of one table and of two."""
    rule = "sensitivity must be a whole number"
    with pytest.raises(ParameterValueError, match=f"^{rule}"):
        privacy.calibrate(dg.DiscreteGaussian, **PAIR, sensitivity="1.5")
    done = run("calibrate", "--epsilon", 1, "--delta", "0.1", "--sensitivity", "1.5")
    assert (done.code, rule in done.err) == (2, True)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN + ("[[" + others.replace("o.csv", "p.csv") if others else ""))
    done = run("calibrate", "--plan", plan)
    assert (done.code, f"plan.toml: table 1: {rule}" in done.err) == (2, True)
    plan.write_text(plan.read_text().replace("1.5", "2"))
    assert run("calibrate", "--plan", plan).code == 0


def test_the_command_line_refuses_a_sensitivity_below_1(run: Command) -> None:
    for command in ("calibrate", "release"):
        done = run(command, "--rho", 1, "--sensitivity", "0.5")
        assert "--sensitivity: must be at least 1, got '0.5'" in done.err
