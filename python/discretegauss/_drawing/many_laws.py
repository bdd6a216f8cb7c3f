"""Draws of many laws in one call: by the C core, or one law after the other."""

from __future__ import annotations

import weakref
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import Method, fits_dtype, require_fit
from .._inputs.parameter_arrays import ZERO, Laws, nearest
from .._inputs.source import Source
from .._law import LawSpec
from ..errors import ParameterValueError
from .add import add_exactly
from .engines import native, sampler
from .fill import copy_draws, empty, fill_array, in_one_process
from .sampler import Sampler

__all__ = ["fill_laws", "require_all_fit"]

_INT64 = np.dtype(np.int64)

#: No table is refused because of a smaller beta (some 2**90); no isochronous sampler because of a
#: smaller beta, nor because of a greater parameter.
_SAFE_BETA = 2**64
_ISOCHRONOUS_BETA = 63
_ISOCHRONOUS_PARAMETER = Fraction(1, 2**20)

#: More distinct laws of plain numbers are drawn as they come, as the C core draws them.
_MOST_GROUPED = 2**16


def _all_fit(laws: Laws, dtype: np.dtype[Any]) -> bool:
    """Return whether all laws provably fit `dtype`, because the widest ones there might be do."""
    return laws.n_draws == 0 or all(fits_dtype(spec, dtype) for spec in laws.corners())


def require_all_fit(laws: Laws, dtype: np.dtype[Any], name: str) -> None:
    """Refuse laws of which one does not provably fit `dtype`."""
    if _all_fit(laws, dtype):
        return
    seen: set[LawSpec] = set()
    for i in range(laws.n_draws):
        spec = laws.spec_at(i)
        if spec not in seen:
            mu = laws.mu.name_at(i, laws.shape, "mu")
            require_fit(spec, dtype, name, mu, laws.parameter.name_at(i, laws.shape, name))
            seen.add(spec)


def fill_laws(out: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int) -> None:
    """Fill `out`, any shape and layout, with independent draws: out.flat[i] of law i.

    Notes
    -----
    Draws are of laws whose centres are the rests beside the nearest integers, which are added. The
    C core does all of it for blocks of integers (dg_samplers_fill). What it does not hold is done
    here: long centres; one law whose draws go anywhere; Python's integers; plain Python.
    """
    if laws.n_draws == 0:
        return
    _refuse_extremes(laws, method)
    # as in `fill_array`: while there is a weak reference, nobody frees the memory
    held = weakref.ref(out.base if isinstance(out.base, np.ndarray) else out)
    dtype = _INT64 if out.dtype == object else out.dtype.newbyteorder("=")
    is_fortran = out.flags.f_contiguous and not out.flags.c_contiguous
    goes_anywhere = is_fortran and laws.mu.are_integers and laws.around(ZERO).is_one
    fit = out.dtype != object or _all_fit(laws, dtype)
    in_core = native is not None and laws.kind.in_core
    if in_core and laws.mu.core_splits and fit and not goes_anywhere:
        _fill_block(out, laws, dtype, method, source, threads)
        return
    integers, rests = laws.mu.nearest_and_rests()
    around = laws.around(rests)
    noise_dtype = _INT64 if _all_fit(around, _INT64) else np.dtype(object)
    if around.is_one:
        noise = out
        if integers is not None:
            order: Any = "F" if is_fortran else "C"
            noise = empty(out.size, noise_dtype).reshape(out.shape, order=order)
        fill_array(noise, partial(sampler(around.spec_at(0)).fill, method=method), source, threads)
    else:
        noise = empty(out.shape, noise_dtype)
        if in_core and noise_dtype == _INT64:
            _fill_block(noise, around, noise_dtype, method, source, threads)
        else:
            fill = partial(_fill_one_by_one, noise.reshape(-1), laws, method, source, threads)
            in_one_process(fill)
    if integers is not None:
        _add_to_integers(out, integers, noise)
    elif noise is not out:
        copy_draws(out, noise)
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


def _fill_block(
    out: NDArray[Any],
    laws: Laws,
    dtype: np.dtype[Any],
    method: Method,
    source: Source,
    threads: int,
) -> None:
    """Fill `out` with draws that are made, and have their integers added, in a block of a dtype."""
    words = laws.words()
    in_place = (
        out.dtype == dtype
        and out.flags.c_contiguous
        and out.flags.aligned
        and not any(np.may_share_memory(out, numbers) for numbers in words)
    )
    block = out if in_place else empty(out.shape, dtype)

    def sampler_of(place: int) -> Sampler:
        return sampler(_without_integer(laws.spec_at(place)))

    native.fill_laws(block.reshape(-1), laws.kind, words, sampler_of, method, source, threads)
    if not in_place:
        copy_draws(out, block)


def _fill_one_by_one(
    flat: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int
) -> None:
    """Fill `flat` with draws of the laws of the rests, one law after the other."""
    places: dict[LawSpec, list[int]] = {}
    for i in range(flat.size):
        places.setdefault(_without_integer(laws.spec_at(i)), []).append(i)
    order = list(places.items())
    if native is None and flat.dtype != object:  # that of the C core (dg_samplers_fill)
        order.sort(key=lambda item: laws.is_short_at(item[1][0]))
        if laws.are_plain and len(order) > min(flat.size // 2, _MOST_GROUPED):
            order = [(_without_integer(laws.spec_at(i)), [i]) for i in range(flat.size)]
    try:
        for spec, its in order:
            drawn = empty(len(its), flat.dtype)
            fill_array(drawn, partial(sampler(spec).fill, method=method), source, threads)
            flat[its] = drawn
            drawn.fill(0)
    except BaseException:
        flat.fill(0)
        raise


def _add_to_integers(out: NDArray[Any], integers: NDArray[Any], noise: NDArray[Any]) -> None:
    """Let `out`, whose dtype does not hold the noise, hold the sums; wipe the noise.

    It holds the integers: they are within 1/2 of centres of laws that fit it, and what fits is more
    than 1/2 from the next integer outside (`fits_range`).
    """
    zero_noise = noise.fill
    try:
        out[...] = integers
        add_exactly(out, noise)
    finally:
        zero_noise(0)
