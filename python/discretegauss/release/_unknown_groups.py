"""Release a table whose rows depend on the people in it. Only groups of enough people are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._inputs.decimal_text import rounded_up
from .._inputs.draw_arguments import checked_source
from .._inputs.messages import number_of, printable
from .._inputs.numbers import checked_flag, exact_rational
from .._inputs.paths import named_path
from .._inputs.source import Source
from .._system.atomic_file import atomic_write, no_op, probed
from ..errors import OutputError, ParameterValueError, TableError
from ..privacy.ledger import Entry, Ledger, open_ledger, recorded
from ..selection import KeepRule, keep_groups, keep_rule
from ._csv_rows import csv_bytes
from ._destinations import File, checked_destinations
from ._files import checked_delimiter, formats_of, open_table
from ._person import Person
from ._plan import column_names
from ._report import aligned, ledger_lines


@dataclass(frozen=True, kw_only=True)
class GroupsRelease:
    """A release of groups; printing it shows the report.

    Nothing in it depends on the groups that were dropped. It has no time, which tells about how
    many rows were read.
    """

    table: Path
    column: str
    out: Path
    rows: int  # those that were kept; how many groups the table had is a secret
    groups_per_person: int
    epsilon: object  # as typed
    rule: KeepRule  # the noise, the threshold, and the delta that is spent
    ledger: Entry | None = None

    def __str__(self) -> str:
        lines = [
            ("table", printable(str(self.table))),
            ("column", printable(self.column)),
            ("written to", f"{printable(str(self.out))}, {number_of(self.rows, 'group')}"),
            ("kept", f"groups whose noisy count is above {self.rule.threshold}"),
            ("law", f"{self.rule.law!r}, one independent draw for each group"),
            ("groups a person", str(self.groups_per_person)),
            ("(epsilon, delta)", f"({self.epsilon}, {rounded_up(Fraction(self.rule.delta))})"),
        ]
        return aligned([*lines, *ledger_lines(self.ledger)])


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
    integral_floats: bool = False,
    force: bool = False,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    source: Source = "chacha20",
    before_placing: Callable[[], None] = no_op,
) -> GroupsRelease:
    """Write the groups that may be named, with noisy counts; see `keep_groups`.

    A row exists because people are in its group, so a group of one would give that person away. The
    rows are sorted by their keys, because their order is published.

    The arguments are those of `release_table` and `keep_groups`. The table, which is held in
    memory, has one row for each group. `column` counts people, and all other columns are the key of
    the group. `groups_per_person` is the most rows in which one person is counted. It is not
    compared with the number of rows, which is a secret. `person` takes its place: a person is
    counted once in each of `records` groups, and `distinct` names all columns of the key. A table
    is refused if two rows are one group, or if a count is negative. `before_placing` is called when
    the file is complete and lacks only its name.
    """
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
    inputs = [File(read, "the table itself")]
    bits, ledger = checked_source(source), open_ledger(ledger)
    if ledger is not None:
        inputs.append(File(ledger.path, "the ledger"))
    (destination,) = checked_destinations([File(written, "the output")], inputs, force=force)
    if written.suffix.lower() != ".csv":
        raise OutputError(f"{written} must end in .csv, because groups are written as CSV")
    floats = checked_flag(integral_floats, "integral_floats")
    with open_table(read, names, of_table, of_table, floats=floats) as table_file:
        if person is not None:
            _require_once(person, table_file.other_columns)
        groups: dict[tuple[str, ...], int] = {}
        n = 0
        for chunk in table_file.chunks():
            (cells,) = chunk.cells
            integers = cells.integers if cells.nulls is None else cells.integers * ~cells.nulls
            counts: list[Any] = integers.tolist()
            groups.update(zip(chunk.other_cells(), counts, strict=True))
            n += len(counts)
        header = (*table_file.other_columns, names[0])
    if len(groups) < n:
        raise TableError(f"{read}: each group must have one row, but some have several")
    if min(groups.values(), default=0) < 0:
        raise TableError(f"{read}: column {names[0]!r} must not have negative counts")
    what = {"table": str(read), "column": names[0], "out": str(written), "law": repr(rule.law)}
    spent = min(Fraction(rule.delta), exact_rational(delta, "delta"))
    with (
        probed([] if ledger is None else [destination]),
        recorded(
            ledger,
            what=what,
            epsilon=epsilon,
            delta=spent,
            neighbours="add or remove",
        ) as entry,
    ):
        groups = keep_groups(groups, epsilon, delta, groups_per_person, source=bits)
        rows = [header, *((*group, count) for group, count in groups.items())]
        with atomic_write(destination, replace=force, before_placing=before_placing) as write:
            write(csv_bytes(rows, delimiter or ","))
    return GroupsRelease(
        table=read,
        column=names[0],
        out=written,
        rows=len(groups),
        groups_per_person=groups_per_person,
        epsilon=epsilon,
        rule=rule,
        ledger=entry,
    )


def _require_once(person: Person, names: Sequence[str]) -> None:
    """Refuse a statement by which a person may be counted more than once in a group."""
    once = set(person.distinct) == set(names) and person.per_cell == 1
    if person.records > 1 and not once:
        raise ParameterValueError(
            "distinct must be all columns that name a group, and per_cell must be 1, because a "
            "person is counted once in a group"
        )
    if person.neighbours != "add or remove":
        raise ParameterValueError(
            "neighbours must be 'add or remove' for unknown groups, got 'replace'"
        )
