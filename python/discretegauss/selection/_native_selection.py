"""Selections by the compiled core."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._drawing.native import c_text, fill_by, raise_for_status
from .._inputs.source import Source
from .._native import ffi, lib
from ._scores import Gaps


class NativeSelection:
    """Rows of candidates prepared by the C core (csrc/mechanisms/select.c).

    `kind` is a ``dg_selection_kind``. A candidate passes with probability exp(-gap rate); the rate
    includes the denominator of the gaps. `row_of` has the row of each item. Without it, item i has
    row i modulo the number of rows.
    """

    def __init__(
        self, kind: int, rate: Fraction, gaps: Gaps, row_of: NDArray[np.int64] | None
    ) -> None:
        k = gaps.shape[-1]
        #: The handle refers to these buffers.
        self._gaps = ffi.from_buffer("uint8_t[]", gaps.data.reshape(-1))
        self._row_of = ffi.NULL if row_of is None else ffi.from_buffer("int64_t[]", row_of)
        n_rows = len(self._gaps) // (k * gaps.gap_bytes)
        handle = ffi.new("dg_selection **")
        arguments = kind, c_text(rate), self._gaps, gaps.gap_bytes, n_rows, k, self._row_of
        raise_for_status(lib.dg_selection_new(handle, *arguments))
        self._handle = ffi.gc(handle[0], lib.dg_selection_free)

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`, one axis, with the places of the selected candidates."""
        fill_by(lib.dg_selection_fill, out, self._handle, source, threads)
