"""Arrays in numpy's format .npy, read and written some rows at a time.

The columns of an array are numbered from 0. An array of one axis has the column 0, and fields of
records have their names. Counts are written as int64. So are the other columns of an array of
integers, but the other fields of records keep their types.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .._system.atomic_file import Sink
from ..data.cells import Cells, from_floats
from ..data.keys import plain
from ..errors import ParameterValueError, TableError
from ._chunks import OR_FLOATS, Chunk, Keys, Readable, column_indices, read_all
from ._csv_rows import BLANKS

_CHUNK = 2**20
"""Bytes that are read at a time, or one row if it is longer."""

_INT64 = np.dtype("<i8")

_READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class NpyTable:
    """An array in a file that is read once.

    The columns of an array are numbered again without those left out. With `floats`, counts may be
    floats that are whole numbers.
    """

    place = ("rows", 1)

    def __init__(
        self,
        file: Readable,
        columns: Sequence[str],
        left_out: Collection[str] = (),
        *,
        floats: bool = False,
    ) -> None:
        self._file, self._rows_read = file, 0
        dtype, shape = _read_header(file)
        self._shape = shape
        self._are_records = dtype.names is not None
        if len(shape) not in ((1,) if self._are_records else (1, 2)):
            raise TableError(
                f"the array must have one axis or two, for rows and columns, got {len(shape)}"
            )
        if not self._are_records:
            width = shape[1] if len(shape) == 2 else 1
            dtype = np.dtype([(str(i), dtype) for i in range(width)])
        self._dtype, self._names = dtype, dtype.names or ()
        at = set(column_indices(self._names, columns))
        self.columns = tuple(name for i, name in enumerate(self._names) if i in at)
        self.left_out = tuple(name for name in self._names if name.strip(BLANKS) in left_out)
        self._written_names = tuple(name for name in self._names if name not in self.left_out)
        self.other_columns = tuple(name for name in self._written_names if name not in self.columns)
        for name in self.columns if self._are_records else self._names[:1]:
            stored = dtype[name]
            allowed = "iuf" if floats else "iu"
            if stored.kind not in allowed or stored.names is not None:
                hint = OR_FLOATS if stored.kind == "f" else ""
                raise TableError(f"column {name!r} must have integers, got type {stored}{hint}")

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows."""
        width = self._dtype.itemsize
        at_once = max(1, _CHUNK // width)
        while n_rows := min(at_once, self._shape[0] - self._rows_read):
            data = read_all(self._file, n_rows * width)
            if len(data) < n_rows * width:
                raise TableError("the file is cut off: it has fewer rows than its header says")
            self._rows_read += n_rows
            yield self._chunk(np.frombuffer(data, self._dtype))

    def _chunk(self, rows: NDArray[Any]) -> Chunk:
        def keys(places: Sequence[int], most: int | None = None) -> Keys:
            first = rows[:most]
            names = [self.other_columns[i] for i in places]
            columns = [map(str, map(plain, first[name].tolist())) for name in names]
            return list(zip(*columns, strict=True)) if columns else [()] * len(first)

        return Chunk(
            [Cells(self._whole(rows, name), label=name) for name in self.columns],
            lambda results: self._written(rows, results).tobytes(),
            lambda: keys(range(len(self.other_columns))),
            keys,
        )

    def _whole(self, rows: NDArray[Any], name: str) -> NDArray[Any]:
        """Return a column as integers; floats must be whole numbers."""
        column = rows[name]
        if column.dtype.kind != "f":
            return column
        try:
            return from_floats(column, None, allowed=True)
        except ParameterValueError:
            first = self._rows_read - len(rows) + 1
            raise TableError(
                f"rows {first} to {self._rows_read}, column {name!r}: one is not a whole number of "
                "at most 2**53 in size"
            ) from None

    def fraction(self) -> float | None:
        """Return the fraction of the rows that have been read."""
        return self._rows_read / self._shape[0] if self._shape[0] else None

    @contextmanager
    def writer(self, sink: Sink) -> Iterator[Sink]:
        """Write the header, then yield a function that writes closed chunks."""
        if self._are_records:
            sink(npy_header(self._out_dtype(), self._shape))
        else:
            width = (len(self._written_names),) if len(self._shape) == 2 else ()
            sink(npy_header(_INT64, (self._shape[0], *width)))
        yield sink

    def _out_dtype(self) -> np.dtype[Any]:
        same = self.other_columns if self._are_records else ()
        return np.dtype(
            [(name, self._dtype[name] if name in same else _INT64) for name in self._written_names]
        )

    def _written(self, rows: NDArray[Any], results: list[NDArray[Any]]) -> NDArray[Any]:
        """Return the rows with these counts."""
        written = np.empty(rows.shape, self._out_dtype())
        for name, column in zip(self.columns, results, strict=True):
            written[name] = column
        for name in self.other_columns:
            column = rows[name] if self._are_records else self._whole(rows, name)
            if not self._are_records and column.max() >= 2**63:
                last = self._rows_read
                raise TableError(
                    f"rows {last - len(rows) + 1} to {last}, column {name!r}: a number does not "
                    "fit int64"
                )
            written[name] = column
        return written


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the header of a file of this type and shape."""
    header = io.BytesIO()
    description = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(header, description)
    return header.getvalue()


def _read_header(file: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    try:
        shape, is_fortran, dtype = _READ_HEADER[npy.read_magic(file)](file)
    except (ValueError, KeyError):
        raise TableError("the file is not an array that numpy has saved as .npy") from None
    if dtype.hasobject:
        raise TableError("the array must have integers, got Python objects")
    if is_fortran and len(shape) > 1:
        raise TableError(
            "the array is stored column by column; save numpy.ascontiguousarray(array) instead"
        )
    return dtype, shape
