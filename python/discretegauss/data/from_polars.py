"""Series and frames of polars; this module is imported when one is passed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .cells import INT128_RANGE, Cells, Container, from_decimals, from_objects, refuse_type
from .frame_columns import Column, open_alone, open_frame
from .lists_and_arrays import integers_of

_DIGITS = 38
"""The most digits of a Decimal."""

_WIDE: tuple[Any, ...] = tuple(
    getattr(pl, name) for name in ("Int128", "UInt128") if hasattr(pl, name)
)
"""Integer types that numpy lacks, and older versions of polars, too."""

_NUMBERS = (
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    *(pl.Float32, pl.Float64),
)


def open_values(values: Any, columns: object, *, floats: bool) -> Container | None:
    """Open a Series, DataFrame or LazyFrame, which is collected once; None for other types."""
    if isinstance(values, pl.Series):
        return open_alone(_column(values, floats=floats), columns)
    if isinstance(values, pl.LazyFrame):
        values = values.collect()
    if not isinstance(values, pl.DataFrame):
        return None
    if isinstance(columns, pl.Expr):
        columns = pl.selectors.expand_selector(values, columns, strict=False)
    series = values.get_columns()
    return open_frame(
        values.columns,
        columns,
        lambda i: _column(series[i], floats=floats),
        lambda noisy: values.with_columns(*noisy.values(), *_bare(values, noisy)),
    )


def _bare(frame: pl.DataFrame, noisy: Collection[int]) -> Iterator[pl.Series]:
    """Yield the other columns that have nulls, with nothing in memory under these.

    Without pyarrow they stay as they are.
    """
    for i, series in enumerate(frame.get_columns()):
        has_nulls = series.null_count() or series.dtype.is_nested()
        if i in noisy or not has_nulls or series.dtype == pl.Object or not _has_pyarrow():
            continue
        yield _without_hidden(series)


def _without_hidden(series: pl.Series) -> pl.Series:
    import pyarrow as pa

    from .arrow_buffers import bare

    is_coded = isinstance(series.dtype, pl.Enum | pl.Categorical)
    plain = series.cast(pl.String) if is_coded else series
    try:
        new = cast("pl.Series", pl.from_arrow(bare(plain.to_arrow())))
    except pa.ArrowException:  # Arrow lacks integers of 128 bits
        return pl.Series(series.name, series.to_list(), series.dtype)
    return new.cast(series.dtype).alias(series.name)


def _column(series: pl.Series, *, floats: bool) -> Column:
    cells = _cells(series, floats=floats)
    return cells, lambda results: _series(series, cells, results)


def _cells(series: pl.Series, *, floats: bool) -> Cells:
    dtype = series.dtype
    if isinstance(dtype, pl.Decimal):
        return from_decimals(series.to_list(), _DIGITS - dtype.scale)
    if dtype in _WIDE:
        return from_objects(series.to_list(), floats=False)[0]._replace(range=INT128_RANGE)
    if dtype not in _NUMBERS:
        raise refuse_type(dtype)
    if not series.null_count():
        return Cells(integers_of(series.to_numpy(), None, floats=floats))
    if _has_pyarrow():
        from .from_pyarrow import open_column

        return open_column(series.to_arrow(), floats=floats)
    nulls = series.is_null().to_numpy()
    return Cells(integers_of(series.fill_null(0).to_numpy(), None, floats=floats), nulls)


def _series(original: pl.Series, cells: Cells, results: NDArray[Any]) -> pl.Series:
    name, nulls = original.name, cells.nulls
    if results.dtype == object:
        at = np.zeros(len(results), bool) if nulls is None else nulls
        sums = [None if null else x for x, null in zip(results.tolist(), at, strict=True)]
        if original.dtype in _WIDE:
            return pl.Series(name, sums, pl.Int128)
        decimals = [None if x is None else Decimal(x) for x in sums]
        return pl.Series(
            name, decimals, pl.Decimal(_DIGITS, cast("pl.Decimal", original.dtype).scale)
        )
    if nulls is None:
        return pl.Series(name, results)
    if _has_pyarrow():
        from .from_pyarrow import integer_array

        return cast("pl.Series", pl.from_arrow(integer_array(results, nulls))).alias(name)
    return pl.Series(name, results).set(pl.Series(nulls), None)


def _has_pyarrow() -> bool:
    """Return whether pyarrow can share buffers; without it, polars copies columns with nulls."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True
