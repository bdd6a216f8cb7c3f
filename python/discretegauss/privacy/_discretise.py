"""Discretised privacy losses and their sums: bounds on delta for many releases at once.

Losses are put in buckets, at the multiples of a width h. The mass of each sum of losses comes from
one inverse Fourier transform of the product of the transforms' powers. The transforms are of
*tilted* masses, p_i exp(t i)/M. Here t is chosen so that the middle of the sum is near epsilon.
Absolute errors, of rounding and of sums that wrap around, are then small against delta, however
small delta is. Sources: Koskela, Jalko and Honkela (AISTATS 2020) for the transform; Meiser and
Mohammadi (CCS 2018) for buckets with both masses; Doroshenko et al. (arXiv 2207.04380) for
connecting the dots.

*Upper bound* (`pessimistic`). A cell with losses from l to l + spread and masses P and Q has

    D(y) = sum over its outcomes of max(0, P - y Q),    y = exp(epsilon).

D is convex, at most P, and 0 beyond exp(l + spread). Masses m_i at losses i h give a polyline with
corners at the exp(i h). It lies above D if it does so at 0 and at its corners. Let a = floor(l/h)
and b = ceil((l + spread)/h). Then (P - exp(a h) Q)/(1 - exp((a - b) h)) at b and the remainder at a
are enough. If b is a + 2 only because the cell reaches past (a + 1) h by some small o, then D is at
most P o there. In that case P o/(1 - exp(-h)) goes to a + 2, and a + 1 gets what exp(a h) still
needs. If l is below a h by some small o, then D(exp(a h)) exceeds P - exp(a h) Q by at most
P (exp(o) - 1). More mass, or mass at a larger loss, keeps the bound. Mass in excess of 1 may be
taken away at the bottom, where D is at least linear. If D of one pair of laws is nowhere below D of
another, the first pair dominates the second. This also holds for compositions, and for queries that
depend on earlier answers, if each release has a dominating pair that is fixed beforehand (Zhu, Dong
and Wang, AISTATS 2022).

*Lower bound* (`optimistic`). Each cell gets one index. Any index is right, but one near its loss
gives the best bound. P is rounded down, and Q, as R = Q exp(i h), is rounded up. For the set A of
all sums from k on, P(A) - exp(epsilon) Q(A) is a lower bound for independent releases. Outcomes
with an infinite loss in any release, or with one that counts as infinite, belong to A.

*Wrapping.* A window has N indices. The mass at j is the sum of all tilted masses at indices equal
to j modulo N. For an upper bound this only adds mass, if epsilon is in the window. The mass above
the window is added to the infinite mass, and a lower bound is reduced by the masses above and
below. Chernoff's bound on each is exp(K(t + r) - K(t) - r end).

*Rounding.* fourier.py bounds the error E of each transform of masses that sum to about 1. With
A = abs(f) + 2 E, a power by squaring is off by at most A**n (n E/A + 5 n u), u = 2**-53, and a
product by the sum of these. fourier.py also bounds the error of the inverse transform. Tilted
masses have a relative error below 2**-49 each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.double_double import Floats, exact_product
from .._certified.double_double_functions import exponential_in_floats
from .._certified.floats import float_at_least, float_at_most
from .._certified.fourier import inverse, inverse_error, transform, transform_error
from .._certified.interval import ZERO, arithmetic
from ._outcomes import TINY, OutcomeCells

_AT128 = arithmetic(128)
_UP, _DOWN = _AT128.up, _AT128.down
_U = 2.0**-53

#: The relative error of a tilted mass, with that of its use.
_TILTED = 2.0**-48

#: The most widths in a unit.
_MOST_PARTS = 2**30

#: Exponentials are taken of arguments up to this.
_FAR = 600.0

#: Smaller powers of transforms are set to 0, and count as errors.
_LEAST_POWER = 1e-30

#: A cell that reaches past a multiple of the width by less than this part of it reaches past by
#: little.
_LITTLE = 0.25

#: In a lower bound, losses above this without an upper bound count as infinite.
_NEARLY_INFINITE = 100.0

#: A loss below a multiple by less than this part of the width counts as the multiple.
_SAME = 2.0**-20


class Width(NamedTuple):
    """The distance of neighbouring buckets."""

    exact: Fraction
    about: float

    @classmethod
    def of(cls, exact: Fraction) -> Width:
        """Return the width."""
        return cls(exact, float(exact))

    def fall(self) -> float:
        """Return a lower bound on 1 - exp(-h)."""
        return float_at_most(_DOWN.minus(_UP.expm1(_UP.add(-gmpy2.mpq(self.exact), ZERO))))


class DiscretisedLoss(NamedTuple):
    """Masses at multiples of the width, in any order, and the mass of infinite losses."""

    at: NDArray[np.int64]
    mass: Floats
    infinite: float


# --- one release


def _parts(cells: OutcomeCells, unit: Fraction | None, width: Width) -> int | None:
    """Return the number of widths in the unit, if it is whole and losses are multiples of it."""
    if cells.multiple is None or unit is None:
        return None
    parts = unit / width.exact
    return parts.numerator if parts.denominator == 1 and parts <= _MOST_PARTS else None


def pessimistic(cells: OutcomeCells, unit: Fraction | None, width: Width) -> DiscretisedLoss:
    """Return masses whose polyline is nowhere below D of a release."""
    h, fall = width.about, width.fall()
    parts = _parts(cells, unit, width)
    if parts is not None and cells.multiple is not None:
        found = _collected(cells.multiple * parts, cells.p_up, cells.mass_above)
    else:
        p = cells.p_up
        slip = 2.0**-50 * (np.abs(cells.loss) + h)
        a = np.floor(cells.loss / h + _SAME)
        last = cells.loss + np.minimum(cells.spread, 2.0**30) + slip
        # the height that the polyline needs at exp(a h): P - exp(a h) Q
        before = np.maximum(a * h - cells.loss, 0.0) + slip
        shift = np.minimum(a * h - cells.loss, 1.0)
        need = p * (1 + 2 * before) - cells.r_low * exponential_in_floats(
            np.maximum(shift, -700.0)
        ) * (1 - 2 * slip - 2.0**-49)
        need = np.clip(need, 0.0, None) * (1 + 2.0**-50)
        over = np.maximum(last - (a + 1) * h, 0.0)
        little = over <= _LITTLE * h
        steps = np.where(little, 1.0, np.maximum(np.ceil((last - a * h) / h), 1.0))
        whole = 1 - exponential_in_floats(np.maximum(-steps * h, -700.0)) * (1 - 2.0**-48)
        whole = np.where(steps == 1, fall, np.maximum(whole * (1 - 2.0**-48), fall))
        second = np.where(little, np.minimum(p * over * (1 + 2.0**-48) / fall, p), 0.0)
        # at exp(a h), mass at a + 2 adds 1 + exp(-h) times as much as mass at a + 1
        first = need / whole * (1 + 2.0**-49) - second * (2 - min(h, 2.0)) * (1 - 2.0**-49)
        first = np.clip(first, 0.0, p - second)
        remainder = np.maximum(p - first - second, 0.0) * (1 + 2.0**-50)
        a = a.astype(np.int64)
        far = ~np.isfinite(cells.spread)
        near = ~far
        infinite = cells.mass_above + float(p[far].sum()) * (1 + 2.0**-20)
        a, steps = a[near], steps[near].astype(np.int64)
        index = np.concatenate([a, a + steps, a[second[near] > 0] + 2])
        masses = [remainder[near], first[near], second[near][second[near] > 0]]
        found = _collected(index, np.concatenate(masses), infinite)
    if cells.mass_below or not found.at.size:
        lowest = int(found.at.min()) if found.at.size else 0
        found = _collected(
            np.append(found.at, lowest), np.append(found.mass, cells.mass_below), found.infinite
        )
    return _without_excess(found)


def _collected(index: NDArray[np.int64], mass: Floats, infinite: float) -> DiscretisedLoss:
    """Return the total mass of each index, rounded up, by index."""
    unique, (sums,), error = _by_index(index, mass)
    return DiscretisedLoss(unique, sums * (1 + error), min(infinite, 1.0))


def _by_index(
    index: NDArray[np.int64], *masses: Floats
) -> tuple[NDArray[np.int64], list[Floats], float]:
    """Return the sorted indices, the sums of masses at each, and the sums' relative error."""
    first = int(index.min(initial=0))
    span = int(index.max(initial=0)) - first + 1
    if span < 4 * index.size + 1024:
        unique = np.arange(first, first + span, dtype=np.int64)
        places = index - first
    else:
        unique, places = np.unique(index, return_inverse=True)
    counts = np.bincount(places, minlength=unique.size)
    sums = [np.bincount(places, mass, unique.size).astype(np.float64) for mass in masses]
    return unique, sums, float(counts.max(initial=1)) * 2.0**-52


