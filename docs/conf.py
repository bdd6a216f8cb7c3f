"""How the site is built: `tools/site`, or `sphinx-build -c docs . build/site`.

The source directory is the whole repository, so that a link which works between its Markdown files
works on the site, and no link is rewritten. `include_patterns` says which files become pages.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

import discretegauss

ROOT = Path(__file__).resolve().parent.parent

project = "discretegauss"
author = "The discretegauss developers"
project_copyright = author
version = release = discretegauss.__version__
html_title = f"discretegauss {release}"

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
]

# --- pages -----------------------------------------------------------------------------------

root_doc = "docs/README"
include_patterns = [
    "docs/**",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benchmarks/*.md",
    "csrc/README.md",
    "examples/README.md",
    "licenses/README.md",
]
# Folders are pruned by this list only. tests/README.md and the proofs are several times as long as
# a page may be: they stay files of the repository, and a link to one becomes plain text
# (`name_pages`).
exclude_patterns = [
    *(".*", "**/.*", "build*", "dist", "docs/_site"),
    *("cmake", "csrc/*/*", "python", "tests", "tools"),
]
html_extra_path = ["_site/root"]  # index.html, which leads to the first page
templates_path = [str(ROOT / "docs" / "_site" / "templates")]
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
# Notebooks run in the reader's browser, by the Pyodide at this address (docs/developers.md).
if pyodide := os.environ.get("PYODIDE"):
    wheel = f"discretegauss-{release}-py3-none-any.whl"
    html_js_files = [("live.js", {"type": "module", "data-pyodide": pyodide, "data-wheel": wheel})]

nitpicky = True
suppress_warnings = ["mystnb.unknown_mime_type"]
show_warning_types = True

# --- Markdown and notebooks ------------------------------------------------------------------

myst_heading_anchors = 4
highlight_language = "none"  # of a block that names no language: a shell's output, a map of folders
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Notebooks run with these settings, and not with what lies in somebody's home.
ipython = tempfile.TemporaryDirectory()
os.environ["IPYTHONDIR"] = ipython.name
settings = Path(ipython.name, "profile_default", "ipython_kernel_config.py")
settings.parent.mkdir()
settings.write_text(
    "c.InlineBackend.figure_formats = ['svg']\nc.IPKernelApp.log_level = 'ERROR'\n", "utf-8"
)

# --- docstrings ------------------------------------------------------------------------------

default_role = "autolink"
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"  # numpydoc's sections say what a parameter may be
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

# --- theme -----------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": "discretegauss"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Nothing stands beside pages that have none below them.
alone = {"genindex", "search"}
alone |= {f"docs/{name}" for name in ("README", "for_you", "count", "tutorial")}
html_sidebars = {"**": ["sidebar-nav-bs"], **{page: [] for page in sorted(alone)}}
html_show_sourcelink = False
html_copy_source = False


# --- what differs between Markdown and a site -------------------------------------------------


def name_pages(app: Any, doctree: nodes.document) -> None:
    """Call a page by its title where Markdown calls it by its file, `[release.md](release.md)`.

    A link to a Markdown file that is no page becomes plain text: a site knows no address of it.
    The file has to be there; else the link stays, and is reported as dead.
    """
    for link in list(doctree.findall(pending_xref)):
        if link.get("refdomain") != "doc":
            continue
        target = link["reftarget"]
        if target in app.env.found_docs:
            if link.astext().endswith((".md", ".ipynb")):
                link["refexplicit"] = False
        elif (ROOT / f"{target}.md").exists():
            link.replace_self(link.children)


def trim_examples(app: Any, doctree: nodes.document) -> None:
    """Drop the blank line that ends an example for doctest."""
    for block in list(doctree.findall(nodes.literal_block)):
        if (text := block.astext()).endswith("\n"):
            block[:] = [nodes.Text(text.rstrip("\n"))]
            block.rawsource = block.astext()


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("doctree-read", name_pages)
    app.connect("doctree-read", trim_examples)
