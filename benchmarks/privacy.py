#!/usr/bin/env python
"""The privacy calculus against the plain-Python formulas that people copy (privacy_python.py).

    python benchmarks/privacy.py [--quick] [--json FILE]

Processor time of one call, median over interleaved rounds, and how many times faster ours is: the
median of the rounds' ratios. Ours are proven bounds, theirs estimates; the values are printed side
by side.
"""

from __future__ import annotations

import argparse
import datetime
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
import privacy_python as copied
from bench import machine
from bench.rounds import seconds_per_call
from discretegauss import privacy
from options import json_file

TARGET_RATIO = 10
TARGET_SECONDS = 5e-3

Call = Callable[[], float]


class Row(NamedTuple):
    """A question, who is asked, and the target: a ratio, a time, or none."""

    name: str
    ours: Call
    theirs: Call | None
    peer: str
    target: str = "ratio"


def rows(quick: bool) -> list[Row]:
    """What is compared.

    Each of ours parses its parameters anew, as theirs do, but the weight of a law is kept from
    one call to the next: see README.md for what that spares.
    """
    exponents = (2, 4, 6) if quick else (2, 4, 6, 8, 12)
    return [
        *(row for exponent in exponents for row in tight_delta(exponent)),
        *(row for sigma2 in (10**2, 10**4, 10**6) for row in conversions(sigma2)),
        Row(
            "zcdp_rho, (1, 1e-6)",
            partial(privacy.zcdp_rho, 1, 1e-6),
            partial(copied.cdp_rho, 1, 1e-6),
            "bisection of bisections",
        ),
        *map(calibration, (1, 100)),
        *map(far_delta, (12, 100)),
    ]


def tight_delta(exponent: int) -> list[Row]:
    """Theorem 7, five standard deviations out, where delta is about 10**-9 and less."""
    sigma2, epsilon = 10.0**exponent, 5 / 10 ** (exponent / 2)
    ours = partial(privacy.delta, dg.DiscreteGaussian(sigma2), epsilon)
    window = partial(copied.delta_over_a_window, sigma2, epsilon)
    lean = partial(copied.delta_while_it_counts, sigma2, epsilon)
    name = f"delta, Theorem 7, sigma2 = 10^{exponent}"
    return [
        Row(name, ours, window, "sum over a fixed window"),
        Row(name, ours, lean, "sum while terms count", "none"),
    ]


def conversions(sigma2: int) -> list[Row]:
    """Corollary 13 at the rho of that noise, and the tight epsilon beside it."""
    rho, epsilon = 1 / (2 * sigma2), 5 / math.sqrt(sigma2)
    at = f"rho = 1/(2 * {sigma2})"
    tight = partial(privacy.epsilon, dg.DiscreteGaussian(sigma2), 1e-6)
    bisected = partial(copied.cdp_epsilon, rho, 1e-6)
    return [
        Row(
            f"zcdp_delta, {at}",
            partial(privacy.zcdp_delta, rho, epsilon),
            partial(copied.cdp_delta, rho, epsilon),
            "1000-step bisection",
        ),
        Row(
            f"zcdp_epsilon, {at}",
            partial(privacy.zcdp_epsilon, rho, 1e-6),
            bisected,
            "bisection of bisections",
        ),
        Row(f"epsilon, tight, sigma2 = {sigma2}", tight, bisected, "by zCDP, looser"),
    ]


def calibration(queries: int) -> Row:
    """Noise for (1, 10**-6)."""

    def ours() -> float:
        law = privacy.calibrate(dg.DiscreteGaussian, epsilon=1, delta=1e-6, queries=queries)
        return float(law.sigma2)

    name = f"calibrate, (1, 1e-6), {queries} queries"
    return Row(name, ours, partial(copied.sigma2_by_cdp, 1, 1e-6, queries), "by zCDP, looser")


def far_delta(exponent: int) -> Row:
    """Theorem 7 where no loop ends, against the clock."""
    law, epsilon = dg.DiscreteGaussian(10**exponent), Fraction(5, 10 ** (exponent // 2))
    name = f"delta, Theorem 7, sigma2 = 10^{exponent}"
    return Row(name, partial(privacy.delta, law, epsilon), None, "", "time")


def measured(row: Row, rounds: int, budget: float) -> dict[str, Any]:
    """Interleave the two; slow peers (above a second) are asked in three rounds only."""
    value = row.ours()
    ours, theirs = [], []
    peer_value = None if row.theirs is None else row.theirs()
    for _ in range(rounds):
        ours.append(seconds_per_call(row.ours, budget))
        if row.theirs is not None:
            theirs.append(seconds_per_call(row.theirs, budget))
            if theirs[-1] > 1 and len(theirs) == 3:
                break
    ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=False)) if theirs else None
    if row.target == "ratio":
        met = ratio is not None and ratio >= TARGET_RATIO
    elif row.target == "time":
        met = max(ours) < TARGET_SECONDS
    else:
        met = None
    return {
        "name": row.name,
        "peer": row.peer,
        "value": value,
        "peer_value": peer_value,
        "seconds": statistics.median(ours),
        "peer_seconds": statistics.median(theirs) if theirs else None,
        "ratio": ratio,
        "target": row.target,
        "met": met,
        "by_round": {"ours": ours, "theirs": theirs},
    }


def main() -> int:
    """Measure every row and print it with its verdict."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    parser.add_argument("--json", type=json_file, metavar="FILE")
    arguments = parser.parse_args()
    command = shlex.join(["python", "benchmarks/privacy.py", *sys.argv[1:]])
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    description = machine.describe()
    print(f"# {command}\n# {date}, {description['cpu']}, {machine.load_now()}")
    print(f"# targets: {TARGET_RATIO} times faster; {TARGET_SECONDS * 1e3:g} ms (worst round)\n")
    head = f"{'':42} {'ours':>11} {'theirs':>11} {'ratio':>8}  target   against"
    print(f"{head}\n{'-' * len(head)}")
    results = []
    for row in rows(arguments.quick):
        result = measured(row, 3 if arguments.quick else 7, 0.05)
        results.append(result)
        print(_line(result), flush=True)
    print(f"\n# {machine.load_now()}")
    if arguments.json is not None:
        document = {
            "benchmark": "privacy",
            "date": date,
            "command": command,
            "machine": description,
            "rows": results,
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _line(result: dict[str, Any]) -> str:
    verdict = {True: "met", False: "NOT MET", None: "-"}[result["met"]]
    ratio = "" if result["ratio"] is None else f"{result['ratio']:.3g}"
    return (
        f"{result['name']:42} {_time(result['seconds']):>11} {_time(result['peer_seconds']):>11} "
        f"{ratio:>8}  {verdict:8} {result['peer']}"
        f"\n{'':42} {_value(result['value']):>11} {_value(result['peer_value']):>11}"
    )


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e6:.4g} us"


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


if __name__ == "__main__":
    raise SystemExit(main())
