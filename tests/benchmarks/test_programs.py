"""The benchmark programs say what they measured, or why they did not. No test asserts a time."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench import machine, rounds
from discretegauss._drawing import engines as _engine

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ["throughput.py", "calls.py", "interrupt.py", "privacy.py", "laws.py", "leakage.py"]
PROGRAMS += ["neighbours_selection.py", "neighbours_shares.py"]
needs_the_core = pytest.mark.skipif(_engine.native is None, reason="measures the compiled core")


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module of benchmarks/ by its name."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def run(
    *command: str | Path, cwd: Path = ROOT, pure_python: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a program of this repository to its end."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    if pure_python:
        environment["DISCRETEGAUSS_PURE_PYTHON"] = "1"
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=environment,
    )


def without_peers(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark where the optional peers cannot be imported."""
    lines = (
        "import runpy, sys",
        "for name in ('opendp', 'opendp.prelude', 'diffprivlib', 'mkl_random'):",
        "    sys.modules[name] = None",
        "sys.path.insert(0, 'benchmarks')",
        "sys.argv = sys.argv[1:]",
        "runpy.run_path('benchmarks/' + sys.argv[0], run_name='__main__')",
    )
    return run("-c", "\n".join(lines), program, *arguments)


# --- arguments


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_file_that_cannot_be_written_is_refused_first(program: str, tmp_path: Path) -> None:
    """--json is checked before minutes are spent on what could not be kept."""
    target = tmp_path if program == "leakage.py" else tmp_path / "missing" / "x.json"
    developer = ["--developer"] if program == "throughput.py" else []
    done = run(f"benchmarks/{program}", *developer, "--json", target)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--json" in done.stderr.splitlines()[-1]
    assert str(target) in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "command",
    [
        "throughput.py --bulk",
        "throughput.py --developer --seconds nan",
        "throughput.py --developer --seconds inf",
        "throughput.py --developer --seconds 0",
        "throughput.py --developer --rounds 0",
        "interrupt.py --repeats 0",
        "leakage.py --calls 0",
        "calls.py --only nothing-of-this-name",
        "leakage.py --only nothing-of-this-name",
    ],
)
def test_bad_arguments_are_refused_without_a_traceback(command: str) -> None:
    """One line tells what is wrong, and the exit code is 2."""
    if "bulk" in command and _engine.native is None:
        pytest.skip("measures the compiled core")
    done = run(*f"benchmarks/{command}".split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "error: " in done.stderr.splitlines()[-1]


# --- who does not run is named


def test_the_bulk_table_without_the_core_says_why() -> None:
    """Not "no case has '' in its name": the engine in use is what keeps it from running."""
    done = run("benchmarks/throughput.py", "--developer", "--bulk", pure_python=True)
    assert done.returncode == 2
    assert "the engine in use is 'python', not the compiled one" in done.stderr


@needs_the_core
def test_calls_names_a_peer_that_is_missing(benchmark: Any) -> None:
    """Its row is there, without figures, and the reason is kept."""
    calls, rows = benchmark("calls"), benchmark("calls_rows")

    def prepare() -> Any:
        raise ImportError("no such package")

    answer = calls.answered(rows.Question("a call", "a peer", prepare, 2), seconds=1, rounds=1)
    assert (answer.measured, answer.met, answer.skipped) == (None, None, "no such package")
    assert "not measured" in rows.answers_text([answer])
    json.dumps(rows.as_json([answer]), allow_nan=False)


def test_leakage_names_who_is_missing() -> None:
    """A peer that does not run here is listed with the reason, and does not just vanish."""
    arguments = ("--only", "laplace scale=10, n=1.", "--calls", "200")
    done = without_peers("leakage.py", *arguments)
    assert "skipped: OpenDP: " in done.stdout
    done = run("benchmarks/leakage.py", *arguments, pure_python=True)
    assert "skipped: discretegauss: the engine in use is 'python', not the compiled" in done.stdout


def test_interrupt_names_who_is_missing(benchmark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without OpenDP its row is not there, and the reason is."""
    for name in ("opendp", "opendp.prelude"):
        monkeypatch.setitem(sys.modules, name, None)
    draws, skipped = benchmark("interrupt").peer_draws()
    assert draws == []
    assert [peer for peer, reason in skipped if reason] == ["OpenDP"]


# --- what is measured is what the row says


def test_a_draw_that_was_over_has_no_latency(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal that comes after the draw was not answered by it."""
    interrupt = benchmark("interrupt")

    class Late(contextlib.nullcontext[None]):
        def __enter__(self) -> Any:
            return self

        def communicate(self) -> tuple[str, None]:
            return str(time.monotonic()), None

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupt.subprocess, "Popen", lambda *_, **__: Late())
    monkeypatch.setattr(time, "sleep", interrupted)
    assert interrupt.latency(lambda: None) is None
    row = interrupt.row("draw", [None, None])
    assert (row["met"], row["over"]) == (None, 2)
    assert "not measured" in interrupt.row_text(row)
    assert interrupt.row("draw", [None, 0.2])["met"] is False


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


def test_ratios_are_ours_over_theirs(benchmark: Any) -> None:
    """Twice the rate is a ratio of 2, the median over the rounds."""
    rates = rounds.Rates
    ours, theirs = rates(1, (20.0, 60.0, 5.0)), rates(1, (10.0, 10.0, 10.0))
    assert ours.ratio_to(theirs) == 2
    row = benchmark("bulk_rows").ratio_row("case", 2.5, ours, theirs)
    assert (row.measured, row.met) == (2, False)


def test_a_bound_is_on_speed_or_on_time(benchmark: Any) -> None:
    """At least: of the peer's speed; at most: of its time, or within a time of its own."""
    rows, rates = benchmark("calls_rows"), rounds.Rates
    ours, theirs = rates(1, (20.0, 60.0, 5.0)), rates(1, (10.0, 10.0, 10.0))

    def answer(*owed: Any) -> Any:
        question = rows.Question("a call", "a peer", list, *owed)
        return rows.Answer(question, ours, theirs)

    assert (answer(2.0).measured, answer(2.0).met, answer(2.1).met) == (2, True, False)
    assert (answer(0.5, "at most").measured, answer(0.4, "at most").met) == (0.5, False)
    assert answer(0.4, "at most", 0.06).met
    assert not answer(None, "at most", 0.04).met
    assert answer().met is None


@needs_the_core
def test_a_table_that_is_not_repaid_misses_the_target(benchmark: Any) -> None:
    """Where cells are no faster than the reference there is no crossing, at no number of draws."""
    crossing_row = benchmark("bulk_tables").crossing_row
    rates = rounds.Rates

    def row(cells: float) -> Any:
        by_round = [rates(1, (rate,) * 3) for rate in (100.0, cells, 1e6)]
        return crossing_row("law", *by_round, begins=20_000)

    assert row(2e6).measured == pytest.approx(1)  # 10 ms of building, half a microsecond a draw
    assert row(2e6).met
    for cells in (1e6, 9e5):
        assert row(cells).met is False
        assert "not repaid" in row(cells).note
        json.dumps(benchmark("bulk_rows").as_json([row(cells)]), allow_nan=False)


def test_every_way_to_call_is_measured() -> None:
    """The default, cells, every byte from the kernel and Algorithms 1-3, arrays and draws."""
    from bench.contenders import Contender, Missing, ours

    found = {contender.name: contender for contender in ours.contenders()}
    ways = [ours.DEFAULT, ours.CELLS, ours.GETRANDOM, ours.NATIVE]
    assert list(found) == [*ways, ours.TWIN]
    if _engine.native is None:
        assert all(isinstance(found[way], Missing) for way in ways)
        return
    shapes = {one.name: one.shapes for one in found.values() if isinstance(one, Contender)}
    assert all("vector" in shapes[way] for way in ways)
    assert "scalar" in shapes[ours.DEFAULT]


def test_versions_of_all_peers_are_kept() -> None:
    """A figure against a peer says little without the peer's version."""
    versions: Any = machine.describe()["versions"]
    assert {"numpy", "scipy", "opendp", "diffprivlib", "mkl_random"} <= set(versions)
