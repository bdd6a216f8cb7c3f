"""How a fault comes into a package: into one that is imported, or while it is imported."""

from __future__ import annotations

import ast
import builtins
import functools
import gc
import importlib
import os
import types
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from mutant_operators import HIT, Mutant, planted, watched

PACKAGE, FAULTY, HITS = "DG_MUTANTS_PACKAGE", "DG_MUTANTS_FAULTY", "DG_MUTANTS_HITS"
"""What programs that tests start are told: the package, a file with a fault, where to list hits."""

hits: set[str] = set()


def watch_imports(package: Path, source_of: Callable[[Path], str] = Path.read_text) -> None:
    """Let each function of the package, which is imported later, add its name to the hits."""
    setattr(builtins, HIT, hits.add)
    loader: Any = SourceFileLoader
    usual = loader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> types.CodeType | None:
        path = Path(self.path).resolve()
        if package not in path.parents:
            code: types.CodeType | None = usual(self, fullname)
            return code
        tree = watched(ast.parse(source_of(path)), path.relative_to(package).as_posix())
        return _compiled(tree, self.path)

    loader.get_code = get_code


def _compiled(tree: ast.Module, path: str) -> types.CodeType:
    return compile(tree, path, "exec", dont_inherit=True)


def plant(mutant: Mutant, package: Path, faulty: Path) -> None:
    """Put the fault into this process, and into the programs that it starts."""
    path = package / mutant.file
    tree = planted(path.read_text("utf-8"), mutant)
    code = _compiled(watched(tree, mutant.file), str(path))
    dotted = ".".join([package.name, *Path(mutant.file).with_suffix("").parts])
    parts = mutant.function.split(".")
    held: Any = importlib.import_module(dotted.removesuffix(".__init__"))
    for part in parts[:-1]:
        held = vars(held)[part]
    new = [one for one in _codes(code) if one.co_qualname == mutant.function][-1]
    live = [
        function
        for function in _functions(vars(held)[parts[-1]])
        if function.__code__.co_firstlineno == new.co_firstlineno
    ]
    (function,) = live
    function.__code__ = new
    for cache in caches():  # what was kept was computed without the fault
        cache.cache_clear()
    faulty.write_text(ast.unparse(tree), "utf-8")
    os.environ[FAULTY] = f"{path}={faulty}"


def caches() -> list[functools._lru_cache_wrapper[Any]]:
    """Return the caches of functions."""
    gc.unfreeze()  # pytest's conftest has frozen what there was
    return [one for one in gc.get_objects() if type(one) is functools._lru_cache_wrapper]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _functions(found: Any) -> list[Any]:
    """Return the functions of a method, a property, or what a decorator has made."""
    if isinstance(found, property):
        return [function for function in (found.fget, found.fset) if function is not None]
    if isinstance(found, functools.cached_property):
        found = found.func
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    found = getattr(found, "__func__", found)
    return [found] if isinstance(found, types.FunctionType) else []
