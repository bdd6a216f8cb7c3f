"""Noise on frames and arrays of Dask, drawn where the blocks are, and written once.

Needs Dask, and pyarrow for frames or zarr for arrays (the extra ``dask``); workers need no zarr.
They are imported by the first call.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from math import isnan
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final, Unpack
from uuid import uuid4

import numpy as np

from ._inputs.messages import describe, if_loaded, refused
from ._inputs.privacy_arguments import require_rows
from ._system.atomic_file import atomic_write
from ._system.folders import folder_made
from .data.cells import refuse_type
from .data.entry import AskedAnywhere
from .data.frame_columns import places
from .data.tasks import TaskNoise, noise_of_tasks, result_path
from .errors import OutputError, ParameterTypeError, ParameterValueError
from .laws import Law

__all__ = ["add_noise"]

_NO_WORKER_SECONDS: Final = 300
"""For how long a cluster that has lost its last worker is given to get another."""


def add_noise(
    values: Any,
    law: Law | None = None,
    *,
    columns: str | list[Any] | None = None,
    path: str | PathLike[str] | None = None,
    **asked: Unpack[AskedAnywhere],
) -> Any:
    """Write a frame or array of Dask with noise, exactly; return the one that reads the files.

    One task draws for a block and writes it. A task that is tried again draws anew, unless the file
    of its block is there: the first file that is whole stays. What is returned reads files, so that
    it never changes.

    Parameters
    ----------
    values : dask.dataframe.DataFrame or dask.array.Array
        A frame of pandas' partitions, or an array of numpy's blocks of known sizes. Labels of a
        frame's columns are strings, each its own and none the index's name, and Dask reads all
        columns and the index from Parquet: no categories of intervals, say.
    law : DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian, optional
        The noise. Either this or a budget is given.
    columns : str or list, optional
        Of a frame: which columns get noise. None: all. The others are written as they are.
    path : str or path-like
        The folder that is made, on a file system that the driver and all workers see by that name.
        Nothing may be there yet.
    rho, epsilon, delta, sensitivity, rows_per_person, disjoint
        The budget of all values together, and what one person changes in them: as for
        `discretegauss.add_noise`.
    overflow, modulus, integral_floats, method
        As for `discretegauss.add_noise`.
    source : "getrandom" or "chacha20", optional
        Where each worker takes its bits from.

    Returns
    -------
    dask.dataframe.DataFrame or dask.array.Array
        A frame that reads Parquet, with a file for each partition, and its index; its divisions are
        not known. Or an array that reads zarr, of the same shape; its blocks are all of one size,
        that of the largest (the last of an axis may be shorter).

    Raises
    ------
    TypeError, ValueError, OverflowError
        Before any task runs: as `discretegauss.add_noise`; if there is no path. From a task, if the
        counts of a block are refused. Nothing is published then.
    OutputError
        If something is at `path`.
    OSError
        If the files cannot be written.
    TimeoutError
        If a cluster has lost its last worker, and has got no other for as long as Dask's setting
        ``distributed.scheduler.no-workers-timeout`` says here, or for five minutes.
    ImportError
        If Dask, pyarrow (frames) or zarr (arrays) is not installed.

    Notes
    -----
    Meanwhile the files are in a hidden folder beside `path`, ``.NAME.`` and 32 digits, which is
    removed at the end. After Ctrl-C and errors it goes, too, with the folders that were made on the
    way to `path`. Tasks that still run then find no folder to write to. If the driver is killed,
    end the workers and delete that folder: together with the noise of the next call it is a second
    release.

    References
    ----------
    arXiv:2004.00010, Theorem 14: the rho of several values, each with noise of its own.

    Examples
    --------
    ::

        counts = dask.dataframe.read_parquet("counts.parquet")
        noisy = discretegauss.dask.add_noise(counts, rho="0.1", columns="n", path="noisy.parquet")
    """
    folder = result_path(path, "Dask")
    if "://" in folder:
        raise refused("path", "be a folder of a file system that all workers see", folder)
    if isinstance(values, if_loaded("dask.dataframe", "DataFrame")):
        return _frame(values, columns, law, asked, Path(folder))
    if not isinstance(values, if_loaded("dask.array", "Array")):
        raise ParameterTypeError(
            f"values must be a DataFrame or Array of Dask, got {type(values).__name__}"
        )
    if columns is not None:
        raise ParameterTypeError("columns goes with a frame, not with an array")
    return _array(values, law, asked, Path(folder))


def _frame(frame: Any, columns: object, law: Law | None, asked: AskedAnywhere, output: Path) -> Any:
    import dask.dataframe
    import pyarrow.parquet  # noqa: F401  # what is missing is missed before a draw

    meta = frame._meta
    at = places(list(meta.columns), columns)
    given = meta.iloc[:, at]
    noise, result = noise_of_tasks(given, law, **asked)
    for kind in result.dtypes:
        if kind.kind == "O" and isinstance(kind, np.dtype):
            raise refuse_type(kind)
    try:
        example = frame._meta_nonempty
    except TypeError:  # Dask has no made-up cells for every type
        example = meta
    _refuse_what_parquet_changes(example)
    floats = [name for name, kind in given.dtypes.items() if "float" in str(kind).lower()]
    draw = partial(_noisy_partition, noise=noise, columns=list(given.columns), floats=floats)

    def place_files(files: Sequence[Path], folder: Path) -> None:
        for i, file in enumerate(files):
            file.rename(folder / f"part.{i}.parquet")

    _run(frame.to_delayed(), draw, place_files, output)
    return dask.dataframe.read_parquet(str(output))


def _refuse_what_parquet_changes(example: Any) -> None:
    """Refuse a frame that would not come back from files: `example`, of its types, is tried."""
    labels = list(example.columns)
    for label in labels:
        if not isinstance(label, str):
            raise ParameterTypeError(
                "values must have strings as labels of columns, as Parquet has, got "
                f"{describe(label)}; frame.rename(columns=str) makes them"
            )
        if labels.count(label) > 1:
            raise ParameterValueError(
                f"values must have a label of its own for each column, got {describe(label)} twice"
            )
    name = example.index.name
    if name in labels:
        raise ParameterValueError(
            f"values must have no column with the name of the index, got {describe(name)}; "
            "frame.rename(columns=...) gives it another"
        )
    example = example.copy()
    for label, kind in example.dtypes.items():
        if kind.kind == "O" and isinstance(kind, np.dtype):  # a task that has no texts there tells
            example[label] = np.full(len(example), "text", object)
    if _comes_back(example):
        return
    for label in labels:
        if not _comes_back(example[[label]].reset_index(drop=True)):
            raise ParameterTypeError(
                "values must have columns that Dask reads from Parquet, but "
                f"{describe(label)} is of {example.dtypes[label]}: cast it, to str say, or give it "
                "another name"
            )
    raise ParameterTypeError(
        "values must have an index that Dask reads from Parquet, but it is of "
        f"{example.index.dtype}: frame.reset_index() makes a column of it"
    )


def _comes_back(example: Any) -> bool:
    """Return whether rows of made-up cells, or none, can be written and read, with all columns."""
    import dask.dataframe

    with TemporaryDirectory() as folder:
        try:
            Path(folder, "part.0.parquet").write_bytes(_as_parquet(example))
            read = dask.dataframe.read_parquet(folder).compute(scheduler="synchronous")
        except Exception:  # Arrow, pandas and Dask raise what they like
            return False
    return list(read.columns) == list(example.columns)


def _array(array: Any, law: Law | None, asked: AskedAnywhere, output: Path) -> Any:
    import dask.array
    import zarr

    _refuse_other_arrays(array._meta)
    if any(map(isnan, array.shape)):
        raise ParameterValueError(
            "values must have blocks of known sizes: call compute_chunk_sizes() first"
        )
    row = array.shape[1:]
    noise, result = noise_of_tasks(np.empty((0, *row), array.dtype), law, **asked)
    n_rows = array.shape[0] if array.ndim else 1
    require_rows(asked.get("rows_per_person", 1), n_rows, asked.get("sensitivity", 1))
    if result.dtype == object:
        raise refuse_type(result.dtype)
    chunk = tuple(max(1, *sizes) for sizes in array.chunks)
    blocks = array.rechunk(chunk).to_delayed()
    draw = partial(_noisy_block, noise=noise, chunk=chunk)

    def place_files(files: Sequence[Path], folder: Path) -> None:
        zarr.create_array(
            str(folder),
            shape=array.shape,
            chunks=chunk,
            dtype=result.dtype.newbyteorder("<"),
            compressors=None,
            zarr_format=3,
        )
        for place, file in zip(np.ndindex(blocks.shape), files, strict=True):
            target = folder.joinpath("c", *map(str, place))
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)

    _run(list(blocks.ravel()), draw, place_files, output)
    return dask.array.from_zarr(str(output))


def _run(
    blocks: Sequence[Any],
    draw: Callable[[Any], memoryview],
    place_files: Callable[[Sequence[Path], Path], None],
    output: Path,
) -> None:
    """Have tasks write all blocks, each to one file; publish these at once."""
    import dask

    output = output.absolute()
    if os.path.lexists(output):
        raise OutputError(f"path must not exist yet, got {describe(str(output))}")
    work = output.parent / f".{output.name}.{uuid4().hex}"
    drawn, result = work / "drawn", work / "result"
    files = [drawn / str(i) / "noisy" for i in range(len(blocks))]
    with folder_made(output.parent):
        try:
            drawn.mkdir(parents=True)
            result.mkdir()
            task = dask.delayed(partial(_attempt, draw=draw), pure=False)
            _compute([task(block, file) for block, file in zip(blocks, files, strict=True)])
            place_files(files, result)
            result.rename(output)
        finally:
            _remove(work)


def _compute(tasks: Sequence[Any]) -> None:
    """Run all tasks; on a cluster, each until it is done, and not again if its worker is lost then.

    Dask would run it again, as its result is lost, and wait for ever if no worker is left.
    """
    import dask

    client = getattr(dask.base.get_scheduler(collections=tasks), "__self__", None)
    if not isinstance(client, if_loaded("distributed", "Client")):
        dask.compute(*tasks)
        return
    from distributed import wait

    patience = dask.config.get("distributed.scheduler.no-workers-timeout") or _NO_WORKER_SECONDS
    last_seen = monotonic() if client.nthreads() else None  # a first worker may take long to come
    futures = client.compute(list(tasks))
    try:
        while futures:
            with suppress(TimeoutError):
                wait(futures, timeout=1)
            for future in futures:
                if future.status not in ("pending", "finished"):
                    future.result()
            futures = [future for future in futures if future.status != "finished"]
            if client.nthreads():
                last_seen = monotonic()
            elif last_seen and monotonic() - last_seen > dask.utils.parse_timedelta(patience):
                raise TimeoutError("the cluster of Dask has no worker left; nothing is published")
    finally:
        client.cancel(futures)


def _remove(folder: Path) -> None:
    """Delete a folder that others may still want to write to: by that name there is none first."""
    gone = folder.with_name(f"{folder.name}.deleted")
    try:
        folder.rename(gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone)


# --- on the workers


def _attempt(block: Any, file: Path, *, draw: Callable[[Any], memoryview]) -> None:
    """Write a block with noise to a file in a folder of its own, unless an attempt before has."""
    if file.exists():
        return
    file.parent.mkdir(exist_ok=True)
    for left in file.parent.iterdir():  # by an attempt that was killed, where files have names
        if left != file:
            left.unlink(missing_ok=True)
    noisy = draw(block)
    with suppress(FileExistsError), atomic_write(file, replace=False) as write:
        write(noisy)


def _noisy_partition(
    partition: Any, *, noise: TaskNoise, columns: list[Any], floats: list[Any]
) -> memoryview:
    """Return a partition with noise as Parquet."""
    noisy = noise.added_to(partition, columns)
    # of floats a partition without NaN would be int64, and floats again beside one with NaN
    kinds = {name: "UInt64" if noisy[name].dtype.kind == "u" else "Int64" for name in floats}
    return _as_parquet(noisy.astype(kinds))


def _as_parquet(frame: Any) -> memoryview:
    """Return a frame of pandas, with its index, as a file of Parquet."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = pa.Table.from_pandas(frame, preserve_index=True)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        table = None  # Arrow's errors show cells
    if table is None:
        raise ParameterTypeError(
            "values must have columns that Arrow can hold, each of one type, "
            "but one with objects is mixed"
        )
    stream = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, stream)
    return memoryview(stream.getvalue())


def _noisy_block(block: Any, *, noise: TaskNoise, chunk: tuple[int, ...]) -> memoryview:
    """Return a block with noise as a chunk of zarr: uncompressed, in C's order, little-endian."""
    _refuse_other_arrays(block)
    noisy = noise.added_to(block)
    if noisy.shape != chunk:
        inner = noisy
        noisy = np.zeros(chunk, inner.dtype)
        noisy[tuple(map(slice, inner.shape))] = inner
    chunk_of_zarr = np.ascontiguousarray(noisy, noisy.dtype.newbyteorder("<"))
    return chunk_of_zarr.reshape(-1).view(np.uint8).data


def _refuse_other_arrays(block: Any) -> None:
    if type(block) is not np.ndarray:
        raise ParameterTypeError(f"values must have blocks of numpy's, got {type(block).__name__}")
