"""The cell tables at hand: those used last, as many as fit into so many bytes.

There is no lock. The operations of a dict are whole under the interpreter's own, and a lock of ours
might be held where a process forks. The dict is not an OrderedDict: its order and contents part for
good if other threads run while its keys are compared, which Python does for fractions. What two
threads at once can cost is a table built twice, of which one is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .._law import LawSpec

__all__ = ["KeptTable", "TableCache"]

#: What the tables of a process take together, at most.
_MOST_BYTES = 64 * 2**20


@dataclass(slots=True, eq=False)
class KeptTable:
    """A table at hand. A law may hold this one: it does not keep the table that was given up."""

    table: Any
    """A NativeTable; None: it was given up."""
    memory: int
    """In bytes."""
    last_use: int


@dataclass(slots=True, eq=False)
class TableCache:
    """Tables by their laws.

    Parameters
    ----------
    most_bytes : int
        What they take together, at most.
    """

    most_bytes: int = _MOST_BYTES
    n_kept: int = 0
    """How many were ever kept: who looked in vain needs to look again only if this changed."""
    next_use: Callable[[], int] = field(default_factory=lambda: count().__next__)
    """Returns the number of a table's use that is made now."""
    _tables: dict[LawSpec, KeptTable] = field(default_factory=dict)

    def find(self, spec: LawSpec) -> KeptTable | None:
        """Return the law's table if it is at hand."""
        return self._tables.get(spec)

    def use(self, kept: KeptTable) -> Any:
        """Return the table, which is now the one used last; None if it was given up."""
        kept.last_use = self.next_use()
        return kept.table

    def keep(self, spec: LawSpec, table: Any, memory: int) -> KeptTable:
        """Keep a table, or the one of the same law that another thread was faster to keep.

        Those not used for longest are given up: this one, too, if it has no room by itself.
        """
        kept = self._tables.setdefault(spec, KeptTable(table, memory, self.next_use()))
        self.n_kept += 1
        tables = self._tables.copy()  # which no other thread changes meanwhile
        taken = sum(one.memory for one in tables.values())
        for oldest in sorted(tables, key=lambda one: tables[one].last_use):
            if taken <= self.most_bytes:
                break
            taken -= tables[oldest].memory
            self._give_up(oldest)
        return kept

    def _give_up(self, spec: LawSpec) -> None:
        if (gone := self._tables.pop(spec, None)) is not None:
            gone.table = None

    def clear(self) -> None:
        """Give up all tables."""
        for spec in self._tables.copy():
            self._give_up(spec)

    def __len__(self) -> int:
        return len(self._tables)

    def memory(self) -> int:
        """Return how many bytes the tables take."""
        return sum(kept.memory for kept in self._tables.copy().values())
