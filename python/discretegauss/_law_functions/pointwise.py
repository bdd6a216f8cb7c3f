"""The laws' functions of an argument k, with scipy's conventions: numbers or arrays give floats.

This module checks k. probability.py computes the values at integers, and array_functions.py those
of long arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._certified.floats import FIRST_BITS, Bounds, float_at_least, float_bounds, float_value
from .._certified.interval import Interval
from .._certified.probability import (
    Tail,
    log_probability,
    logpmf,
    pmf,
    probability,
    tail_above,
    tail_bound,
    tail_up_to,
)
from .._inputs.law_parameters import as_array, naming_places
from .._inputs.numbers import exact_rational, not_finite
from .._law import LawSpec
from .array_functions import array_values


class PointFunction(NamedTuple):
    """A function of the laws: at the infinities, between integers, and at integers."""

    name: str
    at_minus_infinity: float
    at_infinity: float
    between: float | None
    """None means the value at the integer below."""
    enclosure: Callable[..., Interval]
    """A function of a law, an integer and bits (pmf, logpmf), or of a tail and bits."""
    tail: Callable[[LawSpec, int], Tail] | None = None


PMF = PointFunction("pmf", 0.0, 0.0, 0.0, pmf)
LOGPMF = PointFunction("logpmf", -math.inf, -math.inf, -math.inf, logpmf)
CDF = PointFunction("cdf", 0.0, 1.0, None, probability, tail_up_to)
LOGCDF = PointFunction("logcdf", -math.inf, 0.0, None, log_probability, tail_up_to)
SF = PointFunction("sf", 1.0, 0.0, None, probability, tail_above)
LOGSF = PointFunction("logsf", 0.0, -math.inf, None, log_probability, tail_above)

#: From this many elements on, array_functions.py computes most values.
_MANY = 16

_Floats = NDArray[np.float64]


def evaluate(function: PointFunction, spec: LawSpec, k: object, *, bounds: bool) -> Any:
    """Return the function at k, a number or an array of numbers: floats, or (lower, upper)."""
    array = as_array(k, "k")
    if array is None:
        return _at_number(function, spec, k, bounds=bounds)
    with np.errstate(all="ignore"):  # the caller's settings must not apply to this arithmetic
        flat = array.ravel()
        lower, upper = naming_places(
            lambda: _at_array(function, spec, flat, bounds=bounds), array, "k", checked_point
        )
    if bounds:
        return lower.reshape(array.shape), upper.reshape(array.shape)
    return lower.reshape(array.shape)


def bound_tails(spec: LawSpec, k: object) -> Any:
    """Return `tail_bound` at k, a number or an array of numbers, rounded up."""
    return at_each(k, lambda one: _tail_bound(spec, one), checked_point)


def at_each(
    k: object,
    answer: Callable[[Any], Any],
    check: Callable[[object], object],
    *,
    pairs: bool = False,
) -> Any:
    """Return `answer` at k, a number or an array of numbers: floats, or pairs of floats.

    It is called once for each distinct element of an array of numpy's integers or floats.
    """
    array = as_array(k, "k")
    if array is None:
        return answer(k)
    flat, places = array.ravel(), np.arange(array.size)
    if flat.dtype.kind in "iuf":
        flat, places = np.unique(flat, return_inverse=True)
    found = naming_places(lambda: [answer(one) for one in flat.tolist()], array, "k", check)
    values = np.array(found, np.float64).reshape(flat.size, 2 if pairs else 1)[places.ravel()]
    if pairs:
        return values[:, 0].reshape(array.shape), values[:, 1].reshape(array.shape)
    return values.reshape(array.shape)


def checked_point(k: object) -> Fraction | float:
    """Return k as an exact number, or as a float if it is NaN or infinite."""
    special = not_finite(k)
    return exact_rational(k, "k") if special is None else special


def _tail_bound(spec: LawSpec, k: object) -> float:
    if (special := not_finite(k)) is not None:
        return math.nan if math.isnan(special) else 0.0 if special > 0 else 1.0
    return float_at_least(tail_bound(spec, math.ceil(exact_rational(k, "k")), FIRST_BITS).upper)


# --- one number


def _at_number(
    function: PointFunction, spec: LawSpec, k: object, *, bounds: bool
) -> float | Bounds:
    floor, fixed = _floor_or_value(function, k)
    if fixed is not None:
        return (fixed, fixed) if bounds else fixed
    enclosure = _enclosure(function, spec, floor)
    return float_bounds(enclosure) if bounds else float_value(enclosure)


def _floor_or_value(function: PointFunction, k: object) -> tuple[int, float | None]:
    """Return the integer below k, and the value at k if it does not depend on the law."""
    if (special := not_finite(k)) is not None:
        if math.isnan(special):
            return 0, math.nan
        return 0, function.at_infinity if special > 0 else function.at_minus_infinity
    exact = exact_rational(k, "k")
    return math.floor(exact), None if exact.denominator == 1 else function.between


def _enclosure(function: PointFunction, spec: LawSpec, k: int) -> Callable[[int], Interval]:
    if function.tail is None:
        return lambda bits: function.enclosure(spec, k, bits)
    tail = function.tail(spec, k)
    return lambda bits: function.enclosure(tail, bits)


# --- arrays


def _at_array(
    function: PointFunction, spec: LawSpec, flat: NDArray[Any], *, bounds: bool
) -> tuple[_Floats, _Floats]:
    """Return lower and upper bounds at each element, or without `bounds` the values twice."""
    floors, lower, todo = _floors(function, flat)
    if not bounds and floors.dtype == np.int64 and todo.size >= _MANY:
        values, certain = array_values(function.name, spec, floors[todo])
        lower[todo] = values
        todo = todo[~certain]
    upper = lower.copy()
    if todo.size:
        unique, places = np.unique(floors[todo], return_inverse=True)
        found = np.array([_at_integer(function, spec, k, bounds=bounds) for k in unique.tolist()])
        lower[todo], upper[todo] = found[places, 0], found[places, 1]
    return lower, upper


def _floors(
    function: PointFunction, flat: NDArray[Any]
) -> tuple[NDArray[Any], _Floats, NDArray[np.intp]]:
    """Return the integers below the elements, the values known so far, and the other places."""
    if flat.dtype.kind in "iu" and not (flat.size and int(flat.max()) >= 2**63):
        return flat.astype(np.int64), np.empty(flat.size), np.arange(flat.size)
    if flat.dtype.kind == "f" and flat.dtype.itemsize <= 8:
        floors = np.floor(flat.astype(np.float64))
        ordinary = np.abs(floors) < 2.0**62
        if (ordinary | ~np.isfinite(floors)).all():
            known = np.where(floors > 0, function.at_infinity, function.at_minus_infinity)
            known[np.isnan(floors)] = np.nan
            if function.between is not None:
                between = ordinary & (floors != flat)
                known[between] = function.between
                ordinary &= ~between
            return np.where(ordinary, floors, 0).astype(np.int64), known, np.flatnonzero(ordinary)
    integers, known, todo = np.empty(flat.size, object), np.empty(flat.size), []
    for i, k in enumerate(flat.tolist() if flat.dtype.kind != "f" else flat):
        integers[i], fixed = _floor_or_value(function, k)
        if fixed is None:
            todo.append(i)
        else:
            known[i] = fixed
    return integers, known, np.array(todo, dtype=np.intp)


def _at_integer(function: PointFunction, spec: LawSpec, k: int, *, bounds: bool) -> Bounds:
    """Return bounds at an integer, or without `bounds` the value twice."""
    enclosure = _enclosure(function, spec, k)
    if bounds:
        return float_bounds(enclosure)
    value = float_value(enclosure)
    return value, value
