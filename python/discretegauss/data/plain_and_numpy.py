"""A list, one integer, and numpy's arrays."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import if_loaded
from .cells import Cells, Opened, from_floats, from_objects, refuse_type

__all__ = ["open_array", "open_integer", "open_list"]


def open_list(values: list[Any], *, floats: bool) -> Opened:
    """Open a list of integers, Decimals and Nones; Python integers have room for any sum."""
    cells, close = from_objects(values, floats=floats)
    return Opened([cells], 1, lambda results: close(results[0]))


def open_integer(value: Any) -> Opened:
    """Open a single integer, Python's or numpy's."""
    cells, close = from_objects([value], floats=False)
    return Opened([cells], 1, lambda results: close(results[0])[0])


def open_array(values: NDArray[Any], *, floats: bool) -> Opened:
    """Open an array, with or without a mask; nulls are what the mask covers."""
    plain = np.asarray(values)
    masked = isinstance(values, if_loaded("numpy.ma", "MaskedArray"))
    nulls = np.ma.getmaskarray(values) if masked else None

    def close(results: NDArray[Any]) -> NDArray[Any]:
        if nulls is None:
            return results
        return np.ma.MaskedArray(results, mask=nulls.copy())

    n_columns = max(1, prod(values.shape[1:]))
    if plain.dtype == object:
        given = plain.copy()
        if nulls is not None:
            given[nulls] = None
        cells, objects = from_objects(given.ravel().tolist(), floats=floats)

        def close_objects(results: NDArray[Any]) -> NDArray[Any]:
            shaped = np.empty(plain.shape, object)
            shaped.reshape(-1)[:] = objects(results)
            return close(shaped)

        return Opened([cells], n_columns, lambda results: close_objects(results[0]))
    cells = Cells(integers_of(plain, nulls, floats=floats), nulls)
    return Opened([cells], n_columns, lambda results: close(results[0]))


def integers_of(
    array: NDArray[Any], nulls: NDArray[np.bool_] | None, *, floats: bool
) -> NDArray[Any]:
    """Return an array of machine numbers as integers; at nulls, anything."""
    if array.dtype.kind == "f":
        return from_floats(array, nulls, allowed=floats)
    if array.dtype.kind not in "iu":
        raise refuse_type(array.dtype.name)
    return array
