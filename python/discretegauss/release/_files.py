"""The files of a release: their formats, how they are read, and output to stdout."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import refused
from .._system.atomic_file import Sink, errors_name, sink_to
from ..errors import OutputError, TableError
from ._chunks import FileTable, SinkFile
from ._csv_table import CsvTable, column_text
from ._first_bytes import looks_like
from ._npy_table import NpyTable, npy_header

# --- formats

Kind = Literal["text", "Parquet", "Arrow IPC", ".npy"]
Compression = Literal["gzip", "zstd", None]

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
"""The kind and the delimiter of each ending."""

COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}

_BY_PYARROW: tuple[Kind, ...] = ("Parquet", "Arrow IPC")


class Format(NamedTuple):
    """The format of a table in a file; `ending` is the suffix without that of a compression."""

    kind: Kind
    delimiter: str
    compression: Compression
    ending: str


def _format_of(path: Path, other: tuple[Kind, str]) -> Format:
    compression = COMPRESSIONS.get(path.suffix.lower())
    ending = (path.with_suffix("") if compression else path).suffix.lower()
    return Format(*SUFFIXES.get(ending, other), compression, ending)


def checked_delimiter(delimiter: object) -> str | None:
    """Return the delimiter of text; None if the file's name is to say it."""
    if delimiter is None or (isinstance(delimiter, str) and delimiter in (*",;|\t",)):
        return delimiter
    raise refused("delimiter", "be ',', ';', '|' or a tab", delimiter)


def formats_of(table: Path, out: Path, delimiter: str | None = None) -> tuple[Format, Format]:
    """Return the formats of a table and its output. The table's is the default of the output.

    A ``delimiter`` applies to both.
    """
    of_table = _format_of(table, ("text", ","))
    of_out = _format_of(out, (of_table.kind, of_table.delimiter))
    # Another ending, such as .xlsx, promises a format that the file would not have.
    if of_out.ending not in {*SUFFIXES, ".txt", "", of_table.ending}:
        known = ", ".join(name for name, (kind, _) in SUFFIXES.items() if kind == of_table.kind)
        raise OutputError(
            f"{out} must end as the table does or in one of {known}, got {of_out.ending!r}"
        )
    for path, form, error in ((table, of_table, TableError), (out, of_out, OutputError)):
        if delimiter is not None and form.kind != "text":
            raise error(f"{path}: delimiter must not be given for {form.kind}, which is not text")
        if delimiter not in (None, "\t") and form.delimiter == "\t":
            raise error(f"{path}: delimiter must be a tab for this ending, got {delimiter!r}")
        if form.kind in _BY_PYARROW and form.compression is not None:
            raise error(f"{path}: {form.kind} compresses its own columns; remove {path.suffix!r}")
    kinds = {of_table.kind, of_out.kind}
    if len(kinds) > 1 and not kinds.issubset(_BY_PYARROW):
        raise OutputError(
            f"{out}: a table in {of_table.kind} cannot be written as {of_out.kind}; "
            "give the output the table's ending"
        )
    if delimiter is not None:
        return of_table._replace(delimiter=delimiter), of_out._replace(delimiter=delimiter)
    return of_table, of_out


@contextmanager
def open_table(
    path: Path,
    columns: Sequence[str],
    of_table: Format,
    of_out: Format,
    left_out: Collection[str] = (),
    *,
    floats: bool = False,
) -> Iterator[FileTable]:
    """Open a table and read its header; close it after the block. A TableError names the table.

    Columns with a name in `left_out` are not read. With `floats`, counts may be whole numbers that
    are stored as floats, or written as in 12.0.
    """
    try:
        if of_table.kind in _BY_PYARROW:
            pyarrow(f"a table in {of_table.kind}")  # an ImportError that says what to install
            from ._arrow_table import open_arrow_table

            kinds = of_table.kind, of_out.kind
            with open_arrow_table(path, columns, *kinds, left_out, floats=floats) as table:
                yield table
            return
        with _open_content(path, of_table.compression) as content:
            if of_table.kind == ".npy":
                yield NpyTable(content, columns, left_out, floats=floats)
                return
            yield CsvTable(
                content,
                columns,
                left_out=left_out,
                delimiter=of_table.delimiter,
                out_delimiter=of_out.delimiter,
                floats=floats,
                fraction=content.fraction,
            )
    except TableError as error:
        words, advice = looks_like(path, expected=(of_table.kind, of_table.compression))
        said = f"the file is {words}; {advice}" if words else str(error)
        raise TableError(f"{path}: {said}") from None


