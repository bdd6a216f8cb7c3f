"""Sides of cells and random words for snapping, drawn by the engine in use."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .. import reference
from .._drawing.engines import native
from .._drawing.fill import Fill, empty
from .._drawing.python_engine import one_by_one
from .._inputs.source import Source
from ._doubles import OnGrid
from ._reference import leave_cell

if native is not None:
    from ._native_snapping import NativeSides


def reference_sides(places: OnGrid, step: Fraction, doublings: int) -> Fill:
    """Return a `Fill` that draws the sides of values by the twin in plain Python."""

    def side(i: int, stream: reference.Bytes) -> int:
        offset, shift = int(places.offset[i]), int(places.shift[i])
        return leave_cell(offset, shift, step.numerator, step.denominator, doublings, stream)

    return one_by_one(side)


class Sides:
    """The length of cells, in scales of the noise, as step 2**doublings."""

    def __init__(self, cell: Fraction) -> None:
        self._doublings = 0
        while cell > 1:
            cell /= 2
            self._doublings += 1
        self._step = cell

    def prepare(self, places: OnGrid) -> Fill:
        """Return a `Fill` that draws the sides of values."""
        if native is None:
            return reference_sides(places, self._step, self._doublings)
        return NativeSides(places, self._step, self._doublings).fill


def draw_words(n: int, source: Source, threads: int) -> NDArray[np.uint64]:
    """Return n uniform words of 64 bits."""
    words = empty(n, np.uint64)
    if native is not None:
        native.fill_words(words, source, threads)
    else:
        one_by_one(lambda _, stream: int.from_bytes(stream.read(8), "little"))(words, source, 1)
    return words
