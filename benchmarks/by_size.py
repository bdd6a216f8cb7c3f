"""Nanoseconds a draw of calls without options by their number of draws, beside rounded normals.

All are isochronous: "auto" takes cells from 2^16 draws on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import discretegauss as dg
from measure import measure, repeated

SIZES = (1, 100, 10**3, 10**4, 6 * 10**4)

LAWS = {
    "sigma 1": dg.DiscreteGaussian(1),
    "sigma 30": dg.DiscreteGaussian(30**2),
    "sigma 1000": dg.DiscreteGaussian(1000**2),
    "sigma 10^6": dg.DiscreteGaussian(10**12),
    "Laplace 30": dg.DiscreteLaplace(30),
}
"""Kept laws: their integers are there before the clock starts."""

HEAD = "| ns a draw, n = | " + " | ".join(map(str, SIZES)) + " |"


def lines(seconds: float) -> Iterator[str]:
    """Yield the table, a line at a time."""
    yield HEAD
    yield "| --- " * (1 + len(SIZES)) + "|"
    for name, calls in contenders():
        cells = []
        for n in SIZES:
            rate = measure({name: repeated(partial(calls, n))}, seconds)[name]
            cells.append(f"{1e9 / rate.median / n:.3g}")
        yield f"| {name} | " + " | ".join(cells) + " |"


def contenders() -> Iterator[tuple[str, Callable[[int], object]]]:
    """Yield names, and functions that draw n times in one call."""
    for name, law in LAWS.items():
        yield name, law.sample
    rng = np.random.default_rng()
    yield "numpy rint(normal)", lambda n: np.rint(rng.normal(0, 30, n)).astype(np.int64)
