"""What snapping draws, by the engine in use: the sides of cells, and random words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import reference
from .._drawing.engines import native
from .._drawing.fill import Fill, empty, fill_array
from .._drawing.python_engine import bits_of
from .._inputs.source import Source
from ._doubles import OnGrid
from ._reference import leave_cell

if native is not None:
    from ._native_snapping import NativeSides, NativeWords


class ReferenceSides:
    """Sides by the twin in plain Python."""

    def __init__(self, places: OnGrid, step: Fraction, doublings: int) -> None:
        self._places, self._step, self._doublings = places, step, doublings

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`, one axis, by one thread."""
        stream = bits_of(source)
        try:
            for i in range(out.size):
                out[i] = self._side(i, stream)
        except BaseException:
            out.fill(0)
            raise

    def _side(self, i: int, stream: reference.Bytes) -> int:
        offset, shift = int(self._places.offset[i]), int(self._places.shift[i])
        num, den = self._step.numerator, self._step.denominator
        return leave_cell(offset, shift, num, den, self._doublings, stream)


class Sides:
    """Cells of a length, in scales of the noise, made ready."""

    def __init__(self, cell: Fraction) -> None:
        self._doublings = 0
        while cell > 1:
            cell /= 2
            self._doublings += 1
        self._step = cell

    def prepare(self, places: OnGrid) -> Fill:
        """Return the sides of values made ready."""
        if native is None:
            return ReferenceSides(places, self._step, self._doublings).fill
        return NativeSides(places, self._step, self._doublings).fill


def draw_words(n: int, source: Source, threads: int) -> NDArray[np.uint64]:
    """Return n uniform words of 64 bits."""
    words = empty(n, np.uint64)
    if native is not None:
        fill_array(words, NativeWords().fill, source, threads)
        return words
    stream = bits_of(source)
    for i in range(n):
        words[i] = int.from_bytes(stream.read(8), "little")
    return words
