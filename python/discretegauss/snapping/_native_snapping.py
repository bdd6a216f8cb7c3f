"""The sides on which values leave their cells, drawn by the compiled core."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from .._drawing.native import c_text, fill_by, raise_for_status
from .._inputs.source import Source
from .._native import ffi, lib
from ._doubles import OnGrid


class NativeSides:
    """Values prepared by the C core (csrc/mechanisms/leave_cell.c).

    A cell is step 2**doublings scales of the noise long, step at most 1.
    """

    def __init__(self, places: OnGrid, step: Fraction, doublings: int) -> None:
        #: The handle refers to these buffers.
        self._offset = ffi.from_buffer("int64_t[]", places.offset)
        self._shift = ffi.from_buffer("int64_t[]", places.shift)
        handle = ffi.new("dg_snapping **")
        arguments = c_text(step), doublings, self._offset, self._shift
        raise_for_status(lib.dg_snapping_new(handle, *arguments))
        self._handle = ffi.gc(handle[0], lib.dg_snapping_free)

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`, one axis, with the sides of the values."""
        fill_by(lib.dg_snapping_fill, out, self._handle, source, threads)
