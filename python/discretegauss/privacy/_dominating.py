"""A release that dominates another by more mass and larger losses: Theorem 2 of shares.py.

Let h(g) be the hockey-stick divergence of a release. If its masses are multiplied by F >= 1, and
s >= 0 is added to its losses, they have the divergence F h(g exp(-s)). Then their total is F.
_discretise.py takes the excess over 1 away at the lowest losses. It may do so because the bounded
divergence is convex, and 1 at g = 0.

The `unit` of the moved release is lost: s is far below it, and no multiple. Near a tie of epsilon
with a loss the bound may therefore be loose, because the losses lie between two buckets. Rounding s
up to a multiple would add a whole unit to each loss. A release that is not moved needs no
`Dominating` (shares.bounds_of_one_number).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from ._outcomes import (
    OutcomeCells,
    RandomOutcome,
    fraction_at_least,
    product_at_least,
    product_at_most,
)

_AT192 = arithmetic(192)


class Moved(NamedTuple):
    """A release, the logarithm of the factor of its masses, and the number added to its losses."""

    release: RandomOutcome
    log_factor: Any
    shift: Any


class Dominating(RandomOutcome):
    """Upper bounds alone: one release for each direction, moved.

    `rate` is the probability that a person takes part in the release that these dominate.
    """

    def __init__(self, here: Moved, adding: Moved, rate: Fraction) -> None:
        self._moved, self.rate = (here, adding), rate
        self.symmetric = here == adding and here.release.symmetric

    @property
    def span(self) -> float:
        """Return the distance between the extreme losses, roughly."""
        return max(moved.release.span for moved in self._moved)

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
        """Return the cells of one direction; lower bounds of their masses are 0."""
        release, log_factor, exact = self._moved[adding]
        found = release.cells(adding=adding, widest=widest, tilt=tilt)
        factor, shift = float_at_least(_AT192.up.exp(log_factor)), float_at_least(exact)
        off = 2.0**-51 * (np.abs(found.loss) + shift)
        nothing = np.zeros_like(found.p_low)
        below, above = (
            fraction_at_least(Fraction(mass) * Fraction(factor))
            for mass in (found.mass_below, found.mass_above)
        )
        return OutcomeCells(
            found.loss + shift - off,
            (found.spread + 2 * off) * (1 + 2.0**-50),
            nothing,
            product_at_least(found.p_up, factor),
            product_at_most(found.r_low, factor, 4 * off),
            product_at_least(found.r_up, factor),
            below,
            above,
            0.0,
        )
