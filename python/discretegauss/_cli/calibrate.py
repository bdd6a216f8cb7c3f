"""Print the discrete Gaussian noise that a budget asks for, and what it costs.

examples:
  discretegauss calibrate --epsilon 1 --delta 1e-6 --queries 100
  discretegauss calibrate --rho 0.1 --sensitivity 5
  discretegauss calibrate --error 5 --confidence 0.95
  discretegauss calibrate --plan plan.toml
"""

from __future__ import annotations

import argparse
from fractions import Fraction

from ..errors import ParameterValueError
from .options import BUDGET, SPENT, Command, budget_of, given, goes_without
from .output import printed

_NOTES = """\
With --rho sigma2 is exact. With --epsilon and --delta the noise meets both, by the tight delta of \
the discrete Gaussian; of one query sigma2 is the least that does, rounded up. A larger sigma2 may \
break the budget.
With --error the noise is the widest with which an answer is that near with the confidence, and \
rho what it costs; with --queries all of them are at once.
Numbers are exact: 0.1 is one tenth, and 1/3 works too. More in docs/privacy.md.
"""


_OPTIONS = f"""
--plan FILE  plan  the noise of a release of several tables; alone. No table is read
--json  flag  print JSON
{BUDGET}
or the error that you can bear
--error E  not negative  an answer is off by at most this, with the confidence
--confidence C  probability  with --error: how surely, between 0 and 1 (default 0.95)
what one person can change
--sensitivity S  positive  one answer changes by at most this, a whole number unless with --rho \
(default 1)
--queries K  whole  at most so many answers change (default 1)
--rows-per-person K  whole  the same, of one column of counts in a table, as release has it
"""


def _run(arguments: argparse.Namespace) -> int:
    from .. import release

    failure = "the result could not be printed"
    if arguments.plan is not None:
        names = ("sensitivity", "queries", "rows_per_person", "error", "confidence", *SPENT)
        goes_without("--plan", arguments, names, "the plan says it")
        plan_as = release.plan_json if arguments.json else release.plan_text
        return printed(plan_as(release.read_plan(arguments.plan)), failure)
    if arguments.rows_per_person is not None:
        reason = "both say how many answers one person changes"
        goes_without("--rows-per-person", arguments, ("queries",), reason)
    sensitivity = arguments.sensitivity or Fraction(1)
    queries = arguments.queries or arguments.rows_per_person or 1
    if arguments.error is None:
        if arguments.confidence is not None:
            raise ParameterValueError("--confidence goes with --error")
        budget = budget_of(arguments)
    else:
        if got := " and ".join(given(arguments, SPENT[:3])):
            raise ParameterValueError(f"--error says what is spent, and goes without {got}")
        budget = release.budget_for_error(
            arguments.error, arguments.confidence, sensitivity, queries, queries
        )
    noise = release.calibration(budget, sensitivity, queries, arguments.report_delta)
    noise_as = release.calibration_json if arguments.json else release.calibration_text
    return printed(noise_as(noise), failure)


CALIBRATE = Command(
    "calibrate",
    "how much noise a budget asks for",
    _run,
    "release",
    __doc__,
    _NOTES,
    "%(prog)s (--rho R | --epsilon E --delta D | --error E | --plan FILE) [options]",
    _OPTIONS,
)
