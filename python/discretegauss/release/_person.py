"""One statement about a person, and how far one person changes a table, exactly.

`docs/concepts/person.md` proves these bounds. `tests/release/test_person.py` compares them with
every possible person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from .._inputs.keywords import with_hints
from .._inputs.messages import describe, refused
from .._inputs.privacy_arguments import word_count
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..privacy.joint import Joint
from ..privacy.sensitivity import Sensitivity

UNNAMED = "\0row"
"""The key of the rows in `Counting.by` if the columns by which they group records are unknown."""

Neighbours = Literal["add or remove", "replace"]
Counted = Literal["records", "people"]


@dataclass(frozen=True, init=False)
class Person:
    """A statement that is true of the records of every person.

    Parameters
    ----------
    records : int
        The most records that one person has.
    distinct : str or sequence of str, optional
        Columns in which no two records of a person agree. Without them, all records of a person may
        agree in everything. No file can show whether this is true.
    per_cell : int, optional
        With `distinct`: the most records of a person that agree in all of those columns.
    neighbours : "add or remove" or "replace", optional
        Whether neighbours differ by one person, or by the records of one person.
    id : str, optional
        The column that says whose record it is. `Plan.count` keeps no more of a person's records
        than the statement says; without it the statement is a promise.

    Raises
    ------
    TypeError, ValueError
        If a parameter is wrong.

    Examples
    --------
    >>> Person(3, distinct=["town", "age"])
    Person(records=3, distinct=('town', 'age'), per_cell=1, neighbours='add or remove', id=None)
    """

    records: int
    distinct: tuple[str, ...]
    per_cell: int
    neighbours: Neighbours
    id: str | None

    @with_hints
    def __init__(
        self,
        records: int,
        distinct: str | Sequence[str] | None = None,
        per_cell: int = 1,
        neighbours: Neighbours = "add or remove",
        id: str | None = None,  # noqa: A002  # the column's usual name
    ) -> None:
        most = word_count(records, "records")
        names = () if distinct is None else names_of(distinct, "distinct")
        if distinct is not None and not names:
            raise ParameterValueError("distinct must name at least one column, or be left out")
        alike = word_count(per_cell, "per_cell")
        if alike > 1 and not names:
            raise ParameterValueError(f"per_cell needs distinct, got {alike} without it")
        if not isinstance(neighbours, str) or neighbours not in ("add or remove", "replace"):
            raise refused("neighbours", "be 'add or remove' or 'replace'", neighbours)
        if id is not None and (not isinstance(id, str) or not id):
            raise refused("id", "be the name of a column", id, ParameterTypeError)
        values = {"records": most, "distinct": names, "per_cell": alike, "neighbours": neighbours}
        values["id"] = id
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        """Return the statement as a report prints it."""
        records = f"at most {self.records} record{'s' if self.records > 1 else ''}"
        how = ""
        if self.distinct and self.records > 1:
            same = "no two" if self.per_cell == 1 else f"at most {self.per_cell}"
            how = f", {same} of them in the same {' and '.join(self.distinct)}"
        then = "one person more or less"
        if self.neighbours == "replace":
            then = "the records of one person replaced"
        return f"{records}{how}; {then}"


@dataclass(frozen=True, kw_only=True)
class Counting:
    """The records that the rows and columns of a table count."""

    #: The columns by which the table groups the records; none if it has one row.
    by: tuple[str, ...] = ()
    #: The key whose values are the names of the columns of counts.
    across: str | None = None
    #: The number of columns of counts.
    columns: int = 1
    #: The range of each record's part of a sum, or None if it adds 1.
    values: tuple[int, int] | None = None
    #: Whether each record of a person in a row is counted, or the person once.
    counts: Counted = "records"

    @property
    def is_named(self) -> bool:
        """Return whether the columns in `by` are known."""
        return UNNAMED not in self.by

    @property
    def keys(self) -> frozenset[str]:
        """Return the columns in which the records of one cell agree."""
        return frozenset(self.by) | ({self.across} if self.across is not None else set())

    @property
    def most(self) -> int:
        """Return the most by which one record changes one cell."""
        return 1 if self.values is None else max(map(abs, self.values))

    @property
    def at_once(self) -> int:
        """Return the number of columns in which one record is counted."""
        return 1 if self.across is not None else self.columns


def names_of(names: object, name: str) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    several = (names,) if isinstance(names, str) else names
    if not isinstance(several, Sequence):
        raise ParameterTypeError(
            f"{name} must be a string, or several strings, got {describe(names)}"
        )
    seen = set()
    for one in several:
        if not isinstance(one, str):
            raise ParameterTypeError(f"{name} must be strings, got {type(one).__name__}")
        if not one:
            raise refused(name, "not be empty", one)
        if one in seen:
            raise ParameterValueError(f"{name} must name each column once, got {one!r} twice")
        seen.add(one)
    return tuple(several)


def require_person(person: object) -> None:
    """Refuse an object that is not a Person."""
    if not isinstance(person, Person):
        raise ParameterTypeError(f"person must be a release.Person, got {describe(person)}")


def checked_counting(
    *,
    by: object,
    across: object = None,
    columns: int = 1,
    values: object = None,
    counts: object = "records",
) -> Counting:
    """Return what a table counts, from a user's arguments."""
    keys = names_of(by, "by")
    if across is not None:
        if not isinstance(across, str) or not across:
            raise refused("across", "be the name of a key", across, ParameterTypeError)
        if across in keys:
            raise ParameterValueError(f"across must not be in by, got {across!r}")
    if not isinstance(counts, str) or counts not in ("records", "people"):
        raise refused("counts", "be 'records' or 'people'", counts)
    if values is not None and counts == "people":
        raise ParameterValueError(
            "values needs counts = 'records', because people are counted once"
        )
    return Counting(
        by=keys,
        across=across,
        columns=columns,
        values=None if values is None else _range_of(values),
        counts="people" if counts == "people" else "records",
    )


