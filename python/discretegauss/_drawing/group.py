"""Which of many keys are equal, and where those of a group are: in linear time, without a sort."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .engines import native

__all__ = ["group", "places_by_group"]

#: The places of more keys do not fit the 32 bits that the core counts them in.
_MOST_KEYS = 2**31 - 1


def group(keys: NDArray[Any], most: int) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Group equal keys.

    Parameters
    ----------
    keys : ndarray
        One axis, contiguous, of 64-bit elements, which are equal where their bits are.
    most : int
        Of groups. If there may be as many as keys, they are grouped in any case.

    Returns
    -------
    which, first : ndarray, or None
        For each key its group, and for each group the place of its first key; groups are numbered
        in order of first appearance. None: there are more groups.

    Examples
    --------
    >>> which, first = group(np.array([7, 5, 7]), 2)
    >>> which.tolist(), first.tolist(), group(np.array([7, 5, 7]), 1)
    ([0, 1, 0], [0, 1], None)
    """
    if keys.size > _MOST_KEYS:
        return None
    if native is not None:
        found = _group_in_core(keys, most)
        if found is not None or most < keys.size:
            return found
    places: dict[int, int] = {}
    which = [places.setdefault(key, len(places)) for key in keys.view(np.int64).tolist()]
    if len(places) > most:
        return None
    grouped = np.array(which, np.int32)
    # of equal numbers the one assigned last stays: that of the first key
    first = np.empty(len(places), np.int32)
    first[grouped[::-1]] = np.arange(keys.size - 1, -1, -1)
    return grouped, first


def _group_in_core(
    keys: NDArray[Any], most: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    ffi, most = native.ffi, min(most, keys.size)
    which, first = np.empty(keys.size, np.int32), np.empty(most, np.int32)
    n_groups = ffi.new("size_t *")
    status = native.lib.dg_group(
        ffi.from_buffer("int32_t[]", which),
        ffi.from_buffer("int32_t[]", first),
        n_groups,
        ffi.from_buffer("uint64_t[]", keys),
        keys.size,
        most,
    )
    if status != native.lib.DG_OK:
        raise MemoryError
    n = int(n_groups[0])
    return None if n > most else (which, first[:n].copy())


def places_by_group(which: NDArray[np.int32], begin: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the members of each group, in order: group g's from begin[g] on.

    Examples
    --------
    >>> places_by_group(np.array([0, 1, 0], np.int32), np.array([1, 0])).tolist()
    [1, 0, 2]
    """
    if native is not None:
        places, following = np.empty(which.size, np.int64), begin.astype(np.int64)
        native.lib.dg_places(
            native.ffi.from_buffer("int64_t[]", places),
            native.ffi.from_buffer("int64_t[]", following),
            native.ffi.from_buffer("int32_t[]", which),
            which.size,
        )
        return places
    return np.argsort(begin[which], kind="stable")
