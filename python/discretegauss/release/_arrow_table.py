"""Parquet and Arrow IPC files, read and written by pyarrow.

A count may be any integer, or a decimal that is whole. Integers are written as int64, decimals with
as many digits as their width holds. A null stays null. Row groups and record batches, schema
metadata, and the other columns with their compression are kept. Their memory is written without
what no cell shows (`..data.arrow_buffers`). The statistics of all columns are computed anew.

`_files.py` imports this module only for such files, because pyarrow is optional.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from .._system.atomic_file import Sink
from ..data.arrow_buffers import Recode, SharedWords, bare, bare_table, has_words, keep_used_words
from ..data.arrow_schema import widest_decimal, with_types
from ..data.from_pyarrow import integer_array, open_table
from ..errors import OutputError, ParameterValueError, TableError
from ._arrow_codec import codec_of
from ._chunks import OR_FLOATS, Chunk, Keys, SinkFile, column_indices, key_text
from ._csv_rows import BLANKS

_DAMAGED = "the file is damaged: pyarrow cannot read it to its end"

_FRACTION = re.compile(r"\.[0-9]+")
"""The digits of a decimal or a time after the point."""


def _written_type(name: str, stored: Any, floats: bool) -> Any:
    """Return the type of the noisy counts of a column."""
    if pa.types.is_dictionary(stored):
        stored = stored.value_type
    if pa.types.is_decimal(stored):
        return widest_decimal(stored)
    if not pa.types.is_integer(stored) and not (floats and pa.types.is_floating(stored)):
        hint = OR_FLOATS if pa.types.is_floating(stored) else ""
        raise TableError(
            f"column {name!r} must have integers or decimals without a fraction, got type {stored}"
            f"{hint}"
        )
    return pa.int64()


class ArrowTable:
    """A file that pyarrow reads.

    `source` has its row groups or record batches. With `floats`, counts may be floats that are
    whole numbers.
    """

    place = ("rows", 1)

    def __init__(
        self,
        source: Any,
        path: Path,
        columns: Sequence[str],
        in_kind: str,
        out_kind: str,
        left_out: Collection[str] = (),
        *,
        floats: bool = False,
    ) -> None:
        self._source, self._path, self._floats = source, path, floats
        self._in_kind, self._out_kind = in_kind, out_kind
        every = source.schema.names  # a new list each time
        self.left_out = tuple(name for name in every if name.strip(BLANKS) in left_out)
        self._kept = [i for i, name in enumerate(every) if name not in self.left_out]
        schema = pa.schema([source.schema.field(i) for i in self._kept], source.schema.metadata)
        names = schema.names
        self._at = sorted(column_indices(names, columns))
        self.columns = tuple(names[i] for i in self._at)
        types = {i: _written_type(names[i], schema.field(i).type, floats) for i in self._at}
        self.schema = with_types(schema, types)
        self._others = [i for i in range(len(names)) if i not in types]
        self.other_columns = tuple(names[i] for i in self._others)
        self._rows_read = 0

    def chunks(self) -> Iterator[Chunk]:
        """Read the table, a row group or a record batch at a time."""
        tables = self._tables(self._source)
        while (rows := next(tables, None)) is not None:
            self._rows_read += rows.num_rows
            yield self._chunk(rows)
            del rows  # frees memory before the next ones are read

    def _chunk(self, rows: Any) -> Chunk:
        def keys(places: Sequence[int], most: int | None = None) -> Keys:
            first = _first_rows(rows, [self._others[i] for i in places], most)
            columns = [map(key_text, column.to_pylist()) for column in first]
            return list(zip(*columns, strict=True)) if columns else [()] * rows.num_rows

        def other_cells() -> Keys:
            texts = [_texts(rows.column(i)) for i in self._others]
            return list(zip(*texts, strict=True)) if texts else [()] * rows.num_rows

        if isinstance(rows, RowGroup):
            rows.read(self._at)  # at once
        try:
            cells, _, close = open_table(rows, self.columns, floats=self._floats)
        except ParameterValueError:
            raise self._not_whole(rows) from None
        return Chunk(cells, close, other_cells, keys)

    def _not_whole(self, rows: Any) -> TableError:
        """Return the error that names the first number that is not whole."""
        first = self._rows_read - rows.num_rows + 1
        for i, name in zip(self._at, self.columns, strict=True):
            for row, x in enumerate(rows.column(i).to_pylist(), first):
                if isinstance(x, Decimal | float) and (not isfinite(x) or x != int(x)):
                    fault = "the value is not a whole number"
                    return TableError(f"row {row}, column {name!r}: {fault}")
        return TableError("a count is not a whole number of at most 2**53 in size")

    def fraction(self) -> float | None:
        """Return the fraction of the rows that have been read; None if their number is unknown."""
        n_rows = self._source.n_rows
        return self._rows_read / n_rows if n_rows else None

    @contextmanager
    def writer(self, sink: Sink) -> Iterator[Callable[[Any], object]]:
        """Yield a function that writes row groups or record batches."""
        is_parquet, source = self._out_kind == "Parquet", self._source
        options = source.parquet_options(self.columns) if is_parquet else source.ipc_options()
        recode: Recode = keep_used_words
        with _new_file(sink, self.schema, is_parquet=is_parquet, **options) as file:
            if not is_parquet and any(has_words(kind) for kind in self.schema.types):
                recode = self._words_of_all().recode

            def write(table: Any) -> None:  # as one row group or batch
                file.write_table(bare_table(table, recode), table.num_rows)

            yield write

    def _words_of_all(self) -> SharedWords:
        """Read the file once more, because its batches share one dictionary for each column."""
        words = SharedWords()
        with _source(self._path, self._in_kind) as source:
            tables = self._tables(source)
            while (rows := next(tables, None)) is not None:
                for i in self._others:
                    if has_words(rows.schema.field(i).type):
                        bare(rows.column(i), words.see, (i,))
        return words

    def _tables(self, source: Any) -> Iterator[Any]:
        """Yield the columns that are not left out, a row group or a record batch at a time."""
        tables = source.tables()
        while True:
            with _understood(self._path, _DAMAGED):
                rows = next(tables, None)
            if rows is None:
                return
            if rows.num_rows:
                yield rows.select(self._kept) if self.left_out else rows
            del rows  # frees memory before the next ones are read


def _first_rows(rows: Any, places: Sequence[int], most: int | None) -> list[Any]:
    """Return at most `most` rows of some columns of a Table or a RowGroup."""
    if isinstance(rows, RowGroup):
        return rows.first(places, most)
    return [rows.column(i).slice(0, most) for i in places]


@contextmanager
def arrow_file(sink: Sink, name: str, *, is_parquet: bool) -> Iterator[Callable[[Any], None]]:
    """Yield a function that appends int64 arrays to the one column of a new file."""
    schema = pa.schema([pa.field(name, pa.int64(), nullable=False)])
    options = {"compression": "zstd", "use_dictionary": False} if is_parquet else {}
    with _new_file(sink, schema, is_parquet=is_parquet, **options) as file:

        def append(integers: NDArray[Any]) -> None:
            file.write_table(pa.Table.from_arrays([integer_array(integers, None)], schema=schema))

        yield append


@contextmanager
def _new_file(sink: Sink, schema: Any, *, is_parquet: bool, **options: Any) -> Iterator[Any]:
    """Yield pyarrow's writer. After an error it writes nothing more, even when collected."""
    file, writer = SinkFile(sink), None
    try:
        if is_parquet:
            writer = parquet.ParquetWriter(file, schema, **options)
        else:
            writer = pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(**options))
        yield writer
        writer.close()
    except BaseException as error:
        file.abandon()
        if writer is not None:
            with suppress(Exception):
                writer.close()
        if isinstance(error, pa.ArrowInvalid | pa.ArrowNotImplementedError):
            kind = "Parquet" if is_parquet else "an Arrow file, whose dictionaries may not change"
            raise OutputError(f"pyarrow cannot write some column to {kind}") from None
        raise


