"""Noise on cells, exactly: all that can be refused is refused before the first draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import methodcaller
from typing import Any, Final, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from .._drawing.add import add_exactly
from .._drawing.fill import copy_draws
from .._inputs.draw_arguments import Method
from .._inputs.source import Source
from .._law import fits_range
from ..errors import ParameterOverflowError, ParameterValueError, RangeError
from ..laws import Law
from .cells import INT64_RANGE, INT128_RANGE, Cells

__all__ = ["Draws", "Overflow", "noisy"]

Overflow = Literal["raise", "saturate"]

#: 1 MiB of int64: a core's cache holds a piece of the draws and much of one of the data.
_PIECE: Final = 2**17

#: What several threads draw at a time: it repays starting them. Ctrl-C waits for zeros there.
_PIECE_OF_THREADS: Final = 2**22

_LEAST, _GREATEST = INT64_RANGE

_INT64: Final[np.dtype[Any]] = np.dtype(np.int64)
_OBJECT: Final[np.dtype[Any]] = np.dtype(object)


class Draws(TypedDict):
    """How to draw: arguments of `sample`."""

    method: Method
    source: Source
    threads: int


class _Plan(NamedTuple):
    """Cells that were checked, and how they get their noise.

    Parameters
    ----------
    cells : Cells
        Of one contiguous layout.
    drawn, result : dtype
        Of the draws, and of what is returned.
    add : callable
        Adds integers to draws in place: pieces with one axis.
    """

    cells: Cells
    drawn: np.dtype[Any]
    result: np.dtype[Any]
    add: Callable[[NDArray[Any], NDArray[Any]], None]


def noisy(
    columns: Sequence[Cells],
    law: Law,
    *,
    overflow: Overflow,
    modulus: int | None,
    draws: Draws,
    out: NDArray[Any] | None = None,
) -> list[NDArray[Any]]:
    """Return the cells with noise, a draw for each, nulls too.

    Parameters
    ----------
    out : ndarray, optional
        Takes the sums of the one column that there is then; of its shape.

    Returns
    -------
    list of ndarray
        New arrays: int64 (uint64 for a modulus above 2**63), or objects where the cells are.

    Raises
    ------
    ParameterOverflowError
        If a sum, or the modulus, might not fit; nothing was drawn.
    ParameterValueError
        If `out` has another dtype than the sums; nothing was drawn.
    Exception
        What a draw raises. No draws are left behind.
    """
    plans = [_plan(cells, law, overflow, modulus) for cells in columns]
    if out is not None and out.dtype.newbyteorder("=") != plans[0].result:
        raise ParameterValueError(f"out must be of {plans[0].result} here, got {out.dtype}")
    results: list[NDArray[Any]] = []
    try:
        for plan in plans:
            results.append(_execute(plan, law, draws, out))
    except BaseException:
        list(map(methodcaller("fill", 0), results))  # one call: no second signal in between
        raise
    return results


def _plan(cells: Cells, law: Law, overflow: Overflow, modulus: int | None) -> _Plan:
    """Decide how cells get their noise, or refuse them."""
    cells = _contiguous(cells)
    integers, _, bounds = cells
    of_objects = integers.dtype == object
    # the draws of int64 cells are int64 as well, if that holds the law
    drawn = _OBJECT if of_objects or not fits_range(law._spec, _LEAST, _GREATEST) else _INT64
    if modulus is not None:
        most = (bounds and bounds[1] + 1) if of_objects else 2**64
        if most is not None and modulus > most:
            raise ParameterOverflowError(
                f"modulus must be at most {most} for these values; for a larger one pass a list, "
                "or an array of objects"
            )
        machine = _INT64 if modulus <= 2**63 else np.dtype(np.uint64)
        add = _add_modulo if drawn == _INT64 else _add_objects
        return _Plan(
            cells, drawn, _OBJECT if of_objects else machine, partial(add, modulus=modulus)
        )
    if bounds is None:
        return _Plan(cells, _OBJECT, _OBJECT, _add_objects)
    least, greatest = bounds
    result = _OBJECT if of_objects else _INT64
    for tried in _with_zeros_last(cells):
        for low, high in _ends(tried.integers):
            if fits_range(law._spec, least - low, greatest - high):
                within = partial(_add_within, low=least - low, high=greatest - high)
                return _Plan(tried, drawn, result, add_exactly if drawn == _INT64 else within)
    if overflow == "saturate":
        if drawn == _INT64 and high <= _GREATEST:
            return _Plan(tried, _INT64, _INT64, _add_saturating)
        return _Plan(tried, _OBJECT, result, partial(_add_objects, bounds=bounds))
    names = {INT64_RANGE: "int64", INT128_RANGE: "Int128"}
    held = names.get(bounds, "decimals of as many digits as here")
    raise ParameterOverflowError(
        f"values with noise must fit {held} with Pr[outside] < 2**-128, but they might not; "
        "overflow='saturate' clamps the sums, a list or an array of objects has room for any"
    )


def _with_zeros_last(cells: Cells) -> Iterator[Cells]:
    """Generate the cells, and then, if there are nulls, a copy that has zeros there.

    What stands there decides nothing, but mostly it fits as well, and no copy is made.
    """
    yield cells
    if cells.nulls is not None:
        zero = cells.integers.dtype.type(0)
        yield cells._replace(integers=np.where(cells.nulls, zero, cells.integers))


def _contiguous(cells: Cells) -> Cells:
    """Return cells whose arrays are one block of memory, of one layout; the data stay."""
    integers, nulls, _ = cells
    if nulls is None and integers.flags.f_contiguous:
        return cells
    nulls = None if nulls is None else np.asarray(nulls, order="C")
    return cells._replace(integers=np.asarray(integers, order="C"), nulls=nulls)


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous array as one axis, in the order of its memory, not copied."""
    return array.reshape(-1) if array.flags.c_contiguous else array.T.reshape(-1)


