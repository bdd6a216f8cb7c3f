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
from ..reference import Bytes, bernoulli, bernoulli_exp
from ._doubles import OnGrid

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


# --- the side in plain Python, as in csrc/mechanisms/leave_cell.c


def leave_cell(offset: int, shift: int, num: int, den: int, doublings: int, source: Bytes) -> int:
    """Return the side, 1 or -1, on which noise takes a value out of its cell; 0 if it does not.

    The value is offset/2**shift cells from the middle. The noise is Laplace; a cell is t =
    2**doublings num/den of its scales long, num/den <= 1. A fair bit chooses a side. The border
    there is u = 1/2 - side offset/2**shift cells away, and the noise reaches it with probability
    exp(-u t). With u 2**doublings = wholes + v that takes `wholes` flips of exp(-num/den), and one
    of exp(-v num/den): Algorithm 1, whose Bernoulli(v num/(den k)) flips num/(den k) and v.
    """
    side = 1 if source.read(1)[0] < 128 else -1
    distance = (1 << (shift - 1)) - side * offset
    wholes, v = divmod(distance << doublings, 1 << shift)
    for _ in range(wholes):
        if not bernoulli_exp(num, den, source):
            return 0
    k = 1
    while bernoulli(num, den * k, source) and bernoulli(v, 1 << shift, source):
        k += 1
    return side if k % 2 == 1 else 0
