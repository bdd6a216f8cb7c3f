"""The Renyi divergence of symmetric noise on a sample of the people: Theorem 1 of shares.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .._certified.interval import Interval, arithmetic

_AT192 = arithmetic(192)

#: Returns an upper bound on the divergence of an order without sampling: a Fraction, or an mpfr.
Cost = Callable[[Fraction], Any]


def sampled_moment(
    cost: Cost,
    order: Fraction,
    rate: Fraction,
    low: int | None = None,
    high: int | None = None,
    *,
    secret: bool = True,
) -> Any:
    """Return an upper bound on (order - 1) times the divergence of one release on a sample.

    `order` is above 1, and `cost` is called with whole orders only. `rate` is in (0, 1], below 1 if
    the sample is secret. If it is not, the observer knows who is in the sample (Theorem 3).

    `low` and `high` are orders around this one, by default the nearest. The result lies on the line
    between their bounds. That line is itself a bound, because the moment is convex in the order.
    """
    of_whole_order = _of_secret_sample if secret else _of_known_sample
    below = math.floor(order) if low is None else low
    if order == below:
        return of_whole_order(cost, below, rate).upper
    above = below + 1 if high is None else high
    share = (order - below) / (above - below)
    first = _AT192.scale(of_whole_order(cost, below, rate), 1 - share)
    return _AT192.add(first, _AT192.scale(of_whole_order(cost, above, rate), share)).upper


def _of_secret_sample(cost: Cost, order: int, rate: Fraction) -> Interval:
    """Return an interval whose upper end is at least the logarithm of (1) of shares.py."""
    if order == 1:
        return _AT192.rational(0)
    odds = rate / (1 - rate)
    weight = _AT192.exp(_AT192.scale(_AT192.log1p(_AT192.rational(-rate)), order))
    total = weight
    for k in range(1, order + 1):
        weight = _AT192.scale(weight, odds * Fraction(order - k + 1, k))
        total = _AT192.add(total, weight if k == 1 else _AT192.mul(weight, _grown(cost, k)))
    return _AT192.log(total)


def _of_known_sample(cost: Cost, order: int, rate: Fraction) -> Interval:
    """Return an interval whose upper end is at least log(1 - q + q E(L**order))."""
    if order == 1:
        return _AT192.rational(0)
    return _AT192.log(_AT192.shift(_AT192.scale(_grown(cost, order), rate), 1 - rate))


def _grown(cost: Cost, order: int) -> Interval:
    """Return E(L**order) of the ratio L of probabilities, without sampling."""
    divergence = cost(Fraction(order))
    if isinstance(divergence, Fraction):
        return _AT192.exp(_AT192.rational((order - 1) * divergence))
    return _AT192.exp(_AT192.scale(Interval(divergence, divergence), order - 1))
