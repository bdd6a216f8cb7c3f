"""Places of doubles on a grid, in integers, and back to doubles. No float arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._inputs.law_parameters import as_array, naming_places
from .._inputs.numbers import not_finite
from ..errors import ParameterValueError
from ._parameters import Range, exact_double, log2_of_grid

_MANTISSA = (1 << 52) - 1


class OnGrid(NamedTuple):
    """Doubles as (cell + offset/2**shift) grid, -1/2 <= offset/2**shift < 1/2."""

    cell: NDArray[np.int64]
    offset: NDArray[np.int64]
    shift: NDArray[np.int64]


def as_double(value: object, name: str) -> float:
    """Return a number as a double, exactly; refuse NaN."""
    infinite = not_finite(value)
    if infinite is not None:
        if math.isnan(infinite):
            raise ParameterValueError(f"{name} must not be NaN, got nan")
        return infinite
    rule = "doubles; round first, because the sensitivity is that of the doubles"
    return float(exact_double(value, name, rule))


def _value(value: object) -> float:
    return as_double(value, "values")


def as_doubles(values: object) -> NDArray[np.float64]:
    """Return a number or an array as an array of doubles, each exact; refuse NaN."""
    array = as_array(values, "values")
    if array is None:
        return np.array(_value(values))
    return naming_places(lambda: _all_doubles(array), array, "values", _value)


def _all_doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        with np.errstate(invalid="ignore"):  # a signalling NaN would warn
            doubles = array.astype(np.float64)
        if np.isnan(doubles).any():
            raise ParameterValueError("values must not be NaN, got nan")
        return doubles
    if array.dtype.kind in "iu" and array.size:
        low, high = int(array.min()), int(array.max())
        if low >= -(2**53) and high <= 2**53:
            return array.astype(np.float64)
    doubles = np.empty(array.shape, np.float64)
    doubles.reshape(-1)[:] = [_value(value) for value in array.ravel().tolist()]
    return doubles


class DoubleGrid:
    """A grid within a range."""

    def __init__(self, grid: Fraction, ends: Range) -> None:
        self._exponent = log2_of_grid(grid)
        self._lower, self._upper = float(ends.lower), float(ends.upper)
        #: The first and the last multiple of the grid strictly within the range.
        self.first = math.floor(ends.lower / grid) + 1
        self.last = math.ceil(ends.upper / grid) - 1

    def places(self, doubles: NDArray[np.float64]) -> OnGrid:
        """Return the places of doubles, one axis, after they are clamped to the range."""
        words = np.minimum(np.maximum(doubles, self._lower), self._upper).view(np.int64)
        exponents = (words >> 52) & 0x7FF
        mantissas = (words & _MANTISSA) | np.where(exponents > 0, 1 << 52, 0)
        mantissas = np.where(words < 0, -mantissas, mantissas)
        # value = mantissa 2**(exponent - 1075), so value/grid = mantissa/2**shift
        shift = self._exponent + 1075 - np.maximum(exponents, 1)
        near = (shift > 0) & (shift <= 62)
        by = np.where(near, shift, 1)
        cell = np.where(near, (mantissas + (1 << (by - 1))) >> by, 0)
        # at most 2**53, because the range is
        left = np.minimum(np.maximum(-shift, 0), 62)
        cell = np.where(shift <= 0, mantissas << left, cell)
        offset = np.where(near, mantissas - (cell << by), np.where(shift > 62, mantissas, 0))
        return OnGrid(cell, offset, np.maximum(shift, 1))

    def doubles(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return multiples of the grid as doubles, clamped to the range."""
        within = np.minimum(np.maximum(cells, self.first - 1), self.last + 1)
        doubles = np.ldexp(within.astype(np.float64), self._exponent)
        doubles[within < self.first] = self._lower
        doubles[within > self.last] = self._upper
        return doubles
