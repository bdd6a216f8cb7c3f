"""Noise on frames and arrays of Dask, drawn where the blocks are, and written once.

Needs Dask, and pyarrow for frames or zarr for arrays (the extra ``dask``); workers need no zarr.
They are imported by the first call.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from math import isnan, prod
from os import PathLike
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from ._inputs.draw_arguments import AUTO, SYSTEM, Method
from ._inputs.messages import describe, if_loaded
from ._inputs.source import Source
from ._on_the_driver import checked_path, noise_and_result
from .data import add_noise as add_noise_here
from .data.addition import Overflow
from .data.cells import refuse_type
from .data.frame_columns import places
from .errors import OutputError, ParameterTypeError, ParameterValueError
from .laws import Law

__all__ = ["add_noise"]


def add_noise(
    values: Any,
    law: Law | None = None,
    *,
    columns: str | list[Any] | None = None,
    path: str | PathLike[str] | None = None,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    rows_per_person: int = 1,
    disjoint: bool = False,
    overflow: Overflow = "raise",
    modulus: int | None = None,
    integral_floats: bool = False,
    method: Method = AUTO,
    source: Source = SYSTEM,
) -> Any:
    """Write a frame or array of Dask with noise, exactly; return the one that reads the files.

    One task draws for a block and writes it. A task that is tried again draws anew, into another
    file; of each block the file is published that the last attempt reported. What is returned reads
    files, so that it never changes.

    Parameters
    ----------
    values : dask.dataframe.DataFrame or dask.array.Array
        A frame of pandas' partitions, or an array of numpy's blocks of known sizes.
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
    ImportError
        If Dask, pyarrow (frames) or zarr (arrays) is not installed.

    Notes
    -----
    Meanwhile the files are in a hidden folder beside `path`, which is removed at the end, after
    Ctrl-C and errors, too. Tasks that still run then find no folder to write to. If the driver is
    killed, delete that folder: it may hold two noises for the same counts.

    References
    ----------
    arXiv:2004.00010, Theorem 14: the rho of several values, each with noise of its own.

    Examples
    --------
    ::

        counts = dask.dataframe.read_parquet("counts.parquet")
        noisy = discretegauss.dask.add_noise(counts, rho="0.1", columns="n", path="noisy.parquet")
    """
    folder = checked_path(path, "Dask")
    if "://" in folder:
        raise ParameterValueError(
            f"path must be a folder of a file system that all workers see, got {describe(folder)}"
        )
    options: dict[str, Any] = {
        "overflow": overflow,
        "modulus": modulus,
        "integral_floats": integral_floats,
        "method": method,
        "source": source,
    }
    calibrated = partial(
        noise_and_result,
        law=law,
        budget={"rho": rho, "epsilon": epsilon, "delta": delta, "sensitivity": sensitivity},
        rows_per_person=rows_per_person,
        disjoint=disjoint,
        options=options,
    )
    if isinstance(values, if_loaded("dask.dataframe", "DataFrame")):
        return _frame(values, columns, calibrated, options, Path(folder))
    if not isinstance(values, if_loaded("dask.array", "Array")):
        raise ParameterTypeError(
            f"values must be a DataFrame or Array of Dask, got {type(values).__name__}"
        )
    if columns is not None:
        raise ParameterTypeError("columns goes with a frame, not with an array")
    return _array(values, calibrated, options, Path(folder))


def _frame(
    frame: Any,
    columns: object,
    calibrated: Callable[..., tuple[Law, Any]],
    options: dict[str, Any],
    output: Path,
) -> Any:
    import dask.dataframe
    import pyarrow.parquet  # noqa: F401  # what is missing is missed before a draw

    meta = frame._meta
    at = places(list(meta.columns), columns)
    given = meta.iloc[:, at]
    law, result = calibrated(given, n_columns=len(at))
    for kind in result.dtypes:
        if kind.kind == "O" and isinstance(kind, np.dtype):
            raise refuse_type(kind)
    floats = [name for name, kind in given.dtypes.items() if "float" in str(kind).lower()]
    write = partial(
        _write_partition, law=law, columns=list(given.columns), floats=floats, options=options
    )

    def place_files(files: Sequence[Path], folder: Path) -> None:
        for i, file in enumerate(files):
            file.rename(folder / f"part.{i}.parquet")

    _run(frame.to_delayed(), write, place_files, output)
    return dask.dataframe.read_parquet(str(output))


def _array(
    array: Any,
    calibrated: Callable[..., tuple[Law, Any]],
    options: dict[str, Any],
    output: Path,
) -> Any:
    import dask.array
    import zarr

    _refuse_other_arrays(array._meta)
    if any(map(isnan, array.shape)):
        raise ParameterValueError(
            "values must have blocks of known sizes: call compute_chunk_sizes() first"
        )
    row = array.shape[1:]
    law, result = calibrated(np.empty((0, *row), array.dtype), n_columns=max(1, prod(row)))
    if result.dtype == object:
        raise refuse_type(result.dtype)
    chunk = tuple(max(1, *sizes) for sizes in array.chunks)
    blocks = array.rechunk(chunk).to_delayed()
    write = partial(_write_block, law=law, chunk=chunk, options=options)

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

    _run(list(blocks.ravel()), write, place_files, output)
    return dask.array.from_zarr(str(output))


def _run(
    blocks: Sequence[Any],
    write: Callable[..., None],
    place_files: Callable[[Sequence[Path], Path], None],
    output: Path,
) -> None:
    """Have tasks write all blocks; publish, at once, the one file of each that was reported."""
    import dask

    output = output.absolute()
    if os.path.lexists(output):
        raise OutputError(f"path must name what is not there yet, got {describe(str(output))}")
    work = output.parent / f".{output.name}.{uuid4().hex}"
    attempts, result = work / "attempts", work / "result"
    try:
        attempts.mkdir(parents=True)
        result.mkdir()
        # impure: else Dask draws once for two equal blocks
        task = dask.delayed(partial(_attempt, write=write, folder=attempts), pure=False)
        names = dask.compute(*(task(block) for block in blocks))
        place_files([attempts / name for name in names], result)
        result.rename(output)
    finally:
        _remove(work)


def _remove(folder: Path) -> None:
    """Delete a folder that others may still want to write to: by that name there is none first."""
    gone = folder.with_name(f"{folder.name}.deleted")
    try:
        folder.rename(gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone)


# --- on the workers


def _attempt(block: Any, *, write: Callable[..., None], folder: Path) -> str:
    """Write a block with noise to a file of this attempt's own; return its name."""
    name = uuid4().hex
    with open(folder / name, "xb") as file:
        write(block, file)
    return name


