"""Groups in Series and frames of polars; this module is imported when one is passed."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..data.keys import as_numbers, digits_after_point, microseconds, places_in_order, plain
from ._groups import Groups, cells_of, refuse_keys

_NAMES = (pl.Categorical, pl.Enum)
_SIMPLE = (pl.String, pl.Binary, pl.Boolean, pl.Null)


def open_groups(counts: Any, columns: object) -> Groups:
    """Open a Series, DataFrame or LazyFrame, which is collected once; see `_groups.py`."""
    table = counts.collect() if isinstance(counts, pl.LazyFrame) else counts
    cells = cells_of(table, columns)
    series = table.get_columns() if isinstance(table, pl.DataFrame) else []
    others = [one for one in series if one.name != cells.label]
    for one in others:
        kind = one.dtype
        if not (kind.is_numeric() or kind.is_temporal() or kind in (*_NAMES, *_SIMPLE)):
            raise refuse_keys(one.name, kind)

    def build(places: NDArray[np.intp], noisy: NDArray[np.int64]) -> Any:
        if isinstance(table, pl.Series):
            return pl.Series(table.name, np.sort(noisy))
        keys = [_keys(one, places) for one in others]
        order = places_in_order(keys, noisy.tolist())
        built = {
            one.name: _series(one, [column[i] for i in order])
            for one, column in zip(others, keys, strict=True)
        }
        built[cast("str", cells.label)] = pl.Series(noisy[order])
        frame = pl.DataFrame({name: built[name] for name in table.columns})
        return frame.lazy() if isinstance(counts, pl.LazyFrame) else frame

    return Groups(cells, build)


def _keys(series: pl.Series, places: NDArray[np.intp]) -> list[Any]:
    """Return the keys at these places; times as integers in their unit."""
    kept = series.gather(places)
    kind = series.dtype
    kept = kept.cast(pl.String) if kind in _NAMES else kept
    kept = kept.to_physical() if kind.is_temporal() else kept
    return [plain(key) for key in kept.to_list()]


def _series(original: pl.Series, keys: list[Any]) -> pl.Series:
    """Return a Series of keys whose type depends on them and on the kind of the original's type."""
    kind: Any = original.dtype
    if isinstance(kind, pl.Datetime | pl.Duration):
        unit, keys = microseconds(keys, kind.time_unit)
        zone = {"time_zone": kind.time_zone} if isinstance(kind, pl.Datetime) else {}
        kind = type(kind)(unit, **zone)
    if kind.is_temporal():
        return pl.Series(keys, dtype=pl.Int64).cast(kind)
    if not kind.is_numeric():
        return pl.Series(keys, dtype=pl.String if kind in _NAMES else kind)
    numbers, keys = as_numbers(keys)
    if numbers == "decimal":
        return pl.Series(keys, dtype=pl.Decimal(38, digits_after_point(keys)))
    return pl.Series(keys, dtype=pl.Float64 if numbers == "float" else getattr(pl, numbers))
