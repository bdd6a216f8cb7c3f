"""Noise on Spark and Dask beside the same jobs that add 1 instead.

    python benchmarks/clusters.py                # 10**7 rows, 10**9 cells; some ten minutes, 16 GB
    python benchmarks/clusters.py --only spark --rounds 5

Needs the extras spark and dask, distributed and, for Spark, Java. Both jobs of a case compute,
write and kill alike. A ratio is the median over interleaved rounds, of the clock and of processor
time; that is of all processes together, and other programs disturb it less. In the cases "killed"
the first attempt of every task ends when all its work is done but not yet reported: on Spark by an
error or with its process, on Dask with its worker. Target: at most 1.3 times.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import numpy as np

import discretegauss as dg
import options
from bench import machine

LAW = dg.DiscreteGaussian(100)
PARTITIONS = 16
AT_MOST = 1.3

Job = Callable[[str], Any]
"""Writes to a folder that is not there yet."""


@dataclass(frozen=True)
class Row:
    """One case: the job with noise, the job that adds 1, the same cells in one process."""

    case: str
    cells: int
    seconds: float
    seconds_adding_1: float
    ratio: float
    ratios: list[float]
    processor_ratio: float
    processor_ratios: list[float]
    drawn: list[int]
    """In how many attempts blocks got noise, in each round; 0 where that is not counted."""
    drawn_adding_1: list[int]


def processor_seconds() -> float:
    """Of this process and all below it, those that ended included."""
    import psutil

    here = psutil.Process()
    found = 0.0
    for process in (here, *here.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            found += times.user + times.system + times.children_user + times.children_system
    return found


def compare(
    case: str, cells: int, folder: Path, noise: Job, one: Job, *, rounds: int, marks: Path
) -> Row:
    """Interleaved rounds, each beginning with the other one; one round before is not counted."""

    def timed(job: Job) -> tuple[float, float, int]:
        output = folder / "out"
        shutil.rmtree(output, ignore_errors=True)
        for mark in marks.iterdir():
            mark.unlink()
        start, processor_start = time.perf_counter(), processor_seconds()
        job(str(output))
        seconds = time.perf_counter() - start, processor_seconds() - processor_start
        shutil.rmtree(output)
        return *seconds, len(list(marks.glob("*.*")))

    found = []
    for i in range(rounds + 1):
        if i % 2:
            ours = timed(noise)
            theirs = timed(one)
        else:
            theirs = timed(one)
            ours = timed(noise)
        print(
            f"  {case}: {ours[0]:.1f} s, adding 1 {theirs[0]:.1f} s; "
            f"of processors {ours[1]:.1f} s and {theirs[1]:.1f} s; "
            f"attempts {ours[2]} and {theirs[2]}",
            file=sys.stderr,
            flush=True,
        )
        if i:
            found.append((ours, theirs))
    ratios, processor_ratios = (
        [ours[kind] / theirs[kind] for ours, theirs in found] for kind in (0, 1)
    )
    return Row(
        case=case,
        cells=cells,
        seconds=statistics.median(ours[0] for ours, _ in found),
        seconds_adding_1=statistics.median(theirs[0] for _, theirs in found),
        ratio=statistics.median(ratios),
        ratios=ratios,
        processor_ratio=statistics.median(processor_ratios),
        processor_ratios=processor_ratios,
        drawn=[ours[2] for ours, _ in found],
        drawn_adding_1=[theirs[2] for _, theirs in found],
    )


# --- Spark


@contextmanager
def spark_session() -> Iterator[Any]:
    """As many tasks at once as there are cores; a task may fail once."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local[{os.cpu_count()},2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.parquet.compression.codec", "uncompressed")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def _dies_at_the_end(batches: Iterator[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    yield from batches
    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0:
        if context.partitionId() % 2:
            os._exit(1)
        raise RuntimeError("killed")


def _one_more_in_batches(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        yield pa.RecordBatch.from_arrays(
            [batch.column(0), pc.add(batch.column(1), 1)], names=["id", "n"]
        )


def spark_rows(rows: int, rounds: int, folder: Path, marks: Path) -> Iterator[Row]:
    """Frames of an id and a count."""
    with spark_session() as session:
        counts = session.range(0, rows, 1, PARTITIONS).selectExpr("id", "id % 5000 as n")
        for how in ("", ", killed"):
            frame = counts.mapInArrow(_dies_at_the_end, counts.schema) if how else counts

            def noise(path: str, frame: Any = frame) -> None:
                dg.spark.add_noise(frame, "n", LAW, path=path)

            def one(path: str, frame: Any = frame) -> None:
                frame.mapInArrow(_one_more_in_batches, frame.schema).write.parquet(path)

            case = f"Spark, {PARTITIONS} partitions{how}"
            yield compare(case, rows, folder, noise, one, rounds=rounds, marks=marks)


# --- Dask


def _die_once(marks: str, block: Any) -> None:
    """Count this attempt; end this worker, if no other did on this block."""
    first = int(block.flat[0])
    Path(marks, f"{first}.{uuid4().hex}").touch()
    try:
        Path(marks, str(first)).touch(exist_ok=False)
    except FileExistsError:
        return
    os._exit(1)


def _one_more(block: Any, marks: str | None) -> Any:
    more = block + 1
    if marks:
        _die_once(marks, block)
    return more


def _noise_that_kills(block: Any, *arguments: Any, marks: str, **options: Any) -> Any:
    noisy = dg.add_noise(block, *arguments, **options)
    _die_once(marks, block)
    return noisy


@contextmanager
def dask_cluster(marks: Path) -> Iterator[None]:
    """A worker for each core, which dies when it is the first to have the noise of a block."""
    import dask
    from distributed import Client, LocalCluster, WorkerPlugin

    class Killing(WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            module: Any = importlib.import_module("discretegauss.dask")
            module.add_noise_here = partial(_noise_that_kills, marks=str(marks))

    settings = {
        "distributed.scheduler.allowed-failures": 1000,
        "distributed.scheduler.no-workers-timeout": "5 minutes",
        # else a worker that is away 15 s after a death, as it died again, is not started any more
        "distributed.deploy.lost-worker-timeout": "1 day",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            threads_per_worker=1,
            n_workers=os.cpu_count(),
            dashboard_address=None,
            host="127.0.0.1",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(Killing())
        yield


def dask_rows(cells: int, rounds: int, folder: Path, marks: Path) -> Iterator[Row]:
    """Arrays in blocks of Dask's own choice, 128 MiB."""
    import dask.array

    counts = dask.array.arange(cells, dtype=np.int64)

    def noise(path: str, source: Literal["chacha20", "getrandom"] = "chacha20") -> None:
        dg.dask.add_noise(counts, LAW, path=path, source=source)

    def one(path: str, marks: str | None = None) -> None:
        more = counts.map_blocks(_one_more, marks=marks, dtype=np.int64)
        dask.array.to_zarr(more, path, compressors=None)

    case = f"Dask, {counts.npartitions} blocks"
    yield compare(f"{case}, threads", cells, folder, noise, one, rounds=rounds, marks=marks)
    getrandom = partial(noise, source="getrandom")
    yield compare(f"{case}, getrandom", cells, folder, getrandom, one, rounds=rounds, marks=marks)
    with dask_cluster(marks):
        dying = partial(one, marks=str(marks))
        yield compare(f"{case}, killed", cells, folder, noise, dying, rounds=rounds, marks=marks)


# --- one process


def single_process(rounds: int, cells: int = 10**7) -> float:
    """Cells a second of `add_noise`, one thread, nothing written."""
    counts = np.arange(cells)
    dg.add_noise(counts, LAW)
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        dg.add_noise(counts, LAW)
        seconds.append(time.perf_counter() - start)
    return cells / statistics.median(seconds)


def text(rows: list[Row], rate: float) -> str:
    """The table for people."""
    head = f"{'case':34} {'cells/s':>9} {'of one process':>14} {'times adding 1':>14} "
    head += f"{'of processors':>13}  verdict"
    lines = [head, "-" * len(head)]
    for row in rows:
        per_second = row.cells / row.seconds
        lines.append(
            f"{row.case:34} {per_second:9.2e} {per_second / rate:14.3f} {row.ratio:14.2f} "
            f"{row.processor_ratio:13.2f}  "
            f"{'met' if row.ratio <= AT_MOST else 'NOT MET'}"
        )
    return "\n".join([*lines, f"one process, nothing written: {rate:.2e} cells/s"])


CASES = {"spark": spark_rows, "dask": dask_rows}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=options.positive_int, default=10**7, help="on Spark")
    parser.add_argument("--cells", type=options.positive_int, default=10**9, help="on Dask")
    parser.add_argument("--rounds", type=options.positive_int, default=3)
    parser.add_argument("--only", action="append", choices=list(CASES), help="only these cases")
    parser.add_argument("--json", type=options.json_file, help="write the figures to a file, too")
    arguments = parser.parse_args()
    sizes = {"spark": arguments.rows, "dask": arguments.cells}
    print(f"{machine.cpu_model()}; {machine.load_now()}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        marks = Path(name, "marks")
        marks.mkdir()
        for case in arguments.only or CASES:
            rows += CASES[case](sizes[case], arguments.rounds, Path(name), marks)
    rate = single_process(max(5, arguments.rounds))
    print(text(rows, rate))
    if arguments.json:
        found = {"machine": machine.describe(), "rate": rate, "rows": [asdict(row) for row in rows]}
        arguments.json.write_text(json.dumps(found, indent=1, default=str), encoding="utf-8")


if __name__ == "__main__":
    main()
