"""Checks of the tables of a plan against each other: one name is one grouping, or one sum."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any

from ..errors import ParameterValueError
from ._person import Counting

Values = dict[str, set[Any]]
"""The values of some keys of a table, without those of `across`."""

TableOfPlan = tuple[str, Counting, Sequence[str]]
"""The name of a table for messages, what it counts, and the names of its columns of counts."""


def shared_keys(counting: Iterable[Counting]) -> frozenset[str]:
    """Return the keys that two tables have."""
    seen, shared = set[str](), set[str]()
    for one in counting:
        shared |= seen & one.keys
        seen |= one.keys
    return frozenset(shared)


def require_one_grouping(
    tables: Sequence[TableOfPlan], values: Sequence[Mapping[str, set[Any]]]
) -> None:
    """Refuse a key by which two tables group differently, such as years and decades.

    The values of a key in one table are a subset of those in the other. The cost of a plan relies
    on it: two records that agree in a key do so in all tables.
    """
    for key in sorted(shared_keys(one for _, one, _ in tables)):
        found = []
        for (name, one, columns), of_table in zip(tables, values, strict=True):
            if one.across == key:
                found.append((name, set(columns), True))
            elif key in of_table:
                found.append((name, of_table[key], False))
        for (first, some, across), (second, others, across_too) in combinations(found, 2):
            if not _are_nested(some, others, as_text=across != across_too):
                raise ParameterValueError(
                    f"{first} and {second} must have the same groups in {key!r}, or one of them "
                    f"some of the other's, because both name it in by or across; give two "
                    "groupings two names, as year and decade"
                )


def _are_nested(some: set[Any], others: set[Any], *, as_text: bool) -> bool:
    if as_text:  # names of columns are texts
        some, others = set(map(text, some)), set(map(text, others))
    return some <= others or others <= some


def require_values(tables: Sequence[TableOfPlan]) -> None:
    """Refuse a column that is a sum in one table, and is said to count records in another."""
    sums = {column: name for name, one, columns in tables if one.values for column in columns}
    for name, one, columns in tables:
        for column in columns:
            if column in sums and one.values is None and one.counts == "records":
                raise ParameterValueError(
                    f"{name} needs values: its column {column!r} is a sum in {sums[column]}, and "
                    "one record changes a sum by more than 1; if it counts records, say "
                    "values = [0, 1], or name the column otherwise"
                )


def value(one: Any) -> Any:
    """Return an object that is equal for equal keys in frames of all libraries."""
    if one is None or one != one or type(one).__name__ == "NAType":
        return None
    if isinstance(one, datetime) and one.tzinfo is None and one == datetime.combine(one, _MIDNIGHT):
        return one.date()
    return one if isinstance(one, Hashable) else repr(one)


_MIDNIGHT = datetime.min.time()


def text(one: Any) -> str:
    """Return the text that a value has as the name of a column."""
    if isinstance(one, float) and one.is_integer():
        one = int(one)
    return "" if one is None else str(one)
