"""Which column is meant by a name."""

from __future__ import annotations

from collections.abc import Sequence

from .._inputs.messages import number_of
from ..errors import TableError


def column_index(names: Sequence[str], name: str) -> int:
    """Return the place of the only column of that name."""
    found = [i for i, other in enumerate(names) if other == name]
    if len(found) == 1:
        return found[0]
    fields = number_of(len(names), "column")
    if not found:
        raise TableError(f"the table has no column {name!r} ({fields})")
    places = " and ".join(str(i + 1) for i in found)
    raise TableError(f"columns {places} are both named {name!r}")
