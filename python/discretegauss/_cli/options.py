"""What a command of the command line is: its texts, and a table of the options that it has."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DiscreteGaussError, ParameterTypeError, ParameterValueError

if TYPE_CHECKING:
    from .._inputs.budget import Budget

BUDGET = """
budget: either --rho, or both --epsilon and --delta
--rho R  positive  zCDP budget
--epsilon E  not negative  with --delta
--delta D  probability  with --epsilon
--report-delta D  probability  with --rho: the delta at which epsilon is reported (default 1e-6)
"""
SPENT = ("rho", "epsilon", "delta", "report_delta")


class Command(NamedTuple):
    """A command.

    Parameters
    ----------
    name, summary, description, notes, usage : str
        What the help says. The description is the docstring of the command's module.
    run : callable
        Takes the arguments and returns the exit code.
    needs : str
        The module of the package that it needs, which is imported when the command is known.
    options : str
        On each line an option: its name with what its value is called, the kind of that value (see
        below), and its help, with two blanks or more between them. A line of one part alone is the
        title of a group.
    """

    name: str
    summary: str
    run: Callable[[argparse.Namespace], int]
    needs: str
    description: str | None
    notes: str | None = None
    usage: str | None = None
    options: str = ""

    def add_to(self, commands: Any) -> argparse.ArgumentParser:
        """Add the command to those of a parser; return its own."""
        parser: argparse.ArgumentParser = commands.add_parser(
            self.name,
            usage=self.usage,
            help=self.summary,
            description=self.description,
            epilog=self.notes,
        )
        parser.set_defaults(run=self.run, needs=self.needs)
        group: Any = parser
        for line in self.options.strip().splitlines():
            name, *said = re.split("  +", line)
            if said:
                name, _, value = name.partition(" ")
                group.add_argument(name, **_settings(name, value, *said))
            elif name:
                group = parser.add_argument_group(name)
        return parser


def _settings(name: str, value: str, kind: str, text: str) -> dict[str, Any]:
    """Return what argparse is told of an option.

    A kind is one of `_KINDS`, "text"; a "flag", which has no value; "several" texts; or words
    between bars, the first of which is the default. "needed": it must be given. An argument that is
    no option may be left out, if it says what its value is called.
    """
    kind, _, needed = kind.partition(", ")
    if kind == "flag":
        return {"action": "store_true", "help": text}
    settings: dict[str, Any] = {"help": text, "metavar": value or None}
    if kind == "several":
        settings["action"] = "append"
    elif "|" in kind:
        settings["choices"] = kind.split("|")
        settings["default"] = settings["choices"][0]
    else:
        settings["type"] = _KINDS.get(kind)
    if needed:
        settings["required"] = True
    if value and not name.startswith("-"):
        settings["nargs"] = "?"
    return settings


def budget_of(arguments: argparse.Namespace) -> Budget:
    """Return the budget, or raise an error in the words of the options."""
    by_epsilon = (arguments.epsilon is not None, arguments.delta is not None)
    if by_epsilon != ((True, True) if arguments.rho is None else (False, False)):
        got = " and ".join(given(arguments, SPENT[:3])) or "none"
        raise ParameterTypeError(f"give either --rho, or both --epsilon and --delta; got {got}")
    if arguments.rho is None and arguments.report_delta is not None:
        raise ParameterValueError(
            "--report-delta goes with --rho and must not be given with --epsilon and --delta"
        )
    from .._inputs.budget import Budget

    return Budget(rho=arguments.rho, epsilon=arguments.epsilon, delta=arguments.delta)


def given(arguments: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """Return which of these are given, as a user writes them."""
    return [_shown(name) for name in names if getattr(arguments, name) not in (None, False)]


def require(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    """Raise an error, in the words of argparse, if one of these is not given."""
    missing = ", ".join(_shown(name) for name in names if not given(arguments, (name,)))
    if missing:
        hint = "(help: discretegauss release --help)"
        raise ParameterValueError(f"the following arguments are required: {missing} {hint}")


def goes_without(
    option: str, arguments: argparse.Namespace, names: Sequence[str], reason: str
) -> None:
    """Raise an error if one of these is given beside an option."""
    if found := given(arguments, names):
        raise ParameterValueError(f"{option} goes without {found[0]}: {reason}")


def _shown(name: str) -> str:
    return "TABLE" if name == "table" else f"--{name.replace('_', '-')}"


def _file(text: str, instead: str = "") -> str:
    """Return the name of a file, or ``-``; or raise the error that says what is to be instead."""
    if text == "-" and instead:
        raise argparse.ArgumentTypeError(f"must name a file, got '-' ({instead})")
    if not text:  # an unset variable of a shell
        raise argparse.ArgumentTypeError("must name a file, got ''")
    return text


def _number(text: str, holds: Callable[[Fraction], bool], rule: str) -> Fraction:
    """Return the exact number, of which something must hold."""
    from .._inputs.messages import describe
    from .._inputs.numbers import exact_rational

    try:
        value = exact_rational(text, "value")
    except DiscreteGaussError:
        finite = "must be a finite number such as 0.1 or 1/3, and not too long"
        raise argparse.ArgumentTypeError(f"{finite}, got {describe(text)}") from None
    if not holds(value):
        raise argparse.ArgumentTypeError(f"{rule}, got {describe(text)}")
    return value


def _whole(text: str) -> int:
    rule = "must be a whole number, at least 1"
    return int(_number(text, lambda x: x >= 1 and x.denominator == 1, rule))


def _numbers(holds: Callable[[Fraction], bool], rule: str = "") -> Callable[[str], Fraction]:
    return partial(_number, holds=holds, rule=rule)


_KINDS: dict[str, Callable[[str], object]] = {
    "number": _numbers(lambda x: True),
    "positive": _numbers(lambda x: x > 0, "must be positive"),
    "not negative": _numbers(lambda x: x >= 0, "must not be negative"),
    "from 1": _numbers(lambda x: x >= 1, "must be at least 1"),
    "probability": _numbers(lambda x: 0 < x < 1, "must lie between 0 and 1, both excluded"),
    "whole": _whole,
    "file or -": _file,
    "plan": partial(_file, instead="a plan is a file"),
    "folder": partial(_file, instead="it is a folder"),
    "plot": partial(_file, instead="stdout has no room for it"),
}
