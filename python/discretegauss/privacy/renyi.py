"""Renyi divergences of integer noise: of one coordinate, of a ball of vectors, and what they imply.

Noise P on an answer, Q on the answer moved by D; phi is -log of the weight w, even, and

    R_a(D) = log(sum over all integers x of P(x)**a Q(x)**(1 - a))/(a - 1),      a > 1 the order.

As the noise is symmetric, both directions are the same. Divergences of independent releases add, at
one order; so do those of adaptive ones, each at its worst (Mironov, arXiv 1702.07476).

*Gaussian*: R_a(D) <= a D**2/(2 sigma2), and equal where (a - 1) D is whole (CKS 2020, Proposition
5). *Laplace*: three geometric series. *Generalised*: the sum itself, with its tails, where the
weight of x is exp(-f(x)), f(x) = a phi(x) - (a - 1) phi(x + D):

- x = r + k, k >= 0: f'(x) = phi'(x) (a - (a - 1) (1 + D/x)**(beta - 1)) grows where the bracket is
  positive, as both factors do not fall in x. So f(x) >= f(r) + k f'(r), and the tail from r on is
  at most exp(-f(r))/(1 - exp(-f'(r))).
- x = -y, y = r + k, r >= D: by y, f' is phi'(y) a - (a - 1) phi'(y - D) >= phi'(y) >= phi'(r), so
  the tail is at most exp(-f(-r))/(1 - exp(-phi'(r))).

*A ball.* Someone who moves the answers by whole numbers v_i, with sum |v_i|**b <= D**b, loses

    sum over i of R_a(|v_i|) <= D**b max over whole c, 1 <= c <= D, of R_a(c)/c**b,

as each R_a(|v_i|) is at most |v_i|**b times that maximum. It is met where D**b is a multiple of
c**b, with that many equal coordinates.

*Skellam*, of variance m: with D and L the Euclidean and the sum norm of the change of a vector of
integers, and a whole order a, R_a is at most (Agarwal, Kairouz, Liu, NeurIPS 2021, arXiv
2110.04995, Theorem 3.5 and Corollary 3.6; the papers call m mu)

    a D**2/(2 m) + min( ((2 a - 1) D**2 + 6 L)/(4 m**2),  3 L/(2 m) ).                       (1)

It falls as m grows.

*A curve.* A bound on R_a for each order a is a `RenyiCurve`. Each order implies a delta for an
epsilon, and an epsilon for a delta (CKS 2020, Proposition 12; zcdp.py). A curve answers by the best
order. The costs of vectors and of sums of shares are curves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.floats import float_at_least
from .._certified.interval import (
    ZERO,
    Arithmetic,
    Interval,
    Rational,
    arithmetic,
    relative_width_below,
)
from .._certified.laws_of_integers import formulas_of, normaliser, phi_at
from .._inputs.messages import refused
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import (
    at_least_zero,
    positive_number,
    query_count,
    whole_sensitivity,
    word_count,
)
from .._law import Kind, LawSpec
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterOverflowError, ParameterTypeError
from ..laws import Law, centred
from ._asked import clients_of, is_vector
from ._change import AT, Change
from .zcdp import (
    epsilon_at,
    epsilon_upper,
    log_delta_at,
    log_delta_upper,
    minus_log_upper,
    rho_of_one,
)

#: Integers whose weights are summed, at most.
_MOST_INTEGERS = 2**17

#: Changes that a ball is searched for, at most.
_MOST_CHANGES = 2**10

#: The sum ends where a weight is below exp(-_DEPTH) of the first, about.
_DEPTH = 96

#: Bits of the result that are right, if that takes no more than the last of the precisions.
_RIGHT_BITS = 60
_PRECISIONS = (160, 320, 640, 1280, 2560)


def renyi(
    law: Law | SumOfDraws,
    order: object,
    sensitivity: object = 1,
    *,
    queries: int = 1,
    norm: object = None,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return the Renyi divergence that integer noise leaves between two neighbours.

    Parameters
    ----------
    law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
        The noise; its mu must be an integer. A sum of Skellam shares, ``law.sum(n)``, is such a
        law, too; one of Gaussian shares costs what its `rho` says.
    order : number
        Above 1; with a Skellam law a whole number below 2**64.
    sensitivity : number, optional
        The most that one person changes the answer, a whole number. Of a Skellam law, and of sums
        of shares, the Euclidean norm of the change of a vector of integers.
    queries : int, optional
        How many answers one person may change so, each with noise of its own.
    norm : number, optional
        An exponent, at least 1: sensitivity, from 1 to 1024, is then the most that the norm of the
        whole changes of several answers can be, the root of the sum of abs(change)**norm.
    dimension, sum_norm : optional
        Of vectors, as for `delta`.

    Returns
    -------
    float
        Never below the divergence. For the discrete Gaussian it is order sensitivity**2/(2 sigma2),
        the divergence wherever (order - 1) sensitivity is whole.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong, or a generalised Gaussian is so wide, or the order so large, that
        more than 131 072 integers count.

    Notes
    -----
    Divergences of several releases add, at one order; `renyi_delta` says what the sum implies.

    With a norm of the law's own exponent, 1 or 2, it is what one answer that changes by a whole
    sensitivity costs. Between them it is some hundredths more, and beyond 2 it may be far more.

    References
    ----------
    I. Mironov: Renyi Differential Privacy, CSF 2017, arXiv 1702.07476. Of Skellam noise: Agarwal,
    Kairouz, Liu, NeurIPS 2021, arXiv 2110.04995, Theorem 3.5 and Corollary 3.6.

    Examples
    --------
    >>> import discretegauss as dg
    >>> renyi(dg.DiscreteGaussian(50), order=10)
    0.1
    >>> round(renyi(dg.GeneralizedGaussian(10, beta="3/2"), order=10), 6)
    0.065731
    >>> law = dg.GeneralizedGaussian(8, beta=4)
    >>> renyi(law, 5, 5, queries=2) <= renyi(law, 5, 6, norm=4)  # (5, 5) is in the ball of radius 6
    True
    >>> renyi(dg.Skellam(4).sum(100), 8, sensitivity=10)  # nearly 8 10**2/(2 400)
    1.0024375
    """
    count, (one, clients) = query_count(queries), clients_of(law)
    of_vector = is_vector(dimension, sum_norm) or clients > 1
    if one._spec.kind is not Kind.SKELLAM and not of_vector:
        spec, exact = centred(one), _order(order)
        if norm is None:
            found = _renyi_upper(spec, exact, whole_sensitivity(sensitivity))
        else:
            found = _renyi_of_ball(spec, exact, sensitivity, norm)
    elif norm is not None:
        raise ParameterTypeError("norm goes neither with a Skellam law nor with sums of shares")
    elif one._spec.kind is not Kind.SKELLAM:
        bound = _order(order) * rho_of_one(law, sensitivity, dimension, sum_norm)
        found = arithmetic(_PRECISIONS[0]).rational(bound).upper
    else:
        alpha = _whole_order(order)
        change = Change(1, sensitivity, dimension, sum_norm)
        found = SkellamCurve(change, one._spec.parameter).divergence(alpha)
    return float_at_least(arithmetic(_PRECISIONS[0]).up.mul(found, count))


