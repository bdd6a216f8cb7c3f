"""What a release of a table costs, beside programs that add and write it without privacy.

    python benchmarks/tables.py                  # 10**6 rows, about a minute
    python benchmarks/tables.py --rows 10000000  # the targets; some ten minutes, 1 GB of disk
    python benchmarks/tables.py --only csv --json tables.json

Every contender is a process of its own, started anew in every round, one after the other. Time is
processor time, user and system; memory is the peak of the process. Ratios are
the medians over the rounds.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import options
from bench import machine

COLUMNS = 7

RELEASE = """
import sys
from discretegauss._cli import main
main(["release", sys.argv[1], "--column", "n", "--rho", "0.1", "--out", sys.argv[2], "--force"])
"""

POLARS = """
import sys, numpy as np, polars as pl
table, out = sys.argv[1:]
is_parquet = table.endswith(".parquet")
frame = pl.read_parquet(table) if is_parquet else pl.read_csv(table)
noise = np.rint(np.random.default_rng().normal(0, 5**0.5, len(frame))).astype(np.int64)
noisy = frame.with_columns(pl.Series("n", frame["n"].to_numpy() + noise))
noisy.write_parquet(out) if is_parquet else noisy.write_csv(out)
"""

ROUND_TRIP = """
import csv, sys
with open(sys.argv[1], newline="") as table, open(sys.argv[2], "w", newline="") as out:
    csv.writer(out).writerows(csv.reader(table))
"""

SAMPLE = """
import sys
from discretegauss._cli import main
main(["sample", "--sigma2", "100", "--size", sys.argv[1], "--out", sys.argv[2], "--force"])
"""

END = """
import os, resource
usage = resource.getrusage(resource.RUSAGE_SELF)
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
os.write(2, f"{usage.ru_utime + usage.ru_stime} {peak}".encode())
"""
"""The peak of this process alone: ru_maxrss may be that of the one which started it."""


@dataclass(frozen=True)
class Row:
    """One case: our cost, the peer's, and the target."""

    case: str
    seconds: float
    peer: str
    peer_seconds: float
    ratio: float
    at_most: float
    mebibytes: float
    mebibytes_at_most: float | None

    @property
    def met(self) -> bool:
        fits = self.mebibytes_at_most is None or self.mebibytes <= self.mebibytes_at_most
        return self.ratio <= self.at_most and fits


def cost(program: str, *arguments: object) -> tuple[float, float]:
    """Processor seconds and peak MiB of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program + END, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, peak = done.stderr.split()
    return float(seconds), float(peak) / 1024


def compare(
    case: str,
    ours: Callable[[], tuple[float, float]],
    peer: str,
    theirs: Callable[[], tuple[float, float]],
    at_most: float,
    *,
    rounds: int,
    mebibytes_at_most: float | None = None,
) -> Row:
    """Interleaved rounds, each beginning with the other one."""
    found: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for i in range(rounds):
        if i % 2:
            their_cost = theirs()
            found.append((ours(), their_cost))
        else:
            our_cost = ours()
            found.append((our_cost, theirs()))
    return Row(
        case=case,
        seconds=statistics.median(mine[0] for mine, _ in found),
        peer=peer,
        peer_seconds=statistics.median(other[0] for _, other in found),
        ratio=statistics.median(mine[0] / other[0] for mine, other in found),
        at_most=at_most,
        mebibytes=max(mine[1] for mine, _ in found),
        mebibytes_at_most=mebibytes_at_most,
    )


def write_tall(folder: Path, rows: int) -> None:
    """Seven columns: numbers, a name, the counts; as CSV and as Parquet."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    towns = np.array(["Springfield", "Shelbyville", "Ogdenville", "North Haverbrook"])
    frame = pl.DataFrame(
        {
            "id": rng.integers(0, 10**6, rows),
            "town": towns[rng.integers(0, 4, rows)],
            "class": rng.integers(0, 9, rows),
            "n": rng.integers(0, 5000, rows),
            "age": rng.integers(0, 100, rows),
            "code": rng.integers(0, 10**9, rows),
            "flag": rng.integers(0, 2, rows),
        }
    )
    frame.write_csv(folder / "tall.csv")
    frame.write_parquet(folder / "tall.parquet")


