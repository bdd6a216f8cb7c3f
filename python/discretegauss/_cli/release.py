"""Add discrete Gaussian noise to columns of counts and write the table to a new file.

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

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..errors import ParameterValueError
from .options import BUDGET, SPENT, Command, budget_of, goes_without, require
from .output import printed

if TYPE_CHECKING:
    from ..release import Plan

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


_OPTIONS = f"""
table TABLE  file or -  a table with a header: CSV, or by its name .tsv, .parquet, .arrow, .npy, \
.csv.gz, .csv.zst; - is CSV from stdin
--column NAME  several  the name of a column of counts; may be given several times
--out FILE  file or -  the file to write; - is stdout, and the report goes to stderr
--delimiter D  text  of text in TABLE and FILE, if not as the name says: ';', '|', ',' or a tab
--plan FILE  plan  a TOML file: several tables that share one budget; all are written or none
--consistent DIR  folder  with --plan: also write the tables made to add up, as CSV with standard \
errors
--unknown-groups  flag  rows are there because people are in them: write those of enough people, \
as CSV
--force  flag  replace FILE and PLOT if they exist
--json  flag  print the report as JSON
--plot PLOT  plot  draw the noisy counts and their error bars to this .png, .pdf or .svg; true \
counts are not in it
{BUDGET}
what one person can change
--sensitivity S  from 1  one count changes by at most this, at least 1, a whole number unless with \
--rho (default 1)
--rows-per-person K  whole  at most so many counts of a column change (default 1)
--disjoint  flag  nobody changes counts in two of the columns
"""

_NEEDED = ("table", "column", "out")


def _run(arguments: argparse.Namespace) -> int:
    from .. import release

    if arguments.unknown_groups:
        return _run_groups(arguments)
    plan = _plan(arguments)
    release.plan_text(plan)  # nothing is drawn for a report that cannot be made
    to_stdout = arguments.out == "-"
    done = release.execute(
        plan,
        force=arguments.force,
        plot=arguments.plot,
        consistent=arguments.consistent,
        progress=True,
        to_stdout=to_stdout,
        before_placing=arguments.hold_signals,
    )
    report = release.done_json(done) if arguments.json else str(done)
    written = "the tables are" if arguments.plan else f"{arguments.out} is"
    return _reported(report, written, on_stderr=to_stdout)


def _run_groups(arguments: argparse.Namespace) -> int:
    from ..release import release_groups

    reason = "a group has one count of people, the budget is epsilon with delta"
    names = ("plan", "consistent", "plot", "json", "rho", "report_delta", "sensitivity", "disjoint")
    goes_without("--unknown-groups", arguments, names, reason)
    if "-" in (arguments.table, arguments.out):
        raise ParameterValueError("--unknown-groups reads and writes files, not '-'")
    if None in (arguments.epsilon, arguments.delta):
        raise ParameterValueError("--unknown-groups needs --epsilon and --delta")
    require(arguments, _NEEDED)
    done = release_groups(
        arguments.table,
        arguments.column,
        arguments.out,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        groups_per_person=arguments.rows_per_person or 1,
        delimiter=arguments.delimiter,
        force=arguments.force,
        before_placing=arguments.hold_signals,
    )
    return _reported(str(done), f"{done.out} is")


def _reported(report: str, written: str, *, on_stderr: bool = False) -> int:
    failure = f"{written} written, the budget is spent, but the report could not be printed"
    return printed(report, failure, on_stderr=on_stderr, is_budget_spent=True)


def _plan(arguments: argparse.Namespace) -> Plan:
    from ..release import plan_of_one, read_plan

    if arguments.plan is not None:
        person = ("sensitivity", "rows_per_person", "disjoint")
        names = ("table", "out", "column", "delimiter", *person, *SPENT)
        goes_without("--plan", arguments, names, "the plan says it")
        return read_plan(arguments.plan)
    require(arguments, _NEEDED)
    if arguments.consistent is not None:
        raise ParameterValueError("--consistent goes with --plan: it takes several tables")
    return plan_of_one(
        "/dev/stdin" if arguments.table == "-" else arguments.table,
        arguments.column,
        arguments.out,
        budget=budget_of(arguments),
        report_delta=arguments.report_delta,
        sensitivity=arguments.sensitivity or 1,
        rows_per_person=arguments.rows_per_person or 1,
        disjoint=arguments.disjoint,
        delimiter=arguments.delimiter,
    )


RELEASE = Command(
    "release",
    "add noise to columns of counts in a table",
    _run,
    "release",
    __doc__,
    _NOTES,
    "%(prog)s TABLE --column NAME --out FILE (--rho R | --epsilon E --delta D) [options]\n"
    "       %(prog)s --plan FILE [--consistent DIR] [--force] [--json] [--plot PLOT]\n"
    "       %(prog)s TABLE --unknown-groups --column NAME --out FILE --epsilon E --delta D",
    _OPTIONS,
)
