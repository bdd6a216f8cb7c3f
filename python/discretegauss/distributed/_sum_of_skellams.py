"""What a sum of n clients' Skellam shares costs, and the shares for a budget.

n draws of variance v sum to one of variance m = n v, exactly. With D and L the Euclidean and the
sum norm of the integer vector by which one person changes the sum, and alpha > 1 an integer, the
Renyi divergence of order alpha of the sum from the shifted sum is at most (Agarwal, Kairouz, Liu,
arXiv 2110.04995, Theorem 3.5 and Corollary 3.6; the papers call m mu)

    alpha D**2/(2 m) + min( ((2 alpha - 1) D**2 + 6 L)/(4 m**2),  3 L/(2 m) ).

It falls as m grows. T sums cost T times as much, also if later ones depend on earlier ones; and a
divergence R of order alpha is (epsilon, delta)-differential privacy for (Canonne, Kamath, Steinke,
arXiv 2004.00010, Proposition 12)

    epsilon = R + log(1 - 1/alpha) - log(alpha delta)/(alpha - 1).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.floats import float_at_least
from .._certified.interval import Interval, Rational
from .._inputs.foreign_arrays import single
from .._inputs.messages import describe
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import checked_probability, positive_number
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy.losses import PrivacyLoss
from ..privacy.zcdp import zcdp_epsilon
from ._change import AT, Change, count, least_variance
from ._skellam import Skellam
from ._skellam_weights import weights
from ._sum_of_gaussians import rho

__all__ = ["calibrate_skellam", "epsilon", "privacy_loss", "renyi"]

_LARGEST_PAIR = 2**24
"""The variance of a sum whose outcomes are taken one by one."""

_PAIR_BITS = 256


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


def _renyi(change: Change, variance: Fraction, order: int) -> Any:
    """Return the bound of one sum, rounded up, variance being that of a share."""
    m = change.clients * variance
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


def _best_orders(change: Change, variance: Fraction, delta: Fraction, rounds: int) -> list[int]:
    """Return the order of the least epsilon, and those that floats do not tell from it."""
    m = change.clients * variance

    def about(value: Rational) -> np.float64:
        return np.float64(AT.rational(value).upper)

    sum_norm = gmpy2.mpq(change.sum_norm)
    half = about(change.squared / (2 * m))
    with np.errstate(over="ignore"):  # all orders alike, then
        first = (2 * _FLOAT_ORDERS - 1) * about(change.squared / (4 * m * m))
        first += about(3 * sum_norm / (2 * m * m))
        more = np.minimum(first, about(3 * sum_norm / (2 * m)))
        costs, added = rounds * (_FLOAT_ORDERS * half + more), _added_about(delta)
        epsilons, terms = costs + added, costs + np.abs(added)
        best = int(np.argmin(epsilons))
        near = epsilons <= epsilons[best] + _NEAR * np.minimum(terms, terms[best])
    return [_ORDERS[i] for i in np.flatnonzero(near)]


def _epsilon(change: Change, variance: Fraction, delta: Fraction, rounds: int) -> Any:
    """Return an upper bound on the least epsilon of all orders, at least 0.

    Floats choose the order, and its bound is proven: that of any order holds.
    """
    each = (
        AT.up.add(AT.up.mul(_renyi(change, variance, order), rounds), _added(delta, order))
        for order in _best_orders(change, variance, delta, rounds)
    )
    return max(min(each), AT.rational(0).lower)


def _checked(law: object) -> Skellam:
    if not isinstance(law, Skellam):
        raise ParameterTypeError(f"law must be a Skellam, got {describe(law)}")
    return law


def renyi(
    law: Skellam,
    order: int,
    *,
    fewest_clients: int,
    sensitivity: object,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return a bound on the Renyi divergence of a sum to which each client added Skellam noise.

    Parameters
    ----------
    law : Skellam
        The noise of each client in each place.
    order : int
        alpha, at least 2: the bound is proven for integers.
    fewest_clients, sensitivity, dimension, sum_norm
        As for `rho`.

    Returns
    -------
    float
        Rounded up; the divergence of neighbouring sums is at most this, in both directions.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    References
    ----------
    Agarwal, Kairouz, Liu, NeurIPS 2021, arXiv:2110.04995, Theorem 3.5 and Corollary 3.6.

    Examples
    --------
    >>> import discretegauss as dg
    >>> noise = dg.distributed.Skellam(4)
    >>> dg.distributed.renyi(noise, 8, fewest_clients=100, sensitivity=10)  # nearly 8 10**2/(2 400)
    1.0024375
    """
    alpha = count(order, "order")
    if alpha < 2:
        raise ParameterValueError(f"order must be at least 2, got {describe(order)}")
    change = Change(fewest_clients, sensitivity, dimension, sum_norm)
    return float_at_least(_renyi(change, _checked(law).variance, alpha))


