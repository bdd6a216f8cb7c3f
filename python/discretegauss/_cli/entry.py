"""The command line: ``discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv``.

Exit codes: 0 done; 2 the arguments or the files are wrong, nothing was written; 1 the system failed
(no randomness, no memory, a report that could not be printed); 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP,
nothing was written. Every failure is one line on stderr, and no line shows what stands in a cell.

From the moment at which the output of a release gets its name, these signals do nothing: that the
budget is spent will be said.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from .._drawing.engines import build_info
from .._inputs.numbers import printable
from .._system.atomic_file import write_all
from .._system.signals import Stops
from .._version import __version__
from ..errors import DiscreteGaussError, EntropyError
from ..release import carry_out, plan_release, report_text
from .calibrate import add_calibrate, calibrate_text
from .figures import add_figures, figures_text
from .options import add_budget, argument_from_1, budget_error, file_argument, whole_argument

__all__ = ["main", "program"]

_FAILED = 1
_WRONG_INPUT = 2
_SIGNAL = 128
"""Added to the number of the signal."""

_RELEASE_HELP = """\
Add discrete Gaussian noise to a column of counts and write the table to a new file.

example:
  discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv

A count is replaced by count + draw, in exact integers; every byte outside the column is kept.
Numbers are exact: 0.1 is one tenth, and 1/3 works too.
"""

_RELEASE_NOTES = """\
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, without the name of the program; those of the process by default.
    """
    with Stops() as stops:
        return _main(argv, stops)


def program() -> int:
    """Run the command line as the program of this process, and return its exit code.

    What comes next is the end of the process, which no signal may turn into another exit code.
    """
    with Stops(for_good=True) as stops:
        return _main(None, stops)


def _main(argv: Sequence[str] | None, stops: Stops) -> int:
    try:
        arguments = _parser().parse_args(argv, argparse.Namespace(hold_signals=stops.hold))
        return int(arguments.run(arguments))
    except (KeyboardInterrupt, DiscreteGaussError, MemoryError, OSError) as error:
        code, message = _said(error)
        notes = getattr(error, "__notes__", [])  # what is done nevertheless
        return _fail(code, "; ".join([message, *notes]))


def _said(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message."""
    match error:
        case KeyboardInterrupt():
            number = getattr(error, "number", signal.SIGINT)
            by = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
            return _SIGNAL + number, f"interrupted{by}"
        case EntropyError():
            return _FAILED, str(error.strerror or error)
        case DiscreteGaussError():
            return _WRONG_INPUT, str(error)
        case OSError():
            where = "" if error.filename is None else f"{error.filename}: "
            return _WRONG_INPUT, f"{where}{error.strerror or error}"
        case _:
            return _FAILED, "not enough memory for this table"


def _calibrate(arguments: argparse.Namespace) -> int:
    if error := budget_error(arguments):
        return _fail(_WRONG_INPUT, error)
    text = calibrate_text(arguments)
    return _printed(text, "the result could not be printed")


def _figures(arguments: argparse.Namespace) -> int:
    try:
        text = figures_text(arguments)
    except ImportError as error:  # matplotlib is not there: it says what to do
        return _fail(_WRONG_INPUT, str(error))
    return _printed(text, "the figures are written, but the result could not be printed")


def _release(arguments: argparse.Namespace) -> int:
    if error := budget_error(arguments):
        return _fail(_WRONG_INPUT, error)
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
    report_text(plan.release)  # nothing is drawn for a report that cannot be made
    release = carry_out(plan, before_placing=arguments.hold_signals)
    return _printed(
        report_text(release),
        f"{release.out} is written, the budget is spent, but the report could not be printed",
    )


# --- the arguments


class _Once(argparse.Action):
    """An option with a value, given once: else the first of two columns would stay raw."""

    _given = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if self._given:
            raise argparse.ArgumentError(self, "must be given only once")
        self._given = True
        setattr(namespace, self.dest, values)


class _OneLineParser(argparse.ArgumentParser):
    """argparse, but an error is one line, also if it is that the help cannot be printed.

    An option that has a value may be given once only.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.register("action", None, _Once)  # what add_argument takes if nothing is said

    def print_help(self, file: object = None) -> None:
        sys.exit(_printed(self.format_help().rstrip("\n"), "the help could not be printed"))

    def error(self, message: str) -> NoReturn:
        sys.exit(_fail(_WRONG_INPUT, f"{message} (help: {self.prog} --help)"))


class _Version(argparse.Action):
    """--version, with the versions of the libraries below, asked for only then."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> NoReturn:
        details = ", ".join(f"{name} {value}" for name, value in build_info().items())
        text = f"discretegauss {__version__} ({details})"
        sys.exit(_printed(text, "the version could not be printed"))


def _parser() -> argparse.ArgumentParser:
    parser = _OneLineParser(
        prog="discretegauss",
        description="Exact integer noise for differential privacy.",
        epilog="example: discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(metavar="command", required=True)
    _add_release(commands)
    add_calibrate(commands).set_defaults(run=_calibrate)
    add_figures(commands).set_defaults(run=_figures)
    return parser


def _add_release(commands: argparse._SubParsersAction[_OneLineParser]) -> None:
    parser = commands.add_parser(
        "release",
        usage="%(prog)s TABLE --column NAME --out FILE (--rho R | --epsilon E --delta D) [options]",
        help="add noise to a column of counts in a CSV file",
        description=_RELEASE_HELP,
        epilog=_RELEASE_NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_release)
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
        default="1",
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


# --- output


def _printed(text: str, failure: str) -> int:
    """Print the text on stdout; return the exit code."""
    try:
        _print(text, sys.stdout)
    except OSError as error:
        return _fail(_FAILED, f"{failure}: {error.strerror}")
    return 0


def _fail(code: int, message: str) -> int:
    one_line = f"discretegauss: error: {printable(message)}"
    with contextlib.suppress(OSError):  # the code says it, too
        _print(one_line, sys.stderr)
    return code


def _print(text: str, stream: TextIO | None) -> None:
    """Print, also where the stream's encoding lacks a character (of a file name, say)."""
    if stream is None:  # it was closed when the process began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    encoding = stream.encoding or "utf-8"
    shown = f"{text}\n".encode(encoding, "backslashreplace")
    buffer = getattr(stream, "buffer", None)
    try:
        if isinstance(buffer, io.RawIOBase):  # python -u: print does not look how much is taken
            write_all(buffer, shown)
        else:
            print(shown.decode(encoding), end="", file=stream, flush=True)
    except OSError:
        # Else the interpreter tries to write the rest when it ends, and complains again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise
