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


@needs_the_core
@pytest.mark.parametrize("n_bytes", [*range(1, 19), 22, 30, 64, 1000])
def test_integers_of_bytes_keep_their_value(n_bytes: int) -> None:
    """Of every length, at the ends of words and of the range."""
    wanted = list(values(n_bytes))
    given = b"".join(x.to_bytes(n_bytes, "little", signed=True) for x in wanted)
    out = np.array([None, "held", 10**30] * len(wanted), object)[: len(wanted)]
    objects = native.ffi.from_buffer("void *[]", out, require_writable=True)
    buffer = native.ffi.from_buffer("uint8_t[]", given)
    kept = native.ffi.new("dg_python_wide *", {"objects": objects})
    half = len(wanted) // 2
    assert native.lib.dg_python_keep(kept, 0, half, n_bytes, buffer) == 0
    rest = len(wanted) - half, n_bytes, buffer + half * n_bytes
    assert native.lib.dg_python_keep(kept, half, *rest) == 0
    assert kept.reached == len(wanted)
    assert out.tolist() == wanted
    assert set(map(type, out)) == {int}


def tape() -> dg.testing.TapeSource:
    return dg.testing.TapeSource(random.Random(7).randbytes(2_000_000))


@pytest.mark.parametrize("n_bytes", [3, 8, 9, 10, 16, 40])
@pytest.mark.parametrize("size", [None, 9, (2, 0), (30, 100)])
def test_bytes_are_the_draws_of_objects(size: Any, n_bytes: int) -> None:
    """From the same bits, shorter and longer than the core's own; by Algorithms 1-3 and tables."""
    law = dg.DiscreteGaussian(10**4, mu=-(10**6))
    drawn = law.sample_bytes(size, n_bytes=n_bytes, source=tape())
    shape = np.shape(np.empty(size or (), np.void))
    assert drawn.dtype == np.uint8
    assert drawn.shape == (*shape, n_bytes)
    wanted = np.ravel(law.sample(shape, dtype=object, source=tape())).tolist()
    rows = [row.tobytes() for row in drawn.reshape(-1, n_bytes)]
    assert [int.from_bytes(row, "little", signed=True) for row in rows] == wanted
    if n_bytes == 8:
        assert drawn.view("<i8").ravel().tolist() == wanted


def test_bytes_that_do_not_hold_the_law_are_refused() -> None:
    """Before anything is drawn; by the rule for dtypes."""
    law = dg.DiscreteGaussian(10**4)
    refused = {1: OverflowError, 0: ValueError, 2.0: TypeError, 2**62: ValueError}
    for wrong, error in refused.items():
        with pytest.raises(error, match=r"^n_bytes must"):
            law.sample_bytes(3, n_bytes=wrong, source=must_not_draw)  # type: ignore[arg-type]
    assert law.sample_bytes(3, n_bytes=2, threads=2).shape == (3, 2)
    with pytest.raises(ValueError, match="threads must be 1"):
        law.sample_bytes(3, n_bytes=2, threads=2, source=must_not_draw)


def test_a_draw_without_room_in_its_bytes_is_an_error() -> None:
    """A law that fits has none, but for a chance of 2**-128; one that does not is asked here."""
    rows = np.full((1000, 1), 7, np.uint8)
    law = engines.sampler(dg.DiscreteGaussian(10**6)._spec)
    with pytest.raises(dg.errors.RangeError):
        law.fill_bytes(rows, "getrandom")
    assert set(np.unique(rows)) <= {0, 7}  # zeroed, or not yet written


@needs_the_core
def test_bytes_that_never_held_a_draw_are_not_touched() -> None:
    """They may be larger than memory: Ctrl-C in the second piece zeroes the first."""
    rows = np.full((10**6, 1), 7, np.uint8)
    law = engines.sampler(dg.DiscreteGaussian(1)._spec)

    def source(buffer: memoryview) -> None:
        if (rows[:100] != 7).all():
            raise KeyboardInterrupt
        buffer[:] = os.urandom(len(buffer))

    with pytest.raises(KeyboardInterrupt):
        law.fill_bytes(rows, source)
    assert not rows[:1000].any()
    assert (rows[-1000:] == 7).all()


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
