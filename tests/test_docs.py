"""The examples of docs/ give what stands beside them (utility.md: test_utility_docs.py)."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from discretegauss import _engine

DOCS = Path(__file__).resolve().parent.parent / "docs"
needs_the_core = pytest.mark.skipif(
    _engine.native is None, reason="ChaCha20 is in the compiled core"
)


@pytest.mark.parametrize(
    "name", ["laws.md", "federated.md", pytest.param("drawing.md", marks=needs_the_core)]
)
def test_the_examples_return_what_is_shown(name: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, attempted = doctest.testfile(
        str(DOCS / name), module_relative=False, optionflags=flags, encoding="utf-8"
    )
    assert attempted >= 15
    assert failed == 0
