"""What a statement about a person says of the rows of a file, checked: they differ in `by`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.groups import group_hashes, require_groups
from ..data.person import Counting
from ..errors import TableError
from ._interface import Chunk, Table, column_index


class RowsBy:
    """Takes rows while they are read, and says in the end whether each is a group of its own.

    Of each row it keeps a hash of 8 bytes.
    """

    def __init__(self, counting: Counting, table: Table) -> None:
        for name in counting.by:
            if name in table.columns:
                raise TableError(f"by must name no column of counts, got {name!r}")
        self._by = counting.by
        self._places = [column_index(table.other_columns, name) for name in counting.by]
        self._hashes: list[NDArray[np.int64]] = []

    def add(self, chunk: Chunk) -> None:
        """Take the next rows."""
        self._hashes.append(group_hashes(chunk.keys(self._places)))

    def require_differing(self) -> None:
        """Refuse two rows of one group."""
        require_groups(np.concatenate(self._hashes), self._by, TableError)