def _without_excess(found: DiscretisedLoss) -> DiscretisedLoss:
    """Remove mass in excess of 1, which wide enclosures have, from the bottom."""
    excess = (float(found.mass.sum()) + found.infinite) * (1 - 2.0**-30) - 1
    if excess < 2.0**-20:
        return found
    order = np.argsort(found.at)
    mass = found.mass[order]
    before = np.concatenate([[0.0], np.cumsum(mass)[:-1]])
    cut = np.clip((excess - before) * (1 - 2.0**-30), 0.0, mass)
    return DiscretisedLoss(found.at[order], mass - cut, found.infinite)


class Optimistic(NamedTuple):
    """Sets of outcomes, by index i: P rounded down and R = Q exp(i h) rounded up."""

    at: NDArray[np.int64]
    p: Floats
    r: Floats
    infinity_mass: float
    """P of the outcomes whose losses count as infinite, rounded down."""
    q_of_infinite: float
    """Q of the same outcomes, rounded up."""


def optimistic(cells: OutcomeCells, unit: Fraction | None, width: Width) -> Optimistic:
    """Return the cells of a release by index."""
    h = width.about
    parts = _parts(cells, unit, width)
    if parts is not None and cells.multiple is not None:
        return Optimistic(cells.multiple * parts, cells.p_low, cells.r_up, cells.infinity_mass, 0.0)
    far = ~np.isfinite(cells.spread) & (cells.loss > _NEARLY_INFINITE)
    infinity_mass = cells.infinity_mass + float(cells.p_low[far].sum()) * (1 - 2.0**-30)
    rare = exponential_in_floats(-np.minimum(cells.loss[far], 700.0))
    q_of_infinite = float((cells.r_up[far] * rare).sum()) * (1 + 2.0**-30)
    near = (cells.p_low > TINY) & ~far
    loss, p, r = cells.loss[near], cells.p_low[near], cells.r_up[near]
    with np.errstate(divide="ignore"):
        about = np.where(r > 0, loss + np.log(p / r), loss)
    index = np.clip(np.rint(about / h), np.floor(loss / h), np.floor(loss / h) + 2.0**20)
    slip = 2.0**-50 * (np.abs(loss) + np.abs(index * h))
    moved = exponential_in_floats(np.clip(index * h - loss, -700.0, 700.0))
    r = (r * moved) * (1 + 2 * slip + 2.0**-49) + TINY
    fits = index * h - loss <= 700.0
    unique, sums, error = _by_index(index[fits].astype(np.int64), p[fits], r[fits])
    return Optimistic(
        unique, sums[0] * (1 - error), sums[1] * (1 + error), infinity_mass, q_of_infinite
    )


