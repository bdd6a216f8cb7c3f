"""The timing benchmark finds planted leaks, and no others. No test asserts a time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import ENGINE
from programs import ended, printed

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
N = 20_000


@pytest.fixture
def leakage(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return benchmarks/leakage.py, for its statistics."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import leakage

    return leakage


def calls(leakage: Any, seed: int) -> Any:
    """Return calls of one draw of deviation 10, with noisy times and interruptions."""
    rng = np.random.default_rng(seed)
    times = 1000 + 100 * rng.standard_exponential(N)
    times[rng.random(N) < 0.003] += 10**6
    return leakage.calls_of(times, np.rint(rng.normal(0, 10, (N, 1))).astype(int))


def test_no_leak_is_no_leak(leakage: Any) -> None:
    """Sixty interruptions, some of which may hit a class of 1 %, are no leak (seeded)."""
    for seed in range(20):
        rows = calls(leakage, seed)
        rows["zeros"] = np.random.default_rng(seed).random(N) < 0.01
        found = leakage.judge(rows)
        assert not found.is_flagged
        assert not np.isnan(list(found.by_class.values())).any()


@pytest.mark.parametrize("name", ["size", "sign", "zero", "top"])
def test_a_planted_leak_is_seen(leakage: Any, name: str) -> None:
    """Forty nanoseconds are seen in every class (seeded)."""
    rows = calls(leakage, 3)
    rows["time"] += 40 * leakage.classes(rows)[name][0]
    found = leakage.judge(rows)
    assert found.by_class[name] > 4.5
    assert found.is_flagged


def test_a_spread_that_differs_is_seen_by_squares(leakage: Any) -> None:
    """Draws above 0 take 0 or 200 ns more, the others 100: only squares differ (seeded)."""
    rows = calls(leakage, 4)
    rows["time"] += np.where(rows["sum"] > 0, np.tile([0, 200], N // 2), 100)
    assert leakage.judge(rows).by_statistic["squares"] > 4.5


@pytest.mark.parametrize("value", [0, 3])
def test_values_without_halves_are_no_error(leakage: Any, value: int) -> None:
    """If all draws are equal, no class can be compared."""
    found = leakage.judge(leakage.calls_of(np.arange(200), np.full((200, 1), value)))
    assert not found.is_flagged


@pytest.mark.evidence  # it may be blind on a busy machine
def test_the_program_runs_and_flags_its_controls() -> None:
    """In 2 x 10^4 calls all controls are flagged, and no silent method is flagged twice."""
    command = ["leakage.py", "--calls", "20000", "--only", "laplace scale=10, n=1."]
    said = printed(sys.executable, *command, cwd=BENCHMARKS)
    assert "BLIND" not in said
    assert "\nplain Python " in said
    if ENGINE == "native":
        assert "\ndefault " in said
        assert '\nsource="getrandom" ' in said


def test_bad_arguments_are_refused_without_a_traceback() -> None:
    for arguments in (["--calls", "0"], ["--only", "nothing-of-this-name"]):
        run = ended(sys.executable, "leakage.py", *arguments, cwd=BENCHMARKS)
        assert (run.returncode, run.stdout) == (2, "")
        assert "error: " in run.stderr.splitlines()[-1]
