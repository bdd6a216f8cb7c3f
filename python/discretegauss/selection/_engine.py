"""Selections from rows of candidates, by the engine in use."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .. import reference
from .._drawing.engines import native
from .._drawing.fill import Fill
from .._drawing.python_engine import one_by_one
from . import _reference
from ._scores import Gaps

if native is not None:
    from ._native_selection import NativeSelection


class Selection(IntEnum):
    """The mechanisms, numbered as ``dg_selection_kind`` in the C header."""

    PERMUTE_AND_FLIP = 0
    EXPONENTIAL = 1


_REFERENCE: dict[Selection, Callable[..., int]] = {
    Selection.PERMUTE_AND_FLIP: _reference.permute_and_flip,
    Selection.EXPONENTIAL: _reference.exponential,
}


def reference_selection(
    kind: Selection, rate: Fraction, gaps: Gaps, row_of: NDArray[np.int64] | None
) -> Fill:
    """Return a `Fill` that selects by the twin in plain Python."""
    rows = math.prod(gaps.shape[:-1])

    def select(i: int, stream: reference.Bytes) -> int:
        row = i % rows if row_of is None else int(row_of[i])
        return _REFERENCE[kind](gaps.row(row), rate.numerator, rate.denominator, stream)

    return one_by_one(select)


def prepare(kind: Selection, rate: Fraction, gaps: Gaps, row_of: NDArray[np.int64] | None) -> Fill:
    """Return a `Fill` that selects item i from row row_of[i], or from row i modulo their number."""
    if native is None:
        return reference_selection(kind, rate, gaps, row_of)
    return NativeSelection(int(kind), rate, gaps, row_of).fill
