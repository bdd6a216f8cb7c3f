"""Rows of candidates made ready for the engine in use."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import reference
from .._drawing.engines import native
from .._drawing.fill import Fill
from .._drawing.python_engine import bits_of
from .._inputs.source import Source
from . import _reference
from ._scores import Gaps

if native is not None:
    from ._native_selection import NativeSelection


class Selection(IntEnum):
    """The ways to select, numbered as ``dg_selection_kind`` in the C header."""

    PERMUTE_AND_FLIP = 0
    EXPONENTIAL = 1


_REFERENCE: dict[Selection, Callable[..., int]] = {
    Selection.PERMUTE_AND_FLIP: _reference.permute_and_flip,
    Selection.EXPONENTIAL: _reference.exponential,
}


class ReferenceSelection:
    """Selections by the twin in plain Python."""

    def __init__(
        self, kind: Selection, rate: Fraction, gaps: Gaps, which: NDArray[np.int64] | None
    ) -> None:
        self._kind, self._rate, self._gaps, self._which = kind, rate, gaps, which

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`, one axis, with selections, by one thread."""
        stream = bits_of(source)
        try:
            for i in range(out.size):
                out[i] = self._select(self._row(i), stream)
        except BaseException:
            out.fill(0)
            raise

    def _row(self, i: int) -> int:
        if self._which is not None:
            return int(self._which[i])
        return i % math.prod(self._gaps.shape[:-1])

    def _select(self, row: int, stream: reference.Bytes) -> int:
        num, den = self._rate.numerator, self._rate.denominator
        return _REFERENCE[self._kind](self._gaps.row(row), num, den, stream)


def prepare(kind: Selection, rate: Fraction, gaps: Gaps, which: NDArray[np.int64] | None) -> Fill:
    """Return selections made ready: item i from row which[i], or i modulo the rows."""
    if native is None:
        return ReferenceSelection(kind, rate, gaps, which).fill
    return NativeSelection(int(kind), rate, gaps, which).fill
