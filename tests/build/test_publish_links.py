"""Package indexes show the README without the files beside it: links and pictures are absolute."""

from __future__ import annotations

import importlib.util
import re
import tomllib
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
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    project = links.with_addresses(project, "https://example.org/a/b", "v1")
    urls = tomllib.loads(project)["project"]["urls"]
    readme = links.absolute((ROOT / "README.md").read_text("utf-8"), base)
    assert not re.search(
        r'^\[[^]]+\]: |(?:src|href)="', readme, re.MULTILINE
    )  # another form of link
    for link in [*re.findall(r"\]\(([^)]+)\)", readme), urls["Documentation"], urls["Changelog"]]:
        file = link.replace("/raw/v1/", "/blob/v1/").removeprefix(f"{base}/").partition("#")[0]
        assert link.startswith(("#", "https://arxiv.org/")) or (ROOT / file).is_file(), link
    assert re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme) == [
        "https://example.org/a/b/raw/v1/docs/figures/bench.png"
    ]
