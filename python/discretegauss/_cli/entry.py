"""The command line: ``discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv``.

Exit codes: 0 done; 2 the arguments or the files are wrong, nothing was written; 1 the system failed
(no randomness, no memory, a report that could not be printed); 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP,
nothing was written; 141 the reader of stdout has left, as head does: no message, unless a budget
is spent. Every other failure is one line on stderr, and no line shows what stands in a cell.

From the moment at which the output of a release gets its name, these signals do nothing: that the
budget is spent will be said.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from .._system.signals import StopSignals
from .._version import __version__
from ..errors import DiscreteGaussError, EntropyError
from .calibrate import CALIBRATE
from .completion import COMPLETION
from .example import EXAMPLE
from .figures import FIGURES
from .output import FAILED, UNREAD, WRONG_INPUT, fail, printed
from .parser import Parser
from .release import RELEASE
from .sample import SAMPLE
from .shadow import note_of_shadow
from .verify import VERIFY

_SIGNAL = 128
"""Added to the number of the signal."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, without the name of the program; those of the process by default.
    """
    with StopSignals() as stops:
        return _main(argv, stops)


def program() -> int:
    """Run the command line as the program of this process, and return its exit code.

    What comes next is the end of the process, which no signal may turn into another exit code.
    """
    with StopSignals(for_good=True) as stops:
        note = note_of_shadow(Path())
        if note is not None:
            printed(note, note, on_stderr=True)
        return _main(None, stops)


def _main(argv: Sequence[str] | None, stops: StopSignals) -> int:
    try:
        arguments = _parser().parse_args(argv, argparse.Namespace(hold_signals=stops.hold))
        import_module(f"discretegauss.{arguments.needs}")
        return int(arguments.run(arguments))
    except (KeyboardInterrupt, DiscreteGaussError, ImportError, MemoryError, OSError) as error:
        code, message = _said(error)
        notes = getattr(error, "__notes__", [])  # what is done nevertheless
        if code == UNREAD and not notes:
            return code
        return fail(code, "; ".join([message, *notes]))


def _said(error: BaseException) -> tuple[int, str]:
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
        case DiscreteGaussError() | ImportError():  # of what is not there it says what to do
            return WRONG_INPUT, str(error)
        case OSError():
            where = "" if error.filename is None else f"{error.filename}: "
            return WRONG_INPUT, f"{where}{error.strerror or error}"
        case _:
            return FAILED, "not enough memory for this table"


# --- the arguments


class _Version(argparse.Action):
    """--version, with the versions of the libraries below, asked for only then."""

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
            "Each command has its own: discretegauss release --help"
        ),
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(metavar="command", required=True)
    for command in (RELEASE, CALIBRATE, SAMPLE, EXAMPLE, FIGURES, VERIFY):
        command.add_to(commands)
    COMPLETION.add_to(commands).set_defaults(whole=parser)
    return parser
