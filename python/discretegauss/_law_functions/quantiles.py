"""ppf, isf and interval of an argument q, as scipy has them: numbers in, integers out."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._certified.float_arrays import MANY_TAILS, last_term, supported, tail_table, upper_tails
from .._certified.lattice_sums import canonical, mirrored
from .._certified.quantile import lower_quantile, tail_guess
from .._inputs.law_parameters import as_array, naming_places
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational, not_finite
from .._law import LawSpec
from ..errors import ParameterValueError
from .pointwise import SF, evaluate

__all__ = ["central_interval", "quantiles"]

#: Integers up to here are floats.
_EXACT_FLOATS = 2**53

#: From so many different q on, most are looked up in a table of tails, or found among tails.
_MANY = 16

#: A certified quantile takes longer than so many certified tails, one from the next; more than
#: these take too much memory.
_CERTIFIED_EACH, _MOST_CERTIFIED = 20, 2**16

#: Tails in floats are good to 1e-14; this near to one of them, the certified functions decide.
_IN_DOUBT = 1e-13

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


def quantiles(spec: LawSpec, q: object, *, upper: bool) -> Any:
    """Return the quantiles of q, or (upper) of 1 - q: a number or an array of numbers."""
    array = as_array(q, "q")
    if array is None:
        return _shown(_quantile(spec, _level(q, "q", upper=upper)))
    with np.errstate(all="ignore"):  # the caller's settings are for the caller's arithmetic
        given, places = _distinct(array.ravel())
        found = _looked_up(spec, given, upper=upper)
    values = given.tolist()
    levels = naming_places(
        lambda: [
            _level(value, "q", upper=upper) if known is None else None
            for value, known in zip(values, found, strict=True)
        ],
        array,
        "q",
        partial(_level, name="q", upper=upper),
    )
    results = [
        _quantile(spec, level) if known is None else known
        for level, known in zip(levels, found, strict=True)
    ]
    return _packed(results)[places].reshape(array.shape)


def _distinct(flat: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return distinct numbers and which of them each element is; objects as they stand.

    Objects are numbers of any type, or none at all: not to be sorted before they are looked at.
    """
    if flat.dtype == object:
        if not all(type(q) is float for q in flat.tolist()):
            return flat, np.arange(flat.size)
        flat = flat.astype(np.float64)
    unique, places = np.unique(flat, return_inverse=True)
    return unique, places.ravel()


def central_interval(spec: LawSpec, confidence: object) -> tuple[Any, Any]:
    """Return the quantiles of (1 - confidence)/2 and (1 + confidence)/2."""
    array = as_array(confidence, "confidence")
    if array is None:
        levels = [_checked_confidence(confidence)]
    else:
        given = array.ravel().tolist()
        levels = naming_places(
            lambda: [*map(_checked_confidence, given)], array, "confidence", _checked_confidence
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


def _level(q: object, name: str, *, upper: bool) -> Fraction | None:
    """Return q or 1 - q exactly; None for what is no finite number."""
    if not_finite(q) is not None:
        return None
    exact = exact_rational(q, name)
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
    """Return floats if they hold all values, else objects."""
    if all(map(_is_float, values)):
        return np.array(values, dtype=np.float64)
    packed = np.empty(len(values), dtype=object)
    packed[:] = values
    return packed


# --- many at once


def _looked_up(spec: LawSpec, q: NDArray[Any], *, upper: bool) -> list[int | None]:
    """Return the quantiles of distinct q that tails in floats give beyond doubt."""
    found: list[int | None] = [None] * q.size
    law = canonical(spec)
    if q.dtype != np.float64 or q.size < _MANY:
        return found
    # P(X <= k) >= q: for q > 1/2 the first tail of X at most 1 - q, for q < 1/2 the last tail of
    # -X at least q. As for isf, 1 - q is a float for q >= 1/2.
    small, large = (q > 0) & (q < 0.5), (q > 0.5) & (q < 1)
    tails_of_x, tails_of_minus_x = (small, large) if upper else (large, small)
    for chosen, side in ((tails_of_x, law), (tails_of_minus_x, mirrored(law))):
        places = np.flatnonzero(chosen)
        p = np.where(q[places] < 0.5, q[places], 1 - q[places])
        for place, m in zip(places.tolist(), _first_tails_below(side, p), strict=True):
            if m is not None:
                found[place] = m - 1 if side is law else 1 - m
    return found


def _first_tails_below(spec: LawSpec, p: _Floats) -> list[int | None]:
    """Return for each p the smallest m with P(X >= m) <= p; None where that is in doubt."""
    if not p.size:
        return []
    first = math.ceil(spec.mu)
    last = max(first, tail_guess(spec, Fraction(float(p.min()))))
    table = _table(spec, first, last, p.size)
    if table is not None:
        above = table.size - np.searchsorted(table[::-1], p, side="right")  # how many are above p
        bounded = np.concatenate([[np.inf], table, [np.nan]])
        return _sure(first + above, bounded[above], bounded[above + 1], p)
    if p.size < MANY_TAILS or not supported(spec):
        return [None] * p.size
    ms = _bisected(spec, p, first, min(last, last_term(spec)) + 1)
    before = np.where(ms > first, _tails(spec, np.maximum(ms - 1, first)), np.inf)
    return _sure(ms, before, _tails(spec, ms), p)


def _table(spec: LawSpec, first: int, last: int, wanted: int) -> _Floats | None:
    """Return P(X >= m) for m = first, ..., last + 1; None if not worth it for so many wanted."""
    if supported(spec):
        return tail_table(spec, first, last, most=1000 * wanted)
    most = min(_CERTIFIED_EACH * wanted, _MOST_CERTIFIED)
    if last - first > most or max(abs(first), abs(last)) > _EXACT_FLOATS:
        return None
    tails: _Floats = evaluate(SF, spec, np.arange(first - 1, last + 1), bounds=False)
    return tails


def _tails(spec: LawSpec, ms: _Integers) -> _Floats:
    """Return P(X >= m); NaN where it was not found."""
    tails, found = upper_tails(spec, ms)
    return np.where(found, tails, np.nan)


def _bisected(spec: LawSpec, p: _Floats, first: int, last: int) -> _Integers:
    """Return about the smallest m from first to last with P(X >= m) <= p; `last` if none."""
    low, high = np.full(p.size, first - 1), np.full(p.size, last)
    while (high - low > 1).any():
        middle = np.maximum((low + high) // 2, first)
        above = _tails(spec, middle) > p
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return high


def _sure(ms: _Integers, before: _Floats, tails: _Floats, p: _Floats) -> list[int | None]:
    """Return m where P(X >= m) is certainly at most p and P(X >= m - 1) certainly is not.

    Near the smallest floats, where the margin is lost in rounding, tails are one of the two floats
    around the true value: to be below p, or above, they must be so themselves.
    """
    below, above = tails < p * (1 - _IN_DOUBT), before > p * (1 + _IN_DOUBT)
    return [m if sure else None for m, sure in zip(ms.tolist(), below & above, strict=True)]
