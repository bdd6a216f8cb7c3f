#!/usr/bin/env python
"""Fills by method="isochronous": their speed beside numpy's, and what their time says.

    python benchmarks/isochronous.py [--seconds S] [--fills N]

Speed: CPU time of one thread, the least of several rounds, of int64 draws into a reused array;
numpy's is of np.rint(rng.normal(0, sigma, n)).astype(np.int64) in the same rounds.
Then arrays of parameters, 10^5 distinct laws in a call; numpy's is rng.normal(mu, sigmas), rounded.
Time: fills of 64 and 4096 draws, each judged by its sum, the sum of its sizes, its largest size and
its zeros (leakage.py), raw and squared about the mean; cells and Algorithms 1-3 stand beside it,
and the latter has to be flagged: else the run is blind, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from time import perf_counter_ns, process_time_ns
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

import tests_support  # noqa: F401
from bench import machine
from leakage import LEAK_AT, leakage

Ints = npt.NDArray[np.int64]

SIGMAS = tuple(Fraction(sigma) for sigma in ("1/2", 1, 2, 4, 8, 13, 25, 100, 1000, 10**6, 10**9))
CONTROL: Final = "reference"
Method = Literal["isochronous", "cells", "reference"]
METHODS: tuple[Method, ...] = (
    "isochronous",
    "cells",
    CONTROL,
)
ROUNDS = 5
LEAST_GROUP = 2e-4
"""Seconds that a group of calls takes at least: clocks of processor time may be as coarse."""


def least_seconds(call: Callable[[], object], seconds: float) -> float:
    """Return the least CPU time of a call, over calls that take so long together.

    Calls too short for the clock are timed in groups.
    """
    best, spent, group = float("inf"), 0.0, 1
    while spent < seconds:
        start = process_time_ns()
        for _ in range(group):
            call()
        took = (process_time_ns() - start) / 1e9
        spent += took
        if took < LEAST_GROUP:
            group *= 2
        else:
            best = min(best, took / group)
    return best


KERNELS = {"plain C": 1, "AVX2": 2, "AVX-512": 4, "NEON": 5}
"""Of csrc/include/discretegauss_parts.h, dg_isa."""


def fills(sigma: Fraction, isa: int, source: Any, n: int) -> Callable[[], object]:
    """Return a call that fills an array of n by one kernel."""
    import parts

    from discretegauss._law import Kind, LawSpec

    law = parts.NativeLanes(LawSpec(Kind.DISCRETE_GAUSSIAN, sigma * sigma), isa=isa)
    out = np.empty(n, np.int64)
    return lambda: law.fill(out, source)


def kernels(sigma: Fraction, n: int) -> dict[str, Callable[[], object]]:
    """Return fills with ChaCha20's bits by each kernel that this machine has."""
    from discretegauss import errors

    made = {}
    for name, isa in KERNELS.items():
        try:
            made[name] = fills(sigma, isa, "chacha20", n)
        except errors.ParameterValueError:
            continue  # another machine's
    return made


def speed_row(sigma: Fraction, n: int, seconds: float) -> str:
    """Return ns a draw by kernel, of the system's bits, and by table; numpy's time over each."""
    import discretegauss as dg

    rng, width = np.random.default_rng(), float(sigma)
    law, out = dg.DiscreteGaussian(sigma * sigma), np.empty(n, np.int64)
    ways: dict[str, Callable[[], object]] = {
        "numpy": lambda: np.rint(rng.normal(0, width, n)).astype(np.int64),
        **kernels(sigma, n),
        "getrandom": fills(sigma, 0, "getrandom", n),
        "cells, chacha20": lambda: law.sample(out=out, method="cells", source="chacha20"),
        "cells, getrandom": lambda: law.sample(out=out, method="cells"),
    }
    return f"sigma = {sigma}, n = {n}: " + cells_of(ways, n, seconds)


