"""Groups in arrays and tables of pyarrow; this module is imported when one is passed."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..data.from_pyarrow import integer_array
from ..data.keys import as_numbers, digits_after_point, microseconds, places_in_order, plain
from ._groups import Groups, cells_of, refuse_keys

_INTEGERS = {32: pa.int32(), 64: pa.int64()}
"""The integers that a time of this width is stored as."""


def open_groups(counts: Any, columns: object) -> Groups:
    """Open an Array, ChunkedArray, RecordBatch or Table; a stream is read once."""
    is_alone = isinstance(counts, pa.Array | pa.ChunkedArray)
    is_stream = not is_alone and not isinstance(counts, pa.Table | pa.RecordBatch)
    table = pa.table(counts) if is_stream else counts
    cells = cells_of(table, columns)
    names = [] if is_alone else table.schema.names
    at = 0 if is_alone else names.index(cells.label)
    others = [_stored(name, table.column(i)) for i, name in enumerate(names) if i != at]

    def build(places: NDArray[np.intp], noisy: NDArray[np.int64]) -> Any:
        if is_alone:
            result = integer_array(np.sort(noisy), None)
            return pa.chunked_array([result]) if isinstance(counts, pa.ChunkedArray) else result
        keys = [_keys(stored, places) for _, stored in others]
        order = places_in_order(keys, noisy.tolist())
        arrays = [
            _array(kind, [column[i] for i in order])
            for (kind, _), column in zip(others, keys, strict=True)
        ]
        arrays.insert(at, integer_array(noisy[order], None))
        return type(table).from_arrays(arrays, names=names)

    return Groups(cells, build)


def _stored(name: str, column: Any) -> tuple[Any, Any]:
    """Return the type of a column's keys, and the column with them as Python should read them."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return kind, _stored(name, column.cast(kind.value_type))[1]
    if _is_time(kind):
        return kind, column.cast(_INTEGERS[kind.bit_width])
    tests = ("string", "large_string", "string_view", "boolean", "integer", "floating", "decimal")
    if not pa.types.is_null(kind) and not _is_binary(kind) and not _is_any(kind, tests):
        raise refuse_keys(name, kind)
    return kind, column


def _is_any(kind: Any, names: Sequence[str]) -> bool:
    return any(getattr(pa.types, f"is_{name}")(kind) for name in names)


def _is_time(kind: Any) -> bool:
    return _is_any(kind, ("date", "time", "timestamp", "duration"))


def _is_binary(kind: Any) -> bool:
    return _is_any(kind, ("binary", "large_binary", "binary_view", "fixed_size_binary"))


def _keys(column: Any, places: NDArray[np.intp]) -> list[Any]:
    keys = column.to_pylist()
    return [plain(keys[i]) for i in places]


def _array(kind: Any, keys: list[Any]) -> Any:
    """Return an Array of keys whose type depends on them and on the kind of the column's type."""
    if pa.types.is_dictionary(kind):
        return _array(kind.value_type, keys).dictionary_encode()
    if _is_time(kind):
        if pa.types.is_date(kind):
            return pa.array(keys, _INTEGERS[kind.bit_width]).cast(kind)
        unit, keys = microseconds(keys, kind.unit)
        if pa.types.is_timestamp(kind):
            kind = pa.timestamp(unit, kind.tz)
        else:
            kind = pa.duration(unit) if pa.types.is_duration(kind) else pa.time64(unit)
        return pa.array(keys, pa.int64()).cast(kind)
    if pa.types.is_null(kind) or pa.types.is_boolean(kind):
        return pa.array(keys, kind)
    if _is_any(kind, ("integer", "floating", "decimal")):
        return _numbers(keys)
    return pa.array(keys, pa.binary() if _is_binary(kind) else pa.string())


def _numbers(keys: list[Any]) -> Any:
    numbers, keys = as_numbers(keys)
    if numbers in ("Int64", "UInt64", "float"):
        return pa.array(keys, numbers.lower().replace("float", "float64"))
    decimals = [None if key is None else Decimal(key) for key in keys]
    after = digits_after_point(decimals)
    before = max(x.adjusted() + 1 for x in decimals if x is not None)
    is_short = before + after <= 38
    return pa.array(decimals, pa.decimal128(38, after) if is_short else pa.decimal256(76, after))
