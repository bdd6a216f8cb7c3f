"""An error about a file of another format says which format it is, and what to do."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from discretegauss.errors import ParameterValueError, TableError
from discretegauss.release import release_table
from discretegauss.release._plan import read_plan


def _zip(name: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, "n\n1\n")
    return content.getvalue()


ROWS = json.dumps([{"g": "a", "n": 3}, {"g": "b", "n": 4}], indent=1).encode()
FILES = {
    "workbook.xlsx": (_zip("xl/workbook.xml"), "a zip archive or an Excel workbook", "as CSV"),
    "t.csv": (_zip("t.csv"), "a zip archive or an Excel workbook", "unpack the archive"),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), "an old Excel", "as CSV"),
    "rows.json": (ROWS, "JSON", "save the table as CSV"),
    "object.json": (b'\xef\xbb\xbf{"n": [1, 2]}\n', "JSON", "save the table as CSV"),
    "page.csv": (b"<!DOCTYPE html>\n<html>", "XML or HTML", "save the table as CSV"),
    "z.csv": (gzip.compress(b"n\n1\n"), "compressed by gzip", "the ending .csv.gz"),
    "p.csv": (b"PAR1" + bytes(99) + b"PAR1", "in Parquet", "the ending .parquet"),
    "q.parquet": (_zip("q.parquet"), "a zip archive or an Excel", "unpack the archive"),
    "x.npy": (b"PAR1" + bytes(99), "in Parquet", "the ending .parquet"),
    "u.csv": ("g,n\r\na,3\r\n".encode("utf-16"), "text in UTF-16", "iconv -f UTF-16"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_table_of_another_format_is_named(tmp_path: Path, name: str) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    content, words, advice = FILES[name]
    (tmp_path / name).write_bytes(content)
    out = tmp_path / f"out{Path(name).suffix}"
    with pytest.raises(TableError) as caught:
        release_table(tmp_path / name, "n", out, rho=1)
    assert f"{name}: the file is {words}" in str(caught.value)
    assert advice in str(caught.value)


@pytest.mark.parametrize("name", [name for name in FILES if name != "page.csv"])
def test_a_plan_of_another_format_is_named(tmp_path: Path, name: str) -> None:
    content, words, _ = FILES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ParameterValueError, match=f"is not a TOML file; it is {words}"):
        read_plan(tmp_path / name)


def test_a_plan_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_bytes(b'\xef\xbb\xbfrho = 1\n[[tables]]\ntable = "t"\ncolumn = "n"\nout = "o.csv"\n')
    assert read_plan(plan).cost.rho == 1


def test_an_error_about_a_table_in_its_own_format_stays(tmp_path: Path) -> None:
    for name, content in (("t.csv", b"n\nx\n"), ("t.csv.gz", gzip.compress(b"n\nx\n"))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError, match="line 2, column 'n': the cell is not a whole number"):
            release_table(tmp_path / name, "n", tmp_path / "o.csv", rho=1)
