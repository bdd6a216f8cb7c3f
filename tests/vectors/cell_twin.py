"""The cell sampler in plain Python, written from README.md alone: none of the C code's bounds.

Every comparison with the law is decided in ball arithmetic (python-flint), at whatever precision it
takes; there are no lines and no error bounds here. A table is computed from five numbers (`Facts`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import NamedTuple

from flint import arb, ctx, fmpq
from keystream import Tape
from row_twin import SPECIAL, Row, lay_out_rows

from discretegauss._spec import Kind, Spec

__all__ = ["CellTwin", "Facts"]

_TICK_BITS = 48
_HEIGHT_BYTES = 7
_CHUNK = 2048
_CHUNK_BYTES = 8192


class Facts(NamedTuple):
    """What has to be told about a table; all else follows."""

    index_bits: int
    block_bits: int
    tail_bits: int
    height: int
    first_block: int
    last_block: int
    coded_first: int
    coded_last: int


class CellTwin:
    """A table, and draws from it."""

    def __init__(self, spec: Spec, facts: Facts) -> None:
        self.facts = facts
        self.c = floor(spec.mu + Fraction(1, 2))
        self._spec = spec
        self._f = spec.mu - self.c
        over = max(0, facts.block_bits - _TICK_BITS)
        self.rest_bytes = -(-over // 8)
        self.tick_bits = facts.block_bits - 8 * self.rest_bytes
        room = self.rest_bytes * _CHUNK > _CHUNK_BYTES
        self.chunk = _CHUNK if self.tick_bits <= 16 else _CHUNK // 2
        if room:
            self.chunk = _CHUNK_BYTES // self.rest_bytes + 1
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

    # --- the law -----------------------------------------------------------------------------

    def _weight(self, y: int) -> arb:
        """Return a ball that holds g(y), at the precision in force."""
        near, far = abs(self._f), abs(y - self._f)
        if near == far:
            return arb(1)
        if self._spec.kind is Kind.DISCRETE_GAUSSIAN:
            return (-_ball((far * far - near * near) / (2 * self._spec.parameter))).exp()
        beta = self._spec.beta if self._spec.kind is Kind.GENERALIZED_GAUSSIAN else Fraction(1)
        phi = [_ball(r / self._spec.parameter) ** _ball(beta) if r else arb(0) for r in (near, far)]
        return (phi[0] - phi[1]).exp()

    def _floor(self, scale: int, y: int, minus: int = 0) -> tuple[int, bool]:
        """Return floor(scale g(y) - minus), and whether that is scale g(y) - minus itself."""
        if abs(y - self._f) == abs(self._f):
            return scale - minus, True
        precision = scale.bit_length() + 64
        while True:
            ctx.prec = precision
            value = self._weight(y) * scale - minus
            whole = value.floor().unique_fmpz()
            if whole is not None:
                return int(whole), False
            precision *= 2

    def _cells_of(self, block: int) -> tuple[int, int]:
        """Return the number of full cells of a block of the core, and of all its cells."""
        w = 1 << self.facts.block_bits
        ends = (block * w, block * w + w - 1)
        near, far = ends if block >= 0 else ends[::-1]
        at_most, exact = self._floor(self.facts.height, near)
        return self._floor(self.facts.height, far)[0], at_most + (not exact)

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
            rows = [self.rows[byte % len(self.rows)] for byte in tape.read(len(pending))]
            ticks = self._ticks(len(pending), tape)
            cells = [
                self._cell(row, tape.read(1)[0] % self._n_positions if row.is_mixed else 0)
                for row in rows
            ]
            rests = [self._integer(self.rest_bytes, tape) for _ in pending]
            failed = []
            for i, cell, tick, rest in zip(pending, cells, ticks, rests, strict=True):
                y = self._attempt(cell, tick, rest, tape)
                if y is None:
                    failed.append(i)
                else:
                    out[i] = self.c + y
            pending = failed
        return out

    def _cell(self, row: Row, position: int) -> int:
        """Return the number of a cell; of a block's full cells the first will do."""
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

    def _attempt(self, cell: int, tick: int, rest: int, tape: Tape) -> int | None:
        """Return y, or None if the attempt fails."""
        facts = self.facts

        def integer_of(block: int) -> int:
            return ((block << self.tick_bits) + tick << 8 * self.rest_bytes) + rest

        if cell < len(self.full):
            return integer_of(self.full[cell])
        cell -= len(self.full)
        if cell < len(self.partial):
            block, m = self.partial[cell]
            y = integer_of(block)
            return y if self._below(y, 0, m, tape) else None
        cell -= len(self.partial)
        for left in (True, False):
            if cell < 2 << facts.tail_bits:
                level = self._leading_ones(tape)
                out = (level << facts.tail_bits) + cell % (1 << facts.tail_bits)
                y = integer_of(facts.first_block - 1 - out if left else facts.last_block + 1 + out)
                return y if self._below(y, level, 0, tape) else None
            cell -= 2 << facts.tail_bits
        return None

    def _leading_ones(self, tape: Tape) -> int:
        """Return how many one bits come before the first zero bit; most significant bit first."""
        count = 0
        while (byte := tape.read(1)[0]) == 0xFF:
            count += 8
        return count + 8 - (byte ^ 0xFF).bit_length()

    def _below(self, y: int, level: int, m: int, tape: Tape) -> bool:
        """Return whether m + f' < 2**level H g(y), f' the number of the bits read from here on."""
        scale = self.facts.height << level
        n_bits = 8 * _HEIGHT_BYTES
        height = self.read_height(tape, lambda: self._floor(scale << n_bits, y, m << n_bits)[0])
        while True:
            whole, exact = self._floor(scale << n_bits, y, m << n_bits)
            if height != whole or exact:
                return height < whole
            height = height << 64 | self._integer(8, tape)
            n_bits += 64

    def read_height(self, tape: Tape, doubtful: Callable[[], int]) -> int:
        """Return the first bits of f'; `doubtful` tells which ones would not decide."""
        return self._integer(_HEIGHT_BYTES, tape)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
