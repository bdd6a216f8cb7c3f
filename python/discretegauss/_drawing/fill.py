"""Fill arrays of any layout: engines write to one kind, and the others get copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._inputs.source import Source

#: Fills an array (C-contiguous, native integers or objects) with the bits of a source, by at most
#: so many threads. After an error the contents of the array mean nothing, and nobody writes to it.
Fill = Callable[[NDArray[Any], Source, int], None]

#: Replaces numpy's message, which tells the shape: that may be a column of counts.
NO_MEMORY = "size: there is no memory for such an array"


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array."""
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        raise MemoryError(NO_MEMORY) from None


def fill_array(out: NDArray[Any], fill: Fill, source: Source, threads: int) -> None:
    """Fill `out`, of any shape and layout, with independent draws.

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
    if out.dtype.isnative and out.flags.aligned and out.flags.forc:
        # In the order of its memory: a Fortran-contiguous array is its transpose in C's order.
        fill(out.reshape(-1, order="A"), source, threads)
        return
    drawn = empty(out.shape, out.dtype.newbyteorder("="))
    try:
        fill(drawn.reshape(-1), source, threads)
        out[...] = drawn
    finally:
        drawn.fill(0)