def cells_of(ways: dict[str, Callable[[], object]], n: int, seconds: float) -> str:
    """Return ns a draw of each way, and numpy's time over it: the least of rounds in turns."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, call in ways.items():
            least[name] = min(least[name], least_seconds(call, seconds / ROUNDS))
    return ", ".join(
        f"{name} {1e9 * took / n:.1f} ns ({least['numpy'] / took:.2f})"
        for name, took in least.items()
    )


def laws_row(n: int, seconds: float) -> str:
    """Return ns a draw where each is of another law, by source, and numpy's time over each."""
    import discretegauss as dg

    rng = np.random.default_rng(1)
    sigma2, mu = rng.uniform(50, 5000, n), rng.uniform(-50, 50, n)
    sigma = np.sqrt(sigma2)

    def ours(source: Any, mu: Any) -> Callable[[], object]:
        return lambda: dg.discrete_gaussian(sigma2, mu=mu, method="isochronous", source=source)

    ways = {
        "numpy": lambda: np.rint(rng.normal(0, sigma)).astype(np.int64),
        "chacha20": ours("chacha20", 0),
        "chacha20, mu of floats": ours("chacha20", mu),
        "getrandom": ours("getrandom", 0),
        "getrandom, mu of floats": ours("getrandom", mu),
    }
    return f"{n} laws: " + cells_of(ways, n, seconds)


def summaries(draws: Ints) -> dict[str, int]:
    """Return what a fill's time is judged by."""
    sizes = np.abs(draws)
    return {
        "sum": int(draws.sum()),
        "sizes": int(sizes.sum()),
        "largest": int(sizes.max()),
        "zeros": int(np.count_nonzero(draws == 0)),
    }


def judge(values: Sequence[int], times: Sequence[int]) -> float:
    """Return the largest t in size, of the times and of their squares about the mean."""
    squares = (np.asarray(times) - np.mean(times)) ** 2
    return max(leakage(values, times).worst, leakage(values, squares.astype(np.int64)).worst)


def leak_rows(sigma2: int, n: int, n_fills: int) -> dict[str, dict[str, float]]:
    """Return the largest t of every method by summary, of fills in turns."""
    import discretegauss as dg

    law, out = dg.DiscreteGaussian(sigma2), np.empty(n, np.int64)
    values: dict[str, dict[str, list[int]]] = {str(name): {} for name in METHODS}
    times: dict[str, list[int]] = {str(name): [] for name in METHODS}
    gc.collect()
    gc.disable()
    try:
        for i in range(-50, n_fills):
            for method in METHODS:
                start = perf_counter_ns()
                law.sample(out=out, method=method, source="chacha20")
                took = perf_counter_ns() - start
                if i >= 0:  # before that caches are warmed
                    times[method].append(took)
                    for name, value in summaries(out).items():
                        values[method].setdefault(name, []).append(value)
    finally:
        gc.enable()
    return {
        method: {name: judge(of, times[method]) for name, of in values[method].items()}
        for method in METHODS
    }


def main(argv: list[str] | None = None) -> int:
    """Measure and print. Returns 1 if the control was not flagged."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="a way and sigma (default 1)")
    parser.add_argument("--fills", type=int, default=20_000, help="a method (default 20000)")
    arguments = parser.parse_args(argv)
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    print(f"# {date}, {machine.cpu_model()}; {machine.load_now()}")
    print("# ns a draw (numpy's time over it)")
    for sigma, n in [*((sigma, 10**6) for sigma in SIGMAS), (Fraction(10), 100)]:
        print(speed_row(sigma, n, arguments.seconds), flush=True)
    print(laws_row(10**5, arguments.seconds), flush=True)
    print(f"# largest t in size; the time says nothing: below {LEAK_AT}")
    blind = False
    for sigma2 in (1, 100):
        for n in (64, 4096):
            rows = leak_rows(sigma2, n, max(200, arguments.fills * 64 // max(n, 64)))
            for method, row in rows.items():
                found = ", ".join(f"{name} {t:.1f}" for name, t in row.items())
                print(f"sigma2 = {sigma2}, fills of {n}, {method}: {found}", flush=True)
            blind |= n == 64 and max(rows[CONTROL].values()) < LEAK_AT
    print(f"# {machine.load_now()} at the end")
    return int(blind)


if __name__ == "__main__":
    sys.exit(main())
