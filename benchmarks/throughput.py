#!/usr/bin/env python
"""Samples a second of every way to call the package, beside the peers that are installed.

    python benchmarks/throughput.py [--png FILE | --no-png] [--json] [--quick]
    python benchmarks/throughput.py --developer [--json FILE] [--quick] [--seconds S] [--rounds N]
                                                [--only TEXT] [--bulk]

The first is ``discretegauss bench``. The second measures the project's targets, and says which are
met (targets.py). See README.md in this folder.
"""

from __future__ import annotations

import sys


def main(argv: list[str]) -> int:
    """Run the command of the package, or the targets."""
    if "--developer" in argv:
        import targets

        argv.remove("--developer")
        return targets.main(argv)
    from discretegauss._cli import entry

    return entry.main(["bench", *argv])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
