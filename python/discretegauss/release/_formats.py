"""Which format a table has, by its name; and what reads and writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from ..errors import OutputError, TableError
from ._arrow_table import opened_arrow_table
from ._csv_table import CsvTable
from ._files import COMPRESSIONS, Compression, opened
from ._interface import Table
from ._npy_table import NpyTable

Kind = Literal["text", "Parquet", "Arrow IPC", ".npy"]

_SUFFIXES: dict[str, tuple[Kind, str]] = {
    ".csv": ("text", ","),
    ".tsv": ("text", "\t"),
    ".tab": ("text", "\t"),
    ".parquet": ("Parquet", ""),
    ".pq": ("Parquet", ""),
    ".arrow": ("Arrow IPC", ""),
    ".feather": ("Arrow IPC", ""),
    ".ipc": ("Arrow IPC", ""),
    ".npy": (".npy", ""),
}
"""Kind and delimiter."""

_BY_PYARROW: tuple[Kind, ...] = ("Parquet", "Arrow IPC")


class Format(NamedTuple):
    """How a table stands in a file, by the ending of its name, below that of a compression."""

    kind: Kind
    delimiter: str
    compression: Compression
    ending: str


def _format_of(path: Path, other: tuple[Kind, str]) -> Format:
    compression = COMPRESSIONS.get(path.suffix.lower())
    ending = (path.with_suffix("") if compression else path).suffix.lower()
    return Format(*_SUFFIXES.get(ending, other), compression, ending)


def formats_of(table: Path, out: Path) -> tuple[Format, Format]:
    """Return the formats of a table and of its output: the same, if its name says no other."""
    of_table = _format_of(table, ("text", ","))
    of_out = _format_of(out, (of_table.kind, of_table.delimiter))
    # another ending means another format, .xlsx say: the file would not be what it says
    if of_out.ending not in {*_SUFFIXES, ".txt", "", of_table.ending}:
        known = ", ".join(name for name, (kind, _) in _SUFFIXES.items() if kind == of_table.kind)
        raise OutputError(
            f"{out}: must end as the table does or in one of {known}, got {of_out.ending!r}"
        )
    for path, form, error in ((table, of_table, TableError), (out, of_out, OutputError)):
        if form.kind in _BY_PYARROW and form.compression is not None:
            raise error(f"{path}: {form.kind} compresses its columns; drop {path.suffix!r}")
    kinds = {of_table.kind, of_out.kind}
    if len(kinds) > 1 and not kinds.issubset(_BY_PYARROW):
        raise OutputError(
            f"{out}: a table that is {of_table.kind} is not written as {of_out.kind}; "
            "give the output the table's ending"
        )
    return of_table, of_out


@contextmanager
def opened_table(
    path: Path, columns: Sequence[str], of_table: Format, of_out: Format
) -> Iterator[Table]:
    """Open a table, read its header, and close it in the end. A TableError names the table."""
    try:
        if of_table.kind in _BY_PYARROW:
            with opened_arrow_table(path, columns, of_table.kind, of_out.kind) as table:
                yield table
            return
        with opened(path, of_table.compression) as (file, fraction):
            if of_table.kind == ".npy":
                yield NpyTable(file, columns)
                return
            yield CsvTable(
                file,
                columns,
                delimiter=of_table.delimiter,
                out_delimiter=of_out.delimiter,
                fraction=fraction,
            )
    except TableError as error:
        raise TableError(f"{path}: {error}") from None
