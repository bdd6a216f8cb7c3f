"""Columns that a table leaves out, because another table of the plan counts them.

They would be published without noise beside the noisy counts of the other table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from .._inputs.messages import describe
from ..errors import ParameterValueError
from ._csv_rows import BLANKS
from ._destinations import identity_of
from ._person import Counting


def left_out(tables: Sequence[tuple[Path, Sequence[str]]]) -> list[frozenset[str]]:
    """Return the names of the columns that each table leaves out, without blanks at their ends.

    Each table has its file, and the names of its columns of counts.
    """
    return [
        frozenset(
            name.strip(BLANKS)
            for other, counts in tables
            for name in counts
            if not _is_only_a_place(name, file, other)
        ).difference(name.strip(BLANKS) for name in columns)
        for file, columns in tables
    ]


def _is_only_a_place(name: str, file: Path, other: Path) -> bool:
    """Return whether the name is the number of a column, in an array in another file."""
    is_array = any(path.suffix.lower() == ".npy" for path in (file, other))
    is_array |= any(Path(path.stem).suffix.lower() == ".npy" for path in (file, other))
    return is_array and name.isdecimal() and identity_of(file) != identity_of(other)


def refuse_keys(counting: Counting | None, names: Collection[object]) -> None:
    """Refuse a key of a table that the table would leave out."""
    if counting is None:
        return
    for parameter, keys in (("by", counting.by), ("across", [counting.across])):
        for key in keys:
            if key in names:
                raise ParameterValueError(
                    f"{parameter} must not name {describe(key)}, which another table of the plan "
                    "counts: it would be published without noise"
                )
