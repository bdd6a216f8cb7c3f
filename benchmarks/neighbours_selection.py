#!/usr/bin/env python
"""Noisy selection and snapping beside diffprivlib's, in one run.

    python benchmarks/neighbours_selection.py [--quick] [--json FILE]

Values a second of processor time of the call that a user makes, one thread, median over interleaved
rounds, and how many times faster than the peer's: the median of the rounds' ratios. diffprivlib's
mechanisms take one value a call, draw with floats, and its Exponential with one uniform double a
selection.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shlex
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import discretegauss as dg
from bench import machine
from bench.contenders.diffprivlib_peer import import_mechanism
from bench.rounds import Draw, Rates, seconds_per_call
from options import json_file

TARGETS = {"select": 1e6, "snap, exact": 1e6, "snap, mironov": 1e7}


def selections(select: Callable[..., Any]) -> Draw:
    """Rows of ten candidates, all different in an array."""
    rows = np.random.default_rng(1).integers(0, 30, (10**5, 10))

    def draw(n: int) -> None:
        for start in range(0, n, len(rows)):
            select(rows[: min(len(rows), n - start)])

    return draw


def snaps(**how: Any) -> Draw:
    """Different doubles in an array."""
    values = np.random.default_rng(1).normal(0, 30, 10**6)

    def draw(n: int) -> None:
        for start in range(0, n, values.size):
            dg.snapping.snapping_laplace(values[: n - start], bound=100, **how)

    return draw


def one_by_one(randomise: Callable[[Any], object], value: Any) -> Draw:
    """Scalar calls."""

    def draw(n: int) -> None:
        for _ in range(n):
            randomise(value)

    return draw


def ours() -> dict[str, Draw]:
    """What is measured of this library, by name."""
    law, tenth = dg.DiscreteLaplace(20), Fraction(1, 10)
    flip, choose = dg.selection.permute_and_flip, dg.selection.exponential
    return {
        "select: permute_and_flip, epsilon 1": selections(lambda rows: flip(rows, 1)),
        "select: permute_and_flip, epsilon 0.1": selections(lambda rows: flip(rows, 0.1)),
        "select: exponential, epsilon 1": selections(lambda rows: choose(rows, 1)),
        "select: report_noisy_max, Laplace": selections(
            lambda rows: dg.selection.report_noisy_max(rows, law)
        ),
        "snap, exact: epsilon 1": snaps(epsilon=1),
        "snap, exact: epsilon 1/10, grid 2**-20": snaps(epsilon=tenth, grid=2.0**-20),
        "snap, exact: epsilon 0.1": snaps(epsilon=0.1),
        "snap, mironov: epsilon 1": snaps(epsilon=1, method="mironov"),
    }


def peers() -> dict[str, tuple[str, Draw]]:
    """What diffprivlib has, by name, and the beginning of the names of ours that it is beside."""
    import_mechanism()
    from diffprivlib.mechanisms import Exponential, PermuteAndFlip, Snapping

    utility = np.random.default_rng(1).integers(0, 30, 10).tolist()
    flip = PermuteAndFlip(epsilon=1, sensitivity=1, utility=utility)
    choose = Exponential(epsilon=1, sensitivity=1, utility=utility)
    snapping = Snapping(epsilon=1, sensitivity=1, lower=-100, upper=100)
    return {
        "diffprivlib PermuteAndFlip": ("select: perm", one_by_one(lambda _: flip.randomise(), 0)),
        "diffprivlib Exponential": ("select: exp", one_by_one(lambda _: choose.randomise(), 0)),
        "diffprivlib Snapping": ("snap", one_by_one(snapping.randomise, 0.3)),
    }


def measured(draws: dict[str, Draw], rounds: int, budget: float) -> dict[str, Rates]:
    """Rates in processor time, round by round."""
    order, rates = list(draws), {name: list[float]() for name in draws}
    counts = {name: 2000 if name.startswith("diffprivlib") else 3 * 10**5 for name in draws}
    for _ in range(rounds):
        for name in order:
            seconds = seconds_per_call(partial(draws[name], counts[name]), budget)
            rates[name].append(counts[name] / seconds)
        order = order[1:] + order[:1]
    return {name: Rates(counts[name], tuple(rates[name])) for name in draws}


def main() -> int:
    """Measure everything and print it with its verdict."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    parser.add_argument("--json", type=json_file, metavar="FILE")
    arguments = parser.parse_args()
    command = shlex.join(["python", "benchmarks/neighbours_selection.py", *sys.argv[1:]])
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    description = machine.describe()
    print(f"# {command}\n# {date}, {description['cpu']}, {machine.load_now()}\n")
    mine, others = ours(), {}
    try:
        others = peers()
    except ImportError as error:
        print(f"# diffprivlib is not measured: {error}")
    draws = mine | {name: draw for name, (_, draw) in others.items()}
    rates = measured(draws, *((3, 0.05) if arguments.quick else (7, 0.2)))
    rows = []
    print(f"{'':40} {'values/s':>10} {'x peer':>8}  target")
    for name, rate in rates.items():
        beside = [rates[p] for p, (begin, _) in others.items() if name.startswith(begin)]
        target = next((t for begin, t in TARGETS.items() if name.startswith(begin)), None)
        verdict = "" if target is None else "met" if rate.median >= target else "NOT MET"
        ratio = rate.ratio_to(beside[0]) if beside else None
        shown = "" if ratio is None else f"{ratio:.0f}"
        print(f"{name:40} {rate.median:10.3g} {shown:>8}  {verdict}")
        rows.append({"name": name, "rate": rate.median, "ratio": ratio, "by_round": rate.by_round})
    print(f"\n# {machine.load_now()}")
    if arguments.json is not None:
        document: dict[str, Any] = {
            "benchmark": "neighbours_selection",
            "date": date,
            "command": command,
        }
        document |= {"machine": description, "rows": rows}
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
