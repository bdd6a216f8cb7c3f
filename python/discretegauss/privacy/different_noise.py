"""What tables with different discrete Gaussian noise give away together: (epsilon, delta), tight.

Each table is one query, about whose privacy loss all is known, and the losses of the tables add up
(`PrivacyLoss`). Three steps, each on the safe side:

*k counts are one.* If one person changes k counts of a table, each by at most D, their sum is all
that matters, and its law is N_Z(0, k sigma2), moved by k D, up to a factor that the loss does not
depend on (hockey_stick.py). So delta of the whole grows by that factor at most.

*Wide noise is nearly continuous.* Let X be normal with the variance sigma2 - r**2 around an integer
m, and let Y, given X, have the weights exp(-(y - X)**2/(2 r**2)) over the integers. These sum to
r sqrt(2 pi) times a factor within 1 - eta and 1 + eta, by Poisson's formula, with

    eta = 2 sum over n >= 1 of q**(n**2) <= 2 q/(1 - q**3),    q = exp(-2 pi**2 r**2).

Integrated over X the numerators are the normal density of variance sigma2 at y - m. That of N_Z(m,
sigma2) is the same, divided by a number within 1 and 1 + eta, the same for all integers m. So
P(N_Z = y) is P(Y = y) times a factor within (1 - eta)/(1 + eta) and 1 + eta. Y is made from X, so
it tells no more than X does. Of K counts, with t = K log((1 + eta)**2/(1 - eta)),

    delta(epsilon) of the integer noise <= exp(t) delta(epsilon - t) of the normal.

Here q <= 2**-42/K, so t <= 4 K eta < 2**-38. Of the normal noise nothing matters but the norm of
what one person changes, also over several tables. If that norm is no whole number, S, at most S**2
counts of a vector change, as they are integers.

*Narrow noise is composed as it is.*

References
----------
C. Peikert, An Efficient and Parallel Gaussian Sampler for Lattices (CRYPTO 2010), Theorem 3.1: a
discrete Gaussian from a continuous one and another discrete one.
B. Balle, Y.-X. Wang, Improving the Gaussian Mechanism for Differential Privacy, ICML 2018, arXiv
1805.06530, Theorem 8: delta of the normal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from .._certified.floats import float_at_least
from .._certified.interval import ZERO, Interval, arithmetic
from .._law import Kind, LawSpec
from ..laws import DiscreteGaussian
from .hockey_stick import as_one_query
from .losses import PrivacyLoss
from .losses import loss as loss_of
from .zcdp import zcdp_rho

_WIDE_FROM = 2**15
"""From this variance of the sum on noise is taken for nearly continuous: its rho seems larger by
less than 1 in 10**4."""

_MOST_POWERS = 2**10
"""So many counts with narrow noise (sigma2 below some 3) are composed one by one."""

_LEAST_STEPS = 42
_R2_STEP = Fraction(22, 625)
"""At least log(2)/(2 pi**2) = 0.03511...: r**2 of n steps has q <= 2**-n."""

_T = Fraction(1, 2**38)
_FACTOR = Fraction(1, 2**50)
"""How much of delta hockey_stick.py may add, relatively, where it is not loose."""

_BUCKETS_OF_NARROW, _BUCKETS_OF_BOTH = 1024, 128
"""In a standard deviation of the loss: a bucket of normal noise takes 0.1 ms."""

_LEAST_RHO, _LARGEST_RHO = Fraction(1, 10**9), Fraction(200)
"""Else nothing is known but rho."""

_AT = arithmetic(256)
_SEARCH_STEPS = 60
_MOST_TRIES = 6
_CLOSE = Fraction(1, 10**6)
_DIGITS = 9


class Part(NamedTuple):
    """The noise of one table, and how much of the table one person changes."""

    sigma2: Fraction
    sensitivity: Fraction
    """Of each count; if it is no whole number, the norm of all that one person changes in one
    column, or once."""
    queries: int
    """How many counts one person changes; or how many vectors of that norm."""

    @property
    def rho(self) -> Fraction:
        """What it costs."""
        return self.queries * self.sensitivity**2 / (2 * self.sigma2)


class _Normal:
    """The loss of normal noise, by (norm of the change / deviation)**2."""

    def __init__(self, mu2: Fraction) -> None:
        self._mu = _AT.sqrt(_AT.rational(mu2))

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound on delta."""
        at, half = _AT, Fraction(1, 2)
        middle = at.div(at.rational(epsilon), self._mu)
        first = self._tail(at.sub(middle, at.scale(self._mu, half)))
        second = self._tail(at.add(middle, at.scale(self._mu, half)))
        found = at.sub(first, at.mul(at.exp(at.rational(epsilon)), second))
        return Fraction(*max(found.upper, ZERO).as_integer_ratio())

    @staticmethod
    def _tail(x: Interval) -> Interval:
        """Return P(N > x) of the standard normal law."""
        return _AT.scale(_AT.erfc(_AT.div(x, _AT.sqrt(_AT.rational(2)))), Fraction(1, 2))

    def epsilon(self, delta: Fraction) -> Fraction:
        """Return an upper bound on the least epsilon, close to it."""
        if self.delta(Fraction(0)) <= delta:
            return Fraction(0)
        low, high = Fraction(0), Fraction(1)
        while self.delta(high) > delta:
            low, high = high, 2 * high
        for _ in range(_SEARCH_STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high


class TogetherLoss(NamedTuple):
    """delta of the tables at epsilon is at most exp(t) times that of ``loss`` at epsilon - t."""

    loss: PrivacyLoss | _Normal
    t: Fraction

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound on delta."""
        inner = Fraction(self.loss.delta(max(epsilon - self.t, Fraction(0))))
        inner += max(self.t - epsilon, Fraction(0))  # below 0 delta has a slope of at most 1
        return inner * (1 + 2 * self.t)  # at least exp(t), for t <= 1

    def epsilon(self, delta: Fraction) -> float:
        """Return an upper bound on the least epsilon."""
        inner = self.loss.epsilon(delta / (1 + 2 * self.t))
        if inner == math.inf:
            return math.inf
        return float_at_least(_AT.rational(Fraction(inner) + self.t).upper)


def loss_of_parts(parts: Sequence[Part]) -> TogetherLoss | None:
    """Return what these tables give away together; None: nothing is known but rho.

    Parameters
    ----------
    parts : sequence of Part
        Of each table its independent noise; what one person changes in all of them is private.

    Notes
    -----
    Time: of narrow noise as `PrivacyLoss`; of wide noise (from 2**15 on) none, unless there is
    both: then some seconds.
    """
    rho = sum((part.rho for part in parts), Fraction(0))
    if not _LEAST_RHO <= rho <= _LARGEST_RHO:
        return None
    narrow: Counter[Part] = Counter()
    t, mu2 = Fraction(0), Fraction(0)
    for part in parts:
        one = _one_query(part)
        t += _FACTOR
        if one is not None and one.sigma2 < _WIDE_FROM:
            narrow[one] += 1
        elif one is None and part.sensitivity.denominator == 1 and part.queries <= _MOST_POWERS:
            narrow[part._replace(queries=1)] += part.queries
        elif (smoothed := _smoothed(one or part)) is not None:
            mu2 += smoothed
            t += _T
        else:
            return None
    if not narrow:
        return TogetherLoss(_Normal(mu2), t)
    buckets = _BUCKETS_OF_BOTH if mu2 else _BUCKETS_OF_NARROW
    width = Fraction(2) ** math.floor(math.log2(math.sqrt(2 * rho) / buckets))
    losses = [
        loss_of(DiscreteGaussian(part.sigma2), part.sensitivity, width=width) ** power
        for part, power in narrow.items()
    ]
    if mu2:
        losses.append(PrivacyLoss.of_gaussian(1 / mu2, width=width))
    return TogetherLoss(reduce(PrivacyLoss.compose, losses), t)


def _one_query(part: Part) -> Part | None:
    """Return the query that stands for all of the counts; None if there is none as good."""
    if part.sensitivity.denominator != 1:
        return None
    law = LawSpec(Kind.DISCRETE_GAUSSIAN, part.sigma2)
    one = as_one_query(law, int(part.sensitivity), part.queries)
    return None if one is None else Part(one[0].parameter, Fraction(one[1]), 1)


def _smoothed(part: Part) -> Fraction | None:
    """Return (change/deviation)**2 of normal noise that gives away no less; None: of none."""
    counts = part.queries
    if part.sensitivity.denominator != 1:
        counts *= math.floor(part.sensitivity**2)
    r2 = _R2_STEP * (_LEAST_STEPS + counts.bit_length())
    if part.sigma2 <= 2 * r2:
        return None
    return part.queries * part.sensitivity**2 / (part.sigma2 - r2)


def largest_rho(
    parts_of: Callable[[Fraction], Sequence[Part]], epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return a rho whose tables are proven to have (epsilon, delta): about the largest.

    Parameters
    ----------
    parts_of : callable
        The tables, given the rho of all of them together.
    epsilon, delta : Fraction
        The budget.

    Returns
    -------
    Fraction
        A decimal of 9 digits, or if nothing else is proven `zcdp_rho`, which may be 0. Of rho
        larger by 1 in 10**6 this is not proven, as a rule: at most 6 are tried.
    """
    good = Fraction(zcdp_rho(epsilon, delta))
    bad: Fraction | None = None
    guess = _normal_rho(epsilon, delta)
    for _ in range(_MOST_TRIES):
        tried = _decimal_below(guess)
        if tried <= good or (bad is not None and tried >= bad):
            break
        loss = loss_of_parts(parts_of(tried))
        if loss is None:
            break
        found = loss.delta(epsilon)
        if found <= delta:
            good = tried
        else:
            bad = tried
        if bad is not None and bad <= good * (1 + 2 * _CLOSE):
            break
        # the rho of normal noise moves by what it would have to, to go from one delta to the other
        moved = tried * _normal_rho(epsilon, delta) / _normal_rho(epsilon, found)
        guess = moved * (1 - _CLOSE if found > delta else 1 + _CLOSE)
        if bad is not None and not good < guess < bad:
            guess = (good + bad) / 2
    return good


def _normal_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return about the rho, half of (change/deviation)**2, at which normal noise has this delta."""
    low, high = _LEAST_RHO / 2, 2 * _LARGEST_RHO
    for _ in range(_SEARCH_STEPS):
        middle = Fraction(math.sqrt(low * high))
        low, high = (middle, high) if _Normal(2 * middle).delta(epsilon) <= delta else (low, middle)
    return low


def _decimal_below(value: Fraction) -> Fraction:
    """Return the value rounded down to a decimal of nine digits."""
    exponent = math.floor(math.log10(value)) - _DIGITS + 1
    unit = Fraction(10) ** exponent
    return math.floor(value / unit) * unit
