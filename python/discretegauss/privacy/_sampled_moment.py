"""The Renyi divergence of symmetric noise on a sample of the people: Theorem 1 of shares.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .._certified.interval import Interval, arithmetic

_AT = arithmetic(192)

#: Returns at least the divergence of an order without sampling: a Fraction, or an mpfr.
Cost = Callable[[Fraction], Any]


def sampled_moment(
    cost: Cost, order: Fraction, rate: Fraction, low: int | None = None, high: int | None = None
) -> Any:
    """Return an upper bound on (order - 1) times the divergence of one release on a sample.

    Parameters
    ----------
    cost : callable
        It is asked for whole orders alone.
    order, rate : Fraction
        Above 1; and in (0, 1].
    low, high : int, optional
        Orders around this one. The result lies on the line between their bounds, which is itself a
        bound, as the moment is convex in the order. By default they are the nearest.
    """
    below = math.floor(order) if low is None else low
    if order == below:
        return _of_whole_order(cost, below, rate).upper
    above = below + 1 if high is None else high
    share = (order - below) / (above - below)
    first = _AT.scale(_of_whole_order(cost, below, rate), 1 - share)
    return _AT.add(first, _AT.scale(_of_whole_order(cost, above, rate), share)).upper


def _of_whole_order(cost: Cost, order: int, rate: Fraction) -> Interval:
    """Return an interval whose upper end is at least the logarithm of (1) of shares.py."""
    if order == 1:
        return _AT.rational(0)
    odds = rate / (1 - rate)
    share = _AT.exp(_AT.scale(_AT.log1p(_AT.rational(-rate)), order))
    total = share
    for k in range(1, order + 1):
        share = _AT.scale(share, odds * Fraction(order - k + 1, k))
        total = _AT.add(total, share if k == 1 else _AT.mul(share, _grown(cost, k)))
    return _AT.log(total)


def _grown(cost: Cost, order: int) -> Interval:
    """Return E(L**order) of the ratio L of probabilities, without sampling."""
    divergence = cost(Fraction(order))
    if isinstance(divergence, Fraction):
        return _AT.exp(_AT.rational((order - 1) * divergence))
    return _AT.exp(_AT.scale(Interval(divergence, divergence), order - 1))
