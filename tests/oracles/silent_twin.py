"""Isochronous draws in plain Python, written from csrc/isochronous/silent.h alone.

All integers are computed from the exact law; ball arithmetic decides every comparison.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Self

from exact_law import ExactLaw
from keystream import Tape

_TAIL, _WORDS, _BATCH, _PIECE = 127, 8, 2048, 2**16


class SilentTwin:
    """A law's integers, and fills of draws."""

    def __init__(self, kind: Any, parameter: Fraction, mu: Fraction) -> None:
        centre = (mu + Fraction(1, 2)).__floor__()
        self.sign = -1 if mu > centre else 1  # of the law that is drawn: its f is at most 0
        law = kind(parameter, mu=mu * self.sign)
        self.law = ExactLaw(law)
        self.block_bits = next(b for b in range(60) if self._is_far(_TAIL << b))
        self._set_units(hasattr(law, "sigma2"), getattr(law, "beta", None))
        self._set_rows()

    @classmethod
    def of(cls, law: Any) -> Self:
        """Return the twin of a law's object."""
        if hasattr(law, "beta"):
            return cls(lambda scale, mu: type(law)(scale, law.beta, mu), law.scale, law.mu)
        return cls(type(law), law.sigma2 if hasattr(law, "sigma2") else law.scale, law.mu)

    def _is_far(self, z: int) -> bool:
        return all(self.law.floor(2**64, y) in ((0, False), (1, True)) for y in (z, -1 - z))

    def _top(self, code: int) -> int:
        h = code % 128
        if h == _TAIL:
            return 0
        whole, exact = self.law.floor(2**32, self._y(code, h << self.block_bits))
        return int(whole + (not exact))

    @staticmethod
    def _y(code: int, z: int) -> int:
        return z if code < 128 else -1 - z

    @staticmethod
    def _room(tops: list[int], i: int, is_gaussian: bool, beta: Fraction | None) -> int:
        """Return m of a code, in blocks of more than one integer."""
        if i % 128 == _TAIL or (beta is None and not is_gaussian):
            return 1
        if beta is None:
            return 8 if tops[i] <= 2**16 else 1
        power = 1 if beta <= 2 else 2
        least = 2 if i % 128 == 0 and beta < Fraction(7, 5) else 1
        return min(304, max(least, int(tops[i] ** power // max(1, tops[i + 1]) ** power)))

    def _set_units(self, is_gaussian: bool, beta: Fraction | None) -> None:
        tops = [self._top(i) for i in range(256)]
        if self.block_bits:
            twice = sum(tops[i] + tops[i + 1] for i in range(256) if i % 128 != _TAIL)
            tops = [self._room(tops, i, is_gaussian, beta) * tops[i] for i in range(256)]
        else:
            twice = 2 * sum(tops)
        self.height = ((2**24 - 256) << 32) // sum(tops)
        self.c = [(self.height * top >> 32) + 1 for top in tops]
        self.c[0] += 2**24 - sum(self.c)
        self.per_1024 = (1024 << 57) // (self.height * twice) + 1

    def _set_rows(self) -> None:
        left = list(self.c)
        small = [i for i in range(256) if left[i] < 2**16]
        large = [i for i in range(256) if left[i] >= 2**16]
        self.end, self.alias = [2**16 - 1] * 256, list(range(256))
        while small:
            row, of = small.pop(), large[-1]
            self.end[row], self.alias[row] = left[row], of
            left[of] -= 2**16 - left[row]
            if left[of] < 2**16:
                small.append(large.pop())

    @property
    def planes(self) -> int:
        """How many bytes a tick has."""
        return -(-self.block_bits // 8)

    def attempts(self, left: int) -> int:
        """Return how many attempts the next batch has if so many draws of a piece are missing."""
        wanted = (left * self.per_1024 >> 10) + left // 32 + 12
        return min(_BATCH, -(-wanted // 64) * 64) if left < _BATCH else _BATCH

    def draws(self, n: int, tape: Tape) -> list[int]:
        """Return n draws from a tape."""
        drawn: list[int] = []
        while len(drawn) < n:
            left = min(n - len(drawn), _PIECE - len(drawn) % _PIECE)
            batch = self._batch(self.attempts(left), tape)
            drawn += [self.sign * (self.law.c + y) for y in batch][:left]
        return drawn

    def _batch(self, m: int, tape: Tape) -> Iterator[int]:
        """Yield the accepted attempts of a batch. It must be used up: bytes behind it follow."""
        columns = [tape.read(m) for _ in range(3 + self.planes)]
        words = iter([tape.read(8) for _ in range(_WORDS)])
        for row, high, low, *ticks in zip(*columns, strict=True):
            position, end = high << 8 | low, self.end[row]
            tick = int.from_bytes(bytes(ticks), "little") >> (8 * self.planes - self.block_bits)
            if position < end:
                code, rel, length = row, position, end
            else:
                code, rel, length = self.alias[row], position - end, 2**16 - end
            if code % 128 == _TAIL:
                y = self._of_tail(code, tick, words, tape)
            else:
                y = self._y(code, (code % 128 << self.block_bits) + tick)
                y = y if self._accepts(y, rel, length, self.c[code], words, tape) else None
            if y is not None:
                yield y

    @staticmethod
    def _word(words: Iterator[bytes], tape: Tape) -> int:
        return int.from_bytes(next(words, None) or tape.read(8), "little")

    def _accepts(
        self, y: int, rel: int, length: int, c: int, words: Iterator[bytes], tape: Tape
    ) -> bool:
        whole, exact = self.law.floor(length * self.height, y)
        if rel != whole // c or (exact and whole % c == 0):
            return rel < whole // c
        f, n_bits = self._word(words, tape), 64
        while True:
            whole, exact = self.law.floor(length * self.height << n_bits, y)
            border = whole // c - (rel << n_bits)
            if f != border or (exact and whole % c == 0):
                return f < border
            f, n_bits = f << 64 | int.from_bytes(tape.read(8), "little"), n_bits + 64

    def _of_tail(self, code: int, tick: int, words: Iterator[bytes], tape: Tape) -> int | None:
        f = self._word(words, tape)
        if f >= 2**26:
            return None
        word = int.from_bytes(tape.read(8), "little")
        k, level, n, word = word & 1, 0, 63, word >> 1
        while word == 2**n - 1:
            level, n, word = level + n, 64, int.from_bytes(tape.read(8), "little")
        while word & 1:
            level, word = level + 1, word >> 1
        y = self._y(code, ((_TAIL + 2 * level + k) << self.block_bits) + tick)
        accepted = self.law.is_below(y, self.height << (level + 2), 0, f, 64, tape)
        return y if accepted else None
