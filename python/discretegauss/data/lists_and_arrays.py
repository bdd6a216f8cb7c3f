"""Lists, tuples and dicts, one integer, and numpy's arrays."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import if_loaded
from .cells import Cells, Container, from_floats, from_objects, refuse_type
from .frame_columns import open_alone


def open_objects(values: Any, *, floats: bool) -> Container:
    """Open a list, a tuple or a dict's values of integers, Decimals and Nones, or one of these."""
    if isinstance(values, list | tuple) and any(isinstance(x, list | tuple) for x in values[:1]):
        raise refuse_type("rows of them: pass numpy.array(values)")
    is_dict, is_one = isinstance(values, dict), not isinstance(values, dict | list | tuple)
    elements = values.values() if is_dict else [values] if is_one else values
    cells, close = from_objects(elements, floats=floats)

    def rebuilt(results: NDArray[Any]) -> Any:
        noisy = close(results)
        if is_one or isinstance(values, list):
            return noisy[0] if is_one else noisy
        if is_dict:  # dict.update, because that of a Counter adds; keys and their order stay
            result = copy(values)
            dict.update(result, zip(values, noisy, strict=True))
            return result
        return values._make(noisy) if hasattr(values, "_make") else tuple(noisy)  # a namedtuple

    return open_alone((cells, rebuilt))


def open_array(values: NDArray[Any], *, floats: bool, named: object = None) -> Container:
    """Open an array. Masked elements are nulls."""
    plain = np.asarray(values)
    masked: Any = values if isinstance(values, if_loaded("numpy.ma", "MaskedArray")) else None
    nulls = None if masked is None else np.ma.getmaskarray(masked)
    if plain.dtype == object:
        elements = plain.copy()
        if nulls is not None:
            elements[nulls] = None
        cells, objects = from_objects(elements.ravel().tolist(), floats=floats)
    else:
        cells = Cells(integers_of(plain, nulls, floats=floats), nulls)

    def close(results: NDArray[Any]) -> NDArray[Any]:
        if plain.dtype == object:
            shaped = np.empty(plain.shape, object)
            shaped.reshape(-1)[:] = objects(results)
            results = shaped
        if nulls is None:
            return results
        noisy = np.ma.MaskedArray(results, mask=nulls.copy(), hard_mask=masked.hardmask)
        if masked.dtype.kind != "f":  # for floats it is 1e20, beyond int64
            with suppress(TypeError, OverflowError):  # the result's dtype cannot hold it
                noisy.fill_value = masked.fill_value
        return noisy

    container = open_alone((cells, close), named)
    return container._replace(n_columns=max(1, prod(values.shape[1:])))


def integers_of(
    array: NDArray[Any], nulls: NDArray[np.bool_] | None, *, floats: bool
) -> NDArray[Any]:
    """Return an array of machine numbers as integers, with any values at nulls."""
    if array.dtype.kind == "f":
        return from_floats(array, nulls, allowed=floats)
    if array.dtype.names is not None:
        raise refuse_type("records: pass one field of them, values['...']")
    if array.dtype.kind not in "iu":
        raise refuse_type(array.dtype.name)
    return array
