"""Keep a uniform sample of the records of each person who has more than the statement says.

First `per_cell` of those that agree in `distinct` are kept, then `records`. Each record gets a
random number, and the first are kept. Equal numbers are put in order by the records themselves, not
by their places, which depend on other people. So one person more or less changes nobody else's
sample: docs/concepts/people.md has the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._person import Person
from .categories import Codes


class Records(NamedTuple):
    """Records: a row for all that are equal."""

    cells: Codes  # the combination of categories, or the code of all that they say
    number: Codes  # the number of equal records
    sums: list[Codes]  # what all of them together add to each sum

    def where(self, rows: NDArray[np.bool_]) -> Records:
        """Return these rows."""
        return Records(self.cells[rows], self.number[rows], [one[rows] for one in self.sums])


Numbers = Callable[[NDArray[Any], Codes, list[Codes]], Codes]
"""Returns a fresh random number for each record, which has this id, combination and part of each
sum. Tests give the records of two neighbours the same numbers by them."""


def kept(
    records: Records,
    ids: NDArray[Any],
    person: Person,
    groups: Callable[[Codes], Codes],
    numbers: Numbers,
) -> tuple[Records, Codes]:
    """Return the records that are kept, and whose they are: 0, 1, ...

    Each row of records belongs to one person, of `ids`. `groups` returns what the records of a
    combination have in the columns of `distinct`.
    """
    most = min(person.records, person.per_cell) if person.distinct else person.records
    names, who = np.unique(ids, return_inverse=True)
    of_each = np.zeros(names.size, np.int64)
    np.add.at(of_each, who, records.number)
    many = (of_each > most)[who]
    of_many, rest = records.where(many), records.where(~many)
    n = of_many.number
    cells, whose = np.repeat(of_many.cells, n), np.repeat(who[many], n)
    sums = [np.repeat(one // n, n) for one in of_many.sums]
    order = np.lexsort((*sums, cells, numbers(names[whose], cells, sums), whose))
    if person.distinct:
        order = order[_first(whose[order], groups(cells[order]), person.per_cell)]
    order = order[_first(whose[order], np.zeros(order.size, np.int64), person.records)]
    found = Records(
        np.concatenate([rest.cells, cells[order]]),
        np.concatenate([rest.number, np.ones(order.size, np.int64)]),
        [np.concatenate([x, one[order]]) for x, one in zip(rest.sums, sums, strict=True)],
    )
    return found, np.concatenate([who[~many], whose[order]])


def _first(ids: Codes, groups: Codes, most: int) -> Codes:
    """Return the places of the first `most` of each (id, group), in the order of places."""
    order = np.lexsort((groups, ids))  # stable
    new = np.ones(order.size, np.bool_)
    new[1:] = (np.diff(ids[order]) != 0) | (np.diff(groups[order]) != 0)
    starts = np.flatnonzero(new)
    rank = np.arange(order.size) - np.repeat(starts, np.diff(np.append(starts, order.size)))
    found: Codes = np.sort(order[rank < most])
    return found