@contextmanager
def column_file(
    sink: Sink, ending: str, name: str, size: int
) -> Iterator[Callable[[NDArray[np.int64]], None]]:
    """Yield a function that appends integers to a new file of one column with `size` rows."""
    if ending in {".parquet", ".arrow"}:
        pyarrow("a .parquet or .arrow file")
        from ._arrow_table import arrow_file

        with arrow_file(sink, name, is_parquet=ending == ".parquet") as append:
            yield append
    elif ending == ".npy":  # its first bytes hold the number of values
        sink(npy_header(np.dtype("<i8"), (size,)))
        yield lambda integers: sink(np.asarray(integers, "<i8").data.cast("B"))
    else:
        sink(f"{name}\n".encode() if ending == ".csv" else b"")
        yield lambda integers: sink(column_text(integers))


# --- compression

_GZIP_LEVEL = 6
"""The default of the program gzip. Level 9 takes twice the time and saves little."""


def pyarrow(purpose: str) -> Any:
    """Return pyarrow, or say how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{purpose} needs pyarrow: pip install pyarrow") from None
    return pyarrow


@contextmanager
def _open_content(path: Path, compression: Compression) -> Iterator[_Content]:
    with open(path, "rb", buffering=0) as raw:
        file: Any = BufferedReader(raw, 2**16)
        if compression is not None:
            file = gzip.GzipFile(fileobj=file) if compression == "gzip" else _zstd(file, "r")
        with closing(file):
            yield _Content(path, raw, file, compression)


class _Content:
    """The content of a file, decompressed, read once from its beginning to its end."""

    def __init__(self, path: Path, raw: Any, file: Any, compression: Compression) -> None:
        self._path, self._raw, self._file, self._compression = path, raw, file, compression
        self._size = path.stat().st_size if path.is_file() else 0

    def read(self, size: int) -> bytes:
        try:
            return bytes(self._file.read(size))
        except MemoryError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise OSError(error.errno, error.strerror, str(self._path)) from None
            raise TableError(
                f"the file is damaged, cut off, or not compressed by {self._compression}"
            ) from None

    def fraction(self) -> float | None:
        """Return the fraction of the file that has been read; None if its size is unknown."""
        return self._raw.tell() / self._size if self._size else None


def _zstd(file: Any, mode: Literal["r", "w"]) -> Any:
    """Return a file object that decompresses or compresses."""
    try:
        from compression.zstd import ZstdFile  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        pa = pyarrow("a table compressed by zstd")
        by = pa.CompressedInputStream if mode == "r" else pa.CompressedOutputStream
        return by(file, "zstd")
    return ZstdFile(file, mode)  # no cover: from Python 3.14 on


@contextmanager
def compressed(sink: Sink, compression: Compression) -> Iterator[Sink]:
    """Yield a sink that compresses. After an error it writes nothing more."""
    if compression is None:
        yield sink
        return
    file = SinkFile(sink)
    if compression == "gzip":  # its header gets no name and no time
        inner: Any = gzip.GzipFile("", "wb", _GZIP_LEVEL, cast("Any", file), mtime=0)
    else:
        inner = _zstd(file, "w")
    try:
        yield inner.write
        inner.close()
    except BaseException:
        file.abandon()
        inner.close()
        raise


# --- stdout


@contextmanager
def unbuffered_stdout() -> Iterator[Sink]:
    """Yield a sink that writes to stdout at once."""
    with errors_name("stdout"):
        descriptor = os.dup(1)
    with open(descriptor, "wb", buffering=0) as stdout:
        yield sink_to(stdout, "stdout")


class Stdout:
    """Output that goes to stdout when it is placed, because a pipe takes nothing back.

    It has the methods of `NewFile`. Before that the bytes are in a temporary file without a name.
    """

    def __init__(self) -> None:
        self._folder, self._placed = tempfile.gettempdir(), False
        self._file: RawIOBase | None = None

    @contextmanager
    def content(self) -> Iterator[Sink]:
        """Yield a sink for the bytes."""
        rule = (
            ": the whole table must fit into this folder before it goes to stdout "
            "(TMPDIR sets another folder)"
        )
        with errors_name(self._folder, rule):
            file = tempfile.TemporaryFile(buffering=0, dir=self._folder)  # noqa: SIM115
        self._file = cast("RawIOBase", file)  # closed by discard()
        yield sink_to(self._file, self._folder, rule)

    def place(self) -> None:
        """Write the bytes to stdout."""
        file = cast("RawIOBase", self._file)
        try:
            with unbuffered_stdout() as sink:
                with errors_name(self._folder):
                    file.seek(0)
                while part := self._next_part(file):
                    sink(part)
        except BaseException as error:
            error.add_note("part of the table may be written, and the budget is spent")
            raise
        self._placed = True

    def _next_part(self, file: RawIOBase) -> bytes | None:
        with errors_name(self._folder):
            return file.read(2**20)

    def is_placed(self) -> bool:
        """Return whether stdout has all of the bytes."""
        return self._placed

    def discard(self) -> None:
        """Close the temporary file."""
        if self._file is not None:
            self._file.close()
