"""The pages of the documentation, their texts, and their examples."""

from __future__ import annotations

import contextlib
import doctest
import json
from pathlib import Path
from tempfile import TemporaryDirectory


def run_examples(page: Path) -> tuple[int, int]:
    """Run examples in a new folder; return how many of a page fail, and how many there are."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        return doctest.testfile(
            str(page), module_relative=False, optionflags=flags, encoding="utf-8"
        )


ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(path for path in DOCS.rglob("*.md") if "_site" not in path.parts),
        *DOCS.glob("*.ipynb"),
        *(ROOT / name for name in ("SECURITY.md", "CONTRIBUTING.md")),
        *(ROOT / "benchmarks").glob("*.md"),
        *(ROOT / name / "README.md" for name in ("csrc", "examples", "licenses")),
    ]
)


def text_of(page: Path) -> str:
    """Return the text of a page; of a notebook, that of all its cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
