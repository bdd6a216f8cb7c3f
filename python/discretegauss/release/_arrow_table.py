"""Parquet and Arrow IPC by pyarrow: row groups and record batches stay, with other counts in them.

Imported when a file is of these kinds.

A count may be any integer, or a decimal that is whole. Integers come back as int64, decimals with
as many digits as their width holds. A null stays null. Schema metadata, other columns, their
compression and dictionaries are kept; the statistics of all columns are those of what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from .._system.atomic_file import Sink
from ..data.arrow_schema import widest_decimal, with_types
from ..data.cells import INT64_RANGE
from ..data.from_pyarrow import integer_array, open_column
from ..errors import OutputError, ParameterValueError, TableError
from ._files import SinkFile
from ._interface import as_int64, column_index


class ArrowChunk(NamedTuple):
    """A record batch or a row group, and its counts.

    Attributes
    ----------
    rows : pyarrow.Table
    counts : ndarray
        0 where there is none.
    nulls : list of ndarray or None
        Where that is, of each column of counts.
    first_row : int
    others : tuple of int
        Where the columns that are not counts stand.
    """

    rows: Any
    counts: NDArray[Any]
    nulls: list[NDArray[np.bool_] | None]
    first_row: int
    others: tuple[int, ...]

    def other_cells(self) -> list[tuple[str, ...]]:
        """Return what stands in the other columns, row by row; blanks where that is no text."""
        texts = [_texts(self.rows.column(i)) for i in self.others]
        return list(zip(*texts, strict=True)) if texts else [()] * len(self.counts)

    def keys(self, places: Sequence[int]) -> list[tuple[str, ...]]:
        """Return what tells rows apart in the other columns at these places: a null, too."""
        columns = [map(repr, self.rows.column(self.others[i]).to_pylist()) for i in places]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self.counts)


class _Counts:
    """How the counts of a column are stored, and will be."""

    def __init__(self, name: str, field: Any) -> None:
        self.name = name
        stored = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        self._is_decimal = pa.types.is_decimal(stored)
        if not self._is_decimal and not pa.types.is_integer(stored):
            raise TableError(
                f"column {name!r}: the type is {stored}; a count is an integer or a whole decimal"
            )
        self.type = widest_decimal(stored) if self._is_decimal else pa.int64()
        most = 10 ** (self.type.precision - self.type.scale) - 1 if self._is_decimal else 0
        self.range = (-most, most) if self._is_decimal else INT64_RANGE

    def read(self, column: Any, first_row: int) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """Return the counts, int64 where all fit, else Python integers; and the nulls, 0 there."""
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            integers, nulls, *_ = open_column(column, floats=False)
        except ParameterValueError:
            values = enumerate(column.to_pylist(), first_row)
            row = next(i for i, x in values if x is not None and x != x.to_integral_value())
            raise TableError(
                f"row {row}, column {self.name!r}: the value is not a whole number"
            ) from None
        return as_int64(integers if nulls is None else np.where(nulls, 0, integers)), nulls

    def written(self, noisy: NDArray[Any], nulls: NDArray[np.bool_] | None, first_row: int) -> Any:
        """Return a column of these counts, with the nulls of the one that they came from."""
        try:
            if self._is_decimal:
                return pa.array(map(Decimal, noisy.tolist()), self.type, mask=nulls)
            return integer_array(np.ascontiguousarray(noisy, np.int64), nulls)
        except (pa.ArrowInvalid, OverflowError):
            # The cause would show a count.
            last = first_row + len(noisy) - 1
            raise TableError(
                f"rows {first_row} to {last}, column {self.name!r}: a noisy count does not fit "
                f"{self.type}"
            ) from None


class ArrowTable:
    """A file that pyarrow reads.

    Parameters
    ----------
    source : ParquetSource or IpcSource
        What reads it.
    path : Path
        Where it is.
    columns : sequence of str
        The names of the columns of counts.
    out_kind : str
        The format of the output.
    """

    def __init__(self, source: Any, path: Path, columns: Sequence[str], out_kind: str) -> None:
        self._source, self._path, self._out_kind = source, path, out_kind
        schema = source.schema
        at = {column_index(schema.names, name): name for name in columns}
        self._counts = {i: _Counts(name, schema.field(i)) for i, name in sorted(at.items())}
        self.schema = with_types(schema, {i: counts.type for i, counts in self._counts.items()})
        self.columns = tuple(counts.name for counts in self._counts.values())
        self.ranges = tuple(counts.range for counts in self._counts.values())
        self._others = tuple(i for i in range(len(schema.names)) if i not in self._counts)
        self.other_columns = tuple(schema.names[i] for i in self._others)
        self._rows_read = 0

    def chunks(self) -> Iterator[ArrowChunk]:
        """Read the table, a row group or a record batch at a time."""
        tables = self._source.tables()
        while True:
            with _understood(self._path, "the file is damaged: pyarrow cannot read it to its end"):
                rows = next(tables, None)
            if rows is None:
                return
            if rows.num_rows:
                first = self._rows_read + 1
                read = [counts.read(rows.column(i), first) for i, counts in self._counts.items()]
                self._rows_read += rows.num_rows
                counts, nulls = zip(*read, strict=True)
                yield ArrowChunk(rows, np.column_stack(counts), list(nulls), first, self._others)
                del read, counts, nulls
            del rows  # before the next ones are read

    def fraction(self) -> float | None:
        """How many of the rows are read, where the file tells how many there are."""
        n_rows = self._source.n_rows
        return self._rows_read / n_rows if n_rows else None

    @contextmanager
    def writer(self, sink: Sink) -> Iterator[Callable[[ArrowChunk, NDArray[Any]], None]]:
        """Give what writes row groups or record batches; after an error nothing is written."""
        is_parquet = self._out_kind == "Parquet"
        options = self._source.parquet_options(set(self._counts)) if is_parquet else {}
        with _new_file(sink, self.schema, is_parquet=is_parquet, **options) as file:

            def write(chunk: ArrowChunk, noisy: NDArray[Any]) -> None:
                columns = list(chunk.rows.columns)
                for j, (i, counts) in enumerate(self._counts.items()):
                    columns[i] = counts.written(noisy[:, j], chunk.nulls[j], chunk.first_row)
                table = pa.Table.from_arrays(columns, schema=self.schema)
                file.write_table(table, table.num_rows)  # as one row group or batch

            yield write


@contextmanager
def arrow_file(sink: Sink, name: str, *, is_parquet: bool) -> Iterator[Callable[[Any], None]]:
    """Give a function that appends int64 arrays to the one column of a new file."""
    schema = pa.schema([pa.field(name, pa.int64(), nullable=False)])
    options = {"compression": "zstd", "use_dictionary": False} if is_parquet else {}
    with _new_file(sink, schema, is_parquet=is_parquet, **options) as file:

        def append(integers: NDArray[Any]) -> None:
            file.write_table(pa.Table.from_arrays([integer_array(integers, None)], schema=schema))

        yield append


@contextmanager
def _new_file(sink: Sink, schema: Any, *, is_parquet: bool, **options: Any) -> Iterator[Any]:
    """Give pyarrow's writer of a file; after an error it writes nothing, now or when collected."""
    file, writer = SinkFile(sink), None
    try:
        if is_parquet:
            writer = parquet.ParquetWriter(file, schema, **options)
        else:
            writer = pa.ipc.new_file(file, schema)
        yield writer
        writer.close()
    except BaseException as error:
        file.abandon()
        if writer is not None:
            with suppress(Exception):
                writer.close()
        if isinstance(error, pa.ArrowInvalid | pa.ArrowNotImplementedError):
            kind = "Parquet" if is_parquet else "an Arrow file, whose dictionaries may not change"
            raise OutputError(f"there is a column that pyarrow cannot write to {kind}") from None
        raise


