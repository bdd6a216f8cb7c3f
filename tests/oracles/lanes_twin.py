"""Isochronous fills in plain Python, written from README.md alone."""

from __future__ import annotations

from typing import NamedTuple

from isochronous_twin import IsochronousFacts, IsochronousTwin
from keystream import Tape

from discretegauss._law import LawSpec


class LaneFacts(NamedTuple):
    """What has to be told about a law that is drawn in lanes."""

    block_bits: int
    n_core: int
    n_tail: int
    attempt_bytes: int


class LanesTwin(IsochronousTwin):
    """The draws of a fill: one attempt after the other."""

    def __init__(self, spec: LawSpec, facts: LaneFacts) -> None:
        if facts.attempt_bytes != (12 if facts.block_bits <= 16 else 16):
            raise ValueError(f"{facts}")
        super().__init__(spec, IsochronousFacts(facts.block_bits, facts.n_core, facts.n_tail))
        self.attempt_bytes = facts.attempt_bytes

    def words(self, cell: int, point: int, low: int = 0) -> bytes:
        """Return the words of an attempt at an integer of a cell; the choice counts."""
        choice = -(-(cell << 16) // self.n_cells) + 1 + (low << 16)
        return point.to_bytes(8, "little") + choice.to_bytes(self.attempt_bytes - 8, "little")

    def attempt(self, tape: Tape) -> int | None:
        """Return y if the next attempt of the tape is accepted."""
        point = int.from_bytes(tape.read(8), "little")
        head = int.from_bytes(tape.read(self.attempt_bytes - 8), "little")
        return self._decided(head % 2**16, 16, point, head >> 16, tape)
