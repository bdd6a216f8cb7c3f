"""The recipes of docs/elsewhere/clusters.md run as they stand there, and its warnings are true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from law_checks import gaussian_table, rejected

import discretegauss as dg

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.cluster

PAGE = Path(__file__).resolve().parents[2] / "docs" / "elsewhere" / "clusters.md"
LAW = dg.DiscreteGaussian(5)
"""The variance for rho = 0.1 and sensitivity 1."""
ROWS = 20_000


@pytest.fixture(autouse=True)
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write the page's table into the current folder."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"town": [f"t{i}" for i in range(ROWS)], "people": range(ROWS)})
    parquet.write_table(table, "counts.parquet")
    return table


def _run(heading: str) -> dict[str, Any]:
    """Run the only recipe below a heading, and return its names."""
    section = PAGE.read_text(encoding="utf-8").split(f"### {heading}\n")[1].split("\n##")[0]
    (block,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, f"{PAGE.name}: {heading}", "exec"), names)  # noqa: S102  # the page's own code
    return names


def _is_a_release(read: Callable[[], Any], counts: Any) -> None:
    """Check that each read returns what was written, and that its noise follows the law."""
    written = parquet.read_table("noisy.parquet")
    assert written["town"].to_pylist() == counts["town"].to_pylist()
    assert read() == read() == written["people"].to_pylist()
    noise = np.array(read()) - np.arange(ROWS)
    assert rejected(noise, gaussian_table(Fraction(5))) == []


@pytest.mark.filterwarnings("default")  # of Dask and its libraries
def test_dask(counts: Any) -> None:
    pytest.importorskip("dask.dataframe")
    noisy = _run("Dask")["noisy"]["people"]
    _is_a_release(lambda: list(noisy.compute()), counts)


def test_polars(counts: Any) -> None:
    pytest.importorskip("polars")
    noisy = _run("polars, lazy")["noisy"]
    _is_a_release(lambda: noisy.collect().to_dict(as_series=False)["people"], counts)


def test_polars_draws_again_at_every_collect() -> None:
    pl = pytest.importorskip("polars")
    lazy = pl.scan_parquet("counts.parquet").select("people")
    wrong = lazy.map_batches(lambda frame: dg.add_noise(frame, LAW))
    assert not wrong.collect().equals(wrong.collect())


def test_duckdb(counts: Any) -> None:
    pytest.importorskip("duckdb")
    noisy = _run("DuckDB")["noisy"]
    _is_a_release(lambda: [row[0] for row in noisy.project("people").fetchall()], counts)


def test_duckdb_draws_once_for_all_rows_or_once_more_for_each_reader() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()

    def draw(x: int) -> int:
        return LAW.sample()

    connection.create_function("noise", draw, ["BIGINT"], "BIGINT")
    differences = connection.sql("select distinct noise(0) from 'counts.parquet'").fetchall()
    assert len(differences) == 1
    connection.create_function("each", draw, ["BIGINT"], "BIGINT", side_effects=True)
    connection.sql("create view v as select people + each(0) as n from 'counts.parquet'")
    ((one, other),) = connection.sql(
        "select (select list(n) from v), (select list(n) from v where true)"
    ).fetchall()
    assert one != other


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Start Ray on this machine, with two tasks at once."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.mark.usefixtures("ray")
def test_ray(counts: Any) -> None:
    noisy = _run("Ray")["noisy"]
    _is_a_release(lambda: noisy.to_pydict()["people"], counts)


def test_ray_draws_again_for_a_task_that_is_tried_again(ray: Any, tmp_path: Path) -> None:
    def wrong(folder: Path) -> None:
        import os

        attempt = len(list(folder.glob("drawn*")))
        LAW.sample(20).tofile(folder / f"drawn{attempt}")
        if attempt == 0:
            os._exit(1)

    ray.get(ray.remote(wrong).remote(tmp_path))
    drawn = {file.read_bytes() for file in tmp_path.glob("drawn*")}
    assert len(drawn) == 2
