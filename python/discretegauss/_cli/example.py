"""``discretegauss example``: a real table to try the other commands on."""

from __future__ import annotations

import argparse
from typing import Any

from .output import printed

_HELP = """\
Print a real table of counts: the flights that left New York City in 2013, by carrier, origin, \
destination and month.

examples:
  discretegauss example > flights.csv
  discretegauss release flights.csv --column flights --rho 0.1 --out noisy.csv
"""


def add_example(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "example", help="print a table of counts to try", description=_HELP
    )
    parser.set_defaults(run=_run, needs="data")


def _run(arguments: argparse.Namespace) -> int:
    from ..data import flights

    text = flights().read_text(encoding="ascii").removesuffix("\n")
    return printed(text, "the table could not be printed")
