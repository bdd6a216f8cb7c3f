"""The examples of docs/drawing.md give what stands beside them."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from discretegauss import _engine

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "drawing.md"


@pytest.mark.skipif(_engine.native is None, reason="ChaCha20 is in the compiled core")
def test_the_examples_return_what_is_shown() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, attempted = doctest.testfile(
        str(DOCUMENT), module_relative=False, optionflags=flags, encoding="utf-8"
    )
    assert attempted >= 15
    assert failed == 0
