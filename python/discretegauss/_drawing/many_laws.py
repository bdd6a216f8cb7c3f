"""Draws of many laws in one call: some by themselves, the others together in the C core."""

from __future__ import annotations

import weakref
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import Method, fits_dtype, require_fit
from .._inputs.parameter_arrays import DistinctLaws, LawGroups
from .._inputs.source import Source
from .._law import Kind, LawSpec
from ..errors import ParameterValueError
from .add import add_exactly
from .engines import native, sampler
from .fill import copy_draws, empty, fill_array, in_one_process
from .group import group, take_in_turn

__all__ = ["fill_laws", "require_all_fit"]

_INT64 = np.dtype(np.int64)

#: No table is refused because of a smaller beta (some 2**90).
_SAFE_BETA = 2**64

#: No isochronous sampler is refused because of a smaller beta, nor because of a greater parameter.
_ISOCHRONOUS_BETA = 63
_ISOCHRONOUS_PARAMETER = Fraction(1, 2**20)

#: A law with fewer draws is not drawn by itself, though its table were at hand: a call of the core
#: for it takes as long.
_LEAST_ALONE = 128

#: Lanes of many laws, some 2 microseconds to begin with, are repaid by so many draws together (they
#: cross Algorithms 1-3 at 16).
_LANES_FROM = 32

#: A sampler of its own (20 microseconds) is repaid by so many draws of a law that lanes draw, too.
_ISOCHRONOUS_ALONE = 1024

#: Up to so many equal laws are looked for in any case, which takes some ten microseconds.
_FEW_GROUPS = 1024

#: Lanes of many laws hold these parameters, whatever the centre (csrc/isochronous/lane_laws.h).
_LEAST_IN_LANES, _GREATEST_IN_LANES = Fraction(1, 16), 2**41

#: With more laws than this, equal ones are not looked for, but drawn as they come: to make a law
#: anew costs less than what a larger table of them takes from the cache.
_MOST_GROUPS = 2**16

#: Laws whose parameter and centre are no larger fit int64 by far (`fits_range`): they reach
#: r >= 2**62, and 179 scales, or 27 sigma, or 92 scales are below 2**58; gamma is no smaller.
_EASY_PARAMETER = 2**50
_EASY_CENTRE = 2**62


def _easily_fit_int64(laws: DistinctLaws) -> bool:
    if laws.kind is Kind.BERNOULLI_EXP:
        return True
    if laws.parameter.ends is None or laws.mu.ends is None:
        return False
    least, greatest = laws.parameter.ends
    if laws.kind is Kind.GEOMETRIC_EXP:
        return bool(least >= Fraction(1, _EASY_PARAMETER))
    lowest, highest = laws.mu.ends
    return bool(greatest <= _EASY_PARAMETER and -_EASY_CENTRE <= lowest <= highest <= _EASY_CENTRE)


def _all_fit(laws: DistinctLaws, dtype: np.dtype[Any]) -> bool:
    """Return whether all laws provably fit `dtype`, because the widest ones there might be do."""
    return (
        dtype.kind == "O"
        or laws.n_draws == 0
        or (dtype == _INT64 and _easily_fit_int64(laws))
        or all(fits_dtype(spec, dtype) for spec in laws.corners())
    )


def require_all_fit(laws: DistinctLaws, dtype: np.dtype[Any], name: str) -> None:
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


