"""Make the tree fit to be published: ``python tools/publish_links.py ADDRESS TAG``.

Package indexes show README.md without the files that it links to, so its relative links become
absolute ones, and ``[project.urls]`` gets the repository's address. It rewrites both files in
place, in a checkout that is packed and thrown away, and never committed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def absolute(text: str, base: str) -> str:
    """Return Markdown with absolute links: relative ones get the base, or that of pictures."""
    raw = base.replace("/blob/", "/raw/", 1)
    text = re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:|#)", rf"\1{raw}/", text)
    return re.sub(r"\]\((?![a-z]+:|#)([^)]+)\)", rf"]({base}/\1)", text)


def with_addresses(project: str, address: str, tag: str) -> str:
    """Return pyproject.toml with the repository's address under [project.urls]."""
    head, mark, rest = project.partition("[project.urls]\n")
    if not mark:
        raise ValueError("pyproject.toml has no [project.urls]")
    urls = {
        "Source": address,
        "Documentation": f"{address}/blob/{tag}/docs/README.md",
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
    return head + mark + "".join(f'{name} = "{url}"\n' for name, url in urls.items()) + rest


def main() -> int:
    """Run the command line; return its exit code."""
    if len(sys.argv) != 3 or not re.fullmatch(r"https://[\w./-]+[\w-]", sys.argv[1]):
        print("publish_links: https://ADDRESS TAG", file=sys.stderr)
        return 2
    address, tag = sys.argv[1:]
    readme, project = ROOT / "README.md", ROOT / "pyproject.toml"
    text = absolute(readme.read_text(encoding="utf-8"), f"{address}/blob/{tag}")
    readme.write_text(text, encoding="utf-8")
    text = with_addresses(project.read_text(encoding="utf-8"), address, tag)
    project.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
