"""The side on which values leave their cells, by the compiled core."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .._drawing.native import NativeFiller, c_text, raise_for_status
from .._native import ffi, lib
from ._doubles import OnGrid


class NativeSides(NativeFiller):
    """Values made ready in the C core (csrc/mechanisms/leave_cell.c).

    Parameters
    ----------
    places : OnGrid
        Of the values.
    step : Fraction
        At most 1.
    doublings : int
        A cell is step 2**doublings scales of the noise long.
    """

    def __init__(self, places: OnGrid, step: Fraction, doublings: int) -> None:
        #: What the handle refers to.
        self._offset = ffi.from_buffer("int64_t[]", places.offset)
        self._shift = ffi.from_buffer("int64_t[]", places.shift)
        handle = ffi.new("dg_snapping **")
        given = c_text(step), doublings, self._offset, self._shift
        raise_for_status(lib.dg_snapping_new(handle, *given))
        self._handle = ffi.gc(handle[0], lib.dg_snapping_free)
        self._fill = lib.dg_snapping_fill


class NativeWords(NativeFiller):
    """Random words."""

    def __init__(self) -> None:
        self._handle = None
        self._fill = _fill_words


def _fill_words(out: Any, n: int, dtype: int, _handle: None, run: Any, source: Any) -> int:
    return lib.dg_words_fill(out, n, dtype, run, source)
