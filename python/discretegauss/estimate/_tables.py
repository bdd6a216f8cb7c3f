"""The columns of a table, whatever library it is of: a frame, a table of pyarrow, or a dict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import describe
from ..data.cells import Cells
from ..data.entry import opened_values
from ..errors import ParameterTypeError


class Table:
    """A table: its labels, columns, and the same with other columns. Base of each kind's own."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def labels(self) -> list[Any]:
        """Return the labels of the columns."""
        return list(self.table.columns)

    def column(self, label: Any) -> list[Any]:
        """Return a column as Python objects."""
        values: list[Any] = self.table[label].to_list()
        return values

    def cells(self, label: Any) -> Cells:
        """Return a column of counts."""
        return opened_values(self.table, [label], floats=True).cells[0]

    def codes(self, label: Any) -> tuple[NDArray[np.intp], list[Any]]:
        """Return a column as numbers from 0 on, and what they stand for."""
        numbers: dict[Any, int] = {}
        codes = [numbers.setdefault(value, len(numbers)) for value in self.column(label)]
        return np.array(codes, np.intp), list(numbers)

    def with_columns(self, columns: dict[Any, Any]) -> Any:
        """Return a new table of the same kind, with these arrays as columns."""
        table = self.table.copy(deep=False)
        for label, values in columns.items():
            table[label] = values
        return table


class _Pandas(Table):
    def codes(self, label: Any) -> tuple[NDArray[np.intp], list[Any]]:
        import pandas as pd

        codes, values = pd.factorize(self.table[label], use_na_sentinel=False)
        return codes.astype(np.intp, copy=False), values.tolist()


class _Polars(Table):
    def with_columns(self, columns: dict[Any, Any]) -> Any:
        import polars as pl

        return self.table.with_columns(*(pl.Series(k, v) for k, v in columns.items()))


class _Arrow(Table):
    def labels(self) -> list[Any]:
        return list(self.table.column_names)

    def column(self, label: Any) -> list[Any]:
        values: list[Any] = self.table[label].to_pylist()
        return values

    def with_columns(self, columns: dict[Any, Any]) -> Any:
        import pyarrow as pa

        table = self.table
        for label, values in columns.items():
            place = table.column_names.index(label) if label in table.column_names else None
            if place is None:
                table = table.append_column(label, pa.array(values))
            else:
                table = table.set_column(place, label, pa.array(values))
        return table


class _Dict(Table):
    def labels(self) -> list[Any]:
        return list(self.table)

    def column(self, label: Any) -> list[Any]:
        values = self.table[label]
        return values.tolist() if isinstance(values, np.ndarray) else list(values)

    def cells(self, label: Any) -> Cells:
        return opened_values(self.table[label], None, floats=True).cells[0]

    def with_columns(self, columns: dict[Any, Any]) -> Any:
        return {**self.table, **{label: values.tolist() for label, values in columns.items()}}


def as_table(table: Any, name: str) -> Table:
    """Return a table of any kind."""
    library = type(table).__module__.partition(".")[0]
    if isinstance(table, dict):
        return _Dict(table)
    if library == "polars" and hasattr(table, "collect"):
        return _Polars(table.collect())
    if hasattr(table, "columns") and library in ("pandas", "polars"):
        return _Polars(table) if library == "polars" else _Pandas(table)
    if library == "pyarrow" and hasattr(table, "column_names"):
        return _Arrow(table)
    raise ParameterTypeError(
        f"{name} must be a frame of pandas or polars, a table of pyarrow, or a dict of columns, "
        f"got {describe(table)}"
    )
