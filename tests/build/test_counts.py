"""Limits: functions between a call and the core, public names, words of a page, sentences.

The tests count frames, not times. The limits are for Python 3.11, where a comprehension is a
function; later versions count fewer.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import count
from operator import attrgetter
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from doc_examples import PAGES, ROOT, text_of
from our_calls import calls

import discretegauss

dg: Any = discretegauss  # which takes keywords that checkers know to be wrong

# --- our functions ---------------------------------------------------------------------------

LAW, COUNTS, SIGMA2 = dg.DiscreteGaussian(100), np.arange(1000), np.linspace(1, 9, 1000)
NEW = (dg.DiscreteGaussian(12345 + i) for i in count())


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda: partial(dg.discrete_gaussian, 100, 1000), 4),
        (lambda: partial(LAW.sample, 1000), 2),
        (lambda: partial(next(NEW).sample, 1000), 15),
        (lambda: partial(dg.add_noise, COUNTS, LAW), 34),
        (lambda: partial(dg.discrete_gaussian, SIGMA2, dtype=np.int32), 37),
    ],
    ids=["function", "law", "first call of a law", "add_noise", "array of sigma2"],
)
def test_a_draw_takes_no_detour(make: Callable[[], Callable[[], object]], most: int) -> None:
    """A user's call reaches the C core through at most this number of our functions."""
    make()()  # lazy imports and caches are done
    called = calls(make())
    assert len(called) <= most, "\n".join(called)


@pytest.mark.usefixtures("native_engine")
def test_a_release_of_twenty_rows_takes_no_detour(tmp_path: Path) -> None:
    """The table is read twice: once to refuse it before anything is drawn."""
    table = tmp_path / "table.csv"
    table.write_text("g,n\n" + "".join(f"x{i},{7 * i}\n" for i in range(20)))
    run = partial(dg.release.release_table, table, "n", tmp_path / "out.csv", rho="0.1", force=True)
    run()
    assert len(calls(run)) <= 860


# --- public names ----------------------------------------------------------------------------

#: Modules and their public names. `compat` also has the paper's names.
PUBLIC = {
    "": (
        "DiscreteGaussian DiscreteLaplace GeneralizedGaussian Skellam Law add_noise bernoulli "
        "bernoulli_exp build_info discrete_gaussian discrete_laplace generalized_gaussian "
        "geometric_exp noise_for skellam uniform_below"
    ),
    "privacy": (
        "Budget Ledger PrivacyLoss calibrate compose delta dp_event epsilon log_delta loss pld "
        "renyi renyi_delta rho zcdp_delta zcdp_delta_standard zcdp_epsilon zcdp_rho"
    ),
    "release": ("Counts Person Plan PlanRelease Release Running Table release_plan release_table"),
    "selection": (
        "TruncatedLaplace exponential exponential_rho keep_groups keep_rule "
        "noisy_max_epsilon permute_and_flip permute_and_flip_rho report_noisy_max"
    ),
    "snapping": "SnappedLaplace snapping_accuracy snapping_bound snapping_laplace",
    "distributed": ("Rotation SecureSum least_modulus round_conditionally rounded_norm total"),
    "lattice": "clip noisy to_lattice",
    "spark": "add_noise",
    "data": "flights",
    "estimate": "Estimate consistent interval ratio share total",
    "utility": (
        "compare_noise compare_queries continuous_gaussian_delta continuous_gaussian_sf "
        "rounded_gaussian_pmf rounded_gaussian_sf rounded_gaussian_variance"
    ),
    "plots": "before_after consistent interval keep_groups",
    "verify": "verify",
    "testing": "NotPrivateWarning TapeSource seeded_source",
    "errors": (
        "ContradictionError DiscreteGaussError EntropyError LedgerError MissingCoreError "
        "OutputError ParameterOverflowError ParameterTypeError ParameterValueError PrivacyWarning "
        "RangeError SourceError TableError"
    ),
    "compat": "NumpyNoise SystemBits",
}
MODULES = {name: getattr(dg, name) if name else dg for name in PUBLIC}

PAPERS = {
    *("floorsqrt", "normalizing_constant", "sample_uniform", "variance", "cdp2adp"),
    *("sample_bernoulli", "sample_bernoulli_exp", "sample_bernoulli_exp1"),
    *("sample_dgauss", "sample_dlaplace", "sample_geometric_exp_fast"),
    "sample_geometric_exp_slow",
}
"""Of the code that was published with the paper."""

ELSEWHERE = {"add_noise", "noise_for", "OutputError", "TableError", "__version__"}
"""Counted where they belong: a module may name them once more."""


