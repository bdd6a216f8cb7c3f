"""The outcomes of one release, in cells that bound their probabilities and privacy losses.

A cell is a set of outcomes. P is its probability with the person and Q without. Its losses log(P/Q)
lie between the floats ``loss`` and ``loss + spread``; ``spread`` may be infinite. Cells hold bounds
on P and on

    R = Q exp(loss),

which lies between P exp(-spread) and P, while Q itself may be below every float. Outcomes in no
cell have a P of at most ``mass_below`` if their losses are low, and ``mass_above`` if they are
high. Outcomes of infinite loss have a P of at least ``infinity_mass``, and are in no cell.

Under Poisson sampling with the sampling rate s, a person is in the sample with probability s, so P
becomes s P + (1 - s) Q. If a pair (P, Q) dominates the pairs of all neighbours, in both orders,
then so does the sampled pair (Zhu, Dong and Wang, AISTATS 2022, Theorem 11).

The relative error of each float operation is counted; one rounding is 2**-53. Exponentials and
transforms are the package's own, because their errors are proven.
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

_AT192 = arithmetic(192)
_ZERO = _AT192.rational(0)
_INFINITY = gmpy2.inf()

#: Losses above this count as infinite, and losses below minus this as minus infinity.
FARTHEST = 2.0**12

#: Exponentials are taken of losses up to this size.
_LARGEST_LOSS = 600.0

#: At least what underflow loses.
TINY = 1e-300

#: More than the relative error of a product of two floats.
_PRODUCT_ERROR = 2.0**-50

#: Lower sampling rates get the upper bounds of this one, and no lower bounds.
_LEAST_RATE = Fraction(1, 2**200)


def product_at_most(masses: Floats, factor: float, error: Floats | float = 0.0) -> Floats:
    """Return masses times a factor, rounded down. `error` is that of the masses, relatively."""
    return np.maximum(masses * factor * (1 - _PRODUCT_ERROR - error) - TINY, 0.0)


def product_at_least(masses: Floats, factor: float) -> Floats:
    """Return masses times a factor, rounded up."""
    return masses * factor * (1 + _PRODUCT_ERROR) + TINY


def fraction_at_most(exact: Fraction) -> float:
    """Return a float next to a fraction, at most it."""
    return float_at_most(_AT192.rational(exact).lower)


def fraction_at_least(exact: Fraction) -> float:
    """Return a float next to a fraction, at least it."""
    return float_at_least(_AT192.rational(exact).upper)


class OutcomeCells(NamedTuple):
    """All outcomes of a release, for one adjacency."""

    loss: Floats
    spread: Floats
    p_low: Floats
    p_up: Floats
    r_low: Floats
    r_up: Floats
    mass_below: float
    mass_above: float
    infinity_mass: float
    multiple: NDArray[np.int64] | None = None
    """If known, each loss as an exact multiple of the release's unit."""

    @classmethod
    def joined(cls, parts: list[OutcomeCells]) -> OutcomeCells:
        """Return all cells of the parts, without multiples."""
        arrays = zip(*(part[:6] for part in parts), strict=True)
        outside = zip(*(part[6:9] for part in parts), strict=True)
        return cls._make([*map(np.concatenate, arrays), *map(sum, outside), None])

    def for_adding(self, sampling_rate: Fraction) -> OutcomeCells:
        """Return the cells of a sampled release for add adjacency: with P and Q exchanged.

        Outcomes of low loss have a Q of at most P/(1 - s), and those of high loss a Q below P.
        """
        near = np.isfinite(self.spread)
        loss, spread, p_low, p_up, r_low, r_up = (part[near] for part in self[:6])
        end = -(loss + spread) * (1 + np.sign(loss + spread) * 2.0**-50)  # rounded down
        away = exponential_in_floats(np.clip(-loss, -700, 700))
        back = exponential_in_floats(np.clip(end, -700, 700))
        far = exponential_in_floats(np.clip(-self.loss[~near], -700, 700)) * self.r_up[~near]
        wrong = 2.0**-49
        return OutcomeCells(
            end,
            (spread + 2.0**-49 * (np.abs(loss) + spread)),
            r_low * away * (1 - wrong),
            r_up * away * (1 + wrong) + TINY,
            p_low * back * (1 - wrong),
            p_up * back * (1 + wrong) + TINY,
            self.mass_above + float(far.sum()) * (1 + 2.0**-20),
            self.mass_below / float(1 - sampling_rate) * (1 + 2.0**-20),
            0.0,
        )


class RandomOutcome(ABC):
    """One release."""

    #: True if both adjacencies have the same losses.
    symmetric: bool

    #: A number of which all losses are multiples, if one is known.
    unit: Fraction | None = None

    #: The probability that a person takes part. Otherwise the person changes nothing.
    rate: Fraction

    @abstractmethod
    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
        """Return all outcomes, for add adjacency or for remove adjacency.

        The losses of a cell differ by about ``widest`` at most. They may differ by more if the cell
        has little mass after tilting by exp(tilt loss).
        """

    @property
    @abstractmethod
    def span(self) -> float:
        """The difference of the largest and the least loss, roughly."""


