"""The ideal snapping mechanism, sampled in integers.

Let x/grid = n + phi with n an integer and -1/2 <= phi < 1/2, and t = grid/scale. A Laplace
variable is a fair sign S and an exponential variable of mean one scale. It takes x out of its
cell, past the border on side S, with probability exp(-(1/2 - S phi) t). Its remainder is again
exponential, and crosses at least k more cells with probability exp(-k t), so their number G is
geometric (ties have probability 0). The output is n, or n + S (1 + G), times grid, clamped.

G = Y if Y >= 0, else -1 - Y, for a draw Y of the discrete Laplace of scale 1/t. Both halves are
geometric, P(Y = k) ~ P(Y = -1 - k) ~ exp(-k t).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._drawing.fill import empty
from .._inputs.source import Source
from .._law import Kind, LawSpec, fits_range
from ..laws import DiscreteLaplace
from ._doubles import DoubleGrid
from ._parameters import Parameters
from ._sides import Sides

#: This many cells lead past the range from anywhere in it, and sums with its cells fit 64 bits.
_FAR = 2**60

#: How many values are drawn at a time: signals are handled in between, and temporaries stay in the
#: cache. The draws from a stream of bits depend on it.
_CHUNK = 2**16


class Mechanism:
    """Everything that depends on the parameters alone. It never changes."""

    def __init__(self, settings: Parameters) -> None:
        cell = settings.grid / settings.scale
        self._grid = DoubleGrid(settings.grid, settings.ends)
        self._sides = Sides(cell)
        self._law = DiscreteLaplace(1 / cell)
        spec = LawSpec(Kind.DISCRETE_LAPLACE, self._law.scale)
        self._dtype = np.int64 if fits_range(spec, -(2**63), 2**63 - 1) else object

    def snap(
        self, doubles: NDArray[np.float64], source: Source, threads: int
    ) -> NDArray[np.float64]:
        """Return doubles, one axis, with noise; a chunk is drawn at a time."""
        noisy: NDArray[np.float64] = empty(doubles.size, np.float64)
        try:
            for start in range(0, doubles.size, _CHUNK):
                part = slice(start, start + _CHUNK)
                noisy[part] = self._snap_chunk(doubles[part], source, threads)
        except BaseException:
            noisy.fill(0)
            raise
        return noisy

    def _snap_chunk(
        self, doubles: NDArray[np.float64], source: Source, threads: int
    ) -> NDArray[np.float64]:
        places = self._grid.places(doubles)
        sides = empty(doubles.size, np.int64)
        self._sides.prepare(places)(sides, source, threads)
        try:
            left = np.flatnonzero(sides)
            if left.size:
                counts = self._geometric(left.size, source, threads)
                sides[left] *= counts + 1
                counts.fill(0)
            sides += places.cell
            return self._grid.doubles(sides)
        finally:
            sides.fill(0)

    def _geometric(self, n: int, source: Source, threads: int) -> NDArray[np.int64]:
        """Return n draws of G, clamped to _FAR."""
        draws = self._law.sample(n, dtype=self._dtype, source=source, threads=threads)
        try:
            folded = np.where(draws < 0, ~draws, draws)
            counts: NDArray[np.int64] = np.minimum(folded, _FAR).astype(np.int64)
            folded.fill(0)
            return counts
        finally:
            draws.fill(0)


@lru_cache(maxsize=64)
def mechanism(settings: Parameters) -> Mechanism:
    """Return the mechanism of some parameters; the last few are cached, and hold no randomness."""
    return Mechanism(settings)