class RowGroup:
    """A row group, whose columns are read when they are asked for: a first look needs few.

    Columns are read alone if no two names agree up to a point: pyarrow reads "a.b" for "a", too.
    """

    from_arrays = staticmethod(pa.Table.from_arrays)

    def __init__(
        self, file: Any, path: Path, group: int, kept: Sequence[int] | None = None
    ) -> None:
        self._file, self._path, self._group = file, path, group
        self._read = dict[int, Any]()
        schema = file.schema_arrow
        self._kept = range(len(schema)) if kept is None else kept
        self.schema = pa.schema([schema.field(i) for i in self._kept], schema.metadata)
        self.num_rows = file.metadata.row_group(group).num_rows
        names = schema.names
        self._are_apart = len({name.split(".")[0] for name in names}) == len(names)

    def select(self, kept: Sequence[int]) -> RowGroup:
        """Return the group with these columns alone."""
        return RowGroup(self._file, self._path, self._group, kept)

    def read(self, places: Iterable[int]) -> list[Any]:
        """Return some columns."""
        places = list(places)
        new = [i for i in places if i not in self._read]
        if new:
            names = [self.schema.names[i] for i in new] if self._are_apart else None
            with _understood(self._path, _DAMAGED):
                table = self._file.read_row_group(self._group, names, use_threads=False)
            if names is None:
                self._read = {i: table.column(at) for i, at in enumerate(self._kept)}
            else:
                self._read.update(zip(new, map(table.column, names), strict=True))
        return [self._read[i] for i in places]

    @property
    def columns(self) -> list[Any]:
        """All columns."""
        return self.read(range(len(self.schema)))

    def column(self, place: int) -> Any:
        """Return one column."""
        return self.read([place])[0]

    def first(self, places: Sequence[int], most: int | None) -> list[Any]:
        """Return at most `most` rows of some columns, without reading more of them."""
        new = [i for i in places if i not in self._read]
        if most is None or not new or not self._are_apart:
            return [column.slice(0, most) for column in self.read(places)]
        names = [self.schema.names[i] for i in places]
        with _understood(self._path, _DAMAGED):
            batch = next(self._file.iter_batches(most, [self._group], names, use_threads=False))
        return [batch.column(name) for name in names]


