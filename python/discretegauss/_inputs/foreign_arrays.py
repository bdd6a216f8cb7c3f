"""Conversion of other libraries' arrays, columns and tables to numpy without rounding integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ParameterTypeError, ParameterValueError

#: A float beyond this may be the rounded value of several integers.
_EXACT_FLOATS = 2**53


def _is_float(dtype: object) -> bool:
    """Return whether a dtype of numpy or another library is a float type."""
    kind = getattr(dtype, "kind", None)
    return kind == "f" if isinstance(kind, str) else "float" in str(dtype).lower()


def _objects(value: Any) -> NDArray[Any]:
    """Return an array of objects. A pandas column needs ``astype(object)`` to give exact ones."""
    if hasattr(value, "astype"):
        value = value.astype(object)
    objects: NDArray[Any] = np.asanyarray(value, dtype=object)
    return objects


def to_numpy_exactly(value: Any) -> NDArray[Any]:
    """Return an object with ``__array__`` as a numpy array, of objects if floats would round it.

    numpy itself makes floats of a table of integers and floats, and of integers of which some are
    missing. A mask stays, so that the caller can refuse it.
    """
    array: NDArray[Any] = np.asanyarray(value)
    dtypes = _dtypes(value)
    if array.dtype.kind != "f" or isinstance(value, np.ndarray) or dtypes is None:
        return array
    if all(map(_is_float, dtypes)):
        if all(isinstance(dtype, np.dtype) for dtype in dtypes) or not np.isnan(array).any():
            return array
        return _objects(value)  # NaN may stand for missing integers
    objects = _objects(value)
    if objects.ndim == 1 and any(isinstance(x, float) for x in objects.tolist()):
        objects[:] = list(value)  # astype(object) rounded nevertheless
    return objects


def are_rounded(array: NDArray[Any], value: Any) -> bool:
    """Return whether `array`, made from `value` by `to_numpy_exactly`, may have rounded elements.

    Some libraries return floats even if the caller requests objects: for tables with columns of
    several types, and for integers of which some are missing.
    """
    if not array.ndim or isinstance(value, np.ndarray):
        return False
    dtypes = _dtypes(value)
    if dtypes is None:  # nothing is known about its elements
        return array.dtype.kind == "f" and any(map(_may_be_several, array.ravel().tolist()))
    if array.dtype != object or array.ndim != 2:
        return False
    return any(
        any(map(_may_be_several, column.tolist()))
        for dtype, column in zip(dtypes, array.T, strict=False)
        if "int" in str(dtype).lower()
    )


def _dtypes(value: Any) -> list[Any] | None:
    """Return the dtypes of a table's columns, or of an array; None if it has no such attribute."""
    dtypes = getattr(value, "dtypes", None)  # before "dtype", which may be a column of a table
    if dtypes is None:
        dtypes = getattr(value, "dtype", None)
    if dtypes is None:
        return None
    return (
        list(dtypes)
        if isinstance(dtypes, list | tuple) or hasattr(dtypes, "__array__")
        else [dtypes]
    )


def _may_be_several(x: object) -> bool:
    return isinstance(x, float) and _EXACT_FLOATS <= abs(x) < math.inf


def single(value: Any) -> Any:
    """Return the element of an array without axes, or of an object that is one; else `value`."""
    if not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__array__"):
        array = to_numpy_exactly(value)
        return value if array.ndim else array[()]
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def array_of_list(values: ArrayLike) -> NDArray[Any]:
    """Return values as an array, of objects if numpy's floats would round an integer of a list."""
    array = np.asarray(values)
    if array.dtype.kind == "f" and isinstance(values, list | tuple):
        objects = np.asarray(values, dtype=object)
        integers = (x for x in objects.ravel().tolist() if isinstance(x, int | np.integer))
        if any(abs(int(x)) > _EXACT_FLOATS for x in integers):
            return objects
    return array


def finite_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return integers or finite floats as an array; an error names a place, never a value."""
    array = array_of_list(values)
    if array.dtype == np.longdouble or array.dtype.kind not in "fiu":
        raise ParameterTypeError(
            f"{name} must be integers or floats of at most 64 bits, got {array.dtype}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ParameterValueError(f"{name} must be finite, but is not at index {place}")
    return array
