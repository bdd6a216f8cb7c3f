"""discretegauss.spark draws once for each cell and writes it once, whatever fails meanwhile."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import recorded_noise
from law_checks import gaussian_table, rejected
from programs import printed

import discretegauss as dg

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

from pyspark.errors import AnalysisException, PySparkException

spark = dg.spark

#: A warning about pandas 3, which Spark 4 does not know yet.
IGNORED = "ignore:PySpark does not yet fully support:FutureWarning"
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings(IGNORED)]

LAW = dg.DiscreteGaussian(100)
ROWS, PARTITIONS = 40_000, 16


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which workers record draws while it has a file named "on"."""
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="module")
def session(records: Path) -> Iterator[Any]:
    """Start four Python workers; a task may fail twice."""
    from pyspark.sql import SparkSession

    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    made = (
        SparkSession.builder.master("local[4,3]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.python.daemon.module", recorded_noise.__name__)
        .config(f"spark.executorEnv.{recorded_noise.FOLDER}", str(records))
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


def test_partitions_have_noise_of_their_own_and_keep_it(session: Any, tmp_path: Path) -> None:
    noisy = spark.add_noise(_counts(session), ["n", "empty"], LAW, path=tmp_path / "noisy")
    noise = _noise(noisy)
    assert rejected(noise.ravel(), gaussian_table(Fraction(100))) == []
    recorded_noise.not_twice(noise)
    assert (_noise(noisy) == noise).all()  # another action, the same files
    assert (_noise(session.read.parquet(str(tmp_path / "noisy"))) == noise).all()


def test_what_killed_attempts_drew_is_not_published(
    session: Any, records: Path, tmp_path: Path
) -> None:
    """Each first attempt draws, and then ends by an error or with its process."""
    (records / "on").touch()
    try:
        noise = _noise(spark.add_noise(_counts(session), "n", LAW, path=tmp_path / "noisy"))
    finally:
        (records / "on").unlink()
    assert rejected(noise.ravel(), gaussian_table(Fraction(100))) == []
    killed = [recorded_noise.read(records / f"{i}.0") for i in range(PARTITIONS)]
    assert [len(draws) for draws in killed] == [2000] * PARTITIONS
    recorded_noise.not_twice(noise, *killed)
    for i, part in enumerate(np.split(noise, PARTITIONS)):  # one later attempt drew it, once
        later = [recorded_noise.read(file) for file in records.glob(f"{i}.[1-9]")]
        assert [draws.tolist() for draws in later] == [part.tolist()]


def test_a_cached_frame_that_loses_its_blocks_reads_the_same_files(
    session: Any, tmp_path: Path
) -> None:
    """Lazy noise, cached in the same way, comes back with other values."""
    from pyspark import StorageLevel

    law = LAW

    def lazy(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield dg.add_noise(batch, law, columns="n")

    counts = _counts(session)
    written = spark.add_noise(counts, "n", law, path=tmp_path / "noisy")
    for frame, stays in ((written, True), (counts.mapInArrow(lazy, counts.schema), False)):
        frame.persist(StorageLevel.MEMORY_ONLY)
        before = _noise(frame)
        assert (_noise(frame) == before).all()
        persistent = session.sparkContext._jsc.getPersistentRDDs()
        assert len(persistent) == 1
        for blocks in persistent.values():
            blocks.unpersist(True)  # the frame stays cached, but its blocks are lost
        assert frame.is_cached
        assert (_noise(frame) == before).all() == stays
        frame.unpersist()


def test_what_draws_in_an_expression_is_wrong(session: Any) -> None:
    """The documentation's warnings are true."""
    from pyspark.sql.functions import udf

    draw = udf(lambda n, law=LAW: n + law.sample(), "bigint")
    zeros = session.range(0, 2000, 1, 4).selectExpr("id - id as n")
    for function in (draw, draw.asNondeterministic()):
        noisy = zeros.select(function("n").alias("n"))
        assert noisy.toArrow() != noisy.toArrow()  # **two noises**
    assert zeros.select(zeros.n + LAW.sample()).distinct().count() == 1  # **one draw for all**


def test_the_budget_is_that_of_all_columns(session: Any, tmp_path: Path) -> None:
    frame = session.range(0, 2000, 1, 4).selectExpr("0 as a", "0 as b")
    table = spark.add_noise(frame, None, rho="1/100", path=tmp_path / "noisy").toArrow()
    # two cells: sigma2 = 2/(2/100) = 100
    noise = np.concatenate([table["a"].to_numpy(), table["b"].to_numpy()])
    assert noise.var() == pytest.approx(100, rel=0.15)


def test_columns_may_have_any_name_and_be_floats(session: Any, tmp_path: Path) -> None:
    """Names may have dots and backticks, and columns may hold whole floats and nulls."""
    columns = ["a.b", "c`d", "s.t", "x"]
    frame = session.range(0, 2000, 1, 2).selectExpr(
        "id as `a.b`",
        "nullif(cast(id as double), 0) as `c``d`",
        "named_struct('u.v', id) as `s.t`",
        "id as x",
    )
    noisy = spark.add_noise(
        frame, ["a.b", "c`d"], LAW, path=tmp_path / "noisy", integral_floats=True
    )
    assert noisy.columns == columns
    table = noisy.toArrow().sort_by("x")
    assert table["x"].to_pylist() == list(range(2000))
    assert table["s.t"].to_pylist() == [{"u.v": i} for i in range(2000)]
    assert table["c`d"].to_pylist()[0] is None
    for name in ("a.b", "c`d"):
        noise = table[name].to_numpy()[1:] - np.arange(1, 2000)
        assert table.schema.field(name).type == "int64"
        assert 70 < noise.var() < 140
    with pytest.raises(PySparkException, match=r"one of them is not \(column 'a\.b'\)"):
        spark.add_noise(
            frame.selectExpr("`a.b` / 2 as `a.b`"),
            None,
            LAW,
            path=tmp_path / "a",
            integral_floats=True,
        )


def test_refusals_come_before_any_task(session: Any, tmp_path: Path) -> None:
    frame = session.range(3).selectExpr("id", "'x' as s")
    with pytest.raises(TypeError, match=r"path must name the folder .* draw new noise each time"):
        spark.add_noise(frame, "id", LAW)
    with pytest.raises(ValueError, match="columns"):
        spark.add_noise(frame, "people", LAW, path=tmp_path / "a")
    with pytest.raises(TypeError, match="string"):
        spark.add_noise(frame, "s", LAW, path=tmp_path / "b")
    with pytest.raises(TypeError, match="source must be 'getrandom' or 'chacha20' here"):
        spark.add_noise(frame, "id", LAW, path=tmp_path / "c", source=lambda buffer: None)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_refused(session: Any, tmp_path: Path) -> None:
    """So is one that a driver left half written, because the new noise would be a second."""
    half = tmp_path / "half"
    left = half / "_temporary" / "0" / "part-00000.parquet"
    left.parent.mkdir(parents=True)
    left.touch()
    with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
        spark.add_noise(session.range(3), "id", LAW, path=half)
    assert [path for path in half.rglob("*") if path.is_file()] == [left]


def test_a_refused_count_is_in_no_message(session: Any, tmp_path: Path) -> None:
    """A partition fails as often as it may, and only Spark's empty folders are published."""
    frame = session.range(0, 4000, 1, 4).selectExpr("9223372036854771807 + id as id")
    with pytest.raises(PySparkException, match="must fit int64") as raised:
        spark.add_noise(frame, "id", LAW, path=tmp_path / "noisy")
    assert "922337203685477" not in str(raised.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


CONNECT = """
import sys
from pyspark.sql import SparkSession
import discretegauss as dg

session = SparkSession.builder.remote("local[2]").getOrCreate()
counts = session.range(0, 2000, 1, 2).selectExpr("id as `a.b`", "id")
path = sys.argv[1]
noisy = dg.spark.add_noise(counts, "a.b", dg.DiscreteGaussian(100), path=path)
rows = sorted(noisy.collect(), key=lambda row: row["id"])
assert [row["id"] for row in rows] == list(range(2000))
assert 70 < sum((row[0] - row[1]) ** 2 for row in rows) / 2000 < 140
assert noisy.collect() == noisy.collect()
try:
    dg.spark.add_noise(counts, "a.b", dg.DiscreteGaussian(100), path=path)
except Exception as error:
    print(type(error).__module__, error)
"""


def test_spark_connect(tmp_path: Path) -> None:
    """Spark Connect works, in its own process, because a process has one kind of session."""
    pytest.importorskip("grpc")
    env = os.environ | {"PYSPARK_PYTHON": sys.executable}
    said = printed(sys.executable, "-c", CONNECT, tmp_path / "noisy", env=env)
    assert "pyspark.errors" in said
    assert "PATH_ALREADY_EXISTS" in said
