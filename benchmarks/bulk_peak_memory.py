"""A process of its own that prints how far a table and one large fill raise its resident memory.

    python benchmarks/bulk_peak_memory.py SIGMA2 DRAWS THREADS (warm | cold)

"warm" builds and draws from a very small table first, so that the program's own code is resident;
"cold" counts that code, too. The kernel counts in steps of up to 128 KiB. Run by bulk_tables.py.
"""

from __future__ import annotations

import argparse
import ctypes
from fractions import Fraction
from pathlib import Path

import numpy as np
from parts import NativeTable

import tests_support  # noqa: F401
from discretegauss._drawing.fill import fill_array
from discretegauss._law import Kind, LawSpec
from options import positive_int


def peak() -> int:
    """The peak of the resident memory of this program so far, in bytes.

    Not getrusage's ru_maxrss: across fork and exec that begins at the size of the parent, and the
    benchmark that starts this program is larger than it will ever be.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        key, _, value = line.partition(":")
        if key == "VmHWM":
            return int(value.split()[0]) * 1024
    raise RuntimeError("the system does not tell the peak of the resident memory")


def _forget_the_past() -> None:
    """Give free memory back and begin the peak anew: else a small table's leavings hide growth."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def main() -> int:
    """Build, fill once, and print the growth of the peak in bytes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("sigma2", "draws", "threads"):
        parser.add_argument(name, type=positive_int)
    parser.add_argument("state", choices=("warm", "cold"))
    arguments = parser.parse_args()
    spec = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(arguments.sigma2))
    out = np.ones(arguments.draws, np.int64)  # ones: every page is there before the fill
    if arguments.state == "warm":
        fill_array(out[:64], NativeTable(spec, index_bits=8).fill, "chacha20", 1)
    _forget_the_past()
    before = peak()
    table = NativeTable(spec)
    fill_array(out, table.fill, "chacha20", arguments.threads)
    print(peak() - before)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
