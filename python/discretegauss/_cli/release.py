"""``discretegauss release``: noise on columns of counts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..errors import ParameterValueError
from .options import (
    add_budget,
    argument_from_1,
    budget_of,
    file_argument,
    file_or_dash,
    only_plan,
    whole_argument,
)
from .output import printed

if TYPE_CHECKING:
    from ..release import Plan

_HELP = """\
Add discrete Gaussian noise to columns of counts and write the table to a new file.

examples:
  discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv
  discretegauss release counts.parquet --column men --column women --disjoint --epsilon 1 \
--delta 1e-6 --out noisy.parquet
  discretegauss release --plan plan.toml --consistent added_up
  discretegauss release groups.csv --unknown-groups --column people --epsilon 1 --delta 1e-6 \
--out kept.csv
  zcat counts.csv.gz | discretegauss release - --column n --rho 0.1 --out - > noisy.csv

A count is replaced by count + draw, in exact integers; all other cells are kept.
Numbers are exact: 0.1 is one tenth, and 1/3 works too.
"""

_NOTES = """\
what to mind:
- The budget protects one person who changes at most --rows-per-person counts of each column, \
each by at most --sensitivity. With a count of visits, a person who came 5 times changes it by 5. \
With a row for the total, a person changes two counts.
- Several columns share the budget. --disjoint: nobody is counted in two of them.
- The rows themselves are published: they must not depend on the people counted. List every \
combination, those with count 0 too. Or --unknown-groups.
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
        usage="%(prog)s TABLE --column NAME --out FILE (--rho R | --epsilon E --delta D) "
        "[options]\n"
        "       %(prog)s --plan FILE [--consistent DIR] [--force] [--json] [--plot PLOT]\n"
        "       %(prog)s TABLE --unknown-groups --column NAME --out FILE --epsilon E --delta D",
        help="add noise to columns of counts in a table",
        description=_HELP,
        epilog=_NOTES,
    )
    parser.set_defaults(run=_run, needs="release")
    parser.add_argument(
        "table",
        nargs="?",
        default=False,
        type=file_or_dash,
        metavar="TABLE",
        help="a table with a header: CSV, or by its name .tsv, .parquet, .arrow, .npy, .csv.gz, "
        ".csv.zst; - is CSV from stdin",
    )
    parser.add_argument(
        "--column",
        action="append",
        metavar="NAME",
        help="the name of a column of counts; may be given several times",
    )
    parser.add_argument(
        "--out",
        default=False,
        type=file_or_dash,
        metavar="FILE",
        help="the file to write; - is stdout, and the report goes to stderr",
    )
    parser.add_argument(
        "--plan",
        type=file_argument("a plan is a file"),
        metavar="FILE",
        help="a TOML file: several tables that share one budget; all are written or none",
    )
    parser.add_argument(
        "--consistent",
        type=file_argument("it is a folder"),
        metavar="DIR",
        help="with --plan: also write the tables made to add up, as CSV with standard errors",
    )
    parser.add_argument(
        "--unknown-groups",
        action="store_true",
        help="rows are there because people are in them: write those of enough people, as CSV",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE and PLOT if they exist")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--plot",
        type=file_argument("stdout has no room for it"),
        metavar="PLOT",
        help="draw the noisy counts and their error bars to this .png, .pdf or .svg; true counts "
        "are not in it",
    )

    add_budget(parser)
    person = parser.add_argument_group("what one person can change")
    person.add_argument(
        "--sensitivity",
        type=argument_from_1,
        metavar="S",
        help="one count changes by at most this, at least 1, a whole number unless with --rho "
        "(default 1)",
    )
    person.add_argument(
        "--rows-per-person",
        type=whole_argument,
        metavar="K",
        help="at most so many counts of a column change (default 1)",
    )
    person.add_argument(
        "--disjoint", action="store_true", help="nobody changes counts in two of the columns"
    )


def _run(arguments: argparse.Namespace) -> int:
    from .. import release

    if arguments.unknown_groups:
        return _run_groups(arguments)
    plan = _plan(arguments)
    release.plan_text(plan)  # nothing is drawn for a report that cannot be made
    to_stdout = arguments.out is None
    done = release.execute(
        plan,
        force=arguments.force,
        plot=arguments.plot,
        consistent=arguments.consistent,
        progress=True,
        to_stdout=to_stdout,
        before_placing=arguments.hold_signals,
    )
    written = "the tables are" if arguments.plan else f"{done.tables[0].out} is"
    return printed(
        release.done_json(done) if arguments.json else release.done_text(done),
        f"{written} written, the budget is spent, but the report could not be printed",
        on_stderr=to_stdout,
        is_budget_spent=True,
    )


def _run_groups(arguments: argparse.Namespace) -> int:
    from ..release import release_groups

    _only_groups(arguments)
    _require_table(arguments)
    done = release_groups(
        arguments.table,
        arguments.column,
        arguments.out,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        groups_per_person=arguments.rows_per_person or 1,
        force=arguments.force,
        before_placing=arguments.hold_signals,
    )
    failure = f"{done.out} is written, the budget is spent, but the report could not be printed"
    return printed(str(done), failure, is_budget_spent=True)


def _only_groups(arguments: argparse.Namespace) -> None:
    """Raise an error if something is given that does not go with unknown groups."""
    names = ("plan", "consistent", "plot", "json", "rho", "report_delta", "sensitivity", "disjoint")
    for name in names:
        if getattr(arguments, name) not in (None, False):
            raise ParameterValueError(
                f"--unknown-groups goes without --{name.replace('_', '-')}: a group has one count "
                "of people, the budget is epsilon with delta"
            )
    if None in (arguments.table, arguments.out):
        raise ParameterValueError("--unknown-groups reads and writes files, not '-'")
    if None in (arguments.epsilon, arguments.delta):
        raise ParameterValueError("--unknown-groups needs --epsilon and --delta")


def _require_table(arguments: argparse.Namespace) -> None:
    missing = ", ".join(name for name, there in _given(arguments).items() if not there)
    if missing:
        hint = "(help: discretegauss release --help)"
        raise ParameterValueError(f"the following arguments are required: {missing} {hint}")


def _given(arguments: argparse.Namespace) -> dict[str, bool]:
    # of a table and an output None is "-", and False that there is none
    return {
        "TABLE": arguments.table is not False,
        "--column": arguments.column is not None,
        "--out": arguments.out is not False,
    }


def _plan(arguments: argparse.Namespace) -> Plan:
    from ..release import plan_of_one, read_plan

    given = _given(arguments)
    if arguments.plan is not None:
        for name in ("TABLE", "--out"):
            if given[name]:
                raise ParameterValueError(f"--plan goes without {name}: the plan says it")
        only_plan(arguments, ("column", "sensitivity", "rows_per_person", "disjoint"))
        return read_plan(arguments.plan)
    _require_table(arguments)
    if arguments.consistent is not None:
        raise ParameterValueError("--consistent goes with --plan: it takes several tables")
    return plan_of_one(
        arguments.table or "/dev/stdin",
        arguments.column,
        arguments.out or "-",
        budget=budget_of(arguments),
        report_delta=arguments.report_delta,
        sensitivity=arguments.sensitivity or 1,
        rows_per_person=arguments.rows_per_person or 1,
        disjoint=arguments.disjoint,
    )
