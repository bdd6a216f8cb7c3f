#!/usr/bin/env python
"""The privacy calculus against the plain-Python formulas that people copy (privacy_python.py).

    python benchmarks/privacy.py [--quick] [--json FILE]

Times of one call, median over interleaved rounds, and how many times faster ours is: the median of
the rounds' ratios. Ours are proven bounds, theirs estimates; the values are printed side by side.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import machine
import privacy_python as copied

import discretegauss as dg

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
    """What is compared. Each of ours parses its parameters anew, as theirs do."""
    found = []
    privacy = dg.privacy
    for exponent in (2, 4, 6) if quick else (2, 4, 6, 8, 10, 12):
        sigma2, epsilon = 10.0**exponent, 5 / 10 ** (exponent / 2)
        law = dg.DiscreteGaussian(sigma2)

        def tight(law: Any = law, epsilon: float = epsilon) -> float:
            return privacy.delta(law, epsilon)

        def window(sigma2: float = sigma2, epsilon: float = epsilon) -> float:
            return copied.delta_over_a_window(sigma2, epsilon)

        def lean(sigma2: float = sigma2, epsilon: float = epsilon) -> float:
            return copied.delta_while_it_counts(sigma2, epsilon)

        name = f"delta, Theorem 7, sigma2 = 10^{exponent}"
        found.append(Row(name, tight, window, "sum over a fixed window"))
        found.append(Row(name, tight, lean, "sum while terms count", "none"))
    for sigma2 in (10**2, 10**4, 10**6):
        rho = 1 / (2 * sigma2)
        epsilon = 5 / math.sqrt(sigma2)
        at = f"rho = 1/(2 * {sigma2})"

        def zcdp(rho: float = rho, epsilon: float = epsilon) -> float:
            return privacy.zcdp_delta(rho, epsilon)

        def cdp(rho: float = rho, epsilon: float = epsilon) -> float:
            return copied.cdp_delta(rho, epsilon)

        found.append(Row(f"zcdp_delta, {at}", zcdp, cdp, "1000-step bisection"))
        found.append(
            Row(
                f"zcdp_epsilon, {at}",
                lambda rho=rho: privacy.zcdp_epsilon(rho, 1e-6),  # type: ignore[misc]
                lambda rho=rho: copied.cdp_epsilon(rho, 1e-6),  # type: ignore[misc]
                "bisection of bisections",
            )
        )
        found.append(
            Row(
                f"epsilon, tight, sigma2 = {sigma2}",
                lambda law=dg.DiscreteGaussian(sigma2): privacy.epsilon(law, 1e-6),  # type: ignore[misc]
                lambda rho=rho: copied.cdp_epsilon(rho, 1e-6),  # type: ignore[misc]
                "by zCDP, looser",
            )
        )
    found.append(
        Row(
            "zcdp_rho, (1, 1e-6)",
            lambda: privacy.zcdp_rho(1, 1e-6),
            lambda: copied.cdp_rho(1, 1e-6),
            "bisection of bisections",
        )
    )
    for queries in (1, 100):
        found.append(
            Row(
                f"calibrate_gaussian, (1, 1e-6), {queries} queries",
                lambda queries=queries: float(  # type: ignore[misc]
                    privacy.calibrate_gaussian(epsilon=1, delta=1e-6, queries=queries).sigma2
                ),
                lambda queries=queries: copied.sigma2_by_cdp(1, 1e-6, queries),  # type: ignore[misc]
                "by zCDP, looser",
            )
        )
    for exponent in (12, 100):
        law = dg.DiscreteGaussian(10**exponent)
        epsilon_exact = Fraction(5, 10 ** (exponent // 2))
        found.append(
            Row(
                f"delta, Theorem 7, sigma2 = 10^{exponent}",
                lambda law=law, e=epsilon_exact: privacy.delta(law, e),  # type: ignore[misc]
                None,
                "",
                "time",
            )
        )
    return found


def seconds_per_call(call: Call, budget: float) -> float:
    """Time so many calls as fill the budget, at least one."""
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    calls = max(1, int(budget / max(first, 1e-7)))
    if calls == 1:
        return first
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


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
    parser.add_argument("--json", type=Path, metavar="FILE")
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
