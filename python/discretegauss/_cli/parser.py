"""The parser of the command line: errors of one line, and help as narrow as the terminal."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from .output import WRONG_INPUT, fail, printed


class _Once(argparse.Action):
    """An option with a value, given once: else the first of two columns would stay raw."""

    _given = False

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        if self._given:
            raise argparse.ArgumentError(self, "must be given only once")
        self._given = True
        setattr(namespace, self.dest, values)


class _Layout(argparse.HelpFormatter):
    """Lines of a description are paragraphs, wrapped each by itself; indented ones are commands.

    A command that is wrapped can be copied still: its lines end with a backslash.
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


class Parser(argparse.ArgumentParser):
    """argparse, but an error is one line, also if it is that the help cannot be printed.

    An option that has a value may be given once only, and by its whole name. Commands are of this
    class, too.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Layout, allow_abbrev=False, **options)
        self.register("action", None, _Once)  # what add_argument takes if nothing is said

    def parse_known_args(  # type: ignore[override]  # of many signatures
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse; what is not known is refused by the command, whose help has what is."""
        known, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return known, others

    def print_help(self, file: object = None) -> None:
        sys.exit(printed(self.format_help().rstrip("\n"), "the help could not be printed"))

    def error(self, message: str) -> NoReturn:
        sys.exit(fail(WRONG_INPUT, f"{message} (help: {self.prog} --help)"))
