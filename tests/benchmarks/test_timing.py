"""The timing benchmark measures, and is not blind. No test asserts a time.

What it says about this library is in benchmarks/results_timing.md; here it has to flag the
plain-Python twin, whose time tells the value plainly (correlation about 0.5), and leaks planted in
made-up times.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from fractions import Fraction
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


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The statistics of benchmarks/silence.py."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import pairs

    return pairs


def calls(pairs: Any, seed: int) -> Any:
    """Calls of which each drew one value, with made-up times."""
    x, times = made_up(seed)
    rows = np.zeros(N, pairs.ROW)
    rows["ticks"], rows["sum"], rows["zeros"] = times, x, x == 0
    rows["sizes"] = rows["largest"] = abs(x)
    return rows


def test_pairs_without_a_leak(pairs: Any) -> None:
    """Sixty interruptions, of which a class of 1 % has none or some, are no leak (seeded)."""
    for seed in range(20):
        rows = calls(pairs, seed)
        rows["zeros"] = np.random.default_rng(seed).random(N) < 0.01
        found = pairs.judge(rows, 1.0)
        assert not found.is_flagged
        assert not np.isnan(list(found.by_class.values())).any()


@pytest.mark.parametrize("name", ["size", "sign", "zero", "top"])
def test_pairs_with_a_leak_in_a_class(pairs: Any, name: str) -> None:
    """Forty nanoseconds are seen in every class, and told (seeded)."""
    rows = calls(pairs, 3)
    rows["ticks"] += 40 * pairs.classes(rows)[name][0]
    found = pairs.judge(rows, 1.0)
    assert found.by_class[name] > 4.5
    assert found.is_flagged
    assert 20 < found.difference_ns[name] < 50
    assert found.seen_from_ns[name] < 20


def test_pairs_with_other_leaks(pairs: Any) -> None:
    """A spread that differs is seen by squares; a small leak behind many attempts, given these."""
    rows = calls(pairs, 4)
    rows["ticks"] += np.where(rows["sum"] > 0, np.tile([0, 200], N // 2), 100)
    assert pairs.judge(rows, 1.0).by_statistic["squares"] > 4.5
    rows = calls(pairs, 5)
    rows["asked"] = 12 * np.random.default_rng(5).geometric(0.5, N)
    rows["ticks"] += 40 * rows["asked"] + 12 * (rows["sum"] > 0)
    found = pairs.judge(rows, 1.0)
    assert found.by_statistic["given attempts"] > 4.5 > found.by_statistic["raw"]


@pytest.mark.evidence
@pytest.mark.skipif(None in map(shutil.which, ("cmake", "gcc")), reason="nothing to build with")
def test_silence_runs_and_flags_its_controls(tmp_path: Path) -> None:
    """In 3 x 10^4 calls both controls have a t of 10 and more; no way of ours is flagged twice."""
    report = tmp_path / "silence.json"
    only = ["--only", "laplace scale=10 n=1 ", "--only", "laplace scale=10 n=64 "]
    options = ["--builds", "gcc-O2", "--calls", "30000", "--json", str(report)]
    run = subprocess.run(
        [sys.executable, "silence.py", *only, *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=BENCHMARKS,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    document = json.loads(report.read_text(encoding="utf-8"))
    rows = document["rows"]
    assert document["blind"] == []
    for row in rows:
        flagged = max(row["first"]["by_statistic"].values()) >= 4.5
        assert flagged or not row["is_control"], row
        assert not row["leaks"], row
    assert sum(row["is_control"] for row in rows) == 4
    assert {"single draw, getrandom", "portable, tape"} <= {row["way"] for row in rows}


@pytest.mark.evidence  # on a busy machine it may be blind
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
    assert "plain C" in isochronous.speed_row(Fraction(10), 100, 0.01)
    assert "mu of floats" in isochronous.laws_row(100, 0.01)
