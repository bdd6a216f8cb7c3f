"""Arrays and tables of pyarrow; this module is imported when one is passed."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .arrow_buffers import bare_table, flags
from .arrow_schema import widest_decimal, with_types
from .cells import Cells, Container, from_decimals, refuse_type
from .frame_columns import Column, open_alone, open_frame
from .lists_and_arrays import integers_of


def open_values(values: Any, columns: object, *, floats: bool) -> Container | None:
    """Open an Array, ChunkedArray, RecordBatch or Table; None for other types.

    Any other stream of a table in Arrow's form, such as DuckDB's relations, is read once.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return open_alone(_column(values, floats=floats), columns)
    if not isinstance(values, pa.Table | pa.RecordBatch):
        if not hasattr(type(values), "__arrow_c_stream__"):
            return None
        values = pa.table(values)
    container = open_table(values, columns, floats=floats)
    return container._replace(close=lambda results: bare_table(container.close(results)))


def open_table(values: Any, columns: object, *, floats: bool) -> Container:
    """Open a RecordBatch or Table. The memory of its other columns is used again as it is."""

    def replaced(noisy: dict[int, Any]) -> Any:
        arrays = [noisy.get(i, column) for i, column in enumerate(values.columns)]
        schema = with_types(values.schema, {i: array.type for i, array in noisy.items()})
        return type(values).from_arrays(arrays, schema=schema)

    def open_one(i: int) -> Column:
        return _column(values.column(i), floats=floats)

    return open_frame(values.schema.names, columns, open_one, replaced)


def _column(column: Any, *, floats: bool) -> Column:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    cells = open_column(column, floats=floats)
    return cells, lambda results: close_column(column, cells, results)


def open_column(column: Any, *, floats: bool) -> Cells:
    """Return the cells of an Array or ChunkedArray."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_decimal(column.type):
        widest = widest_decimal(column.type)
        return from_decimals(column.to_pylist(), widest.precision - widest.scale)
    if not pa.types.is_integer(column.type) and not pa.types.is_floating(column.type):
        raise refuse_type(column.type)
    if not column.null_count:
        return Cells(integers_of(_numbers(column), None, floats=floats))
    nulls = flags(column.is_null())
    return Cells(integers_of(_numbers(column), nulls, floats=floats), nulls)


def _numbers(column: Any) -> NDArray[Any]:
    """Return the numbers of an Array without a copy, with any values at nulls.

    `to_numpy` and `pa.array` would import pandas, which is slow on a new worker.
    """
    dtype = np.dtype(column.type.to_pandas_dtype())
    if not len(column):
        return np.empty(0, dtype)
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize)


def close_column(original: Any, cells: Cells, results: NDArray[Any]) -> Any:
    """Return results as a column with the same chunks, if any, as `original`."""
    if not isinstance(original, pa.ChunkedArray):
        return _array(original.type, results, cells.nulls)
    ends = np.cumsum([0, *(len(chunk) for chunk in original.chunks)]).tolist()
    chunks = []
    for start, end in pairwise(ends):
        nulls = None if cells.nulls is None else cells.nulls[start:end]
        chunks.append(_array(original.type, results[start:end], nulls))
    return pa.chunked_array(chunks, _array(original.type, results[:0], None).type)


def _array(original: Any, results: NDArray[Any], nulls: NDArray[np.bool_] | None) -> Any:
    """Return results as an Array: of Decimals if they are objects, else of integers."""
    if results.dtype == object:
        return pa.array(map(Decimal, results.tolist()), widest_decimal(original), mask=nulls)
    return integer_array(results, nulls)


def integer_array(results: NDArray[Any], nulls: NDArray[np.bool_] | None) -> Any:
    """Return an Array of machine integers and nulls that keeps the memory of `results`."""
    valid = None if nulls is None else pa.py_buffer(~np.packbits(nulls, bitorder="little"))
    kind = pa.from_numpy_dtype(results.dtype)
    return pa.Array.from_buffers(kind, len(results), [valid, pa.py_buffer(results)])
