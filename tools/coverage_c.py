"""Add up the lines of csrc/ that ran, over all builds that counted them.

    python tools/coverage_c.py DIRECTORY

`nox -s coverage` calls it. It prints each file's share, and the lines that never ran. It fails
below 95 % of the lines of files that ran, or if a file never ran and its instructions are not ones
that this processor lacks.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST = 95.0

Place = tuple[str, int]


def counted(directory: Path) -> Iterator[tuple[Place, int]]:
    """Generate how often each line of csrc/ ran, once for each object file that has it."""
    for data in sorted(directory.rglob("*.gcda")):
        gcov = subprocess.run(
            ["gcov", "--json-format", "--stdout", data], capture_output=True, check=True, cwd=ROOT
        )
        for report in gcov.stdout.splitlines():
            for file in json.loads(report)["files"]:
                path = (ROOT / file["file"]).resolve()
                if path.is_relative_to(ROOT / "csrc"):
                    for line in file["lines"]:
                        place = (str(path.relative_to(ROOT)), line["line_number"])
                        yield place, line["count"]


def main() -> int:
    """Print the report; return the exit code."""
    runs: Counter[Place] = Counter()
    for place, count in counted(Path(sys.argv[1])):
        runs[place] += count
    if not runs:
        sys.exit("nothing was counted")
    n_lines = n_missed = 0
    never_entered = []
    for name in sorted({name for name, _ in runs}):
        text = (ROOT / name).read_text().splitlines()
        lines = sorted(n for file, n in runs if file == name)
        missed = [n for n in lines if runs[name, n] == 0]
        if missed == lines:
            never_entered.append(name)
            continue
        n_lines, n_missed = n_lines + len(lines), n_missed + len(missed)
        print(f"{name}: {100 * (1 - len(missed) / len(lines)):.1f} % of {len(lines)} lines")
        for n in missed:
            print(f"  {n:4} {text[n - 1]}")
    share = 100 * (1 - n_missed / n_lines)
    print(f"C core: {share:.2f} % of {n_lines} lines; never entered: {never_entered}")
    flags = Path("/proc/cpuinfo").read_text()
    unexpected = [name for name in never_entered if "avx512" not in name or "avx512_vbmi2" in flags]
    return 1 if share < LEAST or unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