def _range_of(values: Any) -> tuple[int, int]:
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != 2:
        raise ParameterTypeError(
            f"values must be two integers, the least and the largest, got {describe(values)}"
        )
    for one in values:
        if isinstance(one, bool) or not isinstance(one, int):
            raise ParameterTypeError(f"values must be integers, got {describe(one)}")
        if one.bit_length() > 64:
            raise refused("values", "be below 2**64 in size", one, ParameterOverflowError)
    low, high = values
    if low > high or low == high == 0:
        raise ParameterValueError(
            "values must be the least and the largest that a record adds, not both 0, "
            f"got {low} and {high}"
        )
    return low, high


def change(person: Person, table: Counting) -> Sensitivity:
    """Return how far one person changes a table."""
    k, signed = person.records, table.values is not None and table.values[0] < 0
    replaced = person.neighbours == "replace"
    sides = 2 if replaced else 1
    rows, cells = sides * k if table.by else 1, k if table.keys else 1
    most = 2 * k * table.at_once
    if table.counts == "people":
        one = Sensitivity.of_parts(Fraction(1), sides * cells * table.at_once)
        return one._replace(counts=most, rows=rows)
    alike = _alike(person, table)
    in_one = min(person.per_cell, k) if alike else k
    norm2 = (_most_pairs(person) if alike else k**2) * table.at_once * table.most**2
    parts = None
    if in_one == 1 and not (signed and replaced):
        parts = sides * k * table.at_once
    elif not table.keys and not replaced:
        parts = table.at_once
    return Sensitivity(
        norm2=Fraction(norm2 * _factor(person, table)),
        l1=Fraction(sides * k * table.most * table.at_once),
        each=Fraction(table.most * in_one * (2 if signed and replaced else 1)),
        counts=most,
        rows=rows,
        parts=parts,
    )


def together(person: Person, tables: Sequence[Counting], weights: Sequence[Fraction]) -> Fraction:
    """Return the largest weighted sum of the squared norms of one person's changes."""
    own, of_records = Fraction(0), []
    for table, weight in zip(tables, weights, strict=True):
        if table.counts == "people":
            own += weight * change(person, table).norm2
        else:
            a = weight * table.at_once * table.most**2 * _factor(person, table)
            of_records.append((table, a))
    every = sum((a for _, a in of_records), Fraction(0))
    apart = every
    if person.distinct:
        apart = max(
            sum((a for table, a in of_records if column not in table.keys), Fraction(0))
            for column in person.distinct
        )
    return own + apart * person.records**2 + (every - apart) * _most_pairs(person)


def joint(person: Person, tables: Sequence[Counting], others: Sequence[Counting] = ()) -> Joint:
    """Return the tables as one person changes them together; refuse unknown columns.

    The others are tables of the same plan whose cost is not part of it.
    """
    require_known(person, [*tables, *others])
    return Joint([change(person, table) for table in tables], partial(together, person, tables))


def require_known(person: Person, tables: Sequence[Counting]) -> None:
    """Refuse a column of `distinct` that no table has. A typing error would cost noise unseen."""
    known = frozenset[str]().union(*(table.keys for table in tables))
    for column in person.distinct:
        if column not in known:
            raise ParameterValueError(
                f"distinct must name columns of by or across, but {column!r} is in neither"
            )


def _alike(person: Person, table: Counting) -> bool:
    """Return whether records in one cell agree in all columns of `distinct`."""
    return bool(person.distinct) and table.keys.issuperset(person.distinct)


def _most_pairs(person: Person) -> int:
    """Return the most ordered pairs of one person's records that agree in `distinct`."""
    if not person.distinct:
        return person.records**2
    of_one = min(person.per_cell, person.records)
    groups, remainder = divmod(person.records, of_one)
    return groups * of_one**2 + remainder**2


def _factor(person: Person, table: Counting) -> int:
    if person.neighbours == "add or remove":
        return 1
    return 4 if table.values is not None and table.values[0] < 0 else 2
