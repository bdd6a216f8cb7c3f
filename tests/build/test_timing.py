"""The timing benchmark measures, and is not blind. No test asserts a time.

What it says about this library is in benchmarks/results_timing.md; here it has to flag the
plain-Python twin, whose time tells the value plainly (correlation about 0.5), and leaks planted in
made-up times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import ENGINE

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
N = 20_000


@pytest.fixture
def leakage(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The statistics of benchmarks/leakage.py."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import leakage

    return leakage.leakage


def made_up(seed: int) -> tuple[Any, Any]:
    """Values of a law with standard deviation 10, and noisy times with a few interruptions."""
    rng = np.random.default_rng(seed)
    times = 1000 + 100 * rng.standard_exponential(N)
    times[rng.random(N) < 0.003] += 10**6
    return np.rint(rng.normal(0, 10, N)).astype(int), times


def test_no_leak_is_no_leak(leakage: Any) -> None:
    """Times that have nothing to do with the values are not flagged (seeded)."""
    for seed in range(20):
        assert not leakage(*made_up(seed)).is_seen


@pytest.mark.parametrize("leak", ["size", "sign", "large"])
def test_a_planted_leak_is_seen(leakage: Any, leak: str) -> None:
    """Twelve nanoseconds among a deviation of a hundred are seen at 20000 draws (seeded)."""
    x, times = made_up(3)
    if leak == "size":
        times += abs(x)
    elif leak == "sign":
        times += 12 * (x > 0)
    else:
        times += 12 * (abs(x) > 6)
    found = leakage(x, times)
    assert found.is_seen
    assert {
        "size": found.correlation_t > 4.5,
        "sign": 8 < found.sign.nanoseconds < 16,
        "large": 8 < found.magnitude.nanoseconds < 16,
    }[leak]


@pytest.mark.parametrize("x", [[0] * 200, [1, -1] * 100, [3] * 200])
def test_values_without_halves_are_no_error(leakage: Any, x: list[int]) -> None:
    """Laws of one value or two leave nothing to compare."""
    assert not leakage(x, list(range(200))).magnitude.t


def test_the_benchmark_runs_and_flags_the_twin(tmp_path: Path) -> None:
    """At 3000 draws of the discrete Laplace the twin's t is some 30; 4.5 flags it."""
    report = tmp_path / "timing.json"
    command = [
        "timing.py",
        "--only",
        "laplace scale=100 ",
        "--draws",
        "3000",
        "--json",
        str(report),
    ]
    run = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=BENCHMARKS,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    document = json.loads(report.read_text(encoding="utf-8"))
    rows = {row["path"]: row for row in document["rows"]}
    assert document["blind"] == []
    assert rows["twin (control)"]["leaks"]
    assert rows["twin (control)"]["correlation"] > 0.1
    assert all(row["draws"] == 3000 for row in rows.values())
    if document["machine"]["discretegauss_build"]["engine"] == "native":
        assert {"law.sample(), getrandom", "C core alone, chacha20"} <= set(rows)


def test_fills_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """isochronous.py has a row for every method, and finds what is planted in times."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import isochronous

    values, times = made_up(3)
    assert isochronous.judge(values, times.astype(int)) < 4.5
    assert isochronous.judge(values, (times + 2 * np.abs(values)).astype(int)) > 4.5
    if ENGINE != "native":
        pytest.skip("the compiled engine is not in use here")
    rows = isochronous.leak_rows(100, 64, 300)
    assert set(rows) == set(isochronous.METHODS)
    assert "portable" in isochronous.speed_row(10, 100, 0.01)
