"""The format of a file by its first bytes, for errors about a file that is not what was asked."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

_KINDS = (
    (rb"PK\x03\x04", "zip", "a zip archive or an Excel workbook (.xlsx)"),
    (rb"\xd0\xcf\x11\xe0", "xls", "an old Excel workbook (.xls)"),
    (rb"PAR1", "Parquet", "in Parquet"),
    (rb"ARROW1|\xff{4}.{3}\0", "Arrow IPC", "in Arrow IPC"),
    (rb"\x93NUMPY", ".npy", "an array of numpy (.npy)"),
    (rb"\x1f\x8b", "gzip", "compressed by gzip"),
    (rb"\x28\xb5\x2f\xfd", "zstd", "compressed by zstd"),
    (rb"%PDF-", "PDF", "a PDF"),
    (rb"SQLite format 3\0", "SQLite", "a database of SQLite"),
    (rb"\s*<(?:\?xml|!doctype|html)", "XML", "XML or HTML"),
    (rb'\s*(?:\{\s*["}]|\[\s*[{\[])', "JSON", "JSON"),
    (rb"\xff\xfe|\xfe\xff", "UTF-16", "text in UTF-16"),
)
"""The beginning, a short name, and words for the user. A CSV table or a plan in UTF-8 has none."""

_ADVICE = {
    "zip": "save the table as CSV, or unpack the archive",
    "Parquet": "give it the ending .parquet",
    "Arrow IPC": "give it the ending .arrow",
    ".npy": "give it the ending .npy",
    "gzip": "give it the ending .csv.gz",
    "zstd": "give it the ending .csv.zst",
    "UTF-16": "save it as UTF-8, for example by iconv -f UTF-16 -t UTF-8 OLD > NEW",
}
"""For tables. Other formats must be saved as CSV."""


def looks_like(path: Path, *, expected: tuple[str | None, ...] = ()) -> tuple[str, str]:
    """Return words for the format of a file, and advice about a table of this format.

    Both are "" if the format is not known, or is one of those that are expected. The name of a file
    selects its format, so this is used after an error only. A pipe is not read again.
    """
    if not path.is_file():
        return "", ""
    with open(path, "rb") as file:
        start = file.read(512).removeprefix(codecs.BOM_UTF8)
    for pattern, kind, words in _KINDS:
        if re.match(pattern, start, re.IGNORECASE | re.DOTALL):
            if kind in expected:
                return "", ""
            return words, _ADVICE.get(kind, "save the table as CSV")
    return "", ""
