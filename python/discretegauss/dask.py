"""Noise on frames and arrays of Dask: the workers draw it, and it is written once.

This needs Dask, and pyarrow for frames or zarr for arrays (the extra ``dask``). Workers need no
zarr. The first call imports these packages.
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
from .data.entry import NoiseOptions
from .data.frame_columns import places
from .data.tasks import TaskNoise, noise_of_tasks, result_path
from .errors import OutputError, ParameterTypeError, ParameterValueError
from .laws import Law

__all__ = ["add_noise"]
__dir__ = __all__.copy  # dir() and completion show these names alone

_NO_WORKER_SECONDS: Final = 300
"""How long a call waits for another worker after the cluster has lost its last one."""


def add_noise(
    values: Any,
    law: Law | None = None,
    *,
    columns: str | list[Any] | None = None,
    path: str | PathLike[str] | None = None,
    **options: Unpack[NoiseOptions],
) -> Any:
    """Add exact noise to a frame or array of Dask, write it, and return one that reads the files.

    One task draws for each block and writes it. If Dask runs a task again, the task draws anew only
    if no complete file of its block exists. The result reads the files, so it never changes.

    Parameters
    ----------
    values : dask.dataframe.DataFrame or dask.array.Array
        A frame whose partitions are pandas frames, or an array whose blocks are numpy arrays of
        known sizes. A frame's column labels must be distinct strings, and none may be the index's
        name. Dask must be able to read all columns and the index from Parquet, which excludes
        categories of intervals, for example.
    law : DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian, optional
        The noise. Give either a law or a budget.
    columns : str or list, optional
        The columns of a frame that get noise; None means all. The others are written unchanged.
    path : str or path-like
        The folder to create, which must not exist yet. The driver and all workers must see the same
        file system under this name.
    rho, epsilon, delta, sensitivity, rows_per_person, disjoint
        The budget of all values together, and how much one person changes in them, as for
        `discretegauss.add_noise`.
    overflow, modulus, integral_floats, method
        As for `discretegauss.add_noise`.
    source : "getrandom" or "chacha20", optional
        The source of each worker's bits.

    Returns
    -------
    dask.dataframe.DataFrame or dask.array.Array
        A frame that reads one Parquet file for each partition, with the index and unknown
        divisions; or an array of the same shape that reads zarr. All blocks of the array have the
        size of the largest block, except that the last one of an axis may be shorter.

    Raises
    ------
    TypeError, ValueError, OverflowError
        Before any task runs: as `discretegauss.add_noise`, or if `path` is missing. From a task: if
        it refuses the counts of its block. Nothing is published in either case.
    OutputError
        If `path` exists.
    OSError
        If the files cannot be written.
    TimeoutError
        If the cluster has lost its last worker and gets no other in time: Dask's setting
        ``distributed.scheduler.no-workers-timeout``, or five minutes.
    ImportError
        If Dask, pyarrow (frames) or zarr (arrays) is not installed.

    Notes
    -----
    During the call the files are in a hidden folder beside `path`, ``.NAME.`` and 32 digits. The
    call removes it at the end, also after Ctrl-C and errors; these remove the new parent folders of
    `path`, too. Tasks that still run then find no folder to write to. If the driver is killed, stop
    the workers and delete the hidden folder: it and the next call's output would be two releases.

    References
    ----------
    arXiv:2004.00010, Theorem 14: the rho of several values, each with its own noise.

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
        return _frame(values, columns, law, options, Path(folder))
    if not isinstance(values, if_loaded("dask.array", "Array")):
        raise ParameterTypeError(
            f"values must be a DataFrame or Array of Dask, got {type(values).__name__}"
        )
    if columns is not None:
        raise ParameterTypeError("columns needs a frame, got an array")
    return _array(values, law, options, Path(folder))


def _frame(
    frame: Any, columns: object, law: Law | None, options: NoiseOptions, output: Path
) -> Any:
    import dask.dataframe
    import pyarrow.parquet  # noqa: F401  # if it is missing, fail before any draw

    meta = frame._meta
    at = places(list(meta.columns), columns)
    template = meta.iloc[:, at]
    noise, result = noise_of_tasks(template, law, **options)
    for kind in result.dtypes:
        if kind.kind == "O" and isinstance(kind, np.dtype):
            raise refuse_type(kind)
    try:
        example = frame._meta_nonempty
    except TypeError:  # Dask has no example values for some types
        example = meta
    _refuse_what_parquet_changes(example)
    floats = [name for name, kind in template.dtypes.items() if "float" in str(kind).lower()]
    draw = partial(_noisy_partition, noise=noise, columns=list(template.columns), floats=floats)

    def place_files(files: Sequence[Path], folder: Path) -> None:
        for i, file in enumerate(files):
            file.rename(folder / f"part.{i}.parquet")

    _run(frame.to_delayed(), draw, place_files, output)
    return dask.dataframe.read_parquet(str(output))


