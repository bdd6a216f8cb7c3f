"""``discretegauss sample``: noise of a law, to a file or a pipe, in constant memory."""

from __future__ import annotations

import argparse
from typing import Any

from .options import (
    any_number_argument,
    argument_from_1,
    file_or_dash,
    positive_argument,
    whole_argument,
)

_HELP = """\
Draw from a law and write the draws to a file or to stdout.

examples:
  discretegauss sample --sigma2 100 --size 1000000000 --out noise.npy
  discretegauss sample --scale 5/2 --size 10 --out -
"""

_NOTES = """\
The name of FILE says what is written: .npy (int64), .parquet, .arrow or .csv (a column "noise"). \
.txt, a name without an ending, and stdout have a number on each line. \
Memory does not grow with N. Nothing of a file is left behind if it is not complete.
"""


def add_sample(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "sample",
        usage="%(prog)s (--sigma2 V | --sigma S | --scale T [--beta B]) --size N --out FILE "
        "[options]",
        help="draw noise to a file",
        description=_HELP,
        epilog=_NOTES,
    )
    parser.set_defaults(run=_run, needs="_cli.sample_file")
    law = parser.add_argument_group("law: one of --sigma2, --sigma and --scale")
    law.add_argument(
        "--sigma2", type=positive_argument, metavar="V", help="discrete Gaussian of this sigma2"
    )
    law.add_argument(
        "--sigma", type=positive_argument, metavar="S", help="discrete Gaussian, sigma2 = S squared"
    )
    law.add_argument(
        "--scale", type=positive_argument, metavar="T", help="discrete Laplace of this scale"
    )
    law.add_argument(
        "--beta",
        type=argument_from_1,
        metavar="B",
        help="with --scale: generalised Gaussian of this exponent, at least 1",
    )
    law.add_argument("--mu", type=any_number_argument, default=0, metavar="M", help="the centre")
    parser.add_argument(
        "--size", type=whole_argument, required=True, metavar="N", help="how many draws"
    )
    parser.add_argument(
        "--out", type=file_or_dash, required=True, metavar="FILE", help="where to; - is stdout"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument(
        "--source",
        choices=["getrandom", "chacha20"],
        default="getrandom",
        help="where bits come from (default %(default)s)",
    )
    parser.add_argument(
        "--threads",
        type=whole_argument,
        default=1,
        metavar="K",
        help="how many threads draw at most (default %(default)s)",
    )


def _run(arguments: argparse.Namespace) -> int:
    from .sample_file import write_sample

    return write_sample(arguments)
