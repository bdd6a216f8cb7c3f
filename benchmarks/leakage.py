#!/usr/bin/env python
"""What the time of a call says about its draws: the default, Algorithms 1-3, and the peers.

    python benchmarks/leakage.py [--calls N] [--only TEXT]

Each way to draw is called in turns with the others, and judged by pairs of calls (pairs.py): every
t is below 4.5 in size, or the way is flagged. A way that has to be silent and is flagged is
measured again; flagged twice, it leaks. The controls have to be flagged in the same run.

The exit code is 1 if a silent way leaks, or if a control was not flagged: the measurement was blind
there. README.md in this folder says what it found.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import math
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np

import discretegauss as dg
from contenders import diffprivlib_mechanism
from discretegauss import reference
from measure import machine
from pairs import CLASSES, LEAK_AT, STATISTICS, Verdict, calls_of, judge

LAWS: dict[str, Any] = {
    "gaussian sigma=10": lambda: dg.DiscreteGaussian(100),
    "gaussian sigma=10 mu=1/3": lambda: dg.DiscreteGaussian(100, mu="1/3"),
    "gaussian sigma=1000": lambda: dg.DiscreteGaussian(10**6),
    "laplace scale=10": lambda: dg.DiscreteLaplace(10),
    "generalized scale=10 beta=3": lambda: dg.GeneralizedGaussian(10, 3),
}
SIZES = {1: 1, 64: 1, 4096: 10}
"""Draws a call, and the part of --calls that is made."""

AT_A_TIME = 200
"""Calls by one way before it is the next one's turn: a busy moment of the machine hits all."""

SILENT, CONTROL, SHOWN = "silent", "control", "shown"


@dataclass(frozen=True)
class Way:
    """A way to draw, and what it has to be: silent, or flagged, or it is only shown."""

    name: str
    role: str
    draw: Callable[[], Any]
    """Draws once, or fills and returns an array."""


@dataclass(frozen=True)
class Finding:
    """What was found of a way, and found again if it was flagged and has to be silent."""

    law: str
    n: int
    way: str
    role: str
    first: Verdict
    again: Verdict | None

    @property
    def leaks(self) -> bool:
        """Whether it has to be silent and was flagged twice."""
        return self.again is not None and self.again.is_flagged

    @property
    def is_blind(self) -> bool:
        """Whether it is a control that was not flagged."""
        return self.role == CONTROL and not self.first.is_flagged


def ways(name: str, n: int) -> list[Way]:
    """Return all ways that draw n times from a law here."""
    law, out = LAWS[name](), np.empty(n, np.int64)

    def leak() -> Any:
        law.sample(out=out)
        for _ in range(4 * np.count_nonzero(out < 0)):
            pass
        return out

    by_default = [
        Way("default", SILENT, lambda: law.sample(out=out)),
        Way('source="getrandom"', SILENT, lambda: law.sample(out=out, source="getrandom")),
    ]
    found = by_default if dg.build_info()["engine"] == "native" else []
    if name.startswith("generalized"):
        return [*found, Way("default and a leak planted", CONTROL, leak)]
    found.append(Way("Algorithms 1-3", SHOWN, lambda: law.sample(out=out, method="reference")))
    if n > 1:
        return [*found, Way("default and a leak planted", CONTROL, leak)]
    found.append(Way("default, a Python integer", SHOWN, law.sample))
    return [*found, _plain_python(law), *_peers(law)]


def _plain_python(law: Any) -> Way:
    parameter, mu = law.sigma2 if isinstance(law, dg.DiscreteGaussian) else law.scale, law.mu
    is_gaussian = isinstance(law, dg.DiscreteGaussian)
    sample = reference.discrete_gaussian if is_gaussian else reference.discrete_laplace
    bits = reference.SystemBytes()
    return Way("plain Python", CONTROL, lambda: sample(parameter, mu, bits))


def _peers(law: Any) -> list[Way]:
    """Single draws of OpenDP and diffprivlib, where they are installed and have the law."""
    found: list[Way] = []
    if law.mu != 0:
        return found
    is_gaussian = isinstance(law, dg.DiscreteGaussian)
    if "OpenDP" not in missing():
        import opendp.prelude as dp

        dp.enable_features("contrib")
        domain = dp.atom_domain(T="i64")
        if is_gaussian:
            metric, scale = dp.absolute_distance(T=float), math.sqrt(law.sigma2)
            measure = dp.m.make_gaussian(domain, metric, scale=scale)
        else:
            metric = dp.absolute_distance(T="i64")
            measure = dp.m.make_laplace(domain, metric, scale=float(law.scale))
        found.append(Way("OpenDP", SHOWN, lambda: measure(0)))
    if is_gaussian and law.sigma2 <= 100 and "diffprivlib" not in missing():
        mechanism = diffprivlib_mechanism()(epsilon=1, delta=1e-5, sensitivity=1)
        mechanism._scale = math.sqrt(law.sigma2)
        found.append(Way("diffprivlib", SHOWN, lambda: mechanism.randomise(0)))
    return found


