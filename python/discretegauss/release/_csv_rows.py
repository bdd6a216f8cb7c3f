"""What delimited text means, line by line: cells, the counts among them, and what is refused.

The format is RFC 4180: fields between delimiters, quoted where need be, with ``""`` for a quote
inside quotes; line ends of any kind. The one exception: no cell contains a line end, so that two
stray quotes cannot make rows, and the counts in them, part of a cell, which is published.

A cell is its text: without quotes, and without blanks at its ends. Rows are written anew from that,
as the csv module writes them, so that no padding, no quotes and no blank lines tell how many digits
a count has.

Messages name lines and columns, never what stands in a cell: the table is private.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import number_of
from ..errors import TableError
from ._interface import column_index

MAX_DIGITS = 600
"""Digits of a count, at most: below every setting of Python's own limit (640 and more)."""

BLANKS = (
    "".join(chr(code) for code in range(0x3001) if chr(code).isspace() or code < 0x20)
    + "\x7f"  # with the above all control characters of ASCII: what old files are filled up with
    + "\u115f\u1160\u180e\u200b\u2060\u2800\u3164\ufeff\uffa0"  # fillers, no width
)
"""What a cell may be padded with unseen. There is no white space of Unicode from U+3001 on."""

# Possessive (*+): what is matched is never given up again, so nothing is remembered of it either,
# and a long run of spaces is cut in one way only.
_INTEGER = re.compile(r"[+-]?[0-9]++")
_OPEN_QUOTES = r'[ ]*"[^"]*+(?:""[^"]*+)*+'
_OPEN_FIELD = re.compile(_OPEN_QUOTES + r"\Z")

_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
"""Byte order marks; that of UTF-32 begins as that of UTF-16 does."""

_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
_OF_WINDOWS = re.compile(rb"[\x80-\x9f]")
"""Letters and signs there; control characters in ISO-8859-1."""

Row = list[str]
"""The cells of a row, those of counts included."""


@dataclass(frozen=True)
class Layout:
    """What the header says of all rows.

    Attributes
    ----------
    indices : tuple[int, ...]
        Where the columns of counts stand, increasing.
    names : tuple[str, ...]
        And their names, as they were asked for.
    """

    delimiter: str
    width: int
    indices: tuple[int, ...]
    names: tuple[str, ...]


def decoded(data: bytes, first_line: int) -> str:
    """Return the text of some lines, or raise a TableError that names the line that is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + line_ends(data, error.start)
        # The cause would show the bytes of the file.
        raise _not_utf8(line, _encoding(data, error.start, first_line)) from None
    if "\0" in text:
        line = first_line + line_ends(data, data.index(b"\0"))
        if encoding := _encoding(data, 0, first_line):
            raise _not_utf8(line, encoding)
        raise TableError(f"line {line}: the file has a NUL byte; it is not a text table")
    return text


def _not_utf8(line: int, encoding: str) -> TableError:
    hint = (
        f", but looks like {encoding}: iconv -f {encoding} -t UTF-8 OLD > NEW" if encoding else ""
    )
    return TableError(f"line {line}: the file is not UTF-8 text{hint}")


def _encoding(data: bytes, fault: int, first_line: int) -> str:
    """Return which encoding some lines look like, as iconv calls it; empty: like none.

    ``fault``: where they stop to be UTF-8.
    """
    if first_line == 1:
        if mark := next((name for mark, name in _MARKS if data.startswith(mark)), ""):
            return mark
        zeros = [data[start::2].count(0) for start in (0, 1)]
        if not zeros[0] and zeros[1] > len(data) // 4:
            return "UTF-16LE"
        if not zeros[1] and zeros[0] > len(data) // 4:
            return "UTF-16BE"
    if not data[:fault].isascii() or _CONTROLS.search(data):  # of two encodings, or no text
        return ""
    return "WINDOWS-1252" if _OF_WINDOWS.search(data) else "ISO-8859-1"


def read_header(text: str, columns: Sequence[str], delimiter: str) -> tuple[Row, Layout]:
    """Return the names in the header, stripped, and where the columns stand."""
    header = _cells(text, 1, delimiter)
    hint = ": commas delimit, or tabs if the name ends in .tsv or .tab, or say delimiter=';'"
    found = {
        column_index(header, column.strip(BLANKS), "line 1: ", "the header", hint): column
        for column in columns
    }
    if len(found) < len(columns):  # one of them was asked for with blanks
        raise TableError("line 1: two of the columns that are asked for are the same one")
    indices = tuple(sorted(found))
    layout = Layout(delimiter, len(header), indices, tuple(found[i] for i in indices))
    return header, layout


def read_rows(
    data: bytes | memoryview, first_line: int, layout: Layout
) -> tuple[list[Row], NDArray[Any]]:
    """Return the rows of the lines, and their counts, rows by columns: int64 if all fit."""
    rows, found = [], []
    columns = tuple(zip(layout.indices, layout.names, strict=True))
    # newline="" cuts after \n, \r and \r\n, keeps them, and cuts nowhere else.
    text = io.StringIO(decoded(bytes(data), first_line), newline="")
    for number, line in enumerate(text, first_line):
        row = _row(line.rstrip("\r\n"), number, layout)
        found.append([_integer(row[index], number, name) for index, name in columns])
        rows.append(row)
    counts = np.array(found, dtype=object)
    with suppress(OverflowError):
        return rows, counts.astype(np.int64)
    return rows, counts


def rows_again(data: bytes | memoryview, layout: Layout) -> list[Row]:
    """Return the rows of lines that were read before, and so are right."""
    text = io.StringIO(bytes(data).decode(), newline="")
    return [_cells(line.rstrip("\r\n"), 0, layout.delimiter) for line in text]


def others(row: Row, layout: Layout) -> tuple[str, ...]:
    """Return the cells of a row that are not counts."""
    return tuple(cell for i, cell in enumerate(row) if i not in layout.indices)


def with_counts(
    rows: Iterable[Row], indices: Sequence[int], counts: Iterable[Sequence[int]]
) -> Iterator[Row]:
    """Put the counts in the place of the rows' own."""
    for row, row_counts in zip(rows, counts, strict=True):
        for index, count in zip(indices, row_counts, strict=True):
            row[index] = str(count)
        yield row


