"""Arrays in numpy's format .npy, some rows at a time.

The columns of an array are numbered from 0, and one of one axis has the column 0; fields of records
have their names. Counts come back as int64, and so do the other columns of an array of integers;
other fields stay as they are.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..errors import TableError
from ._files import Readable, read_all
from ._interface import Sink, as_int64, column_index

_CHUNK = 2**20
"""Bytes that are read at a time, if that is a row."""

_INT64 = np.dtype("<i8")

_READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class NpyChunk(NamedTuple):
    """Rows: records, or an array of two axes."""

    rows: NDArray[Any]
    counts: NDArray[Any]
    first_row: int
    others: list[NDArray[Any]]
    """The columns that are not counts."""

    def other_cells(self) -> list[tuple[str, ...]]:
        """Return what stands in the other columns, row by row."""
        texts = [list(map(str, column.tolist())) for column in self.others]
        return list(zip(*texts, strict=True)) if texts else [()] * len(self.rows)


class NpyTable:
    """An array in a file, read from its beginning to its end.

    Parameters
    ----------
    file : Readable
        What to read.
    columns : sequence of str
        The names of the columns of counts.
    """

    def __init__(self, file: Readable, columns: Sequence[str]) -> None:
        self._file, self._rows_read = file, 0
        self._dtype, self._shape = _read_header(file)
        dtype, shape = self._dtype, self._shape
        self._are_records = dtype.names is not None
        if len(shape) not in ((1,) if self._are_records else (1, 2)):
            raise TableError(f"the array has {len(shape)} axes; a table has rows, and columns")
        width = shape[1] if len(shape) == 2 else 1
        self._names = dtype.names or tuple(map(str, range(width)))
        self._at = sorted(column_index(self._names, name) for name in columns)
        self.columns = tuple(self._names[i] for i in self._at)
        self._others = [i for i in range(len(self._names)) if i not in self._at]
        self.other_columns = tuple(self._names[i] for i in self._others)
        for name in self.columns if self._are_records else self._names[:1]:
            stored = dtype[name] if self._are_records else dtype
            if stored.kind not in "iu" or stored.names is not None:
                raise TableError(f"column {name!r}: the type is {stored}; a count is an integer")

    def chunks(self) -> Iterator[NpyChunk]:
        """Read the rows."""
        width = self._dtype.itemsize * (1 if self._are_records else len(self._names))
        at_once = max(1, _CHUNK // max(1, width))
        while n_rows := min(at_once, self._shape[0] - self._rows_read):
            data = read_all(self._file, n_rows * width)
            if len(data) < n_rows * width:
                raise TableError("the file is cut off: it has fewer rows than it says")
            rows = np.frombuffer(data, self._dtype)
            if not self._are_records:
                rows = rows.reshape(n_rows, len(self._names))
            counts = np.column_stack([as_int64(self._column(rows, i)) for i in self._at])
            first_row = self._rows_read + 1
            self._rows_read += n_rows
            yield NpyChunk(rows, counts, first_row, [self._column(rows, i) for i in self._others])

    def _column(self, rows: NDArray[Any], i: int) -> NDArray[Any]:
        column: NDArray[Any] = rows[self._names[i]] if self._are_records else rows[:, i]
        return column

    def fraction(self) -> float | None:
        """How many of the rows are read."""
        return self._rows_read / self._shape[0] if self._shape[0] else None

    @contextmanager
    def writer(self, sink: Sink) -> Iterator[Callable[[NpyChunk, NDArray[Any]], None]]:
        """Give what writes to the sink."""
        dtype: np.dtype[Any] = _INT64
        if self._are_records:
            types = [_INT64 if i in self._at else self._dtype[i] for i in range(len(self._names))]
            dtype = np.dtype(list(zip(self._names, types, strict=True)))
        sink(npy_header(dtype, self._shape))
        yield lambda chunk, noisy: sink(self._written(chunk, noisy, dtype).tobytes())

    def _written(self, chunk: NpyChunk, noisy: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the rows with these counts."""
        written = np.empty(chunk.rows.shape, dtype)
        columns = dict(zip(self._at, noisy.T, strict=True))
        for i, name in enumerate(self._names):
            column = columns.get(i)
            if column is None:
                column = self._column(chunk.rows, i)
                column = column if self._are_records else as_int64(column)
            try:
                written[name if self._are_records else (slice(None), i)] = column
            except OverflowError:
                # The cause would show a count.
                last = chunk.first_row + len(chunk.rows) - 1
                raise TableError(
                    f"rows {chunk.first_row} to {last}, column {name!r}: a "
                    f"{'noisy count' if i in columns else 'number'} does not fit int64"
                ) from None
        return written


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the first bytes of a file, which tell how many numbers follow."""
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
        raise TableError("the array holds Python objects; a count is an integer")
    if is_fortran and len(shape) > 1:
        raise TableError(
            "the array lies column by column; save numpy.ascontiguousarray of it, row by row"
        )
    return dtype, shape
