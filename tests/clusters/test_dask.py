"""discretegauss.dask draws once for each cell and writes it once, whatever fails meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import recorded_noise
from law_checks import gaussian_table, rejected

import discretegauss as dg

pytest.importorskip("distributed")
pytest.importorskip("zarr")
pd = pytest.importorskip("pandas")

dask = pytest.importorskip("dask")
pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")
#: A warning that becomes an error would stop the thread of this process that restarts workers.
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]
dg_dask = dg.dask

LAW = dg.DiscreteGaussian(100)
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1000,
    "distributed.scheduler.no-workers-timeout": "10 minutes",  # not for ever
    # so that a worker that is away, or has died again, is still started again
    "distributed.deploy.lost-worker-timeout": "1 day",
}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Any]:
    """Start two workers, each with its own process."""
    from distributed import Client, LocalCluster

    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
        ) as made,
        Client(made) as client,
    ):
        yield client


def test_equal_blocks_have_noise_of_their_own_and_keep_it(tmp_path: Path) -> None:
    zeros = dask.array.zeros((400, 100), chunks=(50, 100), dtype=np.int64)
    noisy = dg_dask.add_noise(zeros, LAW, path=tmp_path / "noisy")
    noise = noisy.compute()
    assert rejected(noise.ravel(), gaussian_table(Fraction(100))) == []
    recorded_noise.not_twice(noise.ravel())
    assert (noisy.compute() == noise).all()
    again = dg_dask.add_noise(zeros, LAW, path=tmp_path / "again").compute()
    assert (again != noise).any()


def test_frames_keep_rows_index_and_nulls(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"n": pd.array([None, *range(999)], "Int64"), "name": ["x"] * 1000},
        index=np.arange(1000) + 5,
    )
    frame = dask.dataframe.from_pandas(table, npartitions=10)
    noisy = dg_dask.add_noise(frame, LAW, columns="n", path=tmp_path / "noisy")
    found = noisy.compute()
    assert found.index.tolist() == table.index.tolist()
    assert found["name"].tolist() == table["name"].tolist()
    assert found["n"].isna().tolist() == table["n"].isna().tolist()
    assert noisy["n"].sum().compute() == noisy["n"].sum().compute()
    noise = (found["n"] - table["n"]).dropna().to_numpy(np.int64)
    assert 70 < noise.var() < 140


def test_a_block_is_drawn_once_however_many_workers_die(cluster: Any, tmp_path: Path) -> None:
    """Each death causes one more draw, and no file has the noise that a dead worker drew.

    Two workers die for each block: one while it is drawn, one at the next attempt as it is written.
    """
    records = tmp_path / "records"
    records.mkdir()
    (records / "on").touch()
    cluster.register_plugin(_plugin(records), name="records")
    numbers = np.repeat(np.arange(4), 100)[:, np.newaxis] * 1000 + np.zeros(100, np.int64)
    blocks = dask.array.from_array(numbers, chunks=(100, 100))
    try:
        noise = dg_dask.add_noise(blocks, LAW, path=tmp_path / "noisy").compute() - numbers
    finally:
        (records / "on").unlink()
    assert rejected(noise.ravel(), gaussian_table(Fraction(100))) == []
    killed = [recorded_noise.read(records / f"{1000 * i}.killed") for i in range(4)]
    assert [len(draws) for draws in killed] == [100 * 100] * 4
    recorded_noise.not_twice(noise.ravel(), *killed)
    for i, part in enumerate(np.split(noise, 4)):
        drawn = {file.suffix: file for file in records.glob(f"{1000 * i}.*")}
        del drawn[".killed"], drawn[".placed"]
        (later,) = drawn.values()
        assert part.tobytes() == later.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["noisy", "records"]


def test_an_attempt_leaves_one_file_and_draws_only_if_there_is_none(tmp_path: Path) -> None:
    """If files have names from the start, as on NFS, a killed worker leaves one."""
    file = tmp_path / "0" / "noisy"
    file.parent.mkdir()
    (file.parent / "left").write_text("noise")
    dg_dask._attempt(None, file, draw=lambda _: memoryview(b"first"))

    def other_attempt_first(_: Any) -> memoryview:
        dg_dask._attempt(None, other, draw=lambda _: memoryview(b"first"))
        return memoryview(b"second")

    other = tmp_path / "1" / "noisy"
    dg_dask._attempt(None, other, draw=other_attempt_first)
    dg_dask._attempt(None, other, draw=lambda _: pytest.fail("drawn again"))
    for kept in (file, other):
        assert [(path, path.read_text()) for path in kept.parent.iterdir()] == [(kept, "first")]


def test_a_cluster_that_loses_its_last_worker_is_not_waited_for(tmp_path: Path) -> None:
    """The only worker ends at the first block, and nothing starts another."""
    from distributed import Client, LocalCluster

    def end(block: Any) -> Any:
        os._exit(1)

    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": None}),
        LocalCluster(n_workers=0, dashboard_address=":0", host="127.0.0.1") as one,
        Client(one) as client,
    ):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", one.scheduler_address]
        with subprocess.Popen([*command, "--no-nanny", "--no-dashboard"]):
            client.wait_for_workers(1)
            zeros = dask.array.zeros(10, chunks=5, dtype=np.int64)
            blocks = zeros.map_blocks(end, meta=zeros._meta)  # so that Dask does not call it here
            with (
                dask.config.set({"distributed.scheduler.no-workers-timeout": "1s"}),
                pytest.raises(TimeoutError, match="has no worker left; nothing is published"),
            ):
                dg_dask.add_noise(blocks, LAW, path=tmp_path / "noisy")
    assert list(tmp_path.iterdir()) == []


def _plugin(folder: Path) -> Any:
    from distributed import WorkerPlugin

    return type("Plugin", (recorded_noise.Recording, WorkerPlugin), {})(folder)


def _kill_all_workers(cluster: Any) -> None:
    """Kill all workers and wait for others; `restart_workers` may hang on one that just starts."""
    killed = cluster.run(os.getpid)
    for pid in killed.values():
        os.kill(pid, signal.SIGKILL)
    while killed.keys() & cluster.scheduler_info(n_workers=-1)["workers"].keys():
        time.sleep(0.1)
    cluster.wait_for_workers(2, timeout=600)


def test_what_a_lost_worker_held_is_read_again(cluster: Any, tmp_path: Path) -> None:
    """Lazy noise that was persisted comes back with other values."""
    from distributed import wait

    zeros = dask.array.zeros((40, 100), chunks=(10, 100), dtype=np.int64)
    written = dg_dask.add_noise(zeros, LAW, path=tmp_path / "noisy")
    for array, stays in ((written, True), (zeros.map_blocks(dg.add_noise, LAW), False)):
        kept = array.persist()
        wait(kept)
        before = kept.compute()
        assert (kept.compute() == before).all()
        _kill_all_workers(cluster)
        assert (kept.compute() == before).all() == stays


def test_one_person_cannot_change_more_rows_than_an_array_has(tmp_path: Path) -> None:
    """A frame's number of rows is not known before its tasks run, so it is not checked."""
    zeros = dask.array.zeros((2, 3), chunks=(1, 3), dtype=np.int64)
    with pytest.raises(ValueError, match=r"at most 2, .*did you mean sensitivity=3\?"):
        dg_dask.add_noise(zeros, rho=1, rows_per_person=3, path=tmp_path / "noisy")
    assert os.listdir(tmp_path) == []


