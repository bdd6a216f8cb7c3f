"""Sums of integers that are right, or are not there."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RangeError

__all__ = ["add_exactly"]

#: Of two arrays of int64 a core's cache holds so many elements.
_PIECE = 2**15

_NO_FIT = "a draw did not fit the output type; nothing is returned"

_least, _greatest = np.minimum.reduce, np.maximum.reduce


def add_exactly(
    to: NDArray[Any], addend: NDArray[Any], nulls: NDArray[np.bool_] | None = None
) -> None:
    """Add in place, exactly; if anything goes wrong, `to` holds zeros.

    Parameters
    ----------
    to : ndarray
        Integers of any dtype, byte order and layout, or Python's.
    addend : ndarray
        The same, perhaps of another dtype; it broadcasts to the shape of `to`, and shares no memory
        with it.
    nulls : ndarray of bool, optional
        Of the shape of `to`, contiguous as it is: where `to` is to hold 0 instead.

    Raises
    ------
    RangeError
        A sum does not fit the dtype.

    Notes
    -----
    In pieces. Where the sums of the extremes of a piece fit, all of its sums do, and modulo
    2**bits they are right, whatever was cast. Elsewhere Python's integers decide, one by one.

    Examples
    --------
    >>> draws = np.array([-3, 100], np.int8)
    >>> add_exactly(draws, np.array([2**64 - 1, 27], np.uint64))
    Traceback (most recent call last):
    discretegauss.errors.RangeError: a draw did not fit the output type; nothing is returned
    >>> draws.tolist()
    [0, 0]
    """
    zero_all = to.fill
    # as in `fill_array`: while we write, nobody is to free the memory
    held = weakref.ref(to.base if isinstance(to.base, np.ndarray) else to)
    try:
        if to.size:
            _add(to, addend)
            if nulls is not None:
                np.copyto(to, 0, where=nulls)
    except BaseException:
        zero_all(0)
        raise
    del held


def _add(to: NDArray[Any], addend: NDArray[Any]) -> None:
    info = None if to.dtype == object else np.iinfo(to.dtype)
    values = None if info is None else range(int(info.min), int(info.max) + 1)
    pieces = np.nditer(
        [to, addend],
        ["external_loop", "buffered", "refs_ok"],
        [["readwrite"], ["readonly"]],
        op_dtypes=[to.dtype.newbyteorder("="), addend.dtype.newbyteorder("=")],
        order="K",
        buffersize=_PIECE,
    )
    with pieces:
        for piece, more in pieces:
            if values is not None and more.dtype != object:
                least = int(_least(piece)) + int(_least(more))
                greatest = int(_greatest(piece)) + int(_greatest(more))
                if least in values and greatest in values:
                    np.add(piece, more, out=piece, dtype=piece.dtype, casting="unsafe")
                    continue
            sums = piece.astype(object) + more.astype(object)
            if values is not None and not (_least(sums) in values and _greatest(sums) in values):
                del sums  # the error has this frame
                raise RangeError(_NO_FIT)
            piece[...] = sums
