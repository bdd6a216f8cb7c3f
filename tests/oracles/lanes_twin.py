"""Isochronous draws in plain Python, one attempt at a time, written from README.md alone."""

from __future__ import annotations

from typing import Any, NamedTuple

from exact_law import ExactLaw, leading_ones
from keystream import Tape

_POINT_BITS = 63


class LaneFacts(NamedTuple):
    """The numbers that determine how a law is drawn in lanes."""

    block_bits: int
    n_core: int
    n_tail: int
    attempt_bytes: int


class LanesTwin:
    """The draws of a fill."""

    def __init__(self, law: Any, facts: LaneFacts) -> None:
        if facts.attempt_bytes != (12 if facts.block_bits <= 16 else 16):
            raise ValueError(f"{facts}")
        self.facts = facts
        self.block_bits, self.n_core, self.n_tail, self.attempt_bytes = facts
        self.n_cells = facts.n_core + facts.n_tail
        self.law = ExactLaw(law)

    def draw(self, tape: Tape) -> int:
        """Return one draw."""
        while (y := self.attempt(tape)) is None:
            pass
        return self.law.c + y

    def words(self, cell: int, point: int, low: int = 0) -> bytes:
        """Return the words of an attempt at an integer of a cell; the choice counts."""
        choice = -(-(cell << 16) // self.n_cells) + 1 + (low << 16)
        return point.to_bytes(8, "little") + choice.to_bytes(self.attempt_bytes - 8, "little")

    def attempt(self, tape: Tape) -> int | None:
        """Return y if the next attempt of the tape is accepted."""
        point = int.from_bytes(tape.read(8), "little")
        head = int.from_bytes(tape.read(self.attempt_bytes - 8), "little")
        cell, part = divmod(head % 2**16 * self.n_cells, 2**16)
        if not self.counts(part):
            return None
        left, point = point % 2 == 1, point >> 1
        block, step, n_bits = cell, 0, _POINT_BITS
        if cell >= self.n_core:
            level = _POINT_BITS - (point ^ (2**_POINT_BITS - 1)).bit_length()
            byte = 0xFF
            while level >= _POINT_BITS and byte == 0xFF:
                byte = tape.read(1)[0]
                level += leading_ones(byte)
            block, step = cell + level * self.n_tail, level + 1
            n_bits = max(0, _POINT_BITS - step)
        low = (head >> 16) % (1 << self.block_bits)
        y = self.outcome((block << self.block_bits) + low, left=left)
        return y if self.accepts(y, step, point % (1 << n_bits), n_bits, tape) else None

    # what a fault may change

    def counts(self, part: int) -> bool:
        """Return whether a choice counts. Equally many do for each cell."""
        return bool(part >= 2**16 % self.n_cells)

    def outcome(self, z: int, *, left: bool) -> int:
        """Return the integer at this distance on one side."""
        return -1 - z if left else z

    def accepts(self, y: int, step: int, height: int, n_bits: int, tape: Tape) -> bool:
        """Return whether the height is below 2^step g(y)."""
        return self.law.is_below(y, 1 << step, 0, height, n_bits, tape)
