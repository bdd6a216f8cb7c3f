#!/usr/bin/env python
"""Test whether the time of a call tells something about its draws.

    python benchmarks/leakage.py [--calls N] [--only TEXT]

The methods of drawing take turns. Each is judged by pairs of neighbouring calls, of which one is in
a class of values and the other is not. If the time says nothing about the value, either order is as
likely, however the machine is disturbed. So t, the sum of the differences over the root of the sum
of their squares, is nearly standard normal: P(|t| >= 4.5) is 7 in a million for many pairs of like
differences, and at most 8 in 10^5 for any (Hoeffding, on sums of signs). Welch's t has no such
bound, because a few interruptions that miss a small class by chance make it large.

A silent method with a t of 4.5 is measured again; flagged twice, it leaks. The controls must be
flagged in the same run. The exit code is 1 if a silent method leaks, or if a control was not
flagged, so that the measurement was blind. README.md has the results.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np
import numpy.typing as npt

import discretegauss as dg
from discretegauss import reference
from measure import machine

Bools = npt.NDArray[np.bool_]

LAWS: dict[str, Any] = {
    "gaussian sigma=10": lambda: dg.DiscreteGaussian(100),
    "gaussian sigma=10 mu=1/3": lambda: dg.DiscreteGaussian(100, mu="1/3"),
    "gaussian sigma=1000": lambda: dg.DiscreteGaussian(10**6),
    "laplace scale=10": lambda: dg.DiscreteLaplace(10),
    "generalized scale=10 beta=3": lambda: dg.GeneralizedGaussian(10, 3),
}
SIZES = {1: 1, 64: 1, 4096: 10}
"""Draws of a call, and by what number --calls is divided for it."""

PER_TURN = 200
"""Calls of a method in a turn: turns are short, so a busy moment of the machine hits all."""

SILENT, CONTROL, SHOWN = "silent", "control", "shown"
LEAK_AT = 4.5

SHARES = (1, 0.999, 0.99, 0.95, 0.9, 0.75, 0.5)
"""The quickest calls that are compared, as shares of all; 1 is raw."""

CLASSES = ("size", "sign", "zero", "top")
STATISTICS = ("raw", "cropped", "squares")
"""The times; those of the quick calls; the squares about their mean."""

FEWEST_PAIRS = 100

ROW = np.dtype([(name, np.int64) for name in ("time", "sum", "sizes", "zeros", "largest")])
"""A call: its nanoseconds, and a summary of its draws."""


@dataclass(frozen=True)
class Verdict:
    """The statistics of the calls of one method."""

    calls: int
    median_ns: float
    by_class: dict[str, float]
    """The largest t in size, by class; NaN if there are too few pairs."""
    by_statistic: dict[str, float]
    """The largest t in size, by statistic."""

    @property
    def is_flagged(self) -> bool:
        """Return whether some t is that of a leak."""
        return max(self.by_statistic.values(), default=0.0) >= LEAK_AT


def classes(rows: Any) -> dict[str, tuple[Bools, Bools]]:
    """Return which calls are in each class and which are outside it, by the values alone.

    For one draw: |x| above the middle, x > 0 against x < 0, x = 0, |x| in the top 5 %. For a fill:
    the sum of the sizes above its middle, a sum above 0 against one below, the number of zeros
    above its middle, the largest size in the top 5 % of fills.
    """
    return {
        "size": _cut(rows["sizes"], 0.5),
        "sign": (rows["sum"] > 0, rows["sum"] < 0),
        "zero": _cut(rows["zeros"], 0.5),
        "top": _cut(rows["largest"], 0.05),
    }


def _cut(values: Any, share: float) -> tuple[Bools, Bools]:
    """Return which values are at least some cut: a share as near to the given one as there is."""
    cuts, first = np.unique(np.sort(values), return_index=True)
    if len(cuts) < 2:
        return np.zeros(len(values), bool), np.ones(len(values), bool)
    above = 1 - first[1:] / len(values)
    inside = values >= cuts[1:][np.argmin(np.abs(above - share))]
    return inside, ~inside


def calls_of(times: Any, values: Any) -> Any:
    """Return the ROW of each call, from its nanoseconds and its row of values."""
    rows, sizes = np.zeros(len(times), ROW), np.abs(values)
    rows["time"], rows["sum"], rows["sizes"] = times, values.sum(axis=1), sizes.sum(axis=1)
    rows["zeros"], rows["largest"] = (values == 0).sum(axis=1), sizes.max(axis=1)
    return rows


def judge(rows: Any) -> Verdict:
    """Judge the calls of one method, in the order in which they were made."""
    rows = rows[: len(rows) // 2 * 2]
    times = rows["time"].astype(np.float64)
    signs = {name: _pairs(*of) for name, of in classes(rows).items()}
    enough = [name for name, sign in signs.items() if np.count_nonzero(sign) >= FEWEST_PAIRS]
    by_class = dict.fromkeys(signs, math.nan) | dict.fromkeys(enough, 0.0)
    by_statistic = dict.fromkeys(STATISTICS, 0.0)
    for share in SHARES:
        quick = times <= np.quantile(times, share)
        squares = (times - times[quick].mean()) ** 2
        both_quick = quick.reshape(-1, 2).all(axis=1)
        first = "raw" if share == 1 else "cropped"
        for statistic, view in ((first, times), ("squares", squares)):
            apart = np.subtract(*view.reshape(-1, 2).T)
            for name in enough:
                used = both_quick & (signs[name] != 0)
                differences = apart[used] * signs[name][used]
                norm = math.sqrt(float(np.square(differences).sum()))
                t = abs(float(differences.sum())) / norm if norm > 0 else 0.0
                by_class[name] = max(by_class[name], t)
                by_statistic[statistic] = max(by_statistic[statistic], t)
    return Verdict(len(rows), float(np.median(times)), by_class, by_statistic)


def _pairs(inside: Bools, outside: Bools) -> npt.NDArray[np.int8]:
    """Return 1 for a pair of inside and outside, -1 for outside and inside, else 0."""
    a, b = inside.reshape(-1, 2), outside.reshape(-1, 2)
    return (a[:, 0] & b[:, 1]).astype(np.int8) - (a[:, 1] & b[:, 0]).astype(np.int8)


# --- what is timed


@dataclass(frozen=True)
class Method:
    """A method of drawing; it must be silent, or must be flagged, or is only shown."""

    name: str
    role: str
    draw: Callable[[], Any]
    """Draws once, or fills and returns an array."""


@dataclass(frozen=True)
class Finding:
    """The verdict on a method, and a second one if it must be silent and was flagged."""

    law: str
    n: int
    method: Method
    first: Verdict
    again: Verdict | None

    @property
    def leaks(self) -> bool:
        """Return whether it must be silent and was flagged twice."""
        return self.again is not None and self.again.is_flagged

    @property
    def is_blind(self) -> bool:
        """Return whether it is a control that was not flagged."""
        return self.method.role == CONTROL and not self.first.is_flagged


def methods(name: str, n: int) -> list[Method]:
    """Return all methods that draw n times from a law here."""
    law, out = LAWS[name](), np.empty(n, np.int64)

    def leak() -> Any:
        law.sample(out=out)
        for _ in range(4 * np.count_nonzero(out < 0)):
            pass
        return out

    found = []
    if dg.build_info()["engine"] == "native":
        found.append(Method("default", SILENT, lambda: law.sample(out=out)))
        by_kernel = Method(
            'source="getrandom"', SILENT, lambda: law.sample(out=out, source="getrandom")
        )
        found.append(by_kernel)
    planted = Method("default and a leak planted", CONTROL, leak)
    if name.startswith("generalized"):
        return [*found, planted]
    found.append(Method("Algorithms 1-3", SHOWN, lambda: law.sample(out=out, method="reference")))
    if n > 1:
        return [*found, planted]
    is_gaussian, bits = isinstance(law, dg.DiscreteGaussian), reference.SystemBytes()
    sample: Any = reference.discrete_gaussian if is_gaussian else reference.discrete_laplace
    parameter = law.sigma2 if is_gaussian else law.scale
    found.append(Method("default, a Python integer", SHOWN, law.sample))
    found.append(Method("plain Python", CONTROL, lambda: sample(parameter, law.mu, bits)))
    return found if law.mu else [*found, *_opendp(law)]


def _opendp(law: Any) -> list[Method]:
    """Return single draws of OpenDP; none if it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return []
    dp.enable_features("contrib")
    domain = dp.atom_domain(T="i64")
    if isinstance(law, dg.DiscreteGaussian):
        metric, scale = dp.absolute_distance(T=float), math.sqrt(law.sigma2)
        measure = dp.m.make_gaussian(domain, metric, scale=scale)
    else:
        measure = dp.m.make_laplace(domain, dp.absolute_distance(T="i64"), scale=float(law.scale))
    return [Method("OpenDP", SHOWN, lambda: measure(0))]


