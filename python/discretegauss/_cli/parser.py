"""The parser of the command line, and its output. Each error is one line on stderr."""

from __future__ import annotations

import argparse
import contextlib
import errno
import inspect
import io
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NoReturn, TextIO

from .._inputs.keywords import hint_for
from .._inputs.messages import describe, printable
from .._system.atomic_file import write_all
from ..errors import DiscreteGaussError, ParameterValueError, PrivacyWarning

FAILED, WRONG_INPUT = 1, 2
"""Exit codes."""
UNREAD = 141
"""128 + SIGPIPE, if the reader of stdout has left, as ``head`` does."""


# --- options


def add_command(commands: Any, run: Any, summary: str, notes: str = "", usage: str = "") -> Any:
    """Add a command with the name of its function, and the docstring as description."""
    about, name = inspect.cleandoc(run.__doc__ or ""), run.__name__.removeprefix("_")
    parser = commands.add_parser(
        name, help=summary, description=about, epilog=notes or None, usage=usage or None
    )
    parser.set_defaults(run=run)
    return parser


def add_value(
    group: Any, name: str, metavar: str | None, kind: Any, text: str, **more: Any
) -> None:
    group.add_argument(name, metavar=metavar, type=kind, help=text, **more)


def add_flag(group: Any, name: str, text: str) -> None:
    group.add_argument(name, action="store_true", help=text)