def test_equal_calls_are_drawn_each_time_if_dask_is_told_so(cluster: Any) -> None:
    """The documentation's warning is true, and so is its advice."""

    def around(block: Any, law: dg.Law) -> Any:
        return dg.add_noise(block, law)

    def closure(block: Any) -> Any:
        return around(block, LAW)

    def different(futures: Any) -> int:
        return len({tuple(draws.tolist()) for draws in cluster.gather(futures)})

    assert different([cluster.submit(LAW.sample, 20) for _ in range(2)]) == 2
    assert different(cluster.map(LAW.sample, [20] * 4, pure=False)) == 4
    assert different(cluster.map(LAW.sample, [20] * 4)) == 1  # **equal noise**
    a, b = (dask.array.from_array(np.arange(400), chunks=100) for _ in range(2))
    one, other = dask.compute(a.map_blocks(around, LAW), b.map_blocks(around, LAW))
    assert (one != other).any()
    one, other = dask.compute(*(x.map_blocks(closure, dtype=np.int64) for x in (a, b)))
    assert (one == other).all()  # **equal noise**


def test_refusals_leave_nothing(tmp_path: Path) -> None:
    zeros = dask.array.zeros(10, chunks=5, dtype=np.int64)
    with pytest.raises(TypeError, match=r"path must name the folder .* draw new noise each time"):
        dg_dask.add_noise(zeros, LAW)
    with pytest.raises(TypeError, match="source must be 'getrandom' or 'chacha20' here"):
        dg_dask.add_noise(zeros, LAW, path=tmp_path / "a", source=lambda buffer: None)
    with pytest.raises(TypeError, match="float64"):
        dg_dask.add_noise(zeros.astype(float), LAW, path=tmp_path / "a")
    dg_dask.add_noise(zeros, LAW, path=tmp_path / "kept")
    with pytest.raises(dg.errors.OutputError, match="path must not exist yet"):
        dg_dask.add_noise(zeros, LAW, path=tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def _cases() -> dict[str, tuple[Any, str]]:
    n = [*range(6)]
    twice = pd.DataFrame([n, n], columns=[*"abcdee"])
    named_as_index = pd.DataFrame({"a": n, "b": n}, pd.Index(n, name="a"))
    categories = pd.DataFrame({"a": n}, pd.CategoricalIndex([*"abcdef"]))
    label = "strings as labels of columns, because Parquet requires them, got"

    def table(column: object, values: object = n) -> Any:
        return pd.DataFrame({"a": n, column: values})

    return {
        "numbers": (pd.DataFrame({0: n, 1: n}), f"{label} 0"),
        "times": (table(pd.Timestamp("2020")), f"{label} .* type Timestamp"),
        "tuples": (pd.DataFrame({("a", "b"): n, ("a", "c"): n}), f"{label} .* type tuple"),
        "none": (table(None), f"{label} (nan|None)"),
        "twice": (twice, "different label for each column, got 'e' twi"),
        "index's": (named_as_index, "no column with the name of .* got 'a'"),
        "intervals": (table("b", pd.cut(n, 3)), "but column 'b' has type category: cast it"),
        "complex": (table("b", np.zeros(6, complex)), "but column 'b' has type complex128"),
        # Dask makes this an index
        "Dask's": (table("__null_dask_index__"), "'__null_dask_.* has type int64: .* rename it"),
        "category": (categories, r"index .* type is category: frame\.reset_in"),
    }


@pytest.mark.parametrize("name", [*_cases()])
def test_a_frame_that_would_not_come_back_is_refused_before_a_task_runs(
    name: str, tmp_path: Path
) -> None:
    """Otherwise it would fail, or have other labels, after its noise is published."""
    table, words = _cases()[name]

    def ran(part: Any) -> Any:
        (tmp_path / "ran").touch()
        return part

    frame = dask.dataframe.from_pandas(table, npartitions=1).map_partitions(ran, meta=table[:0])
    column = None if name in ("numbers", "tuples") else "a"
    with pytest.raises((TypeError, ValueError), match=words):
        dg_dask.add_noise(frame, LAW, columns=column, path=tmp_path / "noisy")
    assert list(tmp_path.iterdir()) == []


def test_what_parquet_gives_back_is_taken(tmp_path: Path) -> None:
    """The dry run refuses none of these, even if Dask has no made-up cells."""
    n = [*range(6)]
    table = pd.DataFrame(
        {
            "a.b": n,
            "intervals": pd.arrays.IntervalArray.from_breaks(range(7)),
            "categories": pd.Categorical([*"xyxyxy"]),
            "days": pd.period_range("2020", periods=6, freq="D"),
            "times": pd.date_range("2020", periods=6, tz="UTC"),
            "objects": pd.Series([*"xyz", None, *"xy"], dtype=object).to_numpy(),
        },
        index=pd.date_range("2020", periods=6),
    )
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dask.dataframe.from_pandas(table, npartitions=2)
        found = dg_dask.add_noise(frame, LAW, columns="a.b", path=tmp_path / "noisy").compute()
    table["objects"] = table["objects"].astype(found["objects"].dtype)
    for name in table.columns[1:]:
        assert found[name].astype(str).tolist() == table[name].astype(str).tolist()
    assert found.index.tolist() == table.index.tolist()


@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]"])
@pytest.mark.parametrize("modulus", [None, 2**64])
def test_whole_numbers_in_floats_get_noise(dtype: str, modulus: Any, tmp_path: Path) -> None:
    """NaN is a null, in one partition of two, as for `add_noise`."""
    table = pd.DataFrame({"n": pd.Series([*range(1999), None], dtype=dtype)})
    frame = dask.dataframe.from_pandas(table, npartitions=2)
    noisy = dg_dask.add_noise(
        frame, LAW, integral_floats=True, modulus=modulus, path=tmp_path / "noisy"
    ).compute()["n"]
    assert noisy.isna().tolist() == [False] * 1999 + [True]
    noise = np.array([int(x) - i for i, x in enumerate(noisy[:1999])], object)
    noise = np.where(noise > 2**63, noise - 2**64, noise).astype(float)
    assert 70 < noise.var() < 140
    ones = dask.array.ones((100, 20), chunks=50)
    block = dg_dask.add_noise(ones, rho="1/4000", integral_floats=True, path=tmp_path / "array")
    assert block.dtype == np.int64


def test_a_refused_block_leaves_nothing_and_is_in_no_message(tmp_path: Path) -> None:
    """No message has its counts, or cells of other columns, which Arrow's own messages show.

    Folders that were made for `path` are removed.
    """
    counts = dask.array.from_array(np.array([0, 0, 2**63 - 12, 0]), chunks=2)
    with pytest.raises(OverflowError, match="must fit int64") as overflow:
        dg_dask.add_noise(counts, LAW, path=tmp_path / "new" / "er" / "noisy")
    assert str(2**63 - 12)[:15] not in str(overflow.value)
    with dask.config.set({"dataframe.convert-string": False}):
        table = pd.DataFrame({"n": [1, 2], "mixed": pd.Series([1, "secret"], dtype=object)})
        frame = dask.dataframe.from_pandas(table, npartitions=1)
        with pytest.raises(TypeError, match="values must have columns that Arrow") as mixed:
            dg_dask.add_noise(frame, LAW, columns="n", path=tmp_path / "noisy")
    error: BaseException | None = mixed.value
    while error is not None:
        assert "secret" not in str(error)
        error = error.__cause__ or error.__context__
    assert list(tmp_path.iterdir()) == []


def test_an_empty_or_half_written_folder_is_refused(tmp_path: Path) -> None:
    zeros = dask.array.zeros(10, chunks=5, dtype=np.int64)
    half = tmp_path / "half"
    half.mkdir()
    with pytest.raises(dg.errors.OutputError, match="path must not exist yet"):
        dg_dask.add_noise(zeros, LAW, path=half)
    assert list(tmp_path.rglob("*")) == [half]
