"""Seven new users, each with the calls of a first hour, mistakes included: none may stumble.

Each test is a script in the order in which a newcomer makes the calls, by README and one page. A
mistake is `refused`, and its message says what to do.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command

import discretegauss
from discretegauss.errors import LedgerError

dg: Any = discretegauss  # checkers know that some of these calls are wrong

ROOT = Path(__file__).resolve().parents[2]
TOWNS, AGES = ["Aix", "Bex", "Cux"], ["0-17", "18-64", "65+"]


def refused(call: Callable[[], Any], *says: str) -> None:
    """Require an error that a user can act on: it says all of this."""
    with pytest.raises((TypeError, ValueError, OverflowError, AttributeError, LedgerError)) as told:
        call()
    for words in says:
        assert words in str(told.value)


@pytest.fixture
def people_csv(run: Command, tmp_path: Path) -> Path:
    """Return the file of README: 50 000 people who do not exist, in 74 660 records."""
    path = tmp_path / "people.csv"
    path.write_text(run("example", "--people").out, "utf-8")
    return path


def test_a_cross_table_with_margins(people_csv: Path) -> None:
    """Records of people; README's first example, count.md and person.md."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("narwhals")
    people = pd.read_csv(people_csv)
    Person, Plan, Table = dg.release.Person, dg.release.Plan, dg.release.Table

    # Without the page: noise on the records, or on a crosstab with its totals.
    refused(lambda: dg.add_noise(people, epsilon=1), "must be integers", "columns= names the")
    totals = pd.crosstab(people.town, people.age, margins=True)
    refused(lambda: dg.add_noise(totals, epsilon=1), "sum of the other rows", "table of a plan")

    refused(lambda: Person(id="person"), "records")
    refused(lambda: Person(3, ids="person"), "did you mean id?")
    refused(lambda: Person("3"), "records must be an integer")
    refused(lambda: Table(groupby=["town"]), "did you mean by?")
    person = Person(records=3, id="person")
    tables = {"cells": Table(by=["town", "age"]), "towns": Table("town"), "nation": Table(by=[])}
    refused(lambda: Plan(person, tables), "give either rho, or epsilon, alone or with delta")
    refused(lambda: Plan(person, tables, epsilon=1, rho=1), "not both")
    refused(lambda: Plan(person, list(tables.values()), epsilon=1), "a dict from names")
    plan = Plan(person, tables, epsilon=1)
    assert str(plan).count("scale               9") == 3
    assert "total epsilon       1 (pure: delta = 0)" in str(plan)

    listed = {"town": TOWNS, "age": AGES}
    refused(lambda: plan.count("people.csv", listed), "frame of pandas, polars", "got 'people.csv'")
    refused(lambda: plan.count(people), "must list the values of 'town'")
    wrong = {"city": TOWNS, "age": AGES}
    refused(lambda: plan.count(people, wrong), "values of 'town'", "it has 'city', 'age'")
    bins = {"town": TOWNS, "age": [(0, 18), (18, None)]}
    refused(lambda: plan.count(people, bins), "must be values, not bins", "String")
    refused(lambda: plan.count(people, {**listed, "town": "Aix"}), "must be a list of values")
    refused(lambda: plan.count(people.rename(columns={"person": "p"}), listed), "column 'person'")
    refused(lambda: plan.count(people, listed, confidence=95), "between 0 and 1")

    result = plan.count(people, listed, consistent=True)
    cells = result["cells"]
    assert cells.columns.tolist() == ["town", "age", "n", "error", "low", "high"]
    assert cells["age"].tolist() == AGES * 3
    assert (cells["low"] < cells["n"]).all()
    assert (cells["n"] < cells["high"]).all()
    of_cells = cells["n"].to_numpy().reshape(3, 3).sum(axis=1)
    assert np.allclose(result["towns"]["n"], of_cells)
    kept = people.groupby("person").size().clip(upper=3).sum()
    # 24 standard deviations of the noise: exp(-24 sqrt(2)) is below 1e-14, and adding up lessens it
    assert abs(float(result["nation"]["n"].iloc[0]) - kept) < 24 * 12.8

    refused(lambda: result.share("cell"), "name must be one of 'cells', 'towns', 'nation'")
    refused(lambda: result.share("cells", of=["twon"]), "got 'twon'")
    shares = result.share("cells", of=["town"])
    assert np.allclose(shares.groupby("town")["share"].sum(), 1)
    sentences = str(result)
    for said in ("epsilon = 1 (pure", "with at most 3 records", "not counted: which ones, chance"):
        assert said in sentences
    promised = Plan(Person(records=3), tables, epsilon=1).count(people, listed)
    assert "This is a promise: it was not checked" in str(promised)


