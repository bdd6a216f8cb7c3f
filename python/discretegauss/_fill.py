"""Fill arrays: in pieces, so that Ctrl-C is answered soon, and by several threads if asked."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._engine import Fill, PreparedLaw

__all__ = ["fill_array"]

# Python looks at signals between pieces. The clock only chooses where the next cut falls; the law
# of the draws does not depend on it, nor do the draws from a caller's source (csrc/random/bits.h).
_SHORT_SECONDS = 0.01
_LONG_SECONDS = 0.04


def _fill_slice(
    out: NDArray[Any], law: PreparedLaw, source: Fill | None, stop: threading.Event | None
) -> None:
    done, piece = 0, law.first_piece
    while done < out.size and not (stop is not None and stop.is_set()):
        part = out[done : done + piece]
        started = perf_counter()
        law.fill(part, source)
        seconds = perf_counter() - started
        done += part.size
        if seconds < _SHORT_SECONDS:
            piece *= 2
        elif seconds > _LONG_SECONDS:
            piece = max(1, piece // 2)


def _fill_by_threads(out: NDArray[Any], law: PreparedLaw, threads: int) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(threads) as pool:
        tasks = [
            pool.submit(_fill_slice, part, law, None, stop) for part in np.array_split(out, threads)
        ]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            stop.set()
            raise


def _flat(out: NDArray[Any]) -> NDArray[Any] | None:
    """Return a view of `out` with one axis that the engines can write to, if there is one."""
    if not out.dtype.isnative:
        return None
    if out.flags.c_contiguous:
        return out.reshape(-1)
    if out.flags.f_contiguous:
        return out.T.reshape(-1)
    return None


def fill_array(out: NDArray[Any], law: PreparedLaw, source: Fill | None, threads: int) -> None:
    """Fill `out`, any shape and layout, with independent draws; on any error with zeros.

    Parameters
    ----------
    out : ndarray
        Integers (any size, any byte order) or objects.
    law : PreparedLaw
        What to draw.
    source : callable or None
        Bits; None: getrandom.
    threads : int
        How many threads draw, each with bits of its own; 1 with a caller's source.
    """
    flat = _flat(out)
    drawn = np.empty(out.size, out.dtype.newbyteorder("=")) if flat is None else flat
    try:
        if threads > 1:
            _fill_by_threads(drawn, law, threads)
        else:
            _fill_slice(drawn, law, source, None)
        if flat is None:
            out[...] = drawn.reshape(out.shape)
    except BaseException:
        out.fill(0)
        raise
    finally:
        if flat is None:
            drawn.fill(0)
