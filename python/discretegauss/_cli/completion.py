"""Print a script that completes commands, options and files at the Tab key.

examples:
  discretegauss completion bash > ~/.local/share/bash-completion/completions/discretegauss
  discretegauss completion zsh > ~/.zsh/functions/_discretegauss
  discretegauss completion fish > ~/.config/fish/completions/discretegauss.fish

For zsh, the folder must be in fpath before compinit runs.
"""

from __future__ import annotations

import argparse

from .options import Command
from .output import printed

_NOTES = "It needs shtab, now and not later: pip install shtab."


def _run(arguments: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise ImportError("discretegauss completion needs shtab: pip install shtab") from None
    files = {"DIR": shtab.DIRECTORY} | dict.fromkeys(("FILE", "PLOT", "TABLE"), shtab.FILE)
    for action in _actions(arguments.whole):
        if action.metavar in files:
            action.complete = files[action.metavar]  # type: ignore[attr-defined]  # shtab's own
    return printed(
        shtab.complete(arguments.whole, arguments.shell), "the script could not be printed"
    )


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options and arguments of a parser and of its commands."""
    found = list(parser._actions)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                found += _actions(command)
    return found


COMPLETION = Command(
    "completion",
    "complete commands in bash, zsh or fish",
    _run,
    "_version",
    __doc__,
    _NOTES,
    options="shell  bash|zsh|fish  for which shell",
)
