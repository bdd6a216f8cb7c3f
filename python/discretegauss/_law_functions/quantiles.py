"""ppf, isf and interval, with scipy's conventions: probabilities in, integers out."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._certified.formulas import mirrored
from .._certified.quantile import lower_quantile, tail_guess
from .._inputs.law_parameters import as_array, naming_places
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational, not_finite
from .._law import LawSpec
from ..errors import ParameterValueError
from .array_functions import (
    MANY_TAILS,
    in_floats,
    last_term,
    supported,
    tail_table,
    wide_tails_and_terms,
)
from .pointwise import SF, evaluate

#: Floats hold all integers up to here.
_EXACT_FLOATS = 2**53

#: From this many q on, most quantiles are found in tails that are computed in floats.
_MANY = 16

#: A certified quantile takes longer than 20 certified tails, each from the one before; more than
#: 2**16 take too much memory.
_CERTIFIED_EACH, _MOST_CERTIFIED = 20, 2**16

#: The numbers of tails in floats that take as long as one quantile by Newton's method or certified.
_FEW_TERMS_EACH, _TERMS_EACH = 16, 1000

#: Tails in floats have errors up to 1e-14. Within this distance the certified functions decide.
_IN_DOUBT = 1e-13

#: The sizes of two grids of tails for first guesses. Three steps are usually enough from there.
_GRID, _FINE_GRID, _NEWTON_STEPS = 2**12, 2**14, 6

#: Arrays of this length fit the processor's cache.
_CHUNK = 2**14

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Bools = NDArray[np.bool_]


def quantiles(spec: LawSpec, q: object, *, upper: bool) -> Any:
    """Return the quantiles of q, or (upper) of 1 - q: a number or an array of numbers."""
    array = as_array(q, "q")
    level = partial(_level, upper=upper)
    if array is None:
        return _shown(_quantile(spec, level(q)))
    flat = _floats_if_all_are(array.ravel())
    with np.errstate(all="ignore"):  # the caller's settings must not apply to this arithmetic
        found, sure = _looked_up(spec, flat, upper=upper)
    distinct, places = _distinct(flat[~sure])
    levels = naming_places(lambda: [*map(level, distinct.tolist())], array, "q", level)
    others = _packed([_quantile(spec, level) for level in levels])[places]
    return _joined(found, sure, others).reshape(array.shape)


def _floats_if_all_are(flat: NDArray[Any]) -> NDArray[Any]:
    """Return an array of objects as floats if all of them are floats, else unchanged."""
    if flat.dtype == object and all(type(q) is float for q in flat.tolist()):
        return flat.astype(np.float64)
    return flat


def _distinct(flat: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct numbers and each element's place among them; objects stay unchanged.

    Objects may be numbers of any type, or invalid, so they cannot be sorted before their check.
    """
    if flat.dtype == object:
        return flat, np.arange(flat.size)
    unique, places = np.unique(flat, return_inverse=True)
    return unique, places.ravel()


def central_interval(spec: LawSpec, confidence: object) -> tuple[Any, Any]:
    """Return the quantiles of (1 - confidence)/2 and (1 + confidence)/2."""
    array = as_array(confidence, "confidence")
    if array is None:
        levels = [_checked_confidence(confidence)]
    else:
        elements = array.ravel().tolist()
        levels = naming_places(
            lambda: [*map(_checked_confidence, elements)], array, "confidence", _checked_confidence
        )
    lower = [_quantile(spec, (1 - exact) / 2) for exact in levels]
    upper = [_quantile(spec, (1 + exact) / 2) for exact in levels]
    if array is None:
        return _shown(lower[0]), _shown(upper[0])
    return _packed(lower).reshape(array.shape), _packed(upper).reshape(array.shape)


def _checked_confidence(value: object) -> Fraction:
    exact = exact_rational(value, "confidence")
    if not 0 <= exact <= 1:
        raise ParameterValueError(f"confidence must be between 0 and 1, got {describe(value)}")
    return exact


