"""Bounds on releases on a sample whose rare large losses are summed apart from all others.

At a small sampling rate most losses are about that rate, while a few are far larger. Tilts and
widths that fit the few do not fit the many. So each release is dominated by two independent ones,
which have their own sums.

*Two releases for one.* Let the masses of one release be at losses, B up to a cap and R above it.
A loss l of mass P has Q = P exp(-l). Let B have a in all, and b be the sum of its Q. The other
release has a mass of 1 at the loss 0, and P/a at l + log(b/a) for each loss of R. B and this one
together dominate B and R: for each g their divergence is at least that of B with the loss 0, plus,
for each loss l of R with its P and Q,

    sum over B of max(0, P_B P/a - g Q_B Q/b) >= max(0, P - g Q).

Both have the same mass. Compositions of dominating masses dominate (docs/concepts/shares.md,
Theorem 2, step 5). _rare_sums.py adds them up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import gmpy2
import numpy as np

from .._certified.double_double import Floats
from .._certified.double_double_functions import exponential_in_floats
from .._certified.floats import float_at_least
from .._certified.interval import ONE, ZERO, arithmetic
from ._discretise import Summand, pessimistic
from ._grid_choice import TILTS
from ._loss_bounds import AdjacencyBounds, float_of, joint
from ._outcomes import OutcomeCells, RandomOutcome
from ._rare_sums import FARTHEST, Atoms, Divergence, SplitSum, atoms_of, points

_UP: Any = arithmetic(64).up

#: Losses are summed apart if some are so many times the cap, and the width makes delta of the
#: others larger by more than the part _WIDE, or errors of transforms by more than _ROUNDED.
_FAR_APART, _WIDE, _ROUNDED = 4, 5e-3, 1e-3

#: The expected number of losses above the cap.
_EXPECTED = 2.0**-9

#: Cells in the span of a release, where the largest losses are sought.
_LOOK = 400

#: The least delta of the losses up to the cap that tilts are made for, and for which widths count.
_NOTHING, _UNUSUAL = 2.0**-60, 2.0**-12

#: Tilts are multiples of this: half an octave.
_STEP = TILTS // 2

#: The most fall of tilted masses over losses as large as the cap, as an exponent.
_STEEPEST = 64.0


class Bulk(RandomOutcome):
    """Upper bounds alone: the losses of a release up to a cap."""

    def __init__(self, release: RandomOutcome, cap: float) -> None:
        self._release, self.cap = release, cap
        self.rate, self.symmetric, self.unit = release.rate, release.symmetric, release.unit

    @property
    def span(self) -> float:
        """Return the distance between the extreme losses, roughly."""
        return self._release.span

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
        """Return the cells up to the cap. The mass above it is as of infinite losses."""
        return self.apart(adding=adding, widest=widest, tilt=tilt)[0]

    def apart(
        self, *, adding: bool, widest: float, tilt: float
    ) -> tuple[OutcomeCells, OutcomeCells]:
        """Return the cells up to the cap, and the cells above it with all other mass."""
        found = self._release.cells(adding=adding, widest=widest, tilt=tilt)
        near = found.loss + found.spread <= self.cap
        bulk, rare = (
            OutcomeCells._make([*(x[kept] for x in found[:6]), 0.0, found.mass_above, 0.0, None])
            for kept in (near, ~near)
        )
        far = found.mass_above + float(rare.p_up.sum()) * (1 + 2.0**-20)
        multiple = None if found.multiple is None else found.multiple[near]
        return bulk._replace(
            p_low=np.zeros_like(bulk.p_low),
            mass_below=found.mass_below,
            mass_above=far,
            multiple=multiple,
        ), rare


class Apart(AdjacencyBounds):
    """Upper bounds for one adjacency, with rare large losses summed apart."""

    aim = 2e-3

    def __init__(
        self, releases: Sequence[tuple[RandomOutcome, int]], *, adding: bool, **how: Any
    ) -> None:
        most = _EXPECTED / len(releases)
        bulks = [(Bulk(one, _cap(one, most / n, adding=adding)), n) for one, n in releases]
        super().__init__(bulks, adding=adding, **how)
        self.bulks, self._apart = bulks, lru_cache(maxsize=4)(self._new_apart)

    def added_by(self, h: float, epsilon: Fraction) -> float:
        """Return about the part by which a width makes delta of the losses up to caps larger."""
        return self._added(h, min(2.0 ** (self._tilt(float_of(epsilon)) / TILTS), self._usual))

    @cached_property
    def _usual(self) -> float:
        """The tilt at the farthest sum of losses up to caps that is not unusual."""
        return self._saddle(self.guess(_UNUSUAL))

    @cached_property
    def _farthest(self) -> float:
        """The largest epsilon that tilts are made for: beyond it rare losses make up delta."""
        return self.guess(_NOTHING)

    def _tilt(self, epsilon: float) -> int:
        cap = min(bulk.cap for bulk, _ in self.bulks)
        steepest = math.floor(TILTS * math.log2(_STEEPEST / cap))
        return min(super()._tilt(min(epsilon, self._farthest)), steepest) // _STEP * _STEP

    def _new_apart(self, tilt: int) -> SplitSum:
        s = 2.0 ** (tilt / TILTS)
        tilts = s, min(s, self._saddle(0.0))
        width = self.width_for_all(tilts, s)
        parts, atoms, infinite = [], [], ZERO
        least = min(bulk.cap for bulk, _ in self.bulks) / 2
        for bulk, count in self.bulks:
            bulk_cells, rare = bulk.apart(
                adding=self._adding,
                widest=width.about / 4,
                tilt=min(s, 1 / bulk.cap),
            )
            one = pessimistic(bulk_cells, bulk.unit, width)
            lowest = max(math.ceil(-FARTHEST / width.about), -(2**62))
            at = np.maximum(one.at, lowest)  # a larger loss is no less
            parts.append(Summand(at, one.mass, count))
            p = float(one.mass.sum()) * (1 - 2.0**-30)
            more = _excess_of_q(at * width.about, one.mass) / p  # at least log(b/a)
            atoms.append(atoms_of(rare, least, count / p * (1 + 2.0**-50), max(more, 0.0)))
            far = rare.mass_above + float(rare.p_up[~np.isfinite(rare.spread)].sum())
            infinite = joint(infinite, min(far * (1 + 2.0**-20), 1.0), count, up=True)
        start, masses, above = self.least_masses(parts, width, tilts)
        loss, mass = (np.concatenate(part) for part in zip(*atoms, strict=True))
        rare_sum = Atoms(loss, mass)
        if loss.size:
            ends = float(loss.min()) * (1 - 2.0**-40), float(loss.max()) * (1 + 2.0**-40)
            rare_sum = rare_sum.regrouped(points(*ends))
        single = self.bulks[0][1] if len(self.bulks) == 1 else None
        divergence = Divergence.of(start, masses, above, width)
        return SplitSum(divergence, rare_sum, single, infinite)

    def delta_above(self, epsilon: Fraction) -> Any:
        """Return an upper bound on delta(epsilon), epsilon >= 0."""
        found = self._apart(self._tilt(float_of(epsilon)))
        finite = found.delta(math.nextafter(float_of(epsilon), 0.0))
        return min(_UP.add(found.infinite, finite), self._chance, ONE)

    def _epsilon_above(self, delta: Fraction, less: float) -> float:
        target, about = float(delta) * (1 - less), self.guess(float(delta))
        for _ in range(4):
            tilt = self._tilt(about)
            one = self._apart(tilt)
            remainder = target - float_at_least(one.infinite)
            about = one.epsilon(remainder, about) if remainder > 0 else math.inf
            if math.isinf(about) or self._tilt(about) == tilt:
                break
        return about


def _cap(release: RandomOutcome, most: float, *, adding: bool) -> float:
    """Return a loss that is exceeded with a probability of about ``most``, or less."""
    cells = release.cells(adding=adding, widest=max(release.span / _LOOK, 1e-300))
    ends = cells.loss + cells.spread
    order = np.argsort(ends)
    above = np.cumsum(cells.p_up[order][::-1])[::-1]  # from each cell on
    place = int(np.argmax(above <= most)) if above[-1] <= most else 0
    cap = float(ends[order][place - 1]) if place else math.inf
    return cap if cap > 0 else float(ends[ends > 0].min(initial=math.inf))


def _excess_of_q(loss: Floats, mass: Floats) -> float:
    """Return at least the sum of all Q, less that of all P."""
    grown = exponential_in_floats(np.maximum(-loss, -700.0)) - 1
    small = np.abs(loss) < 2.0**-10  # exp(-x) - 1 is at most -x + x**2/2 - x**3/6 + x**4/24
    series = -loss * (1 - loss / 2 * (1 - loss / 3 * (1 - loss / 4)))
    grown = np.where(small, series, grown)
    return math.fsum((mass * grown).tolist()) + float((mass * np.abs(grown)).sum()) * 2.0**-39


class LeastBounds(AdjacencyBounds):
    """Bounds for one adjacency; large losses are summed apart where that may give less."""

    def __init__(self, releases: Sequence[tuple[RandomOutcome, int]], **how: Any) -> None:
        super().__init__(releases, **how)
        self._how = how

    @classmethod
    def of(cls, releases: Sequence[tuple[RandomOutcome, int]], **how: Any) -> AdjacencyBounds:
        """Return bounds of releases; on a sample, large losses may be rare."""
        several = sum(count for _, count in releases) > 1
        sampled = any(release.rate < 1 for release, _ in releases)
        kind = cls if several and sampled and how["width"] is None else AdjacencyBounds
        return kind(releases, **how)

    @cached_property
    def _other(self) -> Apart | None:
        """The bounds with rare losses apart; None if no loss is rare and large."""
        found = Apart(self._releases, **self._how)
        caps = [_FAR_APART * bulk.cap for bulk, _ in found.bulks]
        largest = [few.most for few in self._few]
        return found if any(a > b for a, b in zip(largest, caps, strict=True)) else None

    def _is_loose(self, epsilon: Fraction, delta: Any) -> bool:
        """Return whether buckets are too wide for the many losses, or errors are too large."""
        h = self._plan(self._tilt_at(epsilon)).width.about
        wide = self._other is not None and self._other.added_by(h, epsilon) > _WIDE
        return wide or self.rounding_at(epsilon) > _ROUNDED * float(delta)

    def delta_above(self, epsilon: Fraction) -> Any:
        """Return an upper bound on delta(epsilon), epsilon >= 0."""
        found = super().delta_above(epsilon)
        if self._other is None or not self._is_loose(epsilon, found):
            return found
        return min(found, self._other.delta_above(epsilon))

    def epsilon_above(self, delta: Fraction) -> float:
        """Return an epsilon of at least 0 whose upper bound is at most delta."""
        found = super().epsilon_above(delta)
        about = Fraction(found if math.isfinite(found) else self.guess(float_of(delta)))
        if self._other is None or found == 0 or not self._is_loose(about, gmpy2.mpq(delta)):
            return found
        other = self._other.epsilon_above(delta)
        # `delta_above` asks the other bound, too, if this one is loose there
        if other < found and not self._is_loose(Fraction(other), gmpy2.mpq(delta)):
            other = other if self.delta_above(Fraction(other)) <= gmpy2.mpq(delta) else found
        return min(found, other)
