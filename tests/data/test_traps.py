"""docs/data.md is right about sums without `add_noise`, which avoids their faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discretegauss as dg

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
compute = pytest.importorskip("pyarrow.compute")

SPREAD = dg.DiscreteGaussian(10**30)
"""Of 200 draws two are equal with a probability below 10**-10."""


def cells(table: Any) -> list[int]:
    """All numbers of a column or table."""
    flat: list[int] = np.asarray(table).ravel().tolist()
    return flat


@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series])
def test_one_draw_added_is_the_same_on_every_row(kind: Callable[[Any], Any]) -> None:
    """Which nothing can stop; `add_noise` has a draw for each."""
    counts = kind([0] * 100)
    assert len(set(cells(counts + SPREAD.sample()))) == 1
    assert len(set(cells(dg.add_noise(counts, SPREAD)))) == 100


def test_a_column_of_draws_added_to_a_table_is_the_same_in_every_column() -> None:
    """Or, in pandas, a row of draws the same in every row; `add_noise` has one for each cell."""
    columns = {"a": [0] * 100, "b": [0] * 100}
    repeated: list[tuple[Any, Any]] = [
        (np.zeros((100, 2), int), lambda table: table + SPREAD.sample((100, 1))),
        (pd.DataFrame(columns), lambda table: table.add(SPREAD.sample(100), axis=0)),
        (pl.DataFrame(columns), lambda table: table + pl.Series(SPREAD.sample(100))),
    ]
    for table, wrong in repeated:
        assert len(set(cells(wrong(table)))) == 100
        assert len(set(cells(dg.add_noise(table, SPREAD)))) == 200
    assert len(set(cells(pd.DataFrame(columns) + SPREAD.sample(2)))) == 2


def test_sums_are_rounded_or_wrap_without_add_noise() -> None:
    """uint64 becomes floats in numpy and pandas, sums of int64 wrap in all four libraries."""
    draws = SPREAD.sample(1)
    assert (np.array([1], np.uint64) + draws).dtype == float
    assert (pd.Series([1], dtype="uint64") + draws).dtype == float
    assert dg.add_noise(np.array([1], np.uint64), SPREAD).dtype == np.int64
    assert dg.add_noise(pd.Series([1], dtype="uint64"), SPREAD).dtype == np.int64
    top, least = [2**63 - 1], -(2**63)
    assert (np.array(top) + np.array([1])).tolist() == [least]
    assert (pd.Series(top) + np.array([1])).tolist() == [least]
    assert (pl.Series(top) + pl.Series([1])).to_list() == [least]
    assert compute.add(pa.array(top), pa.array([1])).to_pylist() == [least]
    for values in (np.array(top), pd.Series(top), pl.Series(top), pa.array(top)):
        with pytest.raises(OverflowError, match="values with noise must fit int64"):
            dg.add_noise(values, SPREAD)
