"""Fill arrays of any layout: the engines write to one kind, the others get copies."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._inputs.source import Source

#: Fills an array (one axis, contiguous, native integers or objects) with bits of a source, by
#: threads at most. After an error no integer in it is a draw, and nobody writes to it any more.
Fill = Callable[[NDArray[Any], Source, int], None]

#: In the place of numpy's message, which tells the shape: it may be a column of counts.
NO_MEMORY = "size: there is no memory for such an array"


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array."""
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        raise MemoryError(NO_MEMORY) from None


def _flat(out: NDArray[Any]) -> NDArray[Any] | None:
    """Return a view of `out` with one axis that the engines can write to, if there is one."""
    if not out.dtype.isnative or not out.flags.aligned:
        return None
    if out.flags.c_contiguous:
        return out if out.ndim == 1 else out.reshape(-1)
    if out.flags.f_contiguous:
        return out.T.reshape(-1)
    return None


def fill_array(out: NDArray[Any], fill: Fill, source: Source, threads: int) -> None:
    """Fill `out`, any shape and layout, with independent draws; after an error it holds none.

    Parameters
    ----------
    out : ndarray
        Integers (any size, any byte order) or objects.
    fill : Fill
        Draws.
    source : "getrandom", "chacha20" or callable
        Bits.
    threads : int
        How many threads draw at most, each with bits of its own; 1 with a caller's source.
    """
    flat = _flat(out)
    if flat is not None:
        # while there is a weak reference, not even resize(refcheck=False) frees the memory: what
        # Python runs meanwhile, a source or the handler of a signal, might ask for it
        owner = out.base if isinstance(out.base, np.ndarray) else out
        held = weakref.ref(owner)
        fill(flat, source, threads)
        del held
        return
    drawn = empty(out.size, out.dtype.newbyteorder("="))
    fill(drawn, source, threads)
    copy_draws(out, drawn)


def copy_draws(out: NDArray[Any], drawn: NDArray[Any]) -> None:
    """Move draws to `out`, any shape and layout; after an error, Ctrl-C say, it holds none.

    Notes
    -----
    A second signal may come while the first is answered. Python hears it after a call has returned,
    and not before the first call of a handler: so what has to be done there is one call of numpy's,
    looked up beforehand.
    """
    shaped, zero_out = drawn.reshape(out.shape), out.fill
    try:
        out[...] = shaped
        drawn.fill(0)
    except BaseException:
        zero_out(0)
        drawn.fill(0)
        raise


def in_one_process(draw: Callable[[], None]) -> None:
    """Draw; in the child of a fork that a signal's handler made meanwhile draw anew.

    What was drawn before the fork is the parent's, too.
    """
    process = os.getpid()
    draw()
    while process != (process := os.getpid()):
        draw()
