"""Checks of a day's label, of the names of series, and of a day's counts.

No message shows a count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._inputs.messages import describe, refused
from ..._inputs.numbers import whole_number
from ...errors import ParameterOverflowError, ParameterTypeError, ParameterValueError

ROOM = 2**62
"""Weighted sums, and totals, stay below it."""

Key = str | tuple[str, ...]
Day = date | int


def checked_keys(keys: Any, name: str) -> tuple[Key, ...]:
    """Return names of series as texts, which must differ; an integer is its digits."""
    if isinstance(keys, str | bytes) or not hasattr(keys, "__len__"):
        raise ParameterTypeError(f"{name} must be a sequence of names, got {describe(keys)}")
    found = tuple([_key(key, name) for key in keys])
    if not found:
        raise ParameterValueError(f"{name} must have at least one name")
    if len(set(found)) < len(found):
        raise ParameterValueError(f"{name} must have different names, but two are the same")
    return found


def _key(key: object, name: str) -> Key:
    if isinstance(key, tuple):
        return tuple([str(_key(part, name)) for part in key])
    if isinstance(key, bool | np.bool_) or not isinstance(key, str | int | np.integer):
        raise ParameterTypeError(
            f"{name} must be texts or integers, or tuples of them, got {type(key).__name__}"
        )
    return str(key)


def checked_counts(
    counts: Any, keys: tuple[Key, ...] | None
) -> tuple[NDArray[np.int64], Sequence[Any] | None]:
    """Return a day's counts in the order of the keys, and the index of a Series or frame."""
    got, index = f"got {type(counts).__name__}", None
    if keys is None:
        try:
            values = np.array([whole_number(counts, "counts", minimum=-ROOM)], np.int64)
        except ParameterTypeError:
            raise ParameterTypeError(f"counts must be an integer, {got}") from None
        except (ParameterValueError, OverflowError):
            raise _too_large() from None
    elif hasattr(counts, "reindex"):  # of pandas
        if hasattr(counts, "columns"):
            if len(counts.columns) != 1:
                n = len(counts.columns)
                raise ParameterValueError(f"counts must have one column besides its index, got {n}")
            counts = counts.iloc[:, 0]
        index = counts.index
        values = counts.to_numpy()[order_of(index.tolist(), keys)]
    elif isinstance(counts, np.ma.MaskedArray | str | bytes) or not hasattr(counts, "__len__"):
        raise ParameterTypeError(f"counts must be {len(keys)} integers, {got}")
    else:
        values = np.asarray(counts)
    if values.dtype.kind not in "iu":
        raise ParameterTypeError(f"counts must be integers of 64 bits, {got} of {values.dtype}")
    if keys is not None and values.shape != (len(keys),):
        raise ParameterValueError(
            f"counts must be {len(keys)} integers, one for each key, got {values.shape}"
        )
    if max(int(values.max()), -int(values.min())) >= ROOM:
        raise _too_large()
    return values.astype(np.int64), index


def _too_large() -> ParameterOverflowError:
    return ParameterOverflowError("counts must be below 2**62 in size")


def shown(
    row: NDArray[np.int64],
    keys: tuple[Key, ...] | None,
    name: str = "",
    index: Sequence[Any] | None = None,
) -> Any:
    """Return a row as the counts came: an int, an array, or a Series with this index."""
    if keys is None:
        return int(row[0])
    if index is None:
        return row.copy()
    import pandas as pd

    places = np.argsort(order_of(list(index), keys))
    return pd.Series(row[places], index=index, name=name)


def order_of(index: Sequence[Any], keys: Sequence[Key]) -> NDArray[np.int64]:
    """Return the places of the keys in an index, which must have the same ones."""
    given = checked_keys(index, "counts")
    if len(given) != len(keys) or set(given) != set(keys):
        raise ParameterValueError(
            "counts must have the keys of the first day, no more and no fewer: a new one would "
            "tell that somebody is in it"
        )
    places = {key: i for i, key in enumerate(given)}
    return np.array([places[key] for key in keys], np.int64)


def checked_day(day: object) -> Day:
    """Return a day's label, which is a date or a whole number."""
    rule = "be a date, such as 2026-11-28, or a whole number"
    if isinstance(day, datetime):
        if day.time() != time(0) or day.tzinfo is not None:
            raise refused("day", f"{rule}, without a time of day", str(day))
        return day.date()
    if isinstance(day, date):
        return day
    if isinstance(day, str):
        try:
            if re.fullmatch(r"\d{4}-\d\d-\d\d", day, re.ASCII):
                return date.fromisoformat(day)
        except ValueError:
            pass
        raise refused("day", rule, day)
    try:
        number = whole_number(day, "day", minimum=0)
    except ParameterTypeError:
        raise refused("day", rule, day, ParameterTypeError) from None
    if number >= 2**63:
        raise refused("day", "be below 2**63", number, ParameterOverflowError)
    return number


def number_of_day(label: Day) -> int:
    """Return a number that grows by 1 a day."""
    return label if isinstance(label, int) else label.toordinal()


def day_after(label: Day) -> Day:
    """Return the next day's label."""
    number = number_of_day(label) + 1
    return number if isinstance(label, int) else date.fromordinal(number)
