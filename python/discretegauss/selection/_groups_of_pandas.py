"""Groups in columns and frames of pandas; this module is imported when one is passed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..data.keys import places_in_order, plain
from ._groups import Groups, cells_of


def open_groups(counts: Any, columns: object) -> Groups:
    """Open a column or frame; see `_groups.py`.

    An index may be a key, or places, which tell how many groups were dropped between the kept ones.
    The type of the index does not say which, because it depends on all rows. So a level without a
    name is a key only if there are no other keys in columns, and no kept label is a number.
    """
    cells = cells_of(counts, columns)
    is_frame = isinstance(counts, pd.DataFrame)
    at = list(counts.columns).index(cells.label) if is_frame else 0
    others = [i for i in range(counts.shape[1]) if i != at] if is_frame else []

    def build(places: NDArray[np.intp], noisy: NDArray[np.int64]) -> Any:
        if not isinstance(counts, pd.DataFrame | pd.Series):
            noisy = np.sort(noisy)
            return pd.Index(noisy, name=counts.name) if _is_index(counts) else pd.array(noisy)
        names = counts.index.names
        unnamed = counts.index.set_names([None] * len(names))  # whose levels are found by place
        originals = [unnamed.get_level_values(i) for i in range(len(names))]
        originals += [counts.iloc[:, i] for i in others]
        keys = [_keys(original, places) for original in originals]
        levels = [
            i
            for i, name in enumerate(names)
            if name is not None or not (others or any(map(_is_number, keys[i])))
        ]
        columns = range(len(names), len(keys))
        order = places_in_order([keys[i] for i in (*levels, *columns)], noisy.tolist())
        built = {i: _column(originals[i], keys[i], order) for i in (*levels, *columns)}
        index = _index([built[i] for i in levels], [names[i] for i in levels])
        ordered = pd.Series(noisy[order], index, name=None if is_frame else counts.name)
        if not is_frame:
            return ordered
        arrays = [built[i].array for i in columns]
        arrays.insert(at, ordered.array)
        frame = pd.DataFrame(dict(enumerate(arrays)), index)
        frame.columns = _labels(counts.columns)
        return frame

    return Groups(cells, build)


def _is_index(values: object) -> bool:
    return isinstance(values, pd.Index)


def _is_number(key: object) -> bool:
    return isinstance(key, Number) and not isinstance(key, bool)


def _keys(column: Any, places: NDArray[np.intp]) -> list[Any]:
    return [_key(key) for key in column.take(places).tolist()]


def _key(key: Any) -> Any:
    if isinstance(key, pd.Interval):
        return pd.Interval(plain(key.left), plain(key.right), key.closed)
    return None if pd.api.types.is_scalar(key) and pd.isna(key) else plain(key)


def _column(original: Any, keys: Sequence[Any], order: Sequence[int]) -> Any:
    """Return a column of the type that pandas infers, with times in microseconds if they fit.

    Categories are in the order of their values, because any other order is that of all rows.
    """
    ordered = [keys[i] for i in order]
    column = pd.Series(ordered)
    if column.dtype.kind == "f" and _has_large_integers(ordered):
        column = pd.Series(ordered, dtype="Int64")
    if column.dtype.kind in "mM":
        with suppress(ValueError):  # out of bounds
            rounded = column.dt.as_unit("us")
            column = rounded if ((rounded == column) | column.isna()).all() else column
    is_category = isinstance(original.dtype, pd.CategoricalDtype)
    return pd.Series(pd.Categorical(column)) if is_category else column


def _has_large_integers(keys: Sequence[Any]) -> bool:
    """Return whether keys are integers and nulls, and floats would not be equal to the integers."""
    known = [key for key in keys if key is not None]
    return all(isinstance(key, int) for key in known) and any(abs(key) > 2**53 for key in known)


def _index(columns: Sequence[Any], names: Sequence[Any]) -> Any:
    if not columns:
        return None
    if len(columns) == 1:
        return pd.Index(columns[0], name=names[0], tupleize_cols=False)
    return pd.MultiIndex.from_arrays([column.array for column in columns], names=names)


def _labels(columns: Any) -> Any:
    """Return the labels of columns, without levels and categories that none of them has."""
    if isinstance(columns, pd.MultiIndex):
        return pd.MultiIndex.from_tuples(list(columns), names=columns.names)
    return pd.Index(list(columns), name=columns.name, tupleize_cols=False)
