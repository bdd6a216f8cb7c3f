"""The examples of docs/ print what the page shows, and paths that a page names exist."""

from __future__ import annotations

import math
import re
import shlex
import sys
import tomllib
from fnmatch import fnmatch
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from command import Command
from doc_examples import run_examples
from engine import ENGINE
from evidence_cases import at_once
from parts import method_of_auto
from programs import printed

import discretegauss as dg
from discretegauss.data.example import invented_people

DOCS = Path(__file__).resolve().parents[2] / "docs"

EXAMPLES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if "_site" not in page.parts and ">>>" in page.read_text(encoding="utf-8")
)
OF_THE_CORE = {
    *("data.md", "drawing.md", "generalized.md", "methods.md", "migration.md", "person.md"),
}
EVIDENCE = {"privacy_loss.md"}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.evidence if page.name in EVIDENCE else ())
        for page in EXAMPLES
    ],
    ids=lambda page: page.relative_to(DOCS).as_posix(),
)
def test_the_examples_return_what_is_shown(page: Path) -> None:
    if page.name in OF_THE_CORE and ENGINE != "native":
        pytest.skip("ChaCha20 is in the compiled core")
    if page.name in ("data.md", "person.md"):
        pytest.importorskip("pandas")
    failed, tried = run_examples(page)
    assert (failed, tried > 2) == (0, True)


