"""The privacy loss of a mechanism in cells, for _buckets.py: masses with and without a person.

A law of noise that the person moves by D: at a distance x from the answer with the person the
masses are w(x), and w(x + D) without, and the loss log(w(x)/w(x + D)) never falls in x. With
Poisson sampling at rate s the person is in the sample with probability s, so that

    P = s w(x) + (1 - s) w(x + D),    Q = w(x + D),    loss = log(1 - s + s exp(unsampled loss)),

which never falls in x, too. For log-concave noise D is the worst change of at most D: for any
epsilon, one direction is s times the unsampled delta at 1 + (exp(epsilon) - 1)/s, the other
(1 - exp(epsilon) (1 - s)) times the one at s exp(epsilon)/(1 - exp(epsilon) (1 - s)), both of the
multiplier, and each grows with D (docs/least_delta.md).

So a cell is an interval of x, and its losses lie between those at its ends. Where an interval ends
need not be exact: its losses are enclosed afterwards, whatever its ends.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import gmpy2

from .._certified.families import family_of
from .._certified.family import RationalFamily
from .._certified.interval import Interval, Rational, arithmetic
from .._certified.lattice_sums import canonical, normaliser, phi_at, tail_ratio
from .._law import Kind, LawSpec
from ._buckets import Cell

#: Relative bits of masses: differences of tails keep enough of them for multiples of 2**-128.
_AT = arithmetic(232)
_ZERO = _AT.rational(0)
_ONE = _AT.rational(1)
_INFINITY: Any = gmpy2.inf()

#: Noise with phi beyond this has a mass below 2**-110.
_REACH = 78

#: The weights of so many integers are summed one by one, at most; else tails are asked for.
_FEW = 2**16

#: So many integers are pieces of their own, at most.
_SINGLE = 2**13

#: Cells in a first look at the loss.
_LOOK = 512

#: Buckets in a standard deviation of the loss.
_FINENESS = 512

#: Losses beyond this count as infinite, above, and as low as one likes, below: no such epsilon is
#: of use, and exponentials of many times as much are numbers.
FARTHEST = gmpy2.mpq(2) ** 40

#: Of a generalised Gaussian those beyond this do: of a steep one they would make buckets so wide
#: that all losses share one.
_STEEP = gmpy2.mpq(2) ** 12

#: Masses below this do not count where a width is chosen for such a law.
_NO_MASS = gmpy2.mpfr(2) ** -110

#: How far the cap is above the largest loss, which is enclosed; and what it is at least.
_CAP = gmpy2.mpq(1001, 1000)
_LEAST = gmpy2.mpq(1, 2**1000)

#: A tail is made of one that begins nearer than this, and of the masses between.
_NEAR = 9


class Piece(NamedTuple):
    """An interval of outcomes: its mass, that moved, and bounds on the losses unsampled.

    The bounds are rational, mpfr or infinite.
    """

    here: Interval
    moved: Interval
    least: Any
    most: Any


class Noise(ABC):
    """Noise symmetric about an answer; x is the distance from it."""

    #: Between these the loss varies, and nearly all noise lies, itself or moved.
    ends: tuple[Rational, Rational]

    #: Whether boundaries are not asked for, as each integer is a piece of its own.
    is_single = False

    #: All losses are multiples of this, unsampled, if they are multiples of something.
    unit: Rational | None = None

    #: Losses beyond this are taken to be infinite, or as low as one likes.
    farthest: Rational = FARTHEST

    @abstractmethod
    def pieces(self, boundaries: Iterable[Rational]) -> Iterator[Piece]:
        """Yield all outcomes, cut at the boundaries, which rise, and at `ends`."""

    @abstractmethod
    def near(self, loss: Rational) -> list[Rational]:
        """Return boundaries just about where the loss is so much."""

    def evenly(self, n: int) -> list[Rational]:
        """Return n boundaries at equal distances."""
        low, high = self.ends
        return [low + (high - low) * i / n for i in range(1, n)]


class IntegerNoise(Noise):
    """Noise of a law of integers, moved by ``change``."""

    def __init__(self, spec: LawSpec, change: int) -> None:
        self.spec, self.change = canonical(spec), change
        self._family = family_of(self.spec)
        self._weight = normaliser(self.spec, _AT.bits)[1]
        self._tails: dict[int, Interval] = {}
        self._ones: dict[int, Interval] = {}
        self._phis: dict[int, Interval] = {}
        #: No more than a loss within these is lost, with the Laplace.
        self._bounded = self._family.constant_tail_ratio
        reach = self._family.distance_of(self.spec, _AT.rational(_REACH), _AT).upper
        outer = 0 if self._bounded else int(_AT.up.ceil(reach)) + 1
        self.ends = gmpy2.mpq(-outer - change + (1 if self._bounded else 0)), gmpy2.mpq(outer)
        self.is_single = self.ends[1] - self.ends[0] <= _SINGLE
        if self.ends[1] - self.ends[0] <= _FEW:
            self._sum_tails(outer + change)
        if not isinstance(self._family, RationalFamily):
            self.farthest = _STEEP
        else:  # of a Gaussian and a Laplace
            loss, before = self._loss(0)[0], self._loss(-1)[0]
            self.unit = gmpy2.mpq(
                gmpy2.gcd(
                    loss.numerator * before.denominator,
                    (loss - before).numerator
                    * (loss.denominator * before.denominator)
                    // (loss - before).denominator,
                ),
                loss.denominator * before.denominator,
            )

    def _sum_tails(self, outer: int) -> None:
        """Find all tails up to a distance, from there inwards: sums of positive terms."""
        tail = self._tails[outer] = self._tail(outer)
        for x in range(outer - 1, 0, -1):
            tail = self._tails[x] = _AT.add(tail, self._one(x))

    def _tail(self, m: int) -> Interval:
        """Return P(X >= m)."""
        if m <= 0:
            return _AT.sub(_ONE, self._tail(1 - m))
        if m not in self._tails:  # a mass takes far less time than a tail
            near = next((k for k in range(1, _NEAR) if m + k in self._tails), None)
            if near is not None:
                tail = self._tails[m + near]
                for x in range(m, m + near):
                    tail = _AT.add(tail, self._one(x))
                self._tails[m] = tail
        if m not in self._tails:
            scale = _AT.exp(_AT.neg(phi_at(self.spec, m, _AT)))
            weight = _AT.mul(scale, tail_ratio(self.spec, m, _AT.bits))
            self._tails[m] = _AT.div(weight, self._weight)
        return self._tails[m]

    def _phi(self, x: int) -> Interval:
        """Return phi(x), x >= 0: each is asked for several times, and a power takes a while."""
        if x not in self._phis:
            self._phis[x] = phi_at(self.spec, x, _AT)
        return self._phis[x]

    def _one(self, x: int) -> Interval:
        x = abs(x)
        if x not in self._ones:
            weight = _AT.exp(_AT.neg(self._phi(x)))
            self._ones[x] = _AT.div(weight, self._weight)
        return self._ones[x]

    def _between(self, x: int, y: int) -> Interval:
        if y - x == 1:
            return self._one(x)
        if y <= 0:  # the shorter tail is the more accurate
            x, y = 1 - y, 1 - x
        return _AT.sub(self._tail(x), self._tail(y))

    def _loss(self, x: int) -> tuple[Any, Any]:
        if isinstance(self._family, RationalFamily):
            exact = self._family.exact_phi
            loss = exact(self.spec, x + self.change) - exact(self.spec, x)
            return loss, loss
        if x + self.change == -x:  # in the middle it is 0, which an enclosure would not tell
            return gmpy2.mpq(0), gmpy2.mpq(0)
        moved, here = self._phi(abs(x + self.change)), self._phi(abs(x))
        return _AT.sub(moved, here)

    def pieces(self, boundaries: Iterable[Rational]) -> Iterator[Piece]:
        """Yield all outcomes, cut at the boundaries, which rise, and at `ends`."""
        low, high = int(self.ends[0]), int(self.ends[1])
        if self.is_single:
            inner: Iterable[int] = range(low + 1, high)
        else:
            inner = sorted({b for b in map(_ceil, boundaries) if low < b < high})
        most = self._loss(0)[1] if self._bounded else _INFINITY
        d = self.change
        yield Piece(self._tail(1 - low), self._tail(1 - low - d), -most, self._loss(low - 1)[1])
        x = low
        for y in (*inner, high):
            if y > x:
                losses = self._loss(x)[0], self._loss(y - 1)[1]
                yield Piece(self._between(x, y), self._between(x + d, y + d), *losses)
            x = y
        yield Piece(self._tail(high), self._tail(high + d), self._loss(high)[0], most)

    def near(self, loss: Rational) -> list[Rational]:
        """Return the integer from which on the loss is about more."""
        if isinstance(self._family, RationalFamily):
            first = self._family.loss_exceeds_from(self.spec, abs(loss), self.change)
            if first is None:
                return []
            return [gmpy2.mpq(first if loss >= 0 else 1 - self.change - first)]
        low, high = int(self.ends[0]), int(self.ends[1])
        about = float(loss)
        while high - low > 1:
            middle = (low + high) // 2
            if self._loss_about(middle) <= about:
                low = middle
            else:
                high = middle
        return [gmpy2.mpq(high)]

    def _loss_about(self, x: int) -> float:
        """Return the loss, of a generalised Gaussian in floats where these reach."""
        if self.spec.kind is not Kind.GENERALIZED_GAUSSIAN:
            return float(self._loss(x)[1])
        try:
            scale, beta = float(self.spec.parameter), float(self.spec.beta)
            return math.pow(abs(x + self.change) / scale, beta) - math.pow(abs(x) / scale, beta)
        except (OverflowError, ZeroDivisionError):
            return float(self._loss(x)[1])


def _ceil(x: Rational) -> int:
    """Return an int, where math.ceil returns an mpz."""
    return int(-(-x // 1))


class _ContinuousNoise(Noise):
    """Continuous noise, moved by ``change``: a tail, and a loss that is a rational of x."""

    change: Rational

    def __init__(self) -> None:
        self._tails: dict[Rational, Interval] = {}

    @abstractmethod
    def _new_tail(self, x: Rational) -> Interval:
        """Return P(X > x), x >= 0."""

    def _tail(self, x: Rational) -> Interval:
        """Return P(X > x)."""
        if x < 0:
            return _AT.sub(_ONE, self._tail(-x))
        if x not in self._tails:
            self._tails[x] = self._new_tail(x)
        return self._tails[x]

    @abstractmethod
    def _loss(self, x: Rational) -> Rational:
        """Return the loss at x."""

    def _between(self, x: Rational, y: Rational) -> Interval:
        if y <= 0:
            x, y = -y, -x
        return _AT.sub(self._tail(x), self._tail(y))

    def _pieces_between(self, cuts: list[Rational]) -> Iterator[Piece]:
        here, moved = self._between, self.change
        for x, y in pairwise(cuts):
            yield Piece(here(x, y), here(x + moved, y + moved), self._loss(x), self._loss(y))


class ContinuousGaussian(_ContinuousNoise):
    """The normal law with a variance, moved by ``change``."""

    def __init__(self, sigma2: Fraction, change: Fraction) -> None:
        super().__init__()
        self.sigma2, self.change = gmpy2.mpq(sigma2), gmpy2.mpq(change)
        self._scale = _AT.sqrt(_AT.rational(2 * self.sigma2))
        outer = gmpy2.mpq(math.ceil(_AT.mul(self._scale, _AT.rational(9)).upper))
        self.ends = -outer - self.change, outer

    def _new_tail(self, x: Rational) -> Interval:
        twice = _AT.erfc(_AT.div(_AT.rational(x), self._scale))
        return _AT.scale(twice, Fraction(1, 2))

    def _loss(self, x: Rational) -> Rational:
        return (2 * x + self.change) * self.change / (2 * self.sigma2)

    def pieces(self, boundaries: Iterable[Rational]) -> Iterator[Piece]:
        """Yield all outcomes, cut at the boundaries, which rise, and at `ends`."""
        low, high = self.ends
        cuts = [low, *(b for b in boundaries if low < b < high), high]
        d = self.change
        yield Piece(self._tail(-low), self._tail(-low - d), -_INFINITY, self._loss(low))
        yield from self._pieces_between(cuts)
        yield Piece(self._tail(high), self._tail(high + d), self._loss(high), _INFINITY)

    def near(self, loss: Rational) -> list[Rational]:
        """Return where the loss is so much."""
        return [loss * self.sigma2 / self.change - self.change / 2]


class ContinuousLaplace(_ContinuousNoise):
    """The continuous Laplace law, cut off at a distance from the answer if one is given."""

    def __init__(self, scale: Fraction, change: Fraction, cut: Fraction | None) -> None:
        super().__init__()
        self.scale, self.change = gmpy2.mpq(scale), gmpy2.mpq(change)
        self.cut = None if cut is None else gmpy2.mpq(cut)
        self.ends = -self.change, gmpy2.mpq(0)

    def _new_tail(self, x: Rational) -> Interval:
        s, c = self.scale, self.cut
        if c is None:
            return _AT.scale(_AT.exp(_AT.rational(-x / s)), Fraction(1, 2))
        if x >= c:
            return _ZERO
        # (exp(-x/s) - exp(-c/s))/(2 (1 - exp(-c/s))), where c may be far below s
        within = _AT.neg(_AT.expm1(_AT.rational((x - c) / s)))
        kept = _AT.scale(_AT.neg(_AT.expm1(_AT.rational(-c / s))), 2)
        return _AT.div(_AT.mul(_AT.exp(_AT.rational(-x / s)), within), kept)

    def _loss(self, x: Rational) -> Rational:
        return (abs(x + self.change) - abs(x)) / self.scale

    def pieces(self, boundaries: Iterable[Rational]) -> Iterator[Piece]:
        """Yield all outcomes, cut at the boundaries, which rise, and at `ends`."""
        d, (low, high) = self.change, self.ends
        most = d / self.scale
        cuts = [low, *(b for b in boundaries if low < b < high), high]
        if self.cut is None:
            yield Piece(self._tail(d), self._tail(gmpy2.mpq(0)), -most, -most)
            yield from self._pieces_between(cuts)
            yield Piece(self._tail(gmpy2.mpq(0)), self._tail(d), most, most)
            return
        c = self.cut
        only_moved = self._between(-c, d - c)
        yield Piece(_ZERO, only_moved, -_INFINITY, -_INFINITY)
        yield from self._pieces_between([-c, *cuts, c - d])
        yield Piece(only_moved, _ZERO, _INFINITY, _INFINITY)

    def near(self, loss: Rational) -> list[Rational]:
        """Return where the loss is so much."""
        return [(loss * self.scale - self.change) / 2]


def _sampled(least: Any, most: Any, rate: Fraction) -> Interval:
    """Return what losses between two become by Poisson sampling."""
    if rate == 1:
        return Interval(least, most)
    unsampled_loss = Interval(_AT.down.add(least, gmpy2.mpfr(0)), _AT.up.add(most, gmpy2.mpfr(0)))
    return _AT.log1p(_AT.scale(_AT.expm1(unsampled_loss), rate))


def _unsampled(loss: Fraction, rate: Fraction) -> Rational | None:
    """Return about the loss that Poisson sampling makes this one; None if none does."""
    if rate == 1:
        return gmpy2.mpq(loss)
    found = _AT.log1p(_AT.scale(_AT.expm1(_AT.rational(loss)), 1 / rate)).upper
    return gmpy2.mpq(found) if gmpy2.is_finite(found) else None


class Look(NamedTuple):
    """What a first look at noise tells about its losses, for the width of buckets."""

    losses: list[float]
    weights: list[float]
    cap: Rational
    """A little above the largest loss that counts, up or down: beyond it losses are infinite."""


def look(noise: Noise, rate: Fraction) -> Look:
    """Return the losses of some cells of noise, with the weight of each."""
    losses, weights, largest = [], [], _LEAST
    for piece in noise.pieces(noise.evenly(_LOOK)):
        if noise.farthest < FARTHEST and max(piece.here.upper, piece.moved.upper) < _NO_MASS:
            continue
        ends = _sampled(piece.least, piece.most, rate)
        known = [end for end in ends if abs(end) <= noise.farthest]
        if known:
            losses.append(sum(map(float, known)) / len(known))
            weights.append(float(piece.here.upper))
            largest = max(largest, *map(abs, known))
    return Look(losses, weights, gmpy2.mpq(largest) * _CAP)


def cells_of_noise(noise: Noise, rate: Fraction, width: Fraction, cap: Rational) -> list[Cell]:
    """Return the cells of noise whose buckets have a width; losses beyond a cap are infinite."""
    boundaries: list[Rational] = []
    if not noise.is_single:
        end = math.ceil(cap / gmpy2.mpq(width))
        for i in range(-end, end + 1):
            loss = _unsampled(i * width, rate)
            if loss is not None:
                boundaries += noise.near(loss)
    return _cells_of(noise.pieces(boundaries), rate, width, cap)


def _cells_of(
    pieces: Iterable[Piece], rate: Fraction, width: Fraction, cap: Rational
) -> list[Cell]:
    """Return pieces as cells, of the pair with the person (sampled) and without."""
    step = gmpy2.mpq(width)
    found = []
    for here, moved, least, most in pieces:
        low, high = _sampled(least, most, rate)
        p = here
        if rate != 1:
            p = _AT.add(_AT.scale(here, rate), _AT.scale(moved, 1 - rate))
        # beyond the cap a loss is as high as one likes, or as low
        first = _floor(min(low, cap), step) if low >= -cap else None
        last = -_floor(-max(high, -cap), step) if high <= cap else None
        found.append(Cell(p, moved, first, last))
    return found


def _floor(loss: Any, step: Rational) -> int:
    """Return the number of steps in a loss, rounded down."""
    if abs(loss) < step:  # it may be too small for a rational
        return -1 if loss < 0 else 0
    return int(gmpy2.mpq(loss) // step)


def chosen_width(noise: Noise, seen: Look, rate: Fraction, most: int) -> Fraction:
    """Return a width of buckets that suits the losses: the finer, the tighter.

    Where all losses are multiples of some number, and these are few, it is that number, and nothing
    is lost. Else it is a fraction of the deviation of the loss, by a power of two times the number,
    or one: so that different releases have widths that differ by a power of two.
    """
    losses, weights, cap = seen
    mean = math.fsum(map(float.__mul__, losses, weights))
    spread = [loss - mean for loss in losses]
    variance = math.fsum(w * x * x for w, x in zip(weights, spread, strict=True))
    target = max(math.sqrt(variance) / _FINENESS, 2 * float(cap) / most, 2**-1000)
    unit = Fraction(1)
    if noise.unit is not None and rate == 1:
        unit = Fraction(int(noise.unit.numerator), int(noise.unit.denominator))
        if unit >= target:
            return unit
    parts = Fraction(target) / unit
    exponent = parts.numerator.bit_length() - parts.denominator.bit_length()
    return unit * Fraction(2) ** (exponent - (parts < Fraction(2) ** exponent))
