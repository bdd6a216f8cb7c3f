"""The rows that are no rates: one draw at a time, building a table, when one pays, memory."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import timeit
from bisect import bisect_left
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np
from parts import NativeLaw, NativeTable

import bulk_peak_memory
import discretegauss as dg
import tests_support  # noqa: F401
from bench.contenders import Draw
from bench.rounds import Rates, measure
from bulk_rows import BulkRow, Group, Settings, power
from discretegauss._drawing.native import Call, NativeSampler
from discretegauss._inputs.draw_arguments import fits_dtype
from discretegauss._law import Kind, LawSpec
from discretegauss._native import ffi, lib


def gaussian_spec(sigma2: int | Fraction) -> LawSpec:
    """The Gaussian of this sigma2, about 0."""
    return LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(sigma2))


def laplace_spec(scale: int) -> LawSpec:
    """The Laplace of this scale, about 0."""
    return LawSpec(Kind.DISCRETE_LAPLACE, Fraction(scale))


BUILDS = {
    "Gaussian sigma=1": gaussian_spec(1),
    "Gaussian sigma=100": gaussian_spec(10**4),
    "Gaussian sigma=10^9": gaussian_spec(10**18),
    "Gaussian sigma2=10^100": gaussian_spec(10**100),
    "Gaussian sigma2=2^4000+1/3": gaussian_spec(2**4000 + Fraction(1, 3)),
    "Laplace scale=1000": laplace_spec(1000),
    "generalised Gaussian beta=3/2 scale=1000": LawSpec(
        Kind.GENERALIZED_GAUSSIAN, Fraction(1000), Fraction(0), Fraction(3, 2)
    ),
    "generalised Gaussian beta=1.1 scale=1000": LawSpec(
        Kind.GENERALIZED_GAUSSIAN, Fraction(1000), Fraction(0), Fraction(1.1)
    ),
}

CROSSINGS = {
    **{f"Gaussian sigma={power(s)}": gaussian_spec(s**2) for s in (1, 10, 30, 100, 1000, 10**6)},
    "Gaussian sigma=10^9": gaussian_spec(10**18),
    "Gaussian sigma2=10^100": gaussian_spec(10**100),
    **{f"Laplace scale={power(scale)}": laplace_spec(scale) for scale in (1, 10, 100, 10**6)},
}


def _seconds(call: Callable[[], object], settings: Settings) -> float:
    """The median time of a call over some repeats; the first is not counted."""
    call()
    times = timeit.repeat(call, number=1, repeat=3 * settings.rounds)
    return statistics.median(times)


def single(settings: Settings) -> Iterator[BulkRow]:
    """One draw at a time on a prepared law."""
    for label, sigma2 in (("sigma2=1", 1), ("sigma2=100", 100), ("sigma2=10^12", 10**12)):
        sample = dg.DiscreteGaussian(sigma2).sample
        number = settings.draws // 200
        times = timeit.repeat(sample, number=number, repeat=settings.rounds)
        yield BulkRow(
            f"law.sample(), getrandom, {label}",
            3.0,
            statistics.median(times) / number * 1e6,
            "at most",
            "us",
        )


def build(settings: Settings) -> Iterator[BulkRow]:
    """Building a table."""
    for label, spec in BUILDS.items():
        seconds = _seconds(partial(NativeTable, spec), settings)
        yield BulkRow(f"building a table, {label}", 5.0, seconds * 1e3, "at most", "ms")


def _filling(law: NativeLaw | NativeTable, dtype: str) -> Draw:
    """Draw n times, into one array over and over."""
    out = np.empty(2**16, dtype)

    def fill(n: int) -> None:
        for start in range(0, n, out.size):
            law.fill(out[: n - start], "getrandom")

    return fill


def _building(spec: LawSpec) -> Draw:
    """Build n tables."""

    def build_tables(n: int) -> None:
        for _ in range(n):
            NativeTable(spec)

    return build_tables


def _first_by_table(spec: LawSpec) -> int:
    """From how many draws on "auto" takes a table, if the bits are the caller's."""
    sampler, call, way = NativeSampler(spec), Call(bytes), ffi.new("dg_method *")

    def is_by_table(n: int) -> bool:
        call(lib.dg_sampler_choose, way, n, lib.DG_AUTO, sampler._handle)
        return bool(way[0] == lib.DG_CELLS)

    return bisect_left(range(2**20), True, key=is_by_table)


def crossing(settings: Settings) -> Iterator[BulkRow]:
    """From how many draws on a new table is repaid, against where method="auto" begins.

    Verdict: "auto" begins within a factor of 2 of that, and so loses at most about as much at any
    number of draws.
    """
    for label, spec in CROSSINGS.items():
        dtype = "i8" if fits_dtype(spec, np.dtype("i8")) else "O"
        rates = measure(
            {
                "building": _building(spec),
                "cells": _filling(NativeTable(spec), dtype),
                "reference": _filling(NativeLaw(spec), dtype),
            },
            seconds=settings.seconds / 4,
            rounds=settings.rounds,
        )
        yield crossing_row(
            label,
            rates["building"],
            rates["cells"],
            rates["reference"],
            begins=_first_by_table(spec),
        )


def crossing_row(
    label: str, building: Rates, cells: Rates, reference: Rates, *, begins: int
) -> BulkRow:
    """Where the two ways cross, the median over the rounds, beside where "auto" begins.

    They take time a + b n, where a is the table's building: they cross at n = a / (b_reference -
    b_cells), and nowhere if a draw by the table takes no less.
    """
    by_round = zip(building.by_round, cells.by_round, reference.by_round, strict=True)
    where = statistics.median(
        (1 / b) / (1 / r - 1 / c) if c > r else math.inf for b, c, r in by_round
    )
    crossed = f"they cross at {where:,.0f} draws" if where < math.inf else "a table is not repaid"
    return BulkRow(
        f'"auto" {label}: crossing and where it begins, larger / smaller',
        2.0,
        max(where / begins, begins / where),
        "at most",
        note=f"{crossed}; tables from {begins:,}",
        ours=cells.by_round,
        peer=reference.by_round,
    )


def memory(settings: Settings) -> Iterator[BulkRow]:
    """How far building a table and a large fill raise the peak of the resident memory."""
    for sigma2, threads in ((100, 1), (10**12, 1), (100, 2)):
        case = f"memory beyond the output, sigma2={power(sigma2)}, threads={threads}"
        table = int(NativeTable(gaussian_spec(sigma2)).info.memory)
        bound = (table + threads * 2**18) / 1024
        try:
            warm = _peak_growth(sigma2, settings.draws, threads, "warm")
            cold = _peak_growth(sigma2, settings.draws, threads, "cold")
        except subprocess.CalledProcessError as error:
            reason = error.stderr.strip().rpartition("\n")[2]
            yield BulkRow(case, bound, None, "at most", "KiB", reason)
            continue
        note = f"table {table / 1024:.0f} KiB; {cold / 1024:.0f} KiB with the code's first use"
        yield BulkRow(case, bound, warm / 1024, "at most", "KiB", note)


def _peak_growth(sigma2: int, draws: int, threads: int, state: str) -> int:
    """Bytes that the peak of a new process grows by."""
    command = [sys.executable, bulk_peak_memory.__file__, str(sigma2), str(draws), str(threads)]
    run = subprocess.run([*command, state], check=True, capture_output=True, text=True)
    return int(run.stdout)


GROUPS: dict[str, Group] = {
    "bulk single draws": single,
    "bulk building": build,
    "bulk crossing": crossing,
    "bulk memory": memory,
}
