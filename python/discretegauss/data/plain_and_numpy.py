"""Lists, tuples and dicts, one integer, and numpy's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import if_loaded
from .cells import Cells, Opened, from_floats, from_objects, refuse_type


def open_sequence(values: Sequence[Any], *, floats: bool) -> Opened:
    """Open a list or tuple of integers, Decimals and Nones; they have room for any sum."""
    if any(isinstance(x, list | tuple) for x in values[:1]):
        raise refuse_type("rows of them: pass numpy.array(values)")
    cells, close = from_objects(values, floats=floats)

    def close_sequence(results: list[NDArray[Any]]) -> Any:
        noisy = close(results[0])
        if isinstance(values, list):
            return noisy
        return values._make(noisy) if hasattr(values, "_make") else tuple(noisy)  # a namedtuple

    return Opened([cells], 1, close_sequence)


def open_dict(values: dict[Any, Any], *, floats: bool) -> Opened:
    """Open a dict whose values are such: a Counter, say. Keys and their order stay."""
    cells, close = from_objects(values.values(), floats=floats)

    def close_dict(results: list[NDArray[Any]]) -> dict[Any, Any]:
        noisy = copy(values)
        dict.update(noisy, zip(values, close(results[0]), strict=True))  # a Counter's own adds
        return noisy

    return Opened([cells], 1, close_dict)


def open_integer(value: Any) -> Opened:
    """Open a single integer, Python's or numpy's, or a Decimal."""
    cells, close = from_objects([value], floats=False)
    return Opened([cells], 1, lambda results: close(results[0])[0])


def open_array(values: NDArray[Any], *, floats: bool) -> Opened:
    """Open an array, with or without a mask; nulls are what the mask covers."""
    plain = np.asarray(values)
    masked: Any = values if isinstance(values, if_loaded("numpy.ma", "MaskedArray")) else None
    nulls = None if masked is None else np.ma.getmaskarray(masked)

    def close(results: NDArray[Any]) -> NDArray[Any]:
        if nulls is None:
            return results
        noisy = np.ma.MaskedArray(results, mask=nulls.copy(), hard_mask=masked.hardmask)
        if masked.dtype.kind != "f":  # 1e20 for those
            with suppress(TypeError, OverflowError):  # no room
                noisy.fill_value = masked.fill_value
        return noisy

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
    if array.dtype.names is not None:
        raise refuse_type("records: pass one field of them, values['...']")
    if array.dtype.kind not in "iu":
        raise refuse_type(array.dtype.name)
    return array
