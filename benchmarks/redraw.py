"""Draw docs/figures/bench.png anew from the table in README.md: nothing is measured.

python benchmarks/redraw.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bench import write_picture
from bench.contenders import Contender
from bench.contenders.base import always, never
from bench.run import EXPONENTS, Measured

HERE = Path(__file__).parent
UNITS = {"k": 1e3, "M": 1e6, "G": 1e9}


def rows() -> list[list[str]]:
    """Return the cells of the table's rows."""
    lines = (HERE / "README.md").read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| sigma = |")) + 2
    stop = lines.index("", start)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:stop]]


def rate(cell: str) -> float:
    """Return samples a second: "1.24 M" is 1.24e6."""
    number, _, unit = cell.partition(" ")
    return float(number) * UNITS.get(unit, 1)


def main(path: Path) -> None:
    """Draw."""
    contenders, measured = [], []
    for name, *cells, exact, secure in rows():
        promises: Any = {"secure": secure == "yes", "exact": always if exact == "yes" else never}
        contenders.append(Contender(name, prepare=lambda _case: lambda _n: None, **promises))
        measured += [
            Measured(name, exponent, rate(cell), ())
            for exponent, cell in zip(EXPONENTS, cells, strict=True)
            if cell != "-"
        ]
    write_picture(path, measured, contenders)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs/figures/bench.png")
