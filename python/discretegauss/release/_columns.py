"""Columns of a table: which is meant by a name, and its integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import number_of
from ..errors import TableError


def column_index(
    names: Sequence[str],
    name: str,
    where: str = "",
    table: str = "the table",
    hint: str = "",
) -> int:
    """Return the place of the only column of that name; no message shows other names."""
    found = [i for i, other in enumerate(names) if other == name]
    if len(found) == 1:
        return found[0]
    if not found:
        n_columns = f"{number_of(len(names), 'column')}{hint if len(names) == 1 else ''}"
        raise TableError(f"{where}{table} has no column {name!r} ({n_columns})")
    places = " and ".join(str(i + 1) for i in found)
    raise TableError(f"{where}columns {places} are both named {name!r}")


def as_int64(integers: NDArray[Any]) -> NDArray[Any]:
    """Return integers of any width as int64, or as Python's if one does not fit."""
    if integers.dtype.kind == "u" and integers.dtype.itemsize == 8 and integers.max() > 2**63 - 1:
        return integers.astype(object)
    return integers if integers.dtype == object else integers.astype(np.int64)
