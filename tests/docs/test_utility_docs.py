"""The examples of docs/utility.md give what stands beside them."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from discretegauss._cli import entry as cli

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "utility.md"


def test_the_examples_give_what_is_shown() -> None:
    failed, tried = doctest.testfile(str(DOCUMENT), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried >= 10


def test_the_command_prints_what_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    found = re.search(
        r"```\n\$ (discretegauss figures .*)\n([^`]*)```", DOCUMENT.read_text("utf-8")
    )
    if found is None:
        pytest.fail("docs/utility.md does not show the command")
    monkeypatch.chdir(tmp_path)
    assert cli.main(shlex.split(found[1])[1:]) == 0
    assert capsys.readouterr().out == found[2]