def present(arguments: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """Return the options that the user gave, spelt as on the command line."""
    return [_shown(name) for name in names if not _is_left_out(getattr(arguments, name))]


def _is_left_out(value: object) -> bool:
    return value is None or value is False  # 0 is given, and equal to False


def _shown(name: str) -> str:
    return "TABLE" if name == "table" else f"--{name.replace('_', '-')}"


def in_options(message: str, arguments: argparse.Namespace) -> str:
    """Return an error about parameters of Python with the names of the command's options.

    Parameters are the subject, which stands before "must" or "needs". After that, a name with an
    underscore or before "=" is a parameter, except in Python code such as force=True. The keys of
    a plan keep the names that they have there.
    """
    if getattr(arguments, "plan", None) is not None:
        return message
    shown = {name: _shown(name) for name in vars(arguments)}
    shown["groups_per_person"] = _shown("rows_per_person")
    names = "|".join(shown)
    end = re.search(r" (?:must|needs) ", message)
    said = message[end.start() :] if end else message
    place, colon, subject = message.removesuffix(said).rpartition(": ")
    subject = re.sub(rf"(^|, | and )({names})(?=$|, | and )", lambda m: m[1] + shown[m[2]], subject)
    said = re.sub(rf"\b({names})=(?!True)", lambda m: f"{shown[m[1]]} ", said)
    said = re.sub(rf"\b({names})\b(?!=True)", lambda m: shown[m[1]] if "_" in m[1] else m[1], said)
    return place + colon + subject + said


def require(arguments: argparse.Namespace, names: Sequence[str], command: str = "release") -> None:
    """Raise argparse's error if one of these is missing."""
    missing = ", ".join(_shown(name) for name in names if not present(arguments, (name,)))
    if missing:
        hint = f"(help: discretegauss {command} --help)"
        raise ParameterValueError(f"the following arguments are required: {missing} {hint}")


def exclude(option: str, arguments: argparse.Namespace, names: Sequence[str], reason: str) -> None:
    """Raise an error if the user gave one of these with the option."""
    if found := present(arguments, names):
        raise ParameterValueError(f"{found[0]} must not be given with {option}: {reason}")


def file_name(text: str, rule: str = "") -> str:
    """Return the name of a file or ``-``; refuse ``-`` if there is a rule."""
    if not text or (text == "-" and rule):  # no text: an unset variable of a shell
        raise argparse.ArgumentTypeError(f"{rule or 'must name a file'}, got '{text}'")
    return text


plan_file = partial(file_name, rule="must name a file")


def _number(text: str, holds: Callable[[Fraction], bool], rule: str) -> Fraction:
    from .._inputs.numbers import exact_rational

    try:
        value = exact_rational(text, "value")
    except DiscreteGaussError:
        finite = "must be a finite number such as 0.1 or 1/3, and not too long"
        raise argparse.ArgumentTypeError(f"{finite}, got {describe(text)}") from None
    if not holds(value):
        raise argparse.ArgumentTypeError(f"{rule}, got {describe(text)}")
    return value


def whole_number(text: str) -> int:
    rule = "must be a whole number, at least 1"
    return int(_number(text, lambda x: x >= 1 and x.denominator == 1, rule))


NUMBER = partial(_number, holds=lambda x: True, rule="")
POSITIVE = partial(_number, holds=lambda x: x > 0, rule="must be positive")
NOT_NEGATIVE = partial(_number, holds=lambda x: x >= 0, rule="must not be negative")
FROM_1 = partial(_number, holds=lambda x: x >= 1, rule="must be at least 1")
PROBABILITY = partial(
    _number, holds=lambda x: 0 < x < 1, rule="must lie between 0 and 1, both excluded"
)


# --- the parser: its errors have one line, and its help is as narrow as the terminal


class _Once(argparse.Action):
    """An option with a value that may be given once, so that no second budget is ignored."""

    _is_set = False

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        if self._is_set:
            raise argparse.ArgumentError(self, "must be given only once")
        self._is_set = True
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """argparse's parser with errors of one line, even if the help cannot be printed.

    An option with a value must be given once and by its whole name. Commands use this class, too.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_HelpLayout, allow_abbrev=False, **options)
        self.register("action", None, _Once)  # the default of add_argument

    def parse_known_args(  # type: ignore[override]  # it has many signatures
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse. The command itself refuses unknown options, because its help lists the others."""
        known, others = super().parse_known_args(args, namespace)
        if others:
            options = [name.removeprefix("--") for name in self._option_string_actions]
            name = others[0].partition("=")[0].removeprefix("--").replace("-", "_")
            hint = hint_for(name, [option.replace("-", "_") for option in options])
            hint = re.sub(r"mean (\w+)", lambda m: f"mean --{m[1].replace('_', '-')}", hint)
            self.error(f"unrecognized arguments: {' '.join(others)}{hint}")
        return known, others

    def print_help(self, file: object = None) -> None:
        sys.exit(printed(self.format_help().rstrip("\n"), "the help could not be printed"))

    def error(self, message: str) -> NoReturn:
        sys.exit(fail(WRONG_INPUT, f"{message} (help: {self.prog} --help)"))


class _HelpLayout(argparse.HelpFormatter):
    """Wraps each line of a description by itself. Indented lines are commands.

    The lines of a wrapped command end with a backslash, so that it can still be copied.
    """

    def start_section(self, heading: str | None) -> None:
        super().start_section(heading and _filled(heading, self._width, "  "))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(_wrapped(line, width) for line in text.splitlines())

    def _format_usage(self, usage: str | None, *more: Any) -> str:
        text = super()._format_usage(usage, *more)
        if usage is None:  # wrapped by argparse
            return text
        lines = (_filled(line, self._width, " " * len("usage: ....")) for line in text.splitlines())
        return "\n".join(lines) + "\n\n"


def _wrapped(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    if line.startswith("- "):
        return _filled(line, width, "  ")
    if not indent:
        return _filled(line, width, "")
    return _filled(line, width - 2, 2 * indent + "  ").replace("\n", " \\\n")


def _filled(line: str, width: int, indent: str) -> str:
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


# --- output


def printed(
    text: str, failure: str, *, on_stderr: bool = False, is_budget_spent: bool = False
) -> int:
    """Print the text on stdout, or on stderr; return the exit code.

    If the reader has left, that is an error only if a budget is spent.
    """
    try:
        _print(text, sys.stderr if on_stderr else sys.stdout)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and not is_budget_spent:
            return UNREAD
        return fail(FAILED, f"{failure}: {error.strerror}")
    return 0


def fail(code: int, message: str) -> int:
    """Print the message as one line on stderr; return the code."""
    one_line = f"discretegauss: error: {printable(message)}"
    with contextlib.suppress(OSError):  # the exit code still says it
        _print(one_line, sys.stderr)
    return code


@contextlib.contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each PrivacyWarning of the block as one line on stderr, without a line of code."""

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if not issubclass(category, PrivacyWarning):
            usual(message, category, *place)
            return
        with contextlib.suppress(OSError):  # the report has the same sentence
            _print(f"discretegauss: warning: {message}", sys.stderr)

    with warnings.catch_warnings():
        usual, warnings.showwarning = warnings.showwarning, show  # type: ignore[assignment]
        warnings.simplefilter("always", PrivacyWarning)
        yield


def _print(text: str, stream: TextIO | None) -> None:
    """Print the text, even if the stream's encoding lacks a character of a file name."""
    if stream is None:  # it was closed before the process began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    encoding = stream.encoding or "utf-8"
    shown = f"{text}\n".encode(encoding, "backslashreplace")
    buffer = getattr(stream, "buffer", None)
    try:
        if isinstance(buffer, io.RawIOBase):  # python -u: print would ignore a short write
            write_all(buffer, shown)
        else:
            print(shown.decode(encoding), end="", file=stream, flush=True)
    except OSError:
        # At exit the interpreter would write the remaining text, and report the error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise
