"""Laws of cell tables and isochronous draws; ball arithmetic decides every comparison."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

from flint import arb, ctx, fmpq
from keystream import Tape

__all__ = ["ExactLaw", "leading_ones"]


class ExactLaw:
    """The weight g(y) = exp(phi(abs(f)) - phi(abs(y - f))), with mu = c + f.

    Of the law's object it reads the parameters.
    """

    def __init__(self, law: Any) -> None:
        self.c: int = floor(law.mu + Fraction(1, 2))
        self.has_sign = law.mu == self.c
        self._f = law.mu - self.c
        self._sigma2 = getattr(law, "sigma2", None)
        self._scale, self._beta = getattr(law, "scale", None), getattr(law, "beta", Fraction(1))

    def _weight(self, y: int) -> arb:
        """Return a ball that holds g(y), at the precision in force."""
        near, far = abs(self._f), abs(y - self._f)
        if near == far:
            return arb(1)
        if self._sigma2 is not None:
            return (-_ball((far * far - near * near) / (2 * self._sigma2))).exp()
        phi = [_ball(r / self._scale) ** _ball(self._beta) if r else arb(0) for r in (near, far)]
        return (phi[0] - phi[1]).exp()

    def floor(self, scale: int, y: int, minus: int = 0) -> tuple[int, bool]:
        """Return floor(scale g(y) - minus), and whether that is scale g(y) - minus itself."""
        if abs(y - self._f) == abs(self._f):
            return scale - minus, True
        precision = scale.bit_length() + 64
        while True:
            ctx.prec = precision
            whole = (self._weight(y) * scale - minus).floor().unique_fmpz()
            if whole is not None:
                return int(whole), False
            precision *= 2

    def is_below(self, y: int, scale: int, m: int, height: int, n_bits: int, tape: Tape) -> bool:
        """Return whether m + f' < scale g(y); f' begins with these bits, the tape has more."""
        while True:
            whole, exact = self.floor(scale << n_bits, y, m << n_bits)
            if height != whole or exact:
                return height < whole
            height = height << 64 | int.from_bytes(tape.read(8), "little")
            n_bits += 64


def leading_ones(byte: int) -> int:
    """Return how many one bits a byte begins with, from the most significant on."""
    return 8 - (byte ^ 0xFF).bit_length()


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
