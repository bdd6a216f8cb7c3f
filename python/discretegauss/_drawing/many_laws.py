"""Draws of many laws in one call: by the C core, or one law after the other."""

from __future__ import annotations

import weakref
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import INT64, Method
from .._inputs.parameter_arrays import Laws, nearest
from .._inputs.source import Source
from .._law import LawSpec
from ..errors import ParameterValueError
from .engines import native, sampler
from .fill import copy_draws, empty, in_one_process
from .sampler import Sampler

#: No table is refused because of a smaller beta (some 2**90); no isochronous sampler because of a
#: smaller beta, nor because of a greater parameter.
_SAFE_BETA = 2**64
_ISOCHRONOUS_BETA = 63
_ISOCHRONOUS_PARAMETER = Fraction(1, 2**20)

#: More distinct laws of plain numbers are drawn as they come, as the C core draws them.
_MOST_GROUPED = 2**16


def fill_laws(out: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int) -> None:
    """Fill `out`, any shape and layout, with independent draws: out.flat[i] of law i, in C order.

    Notes
    -----
    Draws are of laws whose centres are the rests beside the nearest integers, which are added. The
    C core does all of it for blocks of integers (dg_samplers_fill). What it does not hold is done
    here, one law after the other: long centres; Python's integers beyond int64; plain Python.
    """
    if laws.n_draws == 0:
        return
    _refuse_extremes(laws, method)
    # as in `fill_array`: while there is a weak reference, nobody frees the memory
    held = weakref.ref(out.base if isinstance(out.base, np.ndarray) else out)
    dtype = INT64 if out.dtype == object else out.dtype.newbyteorder("=")
    by_core = native is not None and laws.kind.in_core and laws.mu.core_splits
    if not by_core or (out.dtype == object and not laws.all_fit(INT64)):
        by_core, dtype = False, np.dtype(object)
    numbers = laws.numbers() if by_core else []
    in_place = out.dtype == dtype and out.flags.c_contiguous and out.flags.aligned
    if any(np.may_share_memory(out, column.words) for column in numbers):
        in_place = False
    block = out if in_place else empty(out.shape, dtype)
    flat = block.reshape(-1)
    if by_core:

        def sampler_of(place: int) -> Sampler:
            return sampler(_without_integer(laws.spec_at(place)))

        native.fill_laws(flat, laws.kind, numbers, sampler_of, method, source, threads)
    else:
        in_one_process(partial(_fill_one_by_one, flat, laws, method, source, threads))
    if not in_place:
        copy_draws(out, block)
    del held


def _without_integer(spec: LawSpec) -> LawSpec:
    return spec._replace(mu=spec.mu - nearest(spec.mu))


def _refuse_extremes(laws: Laws, method: Method) -> None:
    """Refuse a law that has no table, or no isochronous sampler, before anything is drawn."""
    is_isochronous = method == "isochronous"
    most_beta = _ISOCHRONOUS_BETA if is_isochronous else _SAFE_BETA
    least = _ISOCHRONOUS_PARAMETER if is_isochronous else 0
    if all(spec.beta <= most_beta and spec.parameter >= least for spec in laws.corners()):
        return
    for spec in {_without_integer(laws.spec_at(i)) for i in range(laws.n_draws)}:
        if spec.beta > most_beta or spec.parameter < least:
            try:
                sampler(spec).require(method)
            except ParameterValueError as error:  # beta and scale may be elements of arrays
                raise ParameterValueError(str(error).partition(", got ")[0]) from None


def _fill_one_by_one(
    flat: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int
) -> None:
    """Fill objects with draws, one law after the other, as dg_samplers_fill orders them."""
    places: dict[LawSpec, list[int]] = {}
    for i in range(flat.size):
        places.setdefault(_without_integer(laws.spec_at(i)), []).append(i)
    order = sorted(places.items(), key=lambda item: laws.is_short_at(item[1][0]))
    if laws.are_plain and len(order) > min(flat.size // 2, _MOST_GROUPED):
        order = [(_without_integer(laws.spec_at(i)), [i]) for i in range(flat.size)]
    try:
        for spec, its in order:
            drawn = empty(len(its), object)
            sampler(spec).fill(drawn, source, threads, method)
            for i, draw in zip(its, drawn.tolist(), strict=True):
                flat[i] = nearest(laws.spec_at(i).mu) + draw
            drawn.fill(0)
    except BaseException:
        flat.fill(0)
        raise
