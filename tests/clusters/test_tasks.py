"""The noise of a cluster's tasks, without a cluster: its law, its source, and what they write."""

from __future__ import annotations

import io
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_noise import not_twice
from same_bits import same_bits

import discretegauss as dg
from discretegauss import dask, spark
from discretegauss.data.addition import AddOptions
from discretegauss.data.tasks import TaskNoise, noise_of_tasks, result_path

EMPTY = np.empty((0, 3), np.uint16)
NONE = dg.DiscreteGaussian("1/1000")
"""A draw is not 0 with a probability of some exp(-500)."""


@pytest.mark.parametrize("source", ["getrandom", "chacha20"])
def test_a_named_source_travels_and_each_task_has_bits_of_its_own(source: Any) -> None:
    noise, result = noise_of_tasks(EMPTY, dg.DiscreteGaussian(100), source=source)
    assert result.shape == (0, 3)
    assert result.dtype == np.int64
    tasks: list[TaskNoise] = [pickle.loads(pickle.dumps(noise)) for _ in range(2)]
    assert all(task == noise and task.how.source == source for task in tasks)
    not_twice(*(task.added_to(np.zeros((40, 3), np.uint16)).ravel() for task in tasks))


@pytest.mark.parametrize("source", [same_bits(), np.random.default_rng(1), None, b"bits"])
def test_any_other_source_is_refused(source: Any) -> None:
    """Each task would read a copy of it, and so the same bits."""
    with pytest.raises(TypeError, match="source must be"):
        noise_of_tasks(EMPTY, NONE, source=source)


def test_the_budget_counts_all_that_one_person_changes() -> None:
    """Several at once: rows, columns and sensitivity, as in memory."""
    how: dict[str, Any] = {"rho": "1/10", "sensitivity": 2, "rows_per_person": 5}
    of_all = dg.noise_for(np.zeros((9, 3), np.uint16), **how)
    assert noise_of_tasks(EMPTY, None, **how)[0].law == of_all == dg.DiscreteGaussian(300)
    pd = pytest.importorskip("pandas")
    template = pd.DataFrame(EMPTY, columns=list("abc"))
    for disjoint, sigma2 in ((False, 300), (True, 100)):
        noise, result = noise_of_tasks(template, None, disjoint=disjoint, **how)
        assert noise.law == dg.DiscreteGaussian(sigma2)
        assert [*map(str, result.dtypes)] == ["int64"] * 3
    noise, _ = noise_of_tasks(EMPTY, None, epsilon=1, delta="1e-6", rows_per_person=2)
    assert noise.law == dg.DiscreteLaplace(6)  # a Gaussian with a deviation of 10.3 would do, too


@pytest.mark.parametrize("n_rows", [3, 5])
def test_a_block_becomes_a_chunk_of_zarr(n_rows: int) -> None:
    """It is filled up to the chunk, in C order, little-endian; each number has its noise."""
    values = np.asfortranarray(np.arange(2 * n_rows, dtype=">i4").reshape(n_rows, 2))
    draw = partial(dask._noisy_block, chunk=(5, 2))
    written = np.frombuffer(draw(values, noise=TaskNoise(NONE, AddOptions())), "<i8").reshape(5, 2)
    assert written[:n_rows].tolist() == values.tolist()
    assert not written[n_rows:].any()
    noisy = np.frombuffer(
        draw(values, noise=TaskNoise(dg.DiscreteGaussian(10**15), AddOptions())), "<i8"
    )
    assert len(set(noisy[: 2 * n_rows].tolist())) == 2 * n_rows
    wrapped = draw(values, noise=TaskNoise(NONE, AddOptions(modulus=2**64)))
    assert np.frombuffer(wrapped, "<u8")[: 2 * n_rows].tolist() == values.ravel().tolist()
    with pytest.raises(TypeError, match="numpy arrays as blocks, got MaskedArray"):
        draw(np.ma.MaskedArray(values), noise=TaskNoise(NONE, AddOptions()))


def test_an_attempt_writes_once(tmp_path: Path) -> None:
    """A repeated task keeps what the first wrote, and clears away what killed ones left."""
    file, draws = tmp_path / "0" / "noisy", iter([b"first", b"second"])
    file.parent.mkdir()
    (file.parent / "left.by.a.killed.attempt").write_bytes(b"x")
    for _ in range(2):
        dask._attempt(None, file, draw=lambda _block: memoryview(next(draws)))
        assert file.read_bytes() == b"first"
    assert [path.name for path in file.parent.iterdir()] == ["noisy"]
    assert next(draws) == b"second"


def test_a_partition_becomes_parquet_with_one_type_for_all() -> None:
    """A column of whole floats is Int64 with or without nulls; UInt64 for a modulus of 2**64."""
    pd, pq = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    columns = {"town": ["a", "b"], "n": [5, 7], "people": [3.0, 2.0]}
    frames = [pd.DataFrame(columns | {"people": [3.0, last]}, index=[8, 9]) for last in (2.0, None)]
    for modulus, kind in ((None, "int64"), (2**64, "uint64")):
        noise = TaskNoise(NONE, AddOptions(floats=True, modulus=modulus))
        draw = partial(dask._noisy_partition, noise=noise, columns=["n", "people"])
        for frame, last in zip(frames, (2, None), strict=True):
            read = pq.read_table(io.BytesIO(draw(frame, floats=["people"])))
            assert read.column("n").to_pylist() == [5, 7]
            assert read.column("people").to_pylist() == [3, last]
            assert str(read.schema.field("people").type) == kind
            assert read.column("town").to_pylist() == ["a", "b"]
            assert read.to_pandas().index.tolist() == [8, 9]


def test_batches_of_spark_get_noise_and_their_labels() -> None:
    """Each batch has draws of its own, in the columns that are named; nulls stay null."""
    pa = pytest.importorskip("pyarrow")
    columns = {"column0": [*range(50)], "column1": [*range(49), None], "column2": [0] * 50}
    batches = [pa.RecordBatch.from_pydict(columns)] * 2
    noise = TaskNoise(dg.DiscreteGaussian(100), AddOptions())
    found = list(spark._noisy_batches(iter(batches), noise, ["n", "m.x"], ["id", "n", "m.x"]))
    assert [batch.schema.names for batch in found] == [["id", "n", "m.x"]] * 2
    assert all(batch.column("id").to_pylist() == columns["column0"] for batch in found)
    draws = [np.array(batch.column("m.x").to_pylist()) for batch in found]
    for batch in found:
        *counts, last = batch.column("n").to_pylist()
        assert last is None
        draws.append(np.array(counts) - np.arange(49))
    not_twice(*draws)


def test_a_result_needs_a_path() -> None:
    with pytest.raises(TypeError, match="path must name the folder of the result, because Dask"):
        result_path(None, "Dask")
    assert result_path(Path("noisy"), "Dask") == "noisy"
