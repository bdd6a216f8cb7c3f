"""Delimited text in chunks of whole lines.

The compiled core (csrc/csv) reads and writes the lines that it can. Other lines go through
``_csv_rows`` one by one. Both give the same counts and the same bytes. Chunks end at the same lines
either way, even if a pipe pauses. So the bits of a caller's source give the same draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._drawing.engines import native
from .._system.atomic_file import Sink
from ..data.cells import Cells
from ..errors import TableError
from ._chunks import Chunk, Keys, Readable, read_all
from ._csv_rows import (
    Layout,
    Row,
    csv_bytes,
    decoded,
    line_ends,
    read_header,
    read_rows,
    rows_again,
    with_counts,
)

_CHUNK = 2**20
"""Bytes that are read at a time, few enough that the rows stay in the processor's cache."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_LONG_RUN = 64
"""If the core reads a run of fewer lines, the next run for Python is twice as long."""


class _RowsOfFile(NamedTuple):
    """Rows of a chunk; `rows` is None if the core has read them."""

    data: memoryview
    counts: NDArray[Any]
    rows: list[Row] | None

    def all_rows(self, layout: Layout) -> list[Row]:
        return rows_again(self.data, layout) if self.rows is None else self.rows

    def cells(self, places: Sequence[int], layout: Layout) -> Iterable[tuple[str, ...]]:
        """Return the cells in some columns, none of them a count, row by row."""
        if self.rows is None and places:
            # The core strips and unquotes much faster than `rows_again` does.
            zeros = np.zeros_like(self.counts)
            text = bytes(_rewrite_rows(self.data, zeros, layout, ",", "\n")).decode()
            if '"' not in text:
                cells = text.replace("\n", ",").split(",")
                return zip(*[cells[i : -1 : layout.width] for i in places], strict=True)
        return (tuple([row[i] for i in places]) for row in self.all_rows(layout))

    def with_counts(
        self,
        noisy: NDArray[Any],
        layout: Layout,
        written: Sequence[int],
        delimiter: str,
        line_end: str,
    ) -> bytes | memoryview:
        """Return the text of the rows with these counts, without the columns not `written`."""
        is_whole = len(written) == layout.width
        if self.rows is None and is_whole:
            with suppress(OverflowError):  # Python integers beyond int64
                integers = noisy.astype(np.int64, copy=False)
                return _rewrite_rows(self.data, integers, layout, delimiter, line_end)
        rows = with_counts(self.all_rows(layout), layout.indices, noisy.tolist())
        some = rows if is_whole else ([row[i] for i in written] for row in rows)
        return csv_bytes(some, delimiter, line_end)


def _parts(data: bytes, line: int, layout: Layout) -> Iterator[_RowsOfFile]:
    """Split rows, at least one, into runs that the core reads and runs for Python.

    Each run for Python is twice as long as the one before, unless the core read many lines between
    them. This keeps the parts few, because a part costs more than a line.
    """
    if native is None:
        rows, counts = read_rows(data, line, layout)
        yield _RowsOfFile(memoryview(data), counts, rows)
        return
    if not data.endswith(b"\n"):
        data += b"\n"
    text, start, n_lines = memoryview(data), 0, 1
    line_feeds = data.count(b"\n")
    while start < len(data):
        counts, n_bytes = _read_counts(text[start:], line_feeds, layout)
        line_feeds -= len(counts)
        if n_bytes:
            yield _RowsOfFile(text[start : start + n_bytes], counts, None)
            start, line = start + n_bytes, line + len(counts)
        n_lines = 1 if len(counts) >= _LONG_RUN else min(2 * n_lines, line_feeds)
        if start < len(data):
            stop = start
            for _ in range(n_lines):
                stop = data.index(b"\n", stop) + 1
            line_feeds -= n_lines
            rows, counts = read_rows(text[start:stop], line, layout)
            yield _RowsOfFile(text[start:stop], counts, rows)
            start, line = stop, line + len(rows)