def measure_all(of: Sequence[Method], n: int, calls: int) -> list[Verdict]:
    """Time calls by all methods, in turns, and judge each."""
    times, values = np.zeros(PER_TURN, np.int64), np.zeros((PER_TURN, n), np.int64)
    rows: list[list[Any]] = [[] for _ in of]
    for method in of:  # caches are warm, libraries are loaded
        for _ in range(20):
            method.draw()
    gc.collect()
    gc.disable()
    try:
        for _ in range(-(-calls // PER_TURN)):
            for method, made in zip(of, rows, strict=True):
                draw = method.draw
                for k in range(PER_TURN):
                    begun = perf_counter_ns()
                    value = draw()
                    times[k] = perf_counter_ns() - begun
                    values[k] = value
                made.append(calls_of(times, values))
    finally:
        gc.enable()
    return [judge(np.concatenate(made)) for made in rows]


def findings(name: str, n: int, calls: int) -> list[Finding]:
    """Measure all methods that draw n times from a law, twice if a silent one is flagged."""
    of = methods(name, n)
    first = measure_all(of, n, calls)
    flagged = [m.role == SILENT and found.is_flagged for m, found in zip(of, first, strict=True)]
    second = measure_all(of, n, calls) if any(flagged) else first
    return [
        Finding(name, n, method, found, again if is_flagged else None)
        for method, found, again, is_flagged in zip(of, first, second, flagged, strict=True)
    ]


def line(name: str, found: Verdict) -> str:
    """Return a row for people."""
    columns = [f"{found.by_class[name]:6.1f}" for name in CLASSES]
    columns += ["  |", *(f"{found.by_statistic[name]:8.1f}" for name in STATISTICS)]
    return f"{name:28} {found.calls:7} {found.median_ns:8.0f}" + "".join(columns)


HEAD = f"{'method':28} {'calls':>7} {'ns':>8}" + "".join(f"{name:>6}" for name in CLASSES)
HEAD += "  |" + "".join(f"{name:>8}" for name in STATISTICS)


def main(argv: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=100_000, help="of a method (100000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="laws and sizes with TEXT")
    arguments = parser.parse_args(argv)
    groups = {f"{name}, n={n}.": (name, n) for name in LAWS for n in SIZES}
    wanted = {title: group for title, group in groups.items() if arguments.only in title}
    if arguments.calls < 1:
        parser.error("--calls must be at least 1")
    if not wanted:
        parser.error(f"--only: no law and size has {arguments.only!r} in its name")
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    print(f"# leakage.py --calls {arguments.calls}, {date}, {machine()}")
    print(f"# the largest t in size, of pairs of calls; the time says nothing: below {LEAK_AT}")
    found: list[Finding] = []
    for title, (name, n) in wanted.items():
        print(f"\n{title.rstrip('.')}\n{HEAD}")
        for one in findings(name, n, max(1000, arguments.calls // SIZES[n])):
            print(line(one.method.name, one.first), flush=True)
            if one.again is not None:
                print(line("  the same again", one.again), flush=True)
            found.append(one)
    print(f"\n# {machine()} at the end")
    silent = [one for one in found if one.method.role == SILENT]
    once, twice = sum(one.first.is_flagged for one in silent), sum(one.leaks for one in silent)
    print(f"# {len(silent)} silent methods: {once} flagged, {twice} of them again")
    for one in found:
        if one.leaks or one.is_blind:
            verdict = "LEAKS" if one.leaks else "BLIND, because the control was not flagged"
            print(f"{verdict}: {one.law}, n={one.n}, {one.method.name}")
    return int(any(one.leaks or one.is_blind for one in found))


if __name__ == "__main__":
    sys.exit(main())