def fill_laws(
    out: NDArray[Any], laws: DistinctLaws, method: Method, source: Source, threads: int
) -> None:
    """Fill `out`, any shape and layout, with independent draws: out.flat[i] of law i.

    Notes
    -----
    Draws are of the laws of the rests (`ParameterColumn.nearest_and_rests`), and the integers are
    added to them. Equal laws are grouped, unless they are many, and drawn in order of first
    appearance; but first those drawn by themselves: because a table is repaid, or because the C
    core does not take them together. Which they are depends on the arguments alone where the source
    is a caller's.
    """
    if laws.n_draws == 0:
        return
    dtype, integers = out.dtype.newbyteorder("="), laws.integers
    if integers is not None and np.may_share_memory(out, integers):
        integers = integers.copy()
    # int64 for objects, where it will do: they are made at the end
    sums = _INT64 if dtype.kind == "O" and _all_fit(laws, _INT64) else dtype
    noise_dtype = _noise_dtype(laws, sums)
    groups = None if laws.is_one else _grouped(laws, method, noise_dtype, source)
    if groups is not None:
        _refuse_extremes(laws, groups, method, source)
    is_one = laws.is_one or (groups is not None and len(groups) == 1)
    # one law's draws go anywhere (`fill_array`), those of several to one block in C order
    in_place = noise_dtype == out.dtype and (
        is_one or (out.flags.c_contiguous and out.flags.aligned and dtype.kind != "O")
    )
    # as in `fill_array`: while there is a weak reference, nobody frees the memory
    held = weakref.ref(out.base if isinstance(out.base, np.ndarray) else out)
    noise = out if in_place else empty(out.shape, noise_dtype)
    zero_noise = noise.fill
    try:
        if is_one:
            one = sampler(laws.only() if groups is None else groups.spec(0))
            if in_place and integers is not None and _are_blocks_of_int64(noise, integers):
                one.add(noise.reshape(-1), integers.reshape(-1), None, source, threads, method)
                return
            fill_array(noise, partial(one.fill, method=method), source, threads)
        else:
            several = (noise.reshape(-1), laws, groups, method, source, threads)
            in_one_process(partial(_fill_several, *several))
        if integers is not None and sums == noise_dtype:
            add_exactly(noise, integers)
    except BaseException:
        zero_noise(0)
        raise
    del held
    if in_place:
        return
    if integers is None or sums == noise_dtype:
        copy_draws(out, noise)
    else:
        _add_to_integers(out, integers, noise)


def _are_blocks_of_int64(*arrays: NDArray[Any]) -> bool:
    return len({a.shape for a in arrays}) == 1 and all(
        a.dtype == _INT64 and a.dtype.isnative and a.flags.c_contiguous and a.flags.aligned
        for a in arrays
    )


