#!/usr/bin/env python
"""What the time of one draw says about its value: every scalar path, OpenDP, the plain-Python twin.

    python benchmarks/timing.py [--json FILE] [--draws N] [--only TEXT]

The exit code is 1 if the twin, whose time is known to tell the value, was not flagged: then the
measurement was blind and says nothing about the others. See
results_timing.md in this folder.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from time import perf_counter_ns
from typing import Any

from bench import machine
from bench.contenders.base import Case
from leakage import LEAK_AT, Leakage, leakage
from options import json_file
from timing_paths import CONTROL, missing, paths
from timing_paths import Path as DrawPath

CASES = (
    *(Case("gaussian", sigma2, "scalar") for sigma2 in (1, 100, 10**4, 10**8)),
    *(Case("laplace", scale, "scalar") for scale in (1, 10, 100, 10**4)),
)

AT_A_TIME = 200
"""Draws by one path before it is the next one's turn: a busy moment of the machine hits all."""


def measure(draw_paths: Sequence[DrawPath], draws: int) -> dict[str, Leakage]:
    """Time single draws by every path, in turns."""
    values: dict[str, list[int]] = {path.name: [] for path in draw_paths}
    times: dict[str, list[int]] = {path.name: [] for path in draw_paths}
    order = list(draw_paths)
    gc.collect()
    gc.disable()
    try:
        for path in order:
            _time_some(path, min(draws, AT_A_TIME), [], [])  # warms caches
        for start in range(0, draws, AT_A_TIME):
            for path in order:
                n = min(AT_A_TIME, draws - start)
                _time_some(path, n, values[path.name], times[path.name])
            order = order[1:] + order[:1]
    finally:
        gc.enable()
    return {path.name: leakage(values[path.name], times[path.name]) for path in draw_paths}


def _time_some(path: DrawPath, n: int, values: list[int], times: list[int]) -> None:
    draw, value, clock = path.draw, path.value, perf_counter_ns
    for _ in range(n):
        start = clock()
        drawn = draw()
        end = clock()
        times.append(end - start)
        values.append(value(drawn))


HEAD = (
    f"{'path':26} {'cut':>4} {'ns':>7} {'+-':>6} {'corr':>7} {'t':>6}"
    f"   {'|x|: ns':>8} {'t':>6}   {'sign: ns':>8} {'t':>6}   leaks"
)


def row_text(name: str, found: Leakage) -> str:
    """One line for people."""
    return (
        f"{name:26} {found.trimmed:4.0%} {found.mean:7.0f} {found.deviation:6.0f}"
        f" {found.correlation:+7.3f}"
        f" {found.correlation_t:+6.1f}   {found.magnitude.nanoseconds:+8.1f}"
        f" {found.magnitude.t:+6.1f}   {found.sign.nanoseconds:+8.1f} {found.sign.t:+6.1f}"
        f"   {'yes' if found.is_seen else '-'}"
    )


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write where --json says."""
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    cases = [case for case in CASES if arguments.only in case.name]
    if not cases:
        print(f"no case has {arguments.only!r} in its name", file=sys.stderr)
        return 2
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    command = shlex.join(["python", "benchmarks/timing.py", *arguments.argv])
    description = machine.describe()
    print(f"# {command}\n# {date}, {description['cpu']}; {machine.load_now()}")
    print(f"# {arguments.draws} draws a path; the time says nothing: all |t| < {LEAK_AT}\n")

    found: list[dict[str, Any]] = []
    blind = []
    for case in cases:
        rows = measure(paths(case), arguments.draws)
        print(f"{case.name}\n{HEAD}")
        for name, row in rows.items():
            print(row_text(name, row), flush=True)
            judged = {"worst_t": row.worst, "leaks": row.is_seen}
            found.append({"case": case.name, "path": name, **asdict(row), **judged})
        print()
        if not rows[CONTROL].is_seen:
            blind.append(case.name)
    for name in blind:
        print(f"the control was not flagged at {name}: this run is blind there")
    print(f"# {machine.load_now()} at the end")
    skipped = missing()
    print("\nskipped:" if skipped else "\nskipped: none")
    for name, reason in skipped.items():
        print(f"  {name}: {reason}")

    if arguments.json is not None:
        document = {
            "benchmark": "timing",
            "date": date,
            "command": command,
            "machine": description,
            "leak_at": LEAK_AT,
            "blind": blind,
            "skipped": skipped,
            "rows": found,
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 1 if blind else 0


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--json", type=json_file, metavar="FILE", help="write everything here as JSON"
    )
    parser.add_argument("--draws", type=int, default=20_000, help="a path (default 20000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name has TEXT")
    arguments = parser.parse_args(argv)
    if arguments.draws < 100:
        parser.error("--draws must be at least 100")
    arguments.argv = argv
    return arguments


if __name__ == "__main__":
    raise SystemExit(main())
