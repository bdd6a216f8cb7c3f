"""A table of any format, as `release_table` sees it: it comes in chunks, opened as a frame is.

A format is one module with a reader and a writer of these kinds, named in ``_formats.py``. Neither
draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from .._inputs.messages import number_of
from .._system.atomic_file import Sink
from ..data.cells import Cells
from ..errors import TableError

Keys = list[tuple[str, ...]]
"""What stands in some columns, row by row."""


class Chunk(NamedTuple):
    """Some rows that follow one another.

    Parameters
    ----------
    cells : list of Cells
        Of each column of counts, in the order of the table.
    close : callable
        Takes the results, an array for each of `cells`; returns what the table's writer takes.
    other_cells : callable
        Returns what stands in the other columns: never a count.
    keys : callable
        Takes places of other columns; returns what tells rows apart there.
    """

    cells: list[Cells]
    close: Callable[[list[NDArray[Any]]], Any]
    other_cells: Callable[[], Keys]
    keys: Callable[[Sequence[int]], Keys]

    @property
    def n_rows(self) -> int:
        """Return how many rows there are."""
        return self.cells[0].integers.size


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

    def writer(self, sink: Sink) -> AbstractContextManager[Callable[[Any], object]]:
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