def csv_bytes(
    rows: Iterable[Iterable[object]], delimiter: str = ",", line_end: str = "\n"
) -> bytes:
    """Return rows as the csv module writes them."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerows(rows)
    return text.getvalue().encode()


def line_ends(data: bytes, stop: int | None = None) -> int:
    """Return how many lines have ended before a place."""
    lf, cr, both = (data.count(end, 0, stop) for end in (b"\n", b"\r", b"\r\n"))
    return lf + cr - both


def _row(line: str, number: int, layout: Layout) -> Row:
    if not line and layout.width > 1:
        raise TableError(f"line {number}: a blank line inside the table")
    cells = _cells(line, number, layout.delimiter)
    if len(cells) != layout.width:
        fields = number_of(len(cells), "field")
        raise TableError(f"line {number}: {fields}, but the header has {layout.width}")
    return cells


def _cells(line: str, number: int, delimiter: str) -> Row:
    if '"' not in line:
        return [raw.strip(BLANKS) for raw in line.split(delimiter)]
    return [_unquoted(raw) for raw in _split_quoted(line, number, delimiter)]


def _unquoted(raw: str) -> str:
    text = raw.strip(BLANKS)
    return text[1:-1].strip(BLANKS).replace('""', '"') if text.startswith('"') else text


def _split_quoted(raw: str, line: int, delimiter: str) -> list[str]:
    fields: list[str] = []
    position = 0
    d = re.escape(delimiter)
    field = re.compile(rf'({_OPEN_QUOTES}"[ ]*|[^"{d}]*+)({d}|\Z)')  # the re module keeps it
    while match := field.match(raw, position):
        fields.append(match[1])
        position = match.end()
        if not match[2]:
            return fields
    if _OPEN_FIELD.match(raw, position):
        raise TableError(
            f"line {line}: a quote is opened and not closed on its line; "
            "a cell may not contain a line end"
        )
    raise TableError(f"line {line}: a quote stands inside a field that is not quoted")


def _integer(cell: str, line: int, column: str) -> int:
    where = f"line {line}, column {column!r}"
    if _INTEGER.fullmatch(cell) is None:
        problem = "is not a whole number; a count is written with digits alone"
        if not cell:
            problem = "is empty, which no count is; .parquet and .arrow have nulls"
        raise TableError(f"{where}: the cell {problem}")
    if len(cell.lstrip("+-")) > MAX_DIGITS:
        raise TableError(f"{where}: the count has more than {MAX_DIGITS} digits")
    return int(cell)
