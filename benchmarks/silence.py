#!/usr/bin/env python
"""Whether the time of draws and fills says what was drawn: by output classes, as dudect does.

    python benchmarks/silence.py [--calls N] [--builds gcc-O2,...] [--only TEXT] [--json FILE]

Builds the C core by each compiler at each level, times calls of its public API (silence.c) and
judges them by pairs (pairs.py): every t is below 4.5 in size, or the way is flagged, and measured
again with other bits. A way that is flagged twice leaks. The controls have to be flagged in the
same run: the reference path, the plain-Python twin, OpenDP if installed, and a leak planted.

The exit code is 1 if a way leaks, or if no control of a group was flagged: it was blind there.
Needs cmake, the compilers, and GMP's and MPFR's headers. See results_silence.md in this folder.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from bench import machine
from bench.contenders.base import Case
from options import json_file, positive_int
from pairs import CLASSES, LEAK_AT, ROW, STATISTICS, Verdict, judge
from timing_paths import CONTROL, missing, paths

ROOT = Path(__file__).resolve().parents[1]
BUILDS = ("gcc-O3", "clang-O3", "gcc-O2", "clang-O2")
SKIPPED = 77
CONTROLS = "rb"
"""Who of silence.c must be flagged."""

WHO = {
    "d": "single draw",
    "p": "portable",
    "2": "AVX2",
    "5": "AVX-512",
    "n": "NEON",
    "l": "laws in lanes",
    "a": "best kernel and sum",
    "r": "reference (control)",
    "b": "a leak planted (control)",
}
SOURCES = {"t": "tape", "c": "chacha20", "g": "getrandom"}


@dataclass(frozen=True)
class Law:
    """A law as silence.c takes it: kind, a/b, mu = c/d, beta."""

    name: str
    numbers: tuple[int, int, int, int, int, int]

    @property
    def is_power(self) -> bool:
        """Whether it is a generalised Gaussian: fewer kernels, no Algorithm, no laws in lanes."""
        return self.numbers[0] == 6


LAWS = (
    Law("gaussian sigma2=1", (5, 1, 1, 0, 1, 1)),
    Law("gaussian sigma2=100", (5, 100, 1, 0, 1, 1)),
    Law("gaussian sigma2=100 mu=1/3", (5, 100, 1, 1, 3, 1)),
    Law("gaussian sigma2=10^8", (5, 10**8, 1, 0, 1, 1)),
    Law("laplace scale=10", (4, 10, 1, 0, 1, 1)),
    Law("generalized scale=10 beta=3", (6, 10, 1, 0, 1, 3)),
)
FILLS = {
    "gaussian sigma2=100": {64: 1, 4096: 50},
    "laplace scale=10": {64: 1, 4096: 50},
    "generalized scale=10 beta=3": {64: 1, 4096: 50},
}
"""By law, draws a call, and the part of --calls that is made."""

PYTHON_CONTROLS = (
    (Case("gaussian", 100, "scalar"), 1, 50),
    (Case("laplace", 10, "scalar"), 1, 50),
    (Case("laplace", 10, "scalar"), 64, 500),
)
"""Law, draws a call, and the part of --calls that is made."""


def build(name: str, folder: Path) -> Path:
    """Compile the core and silence.c by a compiler at a level. Returns: the program."""
    compiler, level = name.split("-")
    core, program = folder / name, folder / f"silence-{name}"
    options = ["-DDG_GMP=SYSTEM", "-DCMAKE_BUILD_TYPE=Release"]
    options += [f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS_RELEASE=-{level} -DNDEBUG"]
    sources = [f"{ROOT}/benchmarks/silence.c", f"{core}/libdg_core.a"]
    include, libraries = [f"-I{ROOT}/csrc/include"], ["-lmpfr", "-lgmp", "-pthread"]
    commands = [
        ["cmake", "-S", str(ROOT), "-B", str(core), *options],
        ["cmake", "--build", str(core), "--target", "dg_core", "-j2"],
        [compiler, "-std=gnu11", "-O2", "-o", str(program), *include, *sources, *libraries],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return program


def ways(law: Law, n: int) -> list[str]:
    """Return what silence.c draws by, controls last."""
    if n == 1:
        found = ["dt", "dc", "dg"]
    elif law.is_power:
        found = ["pt", "5t", "ac", "at"]
    else:
        found = ["pt", "2t", "5t", "nt", "ac", "at"]
        if law.numbers[3:5] == (0, 1):
            found.append("lt")
    return [*found, "bt", *([] if law.is_power else ["rc"])]


def record(program: Path, law: Law, n: int, calls: int) -> dict[str, tuple[Any, float]]:
    """Return the calls of every way that this machine has, and ticks in a nanosecond."""
    here = [way for way in ways(law, n) if _runs(program, law, n, way)]
    command = _command(program, law, n, calls, here)
    with tempfile.TemporaryFile() as rows:
        done = subprocess.run(command, stdout=rows, stderr=subprocess.PIPE, text=True, check=True)
        rows.seek(0)
        found = np.fromfile(rows, ROW)
    ticks_per_ns = int(done.stderr.split()[-1]) / 1e6
    return {way: (found[found["way"] == i], ticks_per_ns) for i, way in enumerate(here)}


def _command(program: Path, law: Law, n: int, calls: int, of: Sequence[str]) -> list[str]:
    numbers = (*law.numbers, n, calls, secrets.randbits(62))
    return [str(program), *map(str, numbers), *of]


def _runs(program: Path, law: Law, n: int, way: str) -> bool:
    done = subprocess.run(_command(program, law, n, 0, [way]), capture_output=True, check=False)
    if done.returncode not in (0, SKIPPED):
        raise SystemExit(f"{program.name}: {law.name}, {way}: {done.stderr.decode()}")
    return done.returncode == 0


def python_controls(case: Case, n: int, calls: int) -> dict[str, tuple[Any, float]]:
    """Time n draws one after the other by the twin, and one by OpenDP if it is installed."""
    found = {}
    for path in paths(case):
        if path.name != CONTROL and (path.name != "OpenDP" or n > 1):  # which takes 10 ms then
            continue
        rows, draw, value = np.zeros(calls, ROW), path.draw, path.value
        gc.collect()
        gc.disable()
        try:
            for i in range(calls):
                start = perf_counter_ns()
                drawn = [draw() for _ in range(n)]
                took = perf_counter_ns() - start
                x = np.array([value(of) for of in drawn])
                sizes = np.abs(x)
                rows[i] = (0, took, 0, x.sum(), sizes.sum(), (x == 0).sum(), sizes.max())
        finally:
            gc.enable()
        found[path.name] = (rows, 1.0)
    return found


@dataclass(frozen=True)
class Finding:
    """A way, what was found, and what was found again if it was flagged and must not be."""

    build: str
    law: str
    n: int
    way: str
    is_control: bool
    first: Verdict
    again: Verdict | None

    @property
    def leaks(self) -> bool:
        """Whether it was flagged twice."""
        return self.first.is_flagged and self.again is not None and self.again.is_flagged

    @property
    def group(self) -> str:
        """What was measured in turns."""
        return f"{self.build}: {self.law}, {self.n} draws a call"


def blind_groups(found: Sequence[Finding]) -> list[str]:
    """Return where no control was flagged: there the measurement says nothing."""
    seen = {one.group for one in found if one.is_control and one.first.is_flagged}
    return sorted({one.group for one in found} - seen)


def label(law: str, n: int) -> str:
    """Return what --only looks at."""
    return f"{law} n={n} "


def labels() -> list[str]:
    """Return all that there are."""
    of_laws = [label(law.name, n) for law in LAWS for n in (1, *FILLS.get(law.name, {}))]
    return of_laws + [label(case.name, n) for case, n, _ in PYTHON_CONTROLS]


def findings(
    builds: Sequence[str], calls: int, only: Sequence[str] | None, folder: Path
) -> Iterator[Finding]:
    """Measure everything."""

    def is_wanted(law: str, n: int) -> bool:
        return only is None or any(text in label(law, n) for text in only)

    for case, n, part in PYTHON_CONTROLS:
        if is_wanted(case.name, n):
            for way, of in python_controls(case, n, max(300, calls // part)).items():
                yield Finding("Python", case.name, n, way, True, judge(*of), None)
    for name in builds:
        program = build(name, folder)
        for law in LAWS:
            for n, part in ({1: 1} | FILLS.get(law.name, {})).items():
                if is_wanted(law.name, n):
                    yield from _of_program(name, program, law, n, max(1000, calls // part))


def _of_program(name: str, program: Path, law: Law, n: int, calls: int) -> Iterator[Finding]:
    found = {way: judge(*of) for way, of in record(program, law, n, calls).items()}
    again: dict[str, Verdict] = {}
    if any(one.is_flagged for way, one in found.items() if way[0] not in CONTROLS):
        again = {way: judge(*of) for way, of in record(program, law, n, calls).items()}
    for way, one in found.items():
        is_control = way[0] in CONTROLS
        second = again[way] if one.is_flagged and not is_control else None
        by = f"{WHO[way[0]]}, {SOURCES[way[1]]}"
        yield Finding(name, law.name, n, by, is_control, one, second)


HEAD = (
    f"{'way':34} {'calls':>8} {'ns':>8}"
    + "".join(f" {name:>6}" for name in CLASSES)
    + "  |"
    + "".join(f" {name.split()[0]:>7}" for name in STATISTICS)
    + "  | seen ns"
)


def line(way: str, found: Verdict) -> str:
    """One line for people."""
    return (
        f"{way:34} {found.calls:8} {found.median_ns:8.0f}"
        + "".join(f" {found.by_class[name]:6.1f}" for name in CLASSES)
        + "  |"
        + "".join(f" {found.by_statistic[name]:7.1f}" for name in STATISTICS)
        + f"  | {found.seen_from_ns['size']:7.1f}"
    )


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write where --json says."""
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    command = shlex.join(["python", "benchmarks/silence.py", *arguments.argv])
    _stay_on_one_processor()
    print(f"# {command}\n# {date}, {machine.cpu_model()}; {machine.load_now()}")
    print(f"# the largest t in size, of pairs of calls; the time says nothing: below {LEAK_AT}")
    found: list[Finding] = []
    group = ""
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for one in findings(arguments.builds, arguments.calls, arguments.only, folder):
            if one.group != group:
                group = one.group
                print(f"\n{group}\n{HEAD}")
            print(line(one.way, one.first), flush=True)
            if one.again is not None:
                print(line("  the same again", one.again), flush=True)
            found.append(one)
    silent = [one for one in found if not one.is_control]
    controls = [one for one in found if one.is_control]
    leaks = [one for one in silent if one.leaks]
    blind = blind_groups(found)
    once, seen = (sum(one.first.is_flagged for one in of) for of in (silent, controls))
    print(f"\n# {machine.load_now()} at the end")
    print(f"# {len(silent)} ways: {once} flagged, {len(leaks)} of them again")
    print(f"# {len(controls)} controls: {seen} flagged; all but these:")
    for one in controls:
        if not one.first.is_flagged:
            print(f"#   {one.group}, {one.way}")
    for one in leaks:
        print(f"LEAKS: {one.group}, {one.way}")
    for name in blind:
        print(f"BLIND, as no control was flagged: {name}")
    for name, reason in missing().items():
        print(f"skipped: {name}: {reason}")
    if arguments.json is not None:
        rows = [{**asdict(one), "leaks": one.leaks} for one in found]
        document: dict[str, object] = {
            "benchmark": "silence",
            "date": date,
            "command": command,
            "rows": rows,
        }
        document |= {
            "machine": machine.describe(),
            "leak_at": LEAK_AT,
            "skipped": missing(),
            "blind": blind,
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 1 if leaks or blind else 0


def _stay_on_one_processor() -> None:
    """For this process and the programs that it starts: clocks and caches stay the same."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--json", type=json_file, metavar="FILE", help="write everything here as JSON"
    )
    parser.add_argument(
        "--calls", type=positive_int, default=1_000_000, help="a way (default 1000000)"
    )
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="laws and sizes with TEXT, or with another"
    )
    parser.add_argument("--folder", type=Path, help="where builds are kept for the next run")
    parser.add_argument("--builds", default=",".join(BUILDS), help="default: %(default)s")
    arguments = parser.parse_args(argv)
    arguments.builds = arguments.builds.split(",")
    for name in arguments.builds:
        if name not in BUILDS:
            parser.error(f"--builds: no build {name}; there are {', '.join(BUILDS)}")
    for text in arguments.only or []:
        if not any(text in name for name in labels()):
            parser.error(f"--only: no law and size has {text!r} in its name")
    arguments.argv = argv
    return arguments


if __name__ == "__main__":
    raise SystemExit(main())
