"""Delimited text, line by line: the cells of a row, its counts, and the errors.

The format is RFC 4180 with line ends of any kind, except that no cell may contain a line end.
Otherwise two stray quotes could turn rows, and the counts in them, into one published cell.

A cell's text lacks the quotes around it and the blanks at its ends. The csv module writes the new
rows from these texts, so padding, quotes and blank lines cannot show how many digits a count had.

Messages name lines and columns, but show no cell, because the table is private.
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
from ._chunks import OR_FLOATS, column_indices

MAX_DIGITS = 600
"""The most digits of a count, below any limit that Python can be set to (640 or more)."""

BLANKS = (
    "".join(chr(code) for code in range(0x3001) if chr(code).isspace() or code < 0x20)
    + "\x7f"  # the last control character of ASCII: old files are padded with these
    + "\u115f\u1160\u180e\u200b\u2060\u2800\u3164\ufeff\uffa0"  # fillers, no width
)
"""Invisible padding of a cell. Unicode has no white space from U+3001 on."""

# Possessive quantifiers (*+) never backtrack, so a long run of spaces takes linear time.
_INTEGER = re.compile(r"[+-]?[0-9]++")
_WHOLE_FLOAT = re.compile(r"[+-]?[0-9]++\.0*+")
_LARGEST_FLOAT = 2**53
"""Beyond this size a float with a point may be a rounded integer."""
_OPEN_QUOTES = r'[ ]*"[^"]*+(?:""[^"]*+)*+'
_OPEN_FIELD = re.compile(_OPEN_QUOTES + r"\Z")

_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
"""Byte order marks. UTF-32 comes first because its mark begins with that of UTF-16."""

_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
_OF_WINDOWS = re.compile(rb"[\x80-\x9f]")
"""These bytes are letters and signs in WINDOWS-1252, and control characters in ISO-8859-1."""

Row = list[str]
"""The cells of a row, including its counts."""


@dataclass(frozen=True)
class Layout:
    """The columns of every row."""

    delimiter: str
    width: int
    indices: tuple[int, ...]  # the places of the columns of counts, increasing
    names: tuple[str, ...]  # their names, as the caller wrote them
    floats: bool = False  # whether a count may end with a point and zeros


def decoded(data: bytes, first_line: int) -> str:
    """Return the text of some lines; a TableError names a line that is not UTF-8."""
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
    hint = f"; it looks like {encoding}: iconv -f {encoding} -t UTF-8 OLD > NEW" if encoding else ""
    return TableError(f"line {line}: the file is not UTF-8 text{hint}")


def _encoding(data: bytes, fault: int, first_line: int) -> str:
    """Return iconv's name of the encoding that some lines seem to have, or "" if there is none.

    ``fault`` is the place of the first byte that is not UTF-8.
    """
    if first_line == 1:
        if mark := next((name for mark, name in _MARKS if data.startswith(mark)), ""):
            return mark
        zeros = [data[start::2].count(0) for start in (0, 1)]
        if not zeros[0] and zeros[1] > len(data) // 4:
            return "UTF-16LE"
        if not zeros[1] and zeros[0] > len(data) // 4:
            return "UTF-16BE"
    if not data[:fault].isascii() or _CONTROLS.search(data):  # two encodings, or not text
        return ""
    return "WINDOWS-1252" if _OF_WINDOWS.search(data) else "ISO-8859-1"


def read_header(
    text: str, columns: Sequence[str], delimiter: str, *, floats: bool = False
) -> tuple[Row, Layout]:
    """Return the names in the header, stripped, and the layout of the rows."""
    header = _cells(text, 1, delimiter)
    hint = ": commas delimit, or tabs if the file ends in .tsv or .tab; or set delimiter=';'"
    names = [column.strip(BLANKS) for column in columns]
    places = column_indices(header, names, "line 1: ", "the header", hint)
    by_place = dict(zip(places, columns, strict=True))
    if len(by_place) < len(columns):  # they differ only in blanks
        raise TableError(
            "column must name each column once, but two of the names differ only in blanks"
        )
    indices = tuple(sorted(by_place))
    layout = Layout(delimiter, len(header), indices, tuple(by_place[i] for i in indices), floats)
    return header, layout


def read_rows(
    data: bytes | memoryview, first_line: int, layout: Layout
) -> tuple[list[Row], NDArray[Any]]:
    """Return the rows of the lines and their counts, rows by columns; int64 if all of them fit."""
    rows, integers = [], []
    columns = tuple(zip(layout.indices, layout.names, strict=True))
    # newline="" splits after \n, \r and \r\n only, and keeps them.
    text = io.StringIO(decoded(bytes(data), first_line), newline="")
    for number, line in enumerate(text, first_line):
        row = _row(line.rstrip("\r\n"), number, layout)
        integers.append(
            [_integer(row[index], number, name, layout.floats) for index, name in columns]
        )
        rows.append(row)
    counts = np.array(integers, dtype=object)
    with suppress(OverflowError):
        return rows, counts.astype(np.int64)
    return rows, counts


def rows_again(data: bytes | memoryview, layout: Layout) -> list[Row]:
    """Return the rows of lines that are known to be valid."""
    text = io.StringIO(bytes(data).decode(), newline="")
    return [_cells(line.rstrip("\r\n"), 0, layout.delimiter) for line in text]


def with_counts(
    rows: Iterable[Row], indices: Sequence[int], counts: Iterable[Sequence[int]]
) -> Iterator[Row]:
    """Replace the counts of the rows."""
    for row, row_counts in zip(rows, counts, strict=True):
        for index, count in zip(indices, row_counts, strict=True):
            row[index] = str(count)
        yield row


def csv_bytes(
    rows: Iterable[Iterable[object]], delimiter: str = ",", line_end: str = "\n"
) -> bytes:
    """Return the rows as text, written by the csv module."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerows(rows)
    return text.getvalue().encode()


