"""Several threads may draw at once, and one call may draw by several threads.

At sigma2 = 2^100 two equal values among n have a probability of about n^2 / (7 * 2^50): below 10^-6
for the 80 000 values below.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from law_checks import gaussian_table, rejected

import discretegauss as dg

SIGMA2 = 2**100
ENGINE = dg.build_info()["engine"]
VALUES = 10_000 if ENGINE == "native" else 500


def test_threads_that_draw_at_once_share_no_value() -> None:
    """Eight threads that begin together draw no value twice, within a thread or between two."""
    start = threading.Barrier(8)

    def draw(_i: int) -> Any:
        start.wait()
        return dg.discrete_gaussian(SIGMA2, VALUES)

    with ThreadPoolExecutor(8) as pool:
        values = np.concatenate(list(pool.map(draw, range(8))))
    assert len(np.unique(values)) == 8 * VALUES


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("dtype", [np.int64, object])
def test_one_call_by_several_threads_draws_no_value_twice(threads: int, dtype: Any) -> None:
    """Each thread of a call has bits of its own."""
    values = dg.discrete_gaussian(SIGMA2, VALUES, dtype=dtype, threads=threads)
    assert len(set(values.tolist())) == VALUES


@pytest.mark.usefixtures("native_engine")
def test_draws_by_several_threads_follow_the_law() -> None:
    """A million draws by three threads are not told from the exact law."""
    draws = dg.discrete_gaussian(100, 1_000_000, threads=3)
    assert rejected(draws, gaussian_table(Fraction(100))) == []


@pytest.mark.parametrize("size", [0, 1, 2, (3, 5), (0, 4)])
def test_more_threads_than_draws(size: Any) -> None:
    """Small results come out whole, whatever the number of threads."""
    draws = dg.discrete_laplace(10**12, size, threads=8)
    assert draws.shape == np.empty(size).shape
    assert (draws != 0).all()  # at scale 10^12 a zero is an element that nobody filled


def test_one_output_for_each_thread() -> None:
    """Threads that fill disjoint slices of one array leave each other's alone."""
    out = np.zeros((4, VALUES), dtype=np.int64)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: dg.discrete_gaussian(SIGMA2, out=row), out))
    assert len(np.unique(out)) == out.size


def test_a_callers_source_is_not_shared_between_threads() -> None:
    """threads=2 with a source of one's own is refused: its bits would come in no certain order."""

    def source(_buffer: memoryview) -> None:
        raise AssertionError("nothing may be drawn")

    with pytest.raises(ValueError, match="threads"):
        dg.discrete_gaussian(1, 3, source=source, threads=2)