def test_each_module_has_these_names_and_no_others() -> None:
    for name, module in MODULES.items():
        found = set(module.__all__) - (PAPERS if name == "compat" else set())
        if not name:
            found -= set(PUBLIC)
        assert found - ELSEWHERE == set(PUBLIC[name].split()) - ELSEWHERE, name


def test_completion_shows_public_names_alone() -> None:
    """`dir` of every module that users may import tells what `__all__` tells."""
    names = [info.name for info in walk_packages(dg.__path__, "discretegauss.")]
    public = [name for name in names if "._" not in name]
    found = [dg, *map(import_module, public)]
    modules = {module.__name__: module for module in found if hasattr(module, "__all__")}
    assert {f"discretegauss.{name}" for name in PUBLIC if name} < set(modules)
    for name, module in modules.items():
        assert dir(module) == sorted(module.__all__), name


def test_help_names_ten_things() -> None:
    """Each of them exists, and stands in the package's docstring with a line of its own."""
    named = re.findall("^    ([a-zA-Z_.]+)  +[a-z]", dg.__doc__, re.MULTILINE)
    assert len(named) == 10
    assert [name for name in named if not attrgetter(name)(dg).__doc__] == []


def test_there_are_at_most_98_of_them() -> None:
    """A name counts once if several modules have it, such as `add_noise`."""
    assert len({name for names in PUBLIC.values() for name in names.split()}) <= 98


# --- words -----------------------------------------------------------------------------------


def test_a_class_name_stands_for_one_thing() -> None:
    """No two classes of the package have one name, with or without an underscore before it."""
    places: dict[str, list[str]] = {}
    for file in sorted((ROOT / "python").rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), []).append(file.name)
    assert not {name: files for name, files in places.items() if len(files) > 1}


MOST_SHOWN = {"_certified": 64, "_inputs": 79, "data": 52}
"""How many names of these rooms other rooms use. They are the broad rooms: fewer is better."""


def test_a_room_shows_few_names_to_others() -> None:
    """A name is a module's name and what is imported from it, by any file of another room."""
    package = ROOT / "python/discretegauss"
    shown: dict[str, set[str]] = {room: set() for room in MOST_SHOWN}
    for file in package.rglob("*.py"):
        own = file.relative_to(package).parts
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            parts = [*own[: len(own) - node.level], *(node.module or "").split(".")]
            room, *module = [part for part in parts if part] or [""]
            if room in shown and room != own[0]:
                shown[room] |= {".".join([*module, alias.name]) for alias in node.names}
    assert {room: len(names) for room, names in shown.items()} == MOST_SHOWN


def test_no_page_is_longer_than_1500_words() -> None:
    """A page has one subject, so it has a limit; the CHANGELOG may grow."""
    assert len(PAGES) > 40
    pages = [page for page in PAGES if page.parent.name != "concepts"]
    assert {page.name: n for page in pages if (n := len(text_of(page).split())) > 1500} == {}


def test_no_page_of_concepts_is_longer_than_3000_words() -> None:
    """There a proof stands whole on one page; marks of formulas and tables are no words."""
    pages = [page for page in PAGES if page.parent.name == "concepts"]
    words = {page.name: len(re.findall(r"\S*\w\S*", text_of(page))) for page in pages}
    assert {name: n for name, n in words.items() if n > 3000} == {}


# --- sentences -------------------------------------------------------------------------------

REFUSED = re.compile(
    r"(?:^|[.!?:;] +)(?:What|Whoever|All that|Those that|Where)\b(?![^.?]*\?)"
    r"|\b(?:at hand|so many|of theirs|of ours|[Bb]ut for)\b"
)
"""Openings and phrases that a reader has to read twice; a question may begin with What."""


def texts(source: str, suffix: str) -> Iterator[str]:
    """Yield the lines of comments, and the docstrings; in C the comments."""
    if suffix != ".py":
        yield from (re.sub(r"\n\s*\*", "\n", c) for c in re.findall(r"/\*+(.*?)\*/", source, re.S))
        return
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("#: ")
        elif token.type != tokenize.NL:
            starts_line = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            if token.type == tokenize.STRING and starts_line:
                yield token.string.strip('r"')
            before = token.type


def test_fewer_than_20_sentences_are_hard_to_read_aloud() -> None:
    """In comments and docstrings of the package and the core."""
    files = [path for name in ("python", "csrc") for path in sorted((ROOT / name).rglob("*"))]
    found = [
        f"{path.relative_to(ROOT)}: {sentence[0]}{paragraph[sentence.end() :][:60]}"
        for path in files
        if path.suffix in (".py", ".c", ".h", ".cu")
        for text in texts(path.read_text(encoding="utf-8"), path.suffix)
        for paragraph in (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
        for sentence in REFUSED.finditer(paragraph)
    ]
    assert len(found) < 20, "\n".join(found)
