"""A table of counts, published every day by the command line; `Running` does the same in Python."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._inputs.messages import printable
from ..._inputs.paths import named_path
from ..._system.atomic_file import atomic_write, no_op
from ...errors import DiscreteGaussError, OutputError, ParameterValueError, TableError
from .._csv_rows import csv_bytes
from .._destinations import File, checked_destinations, exists_already
from .._files import Format, checked_delimiter, formats_of, open_table
from .._plan import column_names
from .._report import aligned
from .inputs import Key, checked_day, order_of
from .running import Published, Running
from .settings import start_state


@dataclass(frozen=True, kw_only=True)
class DayRelease:
    """A day of running counts that was written; printing it shows the report."""

    table: Path
    column: str
    out: Path
    day: str
    run: Running

    def __str__(self) -> str:
        lines = [
            ("table", printable(str(self.table))),
            ("column", printable(self.column)),
            ("day", self.day),
            ("written to", printable(str(self.out))),
        ]
        return f"{aligned(lines)}\n{self.run}"


def release_day(
    table: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str],
    day: object,
    column: object = None,
    start: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
    integral_floats: bool = False,
    force: bool = False,
    before_placing: Callable[[], None] = no_op,
) -> DayRelease:
    """Measure a day's counts and write them, with the totals of all days so far.

    The day is one of `Running.add`. All columns but the one of counts are the names of the series,
    which are the same every day, in any order of the rows. The column of counts is by default that
    of the first day. `start` has the parameters of `start_state` besides path and keys: make the
    state first.

    `out` is a .csv file. A file of an earlier day of this state, or of this day, is replaced, and
    with `force` another file. A file with a day that the state lacks is never replaced, because
    then the state is an old copy, which would measure that day again. `before_placing` is called
    when the file is complete and lacks only its name.
    """
    read, written, path = named_path(table, "table"), named_path(out, "out"), Path(state)
    label = checked_day(day)
    delimiter = checked_delimiter(delimiter)
    of_table, _ = formats_of(read, read, delimiter)
    inputs = [File(read, "the table itself"), File(path, "the state")]
    (destination,) = checked_destinations([File(written, "the output")], inputs, force=True)
    if written.suffix.lower() != ".csv":
        raise OutputError(f"{written} must end in .csv, because running counts are written as CSV")
    run = None if start is not None else Running(path)
    name = _column(column, run)
    names, keys, counts = _read(read, name, of_table, floats=integral_floats)
    if run is not None and (run.keys is None) != (keys is None):
        raise TableError(f"{read}: its columns must be those of the first day")
    header = ["day", *names, name, f"{name}_total"]
    if len(set(header)) < len(header):
        raise TableError(f"{read}: no other column may be named day or {name}_total")
    if destination.exists():
        _require_newest(run, destination, header, path, force=force, delimiter=delimiter or ",")
    if run is None:
        run = Running(start_state(path, keys=keys, column=name, **(start or {})))
    given: Any = (
        int(counts[0]) if keys is None or run.keys is None else counts[order_of(keys, run.keys)]
    )
    published = run.add(given, label)
    try:
        with atomic_write(destination, replace=True, before_placing=before_placing) as write:
            write(csv_bytes(_rows(run, published, header), delimiter or ","))
    except BaseException as error:
        error.add_note(f"{path} has the day; the same command again writes the same file")
        raise
    return DayRelease(table=read, column=name, out=written, day=str(label), run=run)


def as_label(text: str) -> str | int:
    """Return digits as a whole number, and any other text as it is."""
    return int(text) if text.isascii() and text.isdigit() else text


def _column(column: object, run: Running | None) -> str:
    """Return the name of the column of counts."""
    if column is None:
        if run is None or run.column is None:
            raise ParameterValueError("column must name the column of counts on the first day")
        return run.column
    names = column_names(column)
    if len(names) != 1:
        raise ParameterValueError(f"column must name one column of counts, got {len(names)}")
    if run is not None and run.column not in (None, names[0]):
        raise ParameterValueError(
            f"column must be {run.column!r}, as on the first day, got {names[0]!r}"
        )
    return names[0]


def _read(
    path: Path, column: str, form: Format, *, floats: bool
) -> tuple[list[str], list[Key] | None, NDArray[Any]]:
    """Return the names of the other columns, their cells in each row, and the counts."""
    keys: list[Key] = []
    parts: list[NDArray[Any]] = []
    with open_table(path, [column], form, form, floats=floats) as table:
        names = list(table.other_columns)
        for chunk in table.chunks():
            (cells,) = chunk.cells
            if cells.nulls is not None and cells.nulls.any():
                raise TableError(f"{path}: column {column!r} must not have empty cells")
            parts.append(np.asarray(cells.integers))
            keys += [row[0] if len(row) == 1 else row for row in chunk.other_cells()]
    counts = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    if not len(counts) or (not names and len(counts) > 1):
        raise TableError(
            f"{path}: it must have one row, or columns that name its rows, got {len(counts)} rows"
        )
    return names, keys if names else None, counts


def _rows(run: Running, published: Published, header: list[str]) -> list[list[Any]]:
    """Return a day as rows of text, in the order of the first day's table."""
    day, value, total = published.day, published.value, published.total
    if run.keys is None:
        return [header, [day, value, total]]
    cells = [[key] if isinstance(key, str) else list(key) for key in run.keys]
    each = zip(cells, value.tolist(), total.tolist(), strict=True)
    return [header, *([day, *key, number, sum_] for key, number, sum_ in each)]


def _require_newest(
    run: Running | None,
    out: Path,
    header: list[str],
    state: Path,
    *,
    force: bool,
    delimiter: str,
) -> None:
    """Refuse an output of a day that the state lacks, and any other file unless with force."""
    content = out.read_bytes()
    try:
        first, row = list(csv.reader(io.StringIO(content.decode()), delimiter=delimiter))[:2]
        label = checked_day(as_label(row[0]))
        is_ours = first == header
    except (ValueError, IndexError, csv.Error, DiscreteGaussError):
        is_ours = False
    if is_ours:
        try:
            if run is None:
                raise ParameterValueError
            published = run.published(label)
        except ParameterValueError:
            raise OutputError(
                f"{out} has {label}, a day that {state} lacks: the state is an old copy, or was "
                "started again, and would measure the same people twice. Restore the newest state"
            ) from None
        is_ours = content == csv_bytes(_rows(run, published, header), delimiter)
    if not is_ours and not force:
        raise exists_already(out)
