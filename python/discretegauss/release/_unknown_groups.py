"""Release a table whose rows were not known beforehand: only rows of enough people are written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._inputs.decimal_text import rounded_up
from .._inputs.messages import number_of, printable
from .._inputs.numbers import checked_flag
from .._inputs.paths import named_path
from .._inputs.source import Source
from .._system.atomic_file import atomic_write, no_op
from ..data.person import Person
from ..errors import OutputError, ParameterValueError, TableError
from ..selection import KeepRule, keep_groups, keep_rule
from ._csv_rows import csv_bytes
from ._files import checked_delimiter, checked_destination, formats_of, opened_table
from ._plan import column_names
from ._report import aligned


@dataclass(frozen=True, kw_only=True)
class GroupsRelease:
    """What the release of groups did; printed, it is the report.

    Attributes
    ----------
    rows : int
        How many groups were kept. How many there were is not told.
    epsilon : object
        As asked for.
    rule : KeepRule
        The noise, the threshold, and the delta that is spent.
    """

    table: Path
    column: str
    out: Path
    rows: int
    groups_per_person: int
    epsilon: object
    rule: KeepRule
    seconds: float

    def __str__(self) -> str:
        lines = [
            ("table", printable(str(self.table))),
            ("column", printable(self.column)),
            ("written to", f"{printable(str(self.out))}, {number_of(self.rows, 'group')}"),
            ("kept", f"groups whose noisy count is above {self.rule.threshold}"),
            ("law", f"{self.rule.law!r}, one independent draw for each group"),
            ("groups a person", str(self.groups_per_person)),
            ("(epsilon, delta)", f"({self.epsilon}, {rounded_up(Fraction(self.rule.delta))})"),
            ("time", f"{self.seconds:.2f} s"),
        ]
        return aligned(lines)


def release_groups(
    table: str | os.PathLike[str],
    column: str,
    out: str | os.PathLike[str],
    *,
    epsilon: object,
    delta: object,
    groups_per_person: int = 1,
    person: Person | None = None,
    delimiter: str | None = None,
    force: bool = False,
    source: Source = "chacha20",
    before_placing: Callable[[], None] = no_op,
) -> GroupsRelease:
    """Write those rows of a table that may be named, with noisy counts; see `keep_groups`.

    For tables whose rows are there because people are in them: a group of one would give that
    person away. Rows are sorted by what they are called, as their order would be published.

    Parameters
    ----------
    table : str or os.PathLike of str
        As for `release_table`: each group one row, with the number of people in it.
    column : str
        The column of counts. All others say which group it is.
    out : str or os.PathLike of str
        Where to write: text, named .csv.
    epsilon, delta : number
        The budget; delta below 1/4.
    groups_per_person : int
        In how many rows one person is counted, at most. How many rows there are is a secret, so
        they are not compared.
    person : Person, optional
        In the place of that: `distinct` are the columns that name a group, so that a person is
        counted once in each of `records` groups.
    delimiter : ",", ";", "|" or a tab, optional
        Of both; by default a comma in ``out``, and what the name says in the table.
    force : bool
        Whether to replace ``out`` if it exists.
    source : "getrandom", "chacha20" or callable
        Where random bits come from.
    before_placing : callable
        Called when all is done but giving the file its name.

    Returns
    -------
    GroupsRelease
        What was done; printed, it is the report.

    Raises
    ------
    TableError, OutputError, TypeError, ValueError, OverflowError, ImportError, OSError
        As `release_table`; a TableError also if two rows are of one group, or a count is negative.

    Notes
    -----
    Guarantee: as `discretegauss.selection.keep_groups`. ``out`` is written whole or left as it was.
    The table is held in memory.
    """
    start = time.perf_counter()
    if person is not None:
        groups_per_person = person.records
    rule = keep_rule(epsilon, delta, groups_per_person)
    force = checked_flag(force, "force")
    read, written = named_path(table, "table"), named_path(out, "out")
    names = column_names(column)
    if len(names) != 1:
        raise ParameterValueError(f"column must name one column of counts, got {len(names)}")
    delimiter = checked_delimiter(delimiter)
    of_table, _ = formats_of(read, read, delimiter)
    destination = checked_destination(read, written, force=force)
    if written.suffix.lower() != ".csv":
        raise OutputError(f"{written}: must end in .csv, as groups are written so")
    with opened_table(read, names, of_table, of_table) as opened:
        if person is not None:
            _require_once(person, opened.other_columns)
        groups: dict[tuple[str, ...], int] = {}
        n = 0
        for chunk in opened.chunks():
            (cells,) = chunk.cells
            integers = cells.integers if cells.nulls is None else cells.integers * ~cells.nulls
            counts: list[Any] = integers.tolist()
            groups.update(zip(chunk.other_cells(), counts, strict=True))
            n += len(counts)
        header = (*opened.other_columns, names[0])
    if len(groups) < n:
        raise TableError(f"{read}: each group must have one row, but some have several")
    if min(groups.values(), default=0) < 0:
        raise TableError(f"{read}: column {names[0]!r} must have no negative count")
    ordered = dict(sorted(groups.items()))
    kept = keep_groups(ordered, epsilon, delta, groups_per_person, source=source)
    rows = [header, *((*group, count) for group, count in kept.items())]
    with atomic_write(destination, replace=force, before_placing=before_placing) as write:
        write(csv_bytes(rows, delimiter or ","))
    return GroupsRelease(
        table=read,
        column=names[0],
        out=written,
        rows=len(kept),
        groups_per_person=groups_per_person,
        epsilon=epsilon,
        rule=rule,
        seconds=time.perf_counter() - start,
    )


def _require_once(person: Person, names: Sequence[str]) -> None:
    """Refuse a statement by which a person may be counted more than once in a group."""
    once = set(person.distinct) == set(names) and person.per_cell == 1
    if person.records > 1 and not once:
        raise ParameterValueError(
            "distinct must be the columns that name a group, all of them, and per_cell 1: a person "
            "is counted once in a group"
        )
    if person.neighbours != "add or remove":
        raise ParameterValueError(
            "neighbours must be 'add or remove' for groups that nobody knew, got 'replace'"
        )
