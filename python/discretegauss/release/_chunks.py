"""The parts that every format of a table shares: chunks of rows, columns by name, byte streams.

A format is one module with a `FileTable`. `_files.py` chooses among them by the name of the file.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import number_of
from .._system.atomic_file import Sink
from ..data.cells import Cells
from ..errors import TableError
from ._distinct_rows import group_hashes, require_groups
from ._person import Counting

OR_FLOATS = "; --integral-floats (in Python: integral_floats=True) also takes 12.0"
"""The end of an error about a count that is not written as an integer."""

Keys = Iterable[tuple[str, ...]]
"""The cells of some columns, row by row."""


class KeysOf(Protocol):
    """The type of `Chunk.keys`."""

    def __call__(self, places: Sequence[int], most: int | None = None, /) -> Keys: ...


class Chunk(NamedTuple):
    """Consecutive rows of a table."""

    #: One for each column of counts, in the order of the table.
    cells: list[Cells]
    #: Takes the results, an array for each of `cells`; returns an argument for the table's writer.
    close: Callable[[list[NDArray[Any]]], Any]
    #: Returns the cells of the other columns as text. They are never counts.
    other_cells: Callable[[], Keys]
    #: Takes the places of some other columns, and how many rows are needed if not all; returns
    #: texts that differ if the cells there differ. It may return more rows.
    keys: KeysOf

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return self.cells[0].integers.size


class FileTable(Protocol):
    """A table whose header has been read and names the columns of counts."""

    #: The names of the columns of counts, in the order of the table.
    columns: tuple[str, ...]

    #: The names of the other columns, which are published unchanged.
    other_columns: tuple[str, ...]

    #: The names of the columns that are neither read nor published.
    left_out: tuple[str, ...]

    #: Whether errors count rows or lines, and the number of the first row. An editor shows the
    #: header of a text as line 1.
    place: tuple[str, int]

    def chunks(self) -> Iterator[Chunk]:
        """Read the table once. A TableError says what is wrong with it and where."""

    def writer(self, sink: Sink) -> AbstractContextManager[Callable[[Any], object]]:
        """Write the header, then yield a function that writes closed chunks."""

    def fraction(self) -> float | None:
        """Return the fraction of the table that has been read, or None if it is unknown."""


class RowsBy:
    """Checks that no two rows agree in the columns by which the table groups records.

    It keeps a hash of 8 bytes for each row.
    """

    def __init__(self, counting: Counting, table: FileTable) -> None:
        for name in counting.by:
            if name in table.columns:
                raise TableError(f"by must not name a column of counts, got {name!r}")
        self._by, self._place = counting.by, table.place
        self._places = column_indices(table.other_columns, counting.by)
        self._hashes: list[NDArray[np.int64]] = []

    def add(self, chunk: Chunk) -> None:
        """Take the next rows."""
        self._hashes.append(group_hashes(chunk.keys(self._places)))

    def require_differing(self) -> None:
        """Refuse two rows of one group."""
        require_groups(np.concatenate(self._hashes), self._by, TableError, self._place)


def key_text(cell: object) -> str:
    """Return a text that is equal for equal cells of a column, and else differs.

    0.0 and -0.0 are one group.
    """
    return repr(cell + 0.0 if isinstance(cell, float) else cell)


def column_indices(
    names: Sequence[str],
    named: Iterable[str],
    where: str = "",
    table: str = "the table",
    hint: str = "",
) -> list[int]:
    """Return the places of the only columns of these names; no message shows other names."""
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(i)
    found = []
    for name in named:
        at = places.get(name, [])
        if not at:
            n_columns = f"{number_of(len(names), 'column')}{hint if len(names) == 1 else ''}"
            raise TableError(f"{where}{table} has no column {name!r} ({n_columns})")
        if len(at) > 1:
            numbers = " and ".join(str(i + 1) for i in at)
            raise TableError(f"{where}columns {numbers} are both named {name!r}")
        found += at
    return found


class Readable(Protocol):
    """A stream of bytes that is read once."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; none at the end."""


def read_all(file: Readable, size: int) -> bytes:
    """Read `size` bytes, or up to the end. One read of a pipe may return fewer."""
    parts = []
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class SinkFile(io.RawIOBase):
    """A file object for libraries that write to one."""

    def __init__(self, sink: Sink) -> None:
        self._sink: Sink | None = sink
        self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: Any) -> int:
        n = memoryview(data).nbytes
        if self._sink is not None:
            self._sink(data)
            self._written += n
        return n

    def abandon(self) -> None:
        """Discard all later writes, so that closing a library's writer adds no footer."""
        self._sink = None
