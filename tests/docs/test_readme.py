"""The Python lines of README.md and docs/README.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from engine import ENGINE

import discretegauss as dg

ROOT = Path(__file__).resolve().parents[2]


def run_the_blocks(name: str) -> dict[str, object]:
    """Run the Python blocks of a document, line by line; return the names they set."""
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL
    )
    if not blocks:
        pytest.fail(f"{name} has no Python block")
    names: dict[str, object] = {"dg": dg}
    for line in "".join(blocks).splitlines():
        if "chacha20" not in line or ENGINE == "native":  # only the compiled core has it
            exec(line, names)  # noqa: S102
    return names


def test_the_lines_at_the_top_run() -> None:
    """README.md runs on the counts that it names."""
    noisy = run_the_blocks("README.md")["noisy"]
    assert getattr(noisy, "shape", None) == (4,)


def test_the_programs_of_the_map_run() -> None:
    """docs/README.md runs."""
    pytest.importorskip("pandas")
    names = run_the_blocks("docs/README.md")
    low, high = names["low"], names["high"]
    assert bool((low["people"] < high["people"]).all())  # type: ignore[index]
