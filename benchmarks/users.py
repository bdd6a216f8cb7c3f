"""Tasks of users, each beside the nearest that another library offers."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import discretegauss as dg
from measure import Rates, measure, repeated

LAW = dg.DiscreteGaussian(100)
COUNTS = np.random.default_rng(1).integers(0, 10**6, 10**6)

Call = Callable[[], object]


@dataclass(frozen=True)
class Task:
    """A task, and another library's call for it."""

    name: str
    peer: str
    prepare: Callable[[Path], tuple[Call, Call]]
    """Prepares, untimed, in a folder, and returns our call and the peer's.

    Raises an ImportError if the peer is not installed.
    """


HEAD = "| what | time | beside | its time over ours |\n| --- | --- | --- | --- |"


def single_draws(_folder: Path) -> tuple[Call, Call]:
    generator = np.random.default_rng()
    return LAW.sample, lambda: round(generator.normal(0.0, 10.0))


def noise_on_a_frame(_folder: Path) -> tuple[Call, Call]:
    import pandas as pd

    frame, generator = pd.DataFrame({"n": COUNTS}), np.random.default_rng()
    return (
        lambda: dg.add_noise(frame, LAW, columns=["n"]),
        lambda: frame.assign(
            n=frame["n"] + np.rint(generator.normal(0, 10, COUNTS.size)).astype(int)
        ),
    )


def release_of(ending: str) -> Callable[[Path], tuple[Call, Call]]:
    """Return a release of 10^6 rows; polars reads, adds a rounded normal and writes."""

    def prepare(folder: Path) -> tuple[Call, Call]:
        import polars as pl

        table, out, theirs = (folder / f"{name}.{ending}" for name in ("table", "out", "theirs"))
        towns = np.array(["Springfield", "Shelbyville", "Ogdenville", "North Haverbrook"])
        frame = pl.DataFrame(
            {"town": towns[COUNTS % 4], "age": COUNTS % 100, "n": COUNTS, "code": COUNTS[::-1]}
        )
        getattr(frame, f"write_{ending}")(table)
        generator = np.random.default_rng()

        def by_polars() -> None:
            read = getattr(pl, f"read_{ending}")(table)
            noise = np.rint(generator.normal(0, 10, COUNTS.size)).astype(np.int64)
            getattr(read.with_columns(pl.col("n") + noise), f"write_{ending}")(theirs)

        return (
            lambda: dg.release.release_table(table, "n", out, rho="1/200", force=True),
            by_polars,
        )

    return prepare


def epsilon_of_100_queries(_folder: Path) -> tuple[Call, Call]:
    """Return both calls, each time with another sigma2, so that no answer is cached."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    sigma2s = _others(5000)

    def theirs() -> float:
        one = pld.from_discrete_gaussian_mechanism(math.sqrt(next(sigma2s)))
        return float(one.self_compose(100).get_epsilon_for_delta(1e-6))

    return (
        lambda: dg.privacy.epsilon(dg.DiscreteGaussian(next(sigma2s)), "1e-6", queries=100),
        theirs,
    )


def sampled_rounds(_folder: Path) -> tuple[Call, Call]:
    """Return both calls: 1000 rounds, each of which samples a person with probability 1/100."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    sigma2s = _others(4)

    def ours() -> Any:
        one = dg.privacy.loss(dg.DiscreteGaussian(next(sigma2s)), sampling="0.01")
        return (one**1000).epsilon("1e-6")

    def theirs() -> float:
        deviation = math.sqrt(next(sigma2s))
        one = pld.from_discrete_gaussian_mechanism(deviation, sampling_prob=0.01)
        return float(one.self_compose(1000).get_epsilon_for_delta(1e-6))

    return ours, theirs


def _others(first: int) -> Iterator[float]:
    """Generate different numbers near the first."""
    return (first + i / 1024 for i in range(10**9))


TASKS = (
    Task("one draw, law.sample()", "numpy, rounded", single_draws),
    Task("add_noise, pandas frame, 10^6 counts", "numpy, rounded", noise_on_a_frame),
    Task("release, CSV of 10^6 rows", "polars", release_of("csv")),
    Task("release, Parquet of 10^6 rows", "polars", release_of("parquet")),
    Task("epsilon of 100 queries", "dp-accounting", epsilon_of_100_queries),
    Task("epsilon of 1000 sampled rounds", "dp-accounting", sampled_rounds),
)


def lines(seconds: float) -> Iterator[str]:
    """Measure every task, ``seconds`` each and at least three times; generate rows for people."""
    with tempfile.TemporaryDirectory() as folder:
        for task in TASKS:
            try:
                ours, theirs = map(repeated, task.prepare(Path(folder)))
            except ImportError as error:
                yield f"| {task.name} | not measured: {error} | | |"
                continue
            rates = measure({"ours": ours, "theirs": theirs}, seconds)
            ratio = rates["ours"].ratio_to(rates["theirs"])
            mine, other = _time(rates["ours"]), _time(rates["theirs"])
            yield f"| {task.name} | {mine} | {task.peer}: {other} | {ratio:.3g} |"


def _time(rates: Rates) -> str:
    """Return the time of a call, in three figures."""
    seconds = 1 / rates.median
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
