"""The Python lines of README.md and docs/README.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import discretegauss as dg
from discretegauss._drawing import engines as _engine

ROOT = Path(__file__).resolve().parents[2]


def run_the_first_block(name: str) -> dict[str, object]:
    """Run the first Python block of a document, line by line; return the names it set."""
    block = re.search(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    if block is None:
        pytest.fail(f"{name} has no Python block")
    names: dict[str, object] = {"dg": dg}
    for line in block.group(1).splitlines():
        if "chacha20" not in line or _engine.native is not None:  # it is in the compiled core
            exec(line, names)  # noqa: S102
    return names


def test_the_lines_at_the_top_run() -> None:
    """On the counts that README.md names."""
    noisy = run_the_first_block("README.md")["noisy"]
    assert getattr(noisy, "shape", None) == (4,)


def test_the_calls_that_are_listed_run() -> None:
    """Those of docs/README.md."""
    run_the_first_block("docs/README.md")
