"""``discretegauss release``: noise on a column of counts."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

from ..release import execute, plan_release, report_text, time_text
from .options import add_budget, argument_from_1, budget_error, file_argument, whole_argument
from .output import WRONG_INPUT, fail, printed

__all__ = ["add_release"]

_HELP = """\
Add discrete Gaussian noise to a column of counts and write the table to a new file.

example:
  discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv

A count is replaced by count + draw, in exact integers; every byte outside the column is kept.
Numbers are exact: 0.1 is one tenth, and 1/3 works too.
"""

_NOTES = """\
what to mind:
  - The budget protects one person who changes at most --rows-per-person counts, each by at most
    --sensitivity. With a count of visits, a person who came 5 times changes it by 5. With a row
    for the total, a person changes two counts.
  - The rows themselves are published: they must not depend on the people counted. List every
    combination, those with count 0 too.
  - So is their order: a table sorted by its counts publishes their true ranking.
  - So are all other columns: totals, shares or ranks computed from the counts publish them.
  - Noisy counts may be negative. Leave them so: rounding up to 0 adds a bias to every sum.
  - A second release of the same counts spends its budget again: the rho add up.
More in docs/release.md.
"""


def add_release(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "release",
        usage="%(prog)s TABLE --column NAME --out FILE (--rho R | --epsilon E --delta D) [options]",
        help="add noise to a column of counts in a CSV file",
        description=_HELP,
        epilog=_NOTES,
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "table",
        type=file_argument("stdin is /dev/stdin, a file of that name ./-"),
        metavar="TABLE",
        help="CSV file with a header, UTF-8 (tabs instead of commas if named .tsv or .tab)",
    )
    parser.add_argument(
        "--column", required=True, metavar="NAME", help="the name of the column of counts"
    )
    parser.add_argument(
        "--out",
        type=file_argument("stdout has the report; a file of that name is ./-"),
        required=True,
        metavar="FILE",
        help="the file to write",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")

    add_budget(parser)
    person = parser.add_argument_group("what one person can change")
    person.add_argument(
        "--sensitivity",
        type=argument_from_1,
        default=Fraction(1),
        metavar="S",
        help="one count changes by at most this, at least 1, a whole number unless with --rho "
        "(default %(default)s)",
    )
    person.add_argument(
        "--rows-per-person",
        type=whole_argument,
        default=1,
        metavar="K",
        help="at most so many counts change (default %(default)s)",
    )


def _run(arguments: argparse.Namespace) -> int:
    if error := budget_error(arguments):
        return fail(WRONG_INPUT, error)
    plan = plan_release(
        arguments.table,
        arguments.column,
        arguments.out,
        rho=arguments.rho,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        sensitivity=arguments.sensitivity,
        rows_per_person=arguments.rows_per_person,
        report_delta=arguments.report_delta,
        force=arguments.force,
    )
    report = report_text(plan.release)  # nothing is drawn for a report that cannot be made
    release = execute(plan, before_placing=arguments.hold_signals)
    return printed(
        f"{report}\n{time_text(release)}",
        f"{release.out} is written, the budget is spent, but the report could not be printed",
    )
