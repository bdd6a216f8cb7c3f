"""Fill arrays: in pieces, so that Ctrl-C is answered soon, and by several threads if asked."""

from __future__ import annotations

import mmap
import threading
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._engine import PreparedLaw
from ._source import Source

__all__ = ["fill_array"]

# Python looks at signals between pieces. The clock only chooses where the next cut falls; the law
# of the draws does not depend on it, nor do the draws from a caller's source (csrc/random/bits.h).
_SHORT_SECONDS = 0.01
_LONG_SECONDS = 0.04

#: What a thread takes of the address space: 8 MiB of stack, as Linux has it, and Python's own.
_THREAD_BYTES = 9 * 2**20


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


def _require_room(n_threads: int) -> None:
    """Raise MemoryError if the address space has no room for so many threads more.

    A thread that was started and finds no memory for its first step ends without a word, and Python
    waits for it for ever.
    """
    if n_threads:
        try:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            mmap.mmap(-1, n_threads * _THREAD_BYTES, flags=flags, prot=0).close()
        except OSError:
            raise MemoryError(f"no room for {n_threads} threads more") from None


def _fill_by_threads(out: NDArray[Any], law: PreparedLaw, source: Source, threads: int) -> None:
    """Fill equal parts of `out`, one by this thread and each other by a new one."""
    own, *others = np.array_split(out, max(1, min(threads, out.size)))
    stop = threading.Event()
    errors: list[BaseException] = []

    def fill(part: NDArray[Any]) -> None:
        try:
            _fill_slice(part, law, source, stop)
        except BaseException as error:
            errors.append(error)
            stop.set()

    workers = [threading.Thread(target=fill, args=(part,)) for part in others]
    started: list[threading.Thread] = []
    try:
        _require_room(len(workers))
        for worker in workers:
            worker.start()
            started.append(worker)
        _fill_slice(own, law, source, stop)
        for worker in started:
            worker.join()
    except BaseException:
        stop.set()
        for worker in started:
            worker.join()
        raise
    if errors:
        raise errors[0]


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
