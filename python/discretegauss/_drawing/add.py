"""Integers to which noise is added, their ends, and their sums, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import RangeError

NO_FIT = "a draw did not fit the output type; nothing is returned"


class Addend(NamedTuple):
    """Integers to which draws are added.

    Examples
    --------
    >>> counts = Addend(np.array([-3, 100]), bounds=(-128, 127))
    >>> counts.ends()
    (-3, 100)
    >>> counts.sums([5, 27])
    [2, 127]
    >>> counts._replace(is_clamped=True).sums([5, 50])
    [2, 127]
    >>> counts._replace(modulus=10, nulls=np.array([False, True])).sums([-5, 50])
    [2, 0]
    """

    #: Of any integer type, or Python's; one axis, contiguous.
    values: NDArray[Any]
    #: True where the sum is 0, whatever the value.
    nulls: NDArray[np.bool_] | None = None
    #: The least and the greatest sum; for machine integers, those of int64.
    bounds: tuple[int, int] | None = None
    #: A sum beyond the bounds becomes the nearest bound; else it is an error.
    is_clamped: bool = False
    #: Every sum is reduced to its remainder modulo this.
    modulus: int | None = None

    def part(self, piece: slice) -> Addend:
        """Return a slice of the integers, with its nulls."""
        nulls = None if self.nulls is None else self.nulls[piece]
        return self._replace(values=self.values[piece], nulls=nulls)

    def ends(self) -> tuple[int, int]:
        """Return the least and the greatest integer that is not null."""
        shown = self.values if self.nulls is None else self.values[~self.nulls]
        return (int(shown.min()), int(shown.max())) if shown.size else (0, 0)

    def sums(self, draws: list[int]) -> list[int]:
        """Return the sums with draws."""
        sums = [x + draw for x, draw in zip(self.values.tolist(), draws, strict=True)]
        if self.nulls is not None:
            sums = [0 if null else x for x, null in zip(sums, self.nulls.tolist(), strict=True)]
        if self.modulus is not None:
            return [x % self.modulus for x in sums]
        least, greatest = self.bounds or (min(sums, default=0), max(sums, default=0))
        if self.is_clamped:
            return [min(max(x, least), greatest) for x in sums]
        if sums and not least <= min(sums) <= max(sums) <= greatest:
            del sums, draws  # the traceback holds this frame
            raise RangeError(NO_FIT)
        return sums


#: How many sums of Python integers are made at a time.
_PIECE = 2**17


def add_objects(out: NDArray[Any], addend: Addend, fill: Callable[[NDArray[Any]], None]) -> None:
    """Set `out` to integers plus draws of any size; `fill` fills arrays of objects with draws."""
    draws = np.empty(min(out.size, _PIECE), object)
    try:
        for start in range(0, out.size, _PIECE):
            piece = slice(start, start + _PIECE)
            part = out[piece]
            fill(draws[: part.size])
            part[:] = np.array(addend.part(piece).sums(draws[: part.size].tolist()), object)
    finally:
        draws.fill(0)
