"""Isochronous fills of narrow laws in plain Python, written from README.md alone."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, count, takewhile
from typing import Any

from exact_law import ExactLaw, leading_ones
from keystream import Tape


def outcomes(law: ExactLaw) -> list[int]:
    """Return the integers y with g(y) >= 2^-63, or those from 0 on if the law has a sign."""

    def is_outcome(y: int) -> bool:
        return law.floor(2**63, y)[0] > 0

    right = list(takewhile(is_outcome, count(0)))
    left = [] if law.has_sign else list(takewhile(is_outcome, count(-1, -1)))
    return left[::-1] + right


def is_narrow(law: Any) -> bool:
    """Return whether fills of the law are of this kind: 128 outcomes, at most."""
    exact = ExactLaw(law)
    return exact.floor(2**63, 128)[0] == 0 and len(outcomes(exact)) <= 128


class NarrowTwin:
    """The draws of a fill: one word after the other, and what a word leaves open."""

    def __init__(self, law: Any) -> None:
        self.law = ExactLaw(law)
        self.outcomes = outcomes(self.law)
        self.has_sign = self.law.has_sign
        weights = [self.law.floor(2**56, y)[0] + 1 for y in self.outcomes]
        total = 2 * sum(weights) - weights[0] if self.has_sign else sum(weights)
        self.scale = (2**64 - 2**20) * 2**24 // total << 32
        self.words = [self.law.floor(self.scale, y)[0] for y in self.outcomes]
        if self.has_sign:
            self.words[0] //= 2
        self.ends = list(accumulate(self.words))
        self.first = self.outcomes[-1] + 1, 1 - self.outcomes[0]
        sides = self.first[:1] if self.has_sign else self.first
        self.tails = [-(-first // 63) for first in sides]

    def draw(self, tape: Tape) -> int:
        """Return the next draw."""
        while (x := self.attempt(tape)) is None:
            pass
        return x

    def attempt(self, tape: Tape) -> int | None:
        """Return what the next word draws, or None."""
        u = int.from_bytes(tape.read(8), "little")
        v, sign = (u // 2, u % 2) if self.has_sign else (u, 0)
        y = self._outcome(v, tape)
        return None if y is None else self.law.c + (-y if sign else y)

    def _outcome(self, v: int, tape: Tape) -> int | None:
        if v < self.ends[-1]:
            return self.outcomes[bisect_right(self.ends, v)]
        unit = v - self.ends[-1]
        if unit < len(self.outcomes):
            y, whole = self.outcomes[unit], self.words[unit]
            return y if y != 0 and self.law.is_below(y, self.scale, whole, 0, 0, tape) else None
        place = (unit - len(self.outcomes)) // 4
        for side, n_tail in enumerate(self.tails):
            if place < n_tail:
                return self._tail(side, place, n_tail, tape)
            place -= n_tail
        return None

    def _tail(self, side: int, place: int, n_tail: int, tape: Tape) -> int | None:
        level, byte = 0, 0xFF
        while byte == 0xFF:
            byte = tape.read(1)[0]
            level += leading_ones(byte)
        size = self.first[side] + place + level * n_tail
        y = -size if side else size
        return y if self.law.is_below(y, self.scale * 2**level // 2, 0, 0, 0, tape) else None

    def word(self, v: int, sign: int = 0) -> bytes:
        """Return the word that has this v."""
        return (2 * v + sign if self.has_sign else v).to_bytes(8, "little")

    def settled(self) -> bytes:
        """Return a tape of words whose draws more bytes decide; it ends with another draw."""
        sure, ones = self.word(0), b"\xff" * 8
        end, n = self.ends[-1], len(self.outcomes)
        data = sure
        for unit in sorted({0, 1, n // 2, n - 1} & set(range(n))):
            y, whole = self.outcomes[unit], self.words[unit]
            edge, exact = self.law.floor(self.scale << 64, y, whole << 64)
            data += self.word(end + unit, 1)
            if y != 0 and not exact:  # at the edge, decided by a further word, or above it
                at_edge = edge.to_bytes(8, "little") + (ones if unit % 2 else bytes(8))
                data += at_edge if edge else ones
        places = sum(self.tails)
        for place in range(places):
            for level, byte in ((0, b"\x00"), (3, b"\xe0"), (10, b"\xff\xc0")):
                side = place >= self.tails[0]
                size = self.first[side] + place - side * self.tails[0] + level * self.tails[side]
                edge, _ = self.law.floor(self.scale << (63 + level), -size if side else size)
                data += self.word(end + n + 4 * place + 3, 1) + byte
                further = edge // 2 if edge > 8 else 16  # below it, if it can be
                data += further.to_bytes(8, "little")
        return data + self.word(end + n + 4 * places) + sure
