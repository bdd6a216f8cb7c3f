"""Running counts: the tables of docs/running.md, and the time of a day.

    OPENBLAS_NUM_THREADS=1 python benchmarks/running.py              # two minutes

Errors are variances of the noise of totals, in units of a day's fresh noise at the same rho; one
person is counted on one day. The tree and the best matrices are computed here, in floats.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from discretegauss.release import Running
from discretegauss.release._running.weights import error_of_sum, inverse, squared_change, weights

Floats = NDArray[np.float64]

HORIZONS = (30, 365, 10**4)


def of_weights(c: NDArray[Any], n: int) -> Floats:
    """Return the variance of each day's total, for weights in whole numbers or floats."""
    sums = np.cumsum(inverse(c, n))
    return float((c.astype(float) ** 2).sum()) * np.cumsum(sums * sums)


def square_root(n: int) -> Floats:
    """Return the weights of (1 - x)**(-1/2), the best ones for the last of n days."""
    j = np.arange(1, n)
    return np.concatenate([[1.0], np.cumprod((2 * j - 1) / (2 * j))])


def tree(n: int, *, with_children: bool) -> Floats:
    """Return the variances of a binary tree, or of Honaker's, whose nodes also use their children.

    A person is in one node of each level. A total is a sum of one node for each bit of its day.
    """
    levels = math.ceil(math.log2(n)) + 1
    node = [1.0]
    while len(node) < levels:
        node.append(1 / (1 + 1 / (2 * node[-1])) if with_children else 1.0)
    bits = (np.arange(1, n + 1)[:, None] >> np.arange(levels)) & 1
    return np.asarray(levels * (bits @ np.array(node)))


def best_matrix(n: int, *, worst: bool, steps: int) -> Floats:
    """Return the variances of about the best matrix for the mean day, or for the worst.

    The fixed point of Denisov et al. 2022 is the best for a weighted mean. The weights of bad days
    grow until all days are alike. Such a matrix needs to know n.
    """
    sums, scale = np.tri(n), np.ones(n)
    of_day = np.full(n, 1 / n)
    errors = np.zeros(n)
    for _ in range(steps):
        middle = sums.T @ (of_day[:, None] * sums)
        for _ in range(2):
            root = np.sqrt(scale)
            values, vectors = np.linalg.eigh(root[:, None] * middle * root)
            square = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
            scale = np.diag(square).copy()
        gram = square / root[:, None] / root
        diagonal = np.sqrt(np.diag(gram))
        gram = gram / diagonal[:, None] / diagonal
        errors = np.einsum("ti,it->t", sums, np.linalg.solve(gram, sums.T))
        if worst:
            of_day = of_day * errors / (of_day @ errors)
    return errors


def rows(n: int, steps: int) -> Iterator[tuple[str, Floats]]:
    yield "fresh noise each day", np.arange(1.0, n + 1)
    yield "binary tree", tree(n, with_children=False)
    yield "binary tree, Honaker's estimates", tree(n, with_children=True)
    if n <= 365:
        yield "best matrix for the mean day", best_matrix(n, worst=False, steps=steps)
        yield "best matrix for the worst day", best_matrix(n, worst=True, steps=steps)
    yield "square root, floats, n known", of_weights(square_root(n), n)
    yield "running counts, period 365", of_weights(weights(365), n)
    yield "running counts, period n", of_weights(weights(n), n)


def print_errors(steps: int) -> None:
    print("| strategy |" + "".join(f" n = {n}: worst, mean |" for n in HORIZONS))
    print("| --- |" + " --- |" * len(HORIZONS))
    found: dict[str, list[str]] = {}
    for i, n in enumerate(HORIZONS):
        for name, errors in rows(n, steps):
            cells = found.setdefault(name, ["-"] * len(HORIZONS))
            cells[i] = f"{errors.max():.2f}, {errors.mean():.2f}"
    for name, cells in found.items():
        print(f"| {name} | " + " | ".join(cells) + " |")


def print_people() -> None:
    """Print the deviations of sums for people on several days, beside those of fresh noise."""
    print("\n| days, apart; period | day | week | month | year |\n| --- | --- | --- | --- | --- |")
    for days, apart, period in (
        *((1, 1, 1), (1, 1, 7), (1, 1, 30), (1, 1, 365)),
        *((2, 1, 365), (2, 30, 365), (7, 1, 365), (30, 1, 365), (365, 1, 365)),
        *((12, 30, 30), (4, 90, 90), (52, 7, 7)),
    ):
        c = weights(period)
        norm = math.sqrt(squared_change(c, days, apart))
        cells = []
        for window in (1, 7, 30, 365):
            ours = norm * error_of_sum(c, 8192, window)
            fresh = math.sqrt(days * window)
            mark = "**" if ours > 1.001 * fresh else ""
            cells.append(f"{mark}{ours:.3g}{mark} ({fresh:.3g})")
        print(f"| {days}, {apart}; {period} | " + " | ".join(cells) + " |")


def print_times(folder: Path, days: int) -> None:
    """Print the processor time of a day. The disk is not waited for."""
    for width, n, timed in ((1, days, days // 2), (10**5, min(days, 374), 10)):
        keys = None if width == 1 else range(width)
        counts: Any = 1000 if width == 1 else np.arange(width)
        with mock.patch.object(os, "fsync"):
            with contextlib.redirect_stdout(io.StringIO()):
                run = Running.start(folder / f"{width}", period=365, rho="0.1", keys=keys)
            for day in range(n):
                if day == n - timed:
                    start = time.process_time()
                run.add(counts, day)
            each = (time.process_time() - start) / timed
        kept = min(n, 364)
        print(f"\n{width} series, {kept} days kept: {1000 * each:.3g} ms of the processor a day")
    start = time.process_time()
    Running(folder / "1")
    print(f"\nopened after {days} days, one series: {1000 * (time.process_time() - start):.3g} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look of a few seconds")
    quick = parser.parse_args().quick
    print_errors(3 if quick else 100)
    print_people()
    with tempfile.TemporaryDirectory() as folder:
        print_times(Path(folder), 20 if quick else 10**4)


if __name__ == "__main__":
    main()
