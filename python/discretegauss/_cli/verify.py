"""``discretegauss verify``: python -m discretegauss.verify, by a name that is found in the help."""

from __future__ import annotations

import argparse
from typing import Any

from .options import whole_argument

_HELP = """\
Prove the tables of the compiled core right, by independent ball arithmetic.

examples:
  discretegauss verify --quick
  discretegauss verify --random 100
"""

_NOTES = """\
--quick draws from fixed bits instead, compares with what is published, and needs a second.
The proof takes minutes and needs python-flint: pip install python-flint.
Exit codes: 0 all right, 1 something is wrong or not proven, 2 wrong arguments or no python-flint, \
3 the results could not be written.
"""


def add_verify(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "verify",
        usage="%(prog)s [--quick | --random N]",
        help="check that what is installed is right",
        description=_HELP,
        epilog=_NOTES,
    )
    parser.set_defaults(run=_run, needs="verify")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--quick", action="store_true", help="that draws are as published, in a second"
    )
    which.add_argument(
        "--random", type=whole_argument, metavar="N", help="also prove N laws picked at random"
    )


def _run(arguments: argparse.Namespace) -> int:
    from ..verify.proof import main

    given = ["--quick"] if arguments.quick else []
    if arguments.random is not None:
        given = ["--random", str(arguments.random)]
    return main(given, "discretegauss verify")
