"""The least of several bounds on releases that a person hardly ever takes part in.

*The largest losses count as infinite.* At a small sampling rate most losses are about that rate,
while a few are far larger. Buckets over all of them are too wide for the many small ones. So the
largest losses, of a mass that is small against delta, count as infinite. That bounds delta from
above, because a set of outcomes never contributes more than its P. The remaining losses are near to
each other, so their buckets are narrow.

*Fewer buckets.* Every bucket has the error of the transform. If a few large losses hold the tilt
down, delta is so far below the tilted mass that these errors are most of the bound. Then more
buckets make it larger.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2
import numpy as np

from .._certified.interval import ONE, arithmetic
from ._loss_bounds import AdjacencyBounds
from ._outcomes import OutcomeCells, RandomOutcome

_UP: Any = arithmetic(64).up

#: Largest losses count as infinite if a person takes part in at most this many releases, on
#: average, and fewer buckets are tried up to the second number.
_RARE, _SELDOM = 0.125, 8

#: Sums of so many buckets are tried before longer ones: of rare releases, and of all.
_SHORT, _ENOUGH = 2**17, 2**20

#: The largest losses have this share of the least bound so far, as a power of 2. Later bounds are
#: tried while each is less than half of the one before.
_FIRST, _LATER = -6, (-12, -12, -12, -12)

#: Parts of delta that an epsilon is sought for.
_PARTS = (Fraction(1), Fraction(255, 256))

#: Cells in the span of a release, where the largest losses are sought.
_LOOK = 400


class Capped(RandomOutcome):
    """Upper bounds alone: a release whose losses above a cap count as infinite."""

    def __init__(self, release: RandomOutcome, cap: float) -> None:
        self._release, self._cap = release, cap
        self.rate, self.symmetric, self.unit = release.rate, release.symmetric, release.unit

    @property
    def span(self) -> float:
        """Return the distance between the extreme losses, roughly."""
        return self._release.span

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
        """Return the cells up to the cap; lower bounds of their masses are 0."""
        found = self._release.cells(adding=adding, widest=widest, tilt=tilt)
        near = found.loss + found.spread <= self._cap
        far = float(found.p_up[~near].sum()) * (1 + 2.0**-20)
        parts = [part[near] for part in found[:6]]
        parts[2] = np.zeros_like(parts[2])
        multiple = None if found.multiple is None else found.multiple[near]
        return OutcomeCells._make([*parts, found.mass_below, found.mass_above + far, 0.0, multiple])


class LeastBounds(AdjacencyBounds):
    """Bounds for one adjacency, of which the least answers."""

    def __init__(
        self, releases: Sequence[tuple[RandomOutcome, int]], *, most: int, **how: Any
    ) -> None:
        super().__init__(releases, most=most, **how)
        average = sum((release.rate * count for release, count in releases), Fraction(0))
        numbers = [_SHORT] if average <= _SELDOM else []
        self._shorter = {
            number: AdjacencyBounds(releases, most=number, **how)
            for number in (*numbers, _ENOUGH)
            if number < most
        }
        self._how = how | {"most": most}
        self._is_rare = average <= _RARE
        self._capped = lru_cache(maxsize=8)(self._new_capped)

    @classmethod
    def of(cls, releases: Sequence[tuple[RandomOutcome, int]], **how: Any) -> AdjacencyBounds:
        """Return bounds of releases: the least of several, if these are on a sample."""
        several = sum(count for _, count in releases) > 1
        sampled = any(release.rate < 1 for release, _ in releases)
        kind = cls if several and sampled and how["width"] is None else AdjacencyBounds
        return kind(releases, **how)

    def _new_capped(self, octave: int) -> AdjacencyBounds:
        """Return the bounds where the losses above caps have a mass of 2**octave at most."""
        most = 2.0**octave / len(self._releases)
        capped = []
        for release, count in self._releases:
            cells = release.cells(adding=self._adding, widest=max(release.span / _LOOK, 1e-300))
            ends = cells.loss + cells.spread
            order = np.argsort(ends)
            above = np.cumsum(cells.p_up[order][::-1])[::-1]  # from each cell on
            place = int(np.argmax(above * count <= most)) if above[-1] * count <= most else 0
            cap = float(ends[order][place - 1]) if place else math.inf
            capped.append((Capped(release, cap), count))
        return AdjacencyBounds(capped, **self._how)

    def _short_ones(self, epsilon: Fraction) -> list[AdjacencyBounds]:
        """Return the bounds of fewer buckets than this one has at an epsilon."""
        size = self.plan_at(epsilon).size if self._shorter else 0
        return [one for number, one in self._shorter.items() if number < size]

    def delta_above(self, epsilon: Fraction) -> Any:
        """Return an upper bound on delta(epsilon), epsilon >= 0."""
        best = ONE
        for one in self._short_ones(epsilon):
            best = min(best, one.delta_above(epsilon))
            if one.is_mostly_rounding(epsilon):
                break
        else:
            best = min(best, super().delta_above(epsilon))
        for share in (_FIRST, *_LATER) if self._is_rare else ():
            if not best > 0:
                break
            found = self._capped(math.floor(float(_UP.log2(best))) + share).delta_above(epsilon)
            best, before = min(found, best), best
            if share != _FIRST and best > _UP.div(before, 2):
                break
        return best

    def epsilon_above(self, delta: Fraction) -> float:
        """Return an epsilon of at least 0 whose upper bound is at most delta."""
        found = []
        for one in self._short_ones(Fraction(self.guess(float(delta)))) if self._shorter else ():
            found.append(one.epsilon_above(delta))
            if math.isfinite(found[-1]) and one.is_mostly_rounding(Fraction(found[-1])):
                break
        else:
            found.append(super().epsilon_above(delta))
        if self._is_rare and 0 < delta < 1 and min(found) > 0:
            octave = math.floor(float(_UP.log2(_UP.div(gmpy2.mpq(delta), 1))))
            for share, part in itertools.product((_FIRST, _LATER[0]), _PARTS):
                found.append(self._capped(octave + share).epsilon_above(delta * part))
        if len(found) == 1:
            return found[0]
        for least in sorted(found):  # `delta_above` may take other caps, and should confirm it
            if math.isinf(least) or self.delta_above(Fraction(least)) <= gmpy2.mpq(delta):
                break
        return least if math.isfinite(least) else min(found)