def epsilon(
    law: Skellam | DiscreteGaussian,
    delta: object,
    *,
    fewest_clients: int,
    sensitivity: object,
    dimension: int = 1,
    sum_norm: object = None,
    rounds: int = 1,
) -> float:
    """Return the epsilon of sums to which each client has added its own noise.

    Parameters
    ----------
    law : Skellam or DiscreteGaussian
        The noise of each client in each place.
    delta : number
        Between 0 and 1, both excluded.
    fewest_clients, sensitivity, dimension, sum_norm
        As for `rho`.
    rounds : int, optional
        How many such sums are published; later ones may depend on earlier ones.

    Returns
    -------
    float
        Rounded up. Of Skellam noise by `renyi` and the best of some 500 integer orders; of
        discrete Gaussians by `rho` and `discretegauss.privacy.zcdp_epsilon`.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Examples
    --------
    >>> import discretegauss as dg
    >>> how = dict(fewest_clients=100, sensitivity=10, dimension=1000, rounds=20)
    >>> [
    ...     round(dg.distributed.epsilon(law, "1e-6", **how), 2)
    ...     for law in (dg.distributed.Skellam(40), dg.DiscreteGaussian(40))
    ... ]
    [3.54, 3.54]
    """
    probability = checked_probability(delta, "delta")
    times = count(rounds, "rounds")
    if isinstance(law, DiscreteGaussian):
        one = rho(
            law,
            fewest_clients=fewest_clients,
            sensitivity=sensitivity,
            dimension=dimension,
            sum_norm=sum_norm,
        )
        return zcdp_epsilon(times * Fraction(one), probability) if one < math.inf else one
    if not isinstance(law, Skellam):
        raise ParameterTypeError(f"law must be a Skellam or DiscreteGaussian, got {describe(law)}")
    change = Change(fewest_clients, sensitivity, dimension, sum_norm)
    return float_at_least(_epsilon(change, law.variance, probability, times))


def calibrate_skellam(
    *,
    epsilon: object,
    delta: object,
    fewest_clients: int,
    sensitivity: object,
    dimension: int = 1,
    sum_norm: object = None,
    rounds: int = 1,
) -> Skellam:
    """Return the Skellam noise that each client adds so that the sums keep to a budget.

    Parameters
    ----------
    epsilon : number
        Positive.
    delta, fewest_clients, sensitivity, dimension, sum_norm, rounds
        As for `epsilon`.

    Returns
    -------
    Skellam
        Of the least variance of 6 significant digits that is proven to keep to the budget.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Examples
    --------
    >>> import discretegauss as dg
    >>> how = dict(delta="1e-6", fewest_clients=100, sensitivity=10, dimension=1000, rounds=20)
    >>> law = dg.distributed.calibrate_skellam(epsilon=3, **how)
    >>> dg.distributed.epsilon(law, **how) <= 3
    True
    """
    budget = positive_number(epsilon, "epsilon")
    probability = checked_probability(delta, "delta")
    times = count(rounds, "rounds")
    change = Change(fewest_clients, sensitivity, dimension, sum_norm)
    least = _added(probability, _ORDERS[int(np.argmin(_added_about(probability)))])
    if least >= budget:
        raise ParameterValueError(
            f"epsilon must be above {float_at_least(least):.6g} for this delta, as orders up to "
            f"2**40 are tried, got {describe(single(epsilon))}"
        )
    guess = times * change.squared / (2 * change.clients * budget)
    return Skellam(
        least_variance(
            lambda variance: _epsilon(change, variance, probability, times),
            budget,
            guess,
            "epsilon",
        )
    )


def privacy_loss(law: Skellam, *, fewest_clients: int, sensitivity: int = 1) -> PrivacyLoss:
    """Return the privacy loss of one number: a sum with Skellam noise, nothing estimated.

    Parameters
    ----------
    law : Skellam
        The noise of each client.
    fewest_clients : int
        The fewest who add theirs; the variance of their sum is at most 2**24.
    sensitivity : int, optional
        The most that one person changes the sum.

    Returns
    -------
    PrivacyLoss
        Compose it by ``**``. Its upper bounds are proven. Its lower bounds are those of a pair of
        laws of exact rationals that differs from the noise by less than 2**-230.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    As the law is log-concave, the whole sensitivity is the worst change. Every probability is
    rounded down, and what is then missing from 1 becomes an outcome that betrays all: of any event
    P - exp(epsilon) Q only grows, so that pair dominates the true one.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.distributed.Skellam("1/4")
    >>> loss = dg.distributed.privacy_loss(law, fewest_clients=100)
    >>> bound = dg.distributed.epsilon(law, "1e-6", fewest_clients=100, sensitivity=1)
    >>> loss.epsilon("1e-6") < bound
    True
    """
    change = whole_number(sensitivity, "sensitivity", minimum=1)
    variance = _checked(law).variance * count(fewest_clients, "fewest_clients")
    if variance > _LARGEST_PAIR or change > _LARGEST_PAIR:
        raise ParameterOverflowError(
            "fewest_clients times the variance of law, and sensitivity, must be at most 2**24, got "
            f"{describe(variance)} and {describe(change)}"
        )
    found = weights(variance, _PAIR_BITS).at_lower
    one = 1 << _PAIR_BITS
    reach = len(found) - 1
    p = {k: found[abs(k)] for k in range(-reach, reach + 1)}
    q = {k + change: mass for k, mass in p.items()}
    missing = Fraction(one - sum(p.values()), one)
    with_person: dict[object, Fraction] = {k: Fraction(m, one) for k, m in p.items()}
    without: dict[object, Fraction] = {k: Fraction(m, one) for k, m in q.items()}
    with_person["lost with"], without["lost without"] = missing, missing
    return PrivacyLoss.of_pair(with_person, without)