def _level(q: object, *, upper: bool) -> Fraction | None:
    """Return q or 1 - q exactly; None if q is NaN or infinite."""
    if not_finite(q) is not None:
        return None
    exact = exact_rational(q, "q")
    return 1 - exact if upper else exact


def _quantile(spec: LawSpec, level: Fraction | None) -> float | int:
    if level is None or not 0 <= level <= 1:
        return math.nan
    if level in (0, 1):
        return math.inf if level else -math.inf
    return lower_quantile(spec, level)


def _is_float(value: float | int) -> bool:
    return isinstance(value, float) or abs(value) <= _EXACT_FLOATS


def _shown(value: float | int) -> float | int:
    return float(value) if _is_float(value) else value


def _packed(values: list[float | int]) -> NDArray[Any]:
    """Return an array of floats if these hold all values, else one of objects."""
    if all(map(_is_float, values)):
        return np.array(values, dtype=np.float64)
    packed = np.empty(len(values), dtype=object)
    packed[:] = values
    return packed


def _joined(found: _Integers, sure: _Bools, others: NDArray[Any]) -> NDArray[Any]:
    """Return `found` where it is sure and the next of `others` elsewhere, as `_packed` does."""
    least, most = int(found.min(initial=0)), int(found.max(initial=0))
    if others.dtype == np.float64 and least >= -_EXACT_FLOATS and most <= _EXACT_FLOATS:
        joined: NDArray[Any] = found.astype(np.float64)
        joined[~sure] = others
        return joined
    whole = np.where(sure, found, 0).astype(object)
    whole[~sure] = [int(x) if math.isfinite(x) else x for x in others.tolist()]
    return whole


# --- many at once


def _looked_up(spec: LawSpec, q: NDArray[Any], *, upper: bool) -> tuple[_Integers, _Bools]:
    """Return the quantiles that tails in floats prove, 0 elsewhere, and where they prove them."""
    found, sure = np.zeros(q.size, np.int64), np.zeros(q.size, np.bool_)
    if q.dtype != np.float64 or q.size < _MANY:
        return found, sure
    # The smallest k with P(X <= k) >= q is at the first tail of X that is at most 1 - q (used for
    # q > 1/2), or the last tail of -X that is at least q (q < 1/2). For q >= 1/2 floats hold 1 - q.
    of_x, of_minus_x = (_small_levels, _large_levels)[:: 1 if upper else -1]
    for levels, side in ((of_x, spec), (of_minus_x, mirrored(spec))):
        pieces = [slice(start, start + _CHUNK) for start in range(0, q.size, _CHUNK)]
        selections = [levels(q[piece]) for piece in pieces]
        count = sum(p.size for _, p in selections)
        if not count:
            continue
        find = _finder(side, min(float(p.min()) for _, p in selections if p.size), count)
        if find is None:
            continue
        for piece, (places, p) in zip(pieces, selections, strict=True):
            ms, known = find(p)
            found[piece][places] = np.where(known, ms - 1 if side is spec else 1 - ms, 0)
            sure[piece][places] = known
    return found, sure


def _small_levels(q: _Floats) -> tuple[NDArray[np.intp], _Floats]:
    """Return the places where q is between 0 and 1/2, and q there."""
    places = np.flatnonzero((q > 0) & (q < 0.5))
    return places, q[places]


def _large_levels(q: _Floats) -> tuple[NDArray[np.intp], _Floats]:
    """Return the places where q is between 1/2 and 1, and 1 - q there."""
    places = np.flatnonzero((q > 0.5) & (q < 1))
    return places, 1 - q[places]


#: Returns for each p the smallest m with P(X >= m) <= p, and whether that is proven.
_Finder = Callable[[_Floats], tuple[_Integers, _Bools]]


