"""Which of many keys are equal, and items of groups put in their places: in linear time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.parameter_arrays import Groups
from .engines import native

__all__ = ["group", "take_in_turn"]

#: So many keys are grouped in some 20 ms, for which Ctrl-C waits.
_PIECE = 2**22

#: The table of so many groups stays in the smallest cache; larger ones are tried if there are more.
_FEW = 256


def group(keys: NDArray[Any], most: int) -> Groups | None:
    """Group equal keys, in order of first appearance.

    Parameters
    ----------
    keys : ndarray
        One axis, contiguous, of 64-bit elements, which are equal where their bits are.
    most : int
        Of groups. If there may be as many as keys, they are grouped in any case.

    Returns
    -------
    Groups or None
        None: there are more groups.

    Examples
    --------
    >>> found = group(np.array([7, 5, 7]), 2)
    >>> found.which.tolist(), found.first.tolist(), found.counts.tolist()
    ([0, 1, 0], [0, 1], [2, 1])
    >>> group(np.array([7, 5, 7]), 1) is None
    True
    """
    if keys.size <= _PIECE:
        return _group_piece(keys, most)
    pieces = [keys[start : start + _PIECE] for start in range(0, keys.size, _PIECE)]
    found = []
    for piece in pieces:
        groups = _group_piece(piece, piece.size if most >= keys.size else most)
        if groups is None:
            return None
        found.append(groups)
    heads = [piece[groups.first] for piece, groups in zip(pieces, found, strict=True)]
    keys_once = np.concatenate(heads)
    together = _group_piece(keys_once, keys_once.size if most >= keys.size else most)
    if together is None:
        return None
    ends = np.cumsum([len(head) for head in heads])
    renumbered = np.split(together.which, ends[:-1])
    which = [new[groups.which] for new, groups in zip(renumbered, found, strict=True)]
    first = [i * _PIECE + groups.first.astype(np.int64) for i, groups in enumerate(found)]
    counts = np.zeros(len(together.first), np.int64)
    np.add.at(counts, together.which, np.concatenate([groups.counts for groups in found]))
    return Groups(np.concatenate(which), np.concatenate(first)[together.first], counts)


def _group_piece(keys: NDArray[Any], most: int) -> Groups | None:
    if native is not None:
        for at_most in sorted({min(_FEW, most), min(most, keys.size)}):
            found = _group_in_core(keys, at_most)
            if found is not None:
                return found
        if most < keys.size:
            return None
    places: dict[int, int] = {}
    which = [places.setdefault(key, len(places)) for key in keys.view(np.int64).tolist()]
    if len(places) > most:
        return None
    grouped = np.array(which, np.int32)
    # of equal numbers the one assigned last stays: that of the first key
    first = np.empty(len(places), np.int64)
    first[grouped[::-1]] = np.arange(keys.size - 1, -1, -1)
    return Groups(grouped, first, np.bincount(grouped))


def _group_in_core(keys: NDArray[Any], most: int) -> Groups | None:
    ffi = native.ffi
    which, first = np.empty(keys.size, np.int32), np.empty(most, np.int32)
    counts, n_groups = np.empty(most, np.int64), ffi.new("size_t *")
    status = native.lib.dg_group(
        ffi.from_buffer("int32_t[]", which),
        ffi.from_buffer("int32_t[]", first),
        ffi.from_buffer("int64_t[]", counts),
        n_groups,
        ffi.from_buffer("uint64_t[]", keys),
        keys.size,
        most,
    )
    if status != native.lib.DG_OK:
        raise MemoryError
    n = int(n_groups[0])
    return None if n > most else Groups(which, first[:n].astype(np.int64), counts[:n].copy())


def take_in_turn(
    out: NDArray[Any], items: NDArray[Any], begin: NDArray[np.int64], which: NDArray[np.int32]
) -> None:
    """Let out[i] be the next item of group which[i]; group g's begin at begin[g].

    Examples
    --------
    >>> out = np.empty(3, np.int64)
    >>> take_in_turn(out, np.array([5, 71, 72]), np.array([1, 0]), np.array([0, 1, 0], np.int32))
    >>> out.tolist()
    [71, 5, 72]
    """
    if native is None or out.dtype == object:
        out[np.argsort(begin[which], kind="stable")] = items
        return
    ffi, following = native.ffi, begin.astype(np.int64)
    for start in range(0, out.size, _PIECE):
        piece, groups = out[start : start + _PIECE], which[start : start + _PIECE]
        native.lib.dg_take_in_turn(
            ffi.from_buffer("char[]", piece, require_writable=True),
            ffi.from_buffer("char[]", items),
            piece.itemsize,
            ffi.from_buffer("int64_t[]", following),
            ffi.from_buffer("int32_t[]", groups),
            piece.size,
        )
