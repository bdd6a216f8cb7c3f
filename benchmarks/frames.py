#!/usr/bin/env python
"""How many Python functions a release of a small table calls, for a budget not met before.

    python benchmarks/frames.py

Calls of the package's own functions, by folder, and of all others: a number that no load changes.
"""

from __future__ import annotations

import collections
import gc
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import discretegauss
from discretegauss.release import release_table

PACKAGE = Path(discretegauss.__file__).parent
BUDGETS: dict[str, list[dict[str, Any]]] = {
    "rho": [{"rho": "0.7"}, {"rho": "0.1"}],
    "epsilon, delta": [{"epsilon": 2, "delta": "1e-5"}, {"epsilon": 1, "delta": "1e-6"}],
}


def frames(folder: Path, **budget: Any) -> collections.Counter[str]:
    """Count the calls of a release and its report, by where the functions stand."""
    found: collections.Counter[str] = collections.Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            file = Path(frame.f_code.co_filename)
            ours = file.is_relative_to(PACKAGE)
            found[file.relative_to(PACKAGE).parts[0] if ours else "others"] += 1

    sys.setprofile(count)
    try:
        str(release_table(folder / "table.csv", "n", folder / "noisy.csv", force=True, **budget))
    finally:
        sys.setprofile(None)
    return found


def main() -> int:
    """Print the counts, each after a release with another budget."""
    gc.disable()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "table.csv").write_text("g,n\n" + "".join(f"x{i},{7 * i}\n" for i in range(20)))
        for title, (before, budget) in BUDGETS.items():
            frames(folder, **before)
            found = frames(folder, **budget)
            others = found.pop("others")
            print(f"{title}: {found.total()} of the package, {others} of others")
            print("  ", ", ".join(f"{where} {n}" for where, n in found.most_common()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
