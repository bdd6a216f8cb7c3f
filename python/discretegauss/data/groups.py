"""Checks of a table that counts people: nobody is in a total, and no row is a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import if_loaded
from ..errors import ParameterValueError
from .cells import Container
from .identifiers import FEWEST_ROWS, N_LOOKED_AT, look_like_people, names_people, refusal
from .labelled_table import LabelledTable
from .totals import Alone, require_no_total

_UNNAMED = "\0counts"
"""The label of the counts of a series, which may have none."""


def require_no_people(table: LabelledTable, others: Iterable[Any]) -> None:
    """Refuse a table if one of these columns says that each row is a person."""
    n_rows = len(table.table)
    if n_rows < FEWEST_ROWS:
        return
    for name in others:
        reads_so = names_people(name) or look_like_people(table.first(name, N_LOOKED_AT))
        if reads_so and np.unique(table.groups(name)).size == n_rows:
            raise ParameterValueError(refusal(name))


def require_counts(
    values: Any,
    container: Container,
    alone: Alone,
    by: Sequence[Any] | None = None,
) -> None:
    """Refuse a labelled container if it has a total, or if its rows look like people.

    Nothing of it is said of lists and of arrays without labels.

    `by` has the keys, if a user named them; None means all columns but the counts.
    """
    cells, keys = container.cells, list[Any]()
    counts = [one.label for one in cells]
    if isinstance(values, if_loaded("pandas", "Series")):
        if type(values.index).__name__ == "RangeIndex" and values.index.name is None:
            return
        values, counts = values.to_frame(_UNNAMED), [_UNNAMED]
    is_labelled = isinstance(values, dict)
    if isinstance(values, if_loaded("xarray", "DataArray")):
        is_labelled = any(name in values.coords for name in values.dims[:1])
    if counts[0] is None and not is_labelled:
        return

    def codes() -> list[NDArray[np.intp]]:
        return [table.groups(name) for name in keys]

    if counts[0] is not None and LabelledTable.takes(values):
        table = LabelledTable(values, "values")
        twice = Counter([*table.labels(), *table.levels()])
        others = [name for name in other_names(table, counts) if twice[name] == 1]
        keys = others if by is None else list(by)
        named = set(by or ())
        require_no_people(table, [name for name in others if name not in named])

    require_no_total(cells, alone, keys, codes)


def other_names(table: LabelledTable, counts: Sequence[Any]) -> list[Any]:
    """Return the names of the columns that are no counts, and of the index."""
    of_counts = set(counts)
    others = [name for name in table.labels() if name not in of_counts]
    known = set(others)
    return others + [name for name in table.levels() if name not in known]