class Outcome(NamedTuple):
    """The probabilities of an outcome with and without a person, and its loss if that is known."""

    p: Interval
    q: Interval
    loss: Interval | None = None


def mirrored(p: Interval, q: Interval, loss: Interval | None = None) -> list[Outcome]:
    """Return an outcome, and another one with the probabilities exchanged."""
    return [Outcome(p, q, loss), Outcome(q, p, None if loss is None else _AT192.neg(loss))]


class Outcomes(RandomOutcome):
    """A release with few outcomes."""

    def __init__(
        self,
        outcomes: list[Outcome],
        sampling_rate: Fraction,
        *,
        unit: Fraction | None = None,
        symmetric: bool = False,
    ) -> None:
        self._outcomes, self._sampling_rate, self.unit = (
            outcomes,
            sampling_rate,
            unit if sampling_rate == 1 else None,
        )
        self.rate, self.symmetric = sampling_rate, symmetric and sampling_rate == 1
        self._cached = lru_cache(maxsize=2)(self.cells_for)

    @property
    def span(self) -> float:
        """Twice the largest loss, in size."""
        ends = [0.0]
        for adding in (False, True):
            cells = self._cached(adding=adding)
            ends += (
                np.abs(cells.loss) + np.where(cells.spread < FARTHEST, cells.spread, 0)
            ).tolist()
        return 2 * max(ends)

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
        """Return all outcomes."""
        del widest, tilt
        return self._cached(adding=adding)

    def cells_for(self, *, adding: bool) -> OutcomeCells:
        """Return all outcomes."""
        rows, multiples = [], []
        below = above = infinity_mass = _ZERO
        for outcome in self._outcomes:
            p, q, loss = sampled(outcome, self._sampling_rate)
            if adding:
                p, q, loss = q, p, None if loss is None else _AT192.neg(loss)
            if p.upper <= 0:
                continue
            if q.upper <= 0:
                above, infinity_mass = _AT192.add(above, p), _AT192.add(infinity_mass, p)
                continue
            low, high = _loss_of(p, q) if loss is None else loss
            if self.unit is None:
                low = low if p.lower > 0 else high  # no lower bound is known
                low = min(low, _AT192.rational(int(FARTHEST)).lower)
            elif not -(2**40) <= low <= 2**40:
                low = high = _INFINITY if low > 0 else -_INFINITY
            if (high < -FARTHEST and self.unit is None) or high == -_INFINITY:
                below = _AT192.add(below, p)
            elif low == _INFINITY:
                above = _AT192.add(above, p)
            else:
                rows.append(_row(p, q, low, high, exact=self.unit is not None))
                if self.unit is not None:
                    multiples.append(round(fraction_of(low) / self.unit))
        columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 6
        arrays = [np.array(column, np.float64) for column in columns]
        outside = (
            float_at_least(below.upper),
            float_at_least(above.upper),
            float_at_most(infinity_mass.lower),
        )
        multiple = np.array(multiples, np.int64) if self.unit is not None else None
        return OutcomeCells._make([*arrays, *outside, multiple])


def _row(p: Interval, q: Interval, low: object, high: object, *, exact: bool) -> list[float]:
    """Return the six entries of a cell."""
    loss = float_at_most(low)
    if loss == -math.inf:
        raise ParameterOverflowError(
            "sensitivity must be smaller for this law: losses are beyond floats"
        )
    p_low, p_up = float_at_most(p.lower), float_at_least(p.upper)
    if exact:
        return [loss, 0.0, p_low, p_up, p_low, p_up]
    r = _AT192.mul(q, _AT192.exp(_AT192.rational(Fraction(loss))))
    spread = float_at_least(_AT192.up.sub(high, loss))
    r_up = min(float_at_least(r.upper), p_up) if p.lower > 0 else float_at_least(r.upper)
    return [
        loss,
        spread if spread < FARTHEST else np.inf,
        p_low,
        p_up,
        float_at_most(r.lower),
        r_up,
    ]


def _loss_of(p: Interval, q: Interval) -> Interval:
    """Return an interval of the loss of an outcome."""
    low = _AT192.down.log(_AT192.down.div(p.lower, q.upper)) if p.lower > 0 else -_INFINITY
    high = _AT192.up.log(_AT192.up.div(p.upper, q.lower)) if q.lower > 0 else _INFINITY
    return Interval(low, high)


def sampled(outcome: Outcome, sampling_rate: Fraction) -> Outcome:
    """Return the outcome under Poisson sampling."""
    p, q, loss = outcome
    if sampling_rate == 1:
        return outcome
    mixed = _AT192.add(_AT192.scale(p, sampling_rate), _AT192.scale(q, 1 - sampling_rate))
    if loss is not None:
        loss = _AT192.log1p(_AT192.scale(_AT192.expm1(loss), sampling_rate))
    return Outcome(mixed, q, loss)


