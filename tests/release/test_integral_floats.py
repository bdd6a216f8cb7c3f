"""Counts that are whole numbers in floats, or texts such as 12.0, are taken if the user says so."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command

from discretegauss.errors import ParameterTypeError, TableError
from discretegauss.release import release_plan, release_table

pytestmark = pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")

NO_NOISE: dict[str, Any] = {"rho": 10**30, "force": True}
"""So narrow that the noise is 0, except with a probability below 2**-128."""

HINT = "--integral-floats (in Python: integral_floats=True) also takes 12.0"


@pytest.mark.parametrize(("ending", "d"), [("csv", ","), ("tsv", "\t"), ("csv.gz", ",")])
def test_text_with_points_becomes_integers(tmp_path: Path, ending: str, d: str) -> None:
    """A run of lines with and without points keeps its order; other columns stay as they are."""
    cells = ["71762776.0", "2", "-3.", "+4.000", '"5.0"', *map(str, range(200)), "7.0"]
    whole = [71762776, 2, -3, 4, 5, *range(200), 7]
    content = "".join(f"{i}.50{d}{x}\n" for i, x in enumerate(cells))
    table, out = tmp_path / f"t.{ending}", tmp_path / f"o.{ending}"
    opened: Any = gzip.open if ending.endswith("gz") else open
    with opened(table, "wt") as file:
        file.write(f"k{d}n\n{content}")
    with pytest.raises(TableError, match="line 2, column 'n': the cell is not a whole") as caught:
        release_table(table, "n", out, **NO_NOISE)
    assert HINT in str(caught.value)
    release_table(table, "n", out, integral_floats=True, **NO_NOISE)
    with opened(out, "rt") as file:
        assert file.read() == f"k{d}n\n" + "".join(f"{i}.50{d}{x}\n" for i, x in enumerate(whole))


@pytest.mark.parametrize("cell", ["12.5", "1e3", ".0", "1.0.0", "nan", "9007199254740994.0", "1,0"])
def test_other_texts_are_refused(tmp_path: Path, cell: str) -> None:
    (tmp_path / "t.csv").write_text(f'n\n1.0\n"{cell}"\n')
    with pytest.raises(TableError, match="line 3, column 'n': the c") as caught:
        release_table(tmp_path / "t.csv", "n", tmp_path / "o", integral_floats=True, rho=1)
    assert f"{cell}" not in str(caught.value).partition("line 3")[2]
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npy"])
@pytest.mark.parametrize("bad", [None, 1.5, float("inf"), 2.0**60])
def test_floats_of_other_formats(tmp_path: Path, ending: str, bad: float | None) -> None:
    """Whole ones become int64, and any other float is refused by its row and column."""
    numbers = [71762776.0, -3.0, 2.0 if bad is None else bad]
    table, out = tmp_path / f"t.{ending}", tmp_path / f"o.{ending}"
    column = "0" if ending == "npy" else "n"
    if ending == "npy":
        np.save(table, np.array(numbers))
        read: Any = np.load
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import feather, parquet

        frame = pa.table({"n": numbers})
        write, read = (
            (parquet.write_table, parquet.read_table)
            if ending == "parquet"
            else (feather.write_feather, feather.read_table)
        )
        write(frame, str(table))
    with pytest.raises(TableError) as caught:
        release_table(table, column, out, **NO_NOISE)
    assert HINT in str(caught.value)
    if bad is not None:
        with pytest.raises(TableError, match="whole number"):
            release_table(table, column, out, integral_floats=True, **NO_NOISE)
        return
    release_table(table, column, out, integral_floats=True, **NO_NOISE)
    noisy = read(out)
    noisy = noisy if ending == "npy" else noisy["n"].to_numpy()
    assert noisy.dtype == np.int64
    assert noisy.tolist() == [71762776, -3, 2]


def test_a_plan_and_the_command_take_the_option(tmp_path: Path, run: Command) -> None:
    (tmp_path / "t.csv").write_text("g,n\na,500.0\n")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'rho = 1000\n[[tables]]\ntable = "t.csv"\ncolumn = "n"\nout = "o.csv"\n'
        "integral_floats = true\n"
    )
    release_plan(plan)
    assert (tmp_path / "o.csv").read_text() == "g,n\na,500\n"
    how = ("release", tmp_path / "t.csv", "--column", "n", "--rho", 1000)
    refused = run(*how, "--out", tmp_path / "p.csv")
    assert (refused.code, HINT in refused.err) == (2, True)
    assert run(*how, "--out", tmp_path / "p.csv", "--integral-floats").code == 0
    assert (tmp_path / "p.csv").read_text() == "g,n\na,500\n"
    assert "must not be given" in run("release", "--plan", plan, "--integral-floats").err
    groups = ("release", tmp_path / "t.csv", "--column", "n", "--unknown-groups", "--epsilon", 1)
    more = ("--delta", "1e-6", "--integral-floats", "--out", tmp_path / "q.csv")
    assert run(*groups, *more).code == 0
    wrong: Any = 1
    with pytest.raises(ParameterTypeError, match="integral_floats must be True or False"):
        release_table(tmp_path / "t.csv", "n", tmp_path / "r", rho=1, integral_floats=wrong)
