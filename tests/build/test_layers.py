"""Imports point down the list, anywhere within a package, and to nobody's private modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import discretegauss

PACKAGE = Path(discretegauss.__file__).parent

#: What stands at the top of the package, from the ground up: each imports of the lines before it,
#: and of its own line nothing but itself.
LAYERS = [
    ["_version", "errors"],
    ["_law", "_system"],
    ["_certified", "_inputs", "_native"],
    ["reference"],
    ["_law_functions", "_drawing"],
    ["testing", "laws"],
    ["sampling"],
    ["privacy", "snapping"],
    ["utility", "distributed"],
    ["data"],
    ["estimate", "selection"],
    ["plots"],
    ["release", "verify"],
    ["lattice", "_on_the_driver", "compat"],
    ["spark", "dask"],
    ["_cli"],
    ["__init__", "__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

#: Packages that a package may not know, though they lie below it, and why.
NEVER = {
    ("verify", "_certified"): "it proves what that computes",
    ("_certified", "_inputs"): "it could be published by itself",
}


def modules() -> Iterator[tuple[str, Path]]:
    """All modules of the package by their dotted names, without the package's own."""
    for path in PACKAGE.rglob("*.py"):
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path


MODULES = dict(modules())


def imported(name: str) -> set[str]:
    """The modules of the package that a module imports, also within functions and for types."""
    found = set()
    package = name.split(".")[:-1]
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = package[: len(package) - (node.level - 1)]
        base += node.module.split(".") if node.module else []
        for alias in node.names:
            for candidate in (".".join([*base, alias.name]), ".".join(base) or "__init__"):
                if candidate in MODULES or f"{candidate}.__init__" in MODULES:
                    found.add(candidate)
                    break
            else:
                assert base[-1:] == ["_native"], (name, base, alias.name)  # the extension
    return found


def top(name: str) -> str:
    return name.partition(".")[0]


def test_every_module_has_its_place() -> None:
    """Whoever adds a package says on which level it stands."""
    assert {top(name) for name in MODULES} <= set(LEVEL)
    assert len(MODULES) > 60


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_point_down(name: str) -> None:
    """And no module of another package's is private to it."""
    here = top(name)
    for other in imported(name):
        there = top(other)
        assert here == there or LEVEL[there] < LEVEL[here], (name, other)
        assert (here, there) not in NEVER, (name, other, NEVER[here, there])
        inside = other.partition(".")[2]
        assert here == there or not inside.startswith("_"), (name, other)


def test_there_are_no_cycles() -> None:
    """Nor within a package, those of imports for type checkers alone included."""
    graph = {name: imported(name) - {name} for name in MODULES}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(MODULES)


#: What takes or makes arrays, and so may import numpy.
WITH_NUMPY = {"_inputs", "_drawing", "_law_functions", "sampling", "laws"}
WITH_NUMPY |= {"_certified.double_double"}
WITH_NUMPY |= {"_certified.double_double_functions", "_certified.pair_arrays"}
WITH_NUMPY |= {"_certified.pair_weights", "_certified.wide_tails"}
WITH_NUMPY |= {"_certified.skellam"}
WITH_NUMPY |= {"_certified.discrete_laplace", "_certified.generalized_gaussian"}
WITH_NUMPY |= {
    "_system.memory",
    "privacy.zcdp",
    "release",
}
WITH_NUMPY |= {"data", "estimate", "lattice", "dask"}
WITH_NUMPY |= {
    "privacy._discretise",
    "privacy._grid_choice",
    "privacy._loss_bounds",
    "privacy._outcomes",
    "privacy.loss_distribution",
    "_certified.fourier",
}
WITH_NUMPY |= {"selection", "snapping", "verify._quick"}
WITH_NUMPY |= {"distributed", "compat", "plots._estimates"}


def test_numpy_is_imported_where_arrays_are() -> None:
    """And not where exact numbers are: `_law`, `reference`, `verify`, most of `_certified`."""
    for name, path in MODULES.items():
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        named = [a.name for node in nodes if isinstance(node, ast.Import) for a in node.names]
        named += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        if any(top(module) == "numpy" for module in named):
            assert {name, top(name)} & WITH_NUMPY, name


#: The numbers of `_drawing`: how many sums or integers are made at a time, threads, statuses, what
#: was published; and from how many draws on cells pay, which nothing else knows.
NUMBERS = {
    ("add", "_PIECE"),
    ("cuda", "_LAUNCH"),
    ("cuda", "_MOST_IN_DOUBT"),
    ("cuda", "_THREADS"),
    ("native", "CELLS_FROM"),
    ("native", "_LEAST_DRAW"),
    ("native", "_MOST_THREADS"),
    ("native", "_PIECE"),
    ("skellam", "_PIECE"),
    ("skellam", "_WORD"),
    ("skellam_wide", "_CELLS"),
    ("skellam_wide", "_HALF"),
    ("skellam_wide", "_HALF_WORDS"),
    ("skellam_wide", "_PIECE"),
    ("skellam_wide", "_SCALE_BITS"),
    ("skellam_wide", "_WORD"),
}


def has_number(node: ast.AST) -> bool:
    """Whether there is a number in it that nobody would write for a count of axes."""
    values = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    return any(type(value) is int and value > 8 for value in values)


def numbers_of(source: str) -> set[str]:
    """The names of a module that are numbers, and what its functions compare with others."""
    tree = ast.parse(source)
    names = {
        ast.unparse(target)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and has_number(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    compared = (n for n in ast.walk(tree) if isinstance(n, ast.Compare) and has_number(n))
    return names | {ast.unparse(node) for node in compared}


def test_one_number_decides_which_way_a_law_is_drawn() -> None:
    """`CELLS_FROM`; else the law alone does, in csrc/sampler/prepare.c."""
    assert numbers_of("A_FROM = 32\nB: int = 2**7 * 9") == {"A_FROM", "B"}
    assert numbers_of("def f(n):\n    return n > 128") == {"n > 128"}
    found = {
        (path.stem, name)
        for path in (PACKAGE / "_drawing").glob("*.py")
        for name in numbers_of(path.read_text(encoding="utf-8"))
    }
    assert found == NUMBERS
