"""The codes of records whose groups nobody listed.

A code stands for all that a record says, in the order of the listed combinations and of the unknown
keys. Which number it is depends on everybody. The order of two codes depends on these two alone, so
that a tie between two records of a person tells nothing about others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..data.keys import places_in_order
from ._categories import Categories, Codes, Column


class Combinations:
    """What the codes of records stand for: a listed combination, and values of unknown keys.

    `found` has the rows of the query, `cells` the listed combination of each, and `columns` the
    columns of unknown tables.
    """

    def __init__(
        self, categories: Categories, cells: Codes, columns: Mapping[str, Column], found: Any
    ) -> None:
        self._categories, self.codes = categories, cells
        self._cells: Codes | None = None
        if not columns:
            return
        ranks = {name: _ranks(*column) for name, column in columns.items()}
        self.codes, first = _numbered([cells, *ranks.values()])
        self._cells = cells[first]
        self._ranks = {name: one[first] for name, one in ranks.items()}
        self._keys = found.select(*columns)[first]

    def rows(self, by: Sequence[str], codes: Codes) -> Codes:
        """Return the row of each code in a table by listed columns."""
        return self._categories.rows(by, codes if self._cells is None else self._cells[codes])

    def agreeing(self, columns: Sequence[str], codes: Codes) -> Codes:
        """Return a number for each code: the same for those that agree in the columns."""
        listed = self.rows(columns, codes)
        free = [self._ranks[name][codes] for name in columns if name in self._categories.free]
        return _numbered([listed, *free])[0] if free else listed

    def groups(self, by: Sequence[str]) -> tuple[Codes, Any]:
        """Return the group of each code in an unknown table, and the keys of the groups."""
        numbers, first = _numbered([self._ranks[name] for name in by])
        return numbers, self._keys.select(*by)[first]


def _ranks(codes: Codes, values: Sequence[Any]) -> Codes:
    """Return the place of each row's value in the order of the values."""
    ranks = np.empty(len(values), np.int64)
    ranks[places_in_order([values], [0] * len(values))] = np.arange(len(values))
    return ranks[codes]


def _numbered(columns: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Number the distinct rows of columns in their order; also return a place of each."""
    order = np.lexsort(columns[::-1])
    new = np.zeros(order.size, np.bool_)
    new[:1] = True
    for one in columns:
        new[1:] |= np.diff(one[order]) != 0
    numbers = np.empty(order.size, np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]
