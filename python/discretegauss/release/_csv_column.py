"""A delimited text file of which one column of integers is replaced, every byte outside it kept.

The csv module would read such a file, but not give back the quoting, line ends and blank lines it
found. Here a record stays the list of its raw pieces of text, so that writing it again gives the
same bytes. The format is RFC 4180: fields between delimiters, quoted where need be, with ``""`` for
a quote inside quotes; line ends of any kind; UTF-8, with or without a byte order mark. But for one
thing: no cell contains a line end, so that two stray quotes cannot make rows, and the counts in
them, part of a cell, which is published as it stands.

Of a cell of the column nothing is kept, neither spaces nor quotes: how wide a count is padded, or
whether it is quoted, depends on the count. Nor are spaces around the column's name, which may be
padded to the greatest count, nor blank lines at the end, which may fill the file up to some size.
All other cells are published as they stand, so blanks at their ends could line up what follows the
counts, and tell how wide each one is: see ``_Ends``.

Messages name lines and columns, never what stands in a cell: the table is private.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import TableError

MAX_DIGITS = 600
"""Digits of a count, at most: below every setting of Python's own limit (640 and more)."""

_BYTE_ORDER_MARK = "\ufeff"
BLANKS = (
    "".join(chr(code) for code in range(0x3001) if chr(code).isspace() or code < 0x20)
    + "\x7f"  # with the above all control characters of ASCII: what old files are filled up with
    + "\u115f\u1160\u180e\u200b\u2060\u2800\u3164\ufeff\uffa0"  # fillers, no width
)
"""What a cell may be padded with unseen. There is no white space of Unicode from U+3001 on."""
_AT_ENDS = frozenset(BLANKS + '"')
# Possessive (*+): what is matched is never given up again, so nothing is remembered of it either,
# and a long run of spaces is cut in one way only.
_INTEGER_CELL = re.compile(r'[ \t]*+"?[ \t]*+([+-]?[0-9]++)[ \t]*+"?[ \t]*+')
_OPEN_QUOTES = r'[ ]*"[^"]*+(?:""[^"]*+)*+'
_OPEN_FIELD = re.compile(_OPEN_QUOTES + r"\Z")


@dataclass(frozen=True)
class CountTable:
    """A table read from a file: its text in pieces, and the counts of one column.

    ``pieces`` joined, with a count after each piece but the last, are the text of the file.
    """

    pieces: tuple[str, ...]
    counts: tuple[int, ...]
    other_columns: int
    """How many columns stand in the pieces."""

    def with_counts(self, counts: Sequence[int]) -> bytes:
        """Return the bytes of the file with other integers in the column."""
        parts = [self.pieces[0]]
        for count, piece in zip(counts, self.pieces[1:], strict=True):
            parts.append(str(count))
            parts.append(piece)
        return "".join(parts).encode("utf-8")


def read_counts(path: Path, column: str) -> CountTable:
    """Read the file and find the integers of its column, or raise a TableError.

    The delimiter is a tab for a file name that ends in .tsv or .tab, else a comma.
    """
    delimiter = "\t" if path.suffix.lower() in {".tsv", ".tab"} else ","
    return parse_counts(path.read_bytes(), column, delimiter)


def parse_counts(data: bytes, column: str, delimiter: str = ",") -> CountTable:
    """As read_counts, for the bytes of a file."""
    text = _decode(data)
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    records = _without_trailing_blanks(_records(text[len(mark) :], delimiter))
    header = next(records, None)
    if header is None:
        raise TableError("the file is empty; it must have a header and a row for each count")
    width = len(header.fields)
    index = _column_index(header, column)
    ends = _Ends(width, index)
    ends.look_at(header)
    header.fields[index] = _trimmed(header.fields[index])

    # The text between two counts is one piece: the end of a row, and the next up to its column.
    pieces: list[str] = []
    counts: list[int] = []
    pending = mark + header.text(delimiter)
    for row in records:
        if row.fields == [""] and width > 1:
            raise TableError(f"line {row.line}: a blank line inside the table")
        if len(row.fields) != width:
            fields = _number(len(row.fields), "field")
            raise TableError(f"line {row.line}: {fields}, but the header has {width}")
        counts.append(_integer(row, index, column))
        ends.look_at(row)
        pieces.append(pending + delimiter.join([*row.fields[:index], ""]))
        pending = delimiter.join(["", *row.fields[index + 1 :]]) + row.end
    if not counts:
        raise TableError("the file has a header but no rows: there is nothing to release")
    ends.look_at_empty_cells()
    return CountTable((*pieces, pending), tuple(counts), width - 1)


@dataclass(frozen=True, slots=True)
class _Record:
    line: int  # its number, from 1
    fields: list[str]  # as in the file, quotes and all
    end: str  # its line end; empty at the end of a file without one

    def text(self, delimiter: str) -> str:
        return delimiter.join(self.fields) + self.end


