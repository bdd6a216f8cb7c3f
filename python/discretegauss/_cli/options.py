"""Arguments that several commands of the command line have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import DiscreteGaussError, ParameterTypeError, ParameterValueError

if TYPE_CHECKING:
    from .._inputs.budget import Budget


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add --rho, --epsilon, --delta and --report-delta."""
    budget = parser.add_argument_group("budget: either --rho, or both --epsilon and --delta")
    budget.add_argument("--rho", type=positive_argument, metavar="R", help="zCDP budget")
    budget.add_argument(
        "--epsilon",
        type=not_negative_argument,
        metavar="E",
        help="with --delta",
    )
    budget.add_argument("--delta", type=probability_argument, metavar="D", help="with --epsilon")
    budget.add_argument(
        "--report-delta",
        type=probability_argument,
        metavar="D",
        help="with --rho: the delta at which epsilon is reported (default 1e-6)",
    )


def budget_of(arguments: argparse.Namespace) -> Budget:
    """Return the budget, or raise an error in the words of the options."""
    by_epsilon = (arguments.epsilon is not None, arguments.delta is not None)
    if by_epsilon != ((True, True) if arguments.rho is None else (False, False)):
        got = given(arguments, ("rho", "epsilon", "delta"))
        raise ParameterTypeError(f"give either --rho, or both --epsilon and --delta; got {got}")
    if arguments.rho is None and arguments.report_delta is not None:
        raise ParameterValueError(
            "--report-delta goes with --rho and must not be given with --epsilon and --delta"
        )
    from .._inputs.budget import Budget

    return Budget(rho=arguments.rho, epsilon=arguments.epsilon, delta=arguments.delta)


def given(arguments: argparse.Namespace, names: Sequence[str]) -> str:
    """Return which of these options are given."""
    found = [f"--{name}" for name in names if getattr(arguments, name) is not None]
    return " and ".join(found) or "none"


def only_plan(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    """Raise an error if one of these arguments, or a budget, is given beside a plan."""
    for name in (*names, "rho", "epsilon", "delta", "report_delta"):
        if getattr(arguments, name) not in (None, False):
            shown = f"--{name.replace('_', '-')}"
            raise ParameterValueError(f"--plan goes without {shown}: the plan says it")


def file_argument(instead: str) -> Callable[[str], str]:
    """Return an argparse type for file names; ``-`` is an error that says what to pass instead."""

    def file(text: str) -> str:
        if text == "-":
            raise argparse.ArgumentTypeError(f"must name a file, got '-' ({instead})")
        return _named(text)

    return file


def file_or_dash(text: str) -> str | None:
    """Return the name of a file, or None for ``-``."""
    return None if text == "-" else _named(text)


def _named(text: str) -> str:
    if not text:  # an unset variable of a shell
        raise argparse.ArgumentTypeError("must name a file, got ''")
    return text


def positive_argument(text: str) -> Fraction:
    """Return an exact number above 0."""
    return _checked(text, lambda value: value > 0, "must be positive")


def not_negative_argument(text: str) -> Fraction:
    """Return an exact number, at least 0."""
    return _checked(text, lambda value: value >= 0, "must not be negative")


def any_number_argument(text: str) -> Fraction:
    """Return an exact number."""
    return _checked(text, lambda value: True, "")


def argument_from_1(text: str) -> Fraction:
    """Return an exact number, at least 1."""
    return _checked(text, lambda value: value >= 1, "must be at least 1")


def whole_argument(text: str) -> int:
    """Return a whole number, at least 1."""

    def is_count(value: Fraction) -> bool:
        return value >= 1 and value.denominator == 1

    return int(_checked(text, is_count, "must be a whole number, at least 1"))


def probability_argument(text: str) -> Fraction:
    """Return an exact number between 0 and 1."""
    return _checked(text, lambda value: 0 < value < 1, "must lie between 0 and 1, both excluded")


def _checked(text: str, holds: Callable[[Fraction], bool], rule: str) -> Fraction:
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
