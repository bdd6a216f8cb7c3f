"""A table of any format, as `release_table` sees it: chunks in, the same rows with noise out.

A format is one module with a reader and a writer of these kinds, named in ``_formats.py``. Neither
draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

from numpy.typing import NDArray

Sink = Callable[[bytes | memoryview], None]
"""Writes all of the bytes to the new table."""


class Chunk(Protocol):
    """Some rows that follow one another."""

    @property
    def counts(self) -> NDArray[Any]:
        """Rows by columns of counts, in the order of the table: int64, or Python integers."""

    def other_cells(self) -> list[tuple[str, ...]]:
        """Return what stands in the other columns, row by row: never a count."""


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

    def chunks(self) -> Iterator[Chunk]:
        """Read the table, once; a TableError tells what is wrong with it and where."""

    def writer(self, sink: Sink) -> AbstractContextManager[Write]:
        """Give what writes to the sink: the header first, and the end if the block ends well."""

    def fraction(self) -> float | None:
        """How much of the table is read, from 0 to 1; None: that is not known."""
