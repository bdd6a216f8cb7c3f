"""One interface to the columns of any table: a frame, a table of pyarrow, or a dict."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import describe
from ..errors import ParameterTypeError
from .totals import codes_of


def read_once(table: Any) -> Any:
    """Return a lazy frame or a stream of a table as a table in memory; other objects unchanged.

    A lazy frame may have other rows each time, and a stream has its rows only once.
    """
    library = _library_of(table)
    if library == "polars" and hasattr(table, "collect"):
        return table.collect()
    is_stream = hasattr(type(table), "__arrow_c_stream__")
    if library in ("pandas", "polars", "xarray") or not is_stream:
        return table
    import pyarrow as pa

    in_memory = pa.Table | pa.RecordBatch | pa.ChunkedArray
    return table if isinstance(table, in_memory) else pa.table(table)


class LabelledTable:
    """A table of any library. Errors call it by the name that is given here."""

    def __init__(self, table: Any, name: str) -> None:
        table = read_once(table)
        library = _library_of(table)
        if not self.takes(table) and not isinstance(table, dict):
            raise ParameterTypeError(
                f"{name} must be a frame of pandas or polars, a table of pyarrow or DuckDB, or a "
                f"dict of columns, got {describe(table)}"
            )
        self.table, self._library = table, library

    @staticmethod
    def takes(table: object) -> bool:
        """Return whether an object is a frame of pandas or polars, or a table of pyarrow."""
        library = _library_of(table)
        attribute = "column_names" if library == "pyarrow" else "columns"
        return library in ("pandas", "polars", "pyarrow") and hasattr(table, attribute)

    def labels(self) -> list[Any]:
        """Return the labels of the columns."""
        if self._library == "pyarrow":
            return list(self.table.column_names)
        return list(self.table if isinstance(self.table, dict) else self.table.columns)

    def levels(self) -> list[Any]:
        """Return the names of the index, if there is one that has names."""
        if self._library != "pandas":
            return []
        return [name for name in self.table.index.names if name is not None]

    def _values(self, label: Any) -> Any:
        """Return a column of the library's, or a level of the index if no column has the label."""
        if label in self.levels() and label not in self.labels():
            return self.table.index.get_level_values(label)
        return self.table[label]

    def column(self, label: Any) -> list[Any]:
        """Return a column of keys as Python objects, or a level of the index if no column has it.

        NaN, and what pandas has for a null, become None, because they equal nothing.
        """
        return _keys(_listed(self._values(label)))

    def codes(self, label: Any) -> tuple[NDArray[np.intp], list[Any]]:
        """Return a column as codes from 0 on, and the value of each code."""
        codes, values = self.factorized(label)
        numbers: dict[Any, int] = {}  # a library may tell 0.0 from -0.0, or NaN from null
        same = [numbers.setdefault(value, len(numbers)) for value in _keys(_listed(values))]
        return np.array(same, np.intp)[codes], list(numbers)

    def factorized(self, label: Any) -> tuple[NDArray[np.intp], Any]:
        """Return a column as codes from 0 on, and the value of each code in the library's form."""
        values = self.table[label]
        if self._library == "pandas":
            import pandas as pd

            found, distinct = pd.factorize(values, use_na_sentinel=False)
            return found.astype(np.intp, copy=False), distinct
        if self._library == "polars" and not values.dtype.is_object():
            return _codes_of_polars(values)
        if self._library == "pyarrow" and (encoded := _encoded(values)) is not None:
            return encoded
        numbers: dict[Any, int] = {}
        listed = [numbers.setdefault(value, len(numbers)) for value in self.column(label)]
        return np.array(listed, np.intp), list(numbers)

    def without(self, labels: Collection[Any]) -> Any:
        """Return the table without the columns of these labels."""
        kept = [i for i, label in enumerate(self.labels()) if label not in labels]
        if self._library == "pandas":
            return self.table.iloc[:, kept]
        if self._library == "polars":
            return self.table[:, kept]
        return self.table.select(kept)

    def groups(self, label: Any) -> NDArray[np.intp]:
        """Return a column, or a level of the index, as codes from 0 on.

        Equal codes mean one group, as the library of the table groups rows by values.
        """
        values = self._values(label)
        if self._library == "pandas":
            import pandas as pd

            with suppress(TypeError):  # of values without a hash, which pandas cannot group
                codes: NDArray[np.intp] = pd.factorize(values)[0].astype(np.intp, copy=False) + 1
                return codes
        elif self._library == "polars":
            values = values.to_physical()  # exact times; the objects of Python lack nanoseconds
        elif self._library == "pyarrow":
            values = _exact_times(values)
        return codes_of(map(_key, _listed(values)))

    def distinct(self, label: Any) -> list[Any]:
        """Return the distinct values of a column, or of a level of the index."""
        values = self._values(label)
        with suppress(TypeError, NotImplementedError):  # of values without a hash
            return _listed(values.unique())
        return _listed(values)

    def first(self, label: Any, n: int) -> list[Any]:
        """Return the first values of a column, or of a level of the index."""
        values = self._values(label)
        return _listed(values.head(n) if hasattr(values, "head") else values[:n])

    def with_columns(self, columns: dict[Any, Any]) -> Any:
        """Return a new table of the same kind, with these arrays as columns."""
        table = self.table
        if isinstance(table, dict):
            return {**table, **{label: values.tolist() for label, values in columns.items()}}
        if self._library == "polars":
            import polars as pl

            return table.with_columns(*(pl.Series(k, v) for k, v in columns.items()))
        if self._library == "pandas":
            table = table.copy(deep=False)
            for label, values in columns.items():
                table[label] = values
            return table
        import pyarrow as pa

        for label, values in columns.items():
            if label in table.column_names:
                place = table.column_names.index(label)
                table = table.set_column(place, label, pa.array(values))
            else:
                table = table.append_column(label, pa.array(values))
        return table


