"""The privacy loss of continuous noise in cells: Gaussian and Laplace (see `_noise_cells.py`)."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import numpy as np

from .._certified.double_double import Floats
from .._certified.double_double_functions import exponential_in_floats
from .._certified.floats import float_at_least, float_nearest
from .._certified.interval import Interval, Rational, arithmetic, fraction_of
from ._loss_cells import TINY, Cells, Outcomes, Release, both_ways, far_apart, nearly_alike
from ._noise_cells import NO_CHANGE, Noise, unswapped

_AT = arithmetic(192)
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

    def __init__(self, mu2: Rational, rate: Fraction) -> None:
        super().__init__(rate)
        self.change = float_nearest(_AT.sqrt(_AT.rational(mu2)))
        self._fewest = 64.0 if self.change < 8 else 2.5 * (self._BEYOND + self.change)

    @classmethod
    def of(cls, sigma2: Rational, change: Rational, rate: Fraction) -> Release:
        """Return the release, whatever the parameters."""
        mu2 = change * change / sigma2
        if NO_CHANGE**2 <= mu2 <= 1600:
            return cls(mu2, rate)
        if mu2 < NO_CHANGE**2:
            loss = _AT.scale(_AT.sqrt(_AT.rational(mu2)), 13)
            return nearly_alike(
                Interval(_AT.neg(loss).lower, loss.upper), _AT.rational(Fraction(cls._TAIL)), rate
            )
        return far_apart(_AT.erfc(_AT.sqrt(_AT.rational(mu2 / 8))).upper, rate)

    @property
    def span(self) -> float:
        """How far losses lie apart."""
        return 2 * self.change * (self._BEYOND + self.change / 2)

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Cells are fine where the tilted mass is: the tilt need not be exact."""
        return super()._fineness(widest, 0.0)[0], round(tilt * 2, 0) / 2

    def _ends(self, fineness: int, tilt: float) -> Floats:
        """Return ends of cells, multiples of powers of 2, as are middles: nothing is rounded."""
        d = self.change
        coarse = 2.0 ** -math.ceil(math.log2(self._fewest))
        first, last = math.floor((-self._BEYOND - d) / coarse), math.ceil(self._BEYOND / coarse)
        starts = np.arange(first, last) * coarse
        losses = d * starts + d * d / 2
        share = 1.0
        if self._rate != 1:
            log_rate = math.log(float(self._rate))
            log_odds = math.log(float(1 - self._rate)) - log_rate - losses
            share = np.exp(-np.logaddexp(0.0, log_odds))
            losses = losses + log_rate + np.logaddexp(0.0, log_odds)
        # the loss varies by so much in a coarse cell, and may by so much more where little mass is
        varies = d * coarse * share * math.exp(min(d * coarse, 1))
        weight = np.logaddexp(
            math.log(float(self._rate)) - starts**2 / 2,
            math.log(float(1 - self._rate) or TINY) - (starts + d) ** 2 / 2,
        )
        weight = weight + tilt * losses
        spare = np.exp2(np.minimum((weight.max() - weight) / 2, 40))
        parts = np.ceil(np.log2(np.maximum(varies / (2.0**fineness * spare), 1.0)))
        parts = (2 ** np.clip(parts, 0, 10)).astype(np.int64)
        within = np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
        ends = np.repeat(starts, parts) + within * np.repeat(coarse / parts, parts)
        return np.append(ends, last * coarse)

    def _made(self, fineness: int, tilt: float) -> Cells:
        d = self.change
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
        return found._replace(under=found.under + beyond, over=found.over + beyond)


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
    """The Laplace law of scale 1, moved by ``change``, at most 300; cut off beyond ``cut``."""

    _FEWEST, _LARGEST = 128, 300

    def __init__(self, change: Rational, cut: Rational | None, rate: Fraction) -> None:
        super().__init__(rate)
        self._change, self._cut = change, cut
        self.unit = fraction_of(change) if rate == 1 else None
        self._weight = _AT.rational(1)
        if cut is not None:
            self._weight = _AT.neg(_AT.expm1(_AT.rational(-cut)))

    @classmethod
    def of(cls, change: Rational, cut: Rational | None, rate: Fraction) -> Release:
        """Return the release, whatever the parameters."""
        if NO_CHANGE <= change <= cls._LARGEST:
            return cls(change, cut, rate)
        if change < NO_CHANGE:
            told = (
                _AT.rational(0) if cut is None else cls(change, cut, rate)._mass(cut - change, cut)
            )
            d = _AT.rational(change)
            return nearly_alike(Interval(_AT.neg(d).lower, d.upper), told, rate)
        return far_apart(_AT.exp(_AT.rational(-change / 2)).upper, rate)

    @property
    def span(self) -> float:
        """How far losses lie apart."""
        return float_at_least(_AT.rational(2 * self._change).upper)

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Return how often the interval between both ends of losses is halved."""
        parts = max(float(2 * self._change) / widest, self._FEWEST)
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
        d, cut, count = self._change, self._cut, 1 << fineness
        if cut is None:
            outcomes = both_ways(self._beyond(gmpy2.mpq(0)), self._beyond(d), _AT.rational(d))
        else:
            at_0, at_d = self._mass(gmpy2.mpq(0), cut - d), self._mass(d, cut)
            outcomes = both_ways(at_0, at_d, _AT.rational(d))
            outcomes += both_ways(self._mass(cut - d, cut), _AT.rational(0))
        ends = unswapped(Outcomes(outcomes, self._rate))
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
