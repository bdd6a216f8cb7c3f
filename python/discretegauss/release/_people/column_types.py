"""Refuse columns of people whose type cannot have the declared values.

Nobody would be counted, and a table of zeros is the silent fault of declared values.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np

from ..._inputs.messages import describe
from ...errors import ParameterTypeError, ParameterValueError
from .categories import Categories


def require_types(
    nw: Any, kinds: Mapping[str, Any], categories: Categories, sums: Iterable[str], who: str | None
) -> None:
    """Refuse columns whose types do not fit. kinds has the type of each column that is read."""
    if who is not None:
        _require_id(nw, who, kinds[who])
    for name in categories.unknown:
        _require_key(nw, name, kinds[name])
    for one in categories.dimensions:
        if one.edges is not None:
            _require_edges(nw, one.name, kinds[one.columns[0]], one.edges)
        for column, values in zip(one.columns, one.values, strict=True):
            kind = kinds[column]
            if kind in (nw.Object, nw.Unknown, nw.Binary):
                raise ParameterTypeError(
                    f"by must name columns of text, numbers, booleans or times, but {column!r} has "
                    f"{kind}: cast it to text"
                )
            for value in values:
                if value is not None and not _may_have(nw, kind, value):
                    raise ParameterTypeError(
                        f"{one.name} must be values of the column, which has {kind}, got "
                        f"{describe(value)} ({type(value).__name__}): nobody would be counted"
                    )
    for name in sums:
        if not _fits_int64(nw, kinds[name]):
            hint = "make it Int64" if kinds[name].is_integer() else "round it"
            raise ParameterTypeError(
                f"values need a column of integers, but {name!r} has {kinds[name]}: {hint}, in the "
                "unit in which you publish"
            )


def _require_id(nw: Any, name: str, kind: Any) -> None:
    """Refuse an id whose equality is not certain."""
    good = kind.is_integer() or kind.is_decimal() or kind.is_temporal()
    if good or kind in (nw.String, nw.Categorical, nw.Enum, nw.Boolean):
        return
    hint = "Int64, because floats beyond 2**53 are not distinct" if kind.is_float() else "text"
    raise ParameterTypeError(
        f"id must be a column of integers or text, but {name!r} has {kind}: make it {hint}"
    )


def _require_key(nw: Any, name: str, kind: Any) -> None:
    """Refuse unknown keys that are not the same objects of Python if and only if they are equal."""
    good = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Date)
    if not (kind.is_integer() or kind in good):
        raise ParameterTypeError(
            "unknown groups must be of text, integers, booleans or dates, but "
            f"{name!r} has {kind}: {'make it Int64' if kind.is_float() else 'cast it to text'}"
        )


def _fits_int64(nw: Any, kind: Any) -> bool:
    return bool(kind.is_integer()) and kind not in (nw.UInt64, nw.Int128, nw.UInt128)


def _require_edges(nw: Any, name: str, kind: Any, edges: Iterable[Any]) -> None:
    if not (_fits_int64(nw, kind) or kind.is_float()):
        raise ParameterTypeError(
            f"{name} must be values, not bins, because the column has {kind}: bins need Int64 or "
            "floats"
        )
    for edge in edges:
        exact = abs(edge) < 2**63 if kind.is_integer() else float(edge) == edge
        if not exact and abs(edge) != math.inf:
            raise ParameterValueError(f"{name} must have ends below 2**63, got {describe(edge)}")


def _may_have(nw: Any, kind: Any, value: Any) -> bool:
    """Return whether a column of this type may have this value. Unknown types may have any."""
    if kind in (nw.String, nw.Categorical, nw.Enum):
        return isinstance(value, str)
    if kind == nw.Boolean:
        return isinstance(value, bool)
    if kind.is_numeric():
        return not isinstance(value, bool) and _is_number_of(kind, value)
    if kind == nw.Datetime:
        aware = isinstance(value, dt.datetime) and value.tzinfo is not None
        return isinstance(value, dt.datetime) and aware == (kind.time_zone is not None)
    if kind == nw.Date:
        return isinstance(value, dt.date) and not isinstance(value, dt.datetime)
    return True


def _is_number_of(kind: Any, value: Any) -> bool:
    if kind.is_integer():
        return isinstance(value, Integral) or (
            isinstance(value, float | Decimal) and value == int(value)
        )
    if kind.is_float():
        if not isinstance(value, Integral | float):
            return False
        narrow = str(kind) == "Float32"
        return float(np.float32(value) if narrow else value) == value
    return isinstance(value, Integral | Decimal)