def _codes_of_polars(values: Any) -> tuple[NDArray[np.intp], Any]:
    """Return a Series as codes, and the distinct values in the order of their first rows."""
    import polars as pl

    distinct = values.unique(maintain_order=True)
    places = pl.DataFrame({"value": distinct, "code": np.arange(len(distinct))})
    null = places.filter(pl.col("value").is_null())["code"]
    rows = pl.DataFrame({"value": values, "row": np.arange(len(values))})
    found = rows.join(places, on="value", how="left")  # in any order; nulls find nothing
    codes = np.empty(len(values), np.intp)
    of_null = int(null[0]) if len(null) else 0
    codes[found["row"].to_numpy()] = found["code"].fill_null(of_null).to_numpy()
    return codes, distinct


def _encoded(values: Any) -> tuple[NDArray[np.intp], Any] | None:
    """Return a column of Arrow as codes, and its dictionary; None if it cannot have one."""
    import pyarrow as pa

    try:
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        encoded = (
            pa.chunked_array([values.dictionary_encode("encode")])
            if isinstance(values, pa.Array)
            else values.dictionary_encode("encode").unify_dictionaries()
        )
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None
    if not encoded.num_chunks:
        return np.zeros(0, np.intp), []
    codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    return np.concatenate(codes).astype(np.intp), encoded.chunk(0).dictionary


def _library_of(table: object) -> str:
    return type(table).__module__.partition(".")[0]


def _listed(values: Any) -> list[Any]:
    for to_list in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, to_list):
            values = getattr(values, to_list)()
            break
    return list(values)


def _key(value: Any) -> Hashable:
    """Return an object that is equal for values of one group. Python knows that 1 == 1.0 == True.

    NaN equals nothing, so a text stands for it, as for lists and dicts, which have no hash.
    """
    try:
        hash(value)
    except TypeError:
        return f"\0{value!r}"
    is_itself = value == value
    return "\0nan" if is_itself is False else value


def _exact_times(values: Any) -> Any:
    """Return times of Arrow as integers, because those of Python lack nanoseconds."""
    import pyarrow.types as of

    if of.is_timestamp(values.type) or of.is_time(values.type) or of.is_duration(values.type):
        return values.cast("int32" if values.type.bit_width == 32 else "int64")
    return values


def _keys(values: Iterable[Any]) -> list[Any]:
    return [None if _is_null(value) else value for value in values]


def _is_null(value: Any) -> bool:
    """Return whether a value is a null of pandas, or NaN, which stands for one."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
