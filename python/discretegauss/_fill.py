"""Fill arrays: in pieces, so that Ctrl-C is answered soon, and by several threads if asked."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._engine import ManyLaws, PreparedLaw, native
from ._source import Source
from ._threads import Worker, require_room, wait_for

__all__ = ["fill_array", "fill_each", "wipe_copied"]

# Python looks at signals between pieces. The clock only chooses where the next cut falls; the law
# of the draws does not depend on it, nor do the draws from a caller's source (csrc/random/bits.h).
_SHORT_SECONDS = 0.005
_LONG_SECONDS = 0.02

#: More threads than this are never started: far more than the processors there are take turns, and
#: ten thousand would starve the machine.
_MOST_THREADS = max(64, 4 * (os.cpu_count() or 1))


#: Fills part [start, stop) of an array.
FillPart = Callable[[int, int], None]


class _Parts:
    """What is left of an array to fill, for several threads to take parts of."""

    def __init__(self, size: int, threads: int) -> None:
        self.size, self.taken = size, 0
        self._begun: dict[int, int] = {}
        self._threads = threads
        self.lock = threading.Lock()
        _in_use.add(self)

    def take(self, most: int, least: int) -> tuple[int, int]:
        """Return where the next part starts and stops.

        Several threads take less and less of what is left, so that they finish at the same time,
        however unevenly the machine runs them.
        """
        with self.lock:
            start = self.taken
            if self._threads > 1:
                most = min(most, max(least, (self.size - start) // (2 * self._threads)))
            self.taken = min(start + most, self.size)
            if start < self.taken:
                self._begun[start] = self.taken
            return start, self.taken

    def filled(self, start: int) -> None:
        """Note that the part from there on is filled."""
        del self._begun[start]

    def left(self) -> list[tuple[int, int]]:
        """Return the parts that somebody took and did not fill."""
        return sorted(self._begun.items())

    def stop(self) -> None:
        """Leave nothing more to take."""
        with self.lock:
            self.size = self.taken


_in_use: weakref.WeakSet[_Parts] = weakref.WeakSet()


def _renew_locks() -> None:
    """In the child of a fork: who held a lock in the parent is not here to give it back."""
    for parts in _in_use:
        parts.lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_locks)


def _fill_parts(parts: _Parts, fill_part: FillPart, least: int, chunk: int) -> None:
    """Fill parts as long as there are any, the first of `least` draws."""
    piece = least
    while True:
        start, stop = parts.take(piece, least)
        if start == stop:
            return
        started = perf_counter()
        fill_part(start, stop)
        parts.filled(start)
        seconds = perf_counter() - started
        if seconds < _SHORT_SECONDS:
            piece *= 2
        elif seconds > _LONG_SECONDS:
            piece = max(chunk, piece // (2 * chunk) * chunk)


def _end_work(parts: _Parts, workers: list[Worker]) -> None:
    """Wait until nobody draws any more, whatever a second Ctrl-C raises meanwhile."""
    try:
        parts.stop()
        wait_for(workers)
    except BaseException:
        _end_work(parts, workers)
        raise


def _work_together(parts: _Parts, work: Callable[[], None], threads: int) -> None:
    """Run `work` in this thread and in others, and wait for them."""
    errors: list[BaseException] = []

    def work_along() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
            parts.stop()

    require_room(threads - 1)
    workers: list[Worker] = []
    try:
        for _ in range(threads - 1):
            workers.append(Worker(work_along))  # first: who is started is waited for
            try:
                workers[-1].start()
            except RuntimeError:  # no more threads for this process
                break
        work()
        wait_for(workers)
    except BaseException:
        _end_work(parts, workers)
        raise
    if errors:
        raise errors[0]


def _fill_flat(
    out: NDArray[Any], fill_part: FillPart, first_piece: int, chunk: int, threads: int
) -> None:
    """Fill `out`, one axis; after an error zeros are where draws were."""
    least = max(1, first_piece // chunk) * chunk
    threads = max(1, min(threads, -(-out.size // least), _MOST_THREADS))
    parts = _Parts(out.size, threads)
    work = partial(_fill_parts, parts, fill_part, least, chunk)
    try:
        if threads == 1:
            work()
            return
        _work_together(parts, work, threads)
        # Their threads are gone: a signal handler has forked, and this is the child.
        for start, stop in parts.left():
            fill_part(start, stop)
    except BaseException:
        # no more: what was never touched may be much, and Ctrl-C is waiting
        out[: parts.taken].fill(0)
        raise


def _flat(out: NDArray[Any]) -> NDArray[Any] | None:
    """Return a view of `out` with one axis that the engines can write to, if there is one."""
    if not out.dtype.isnative or not out.flags.aligned:
        return None
    if out.flags.c_contiguous:
        return out.reshape(-1)
    if out.flags.f_contiguous:
        return out.T.reshape(-1)
    return None


def fill_array(out: NDArray[Any], law: PreparedLaw, source: Source, threads: int) -> None:
    """Fill `out`, any shape and layout, with independent draws; after an error it holds none.

    Parameters
    ----------
    out : ndarray
        Integers (any size, any byte order) or objects.
    law : PreparedLaw
        What to draw.
    source : "getrandom", "chacha20" or callable
        Bits.
    threads : int
        How many threads draw at most, each with bits of its own; 1 with a caller's source.
    """
    flat = _flat(out)
    drawn = np.empty(out.size, out.dtype.newbyteorder("=")) if flat is None else flat
    _fill_flat(
        drawn, lambda i, j: law.fill(drawn[i:j], source), law.first_piece, law.chunk, threads
    )
    if flat is None:
        try:
            out[...] = drawn.reshape(out.shape)
        finally:
            wipe_copied(drawn)


def wipe_copied(drawn: NDArray[Any]) -> None:
    """Zero draws that were copied, and what their way left in the registers."""
    drawn.fill(0)
    if native is not None:  # plain Python wipes nothing of that kind
        native.wipe_traces()


def fill_each(
    out: NDArray[Any], laws: ManyLaws, which: NDArray[np.int64], source: Source, threads: int
) -> None:
    """Fill `out` with out[i] of law which[i]: one axis, contiguous, native integers."""
    _fill_flat(
        out,
        lambda i, j: laws.fill(out[i:j], which[i:j], source),
        laws.first_piece,
        1,
        threads,
    )
