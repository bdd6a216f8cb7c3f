"""Isochronous fills in plain Python, written from README.md alone."""

from __future__ import annotations

from typing import NamedTuple

from exact_law import ExactLaw, leading_ones
from keystream import Tape

from discretegauss._law import LawSpec

__all__ = ["LaneFacts", "LanesTwin"]

_POINT_BITS = 63


class LaneFacts(NamedTuple):
    """What has to be told about a law that is drawn in lanes."""

    block_bits: int
    n_core: int
    n_tail: int
    attempt_bytes: int


class LanesTwin:
    """The draws of a fill: one attempt after the other."""

    def __init__(self, spec: LawSpec, facts: LaneFacts) -> None:
        if facts.attempt_bytes != (12 if facts.block_bits <= 16 else 16):
            raise ValueError(f"{facts}")
        self.facts = facts
        self.law = ExactLaw(spec)
        self.n_cells = facts.n_core + facts.n_tail

    def words(self, cell: int, point: int) -> bytes:
        """Return the words of an attempt at a cell's first integer; the choice counts."""
        choice = -(-(cell << 16) // self.n_cells) + 1
        return point.to_bytes(8, "little") + choice.to_bytes(self.facts.attempt_bytes - 8, "little")

    def draw(self, tape: Tape) -> int:
        """Return the next draw."""
        while (y := self._attempt(tape)) is None:
            pass
        return self.law.c + y

    def _attempt(self, tape: Tape) -> int | None:
        point = int.from_bytes(tape.read(8), "little")
        head = int.from_bytes(tape.read(self.facts.attempt_bytes - 8), "little")
        cell, part = divmod(head % 2**16 * self.n_cells, 2**16)
        if part < 2**16 % self.n_cells:
            return None
        left, point = point % 2 == 1, point >> 1
        block, step, n_bits = cell, 0, _POINT_BITS
        if cell >= self.facts.n_core:
            level = _POINT_BITS - (point ^ (2**_POINT_BITS - 1)).bit_length()
            byte = 0xFF
            while level >= _POINT_BITS and byte == 0xFF:
                byte = tape.read(1)[0]
                level += leading_ones(byte)
            block, step = cell + level * self.facts.n_tail, level + 1
            n_bits = max(0, _POINT_BITS - step)
        z = (block << self.facts.block_bits) + (head >> 16) % (1 << self.facts.block_bits)
        y = -1 - z if left else z
        below = self.law.is_below(y, 1 << step, 0, point % (1 << n_bits), n_bits, tape)
        return y if below else None
