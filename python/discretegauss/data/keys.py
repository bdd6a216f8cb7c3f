"""Keys of groups as plain Python objects: their values, and their order.

The type of a column depends on all of its rows: one missing key makes the integers of pandas
floats, and one text makes them objects. So the same keys have the same values here, whatever the
type of the column that they stood in.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

_LARGEST = 2**53
"""Beyond it, a float may be several integers rounded."""


def plain(key: Any) -> Any:
    """Return a key, as an int if it is a float or Decimal that is whole."""
    if isinstance(key, float | np.floating):
        return int(key) if -_LARGEST <= key <= _LARGEST and key == int(key) else key
    if isinstance(key, Decimal):
        is_whole = key.is_finite() and abs(key.adjusted()) < 100 and key == int(key)
        return int(key) if is_whole else key
    return tuple(map(plain, key)) if type(key) is tuple else key


def places_in_order(columns: Sequence[Sequence[Any]], counts: Sequence[int]) -> list[int]:
    """Return the places of rows in the order of their keys; rows of equal keys by their counts.

    The first column of keys orders the rows; there may be none. The counts are published ones.
    """
    order = sorted(range(len(counts)), key=counts.__getitem__)
    for column in reversed(columns):  # each sort keeps the order of what it finds equal
        order.sort(key=[_rank(key) for key in column].__getitem__)
    return order


def _rank(key: Any) -> tuple[Any, ...]:
    """Return a tuple that compares with the rank of any other key: a kind, then a value.

    Nulls, which equal nothing, come first. A key of no kind that is known here is ordered by its
    representation.
    """
    if isinstance(key, str):
        return "text", key
    if isinstance(key, tuple):
        return "tuple", tuple(map(_rank, key))
    if key is None or (isinstance(key, float | np.floating | Decimal | datetime) and key != key):
        return ("",)
    if isinstance(key, bool | int | float | Fraction):
        return "number", key
    if isinstance(key, Decimal):
        return "number", Fraction(key) if key.is_finite() else float(key)
    if isinstance(key, np.bool_ | np.integer | np.floating):
        return "number", key.item()
    if isinstance(key, datetime | time):
        kind = "time" if isinstance(key, time) else "datetime"
        # one with an offset compares only with others that have one
        return f"{kind} {key.utcoffset() is None}", key
    if isinstance(key, date | timedelta | bytes):
        return type(key).__name__, key
    if hasattr(key, "left") and hasattr(key, "right"):  # an interval of pandas
        return type(key).__name__, _rank(key.left), _rank(key.right)
    return type(key).__name__, repr(key)


def as_numbers(keys: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return a kind of numbers that holds all keys, and the keys as such numbers; None stays.

    The kind is "float", "decimal", or the first that is large enough of "Int64", "UInt64", "Int128"
    and "UInt128".
    """
    kinds = {type(key) for key in keys}
    if any(issubclass(kind, float | np.floating) for kind in kinds):
        return "float", [None if key is None else float(key) for key in keys]
    if Decimal in kinds:
        return "decimal", [None if key is None else Decimal(key) for key in keys]
    integers = [key for key in keys if key is not None]
    least, most = min(integers, default=0), max(integers, default=0)
    for bits in (64, 128):
        if -(2 ** (bits - 1)) <= least and most < 2 ** (bits - 1):
            return f"Int{bits}", list(keys)
        if least >= 0 and most < 2**bits:
            return f"UInt{bits}", list(keys)
    return "decimal", [None if key is None else Decimal(key) for key in keys]


def digits_after_point(decimals: Sequence[Any]) -> int:
    """Return the most digits that a Decimal has after the point, without zeros at its end."""
    texts = (f"{x:f}" for x in decimals if x is not None)
    return max((len(text.partition(".")[2].rstrip("0")) for text in texts), default=0)


def microseconds(times: Sequence[Any], unit: str) -> tuple[Any, list[Any]]:
    """Return "us" and whole numbers of microseconds, or the unit and numbers that were passed.

    They stay where one of them is no whole number of microseconds, or one that is too large.
    """
    factor = {"s": 10**6, "ms": 1000, "us": 1, "ns": Fraction(1, 1000)}[unit]
    exact = [None if x is None else x * factor for x in times]
    if any(x is not None and (x.denominator > 1 or abs(x) >= 2**63) for x in exact):
        return unit, list(times)
    return "us", [None if x is None else int(x) for x in exact]
