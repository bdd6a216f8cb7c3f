"""Sums of many small losses and of a few rare large ones, for _least_bounds.py.

*The sum.* _least_bounds.py dominates each release by B, of losses up to a cap, and R, of rare ones
above it. n such releases are n times B, which has one transform, and a sum of n rare ones. The
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
from typing import Any, NamedTuple

import numpy as np

from .._certified.double_double import Floats
from .._certified.double_double_functions import exponential_in_floats
from ._discretise import Width
from ._loss_bounds import fall_at_least, fall_at_most
from ._outcomes import TINY, OutcomeCells

#: The points of rare sums, and the most rare losses in a sum.
_POINTS, _MOST_RARE = 256, 40

#: Rare sums of more losses count as infinite if their mass is less than this part of delta.
_LITTLE = 2.0**-20

#: Exponentials are taken of arguments up to this, and sums of their products lose less than this.
FARTHEST, _UNDERFLOW = 300.0, 1e-180

#: Steps of the search for epsilon.
_HALVINGS = 40


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


class Divergence(NamedTuple):
    """Upper bounds on D at multiples of the width, from the index ``first`` on."""

    first: int
    at: Floats
    width: Width

    @classmethod
    def of(cls, start: int, masses: Floats, above: float, width: Width) -> Divergence:
        """Return the divergence of masses from an index on, with the mass above them."""
        h = width.about
        steps = np.arange(masses.size, dtype=np.float64)
        steps = steps[steps * h < FARTHEST]
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


class SplitSum:
    """Upper bounds on delta for one choice of buckets."""

    def __init__(self, bulk: Divergence, rare: Atoms, count: int | None, infinite: Any) -> None:
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
            self._sums.append(Atoms(losses, masses + TINY).regrouped(points(*ends)))
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


def points(low: float, high: float) -> Floats:
    found = np.geomspace(low, high, _POINTS)
    found[0], found[-1] = low, high
    return found
