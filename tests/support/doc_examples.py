"""The examples of a page, run in a folder that is gone afterwards: some write files."""

from __future__ import annotations

import contextlib
import doctest
from pathlib import Path
from tempfile import TemporaryDirectory


def run_examples(page: Path) -> tuple[int, int]:
    """How many examples of a page give something else than it shows, and how many there are."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        return doctest.testfile(
            str(page), module_relative=False, optionflags=flags, encoding="utf-8"
        )
