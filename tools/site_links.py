"""Find links of a built site to files, and places in files, that do not exist.

    python tools/site_links.py build/site

Sphinx checks what it resolves itself. This reads the pages as a browser would.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places in it that a link can name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and (name == "id" or (tag == "a" and name == "name")):
                self.places.add(value)


def dead_links(site: Path) -> tuple[int, list[str]]:
    """Return the number of pages, and a line for each dead link."""
    # _static holds templates of the theme
    found = (path for path in site.rglob("*.html") if "_static" not in path.parts)
    pages = {path.resolve(): Page(path) for path in found}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists() or (
                place and target in pages and place not in pages[target].places
            ):
                dead.append(f"{path.relative_to(site.resolve())}: {link}")
    return len(pages), dead


def main() -> int:
    """Print the dead links, and the number of pages and links."""
    site = Path(sys.argv[1])
    pages, dead = dead_links(site)
    for line in dead:
        print(f"dead link in {line}")
    print(f"{pages} pages, {len(dead)} dead links")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
