#!/usr/bin/env python
"""How many Python functions of the package a call runs: a number that no load changes.

    python benchmarks/frames.py

CPython up to 3.11 counts each comprehension, too, and every version each step of a generator.
"""

from __future__ import annotations

import gc
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import discretegauss as dg
from discretegauss.release import release_table

PACKAGE = str(Path(dg.__file__).parent)


def frames(call: Callable[[], object]) -> tuple[int, int]:
    """Return how many functions of the package a call runs, and how many in all."""
    ours = others = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal ours, others
        if event == "call":
            is_ours = frame.f_code.co_filename.startswith(PACKAGE)
            ours, others = ours + is_ours, others + (not is_ours)

    gc.disable()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return ours, ours + others - 1  # the call is a function of ours here


def calls(folder: Path) -> dict[str, Callable[[], object]]:
    """Return the calls; all but a law's first one are warm."""
    counts, sigma2s = np.arange(100), np.random.default_rng(1).uniform(1, 100, 100)
    law, table = dg.DiscreteGaussian(100), folder / "table.csv"
    table.write_text("g,n\n" + "".join(f"x{i},{7 * i}\n" for i in range(20)))

    def release(**budget: Any) -> str:
        return str(release_table(table, "n", folder / "noisy.csv", force=True, **budget))

    def warm(call: Callable[[], object]) -> Callable[[], object]:
        call()
        return call

    release(rho="0.7")
    release(epsilon=2, delta="1e-5")
    return {
        "law.sample(1000)": warm(lambda: law.sample(1000)),
        "discrete_gaussian(100, 1000)": warm(lambda: dg.discrete_gaussian(100, 1000)),
        "discrete_gaussian(101, 1000), the first": lambda: dg.discrete_gaussian(101, 1000),
        "discrete_gaussian(sigma2s, dtype=int32)": warm(
            lambda: dg.discrete_gaussian(sigma2s, dtype=np.int32)
        ),
        "add_noise(counts, law)": warm(lambda: dg.add_noise(counts, law)),
        "release_table, rho=0.1": lambda: release(rho="0.1"),
        "release_table, epsilon=1, delta=1e-6": lambda: release(epsilon=1, delta="1e-6"),
    }


def main() -> int:
    """Print the counts."""
    print(f"# CPython {platform.python_version()}: functions of the package, and of all")
    with tempfile.TemporaryDirectory() as name:
        for title, call in calls(Path(name)).items():
            ours, in_all = frames(call)
            print(f"{title:42} {ours:6} {in_all:6}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
