"""The choice of buckets for bounds on many releases: their width, a tilt, and a window.

The choices are made in floats without error bounds. Any choice gives right bounds (_discretise.py),
and good choices give tight ones. Let K be the logarithm of the moments of one loss. The saddle
point of n K(s) - s epsilon - log(s (s + 1)) is where the sum that makes up delta(epsilon), tilted
by exp(s loss), has its middle. A width h adds h**2/6 to the variance of each loss, and so
s (s + 1)/2 n h**2/6 to the logarithm of delta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from .._certified.double_double import Floats
from ._discretise import Width, few_bits
from ._outcomes import RandomOutcome

#: The width may make delta larger by these parts: of several releases, and of one.
_AIM, _AIM_OF_ONE = 5e-4, 1e-6

#: A window has at least _FEWEST buckets, or _FEWEST_OF_FEW with few releases. It may have fewer if
#: the width then adds a part of less than _NONE.
_FEWEST, _FEWEST_OF_FEW, _NONE = 2**12, 2**15, 1e-12

#: Windows of more than _LONG buckets may become shorter by less tilt, in these shares.
_LONG, _SHARES = 2.0**14, (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)

#: This many releases or fewer are few, and their delta has corners.
_FEW = 32

#: Groups of losses, and cells before grouping. The tilted mass outside of a window is about
#: exp(-_WITHIN); if that is unknown, the window reaches _DEVIATIONS to each side.
_GROUPS, _LOOK, _WITHIN, _DEVIATIONS = 200, 400, 15.0, 6.0

#: The mass outside is less in proportion to 1/s if log(s) is above this.
_LOG_OF_MOST = 4.0

#: log(s) is searched between these. If all losses are tiny, s is about the inverse of their sum.
_LEAST_LOG, _LARGEST_LOG = -14.0, 60.0

#: The number of tilts in an octave. Between tilts at which many small losses make up the sum and
#: tilts at which one large loss does, coarse steps have windows that are far too long.
TILTS = 32


class _Few(NamedTuple):
    """The loss of one release in a few groups, and the number of times it is made."""

    loss: Floats
    log_weight: Floats
    times: int
    least: float
    most: float
    fine: Floats
    log_fine: Floats
    spread: Floats


class GridPlan(NamedTuple):
    """The width, the tilt by loss (s) and by index, the window, and Chernoff rates of its ends."""

    width: Width
    s: float
    tilt: float
    start: int
    size: int
    chernoff_rates: tuple[float, float]


class Choices:
    """All releases, for one adjacency, with choices of buckets for their bounds."""

    aim = _AIM

    def __init__(
        self,
        releases: Sequence[tuple[RandomOutcome, int]],
        *,
        adding: bool,
        width: Fraction | None,
        most: int,
    ) -> None:
        self._releases, self._adding = releases, adding
        self._width, self._most = width, most
        self._count = sum(count for _, count in releases)
        self._saddle = lru_cache(maxsize=64)(self._new_saddle)
        self._plan = lru_cache(maxsize=4)(self._new_plan)

    @cached_property
    def _few(self) -> list[_Few]:
        found = []
        for release, count in self._releases:
            cells = release.cells(adding=self._adding, widest=max(release.span / _LOOK, 1e-300))
            near = np.isfinite(cells.spread) & (cells.p_up > 0)
            loss, p = (cells.loss + cells.spread / 2)[near], cells.p_up[near]
            if not loss.size:
                loss, p = np.zeros(1), np.ones(1)
            ends = (
                float(loss.min()),
                float((cells.loss + cells.spread)[near].max(initial=loss.max())),
            )
            order = np.argsort(loss)
            loss, p = loss[order], p[order]
            fine = loss, np.log(p), np.append(cells.spread[near], 0.0)[: loss.size][order]
            # groups have about equal shares of the mass, the variance and the number of losses
            total = p.sum()
            spread = p * (loss - loss @ p / total) ** 2
            share = np.cumsum(p) / total + np.arange(p.size) / p.size
            share += np.cumsum(spread) / max(float(spread.sum()), 1e-300)
            group = np.floor(_GROUPS * share).astype(np.int64)
            weight = np.bincount(group, p)
            mean = np.bincount(group, p * loss)[weight > 0] / weight[weight > 0]
            found.append(_Few(mean, np.log(weight[weight > 0] / total), count, *ends, *fine))
        return found

    def _moments(self, s: float) -> tuple[float, float, float]:
        """Return the logarithm of the moments of the sum, its mean and its variance, tilted."""
        log = mean = variance = 0.0
        for loss, log_weight, count, *_ in self._few:
            exponent = s * loss + log_weight
            most = float(exponent.max())
            weight = np.exp(exponent - most)
            total = float(weight.sum())
            middle = float(weight @ loss) / total
            log += count * (most + math.log(total))
            mean += count * middle
            variance += count * float(weight @ (loss - middle) ** 2) / total
        return log, mean, variance

    def _new_saddle(self, epsilon: float) -> float:
        """Return about the s with the least n K(s) - s epsilon - log(s (s + 1)).

        Newton's method for log(s), with bisection if its steps do not become shorter.
        """
        low, high, x, before = _LEAST_LOG, _LARGEST_LOG, 0.0, math.inf
        for _ in range(60):
            s = math.exp(x)
            _, mean, variance = self._moments(s)
            slope = mean - epsilon - 1 / s - 1 / (s + 1)
            low, high = (x, high) if slope < 0 else (low, x)
            step = slope / (s * (variance + 1 / s**2 + 1 / (s + 1) ** 2))
            if abs(step) < 1e-3 or high - low < 1e-3:
                break
            if not low < x - step < high or abs(step) > before / 2:
                step = x - (low + high) / 2
            x, before = x - step, abs(step)
        return math.exp(x)

    def guess(self, delta: float) -> float:
        """Return about the epsilon at a delta. Each s is the saddle point of a known epsilon."""
        low, high, epsilon = _LEAST_LOG, _LARGEST_LOG, 0.0
        target = math.log(max(delta, 1e-300))
        for _ in range(22):
            x = (low + high) / 2
            s = math.exp(x)
            log, mean, variance = self._moments(s)
            epsilon = mean - 1 / s - 1 / (s + 1)
            found = log - s * epsilon - math.log(s * (s + 1))
            found -= 0.5 * math.log(2 * math.pi * (variance + 1 / s**2 + 1 / (s + 1) ** 2))
            low, high = (x, high) if epsilon < 0 or found > target else (low, x)
        return min(max(epsilon, 0.0), self._largest)

    @cached_property
    def _largest(self) -> float:
        return sum(few.most * few.times for few in self._few)

    @cached_property
    def _smallest(self) -> float:
        return sum(few.least * few.times for few in self._few)

    @cached_property
    def _peak(self) -> float:
        """The largest single loss, in size."""
        return max(max(few.most, -few.least) for few in self._few)

    def _window(
        self, s: float, within: float = _WITHIN
    ) -> tuple[float, float, tuple[float, float]]:
        """Return ends outside of which little tilted mass lies, and the Chernoff rates there."""
        log, mean, variance = self._moments(s)
        deviation = math.sqrt(variance) + 1e-12
        chernoff_rates = np.exp(np.linspace(-3, 6, 28)) / deviation
        ends, best = [], []
        for sign in (-1.0, 1.0):
            tilts = s + sign * chernoff_rates
            found = np.full(chernoff_rates.size, within - log)
            for loss, log_weight, count, *_ in self._few:
                exponents = np.outer(tilts, loss) + log_weight
                most = exponents.max(axis=1)
                found += count * (most + np.log(np.exp(exponents - most[:, None]).sum(axis=1)))
            found /= chernoff_rates
            place = int(np.argmin(found))
            ends.append(sign * float(found[place]))
            best.append(float(chernoff_rates[place]))
        if not ends[0] <= mean <= ends[1]:  # the logarithms cancel too far
            ends = [mean - _DEVIATIONS * deviation, mean + _DEVIATIONS * deviation]
        return max(ends[0], self._smallest), min(ends[1], self._largest), (best[0], best[1])

    def _width_for(self, s: float, length: float, least: float = 0.0) -> Width:
        """Return a width for a tilt and a window of such a length.

        It is about ``least`` at least, unless losses are multiples of something.
        """
        units = [(count, release.unit) for release, count in self._releases if release.unit]
        unit, least = (max(units)[1], 0.0) if units else (Fraction(1), least)
        least = max(least, 2 * length / self._most, 2.0**-50 * self._peak)  # indices fit floats
        if self._width is not None:
            return Width.of(self._wider(self._width, unit if units else None, least))
        about = min(max(float(min(unit, Fraction(2**1000))), 1e-300), 1e300)
        aim = _AIM_OF_ONE if self._count == 1 else self.aim
        target = math.sqrt(12 * aim / (self._count * s * (s + 1)))
        target = max(min(target, length), least, 1e-300)
        power = math.floor(math.log2(target) - math.log2(about))
        # if losses are multiples of something, or nearly, the width may be larger
        while about * 2.0**power < length and self._added(about * 2.0 ** (power + 1), s) <= aim:
            power += 1
        fewest = _FEWEST_OF_FEW if 1 < self._count <= _FEW else _FEWEST
        while length < fewest * about * 2.0**power and self._added(about * 2.0**power, s) > _NONE:
            power -= 1
        return Width.of(unit * Fraction(2) ** power)

    def _wider(self, width: Fraction, unit: Fraction | None, least: float) -> Fraction:
        """Return the width, or a larger one if the sum has too many buckets.

        A larger one is the unit times a power of 2. Most losses are then multiples of it, and
        losses between buckets, which make delta larger, are few.
        """
        if self._count == 1 or width >= least:
            return width
        if unit is not None:
            width = unit * Fraction(2) ** (math.floor(math.log2(least / float(unit))))
        while width < least:
            width *= 2
        return width

    def _added(self, h: float, s: float) -> float:
        """Return about the part by which a width makes delta larger."""
        found = 0.0
        for few in self._few:
            exponent = s * few.fine + few.log_fine
            weight = np.exp(exponent - exponent.max())
            part = np.abs(few.fine / h - np.rint(few.fine / h))
            part = np.where(part < 2.0**-20, 0.0, part)
            across = np.minimum(few.spread / h, 1.0)
            variance = np.maximum(part * (1 - part), across / 6)
            found += few.times * float(weight @ variance) / float(weight.sum())
        return found * h * h * s * (s + 1) / 2

    def _widths(self, s: float, bottom: float, top: float) -> tuple[Width, float]:
        """Return the width, and the length of the window."""
        length = max(top - bottom, 2.0**-20 * max(abs(top), abs(bottom)), 2.0**-400)
        return self._width_for(s, length), length

    def _tilt(self, epsilon: float) -> int:
        """Return the tilt for an epsilon, as a number of steps of which an octave has TILTS.

        Answers near to each other then come from the same sum, so they are consistent.
        """
        return math.floor(TILTS * math.log2(self._saddle(epsilon)))

    def _new_plan(self, tilt: int) -> GridPlan:
        """Return the buckets for a tilt."""
        best, largest = 2.0 ** (tilt / TILTS), 2.0 ** ((tilt + 1) / TILTS)
        # the window must include the epsilon for which this tilt is smallest against the best one
        epsilon = self._moments(largest)[1] - 1 / largest - 1 / (largest + 1)
        epsilon = min(max(epsilon, 0.0), self._largest)
        least = self._exponent(self._saddle(epsilon), epsilon)
        s = best
        bottom, top, chernoff_rates = self._window(s, self._within(s, epsilon, least))
        if self._count == 1:
            bottom, top = self._smallest, self._largest
        width, length = self._widths(s, bottom, top)
        if self._count > 1 and length > _LONG * width.about:
            # If single losses may be large, a little less tilt makes the window far shorter. The
            # width must still fit the best tilt: there is the part of the sum that makes up delta.
            for share in _SHARES:
                less = best * share
                within = self._within(less, epsilon, least)
                if within > 2 * _WITHIN:
                    break
                other = self._window(less, within)
                if other[1] - other[0] < (top - bottom) / 1.5:
                    s, (bottom, top, chernoff_rates) = less, other
            width, length = self._widths(best, bottom, top)
        h = width.about
        size = max(top - bottom, 0.0) / h + 8 * len(self._releases) + 32
        size = 1 << max(math.ceil(math.log2(size)), 5)
        start = math.floor((top + bottom) / 2 / h) - size // 2
        return GridPlan(
            width, s, few_bits(s * h), start, size, (chernoff_rates[0] * h, chernoff_rates[1] * h)
        )

    def _within(self, s: float, epsilon: float, least: float) -> float:
        """Return -log of the mass allowed outside: less mass if the tilt is not the best.

        Delta is about a part of 1/s of the tilted mass, or less.
        """
        small = max(math.log(s) - _LOG_OF_MOST, 0.0)
        return _WITHIN + small + max(self._exponent(s, epsilon) - least, 0.0)

    def _exponent(self, s: float, epsilon: float) -> float:
        return self._moments(s)[0] - s * epsilon - math.log(s * (s + 1))
