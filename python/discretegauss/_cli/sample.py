"""Draw from a law and write the draws to a file or to stdout.

examples:
  discretegauss sample --sigma2 100 --size 1000000000 --out noise.npy
  discretegauss sample --scale 5/2 --size 10 --out -
"""

from __future__ import annotations

import argparse

from .options import Command

_NOTES = """\
The name of FILE says what is written: .npy (int64), .parquet, .arrow or .csv (a column "noise"). \
.txt, a name without an ending, and stdout have a number on each line. \
Memory does not grow with N. Nothing of a file is left behind if it is not complete.
"""


_OPTIONS = """
--size N  whole, needed  how many draws
--out FILE  file or -, needed  where to; - is stdout
--force  flag  replace FILE if it exists
--source  chacha20|getrandom  where bits come from (default chacha20)
--threads K  whole  how many threads draw at most (default 1)
law: one of --sigma2, --sigma and --scale
--sigma2 V  positive  discrete Gaussian of this sigma2
--sigma S  positive  discrete Gaussian, sigma2 = S squared
--scale T  positive  discrete Laplace of this scale
--beta B  from 1  with --scale: generalised Gaussian of this exponent, at least 1
--mu M  number  the centre
"""


def _run(arguments: argparse.Namespace) -> int:
    from .sample_file import write_sample

    return write_sample(arguments)


SAMPLE = Command(
    "sample",
    "draw noise to a file",
    _run,
    "_cli.sample_file",
    __doc__,
    _NOTES,
    "%(prog)s (--sigma2 V | --sigma S | --scale T [--beta B]) --size N --out FILE [options]",
    _OPTIONS,
)
