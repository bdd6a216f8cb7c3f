"""A table of any format, as `release_table` sees it: chunks in, the same rows with noise out.

A format is one module with a reader and a writer of these kinds, named in ``_formats.py``. Neither
draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import number_of
from .._system.atomic_file import Sink
from ..errors import TableError


class Chunk(Protocol):
    """Some rows that follow one another."""

    @property
    def nulls(self) -> Sequence[NDArray[np.bool_] | None]:
        """Where a column has no count; empty for a format that has no nulls."""

    @property
    def counts(self) -> NDArray[Any]:
        """Rows by columns of counts, in the order of the table: int64, or Python integers."""

    def other_cells(self) -> list[tuple[str, ...]]:
        """Return what stands in the other columns, row by row: never a count."""

    def keys(self, places: Sequence[int]) -> list[tuple[str, ...]]:
        """Return what tells rows apart in the other columns at these places."""


Write = Callable[[Any, NDArray[Any]], None]
"""Writes a chunk with these counts, rows by columns, in the place of its own; in their order."""


class Table(Protocol):
    """A table whose header is read and found to have the columns.

    Attributes
    ----------
    columns : tuple[str, ...]
        The names of the columns of counts, as they were asked for, in the order of the table.
    other_columns : tuple[str, ...]
        The names of the columns that are not counts, and are published as they stand.
    """

    columns: tuple[str, ...]

    other_columns: tuple[str, ...]

    @property
    def ranges(self) -> Sequence[tuple[int, int] | None]:
        """For each column of counts: the ends of what a noisy count may be; None: any."""

    def chunks(self) -> Iterator[Chunk]:
        """Read the table, once; a TableError tells what is wrong with it and where."""

    def writer(self, sink: Sink) -> AbstractContextManager[Write]:
        """Give what writes to the sink: the header first, and the end if the block ends well."""

    def fraction(self) -> float | None:
        """How much of the table is read, from 0 to 1; None: that is not known."""


def column_index(
    names: Sequence[str],
    name: str,
    where: str = "",
    table: str = "the table",
    hint: str = "",
) -> int:
    """Return the place of the only column of that name; no message shows other names."""
    found = [i for i, other in enumerate(names) if other == name]
    if len(found) == 1:
        return found[0]
    if not found:
        n_columns = f"{number_of(len(names), 'column')}{hint if len(names) == 1 else ''}"
        raise TableError(f"{where}{table} has no column {name!r} ({n_columns})")
    places = " and ".join(str(i + 1) for i in found)
    raise TableError(f"{where}columns {places} are both named {name!r}")


def as_int64(integers: NDArray[Any]) -> NDArray[Any]:
    """Return integers of any width as int64, or as Python's if one does not fit."""
    if integers.dtype.kind == "u" and integers.dtype.itemsize == 8 and integers.max() > 2**63 - 1:
        return integers.astype(object)
    return integers if integers.dtype == object else integers.astype(np.int64)
