"""The outcomes of noise: of a law of integers, of the normal law, and of the Laplace law.

The person moves the answer by D. At a distance x from the answer with the person the masses are
w(x) with the person and w(x + D) without. The laws are log-concave, so the loss log(w(x)/w(x + D))
never falls in x, and neither does the loss of a sample. A cell is therefore an interval of x, and
its losses lie between those at its ends. If the integers are few enough, each is a cell.

Of all sensitivities up to D, D is the worst, also on a sample. With y = exp(epsilon), delta for one
adjacency is s times the unsampled delta at 1 + (y - 1)/s in the place of y. For the other it is
1 - y (1 - s) times the unsampled delta at s y/(1 - y (1 - s)). Each unsampled delta grows with D
(hockey_stick.py).
"""

from __future__ import annotations

import math
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
from .._certified.probability import Tail, cached_normaliser, probability
from .._law import Kind, LawSpec
from .._law_functions.array_functions import array_values
from ._laplace import OneLaplace
from ._outcomes import (
    FARTHEST,
    TINY,
    Noise,
    Outcome,
    OutcomeCells,
    Outcomes,
    RandomOutcome,
    far_apart,
    mirrored,
    nearly_alike,
)
from .normal import OneGaussian

_AT192 = arithmetic(192)

#: If noise reaches further than this, or the sensitivity is less, losses differ from 0 by less than
#: floats tell. Losses above the first count as infinite.
TOO_WIDE, LEAST_SENSITIVITY = 2**500, Fraction(1, 2**500)

#: The relative precision of masses before they become floats, in bits.
_BITS = 80

#: Integers with a larger phi are in no cell. Their mass is below exp(-90).
_REACH = 90

#: Up to _SINGLE integers are cells by themselves; more are put into _RUNS runs. The other limits
#: hold if a law's exponents are not known as floats.
_SINGLE, _RUNS = 2**17, 2**13
_FEW_SINGLE, _FEW_RUNS = 2**11, 2**10

#: exp(-_LARGEST_PHI) is negligible.
_LARGEST_PHI = 700.0

_FLOAT_INTEGERS = 2**52


