"""The privacy loss of one release in cells, for `_buckets.py`: masses with a person, and without.

A cell is a set of outcomes, with P its mass with the person and Q that without. Its losses log(P/Q)
lie between ``loss`` and ``loss + top``, both floats; of its masses bounds are kept, of Q as

    R = Q exp(loss),

which lies between P exp(-top) and P, where Q itself may be below every float. ``top`` may be
infinite. What is in no cell has less P than ``under``, if its loss is low, and ``over``, if it is
high; an infinite loss has at least the mass ``told``, which is in no cell.

With Poisson sampling at rate s the person is in the sample with probability s: P becomes s P + (1 -
s) Q. If a pair (P, Q) dominates all pairs that a release may make of neighbours, whichever of them
comes first, so does the sampled one (Zhu, Dong and Wang, AISTATS 2022, Theorem 11).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.double_double import Floats
from .._certified.double_double_functions import exponential_in_floats
from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import Interval, arithmetic, fraction_of
from ..errors import ParameterOverflowError

_AT = arithmetic(192)
_ZERO = _AT.rational(0)
_INFINITY = gmpy2.inf()

#: Losses beyond this count as infinite, above, and as low as one likes, below.
FARTHEST = 2.0**12

#: Exponentials of more, either way, are not taken.
_LARGEST_EXPONENT = 600.0

#: More than what underflows.
TINY = 1e-300

#: Below this rate what holds for it is said instead: from below nothing.
_LEAST_RATE = Fraction(1, 2**200)


class Cells(NamedTuple):
    """All outcomes of a release, in one direction."""

    loss: Floats
    top: Floats
    p_low: Floats
    p_up: Floats
    r_low: Floats
    r_up: Floats
    under: float
    over: float
    told: float
    multiple: NDArray[np.int64] | None = None
    """Losses are exactly so many times the release's unit."""

    @classmethod
    def joined(cls, parts: list[Cells]) -> Cells:
        """Return all of them; none has multiples."""
        arrays = zip(*(part[:6] for part in parts), strict=True)
        outside = zip(*(part[6:9] for part in parts), strict=True)
        return cls._make([*map(np.concatenate, arrays), *map(sum, outside), None])

    def where(self, kept: NDArray[np.bool_]) -> Cells:
        """Return some of the cells."""
        multiple = None if self.multiple is None else self.multiple[kept]
        return Cells._make([*(part[kept] for part in self[:6]), *self[6:9], multiple])

    def swapped(self, rate: Fraction) -> Cells:
        """Return the cells of the other direction of sampled releases: with P and Q exchanged.

        Where losses are low, Q is at most P/(1 - s); where they are high, it is below P.
        """
        near = np.isfinite(self.top)
        loss, top, p_low, p_up, r_low, r_up = (part[near] for part in self[:6])
        end = -(loss + top) * (1 + np.sign(loss + top) * 2.0**-50)  # rounded down
        away = exponential_in_floats(np.clip(-loss, -700, 700))
        back = exponential_in_floats(np.clip(end, -700, 700))
        far = exponential_in_floats(np.clip(-self.loss[~near], -700, 700)) * self.r_up[~near]
        wrong = 2.0**-49
        return Cells(
            end,
            (top + 2.0**-49 * (np.abs(loss) + top)),
            r_low * away * (1 - wrong),
            r_up * away * (1 + wrong) + TINY,
            p_low * back * (1 - wrong),
            p_up * back * (1 + wrong) + TINY,
            self.over + float(far.sum()) * (1 + 2.0**-20),
            self.under / float(1 - rate) * (1 + 2.0**-20),
            0.0,
        )


class Release(ABC):
    """One release, by its losses."""

    #: Whether both directions are alike.
    symmetric: bool

    #: What losses are multiples of, if they are.
    unit: Fraction | None = None

    @abstractmethod
    def cells(self, *, swapped: bool, widest: float, tilt: float = 0.0) -> Cells:
        """Return all outcomes; losses of a cell differ by at most ``widest``, or nearly so.

        They may differ by more where there is little mass, tilted by exp(tilt loss).
        """

    @property
    @abstractmethod
    def span(self) -> float:
        """How far losses lie apart, roughly."""


class Outcome(NamedTuple):
    """Probabilities of an outcome with and without a person; None: losses are equal to others'."""

    p: Interval
    q: Interval
    loss: Interval | None = None


def both_ways(p: Interval, q: Interval, loss: Interval | None = None) -> list[Outcome]:
    """Return an outcome, and the one whose probabilities are exchanged."""
    return [Outcome(p, q, loss), Outcome(q, p, None if loss is None else _AT.neg(loss))]


