"""Print every broken sampler and every broken table, its bias, and what rejected it.

    python tests/support/broken_list.py           # a million draws of each, as in the default suite
    python tests/support/broken_list.py --slight  # those too that 30 million draws show

For a sampler the bias is its total variation distance from the law that it claims, over the draws
looked at, beside what a right sampler's would be on average; a fault between draws has none. For a
table it is said in words. Fails if one is not rejected.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np
from broken_cells import BROKEN_CELLS
from broken_samplers import BROKEN, SLIGHTLY_BROKEN, Control
from broken_tables import (
    ARC_CORRUPTIONS,
    CORRUPTIONS,
    CUBIC,
    SHAPE_CORRUPTIONS,
    SINGLE,
    WIDE,
    made_wrong,
    telling,
    with_arc,
)
from law_checks import count_cells, rejected

from discretegauss.verify import verify
from discretegauss.verify._table import Arc, Table, copy_out
from discretegauss.verify.proof import VerificationError

DRAWS = 1_000_000
MANY_DRAWS = 30_000_000
TABLES = [SINGLE, WIDE, CUBIC]


def distances(control: Control, n: int) -> tuple[float, float]:
    """Return the total variation distance of the draws, and a right sampler's on average."""
    table = control.claims()
    p = np.concatenate(([0.0], table.pmf, [0.0]))
    counts = count_cells(control.seeded(n), table)
    # E abs(count - n p) is about sqrt(2 n p (1 - p) / pi)
    right = np.sqrt(2 * p * (1 - p) / (np.pi * n)).sum() / 2
    return float(np.abs(counts / n - p).sum() / 2), float(right)


def show_samplers(controls: Sequence[Control], n: int) -> int:
    """Print samplers; return how many were not rejected."""
    n_missed = 0
    for control in controls:
        findings = rejected(control.seeded(n), control.claims())
        bias, right = distances(control, n)
        findings.sort(key=lambda finding: finding.p_value)
        n_missed += not findings
        said = "; ".join(map(str, findings[:3])) or "NOT REJECTED"
        more = f"; {len(findings) - 3} more" if len(findings) > 3 else ""
        print(f"{control.name}\n    bias {bias:.3%} (right: {right:.3%}); rejected by {said}{more}")
    return n_missed


def rejection(table: Table) -> str:
    """Return what the verifier says, or nothing."""
    try:
        verify(table)
    except VerificationError as error:
        return str(error)
    return ""


def show_table(name: str, bias: str, change: Callable[[Table], Table], tables: list[Table]) -> int:
    """Print one thing that is wrong with tables; return how many were not rejected."""
    said = [rejection(change(table)) for table in tables]
    example = said[0] if len(said[0]) < 90 else f"{said[0][:87]}..."
    verdict = f"the verifier, {sum(map(bool, said))} of {len(said)} tables"
    print(f"table: {name}\n    {bias}; rejected by {verdict}: {example}")
    return sum(not text for text in said)


def show_arc(name: str, bias: str, table: Table, i: int, change: Callable[[Arc], Arc]) -> int:
    """Print an arc that is wrong."""
    arc = change(table.arcs[i])
    return show_table(f"arc, {name}", bias, lambda whole: with_arc(whole, i, arc), [table])


def show_tables() -> int:
    """Print tables; return how many were not rejected."""
    tables = [copy_out(spec) for spec in TABLES]
    n_missed = sum(show_table(c.name, c.bias, c.change, tables) for c in CORRUPTIONS)
    for name, (bias, change) in ARC_CORRUPTIONS.items():
        i = random.Random(name).choice(telling(tables[0]))
        n_missed += show_arc(name, bias, tables[0], i, change)
    for name, (bias, change) in SHAPE_CORRUPTIONS.items():
        i = random.Random(name).choice(made_wrong(tables[1], change))
        n_missed += show_arc(name, bias, tables[1], i, change)
    return n_missed


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(description="Show what rejects each broken sampler and table.")
    parser.add_argument(
        "--slight", action="store_true", help="with 30 million draws each: a minute"
    )
    options = parser.parse_args()
    n_missed = show_samplers([*BROKEN, *BROKEN_CELLS], DRAWS)
    if options.slight:
        n_missed += show_samplers(SLIGHTLY_BROKEN, MANY_DRAWS)
    n_shown = len(BROKEN) + len(BROKEN_CELLS) + options.slight * len(SLIGHTLY_BROKEN)
    if find_spec("flint") is None or find_spec("discretegauss._native") is None:
        print("tables: not looked at; that needs python-flint and the compiled core")
    else:
        n_missed += show_tables()
        n_shown += len(CORRUPTIONS) + len(ARC_CORRUPTIONS) + len(SHAPE_CORRUPTIONS)
    print(f"{n_shown} broken on purpose, {n_missed} not rejected")
    return 1 if n_missed else 0


if __name__ == "__main__":
    sys.exit(main())