def _renyi_of_ball(spec: LawSpec, order: Fraction, sensitivity: object, norm: object) -> Any:
    """Return the bound of the changes within a ball."""
    radius = positive_number(sensitivity, "sensitivity")
    if not 1 <= radius <= _MOST_CHANGES:
        raise refused("sensitivity", f"be from 1 to {_MOST_CHANGES}", sensitivity)
    exponent = exact_rational(norm, "norm")
    if exponent < 1:
        raise refused("norm", "be at least 1", norm)
    at = arithmetic(_PRECISIONS[0])
    worst: Any = ZERO
    for change in range(1, int(radius) + 1):
        relative = at.power(at.rational(radius / change), exponent)
        worst = max(worst, at.up.mul(_renyi_upper(spec, order, change), relative.upper))
    return worst


def renyi_delta(divergence: object, order: object, epsilon: object) -> float:
    """Return a delta at which a Renyi divergence implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    divergence : number
        At least 0: of one release, or the sum over several, at one order.
    order : number
        Above 1.
    epsilon : number
        At least 0.

    Returns
    -------
    float
        Never below Proposition 12 of arXiv 2004.00010 at this order, and at most 1. Try several
        orders: each gives a bound that holds.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.DiscreteGaussian(100)
    >>> best = min(renyi_delta(renyi(law, a), a, 1) for a in range(2, 200))
    >>> dg.privacy.delta(law, 1) < dg.privacy.zcdp_delta(dg.privacy.rho(law), 1) <= best
    True
    """
    found, a = at_least_zero(divergence, "divergence"), _order(order)
    target = at_least_zero(epsilon, "epsilon")
    log = log_delta_at(a - 1, found, target, arithmetic(_PRECISIONS[1]))
    return float_at_least(_UP.exp(log))


def _order(value: object) -> Fraction:
    exact = positive_number(value, "order")
    if exact <= 1:
        raise refused("order", "be above 1", value)
    return exact


def _whole_order(value: object) -> int:
    """Return the order of a Skellam law's divergence."""
    exact = exact_rational(value, "order")
    if exact.denominator != 1:
        raise refused("order", "be a whole number with a Skellam law", value)
    if exact < 2:
        raise refused("order", "be at least 2", value)
    return word_count(exact.numerator, "order")