def write_quoted(folder: Path, rows: int) -> None:
    """Names with commas, quotes and letters beyond ASCII, every cell in quotes."""
    names = ["Springfield, IL", 'the "Heights"', "São Paulo", "plain"]
    chosen = random.Random(1)
    with (folder / "quoted.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["town", "n", "region", "share"])
        for _ in range(rows):
            row = [chosen.choice(names), chosen.randrange(5000), chosen.choice(names), 0.25]
            writer.writerow(row)


def write_wide(folder: Path, rows: int) -> None:
    """501 columns."""
    chosen = random.Random(1)
    with (folder / "wide.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["n", *(f"c{i}" for i in range(500))])
        for _ in range(rows):
            writer.writerow([chosen.randrange(5000), *chosen.choices(range(1000), k=500)])


def measured(arguments: argparse.Namespace, folder: Path) -> list[Row]:
    """All cases that were asked for."""
    rows, rounds, out = arguments.rows, arguments.rounds, folder / "out"

    def against(program: str, name: str) -> tuple[Callable[[], tuple[float, float]], ...]:
        ending = Path(name).suffix
        table, ours, theirs = folder / name, f"{out}{ending}", f"{out}-peer{ending}"
        return lambda: cost(RELEASE, table, ours), lambda: cost(program, table, theirs)

    found = []
    if {"csv", "parquet"} & arguments.only:
        write_tall(folder, rows)
    if "csv" in arguments.only:
        ours, theirs = against(POLARS, "tall.csv")
        case = f"CSV, {rows:,} x {COLUMNS}"
        found.append(
            compare(case, ours, "polars", theirs, 2.0, rounds=rounds, mebibytes_at_most=150)
        )
    if "parquet" in arguments.only:
        ours, theirs = against(POLARS, "tall.parquet")
        case = f"Parquet, {rows:,} x {COLUMNS}"
        found.append(
            compare(case, ours, "polars", theirs, 1.3, rounds=rounds, mebibytes_at_most=150)
        )
    if "quoted" in arguments.only:
        write_quoted(folder, rows)
        ours, theirs = against(ROUND_TRIP, "quoted.csv")
        case = f"CSV, quoted, {rows:,} x 4"
        found.append(compare(case, ours, "csv", theirs, 1.5, rounds=rounds))
    if "wide" in arguments.only:
        wide = min(rows, 20_000)
        write_wide(folder, wide)
        ours, theirs = against(ROUND_TRIP, "wide.csv")
        case = f"CSV, {wide:,} x 501"
        found.append(compare(case, ours, "csv", theirs, 1.5, rounds=rounds))
    if "sample" in arguments.only:
        draws = 10 * rows
        row = compare(
            f"sample to .npy, {draws:,}",
            lambda: cost(SAMPLE, draws, f"{out}.npy"),
            "sample of 1",
            lambda: cost(SAMPLE, 1, f"{out}-1.npy"),
            float("inf"),
            rounds=rounds,
            mebibytes_at_most=100,
        )
        found.append(row)
    return found


def text(rows: list[Row]) -> str:
    """The table for people."""
    head = (
        f"{'case':32} {'CPU s':>7} {'peer':>12} {'CPU s':>7} {'ratio':>6} {'target':>6} "
        f"{'MiB':>5} {'target':>6}  verdict"
    )
    lines = [head, "-" * len(head)]
    for row in rows:
        memory = "-" if row.mebibytes_at_most is None else f"{row.mebibytes_at_most:.0f}"
        target = "-" if row.at_most == float("inf") else f"{row.at_most:.2g}"
        lines.append(
            f"{row.case:32} {row.seconds:7.2f} {row.peer:>12} {row.peer_seconds:7.2f} "
            f"{row.ratio:6.2f} {target:>6} {row.mebibytes:5.0f} {memory:>6}  "
            f"{'met' if row.met else 'NOT MET'}"
        )
    return "\n".join(lines)


CASES = ("csv", "parquet", "quoted", "wide", "sample")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=options.positive_int, default=10**6, help="of the tables")
    parser.add_argument("--rounds", type=options.positive_int, default=5)
    parser.add_argument("--only", action="append", choices=CASES, help="only these cases")
    parser.add_argument("--json", type=options.json_file, help="write the figures to a file, too")
    arguments = parser.parse_args()
    arguments.only = set(arguments.only or CASES)
    os.environ.setdefault("POLARS_MAX_THREADS", str(os.cpu_count() or 1))
    print(f"{machine.cpu_model()}; {machine.load_now()}")
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(arguments, Path(folder))
    print(text(rows))
    if arguments.json:
        found = {"machine": machine.describe(), "rows": [asdict(row) for row in rows]}
        arguments.json.write_text(json.dumps(found, indent=1, default=str), encoding="utf-8")


if __name__ == "__main__":
    main()
