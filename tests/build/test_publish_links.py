"""Package indexes show the README without the files beside it: links and pictures are absolute."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_links_and_pictures_become_absolute() -> None:
    """A picture by its bytes, as a page about it would show nothing."""
    spec = importlib.util.spec_from_file_location("links", ROOT / "tools" / "publish_links.py")
    assert spec is not None
    assert spec.loader is not None
    links = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(links)
    base = "https://example.org/a/b/blob/v1"
    text = "![p](docs/p.png) [d](docs/d.md) [up](#x) [w](https://w.org)"
    assert links.absolute(text, base) == (
        "![p](https://example.org/a/b/raw/v1/docs/p.png) "
        "[d](https://example.org/a/b/blob/v1/docs/d.md) [up](#x) [w](https://w.org)"
    )
    readme = links.absolute((ROOT / "README.md").read_text("utf-8"), base)
    assert re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme) == [
        "https://example.org/a/b/raw/v1/docs/figures/bench.png"
    ]
