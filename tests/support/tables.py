"""Tables of counts, and plans of them, in files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from discretegauss.data import flights

FLIGHTS = flights()
EXAMPLES = Path(__file__).parents[2] / "examples"


def copied_example(folder: Path) -> Path:
    """Copy the example plan and its tables to a folder; return the plan's path there."""
    for table in (FLIGHTS, *EXAMPLES.glob("flights*.csv")):
        (folder / table.name).write_bytes(table.read_bytes())
    plan = (EXAMPLES / "flights_plan.toml").read_text("utf-8")
    copy = folder / "flights_plan.toml"
    copy.write_text(plan.replace("../python/discretegauss/data/flights.csv", "flights.csv"))
    return copy


def rows_of(path: Path) -> list[list[str]]:
    """Return the cells of a CSV file, with its header."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def column(path: Path, name: str) -> list[int]:
    """Return the counts of a column."""
    header, *rows = rows_of(path)
    return [int(row[header.index(name)]) for row in rows]


def other_columns(path: Path, name: str) -> list[list[str]]:
    """Return the header and the rows without a column."""
    at = rows_of(path)[0].index(name)
    return [row[:at] + row[at + 1 :] for row in rows_of(path)]


def write_counts(path: Path, counts: Iterable[int]) -> None:
    """Write a table with the one column n."""
    path.write_text("n\n" + "".join(f"{count}\n" for count in counts))


def write_plan(folder: Path, start: str, *tables: Mapping[str, object]) -> Path:
    """Write a plan. Each table has these keys, and others for those that it lacks."""
    text = start + "\n"
    for i, table in enumerate(tables):
        keys = {"table": f"{i}.csv", "column": "n", "out": f"out{i}.csv", **table}
        text += "[[tables]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in keys.items())
    (folder / "plan.toml").write_text(text)
    return folder / "plan.toml"