class Outcomes(Release):
    """A release with few outcomes, or few that differ in their loss."""

    def __init__(
        self,
        outcomes: list[Outcome],
        rate: Fraction,
        *,
        unit: Fraction | None = None,
        symmetric: bool = False,
    ) -> None:
        self._outcomes, self._rate, self.unit = outcomes, rate, unit if rate == 1 else None
        self.symmetric = symmetric and rate == 1
        self._cells = lru_cache(maxsize=2)(self._made)

    @property
    def span(self) -> float:
        """How far losses lie apart."""
        ends = [0.0]
        for swapped in (False, True):
            cells = self._cells(swapped)
            ends += (np.abs(cells.loss) + np.where(cells.top < FARTHEST, cells.top, 0)).tolist()
        return 2 * max(ends)

    def cells(self, *, swapped: bool, widest: float, tilt: float = 0.0) -> Cells:
        """Return all outcomes."""
        del widest, tilt
        return self._cells(swapped)

    def _made(self, swapped: bool) -> Cells:
        rows, multiples = [], []
        under = over = told = _ZERO
        for given in self._outcomes:
            p, q, loss = sampled(given, self._rate)
            if swapped:
                p, q, loss = q, p, None if loss is None else _AT.neg(loss)
            if p.upper <= 0:
                continue
            if q.upper <= 0:
                over, told = _AT.add(over, p), _AT.add(told, p)
                continue
            low, high = _loss_of(p, q) if loss is None else loss
            if self.unit is None:
                low = low if p.lower > 0 else high  # then nothing is known from below
                low = min(low, _AT.rational(int(FARTHEST)).lower)
            elif not -(2**40) <= low <= 2**40:
                low = high = _INFINITY if low > 0 else -_INFINITY
            if (high < -FARTHEST and self.unit is None) or high == -_INFINITY:
                under = _AT.add(under, p)
            elif low == _INFINITY:
                over = _AT.add(over, p)
            else:
                rows.append(_row(p, q, low, high, exact=self.unit is not None))
                if self.unit is not None:
                    multiples.append(round(fraction_of(low) / self.unit))
        columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 6
        arrays = [np.array(column, np.float64) for column in columns]
        outside = float_at_least(under.upper), float_at_least(over.upper), float_at_most(told.lower)
        multiple = np.array(multiples, np.int64) if self.unit is not None else None
        return Cells._make([*arrays, *outside, multiple])


def _row(p: Interval, q: Interval, low: object, high: object, *, exact: bool) -> list[float]:
    """Return what a cell holds."""
    loss = float_at_most(low)
    if loss == -math.inf:
        raise ParameterOverflowError(
            "sensitivity is too large beside law: losses are beyond floats"
        )
    p_low, p_up = float_at_most(p.lower), float_at_least(p.upper)
    if exact:
        return [loss, 0.0, p_low, p_up, p_low, p_up]
    r = _AT.mul(q, _AT.exp(_AT.rational(Fraction(loss))))
    top = float_at_least(_AT.up.sub(high, loss))
    r_up = min(float_at_least(r.upper), p_up) if p.lower > 0 else float_at_least(r.upper)
    return [loss, top if top < FARTHEST else np.inf, p_low, p_up, float_at_most(r.lower), r_up]


def _loss_of(p: Interval, q: Interval) -> Interval:
    """Return the loss of an outcome that either law may have."""
    low = _AT.down.log(_AT.down.div(p.lower, q.upper)) if p.lower > 0 else -_INFINITY
    high = _AT.up.log(_AT.up.div(p.upper, q.lower)) if q.lower > 0 else _INFINITY
    return Interval(low, high)


def sampled(outcome: Outcome, rate: Fraction) -> Outcome:
    """Return what Poisson sampling makes of an outcome."""
    p, q, loss = outcome
    if rate == 1:
        return outcome
    mixed = _AT.add(_AT.scale(p, rate), _AT.scale(q, 1 - rate))
    if loss is not None:
        loss = _AT.log1p(_AT.scale(_AT.expm1(loss), rate))
    return Outcome(mixed, q, loss)


def far_apart(most: object, rate: Fraction) -> Outcomes:
    """Return a release of which one outcome has a probability of at most so much, each way."""
    little = Interval(_ZERO.lower, most)
    rest = _AT.sub(_AT.rational(1), little)
    return Outcomes(both_ways(rest, little), rate)


def nearly_alike(loss: Interval, told: Interval, rate: Fraction) -> Outcomes:
    """Return a release with such losses, unless, with this probability each, they are infinite."""
    rest = _AT.sub(_AT.rational(1), told)
    return Outcomes([Outcome(rest, rest, loss), *both_ways(told, _ZERO)], rate)


def sampled_losses(loss: Floats, rate: Fraction) -> tuple[Floats, Floats]:
    """Return about log(1 - s + s exp(loss)), and how far that is off; for s of 2**-200 at least.

    numpy's logarithm is not trusted: its exponential is compared. Beyond 600, where that is not
    taken, 1 - s is next to nothing beside the rest.
    """
    if rate == 1:
        return loss, np.zeros_like(loss)
    share, rest = float(rate), float(1 - rate)
    log_share = float_at_most(_AT.log(_AT.rational(rate)).lower)
    clipped = np.clip(loss, -700.0, _LARGEST_EXPONENT)
    grown = rest + share * exponential_in_floats(clipped)
    found = np.log(grown)
    off = np.abs(exponential_in_floats(found) / grown - 1) * 1.01 + 2.0**-48
    large = loss > _LARGEST_EXPONENT
    found = np.where(large, loss + log_share, found)
    off = np.where(large, 2.0**-50 * (np.abs(loss) - log_share), off)
    return found, off


def checked_rate(rate: Fraction) -> tuple[Fraction, bool]:
    """Return a rate that is at least as large, and not too small; and whether it is the same."""
    return max(rate, _LEAST_RATE), rate >= _LEAST_RATE


def bounds_only(cells: Cells) -> Cells:
    """Return cells of which nothing is known from below."""
    return cells._replace(p_low=np.zeros_like(cells.p_low), told=0.0)
