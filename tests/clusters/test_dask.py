"""discretegauss.dask: one draw for each cell, written once, whatever fails meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discretegauss as dg

pytest.importorskip("distributed")
pytest.importorskip("zarr")
pd = pytest.importorskip("pandas")

dask = pytest.importorskip("dask")
pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")
dg_dask = dg.dask

LAW = dg.DiscreteGaussian(100)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Any]:
    """Two workers with processes of their own."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as made,
        Client(made) as client,
    ):
        yield client


def _follows_the_law(noise: Any) -> None:
    edges = np.arange(-30, 31, 4)
    probabilities = np.diff(LAW.cdf(edges), prepend=0, append=0)
    probabilities[-1] = LAW.sf(edges[-1])
    seen = np.bincount(np.searchsorted(edges, noise.ravel()), minlength=len(probabilities))
    assert stats.chisquare(seen, probabilities * noise.size).pvalue > 1e-7


def test_equal_blocks_have_noise_of_their_own_and_keep_it(tmp_path: Path) -> None:
    zeros = dask.array.zeros((400, 100), chunks=(50, 100), dtype=np.int64)
    noisy = dg_dask.add_noise(zeros, LAW, path=tmp_path / "noisy")
    noise = noisy.compute()
    _follows_the_law(noise)
    assert len({block.tobytes() for block in np.split(noise, 8)}) == 8
    assert (noisy.compute() == noise).all()
    again = dg_dask.add_noise(zeros, LAW, path=tmp_path / "again").compute()
    assert (again != noise).any()


def test_frames_keep_rows_index_and_nulls(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"n": pd.array([None, *range(999)], "Int64"), "name": ["x"] * 1000},
        index=np.arange(1000) + 5,
    )
    frame = dask.dataframe.from_pandas(table, npartitions=10)
    noisy = dg_dask.add_noise(frame, LAW, columns="n", path=tmp_path / "noisy")
    found = noisy.compute()
    assert found.index.tolist() == table.index.tolist()
    assert found["name"].tolist() == table["name"].tolist()
    assert found["n"].isna().tolist() == table["n"].isna().tolist()
    assert noisy["n"].sum().compute() == noisy["n"].sum().compute()
    noise = (found["n"] - table["n"]).dropna().to_numpy(np.int64)
    assert 70 < noise.var() < 140


def _dies_first(block: Any, marks: str) -> Any:
    """The worker that sees a block first ends with it."""
    mark = Path(marks, str(int(block[0, 0])))
    if not mark.exists():
        mark.touch()
        os._exit(1)
    return block


def test_a_killed_workers_noise_is_not_published(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    numbers = np.repeat(np.arange(4), 100)[:, np.newaxis] * 1000 + np.zeros(100, np.int64)
    blocks = dask.array.from_array(numbers, chunks=(100, 100))
    dying = blocks.map_blocks(_dies_first, marks=str(marks), dtype=np.int64)
    found = dg_dask.add_noise(dying, LAW, path=tmp_path / "noisy").compute()
    _follows_the_law(found - numbers)
    assert [path.name for path in tmp_path.iterdir() if path.name != "marks"] == ["noisy"]


def test_refusals_leave_nothing(tmp_path: Path) -> None:
    zeros = dask.array.zeros(10, chunks=5, dtype=np.int64)
    with pytest.raises(TypeError, match=r"path must name where .* draws other noise each time"):
        dg_dask.add_noise(zeros, LAW)
    with pytest.raises(TypeError, match="source must be 'getrandom' or 'chacha20' here"):
        dg_dask.add_noise(zeros, LAW, path=tmp_path / "a", source=lambda buffer: None)
    with pytest.raises(TypeError, match="float64"):
        dg_dask.add_noise(zeros.astype(float), LAW, path=tmp_path / "a")
    dg_dask.add_noise(zeros, LAW, path=tmp_path / "kept")
    with pytest.raises(dg.errors.OutputError, match="path must name what is not there yet"):
        dg_dask.add_noise(zeros, LAW, path=tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
