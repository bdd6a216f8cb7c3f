"""Draws of many laws in one call: element i is drawn from law i."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import INT64, Method
from .._inputs.parameter_arrays import Laws
from .._inputs.source import Source
from .._law import Kind, LawSpec
from ..errors import ParameterValueError
from .add import Addend
from .engines import engine, method_for, native
from .fill import copy_draws, empty


def fill_laws(out: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int) -> None:
    """Fill `out`, any shape and layout, with independent draws: out.flat[i] of law i, in C order."""
    if laws.n_draws == 0:
        return
    dtype = out.dtype.newbyteorder("=")
    if dtype == object and native is not None and laws.all_fit(INT64):
        dtype = INT64
    in_place = out.dtype == dtype and out.flags.c_contiguous and out.flags.aligned
    if np.may_share_memory(out, laws.parameter.words) or np.may_share_memory(out, laws.mu.words):
        in_place = False
    drawn = out if in_place else empty(out.shape, dtype)
    _fill(drawn.reshape(-1), laws, method, source, threads)
    if not in_place:
        copy_draws(out, drawn)


def _fill(
    flat: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int
) -> None:
    moved = laws.moved() if flat.dtype == INT64 else None
    if moved is not None:
        spec, centres = moved
        by = engine(spec, method_for(method, laws.kind, flat.size))
        by.add(flat, Addend(centres), source, threads)
    elif (
        native is not None
        and method == "auto"
        and laws.kind < Kind.GENERALIZED_GAUSSIAN
        and flat.dtype != object
        and laws.parameter.are_words
        and laws.mu.are_words
    ):
        native.fill_laws(flat, laws, source, threads)
    else:
        _fill_by_laws(flat, laws, method, source, threads)


def _fill_by_laws(
    flat: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int
) -> None:
    """Fill an array with draws, one law after the other."""
    places: dict[LawSpec, list[int]] = {}
    for i in range(flat.size):
        places.setdefault(laws.spec_at(i), []).append(i)
    try:
        engines = [engine(spec, method_for(method, laws.kind, len(its))) for spec, its in places.items()]
    except ParameterValueError as error:  # parameters may be elements of arrays
        raise ParameterValueError(str(error).partition(", got ")[0]) from None
    try:
        for its, by in zip(places.values(), engines, strict=True):
            drawn = empty(len(its), flat.dtype)
            by.fill(drawn, source, threads)
            flat[its] = drawn
            drawn.fill(0)
    except BaseException:
        flat.fill(0)
        raise
