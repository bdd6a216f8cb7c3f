"""The command line: ``discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv``.

Exit codes: 0 done; 2 the arguments or the files are wrong, nothing was written; 1 the system failed
(no randomness, no memory, a report that could not be printed); 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP,
nothing was written; 141 the reader of stdout has left, as head does. The last has a message only if
a budget is spent. Every other failure is one line on stderr, and no line shows a cell.

Once the output of a release gets its name, these signals do nothing, so that the command still
reports the spent budget.

Each command imports its modules when it runs, so that the others start faster.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .._inputs.messages import describe
from .._system.atomic_file import atomic_write
from .._system.signals import StopSignals
from .._version import __version__
from ..errors import (
    DiscreteGaussError,
    EntropyError,
    OutputError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
    PrivacyWarning,
)
from .parser import (
    FAILED,
    FROM_1,
    NOT_NEGATIVE,
    NUMBER,
    POSITIVE,
    PROBABILITY,
    UNREAD,
    WRONG_INPUT,
    Parser,
    add_command,
    add_flag,
    add_value,
    exclude,
    fail,
    file_name,
    in_options,
    plan_file,
    present,
    printed,
    require,
    warnings_as_lines,
    whole_number,
)

if TYPE_CHECKING:
    from .._inputs.budget import Budget
    from ..laws import Law
    from ..release import Person
    from ..release.commands import FilePlan

__all__ = ["main", "program"]

_SIGNAL = 128
"""The exit code of a signal is this plus the signal's number."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    `argv` has the arguments without the name of the program; those of the process by default.
    """
    with StopSignals() as stops:
        return _main(argv, stops)


def program() -> int:
    """Run the command line as the program of this process, and return its exit code.

    The process ends next, and no signal may change that exit code.
    """
    with StopSignals(for_good=True) as stops:
        if os.path.isfile("discretegauss.py"):  # the paper's code, for example
            note = (
                "discretegauss: note: the file discretegauss.py in this folder hides the package "
                "from Python programs here. Delete it; the package has its functions"
            )
            printed(note, note, on_stderr=True)
        return _main(None, stops)


def _main(argv: Sequence[str] | None, stops: StopSignals) -> int:
    arguments = argparse.Namespace(hold_signals=stops.hold)
    try:
        parser = _parser()
        if "_ARGCOMPLETE" in os.environ:  # the shell asks for completions (docs/install.md)
            import argcomplete

            argcomplete.autocomplete(parser)
        parser.parse_args(argv, arguments)
        with warnings_as_lines():
            return int(arguments.run(arguments))
    except (KeyboardInterrupt, DiscreteGaussError, ImportError, MemoryError, OSError) as error:
        code, message = _explained(error)
        if isinstance(error, DiscreteGaussError):
            message = in_options(message, arguments)
        notes = getattr(error, "__notes__", [])  # of a file that is written nevertheless
        if code == UNREAD and not notes:
            return code
        return fail(code, "; ".join([message, *notes]))


def _explained(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message."""
    match error:
        case KeyboardInterrupt():
            number = getattr(error, "number", signal.SIGINT)
            by = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
            return _SIGNAL + number, f"interrupted{by}"
        case BrokenPipeError(filename="stdout"):
            return UNREAD, f"stdout: {error.strerror}"
        case EntropyError():
            return FAILED, str(error.strerror or error)
        case DiscreteGaussError() | ImportError():  # an ImportError says what to install
            return WRONG_INPUT, str(error)
        case OSError():
            where = "" if error.filename is None else f"{error.filename}: "
            return WRONG_INPUT, f"{where}{error.strerror or error}"
        case _:
            return FAILED, "not enough memory for this table"


# --- release

