"""Integers of many bytes become Python integers of the same value."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

import discretegauss as dg
from discretegauss._drawing import engines

native = engines.native
pytestmark = pytest.mark.skipif(native is None, reason="the compiled core's conversion")


def values(n_bytes: int) -> Iterator[int]:
    """The ends of each length, and numbers at random."""
    most = 2 ** (8 * n_bytes - 1)
    for bits in range(8 * n_bytes):
        for near in (2**bits - 1, 2**bits, 2**bits + 1):
            yield from (x for x in (near, -near) if -most <= x < most)
    for _ in range(200):
        used = 1 + os.urandom(1)[0] % n_bytes
        yield int.from_bytes(os.urandom(used), "little", signed=True)


@pytest.mark.parametrize("n_bytes", [*range(1, 19), 22, 30, 64, 1000])
def test_integers_of_bytes_keep_their_value(n_bytes: int) -> None:
    """Of every length, at the ends of words and of the range."""
    wanted = list(values(n_bytes))
    given = b"".join(x.to_bytes(n_bytes, "little", signed=True) for x in wanted)
    out = np.array([None, "held", 10**30] * len(wanted), object)[: len(wanted)]
    objects = native.ffi.from_buffer("void *[]", out, require_writable=True)
    buffer = native.ffi.from_buffer("uint8_t[]", given)
    assert native.lib.dg_python_integers(objects, len(wanted), n_bytes, buffer) == 0
    assert out.tolist() == wanted
    assert set(map(type, out)) == {int}


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
    assert set(out.tolist()) == {0}