class ParquetSource:
    """A Parquet file, row group by row group."""

    def __init__(self, path: Path) -> None:
        self._path, self.file = path, parquet.ParquetFile(path, pre_buffer=False)
        self.schema = self.file.schema_arrow
        self.n_rows = self.file.metadata.num_rows

    def tables(self) -> Iterator[Any]:
        """Open each row group."""
        for i in range(self.file.num_row_groups):
            yield RowGroup(self.file, self._path, i)
            pa.default_memory_pool().release_unused()  # otherwise it keeps the group's memory

    def parquet_options(self, counts: Collection[str]) -> dict[str, Any]:
        """Return the options with which a writer stores a new file as this one is stored."""
        options: dict[str, Any] = {"store_schema": True}
        if not self.file.num_row_groups:
            return options
        group = self.file.metadata.row_group(0)
        leaves = [group.column(j) for j in range(group.num_columns)]
        options["compression"] = {
            leaf.path_in_schema: leaf.compression.replace("UNCOMPRESSED", "NONE") for leaf in leaves
        }
        options["use_dictionary"] = [
            leaf.path_in_schema
            for leaf in leaves
            if leaf.has_dictionary_page and leaf.path_in_schema not in counts
        ]
        return options

    def ipc_options(self) -> dict[str, Any]:
        """Return the options of an Arrow file that is compressed, too."""
        return {"compression": "zstd"}


class IpcSource:
    """An Arrow IPC file or stream, record batch by record batch."""

    def __init__(self, path: Path) -> None:
        self._path, self.file = path, pa.OSFile(str(path))
        try:
            self._reader = pa.ipc.open_file(self.file)
            self._batches = (
                self._reader.get_batch(i) for i in range(self._reader.num_record_batches)
            )
        except pa.ArrowInvalid:
            self.file.seek(0)
            self._reader = pa.ipc.open_stream(self.file)
            self._batches = iter(self._reader)
        self.schema = self._reader.schema
        self.n_rows = None

    def tables(self) -> Iterator[Any]:
        """Read each record batch."""
        for batch in self._batches:
            yield pa.Table.from_batches([batch])

    def parquet_options(self, counts: Collection[str]) -> dict[str, Any]:
        """Return no options, so that the writer's defaults apply."""
        return {}

    def ipc_options(self) -> dict[str, Any]:
        """Return the options with which a writer compresses a new file as this one is."""
        is_stream = not isinstance(self._reader, pa.RecordBatchFileReader)
        with _understood(self._path, _DAMAGED):
            return {"compression": codec_of(self._path, is_stream=is_stream)}


@contextmanager
def open_arrow_table(
    path: Path,
    columns: Sequence[str],
    kind: str,
    out_kind: str,
    left_out: Collection[str],
    *,
    floats: bool,
) -> Iterator[ArrowTable]:
    """Open a table and read its schema."""
    with _source(path, kind) as source:
        yield ArrowTable(source, path, columns, kind, out_kind, left_out, floats=floats)


@contextmanager
def _source(path: Path, kind: str) -> Iterator[ParquetSource | IpcSource]:
    with open(path, "rb"):  # raises an OSError that names the file
        pass
    with _understood(path, f"the file is not {kind} that pyarrow can read"):
        source: Any = ParquetSource(path) if kind == "Parquet" else IpcSource(path)
    with closing(source.file):
        yield source


@contextmanager
def _understood(path: Path, if_not: str) -> Iterator[None]:
    """Raise a TableError if pyarrow cannot read the file, because pyarrow's own error shows cells.

    For damaged pages pyarrow raises an OSError without a number. If the system fails, pyarrow's
    OSError names no file.
    """
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowSerializationError):
        raise TableError(if_not) from None
    except OSError as error:
        if error.errno is None:
            raise TableError(if_not) from None
        raise OSError(error.errno, error.strerror, str(path)) from None


def _texts(column: Any) -> list[str]:
    """Return cells as texts; a cell that has none is blank.

    No cell changes the text of another one: neither a cell without a text, nor one with more digits
    after the point, which is the reason for zeros in all others of its column.
    """
    try:
        texts = [text or "" for text in column.cast(pa.string()).to_pylist()]
    except pa.ArrowNotImplementedError:
        return [""] * len(column)
    except pa.ArrowInvalid:
        if len(column) == 1:
            return [""]
        return [text for i in range(len(column)) for text in _texts(column.slice(i, 1))]
    if pa.types.is_decimal(column.type) or pa.types.is_temporal(column.type):
        texts = [_FRACTION.sub(lambda found: found[0].rstrip(".0"), text) for text in texts]
    return texts
