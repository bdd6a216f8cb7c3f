"""Checks that the rows of a table are distinct groups of records, by their key columns."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import describe
from ..data.labelled_table import LabelledTable
from ..data.totals import joined
from ..errors import DiscreteGaussError, ParameterValueError

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
    names, of_counts = Counter([*table.labels(), *table.levels()]), set(counts)
    for name in by:
        if name in of_counts:
            raise ParameterValueError(f"by must not name a column of counts, got {describe(name)}")
        if names[name] != 1:
            fault = "there twice" if names[name] else "not there"
            raise ParameterValueError(
                f"by must name columns of the frame, but {describe(name)} is {fault}"
            )
    if by:
        require_groups(joined([table.groups(name) for name in by]), by)
    else:
        require_groups(np.arange(len(table.table)), by)
