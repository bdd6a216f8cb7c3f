"""The outcomes of one release, in cells: masses with a person, and without.

A cell is a set of outcomes, with P its mass with the person and Q that without. Its losses log(P/Q)
lie between ``loss`` and ``loss + top``, both floats; of its masses bounds are kept, of Q as

    R = Q exp(loss),

which lies between P exp(-top) and P, where Q itself may be below every float. ``top`` may be
infinite. What is in no cell has less P than ``mass_below``, if its loss is low, and ``mass_above``,
if it is high; an infinite loss has at least the mass ``infinity_mass``, which is in no cell.

With Poisson sampling at a sampling rate s, the person is in the sample with probability s, and P
becomes s P + (1 - s) Q. If a pair (P, Q) dominates all pairs that a release may make of neighbours, whichever of them
comes first, so does the sampled one (Zhu, Dong and Wang, AISTATS 2022, Theorem 11).

*Noise.* A law of noise that the person moves by D: at a distance x from the answer with the person
the masses are w(x), and w(x + D) without. As the law is log-concave, the loss log(w(x)/w(x + D))
never falls in x, nor does that of a sample. So a cell is an interval of x, and its losses lie
between those at its ends; integers are cells of their own where they are not too many.

For log-concave noise D is the worst change of at most D, sampled or not: for any epsilon, one
adjacency is s times the unsampled delta at 1 + (exp(epsilon) - 1)/s, the other (1 - exp(epsilon) (1
- s)) times the one at s exp(epsilon)/(1 - exp(epsilon) (1 - s)), both of the multiplier, and each
grows with D (hockey_stick.py).

What is computed in floats has a relative error that is counted, u = 2**-53 a rounding; exponentials
and transforms are the package's own.
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

from .._certified.double_double import Floats, Pairs, parameters_in_range
from .._certified.double_double_functions import exponential_in_floats
from .._certified.floats import float_at_least, float_at_most, float_nearest
from .._certified.formulas import RationalFormulas
from .._certified.interval import Interval, Rational, Real, arithmetic, fraction_of
from .._certified.laws_of_integers import formulas_of, phi_at
from .._certified.pair_arrays import array_values
from .._certified.probability import Tail, kept_normaliser, probability
from .._law import Kind, LawSpec
from ..errors import ParameterOverflowError

_AT = arithmetic(192)
_ZERO = _AT.rational(0)
_INFINITY = gmpy2.inf()

#: Losses beyond this count as infinite, above, and as low as one likes, below.
FARTHEST = 2.0**12

#: Exponentials of larger losses, either way, are not taken.
_LARGEST_LOSS = 600.0

#: More than what underflows.
TINY = 1e-300

#: Lower sampling rates get the upper bounds of this one, and no lower bounds.
_LEAST_RATE = Fraction(1, 2**200)


class Cells(NamedTuple):
    """All outcomes of a release, for one adjacency."""

    loss: Floats
    top: Floats
    p_low: Floats
    p_up: Floats
    r_low: Floats
    r_up: Floats
    mass_below: float
    mass_above: float
    infinity_mass: float
    multiple: NDArray[np.int64] | None = None
    """Losses are exactly so many times the release's unit."""

    @classmethod
    def joined(cls, parts: list[Cells]) -> Cells:
        """Return all of them; none has multiples."""
        arrays = zip(*(part[:6] for part in parts), strict=True)
        outside = zip(*(part[6:9] for part in parts), strict=True)
        return cls._make([*map(np.concatenate, arrays), *map(sum, outside), None])

    def adding(self, sampling_rate: Fraction) -> Cells:
        """Return the cells of a sampled release for add adjacency: with P and Q exchanged.

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
            self.mass_above + float(far.sum()) * (1 + 2.0**-20),
            self.mass_below / float(1 - sampling_rate) * (1 + 2.0**-20),
            0.0,
        )


class Release(ABC):
    """One release, by its losses."""

    #: Whether both adjacencies have the same losses.
    symmetric: bool

    #: What losses are multiples of, if they are.
    unit: Fraction | None = None

    @abstractmethod
    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> Cells:
        """Return all outcomes; losses of a cell differ by at most ``widest``, or nearly so.

        They may differ by more where there is little mass, tilted by exp(tilt loss). ``adding``
        asks for add adjacency, else for remove adjacency.
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