def line_ends(data: bytes, stop: int | None = None) -> int:
    """Return the number of line ends before `stop`."""
    lf, cr, both = (data.count(end, 0, stop) for end in (b"\n", b"\r", b"\r\n"))
    return lf + cr - both


def _row(line: str, number: int, layout: Layout) -> Row:
    if not line and layout.width > 1:
        raise TableError(f"line {number} is blank, but is not at the end of the table")
    cells = _cells(line, number, layout.delimiter)
    if len(cells) != layout.width:
        fields = number_of(len(cells), "field")
        raise TableError(f"line {number} has {fields}, but the header has {layout.width}")
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
    field = re.compile(rf'({_OPEN_QUOTES}"[ ]*|[^"{d}]*+)({d}|\Z)')  # cached by re
    while match := field.match(raw, position):
        fields.append(match[1])
        position = match.end()
        if not match[2]:
            return fields
    if _OPEN_FIELD.match(raw, position):
        raise TableError(
            f"line {line}: a quote is not closed on its line; a cell must not contain a line end"
        )
    raise TableError(f"line {line}: a quote stands inside a field that is not quoted")


def _integer(cell: str, line: int, column: str, floats: bool) -> int:
    where = f"line {line}, column {column!r}"
    if floats and _WHOLE_FLOAT.fullmatch(cell):
        cell = cell.partition(".")[0]
        if len(cell) > MAX_DIGITS or abs(int(cell)) > _LARGEST_FLOAT:
            raise TableError(f"{where}: the count has a point, so it must be at most 2**53 in size")
    if _INTEGER.fullmatch(cell) is None:
        problem = "is not a whole number; a count must be written with digits only"
        problem += ", or with a point and zeros after them" if floats else OR_FLOATS
        if not cell:
            problem = "is empty; only .parquet and .arrow files may lack a count"
        raise TableError(f"{where}: the cell {problem}")
    if len(cell.lstrip("+-")) > MAX_DIGITS:
        raise TableError(f"{where}: the count has more than {MAX_DIGITS} digits")
    return int(cell)