_RELEASE_NOTES = """\
before you release:
- The budget protects one person who has at most --records records. They may all be in one row; \
with --one-per-row no two of them are. Without --records, it protects one person who changes at \
most --rows-per-person counts of each column, each by at most --sensitivity. If the table has a \
row of totals, each record counts twice.
- Several columns share the budget. With --disjoint, nobody may be counted in two of them.
- The rows themselves are published, so they must not depend on the people counted. List every \
combination, including those with count 0, or use --unknown-groups.
- Their order is published: a table sorted by its counts reveals their true ranking.
- All other columns are published: totals, shares or ranks computed from the counts reveal them.
- Noisy counts may be negative. Leave them negative: rounding up to 0 adds a bias to every sum.
- A second release of the same counts spends a second budget: the rho add up. With --ledger a file \
adds them up, and no release exceeds its limit.

More in docs/release.md.
"""
_RELEASE_USAGE = """\
%(prog)s TABLE --column NAME --out FILE (--rho R | --epsilon E [--delta D]) [options]
       %(prog)s --plan FILE [--consistent DIR] [--force] [--json] [--plot PLOT]
       %(prog)s TABLE --unknown-groups --column NAME --out FILE --epsilon E --delta D
       %(prog)s TABLE --running STATE --day DAY --out FILE [--start --column NAME ...]"""
_NEEDED = ("table", "column", "out")


def _add_release(commands: Any) -> None:
    summary = "add noise to columns of counts in a table"
    parser = add_command(commands, _release, summary, _RELEASE_NOTES, _RELEASE_USAGE)
    text = (
        "a table with a header: .tsv, .parquet, .arrow, .npy, .csv.gz, .csv.zst, and CSV under any "
        "other name; - is CSV from stdin"
    )
    add_value(parser, "table", "TABLE", file_name, text, nargs="?")
    text = "the name of a column of counts; may be given several times"
    add_value(parser, "--column", "NAME", str, text, action="append")
    text = "the file to write; - is stdout, and then the report goes to stderr"
    add_value(parser, "--out", "FILE", file_name, text)
    text = "';', '|', ',' or a tab; by default the endings of TABLE and FILE set it"
    add_value(parser, "--delimiter", "D", str, text)
    text = "counts may be floats that are whole numbers, such as 12.0; FILE gets integers"
    add_flag(parser, "--integral-floats", text)
    text = "a TOML file that lists tables with one budget; either all are written or none"
    add_value(parser, "--plan", "FILE", plan_file, text)
    text = "with --plan: also write to this folder tables that add up, as CSV with standard errors"
    add_value(parser, "--consistent", "DIR", partial(file_name, rule="must name a folder"), text)
    text = "for rows that exist because people are in them: write those with enough people, as CSV"
    add_flag(parser, "--unknown-groups", text)
    text = "the ledger of these people: the release is a line in it before anything is drawn"
    add_value(parser, "--ledger", "LEDGER", partial(file_name, rule="must name a file"), text)
    add_flag(parser, "--force", "replace FILE and PLOT if they exist")
    add_flag(parser, "--json", "print the report as JSON")
    text = "draw the noisy counts and their error bars to this .png, .pdf or .svg; the plot shows "
    kind = partial(file_name, rule="must name a file, because a plot cannot go to stdout")
    add_value(parser, "--plot", "PLOT", kind, f"{text}no true counts")
    _add_budget(parser)
    person = _add_person(parser)
    text = "one count changes by at most S; S is at least 1, and a whole number without --rho "
    add_value(person, "--sensitivity", "S", FROM_1, f"{text}(default 1)")
    text = "at most K counts of a column change (default 1)"
    add_value(person, "--rows-per-person", "K", whole_number, text)
    add_flag(person, "--disjoint", "nobody changes counts in two of the columns")
    running = parser.add_argument_group("counts that are published every day")
    text = "the file that holds their state; TABLE has the counts of a day, FILE gets totals, too"
    add_value(running, "--running", "STATE", partial(file_name, rule="must name a file"), text)
    text = "the day after the last one: 2026-11-28, or a whole number"
    add_value(running, "--day", "DAY", str, text)
    add_flag(running, "--start", "make STATE; --column, a budget and these say for what")
    text = "the longest sums that matter, in days (default 365); 1 is fresh noise"
    add_value(running, "--period", "L", whole_number, text)
    text = "one person is counted on at most K days (default 1)"
    add_value(running, "--days", "K", whole_number, text)
    text = "any two of these days are at least B days from each other (default 1)"
    add_value(running, "--apart", "B", whole_number, text)