class CsvTable:
    """A table of delimited text.

    With `floats`, a count may end with a point and zeros. `fraction` returns the fraction of the
    file that has been read, or None if it is unknown. `chunk` is the number of bytes to read at a
    time; only tests change it.
    """

    place = ("lines", 2)

    def __init__(
        self,
        file: Readable,
        columns: Sequence[str],
        *,
        left_out: Collection[str] = (),
        delimiter: str = ",",
        out_delimiter: str = ",",
        floats: bool = False,
        fraction: Callable[[], float | None] = lambda: None,
        chunk: int = _CHUNK,
    ) -> None:
        self.fraction = fraction
        self._blocks = _whole_lines(file, chunk)
        self._unread: bytes
        first = next(self._blocks, b"")
        self._mark = _BYTE_ORDER_MARK if first.startswith(_BYTE_ORDER_MARK) else b""
        line, *more = re.split(rb"(\r\n|\r|\n)", first.removeprefix(self._mark), maxsplit=1)
        end, self._unread = more or (b"\n", b"")
        text = decoded(line, 1)
        if not text and not self._find_a_row():
            raise TableError("the file is empty; it must have a header and a row for each count")
        self._header, self.layout = read_header(text, columns, delimiter, floats=floats)
        self._line_end = end.decode()
        self._out_delimiter = out_delimiter
        self.columns = self.layout.names
        name_of = self._header.__getitem__
        self._written: Sequence[int] = range(self.layout.width)
        self.left_out = tuple(filter(left_out.__contains__, self._header))
        if self.left_out:
            self._written = [i for i in self._written if name_of(i) not in left_out]
        self._others = [i for i in self._written if i not in self.layout.indices]
        self.other_columns = tuple(map(name_of, self._others))

    def _find_a_row(self) -> bool:
        """Read on until there is a line that is not blank; keep only the first blank block."""
        while not self._unread.strip(b"\r\n"):
            block = next(self._blocks, None)
            if block is None:
                return False
            if not self._unread or block.strip(b"\r\n"):
                self._unread += block
        return True

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows.

        Blank lines at the end are skipped, because they may pad the file to some size.
        """
        line, blank = 2, 0
        for block in chain([self._unread], self._blocks):
            data, n_blank = _without_blank_end(block)
            if data:
                if blank:
                    decoded(data, line)
                    read_rows(b"\n", blank, self.layout)  # raises the error about a blank line
                chunk = self._chunk(data, line)
                line += chunk.n_rows
                yield chunk
            if n_blank:
                blank = blank or line
                line += n_blank

    def _chunk(self, data: bytes, first_line: int) -> Chunk:
        """Return a chunk of these lines."""
        layout = self.layout
        if not data.isascii() or b"\0" in data:
            decoded(data, first_line)
        parts = list(_parts(data, first_line, layout))
        counts = _joined([part.counts for part in parts])

        line_end = self._line_end

        def close(results: list[NDArray[Any]]) -> bytes | memoryview:
            noisy = results[0].reshape(-1, 1) if len(results) == 1 else np.column_stack(results)
            written, start = [], 0
            for part in parts:
                stop = start + len(part.counts)
                written.append(
                    part.with_counts(
                        noisy[start:stop], layout, self._written, self._out_delimiter, line_end
                    )
                )
                start = stop
            return written[0] if len(written) == 1 else b"".join(written)

        def keys(places: Sequence[int], _: int | None = None) -> Keys:
            at = [self._others[i] for i in places]
            return chain.from_iterable(part.cells(at, layout) for part in parts)

        columns = [Cells(column, None, None) for column in counts.T]
        return Chunk(columns, close, lambda: keys(range(len(self._others))), keys)

    @contextmanager
    def writer(self, sink: Sink) -> Iterator[Sink]:
        """Write the header, then yield a function that writes closed chunks."""
        header = map(self._header.__getitem__, self._written)
        sink(self._mark + csv_bytes([header], self._out_delimiter, self._line_end))
        yield sink


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def column_text(integers: NDArray[Any]) -> bytes | memoryview:
    """Return int64 values as text, one on each line."""
    if native is None:
        return "".join([f"{integer}\n" for integer in integers.tolist()]).encode()
    one_column = Layout(",", 1, (0,), ("",))
    return _rewrite_rows(b"0\n" * len(integers), integers, one_column, ",", "\n")


def _whole_lines(file: Readable, size: int) -> Iterator[bytes]:
    """Read blocks of whole lines, each but the last of at least `size` bytes."""
    rest = b""
    while True:
        block = read_all(file, size)
        if not block:
            break
        # A carriage return as the last byte may be half of a line end.
        end = block.rfind(b"\n") + 1 or block.rfind(b"\r", 0, -1) + 1
        if end:
            yield rest + block[:end]
            rest = block[end:]
        else:
            rest += block
    if rest:
        yield rest


def _without_blank_end(block: bytes) -> tuple[bytes, int]:
    """Return the block without the blank lines at its end, and their number."""
    end = len(block.rstrip(b"\r\n"))
    if end:
        end += 2 if block.startswith(b"\r\n", end) else 1
    return block[:end], line_ends(block[end:])


# --- by the compiled core

if native is not None:
    from .._native import ffi, lib


def _read_counts(
    data: memoryview, line_feeds: int, layout: Layout
) -> tuple[NDArray[np.int64], int]:
    """Return the counts of the lines before one that the core cannot read, and how many bytes.

    The text ends with a line feed and has `line_feeds` of them.
    """
    counts = np.empty((line_feeds, len(layout.indices)), np.int64)
    n_rows = ffi.new("size_t *")
    n_bytes = lib.dg_csv_counts(
        ffi.from_buffer("int64_t[]", counts, require_writable=True),
        n_rows,
        ffi.from_buffer("uint8_t[]", data),
        len(data),
        ord(layout.delimiter),
        layout.width,
        ffi.new("size_t[]", layout.indices),
        len(layout.indices),
    )
    return counts[: n_rows[0]], n_bytes


def _rewrite_rows(
    data: bytes | memoryview, counts: NDArray[Any], layout: Layout, delimiter: str, line_end: str
) -> memoryview:
    """Return lines that the core has read, with these counts in place of their own."""
    end = line_end.encode()
    of_row = 2 * layout.width + 20 * len(layout.indices) + len(end)
    out = np.empty(len(data) + of_row * len(counts), np.uint8)
    written = lib.dg_csv_rewrite(
        ffi.from_buffer("uint8_t[]", out, require_writable=True),
        ffi.from_buffer("int64_t[]", np.ascontiguousarray(counts)),
        ffi.from_buffer("uint8_t[]", data),
        len(data),
        ord(layout.delimiter),
        ord(delimiter),
        ffi.from_buffer("uint8_t[]", end),
        len(end),
        layout.width,
        ffi.new("size_t[]", layout.indices),
        len(layout.indices),
    )
    return out.data[:written]
