"""Draws of many laws in one call: element i is drawn from law i."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import INT64, Method
from .._inputs.parameter_arrays import Laws
from .._inputs.source import Source
from .._law import Kind
from ..errors import ParameterValueError
from .add import Addend
from .engines import engine, native
from .fill import empty


def fill_laws(out: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int) -> None:
    """Fill `out`, of any shape and layout, with independent draws: out.flat[i] from law i."""
    if laws.n_draws == 0:
        return
    dtype = out.dtype.newbyteorder("=")
    if dtype.kind == "O" and native is not None and laws.all_fit(INT64):
        dtype = INT64
    is_apart = not (
        np.may_share_memory(out, laws.parameter.words) or np.may_share_memory(out, laws.mu.words)
    )
    if is_apart and out.flags.carray and out.dtype == dtype:
        _fill(out.reshape(-1), laws, method, source, threads)
        return
    draws = empty(out.shape, dtype)
    try:
        _fill(draws.reshape(-1), laws, method, source, threads)
        out[...] = draws
    finally:
        draws.fill(0)


def _fill(flat: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int) -> None:
    if flat.dtype == INT64 and laws.is_one_law_shifted:
        for places, part in laws.parts():
            spec, centres = part.moved()
            by = engine(spec, method).for_draws(flat.size)
            by.add(flat[places], Addend(centres), source, threads)
    elif (
        native is not None
        and method in ("auto", "isochronous")
        and laws.kind < Kind.GENERALIZED_GAUSSIAN
        and flat.dtype != object
        and laws.parameter.fit_words
        and laws.mu.fit_words
    ):
        for places, part in laws.parts():
            native.fill_laws(flat[places], part, method, source, threads)
    else:
        _fill_by_laws(flat, laws, method, source, threads)


def _fill_by_laws(
    flat: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int
) -> None:
    """Fill an array law by law, in the order of the laws' first elements."""
    places = laws.places()
    try:
        engines = [engine(laws.spec_at(its[0]), method) for its in places]
    except ParameterValueError as error:  # cut the value, which may be an element of an array
        raise ParameterValueError(str(error).partition(", got ")[0]) from None
    for its, by in zip(places, engines, strict=True):
        draws = empty(len(its), flat.dtype)
        try:
            by.fill(draws, source, threads)
            flat[its] = draws
        finally:
            draws.fill(0)
