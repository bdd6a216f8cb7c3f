"""The isochronous sampler in plain Python, written from README.md alone."""

from __future__ import annotations

from typing import NamedTuple

from exact_law import ExactLaw, leading_ones
from keystream import Tape

from discretegauss._law import LawSpec

_POINT_BITS = 63


class IsochronousFacts(NamedTuple):
    """What has to be told about an isochronous sampler."""

    block_bits: int
    n_core: int
    n_tail: int


class IsochronousTwin:
    """Single draws, one attempt after the other."""

    def __init__(self, spec: LawSpec, facts: IsochronousFacts) -> None:
        self.facts = facts
        self.block_bits, self.n_core, self.n_tail = facts
        self.law = ExactLaw(spec)
        self.n_cells = facts.n_core + facts.n_tail
        self.low_bytes = -(-facts.block_bits // 8)

    def draw(self, tape: Tape) -> int:
        """Return one draw."""
        while (y := self.attempt(tape)) is None:
            pass
        return self.law.c + y

    def attempt(self, tape: Tape) -> int | None:
        """Return y if the next attempt of the tape is accepted."""
        choice, point, low = (
            int.from_bytes(tape.read(n), "little") for n in (8, 8, self.low_bytes)
        )
        return self._decided(choice, 64, point, low, tape)

    def _decided(
        self, choice: int, choice_bits: int, point: int, low: int, tape: Tape
    ) -> int | None:
        """Return y if the attempt with these words is accepted."""
        cell, part = divmod(choice * self.n_cells, 2**choice_bits)
        if not self.counts(part, choice_bits):
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
        y = self.outcome((block << self.block_bits) + low % (1 << self.block_bits), left=left)
        return y if self.accepts(y, step, point % (1 << n_bits), n_bits, tape) else None

    # what a fault may change

    def counts(self, part: int, choice_bits: int) -> bool:
        """Return whether a choice counts: as many do for each cell."""
        return bool(part >= 2**choice_bits % self.n_cells)

    def outcome(self, z: int, *, left: bool) -> int:
        """Return the integer at this distance on one side."""
        return -1 - z if left else z

    def accepts(self, y: int, step: int, height: int, n_bits: int, tape: Tape) -> bool:
        """Return whether the height is below 2^step g(y)."""
        return self.law.is_below(y, 1 << step, 0, height, n_bits, tape)
