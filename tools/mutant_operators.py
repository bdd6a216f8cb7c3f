"""Mutants of a Python file: one operator, constant or condition is another one."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HIT = "__dg_hit__"

OTHERS: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
}


class Mutant(NamedTuple):
    """A fault: the operator at one place of a function that is no part of another function."""

    file: str
    function: str
    line: int
    text: str
    operator: str
    place: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a note names: it survives changes elsewhere in the file."""
        return self.file, self.function, self.text, self.operator

    @property
    def room(self) -> str:
        """Return the module or folder of the package, without the underscore before it."""
        return Path(self.file).parts[0].removesuffix(".py").removeprefix("_")


def functions(tree: ast.AST, owner: str = "") -> dict[str, ast.FunctionDef]:
    """Return the functions and methods by their qualified names; of two alike, the last."""
    found: dict[str, ast.FunctionDef] = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            found[owner + node.name] = node
        elif isinstance(node, ast.ClassDef):
            found |= functions(node, f"{owner}{node.name}.")
    return found


def places(function: ast.FunctionDef) -> Iterator[tuple[Any, str]]:
    """Yield the nodes that may change, and how; texts, messages, types and defaults may not."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.AnnAssign | ast.arguments):
            waiting += [node.value] if isinstance(node, ast.AnnAssign) and node.value else []
            continue
        waiting += reversed(list(ast.iter_child_nodes(node)))
        if isinstance(node, ast.If | ast.IfExp):
            yield node, "condition to its opposite"
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value in (0, 1, 2):
            yield node, f"{node.value} to {node.value + 1}"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, "Not to nothing"
        old: Any = node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", None)
        if type(old) in OTHERS and not _is_text(node):
            yield node, f"{type(old).__name__} to {OTHERS[type(old)].__name__}"


def _is_text(node: ast.AST) -> bool:
    left = getattr(node, "left", None)
    return isinstance(left, ast.Constant | ast.JoinedStr) and not isinstance(
        getattr(left, "value", ""), int
    )


def change(node: Any) -> None:
    """Put the other operator in the place of a node's."""
    if isinstance(node, ast.If | ast.IfExp):
        node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
    elif isinstance(node, ast.Constant):
        node.value = int(str(node.value)) + 1
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node.operand = ast.copy_location(ast.UnaryOp(ast.Not(), node.operand), node.operand)
    elif isinstance(node, ast.Compare):
        node.ops[0] = OTHERS[type(node.ops[0])]()
    else:
        node.op = OTHERS[type(node.op)]()


def planted(source: str, mutant: Mutant) -> ast.Module:
    """Return the file with the fault."""
    tree = ast.parse(source)
    node, operator = list(places(functions(tree)[mutant.function]))[mutant.place]
    if operator != mutant.operator:
        raise LookupError(f"{mutant.file} has changed")
    change(node)
    return tree


def watched(tree: ast.Module, file: str) -> ast.Module:
    """Return the file with a call at the beginning of each function, which says its name."""
    tree = copy.deepcopy(tree)
    for name, function in functions(tree).items():
        has_doc = ast.get_docstring(function, clean=False) is not None
        call = ast.parse(f"{HIT}({file + ':' + name!r})").body[0]
        at = function.body[-1 if has_doc and len(function.body) == 1 else int(has_doc)]
        for part in ast.walk(call):
            ast.copy_location(part, at)
        function.body.insert(int(has_doc), call)
    return tree


def chosen(package: Path, n: int, seed: int, rooms: set[str]) -> list[Mutant]:
    """Return one mutant of each of n random functions, or of all; no rooms means each room."""
    chance, found = random.Random(seed), []
    for path in sorted(package.rglob("*.py")):
        source = path.read_text("utf-8")
        lines, file = source.splitlines(), path.relative_to(package).as_posix()
        for name, function in functions(ast.parse(source)).items():
            if at := list(places(function)):
                place = chance.randrange(len(at))
                node, operator = at[place]
                text = lines[node.lineno - 1].strip()
                found.append(Mutant(file, name, node.lineno, text, operator, place))
    found = [mutant for mutant in found if not rooms or mutant.room in rooms]
    return chance.sample(found, min(n, len(found)))