def _finder(spec: LawSpec, least: float, count: int) -> _Finder | None:
    """Return a finder for this many p, given the least; None if that would take too long."""
    first = math.ceil(spec.mu)
    last = max(first, tail_guess(spec, Fraction(least)))
    many = count >= MANY_TAILS and supported(spec)
    table = _table(spec, first, last, count, _FEW_TERMS_EACH if many else _TERMS_EACH)
    if table is None and many:
        by_newton = _finder_by_newton(spec, least, first, min(last, last_term(spec)))
        if by_newton is not None:
            return by_newton
        table = _table(spec, first, last, count, _TERMS_EACH)
    if table is None:
        return None
    rising = table[::-1]
    bounded = np.concatenate([[np.inf], table, [np.nan]])

    def find(p: _Floats) -> tuple[_Integers, _Bools]:
        above = rising.size - np.searchsorted(rising, p, side="right")  # how many tails are above p
        return first + above, _sure(bounded[above], bounded[above + 1], p)

    return find


def _table(spec: LawSpec, first: int, last: int, count: int, each: int) -> _Floats | None:
    """Return P(X >= m) for m = first, ..., last + 1; None if too slow for this many quantiles."""
    if supported(spec):
        found = tail_table(spec, first, last + 1, most=each * count)
        return None if found is None else in_floats(found)
    most = min(_CERTIFIED_EACH * count, _MOST_CERTIFIED)
    if last - first > most or max(abs(first), abs(last)) > _EXACT_FLOATS:
        return None
    tails: _Floats = evaluate(SF, spec, np.arange(first - 1, last + 1), bounds=False)
    return tails


def _finder_by_newton(spec: LawSpec, least: float, first: int, last: int) -> _Finder | None:
    """Return a finder for a wide law, by Newton's method; None if its tails take too long.

    First guesses are interpolated between logarithms of some tails, and Newton's method improves
    them. P(X >= m) decides together with P(X >= m + 1), which is P(X = m) less, and P(X >= m - 1),
    which is at least P(X = m) more. In a wide law P(X = m) is small beside P(X >= m).
    """
    grid = np.linspace(first, last, _GRID).astype(np.int64)
    at_grid = wide_tails_and_terms(spec, grid)
    if at_grid is None:
        return None
    # equal steps of -log p, so that an index replaces a search
    low, width = math.log(2), max(-math.log(least) - math.log(2), 1e-9)
    steps = low + width * np.linspace(0, 1, _FINE_GRID + 1)
    values = np.interp(steps, -np.log(at_grid[0]), (grid - first).astype(np.float64))
    values = np.append(values, values[-1])
    per_width = _FINE_GRID / width

    def find(p: _Floats) -> tuple[_Integers, _Bools]:
        log_p = np.log(p)
        place = np.clip((-log_p - low) * per_width, 0, _FINE_GRID)
        i = place.astype(np.int64)
        guess = values[i] + (place - i) * (values[i + 1] - values[i])
        ms, sure = first + np.rint(guess).astype(np.int64), np.zeros(p.size, np.bool_)
        todo: slice | NDArray[np.intp] = slice(None)
        for _ in range(_NEWTON_STEPS):
            m, level = ms[todo], p[todo]
            at_m = wide_tails_and_terms(spec, m)
            if at_m is None:  # no cover: it was not None on the grid
                break
            tails, terms = at_m
            before = np.where(m > first, tails + terms, np.inf)
            here, following = _sure(before, tails, level), _sure(tails, tails - terms, level)
            decided = here | following
            sure[todo] = decided
            step = np.rint((np.log(tails) - log_p[todo]) * (tails / terms))
            step = np.where(np.isfinite(step), step, 0.0).astype(np.int64)
            other = np.clip(m + step, first, last)
            ms[todo] = np.where(decided, np.where(following, m + 1, m), other)
            todo = np.flatnonzero(~sure)
            if not todo.size:
                break
        return ms, sure

    return find


def _sure(before: _Floats, tails: _Floats, p: _Floats) -> _Bools:
    """Return where P(X >= m) is certainly at most p and P(X >= m - 1) certainly is not.

    Near the smallest floats, rounding loses the margin. But there a tail is one of the two floats
    around its true value, and the strict comparisons with p are still right.
    """
    sure: _Bools = (tails < p * (1 - _IN_DOUBT)) & (before > p * (1 + _IN_DOUBT))
    return sure
