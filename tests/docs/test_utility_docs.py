"""The examples of docs/utility.md give what stands beside them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doc_examples import run_examples
from drawn_figures import Written

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "utility.md"


def test_the_examples_give_what_is_shown() -> None:
    failed, tried = run_examples(DOCUMENT)
    assert failed == 0
    assert tried >= 10


def test_the_command_prints_what_is_shown(written: Written) -> None:
    """But for the name of the folder."""
    found = re.search(
        r"```\n\$ (discretegauss figures .*)\n([^`]*)```", DOCUMENT.read_text("utf-8")
    )
    if found is None:
        pytest.fail("docs/utility.md does not show the command")
    assert found[1] == "discretegauss figures --out figures"
    assert written.out.replace(f"{written.folder}/", "figures/") == found[2]