def _renyi_upper(spec: LawSpec, order: Fraction, change: int) -> Any:
    """Return an upper bound on the divergence, at least 0."""
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        at = arithmetic(_PRECISIONS[0])
        return at.rational(order * change**2 / (2 * Fraction(spec.parameter))).upper
    of_order = _laplace if spec.kind is Kind.DISCRETE_LAPLACE else _summed
    found = Interval(ZERO, gmpy2.inf())
    for bits in _PRECISIONS:
        at = arithmetic(bits)
        found = at.scale(of_order(spec, order, change, at), 1 / (order - 1))
        if relative_width_below(found, _RIGHT_BITS):
            break
    pure = formulas_of(spec).pure_epsilon(spec, change)  # at any order
    if pure is not None:
        return max(min(found.upper, at.rational(pure).upper), ZERO)
    return max(found.upper, ZERO)


def _laplace(spec: LawSpec, order: Fraction, change: int, at: Arithmetic) -> Interval:
    """Return the logarithm of the sum of P**a Q**(1 - a): x >= 0, x <= -D, and between."""
    t, rest = Fraction(spec.parameter), order - 1
    one_minus_r = at.neg(at.expm1(at.rational(-1 / t)))
    high, low = (at.exp(at.rational(sign * rest * change / t)) for sign in (1, -1))
    outside = at.add(high, at.mul(low, at.exp(at.rational(-change / t))))
    total = at.div(outside, one_minus_r)
    if change > 1:
        step = (2 * order - 1) / t
        # the terms exp(-y step) for y = 1..D-1
        part = at.div(
            at.expm1(at.rational(-(change - 1) * step)), at.neg(at.expm1(at.rational(step)))
        )
        total = at.add(total, at.mul(high, part))
    weight = at.div(at.shift(at.exp(at.rational(-1 / t)), 1), one_minus_r)
    return at.log(at.div(total, weight))


def _summed(spec: LawSpec, order: Fraction, change: int, at: Arithmetic) -> Interval:
    """Return the logarithm of the sum of P**a Q**(1 - a), integer by integer, with its tails.

    In units of the largest term, which may be beyond all exponents.
    """
    depth = at.bits * _DEPTH // _PRECISIONS[0]
    phi = cache(lambda x: phi_at(spec, x, at))

    def exponent(x: int) -> Interval:
        return at.sub(at.scale(phi(abs(x + change)), order - 1), at.scale(phi(abs(x)), order))

    def slope(y: int) -> Interval:
        """Return phi'(y) = beta phi(y)/y."""
        return at.scale(phi(y), Fraction(spec.beta) / y)

    def rise(x: int) -> Interval:
        grown = at.power(at.rational(1 + Fraction(change, x)), Fraction(spec.beta) - 1)
        return at.mul(slope(x), at.shift(at.scale(grown, 1 - order), order))

    def require(reach: int) -> None:
        if reach > _MOST_INTEGERS:
            rule = f"be smaller for this law: more than {_MOST_INTEGERS} integers count"
            raise refused("order", rule, order, ParameterOverflowError)

    # far enough out on either side; the sums are right wherever they end
    right, highest = 1, exponent(0).upper
    while rise(right).lower <= 0 or exponent(right).upper > -depth + min(highest, 0):
        highest = max(highest, exponent(right).upper)
        right *= 2
        require(right)
    left = change
    while exponent(-left).upper > -depth:
        left *= 2
        require(left)
    exponents = [exponent(x) for x in range(-left + 1, right)]
    top = max(one.upper for one in exponents)
    unit = Interval(top, top)
    total = at.rational(0)
    for one in exponents:
        total = at.add(total, at.exp(at.sub(one, unit)))
    for x, by in ((right, rise(right)), (-left, slope(left))):
        ratio = at.neg(at.expm1(at.neg(by)))
        tail = at.div(at.exp(at.sub(exponent(x), unit)), ratio).upper
        total = Interval(total.lower, at.up.add(total.upper, tail))
    log = at.add(at.log(total), unit)
    # where exponents are enclosed too widely for a sum, one of its terms is a bound
    log = Interval(max(log.lower, *(one.lower for one in exponents)), log.upper)
    return at.sub(log, at.log(normaliser(spec, at.bits)[1]))


# --- curves

_UP: Any = arithmetic(80).up


class RenyiCurve(ABC):
    """What releases cost, known by a bound on their Renyi divergence of each order."""

    @abstractmethod
    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return an upper bound on log(delta) by the best order, at most 0."""

    @abstractmethod
    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return an upper bound on the least epsilon by the best order, at least 0."""

    def delta(self, epsilon: Fraction) -> float:
        """Return delta, rounded up."""
        return float_at_least(_UP.exp(self.log_delta_upper(epsilon)))

    def log_delta(self, epsilon: Fraction) -> float:
        """Return log(delta), rounded up."""
        return float_at_least(self.log_delta_upper(epsilon))

    def epsilon(self, delta: Fraction) -> float:
        """Return epsilon, rounded up."""
        return float_at_least(self.epsilon_upper(delta))

    def pure(self) -> float | None:
        """Return None, because no curve tells an epsilon for delta = 0."""
        return None


