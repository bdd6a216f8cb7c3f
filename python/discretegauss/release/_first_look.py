"""What is asked of a table's rows before anything is drawn: totals, rows of people, groupings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.cells import Cells
from ..data.identifiers import (
    FEWEST_ROWS,
    N_LOOKED_AT,
    look_like_people,
    names_people,
    refusal,
)
from ..data.totals import MOST_KEYS, MOST_ROWS, Alone, codes_of, require_no_total
from ..errors import TableError
from ._chunks import Chunk, FileTable, column_indices
from ._groupings import Values
from ._person import Counting, Person, change
from ._plan import PlannedTable

_MOST_COUNTS = 2**20
"""A table with more counts is not held. While it is written, it is looked at for a total row."""

_WHOLE = re.compile(r"(-?[0-9]+)\.0+")


class FirstLook:
    """Takes the rows of a table in a file, and refuses it if they contradict the statement.

    `one` and `person` are the statement. `shared` has the keys whose values are compared with those
    of other tables.
    """

    def __init__(
        self, one: PlannedTable, table: FileTable, person: Person | None, shared: frozenset[str]
    ) -> None:
        others = table.other_columns
        by = one.counting.by if one.counting is not None and one.has_groups else None
        self._by = () if by is None else by
        keys = others if by is None else by
        self._alone = alone_of(one, person)
        self._names = keys if 1 < len(keys) <= MOST_KEYS and len({*others}) == len(others) else ()
        self._places = column_indices(others, self._names)
        self._asked = [i for i, name in enumerate(others) if name not in self._by]
        self._others, self._columns, self._place = others, table.columns, table.place
        self._counts: list[list[Cells]] = []
        self._keys: list[tuple[str, ...]] = []
        self._rows_seen, self._is_held = 0, any(self._alone)
        self._apart: dict[int, set[str]] | None = None
        self._shared = [(name, i) for i, name in enumerate(others) if name in shared & {*self._by}]
        self._values: Values = {name: set() for name, _ in self._shared}

    @property
    def is_done(self) -> bool:
        """Return whether no more rows are needed."""
        of_people = bool(self._apart) and self._rows_seen <= _MOST_COUNTS
        return not (self._is_held or of_people or self._shared)

    def add(self, chunk: Chunk) -> None:
        """Take the next rows."""
        self._rows_seen += chunk.n_rows
        self._look_for_people(chunk)
        if self._is_held and self._rows_seen * len(chunk.cells) > _MOST_COUNTS:
            self._is_held, self._counts, self._keys = False, [], []
        if self._is_held:
            self._counts.append(
                [
                    cells._replace(integers=cells.integers.copy(), label=name)
                    for name, cells in zip(self._columns, chunk.cells, strict=True)
                ]
            )
            if self._names and self._rows_seen <= MOST_ROWS:
                self._keys += chunk.keys(self._places)
            else:
                self._keys = []
        if self._shared:
            for cells in chunk.other_cells():
                for name, i in self._shared:
                    self._values[name].add(cells[i])

    def _look_for_people(self, chunk: Chunk) -> None:
        """Keep the values of columns that may be identifiers, while no two rows agree in them."""
        if self._apart is None:
            rows = islice(chunk.keys(self._asked, N_LOOKED_AT), N_LOOKED_AT)
            first = list(zip(*rows, strict=True))
            self._apart = {
                i: set()
                for i, cells in zip(self._asked, first, strict=True)
                if names_people(self._others[i])
                or look_like_people(cell.strip("'") for cell in cells)
            }
        places = list(self._apart)
        if not places or self._rows_seen > _MOST_COUNTS:
            return
        for cells in chunk.keys(places):
            for i, cell in zip(places, cells, strict=True):
                self._apart[i].add(cell)
        for i in places:
            if len(self._apart[i]) < self._rows_seen:
                del self._apart[i]

    def finish(self) -> Values:
        """Refuse the table, or return the values of its shared keys."""
        if self._apart and self._rows_seen >= FEWEST_ROWS:
            raise TableError(refusal(self._others[next(iter(self._apart))]))
        if self._is_held and self._counts:
            cells = _joined(self._counts)
            require_no_total(cells, self._alone, self._names, self._codes, TableError, self._place)
        return {name: {_whole(text) for text in texts} for name, texts in self._values.items()}

    def _codes(self) -> list[NDArray[np.intp]]:
        return [codes_of(column) for column in zip(*self._keys, strict=True)]


def alone_by(person: Person, counting: Counting) -> Alone:
    """Return what a statement about a person says.

    A record is in one row. Only where one record replaces another does the noise cover a total of
    all rows, too: either the total does not change, or one of the two rows does not.
    """
    across = counting.across is not None
    in_one_row = person.records > 1 or across or change(person, counting).rows == 1
    return Alone(in_one_row, across, has_person=True)


def alone_of(one: PlannedTable, person: Person | None) -> Alone:
    """Return among what a person is said to be counted only once."""
    if person is not None and one.counting is not None:
        return alone_by(person, one.counting)
    in_one_row = one.rows_per_person == 1 and one.sensitivity.denominator == 1
    return Alone(in_one_row, one.disjoint, has_person=False)


def _joined(chunks: Sequence[list[Cells]]) -> list[Cells]:
    if len(chunks) == 1:
        return chunks[0]
    columns = []
    for parts in zip(*chunks, strict=True):
        nulls: Any = None
        if any(part.nulls is not None for part in parts):
            each = [np.zeros(p.integers.size, bool) if p.nulls is None else p.nulls for p in parts]
            nulls = np.concatenate(each)
        integers = np.concatenate([part.integers for part in parts])
        columns.append(Cells(integers, nulls, None, parts[0].label))
    return columns


def _whole(text: str) -> str:
    """Return a number without a fraction of zeros, which only some formats write."""
    match = _WHOLE.fullmatch(text)
    return match[1] if match else text
