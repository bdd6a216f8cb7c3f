"""What noise costs as (epsilon, delta): one door for laws, sums of shares, and losses.

Which bound answers:

- one query, or several with the discrete Gaussian: the least delta there is (_hockey_stick.py,
  _composition.py, _sum_law.py);
- several queries with the discrete Laplace, changed by 1 each: the least, too
  (_optimal_composition.py);
- everything else where one person changes integers by whole numbers, also on a sample of the
  people: the privacy loss in buckets (losses.py);
- a Skellam law whose answer is a vector, or whose variance is above 2**28: Renyi divergences
  (renyi.py);
- sums of discrete Gaussian shares: by way of rho (zcdp.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.floats import float_at_least
from .._certified.interval import ONE, ZERO, arithmetic
from .._certified.laws_of_integers import formulas_of
from .._certified.skellam import LARGEST_TABLE
from .._inputs.messages import refused
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import (
    at_least_zero,
    positive_number,
    query_count,
    sampling_rate,
    whole_sensitivity,
)
from .._law import Kind, LawSpec
from ..errors import ParameterTypeError
from ..laws import Law, centred
from ._asked import Noise, clients_of, is_vector, refuse_sampling, refuse_vector
from ._change import Change
from .hockey_stick import Enclosed, as_one_query, delta_enclosed, least_epsilon, relative_bits
from .losses import PrivacyLoss, loss_of_queries
from .renyi import RenyiCurve
from .zcdp import epsilon_upper, log_delta_upper, rho_of_one

_UP: Any = arithmetic(80).up
_INFINITY: Any = gmpy2.inf()

#: A result known to fewer bits (of extreme parameters) may be above the bound by way of zCDP.
_LOOSE_BITS = 50

#: Of more queries buckets tell no more than rho does.
_MOST_COMPOSED = 10**9


def delta(
    law: Noise,
    epsilon: object,
    sensitivity: object = 1,
    *,
    queries: int = 1,
    sampling: object = 1,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return the least delta at which noise of this law is (epsilon, delta)-differentially private.

    Parameters
    ----------
    law : law, sum of shares, or PrivacyLoss
        The noise, added to an integer; its mu must be an integer. ``law.sum(n)`` is noise in shares
        of n clients, the fewest who keep theirs to themselves. A PrivacyLoss has all but epsilon,
        and the queries, in it already.
    epsilon : number
        At least 0; any number type of this package, taken exactly.
    sensitivity : number
        The most that one person changes the answer; a whole number. Of a Skellam law and of sums
        of shares, the Euclidean norm of the change of a vector of integers.
    queries : int, optional
        One person may change so many answers, each by at most ``sensitivity``, each with noise of
        its own; later ones may depend on earlier answers.
    sampling : number, optional
        The probability with which each person takes part in each query, independently.
    dimension : int, optional
        How many integers such a vector has.
    sum_norm : number, optional
        The most that one person changes such a vector in the sum of absolute values, if a bound is
        known that is better than min(sqrt(dimension) sensitivity, sensitivity**2).

    Returns
    -------
    float
        Never below that delta; the smallest such float, or the next, for one query, for Gaussians
        and for Laplaces of sensitivity 1. At most 1. What lies below the smallest positive float,
        5e-324, comes back as 5e-324 (see `log_delta`); 0 means 0: a discrete Laplace with epsilon
        >= sensitivity/scale.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong; or, of a generalised Gaussian with beta next to 1, if epsilon is
        lost only beyond 2**512 scales of the centre.

    Notes
    -----
    For one query this is Theorem 7 and what is like it, the least delta there is, not a bound by
    way of zCDP. For up to 100 queries with the discrete Gaussian it is the least, too, while
    epsilon - log(delta) is below 350. For more it is an upper bound: within a factor of 1 + 1e-7 of
    the least from sigma2 = 2 on, 1 + 1e-15 from sigma2 = 4 on (up to 1000 queries), never above
    that by way of zCDP, and with less noise the better one of it and that of `PrivacyLoss`. For up
    to 100 000 queries with the discrete Laplace, each changed by 1, it is the optimal composition.
    Other queries, and those on a sample, are composed by `PrivacyLoss`.

    Sums of discrete Gaussian shares cost what their `rho` implies; a Skellam law with a dimension
    above 1, a sensitivity that is not whole, or a variance above 2**28, what its `renyi`
    divergences of all whole orders do.

    References
    ----------
    C. L. Canonne, G. Kamath, T. Steinke: The Discrete Gaussian for Differential Privacy,
    NeurIPS 2020, arXiv 2004.00010, Theorem 7.
    P. Kairouz, S. Oh, P. Viswanath: The Composition Theorem for Differential Privacy, ICML 2015,
    arXiv 1311.0776, Theorem 3.3.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.DiscreteGaussian(5)
    >>> rho = dg.privacy.rho(law)
    >>> 0 < dg.privacy.delta(law, 2) < dg.privacy.zcdp_delta(rho, 2)
    True
    >>> dg.privacy.delta(dg.DiscreteLaplace(42), 1, queries=100) < 1e-6
    True
    """
    cost = _cost(law, sensitivity, queries, sampling, dimension, sum_norm)
    return cost.delta(at_least_zero(epsilon, "epsilon"))


