"""The isochronous sampler in plain Python, written from README.md alone."""

from __future__ import annotations

from typing import NamedTuple

from exact_law import ExactLaw, leading_ones
from keystream import Tape

from discretegauss._law import LawSpec

__all__ = ["IsochronousFacts", "IsochronousTwin"]

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
        self.law = ExactLaw(spec)
        self.n_cells = facts.n_core + facts.n_tail
        self.low_bytes = -(-facts.block_bits // 8)

    def draw(self, tape: Tape) -> int:
        """Return one draw."""
        while (y := self._attempt(tape)) is None:
            pass
        return self.law.c + y

    def _attempt(self, tape: Tape) -> int | None:
        choice, point, low = (
            int.from_bytes(tape.read(n), "little") for n in (8, 8, self.low_bytes)
        )
        return self._decided(choice, 64, point, low, tape)

    def _decided(
        self, choice: int, choice_bits: int, point: int, low: int, tape: Tape
    ) -> int | None:
        """Return y if the attempt with these words is accepted."""
        cell, part = divmod(choice * self.n_cells, 2**choice_bits)
        if part < 2**choice_bits % self.n_cells:
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
        z = (block << self.facts.block_bits) + low % (1 << self.facts.block_bits)
        y = -1 - z if left else z
        below = self.law.is_below(y, 1 << step, 0, point % (1 << n_bits), n_bits, tape)
        return y if below else None
