#!/usr/bin/env python
"""What laws of one call cost, together or by themselves: the CROWD_* of csrc/sampler/choose.c.

    python benchmarks/crowd.py [--json FILE]

A way takes a + b n microseconds for n draws, the least of several rounds at two n, interleaved with
the other's; two ways cross at n = (a - a')/(b' - b). Laws are Gaussians with sigma from 5 to 15.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

import tests_support  # noqa: F401
from bench import machine
from discretegauss._drawing.native import Call, NativeSampler, _c_column
from discretegauss._inputs.parameter_arrays import Numbers
from discretegauss._law import Kind, LawSpec
from discretegauss._native import ffi, lib
from options import json_file

Way = Callable[[int], object]

MOST = 4096
ROUNDS = 25
OUT = np.empty(MOST, np.int64)
BUFFER = ffi.from_buffer("char[]", OUT, require_writable=True)
SIGMA2 = np.linspace(25, 225, MOST)


def together(source: str, *, in_lanes: bool) -> Way:
    """Draw from n different laws, together."""
    centre = _c_column(Numbers(np.zeros(1, np.int64)))
    given = {"kind": int(Kind.DISCRETE_GAUSSIAN), "centre": centre}
    laws = ffi.new("dg_laws *", given | {"parameter": _c_column(Numbers(SIGMA2))})
    call = Call(source)  # type: ignore[arg-type]
    first = BUFFER, lib.DG_INT64, laws, ffi.NULL

    def draw(n: int) -> None:
        out, dtype, of, which = first
        if in_lanes:
            call(lib.dg_laws_fill_in_lanes, out, n, dtype, of, which, 0, lib.DG_ISA_AUTO)
        else:
            call(lib.dg_laws_fill, out, n, dtype, of, which)

    return draw


def alone(source: str, method: int, *, kept: bool) -> Way:
    """Draw n times from one law, whose sampler is at hand or is made for the call."""
    spec, call = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100)), Call(source)  # type: ignore[arg-type]
    sampler = NativeSampler(spec)

    def draw(n: int) -> None:
        handle = sampler._handle if kept else NativeSampler(spec)._handle
        call(lib.dg_sampler_fill, BUFFER, n, lib.DG_INT64, method, handle)

    draw(1)
    return draw


def lines(ways: dict[str, Way], few: int, many: int) -> dict[str, tuple[float, float]]:
    """Return a and b of each way, in microseconds, from the least times of few and many draws."""
    least = dict.fromkeys([(name, n) for name in ways for n in (few, many)], float("inf"))
    for _ in range(ROUNDS):
        for name, n in least:
            draw, repeats = ways[name], 40
            start = time.process_time_ns()
            for _ in range(repeats):
                draw(n)
            taken = (time.process_time_ns() - start) / 1000 / repeats
            least[name, n] = min(least[name, n], taken)
    slopes = {name: (least[name, many] - least[name, few]) / (many - few) for name in ways}
    return {name: (least[name, few] - few * b, b) for name, b in slopes.items()}


def main() -> None:
    """Measure, and print what crosses where."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=json_file, metavar="FILE")
    arguments = parser.parse_args()
    description = machine.describe()
    print(f"# python benchmarks/crowd.py\n# {description['cpu']}, {machine.load_now()}")
    print(f"{'':10} {'':22} {'a':>8} {'b':>8}   microseconds")
    rows: dict[str, dict[str, tuple[float, float]]] = {}
    for source in ("getrandom", "chacha20"):
        ways = {
            "Algorithms 1-3": together(source, in_lanes=False),
            "in lanes": together(source, in_lanes=True),
            "alone, table at hand": alone(source, lib.DG_CELLS, kept=True),
            "alone, lanes at hand": alone(source, lib.DG_ISOCHRONOUS, kept=True),
            "alone, lanes made": alone(source, lib.DG_ISOCHRONOUS, kept=False),
        }
        rows[source] = lines(ways, 16, 512)
        for name, (fixed, slope) in rows[source].items():
            print(f"{source:10} {name:22} {fixed:8.2f} {slope:8.4f}")
    print(f"\n{'crossing at n =':32} {'getrandom':>10} {'chacha20':>10}")
    for name, (way, other, starts) in CROSSINGS.items():
        at = []
        for found in rows.values():
            begun = found[other][0] if starts else 0.0  # the others draw in any case
            gain = found[other][1] - found[way][1]
            at.append((found[way][0] - begun) / gain if gain > 0 else float("inf"))
        print(f"{name:32} {at[0]:10.0f} {at[1]:10.0f}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


#: What a constant compares, and whether the other way begins for these draws alone.
CROSSINGS = {
    "CROWD_LANES_FROM": ("in lanes", "Algorithms 1-3", True),
    "CROWD_ALONE_FROM_FEW, a table": ("alone, table at hand", "in lanes", False),
    "CROWD_ALONE_FROM_FEW, lanes": ("alone, lanes at hand", "in lanes", False),
    "CROWD_ALONE_FROM_MANY": ("alone, lanes made", "in lanes", False),
}


if __name__ == "__main__":
    main()