def log_delta(
    law: Noise,
    epsilon: object,
    sensitivity: object = 1,
    *,
    queries: int = 1,
    sampling: object = 1,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return the natural logarithm of `delta`, also where delta is below every float.

    Parameters
    ----------
    law, epsilon, sensitivity, queries, sampling, dimension, sum_norm
        As for `delta`.

    Returns
    -------
    float
        An upper bound on the logarithm, at most 0; -inf where delta is 0.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As for `delta`.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.privacy.delta(dg.DiscreteGaussian(10**12), 1)
    5e-324
    >>> -5.01e11 < dg.privacy.log_delta(dg.DiscreteGaussian(10**12), 1) < -4.99e11
    True
    """
    cost = _cost(law, sensitivity, queries, sampling, dimension, sum_norm)
    return cost.log_delta(at_least_zero(epsilon, "epsilon"))


def epsilon(
    law: Noise,
    delta: object,
    sensitivity: object = 1,
    *,
    queries: int = 1,
    sampling: object = 1,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return the least epsilon at which it is (epsilon, delta)-differentially private.

    Parameters
    ----------
    law, sensitivity, queries, sampling, dimension, sum_norm
        As for `delta`.
    delta : number
        Between 0 and 1, both excluded; for a discrete Laplace and a PrivacyLoss 0 is allowed: of
        the first it asks for its pure epsilon, queries sensitivity/scale.

    Returns
    -------
    float
        Never below that epsilon; the smallest such float where `delta` is; inf if it exceeds every
        float.

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
    >>> how = dict(sensitivity=10, dimension=1000, queries=20)
    >>> [
    ...     round(dg.privacy.epsilon(law.sum(100), "1e-6", **how), 2)
    ...     for law in (dg.Skellam(40), dg.DiscreteGaussian(40))
    ... ]
    [3.54, 3.54]
    """
    cost = _cost(law, sensitivity, queries, sampling, dimension, sum_norm)
    exact = exact_rational(delta, "delta")
    if exact == 0 and (pure := cost.pure()) is not None:
        return pure
    if not 0 < exact < 1:
        rule = "lie between 0 and 1, both excluded (0 only for a discrete Laplace)"
        raise refused("delta", rule, delta)
    return cost.epsilon(exact)


class _Cost(ABC):
    """What all queries together give away: a bound on delta, or on its logarithm, and epsilon."""

    def _delta(self, epsilon: Fraction) -> Any:
        return _UP.exp(self._log_delta(epsilon))

    def _log_delta(self, epsilon: Fraction) -> Any:
        found = self._delta(epsilon)
        return _UP.log(found) if found else -_INFINITY

    def delta(self, epsilon: Fraction) -> float:
        return float_at_least(min(self._delta(epsilon), ONE))

    def log_delta(self, epsilon: Fraction) -> float:
        return float_at_least(min(self._log_delta(epsilon), ZERO))

    @abstractmethod
    def epsilon(self, delta: Fraction) -> float: ...

    def pure(self) -> float | None:
        """Return the epsilon of delta = 0; None if that is not asked for."""
        return None


def _cost(
    law: object,
    sensitivity: object,
    queries: object,
    sampling: object,
    dimension: object,
    sum_norm: object,
) -> _Cost | RenyiCurve:
    count, rate = query_count(queries), sampling_rate(sampling)
    if isinstance(law, PrivacyLoss):
        refuse_vector(dimension, sum_norm, "a PrivacyLoss")
        if rate != 1 or positive_number(sensitivity, "sensitivity") != 1:
            raise ParameterTypeError(
                "sensitivity and sampling are in a PrivacyLoss already: give them to what makes it"
            )
        return _Composed(law**count)
    one, clients = clients_of(law)
    if clients > 1 or _is_vector(one, sensitivity, dimension, sum_norm):
        refuse_sampling(rate)
        if one._spec.kind is Kind.SKELLAM:
            change_of_one = Change(1, sensitivity, dimension, sum_norm)
            return RenyiCurve.of_skellam(change_of_one, one._spec.parameter, count)
        return RenyiCurve.of_rho(count * rho_of_one(law, sensitivity, dimension, sum_norm))
    refuse_vector(dimension, sum_norm, "this law")
    return cost_of(centred(one), whole_sensitivity(sensitivity), count, rate)


def cost_of(spec: LawSpec, change: int, count: int, rate: Fraction) -> _Cost | RenyiCurve:
    """Return what so many queries give away, with the noise of a law that is centred."""
    if rate == 1 and spec.kind is Kind.SKELLAM and spec.parameter > LARGEST_TABLE:
        return RenyiCurve.of_skellam(Change(1, change, 1, None), spec.parameter, count)
    rho = None
    if rate == 1 and spec.kind is Kind.DISCRETE_GAUSSIAN:
        rho = count * change**2 / (2 * spec.parameter)
        if (query := as_one_query(spec, change, count)) is not None:
            return _OneQuery(*query, rho)
        if count > _MOST_COMPOSED:
            return RenyiCurve.of_rho(rho)
    if rate == 1 and count == 1:
        return _OneQuery(spec, change, gmpy2.mpq(1), None)
    pure = formulas_of(spec).pure_epsilon(spec, change) if rate == 1 else None
    return _Composed(loss_of_queries(spec, change, count, rate), pure and pure * count, rho)


def _is_vector(law: Law, sensitivity: object, dimension: object, sum_norm: object) -> bool:
    kind = law._spec.kind
    if kind not in (Kind.SKELLAM, Kind.DISCRETE_GAUSSIAN):
        return False
    if is_vector(dimension, sum_norm):
        return True
    return kind is Kind.SKELLAM and positive_number(sensitivity, "sensitivity").denominator > 1


@dataclass(frozen=True)
class _Composed(_Cost):
    """By the privacy loss in buckets; a pure epsilon, or a rho, if one is known, may be less."""

    loss: PrivacyLoss
    least: Any = None
    rho: Fraction | None = None

    def _delta(self, epsilon: Fraction) -> Any:
        if self.least is not None and epsilon >= self.least:
            return ZERO
        found = _UP.add(ZERO, self.loss.delta(epsilon))
        if self.rho is None:
            return found
        return min(found, _UP.exp(log_delta_upper(self.rho, epsilon)))

    def _log_delta(self, epsilon: Fraction) -> Any:
        found = super()._log_delta(epsilon)
        return found if self.rho is None else min(found, log_delta_upper(self.rho, epsilon))

    def epsilon(self, delta: Fraction) -> float:
        found: float = self.loss.epsilon(delta)
        if self.rho is not None:
            found = min(found, float_at_least(epsilon_upper(self.rho, delta)))
        return found if self.least is None else min(found, self.pure())

    def pure(self) -> float:
        found: float = self.loss.epsilon(0) if self.least is None else _rounded_up(self.least)
        return found


@dataclass(frozen=True)
class _OneQuery(_Cost):
    """One query, or the one that stands for several with the discrete Gaussian: Theorem 7."""

    spec: LawSpec
    change: int
    factor: Any
    rho: Fraction | None
    """Of a discrete Gaussian: of all queries."""

    def _log_delta(self, epsilon: Fraction) -> Any:
        found = delta_enclosed(self.spec, gmpy2.mpq(epsilon), self.change)
        if found is None:
            return -_INFINITY
        log = _UP.add(found.log_upper(), _UP.log(_UP.add(self.factor, ZERO)))
        return min(log, self._by_rho(found, epsilon))

    def _delta(self, epsilon: Fraction) -> Any:
        found = delta_enclosed(self.spec, gmpy2.mpq(epsilon), self.change)
        if found is None:
            return ZERO
        delta = _UP.mul(found.upper(), self.factor)
        return min(delta, _UP.exp(self._by_rho(found, epsilon)))

    def _by_rho(self, found: Enclosed, epsilon: Fraction) -> Any:
        """Return a bound on log(delta) by way of zCDP where it may be less: of extreme parameters.

        Else 0.
        """
        if self.rho is None or relative_bits(found.factor) >= _LOOSE_BITS:
            return ZERO
        return log_delta_upper(self.rho, epsilon)

    def epsilon(self, delta: Fraction) -> float:
        return least_epsilon(self.spec, self.change, gmpy2.mpq(delta) / self.factor)

    def pure(self) -> float | None:
        """Return the epsilon of delta = 0, of a discrete Laplace."""
        pure = formulas_of(self.spec).pure_epsilon(self.spec, self.change)
        return None if pure is None else _rounded_up(pure)


def _rounded_up(exact: Any) -> float:
    return float_at_least(_UP.add(exact, ZERO))
