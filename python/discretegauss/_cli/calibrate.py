"""``discretegauss calibrate``: how much noise a budget asks for."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

from ..errors import ParameterValueError
from .options import (
    add_budget,
    budget_of,
    file_argument,
    given,
    not_negative_argument,
    only_plan,
    positive_argument,
    probability_argument,
    whole_argument,
)
from .output import printed

_HELP = """\
Print the discrete Gaussian noise that a budget asks for, and what it costs.

examples:
  discretegauss calibrate --epsilon 1 --delta 1e-6 --queries 100
  discretegauss calibrate --rho 0.1 --sensitivity 5
  discretegauss calibrate --error 5 --confidence 0.95
  discretegauss calibrate --plan plan.toml
"""

_NOTES = """\
With --rho sigma2 is exact. With --epsilon and --delta the noise meets both, by the tight delta of \
the discrete Gaussian; of one query sigma2 is the least that does, rounded up. A larger sigma2 may \
break the budget.
With --error the noise is the widest with which an answer is that near with the confidence, and \
rho what it costs; with --queries all of them are at once.
Numbers are exact: 0.1 is one tenth, and 1/3 works too. More in docs/privacy.md.
"""


def add_calibrate(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "calibrate",
        usage="%(prog)s (--rho R | --epsilon E --delta D | --error E | --plan FILE) [options]",
        help="how much noise a budget asks for",
        description=_HELP,
        epilog=_NOTES,
    )
    parser.set_defaults(run=_run, needs="release")
    parser.add_argument(
        "--plan",
        type=file_argument("a plan is a file"),
        metavar="FILE",
        help="the noise of a release of several tables; alone. No table is read",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_budget(parser)
    wanted = parser.add_argument_group("or the error that you can bear")
    wanted.add_argument(
        "--error",
        type=not_negative_argument,
        metavar="E",
        help="an answer is off by at most this, with the confidence",
    )
    wanted.add_argument(
        "--confidence",
        type=probability_argument,
        metavar="C",
        help="with --error: how surely, between 0 and 1 (default 0.95)",
    )
    person = parser.add_argument_group("what one person can change")
    person.add_argument(
        "--sensitivity",
        type=positive_argument,
        default=None,
        metavar="S",
        help="one answer changes by at most this, a whole number unless with --rho (default 1)",
    )
    person.add_argument(
        "--queries",
        type=whole_argument,
        default=None,
        metavar="K",
        help="at most so many answers change (default 1)",
    )


def _run(arguments: argparse.Namespace) -> int:
    from .. import release

    failure = "the result could not be printed"
    if arguments.plan is not None:
        only_plan(arguments, ("sensitivity", "queries", "error", "confidence"))
        plan_as = release.plan_json if arguments.json else release.plan_text
        return printed(plan_as(release.read_plan(arguments.plan)), failure)
    sensitivity, queries = arguments.sensitivity or Fraction(1), arguments.queries or 1
    if arguments.error is None:
        if arguments.confidence is not None:
            raise ParameterValueError("--confidence goes with --error")
        budget = budget_of(arguments)
    else:
        if got := given(arguments, ("rho", "epsilon", "delta")).removeprefix("none"):
            raise ParameterValueError(f"--error says what is spent, and goes without {got}")
        budget = release.budget_for_error(
            arguments.error, arguments.confidence, sensitivity, queries, queries
        )
    noise = release.calibration(budget, sensitivity, queries, arguments.report_delta)
    noise_as = release.calibration_json if arguments.json else release.calibration_text
    return printed(noise_as(noise), failure)
