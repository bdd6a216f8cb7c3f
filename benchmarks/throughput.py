#!/usr/bin/env python
"""Samples a second of every way to call the package, beside the peers that are installed.

    python benchmarks/throughput.py [--png FILE] [--json FILE] [--quick]

It draws the discrete Gaussian from sigma = 1 to 10^100, and does six things that users do. Time is
that of the processor, the median of three interleaved rounds; it takes about a minute.
See README.md in this folder.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import contenders
import picture
import users
from contenders import CannotRunError, Contender, Missing
from discretegauss import build_info
from discretegauss._system.progress import Progress
from measure import Draw, Rates, machine, measure, short

EXPONENTS = (0, 1, 2, 3, 6, 9, 12, 30, 100)
"""Of ten, for sigma."""

PIECE = 10**5
"""Draws in one call, at most: arrays that stay in the cache."""

ROUNDS = 3

Table = dict[tuple[str, int], Rates]
Skipped = dict[tuple[str, int], str]
"""Why a contender does not draw with a sigma."""


def measure_all(
    taking_part: Sequence[Contender], *, seconds: float, after: Callable[[], object]
) -> tuple[Table, Skipped]:
    """Time all at each sigma, ``seconds`` each."""
    found: Table = {}
    skipped: Skipped = {}
    for exponent in EXPONENTS:
        draws: dict[str, Draw] = {}
        for one in taking_part:
            try:
                draws[one.name] = in_pieces(one.prepare(exponent))
            except CannotRunError as reason:
                skipped[one.name, exponent] = str(reason)
        rates = measure(draws, seconds=seconds, rounds=ROUNDS, after=after)
        found |= {(name, exponent): rate for name, rate in rates.items()}
    return found, skipped


def in_pieces(draw: Draw) -> Draw:
    """Return the same in calls of as many draws as users make at once."""

    def pieces(n: int) -> None:
        for start in range(0, n, PIECE):
            draw(min(PIECE, n - start))

    return pieces


def table_text(
    found: Table, skipped: Skipped, taking_part: Sequence[Contender], missing: Sequence[Missing]
) -> str:
    """Return samples a second by contender and sigma, what they promise, and who is not there."""
    rows = ["| sigma = | " + " | ".join(map(power, EXPONENTS)) + " | exact | secure |"]
    rows += ["| --- " * (len(EXPONENTS) + 3) + "|"]
    notes = []
    for one in taking_part:
        rates = [found.get((one.name, exponent)) for exponent in EXPONENTS]
        cells = ["-" if rate is None else short(rate.median) for rate in rates]
        flags = ["yes" if flag else "no" for flag in (one.exact, one.secure)]
        rows.append(f"| {' | '.join([one.name, *cells, *flags])} |")
        if one.note:
            notes.append(f"{one.name}: {one.note}")
        first = next((e for e in EXPONENTS if (one.name, e) in skipped), None)
        if first is not None:
            reason = skipped[one.name, first]
            notes.append(f"{one.name}: none from sigma = {power(first)} on: {reason}")
    notes += [f"{one.name} is not here: {one.install}" for one in missing]
    columns = [row.strip("| ").split(" | ") for row in rows]
    widths = [max(len(row[i]) for row in columns) for i in range(len(columns[0]))]
    aligned = (
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in columns
    )
    return "\n".join([*aligned, "", *notes])


def power(exponent: int) -> str:
    """Return 10 to this as people write it."""
    return str(10**exponent) if exponent < 3 else f"10^{exponent}"


def as_json(
    found: Table, skipped: Skipped, taking_part: Sequence[Contender], tasks: Sequence[users.Line]
) -> dict[str, Any]:
    """Return the same for machines: sigma is 10**exponent, rates are a second."""
    return {
        "contenders": {one.name: {"exact": one.exact, "secure": one.secure} for one in taking_part},
        "measured": [
            {"contender": name, "exponent": exponent, "by_round": rates.by_round}
            for (name, exponent), rates in found.items()
        ],
        "skipped": [
            {"contender": name, "exponent": exponent, "reason": reason}
            for (name, exponent), reason in skipped.items()
        ],
        "tasks": [
            {
                "task": line.task.name,
                "calls a second": line.ours and line.ours.by_round,
                "peer": line.task.peer,
                "peer's calls a second": line.theirs and line.theirs.by_round,
                "missing": line.missing,
            }
            for line in tasks
        ],
    }


def writable(text: str) -> Path:
    """Return a file that can be written, for all that can be told without writing it."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"no file can be written at {text}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"no permission to write {text}")
    return path


def png(text: str) -> Path:
    """Return a file that can be written, if matplotlib is there."""
    try:
        picture.require_matplotlib()
    except ImportError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return writable(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; draw the picture, and write JSON, if asked."""
    parser = argparse.ArgumentParser(description="How fast it is on this machine.")
    parser.add_argument("--png", type=png, metavar="FILE", help="draw a picture there")
    parser.add_argument("--json", type=writable, metavar="FILE", help="write the figures there")
    parser.add_argument("--quick", action="store_true", help="a look in seconds, no measurement")
    arguments = parser.parse_args(argv)
    taking_part, missing = contenders.all_contenders()
    steps, done = len(EXPONENTS) * len(taking_part) * (1 + ROUNDS) + len(users.TASKS), 0
    head = machine()
    with Progress("measurements") as progress:

        def after() -> None:
            nonlocal done
            done += 1
            progress.update(done, done / steps)

        seconds = 0.015 if arguments.quick else 0.15
        found, skipped = measure_all(taking_part, seconds=seconds, after=after)
        tasks = users.lines(seconds=0.03 if arguments.quick else 0.6, after=after)
    print(f"{head}\n\n{table_text(found, skipped, taking_part, missing)}\n")
    print("\n".join([users.HEAD, *map(str, tasks)]))
    if arguments.png is not None:
        picture.write_picture(arguments.png, found, taking_part)
    if arguments.json is not None:
        about = {"machine": head, "quick": arguments.quick, "build": dict(build_info())}
        figures = about | as_json(found, skipped, taking_part, tasks)
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