class IntegerNoise(Noise):
    """Noise of a law of integers on an answer that a person moves by ``sensitivity``."""

    def __init__(self, spec: LawSpec, sensitivity: int, sampling_rate: Fraction) -> None:
        super().__init__(sampling_rate)
        self.spec, self.sensitivity = spec, sensitivity
        self._formulas = formulas_of(self.spec)
        self._floats = self._formulas.has_exponents(self.spec) or (
            spec.kind is Kind.SKELLAM and parameters_in_range(spec.parameter, spec.mu)
        )
        reach = self._formulas.distance_of(self.spec, _AT192.rational(_REACH), _AT192).upper
        self._reach = int(_AT192.up.ceil(reach)) + 1
        if self._reach + sensitivity > _FLOAT_INTEGERS:
            self._floats = False
        #: True if the loss is constant outside of [-D, 0], as for the Laplace law.
        self._bounded = self._formulas.pure_epsilon(self.spec, sensitivity) is not None
        if isinstance(self._formulas, RationalFormulas):
            self._unit, self._first, self._step = _unit_of(self._formulas, self.spec, sensitivity)
            self.unit = self._unit if sampling_rate == 1 else None

    @classmethod
    def of(cls, spec: LawSpec, sensitivity: int, sampling_rate: Fraction) -> RandomOutcome:
        """Return the release, or one that dominates it if parameters are beyond floats."""
        found = cls(spec, sensitivity, sampling_rate)
        if phi_at(spec, sensitivity, arithmetic(64)).lower > TOO_WIDE:
            return far_apart(found._tail((sensitivity + 1) // 2).upper, sampling_rate)
        if found._reach + sensitivity < TOO_WIDE:
            return found
        beyond = Interval(_AT192.rational(0).lower, found._beyond())
        low, high = found._loss_about(-found._reach - sensitivity), found._loss_about(found._reach)
        return nearly_alike(Interval(low.lower, high.upper), beyond, sampling_rate)

    @property
    def span(self) -> float:
        """Twice the largest finite loss, in size."""
        cells = self.cells(adding=False, widest=1.0)
        near = cells.spread < FARTHEST
        return 2 * float(np.abs(cells.loss[near]).max(initial=2.0**-1000))

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        return 0, 0.0

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the integers that get cells, as one half-open range or two."""
        d = self.sensitivity
        if self._bounded:  # `_ends` has the two cells outside
            reach = min(self._reach, d - 1)
            near_d, near_0 = (1 - d, 1 - d + reach), (-reach, 0)
        else:
            near_d = (-d - self._reach, self._reach - d + 1)
            near_0 = (-self._reach, self._reach + 1)
        return [(near_d[0], near_0[1])] if near_d[1] >= near_0[0] else [near_d, near_0]

    def _made(self, fineness: int, tilt: float) -> OutcomeCells:
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
        found = OutcomeCells.joined(parts)
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
        """Bound P(X >= reach) by a geometric series: the masses fall ever faster."""
        at = arithmetic(64 + self._reach.bit_length())
        here, after = (phi_at(self.spec, self._reach + i, at) for i in (0, 1))
        first = at.div(at.exp(at.neg(here)), self._total())
        return at.div(first, at.neg(at.expm1(at.sub(here, after)))).upper

    def _total(self) -> Interval:
        """Return the weight of all integers, in units of the weight of 0."""
        return cached_normaliser(self.spec, _BITS)[1]

    def _tail(self, m: int) -> Interval:
        """Return P(X >= m), m >= 0."""
        return probability(Tail(self.spec, m, complement=False), _BITS)

    def _ends(self) -> OutcomeCells:
        """Return the two cells in which the loss of a Laplace law is constant."""
        at_0, at_d = self._tail(0), self._tail(self.sensitivity)
        ends = mirrored(at_0, at_d, _AT192.rational(self._exact_loss(0)))
        return Outcomes(ends, self._sampling_rate, unit=self.unit).cells_for(adding=False)

    def _exact_loss(self, x: int) -> Rational:
        exact = self._formulas.exact_phi  # type: ignore[attr-defined]
        return exact(self.spec, x + self.sensitivity) - exact(self.spec, x)

    def _few(self, xs: range) -> OutcomeCells:
        """Return cells of one integer each, without floats for the law's exponents."""
        total = self._total()

        def mass(x: int) -> Interval:
            return _AT192.div(_AT192.exp(_AT192.neg(phi_at(self.spec, x, _AT192))), total)

        outcomes = [Outcome(mass(x), mass(x + self.sensitivity), self._loss_about(x)) for x in xs]
        return Outcomes(outcomes, self._sampling_rate, unit=self.unit).cells_for(adding=False)

    def _exponents(self, xs: NDArray[np.int64]) -> Pairs:
        return self._formulas.exponents(self.spec, xs.astype(np.float64))

    def _losses(
        self, xs: NDArray[np.int64], before: Pairs | None, after: Pairs | None
    ) -> tuple[Floats, Floats]:
        """Return the unsampled losses and bounds on their errors; computes exponents if None."""
        if isinstance(self._formulas, RationalFormulas):
            loss = (self._first + xs * self._step).astype(np.float64) * float(self._unit)
            return loss, np.abs(loss) * 2.0**-51
        before = self._exponents(xs) if before is None else before
        after = self._exponents(xs + self.sensitivity) if after is None else after
        loss = (after.high - before.high) + (after.low - before.low)
        off = np.abs(loss) * 2.0**-51 + 2.0**-80 * (1 + np.minimum(before.high, after.high))
        return loss, off

    def _single(self, first: int, stop: int) -> OutcomeCells:
        """Return cells of one integer each, in floats.

        One of the two exponents is at most about `_REACH`. The other may be so large that the law's
        formulas no longer resolve it. The true exponent is then larger still, and the loss counts
        as infinite.
        """
        xs, d = np.arange(first, stop), self.sensitivity
        # xs and xs + d overlap if d is small
        both = np.arange(first, stop + d) if d < xs.size else np.concatenate([xs, xs + d])
        exponents = self._exponents(both)
        before, after = (
            Pairs(exponents.high[part], exponents.low[part])
            for part in (slice(xs.size), slice(both.size - xs.size, None))
        )
        at_0 = float_nearest(_AT192.div(_AT192.rational(1), self._total()))

        def bounds(exponents: Pairs) -> tuple[Floats, Floats]:
            near = exponents.high < _LARGEST_PHI
            minus = np.where(near, -exponents.high, -1000.0)
            mass = exponential_in_floats(minus, np.where(near, -exponents.low, 0.0)) * at_0
            return mass * (1 - 2.0**-49), mass * (1 + 2.0**-49) + TINY

        loss, off = self._losses(xs, before, after)
        if self.unit is None:
            return self._cells_between(loss - off, loss + off, bounds(before), bounds(after))
        low, up = bounds(before)  # R is P, because losses are exact
        multiple = self._first + xs * self._step
        return OutcomeCells(loss, np.zeros_like(loss), low, up, low, up, TINY, 0.0, 0.0, multiple)

    def _runs(self, first: int, stop: int) -> OutcomeCells:
        """Return cells of many integers each, whose masses are differences of tails."""
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
            return _AT192.rational(self._exact_loss(x))
        if 2 * x + self.sensitivity == 0:
            return _AT192.rational(0)
        bits = arithmetic(192 + 2 * abs(x).bit_length())
        phi = self._formulas.phi
        return bits.sub(phi(self.spec, x + self.sensitivity, bits), phi(self.spec, x, bits))

    def _masses(self, starts: list[int]) -> tuple[Floats, Floats]:
        """Return bounds on the masses from each start to the next, by the smaller tails.

        If 0 and 1 lie between the first start and the last, they are starts.
        """
        tails = self._tails([x if x > 0 else 1 - x for x in starts])
        right = np.array(starts[:-1]) > 0
        near = np.where(right, tails[:-1], tails[1:])
        far = np.where(right, tails[1:], tails[:-1])
        low, up = near - far - (near + far) * 2.0**-52, near - far + (near + far) * 2.0**-52
        if 0 in starts[:-1]:  # a cell by itself
            at_0 = float_nearest(_AT192.div(_AT192.rational(1), self._total()))
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
    """Return a unit of all losses, the loss at 0, and its rise from one integer to the next.

    The last two are counted in units.
    """
    phi = formulas.exact_phi
    loss = phi(spec, sensitivity) - phi(spec, 0)
    step = loss - (phi(spec, sensitivity - 1) - phi(spec, -1))
    common = loss.denominator * step.denominator
    unit = gmpy2.mpq(
        gmpy2.gcd(loss.numerator * step.denominator, step.numerator * loss.denominator), common
    )
    return fraction_of(unit), int(loss / unit), int(step / unit)


_HALF = Fraction(1, 2)

#: The most cells of an interval.
_MOST_CELLS = 2**17

#: exp(-_NOTHING) is 0 in floats.
_NOTHING = 750.0


class GaussianNoise(Noise):
    """The standard normal law, moved by the square root of ``mu2``, which is at most 1600."""

    MOST_MU2 = 1600
    _BEYOND = 12
    _TAIL = 2e-33
    """More than P(N > 12)."""

    def __init__(self, mu2: Rational, sampling_rate: Fraction) -> None:
        super().__init__(sampling_rate)
        self.mu2, self.sensitivity = mu2, float_nearest(_AT192.sqrt(_AT192.rational(mu2)))
        self._fewest = 64.0 if self.sensitivity < 8 else 2.5 * (self._BEYOND + self.sensitivity)

    @classmethod
    def of(cls, sigma2: Rational, sensitivity: Rational, sampling_rate: Fraction) -> RandomOutcome:
        """Return the release, or one that dominates it if parameters are extreme."""
        mu2 = sensitivity * sensitivity / sigma2
        if LEAST_SENSITIVITY**2 <= mu2 <= cls.MOST_MU2:
            return cls(mu2, sampling_rate)
        if mu2 < LEAST_SENSITIVITY**2:
            loss = _AT192.scale(_AT192.sqrt(_AT192.rational(mu2)), 13)
            return nearly_alike(
                Interval(_AT192.neg(loss).lower, loss.upper),
                _AT192.rational(Fraction(cls._TAIL)),
                sampling_rate,
            )
        return far_apart(_AT192.erfc(_AT192.sqrt(_AT192.rational(mu2 / 8))).upper, sampling_rate)

    @property
    def span(self) -> float:
        """The difference of the largest and the least loss."""
        return 2 * self.sensitivity * (self._BEYOND + self.sensitivity / 2)

    def closed(self) -> OneGaussian | None:
        """Return the cost of this release alone in closed form; None on a sample."""
        return OneGaussian(fraction_of(self.mu2)) if self.rate == 1 else None

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Round the tilt: it only says which cells are fine."""
        return super()._fineness(widest, 0.0)[0], round(tilt * 2, 0) / 2

    def _ends(self, fineness: int, tilt: float) -> Floats:
        """Return the ends of cells. They and the middles are binary fractions, so all are exact."""
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
        # the variation of the loss in a coarse cell; cells of little mass may vary more
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

    def _made(self, fineness: int, tilt: float) -> OutcomeCells:
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

    Let m be the distance of the number from the centre and w = 2 half. The integrand
    exp(-m v - v**2/2), abs(v) <= w/2, has the coefficients c_(k+1) = -(m c_k + c_(k-1))/(k + 1).
    The terms fall as those of exp(z) with z = abs(m) w/2 + w**2/8 <= 1/4, so all after the first 14
    sum to less than 1e-19. The part of m above 2**-20 has a square that is exactly a float.
    """
    unit = 2.0**20
    top = np.round(middle * unit) / unit + round(move * unit) / unit
    low = (middle - np.round(middle * unit) / unit) + (move - round(move * unit) / unit)
    m = top + low
    total, before, now, power = np.ones_like(m), np.ones_like(m), -m, half * half
    for k in range(1, 14):
        before, now = now, -(m * now + before) / (k + 1)
        if k % 2:  # now is the coefficient of v**(k + 1)
            total = total + now * (power / (k + 2))
            power = power * (half * half)
    exponent = -top * top / 2
    near = exponent > -_NOTHING
    weight = exponential_in_floats(np.where(near, exponent, -1000.0), -low * (top + m) / 2)
    return weight * total * (half * math.sqrt(2 / math.pi))


class LaplaceNoise(Noise):
    """The Laplace law of scale 1, cut off at ``cut``; ``sensitivity`` is at most 300."""

    _FEWEST, _LARGEST = 128, 300

    def __init__(
        self, sensitivity: Rational, cut: Rational | None, sampling_rate: Fraction
    ) -> None:
        super().__init__(sampling_rate)
        self._sensitivity, self._cut = sensitivity, cut
        self.unit = fraction_of(sensitivity) if sampling_rate == 1 else None
        self._weight = _AT192.rational(1)
        if cut is not None:
            self._weight = _AT192.neg(_AT192.expm1(_AT192.rational(-cut)))

    @classmethod
    def of(
        cls, sensitivity: Rational, cut: Rational | None, sampling_rate: Fraction
    ) -> RandomOutcome:
        """Return the release, or one that dominates it if the sensitivity is extreme."""
        if LEAST_SENSITIVITY <= sensitivity <= cls._LARGEST:
            return cls(sensitivity, cut, sampling_rate)
        if sensitivity < LEAST_SENSITIVITY:
            infinity_mass = (
                _AT192.rational(0)
                if cut is None
                else cls(sensitivity, cut, sampling_rate)._mass(cut - sensitivity, cut)
            )
            d = _AT192.rational(sensitivity)
            return nearly_alike(
                Interval(_AT192.neg(d).lower, d.upper), infinity_mass, sampling_rate
            )
        return far_apart(_AT192.exp(_AT192.rational(-sensitivity / 2)).upper, sampling_rate)

    @property
    def span(self) -> float:
        """The difference of the largest and the least loss."""
        return float_at_least(_AT192.rational(2 * self._sensitivity).upper)

    def closed(self) -> OneLaplace | None:
        """Return the cost of this release alone in closed form; None if the noise is cut off."""
        return None if self._cut is not None else OneLaplace(self._sensitivity, self.rate)

    def _fineness(self, widest: float, tilt: float) -> tuple[int, float]:
        """Return how often the interval of losses is halved. A sample makes it shorter."""
        d = float(self._sensitivity)
        steepest = 1 / (1 + float(1 / self._sampling_rate - 1) * math.exp(-d))
        parts = max(2 * d * steepest / widest, self._FEWEST)
        return math.ceil(math.log2(min(parts, _MOST_CELLS))), 0.0

    def _mass(self, x: Rational, y: Rational) -> Interval:
        """Return the mass between two distances from the answer, 0 <= x <= y."""
        share = _AT192.neg(_AT192.expm1(_AT192.rational(x - y)))
        whole = _AT192.mul(_AT192.exp(_AT192.rational(-x)), share)
        return _AT192.scale(_AT192.div(whole, self._weight), _HALF)

    def _beyond(self, x: Rational) -> Interval:
        """Return the mass at distances above x, on one side."""
        if self._cut is not None:
            return self._mass(x, self._cut)
        return _AT192.scale(_AT192.exp(_AT192.rational(-x)), _HALF)

    def _made(self, fineness: int, tilt: float) -> OutcomeCells:
        del tilt
        d, cut, count = self._sensitivity, self._cut, 1 << fineness
        if cut is None:
            outcomes = mirrored(self._beyond(gmpy2.mpq(0)), self._beyond(d), _AT192.rational(d))
        else:
            at_0, at_d = self._mass(gmpy2.mpq(0), cut - d), self._mass(d, cut)
            outcomes = mirrored(at_0, at_d, _AT192.rational(d))
            outcomes += mirrored(self._mass(cut - d, cut), _AT192.rational(0))
        ends = Outcomes(outcomes, self._sampling_rate).cells_for(adding=False)
        # from -d to 0 the loss is 2 z + d
        step = float_nearest(_AT192.rational(d / count))
        half_step = _AT192.rational(d / count / 2)
        rise = _AT192.sub(
            _AT192.expm1(half_step), _AT192.expm1(_AT192.neg(half_step))
        )  # 2 sinh of it
        share = _AT192.scale(_AT192.div(rise, self._weight), _HALF)
        z = (np.arange(count, dtype=np.float64)[::-1] + 0.5) * -step  # relative error 2**-52
        masses = [
            exponential_in_floats(z) * float_nearest(share),
            exponential_in_floats(z[::-1]) * float_nearest(share),
        ]
        wrong = 2.0**-49 + 2.0**-51 * float(d)
        here, moved = ((m * (1 - wrong), m * (1 + wrong)) for m in masses)
        edges = (2 * np.arange(count + 1) - count) * step
        off = np.abs(edges) * 2.0**-51
        between = self._cells_between((edges - off)[:-1], (edges + off)[1:], here, moved)
        return OutcomeCells.joined([ends, between])