def mirrored(p: Interval, q: Interval, loss: Interval | None = None) -> list[Outcome]:
    """Return an outcome, and the one whose probabilities are exchanged."""
    return [Outcome(p, q, loss), Outcome(q, p, None if loss is None else _AT.neg(loss))]


class Outcomes(Release):
    """A release with few outcomes, or few that differ in their loss."""

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
        self.symmetric = symmetric and sampling_rate == 1
        self._kept = lru_cache(maxsize=2)(self.cells_for)

    @property
    def span(self) -> float:
        """How far losses lie apart."""
        ends = [0.0]
        for adding in (False, True):
            cells = self._kept(adding=adding)
            ends += (np.abs(cells.loss) + np.where(cells.top < FARTHEST, cells.top, 0)).tolist()
        return 2 * max(ends)

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> Cells:
        """Return all outcomes."""
        del widest, tilt
        return self._kept(adding=adding)

    def cells_for(self, *, adding: bool) -> Cells:
        """Return all outcomes."""
        rows, multiples = [], []
        under = over = infinity_mass = _ZERO
        for given in self._outcomes:
            p, q, loss = sampled(given, self._sampling_rate)
            if adding:
                p, q, loss = q, p, None if loss is None else _AT.neg(loss)
            if p.upper <= 0:
                continue
            if q.upper <= 0:
                over, infinity_mass = _AT.add(over, p), _AT.add(infinity_mass, p)
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
        outside = (
            float_at_least(under.upper),
            float_at_least(over.upper),
            float_at_most(infinity_mass.lower),
        )
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


def sampled(outcome: Outcome, sampling_rate: Fraction) -> Outcome:
    """Return what Poisson sampling makes of an outcome."""
    p, q, loss = outcome
    if sampling_rate == 1:
        return outcome
    mixed = _AT.add(_AT.scale(p, sampling_rate), _AT.scale(q, 1 - sampling_rate))
    if loss is not None:
        loss = _AT.log1p(_AT.scale(_AT.expm1(loss), sampling_rate))
    return Outcome(mixed, q, loss)


def far_apart(most: object, sampling_rate: Fraction) -> Outcomes:
    """Return a release of which one outcome has a probability of at most so much, each way."""
    little = Interval(_ZERO.lower, most)
    rest = _AT.sub(_AT.rational(1), little)
    return Outcomes(mirrored(rest, little), sampling_rate)


def nearly_alike(loss: Interval, infinity_mass: Interval, sampling_rate: Fraction) -> Outcomes:
    """Return a release with such losses, unless, with this probability each, they are infinite."""
    rest = _AT.sub(_AT.rational(1), infinity_mass)
    return Outcomes([Outcome(rest, rest, loss), *mirrored(infinity_mass, _ZERO)], sampling_rate)


def sampled_losses(loss: Floats, sampling_rate: Fraction) -> tuple[Floats, Floats]:
    """Return about log(1 - s + s exp(loss)), and how far that is off; for s of 2**-200 at least.

    numpy's logarithm is not trusted: its exponential is compared. Beyond 600, where that is not
    taken, 1 - s is next to nothing beside the rest.
    """
    if sampling_rate == 1:
        return loss, np.zeros_like(loss)
    share, rest = float(sampling_rate), float(1 - sampling_rate)
    log_share = float_at_most(_AT.log(_AT.rational(sampling_rate)).lower)
    clipped = np.clip(loss, -700.0, _LARGEST_LOSS)
    grown = rest + share * exponential_in_floats(clipped)
    found = np.log(grown)
    off = np.abs(exponential_in_floats(found) / grown - 1) * 1.01 + 2.0**-48
    large = loss > _LARGEST_LOSS
    found = np.where(large, loss + log_share, found)
    off = np.where(large, 2.0**-50 * (np.abs(loss) - log_share), off)
    return found, off