def missing() -> dict[str, str]:
    """Return who does not run here, and why."""
    reasons = {}
    if (engine := dg.build_info()["engine"]) != "native":
        reasons["discretegauss"] = f"the engine in use is {engine!r}, not the compiled one"
    try:
        import opendp.prelude  # noqa: F401
    except ImportError as error:
        reasons["OpenDP"] = str(error)
    try:
        diffprivlib_mechanism()
    except ImportError as error:
        reasons["diffprivlib"] = str(error)
    return reasons


def measure(of: Sequence[Way], n: int, calls: int) -> list[Verdict]:
    """Time calls by all ways, in turns, and judge each."""
    times, values = np.zeros(AT_A_TIME, np.int64), np.zeros((AT_A_TIME, n), np.int64)
    rows: list[list[Any]] = [[] for _ in of]
    for way in of:  # caches are warm, libraries are loaded
        for _ in range(20):
            way.draw()
    gc.collect()
    gc.disable()
    try:
        for _ in range(-(-calls // AT_A_TIME)):
            for way, made in zip(of, rows, strict=True):
                draw = way.draw
                for k in range(AT_A_TIME):
                    begun = perf_counter_ns()
                    value = draw()
                    times[k] = perf_counter_ns() - begun
                    values[k] = value
                made.append(calls_of(times, values))
    finally:
        gc.enable()
    return [judge(np.concatenate(made)) for made in rows]


def findings(name: str, n: int, calls: int) -> list[Finding]:
    """Measure all ways to draw n times from a law."""
    of = ways(name, n)
    first = measure(of, n, calls)
    again: list[Verdict | None] = [None] * len(of)
    if any(found.is_flagged for way, found in zip(of, first, strict=True) if way.role == SILENT):
        second = measure(of, n, calls)
        again = [
            verdict if way.role == SILENT and found.is_flagged else None
            for way, found, verdict in zip(of, first, second, strict=True)
        ]
    return [
        Finding(name, n, way.name, way.role, found, verdict)
        for way, found, verdict in zip(of, first, again, strict=True)
    ]


def line(name: str, found: Verdict) -> str:
    """Return a row for people."""
    columns = [f"{found.by_class[name]:6.1f}" for name in CLASSES]
    columns += ["  |", *(f"{found.by_statistic[name]:8.1f}" for name in STATISTICS)]
    return f"{name:28} {found.calls:7} {found.median_ns:8.0f}" + "".join(columns)


HEAD = f"{'way':28} {'calls':>7} {'ns':>8}" + "".join(f"{name:>6}" for name in CLASSES)
HEAD += "  |" + "".join(f"{name:>8}" for name in STATISTICS)


def _positive(text: str) -> int:
    if int(text) < 1:
        raise ValueError
    return int(text)


def main(argv: list[str] | None = None) -> int:
    """Measure and print."""
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=_positive, default=100_000, help="a way (100000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="laws and sizes with TEXT")
    arguments = parser.parse_args(argv)
    groups = {f"{name}, n={n}.": (name, n) for name in LAWS for n in SIZES}
    wanted = {title: group for title, group in groups.items() if arguments.only in title}
    if not wanted:
        parser.error(f"--only: no law and size has {arguments.only!r} in its name")
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    command = shlex.join(["python", "benchmarks/leakage.py", *argv])
    print(f"# {command}\n# {date}, {machine()}")
    print(f"# the largest t in size, of pairs of calls; the time says nothing: below {LEAK_AT}")
    found: list[Finding] = []
    for title, (name, n) in wanted.items():
        print(f"\n{title.rstrip('.')}\n{HEAD}")
        for one in findings(name, n, max(1000, arguments.calls // SIZES[n])):
            print(line(one.way, one.first), flush=True)
            if one.again is not None:
                print(line("  the same again", one.again), flush=True)
            found.append(one)
    print(f"\n# {machine()} at the end")
    silent = [one for one in found if one.role == SILENT]
    once = sum(one.first.is_flagged for one in silent)
    leaks, blind = [one for one in found if one.leaks], [one for one in found if one.is_blind]
    print(f"# {len(silent)} silent ways: {once} flagged, {len(leaks)} of them again")
    for one in leaks:
        print(f"LEAKS: {one.law}, n={one.n}, {one.way}")
    for one in blind:
        print(f"BLIND, as the control was not flagged: {one.law}, n={one.n}, {one.way}")
    for peer, reason in missing().items():
        print(f"skipped: {peer}: {reason}")
    return 1 if leaks or blind else 0


if __name__ == "__main__":
    raise SystemExit(main())
