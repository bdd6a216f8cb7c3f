"""The benchmarks' rates and ratios are of what was measured. No test asserts a time."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench import rounds

ROOT = Path(__file__).resolve().parents[2]


def test_one_slow_call_does_not_fix_the_number_of_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first call that loads libraries, or is interrupted, would leave one draw in each call."""
    clock = [0.0]
    calls: list[int] = []

    def draw(n: int) -> None:
        calls.append(n)
        clock[0] += n * 1e-6 + (1.0 if len(calls) == 1 else 0.0)

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    rates = rounds.measure({"": draw}, seconds=0.3, rounds=3)[""]
    assert rates.draws_per_call == pytest.approx(10**5, rel=1e-6)
    assert rates.median == pytest.approx(10**6, rel=1e-6)


def test_a_ratio_is_the_median_over_rounds_of_ours_over_theirs() -> None:
    ours, theirs = (rounds.Rates(1, rates) for rates in ((20.0, 60.0, 5.0), (10.0, 10.0, 10.0)))
    assert ours.ratio_to(theirs) == 2


@pytest.mark.parametrize(
    "program", ["throughput", "calls", "interrupt", "privacy", "laws", "leakage"]
)
def test_a_file_that_cannot_be_written_is_refused_first(program: str, tmp_path: Path) -> None:
    """--json is checked before minutes are spent on what could not be kept; each program starts."""
    target = tmp_path if program == "leakage" else tmp_path / "missing" / "x.json"
    developer = ["--developer"] if program == "throughput" else []
    done = subprocess.run(
        [sys.executable, f"benchmarks/{program}.py", *developer, "--json", str(target)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert str(target) in done.stderr.splitlines()[-1]
