#!/usr/bin/env python
"""The laws' functions against the plain-Python formulas that people copy (laws_python.py).

    python benchmarks/laws.py [--quick] [--json FILE]

Processor time of one call on a law made anew, median over interleaved rounds, and how many times
faster ours is: the median of the rounds' ratios. `first` is the time of a call that finds nothing
kept of its law: each has a sigma2 of its own, near the row's. Ours are right to the last digit,
theirs estimates; the values are printed side by side.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import math
import shlex
import statistics
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import discretegauss as dg
import laws_python as copied
from bench import machine
from bench.rounds import seconds_per_call
from options import json_file

TARGET_RATIO = 10

Call = Callable[[], float]


class Row(NamedTuple):
    """A question to both, and whether the target is for this peer."""

    name: str
    ours: Call
    first: Call
    theirs: Call
    peer: str
    targeted: bool


def rows(quick: bool) -> list[Row]:
    """What is compared."""
    return [
        row
        for exponent in ((2, 4, 6) if quick else (2, 4, 6, 12))
        for name in ("pmf", "cdf", "var")
        for row in rows_of(name, exponent)
    ]


def rows_of(name: str, exponent: int) -> list[Row]:
    """A function, two standard deviations out, against the window and against the lean loop."""
    sigma2, k = 10**exponent, 2 * 10 ** (exponent // 2)
    arguments = () if name == "var" else (k,)

    def ask(law: dg.DiscreteGaussian) -> float:
        return float(getattr(law, name)(*arguments))

    others = (sigma2 + Fraction(i, 10**9) for i in itertools.count(1))
    row = partial(
        Row,
        f"{name}, sigma2 = 10^{exponent}",
        lambda: ask(dg.DiscreteGaussian(sigma2)),
        lambda: ask(dg.DiscreteGaussian(next(others))),
    )
    window = partial(getattr(copied, name), float(sigma2), *arguments)
    lean = partial(getattr(copied, f"lean_{name}"), float(sigma2), *arguments)
    return [row(window, "a window", True), row(lean, "while terms count", False)]


def measured(row: Row, rounds: int, budget: float) -> dict[str, Any]:
    """Interleave the three; slow peers (above a second) are asked in three rounds only."""
    value, peer_value = row.ours(), row.theirs()
    times: dict[str, list[float]] = {"ours": [], "first": [], "theirs": []}
    for _ in range(rounds):
        for who, call in (("ours", row.ours), ("first", row.first), ("theirs", row.theirs)):
            times[who].append(seconds_per_call(call, budget))
        if times["theirs"][-1] > 1 and len(times["theirs"]) == 3:
            break

    def ratio_to(who: str) -> float:
        return statistics.median(b / a for a, b in zip(times[who], times["theirs"], strict=True))

    return {
        "name": row.name,
        "peer": row.peer,
        "value": value,
        "peer_value": peer_value,
        "seconds": {who: statistics.median(times[who]) for who in times},
        "ratio": ratio_to("ours"),
        "ratio_of_first": ratio_to("first"),
        "met": ratio_to("first") >= TARGET_RATIO if row.targeted else None,
        "by_round": times,
    }


def main() -> int:
    """Measure every row and print it with its verdict."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    parser.add_argument("--json", type=json_file, metavar="FILE")
    arguments = parser.parse_args()
    command = shlex.join(["python", "benchmarks/laws.py", *sys.argv[1:]])
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    description = machine.describe()
    print(f"# {command}\n# {date}, {description['cpu']}, {machine.load_now()}")
    print(f"# target: {TARGET_RATIO} times faster than the window, first calls included\n")
    head = (
        f"{'':22} {'ours':>9} {'first':>9} {'theirs':>11} {'ratio':>9} {'first':>9}  target"
        f"   against; values, ours and theirs"
    )
    print(f"{head}\n{'-' * len(head)}")
    results = []
    for row in rows(arguments.quick):
        results.append(measured(row, 3 if arguments.quick else 7, 0.05))
        print(_line(results[-1]), flush=True)
    print(f"\n# {machine.load_now()}")
    if arguments.json is not None:
        document = {
            "benchmark": "laws",
            "date": date,
            "command": command,
            "machine": description,
            "rows": results,
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _line(result: dict[str, Any]) -> str:
    verdict = {True: "met", False: "NOT MET", None: "-"}[result["met"]]
    ours, first, theirs = (_time(result["seconds"][who]) for who in ("ours", "first", "theirs"))
    agree = math.isclose(result["value"], result["peer_value"], rel_tol=1e-9)
    return (
        f"{result['name']:22} {ours:>9} {first:>9} {theirs:>11} {result['ratio']:>9.3g} "
        f"{result['ratio_of_first']:>9.3g}  {verdict:8} {result['peer']}; "
        f"{result['value']:.12g}, {result['peer_value']:.12g}{'' if agree else ' DIFFERENT'}"
    )


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.4g} us"


if __name__ == "__main__":
    raise SystemExit(main())
