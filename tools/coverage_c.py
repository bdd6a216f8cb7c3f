"""Add up the lines of csrc/ that ran, over all builds that counted them.

    python tools/coverage_c.py DIRECTORY

Called by tools/coverage. Prints each file's share and the lines that never ran. Fails below 95 %
and at a line that never ran and is not in tools/unreached.txt; tells which explanations no line
needs.
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


def explained(file: Path) -> set[tuple[str, str]]:
    """Return the (file, text of a line) that need not run. A blank line and # end nothing."""
    found: set[tuple[str, str]] = set()
    name = ""
    for line in file.read_text().splitlines():
        if line.startswith("csrc/"):
            name = line.strip()
        elif line.startswith("    "):
            found.add((name, line.strip()))
    return found


def main() -> int:
    """Print the report; return the exit code."""
    runs: Counter[Place] = Counter()
    for place, count in counted(Path(sys.argv[1])):
        runs[place] += count
    if not runs:
        sys.exit("nothing was counted")
    reasons = explained(ROOT / "tools" / "unreached.txt")
    used: set[tuple[str, str]] = set()
    n_unexplained = 0
    never_entered = []
    for name in sorted({name for name, _ in runs}):
        text = (ROOT / name).read_text().splitlines()
        lines = sorted(n for file, n in runs if file == name)
        missed = [n for n in lines if runs[name, n] == 0]
        if missed == lines:
            never_entered.append(name)
        print(f"{name}: {100 * (1 - len(missed) / len(lines)):.1f} % of {len(lines)} lines")
        for n in missed:
            key = (name, text[n - 1].strip())
            used.add(key)
            if key not in reasons:
                n_unexplained += 1
            print(f"  {n:4}{' ' if key in reasons else '!'} {text[n - 1]}")
    share = 100 * sum(count > 0 for count in runs.values()) / len(runs)
    print(f"C core: {share:.2f} % of {len(runs)} lines, {n_unexplained} not explained")
    if never_entered:
        print(f"never entered: {', '.join(never_entered)}: a processor that has what they need?")
    idle = reasons - used
    for name, line in sorted(idle):
        print(f"tools/unreached.txt explains what is reached: {name}: {line}")
    return 1 if share < LEAST or n_unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