def test_the_figures_of_the_paper_are_drawn_and_printed_as_the_page_shows(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    program = DOCS.parent / "examples" / "paper_figures.py"
    text = (DOCS / "concepts" / "which_law.md").read_text(encoding="utf-8")
    _, _, shown = text.partition("$ python examples/paper_figures.py --out figures\n")
    said = printed(sys.executable, program, "--out", "figures", cwd=tmp_path)
    assert said == shown.partition("```")[0]
    for line in said.splitlines()[:4]:
        picture = (tmp_path / line.removeprefix("written to ")).read_bytes()
        assert picture[:8] == b"\x89PNG\r\n\x1a\n"


def test_no_text_tells_to_install_this_package_by_name() -> None:
    """No page installs the package from an index, because anybody could put that name there.

    A page may use these words only for what will be true once it is there.
    """
    texts = [
        p for folder in ("python", "docs") for p in (DOCS.parent / folder).rglob("*") if p.is_file()
    ]
    texts = [p for p in texts if p.suffix in (".py", ".md")] + [DOCS.parent / "README.md"]
    assert len(texts) > 50
    for text in texts:
        later = r"(?<!Once the package is published: `)"
        assert not re.search(rf"{later}pip install '?discretegauss\b", text.read_text()), text


ROOT = DOCS.parent
FOLDERS = [
    "tests",
    "csrc",
    "docs",
    "python",
    "benchmarks",
    "tools",
    "cmake",
    "examples",
    "licenses",
]
FOUND = [*ROOT.glob("*.md"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.md"))]
DOCUMENTS = sorted(path for path in FOUND if path.name != "PROOF.md")


@at_once("document", DOCUMENTS)
def test_the_files_that_a_document_names_exist(document: Path) -> None:
    """Links lead somewhere, and paths that look like ours exist."""
    text = document.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (document.parent / link).exists(), link
    named = re.findall(
        rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./-]*\w\.(?:py|md|c|h|sh|json|csv)\b", text
    )
    named += re.findall(r"`((?:[\w.-]+/)+\w+\.(?:py|md|c|h|sh))`", text)
    near = (ROOT, document.parent, ROOT / "python" / "discretegauss", ROOT / "csrc", ROOT / "tests")
    for name in named:
        assert any((folder / name).exists() for folder in near), name


@at_once("document", DOCUMENTS)
def test_the_headings_that_links_name_exist(document: Path) -> None:
    """The part after # is the name that hosts of Markdown make of a heading."""
    text = document.read_text(encoding="utf-8")
    for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", text):
        target = (document.parent / link) if link else document
        headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        names = [re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings]
        assert anchor in names, (link, anchor)


def test_the_functions_that_the_tour_names_are_in_their_files() -> None:
    tour = (DOCS / "developers.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| `(\w+)` \| `([\w/.]+)` \|", tour, re.MULTILINE)
    assert len(steps) > 20
    for name, file in steps:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^ *(?:def|class) {name}\b|^\w[\w *]*\b{name}\(", text, re.MULTILINE), (
            name
        )


def test_the_picture_of_rooms_shows_the_imports(tmp_path: Path) -> None:
    """The picture carries the heights of its rooms; draw it again when they change."""
    pytest.importorskip("matplotlib")
    program, out = DOCS / "figures" / "rooms.py", tmp_path / "rooms.png"
    printed(sys.executable, program, "--out", out)
    heights = [
        re.findall(rb"Description\0([\w= -]+)", picture.read_bytes())
        for picture in (out, program.with_suffix(".png"))
    ]
    assert heights[0] == heights[1] != []


def test_claims_fit_the_page_and_name_every_test() -> None:
    """tests/README.md has at most 60 rows of 160 characters, and names each file or its folder."""
    tests = ROOT / "tests"
    text = (tests / "README.md").read_text(encoding="utf-8")
    text = text.partition("\n## Claims\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) <= 62  # with the heads
    assert max(map(len, rows)) <= 160
    named = set()
    for before, names, after in re.findall(
        r"`([\w/]*)(?:\{([\w,]+)\})?([\w.]*)[ `]", "".join(rows)
    ):
        named |= {f"{before}{name}{after}" for name in names.split(",")}
    folders = tuple(name for name in named if name.endswith("/"))
    files = {path.relative_to(tests).as_posix() for path in tests.glob("*/test_*.py")}
    assert [file for file in sorted(files - named) if not file.startswith(folders)] == []
    of_c = {path.stem for path in (tests / "c").glob("test_*.c")}
    assert of_c - {name.removeprefix("c/") for name in named} == set()


def test_no_folder_of_tests_is_passed_over() -> None:
    """pytest finds the tests in tests/build, although by default it skips folders named build."""
    root = Path(__file__).parents[2]
    options = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    passed_over = options["tool"]["pytest"]["ini_options"]["norecursedirs"]
    for folder in {file.parent for file in (root / "tests").rglob("test_*.py")}:
        names = folder.relative_to(root).parts
        assert not any(fnmatch(name, pattern) for name in names for pattern in passed_over), folder


@pytest.mark.usefixtures("native_engine")
def test_the_pages_say_from_how_many_draws_on_cells_draw() -> None:
    """The numbers are those of the laws beside them, which are the widest to a tenth."""
    page = (DOCS / "noise" / "methods.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]* \| ([^|]*) \| 2\^(\d\d) \|$", page, re.MULTILINE)
    laws: dict[str, Any] = {
        "sigma": lambda x: dg.DiscreteGaussian(sigma=x),
        "scale": dg.DiscreteLaplace,
    }
    compared = 0
    for examples, bits in rows:
        n = 2 ** int(bits)
        for name, greatest in re.findall(r"(sigma|scale) up to ([\d.]+)", examples):
            law, wider = laws[name](greatest), laws[name](Fraction(greatest) + Fraction(1, 10))
            methods = [method_of_auto(law, n), method_of_auto(law, n - 1), method_of_auto(wider, n)]
            assert methods == ["cells", "isochronous", "isochronous"], (name, greatest)
            compared += 1
    assert compared == 3
    n, wide = 2 ** int(rows[-1][1]), dg.DiscreteGaussian(sigma=10**6)
    assert (method_of_auto(wide, n - 1), method_of_auto(wide, n)) == ("isochronous", "cells")
    wide = dg.DiscreteGaussian(sigma=10**30)
    assert (method_of_auto(wide, 2**12 - 1), method_of_auto(wide, 2**12)) == ("reference", "cells")
    for name in ("SECURITY.md", "csrc/include/discretegauss.h", "python/discretegauss/sampling.py"):
        text = (ROOT / name).read_text(encoding="utf-8").replace("2**", "2^")
        assert all(f"2^{bits}" in text for _, bits in rows), name


# --- README.md, docs/README.md and docs/cost/privacy.md


def run_the_blocks(name: str) -> dict[str, object]:
    """Run the Python blocks of a document, one by one; return the names they set."""
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL
    )
    if not blocks:
        pytest.fail(f"{name} has no Python block")
    names: dict[str, object] = {"dg": dg}
    for block in blocks:
        lines = block.splitlines()
        if ENGINE != "native":  # only the compiled core has ChaCha20
            lines = [line for line in lines if "chacha20" not in line]
        exec("\n".join(lines), names)  # noqa: S102
    return names


def test_the_lines_at_the_top_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """README.md counts the people that the command writes, and prints the sentences about them."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("narwhals")
    (tmp_path / "people.csv").write_text(invented_people(), encoding="ascii")
    monkeypatch.chdir(tmp_path)
    names = run_the_blocks("README.md")
    result: Any = names["result"]
    truth = pd.read_csv("people.csv").groupby(["town", "age"]).size()
    cells = result["cells"].set_index(["town", "age"])
    assert ((cells["n"] - truth).abs() < 5000).all()  # records beyond the third are not counted
    assert "epsilon = 1 (pure: delta = 0)" in str(result)
    assert str(result) in capsys.readouterr().out
    assert len(names["noisy"]) == 4  # type: ignore[arg-type]


def test_the_programs_of_the_map_run() -> None:
    """docs/README.md runs."""
    pytest.importorskip("pandas")
    names = run_the_blocks("docs/README.md")
    low, high = names["low"], names["high"]
    assert bool((low["people"] < high["people"]).all())  # type: ignore[index]


PRIVACY = (DOCS / "cost" / "privacy.md").read_text(encoding="utf-8")


def block(start: str) -> list[str]:
    found = re.search(rf"```\w*\n({start}.*?)```", PRIVACY, re.DOTALL)
    if found is None:
        pytest.fail(f"docs/cost/privacy.md has no block that starts with {start}")
    return found.group(1).splitlines()


def test_the_lines_of_python_return_what_their_comments_say() -> None:
    names = {"dg": dg, "Fraction": Fraction, "DiscreteGaussian": dg.DiscreteGaussian}
    compared = 0
    for line in block("import discretegauss"):
        code, _, comment = line.partition("#")
        value = re.search(r"\b(?:Fraction|DiscreteGaussian)\([\d, /]+\)", comment)
        if value is None:
            exec(code, names)  # noqa: S102
        else:
            expected = value.group().replace("8924/5", "'8924/5'")
            assert eval(code, names) == eval(expected, names)  # noqa: S307
            compared += 1
    assert compared == 5


def test_the_command_prints_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    command, *shown = block(r"\$ discretegauss calibrate")
    done = Command(capsys)(*shlex.split(command)[2:])
    assert (done.code, done.out.splitlines()) == (0, shown)


def test_a_norm_as_a_float_may_be_too_small_and_the_next_float_is_not() -> None:
    law, exact = dg.DiscreteGaussian(100), Fraction(3, 200)
    assert dg.privacy.rho(law, math.sqrt(3)) < exact
    assert exact < dg.privacy.rho(law, math.nextafter(math.sqrt(3), math.inf))
    assert dg.privacy.rho(law, [1, 1, 1]) == exact
