"""Draws of many laws in one call: some by themselves, the others together in the C core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import Method, fits_dtype, require_fit
from .._inputs.parameter_arrays import DistinctLaws, interruptible_if_long
from .._inputs.source import Source
from .._law import Kind
from ..errors import ParameterValueError
from .engines import native
from .fill import copy_draws, empty, fill_array
from .method import LEAST_CELLS_FROM, choose, has_cells, table_pays_off

__all__ = ["fill_laws", "require_all_fit"]

_INT64 = np.dtype(np.int64)

#: No table is refused because of a smaller beta (some 2**90).
_SAFE_BETA = 2**64


def _all_fit(laws: DistinctLaws, dtype: np.dtype[Any]) -> bool:
    """Return whether all laws provably fit `dtype`, because the widest ones there might be do."""
    return len(laws) == 0 or all(fits_dtype(spec, dtype) for spec in laws.corners())


def require_all_fit(laws: DistinctLaws, dtype: np.dtype[Any], name: str) -> None:
    """Refuse laws of which one does not provably fit `dtype`."""
    if not _all_fit(laws, dtype):
        for law in range(len(laws)):
            places = laws.mu_place(law), laws.parameter_place(law, name)
            require_fit(laws.spec(law), dtype, name, *places)


def _alone(
    laws: DistinctLaws, counts: NDArray[np.intp], in_words: bool, method: Method, source: Source
) -> NDArray[np.bool_]:
    """Return which laws are drawn by themselves."""
    if (
        native is None
        or method == "cells"
        or laws.kind is Kind.GENERALIZED_GAUSSIAN
        or not in_words
    ):
        return np.ones(len(laws), np.bool_)
    alone = ~laws.small
    if method == "auto" and has_cells(laws.kind):
        for law in np.flatnonzero(laws.small & (counts >= LEAST_CELLS_FROM)).tolist():
            alone[law] = table_pays_off(laws.spec(law), int(counts[law]), source)
    return alone


def _move(flat: NDArray[Any], places: NDArray[np.intp], part: NDArray[Any]) -> None:
    """Put draws where they belong, and zeros where they were."""
    try:
        flat[places] = part
    finally:
        part.fill(0)


def fill_laws(
    out: NDArray[Any], laws: DistinctLaws, method: Method, source: Source, threads: int
) -> None:
    """Fill `out`, any shape and layout, with independent draws: out.flat[i] of law laws.which[i].

    Notes
    -----
    A law is drawn by itself if a table is repaid, or if it does not fit the row of 64-bit integers
    that the C core takes many of. Those come first, in order; which they are depends on the
    arguments alone where the source is a caller's (`table_pays_off`).
    """
    which, dtype = laws.which, out.dtype.newbyteorder("=")
    counts = np.bincount(which, minlength=len(laws))
    word = _INT64 if dtype.kind == "O" else dtype
    in_words = _all_fit(laws, word)
    alone = _alone(laws, counts, in_words, method, source)
    if laws.kind is Kind.GENERALIZED_GAUSSIAN:
        for law in np.flatnonzero(counts).tolist():
            if laws.spec(law).beta > _SAFE_BETA:  # a refusal comes before anything is drawn
                try:
                    choose(laws.spec(law), method, int(counts[law]), source)
                except ParameterValueError as error:  # beta and scale may be elements of arrays
                    raise ParameterValueError(str(error).partition(", got ")[0]) from None
    # the draws of a law one after another: to prepare a law takes longer than to draw from it
    order = interruptible_if_long(lambda: np.argsort(which, kind="stable"), which.size)
    ends = np.cumsum(counts)
    flat = empty(which.size, dtype)
    singly = np.flatnonzero(alone & (counts > 0))
    if native is None and in_words:  # in the order of the C core
        singly = singly[np.argsort(laws.small[singly], kind="stable")]
    try:
        for law in singly.tolist():
            places = order[ends[law] - counts[law] : ends[law]]
            prepared = choose(laws.spec(law), method, places.size, source)
            part = empty(places.size, dtype)
            fill_array(part, prepared, source, threads)
            _move(flat, places, part)
        together = interruptible_if_long(lambda: order[~alone[which[order]]], which.size)
        if together.size > 0:
            numbers = native.NativeLaws(laws.kind, laws.numbers())
            part = empty(together.size, word)
            numbers.fill(part, which[together], source, threads)
            _move(flat, together, part)
    except BaseException:
        flat.fill(0)
        raise
    copy_draws(out, flat)
