"""The site's pages are in its list of pages, and their code runs."""

from __future__ import annotations

import importlib
import json
import re
import sys

import pytest
from doc_examples import DOCS, PAGES, ROOT, text_of
from programs import printed

import discretegauss as dg


def test_every_document_is_in_a_list_of_pages() -> None:
    """Every page is in a list of pages: Sphinx reports that, and this test does without Sphinx."""
    listed = set()
    for page in [*PAGES, *DOCS.rglob("*.rst")]:
        lists = r"```{toctree}\n:hidden:\n(?::caption: [^\n]*\n)?\n(.*?)```"
        for entries in re.findall(lists, text_of(page), re.DOTALL):
            for entry in entries.split("\n"):
                name = re.sub(r".*<(.*)>", r"\1", entry)
                if name:
                    listed.add((page.parent / name).resolve())
    documents = {page.with_suffix("") for page in PAGES} | {DOCS / "reference" / "index"}
    assert documents - listed == {DOCS / "README"}
    assert listed - documents == {ROOT / "CHANGELOG"}


GALLERY = re.compile(r"```{code-cell} python3\n(?:---\n(.*?)---\n)?(.*?)```", re.DOTALL)
"""The options and the code of its cells."""


def run_in_docs(program: str) -> None:
    """Run code in the page's folder, without a screen, and fail if it fails."""
    program = f"import matplotlib; matplotlib.use('Agg', force=True)\n{program}"
    command = [sys.executable, "-I", "-W", "ignore:FigureCanvasAgg", "-"]
    printed(*command, input=program, cwd=DOCS)


@pytest.mark.parametrize("name", ["tutorial", "estimates"])
def test_the_notebooks_run(name: str) -> None:
    """Its cells run in order, without Jupyter, and it is committed without outputs."""
    for module in ("matplotlib", "pandas"):
        pytest.importorskip(module)
    cells = [
        cell
        for cell in json.loads((DOCS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert len(cells) > 8
    run_in_docs("\n".join("".join(cell["source"]) for cell in cells))


def test_the_figures_of_the_gallery_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    cells = GALLERY.findall(text_of(DOCS / "gallery.md"))
    assert len(cells) >= 5
    run_in_docs("\n".join(code for _, code in cells))


def test_pictures_have_a_sentence_as_alternative_text() -> None:
    """A picture in Markdown, and one that a cell of a page draws."""
    texts = [alt for page in PAGES for alt in re.findall(r"!\[(.*?)\]\(", text_of(page))]
    texts += [
        head for head, code in GALLERY.findall(text_of(DOCS / "gallery.md")) if "show()" in code
    ]
    for page in DOCS.glob("*.ipynb"):
        for cell in json.loads(page.read_text(encoding="utf-8"))["cells"]:
            if "plt.show()" in "".join(cell["source"]):
                texts.append(cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", ""))
    assert len(texts) > 15
    assert [text for text in texts if len(text.split()) < 8] == []


def test_the_reference_has_every_public_name() -> None:
    """The page has all names of the package and its modules, alone or with the module."""
    text = (DOCS / "reference" / "index.rst").read_text(encoding="utf-8")
    shown = set(re.findall(r"^(?:   |.. py:data:: )discretegauss\.(\w+)$", text, re.MULTILINE))
    missing = set(dg.__all__) - shown - {"__version__", "data"}
    assert missing == set()
    for name in shown:
        assert hasattr(dg, name) or importlib.import_module(f"discretegauss.{name}")


SEARCHED = {
    "for_you.md": "suppress k-anonymity GDPR household",
    "cross_tables.md": "crosstab percentage margins median",
    "budget.md": "delta",
    "noise/laws.md": "Laplace",
    "noise/drawing.md": "seed",
}


def test_the_search_finds_the_words_that_newcomers_look_for() -> None:
    """Each is in the glossary, in an entry that leads to a page which has it, too."""
    entries = text_of(DOCS / "glossary.md").lower().split("\n\n")
    for page, words in SEARCHED.items():
        for word in words.lower().split():
            assert word in text_of(DOCS / page).lower(), (page, word)
            assert any(word in entry and f"]({page}" in entry for entry in entries), (page, word)
