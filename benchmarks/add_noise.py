"""`add_noise` on 10^7 counts beside numpy's ``counts + law.sample(n)``, both with ChaCha20.

    python benchmarks/add_noise.py [ROUNDS]

Prints, for each kind of container, the median time of a call, and the median over interleaved
rounds of its ratio to numpy's. Target for columns without nulls: at most 1.3.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import discretegauss as dg
from bench import machine
from bench.rounds import measure_fixed

N = 10**7
PEER = "numpy: counts + law.sample(n)"


def main() -> None:
    rounds = int(sys.argv[1]) if sys.argv[1:] else 15
    law = dg.DiscreteGaussian(100)
    counts = np.random.default_rng(1).integers(0, 10**6, N)
    nulls = counts % 100 == 0
    with_nulls = pa.array(counts, mask=nulls)
    containers = {
        "numpy": counts,
        "pandas Series": pd.Series(counts),
        "pandas DataFrame": pd.DataFrame({"n": counts}),
        "polars Series": pl.Series("n", counts),
        "polars DataFrame": pl.DataFrame({"n": counts}),
        "pyarrow Array": pa.array(counts),
        "pyarrow Table": pa.table({"n": counts}),
        "pandas Int64, nulls": pd.Series(pd.arrays.IntegerArray(counts, nulls)),
        "polars, nulls": pl.from_arrow(with_nulls),
        "pyarrow, nulls": with_nulls,
    }

    def added_to(values: object) -> Callable[[int], object]:
        return lambda _: dg.add_noise(values, law)

    calls: dict[str, Callable[[int], object]] = {
        PEER: lambda n: counts + law.sample(n),
        **{name: added_to(values) for name, values in containers.items()},
    }
    for call in calls.values():
        call(N)  # imports, tables, memory
    rates = measure_fixed(calls, dict.fromkeys(calls, N), rounds=rounds)
    print(machine.load_now())
    for name, rate in rates.items():
        ratio = rates[PEER].ratio_to(rate)
        print(f"{name:32} {1e3 * N / rate.median:7.1f} ms   {ratio:.2f} times numpy's")


if __name__ == "__main__":
    main()
