"""The examples of docs/ give what stands beside them (utility.md: test_utility_docs.py)."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from discretegauss._drawing import engines as _engine

DOCS = Path(__file__).resolve().parents[2] / "docs"
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


def test_no_text_tells_to_install_this_package_by_name() -> None:
    """It is on no index: whoever put one of that name there would be installed."""
    texts = [
        p for folder in ("python", "docs") for p in (DOCS.parent / folder).rglob("*") if p.is_file()
    ]
    texts = [p for p in texts if p.suffix in (".py", ".md")] + [DOCS.parent / "README.md"]
    assert len(texts) > 50
    for text in texts:
        assert not re.search(r"pip install '?discretegauss\b", text.read_text()), text