class ParquetSource:
    """A Parquet file, row group by row group."""

    def __init__(self, path: Path) -> None:
        self.file = parquet.ParquetFile(path, pre_buffer=False)
        self.schema = self.file.schema_arrow
        self.n_rows = self.file.metadata.num_rows

    def tables(self) -> Iterator[Any]:
        """Read each row group."""
        for i in range(self.file.num_row_groups):
            yield self.file.read_row_group(i, use_threads=False)
            pa.default_memory_pool().release_unused()  # else it keeps this one, too

    def parquet_options(self, counts: set[int]) -> dict[str, Any]:
        """Return how the file is stored, to be handed to a writer."""
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
            for j, leaf in enumerate(leaves)
            if leaf.has_dictionary_page and j not in counts
        ]
        return options


class IpcSource:
    """An Arrow IPC file or stream, record batch by record batch."""

    def __init__(self, path: Path) -> None:
        self.file = pa.OSFile(str(path))
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

    def parquet_options(self, counts: set[int]) -> dict[str, Any]:
        """Return nothing: the writer's own options."""
        return {}


@contextmanager
def opened_arrow_table(
    path: Path, columns: Sequence[str], kind: str, out_kind: str
) -> Iterator[ArrowTable]:
    """Open a table and read its schema."""
    with open(path, "rb"):  # an OSError that names it
        pass
    with _understood(path, f"the file is not {kind} that pyarrow can read"):
        source: Any = ParquetSource(path) if kind == "Parquet" else IpcSource(path)
    with closing(source.file):
        yield ArrowTable(source, path, columns, out_kind)


@contextmanager
def _understood(path: Path, if_not: str) -> Iterator[None]:
    """Let what pyarrow does not understand be a TableError, as its own error would show it.

    Of damaged pages it says OSError, without a number; that of a system's error names no file.
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
    try:
        return [text or "" for text in column.cast(pa.string()).to_pylist()]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return [""] * len(column)
