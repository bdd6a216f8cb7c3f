"""Noise that is nearly always the same number is warned of, once, where the law is chosen."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command

import discretegauss as dg
from discretegauss import release
from discretegauss._law_functions.narrow import narrow_noise
from discretegauss.errors import PrivacyWarning

privacy = dg.privacy
ONE = release.Person(1)
NARROW = dg.DiscreteGaussian("0.05")


def _table(folder: Path) -> Path:
    (folder / "t.csv").write_text("g,n\na,3\nb,4\n")
    return folder / "t.csv"


def _plan(folder: Path) -> Path:
    """Write a plan of two tables with narrow noise."""
    tables = "".join(
        f'[[tables]]\ntable = "{_table(folder).name}"\ncolumn = "n"\nout = "{out}.csv"\n'
        for out in "op"
    )
    (folder / "plan.toml").write_text(f"rho = 1000000\n{tables}")
    return folder / "plan.toml"


DOORS: dict[str, Callable[[Path], Any]] = {
    "add_noise, budget": lambda folder: dg.add_noise([3], rho=10**6),
    "add_noise, law": lambda folder: dg.add_noise(np.array([3]), NARROW),
    "noise_for": lambda folder: dg.noise_for([3], epsilon=500, delta="1e-6"),
    "calibrate": lambda folder: privacy.calibrate(dg.DiscreteGaussian, rho=10**6),
    "calibrate, error": lambda folder: privacy.calibrate(
        dg.DiscreteGaussian, error=0, confidence="0.9999"
    ),
    "release_table": lambda folder: release.release_table(
        _table(folder), "n", folder / "o.csv", rho=10**6
    ),
    "release_plan": lambda folder: release.release_plan(_plan(folder)),
    "Plan": lambda folder: release.Plan(
        ONE, {"a": release.Table("g"), "b": release.Table("h")}, rho=10**6
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_narrow_noise_is_warned_of_once_at_the_users_line(door: str, tmp_path: Path) -> None:
    with pytest.warns(PrivacyWarning, match="the noise is 0 in more than 999 of 1000") as caught:
        DOORS[door](tmp_path)
    assert [one.filename for one in caught] == [__file__]


def test_the_warning_names_the_users_line_beside_torch() -> None:
    """If its compiler is loaded, all calls go through it."""
    pytest.importorskip("torch._dynamo")
    with pytest.warns(PrivacyWarning) as caught:
        dg.add_noise([3], rho=10**6)
    assert [one.filename for one in caught if one.category is PrivacyWarning] == [__file__]


@pytest.mark.parametrize(
    ("law", "edge"),
    [
        (dg.DiscreteGaussian, (Fraction("0.0657"), Fraction("0.0659"))),
        (lambda x: dg.DiscreteGaussian(x, 7), (Fraction("0.0657"), Fraction("0.0659"))),
        (dg.DiscreteLaplace, (Fraction("0.1315"), Fraction("0.1316"))),
        (dg.Skellam, (Fraction("0.001"), Fraction("0.00101"))),
        (lambda x: dg.DiscreteGaussian(x, "1/2"), (None, Fraction(1, 10**9))),
    ],
)
def test_the_limit_is_a_probability_of_999_in_1000(law: Any, edge: Any) -> None:
    """A law just within it warns, and one just beyond it does not; mu = 1/2 has two numbers."""
    narrow, wide = edge
    if narrow is not None:
        assert law(narrow).pmf(law(narrow).mu) > 0.999
        with pytest.warns(PrivacyWarning, match=f"noise is {law(narrow).mu} in"):
            dg.noise_for([3], law(narrow))
    assert law(wide).pmf(0) < 0.999
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dg.noise_for([3], law(wide))
        dg.noise_for([3], law(100))


def test_shares_are_judged_by_their_sum() -> None:
    """Each of 10**6 shares is 0 nearly always, and the noise of all of them is not."""
    share = dg.Skellam("1e-6")
    assert "noise is 0" in narrow_noise(share)
    assert narrow_noise(share, 10**6) == ""
    assert "noise is 0" in narrow_noise(share, 999)
    with pytest.warns(PrivacyWarning):
        privacy.calibrate(dg.DiscreteGaussian, rho=10**4, clients=2)


def test_the_command_line_says_it_once_and_the_report_once(tmp_path: Path, run: Command) -> None:
    table, out = _table(tmp_path), tmp_path / "o.csv"
    how = ("release", table, "--column", "n", "--rho", 10**6, "--out")
    done = run(*how, out)
    line = "discretegauss: warning: the noise is 0 in more than 999 of 1000 draws"
    assert (done.code, done.err.count(line), done.err.count("\n")) == (0, 1, 1)
    assert "\ntable  " in done.out
    assert done.out.count("\nwarning") == 1
    done = run(*how, "-")
    assert done.err.count("more than 999 of 1000") == done.err.count("\nwarning") == 1
    done = run("calibrate", "--rho", 10**6, "--json")
    assert done.err.count(line) == 1
    assert "999 of 1000" in json.loads(done.out)["warning"]
    done = run("release", "--plan", _plan(tmp_path), "--force")
    assert (done.err.count(line), done.out.count("\nwarning")) == (1, 2)
    done = run("calibrate", "--rho", 1)
    assert "warning" not in done.out + done.err
