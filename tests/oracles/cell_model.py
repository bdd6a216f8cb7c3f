"""A model of the cell sampler in plain Python, written from tests/vectors/README.md.

Ball arithmetic (python-flint) decides every comparison with the law, at any precision that it
needs. There are no arcs and no error bounds here. A table is computed from a few numbers (`Facts`).
The model in C is tests/fuzz/cell_model.c, which reads a table's rows instead of computing them.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from exact_law import ExactLaw, leading_ones
from keystream import Tape

__all__ = ["CellModel", "Facts", "Height"]

SPECIAL = 255
"""The code of a piece whose cells are special."""

_Share = tuple[int, int]  # positions, code
_COUNT = itemgetter(0)

_TICK_BITS = 48
_HEIGHT_BYTES = 2
_CHUNK = 8192
_BATCH = 1024
_REST_BYTES = 8192  # of a batch, about


class Facts(NamedTuple):
    """The numbers that determine a table."""

    index_bits: int
    block_bits: int
    tail_bits: int
    height: int
    first_block: int
    last_block: int
    coded_first: int
    coded_last: int


class Height(NamedTuple):
    """The bits of a height that are read first, and where on the tape they stand."""

    bits: int
    at: int


class CellModel:
    """A table, and draws from it."""

    def __init__(self, law: Any, facts: Facts) -> None:
        self.facts = facts
        self.law = ExactLaw(law)
        over = max(0, facts.block_bits - _TICK_BITS)
        self.rest_bytes = -(-over // 8)
        self.tick_bits = facts.block_bits - 8 * self.rest_bytes
        self._batch = _BATCH
        if self.rest_bytes * _BATCH > _REST_BYTES:
            self._batch = _REST_BYTES // self.rest_bytes + 1
        self.chunk = self._batch if self.rest_bytes > 0 else _CHUNK
        self.full: list[int] = []
        self.partial: list[tuple[int, int]] = []
        counts = {}
        for block in range(facts.first_block, facts.last_block + 1):
            counts[block], n_cells = self._cells_of(block)
            self.partial += [(block, level) for level in range(counts[block], n_cells)]
        coded = range(facts.coded_first, facts.coded_last + 1)
        for block in [*coded, *(block for block in counts if block not in coded)]:
            self.full += [block] * counts[block]
        self._first_cell = {block: self.full.index(block) for block in coded}
        n_rows, self._n_positions = 1 << -(-facts.index_bits // 2), 1 << facts.index_bits // 2
        self._n_coded = sum(counts[block] for block in coded)
        n_special = n_rows * self._n_positions - self._n_coded
        of_codes = [counts[block] for block in coded]
        self.rows = lay_out_rows(of_codes, n_special, n_rows, self._n_positions)

    def _cells_of(self, block: int) -> tuple[int, int]:
        """Return the number of full cells of a block of the core, and of all its cells."""
        w = 1 << self.facts.block_bits
        ends = (block * w, block * w + w - 1)
        near, far = ends if block >= 0 else ends[::-1]
        at_most, exact = self.law.floor(self.facts.height, near)
        return self.law.floor(self.facts.height, far)[0], at_most + (not exact)

    # --- draws -------------------------------------------------------------------------------

    def draw(self, n: int, tape: Tape) -> list[int]:
        """Return n draws."""
        out: list[int] = []
        while len(out) < n:
            out += self._draw_chunk(min(self.chunk, n - len(out)), tape)
        return out

    def _draw_chunk(self, n: int, tape: Tape) -> list[int]:
        out = [0] * n
        pending = list(range(n))
        while pending:
            failed = []
            for start in range(0, len(pending), self._batch):
                batch = pending[start : start + self._batch]
                for i, y in zip(batch, self._draw_batch(len(batch), tape), strict=True):
                    if y is None:
                        failed.append(i)
                    else:
                        out[i] = self.law.c + y
            pending = failed
        return out

    def _draw_batch(self, n: int, tape: Tape) -> list[int | None]:
        """Return the outcomes of n attempts: y, or None for a failure."""
        rows = [self.rows[byte % len(self.rows)] for byte in tape.read(n)]
        ticks = self._ticks(n, tape)
        cells = [
            self._cell(row, tape.read(1)[0] % self._n_positions if row.is_mixed else 0)
            for row in rows
        ]
        heights = [self._height(tape) if cell >= self._n_coded else None for cell in cells]
        rests = [self._integer(self.rest_bytes, tape) for _ in cells]
        return [
            self._attempt(*attempt, tape)
            for attempt in zip(cells, ticks, heights, rests, strict=True)
        ]

    def _height(self, tape: Tape) -> Height:
        at = tape.used
        return Height(self._integer(_HEIGHT_BYTES, tape), at)

    def _cell(self, row: Row, position: int) -> int:
        """Return the number of a cell, or if it is full that of the first cell of its block."""
        code = row.code[(position >= row.end[0]) + (position >= row.end[1])]
        if code == SPECIAL:
            return self._n_coded + (position + row.special) % 2**16
        return self._first_cell[self.facts.coded_first + code]

    def _ticks(self, n: int, tape: Tape) -> list[int]:
        """Return n ticks, read in planes: their bytes, lowest first, then what bits are left."""
        ticks = [0] * n
        for bit in range(0, self.tick_bits // 8 * 8, 8):
            for i, byte in enumerate(tape.read(n)):
                ticks[i] += byte << bit
        for bit in range(self.tick_bits // 8 * 8, self.tick_bits):
            plane = self._integer(-(-n // 8), tape)
            for i in range(n):
                ticks[i] += (plane >> i & 1) << bit
        return ticks

    @staticmethod
    def _integer(n_bytes: int, tape: Tape) -> int:
        return int.from_bytes(tape.read(n_bytes), "little")

    def _attempt(
        self, cell: int, tick: int, height: Height | None, rest: int, tape: Tape
    ) -> int | None:
        """Return y, or None if the attempt fails."""
        facts = self.facts

        def integer_of(block: int) -> int:
            return ((block << self.tick_bits) + tick << 8 * self.rest_bytes) + rest

        if cell < len(self.full):
            return integer_of(self.full[cell])
        assert height is not None  # the cell is special
        cell -= len(self.full)
        if cell < len(self.partial):
            block, m = self.partial[cell]
            y = integer_of(block)
            return y if self._below(y, 0, m, height, tape) else None
        cell -= len(self.partial)
        for left in (True, False):
            if cell < 2 << facts.tail_bits:
                level = self._level(tape)
                out = (level << facts.tail_bits) + cell % (1 << facts.tail_bits)
                y = integer_of(facts.first_block - 1 - out if left else facts.last_block + 1 + out)
                return y if self._below(y, level, 0, height, tape) else None
            cell -= 2 << facts.tail_bits
        return None

    def _level(self, tape: Tape) -> int:
        """Return how many one bits come before the first zero bit."""
        count = 0
        while (byte := tape.read(1)[0]) == 0xFF:
            count += 8
        return count + leading_ones(byte)

    def _below(self, y: int, level: int, m: int, height: Height, tape: Tape) -> bool:
        """Return whether m + f' < 2**level H g(y); f' begins with the height, the tape has more."""
        scale, n_bits = self.facts.height << level, 8 * _HEIGHT_BYTES
        bits = self.bits_of(
            height, lambda: self.law.floor(scale << n_bits, y, m << n_bits)[0], tape
        )
        return self.law.is_below(y, scale, m, bits, n_bits, tape)

    def bits_of(self, height: Height, doubtful: Callable[[], int], tape: Tape) -> int:
        """Return the bits of a height; `doubtful` tells which ones would not decide."""
        return height.bits


# --- rows ------------------------------------------------------------------------------------


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
