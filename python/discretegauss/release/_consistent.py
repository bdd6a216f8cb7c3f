"""Make the noisy tables of a plan add up. Only noisy counts are read: this costs no more budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._system.atomic_file import NewFile
from ..errors import ContradictionError, OutputError, ParameterValueError
from ..estimate import consistent
from ..laws import Law
from ._calibration import Calibration
from ._chunks import Chunk
from ._csv_rows import csv_bytes
from ._destinations import File
from ._files import COMPRESSIONS, SUFFIXES
from ._person import Person
from ._plan import PlannedTable

_ENDINGS = {*COMPRESSIONS, *SUFFIXES, ".txt"}

_LABEL = "\0count"
"""The name of the counts, for which tables may have different names."""


class ConsistentTables:
    """Collects noisy tables while they are written, makes them add up, and writes them as CSV.

    The folder must exist when the tables are written. Each has one column of counts. Its new file
    has the name of the table's output, with the ending .csv. `outputs` are the new files.
    """

    def __init__(self, folder: Path, tables: Sequence[PlannedTable], person: Person | None) -> None:
        for one in tables:
            if (n := len(one.columns)) != 1:
                raise ParameterValueError(
                    "each table must have one column of counts if tables are made to add up, got "
                    f"{n}"
                )
        if person is not None and len({_counted(one, person) for one in tables}) > 1:
            raise ParameterValueError(
                "tables must all count records or all sum the same values if they are made to add "
                "up: a person counted once in each of several rows is counted once in their sum"
            )
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} is not a folder")
        self.outputs = [
            File(
                folder / f"{_stem(one.out)}.csv",
                f"the consistent table {i}",
                costs=False,
                in_new_folder=not folder.exists(),
            )
            for i, one in enumerate(tables, 1)
        ]
        self.folder = folder
        self._given = tables, person
        self._counts = [one.columns[0] for one in tables]
        self._tables: list[_FileRows] = []

    def next_table(self, release: Calibration, other_columns: Sequence[str], /) -> _FileRows:
        """Return the collector of the next table's noisy counts."""
        self._tables.append(_FileRows(release.law, other_columns))
        return self._tables[-1]

    def another(self) -> ConsistentTables:
        """Return a collector for the same tables."""
        return ConsistentTables(self.folder, *self._given)

    def fitted(self) -> list[dict[str, Any]]:
        """Return the tables that add up, or refuse them."""
        tables = [table.as_columns(_LABEL) for table in self._tables]
        return consistent(tables, [table.law for table in self._tables], _LABEL)

    def write(self, files: Sequence[NewFile]) -> tuple[tuple[Path, float], ...]:
        """Write the files, which get their names later. Return each with its gain in variance."""
        try:
            fitted = self.fitted()
        except ContradictionError as error:
            error.add_note(
                "no table is written, but this error depends on the noisy counts, so the budget is "
                "spent"
            )
            raise
        gains = []
        for table, columns, count, file in zip(
            self._tables, fitted, self._counts, files, strict=True
        ):
            with file.content() as write:
                keys = table.other_columns
                new = ("error", "low", "high")
                rows = zip(*(columns[key] for key in (*keys, _LABEL, *new)), strict=True)
                write(csv_bytes([(*keys, count, *new), *rows]))
            mean = float(np.mean(np.square(columns["error"])))
            gains.append((file.path, float(table.law.var()) / mean))
        return tuple(gains)


class _FileRows:
    """The rows of a table: the cells of the other columns, and the noisy counts."""

    def __init__(self, law: Law, other_columns: Sequence[str]) -> None:
        self.law, self.other_columns = law, tuple(other_columns)
        self._cells: list[tuple[str, ...]] = []
        self._noisy: list[int] = []

    def add(self, chunk: Chunk, noisy: list[NDArray[Any]]) -> None:
        """Take the next rows."""
        self._cells += chunk.other_cells()
        self._noisy += noisy[0].tolist()

    def as_columns(self, label: str) -> dict[str, list[Any]]:
        """Return the table as `consistent` takes it."""
        columns = zip(*self._cells, strict=True) if self.other_columns else ()
        cells = dict(zip(self.other_columns, map(list, columns), strict=True))
        return {**cells, label: self._noisy}


def _counted(one: PlannedTable, person: Person) -> object:
    """Return a key that is equal for tables whose counts may add up."""
    if one.counting is None or (one.counting.counts == "people" and person.records > 1):
        return one.where
    return one.counting.values


def _stem(out: Path) -> str:
    name = Path(out.name)
    while name.suffix.lower() in _ENDINGS:
        name = name.with_suffix("")
    return str(name)