def _pieces(*arrays: NDArray[Any]) -> Iterator[tuple[NDArray[Any], ...]]:
    """Generate the same pieces of contiguous arrays of one layout."""
    flat = [_flat(array) for array in arrays]
    for start in range(0, flat[0].size, _PIECE):
        yield tuple(array[start : start + _PIECE] for array in flat)


def _ends(integers: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Generate bounds of the integers: some that cost little first, then the tight ones.

    A range that the bounds of a narrow dtype pass is passed whatever the data are, unread. Bounds
    of counts, which are not negative, take one pass instead of two.
    """
    kind, size = integers.dtype.kind, integers.itemsize
    if not integers.size:
        yield 0, 0
        return
    if kind in "iu" and size < 8:
        info = np.iinfo(integers.dtype)
        yield int(info.min), int(info.max)
    if kind in "iu" and size == 8:
        words = integers.view(integers.dtype.str.replace("i", "u"))  # negative ones are the largest
        most = max(int(piece.max()) for (piece,) in _pieces(words))  # Ctrl-C is heard in between
        if kind == "u" or most <= _GREATEST:
            yield 0, most
    ends = [(piece.min(), piece.max()) for (piece,) in _pieces(integers)]
    yield int(min(low for low, _ in ends)), int(max(high for _, high in ends))


def _is_block(out: NDArray[Any], plan: _Plan) -> bool:
    """Return whether draws may be put into `out` at once: one block, of the layout of the cells."""
    mine, of_cells = out.flags, plan.cells.integers.flags
    same_order = (mine.c_contiguous and of_cells.c_contiguous) or (
        mine.f_contiguous and of_cells.f_contiguous
    )
    return same_order and mine.aligned and out.dtype.isnative and plan.drawn == _INT64


def _execute(plan: _Plan, law: Law, draws: Draws, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Draw for every cell, and add; after an error what was drawn is zeros."""
    integers, nulls, _ = plan.cells
    in_place = out.view(plan.drawn) if out is not None and _is_block(out, plan) else None
    results = np.empty_like(integers, plan.drawn, subok=False) if in_place is None else in_place
    arrays = [results, integers] if nulls is None else [results, integers, nulls]
    flat, *others = map(_flat, arrays)
    addend = others[0]
    is_words = addend.dtype == _INT64 and addend.dtype.isnative and addend.flags.aligned
    if plan.add is add_exactly and is_words:
        law.sample(out=flat[:0], **draws)  # arguments are checked
        how = (draws["source"], int(draws["threads"]), draws["method"])
        law._sampler.add(flat, addend, others[1] if others[1:] else None, *how)
        if out is not None and in_place is None:
            copy_draws(out, results)
        return results
    threads = draws["threads"]
    by_piece = type(threads) is int and threads == 1  # while the draws are in the cache
    at_once = _PIECE if by_piece else _PIECE_OF_THREADS
    zero_drawn = flat[:0].fill
    try:
        for start in range(0, max(1, flat.size), at_once):  # once at least: arguments are checked
            drawn = slice(start, start + at_once)
            zero_drawn = flat[: drawn.stop].fill  # no more: the rest may be larger than memory
            law.sample(out=flat[drawn], **draws)
            for sums, addends, *where in _pieces(flat[drawn], *(other[drawn] for other in others)):
                if plan.add is add_exactly:
                    add_exactly(sums, addends, *where)
                    continue
                plan.add(sums, addends)
                for null in where:
                    np.copyto(sums, 0, where=null)
        if results.dtype != plan.result:
            same_words = results.dtype != object
            results = results.view(plan.result) if same_words else results.astype(plan.result)
        if out is not None and in_place is None:
            copy_draws(out, results)
    except BaseException:
        zero_drawn(0)
        raise
    return results


# --- the ways to add: pieces with one axis, in place, no copy of a draw being left in memory


def _add_within(draws: NDArray[Any], integers: NDArray[Any], low: int, high: int) -> None:
    """Add integers to draws, both Python's.

    Raises
    ------
    RangeError
        If a draw is not within `low` and `high`, which a law that was checked is not with a
        probability below 2**-128: any integer here plus one within has room.
    """
    if draws.min() < low or draws.max() > high:
        raise RangeError("a draw did not fit the output type; nothing is returned")
    np.add(draws, integers, out=draws)


def _add_saturating(draws: NDArray[np.int64], integers: NDArray[Any]) -> None:
    """Add integers of at most 2**63 - 1 to draws; sums beyond int64 become its ends.

    A draw is clamped to what there is room for beside its integer; then no sum wraps.
    """
    addends = integers.astype(np.int64)
    np.minimum(draws, _GREATEST - np.maximum(addends, 0), out=draws)
    np.maximum(draws, _LEAST - np.minimum(addends, 0), out=draws)
    np.add(draws, addends, out=draws)


def _add_modulo(draws: NDArray[np.int64], integers: NDArray[Any], modulus: int) -> None:
    """Add integers to draws mod `modulus` <= 2**64; the sums are the words of uint64."""
    addends = integers.astype(np.uint64 if integers.dtype.kind == "u" else np.int64)
    sums, words = _reduce(draws, modulus), _reduce(addends, modulus)
    if modulus == 2**64:  # words wrap so
        np.add(sums, words, out=sums)
        return
    is_beyond = sums >= np.uint64(modulus) - words
    np.add(sums, words, out=sums)
    np.subtract(sums, np.uint64(modulus), out=sums, where=is_beyond)
    is_beyond.fill(False)


def _reduce(integers: NDArray[Any], modulus: int) -> NDArray[np.uint64]:
    """Reduce 64-bit integers mod `modulus` <= 2**64, in place; return a view."""
    words = integers.view(np.uint64)
    if modulus == 2**64:
        return words
    if integers.dtype.kind == "u" or modulus < 2**63:
        np.remainder(integers, integers.dtype.type(modulus), out=integers)
        return words
    is_negative = integers < 0
    np.add(words, np.uint64(modulus), out=words, where=is_negative)
    is_negative.fill(False)
    return words


def _add_objects(
    draws: NDArray[Any],
    integers: NDArray[Any],
    modulus: int | None = None,
    bounds: tuple[int, int] | None = None,
) -> None:
    """Add integers to draws of Python's; reduce or clamp the sums where that is asked for."""
    sums = [x + y for x, y in zip(draws.tolist(), integers.tolist(), strict=True)]
    if modulus is not None:
        sums = [x % modulus for x in sums]
    if bounds is not None:
        sums = [min(max(x, bounds[0]), bounds[1]) for x in sums]
    draws[:] = sums