#: If noise reaches further than this, or the sensitivity is less, losses differ from 0 by less than
#: floats tell. Losses above the first count as infinite.
TOO_WIDE, LEAST_SENSITIVITY = 2**500, Fraction(1, 2**500)


class Noise(Release):
    """Noise. The cells for add adjacency are those for remove adjacency, with P and Q exchanged."""

    def __init__(self, sampling_rate: Fraction) -> None:
        self._sampling_rate, self._exact_rate = (
            max(sampling_rate, _LEAST_RATE),
            sampling_rate >= _LEAST_RATE,
        )
        self.symmetric = sampling_rate == 1
        self._kept = lru_cache(maxsize=8)(self._cells_for)

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> Cells:
        """Return all outcomes."""
        other = adding and not self.symmetric
        return self._kept(other, *self._fineness(widest, -1 - tilt if other else tilt))

    def _cells_for(self, adding: bool, fineness: int, tilt: float) -> Cells:
        if adding:
            found = self._kept(False, fineness, tilt).adding(self._sampling_rate)
        else:
            found = self._made(fineness, tilt)
        if self._exact_rate:
            return found
        return found._replace(p_low=np.zeros_like(found.p_low), infinity_mass=0.0)

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Return how fine cells are, which may be rounded, so that they are made once."""
        return math.frexp(widest)[1] - 1, tilt

    @abstractmethod
    def _made(self, fineness: int, tilt: float) -> Cells:
        """Return cells whose losses differ by 2**fineness or so."""

    def _cells_between(
        self, low: Floats, high: Floats, here: tuple[Floats, Floats], moved: tuple[Floats, Floats]
    ) -> Cells:
        """Return cells with unsampled losses in [low, high], and bounds of both masses."""
        first, off = sampled_losses(low, self._sampling_rate)
        last, off_last = sampled_losses(high, self._sampling_rate)
        loss = first - off * (1 + 2.0**-20)
        s, rest = float(self._sampling_rate), float(1 - self._sampling_rate)
        error = 2.0**-50  # of the rounded rate, two products and a sum
        p_low, p_up = (
            (s * w + rest * m) * factor
            for w, m, factor in zip(here, moved, (1 - error, 1 + error), strict=True)
        )
        far = ~(loss <= _LARGEST_LOSS) | ~(last <= _LARGEST_LOSS)
        near_enough = np.minimum(loss, _LARGEST_LOSS)
        lost = loss < -_LARGEST_LOSS
        grown = exponential_in_floats(np.where(lost, 0.0, near_enough))
        top = np.where(far, np.inf, last - loss + off_last + 2.0**-48 * (1 + np.abs(loss)))
        r_low = np.where(far, 0.0, moved[0] * grown * (1 - error))
        r_up = moved[1] * grown * (1 + error) + TINY
        parts = [part[~lost] for part in (near_enough, top, p_low, p_up + TINY, r_low, r_up)]
        mass_below = float(p_up[lost].sum()) * (1 + 2.0**-20) + TINY
        return Cells._make([*parts, mass_below, 0.0, 0.0, None])


#: Relative bits of masses, of which floats are made.
_BITS = 80

#: Integers with phi up to here are looked at: the rest has a mass below exp(-90).
_REACH = 90

#: So many integers are cells of their own; beyond, so many runs of them; with no floats, fewer.
_SINGLE, _RUNS = 2**17, 2**13
_FEW_SINGLE, _FEW_RUNS = 2**11, 2**10

#: exp of minus this is 0 beside what counts.
_LARGEST_PHI = 700.0

_FLOAT_INTEGERS = 2**52


class IntegerNoise(Noise):
    """Noise of a law of integers, moved by ``sensitivity``."""

    def __init__(self, spec: LawSpec, sensitivity: int, sampling_rate: Fraction) -> None:
        super().__init__(sampling_rate)
        self.spec, self.sensitivity = spec, sensitivity
        self._formulas = formulas_of(self.spec)
        self._floats = self._formulas.has_exponents(self.spec) or (
            spec.kind is Kind.SKELLAM and parameters_in_range(spec.parameter, spec.mu)
        )
        reach = self._formulas.distance_of(self.spec, _AT.rational(_REACH), _AT).upper
        self._reach = int(_AT.up.ceil(reach)) + 1
        if self._reach + sensitivity > _FLOAT_INTEGERS:
            self._floats = False
        #: With the Laplace the loss varies on this side of 0 alone.
        self._bounded = self._formulas.pure_epsilon(self.spec, sensitivity) is not None
        if isinstance(self._formulas, RationalFormulas):
            self._unit, self._first, self._step = _unit_of(self._formulas, self.spec, sensitivity)
            self.unit = self._unit if sampling_rate == 1 else None

    @classmethod
    def of(cls, spec: LawSpec, sensitivity: int, sampling_rate: Fraction) -> Release:
        """Return the release, whatever the parameters."""
        found = cls(spec, sensitivity, sampling_rate)
        if phi_at(spec, sensitivity, arithmetic(64)).lower > TOO_WIDE:
            return far_apart(found._tail((sensitivity + 1) // 2).upper, sampling_rate)
        if found._reach + sensitivity < TOO_WIDE:
            return found
        beyond = Interval(_AT.rational(0).lower, found._beyond())
        low, high = found._loss_about(-found._reach - sensitivity), found._loss_about(found._reach)
        return nearly_alike(Interval(low.lower, high.upper), beyond, sampling_rate)

    @property
    def span(self) -> float:
        """How far losses lie apart."""
        cells = self.cells(adding=False, widest=1.0)
        near = cells.top < FARTHEST
        return 2 * float(np.abs(cells.loss[near]).max(initial=2.0**-1000))

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        return 0, 0.0

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the integers to look at, as one half-open range or two, far from each other."""
        d = self.sensitivity
        if self._bounded:  # beyond there are two cells more
            reach = min(self._reach, d - 1)
            near_d, near_0 = (1 - d, 1 - d + reach), (-reach, 0)
        else:
            near_d = (-d - self._reach, self._reach - d + 1)
            near_0 = (-self._reach, self._reach + 1)
        return [(near_d[0], near_0[1])] if near_d[1] >= near_0[0] else [near_d, near_0]

    def _made(self, fineness: int, tilt: float) -> Cells:
        del fineness, tilt
        ranges = [(a, b) for a, b in self._ranges() if a < b]
        total = sum(b - a for a, b in ranges)
        if self._floats and total <= _SINGLE:
            parts = [self._single(a, b) for a, b in ranges]
        elif total <= _FEW_SINGLE:
            parts = [self._few(range(a, b)) for a, b in ranges]
        else:
            parts = [self._runs(a, b) for a, b in ranges]
        if self._bounded:
            parts.append(self._ends())
        found = Cells.joined(parts)
        multiples = [part.multiple for part in parts if part.multiple is not None]
        if len(multiples) == len(parts):
            found = found._replace(multiple=np.concatenate(multiples))
        if self._bounded and len(ranges) < 2:
            return found
        beyond = float_at_least(self._beyond())
        return found._replace(
            mass_below=found.mass_below + beyond, mass_above=found.mass_above + beyond
        )

    def _beyond(self) -> Real:
        """Return more than P(X >= reach): masses fall there no slower than the first two."""
        at = arithmetic(64 + self._reach.bit_length())
        here, after = (phi_at(self.spec, self._reach + i, at) for i in (0, 1))
        first = at.div(at.exp(at.neg(here)), self._total())
        return at.div(first, at.neg(at.expm1(at.sub(here, after)))).upper

    def _total(self) -> Interval:
        """Return the weight of all integers, in units of that of 0."""
        return kept_normaliser(self.spec, _BITS)[1]

    def _tail(self, m: int) -> Interval:
        """Return P(X >= m), m >= 0."""
        return probability(Tail(self.spec, m, complement=False), _BITS)

    def _ends(self) -> Cells:
        """Return the two cells beyond which the loss of a Laplace law does not vary."""
        at_0, at_d = self._tail(0), self._tail(self.sensitivity)
        ends = mirrored(at_0, at_d, _AT.rational(self._exact_loss(0)))
        return Outcomes(ends, self._sampling_rate, unit=self.unit).cells_for(adding=False)

    def _exact_loss(self, x: int) -> Rational:
        exact = self._formulas.exact_phi  # type: ignore[attr-defined]
        return exact(self.spec, x + self.sensitivity) - exact(self.spec, x)

    def _few(self, xs: range) -> Cells:
        """Return cells of one integer each, whatever the parameters."""
        total = self._total()

        def mass(x: int) -> Interval:
            return _AT.div(_AT.exp(_AT.neg(phi_at(self.spec, x, _AT))), total)

        outcomes = [Outcome(mass(x), mass(x + self.sensitivity), self._loss_about(x)) for x in xs]
        return Outcomes(outcomes, self._sampling_rate, unit=self.unit).cells_for(adding=False)

    def _exponents(self, xs: NDArray[np.int64]) -> Pairs:
        return self._formulas.exponents(self.spec, xs.astype(np.float64))

    def _losses(
        self, xs: NDArray[np.int64], before: Pairs | None, after: Pairs | None
    ) -> tuple[Floats, Floats]:
        """Return the unsampled losses, and how far they are off; given exponents, or not."""
        if isinstance(self._formulas, RationalFormulas):
            loss = (self._first + xs * self._step).astype(np.float64) * float(self._unit)
            return loss, np.abs(loss) * 2.0**-51
        before = self._exponents(xs) if before is None else before
        after = self._exponents(xs + self.sensitivity) if after is None else after
        loss = (after.high - before.high) + (after.low - before.low)
        off = np.abs(loss) * 2.0**-51 + 2.0**-80 * (1 + np.minimum(before.high, after.high))
        return loss, off

    def _single(self, first: int, stop: int) -> Cells:
        """Return cells of one integer each, in floats.

        One of both exponents is at most `_REACH` or so. Where the other is beyond what the law's
        formulas tells apart, it is even larger, and the loss as good as infinite.
        """
        xs, d = np.arange(first, stop), self.sensitivity
        # most integers are in both
        both = np.arange(first, stop + d) if d < xs.size else np.concatenate([xs, xs + d])
        exponents = self._exponents(both)
        before, after = (
            Pairs(exponents.high[part], exponents.low[part])
            for part in (slice(xs.size), slice(both.size - xs.size, None))
        )
        at_0 = float_nearest(_AT.div(_AT.rational(1), self._total()))

        def bounds(exponents: Pairs) -> tuple[Floats, Floats]:
            near = exponents.high < _LARGEST_PHI
            minus = np.where(near, -exponents.high, -1000.0)
            mass = exponential_in_floats(minus, np.where(near, -exponents.low, 0.0)) * at_0
            return mass * (1 - 2.0**-49), mass * (1 + 2.0**-49) + TINY

        loss, off = self._losses(xs, before, after)
        if self.unit is None:
            return self._cells_between(loss - off, loss + off, bounds(before), bounds(after))
        low, up = bounds(before)  # R is P, as losses are exact
        multiple = self._first + xs * self._step
        return Cells(loss, np.zeros_like(loss), low, up, low, up, TINY, 0.0, 0.0, multiple)

    def _runs(self, first: int, stop: int) -> Cells:
        """Return cells of many integers, by tails at both ends."""
        d, pieces = self.sensitivity, _RUNS if self._floats else _FEW_RUNS
        cuts = {first + (stop - first) * i // pieces for i in range(pieces + 1)}
        cuts |= {x for x in (0, 1, -d, 1 - d) if first < x < stop}
        starts = sorted(cuts)
        ends = starts[1:]
        here = self._masses(starts)
        moved = self._masses([x + d for x in starts])
        if self._floats:
            low, off = self._losses(np.array(starts[:-1]), None, None)
            high, off_high = self._losses(np.array(ends) - 1, None, None)
            return self._cells_between(low - 2 * off, high + 2 * off_high, here, moved)
        low = np.array([float_at_most(self._loss_about(x).lower) for x in starts[:-1]])
        high = np.array([float_at_least(self._loss_about(y - 1).upper) for y in ends])
        return self._cells_between(low, high, here, moved)

    def _loss_about(self, x: int) -> Interval:
        if isinstance(self._formulas, RationalFormulas):
            return _AT.rational(self._exact_loss(x))
        if 2 * x + self.sensitivity == 0:
            return _AT.rational(0)
        bits = arithmetic(192 + 2 * abs(x).bit_length())
        phi = self._formulas.phi
        return bits.sub(phi(self.spec, x + self.sensitivity, bits), phi(self.spec, x, bits))

    def _masses(self, starts: list[int]) -> tuple[Floats, Floats]:
        """Return bounds of the masses from each integer to the next, by the shorter tails.

        0 and 1 are among these integers, if they lie between the first and the last.
        """
        tails = self._tails([x if x > 0 else 1 - x for x in starts])
        right = np.array(starts[:-1]) > 0
        near = np.where(right, tails[:-1], tails[1:])
        far = np.where(right, tails[1:], tails[:-1])
        low, up = near - far - (near + far) * 2.0**-52, near - far + (near + far) * 2.0**-52
        if 0 in starts[:-1]:  # a cell of its own
            at_0 = float_nearest(_AT.div(_AT.rational(1), self._total()))
            low[starts.index(0)], up[starts.index(0)] = at_0 * (1 - 2**-52), at_0 * (1 + 2**-52)
        return np.maximum(low, 0.0), up + TINY

    def _tails(self, ms: list[int]) -> Floats:
        """Return P(X >= m), m >= 1, rounded."""
        if not self._floats:
            return np.array([float_nearest(self._tail(m)) for m in ms])
        values, known = array_values("sf", self.spec, np.array(ms) - 1)
        for i in np.flatnonzero(~known):
            values[i] = float_nearest(self._tail(ms[i]))
        return values


def _unit_of(
    formulas: RationalFormulas, spec: LawSpec, sensitivity: int
) -> tuple[Fraction, int, int]:
    """Return a number of which all losses are multiples, that of the loss at 0, and a step's."""
    phi = formulas.exact_phi
    loss = phi(spec, sensitivity) - phi(spec, 0)
    step = loss - (phi(spec, sensitivity - 1) - phi(spec, -1))
    common = loss.denominator * step.denominator
    unit = gmpy2.mpq(
        gmpy2.gcd(loss.numerator * step.denominator, step.numerator * loss.denominator), common
    )
    return fraction_of(unit), int(loss / unit), int(step / unit)


_HALF = Fraction(1, 2)

#: Cells of an interval, at most.
_MOST_CELLS = 2**17

#: exp(-750) is 0.
_NOTHING = 750.0


class GaussianNoise(Noise):
    """The normal law of a deviation 1, moved by the square root of ``mu2``, at most 1600."""

    _BEYOND = 12
    _TAIL = 2e-33
    """More than P(N > 12)."""

    def __init__(self, mu2: Rational, sampling_rate: Fraction) -> None:
        super().__init__(sampling_rate)
        self.sensitivity = float_nearest(_AT.sqrt(_AT.rational(mu2)))
        self._fewest = 64.0 if self.sensitivity < 8 else 2.5 * (self._BEYOND + self.sensitivity)

    @classmethod
    def of(cls, sigma2: Rational, sensitivity: Rational, sampling_rate: Fraction) -> Release:
        """Return the release, whatever the parameters."""
        mu2 = sensitivity * sensitivity / sigma2
        if LEAST_SENSITIVITY**2 <= mu2 <= 1600:
            return cls(mu2, sampling_rate)
        if mu2 < LEAST_SENSITIVITY**2:
            loss = _AT.scale(_AT.sqrt(_AT.rational(mu2)), 13)
            return nearly_alike(
                Interval(_AT.neg(loss).lower, loss.upper),
                _AT.rational(Fraction(cls._TAIL)),
                sampling_rate,
            )
        return far_apart(_AT.erfc(_AT.sqrt(_AT.rational(mu2 / 8))).upper, sampling_rate)

    @property
    def span(self) -> float:
        """How far losses lie apart."""
        return 2 * self.sensitivity * (self._BEYOND + self.sensitivity / 2)

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Cells are fine where the tilted mass is: the tilt need not be exact."""
        return super()._fineness(widest, 0.0)[0], round(tilt * 2, 0) / 2

    def _ends(self, fineness: int, tilt: float) -> Floats:
        """Return ends of cells, multiples of powers of 2, as are middles: nothing is rounded."""
        d = self.sensitivity
        coarse = 2.0 ** -math.ceil(math.log2(self._fewest))
        first, last = math.floor((-self._BEYOND - d) / coarse), math.ceil(self._BEYOND / coarse)
        starts = np.arange(first, last) * coarse
        losses = d * starts + d * d / 2
        share = 1.0
        if self._sampling_rate != 1:
            log_rate = math.log(float(self._sampling_rate))
            log_odds = math.log(float(1 - self._sampling_rate)) - log_rate - losses
            share = np.exp(-np.logaddexp(0.0, log_odds))
            losses = losses + log_rate + np.logaddexp(0.0, log_odds)
        # the loss varies by so much in a coarse cell, and may by so much more where little mass is
        varies = d * coarse * share * math.exp(min(d * coarse, 1))
        weight = np.logaddexp(
            math.log(float(self._sampling_rate)) - starts**2 / 2,
            math.log(float(1 - self._sampling_rate) or TINY) - (starts + d) ** 2 / 2,
        )
        weight = weight + tilt * losses
        spare = np.exp2(np.minimum((weight.max() - weight) / 2, 40))
        parts = np.ceil(np.log2(np.maximum(varies / (2.0**fineness * spare), 1.0)))
        parts = (2 ** np.clip(parts, 0, 10)).astype(np.int64)
        within = np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
        ends = np.repeat(starts, parts) + within * np.repeat(coarse / parts, parts)
        return np.append(ends, last * coarse)

    def _made(self, fineness: int, tilt: float) -> Cells:
        d = self.sensitivity
        ends = self._ends(fineness, tilt)
        losses = d * ends + d * d / 2
        off = 2.0**-50 * d * (np.abs(ends) + d)
        half = (ends[1:] - ends[:-1]) / 2
        middle = ends[:-1] + half
        wrong = 2.0**-46 + (self._BEYOND + 2 * d) * d * 2.0**-51
        masses = [_normal_masses(middle, half, move) for move in (0.0, d)]
        here, moved = ((m * (1 - wrong), m * (1 + wrong) + TINY) for m in masses)
        found = self._cells_between((losses - off)[:-1], (losses + off)[1:], here, moved)
        beyond = self._TAIL
        return found._replace(
            mass_below=found.mass_below + beyond, mass_above=found.mass_above + beyond
        )


def _normal_masses(middle: Floats, half: Floats, move: float) -> Floats:
    """Return masses of N(-move, 1) within ``half`` of each number; relative error below 2**-46.

    With m the distance from the centre, the integral of exp(-m v - v*v/2) over abs(v) <= w/2 has
    the coefficients c_(k+1) = -(m c_k + c_(k-1))/(k + 1); terms fall as those of exp(z), z = abs(m)
    w/2 + w*w/8 <= 1/4: 14 of them leave less than 1e-19. m is cut after 2**-20, so that what is
    before it has a square that is a float.
    """
    unit = 2.0**20
    top = np.round(middle * unit) / unit + round(move * unit) / unit
    rest = (middle - np.round(middle * unit) / unit) + (move - round(move * unit) / unit)
    m = top + rest
    total, before, now, power = np.ones_like(m), np.ones_like(m), -m, half * half
    for k in range(1, 14):
        before, now = now, -(m * now + before) / (k + 1)
        if k % 2:  # now is the coefficient of v**(k + 1)
            total = total + now * (power / (k + 2))
            power = power * (half * half)
    exponent = -top * top / 2
    near = exponent > -_NOTHING
    weight = exponential_in_floats(np.where(near, exponent, -1000.0), -rest * (top + m) / 2)
    return weight * total * (half * math.sqrt(2 / math.pi))


class LaplaceNoise(Noise):
    """The Laplace law of scale 1, moved by ``sensitivity``, at most 300; cut off beyond ``cut``."""

    _FEWEST, _LARGEST = 128, 300

    def __init__(
        self, sensitivity: Rational, cut: Rational | None, sampling_rate: Fraction
    ) -> None:
        super().__init__(sampling_rate)
        self._sensitivity, self._cut = sensitivity, cut
        self.unit = fraction_of(sensitivity) if sampling_rate == 1 else None
        self._weight = _AT.rational(1)
        if cut is not None:
            self._weight = _AT.neg(_AT.expm1(_AT.rational(-cut)))

    @classmethod
    def of(cls, sensitivity: Rational, cut: Rational | None, sampling_rate: Fraction) -> Release:
        """Return the release, whatever the parameters."""
        if LEAST_SENSITIVITY <= sensitivity <= cls._LARGEST:
            return cls(sensitivity, cut, sampling_rate)
        if sensitivity < LEAST_SENSITIVITY:
            infinity_mass = (
                _AT.rational(0)
                if cut is None
                else cls(sensitivity, cut, sampling_rate)._mass(cut - sensitivity, cut)
            )
            d = _AT.rational(sensitivity)
            return nearly_alike(Interval(_AT.neg(d).lower, d.upper), infinity_mass, sampling_rate)
        return far_apart(_AT.exp(_AT.rational(-sensitivity / 2)).upper, sampling_rate)

    @property
    def span(self) -> float:
        """How far losses lie apart."""
        return float_at_least(_AT.rational(2 * self._sensitivity).upper)

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Return how often the interval between both ends of losses is halved."""
        parts = max(float(2 * self._sensitivity) / widest, self._FEWEST)
        return math.ceil(math.log2(min(parts, _MOST_CELLS))), 0.0

    def _mass(self, x: Rational, y: Rational) -> Interval:
        """Return the mass between two distances from the answer, 0 <= x <= y."""
        rest = _AT.neg(_AT.expm1(_AT.rational(x - y)))
        whole = _AT.mul(_AT.exp(_AT.rational(-x)), rest)
        return _AT.scale(_AT.div(whole, self._weight), _HALF)

    def _beyond(self, x: Rational) -> Interval:
        """Return the mass farther off than that, on one side."""
        if self._cut is not None:
            return self._mass(x, self._cut)
        return _AT.scale(_AT.exp(_AT.rational(-x)), _HALF)

    def _made(self, fineness: int, tilt: float) -> Cells:
        del tilt
        d, cut, count = self._sensitivity, self._cut, 1 << fineness
        if cut is None:
            outcomes = mirrored(self._beyond(gmpy2.mpq(0)), self._beyond(d), _AT.rational(d))
        else:
            at_0, at_d = self._mass(gmpy2.mpq(0), cut - d), self._mass(d, cut)
            outcomes = mirrored(at_0, at_d, _AT.rational(d))
            outcomes += mirrored(self._mass(cut - d, cut), _AT.rational(0))
        ends = Outcomes(outcomes, self._sampling_rate).cells_for(adding=False)
        # between them, from -d to 0, the loss is 2 z + d
        step = float_nearest(_AT.rational(d / count))
        half_step = _AT.rational(d / count / 2)
        rise = _AT.sub(_AT.expm1(half_step), _AT.expm1(_AT.neg(half_step)))  # 2 sinh of it
        share = _AT.scale(_AT.div(rise, self._weight), _HALF)
        z = (np.arange(count, dtype=np.float64)[::-1] + 0.5) * -step  # wrong by 2 u of it
        masses = [
            exponential_in_floats(z) * float_nearest(share),
            exponential_in_floats(z[::-1]) * float_nearest(share),
        ]
        wrong = 2.0**-49 + 2.0**-51 * float(d)
        here, moved = ((m * (1 - wrong), m * (1 + wrong)) for m in masses)
        edges = (2 * np.arange(count + 1) - count) * step
        off = np.abs(edges) * 2.0**-51
        between = self._cells_between((edges - off)[:-1], (edges + off)[1:], here, moved)
        return Cells.joined([ends, between])
