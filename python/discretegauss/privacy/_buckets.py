"""Privacy loss in buckets: bounds on delta that stay bounds under composition.

Source: Meiser and Mohammadi, *Tight on Budget?* (CCS 2018), for the idea of buckets, and for
tracking both masses; Doroshenko et al., arXiv 2207.04380, for connecting the dots. A pair (P, Q) of
laws of an outcome, with and without a person, gives for each epsilon

    delta(epsilon) = sup over sets A of P(A) - exp(epsilon) Q(A),

the sum over all outcomes of max(0, P - exp(epsilon) Q). Bucket i stands for the loss log(P/Q) = i h
with h the width; what has Q = 0 has an infinite loss. Masses are integers over 2**128 (_masses.py).

*Upper bound* (`Above`): masses p_i and m, rounded up, with

    delta(epsilon) <= m + sum over i of p_i max(0, 1 - exp(epsilon - i h)).

1. Outcomes with losses between a h and b h, masses P and Q in all, are replaced by two: one with
   loss b h and P-mass u = (P - exp(a h) Q)/(1 - exp((a - b) h)), one with loss a h and the rest. As
   each outcome is a mixture of such two, with the same P and Q in sum, the old pair is a
   post-processing of the new one. Hence the new pair has no smaller delta at any epsilon, nor have
   its products (the same post-processing in each component), nor adaptive compositions (Zhu, Dong
   and Wang, AISTATS 2022).
2. The right-hand side does not fall if some p_i or m grows, if mass moves to a larger i, or to m.
   So rounding up, cropping the top to m and the bottom to the lowest bucket are safe. As all
   masses are 1 in truth, what is more, by wide enclosures, may be taken away at the bottom.
3. Composition: p = p1 * p2 (convolution) and m = 1 - (1 - m1)(1 - m2), each non-decreasing in all.
4. Coarsening h to 2h is 1. for odd i, with a = i - 1, b = i + 1: of the mass p, p/(1 + exp(-h))
   goes up and p/(1 + exp(h)) down. Refining h to h/k moves nothing.

*Lower bound* (`Below`): disjoint sets of outcomes, P-masses rounded down and Q-masses up, m down:

    delta(epsilon) >= m + sum over any i of P_i - exp(epsilon) Q_i.

What is merged, left out or rounded so can only lose delta: a set of sets is a set. The index of a
set only says about where its loss is. Kept is R_i = exp(i h) Q_i, about as large as P_i, where Q_i
itself may be far below 2**-128. As exp(i h) exp(j h) = exp((i + j) h), composition takes two
convolutions. An index is chosen so that R_i <= P_i, and falls if it changes. This is a bound for
the product of the very pair given: it says of independent releases that no smaller delta is true.

Both are of second order in h: the P and Q of every bucket are right on average.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.interval import Interval, arithmetic
from ._masses import (
    BITS,
    ONE,
    Masses,
    approximately,
    convolved,
    integers,
    masses,
    rounded,
    scaled_sum,
    total,
)

#: Enough for masses over 2**128, exponentials included.
_AT = arithmetic(192)

#: Larger losses are not told apart where floats choose.
_FAR = Fraction(2**500)

#: So many buckets from the one end of a cell its index is, at most.
_REACH = 2**16

#: Masses may sum to more than 1 by so much.
_EXCESS = ONE >> 30

#: What is cropped at either end, at most, in floats.
_CROPPED = 2.0**-104


class Cell(NamedTuple):
    """A set of outcomes: its masses, and multiples of the width between which its losses lie."""

    p: Interval
    q: Interval
    first: int | None
    """None: losses may be as low as one likes."""
    last: int | None
    """None: losses may be as high as one likes, or infinite."""

    @property
    def swapped(self) -> Cell:
        """Return the cell with the two laws exchanged."""
        first, last = self.first, self.last
        return Cell(
            self.q, self.p, None if last is None else -last, None if first is None else -first
        )


def _exp(exponent: Fraction) -> Interval:
    return _AT.exp(_AT.rational(exponent))


def _float(exact: Fraction) -> float:
    """Return about the number, or one that is far from others."""
    return float(min(max(exact, -_FAR), _FAR))


def _compose_infinite(a: int, b: int, *, up: bool) -> int:
    """Return 1 - (1 - a)(1 - b) over 2**128, at most 1; a product rounded up is too much here."""
    product = a * b
    joint = product >> BITS if up else -(-product >> BITS)
    return min(a + b - joint, ONE)


def _index_below(
    p: Interval, q: Interval, first: int | None, last: int | None, width: Fraction
) -> int:
    """Return about log(P/Q)/h, rounded down: between the ends, or near to the one that there is."""
    if first is not None and last in (None, first):
        return first
    lowest = first if first is not None else (last or 0) - _REACH
    highest = last if last is not None else _REACH
    loss = _AT.scale(_AT.log(_AT.div(p, q)), 1 / width).lower
    if not loss > lowest:
        return lowest
    return highest if loss >= highest else int(gmpy2.mpz(_AT.down.floor(loss)))


def _window(weights: NDArray[np.float64]) -> slice:
    """Return which places hold all but a little of the weight, at least one of them."""
    below = np.cumsum(weights) <= _CROPPED
    above = np.cumsum(weights[::-1]) <= _CROPPED
    start = min(int(below.sum()), len(weights) - 1)
    return slice(start, max(len(weights) - int(above.sum()), start + 1))


def _without_lowest(values: Masses, excess: int) -> Masses:
    """Return masses from the lowest of which so much is taken away."""
    found = [int(mass) for mass in integers(values)]
    for k, mass in enumerate(found):
        found[k] = mass - min(mass, excess)
        excess -= mass - found[k]
        if not excess:
            break
    return masses(found)


def _spread(values: Masses, parts: int) -> Masses:
    """Return masses with places of 0 between them."""
    found = np.zeros(((len(values) - 1) * parts + 1, values.shape[1]), np.uint64)
    found[::parts] = values
    return found


@dataclass(frozen=True)
class Above:
    """An upper bound: bucket first + k has the mass p[k]."""

    width: Fraction
    first: int
    p: Masses
    infinite: int
    """The mass m, over 2**128."""

    @classmethod
    def of_cells(cls, cells: list[Cell], width: Fraction) -> Above:
        """Return the bound of a pair, given as cells that hold all outcomes."""
        found: dict[int, int] = {}
        infinite = 0
        to_above = {1: _AT.neg(_AT.expm1(_AT.rational(-width)))}
        for p, q, first, last in cells:
            mass = rounded(p.upper, up=True)
            if last is None:
                infinite += mass
            elif first is None or first == last:
                found[last] = found.get(last, 0) + mass
            else:
                span = to_above.setdefault(
                    last - first, _AT.neg(_AT.expm1(_AT.rational((first - last) * width)))
                )
                moved = _AT.div(_AT.sub(p, _AT.mul(_exp(first * width), q)), span)
                # where losses differ by next to nothing the quotient may tell nothing
                high = rounded(moved.upper if moved.upper < p.upper else p.upper, up=True)
                rest = mass - rounded(moved.lower if 0 < moved.lower < p.upper else 0, up=False)
                found[last] = found.get(last, 0) + high
                found[first] = found.get(first, 0) + max(rest, 0)
        lowest = min(found, default=0)
        values = [0] * (max(found, default=0) - lowest + 1)
        for i, mass in found.items():
            values[i - lowest] = mass
        return cls(width, lowest, masses(values), min(infinite, ONE))

    def cropped(self) -> Above:
        """Return the bound without its ends: the top counts as infinite, the bottom as higher."""
        values = self.p
        excess = total(values) + self.infinite - ONE
        if excess > _EXCESS:
            values = _without_lowest(values, excess)
        kept = _window(approximately(values))
        p = values[kept].copy()
        p[:1] = masses([int(integers(p[:1])[0]) + total(values[: kept.start])])
        infinite = min(self.infinite + total(values[kept.stop :]), ONE)
        return Above(self.width, self.first + kept.start, p, infinite)

    def composed(self, other: Above) -> Above:
        """Return the bound of both releases; they have the same width."""
        return Above(
            self.width,
            self.first + other.first,
            convolved(self.p, other.p, up=True),
            _compose_infinite(self.infinite, other.infinite, up=True),
        ).cropped()

    def coarsened(self) -> Above:
        """Return the bound with twice the width."""
        odd = self.first % 2  # the place of the first bucket with an even index
        evens, odds = self.p[odd::2], self.p[1 - odd :: 2]
        up = rounded(_AT.div(_AT.rational(1), _AT.shift(_exp(-self.width), 1)).upper, up=True)
        down = rounded(_AT.div(_AT.rational(1), _AT.shift(_exp(self.width), 1)).upper, up=True)
        lowest, highest = self.first // 2, (self.first + len(self.p)) // 2
        n = highest - lowest + 1
        terms = [(evens, ONE, odd), (odds, up, 1), (odds, down, 0)]
        return Above(2 * self.width, lowest, scaled_sum(terms, n, up=True), self.infinite)

    def refined(self, parts: int) -> Above:
        """Return the bound with each width in so many parts."""
        p = _spread(self.p, parts)
        return Above(self.width / parts, self.first * parts, p, self.infinite)

    def regridded(self, width: Fraction) -> Above:
        """Return the bound at any other width."""
        cells = []
        for k, mass in enumerate(integers(self.p)):
            loss = (self.first + k) * self.width
            first, rest = divmod(loss, width)
            p = _AT.rational(gmpy2.mpq(mass, ONE))
            cells.append(Cell(p, _AT.mul(p, _exp(-loss)), int(first), int(first) + (rest != 0)))
        found = Above.of_cells(cells, width)
        return Above(width, found.first, found.p, self.infinite)

    @cached_property
    def _tails(self) -> tuple[list[Any], list[Any]]:
        """For each k two sums over the buckets from first + k on.

        Of p, exactly; and of p exp((first + k - 1) h - loss), rounded down.
        """
        ratio = rounded(_exp(-self.width).lower, up=False)
        p = integers(self.p)[::-1]
        plain = list(accumulate(p, initial=gmpy2.mpz(0)))
        fallen = list(
            accumulate(p, lambda t, mass: (t + mass) * ratio >> BITS, initial=gmpy2.mpz(0))
        )
        return plain[::-1], fallen[::-1]

    def delta(self, epsilon: Fraction) -> Any:
        """Return an upper bound on delta(epsilon), epsilon >= 0, as an mpfr."""
        plain, fallen = self._tails
        i = epsilon // self.width
        k = min(max(i - self.first + 1, 0), len(self.p))  # buckets above i
        # exp(epsilon - i h) p exp(-(loss - i h)), where i is the bucket below the first of them
        taken = gmpy2.mpfr(0)
        if fallen[k]:
            excess = _exp(epsilon - (self.first + k - 1) * self.width)
            taken = _AT.down.mul(excess.lower, fallen[k])
        sure = _AT.up.add(_AT.up.sub(plain[k], taken), self.infinite)
        return min(_AT.up.div(max(sure, gmpy2.mpfr(0)), ONE), gmpy2.mpfr(1))

    def epsilon(self, delta: Fraction) -> Any:
        """Return the least epsilon >= 0 whose upper bound is at most delta, rounded up; or None."""
        target = gmpy2.mpz(rounded(delta, up=False))
        if self.infinite > target:
            return None
        plain, fallen = self._tails
        # at epsilon = (first + k - 1) h the bound is m + plain[k] - fallen[k], and it falls with k
        k = bisect_left(
            range(len(self.p) + 1),
            True,
            key=lambda k: bool(self.infinite + plain[k] - fallen[k] <= target),
        )
        if k == 0:
            if self.first <= 1:
                return gmpy2.mpfr(0)
            k = 1
        k -= 1
        if not fallen[k]:
            return max(_AT.up.add(gmpy2.mpq((self.first + k) * self.width), gmpy2.mpfr(0)), 0)
        up = _AT.up
        quotient = up.div(gmpy2.mpz(self.infinite + plain[k] - target), fallen[k])
        at_k = gmpy2.mpq((self.first + k - 1) * self.width)
        return up.maxnum(up.add(up.log(quotient), at_k), gmpy2.mpfr(0))


@dataclass(frozen=True)
class Below:
    """A lower bound: the set with index i = first + k has the masses p[k], and r[k]/exp(i h)."""

    width: Fraction
    first: int
    p: Masses
    r: Masses
    infinite: int

    @classmethod
    def of_cells(cls, cells: list[Cell], width: Fraction) -> Below:
        """Return the bound of a pair, given as cells."""
        found: dict[int, tuple[int, int]] = {}
        infinite = 0
        for p, q, first, last in cells:
            low = rounded(p.lower, up=False)
            if not low:
                continue
            if q.upper <= 0:
                infinite += low
                continue
            i = _index_below(p, q, first, last, width)
            moved = _AT.mul(_exp(i * width), q).upper
            if first is not None and i <= first and not moved <= p.upper:
                moved = p.upper  # as no loss is below
            if not moved <= 2:
                continue
            high = rounded(moved, up=True)
            before = found.get(i, (0, 0))
            found[i] = before[0] + low, before[1] + high
        return cls._of_sets(found, width, infinite)

    @classmethod
    def _of_sets(cls, found: dict[int, tuple[int, int]], width: Fraction, infinite: int) -> Below:
        lowest = min(found, default=0)
        pairs = [(0, 0)] * (max(found, default=0) - lowest + 1)
        for i, pair in found.items():
            pairs[i - lowest] = pair
        p, r = ([int(pair[k]) for pair in pairs] for k in (0, 1))
        return cls(width, lowest, masses(p), masses(r), infinite)

    def cropped(self) -> Below:
        """Return the bound without its ends."""
        kept = _window(approximately(self.p))
        return Below(self.width, self.first + kept.start, self.p[kept], self.r[kept], self.infinite)

    def composed(self, other: Below) -> Below:
        """Return the bound of both releases; they have the same width."""
        return Below(
            self.width,
            self.first + other.first,
            convolved(self.p, other.p, up=False),
            convolved(self.r, other.r, up=True),
            _compose_infinite(self.infinite, other.infinite, up=False),
        ).cropped()

    def coarsened(self) -> Below:
        """Return the bound with twice the width: odd indices go down by one."""
        n = (self.first + len(self.p) - 1) // 2 - self.first // 2 + 1
        odd = self.first % 2
        fallen = rounded(_exp(-self.width).upper, up=True)

        def pairs(values: Masses, factor: int, *, up: bool) -> Masses:
            terms = [(values[odd::2], ONE, odd), (values[1 - odd :: 2], factor, 0)]
            return scaled_sum(terms, n, up=up)

        return Below(
            2 * self.width,
            self.first // 2,
            pairs(self.p, ONE, up=False),
            pairs(self.r, fallen, up=True),
            self.infinite,
        )

    def refined(self, parts: int) -> Below:
        """Return the bound with each width in so many parts."""
        p, r = _spread(self.p, parts), _spread(self.r, parts)
        return Below(self.width / parts, self.first * parts, p, r, self.infinite)

    def regridded(self, width: Fraction) -> Below:
        """Return the bound at any other width."""
        found: dict[int, tuple[int, int]] = {}
        for k, (p, r) in enumerate(zip(integers(self.p), integers(self.r), strict=True)):
            loss = (self.first + k) * self.width
            i = int(loss // width)
            moved = _AT.up.mul(_exp(i * width - loss).upper, r)
            before = found.get(i, (0, 0))
            found[i] = before[0] + p, before[1] + gmpy2.mpz(_AT.up.ceil(moved))
        return self._of_sets(found, width, self.infinite)

    @cached_property
    def _tails(self) -> tuple[list[Any], list[Any]]:
        """For each k two sums over the sets from first + k on.

        Of p, exactly; and of r exp((first + k) h - loss), rounded up.
        """
        fall = rounded(_exp(-self.width).upper, up=True)
        p, r = integers(self.p)[::-1], integers(self.r)[::-1]
        plain = list(accumulate(p, initial=gmpy2.mpz(0)))
        fallen = list(
            accumulate(r, lambda t, mass: -(-t * fall >> BITS) + mass, initial=gmpy2.mpz(0))
        )
        return plain[::-1], fallen[::-1]

    @cached_property
    def _tails_about(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same as floats over 1."""
        plain, fallen = (np.array([float(x) for x in tail]) / float(ONE) for tail in self._tails)
        return plain, fallen

    def delta(self, epsilon: Fraction) -> Any:
        """Return a lower bound on delta(epsilon), epsilon >= 0, as an mpfr."""
        plain, fallen = self._tails
        # the best half-line, about: any is a bound
        plain_about, fallen_about = self._tails_about
        steps = np.arange(len(plain_about)) * _float(self.width)
        grown = np.exp(np.minimum(_float(epsilon - self.first * self.width) - steps, 600))
        k = int(np.argmax(plain_about - grown * fallen_about))
        excess = _exp(epsilon - (self.first + k) * self.width).upper
        taken = _AT.up.mul(excess, fallen[k])
        sure = _AT.down.sub(_AT.down.add(plain[k], self.infinite), taken)
        sure = _AT.down.maxnum(sure, self.infinite)
        return min(_AT.down.div(sure, ONE), gmpy2.mpfr(1))

    def epsilon(self, delta: Fraction) -> Any:
        """Return an epsilon >= 0 below which delta is exceeded, rounded down; None: all are."""
        target = gmpy2.mpz(rounded(delta, up=True))
        if self.infinite > target:
            return None
        plain, fallen = self._tails
        plain_about, fallen_about = self._tails_about
        with np.errstate(divide="ignore", invalid="ignore"):
            gained = np.log((plain_about + float(self.infinite - target) / ONE) / fallen_about)
        gained += np.arange(len(gained)) * _float(self.width)
        gained[~np.isfinite(gained)] = -np.inf
        k = int(np.argmax(gained))
        excess = self.infinite + plain[k] - target
        if excess <= 0 or not fallen[k]:
            return gmpy2.mpfr(0)
        down = _AT.down
        at_k = gmpy2.mpq((self.first + k) * self.width)
        return down.maxnum(down.add(down.log(down.div(excess, fallen[k])), at_k), gmpy2.mpfr(0))