class _Ends:
    """Looks at the blanks at the ends of all cells but those of the column of counts.

    Padding that lines up what comes after a count is as wide as the count is not, wherever in the
    row it stands: before the next cell or a later one, after an earlier one, inside quotes or not.
    So at either end of the cells of a column there is no blank, or one and the same in every row
    and in the header. Then blanks are the same whatever the counts are. A cell that is empty may
    lack these blanks, if all empty ones of its column do.
    """

    def __init__(self, width: int, index: int) -> None:
        self._columns = [i for i in range(width) if i != index]
        self._of_column: list[tuple[str, str] | None] = [None] * width
        self._empty: dict[int, tuple[str, int]] = {}  # the blanks, and the line of the first

    def look_at(self, record: _Record) -> None:
        """Raise a TableError if the blanks differ from those of the records before."""
        for i in self._columns:
            before, text, after = _ends(record.fields[i])
            if not text:
                blanks = before + after
                if self._empty.setdefault(i, (blanks, record.line))[0] != blanks:
                    raise _told_by_blanks(record.line, i)
                continue
            if self._of_column[i] is None:
                self._of_column[i] = before, after
            if self._of_column[i] != (before, after) or max(len(before), len(after)) > 1:
                raise _told_by_blanks(record.line, i)

    def look_at_empty_cells(self) -> None:
        """Raise a TableError if empty cells have blanks that others of their column have not."""
        for i, (blanks, line) in self._empty.items():
            before, after = self._of_column[i] or ("", "")
            if blanks not in {"", before, after, before + after}:
                raise _told_by_blanks(line, i)


def _ends(raw: str) -> tuple[str, str, str]:
    """Return the blanks before the text of a field, the text, and the blanks after it.

    Those inside the quotes count like those outside.
    """
    if raw and raw[0] not in _AT_ENDS and raw[-1] not in _AT_ENDS:  # nearly always, and fast
        return "", raw, ""
    before, text, after = _cut(raw)
    if text.startswith('"'):
        inner_before, text, inner_after = _cut(text[1:-1])
        before, after = before + inner_before, inner_after + after
    return before, text, after


def _cut(raw: str) -> tuple[str, str, str]:
    rest = raw.lstrip(BLANKS)
    text = rest.rstrip(BLANKS)
    return raw[: len(raw) - len(rest)], text, rest[len(text) :]


def _told_by_blanks(line: int, index: int) -> TableError:
    return TableError(
        f"line {line}, column {index + 1}: blanks at an end of the cell could tell how wide the "
        "counts are; there may be one at most, the same in every row and in the header: "
        "strip the cells"
    )


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _line_at(data, error.start)
        # The cause would show the bytes of the file.
        raise TableError(f"line {line}: the file is not UTF-8 text") from None
    if "\0" in text:
        line = _line_at(data, data.index(b"\0"))
        raise TableError(f"line {line}: the file has a NUL byte; it is not a text table")
    return text


def _line_at(data: bytes, position: int) -> int:
    """Return the number of the line, from 1, that has the byte at the position."""
    lf, cr, both = (data.count(end, 0, position) for end in (b"\n", b"\r", b"\r\n"))
    return lf + cr - both + 1


def _records(text: str, delimiter: str) -> Iterator[_Record]:
    """Cut the text into records, one for each line."""
    field = _field(delimiter)
    # newline="" cuts after \n, \r and \r\n, keeps them, and cuts nowhere else.
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        raw = line.rstrip("\r\n")
        fields = _split_quoted(raw, number, field) if '"' in raw else raw.split(delimiter)
        yield _Record(number, fields, line[len(raw) :])


def _without_trailing_blanks(records: Iterator[_Record]) -> Iterator[_Record]:
    """Leave out blank lines at the end of the file: they may fill it up to some size.

    Other blank lines stay records of one empty field; their reader refuses them.
    """
    held: list[_Record] = []  # blank lines, of which it is not known what comes after them
    for record in records:
        if record.fields == [""]:
            held.append(record)
            continue
        yield from held
        held = []
        yield record


def _field(delimiter: str) -> re.Pattern[str]:
    """Match a field, quoted or not, and its end: a delimiter or the end of the line."""
    d = re.escape(delimiter)
    return re.compile(rf'({_OPEN_QUOTES}"[ ]*|[^"{d}]*+)({d}|\Z)')


def _split_quoted(raw: str, line: int, field: re.Pattern[str]) -> list[str]:
    fields: list[str] = []
    position = 0
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


def _column_index(header: _Record, column: str) -> int:
    """Where the column stands. The header is not shown: a file without one begins with data."""
    wanted = column.strip(BLANKS)
    found = [i for i, raw in enumerate(header.fields) if _unquoted(raw) == wanted]
    if len(found) == 1:
        return found[0]
    fields = _number(len(header.fields), "column")
    if not found:
        if len(header.fields) == 1:
            fields += ": commas delimit, or tabs if the name ends in .tsv or .tab"
        raise TableError(f"line {header.line}: the header has no column {column!r} ({fields})")
    places = " and ".join(str(i + 1) for i in found)
    raise TableError(f"line {header.line}: columns {places} are both named {column!r}")


def _trimmed(raw: str) -> str:
    """Return the field without blanks outside its quotes or next to them."""
    text = raw.strip(BLANKS)
    return f'"{text[1:-1].strip(BLANKS)}"' if text.startswith('"') else text


def _unquoted(raw: str) -> str:
    text = _trimmed(raw)
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _integer(row: _Record, index: int, column: str) -> int:
    raw = row.fields[index]
    match = _INTEGER_CELL.fullmatch(raw)
    where = f"line {row.line}, column {column!r}"
    if match is None:
        problem = "is not a whole number" if _unquoted(raw) else "is empty"
        raise TableError(f"{where}: the cell {problem}; a count is written with digits alone")
    if len(match[1].lstrip("+-")) > MAX_DIGITS:
        raise TableError(f"{where}: the count has more than {MAX_DIGITS} digits")
    return int(match[1])


def _number(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
