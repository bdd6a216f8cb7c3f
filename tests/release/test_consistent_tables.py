"""Tables of a plan that add up are written beside the noisy ones, as CSV."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss.errors import OutputError, ParameterValueError
from discretegauss.release._consistent import ConsistentTables

LAW = dg.DiscreteGaussian(5)
STATES = (["state"], [("N",), ("S, T",)], [1298, 5533])
TOWNS = (["town", "state"], [("a", "N"), ("b", "N"), ("c", "S, T")], [1204, 87, 5530])


def planned(names: list[str], *columns: str) -> Any:
    return [SimpleNamespace(out=Path(name), columns=columns) for name in names]


def written(
    folder: Path, tables: list[Any], names: list[str], *, force: bool = False
) -> tuple[float, ...]:
    collected = ConsistentTables(folder, planned(names, "n"), None, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    for labels, cells, counts in tables:
        release: Any = SimpleNamespace(law=LAW)
        rows = collected.next_table(release, labels)
        for cell, count in zip(cells, counts, strict=True):  # chunks of one row
            chunk: Any = SimpleNamespace(other_cells=lambda cell=cell: [cell])
            rows.add(chunk, [np.array([count])])
    gains = collected.write()
    for file in collected.files:
        file.place()
    assert [file.path for file in collected.files] == [path for path, _ in gains]
    return tuple(gain for _, gain in gains)


def test_the_files_are_what_consistent_returns(tmp_path: Path) -> None:
    """The columns keep their order, and each file comes with its gain in variance."""
    folder = tmp_path / "new" / "out"
    gains = written(folder, [TOWNS, STATES], ["towns_noisy.csv.gz", "states.parquet"])
    with open(folder / "towns_noisy.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    expected = dg.estimate.consistent(
        [
            {"town": ["a", "b", "c"], "state": ["N", "N", "S"], "n": TOWNS[2]},
            {"state": ["N", "S"], "n": STATES[2]},
        ],
        LAW,
        "n",
    )
    assert rows[0] == ["town", "state", "n", "error"]
    assert [float(row[2]) for row in rows[1:]] == expected[0]["n"]
    assert [float(row[3]) for row in rows[1:]] == expected[0]["error"]
    assert rows[3][1] == "S, T"
    assert gains[1] == pytest.approx(LAW.var() / np.mean(np.square(expected[1]["error"])))
    with pytest.raises(OutputError, match="exists"):
        written(folder, [TOWNS, STATES], ["towns_noisy.csv.gz", "states.parquet"])
    written(folder, [TOWNS, STATES], ["towns_noisy.csv.gz", "states.parquet"], force=True)


def test_what_is_wrong_is_refused(tmp_path: Path) -> None:
    """Two columns of counts are refused, and so are two files of one name."""
    with pytest.raises(ParameterValueError, match="one column"):
        ConsistentTables(tmp_path, planned(["a.csv"], "n", "m"), None, force=False)
    with pytest.raises(OutputError, match=r"a\.csv"):
        ConsistentTables(tmp_path, planned(["a.csv", "b/a.tsv"], "n"), None, force=False)
