"""discretegauss.spark: one draw for each cell, written once, whatever fails meanwhile."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discretegauss as dg

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

spark = dg.spark

#: Of pandas 3, which Spark 4 does not know yet.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

LAW = dg.DiscreteGaussian(100)
ROWS, PARTITIONS = 40_000, 16


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Four Python workers; a task may fail twice."""
    from pyspark.sql import SparkSession

    # workers are this Python, and find this file
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("PYTHONPATH", str(Path(__file__).parent))
    made = (
        SparkSession.builder.master("local[4,3]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
        .config("spark.sql.parquet.compression.codec", "gzip")  # needs no native library
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()
    patch.undo()


def _counts(session: Any) -> Any:
    frame = session.range(0, ROWS, 1, PARTITIONS)
    return frame.selectExpr("id", "id * 1000 as n", "cast(null as int) as empty")


def _noise(noisy: Any) -> Any:
    table = noisy.toArrow().sort_by("id")
    assert table["id"].to_pylist() == list(range(ROWS))  # each row once
    assert table["empty"].null_count == ROWS
    return table["n"].to_numpy() - 1000 * np.arange(ROWS)


def _follows_the_law(noise: Any) -> None:
    edges = np.arange(-30, 31, 4)
    probabilities = np.diff(LAW.cdf(edges), prepend=0, append=0)
    probabilities[-1] = LAW.sf(edges[-1])
    seen = np.bincount(np.searchsorted(edges, noise), minlength=len(probabilities))
    assert stats.chisquare(seen, probabilities * len(noise)).pvalue > 1e-7


def _differ(noise: Any) -> None:
    parts = {tuple(part) for part in np.split(noise, PARTITIONS)}
    assert len(parts) == PARTITIONS


def test_partitions_have_noise_of_their_own_and_keep_it(session: Any, tmp_path: Path) -> None:
    noisy = spark.add_noise(_counts(session), ["n", "empty"], LAW, path=tmp_path / "noisy")
    noise = _noise(noisy)
    _follows_the_law(noise)
    _differ(noise)
    assert (_noise(noisy) == noise).all()  # another action, the same files
    assert (_noise(session.read.parquet(str(tmp_path / "noisy"))) == noise).all()


def _dies_first(batches: Iterator[Any]) -> Iterator[Any]:
    """The first attempt of every task ends in its midst, by an error or with its process."""
    from pyspark import TaskContext

    context = TaskContext.get()
    for i, batch in enumerate(batches):
        if i == 1 and context.attemptNumber() == 0:
            if context.partitionId() % 2:
                os._exit(1)
            raise RuntimeError("killed")
        yield batch


def test_what_failed_attempts_drew_is_not_published(session: Any, tmp_path: Path) -> None:
    counts = _counts(session)
    dying = counts.mapInArrow(_dies_first, counts.schema)
    noise = _noise(spark.add_noise(dying, ["n", "empty"], LAW, path=tmp_path / "noisy"))
    _follows_the_law(noise)
    _differ(noise)


def test_the_budget_is_that_of_all_columns(session: Any, tmp_path: Path) -> None:
    frame = session.range(0, 2000, 1, 4).selectExpr("0 as a", "0 as b")
    table = spark.add_noise(frame, None, rho="1/100", path=tmp_path / "noisy").toArrow()
    # two cells: sigma2 = 2/(2/100) = 100
    noise = np.concatenate([table["a"].to_numpy(), table["b"].to_numpy()])
    assert noise.var() == pytest.approx(100, rel=0.15)


def test_refusals_come_before_any_task(session: Any, tmp_path: Path) -> None:
    frame = session.range(3).selectExpr("id", "'x' as s")
    with pytest.raises(TypeError, match=r"path must name where .* draws other noise each time"):
        spark.add_noise(frame, "id", LAW)
    with pytest.raises(ValueError, match="columns"):
        spark.add_noise(frame, "people", LAW, path=tmp_path / "a")
    with pytest.raises(TypeError, match="string"):
        spark.add_noise(frame, "s", LAW, path=tmp_path / "b")
    with pytest.raises(TypeError, match="source must be 'getrandom' or 'chacha20' here"):
        spark.add_noise(frame, "id", LAW, path=tmp_path / "c", source=lambda buffer: None)
    assert list(tmp_path.iterdir()) == []
