"""How many functions of the package a call runs: a cost that no load of the machine changes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from engine import ENGINE

import discretegauss as dg
from discretegauss.release import release_table

PACKAGE = str(Path(dg.__file__).parent)


def functions_run(call: Callable[[], object]) -> int:
    """Count the functions of the package that a warm call runs.

    CPython up to 3.11 counts each comprehension, too.
    """
    call()
    count = 0

    def on_event(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

    gc.disable()
    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


@pytest.mark.skipif(ENGINE != "native", reason="counts calls of the compiled core")
def test_a_call_runs_few_functions(tmp_path: Path) -> None:
    """A draw, noise on an array, a release of twenty rows: no more functions than today."""
    law, counts, table = dg.DiscreteGaussian(100), np.arange(100), tmp_path / "table.csv"
    table.write_text("g,n\n" + "".join(f"x{i},{7 * i}\n" for i in range(20)))
    out = tmp_path / "noisy.csv"
    found = {
        "sample": functions_run(lambda: law.sample(1000)),
        "add_noise": functions_run(lambda: dg.add_noise(counts, law)),
        "release": functions_run(lambda: release_table(table, "n", out, rho="0.1", force=True)),
    }
    most = {"sample": 2, "add_noise": 32, "release": 463}
    assert {name: count for name, count in found.items() if count > most[name]} == {}
