"""What a task of discretegauss.dask needs where it runs."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import discretegauss as dg

pytestmark = pytest.mark.cluster


def test_a_worker_needs_the_package_only(tmp_path: Path) -> None:
    """A task for a block of an array runs where nothing else is installed."""
    from discretegauss import dask as module

    options = {"overflow": "raise", "source": "getrandom"}
    write = partial(module._write_block, law=dg.DiscreteGaussian(100), chunk=(5,), options=options)
    task = partial(module._attempt, np.arange(5), write=write, folder=tmp_path)
    program = """
import pickle, sys
for name in ("dask", "distributed", "zarr", "pandas", "pyarrow", "cloudpickle"):
    sys.modules[name] = None
print(pickle.load(sys.stdin.buffer)())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(task), capture_output=True, check=True
    )
    assert (tmp_path / done.stdout.decode().strip()).stat().st_size == 5 * 8
