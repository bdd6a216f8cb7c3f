"""``discretegauss calibrate``: how much noise a budget asks for."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

from .options import (
    add_budget,
    budget_of,
    file_argument,
    only_plan,
    positive_argument,
    whole_argument,
)
from .output import printed

_HELP = """\
Print the discrete Gaussian noise that a budget asks for, and what it costs.

examples:
  discretegauss calibrate --epsilon 1 --delta 1e-6 --queries 100
  discretegauss calibrate --rho 0.1 --sensitivity 5
  discretegauss calibrate --plan plan.toml
"""

_NOTES = """\
With --rho sigma2 is exact. With --epsilon and --delta the noise meets both, by the tight delta of \
the discrete Gaussian; of one query sigma2 is the least that does, rounded up. A larger sigma2 may \
break the budget.
Numbers are exact: 0.1 is one tenth, and 1/3 works too. More in docs/privacy.md.
"""


def add_calibrate(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "calibrate",
        usage="%(prog)s (--rho R | --epsilon E --delta D | --plan FILE) [options]",
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
        only_plan(arguments, ("sensitivity", "queries"))
        plan_as = release.plan_json if arguments.json else release.plan_text
        return printed(plan_as(release.read_plan(arguments.plan)), failure)
    noise = release.calibration(
        budget_of(arguments),
        arguments.sensitivity or Fraction(1),
        arguments.queries or 1,
        arguments.report_delta,
    )
    noise_as = release.calibration_json if arguments.json else release.calibration_text
    return printed(noise_as(noise), failure)
