"""The rows that are no rates: one draw at a time, building a table, and when one pays."""

from __future__ import annotations

import math
import statistics
import timeit
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

import discretegauss as dg
from bench.contenders import Draw
from bench.rounds import Rates, measure
from bulk_rows import BulkRow, Group, Settings, power
from discretegauss._drawing.native import NativeSampler
from discretegauss._inputs.draw_arguments import fits_dtype
from discretegauss._law import Kind, LawSpec


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
            f"law.sample(), {label}",
            3.0,
            statistics.median(times) / number * 1e6,
            "at most",
            "us",
        )


def build(settings: Settings) -> Iterator[BulkRow]:
    """Building a table."""
    for label, spec in BUILDS.items():
        seconds = _seconds(partial(NativeSampler, spec, "cells"), settings)
        yield BulkRow(f"building a table, {label}", 5.0, seconds * 1e3, "at most", "ms")


def _filling(law: NativeSampler, dtype: str) -> Draw:
    """Draw n times, into one array over and over."""
    out = np.empty(2**16, dtype)

    def fill(n: int) -> None:
        for start in range(0, n, out.size):
            law.fill(out[: n - start], "chacha20")

    return fill


def _building(spec: LawSpec) -> Draw:
    """Build n tables."""

    def build_tables(n: int) -> None:
        for _ in range(n):
            NativeSampler(spec, "cells")

    return build_tables


def crossing(settings: Settings) -> Iterator[BulkRow]:
    """From how many draws on a new table is repaid, against where method="auto" begins.

    Verdict: "auto" begins within a factor of 8 of that. One constant serves all laws, so that the
    method depends on the law and the number of draws alone.
    """
    for label, spec in CROSSINGS.items():
        dtype = "i8" if fits_dtype(spec, np.dtype("i8")) else "O"
        rates = measure(
            {
                "building": _building(spec),
                "cells": _filling(NativeSampler(spec, "cells"), dtype),
                "few": _filling(NativeSampler(spec, "auto"), dtype),
            },
            seconds=settings.seconds / 4,
            rounds=settings.rounds,
        )
        yield crossing_row(
            label,
            rates["building"],
            rates["cells"],
            rates["few"],
            begins=NativeSampler(spec, "auto").cells_from,
        )


def crossing_row(label: str, building: Rates, cells: Rates, few: Rates, *, begins: int) -> BulkRow:
    """Where the two ways cross, the median over the rounds, beside where "auto" begins.

    They take time a + b n, where a is the table's building: they cross at n = a / (b_few -
    b_cells), and nowhere if a draw by the table takes no less.
    """
    by_round = zip(building.by_round, cells.by_round, few.by_round, strict=True)
    where = statistics.median(
        (1 / b) / (1 / r - 1 / c) if c > r else math.inf for b, c, r in by_round
    )
    crossed = f"they cross at {where:,.0f} draws" if where < math.inf else "a table is not repaid"
    return BulkRow(
        f'"auto" {label}: crossing and where it begins, larger / smaller',
        8.0,
        max(where / begins, begins / where),
        "at most",
        note=f"{crossed}; tables from {begins:,}",
        ours=cells.by_round,
        peer=few.by_round,
    )


GROUPS: dict[str, Group] = {
    "bulk single draws": single,
    "bulk building": build,
    "bulk crossing": crossing,
}
