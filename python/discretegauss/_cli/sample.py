"""``discretegauss sample``: noise of a law, to a file or a pipe, in constant memory."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._system.atomic_file import atomic_write
from ..errors import OutputError
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law
from ..release import Sink, arrow_file, checked_destination, column_text, unbuffered_stdout
from .options import (
    any_number_argument,
    argument_from_1,
    file_or_dash,
    positive_argument,
    whole_argument,
)
from .output import WRONG_INPUT, fail, printed

__all__ = ["add_sample"]

_CHUNK = 2**18
"""Draws at a time: their bytes and their text stay in the cache, or near."""

_HELP = """\
Draw from a law and write the draws to a file or to stdout.

examples:
  discretegauss sample --sigma2 100 --size 1000000000 --out noise.npy
  discretegauss sample --scale 5/2 --size 10 --out -
"""

_NOTES = """\
The name of FILE says what is written: .npy (int64), .parquet or .arrow (a column "noise"), .csv
(the same); anything else, and stdout, has a number on each line. Memory does not grow with N.
Nothing of a file is left behind if it is not complete.
"""

Append = Callable[[NDArray[Any]], None]
"""Writes the next draws."""


def add_sample(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "sample",
        usage="%(prog)s (--sigma2 V | --sigma S | --scale T [--beta B]) --size N --out FILE "
        "[options]",
        help="draw noise to a file",
        description=_HELP,
        epilog=_NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
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
    if (law := _law(arguments)) is None:
        return fail(
            WRONG_INPUT, "give one of --sigma2, --sigma and --scale, and --beta only with --scale"
        )
    chunks = law.stream(
        arguments.size,
        _CHUNK,
        progress=True,
        source=arguments.source,
        threads=arguments.threads,
    )
    if arguments.out is None:
        with unbuffered_stdout() as sink:
            for draws in chunks:
                sink(column_text(draws))
        return 0
    out = Path(arguments.out)
    destination = checked_destination(None, out, force=arguments.force)
    try:
        with (
            atomic_write(
                destination, replace=arguments.force, before_placing=arguments.hold_signals
            ) as sink,
            _appending(out, arguments.size, sink) as append,
        ):
            for draws in chunks:
                append(draws)
    except FileExistsError:  # since it was looked for
        raise OutputError(f"{out}: exists already; use --force to replace it") from None
    except ImportError as error:  # of what the format needs: it says what to do
        return fail(WRONG_INPUT, str(error))
    return printed(
        f"{arguments.size} draws of {law} are written to {out}",
        f"{out} is written, but that could not be printed",
    )


def _law(arguments: argparse.Namespace) -> Law | None:
    given = [arguments.sigma2, arguments.sigma, arguments.scale]
    if sum(value is not None for value in given) != 1:
        return None
    if arguments.scale is None:
        if arguments.beta is not None:
            return None
        return DiscreteGaussian(arguments.sigma2, arguments.mu, sigma=arguments.sigma)
    if arguments.beta is None:
        return DiscreteLaplace(arguments.scale, arguments.mu)
    return GeneralizedGaussian(arguments.scale, arguments.beta, arguments.mu)


def _appending(out: Path, size: int, sink: Sink) -> AbstractContextManager[Append]:
    ending = out.suffix.lower()
    if ending == ".npy":
        return _npy(sink, size)
    if ending in {".parquet", ".arrow"}:
        return arrow_file(sink, "noise", is_parquet=ending == ".parquet")
    return _text(sink, "noise\n" if ending == ".csv" else "")


@contextmanager
def _npy(sink: Sink, size: int) -> Iterator[Append]:
    """Write numpy's format, which has the number of values in its first bytes."""
    description = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({size},), }}"
    start = len(b"\x93NUMPY\x01\x00??")
    header = description.ljust(-(-(start + len(description) + 1) // 64) * 64 - start - 1) + "\n"
    sink(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    yield lambda draws: sink(np.asarray(draws, "<i8").data.cast("B"))


@contextmanager
def _text(sink: Sink, header: str) -> Iterator[Append]:
    sink(header.encode())
    yield lambda draws: sink(column_text(draws))
