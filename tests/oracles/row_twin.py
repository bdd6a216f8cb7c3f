"""The rows of a cell table in plain Python, written from README.md alone."""

from __future__ import annotations

from bisect import bisect_right, insort
from operator import itemgetter
from typing import NamedTuple

__all__ = ["SPECIAL", "Row", "lay_out_rows"]

#: The code of a piece whose cells are special.
SPECIAL = 255

_Share = tuple[int, int]  # positions, code
_COUNT = itemgetter(0)


class Row(NamedTuple):
    """Positions below `end[0]` are of `code[0]`, below `end[1]` of [1], others of [2]."""

    end: tuple[int, int]
    code: tuple[int, int, int]
    special: int  # position p of a special piece is special cell p + special, modulo 2**16

    @property
    def is_mixed(self) -> bool:
        return self.end[0] > 0


def lay_out_rows(counts: list[int], n_special: int, n_rows: int, size: int) -> list[Row]:
    """Return the rows: code k has counts[k] positions, `size` a row."""
    whole = [count // size for count in counts]
    rest = [count % size for count in counts]
    while True:
        shares: list[_Share] = []
        for code, count in [*enumerate(rest), (SPECIAL, n_special)]:
            if count > 0:
                insort(shares, (count, code), key=_COUNT)
        n_mixed = n_rows - sum(whole)
        packed = _packed(shares, n_mixed, size) if 2 * n_mixed >= len(shares) else None
        if packed is not None:
            break
        most = whole.index(max(whole))
        whole[most] -= 1
        rest[most] += size
    packed += [[(size, code)] for code, n in enumerate(whole) for _ in range(n)]
    rows, next_special = [], 0
    for pieces in packed:
        row, used = _row(pieces, next_special)
        rows.append(row)
        next_special += used
    return rows


def _packed(shares: list[_Share], n_rows: int, size: int) -> list[list[_Share]] | None:
    """Cut ascending shares into rows of at most three pieces; None if that fails."""

    def cut(count: int) -> _Share:
        whole, code = shares.pop()
        if whole > count:
            insort(shares, (whole - count, code), key=_COUNT)
        return count, code

    rows = []
    for _ in range(n_rows):
        if shares[0][0] >= size:
            rows.append([cut(size)])
            continue
        pieces = [shares.pop(0)]
        room = size - pieces[0][0]
        beside = bisect_right(shares, room, key=_COUNT)
        if beside > 0:
            pieces.append(shares.pop(beside - 1))
            room -= pieces[1][0]
        if room > 0:
            if shares[-1][0] < room:
                return None
            pieces.append(cut(room))
        rows.append(pieces)
    return rows


def _row(pieces: list[_Share], next_special: int) -> tuple[Row, int]:
    """Return a row, and how many special cells it has."""
    codes = [code for _, code in pieces]
    first, middle, last = codes[0], codes[min(1, len(codes) - 1)], codes[-1]
    end = pieces[0][0] if len(pieces) > 1 else int(first == SPECIAL)
    special, used, start = 0, 0, 0
    for count, code in pieces:
        if code == SPECIAL:
            special, used = (next_special - start) % 2**16, count
        start += count
    return Row(
        (end, end + (pieces[1][0] if len(pieces) == 3 else 0)), (first, middle, last), special
    ), used