def far_apart(most: object, sampling_rate: Fraction) -> Outcomes:
    """Return a release of two outcomes, each of probability at most ``most`` for one neighbour."""
    little = Interval(_ZERO.lower, most)
    complement = _AT192.sub(_AT192.rational(1), little)
    return Outcomes(mirrored(complement, little), sampling_rate)


def nearly_alike(loss: Interval, infinity_mass: Interval, sampling_rate: Fraction) -> Outcomes:
    """Return a release whose losses are in ``loss``, or infinite, with that mass, either way."""
    complement = _AT192.sub(_AT192.rational(1), infinity_mass)
    return Outcomes(
        [Outcome(complement, complement, loss), *mirrored(infinity_mass, _ZERO)], sampling_rate
    )


def sampled_losses(loss: Floats, sampling_rate: Fraction) -> tuple[Floats, Floats]:
    """Return about log(1 - s + s exp(loss)) and a bound on its error, for s >= 2**-200.

    numpy promises no accuracy of its logarithm, so the exponential of the result gives the error.
    For losses above 600 the term 1 - s is negligible.
    """
    if sampling_rate == 1:
        return loss, np.zeros_like(loss)
    share, complement = float(sampling_rate), float(1 - sampling_rate)
    log_share = float_at_most(_AT192.log(_AT192.rational(sampling_rate)).lower)
    clipped = np.clip(loss, -700.0, _LARGEST_LOSS)
    grown = complement + share * exponential_in_floats(clipped)
    found = np.log(grown)
    off = np.abs(exponential_in_floats(found) / grown - 1) * 1.01 + 2.0**-48
    large = loss > _LARGEST_LOSS
    found = np.where(large, loss + log_share, found)
    off = np.where(large, 2.0**-50 * (np.abs(loss) - log_share), off)
    return found, off


class Noise(RandomOutcome):
    """Noise. The cells for add adjacency are those for remove adjacency, with P and Q exchanged."""

    def __init__(self, sampling_rate: Fraction) -> None:
        self._sampling_rate, self._exact_rate = (
            max(sampling_rate, _LEAST_RATE),
            sampling_rate >= _LEAST_RATE,
        )
        self.rate, self.symmetric = sampling_rate, sampling_rate == 1
        self._cached = lru_cache(maxsize=8)(self._cells_for)

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
        """Return all outcomes."""
        other = adding and not self.symmetric
        return self._cached(other, *self._fineness(widest, -1 - tilt if other else tilt))

    def _cells_for(self, adding: bool, fineness: int, tilt: float) -> OutcomeCells:
        if adding:
            found = self._cached(False, fineness, tilt).for_adding(self._sampling_rate)
        else:
            found = self._made(fineness, tilt)
        if self._exact_rate:
            return found
        return found._replace(p_low=np.zeros_like(found.p_low), infinity_mass=0.0)

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Return the fineness and tilt of cells, rounded so that the cache is used."""
        return math.frexp(widest)[1] - 1, tilt

    @abstractmethod
    def _made(self, fineness: int, tilt: float) -> OutcomeCells:
        """Return cells whose losses differ by about 2**fineness."""

    def _cells_between(
        self, low: Floats, high: Floats, here: tuple[Floats, Floats], moved: tuple[Floats, Floats]
    ) -> OutcomeCells:
        """Return cells of unsampled losses in [low, high]; w(x) and w(x + D) have these bounds."""
        first, off = sampled_losses(low, self._sampling_rate)
        last, off_last = sampled_losses(high, self._sampling_rate)
        loss = first - off * (1 + 2.0**-20)
        s, complement = float(self._sampling_rate), float(1 - self._sampling_rate)
        error = 2.0**-50  # of the rounded rate, two products and a sum
        p_low, p_up = (
            (s * w + complement * m) * factor
            for w, m, factor in zip(here, moved, (1 - error, 1 + error), strict=True)
        )
        far = ~(loss <= _LARGEST_LOSS) | ~(last <= _LARGEST_LOSS)
        near_enough = np.minimum(loss, _LARGEST_LOSS)
        lost = loss < -_LARGEST_LOSS
        grown = exponential_in_floats(np.where(lost, 0.0, near_enough))
        spread = np.where(far, np.inf, last - loss + off_last + 2.0**-48 * (1 + np.abs(loss)))
        r_low = np.where(far, 0.0, moved[0] * grown * (1 - error))
        r_up = moved[1] * grown * (1 + error) + TINY
        parts = [part[~lost] for part in (near_enough, spread, p_low, p_up + TINY, r_low, r_up)]
        mass_below = float(p_up[lost].sum()) * (1 + 2.0**-20) + TINY
        return OutcomeCells._make([*parts, mass_below, 0.0, 0.0, None])