def _release(arguments: argparse.Namespace) -> int:
    """Add noise to columns of counts and write the table to a new file.

    examples:
      discretegauss release counts.csv --column n --epsilon 1 --out noisy.csv
      discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv
      discretegauss release counts.parquet --column men --column women --disjoint --epsilon 1 \
--delta 1e-6 --out noisy.parquet
      discretegauss release --plan plan.toml --consistent added_up
      discretegauss release today.csv --running flu.state --day 2026-11-28 --out today_noisy.csv
      discretegauss release groups.csv --unknown-groups --column people --epsilon 1 --delta 1e-6 \
--out kept.csv
      zcat counts.csv.gz | discretegauss release - --column n --rho 0.1 --out - > noisy.csv

    A count is replaced by count + draw, in exact integers; all other cells are kept.
    Numbers are exact: 0.1 is one tenth, and 1/3 works too.
    """
    from ..release import commands as release

    if arguments.running is not None:
        return _release_day(arguments)
    if found := present(arguments, ("day", "start", *_OF_START)):
        raise ParameterValueError(f"{found[0]} needs --running")
    if arguments.unknown_groups:
        return _release_groups(arguments)
    if arguments.plan is not None and release.counts_people(arguments.plan):
        return _release_people(arguments)
    to_stdout = arguments.out == "-"
    if to_stdout:  # then the report, which has the same sentence, goes to stderr
        warnings.simplefilter("ignore", PrivacyWarning)
    plan = _plan(arguments)
    result = release.execute(
        plan,
        force=arguments.force,
        plot=arguments.plot,
        consistent=arguments.consistent,
        ledger=arguments.ledger,
        progress=True,
        to_stdout=to_stdout,
        before_placing=arguments.hold_signals,
    )
    report = release.release_json(result) if arguments.json else str(result)
    written = "the tables are" if arguments.plan else f"{arguments.out} is"
    return _reported(report, written, on_stderr=to_stdout)


def _plan(arguments: argparse.Namespace) -> FilePlan:
    from ..release.commands import plan_of_one, read_plan

    if arguments.plan is not None:
        of_table = ("table", "out", "column", "delimiter", "integral_floats", "disjoint")
        names = (*of_table, *_OF_PERSON, *_SPENT)
        exclude("--plan", arguments, names, "the plan sets it")
        return read_plan(arguments.plan)
    require(arguments, _NEEDED)
    if arguments.consistent is not None:
        raise ParameterValueError("--consistent needs --plan, because it takes several tables")
    return plan_of_one(
        "/dev/stdin" if arguments.table == "-" else arguments.table,
        arguments.column,
        arguments.out,
        budget=_budget(arguments),
        report_delta=arguments.report_delta,
        delimiter=arguments.delimiter,
        integral_floats=arguments.integral_floats,
        **_who(arguments),
    )


