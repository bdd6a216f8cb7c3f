"""Arrow columns whose memory holds what their cells show, and nothing else.

The memory of a column may hold more: values under nulls, rows of the table that it is a slice of,
and words of a dictionary that no row uses. Files and pickles would publish them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Place = tuple[int, ...]
"""The number of a column, then those of its children."""

Recode = Callable[[Place, Any, Flags], tuple[NDArray[np.intp], Any]]
"""Takes a dictionary's place, the array, and which rows have a word. Returns the new code of each
old one, and the new dictionary."""


def keep_words(_place: Place, array: Any, _used: Flags) -> tuple[NDArray[np.intp], Any]:
    """Keep all words, because the user of a table in memory sees them."""
    return np.arange(len(array.dictionary)), array.dictionary


def keep_used_words(_place: Place, array: Any, used: Flags) -> tuple[NDArray[np.intp], Any]:
    """Keep the words that some row of this array has."""
    return _among(array.dictionary, used_codes(array, used))


def used_codes(array: Any, used: Flags) -> Flags:
    """Return for each word of a dictionary whether one of these rows has it."""
    codes = np.zeros(len(array.dictionary), np.bool_)
    codes[_integers(array.indices)[used]] = True
    return codes


def _among(words: Any, are_used: Flags) -> tuple[NDArray[np.intp], Any]:
    return np.cumsum(are_used) - 1, _taken(words, np.flatnonzero(are_used))


class SharedWords:
    """The words that several batches use. They share one dictionary, as an Arrow file requires."""

    def __init__(self) -> None:
        self._used: dict[Place, Flags] = {}
        self._words: dict[Place, Any] = {}

    def see(self, place: Place, array: Any, used: Flags) -> tuple[NDArray[np.intp], Any]:
        """Note the words of a batch. A dictionary may grow from batch to batch."""
        words, before = array.dictionary, self._words.get(place)
        codes = used_codes(array, used)
        if before is not None:
            n = min(len(before), len(words))
            if not before[:n].equals(words[:n]):
                raise pa.ArrowInvalid("the dictionary is replaced")
            longer = max(codes, self._used[place], key=len).copy()
            longer[: len(codes)] |= codes
            longer[: len(self._used[place])] |= self._used[place]
            codes, words = longer, max(before, words, key=len)
        self._words[place], self._used[place] = words, codes
        return keep_words(place, array, used)

    def recode(self, place: Place, _array: Any, _used: Flags) -> tuple[NDArray[np.intp], Any]:
        """Return the words that any batch uses."""
        return _among(self._words[place], self._used[place])


def has_words(kind: Any) -> bool:
    """Return whether a type has a dictionary in it."""
    if isinstance(kind, pa.BaseExtensionType):
        return has_words(kind.storage_type)
    children = [kind.field(i).type for i in range(kind.num_fields)]
    return bool(pa.types.is_dictionary(kind)) or any(map(has_words, children))


def bare_table(table: Any, recode: Recode = keep_words) -> Any:
    """Return a Table or RecordBatch with the same cells, whose memory holds nothing else."""
    columns = [bare(column, recode, (i,)) for i, column in enumerate(table.columns)]
    return type(table).from_arrays(columns, schema=table.schema)


def bare(column: Any, recode: Recode = keep_words, place: Place = ()) -> Any:
    """Return an Array or ChunkedArray with the same cells, whose memory holds nothing else."""
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([bare(x, recode, place) for x in column.chunks], column.type)
    return _bare(column, np.zeros(len(column), np.bool_), recode, place)


def _bare(array: Any, dead: Flags, recode: Recode, place: Place) -> Any:
    """Return the array. Rows that are `dead` are under a null of a parent, and become zeros."""
    kind, n = array.type, len(array)
    if isinstance(kind, pa.BaseExtensionType):
        storage = _bare(array.storage, dead, recode, place)
        return pa.ExtensionArray.from_storage(kind, storage)
    if pa.types.is_null(kind):
        return pa.nulls(n)
    if pa.types.is_run_end_encoded(kind):
        plain = _bare(pc.run_end_decode(array), dead, recode, place)
        return pc.run_end_encode(plain, kind.run_end_type)
    if pa.types.is_union(kind):
        return _union(array, dead, recode, place)
    hidden = dead | ~flags(array.is_valid())
    valid = _validity(~hidden | dead)
    if pa.types.is_dictionary(kind):
        return _dictionary(array, hidden, dead, recode, place)
    if pa.types.is_struct(kind):
        children = [
            _bare(array.field(i), hidden, recode, (*place, i)) for i in range(kind.num_fields)
        ]
        return pa.Array.from_buffers(kind, n, [valid], children=children)
    if pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        child = array.values.slice(array.offset * size, n * size)
        children = [_bare(child, np.repeat(hidden, size), recode, (*place, 0))]
        return pa.Array.from_buffers(kind, n, [valid], children=children)
    if _is_list(kind):
        return _list(array, hidden, valid, recode, place)
    if str(kind) in ("string_view", "binary_view"):
        cells = array.view(pa.binary_view()).to_pylist()
        for i in np.flatnonzero(dead):
            cells[i] = b""
        return pa.array(cells, pa.binary_view()).view(kind)
    if _is_text(kind):
        return _text(array, hidden, valid)
    return _numbers(array, hidden, valid)


def _numbers(array: Any, hidden: Flags, valid: Any) -> Any:
    """Return an array of bits, or of cells of the same number of bytes."""
    kind, n = array.type, len(array)
    data = array.buffers()[1]
    if kind.bit_width == 1:
        bits = _bits(data, array.offset, n) & ~hidden
        return pa.Array.from_buffers(kind, n, [valid, _packed(bits)])
    width = kind.bit_width // 8
    if not hidden.any() and array.offset == 0 and data is not None and data.size == n * width:
        return array
    cells = np.zeros(0, np.uint8)
    if n * width:
        cells = np.frombuffer(data, np.uint8, n * width, array.offset * width).copy()
        cells.reshape(n, width)[hidden] = 0
    return pa.Array.from_buffers(kind, n, [valid, pa.py_buffer(cells)])


def _text(array: Any, hidden: Flags, valid: Any) -> Any:
    """Return an array of texts or bytes."""
    offsets, data = _offsets(array), array.buffers()[2]
    sizes, start = np.diff(offsets), int(offsets[0])
    if not hidden.any() and array.offset == start == 0:
        lengths = [0 if x is None else x.size for x in array.buffers()[1:]]
        if lengths == [offsets.nbytes, int(offsets[-1])]:
            return array
    content = np.empty(0, np.uint8)
    if data is not None:
        content = np.frombuffer(data, np.uint8)[start : int(offsets[-1])]
    if sizes[hidden].any():
        content = content[np.repeat(~hidden, sizes)]
        sizes[hidden] = 0
    starts = pa.py_buffer(_starts(sizes, offsets.dtype))
    buffers = [valid, starts, pa.py_buffer(content.copy())]
    return pa.Array.from_buffers(array.type, len(array), buffers)


def _list(array: Any, hidden: Flags, valid: Any, recode: Recode, place: Place) -> Any:
    """Return an array of lists or maps. A list view gets its lists in order."""
    kind, n, child = array.type, len(array), array.values
    are_views = str(kind).startswith(("list_view", "large_list_view"))
    offsets = _offsets(array)
    if are_views:
        sizes = np.frombuffer(array.buffers()[2], offsets.dtype)[array.offset :][:n].copy()
    else:
        sizes = np.diff(offsets)
    if are_views or sizes[hidden].any():
        sizes[hidden] = 0
        starts = _starts(sizes, offsets.dtype)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        child = _taken(child, np.repeat(offsets[:n].astype(np.int64), sizes) + within)
    else:
        starts = _starts(sizes, offsets.dtype)
        child = child.slice(int(offsets[0]), int(starts[-1]))
    child = _bare(child, np.zeros(len(child), np.bool_), recode, (*place, 0))
    buffers = [valid, pa.py_buffer(starts)]
    if are_views:
        buffers = [valid, pa.py_buffer(starts[:-1].copy()), pa.py_buffer(sizes)]
    return pa.Array.from_buffers(kind, n, buffers, children=[child])


def _dictionary(array: Any, hidden: Flags, dead: Flags, recode: Recode, place: Place) -> Any:
    """Return an array of codes. Dead rows get the first word, or a null if there is none."""
    new_codes, words = recode(place, array, ~hidden)
    indices, index_type = _integers(array.indices), array.type.index_type
    codes = np.zeros(len(array), indices.dtype)
    codes[~hidden] = new_codes[indices[~hidden]]
    valid = ~hidden | dead if len(words) else ~hidden
    buffers = [_validity(valid), pa.py_buffer(codes)]
    return pa.DictionaryArray.from_arrays(
        pa.Array.from_buffers(index_type, len(array), buffers),
        bare(words, recode, (*place, 0)),
        ordered=array.type.ordered,
        safe=False,
    )


def _union(array: Any, dead: Flags, recode: Recode, place: Place) -> Any:
    """Return an array of a union. Rows of a child that no row shows become zeros, or go."""
    kind, n = array.type, len(array)
    codes = np.frombuffer(array.buffers()[1], np.int8)[array.offset :][:n]
    is_dense = kind.mode == "dense"
    starts, children = np.zeros(n, np.int32), []
    if is_dense:
        offsets = np.frombuffer(array.buffers()[2], np.int32)[array.offset :][:n]
    for i, code in enumerate(kind.type_codes):
        mine, child = codes == code, array.field(i)
        if is_dense:
            child = _taken(child, offsets[mine])
            starts[mine] = np.arange(len(child))
            children.append(_bare(child, dead[mine], recode, (*place, i)))
        else:
            children.append(_bare(child, dead | ~mine, recode, (*place, i)))
    buffers = [None, pa.py_buffer(codes.copy()), *([pa.py_buffer(starts)] if is_dense else [])]
    return pa.Array.from_buffers(kind, n, buffers, children=children)


# --- buffers


def _is_list(kind: Any) -> bool:
    return str(kind).startswith(("list", "large_list", "map"))


def _is_text(kind: Any) -> bool:
    tests = ("string", "large_string", "binary", "large_binary")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in tests)


def _offsets(array: Any) -> NDArray[Any]:
    """Return where the rows of texts or lists begin, and where the last one ends."""
    width = np.dtype(np.int64 if str(array.type).startswith("large") else np.int32)
    data = array.buffers()[1]
    if data is None or not data.size:
        return np.zeros(1, width)
    return np.frombuffer(data, width)[array.offset :][: len(array) + 1]


def _taken(array: Any, places: NDArray[Any]) -> Any:
    """Return the rows at these places."""
    integers = pa.py_buffer(places.astype(np.int64))  # `pa.array` would import pandas
    try:
        return array.take(pa.Array.from_buffers(pa.int64(), len(places), [None, integers]))
    except pa.ArrowNotImplementedError:  # views of texts
        runs = np.split(places, np.flatnonzero(np.diff(places) != 1) + 1)
        parts = [array.slice(int(run[0]), len(run)) for run in runs if len(run)]
        return pa.concat_arrays(parts) if parts else array.slice(0, 0)


def _starts(sizes: NDArray[Any], dtype: Any) -> NDArray[Any]:
    starts = np.zeros(len(sizes) + 1, dtype)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _integers(array: Any) -> NDArray[Any]:
    """Return the integers of an Array without a copy, with any values at nulls."""
    dtype = np.dtype(array.type.to_pandas_dtype())
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def _bits(data: Any, offset: int, n: int) -> Flags:
    if not n:
        return np.zeros(0, np.bool_)
    packed = np.frombuffer(data, np.uint8)
    bits = np.unpackbits(packed, count=offset + n, bitorder="little")
    return bits[offset:].view(np.bool_)


def flags(array: Any) -> Flags:
    """Return an Array of bools without nulls as a numpy array, ten times as fast as to_numpy."""
    return _bits(array.buffers()[1], array.offset, len(array))


def _packed(bits: Flags) -> Any:
    return pa.py_buffer(np.packbits(bits, bitorder="little"))


def _validity(valid: Flags) -> Any:
    return None if valid.all() else _packed(valid)
