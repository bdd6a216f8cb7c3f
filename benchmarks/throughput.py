#!/usr/bin/env python
"""Samples a second of this package's methods, beside the peers that are installed.

    python benchmarks/throughput.py [--png FILE] [--quick]

It draws the discrete Gaussian from sigma = 1 to 10^100, times six things that users do, and
isochronous draws by the size of a call. Time is that of the processor, the median of three
interleaved rounds; a run takes about a minute.
See README.md in this folder.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import by_size
import contenders
import users
from contenders import CannotRunError, Contender, Missing
from discretegauss._system.atomic_file import atomic_write
from discretegauss.plots.look import render
from measure import Draw, Rates, machine, measure, short

EXPONENTS = (0, 1, 2, 3, 6, 9, 12, 30, 100)
"""Of ten, for sigma."""

PIECE = 10**5
"""Draws in one call, at most: arrays that stay in the cache."""

Table = dict[tuple[str, int], Rates]
Skipped = dict[tuple[str, int], str]
"""Why a contender does not draw with a sigma."""


def measure_all(taking_part: Sequence[Contender], seconds: float) -> tuple[Table, Skipped]:
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
        rates = measure(draws, seconds)
        found |= {(name, exponent): rate for name, rate in rates.items()}
    return found, skipped


def in_pieces(draw: Draw) -> Draw:
    """Return the same draws in calls of at most PIECE."""

    def pieces(n: int) -> None:
        for start in range(0, n, PIECE):
            draw(min(PIECE, n - start))

    return pieces


def table_text(
    found: Table, skipped: Skipped, taking_part: Sequence[Contender], missing: Sequence[Missing]
) -> str:
    """Return samples a second by contender and sigma, and a note on who is missing."""
    rows = [["sigma =", *map(power, EXPONENTS), "exact", "secure"]]
    rows.append(["---"] * len(rows[0]))
    notes = []
    for one in taking_part:
        rates = [found.get((one.name, exponent)) for exponent in EXPONENTS]
        cells = ["-" if rate is None else short(rate.median) for rate in rates]
        flags = ["yes" if flag else "no" for flag in (one.exact, one.secure)]
        rows.append([one.name, *cells, *flags])
        if one.note:
            notes.append(f"{one.name}: {one.note}")
        first = next((e for e in EXPONENTS if (one.name, e) in skipped), None)
        if first is not None:
            reason = skipped[one.name, first]
            notes.append(f"{one.name}: none from sigma = {power(first)} on: {reason}")
    notes += [f"{one.name} is not here: {one.install}" for one in missing]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = (
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    )
    return "\n".join([*aligned, "", *notes])


def power(exponent: int) -> str:
    """Return 10 to this as people write it."""
    return str(10**exponent) if exponent < 3 else f"10^{exponent}"


# --- the picture: time a sample against sigma, both on logarithmic scales

_UNITS = ("0.1 ns", "1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "0.1 ms", "1 ms", "10 ms", "0.1 s")
_TICKS = tuple((10.0 ** (place - 10), name) for place, name in enumerate(_UNITS))


def write_picture(path: Path, rates: Table, taking_part: Sequence[Contender]) -> None:
    """Draw the rates and write the picture, whole or not at all."""
    data = render(
        lambda figure, panels: draw_picture(figure, panels, rates, taking_part),
        panels=2,
        inches=(9.4, 5.6),
        dots_per_inch=160,
        widths=(3, 1),
    )
    with atomic_write(path, replace=True) as write:
        write(data)


def draw_picture(figure: Any, panels: Any, rates: Table, taking_part: Sequence[Contender]) -> None:
    """Draw into two panels, everyday sigmas and wide ones; contenders that are not exact dotted."""
    left, right = panels
    times = [1 / found.median for found in rates.values()]
    lines = []
    for contender in taking_part:
        mine = {e: found for (name, e), found in rates.items() if name == contender.name}
        points = {exponent: 1 / found.median for exponent, found in mine.items()}
        if not points:
            continue
        color, marker = contender.look
        look: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "linestyle": "-" if contender.exact else ":",
            "linewidth": 2.4 if contender.name.startswith("discretegauss") else 1.6,
        }
        label = contender.name + ("" if contender.exact else " (not exact)")
        (line,) = left.plot(list(points), list(points.values()), label=label, **look)
        right.plot(list(points), list(points.values()), **look)
        lines.append((next(iter(points.values())), line))
    for axes, ticks in ((left, (0, 1, 2, 3, 6, 9, 12)), (right, (30, 100))):
        axes.set_yscale("log")
        axes.set_xticks(ticks, [("1", "10")[e] if e < 2 else f"$10^{{{e}}}$" for e in ticks])
        axes.set_ylim(min(times) / 2, max(times) * 2)
        shown = [(t, name) for t, name in _TICKS if min(times) / 2 <= t <= max(times) * 2]
        axes.set_yticks([t for t, _ in shown], [name for _, name in shown])
        axes.minorticks_off()
    left.set_xlim(-0.4, 12.4)
    right.set_xlim(18, 106)
    right.tick_params(labelleft=False)
    left.set(xlabel="sigma, the width of the noise", ylabel="time a sample (lower is faster)")
    right.set_xlabel("sigma, Python integers")
    left.set_title("Time to draw one sample of the discrete Gaussian", loc="left")
    handles = [line for _, line in sorted(lines, key=lambda pair: -pair[0])]
    figure.legend(handles=handles, loc="outside right upper", fontsize=9, handlelength=3.2)


def png(text: str) -> Path:
    """Return a path, if a picture can be made and written there."""
    path = Path(text)
    try:
        render(lambda figure, axes: None)
    except ImportError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"no file can be written at {text}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"no permission to write {text}")
    return path


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; draw the picture, if asked."""
    parser = argparse.ArgumentParser(description="How fast it is on this machine.")
    parser.add_argument("--png", type=png, metavar="FILE", help="draw a picture there")
    parser.add_argument("--quick", action="store_true", help="a look in seconds, no measurement")
    arguments = parser.parse_args(argv)
    taking_part, missing = contenders.all_contenders()
    seconds = 0.015 if arguments.quick else 0.15
    print(f"{machine()}\n", flush=True)
    found, skipped = measure_all(taking_part, seconds)
    print(f"{table_text(found, skipped, taking_part, missing)}\n\n{users.HEAD}", flush=True)
    for line in (*users.lines(4 * seconds), "", *by_size.lines(seconds)):
        print(line, flush=True)
    if arguments.png is not None:
        write_picture(arguments.png, found, taking_part)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
