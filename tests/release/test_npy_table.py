"""Arrays of numpy: counts get exact noise, other data stays, and no error shows a value."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from same_bits import same_bits

import discretegauss as dg
from discretegauss.errors import OutputError, TableError
from discretegauss.release import release_table
from discretegauss.testing import TapeSource

SECRET = 31337


def released(folder: Path, array: Any, *columns: str, rho: str = "0.1") -> Any:
    """Return the released array, with draws that can be repeated."""
    np.save(folder / "t.npy", array)
    how: dict[str, Any] = {"rho": rho, "source": same_bits(), "force": True}
    release_table(folder / "t.npy", columns, folder / "o.npy", **how)
    return np.load(folder / "o.npy")


def draws(n: int, at_once: int, sigma2: int = 5) -> list[int]:
    source, law = same_bits(), dg.DiscreteGaussian(sigma2)
    parts = [min(at_once, n - start) for start in range(0, n, at_once)]
    return [int(x) for part in parts for x in law.sample(part, source=source)]


@pytest.mark.parametrize("dtype", ["i1", "u2", "<i8", ">i8", ">u4", "u8"])
def test_an_array_of_one_axis_has_the_column_0(
    tmp_path: Path, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each count gets one draw, some rows at a time."""
    monkeypatch.setattr("discretegauss.release._npy_table._CHUNK", 80)
    counts = np.arange(100).astype(dtype)
    noisy = released(tmp_path, counts, "0")
    assert noisy.dtype == np.dtype("<i8")
    expected = np.arange(100) + draws(100, 80 // counts.itemsize)
    assert noisy.tolist() == expected.tolist()


def test_columns_of_an_array_are_numbered_and_those_of_records_named(tmp_path: Path) -> None:
    """The other columns stay, and each column that shares the budget has its own draws."""
    table = np.arange(30, dtype=np.int16).reshape(10, 3)
    noisy = released(tmp_path, table, "2", "0", rho="0.2")
    assert noisy[:, 1].tolist() == table[:, 1].tolist()
    assert (noisy[:, [0, 2]] - table[:, [0, 2]]).T.ravel().tolist() == draws(20, 10)
    towns = [("town", "U3"), ("n", ">u2"), ("share", "f4", (2,))]
    records = np.array([("a", 3, 0.5), ("b", 4, 1.5)], towns)
    noisy = released(tmp_path, records, "n")
    assert noisy.dtype == np.dtype([towns[0], ("n", "<i8"), towns[2]])
    assert noisy["n"].tolist() == (records["n"] + np.array(draws(2, 2))).tolist()
    assert noisy["town"].tolist() == ["a", "b"]
    assert (noisy["share"] == records["share"]).all()


def test_numbers_of_other_columns_never_wrap(tmp_path: Path) -> None:
    """The last number that fits int64 is kept; one more is refused; a field keeps its type."""
    kept = np.array([[3, 2**63 - 1]], np.uint64)
    assert released(tmp_path, kept, "0")[:, 1].tolist() == [2**63 - 1]
    (tmp_path / "o.npy").unlink()
    with pytest.raises(TableError, match=r"rows 1 to 1, column '1': a number does not fit int64"):
        released(tmp_path, np.array([[3, 2**63]], np.uint64), "0")
    assert os.listdir(tmp_path) == ["t.npy"]
    records = np.array([(3, 2**63 + 5)], [("n", "u8"), ("other", "u8")])
    assert released(tmp_path, records, "n")["other"].tolist() == [2**63 + 5]


@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_an_array_may_be_compressed(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "t.npy.gz", "wb") as file:
        np.save(file, np.arange(1000))
    release_table(tmp_path / "t.npy.gz", "0", tmp_path / "o.npy.gz", rho="1e9")
    with gzip.open(tmp_path / "o.npy.gz") as file:
        assert np.load(file).tolist() == list(range(1000))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([SECRET + 0.5]), "column '0' must have integers, got type float64"),
        (np.array([str(SECRET)]), "column '0' must have integers, got type <U5"),
        (np.array([True]), "column '0' must have integers, got type bool"),
        (np.array([SECRET], object), "the array must have integers, got Python objects"),
        (
            np.full((2, 2, 2), SECRET),
            "the array must have one axis or two, for rows and columns, got 3",
        ),
        (np.array(SECRET), "the array must have one axis or two, for rows and columns, got 0"),
        (np.full((9, 9), SECRET, order="F"), "the array is stored column by column"),
        (np.array([(SECRET,)], [("n", int)]), "the table has no column '0' (1 column)"),
        (np.zeros(0, int), "the file has a header but no rows"),
        (
            np.full(3, 2**64 - 1, np.uint64),
            "rows 1 to 3, column '0': noisy counts must fit",
        ),
    ],
)
def test_what_is_no_table_of_counts_is_refused(tmp_path: Path, array: Any, message: str) -> None:
    with pytest.raises(TableError) as caught:
        released(tmp_path, array, "0")
    assert message in str(caught.value)
    assert str(SECRET) not in str(caught.value)
    assert os.listdir(tmp_path) == ["t.npy"]


def test_whether_noise_fits_is_decided_before_anything_is_drawn(tmp_path: Path) -> None:
    """The counts and the law alone decide it, for a count anywhere in the array."""
    counts = np.zeros(10**6, np.int64)  # several chunks
    counts[-1] = 2**63 - 1
    np.save(tmp_path / "t.npy", counts)
    drawn = TapeSource(b"")  # the source fails at any draw
    message = r"rows 917505 to 1000000, column '0': noisy counts must fit int64"
    with pytest.raises(TableError, match=message):
        release_table(tmp_path / "t.npy", "0", tmp_path / "o.npy", rho="0.1", source=drawn)
    assert os.listdir(tmp_path) == ["t.npy"]
    counts[-1] = 2**63 - 1 - 60  # 27 standard deviations
    np.save(tmp_path / "t.npy", counts)
    release_table(tmp_path / "t.npy", "0", tmp_path / "o.npy", rho="0.1")


def test_a_damaged_array_is_refused(tmp_path: Path) -> None:
    """An array that is cut off anywhere is refused, and so is a file of another kind."""
    path = tmp_path / "t.npy"
    np.save(path, np.arange(1000) + SECRET)
    whole = path.read_bytes()
    for data in (b"", b"n\n31337\n", whole[:5], whole[:50], whole[:200], whole[:-1]):
        path.write_bytes(data)
        with pytest.raises(TableError, match=r"is not an array|is cut off"):
            release_table(path, "0", tmp_path / "o", rho=1)
        assert os.listdir(tmp_path) == ["t.npy"]


def test_an_array_is_not_written_as_text_nor_parquet_as_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.arange(3))
    for name, kind in (("o.csv", "text"), ("o.parquet", "Parquet")):
        with pytest.raises(OutputError, match=rf"a table in \.npy cannot be written as {kind}"):
            release_table(tmp_path / "t.npy", "0", tmp_path / name, rho=1)
    (tmp_path / "t.csv").write_text("n\n1\n")
    with pytest.raises(OutputError, match=r"a table in text cannot be written as \.npy"):
        release_table(tmp_path / "t.csv", "n", tmp_path / "o.npy", rho=1)