PLAN = """
epsilon = 1
[people]
file = "people.csv"
consistent = true
[person]
records = 3
id = "person"
[categories]
town = ["Aix", "Bex", "Cux"]
age = ["0-17", "18-64", "65+"]
[[tables]]
by = ["town", "age"]
out = "cells.csv"
[[tables]]
by = ["town"]
out = "towns.csv"
"""


def test_a_statistical_agency(
    people_csv: Path, run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, a plan and a JSON report by the command line; release.md, plans.md, count.md."""
    monkeypatch.chdir(tmp_path)
    Path("flights.csv").write_text(run("example").out, "utf-8")
    table = ["release", "flights.csv", "--column", "flights"]
    one = [*table, "--out", "noisy.csv"]
    for options, says in (
        (["release", "flights.csv"], "are required: --column, --out"),
        (one, "give either --rho, or --epsilon, alone or with --delta; got none"),
        ([*one, "--rho", "0.1", "--epsilon", "1"], "got --rho and --epsilon"),
        ([*one, "--delta", "1e-6"], "alone or with --delta; got --delta"),
        ([*one, "--rho", "0,1"], "a finite number such as 0.1 or 1/3"),
        ([*table, "--rho", "1", "--out", "flights.csv"], "the output must be another file"),
        ([*table, "--rho", "1", "--out", "new/noisy.csv"], "must be in a folder that exists"),
        ([*one, "--rho", "1", "--column", "flight"], "the header has no column 'flight'"),
        ([*one, "--rho", "1", "--column", "carrier"], "the cell is not a whole number"),
    ):
        refused_command = run(*options)
        assert refused_command.is_refused_with(says), refused_command.err
    done = json.loads(run(*one, "--epsilon", "1", "--json").out)
    assert (done["law"], done["scale"], done["rows"]) == ("discrete Laplace", "1", 5268)
    assert run(*one, "--epsilon", "1").is_refused_with("--force")

    pytest.importorskip("polars")
    pytest.importorskip("narwhals")
    for old, new, says in (
        ("epsilon = 1", "", "give either rho, or epsilon, alone or with delta"),
        ("epsilon", "epsilno", "did you mean epsilon?"),
        ("epsilon = 1", "epsilon = 1,0", "is not a TOML file (at line 2"),
        ('file = "people.csv"', 'file = "person.csv"', "there is no file person.csv"),
        ("records = 3", "", "records, the most that one person has, must be given"),
        ('"person"', '"pid"', "must have a column 'pid', but have 'person', 'town', 'age'"),
        ('by = ["town"]', 'by = ["twon"]', "has 'town', 'age'"),
        ('age = ["0-17", "18-64", "65+"]', 'age = [[0, 18], [18, ""]]', "of such values: 'age'"),
        ('"towns.csv"', '"cells.csv"', "out must differ"),
    ):
        Path("plan.toml").write_text(PLAN.replace(old, new), "utf-8")
        assert run("release", "--plan", "plan.toml").is_refused_with(says)
    Path("plan.toml").write_text(PLAN, "utf-8")
    assert run("release", "--plan", "plan.toml", "--rho", "1").is_refused_with("the plan sets it")
    before = json.loads(run("calibrate", "--plan", "plan.toml", "--json").out)
    assert [table["scale"] for table in before["tables"]] == ["6", "6"]
    assert "standard deviation  8.47547" in run("calibrate", "--plan", "plan.toml").out
    ledger = ["--ledger", "people.ledger"]
    assert run("release", "--plan", "plan.toml", *ledger).is_refused_with("does not exist")
    unit = ["--epsilon", "2", "--unit", "a person of the register"]
    assert run("ledger", "start", "people.ledger", *unit).code == 0
    done = json.loads(run("release", "--plan", "plan.toml", "--json", *ledger).out)
    assert done["asked_epsilon"] == "1"
    assert any("with at most 3 records" in sentence for sentence in done["publish"])
    assert Path("towns.csv").read_text("utf-8").startswith("town,n,error,low,high\nAix,")
    assert "spent epsilon 1" in run("ledger", "people.ledger").out


@pytest.mark.filterwarnings("ignore::discretegauss.testing.NotPrivateWarning")
def test_from_a_numpy_generator() -> None:
    """migration.md: `rng.normal` becomes exact noise, and there is no seed."""
    from discretegauss.compat import NumpyNoise, SystemBits

    noise: Any = NumpyNoise
    counts = np.array([1204, 87, 0])
    refused(lambda: noise(seed=1), "no seed")
    refused(lambda: noise(42), "power of two", "no seed")
    refused(lambda: noise(0.001), "power of two")
    prng = noise()
    drawn = prng.normal(0, 12.5, 3)
    assert drawn.dtype == float
    assert (drawn == np.rint(drawn)).all()
    refused(lambda: prng.normal(0, 0.5), "scale must be at least 1", "1 for counts")
    assert float(NumpyNoise(1).normal(0, 0.5)).is_integer()
    refused(lambda: prng.standard_normal(3), "for noise use normal")
    refused(lambda: prng.poisson(3), "SystemBits()")
    refused(lambda: prng.randint(3), "has no randint")
    assert prng.choice(3) in range(3)
    assert sorted(np.random.Generator(SystemBits("chacha20")).permutation(3)) == [0, 1, 2]

    refused(lambda: dg.add_noise(counts, rho=1, rng=np.random.default_rng(1)), "seeded_source")
    refused(lambda: dg.add_noise(counts, rho=1, source=np.random.default_rng(1)), "seeded_source")
    refused(lambda: dg.add_noise(counts, sigma=10), "did you mean law?")
    refused(lambda: dg.add_noise(counts, 10), "pass a budget by name")
    law = dg.DiscreteGaussian(sigma=10)
    refused(lambda: dg.add_noise(counts, law, rho=1), "either a law or a budget")
    refused(lambda: dg.add_noise(counts / 2, law), "integral_floats=True")
    refused(lambda: dg.discrete_gaussian(sigma=10, size=1e3), "must be an integer")
    refused(lambda: dg.discrete_gaussian(sigma=10, size=3, dtype="int8"), "dtype=object")
    refused(lambda: dg.discrete_gaussian(sigma=10, sigma2=100), "got both")
    assert dg.add_noise(counts, law).dtype == np.int64
    source = dg.testing.seeded_source
    again = [law.sample(size=9, source=source(1)).tolist() for _ in range(2)]
    assert again[0] == again[1]


def test_a_federated_learning_engineer() -> None:
    """federated.md: noise in shares, integers for secure aggregation, and what it costs."""
    distributed, privacy = dg.distributed, dg.privacy
    how = {
        "sensitivity": distributed.rounded_norm(200, dimension=64),
        "dimension": 64,
        "queries": 10,
    }
    budget = {"epsilon": 4, "delta": "1e-6"}
    refused(lambda: privacy.calibrate("gaussian", **budget), "the class itself")
    refused(lambda: privacy.calibrate(dg.Skellam, epsilon=4, clients=8), "delta must lie between")
    refused(lambda: privacy.calibrate(dg.Skellam, rho=1, clients=8), "give epsilon with delta")
    refused(lambda: privacy.calibrate(dg.Skellam, **budget, n_clients=8), "did you mean clients?")
    refused(lambda: privacy.calibrate(dg.Skellam, **budget, rounds=10), "did you mean queries?")
    alone = dg.DiscreteGaussian
    refused(lambda: privacy.calibrate(alone, **budget, sensitivity=1.5), "a whole number")
    noise = privacy.calibrate(dg.Skellam, clients=8, **budget, **how)
    refused(lambda: privacy.epsilon(noise, "1e-6", clients=8), "law.sum(n)")
    assert 3.99 < privacy.epsilon(noise.sum(8), "1e-6", **how) <= 4
    refused(lambda: privacy.rho(noise.sum(8), sampling="0.01"), "sampling must be 1 for a rho")
    refused(lambda: privacy.epsilon(noise.sum(8), "1e-6", sampling="1%"), "such as '1/3' or '0.1'")

    refused(lambda: distributed.least_modulus(noise, clients=10, largest=9), "mean most_clients?")
    refused(lambda: dg.add_noise([0.5, 1], noise, modulus=64), "must be integers")
    refused(lambda: dg.add_noise([3, 1], noise, modulo=64), "did you mean modulus?")
    modulus = distributed.least_modulus(noise, most_clients=10, largest=9)
    assert min(dg.add_noise([3, -1], noise, modulus=modulus)) >= 0

    Sum, come = distributed.SecureSum, {"most_clients": 10, "fewest_clients": 8}
    refused(lambda: Sum(60, clip=1, steps=200, law=noise), "most_clients", "fewest_clients")
    refused(
        lambda: Sum(60, clip=1, steps=200, law=dg.DiscreteLaplace(3), **come), "must be a Skell"
    )
    refused(lambda: Sum(60, clip=1, steps=200, law=noise, modulus=16, **come), "must be at least")
    secure = Sum(60, clip=1, steps=200, law=noise, **come)
    assert secure.sensitivity == how["sensitivity"]
    refused(lambda: secure.message(np.zeros(64)), "must have 60 numbers")
    refused(lambda: secure.message(np.full(60, np.nan)), "must be finite")
    messages = [secure.message(np.full(60, 0.1)) for _ in range(8)]
    refused(lambda: secure.total(messages[:7]), "8 to 10, got 7")
    refused(lambda: secure.total(messages[:7] + messages[:1]), "two of them are the same")
    summed = sum(messages) % secure.modulus
    refused(lambda: secure.total(summed), "clients must be given with a sum of messages")
    found = secure.total(summed, clients=8)
    assert (np.abs(found - 0.8) < 10 * secure.noise_std).all()
    assert (found == secure.total(messages)).all()


def test_accounting_of_a_training_run() -> None:
    """training.md and privacy.md: steps of DP-SGD on samples, and dp-accounting's object."""
    privacy, steps = dg.privacy, 2**20
    refused(lambda: dg.DiscreteGaussian(noise_multiplier=1), "did you mean sigma?")
    law = dg.DiscreteGaussian(sigma=steps)
    refused(lambda: privacy.epsilon(1.0, "1e-6"), "law must be a DiscreteGaussian")
    refused(lambda: privacy.epsilon(law), "delta")
    refused(lambda: privacy.epsilon(law, 0), "between 0 and 1, both excluded")
    refused(lambda: privacy.epsilon(law, "1e-6", steps=1000), "did you mean queries?")
    refused(lambda: privacy.epsilon(law, "1e-6", sample_rate=0.01), "did you mean sampling?")
    refused(lambda: privacy.epsilon(law, "1e-6", sampling=256), "sampling must be at most 1")
    refused(lambda: privacy.epsilon(law, "1e-6", queries=1e3), "queries must be an integer")
    how = {"sensitivity": steps, "queries": 1000, "sampling": "0.01"}
    epsilon = privacy.epsilon(law, "1e-6", **how)
    assert 2.12 < epsilon < 2.13

    refused(lambda: privacy.loss(law, noise_multiplier=1), "has no parameter")
    loss = privacy.loss(law, steps, sampling="0.01")
    assert repr(loss) == "PrivacyLoss(1 release)"
    refused(loss.epsilon, "delta")
    refused(lambda: loss**0, "releases must be at least 1")
    refused(lambda: loss**2.0, "releases must be an integer")
    refused(lambda: privacy.compose(loss, loss), "write a @ b")
    refused(lambda: privacy.rho(law, steps, sampling="0.01"), "sampling must be 1 for a rho")
    assert (loss**1000).epsilon("1e-6") == epsilon
    assert (loss**999 @ loss).epsilon("1e-6") == pytest.approx(epsilon, rel=1e-3)
    if importlib.util.find_spec("dp_accounting") is not None:
        theirs = loss.to_dp_accounting().self_compose(1000)
        assert theirs.get_epsilon_for_delta(1e-6) == pytest.approx(epsilon, rel=1e-6)

    kind = dg.DiscreteGaussian
    refused(lambda: privacy.calibrate(kind, target_epsilon=2, delta="1e-6"), "mean epsilon?")
    found = privacy.calibrate(kind, epsilon=2, delta="1e-6", **how)
    assert 1.02 < float(found.sigma2) ** 0.5 / steps < 1.04


def test_selection_and_the_names_for_c() -> None:
    """selection.md; of csrc/README.md only the names, as `tests/library` installs and runs it."""
    pd = pytest.importorskip("pandas")
    selection = dg.selection
    diagnoses = pd.DataFrame({"diagnosis": ["flu", "rare"], "people": [3000, 1]})
    how = {"epsilon": 1, "delta": "1e-6"}
    refused(lambda: selection.keep_groups(diagnoses, **how), "columns= names the columns of counts")
    refused(lambda: selection.keep_groups(diagnoses, column="people", **how), "mean columns?")
    refused(lambda: selection.keep_groups(diagnoses, columns="people", epsilon=1), "delta")
    refused(lambda: selection.keep_groups(["flu", "rare"], **how), "counts must be integers")
    refused(lambda: selection.keep_groups({"flu": 9}, max_groups=2, **how), "groups_per_person?")
    refused(lambda: selection.keep_groups({"flu": -9}, **how), "from 0 to 2**62")
    rule = selection.keep_rule(**how)
    assert rule.keep_probability(1) < 1e-6 < 0.999 < rule.keep_probability(60)
    names = {str(x) for x in selection.keep_groups({"flu": 3000, "none": 0}, **how)}
    assert names == {"flu"}

    votes = {"a": 12, "b": 9000, "c": 31}
    refused(lambda: selection.permute_and_flip(votes, epsilon=1), "list(x.values())")
    refused(lambda: selection.permute_and_flip([], epsilon=1), "scores must have a candidate")
    refused(lambda: selection.permute_and_flip([1, float("nan")], epsilon=1), "scores[1]")
    refused(lambda: selection.permute_and_flip([1, 2]), "epsilon")
    scores = list(votes.values())
    assert list(votes)[selection.permute_and_flip(scores, epsilon=1)] == "b"
    refused(lambda: selection.report_noisy_max(scores, 1), "law must be a DiscreteGaussian")
    law = dg.DiscreteLaplace(20)
    assert selection.report_noisy_max(scores, law) == 1
    assert selection.noisy_max_epsilon(law, monotone=True) == Fraction(1, 20)
    refused(lambda: selection.noisy_max_epsilon(dg.DiscreteGaussian(20)), "DiscreteLaplace")

    page = (ROOT / "csrc" / "README.md").read_text("utf-8").partition("## ")[0]
    headers = "".join(x.read_text("utf-8") for x in (ROOT / "csrc" / "include").glob("*.h"))
    used = set(re.findall(r"\b(?:dg_\w+|DG_[A-Z_]+\b(?!=))", page))
    assert len(used) > 5
    assert [name for name in sorted(used) if name not in headers] == []


def test_one_who_decides(tmp_path: Path) -> None:
    """for_you.md: what epsilon means, which noise that is, and one limit for the office."""
    privacy, laplace, gaussian = dg.privacy, dg.DiscreteLaplace, dg.DiscreteGaussian
    assert privacy.calibrate(laplace, epsilon=1).interval(0.95) == (-3, 3)
    refused(lambda: privacy.calibrate(gaussian, epsilon=1), "delta", "DiscreteLaplace")
    refused(lambda: privacy.calibrate(gaussian, eps=1, delta="1e-6"), "did you mean epsilon?")
    refused(lambda: privacy.calibrate(gaussian, error=5, confidence=95), "between 0 and 1")
    law = privacy.calibrate(gaussian, error=5, confidence="0.95")
    assert law.interval(0.95) == (-5, 5)
    guess = 50 * (1 + privacy.delta(privacy.calibrate(gaussian, rho="0.1"), 0))
    assert 58 < guess <= 59
    refused(lambda: privacy.Budget(delta="1e-6"), "give either rho, or epsilon, alone or with")
    assert privacy.Budget(epsilon=1).delta == 0

    path = tmp_path / "people.ledger"
    start, unit = privacy.Ledger.start, "a resident of the register of 2026"
    refused(lambda: privacy.Ledger(path), "does not exist; start makes a new ledger")
    refused(lambda: start(path, rho=1), "unit")
    refused(lambda: start(path, unit=unit), "must be rho, or epsilon with or without delta")
    ledger = start(path, unit=unit, epsilon=2)
    refused(lambda: start(path, unit=unit, epsilon=2), "exists already")
    refused(lambda: ledger.spend(what="a table"), "a cost must be rho, or epsilon")
    refused(lambda: ledger.spend(rho="0.1"), "a limit of pure epsilon", "discrete Laplace")
    assert ledger.spend(epsilon=1, what="visits by town").n == 1
    refused(lambda: ledger.spend(epsilon="1.1"), "more than what is left: 1 of 2")
    plan = dg.release.Plan(
        dg.release.Person(records=1), {"towns": dg.release.Table(by=["town"])}, epsilon="1.5"
    )
    pd = pytest.importorskip("pandas")
    towns = {"towns": pd.DataFrame({"town": ["A", "B"], "n": [40, 60]})}
    refused(lambda: plan.add_noise(towns, "n", ledger=path), "more than what is left")
    assert "spent epsilon 1" in str(privacy.Ledger(path))