@dataclass(frozen=True)
class RhoCurve(RenyiCurve):
    """rho-zCDP: the divergence of order a is at most a rho."""

    rho: Fraction

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return the bound of Corollary 13."""
        return log_delta_upper(self.rho, epsilon)

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return the bound of Corollary 13."""
        return epsilon_upper(self.rho, delta)


def _orders() -> tuple[int, ...]:
    """Return 2 to 64, and then up to 2**40 in steps of 1/20: epsilon is flat about its least."""
    found = list(range(2, 65))
    while found[-1] < 2**40:
        found.append(found[-1] * 21 // 20)
    return tuple(found)


_ORDERS = _orders()
_FLOAT_ORDERS = np.array(_ORDERS, float)

_NEAR = 1e-9
"""Floats tell two epsilons apart if they differ by so much, relative to their terms."""


@dataclass(frozen=True)
class SkellamCurve(RenyiCurve):
    """Skellam noise by (1). Floats choose the order; the bound of any order holds."""

    change: Change
    variance: Fraction
    queries: int = 1

    def divergence(self, order: int) -> Any:
        """Return (1) of all queries, rounded up."""
        change, m = self.change, self.variance
        sum_norm = Interval(change.sum_norm, change.sum_norm)
        gaussian = Fraction(order) * change.squared / (2 * m)
        first = AT.shift(AT.scale(sum_norm, 6), (2 * order - 1) * change.squared)
        first = AT.scale(first, 1 / (4 * m * m))
        second = AT.scale(sum_norm, 3 / (2 * m))
        one = AT.up.add(AT.rational(gaussian).upper, min(first.upper, second.upper))
        return AT.up.mul(one, self.queries)

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return the bound of the best of the orders."""
        shift = _about(epsilon)
        with np.errstate(over="ignore", invalid="ignore"):
            logs = (_FLOAT_ORDERS - 1) * (
                self._divergences_about() + np.log1p(-1 / _FLOAT_ORDERS) - shift
            )
            order = _ORDERS[int(np.nanargmin(logs - np.log(_FLOAT_ORDERS)))]
        return log_delta_at(order - 1, self.divergence(order), epsilon, AT)

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return the bound of the best of the orders."""
        big_l = minus_log_upper(delta, AT)
        each = (
            epsilon_at(order - 1, self.divergence(order), big_l, AT)[0]
            for order in self._best_orders(delta)
        )
        return max(min(each), ZERO)

    def _best_orders(self, delta: Fraction) -> list[int]:
        """Return the order of the least epsilon, and those that floats do not tell from it."""
        with np.errstate(over="ignore"):  # infinite divergences make all orders alike
            costs, added = self._divergences_about(), _added_about(delta)
            epsilons, terms = costs + added, costs + np.abs(added)
            best = int(np.argmin(epsilons))
            near = epsilons <= epsilons[best] + _NEAR * np.minimum(terms, terms[best])
        return [_ORDERS[i] for i in np.flatnonzero(near)]

    def _divergences_about(self) -> NDArray[np.float64]:
        """Return the divergences of all orders in floats."""
        m, squared, sum_norm = self.variance, self.change.squared, gmpy2.mpq(self.change.sum_norm)
        first = (2 * _FLOAT_ORDERS - 1) * _about(squared / (4 * m * m))
        first += _about(3 * sum_norm / (2 * m * m))
        more = np.minimum(first, _about(3 * sum_norm / (2 * m)))
        gaussian = _FLOAT_ORDERS * _about(squared / (2 * m))
        return np.asarray(np.float64(self.queries) * (gaussian + more))


def _about(value: Rational) -> np.float64:
    return np.float64(AT.rational(value).upper)


@lru_cache(maxsize=64)
def _added_about(delta: Fraction) -> NDArray[np.float64]:
    """Return in floats what epsilon exceeds the divergence by, for all orders."""
    logs = np.log(_FLOAT_ORDERS) + float(AT.log(AT.rational(delta)).upper)
    return np.asarray(np.log1p(-1 / _FLOAT_ORDERS) - logs / (_FLOAT_ORDERS - 1))


def least_epsilon_of_skellams(delta: Fraction) -> Any:
    """Return the epsilon that no variance gets below at this delta, by the orders up to 2**40."""
    order = _ORDERS[int(np.argmin(_added_about(delta)))]
    return epsilon_at(order - 1, ZERO, minus_log_upper(delta, AT), AT)[0]
