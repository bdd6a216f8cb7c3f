#!/usr/bin/env python
"""Samples a second of every way to call the package, beside the peers that are installed.

    python benchmarks/throughput.py [--png FILE] [--json] [--quick]
    python benchmarks/throughput.py --developer [--json FILE] [--quick] [--seconds S] [--rounds N]
                                                [--only TEXT] [--bulk]

The first times one sample of the discrete Gaussian, from sigma = 1 to 10^100, in some 20 s of one
processor: samples a second of the processor, arrays of up to 10^5 draws a call, the median of three
interleaved rounds. The second measures the project's targets, and says which are met (targets.py).
See README.md in this folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import bench
from bench import machine, run
from discretegauss._system.progress import Progress
from options import json_file


def png_file(text: str) -> Path:
    """For ``--png``: a file that can be written and matplotlib that writes it."""
    if not text.lower().endswith(".png"):
        raise argparse.ArgumentTypeError(f"must end in .png, got {text!r}")
    try:
        bench.require_matplotlib()
    except ImportError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return json_file(text)


def main(argv: list[str]) -> int:
    """Measure, print, and draw the picture if one is asked for; or measure the targets."""
    if "--developer" in argv:
        import targets

        argv.remove("--developer")
        return targets.main(argv)
    parser = argparse.ArgumentParser(description="How fast it is on this machine.")
    parser.add_argument("--png", type=png_file, metavar="FILE", help="draw a picture there")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--quick", action="store_true", help="a look in seconds, no measurement")
    arguments = parser.parse_args(argv)
    contenders, missing = run.who_takes_part()
    description = machine.describe()
    steps, done = bench.all_steps(contenders), 0
    with Progress("measurements") as progress:

        def after() -> None:
            nonlocal done
            done += 1
            progress.update(done, done / steps)

        seconds = 0.015 if arguments.quick else 0.15
        measured, skipped = bench.measure_all(contenders, seconds=seconds, after=after)
    found = (measured, skipped, contenders, missing)
    if arguments.png is not None:
        bench.write_picture(arguments.png, measured, contenders)
    if arguments.json:
        head = {"benchmark": "bench", "quick": arguments.quick, "machine": description}
        print(json.dumps(head | bench.as_json(*found), indent=1))
    else:
        print(f"{description['cpu']}, {machine.load_now()}\n\n{bench.table_text(*found)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
