"""The weight of a law in ball arithmetic (python-flint's arb), in the units of a table.

Distances are in units of 2**-48 of a block: D(y) = abs(y - f) 2**48 / 2**block_bits for an
integer y counted from c = floor(mu + 1/2), f = mu - c. With R the scale in that unit, and beta and
the divisor of the law's `WeightShape`,

    phi(D) = (D/R)**beta/divisor
    g(D)   = exp(phi(D(0)) - phi(D)),  so that g = 1 at y = 0

Every method returns a ball that holds the true value. The precision is that of ``flint.ctx`` when
the object is made and when it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

from .._law import LawSpec
from ._laws import LAWS

if TYPE_CHECKING:
    from flint import arb

#: Binary places of a distance, in blocks. The unit belongs to the verifier alone.
DISTANCE_BITS = 48


@contextmanager
def precision(n_bits: int) -> Iterator[None]:
    """Compute with balls of `n_bits` within a ``with`` block."""
    from flint import ctx

    before = ctx.prec
    ctx.prec = n_bits
    try:
        yield
    finally:
        ctx.prec = before


def ball(value: Fraction | int) -> arb:
    """Return a ball that holds a rational."""
    from flint import arb, fmpq

    fraction = Fraction(value)
    return arb(fmpq(fraction.numerator, fraction.denominator))


def at_most(left: arb, right: arb) -> bool | None:
    """Return whether left <= right, or None if the balls do not tell."""
    return True if left <= right else False if left > right else None


class Weight:
    """phi and g of a law, as functions of the distance, at the precision in force."""

    def __init__(self, spec: LawSpec, block_bits: int) -> None:
        unit = Fraction(2**DISTANCE_BITS, 2**block_bits)
        centre = (spec.mu + Fraction(1, 2)).__floor__()
        self.f = spec.mu - centre
        self._unit = unit
        self._beta, scale, divisor = LAWS[spec.kind].shape(spec)
        self._scale, self._divisor = ball(scale * unit), ball(divisor)
        self._phi_at_zero = self.phi(self.distance(0))
        self._weights: dict[int, arb] = {}

    def length(self, n: int) -> arb:
        """Return the length of n integers."""
        return ball(n * self._unit)

    def distance(self, y: int) -> arb:
        """Return D(y)."""
        return ball(abs(y - self.f) * self._unit)

    def signed_distance(self, y: int, left: bool) -> arb:
        """Return D(y) on the left or the right side, negative if y is on the other side."""
        return ball((self.f - y if left else y - self.f) * self._unit)

    def phi(self, distance: arb) -> arb:
        """Return phi(D)."""
        return (distance / self._scale) ** ball(self._beta) / self._divisor

    def weight(self, distance: arb) -> arb:
        """Return g(D)."""
        return (self._phi_at_zero - self.phi(distance)).exp()

    def weight_at(self, y: int) -> arb:
        """Return g(D(y)), which is exactly 1 if abs(y - f) = abs(f)."""
        known = self._weights.get(y)
        if known is None:
            # otherwise phi(D(0)) - phi(D(y)) is algebraic and not 0, so g is transcendental. It
            # never equals a rational, so some precision decides every comparison.
            known = ball(1) if abs(y - self.f) == abs(self.f) else self.weight(self.distance(y))
            self._weights[y] = known
        return known

    def second(self, near: arb, far: arb, g_near: arb, g_far: arb) -> arb:
        """Return a ball that holds g'' on all of [near, far], given g at both ends.

        g'' = g (phi'**2 - phi''), and each of g, phi' and phi'' is monotone in D: phi' is a
        multiple of D**(beta - 1), phi'' of D**(beta - 2).
        """
        beta = self._beta
        divisor = self._scale ** ball(beta) * self._divisor
        ends = [
            at ** ball(beta - i) * ball(beta * (beta - 1 if i == 2 else 1)) / divisor
            for i in (1, 2)
            for at in (near, far)
            if beta != 1 or i == 1
        ]
        first = ends[0].union(ends[1])
        curvature = first * first
        if beta != 1:
            curvature -= ends[2].union(ends[3])
        return g_near.union(g_far) * curvature

    def distance_where(self, ratio: Fraction) -> arb:
        """Return the distance at which g = ratio, for 0 < ratio <= 1."""
        level = ball(1 / ratio).log() + self._phi_at_zero
        return (level * self._divisor) ** ball(1 / self._beta) * self._scale
