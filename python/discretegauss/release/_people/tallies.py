"""The true counts of tables of people, over the records that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import ParameterOverflowError, ParameterValueError
from .._person import Counting, Person
from .categories import Categories, Codes
from .kept import Numbers, kept
from .query import Sums, evaluated, query

OURS = ("error", "low", "high")
"""The columns of a result beside its keys and numbers."""


class Asked(NamedTuple):
    """A table that is asked for."""

    name: str
    counting: Counting
    column: str | None  # the column that is summed
    label: str  # the name of the column of numbers in the result
    unknown: bool = False  # whether nobody listed its groups


class Tally(NamedTuple):
    """The true numbers of a table, in the order of its rows; their keys if nobody listed them."""

    total: Codes
    keys: Any = None


def asked(
    name: str,
    counting: Counting,
    columns: Sequence[str] | None,
    person: Person,
    *,
    unknown: bool = False,
) -> Asked:
    """Return a table of a plan as people are counted for it, or refuse it."""
    where = f"tables[{name!r}]"
    if counting.across is not None or counting.columns != 1:
        raise ParameterValueError(
            f"{where} must have one column and no across to be counted: name the key in by"
        )
    if counting.counts == "people" and person.records > 1 and person.id is None:
        raise ParameterValueError(f"{where} with counts = 'people' needs a Person with id")
    if counting.values is not None and columns is None:
        raise ParameterValueError(f"{where} must name in columns the column that it sums")
    if counting.values is not None and max(map(abs, counting.values)) >= 2**63:
        raise ParameterOverflowError(f"{where} must have values below 2**63 in size")
    label = columns[0] if columns else "n"
    for key in counting.by:
        if key in (label, *OURS):
            raise ParameterValueError(
                f"{where} must not have {key!r} in by, because the result has a column of numbers "
                "of this name"
            )
    if label in OURS:
        raise ParameterValueError(f"{where} must not have the column {label!r}: the result has one")
    column = columns[0] if columns and counting.values else None
    return Asked(name, counting, column, label, unknown)


def sums_of(tables: Sequence[Asked]) -> Sums:
    """Return the columns that are summed, with their values."""
    sums: dict[str, tuple[int, int]] = {}
    for one in tables:
        if one.column is not None and one.counting.values is not None:
            values = one.counting.values
            if sums.setdefault(one.column, values) != values:
                raise ParameterValueError(f"all sums of {one.column!r} must have the same values")
    return sums


def tallies(
    frame: Any, person: Person, tables: Sequence[Asked], categories: Categories, numbers: Numbers
) -> list[Tally]:
    """Return the true numbers of each table."""
    sums = sums_of(tables)
    few = person.records
    if person.distinct:
        few = min(few, person.per_cell)
    if any(_once(one, person) for one in tables):
        few = 1  # who has two records may be twice in a row
    counted = evaluated(query(frame, person, categories, sums, few), person, categories, sums)
    every = counted.combinations
    named, ids = kept(
        counted.named,
        counted.ids,
        person,
        lambda cells: every.agreeing(person.distinct, cells),
        numbers,
    )
    found = []
    for one in tables:
        of_both, keys = (counted.few.cells, named.cells), None
        if one.unknown:
            groups, keys = every.groups(one.counting.by)
            rows, n_rows = [groups[codes] for codes in of_both], len(keys)
        else:
            rows = [every.rows(one.counting.by, codes) for codes in of_both]
            n_rows = categories.n_rows(one.counting.by)
        total = np.zeros(n_rows, np.int64)
        place = list(sums).index(one.column) if one.column is not None else -1
        if _once(one, person):
            pairs = np.sort(ids * total.size + rows[1])  # ten times faster than np.unique
            rows[1] = pairs[np.diff(pairs, prepend=-1) > 0] % total.size
            parts = [counted.few.number, np.ones(rows[1].size, np.int64)]
        else:
            parts = [x.number if place < 0 else x.sums[place] for x in (counted.few, named)]
        for at, part in zip(rows, parts, strict=True):
            np.add.at(total, at, part)
        found.append(Tally(total, keys))
    return found


def _once(one: Asked, person: Person) -> bool:
    """Return whether a person's records in a row are counted once."""
    return one.counting.counts == "people" and person.records > 1
