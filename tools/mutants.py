"""Plant random faults in the package, one at a time, and ask which of them no test sees.

    python tools/mutants.py [--count N] [--seed S] [--rooms R ...]

The seed is that of the week unless you give one. pytest collects once. A first run notes which test
reaches which function. Then a forked child for each fault swaps a function's code, and runs the
tests that reach it until one fails: those of the function's room first, the fastest first. A
child that dies, or that needs five times the seconds of its tests and --limit more, has found its
fault.

A survivor that shows nothing at any public call is noted once, with the reason, in
tests/mutants_seen.toml. The rate is that of the others. The exit code is 1 if it is below LEAST.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import mutant_planting as planting
import pytest
from mutant_operators import Mutant, chosen

HERE = Path(__file__).parent
SEEN = HERE.parent / "tests" / "mutants_seen.toml"
GOAL, LEAST = 0.99, 0.65
"""In November 2026 the tests found 77 % of 199 faults. With 200 faults, 65 % is four standard
deviations below that, so a seed alone does not make a run red."""

KEY = ("file", "function", "text", "operator")

OF_ROOM = {
    "laws": ("laws",),
    "law": ("laws",),
    "law_functions": ("laws",),
    "certified": ("certified", "laws"),
    "sampling": ("drawing", "inputs"),
    "reference": ("drawing",),
    "release": ("release", "cli"),
    "system": ("system", "release"),
    "spark": ("clusters",),
}
"""The folders of tests for a room of the package, if they have other names than the room."""


class Reach(NamedTuple):
    """What a test reaches, how long it takes, and whether it passes without a fault."""

    test: str
    seconds: float
    passed: bool
    functions: list[str]


class Verdict(NamedTuple):
    """How a fault ended: found by a test or by its end, or a survivor."""

    mutant: Mutant
    by: str | None
    ran: int


class Failures:
    """A plugin that keeps the names of the tests that failed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.names.append(report.nodeid)


class Server:
    """A plugin that runs children in place of pytest's loop over the tests."""

    def __init__(self, package: Path, mutants: list[Mutant], jobs: int, limit: int) -> None:
        self.package, self.mutants, self.jobs, self.limit = package, mutants, jobs, limit
        self.folder = Path(tempfile.mkdtemp())
        self.verdicts: list[Verdict] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        session.config.pluginmanager.unregister(name="terminalreporter")  # or children print dots
        items = {item.nodeid: item for item in session.items}
        parts = [list(items.values())[i :: self.jobs] for i in range(min(self.jobs, len(items)))]
        notes = [self.folder / f"reach{i}" for i in range(len(parts))]
        started = [
            self.fork(partial(self.look, part, note), f"reach{i}")
            for i, (part, note) in enumerate(zip(parts, notes, strict=True))
        ]
        for pid in started:
            os.waitpid(pid, 0)
        lines = [line for note in notes for line in note.read_text("utf-8").splitlines()]
        reached = [Reach(*json.loads(line)) for line in lines]
        if len(reached) < len(items):
            raise RuntimeError(f"a run without faults has not ended: see {self.folder}")
        for test in reached:
            if not test.passed:
                print(f"fails without a fault, and is left out: {test.test}", flush=True)
        print(f"{len(reached)} tests, {sum(test.seconds for test in reached):.0f} s", flush=True)
        self.plant_all(items, [test for test in reached if test.passed])
        return True

    def fork(self, work: Callable[[], object], name: str) -> int:
        """Fork a child that works, and return its number; its output is kept in a file."""
        sys.stdout.flush()
        if pid := os.fork():
            return pid
        os.setpgid(0, 0)
        log = os.open(self.folder / f"{name}.log", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1)
        os.dup2(log, 2)
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)

    def look(self, items: list[pytest.Item], note: Path) -> None:
        """Run tests, and write down what each reaches."""
        of_programs, caches = Path(f"{note}.programs"), planting.caches()
        os.environ[planting.HITS] = str(of_programs)
        failures = Failures()
        items[0].config.pluginmanager.register(failures)
        with note.open("w", encoding="utf-8") as out:
            for item, following in zip(items, [*items[1:], None], strict=True):
                for cache in caches:  # what a test before it has computed, it reaches, too
                    cache.cache_clear()
                planting.hits.clear()
                of_programs.write_text("")
                before, begun = len(failures.names), time.monotonic()
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                seconds = time.monotonic() - begun
                hits = sorted({*planting.hits, *of_programs.read_text("utf-8").split("\n")})
                passed = len(failures.names) == before
                out.write(json.dumps(Reach(item.nodeid, seconds, passed, hits)) + "\n")

    def plant_all(self, items: dict[str, pytest.Item], reached: list[Reach]) -> None:
        waiting, running = list(enumerate(self.mutants)), dict[int, tuple[int, Mutant, float]]()
        while waiting or running:
            while waiting and len(running) < self.jobs:
                i, mutant = waiting.pop(0)
                tests = self.in_order(mutant, reached)
                limit = self.limit + int(5 * sum(test.seconds for test in tests))
                work = [items[test.test] for test in tests]
                pid = self.fork(partial(self.try_one, work, mutant, i, limit), str(i))
                end = time.monotonic() + 300 + 10 * limit  # for one that only waits
                running[pid] = i, mutant, end
            pid, status = os.waitpid(-1, os.WNOHANG)
            late = [one for one, (_, _, end) in running.items() if time.monotonic() > end]
            for one in [*late, *running.keys() & {pid}]:
                with contextlib.suppress(ProcessLookupError):  # with the programs of its tests
                    os.killpg(one, signal.SIGKILL)
            if pid in running:
                i, mutant, _ = running.pop(pid)
                self.tell(mutant, status, self.folder / f"{i}.json")
            elif pid == 0:
                time.sleep(0.05)

    @staticmethod
    def in_order(mutant: Mutant, reached: list[Reach]) -> list[Reach]:
        """Return the tests that reach the function: its own room's first, the fastest first."""
        name = f"{mutant.file}:{mutant.function}"
        rooms = OF_ROOM.get(mutant.room, (mutant.room,))

        def rank(test: Reach) -> tuple[bool, float]:
            return not any(f"tests/{room}/" in test.test for room in rooms), test.seconds

        return sorted((test for test in reached if name in test.functions), key=rank)

    def try_one(self, work: list[pytest.Item], mutant: Mutant, i: int, limit: int) -> None:
        """Plant a fault in this child, and run tests until one fails."""
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (2**33, resource.RLIM_INFINITY))
        planting.plant(mutant, self.package, self.folder / f"{i}.py")
        by, ran, failures = None, 0, Failures()
        for item, following in zip(work, [*work[1:], None], strict=False):
            if ran == 0:
                item.config.pluginmanager.register(failures)
            ran += 1
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            except BaseException as error:  # such as an interrupt, which ends pytest
                failures.names.append(f"{item.nodeid}: {error!r}")
            if failures.names:
                by = failures.names[0]
                break
        (self.folder / f"{i}.json").write_text(json.dumps([by, ran]), "utf-8")

    def tell(self, mutant: Mutant, status: int, note: Path) -> None:
        where = f"{mutant.file}:{mutant.line} {mutant.function}: {mutant.operator}"
        if os.WIFEXITED(status) and not note.exists():
            log = note.with_suffix(".log").read_text("utf-8").splitlines()
            print(f"NOT PLANTED  {where}  {log[-1:]}", flush=True)
            return
        by, ran = json.loads(note.read_text("utf-8")) if note.exists() else ("its end", 0)
        verdict = Verdict(mutant, by, ran)
        self.verdicts.append(verdict)
        print(
            f"{'found' if by else 'SURVIVED'}  {where}  {by or f'{verdict.ran} tests'}", flush=True
        )


