"""Fill arrays of any layout: engines write to one layout, and the others get copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._inputs.graphs import outside_of_graphs
from .._inputs.source import Source

#: Fills an array (C-contiguous, native integers or objects) with the bits of a source, by at most
#: that many threads. After an error the array means nothing, and no thread writes to it any more.
Fill = Callable[[NDArray[Any], Source, int], None]

#: Replaces numpy's message, which shows the shape, because a column of counts may be the shape.
NO_MEMORY = "size must be smaller: there is no memory for this array"


@outside_of_graphs
def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array."""
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        raise MemoryError(NO_MEMORY) from None


def fill_array(out: NDArray[Any], fill: Fill, source: Source, threads: int) -> None:
    """Fill `out`, of any shape and layout, with independent draws.

    `out` holds integers of any size and byte order, or objects. Each of at most `threads` threads
    has its own bits; a caller's source has one thread.
    """
    if out.dtype.isnative and out.flags.aligned and out.flags.forc:
        # in the order of memory, in which a Fortran-contiguous array is its transpose in C's order
        fill(out if out.ndim == 1 else out.reshape(-1, order="A"), source, threads)
        return
    draws = empty(out.shape, out.dtype.newbyteorder("="))
    try:
        fill(draws.reshape(-1), source, threads)
        out[...] = draws
    finally:
        draws.fill(0)
