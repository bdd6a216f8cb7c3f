"""The least (epsilon, delta) of integer noise: delta, its logarithm, and the way back to epsilon.

What is computed, and why it is right, is in _hockey_stick.py, of several queries _composition.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2

from .._certified.families import family_of
from .._certified.floats import float_at_least
from .._certified.interval import ONE, ZERO, arithmetic
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import at_least_zero, query_count, whole_sensitivity
from ..errors import ParameterValueError
from ..laws import DiscreteGaussian, Law, centred
from ._composition import OneQuery
from ._facts_by_law import facts_of
from ._hockey_stick import Enclosed, delta_enclosed, relative_bits
from ._least_epsilon import least_epsilon
from ._sum_law import delta_of_sum, epsilon_of_sum
from .losses import PrivacyLoss
from .zcdp import epsilon_upper, log_delta_upper

__all__ = ["delta", "epsilon", "log_delta", "loss_in_buckets"]

_UP: Any = arithmetic(80).up

#: A result known to fewer bits (of extreme parameters) may be above the bound by way of zCDP.
_LOOSE_BITS = 50

#: With so many queries, at most, and so much noise, buckets take less than a second.
_MOST_IN_BUCKETS = 2**20
_LEAST_IN_BUCKETS = Fraction(1, 2**10)


def delta(law: Law, epsilon: object, sensitivity: object = 1, *, queries: int = 1) -> float:
    """Return the least delta at which noise of this law is (epsilon, delta)-differentially private.

    Parameters
    ----------
    law : DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian
        The noise, added to an integer; its mu must be an integer.
    epsilon : number
        At least 0; any number type of this package, taken exactly.
    sensitivity : number
        The most that one person changes the answer; a whole number.
    queries : int, optional
        One person may change so many answers, each by at most ``sensitivity``, each with noise of
        its own (discrete Gaussian only).

    Returns
    -------
    float
        The smallest float that is at least that delta, or the next. At most 1. What lies below the
        smallest positive float, 5e-324, comes back as 5e-324 (see `log_delta`); 0 means 0: a
        discrete Laplace with epsilon >= sensitivity/scale.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong; or, of a generalised Gaussian with beta next to 1, if epsilon is
        lost only beyond 2**512 scales of the centre.

    Notes
    -----
    For the discrete Gaussian this is Theorem 7, in a time that does not depend on sigma2: the least
    delta there is, not a bound by way of zCDP. For up to 100 queries it is the least, too, while
    epsilon - log(delta) is below 350. For more it is an upper bound: within a factor of 1 + 1e-7 of
    the least from sigma2 = 2 on, 1 + 1e-15 from sigma2 = 4 on (up to 1000 queries), never above
    that by way of zCDP, and with less noise the better one of it and that of `PrivacyLoss`.

    References
    ----------
    C. L. Canonne, G. Kamath, T. Steinke: The Discrete Gaussian for Differential Privacy,
    NeurIPS 2020, arXiv 2004.00010, Theorem 7.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.DiscreteGaussian(5)
    >>> rho = dg.privacy.rho(law)
    >>> 0 < dg.privacy.delta(law, 2) < dg.privacy.zcdp_delta(rho, 2)
    True
    """
    query = _one_query(law, sensitivity, queries)
    epsilon_exact = at_least_zero(epsilon, "epsilon")
    enclosed, log_zcdp, of_sum = _bounds(query, epsilon_exact)
    candidates = [ONE]
    if enclosed is not None:
        candidates.append(_UP.mul(enclosed.upper(), query.factor))
    if log_zcdp is not None:
        candidates.append(_UP.exp(log_zcdp))
    if of_sum is not None:
        candidates.append(of_sum)
    return float_at_least(min(candidates)) if candidates[1:] else 0.0


def log_delta(law: Law, epsilon: object, sensitivity: object = 1, *, queries: int = 1) -> float:
    """Return the natural logarithm of `delta`, also where delta is below every float.

    Parameters
    ----------
    law, epsilon, sensitivity, queries
        As for `delta`.

    Returns
    -------
    float
        An upper bound on the logarithm, at most 0; -inf where delta is 0.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong; or, of a generalised Gaussian with beta next to 1, if epsilon is
        lost only beyond 2**512 scales of the centre.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.privacy.delta(dg.DiscreteGaussian(10**12), 1)
    5e-324
    >>> -5.01e11 < dg.privacy.log_delta(dg.DiscreteGaussian(10**12), 1) < -4.99e11
    True
    """
    query = _one_query(law, sensitivity, queries)
    epsilon_exact = at_least_zero(epsilon, "epsilon")
    enclosed, log_zcdp, of_sum = _bounds(query, epsilon_exact)
    candidates = [ZERO]
    if enclosed is not None:
        log_factor = _UP.log(_UP.add(query.factor, ZERO))
        candidates.append(_UP.add(enclosed.log_upper(), log_factor))
    if log_zcdp is not None:
        candidates.append(log_zcdp)
    if of_sum is not None:
        candidates.append(_UP.log(of_sum))
    return float_at_least(min(candidates)) if candidates[1:] else -math.inf


def epsilon(law: Law, delta: object, sensitivity: object = 1, *, queries: int = 1) -> float:
    """Return the least epsilon at which it is (epsilon, delta)-differentially private.

    Parameters
    ----------
    law, sensitivity, queries
        As for `delta`.
    delta : number
        Between 0 and 1, both excluded; for a discrete Laplace 0 is allowed and asks for its pure
        epsilon, sensitivity/scale.

    Returns
    -------
    float
        The smallest float that is at least that epsilon; inf if it exceeds every float.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.DiscreteGaussian(5)
    >>> found = dg.privacy.epsilon(law, "1e-6")
    >>> dg.privacy.delta(law, found) <= 1e-6
    True
    >>> dg.privacy.epsilon(dg.DiscreteLaplace(10), 0)
    0.1
    """
    query = _one_query(law, sensitivity, queries)
    delta_exact = exact_rational(delta, "delta")
    pure = family_of(query.spec).pure_epsilon(query.spec, query.change)
    if delta_exact == 0 and pure is not None:
        return float_at_least(_UP.add(pure, ZERO))
    if not 0 < delta_exact < 1:
        raise ParameterValueError(
            "delta must lie between 0 and 1, both excluded (0 only for a discrete Laplace), "
            f"got {describe(delta_exact)}"
        )
    found = math.inf
    if query.factor is not None:
        found = least_epsilon(query.spec, query.change, gmpy2.mpq(delta_exact) / query.factor)
    if query.is_loose:
        by_zcdp = epsilon_upper(query.rho, delta_exact)
        of_sum = epsilon_of_sum(query, delta_exact, by_zcdp)
        found = min(found, float_at_least(by_zcdp), of_sum)
        if of_sum == math.inf and (loss := loss_in_buckets(query)) is not None:
            # a little less, so that `delta` finds it met
            found = min(found, loss.epsilon(delta_exact * (1 - Fraction(1, 2**60))))
    return found


def _one_query(law: object, sensitivity: object, queries: object) -> OneQuery:
    spec = centred(law)
    change, count = whole_sensitivity(sensitivity), query_count(queries)
    return facts_of(spec).as_one_query(spec, change, count)


def _bounds(query: OneQuery, epsilon: Fraction) -> tuple[Enclosed | None, Any, Any]:
    """Return delta enclosed, without the factor; and what may be less where the factor is not 1.

    That is log(delta) by zCDP, and delta by the law of the sum, or in buckets. All are None where
    delta is 0.
    """
    enclosed, loose, log_zcdp, of_sum = None, query.is_loose, None, None
    if query.factor is not None:
        enclosed = delta_enclosed(query.spec, gmpy2.mpq(epsilon), query.change)
        if enclosed is None:
            return None, None, None
        loose |= relative_bits(enclosed.factor) < _LOOSE_BITS
    if loose and query.rho is not None:
        log_zcdp = log_delta_upper(query.rho, epsilon)
    if query.is_loose:
        found = delta_of_sum(query, epsilon, log_zcdp)
        if found is not None:
            of_sum = found.upper
        elif (loss := loss_in_buckets(query)) is not None:
            of_sum = gmpy2.mpfr(loss.delta(epsilon), 64)
    return enclosed, log_zcdp, of_sum


def loss_in_buckets(query: OneQuery) -> PrivacyLoss | None:
    """Return what the queries lose, in buckets; None where that would take too long."""
    if query.queries > _MOST_IN_BUCKETS or query.one.parameter < _LEAST_IN_BUCKETS:
        return None
    return _loss_of(query.one.parameter, query.change // query.queries, query.queries)


@lru_cache(maxsize=4)
def _loss_of(sigma2: Fraction, change: int, queries: int) -> PrivacyLoss:
    return PrivacyLoss.of_noise(DiscreteGaussian(sigma2), change) ** queries