def _noise_dtype(laws: DistinctLaws, sums: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to draw in before integers are added: that of the sums if it will do."""
    if laws.integers is None:
        return sums
    if sums.kind == "i" and _rests_fit(laws, sums):
        return sums
    return _INT64 if _rests_fit(laws, _INT64) else np.dtype(object)


def _rests_fit(laws: DistinctLaws, dtype: np.dtype[Any]) -> bool:
    """Return whether the laws of the rests provably fit `dtype`."""
    ends = laws.parameter.ends
    if dtype == _INT64 and ends is not None and ends[1] <= _EASY_PARAMETER:
        return True
    return all(fits_dtype(spec, dtype) for spec in laws.rest_corners())


def _grouped(
    laws: DistinctLaws, method: Method, dtype: np.dtype[Any], source: Source
) -> LawGroups | None:
    """Return the distinct laws, or None: they are many, and the C core takes each as it comes."""
    if (
        _takes_none(laws, method, dtype)
        or not laws.are_plain
        or (method == "isochronous" and _may_be_too_narrow(laws))
    ):
        return laws.grouped(group, laws.n_draws)
    most = laws.n_draws // 2
    if _lanes_hold_all(laws) and any(_way(method, laws.n_draws, source).values()):
        # one that comes again costs there what another does, unless it is drawn by itself
        alone_from = _ISOCHRONOUS_ALONE if method == "isochronous" else _LEAST_ALONE
        most = min(most, max(_FEW_GROUPS, laws.n_draws // alone_from))
    return laws.grouped(group, min(most, _MOST_GROUPS))


def _lanes_hold_all(laws: DistinctLaws) -> bool:
    """Return whether lanes of many laws hold them all, surely."""
    ends = laws.parameter.ends
    return (
        native is not None
        and laws.kind in (Kind.DISCRETE_GAUSSIAN, Kind.DISCRETE_LAPLACE)
        and ends is not None
        and bool(_LEAST_IN_LANES <= ends[0] <= ends[1] <= _GREATEST_IN_LANES)
    )


def _takes_none(laws: DistinctLaws, method: Method, dtype: np.dtype[Any]) -> bool:
    """Return whether the C core takes no laws of the call together."""
    return method == "cells" or laws.kind is Kind.GENERALIZED_GAUSSIAN or dtype.kind == "O"


def _may_be_too_narrow(laws: DistinctLaws) -> bool:
    """Return whether some law may be refused by method="isochronous" for its parameter."""
    ends = laws.parameter.ends
    return ends is None or bool(ends[0] < _ISOCHRONOUS_PARAMETER)


def _refuse_extremes(laws: DistinctLaws, groups: LawGroups, method: Method, source: Source) -> None:
    """Refuse a law that has no table, or no isochronous sampler, before anything is drawn."""
    is_isochronous = method == "isochronous"
    if laws.kind is not Kind.GENERALIZED_GAUSSIAN and not (
        is_isochronous and _may_be_too_narrow(laws)
    ):
        return
    for law in range(len(groups)):
        spec = groups.spec(law)
        if spec.beta > (_ISOCHRONOUS_BETA if is_isochronous else _SAFE_BETA) or (
            is_isochronous and spec.parameter < _ISOCHRONOUS_PARAMETER
        ):
            try:
                sampler(spec).require(method)
            except ParameterValueError as error:  # beta and scale may be elements of arrays
                raise ParameterValueError(str(error).partition(", got ")[0]) from None


def _fill_several(
    flat: NDArray[Any],
    laws: DistinctLaws,
    groups: LawGroups | None,
    method: Method,
    source: Source,
    threads: int,
) -> None:
    """Fill `flat` with draws of the laws of the rests."""
    if groups is not None:
        alone = _alone(laws, groups, method, source, flat.dtype)
        _fill_groups(flat, laws.kind, groups, alone, method, source, threads)
    elif native is not None:
        numbers = native.NativeLaws(laws.kind, *laws.words_of_each_draw())
        numbers.fill(flat, None, source, threads, **_way(method, flat.size, source))
    else:
        for i in range(flat.size):
            fill = partial(sampler(laws.rest_spec_at(i)).fill, method=method)
            fill_array(flat[i : i + 1], fill, source, threads)


def _way(method: Method, n: int, source: Source) -> dict[str, bool]:
    """Return how the C core draws n times, of laws that it takes together.

    Without being asked for it does not draw in lanes where the source is a caller's: what such
    bytes give stays as it was published.
    """
    if method == "isochronous":
        return {"isochronous": True}
    return {"in_lanes": method == "auto" and n >= _LANES_FROM and not callable(source)}


def _alone(
    laws: DistinctLaws,
    groups: LawGroups,
    method: Method,
    source: Source,
    dtype: np.dtype[Any],
) -> NDArray[np.bool_]:
    """Return which laws are drawn by themselves."""
    if native is None or _takes_none(laws, method, dtype):
        return np.ones(len(groups), np.bool_)
    alone = ~groups.small
    if method == "isochronous":
        alone |= groups.counts >= _ISOCHRONOUS_ALONE
    if method == "auto" and laws.kind.has_cells:
        for law in np.flatnonzero(groups.small & (groups.counts >= _LEAST_ALONE)).tolist():
            alone[law] = sampler(groups.spec(law)).has_own_way(int(groups.counts[law]), source)
    return alone


def _fill_groups(
    flat: NDArray[Any],
    kind: Kind,
    groups: LawGroups,
    alone: NDArray[np.bool_],
    method: Method,
    source: Source,
    threads: int,
) -> None:
    """Draw the laws one after another, and put the draws where they belong."""
    singly, together = np.flatnonzero(alone), np.flatnonzero(~alone)
    if native is None and flat.dtype != object:  # in the order of the C core
        singly = singly[np.argsort(groups.small[singly], kind="stable")]
    sequence, counts = np.concatenate([singly, together]), groups.counts
    ends = np.cumsum(counts[sequence])
    begin = np.empty_like(counts)
    begin[sequence] = ends - counts[sequence]
    is_in_place = _increases(sequence) and _increases(groups.which)
    drawn = flat if is_in_place else empty(flat.size, flat.dtype)
    try:
        for law, end in zip(singly.tolist(), ends.tolist(), strict=False):
            part = drawn[begin[law] : end]
            fill = partial(sampler(groups.spec(law)).fill, method=method)
            fill_array(part, fill, source, threads)
        if together.size > 0:
            numbers = native.NativeLaws(kind, *groups.words)
            which = np.repeat(together, counts[together])
            way = _way(method, which.size, source)
            numbers.fill(drawn[begin[together[0]] :], which, source, threads, **way)
        if not is_in_place:
            take_in_turn(flat, drawn, begin, groups.which)
    finally:
        if not is_in_place:
            drawn.fill(0)


def _increases(integers: NDArray[Any]) -> bool:
    """Return whether none is less than the one before."""
    # not by .all(), which imports something when first used: Python may be at its end
    return bool(np.logical_and.reduce(integers[1:] >= integers[:-1]))


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