def _write_partition(
    partition: Any,
    file: Any,
    *,
    law: Law,
    columns: list[Any],
    floats: list[Any],
    options: dict[str, Any],
) -> None:
    noisy = add_noise_here(partition, law, columns=columns, **options)
    # of floats a partition without NaN would be int64, and floats again beside one with NaN
    noisy = noisy.astype(dict.fromkeys(floats, "Int64"))
    table = _arrow_table(noisy)
    if table is None:
        raise ParameterTypeError(
            "values must have columns that Arrow can hold, each of one type, "
            "but one with objects is mixed"
        )
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, file)


def _arrow_table(frame: Any) -> Any:
    """Return the table with the index, or None, not Arrow's errors: they show cells."""
    import pyarrow as pa

    try:
        return pa.Table.from_pandas(frame, preserve_index=True)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        return None


def _write_block(
    block: Any, file: Any, *, law: Law, chunk: tuple[int, ...], options: dict[str, Any]
) -> None:
    """Write a block as a chunk of zarr, uncompressed: whole, in C's order, little-endian."""
    _refuse_other_arrays(block)
    noisy = add_noise_here(block, law, **options)
    if noisy.shape != chunk:
        inner = noisy
        noisy = np.zeros(chunk, inner.dtype)
        noisy[tuple(map(slice, inner.shape))] = inner
    noisy.astype(noisy.dtype.newbyteorder("<"), copy=False).tofile(file)


def _refuse_other_arrays(block: Any) -> None:
    if type(block) is not np.ndarray:
        raise ParameterTypeError(f"values must have blocks of numpy's, got {type(block).__name__}")
