"""Integers of many bytes become Python integers of the same value."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss._drawing import engines

native = engines.native
needs_the_core = pytest.mark.skipif(native is None, reason="the compiled core's conversion")


def values(n_bytes: int) -> Iterator[int]:
    """The ends of each length, and numbers at random."""
    most = 2 ** (8 * n_bytes - 1)
    for bits in range(8 * n_bytes):
        for near in (2**bits - 1, 2**bits, 2**bits + 1):
            yield from (x for x in (near, -near) if -most <= x < most)
    for _ in range(200):
        used = 1 + os.urandom(1)[0] % n_bytes
        yield int.from_bytes(os.urandom(used), "little", signed=True)




def tape() -> dg.testing.TapeSource:
    return dg.testing.TapeSource(random.Random(7).randbytes(2_000_000))










def must_not_draw(buffer: memoryview) -> None:
    raise AssertionError("something was drawn")


def test_an_error_leaves_no_draws_in_an_array_of_objects() -> None:
    """A source that fails in a later piece: the earlier ones' draws go, too."""
    calls = iter(range(10**6))

    def source(buffer: memoryview) -> None:
        if next(calls) == 400:
            raise KeyError("no more bits")
        buffer[:] = os.urandom(len(buffer))

    out = np.full(10**6, 7, object)
    with pytest.raises(KeyError):
        dg.discrete_gaussian(10**100, out=out, source=source)
    assert set(out.tolist()) <= {0, 7}
