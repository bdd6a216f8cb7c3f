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
Theorem 2, step 5).

*The sum.* n such releases are n times B, which has one transform, and a sum of n rare ones. The
latter has binomial(n, j) times the j-fold convolution of R, for each j. With several kinds of
releases it has at most 1/j! times that of the sum of all n R. Let D be the divergence of the sum of
B. Then delta(epsilon) is the sum over all rare sums w of their mass times D(epsilon - w). Rare sums
lie at few points in geometric progression: each loss between two points goes to both, connected as
dots (_discretise.py). All terms are positive, so each is rounded up by itself.

*D.* Let m_i be the masses at the losses i h. D at k h is (1 - exp(-h)) times the sum of g_i over
i > k, where g_i is the sum of m_l exp(-(l - i) h) over l >= i. Between multiples of h, D is linear
in exp(epsilon), and the share of the upper one is at least u/h (1 - h + u), u the distance from the
lower one. D is convex in exp(epsilon), and at most 1 at 0. So it is below each line from there to a
later D, also below all indices, and where errors are too large at one index.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from .._certified.double_double import Floats
from .._certified.double_double_functions import exponential_in_floats
from .._certified.floats import float_at_least
from .._certified.interval import ONE, ZERO, arithmetic
from ._discretise import Summand, Width, pessimistic
from ._grid_choice import TILTS
from ._loss_bounds import AdjacencyBounds, fall_at_least, fall_at_most, float_of, joint
from ._outcomes import TINY, OutcomeCells, RandomOutcome

_UP: Any = arithmetic(64).up

#: Losses are summed apart if some are so many times the cap, and the width makes delta of the
#: others larger by more than the part _WIDE, or errors of transforms by more than _ROUNDED.
_FAR_APART, _WIDE, _ROUNDED = 4, 5e-3, 1e-3

#: The expected number of losses above the cap.
_EXPECTED = 2.0**-9

#: Cells in the span of a release, where the largest losses are sought.
_LOOK = 400

#: The points of rare sums, and the most rare losses in a sum.
_POINTS, _MOST_RARE = 256, 40

#: Rare sums of more losses count as infinite if their mass is less than this part of delta.
_LITTLE = 2.0**-20

#: The least delta of the losses up to the cap that tilts are made for, and for which widths count.
_NOTHING, _UNUSUAL = 2.0**-60, 2.0**-12

#: Tilts are multiples of this: half an octave.
_STEP = TILTS // 2

#: The most fall of tilted masses over losses as large as the cap, as an exponent.
_STEEPEST = 64.0

#: Exponentials are taken of arguments up to this, and sums of their products lose less than this.
_FAR, _UNDERFLOW = 300.0, 1e-180

#: Steps of the search for epsilon.
_HALVINGS = 40


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


class Atoms(NamedTuple):
    """Masses at losses."""

    loss: Floats
    mass: Floats

    def regrouped(self, points: Floats) -> Atoms:
        """Return masses at the points that dominate these: each loss is connected as dots."""
        i = np.clip(np.searchsorted(points, self.loss, side="right") - 1, 0, points.size - 2)
        below, above = points[i], points[i + 1]
        share = fall_at_most(np.maximum(self.loss - below, 0.0) * (1 + 2.0**-50))
        share = share / fall_at_least((above - below) * (1 - 2.0**-50)) * (1 + 2.0**-50)
        up = np.minimum(self.mass * share + TINY, self.mass)
        index = np.concatenate([i, i + 1])
        masses = np.concatenate([(self.mass - up) * (1 + 2.0**-50), up * (1 + 2.0**-50)])
        most = float(np.bincount(index).max(initial=1))
        found = np.bincount(index, masses, points.size).astype(np.float64)
        return Atoms(points, found * (1 + most * 2.0**-52))


def atoms_of(cells: OutcomeCells, least: float, factor: float, shift: float) -> Atoms:
    """Return masses at the ends of cells that dominate them, moved; losses below ``least`` rise."""
    near = np.isfinite(cells.spread)
    loss, spread, p, r = (
        part[near] for part in (cells.loss, cells.spread, cells.p_up, cells.r_low)
    )
    need = np.maximum(p - r * (1 - 2.0**-50), 0.0) * (1 + 2.0**-50)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(need < p * fall_at_least(spread), need / fall_at_least(spread), p)
    slip = (np.abs(loss) + spread + shift) * 2.0**-49
    ends = np.concatenate([loss, loss + spread]) + shift * (1 + 2.0**-50) + np.tile(slip, 2)
    masses = np.concatenate([(p - up) * (1 + 2.0**-50), up]) * factor * (1 + 2.0**-49)
    return Atoms(np.maximum(ends, least), masses)


