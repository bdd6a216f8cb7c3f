"""``discretegauss bench``: how fast it is here, beside the alternatives."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .._inputs.messages import describe, printable
from ..errors import ParameterValueError
from .output import printed

_PICTURE = "discretegauss_bench.png"

_HELP = """\
Time one sample of the discrete Gaussian, from sigma = 1 to 10^100.

It times this package in every way to call it, and the alternatives that are installed. It takes \
some 20 s of one processor, and longer by the clock if that has other work.

example:
  discretegauss bench --png speed.png
"""

_NOTES = """\
The table is samples a second of the processor, arrays of up to 10^5 draws a call, the median of \
three interleaved rounds. The picture needs matplotlib: pip install matplotlib.
Other work on the machine shows in the figures: compare within one run only.
"""


def add_bench(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bench",
        usage="%(prog)s [--png FILE | --no-png] [--json] [--quick]",
        help="how fast it is on this machine",
        description=_HELP,
        epilog=_NOTES,
    )
    parser.set_defaults(run=_run, needs="_bench")
    pictures = parser.add_mutually_exclusive_group()
    pictures.add_argument(
        "--png",
        metavar="FILE",
        default=_PICTURE,
        help=f"where the picture goes (default {_PICTURE}); replaced if it exists",
    )
    pictures.add_argument("--no-png", action="store_true", help="no picture")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--quick", action="store_true", help="a look in seconds, no measurement")


def _run(arguments: argparse.Namespace) -> int:
    from .. import _bench
    from .._bench import machine
    from .._bench.run import who_takes_part
    from .._system.progress import Progress

    picture, instead = Path(arguments.png), ""
    try:
        if not arguments.no_png:
            _bench.require_matplotlib()
            require_writable(picture)
    except ImportError as error:
        instead = str(error)
    contenders, missing = who_takes_part()
    description = machine.describe()
    steps, done = _bench.all_steps(contenders), 0
    with Progress("measurements") as progress:

        def after() -> None:
            nonlocal done
            done += 1
            progress.update(done, done / steps)

        seconds = 0.015 if arguments.quick else 0.15
        measured, skipped = _bench.measure_all(contenders, seconds=seconds, after=after)
    if not (arguments.no_png or instead):
        _bench.write_picture(picture, measured, contenders)
    found = (measured, skipped, contenders, missing)
    if arguments.json:
        document = {
            "benchmark": "bench",
            "quick": arguments.quick,
            "machine": description,
            **_bench.as_json(*found),
        }
        return printed(json.dumps(document, indent=1), "the result could not be printed")
    where = f"{description['cpu']}, {machine.load_now()}"
    lines = [where, "", _bench.table_text(*found)]
    if not arguments.no_png:
        lines += ["", instead or f"picture: {printable(str(picture))}"]
    return printed("\n".join(lines), "the result could not be printed")


def require_writable(path: Path) -> None:
    """Raise the error that writing there would raise, before minutes are spent."""
    if path.suffix.lower() != ".png":
        raise ParameterValueError(f"--png: must end in .png, got {describe(str(path))}")
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(path.parent))
