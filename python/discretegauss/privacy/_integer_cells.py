"""The privacy loss of integer noise in cells: integers, or runs of them (see `_noise_cells.py`)."""

from __future__ import annotations

from fractions import Fraction

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
from ._loss_cells import (
    FARTHEST,
    TINY,
    Cells,
    Outcome,
    Outcomes,
    Release,
    both_ways,
    far_apart,
    nearly_alike,
)
from ._noise_cells import TOO_WIDE, Noise, unswapped

_AT = arithmetic(192)

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
    """Noise of a law of integers, moved by ``change``."""

    def __init__(self, spec: LawSpec, change: int, rate: Fraction) -> None:
        super().__init__(rate)
        self.spec, self.change = spec, change
        self._family = formulas_of(self.spec)
        self._floats = self._family.has_exponents(self.spec) or (
            spec.kind is Kind.SKELLAM and parameters_in_range(spec.parameter, spec.mu)
        )
        reach = self._family.distance_of(self.spec, _AT.rational(_REACH), _AT).upper
        self._reach = int(_AT.up.ceil(reach)) + 1
        if self._reach + change > _FLOAT_INTEGERS:
            self._floats = False
        #: With the Laplace the loss varies on this side of 0 alone.
        self._bounded = self._family.pure_epsilon(self.spec, change) is not None
        if isinstance(self._family, RationalFormulas):
            self._unit, self._first, self._step = _unit_of(self._family, self.spec, change)
            self.unit = self._unit if rate == 1 else None

    @classmethod
    def of(cls, spec: LawSpec, change: int, rate: Fraction) -> Release:
        """Return the release, whatever the parameters."""
        found = cls(spec, change, rate)
        if found._loss_about(0).lower > TOO_WIDE:
            return far_apart(found._tail((change + 1) // 2).upper, rate)
        if found._reach + change < TOO_WIDE:
            return found
        beyond = Interval(_AT.rational(0).lower, found._beyond())
        low, high = found._loss_about(-found._reach - change), found._loss_about(found._reach)
        return nearly_alike(Interval(low.lower, high.upper), beyond, rate)

    @property
    def span(self) -> float:
        """How far losses lie apart."""
        cells = self.cells(swapped=False, widest=1.0)
        near = cells.top < FARTHEST
        return 2 * float(np.abs(cells.loss[near]).max(initial=2.0**-1000))

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        return 0, 0.0

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the integers to look at, as one half-open range or two, far from each other."""
        d = self.change
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
        return found._replace(under=found.under + beyond, over=found.over + beyond)

    def _beyond(self) -> Real:
        """Return more than P(X >= reach): masses fall there no slower than the first two."""
        here, after = (phi_at(self.spec, self._reach + i, _AT) for i in (0, 1))
        first = _AT.div(_AT.exp(_AT.neg(here)), self._total())
        return _AT.div(first, _AT.neg(_AT.expm1(_AT.sub(here, after)))).upper

    def _total(self) -> Interval:
        """Return the weight of all integers, in units of that of 0."""
        return kept_normaliser(self.spec, _BITS)[1]

    def _tail(self, m: int) -> Interval:
        """Return P(X >= m), m >= 0."""
        return probability(Tail(self.spec, m, complement=False), _BITS)

    def _ends(self) -> Cells:
        """Return the two cells beyond which the loss of a Laplace law does not vary."""
        at_0, at_d = self._tail(0), self._tail(self.change)
        ends = both_ways(at_0, at_d, _AT.rational(self._exact_loss(0)))
        return unswapped(Outcomes(ends, self._rate, unit=self.unit))

    def _exact_loss(self, x: int) -> Rational:
        exact = self._family.exact_phi  # type: ignore[attr-defined]
        return exact(self.spec, x + self.change) - exact(self.spec, x)

    def _few(self, xs: range) -> Cells:
        """Return cells of one integer each, whatever the parameters."""
        total = self._total()

        def mass(x: int) -> Interval:
            return _AT.div(_AT.exp(_AT.neg(phi_at(self.spec, x, _AT))), total)

        outcomes = [Outcome(mass(x), mass(x + self.change), self._loss_about(x)) for x in xs]
        return unswapped(Outcomes(outcomes, self._rate, unit=self.unit))

    def _exponents(self, xs: NDArray[np.int64]) -> Pairs:
        return self._family.exponents(self.spec, xs.astype(np.float64))

    def _losses(
        self, xs: NDArray[np.int64], before: Pairs | None, after: Pairs | None
    ) -> tuple[Floats, Floats]:
        """Return the unsampled losses, and how far they are off; given exponents, or not."""
        if isinstance(self._family, RationalFormulas):
            loss = (self._first + xs * self._step).astype(np.float64) * float(self._unit)
            return loss, np.abs(loss) * 2.0**-51
        before = self._exponents(xs) if before is None else before
        after = self._exponents(xs + self.change) if after is None else after
        loss = (after.high - before.high) + (after.low - before.low)
        off = np.abs(loss) * 2.0**-51 + 2.0**-80 * (1 + np.minimum(before.high, after.high))
        return loss, off

    def _single(self, first: int, stop: int) -> Cells:
        """Return cells of one integer each, in floats.

        One of both exponents is at most `_REACH` or so. Where the other is beyond what the law's
        family tells apart, it is even larger, and the loss as good as infinite.
        """
        xs, d = np.arange(first, stop), self.change
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
        d, pieces = self.change, _RUNS if self._floats else _FEW_RUNS
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
        lows, highs = [], []
        for x, y in zip(starts, ends, strict=False):
            lows.append(self._loss_about(x).lower)
            highs.append(self._loss_about(y - 1).upper)
        low = np.array([float_at_most(x) for x in lows])
        high = np.array([float_at_least(x) for x in highs])
        return self._cells_between(low, high, here, moved)

    def _loss_about(self, x: int) -> Interval:
        if isinstance(self._family, RationalFormulas):
            return _AT.rational(self._exact_loss(x))
        if 2 * x + self.change == 0:
            return _AT.rational(0)
        bits = arithmetic(192 + 2 * abs(x).bit_length())
        phi = self._family.phi
        return bits.sub(phi(self.spec, x + self.change, bits), phi(self.spec, x, bits))

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


def _unit_of(family: RationalFormulas, spec: LawSpec, change: int) -> tuple[Fraction, int, int]:
    """Return a number of which all losses are multiples, that of the loss at 0, and a step's."""
    phi = family.exact_phi
    loss = phi(spec, change) - phi(spec, 0)
    step = loss - (phi(spec, change - 1) - phi(spec, -1))
    common = loss.denominator * step.denominator
    unit = gmpy2.mpq(
        gmpy2.gcd(loss.numerator * step.denominator, step.numerator * loss.denominator), common
    )
    return fraction_of(unit), int(loss / unit), int(step / unit)