class _Divergence(NamedTuple):
    """Upper bounds on D at multiples of the width, from the index ``first`` on."""

    first: int
    at: Floats
    width: Width

    @classmethod
    def of(cls, start: int, masses: Floats, above: float, width: Width) -> _Divergence:
        """Return the divergence of masses from an index on, with the mass above them."""
        h = width.about
        steps = np.arange(masses.size, dtype=np.float64)
        steps = steps[steps * h < _FAR]
        kept, above = masses[: steps.size], above + float(masses[steps.size :].sum()) * 1.001
        fall = exponential_in_floats(-h * steps)
        sums = np.cumsum((kept * fall)[::-1])[::-1] / fall
        total = np.cumsum(sums[::-1])[::-1]
        found = np.append(total[1:], 0.0) * float(fall_at_most(np.array([h]))[0])
        wrong = 2.0**-50 * (masses.size + 2000)
        found = np.minimum(found * (1 + wrong) + above + _UNDERFLOW, 1.0)
        slopes = np.maximum.accumulate(((1 - found) * fall)[::-1])[::-1]
        on_lines = 1 - slopes / fall * (1 - 2.0**-40) + 2.0**-52
        return cls(start, np.minimum(found, on_lines), width)

    def __call__(self, epsilons: Floats) -> Floats:
        """Return bounds at these epsilons."""
        h = self.width.about
        slip = 2.0**-48 * (1 + np.abs(epsilons) / h)
        place = epsilons / h - slip
        k = np.floor(place)
        share = np.clip(place - k - slip, 0.0, 1.0)
        share = share * np.maximum(1 - h * (1 - share), 0.0)
        i = np.clip(k - self.first, -1, self.at.size - 2).astype(np.int64)
        share = np.where(k - self.first > i, 0.0, share)
        found = self.at[i] * (1 - share) + self.at[i + 1] * share
        below = np.clip(epsilons - self.first * h - slip * h, -600.0, 0.0)
        least = 1 - (1 - self.at[0]) * exponential_in_floats(below) * (1 - 2.0**-40) + 2.0**-52
        bounds: Floats = np.where(i < 0, least, found * (1 + 2.0**-50))
        return bounds


class _SplitSum:
    """Upper bounds on delta for one choice of buckets."""

    def __init__(self, bulk: _Divergence, rare: Atoms, count: int | None, infinite: Any) -> None:
        self._bulk, self._count, self.infinite = bulk, count, infinite
        self._rare = rare
        self._sums = [Atoms(np.zeros(1), np.ones(1))]
        self._mass = float(rare.mass.sum()) * (1 + 2.0**-40)

    def _sum_of(self, j: int) -> Atoms:
        """Return the rare sums of j losses."""
        while len(self._sums) <= j:
            before, k = self._sums[-1], len(self._sums)
            left = 1.0 if self._count is None else max(1 - (k - 1) / self._count, 0.0)
            factor = left / k * (1 + 2.0**-49)
            losses = (before.loss[:, None] + self._rare.loss[None, :]).ravel() * (1 + 2.0**-51)
            masses = (before.mass[:, None] * self._rare.mass[None, :]).ravel() * factor
            ends = self._rare.loss[0] * k * (1 - 2.0**-40), self._rare.loss[-1] * k * (1 + 2.0**-40)
            self._sums.append(Atoms(losses, masses + TINY).regrouped(_points(*ends)))
        return self._sums[j]

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta without infinite losses, given epsilon rounded down."""
        found = 0.0
        for j in range(_MOST_RARE):
            rare = self._sum_of(j)
            slip = 2.0**-51 * (epsilon + rare.loss)
            at = self._bulk(epsilon - rare.loss - slip)
            found += float(at @ rare.mass) * (1 + 2.0**-50 * (rare.loss.size + 4))
            if not self._rare.mass.size:
                return found
            more, ratio = float(rare.mass.sum()) * self._mass / (j + 1), self._mass / (j + 2)
            more = more / (1 - ratio) * (1 + 2.0**-40) + TINY if ratio < 0.5 else 1.0
            if more < _LITTLE * found:
                break
        return min(found + more, 1.0)

    def epsilon(self, target: float, about: float) -> float:
        """Return an epsilon at which `delta` is at most a target."""
        if self.delta(0.0) <= target:
            return 0.0
        low, high = 0.0, max(about, 2.0**-40)
        while self.delta(high) > target:
            low, high = high, 2 * high
            if high > 2.0**20:
                return math.inf
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= target else (middle, high)
        return high


def _points(low: float, high: float) -> Floats:
    found = np.geomspace(low, high, _POINTS)
    found[0], found[-1] = low, high
    return found


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

    def _new_apart(self, tilt: int) -> _SplitSum:
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
            lowest = max(math.ceil(-_FAR / width.about), -(2**62))
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
            rare_sum = rare_sum.regrouped(_points(*ends))
        single = self.bulks[0][1] if len(self.bulks) == 1 else None
        divergence = _Divergence.of(start, masses, above, width)
        return _SplitSum(divergence, rare_sum, single, infinite)

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
