"""Print a real table of counts: the flights that left New York City in 2013, by carrier, origin, \
destination and month.

examples:
  discretegauss example > flights.csv
  discretegauss release flights.csv --column flights --rho 0.1 --out noisy.csv
"""

from __future__ import annotations

import argparse

from .options import Command
from .output import printed


def _run(arguments: argparse.Namespace) -> int:
    from ..data import flights

    text = flights().read_text(encoding="ascii").removesuffix("\n")
    return printed(text, "the table could not be printed")


EXAMPLE = Command("example", "print a table of counts to try", _run, "data", __doc__)
