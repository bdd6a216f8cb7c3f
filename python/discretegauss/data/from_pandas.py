"""Columns and frames of pandas; this module is imported when one is passed."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .cells import Cells, Container, from_objects, refuse_type
from .frame_columns import Column, open_alone, open_frame
from .lists_and_arrays import integers_of

_NULLABLE = (
    *(pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype),
    *(pd.UInt8Dtype, pd.UInt16Dtype, pd.UInt32Dtype, pd.UInt64Dtype),
    *(pd.Float32Dtype, pd.Float64Dtype),
)


def open_values(values: Any, columns: object, *, floats: bool) -> Container | None:
    """Open a Series, Index, array or DataFrame, and keep labels and attrs; None for other types."""
    if isinstance(values, pd.MultiIndex):
        raise refuse_type("a MultiIndex")
    if isinstance(values, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        series = values if isinstance(values, pd.Series) else pd.Series(values, copy=False)
        cells, close_one = _column(series, floats=floats)

        def close(results: NDArray[Any]) -> Any:
            array = close_one(results)
            if isinstance(values, pd.Index):
                return pd.Index(array, dtype=array.dtype, name=values.name, copy=False)
            if not isinstance(values, pd.Series):
                return pd.array(array, dtype=array.dtype, copy=False)
            noisy = pd.Series(array, values.index, name=values.name, copy=False)
            return noisy.__finalize__(values)

        return open_alone((cells, close), columns)
    if not isinstance(values, pd.DataFrame):
        return None

    def replaced(noisy: dict[int, Any]) -> pd.DataFrame:
        # One new frame, because each isetitem copies the list of the other columns.
        each: dict[int, Any] = {}
        for i, (_, column) in enumerate(values.items()):
            array = noisy.get(i)
            if array is None and not isinstance(column.dtype, np.dtype):
                array = _bare(column.array)
            each[i] = column if array is None else pd.Series(array, values.index, copy=False)
        frame = pd.DataFrame(each, values.index, copy=False)
        frame.columns = values.columns
        return cast("pd.DataFrame", values._constructor(frame).__finalize__(values))

    def open_one(i: int) -> Column:
        return _column(values.iloc[:, i], floats=floats)

    return open_frame(list(values.columns), columns, open_one, replaced)


def _bare(array: Any) -> Any | None:
    """Return a column whose memory holds nothing under its nulls; None if it needs no change.

    A column of Arrow's may be a slice of others, too, and files would get some rows of these.
    """
    dtype = array.dtype
    if isinstance(dtype, (*_NULLABLE, pd.BooleanDtype)):
        nulls = np.array(array.isna())
        if not nulls.any():
            return None
        return type(array)(array.to_numpy(dtype.numpy_dtype, na_value=0), nulls)
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        from .arrow_buffers import bare

        return dtype.__from_arrow__(bare(array.__arrow_array__()))
    return None


def _column(series: pd.Series, *, floats: bool) -> Column:
    """Return the cells of a column, and a function that makes a pandas array of the results."""
    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype):
        from .from_pyarrow import close_column, open_column

        column = series.array.__arrow_array__()
        cells = open_column(column, floats=floats)
        return cells, lambda noisy: pd.arrays.ArrowExtensionArray(
            close_column(column, cells, noisy)
        )
    if dtype.kind == "O" and isinstance(dtype, np.dtype):
        cells, close = from_objects(series.array, floats=floats, is_null=_is_null)
        return cells, lambda noisy: np.fromiter(close(noisy), object)
    nulls: NDArray[np.bool_] | None
    if isinstance(dtype, np.dtype):
        numbers = series.to_numpy()
        nulls = np.isnan(numbers) if dtype.kind == "f" else None
    elif isinstance(dtype, _NULLABLE):
        nulls = np.require(series.array.isna(), requirements=["W", "O"])  # the new column keeps it
        numbers = _numbers(series, dtype.numpy_dtype)
    else:
        raise refuse_type(dtype)
    has_nulls = nulls is not None and bool(nulls.any())
    where = nulls if has_nulls else None
    cells = Cells(integers_of(numbers, where, floats=floats), where)
    if isinstance(dtype, np.dtype) and not has_nulls:
        return cells, lambda noisy: noisy
    mask = cast("NDArray[np.bool_]", nulls)
    return cells, lambda noisy: _nullable(noisy, mask)


def _nullable(numbers: NDArray[Any], mask: NDArray[np.bool_]) -> Any:
    """Return a pandas array with nulls, of integers or of float estimates."""
    of_floats = numbers.dtype.kind == "f"
    kind = pd.arrays.FloatingArray if of_floats else pd.arrays.IntegerArray
    return kind(numbers, mask.copy())  # several columns of an estimate share this mask


def _numbers(series: pd.Series, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the numbers of a nullable column, with any values at nulls.

    Only a private attribute of pandas gives them without a copy. It is used if it has the form that
    it has had since pandas 1.0; otherwise the column is copied.
    """
    data = getattr(series.array, "_data", None)
    if type(data) is np.ndarray and data.dtype == dtype and data.shape == series.shape:
        return cast("NDArray[Any]", data)
    return cast("NDArray[Any]", series.to_numpy(dtype, na_value=0))


def _is_null(x: object) -> bool:
    return x is None or x is pd.NA or (isinstance(x, float) and x != x)
