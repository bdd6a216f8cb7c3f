"""Which format a table has, by its name; and what reads and writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import refused
from .._system.atomic_file import Sink
from ..errors import OutputError, TableError
from ._csv_table import CsvTable, column_text
from ._files import COMPRESSIONS, Compression, opened, pyarrow
from ._interface import Table
from ._npy_table import NpyTable, npy_header

Kind = Literal["text", "Parquet", "Arrow IPC", ".npy"]

SUFFIXES: dict[str, tuple[Kind, str]] = {
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
    return Format(*SUFFIXES.get(ending, other), compression, ending)


def checked_delimiter(delimiter: object) -> str | None:
    """Return what delimits the cells of text; None: that its name says it."""
    if delimiter is None or (isinstance(delimiter, str) and delimiter in (*",;|\t",)):
        return delimiter
    raise refused("delimiter", "be ',', ';', '|' or a tab", delimiter)


def formats_of(table: Path, out: Path, delimiter: str | None = None) -> tuple[Format, Format]:
    """Return the formats of a table and of its output: the same, if its name says no other.

    A ``delimiter`` is of both.
    """
    of_table = _format_of(table, ("text", ","))
    of_out = _format_of(out, (of_table.kind, of_table.delimiter))
    # another ending means another format, .xlsx say: the file would not be what it says
    if of_out.ending not in {*SUFFIXES, ".txt", "", of_table.ending}:
        known = ", ".join(name for name, (kind, _) in SUFFIXES.items() if kind == of_table.kind)
        raise OutputError(
            f"{out}: must end as the table does or in one of {known}, got {of_out.ending!r}"
        )
    for path, form, error in ((table, of_table, TableError), (out, of_out, OutputError)):
        if delimiter is not None and form.kind != "text":
            raise error(f"{path}: delimiter goes with text, and this is {form.kind}")
        if delimiter not in (None, "\t") and form.delimiter == "\t":
            raise error(f"{path}: the name says that tabs delimit, not {delimiter!r}")
        if form.kind in _BY_PYARROW and form.compression is not None:
            raise error(f"{path}: {form.kind} compresses its columns; drop {path.suffix!r}")
    kinds = {of_table.kind, of_out.kind}
    if len(kinds) > 1 and not kinds.issubset(_BY_PYARROW):
        raise OutputError(
            f"{out}: a table that is {of_table.kind} is not written as {of_out.kind}; "
            "give the output the table's ending"
        )
    if delimiter is not None:
        return of_table._replace(delimiter=delimiter), of_out._replace(delimiter=delimiter)
    return of_table, of_out


@contextmanager
def column_file(
    sink: Sink, ending: str, name: str, size: int
) -> Iterator[Callable[[NDArray[np.int64]], None]]:
    """Give a function that appends integers to a new file of one column, so many in all."""
    if ending in {".parquet", ".arrow"}:
        pyarrow("a .parquet or .arrow file")
        from ._arrow_table import arrow_file

        with arrow_file(sink, name, is_parquet=ending == ".parquet") as append:
            yield append
    elif ending == ".npy":  # which has the number of values in its first bytes
        sink(npy_header(np.dtype("<i8"), (size,)))
        yield lambda integers: sink(np.asarray(integers, "<i8").data.cast("B"))
    else:
        sink(f"{name}\n".encode() if ending == ".csv" else b"")
        yield lambda integers: sink(column_text(integers))


@contextmanager
def opened_table(
    path: Path, columns: Sequence[str], of_table: Format, of_out: Format
) -> Iterator[Table]:
    """Open a table, read its header, and close it in the end. A TableError names the table."""
    try:
        if of_table.kind in _BY_PYARROW:
            pyarrow(f"a table that is {of_table.kind}")  # or says that it is not there
            from ._arrow_table import opened_arrow_table

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