# --- all releases


class Summand(NamedTuple):
    """The masses of one release, and the number of times it is made."""

    at: NDArray[np.int64]
    mass: Floats
    times: int


@dataclass(frozen=True)
class Sum:
    """Masses of the sum of all releases, at rising indices.

    The mass at index j is exp(log_scale - tilt j) times ``mass``. Each ``mass`` has an absolute
    error of at most ``error``, and all have a relative error of at most ``slack``.
    """

    index: NDArray[np.int64]
    mass: Floats
    error: float
    slack: float
    tilt: float
    log_scale: Any
    """An interval."""
    outside: tuple[float, float]
    """Upper bounds on the tilted mass below and above the indices."""

    @property
    def counts(self) -> bool:
        """True if errors are small enough for a bound. For about 10**14 releases they are not."""
        return math.isfinite(self.error) and self.slack < 0.5

    @cached_property
    def bottom(self) -> int:
        """The lowest index if there may be mass below it, else one below all."""
        return int(self.index[0]) if self.outside[0] else -(2**62)


def single(index: NDArray[np.int64], mass: Floats) -> Sum:
    """Return the sum of one release."""
    order = np.argsort(index, kind="stable")
    zero = _AT128.rational(0)
    return Sum(index[order], mass[order], 0.0, 0.0, 0.0, zero, (0.0, 0.0))


