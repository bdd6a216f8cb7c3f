"""Fill arrays: in pieces, so that Ctrl-C is answered soon, and by several threads if asked."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._engine import PreparedLaw
from ._source import Source
from ._threads import require_room, wait_for

__all__ = ["fill_array"]

# Python looks at signals between pieces. The clock only chooses where the next cut falls; the law
# of the draws does not depend on it, nor do the draws from a caller's source (csrc/random/bits.h).
_SHORT_SECONDS = 0.01
_LONG_SECONDS = 0.04


def _fill_slice(
    out: NDArray[Any], law: PreparedLaw, source: Source, stop: threading.Event | None
) -> None:
    chunks = max(1, law.first_piece // law.chunk)
    done = 0
    try:
        while done < out.size and not (stop is not None and stop.is_set()):
            part = out[done : done + chunks * law.chunk]
            started = perf_counter()
            law.fill(part, source)
            seconds = perf_counter() - started
            done += part.size
            if seconds < _SHORT_SECONDS:
                chunks *= 2
            elif seconds > _LONG_SECONDS:
                chunks = max(1, chunks // 2)
    except BaseException:
        out[:done].fill(0)  # no more: what was never touched may be much, and Ctrl-C is waiting
        raise


def _fill_by_threads(out: NDArray[Any], law: PreparedLaw, source: Source, threads: int) -> None:
    """Fill equal parts of `out`, one by this thread and each other by a new one."""
    own, *others = np.array_split(out, max(1, min(threads, out.size)))
    stop = threading.Event()
    errors: list[BaseException] = []
    filled = [False] * len(others)

    def fill(i: int) -> None:
        try:
            _fill_slice(others[i], law, source, stop)
            filled[i] = True
        except BaseException as error:
            errors.append(error)
            stop.set()

    require_room(len(others))
    workers = []
    try:
        for i in range(len(others)):
            worker = threading.Thread(target=fill, args=(i,))
            try:
                worker.start()
            except RuntimeError:  # no more threads for this process
                break
            workers.append(worker)
        _fill_slice(own, law, source, stop)
        wait_for(workers)
    except BaseException:
        stop.set()
        wait_for(workers)
        raise
    if errors:
        raise errors[0]
    for part, done in zip(others, filled, strict=True):
        if not done:  # for want of threads; or a signal handler has forked, and this is the child
            _fill_slice(part, law, source, None)


def _flat(out: NDArray[Any]) -> NDArray[Any] | None:
    """Return a view of `out` with one axis that the engines can write to, if there is one."""
    if not out.dtype.isnative:
        return None
    if out.flags.c_contiguous:
        return out.reshape(-1)
    if out.flags.f_contiguous:
        return out.T.reshape(-1)
    return None


def fill_array(out: NDArray[Any], law: PreparedLaw, source: Source, threads: int) -> None:
    """Fill `out`, any shape and layout, with independent draws; after an error its content is void.

    Parameters
    ----------
    out : ndarray
        Integers (any size, any byte order) or objects.
    law : PreparedLaw
        What to draw.
    source : "getrandom", "chacha20" or callable
        Bits.
    threads : int
        How many threads draw, each with bits of its own; 1 with a caller's source.
    """
    flat = _flat(out)
    drawn = np.empty(out.size, out.dtype.newbyteorder("=")) if flat is None else flat
    try:
        if threads > 1:
            _fill_by_threads(drawn, law, source, threads)
        else:
            _fill_slice(drawn, law, source, None)
        if flat is None:
            out[...] = drawn.reshape(out.shape)
    finally:
        if flat is None:
            drawn.fill(0)
