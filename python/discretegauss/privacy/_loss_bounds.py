"""Bounds on delta and epsilon of many releases for one adjacency, from sums that fit the question.

*Moments.* They bound delta and epsilon if there are more releases than buckets can tell apart. Let
L be the sum of all losses and M(s) = E(exp(s L)) over finite losses, which is a product over the
releases. For s > 0,

    delta <= P(L infinite) + M(s) exp(-s epsilon)/(1 + s) (s/(1 + s))**s,

because (1 - exp(-x)) exp(-s x) is at most (s/(1 + s))**s/(1 + s) for x >= 0. This is the conversion
of the Renyi divergence log(M(s))/s of order 1 + s (zcdp.py). It also holds for a pair of laws that
dominates the releases.

*One cell.* Its losses are in [l, l + x], its masses P and Q, and u = exp(-loss) has the mean Q/P.
u**-s is convex in u, so the moment is largest if all losses are at the ends. With R = Q exp(l) it
is at most

    P exp(s l) + m (exp(s (l + x)) - exp(s l)),    m = min(P, (P - R)/(1 - exp(-x))).

That rises with P and falls as R rises. 1 - exp(-x) is at least x - x**2/2 and at least x/(1 + x).
exp(y) - 1 is at most y + y**2/2 exp(y).

*Rounding.* Exponentials have a relative error of 2**-51. Sums are exact up to one rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from .._certified.double_double import Floats
from .._certified.double_double_functions import exponential_in_floats
from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import ONE, ZERO, arithmetic
from ._discretise import Sum, Summand, Width, few_bits, optimistic, pessimistic, single, summed
from ._grid_choice import TILTS, Choices, GridPlan
from ._outcomes import OutcomeCells, RandomOutcome, fraction_at_least
from .zcdp import epsilon_at, log_delta_at, minus_log_upper

_AT128 = arithmetic(128)
_UP, _DOWN, _INFINITY = _AT128.up, _AT128.down, gmpy2.inf()

#: Exponentials are taken of arguments up to _FAR. Those of tilts are negligible beyond _NEAR.
_FAR, _NEAR = 600.0, 60.0
_LEAST_FALL = 2.0**-865  # above exp(-_FAR)

#: No index beyond this is searched.
_FARTHEST_INDEX = 2.0**52

#: Cells in a width.
_PARTS = 4

#: If a sum says nothing, or buckets make delta larger by more than the part _COARSE, moments are
#: tried, too. They are tried at _ORDERS values of s in an octave: at most _MOST_MOMENTS on each
#: side, until _WORSE in a row are no better. Cells of moments make delta larger by a part of about
#: _AIM.
_COARSE, _ORDERS, _MOST_MOMENTS, _WORSE, _AIM = 0.05, 8, 400, 8, 1e-3

#: The search for epsilon aims at a delta that is less than the budget by such a part.
_LESS = (2.0**-32, 2.0**-24, 2.0**-16, 2.0**-8)

#: Buckets of one release for dp-accounting are about as wide as dp-accounting's own, or _ENOUGH.
_USUAL_WIDTH, _ENOUGH = 1e-4, 2**12

#: Masses for dp-accounting are tight near these deltas.
_DELTAS = (0.5, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15)


class _Pessimistic(NamedTuple):
    """An upper bound: the sum, the mass of infinite losses, and the largest finite loss."""

    total: Sum
    infinite: Any
    end: Fraction
    width: Width
    poor: bool
    """Whether moments may give less: the sum says nothing, or its buckets are wide for a loss."""


class _OptimisticParts(NamedTuple):
    """A lower bound: the sums of P and R, and both masses of losses that count as infinite."""

    p: Sum
    r: Sum
    infinity_mass: Any
    q_of_infinite: float
    width: Width


class AdjacencyBounds(Choices):
    """Bounds of all releases, for one adjacency."""

    def __init__(self, *releases: Any, **how: Any) -> None:
        super().__init__(*releases, **how)
        self._pessimistic = lru_cache(maxsize=2)(self._new_pessimistic)
        self._optimistic = lru_cache(maxsize=2)(self._new_optimistic)
        self._divergence = lru_cache(maxsize=64)(self._new_divergence)
        self._chance = ZERO  # at least the probability of taking part at all, and so of delta
        for release, count in self._releases:
            self._chance = joint(self._chance, fraction_at_least(release.rate), count, up=True)

    def _cells(self, release: RandomOutcome, plan: GridPlan) -> OutcomeCells:
        widest = plan.width.about / _PARTS
        return release.cells(adding=self._adding, widest=widest, tilt=plan.s)

    def _new_pessimistic(self, tilt: int) -> _Pessimistic:
        plan = self._plan(tilt)
        parts, infinite = self._pessimistic_parts(plan)
        most = sum(part.times * int(part.at.max()) for part in parts)
        if self._count == 1:
            total = single(parts[0].at, parts[0].mass)
        else:
            total = summed(parts, plan.tilt, plan.start, plan.size, plan.chernoff_rates)
        poor = not total.counts or (
            self._count > 1 and self._added(plan.width.about, plan.s) > _COARSE
        )
        return _Pessimistic(total, infinite, most * plan.width.exact, plan.width, poor)

    def _new_divergence(self, place: int) -> tuple[float, Any]:
        """Return s, one of few values so that answers agree, and a bound on log(M(s))/s, or inf."""
        s, log = 2.0 ** (place / _ORDERS), ZERO
        widest = math.sqrt(8 * _AIM / (self._count * s * (s + 1)))
        for release, count in self._releases:
            fine = max(widest, release.span * 2.0**-16)
            cells = release.cells(adding=self._adding, widest=fine, tilt=s)
            log = _UP.add(log, _UP.mul(log_moment(cells, s), count))
        return s, _UP.div(log, s)

    def _by_moments(self, tilt: int, bound: Callable[[float, Any], Any]) -> Any:
        """Return the least bound of all s. It is convex in s, so the search starts at a tilt."""

        def at(place: int) -> Any:
            s, divergence = self._divergence(place)
            return bound(s, divergence) if gmpy2.is_finite(divergence) else _INFINITY

        first = tilt * _ORDERS // TILTS
        best = at(first)
        for step in (-1, 1):
            place, worse = first, 0
            while worse < _WORSE and abs(place - first) < _MOST_MOMENTS:
                place += step
                following = at(place)
                # an s that is far too large gives an infinite bound
                worse = worse + 1 if following >= best and gmpy2.is_finite(best) else 0
                best = min(best, following)
        return best

    def _pessimistic_parts(self, plan: GridPlan) -> tuple[list[Summand], Any]:
        """Return the releases in buckets, for an upper bound, and the mass of infinite losses."""
        parts, infinite = [], ZERO
        for release, count in self._releases:
            one = pessimistic(self._cells(release, plan), release.unit, plan.width)
            parts.append(Summand(one.at, one.mass, count))
            infinite = joint(infinite, one.infinite, count, up=True)
        return parts, infinite

    def _new_optimistic(self, tilt: int) -> _OptimisticParts:
        plan = self._plan(tilt)
        sets, infinity_mass, q_of_infinite = [], ZERO, 0.0
        for release, count in self._releases:
            one = optimistic(self._cells(release, plan), release.unit, plan.width)
            sets.append((one, count))
            infinity_mass = joint(infinity_mass, one.infinity_mass, count, up=False)
            q_of_infinite += count * one.q_of_infinite * (1 + 2.0**-40)
        if self._count == 1:
            one = sets[0][0]
            p, r = single(one.at, one.p), single(one.at, one.r)
        else:
            where = plan.tilt, plan.start, plan.size, plan.chernoff_rates
            p = summed([Summand(one.at, one.p, count) for one, count in sets], *where)
            r = summed([Summand(one.at, one.r, count) for one, count in sets], *where)
        return _OptimisticParts(p, r, infinity_mass, q_of_infinite, plan.width)

    def infinite(self) -> tuple[Any, Any]:
        """Return bounds on the probability of an infinite loss."""
        low, up = ZERO, ZERO
        for release, count in self._releases:
            cells = release.cells(adding=self._adding, widest=math.inf)
            low = joint(low, cells.infinity_mass, count, up=False)
            up = joint(up, cells.mass_above, count, up=True)
        return low, up

    def masses(self) -> tuple[dict[int, float], float, float]:
        """Return bounds on the mass at each multiple of a width, the width, and the mass above.

        Each tilt gives upper bounds on all masses, and the least is taken.
        """
        tilts = [self._saddle(self.guess(delta)) for delta in _DELTAS]
        width = self.width_for_all(tilts, tilts[2])
        width = Width.of(Fraction(width.about))  # the float that dp-accounting multiplies by
        plan = GridPlan(width, tilts[2], 0.0, 0, 0, (0.0, 0.0))
        parts, infinite = self._pessimistic_parts(plan)
        if self._count == 1:
            pairs = zip(parts[0].at.tolist(), parts[0].mass.tolist(), strict=True)
            return dict(pairs), width.about, float_at_least(infinite)
        start, found, above = self.least_masses(parts, width, tilts)
        infinite = joint(infinite, above, 1, up=True)
        masses = zip((start + np.arange(found.size)).tolist(), found.tolist(), strict=True)
        return dict(masses), width.about, float_at_least(infinite)

    def _windows(self, tilts: Sequence[float]) -> tuple[float, float, list[tuple[float, float]]]:
        """Return the ends of the windows of all tilts together, and the Chernoff rates of each."""
        bottoms, tops, rates = zip(*map(self._window, tilts), strict=True)
        return min(bottoms), max(tops), list(rates)

    def width_for_all(self, tilts: Sequence[float], s: float) -> Width:
        """Return a width for a tilt s, and for the windows of all tilts together."""
        bottom, top, _ = self._windows(tilts)
        if self._count == 1:  # all losses are kept, and dp-accounting composes many such releases
            length = max(self._largest - self._smallest, 1e-300)
            return self._width_for(s, length, min(_USUAL_WIDTH, length / _ENOUGH))
        return self._width_for(s, max(top - bottom, 1e-300))

    def least_masses(
        self, parts: Sequence[Summand], width: Width, tilts: Sequence[float]
    ) -> tuple[int, Floats, float]:
        """Return an index, bounds on the masses of the sum from it on, and on the mass above.

        Each tilt gives upper bounds on all masses, and the least is taken. The first mass is 1, and
        counts for all below.
        """
        (bottom, top, rates), h = self._windows(tilts), width.about
        size = 1 << max(math.ceil(math.log2((top - bottom) / h + 64)), 5)
        start = math.floor((top + bottom) / 2 / h) - size // 2
        found, above = np.ones(size), 1.0
        for s, (down, up) in zip(tilts, rates, strict=True):
            total = summed(parts, few_bits(s * h), start, size, (down * h, up * h))
            tilted = total.tilt * total.index
            log = float_at_least(total.log_scale.upper) + total.slack - tilted
            log += 1e-9 + 2.0**-50 * float(np.abs(tilted).max())
            grown = exponential_in_floats(np.clip(log, -700.0, 700.0))
            found = np.fmin(found, (np.maximum(total.mass, 0.0) + total.error) * grown)
            above = min(above, float(total.outside[1] * grown[-1]) * 1.001)
        found[0] = 1.0
        return start, found, above

    def delta_above(self, epsilon: Fraction) -> Any:
        """Return an upper bound on delta(epsilon), epsilon >= 0."""
        tilt = self._tilt_at(epsilon)
        while True:
            found = self._pessimistic(tilt)
            if epsilon >= found.end:
                return found.infinite
            delta = _hockey_stick_sum(found.total, gmpy2.mpq(epsilon), found.width)
            if found.poor:
                log = self._by_moments(tilt, lambda s, r: log_delta_at(s, r, epsilon, _AT128))
                delta = min(delta, _UP.exp(min(log, ZERO)))
            delta = _UP.add(delta, found.infinite)
            if delta < 1 or tilt < 8 * TILTS:
                return min(delta, self._chance)
            tilt //= 2  # near the largest loss the saddle point is so far out that weights overflow

    def _tilt_at(self, epsilon: Fraction) -> int:
        return self._tilt(min(float_of(epsilon), 2 * max(self._largest, 0.0) + 1))

    def rounding_at(self, epsilon: Fraction) -> float:
        """Return about how much the errors of transforms add to the bound on delta."""
        found = self._pessimistic(self._tilt_at(epsilon))
        total, h = found.total, found.width.about
        if not (total.counts and total.tilt > 0):
            return math.inf
        place = math.floor(min(float_of(epsilon) / h, _FARTHEST_INDEX)) + 1
        scale = _scale(total, place, up=True)
        # the sum of exp(-tilt k) (1 - exp(-k h)) over all k
        return float(_UP.mul(scale, total.error * h / (total.tilt * (total.tilt + h))))

    def delta_below(self, epsilon: Fraction) -> Any:
        """Return a lower bound on delta(epsilon), epsilon >= 0."""
        most = 2 * max(self._largest, 0.0) + 1
        found = self._optimistic(self._tilt_at(epsilon))
        infinity_mass = found.infinity_mass
        if found.q_of_infinite:
            factor = _UP.exp(_UP.add(gmpy2.mpq(epsilon), ZERO))
            infinity_mass = max(
                _DOWN.sub(infinity_mass, _UP.mul(factor, found.q_of_infinite)), self.infinite()[0]
            )
        if epsilon > most:
            return infinity_mass
        lines = _neyman_pearson(found, float_at_least(gmpy2.mpq(epsilon)))
        if lines is None:
            return infinity_mass
        with np.errstate(invalid="ignore", over="ignore"):
            gained = lines.p - lines.q  # infinite if weights overflow: no bound
        best = float(np.max(gained[np.isfinite(gained)], initial=0.0)) * (1 - 2.0**-50)
        return min(_DOWN.add(_DOWN.mul(lines.scale, best), infinity_mass), 1)

    def epsilon_above(self, delta: Fraction) -> float:
        """Return an epsilon of at least 0 whose upper bound is at most delta."""
        if self._chance <= gmpy2.mpq(delta):
            return 0.0
        for less in _LESS:  # `delta_above` uses another sum, and must confirm the result
            found = self._epsilon_above(delta, less)
            if math.isinf(found) or self.delta_above(Fraction(found)) <= gmpy2.mpq(delta):
                break
        return found

    def _epsilon_above(self, delta: Fraction, less: float) -> float:
        target = _DOWN.mul(_DOWN.add(gmpy2.mpq(delta), ZERO), 1 - less)
        about = self.guess(float_of(delta))
        tilt, best = self._tilt(about), math.inf
        for _ in range(4):
            one = self._pessimistic(tilt)
            if one.infinite > target:
                return math.inf if one.infinite > gmpy2.mpq(delta) else self._end_of(one)
            remainder = _DOWN.sub(target, one.infinite)
            best = min(_epsilon_at(one.total, remainder, one.width, about), self._end_of(one))
            if one.poor and remainder > 0:
                best = min(best, self._epsilon_by_moments(tilt, minus_log_upper(remainder, _AT128)))
            tilt, before = self._tilt(best), tilt
            if tilt == before:
                break
            about = best
        return best

    def _epsilon_by_moments(self, tilt: int, big_l: Any) -> float:
        found = self._by_moments(tilt, lambda s, r: epsilon_at(s, r, big_l, _AT128)[0])
        return max(float_at_least(found), 0.0)

    @staticmethod
    def _end_of(one: _Pessimistic) -> float:
        return max(float_at_least(gmpy2.mpq(one.end)), 0.0)

    def epsilon_below(self, delta: Fraction) -> float:
        """Return an epsilon below which delta is exceeded; infinite if delta always is."""
        target = _UP.add(gmpy2.mpq(delta), ZERO)
        if self.infinite()[0] > target:
            return math.inf
        about = self.guess(float_of(delta))
        found = self._optimistic(self._tilt(about))
        lines = _neyman_pearson(found, about)
        if lines is None:
            return 0.0
        wanted = float_at_least(_UP.div(_UP.sub(target, found.infinity_mass), lines.scale))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rare = float_at_least(
                _UP.div(_UP.mul(_UP.exp(about), found.q_of_infinite), lines.scale)
            )
            gained = (lines.p - wanted - np.abs(wanted) * 2.0**-50) / (lines.q + rare)
        gained = gained[np.isfinite(gained)]
        if not gained.size or not gained.max() > 0:
            return 0.0
        log = _DOWN.log(float(gained.max()) * (1 - 2.0**-40))
        return max(float_at_most(_DOWN.add(log, about)), 0.0)


def float_of(exact: Fraction) -> float:
    """Return a float near to a fraction, and at most 2**1000."""
    return float(min(exact, Fraction(2**1000)))


def joint(before: Any, one: float, count: int, *, up: bool) -> Any:
    """Return 1 - (1 - before)(1 - one)**count, rounded."""
    if one >= 1:
        return ONE
    near, far = (_UP, _DOWN) if up else (_DOWN, _UP)
    log = far.mul(far.log1p(-one), count)
    both = far.add(log, far.log1p(far.minus(before))) if before < 1 else -gmpy2.inf()
    return near.minus(far.expm1(both))


def fall_at_most(x: Floats) -> Floats:
    """Return an upper bound on 1 - exp(-x), x >= 0: for small x, x - x**2/2 + x**3/6 is one."""
    share = 1 - exponential_in_floats(np.maximum(-x, -_FAR)) * (1 - 2.0**-50) + 2.0**-52
    small = np.minimum(x, 2.0)
    return np.minimum(share, small * (1 - small / 2 * (1 - small / 3)) * (1 + 2.0**-50))


def fall_at_least(x: Floats) -> Floats:
    """Return a lower bound on 1 - exp(-x), x >= 0."""
    share = 1 - exponential_in_floats(np.maximum(-x, -_FAR)) * (1 + 2.0**-50) - 2.0**-52
    return np.maximum(share, np.maximum(x - x * x / 2, x / (1 + x)) * (1 - 2.0**-50))


def _summed(size: int) -> float:
    """Bound the relative error of a running sum of products of a few exponentials.

    The arguments of the exponentials may be off by 600 2**-53.
    """
    return 2.0**-52 * (size + 2000)


def _scale(total: Sum, place: int, *, up: bool) -> Any:
    """Return exp(log_scale - tilt place), with the slack."""
    log = _AT128.shift(total.log_scale, -Fraction(total.tilt) * place)
    slack = total.slack
    return _UP.exp(_UP.add(log.upper, slack)) if up else _DOWN.exp(_DOWN.sub(log.lower, slack))


def _hockey_stick_sum(total: Sum, epsilon: Any, width: Width) -> Any:
    """Return an upper bound on the sum of masses times 1 - exp(epsilon - loss)."""
    h = width.about
    if epsilon > _FARTHEST_INDEX * h:  # beyond all finite losses
        return ONE
    if not total.counts:
        return ONE
    exact = gmpy2.mpq(width.exact)
    place = int(epsilon // exact) + 1  # the first loss that counts
    first = int(np.searchsorted(total.index, place))
    masses = np.maximum(total.mass[first:], 0.0) + total.error
    steps = (total.index[first:] - place).astype(np.float64)
    w = exponential_in_floats(np.maximum(-total.tilt * steps, -_FAR))
    gap = (float_at_least(place * exact - epsilon) + steps * h) * (1 + 2.0**-50)
    found = float((masses * w * fall_at_most(gap)).sum()) * (1 + _summed(steps.size))
    scale = _scale(total, place, up=True)
    sure = _UP.mul(found, scale)
    if place < total.bottom:  # mass in between counts at most as the lowest
        sure = _UP.add(sure, _UP.mul(total.outside[0], scale))
    if total.outside[1]:
        end = int(total.index[-1]) + 1
        sure = _UP.add(sure, _UP.mul(total.outside[1], _scale(total, end, up=True)))
    return sure if not gmpy2.is_nan(sure) else ONE


def _epsilon_at(total: Sum, target: Any, width: Width, about: float) -> float:
    """Return an epsilon >= 0 at which `_hockey_stick_sum` is at most a target; it may be infinite.

    From the index k on, the masses sum to T, and to F with the factors exp(k h - loss). Between the
    losses of k - 1 and k the sum is therefore T - exp(epsilon - k h) F.
    """
    h = width.about
    if about > _FARTHEST_INDEX * h:
        return math.inf
    # the first loss above about: masses count from there on
    place = min(math.floor(about / h) + 1, int(total.index[-1]))
    scale = _scale(total, place, up=True)
    wanted = float_at_most(_DOWN.div(target, scale)) if scale > 0 else math.inf
    steps = (total.index - place).astype(np.float64)
    near = (total.tilt * np.abs(steps) < _NEAR) & (steps * h > -_FAR)
    if not target > 0 or not near.any() or not total.counts:
        return math.inf
    all_masses = np.maximum(total.mass, 0.0) + total.error
    beyond = float(all_masses[total.index > total.index[near][-1]].sum()) + total.outside[1]
    index, steps = total.index[near], steps[near]
    rare = exponential_in_floats(-total.tilt * steps[-1:])
    wanted -= beyond * float(rare[0]) * (1 + _summed(total.index.size))
    masses = all_masses[near] * exponential_in_floats(-total.tilt * steps)
    fall = exponential_in_floats(np.maximum(-h * steps, -_FAR))
    wrong = _summed(index.size)
    total_from = np.cumsum(masses[::-1])[::-1] * (1 + wrong)
    fallen = np.cumsum((masses * fall)[::-1])[::-1] / fall * (1 - wrong)
    # less the excess of the factors that were cut off
    less = float(masses.sum()) * _LEAST_FALL / fall
    fallen = np.where(h * steps < _FAR - 1, fallen - less, 0.0)
    fallen = np.maximum(fallen, 0.0)
    met = total_from - fallen <= wanted  # at the loss of each
    if not met.any():
        return math.inf
    k = int(np.argmax(met))
    here = gmpy2.mpq(width.exact) * int(index[k])
    before = gmpy2.mpq(width.exact) * (int(index[k - 1]) if k else int(index[0]) - 1)
    epsilon = _UP.add(before, ZERO)
    if total_from[k] > wanted and fallen[k] > 0:
        log = _UP.log(_UP.div(float((total_from[k] - wanted) * (1 + 2.0**-50)), float(fallen[k])))
        epsilon = max(epsilon, _UP.add(min(log, ZERO), here))
    elif total_from[k] > wanted:
        epsilon = _UP.add(here, ZERO)
    return max(float_at_least(epsilon), 0.0)


class _NeymanPearson(NamedTuple):
    """Bounds on P(A)/scale and exp(epsilon) Q(A)/scale, by index: A has all sums from there on."""

    p: Floats
    q: Floats
    scale: Any


def _neyman_pearson(found: _OptimisticParts, epsilon: float) -> _NeymanPearson | None:
    p, r, h = found.p, found.r, found.width.about
    if epsilon > _FARTHEST_INDEX * h:
        return None
    place = math.floor(epsilon / h)
    steps = (p.index - place).astype(np.float64)
    near = (p.tilt * np.abs(steps) < _FAR) & (steps * h > -_FAR)
    if not near.any() or not (p.counts and r.counts):
        return None
    steps, loss = steps[near], p.index[near].astype(np.float64) * h
    w = exponential_in_floats(-p.tilt * steps)
    slip = 2.0**-49 + 2.0**-50 * (np.abs(loss) + epsilon)
    fall = exponential_in_floats(np.maximum(epsilon - loss, -_FAR)) * (1 + slip)
    wrong = _summed(steps.size)
    gained = w * np.maximum(p.mass[near], 0.0)
    p_in = np.cumsum(gained[::-1])[::-1] * (1 - wrong)
    p_in -= np.cumsum((w * p.error)[::-1])[::-1] * (1 + wrong) + sum(p.outside) * w * 1.001
    lost = np.cumsum(((np.maximum(r.mass[near], 0.0) + r.error) * w * fall)[::-1])[::-1]
    ratio = float_at_least(_UP.div(_scale(r, place, up=True), _scale(p, place, up=False)))
    return _NeymanPearson(p_in, lost * ratio * (1 + wrong), _scale(p, place, up=False))


#: Exponentials of moments are taken of arguments up to this size.
_MOST_EXPONENT = 700.0

#: A bound on all roundings of a cell's moment.
_ROUNDED = 1 + 2.0**-48


def log_moment(cells: OutcomeCells, s: float) -> Any:
    """Return an upper bound on log(E(exp(s loss))) over the finite losses of one release."""
    near = np.isfinite(cells.spread)
    loss, spread, p, r = (
        part[near] for part in (cells.loss, cells.spread, cells.p_up, cells.r_low)
    )
    slip = 2.0**-50 * np.abs(loss)
    low, x = loss - slip, (spread + 3 * slip) * (1 + 2.0**-50)
    exponent = s * low
    exponent += 2.0**-50 * np.abs(exponent)
    rise = s * x * (1 + 2.0**-50)
    if exponent.size and float((exponent + rise).max()) > _MOST_EXPONENT:
        return gmpy2.inf()
    start = exponential_in_floats(np.maximum(exponent, -_MOST_EXPONENT))
    power = exponential_in_floats(rise) * (1 + 2.0**-50)
    grown = np.minimum(rise + rise * rise / 2 * power, power - 1 + 2.0**-52)
    fall = fall_at_least(x)
    need = np.maximum(p - r * (1 - 2 * slip) * (1 - 2.0**-50), 0.0) * (1 + 2.0**-50)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(need < p * fall, need / fall, p)
    found = math.fsum((p * start).tolist()) + math.fsum((moved * start * grown).tolist())
    lowest = float(start[np.argmin(loss)]) if loss.size else 1.0
    found += cells.mass_below * lowest
    return _AT128.up.log(_AT128.up.mul(found, _ROUNDED)) if found > 0 else -gmpy2.inf()