def few_bits(value: float) -> float:
    """Round to 28 bits, so that products with integers below 2**24 are exact floats."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(mantissa * 2**28), exponent - 28)


class _Tilted(NamedTuple):
    """The masses mass exp(tilt (index - origin))/total, and log(total exp(tilt origin))."""

    mass: Floats
    log_total: Any


def _tilt(part: Summand, tilt: float) -> _Tilted:
    """Return the tilted masses of a release."""
    steps = part.at.astype(np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(part.mass)
    origin = float(steps[int(np.argmax(logs + tilt * steps))])
    high, low = exact_product(steps - origin, tilt)
    far = np.abs(high) > 1000.0  # such a mass is negligible
    first = np.clip(high, -1000.0, _FAR)
    tilted = part.mass * exponential_in_floats(first, np.where(far, 0.0, low))
    if (more := high - first).max() > 0:  # a mass may be far below its neighbours
        tilted = tilted * exponential_in_floats(np.minimum(np.maximum(more, 0.0), _FAR))
    tilted = np.where(part.mass > 0, tilted + TINY, 0.0)
    total = float(tilted.sum())
    log = _AT128.log(_AT128.rational(Fraction(total)))
    return _Tilted(tilted / total, _AT128.shift(log, Fraction(tilt) * int(origin)))


def summed(
    parts: Sequence[Summand],
    tilt: float,
    start: int,
    size: int,
    chernoff_rates: tuple[float, float],
) -> Sum:
    """Return the masses of the sum at ``size`` indices, a power of 2, from ``start`` on.

    `tilt` is that for each index, above 0 and of 28 bits. `chernoff_rates` are the rates r of
    Chernoff's bounds below and above the window. Any positive rates are right.
    """
    error = transform_error(size)
    product, bound, wrong = np.ones(1, np.complex128), np.ones(1), np.zeros(1)
    log_scale, lost = _AT128.rational(0), 0.0
    for part in parts:
        tilted = _tilt(part, tilt)
        folded = np.bincount(part.at % size, tilted.mass, size).astype(np.float64)
        spectrum = transform(folded)
        # the error of the transform, and of masses that sum to 1 only nearly
        one = error * (1 + 2.0**-20)
        absolute = np.sqrt(spectrum.real**2 + spectrum.imag**2) * (1 + 8 * _U) + 2 * one
        powers = _power(spectrum, part.times)
        absolutes = _power(absolute, part.times) * (1 + 4 * part.times * _U)
        relative = np.minimum(part.times * one / absolute, 2.0) + 5 * part.times * _U
        product, bound, wrong = product * powers, bound * absolutes, wrong + relative
        log_scale = _AT128.add(log_scale, _AT128.scale(tilted.log_total, part.times))
        lost += part.times * (_TILTED + float(np.bincount(part.at % size).max()) * _U)
    rounded = 4 * _U * (len(parts) - 1)  # by the products of parts
    bound, wrong = bound * (1 + rounded), wrong + rounded
    large = bound > _LEAST_POWER
    product = np.where(large, product, 0.0)
    off = np.where(large, np.minimum(wrong, 2.0) * bound, bound)
    total_wrong = float((off + inverse_error(size) * bound).sum()) * 4 / size * (1 + 2.0**-20)
    mass = np.roll(inverse(product), -(start % size))
    below = _chernoff(parts, tilt, -chernoff_rates[0], start - 1, log_scale)
    above = _chernoff(parts, tilt, chernoff_rates[1], start + size, log_scale)
    index = start + np.arange(size)
    return Sum(index, mass, total_wrong + 1e-250, lost, tilt, log_scale, (below, above))


def _power(base: NDArray[Any], count: int) -> NDArray[Any]:
    """Return base**count, by squaring."""
    found = None
    with np.errstate(under="ignore"):
        while True:
            if count & 1:
                found = base if found is None else found * base
            count >>= 1
            if not count:
                return base if found is None else found
            base = base * base


def _chernoff(
    parts: Sequence[Summand], tilt: float, chernoff_rate: float, end: int, log_scale: Any
) -> float:
    """Bound the tilted mass of sums from ``end`` on, or up to ``end`` if the rate is below 0."""
    extreme = [
        int(part.at.max() if chernoff_rate > 0 else part.at.min()) * part.times for part in parts
    ]
    if (sum(extreme) < end) if chernoff_rate > 0 else (sum(extreme) > end):
        return 0.0
    other = few_bits(tilt + chernoff_rate)
    if (other - tilt) * chernoff_rate <= 0:
        return 1.0
    log = _AT128.neg(log_scale)
    for part in parts:
        tilted = _tilt(part, other).log_total
        log = _AT128.add(log, _AT128.scale(_AT128.shift(tilted, Fraction(1, 2**30)), part.times))
    log = _AT128.shift(log, -(Fraction(other) - Fraction(tilt)) * end)
    found = float_at_least(_UP.exp(log.upper))
    return min(found * (1 + 2.0**-20) + 1e-280, 1.0) if found == found else 1.0
