"""The noise of a cluster's tasks, without a cluster: its law, its source, and what they write."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from recorded_noise import not_twice
from same_bits import same_bits

import discretegauss as dg
from discretegauss import spark
from discretegauss.data.addition import AddOptions
from discretegauss.spark import TaskNoise, noise_of_tasks

EMPTY = np.empty((0, 3), np.uint16)
NONE = dg.DiscreteGaussian("1/1000")
"""A draw is not 0 with a probability of some exp(-500)."""


@pytest.mark.parametrize("source", ["getrandom", "chacha20"])
def test_a_named_source_travels_and_each_task_has_bits_of_its_own(source: Any) -> None:
    noise, result = noise_of_tasks(EMPTY, dg.DiscreteGaussian(100), source=source)
    assert result.shape == (0, 3)
    assert result.dtype == np.int64
    tasks: list[TaskNoise] = [pickle.loads(pickle.dumps(noise)) for _ in range(2)]
    assert all(task == noise and task.how.source == source for task in tasks)
    not_twice(*(task.added_to(np.zeros((40, 3), np.uint16)).ravel() for task in tasks))


@pytest.mark.parametrize("source", [same_bits(), np.random.default_rng(1), None, b"bits"])
def test_any_other_source_is_refused(source: Any) -> None:
    """Each task would read a copy of it, and so the same bits."""
    with pytest.raises(TypeError, match="source must be"):
        noise_of_tasks(EMPTY, NONE, source=source)


def test_the_budget_counts_all_that_one_person_changes() -> None:
    """Several at once: rows, columns and sensitivity, as in memory."""
    how: dict[str, Any] = {"rho": "1/10", "sensitivity": 2, "rows_per_person": 5}
    of_all = dg.noise_for(np.zeros((9, 3), np.uint16), **how)
    assert noise_of_tasks(EMPTY, None, **how)[0].law == of_all == dg.DiscreteGaussian(300)
    pd = pytest.importorskip("pandas")
    template = pd.DataFrame(EMPTY, columns=list("abc"))
    for disjoint, sigma2 in ((False, 300), (True, 100)):
        noise, result = noise_of_tasks(template, None, disjoint=disjoint, **how)
        assert noise.law == dg.DiscreteGaussian(sigma2)
        assert [*map(str, result.dtypes)] == ["int64"] * 3
    noise, _ = noise_of_tasks(EMPTY, None, epsilon=1, delta="1e-6", rows_per_person=2)
    assert noise.law == dg.DiscreteLaplace(6)  # a Gaussian with a deviation of 10.3 would do, too


def test_batches_of_spark_get_noise_and_their_labels() -> None:
    """Each batch has draws of its own, in the columns that are named; nulls stay null."""
    pa = pytest.importorskip("pyarrow")
    columns = {"column0": [*range(50)], "column1": [*range(49), None], "column2": [0] * 50}
    batches = [pa.RecordBatch.from_pydict(columns)] * 2
    noise = TaskNoise(dg.DiscreteGaussian(100), AddOptions())
    found = list(spark._noisy_batches(iter(batches), noise, ["n", "m.x"], ["id", "n", "m.x"]))
    assert [batch.schema.names for batch in found] == [["id", "n", "m.x"]] * 2
    assert all(batch.column("id").to_pylist() == columns["column0"] for batch in found)
    draws = [np.array(batch.column("m.x").to_pylist()) for batch in found]
    for batch in found:
        *counts, last = batch.column("n").to_pylist()
        assert last is None
        draws.append(np.array(counts) - np.arange(49))
    not_twice(*draws)
