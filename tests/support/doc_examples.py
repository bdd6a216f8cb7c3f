"""Run the examples of a page in a temporary folder, because some write files."""

from __future__ import annotations

import contextlib
import doctest
from pathlib import Path
from tempfile import TemporaryDirectory


def run_examples(page: Path) -> tuple[int, int]:
    """Return how many examples of a page fail, and how many there are."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        return doctest.testfile(
            str(page), module_relative=False, optionflags=flags, encoding="utf-8"
        )