def report(verdicts: list[Verdict], seen: dict[tuple[str, ...], str]) -> float:
    """Print the rate of each room and the survivors; return the rate of those that matter."""
    kinds: dict[str, Counter[str]] = {}
    survivors = [verdict for verdict in verdicts if verdict.by is None]
    for verdict in verdicts:
        kind = "found" if verdict.by else "noted" if verdict.mutant.key in seen else "survived"
        kinds.setdefault(verdict.mutant.room, Counter())[kind] += 1
        kinds.setdefault("all", Counter())[kind] += 1
    print("\n| room | planted | found | survived | noted |\n| --- | ---: | ---: | ---: | ---: |")
    for room, of in sorted(kinds.items(), key=lambda pair: (pair[0] == "all", pair[0])):
        print(f"| {room} | {of.total()} | {of['found']} | {of['survived']} | {of['noted']} |")
    print()
    for mutant, _, ran in survivors:
        if mutant.key not in seen:
            print(f"[[seen]]  # line {mutant.line}; {ran} tests reach it")
            for name, value in zip(
                ("file", "function", "text", "operator"), mutant.key, strict=True
            ):
                print(f"{name} = {json.dumps(value)}")
            print()
    matter = kinds.get("all", Counter())
    rate = matter["found"] / max(1, matter["found"] + matter["survived"])
    print(f"found: {rate:.1%} of those that are not noted; goal {GOAL:.0%}, least {LEAST:.0%}")
    return rate


def notes(file: Path) -> dict[tuple[str, ...], str]:
    """Return the reasons of noted survivors by their keys."""
    listed = tomllib.loads(file.read_text("utf-8")).get("seen", [])
    return {tuple(one[name] for name in KEY): one["reason"] for one in listed}


def of_this_week() -> int:
    """Return a seed that is the same all week, so that a red run can be repeated."""
    week = datetime.date.today().isocalendar()
    return 100 * week.year + week.week


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=of_this_week())
    parser.add_argument("--rooms", nargs="*", default=[], help="plant only there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=int, default=30, help="seconds that a fault may add")
    parser.add_argument("--package", default="discretegauss", help="whose functions change")
    parser.add_argument("--seen", type=Path, default=SEEN)
    parser.add_argument("pytest", nargs="*", help="after --: other options than the default tier's")
    given = parser.parse_args(arguments)
    seen, spec = notes(given.seen), importlib.util.find_spec(given.package)
    if spec is None or spec.origin is None:
        parser.error(f"there is no package {given.package}")
    package = Path(spec.origin).resolve().parent
    print(f"seed {given.seed}, {given.count} faults in {given.package}", flush=True)
    mutants = chosen(package, given.count, given.seed, set(given.rooms))
    planting.watch_imports(package)
    os.environ[planting.PACKAGE] = str(package)
    kept = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE / "mutant_programs"), *kept])
    server = Server(package, mutants, given.jobs, given.limit)
    options = ["-q", "-p", "no:cacheprovider", *given.pytest]
    if code := pytest.main(options, plugins=[server]):
        return int(code)
    return int(report(server.verdicts, seen) < LEAST)


if __name__ == "__main__":
    sys.exit(main())
