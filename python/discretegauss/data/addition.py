"""Noise on cells, exactly: all that can be refused is refused before the first draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import methodcaller
from typing import Any, Final, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import Method
from .._inputs.source import Source
from .._law import fits_range
from ..errors import ParameterOverflowError, RangeError
from ..laws import Law
from .cells import INT64_RANGE, Cells

__all__ = ["Draws", "Overflow", "noisy"]

Overflow = Literal["raise", "saturate"]

#: 1 MiB of int64: a core's cache holds a piece of the draws and much of one of the data.
_PIECE: Final = 2**17

_LEAST, _GREATEST = INT64_RANGE


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
    by_objects : bool
        In Python integers.
    allowed : tuple of int or None
        The least and greatest draw after which no sum can leave the range. None: any draw may
        come, as sums are clamped or reduced, or there is no range.
    """

    cells: Cells
    by_objects: bool
    allowed: tuple[int, int] | None


def noisy(
    columns: Sequence[Cells], law: Law, *, overflow: Overflow, modulus: int | None, draws: Draws
) -> list[NDArray[Any]]:
    """Return the cells with noise, a draw for each, nulls too.

    Returns
    -------
    list of ndarray
        New arrays: int64 (uint64 for a modulus above 2**63), or objects where the cells are.

    Raises
    ------
    ParameterOverflowError
        If a sum, or the modulus, might not fit; nothing was drawn.
    Exception
        What a draw raises. No draws are left behind.
    """
    plans = [_plan(cells, law, overflow, modulus) for cells in columns]
    results: list[NDArray[Any]] = []
    try:
        for plan in plans:
            results.append(_execute(plan, law, modulus, draws))
    except BaseException:
        list(map(methodcaller("fill", 0), results))  # one call: no second signal in between
        raise
    return results


def _plan(cells: Cells, law: Law, overflow: Overflow, modulus: int | None) -> _Plan:
    """Decide how cells get their noise, or refuse them."""
    cells = _contiguous(cells)
    integers = cells.integers
    by_objects = integers.dtype == object
    fits = fits_range(law._spec, _LEAST, _GREATEST)
    if modulus is not None:
        most = cells.range[1] + 1 if by_objects and cells.range else 2**64
        if modulus > most and not (by_objects and cells.range is None):
            raise ParameterOverflowError(
                f"modulus must be at most {most} for these values; for a larger one pass a list, "
                "or an array of objects"
            )
        return _Plan(cells, by_objects or not fits, None)
    if cells.range is None:
        return _Plan(cells, True, None)
    least, greatest = cells.range
    for low, high in _ends(integers):
        if fits_range(law._spec, least - low, greatest - high):
            return _Plan(cells, by_objects, (least - low, greatest - high))
    if overflow == "saturate":
        return _Plan(cells, by_objects or not fits or high > _GREATEST, None)
    held = "decimals of as many digits as here" if by_objects else "int64"
    raise ParameterOverflowError(
        f"values with noise must fit {held} with Pr[outside] < 2**-128, but they might not; "
        "overflow='saturate' clamps the sums, a list or an array of objects has room for any"
    )


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
        most = int(words.max())
        if kind == "u" or most <= _GREATEST:
            yield 0, most
            return
    ends = [(piece.min(), piece.max()) for (piece,) in _pieces(integers)]
    yield int(min(low for low, _ in ends)), int(max(high for _, high in ends))


def _execute(plan: _Plan, law: Law, modulus: int | None, draws: Draws) -> NDArray[Any]:
    """Draw for every cell, and add."""
    like = plan.cells.integers
    results = np.empty_like(like, object if plan.by_objects else np.int64, subok=False)
    zero_out = results.fill
    try:
        law.sample(out=results, **draws)
        if plan.by_objects:
            _add_objects(results, plan, modulus)
            if like.dtype != object:
                results = results.astype(np.uint64 if (modulus or 0) > 2**63 else np.int64)
        elif modulus is not None:
            results = _add_modulo(results, like, modulus)
        elif plan.allowed is None:
            _add_saturating(results, like)
        else:
            _add_exactly(results, like, *plan.allowed)
        if plan.cells.nulls is not None:
            for values, nulls in _pieces(results, plan.cells.nulls):
                np.copyto(values, 0, where=nulls)
    except BaseException:
        zero_out(0)
        raise
    return results


def _add_exactly(drawn: NDArray[np.int64], integers: NDArray[Any], low: int, high: int) -> None:
    """Add integers to draws, in place.

    Parameters
    ----------
    drawn : ndarray of int64
        Contiguous.
    integers : ndarray
        Of the same shape and layout, any integer dtype.
    low, high : int
        Any integer here plus a draw within these fits int64.

    Raises
    ------
    RangeError
        If a draw is outside, which a law that was checked does with a probability below 2**-128.
    """
    if integers.dtype.kind == "u" and integers.itemsize == 8:  # numpy would make floats of both
        integers = integers.view(integers.dtype.str.replace("u", "i"))
    for sums, piece in _pieces(drawn, integers):
        if (low > _LEAST and sums.min() < low) or (high < _GREATEST and sums.max() > high):
            raise RangeError("a draw did not fit the output type; nothing is returned")
        np.add(sums, piece, out=sums)


def _add_saturating(drawn: NDArray[np.int64], integers: NDArray[Any]) -> None:
    """Add integers of at most 2**63 - 1 to draws, in place; sums beyond int64 become its ends.

    A draw is clamped to what there is room for beside its integer; then no sum wraps.
    """
    for sums, piece in _pieces(drawn, integers):
        addends = piece.astype(np.int64)
        np.minimum(sums, _GREATEST - np.maximum(addends, 0), out=sums)
        np.maximum(sums, _LEAST - np.minimum(addends, 0), out=sums)
        np.add(sums, addends, out=sums)


def _add_modulo(drawn: NDArray[np.int64], integers: NDArray[Any], modulus: int) -> NDArray[Any]:
    """Add integers to draws, in place, mod `modulus` <= 2**64; uint64 if it is above 2**63.

    Words of 64 bits, reduced mod 2**64 anyway, if they are; no copy of a draw is left in memory.
    """
    for draws, piece in _pieces(drawn, integers):
        addends = piece.astype(np.uint64 if piece.dtype.kind == "u" else np.int64)
        sums, words = _reduce(draws, modulus), _reduce(addends, modulus)
        if modulus == 2**64:
            np.add(sums, words, out=sums)
            continue
        is_beyond = sums >= np.uint64(modulus) - words
        np.add(sums, words, out=sums)
        np.subtract(sums, np.uint64(modulus), out=sums, where=is_beyond)
        is_beyond.fill(False)
    return drawn if modulus <= 2**63 else drawn.view(np.uint64)


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


def _add_objects(drawn: NDArray[Any], plan: _Plan, modulus: int | None) -> None:
    """Add integers to draws, both Python's, in place."""
    flat, integers = _flat(drawn), _flat(plan.cells.integers)
    for draws, piece in _pieces(flat, integers):
        sums = [x + y for x, y in zip(draws.tolist(), piece.tolist(), strict=True)]
        if modulus is not None:
            sums = [x % modulus for x in sums]
        elif plan.cells.range is not None:
            least, greatest = plan.cells.range
            if plan.allowed is not None and not all(least <= x <= greatest for x in sums):
                raise RangeError("a draw did not fit the output type; nothing is returned")
            sums = [min(max(x, least), greatest) for x in sums]
        draws[:] = sums
