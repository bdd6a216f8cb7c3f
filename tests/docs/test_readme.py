"""The Python lines of README.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discretegauss._drawing import engines as _engine

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_lines_at_the_top_run() -> None:
    """The first Python block of README.md, on the counts it names."""
    block = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    if block is None:
        pytest.fail("README.md has no Python block")
    lines = [line for line in block.group(1).splitlines() if line]
    if _engine.native is None:  # ChaCha20 is in the compiled core
        lines = [line for line in lines if "chacha20" not in line]
    names: dict[str, object] = {}
    for line in lines:
        exec(line, names)  # noqa: S102
    noisy = names["noisy"]
    assert getattr(noisy, "shape", None) == (4,)
