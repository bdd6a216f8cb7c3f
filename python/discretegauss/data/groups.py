"""Checks that the rows of a table are distinct groups of records, by their key columns."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import describe
from ..errors import DiscreteGaussError, ParameterTypeError, ParameterValueError
from .cells import Container
from .labelled_table import LabelledTable
from .person import (
    UNNAMED,
    Counting,
    Person,
    checked_counting,
    names_of,
    require_known,
    require_person,
)

_HASH_BITS = sys.hash_info.width
"""The bits of Python's own hash: 32 in a browser, too few for many rows."""


def group_hashes(keys: Iterable[tuple[str, ...]]) -> NDArray[np.int64]:
    """Return a hash of 64 bits of each row's keys."""
    if _HASH_BITS >= 64:
        return np.fromiter(map(hash, keys), np.int64)
    texts = (repr(key).encode("utf-8", "surrogatepass") for key in keys)
    return np.frombuffer(b"".join(blake2b(x, digest_size=8).digest() for x in texts), np.int64)


def require_groups(
    hashes: NDArray[np.int64],
    by: Sequence[object],
    error: type[DiscreteGaussError] = ParameterValueError,
    place: tuple[str, int] = ("rows", 1),
) -> None:
    """Refuse two rows of one group; the error shows no key.

    `place` is what the error counts, and the number of the first row.

    Equal hashes of different rows cause a wrong refusal. For up to 10**6 rows the probability of
    that is below 1 in 10**6.
    """
    if not by and len(hashes) > 1:
        raise error(f"by is empty, so there must be one row, got {len(hashes)}")
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    again = np.flatnonzero(ordered[1:] == ordered[:-1])
    if again.size:
        one = again[np.argmin(order[again + 1])]  # hashes of texts differ from process to process
        what, start = place
        first, second = order[one] + start, order[one + 1] + start
        names = ", ".join(map(str, by))
        raise error(f"{what} {first} and {second} must differ in by ({names})")


def require_grouped(table: LabelledTable, by: Sequence[Any], counts: Sequence[Any]) -> None:
    """Refuse a frame that lacks one of these columns, or in which two rows are one group."""
    labels, levels = table.labels(), table.levels()
    for name in by:
        if name in counts:
            raise ParameterValueError(f"by must not name a column of counts, got {describe(name)}")
        if labels.count(name) + levels.count(name) != 1:
            fault = "there twice" if name in labels or name in levels else "not there"
            raise ParameterValueError(
                f"by must name columns of the frame, but {describe(name)} is {fault}"
            )
    n_rows = len(table.column(counts[0]))
    columns = [map(repr, table.column(name)) for name in by]
    keys: Iterable[tuple[str, ...]] = zip(*columns, strict=True) if columns else [()] * n_rows
    require_groups(group_hashes(keys), by)


def counting_of(values: Any, container: Container, person: Person, by: object) -> Counting:
    """Return the counting of a container in memory; refuse it if rows are not distinct groups.

    Parameters
    ----------
    by : str or sequence of str, or None
        The columns by which the rows group records. None means all columns except the counts.
    """
    require_person(person)
    if hasattr(values, "dims") and hasattr(values, "coords"):  # a DataArray of xarray
        return _counting_of_dimensions(values, person, by)
    counts = [one.label for one in container.cells]
    if hasattr(values, "to_frame") and hasattr(values, "index"):  # a series
        values, counts = values.to_frame(UNNAMED), [UNNAMED]
    table = None
    if counts[0] is not None:
        table = LabelledTable(values, "values")
    if by is not None:
        if table is None:
            raise ParameterTypeError(
                f"by needs a frame or table, got values of type {type(values).__name__}"
            )
        counting = checked_counting(by=names_of(by, "by"), columns=container.n_columns)
    else:
        keys: tuple[Any, ...] = ()
        if table is not None:
            keys = tuple(name for name in table.labels() if name not in counts)
            keys += tuple(name for name in table.levels() if name not in keys)
        if not keys and container.n_rows != 1:
            table, keys = None, (UNNAMED,)
        counting = Counting(by=keys, columns=container.n_columns)
    if table is not None:
        require_grouped(table, counting.by, counts)
    require_known(person, [counting])
    return counting


def _counting_of_dimensions(values: Any, person: Person, by: object) -> Counting:
    """Return the counting of a DataArray: some dimensions group records, the others are columns.

    The places along a dimension must differ in its coordinate, so that no two are one group.
    """
    keys = names_of(values.dims[:1] if by is None else by, "by")
    for name in keys:
        if name not in values.dims:
            raise ParameterValueError(
                f"by must name dimensions of values, but {describe(name)} is not there"
            )
        places = values[name].values.tolist()  # 0, 1, ... without a coordinate
        table = LabelledTable({name: places, UNNAMED: places}, "values")
        require_grouped(table, [name], [UNNAMED])
    columns = math.prod(size for name, size in values.sizes.items() if name not in keys)
    counting = checked_counting(by=keys, columns=columns)
    require_known(person, [counting])
    return counting
