"""A file gets the noise that the same table in memory gets."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss.errors import DiscreteGaussError, TableError
from discretegauss.release import release_table
from discretegauss.testing import TapeSource

pa = pytest.importorskip("pyarrow")

LAW = dg.DiscreteGaussian(20)


def tape() -> TapeSource:
    return TapeSource(random.Random(5).randbytes(2**20))


def table() -> Any:
    whole = pa.array([Decimal(10**30), Decimal(-3), None, Decimal(0)], pa.decimal128(38, 0))
    return pa.table(
        {
            "town": ["a", "b", None, "d"],
            "small": pa.array([1, None, 3, -4], pa.int8()),
            "wide": pa.array([1, 2, 2**62, None], pa.uint64()),
            "decimal": whole,
            "coded": pa.array([5, 6, None, 5]).dictionary_encode(),
        },
        metadata={b"a": b"b"},
    )


COUNTS = ["small", "wide", "decimal", "coded"]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_file_of_arrow_is_what_its_table_becomes(tmp_path: Path, name: str) -> None:
    """Values, types, nulls and metadata agree, also for decimals and dictionaries."""
    from pyarrow import feather, parquet

    write, read = parquet.write_table, parquet.read_table
    if name == "t.arrow":
        write, read = feather.write_feather, feather.read_table
    write(table(), str(tmp_path / name))
    release_table(tmp_path / name, COUNTS, tmp_path / f"o_{name}", rho="0.1", source=tape())
    noisy = dg.add_noise(table(), LAW, columns=COUNTS, source=tape())
    assert read(tmp_path / f"o_{name}").equals(noisy, check_metadata=True)


def test_text_and_arrays_get_the_noise_of_lists_and_arrays(tmp_path: Path) -> None:
    """They agree column by column. Noisy counts in text may have any size."""
    counts = [[5, 7, 2**63 - 1], [1, 2, 3]]
    (tmp_path / "t.csv").write_text(
        "n,m\n" + "".join(f"{n},{m}\n" for n, m in zip(*counts, strict=True))
    )
    law, source = dg.DiscreteGaussian(10), tape()
    noisy = [dg.add_noise(column, law, source=source) for column in counts]
    release_table(tmp_path / "t.csv", ["n", "m"], tmp_path / "o.csv", rho="0.1", source=tape())
    lines = (tmp_path / "o.csv").read_text().splitlines()[1:]
    assert [list(map(int, line.split(","))) for line in lines] == list(
        map(list, zip(*noisy, strict=True))
    )
    array = np.array(counts, np.uint64).T[:2]
    np.save(tmp_path / "t.npy", array)
    source = tape()
    columns = [dg.add_noise(column, law, source=source) for column in array.T]
    release_table(tmp_path / "t.npy", ["0", "1"], tmp_path / "o.npy", rho="0.1", source=tape())
    assert (np.load(tmp_path / "o.npy") == np.column_stack(columns)).all()


@pytest.mark.parametrize(
    "column",
    [
        pa.array([2**63 - 1, 5]),
        pa.array([2**64 - 1], pa.uint64()),
        pa.array([2**63 - 1]).dictionary_encode(),
        pa.array([Decimal("0.5")], pa.decimal128(5, 1)),
        pa.array([1.0]),
        pa.array([True]),
        pa.array(["1"]).dictionary_encode(),
    ],
)
def test_what_a_frame_refuses_a_file_refuses_before_anything_is_drawn(
    tmp_path: Path, column: Any
) -> None:
    """The tape is empty, so a draw would raise another error."""
    from pyarrow import parquet

    parquet.write_table(pa.table({"n": column}), tmp_path / "t.parquet")
    none = TapeSource(b"")
    with pytest.raises(TableError):
        release_table(tmp_path / "t.parquet", "n", tmp_path / "o.parquet", rho="0.1", source=none)
    with pytest.raises(DiscreteGaussError):
        dg.add_noise(column, LAW, source=none)
    assert not (tmp_path / "o.parquet").exists()