def _refuse_what_parquet_changes(example: Any) -> None:
    """Refuse a frame that Parquet would change, by writing and reading `example`, of its types."""
    labels = list(example.columns)
    for label in labels:
        if not isinstance(label, str):
            raise ParameterTypeError(
                "values must have strings as labels of columns, because Parquet requires them, got "
                f"{describe(label)}; frame.rename(columns=str) makes them strings"
            )
        if labels.count(label) > 1:
            raise ParameterValueError(
                f"values must have a different label for each column, got {describe(label)} twice"
            )
    name = example.index.name
    if name in labels:
        raise ParameterValueError(
            f"values must have no column with the name of the index, got {describe(name)}; "
            "frame.rename(columns=...) gives it another"
        )
    example = example.copy()
    for label, kind in example.dtypes.items():
        if kind.kind == "O" and isinstance(kind, np.dtype):  # tasks refuse objects other than text
            example[label] = np.full(len(example), "text", object)
    if _comes_back(example):
        return
    for label in labels:
        if not _comes_back(example[[label]].reset_index(drop=True)):
            raise ParameterTypeError(
                "values must have columns that Dask can read from Parquet, but column "
                f"{describe(label)} has type {example.dtypes[label]}: cast it, for example to str, "
                "or rename it"
            )
    raise ParameterTypeError(
        "values must have an index that Dask can read from Parquet, but its type is "
        f"{example.index.dtype}: frame.reset_index() makes it a column"
    )


def _comes_back(example: Any) -> bool:
    """Return whether the example rows (or none) can be written and read with all columns."""
    import dask.dataframe

    with TemporaryDirectory() as folder:
        try:
            Path(folder, "part.0.parquet").write_bytes(_as_parquet(example))
            read = dask.dataframe.read_parquet(folder).compute(scheduler="synchronous")
        except Exception:  # Arrow, pandas and Dask raise errors of many types
            return False
    return list(read.columns) == list(example.columns)


def _array(array: Any, law: Law | None, options: NoiseOptions, output: Path) -> Any:
    import dask.array
    import zarr

    _refuse_other_arrays(array._meta)
    if any(map(isnan, array.shape)):
        raise ParameterValueError(
            "values must have blocks of known sizes: call compute_chunk_sizes() first"
        )
    row = array.shape[1:]
    noise, result = noise_of_tasks(np.empty((0, *row), array.dtype), law, **options)
    n_rows = array.shape[0] if array.ndim else 1
    require_rows(options.get("rows_per_person", 1), n_rows, options.get("sensitivity", 1))
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
    """Let tasks write each block to one file, then publish all files at once."""
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
    """Run all tasks; on a cluster, never rerun a finished task whose worker is lost.

    Dask itself would rerun it to recover its result, and wait for ever if no worker is left.
    """
    import dask

    client = getattr(dask.base.get_scheduler(collections=tasks), "__self__", None)
    if not isinstance(client, if_loaded("distributed", "Client")):
        dask.compute(*tasks)
        return
    from distributed import wait

    patience = dask.config.get("distributed.scheduler.no-workers-timeout") or _NO_WORKER_SECONDS
    last_seen = monotonic() if client.nthreads() else None  # the first worker may start late
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
                raise TimeoutError("the Dask cluster has no worker left; nothing is published")
    finally:
        client.cancel(futures)


def _remove(folder: Path) -> None:
    """Delete a folder; rename it first, so that running tasks can no longer write to it."""
    gone = folder.with_name(f"{folder.name}.deleted")
    try:
        folder.rename(gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone)


# --- on the workers


def _attempt(block: Any, file: Path, *, draw: Callable[[Any], memoryview]) -> None:
    """Write a block with noise to a file in its own folder, unless an earlier attempt did."""
    if file.exists():
        return
    file.parent.mkdir(exist_ok=True)
    for left in file.parent.iterdir():  # temporary files of killed attempts
        if left != file:
            left.unlink(missing_ok=True)
    noisy = draw(block)
    with suppress(FileExistsError), atomic_write(file, replace=False) as write:
        write(noisy)


def _noisy_partition(
    partition: Any, *, noise: TaskNoise, columns: list[Any], floats: list[Any]
) -> memoryview:
    """Return a partition with noise, as the bytes of a Parquet file."""
    noisy = noise.added_to(partition, columns)
    # All files need one type: without this, a float column would become int64 in partitions
    # without NaN and stay float in the others.
    kinds = {name: "UInt64" if noisy[name].dtype.kind == "u" else "Int64" for name in floats}
    return _as_parquet(noisy.astype(kinds))


def _as_parquet(frame: Any) -> memoryview:
    """Return a pandas frame with its index, as the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = pa.Table.from_pandas(frame, preserve_index=True)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        table = None  # raise outside this handler: Arrow's errors show cells
    if table is None:
        raise ParameterTypeError(
            "values must have columns that Arrow can hold, each of one type, "
            "but a column of objects has several types"
        )
    stream = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, stream)
    return memoryview(stream.getvalue())


def _noisy_block(block: Any, *, noise: TaskNoise, chunk: tuple[int, ...]) -> memoryview:
    """Return a block with noise as a zarr chunk: uncompressed, in C order, little-endian."""
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
        raise ParameterTypeError(
            f"values must have numpy arrays as blocks, got {type(block).__name__}"
        )
