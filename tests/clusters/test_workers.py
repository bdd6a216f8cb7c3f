"""A task of discretegauss.spark needs little on the machine where it runs."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import pytest

import discretegauss as dg
from discretegauss import spark
from discretegauss.data.addition import AddOptions

pytestmark = pytest.mark.cluster


NOISE = spark.TaskNoise(dg.DiscreteGaussian(100), AddOptions(source="getrandom"))


def _run_without(names: tuple[str, ...], task: Callable[[], object], shown: str) -> str:
    """Run a task in an interpreter that cannot import these, and return its printed result."""
    program = f"""
import pickle, sys
for name in {names}:
    sys.modules[name] = None
result = pickle.load(sys.stdin.buffer)()
print({shown})
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(task), capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def test_a_worker_of_spark_needs_arrow_beside_it() -> None:
    """A task gets Arrow's batches from Spark, so it needs pyarrow, too."""
    pa = pytest.importorskip("pyarrow")
    batches = [pa.RecordBatch.from_pydict({"id": range(5), "n": [1, None, 3, 4, 5]})] * 2
    task = partial(spark._noisy_batches, iter(batches), NOISE, ["n"], ["id", "n"])
    shown = "[batch.column('n').null_count for batch in result]"
    assert _run_without(("pyspark", "pandas", "dask"), task, shown) == "[1, 1]"
