"""Groups in a container: their counts, and a new container of the kept groups alone.

A row that is dropped exists because of somebody, so nothing of the result may depend on it: no
place, order, type, category, level, dictionary, metadata or memory. A part of the input depends on
it in all of these ways. So the result is built of the kept keys and their noisy counts, as Python
objects, and of the names of the columns:

- Groups are in the order of their keys. Without keys, counts are in their own order.
- A number that is whole becomes an integer (`data/keys.py`). Counts are int64.
- Categories and dictionaries are made of the kept keys. Those of polars become text, because their
  codes are places in a list that all columns share.

Each library has a file, such as ``_groups_of_pandas.py``, with its function `open_groups`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..data.cells import Cells, is_integer
from ..data.entry import library_of, open_container
from ..data.keys import places_in_order, plain
from ..errors import ParameterTypeError


class Groups(NamedTuple):
    """The counts of all groups, and what makes a container of those that are kept."""

    cells: Cells
    #: Takes the places of the kept groups, and their noisy counts.
    build: Callable[[NDArray[np.intp], NDArray[np.int64]], Any]


def open_groups(counts: Any, columns: object) -> Groups:
    """Open a container of any kind that `keep_groups` takes."""
    library = library_of(counts)
    if library in ("pandas", "polars", "pyarrow"):
        module = import_module(f"._groups_of_{library}", __package__)
        return cast("Groups", module.open_groups(counts, columns))
    cells = cells_of(counts, columns)
    if library:
        raise ParameterTypeError(
            "counts must be a dict, a column or frame of pandas, polars or pyarrow, a list or an "
            f"array, got {type(counts).__name__}: call its to_series() first"
        )

    def build(places: NDArray[np.intp], noisy: NDArray[np.int64]) -> Any:
        if isinstance(counts, dict):
            groups, numbers = list(counts), noisy.tolist()
            keys = [plain(groups[i]) for i in places]
            return {keys[i]: numbers[i] for i in places_in_order([keys], numbers)}
        noisy = np.sort(noisy)
        if isinstance(counts, np.ndarray):
            return noisy
        return tuple(noisy.tolist()) if isinstance(counts, tuple) else noisy.tolist()

    return Groups(cells, build)


def cells_of(counts: Any, columns: object) -> Cells:
    """Return the one column of counts."""
    table = open_container(counts, columns, floats=True, name="counts")
    if len(table.cells) != 1:
        raise ParameterTypeError("columns must name the one column of counts")
    cells = table.cells[0]
    if cells.integers.ndim != 1 or is_integer(counts) or isinstance(counts, Decimal):
        raise ParameterTypeError("counts must have one axis: a count for each group")
    return cells


def refuse_keys(name: object, kind: object) -> ParameterTypeError:
    """Return the error for a column of keys that has no order, such as one of lists."""
    return ParameterTypeError(
        "counts must have keys that are text, numbers, booleans or times, but column "
        f"{name!r} has type {kind}: cast it to text"
    )