def _who(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `release_table` that say what one person changes."""
    if (person := _person(arguments, ("sensitivity", "rows_per_person"))) is not None:
        return {"person": person, "across": "column" if arguments.disjoint else None}
    return {
        "sensitivity": arguments.sensitivity or 1,
        "rows_per_person": arguments.records or arguments.rows_per_person or 1,
        "disjoint": arguments.disjoint,
    }


def _release_people(arguments: argparse.Namespace) -> int:
    from ..release import commands as release

    names = ("table", "out", "column", "delimiter", "integral_floats", "disjoint", "consistent")
    exclude("--plan", arguments, (*names, *_OF_PERSON, *_SPENT), "the plan sets it")
    exclude("--plan", arguments, ("json", "plot"), "the plan counts people")
    result = release.count_file(
        release.read_people_plan(arguments.plan),
        force=arguments.force,
        ledger=arguments.ledger,
        before_placing=arguments.hold_signals,
    )
    return _reported(str(result), "the tables are")


def _release_groups(arguments: argparse.Namespace) -> int:
    from ..release.commands import release_groups

    reason = "a group has one count of people, and the budget is epsilon with delta"
    names = ("plan", "consistent", "plot", "json", "rho", "report_delta", "sensitivity", "disjoint")
    exclude("--unknown-groups", arguments, names, reason)
    if "-" in (arguments.table, arguments.out):
        raise ParameterValueError("with --unknown-groups, TABLE and --out must be files, got '-'")
    if None in (arguments.epsilon, arguments.delta):
        raise ParameterValueError("--unknown-groups needs --epsilon and --delta")
    require(arguments, _NEEDED)
    who = _who(arguments)
    if arguments.records not in (None, 1) and not arguments.one_per_row:
        raise ParameterValueError(
            "--unknown-groups needs --one-per-row with --records, because a group counts a person "
            "once"
        )
    result = release_groups(
        arguments.table,
        arguments.column,
        arguments.out,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        groups_per_person=who.get("rows_per_person", 1),
        delimiter=arguments.delimiter,
        integral_floats=arguments.integral_floats,
        force=arguments.force,
        ledger=arguments.ledger,
        before_placing=arguments.hold_signals,
    )
    return _reported(str(result), f"{result.out} is")


def _release_day(arguments: argparse.Namespace) -> int:
    from ..release.commands import as_label, release_day

    names = ("plan", "consistent", "unknown_groups", "plot", "json", "report_delta", "disjoint")
    exclude("--running", arguments, names, "a day has one table with one column of counts")
    require(arguments, ("table", "day", "out"))
    if "-" in (arguments.table, arguments.out):
        raise ParameterValueError("with --running, TABLE and --out must be files, got '-'")
    start = None
    if arguments.start:
        who = _who(arguments)
        if (person := who.get("person")) is not None:
            who = {"sensitivity": person.records, "rows_per_person": 1}
        start = {"budget": _budget(arguments), "period": arguments.period or 365}
        start |= {"days": arguments.days or 1, "apart": arguments.apart or 1}
        start |= {"ledger": arguments.ledger}
        start |= {name: who[name] for name in ("sensitivity", "rows_per_person")}
    elif found := present(arguments, (*_SPENT, *_OF_PERSON, *_OF_START, "ledger")):
        raise ParameterValueError(f"{found[0]} needs --start: later the state has it")
    result = release_day(
        arguments.table,
        arguments.out,
        state=arguments.running,
        day=as_label(arguments.day),
        column=arguments.column,
        start=start,
        delimiter=arguments.delimiter,
        integral_floats=arguments.integral_floats,
        force=arguments.force,
        before_placing=arguments.hold_signals,
    )
    return _reported(str(result), f"{result.out} is")


def _reported(report: str, written: str, *, on_stderr: bool = False) -> int:
    failure = f"{written} written, the budget is spent, but the report could not be printed"
    return printed(report, failure, on_stderr=on_stderr, is_budget_spent=True)


# --- ledger


def _add_ledger(commands: Any) -> None:
    summary = "show what the releases about the same people have spent of a limit, or start one"
    usage = """\
%(prog)s LEDGER [--has HASH]
       %(prog)s start LEDGER --unit WHO (--rho R | --epsilon E [--delta D]) [options]"""
    parser = add_command(commands, _ledger, summary, "More in docs/ledger.md.\n", usage)
    add_value(parser, "names", "LEDGER", str, "the file, after start for a new one", nargs="+")
    add_value(parser, "--has", "HASH", str, "find the line of a report, which an old copy lacks")
    new = parser.add_argument_group("with start")
    add_value(new, "--unit", "WHO", str, "whom the limit protects, in words")
    add_value(new, "--rho", "R", POSITIVE, "the limit in zCDP")
    text = "the limit: with --delta its largest rho, without for releases of pure epsilon"
    add_value(new, "--epsilon", "E", POSITIVE, text)
    add_value(new, "--delta", "D", PROBABILITY, "with --epsilon")
    text = "what releases with a delta of their own may spend of it together (default 0)"
    add_value(new, "--own-delta", "D", PROBABILITY, text)
    text = "whether neighbours differ by one person, 'add or remove' (default), or by 'replace'"
    add_value(new, "--neighbours", "N", str, text)


def _ledger(arguments: argparse.Namespace) -> int:
    """Keep one limit over all releases about the same people, in a file.

    examples:
      discretegauss ledger start people.ledger --rho 1 --unit "a resident of the register of 2026"
      discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv --ledger people.ledger
      discretegauss ledger people.ledger

    A release beyond the limit is refused. One ledger is for one group of people.
    """
    from ..privacy import Ledger

    *verb, name = arguments.names
    options = ("unit", "rho", "epsilon", "delta", "own_delta", "neighbours")
    if verb == ["start"]:
        exclude("start", arguments, ("has",), "a new ledger has no lines")
        require(arguments, ("unit",), "ledger")
        given = {x: getattr(arguments, x) for x in options if present(arguments, (x,))}
        return printed(str(Ledger.start(name, **given)), f"{name} is started, but not shown")
    if verb:
        raise ParameterValueError(f"give LEDGER, or start LEDGER; got {describe(verb[0])}")
    exclude("LEDGER alone", arguments, options, "only start makes a limit")
    ledger = Ledger(name)
    text = str(ledger) if arguments.has is None else str(ledger.line_of(arguments.has))
    return printed(text, "the ledger could not be printed")


# --- calibrate

_CALIBRATE_NOTES = """\
With --rho, the noise is discrete Gaussian and sigma2 is exact. With --epsilon alone, it is \
discrete Laplace and the scale is exact. With --epsilon and --delta, it is the one of these two \
with the smaller standard deviation. A Gaussian meets both by its tight delta; for one query, \
sigma2 is the least that does so, rounded up. A larger sigma2 may break the budget.
With --error, the noise is the widest discrete Gaussian that keeps an answer within the error, and \
rho is its cost. With --queries, all answers at once are within it.
With --records, the answers are the counts of one column in a table, as in release, and --error \
holds for each of them.
Numbers are exact: 0.1 is one tenth, and 1/3 works too. More in docs/cost/privacy.md.
"""


def _add_calibrate(commands: Any) -> None:
    usage = "%(prog)s (--rho R | --epsilon E [--delta D] | --error E | --plan FILE) [options]"
    summary = "print the noise that a budget needs"
    parser = add_command(commands, _calibrate, summary, _CALIBRATE_NOTES, usage)
    text = "print the noise of each table of a plan; no table is read"
    add_value(parser, "--plan", "FILE", plan_file, text)
    add_flag(parser, "--json", "print JSON")
    _add_budget(parser)
    error = parser.add_argument_group("or the error that you accept")
    text = "an answer is off by at most E, with confidence C"
    add_value(error, "--error", "E", NOT_NEGATIVE, text)
    text = "with --error: a number between 0 and 1 (default 0.95)"
    add_value(error, "--confidence", "C", PROBABILITY, text)
    person = _add_person(parser)
    text = "one answer changes by at most S; S is at least 1, and a whole number without --rho "
    add_value(person, "--sensitivity", "S", FROM_1, f"{text}(default 1)")
    add_value(person, "--queries", "K", whole_number, "at most K answers change (default 1)")
    text = "the same as --queries, for one column of counts in a table, as in release"
    add_value(person, "--rows-per-person", "K", whole_number, text)


def _calibrate(arguments: argparse.Namespace) -> int:
    """Print the noise that a budget needs, and its cost.

    examples:
      discretegauss calibrate --epsilon 1 --records 3
      discretegauss calibrate --epsilon 1 --delta 1e-6 --queries 100
      discretegauss calibrate --rho 0.1 --records 3
      discretegauss calibrate --error 5 --confidence 0.95
      discretegauss calibrate --plan plan.toml
    """
    from ..release import commands as release

    failure = "the result could not be printed"
    if arguments.plan is not None:
        names = (*_OF_PERSON, "queries", "error", "confidence", *_SPENT)
        exclude("--plan", arguments, names, "the plan sets it")
        if release.counts_people(arguments.plan):
            exclude("--plan", arguments, ("json",), "the plan counts people")
            return printed(str(release.read_people_plan(arguments.plan).plan), failure)
        plan_as = release.plan_json if arguments.json else release.plan_text
        return printed(plan_as(release.read_plan(arguments.plan)), failure)
    if arguments.rows_per_person is not None:
        reason = "both say how many answers one person changes"
        exclude("--rows-per-person", arguments, ("queries",), reason)
    person = _person(arguments, ("sensitivity", "queries", "rows_per_person"))
    sensitivity = arguments.sensitivity or Fraction(1)
    queries = arguments.queries or arguments.rows_per_person or arguments.records or 1
    if arguments.error is None:
        if arguments.confidence is not None:
            raise ParameterValueError("--confidence needs --error")
        budget = _budget(arguments)
    else:
        if got := " and ".join(present(arguments, _SPENT[:3])):
            raise ParameterValueError(f"{got} must not be given with --error, which sets rho")
        change = (sensitivity, queries) if person is None else (Fraction(person.records), 1)
        answers = 1 if arguments.records else queries
        budget = release.budget_for_error(arguments.error, arguments.confidence, *change, answers)
    noise = release.calibration(budget, sensitivity, queries, arguments.report_delta, person)
    noise_as = release.calibration_json if arguments.json else release.calibration_text
    return printed(noise_as(noise, person), failure)


# --- sample

_SAMPLE_NOTES = """\
The ending of FILE sets the format: .npy (int64), .parquet, .arrow or .csv (a column "noise"). \
A .txt file, a file without an ending, and stdout have one number on each line. \
Memory does not grow with N. No incomplete file is left behind.
"""
_OF_LAW = ("sigma2", "sigma", "scale", "beta")
_ENDINGS = (".npy", ".parquet", ".arrow", ".csv", ".txt", "")

_CHUNK = 2**18
"""Draws at a time, few enough that their bytes and their text stay in the cache."""


def _add_sample(commands: Any) -> None:
    law = "(--sigma2 V | --sigma S | --scale T [--beta B])"
    usage = f"%(prog)s {law} --size N --out FILE [options]"
    parser = add_command(commands, _sample, "draw noise to a file", _SAMPLE_NOTES, usage)
    add_value(parser, "--size", "N", whole_number, "the number of draws", required=True)
    add_value(parser, "--out", "FILE", file_name, "the file to write; - is stdout", required=True)
    add_flag(parser, "--force", "replace FILE if it exists")
    add_flag(parser, "--json", "print what was drawn as JSON; if FILE is stdout, on stderr")
    choices = ["chacha20", "getrandom"]
    text = "the source of random bits (default chacha20)"
    add_value(parser, "--source", None, str, text, choices=choices, default=choices[0])
    add_value(parser, "--threads", "K", whole_number, "the most threads that draw (default 1)")
    law = parser.add_argument_group("law: one of --sigma2, --sigma and --scale")
    add_value(law, "--sigma2", "V", POSITIVE, "discrete Gaussian of this sigma2")
    add_value(law, "--sigma", "S", POSITIVE, "discrete Gaussian, sigma2 = S squared")
    add_value(law, "--scale", "T", POSITIVE, "discrete Laplace of this scale")
    text = "with --scale: generalised Gaussian of this exponent, at least 1"
    add_value(law, "--beta", "B", FROM_1, text)
    add_value(law, "--mu", "M", NUMBER, "the centre")


def _sample(arguments: argparse.Namespace) -> int:
    """Draw from a law and write the draws to a file or to stdout.

    examples:
      discretegauss sample --sigma2 100 --size 1000000000 --out noise.npy
      discretegauss sample --scale 5/2 --size 10 --out -
    """
    from ..release.commands import (
        File,
        checked_destinations,
        column_file,
        draws_json,
        unbuffered_stdout,
    )

    law = _law(arguments)
    options = {"source": arguments.source, "threads": arguments.threads or 1}
    try:
        chunks = law.stream(arguments.size, _CHUNK, progress=True, **options)
    except ParameterOverflowError:  # its message is about a dtype
        rule = "the law must fit 64-bit integers with a probability above 1 - 2**-128"
        values = ((name, getattr(arguments, name)) for name in (*_OF_LAW, "mu"))
        got = " ".join(f"--{name} {describe(value)}" for name, value in values if value is not None)
        raise ParameterOverflowError(f"{rule}, got {got}") from None
    to_stdout = arguments.out == "-"
    out = Path("" if to_stdout else arguments.out)
    ending = out.suffix.lower()
    if ending not in _ENDINGS:
        known = ", ".join(ending for ending in _ENDINGS if ending)
        raise OutputError(
            f"--out must end in one of {known}, or have no ending, got {describe(str(out))}"
        )
    output: Any = unbuffered_stdout()
    if not to_stdout:
        outputs = [File(out, "the output", costs=False)]
        (destination,) = checked_destinations(outputs, force=arguments.force)
        output = atomic_write(
            destination, replace=arguments.force, before_placing=arguments.hold_signals
        )
    try:
        with output as sink, column_file(sink, ending, "noise", arguments.size) as append:
            for draws in chunks:
                append(draws)
    except FileExistsError:  # another process made it after the check
        raise OutputError(f"{out} already exists; use --force to replace it") from None
    report = f"{arguments.size} draws of {law} are written to {out}"
    if arguments.json:
        report = draws_json(law, arguments.size, arguments.out, arguments.source)
    elif to_stdout:
        return 0
    failure = f"{arguments.out} is written, but this could not be printed"
    return printed(report, failure, on_stderr=to_stdout)


def _law(arguments: argparse.Namespace) -> Law:
    from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian

    mu = arguments.mu or 0
    parameters = [arguments.sigma2, arguments.sigma, arguments.scale]
    beta_alone = arguments.scale is None and arguments.beta is not None
    if sum(value is not None for value in parameters) != 1 or beta_alone:
        rule = "give one of --sigma2, --sigma and --scale, and --beta only with --scale"
        got = " and ".join(present(arguments, _OF_LAW)) or "none"
        raise ParameterTypeError(f"{rule}; got {got}")
    if arguments.scale is None:
        return DiscreteGaussian(arguments.sigma2, mu, sigma=arguments.sigma)
    if arguments.beta is None:
        return DiscreteLaplace(arguments.scale, mu)
    return GeneralizedGaussian(arguments.scale, arguments.beta, mu)


# --- example and verify


def _example(arguments: argparse.Namespace) -> int:
    """Print a real table of counts: the flights that left New York City in 2013, by carrier, \
origin, destination and month. Or print invented records of people, to count by a plan.

    examples:
      discretegauss example > flights.csv
      discretegauss release flights.csv --column flights --rho 0.1 --out noisy.csv
      discretegauss example --people > people.csv
    """
    from ..data.example import flights, invented_people

    table = flights().read_text(encoding="ascii").removesuffix("\n")
    text = invented_people() if arguments.people else table
    return printed(text, "the table could not be printed")


_VERIFY_NOTES = """\
--quick takes a second: it draws from fixed bits and compares the draws with published ones.
--gpu compares what each GPU draws with what the CPU draws under the same keys.
The proof takes minutes and needs python-flint: pip install python-flint.
Exit codes: 0 all is right, 1 something is wrong or not proven, 2 wrong arguments, no \
python-flint or no GPU, 3 the results could not be written.
"""


def _add_verify(commands: Any) -> None:
    usage = "%(prog)s [--quick | --gpu | --random N] [--json]"
    parser = add_command(commands, _verify, "check the installed package", _VERIFY_NOTES, usage)
    add_flag(parser, "--quick", "check in a second that the draws are the published ones")
    add_flag(parser, "--gpu", "check that GPUs draw what the CPU draws")
    add_flag(parser, "--json", "print the results as JSON")
    add_value(parser, "--random", "N", whole_number, "also prove the tables of N random laws")


def _verify(arguments: argparse.Namespace) -> int:
    """Prove by independent ball arithmetic that the tables of the compiled core are right.

    examples:
      discretegauss verify --quick
      discretegauss verify --random 100
    """
    from ..verify.proof import main

    if arguments.quick:
        exclude("--quick", arguments, ("random", "gpu"), "--quick proves nothing")
    if arguments.gpu:
        exclude("--gpu", arguments, ("random",), "--gpu proves nothing")
    options = [] if arguments.random is None else ["--random", str(arguments.random)]
    options += ["--quick"] * arguments.quick + ["--gpu"] * arguments.gpu
    options += ["--json"] * arguments.json
    return main(options, "discretegauss verify")


# --- options


class _Version(argparse.Action):
    """Print the version, and those of the libraries, which no other command looks up."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> NoReturn:
        from .._drawing.engines import build_info

        details = ", ".join(f"{name} {value}" for name, value in build_info().items())
        text = f"discretegauss {__version__} ({details})"
        sys.exit(printed(text, "the version could not be printed"))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="discretegauss",
        description="Exact integer noise for differential privacy.",
        epilog=(
            "example:\n  discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv\n\n"
            "Each command has its own help: discretegauss release --help"
        ),
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(metavar="command", required=True)
    _add_release(commands)
    _add_ledger(commands)
    _add_calibrate(commands)
    _add_sample(commands)
    example = add_command(commands, _example, "print an example table of counts, or of people")
    add_flag(example, "--people", "print records of invented people: person, town, age")
    _add_verify(commands)
    return parser


_SPENT = ("rho", "epsilon", "delta", "report_delta")
_OF_START = ("period", "days", "apart")
_OF_PERSON = ("records", "one_per_row", "sensitivity", "rows_per_person")


def _add_budget(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("budget: either --rho, or --epsilon, alone or with --delta")
    add_value(group, "--rho", "R", POSITIVE, "zCDP budget, for Gaussian noise")
    text = "without --delta: pure differential privacy, by Laplace noise"
    add_value(group, "--epsilon", "E", NOT_NEGATIVE, text)
    text = "with --epsilon: Gaussian or Laplace noise, whichever is less"
    add_value(group, "--delta", "D", PROBABILITY, text)
    text = "with --rho: the delta at which epsilon is reported (default 1e-6)"
    add_value(group, "--report-delta", "D", PROBABILITY, text)


def _add_person(parser: argparse.ArgumentParser) -> Any:
    group = parser.add_argument_group("who is counted, or what one person can change")
    text = "a person has at most K records, which may all be in one row"
    add_value(group, "--records", "K", whole_number, text)
    add_flag(group, "--one-per-row", "with --records: no two records of a person are in one row")
    return group


def _person(arguments: argparse.Namespace, others: Sequence[str]) -> Person | None:
    """Return the person that --records describes; None without it, or with --one-per-row.

    ``others`` are the options that say the same in another way.
    """
    from ..release import Person

    if arguments.records is None:
        if arguments.one_per_row:
            raise ParameterValueError("--one-per-row needs --records")
        return None
    exclude("--records", arguments, others, "both say what one person changes")
    return None if arguments.one_per_row else Person(arguments.records)


def _budget(arguments: argparse.Namespace) -> Budget:
    """Return the budget, or raise an error in the words of the options."""
    given = present(arguments, _SPENT[:3])
    if given not in (["--rho"], ["--epsilon"], ["--epsilon", "--delta"]):
        got = " and ".join(given) or "none"
        raise ParameterTypeError(
            f"give either --rho, or --epsilon, alone or with --delta; got {got}"
        )
    if arguments.rho is None and arguments.report_delta is not None:
        raise ParameterValueError("--report-delta needs --rho and must not be given with --epsilon")
    from .._inputs.budget import Budget

    return Budget(rho=arguments.rho, epsilon=arguments.epsilon, delta=arguments.delta)
