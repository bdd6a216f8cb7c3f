"""What Skellam noise of variance m costs where one person changes a vector of integers.

With D and L the Euclidean and the sum norm of that change, and alpha > 1 an integer, the Renyi
divergence of order alpha is at most (Agarwal, Kairouz, Liu, NeurIPS 2021, arXiv 2110.04995, Theorem
3.5 and Corollary 3.6; the papers call m mu)

    alpha D**2/(2 m) + min( ((2 alpha - 1) D**2 + 6 L)/(4 m**2),  3 L/(2 m) ).

It falls as m grows. T releases cost T times as much, also if later ones depend on earlier ones; and
a divergence R of order alpha is (epsilon, delta)-differential privacy for (Canonne, Kamath,
Steinke, arXiv 2004.00010, Proposition 12)

    epsilon = R + log(1 - 1/alpha) - log(alpha delta)/(alpha - 1),

and the other way round log(delta) = (alpha - 1) (R + log(1 - 1/alpha) - epsilon) - log(alpha).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.interval import Interval, Rational
from ._change import AT, Change


def _orders() -> tuple[int, ...]:
    """Return 2 to 64, and then up to 2**40 in steps of 1/20: epsilon is flat about its least."""
    found = list(range(2, 65))
    while found[-1] < 2**40:
        found.append(found[-1] * 21 // 20)
    return tuple(found)


_ORDERS = _orders()
_FLOAT_ORDERS = np.array(_ORDERS, float)

_NEAR = 1e-9
"""Floats tell epsilons apart that differ by so much, relative to their terms."""


def renyi_of_skellam(change: Change, variance: Fraction, order: int) -> Any:
    """Return the bound of one release, rounded up."""
    m = variance
    sum_norm = Interval(change.sum_norm, change.sum_norm)
    gaussian = Fraction(order) * change.squared / (2 * m)
    first = AT.shift(AT.scale(sum_norm, 6), (2 * order - 1) * change.squared)
    first = AT.scale(first, 1 / (4 * m * m))
    second = AT.scale(sum_norm, 3 / (2 * m))
    return AT.up.add(AT.rational(gaussian).upper, min(first.upper, second.upper))


def _added(delta: Fraction, order: int) -> Any:
    """Return log(1 - 1/alpha) - log(alpha delta)/(alpha - 1), rounded up."""
    shrinks = AT.log1p(AT.rational(Fraction(-1, order)))
    logs = AT.log(AT.rational(order * delta))
    return AT.sub(shrinks, AT.scale(logs, Fraction(1, order - 1))).upper


@lru_cache(maxsize=64)
def _added_about(delta: Fraction) -> NDArray[np.float64]:
    """Return the same of all orders, in floats."""
    log_delta = float(AT.log(AT.rational(delta)).upper)
    logs = np.log(_FLOAT_ORDERS) + log_delta
    return np.asarray(np.log1p(-1 / _FLOAT_ORDERS) - logs / (_FLOAT_ORDERS - 1))


def _costs_about(change: Change, variance: Fraction, rounds: int) -> NDArray[np.float64]:
    """Return `renyi_of_skellam` of all releases, of all orders, in floats."""

    def about(value: Rational) -> np.float64:
        return np.float64(AT.rational(value).upper)

    m, sum_norm = variance, gmpy2.mpq(change.sum_norm)
    first = (2 * _FLOAT_ORDERS - 1) * about(change.squared / (4 * m * m))
    first += about(3 * sum_norm / (2 * m * m))
    more = np.minimum(first, about(3 * sum_norm / (2 * m)))
    return np.asarray(
        about(gmpy2.mpq(rounds)) * (_FLOAT_ORDERS * about(change.squared / (2 * m)) + more)
    )


def _best_orders(change: Change, variance: Fraction, delta: Fraction, rounds: int) -> list[int]:
    """Return the order of the least epsilon, and those that floats do not tell from it."""
    with np.errstate(over="ignore"):  # all orders alike, then
        costs, added = _costs_about(change, variance, rounds), _added_about(delta)
        epsilons, terms = costs + added, costs + np.abs(added)
        best = int(np.argmin(epsilons))
        near = epsilons <= epsilons[best] + _NEAR * np.minimum(terms, terms[best])
    return [_ORDERS[i] for i in np.flatnonzero(near)]


def epsilon_of_skellams(change: Change, variance: Fraction, delta: Fraction, rounds: int) -> Any:
    """Return an upper bound on the least epsilon of all orders, at least 0.

    Floats choose the order, and its bound is proven: that of any order holds.
    """
    each = (
        AT.up.add(
            AT.up.mul(renyi_of_skellam(change, variance, order), rounds), _added(delta, order)
        )
        for order in _best_orders(change, variance, delta, rounds)
    )
    return max(min(each), AT.rational(0).lower)


def log_delta_of_skellams(
    change: Change, variance: Fraction, epsilon: Fraction, rounds: int
) -> Any:
    """Return an upper bound on log(delta) by the best of all orders, at most 0."""
    shift = float(AT.rational(epsilon).upper)
    with np.errstate(over="ignore", invalid="ignore"):
        costs = _costs_about(change, variance, rounds)
        logs = (_FLOAT_ORDERS - 1) * (costs + np.log1p(-1 / _FLOAT_ORDERS) - shift)
        order = _ORDERS[int(np.nanargmin(logs - np.log(_FLOAT_ORDERS)))]
    found = AT.up.mul(renyi_of_skellam(change, variance, order), rounds)
    shrinks = AT.log1p(AT.rational(Fraction(-1, order)))
    gained = AT.shift(AT.add(shrinks, Interval(found, found)), -epsilon)
    log = AT.sub(AT.scale(gained, order - 1), AT.log(AT.rational(order))).upper
    return min(log, AT.rational(0).upper)


def least_epsilon_of_skellams(delta: Fraction) -> Any:
    """Return what no variance gets below at this delta, as orders up to 2**40 are tried."""
    return _added(delta, _ORDERS[int(np.argmin(_added_about(delta)))])
