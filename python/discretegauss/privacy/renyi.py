"""Renyi divergences of integer noise, and the (epsilon, delta) that they imply.

Let P be the noise on an answer, and Q the noise on the answer moved by D. The divergence of order
a > 1 is

    R_a(D) = log(sum over all integers x of P(x)**a Q(x)**(1 - a))/(a - 1).

The noise is symmetric, so both directions are the same. Divergences of independent releases add, at
one order. So do those of adaptive releases, each at its worst (Mironov, arXiv 1702.07476).

*Gaussian.* R_a(D) <= a D**2/(2 sigma2), with equality if (a - 1) D is whole (CKS 2020, Proposition
5).

*Laplace.* The sum is three geometric series.

*Generalised Gaussian.* The sum is taken term by term, and its tails are bounded. The weight of x is
exp(-phi(x)), so the term of x is exp(-f(x)), f(x) = a phi(x) - (a - 1) phi(x + D).

- Right tail, x = r + k, k >= 0: f'(x) = phi'(x) (a - (a - 1) (1 + D/x)**(beta - 1)) grows if the
  bracket is positive, because neither factor falls in x. So f(x) >= f(r) + k f'(r), and the tail
  from r on is at most exp(-f(r))/(1 - exp(-f'(r))).
- Left tail, x = -y, y = r + k, r >= D: the derivative of f by y is phi'(y) a - (a - 1) phi'(y - D)
  >= phi'(y) >= phi'(r), so the tail is at most exp(-f(-r))/(1 - exp(-phi'(r))).

*A ball.* A person who moves the answers by whole numbers v_i, with sum |v_i|**b <= D**b, loses

    sum over i of R_a(|v_i|) <= D**b max over whole c, 1 <= c <= D, of R_a(c)/c**b,

because each R_a(|v_i|) is at most |v_i|**b times that maximum. If D**b is a multiple of c**b, that
many coordinates equal to c meet the bound.

*Skellam.* Let m be the variance, D and L the Euclidean and the sum norm of the change of a vector
of integers, and a whole. R_a is at most (Agarwal, Kairouz, Liu, NeurIPS 2021, arXiv 2110.04995,
Theorem 3.5 and Corollary 3.6; the papers call m mu)

    a D**2/(2 m) + min( ((2 a - 1) D**2 + 6 L)/(4 m**2),  3 L/(2 m) ).                       (1)

It falls as m grows.

*A sample of the people.* Symmetric noise has the bound (1) of shares.py, by the divergences of all
whole orders up to this one; a change by less than D has less of each.

*A curve.* `RenyiCurve` holds a bound on R_a for each order a. Each order implies a delta for an
epsilon, and an epsilon for a delta (CKS 2020, Proposition 12; zcdp.py). The curve answers by the
best order. It is the cost of vectors and of sums of shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any

import gmpy2

from .._certified.floats import float_at_least
from .._certified.interval import (
    ZERO,
    Arithmetic,
    Interval,
    arithmetic,
    relative_width_below,
)
from .._certified.laws_of_integers import formulas_of, normaliser, phi_at
from .._inputs.keywords import with_hints
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
from ..laws import Law, centred_simplest
from ._known_sample import Sample
from ._sampled_moment import sampled_moment
from .sensitivity import Sensitivity, clients_of, is_vector
from .zcdp import (
    epsilon_upper,
    log_delta_at,
    log_delta_upper,
    rho_of_one,
)

#: The most integers of a sum.
_MOST_INTEGERS = 2**17

#: The largest radius of a ball.
_MOST_CHANGES = 2**10

#: The sum ends at terms of about exp(-_DEPTH), at the first precision.
_DEPTH = 96

#: The aim, in right bits. The precision rises until it is met, or to the last one.
_RIGHT_BITS = 60
_PRECISIONS = (160, 320, 640, 1280, 2560)

#: The largest order with sampling, which needs the divergences of all whole orders below it.
_LAST_SAMPLED = 4096


@with_hints
def renyi(
    law: Law | SumOfDraws,
    order: object,
    sensitivity: object = 1,
    *,
    queries: int = 1,
    sampling: object = 1,
    secret_sample: bool = True,
    norm: object = None,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return the Renyi divergence that integer noise leaves between two neighbours.

    Parameters
    ----------
    law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
        The noise; its mu must be an integer. The sum of shares, ``law.sum(n)``, is allowed, too: of
        Skellam shares it is a Skellam law, of Gaussian shares its divergence is order times `rho`.
    order : number
        Above 1. With a Skellam law it is a whole number below 2**64.
    sensitivity : number, optional
        The largest change of the answer by one person, a whole number. For a Skellam law, and for
        sums of shares, it is the Euclidean norm of the change of a vector of integers.
    queries : int, optional
        The number of answers that one person may change by as much, each with its own noise.
    sampling : number, optional
        The probability with which each person takes part in each query, independently. All noise
        must be there whether or not that person does (see `delta`). The order is then at most 4096.
    secret_sample : bool, optional
        False: an observer may know who is sampled, as for `delta`.
    norm : number, optional
        An exponent b, at least 1. Then sensitivity, from 1 to 1024, bounds the norm of the whole
        changes of several answers, (sum of abs(change)**b)**(1/b).
    dimension, sum_norm : optional
        As for `delta`, for vectors.

    Returns
    -------
    float
        Never below the divergence. For the discrete Gaussian it is order sensitivity**2/(2 sigma2).
        That is the divergence itself if (order - 1) sensitivity is whole.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong. Also if a generalised Gaussian is so wide, or the order so large,
        that more than 131 072 integers would be summed over.

    Notes
    -----
    Divergences of several releases add, at one order; `renyi_delta` says what the sum implies.

    If ``norm`` is the law's own exponent, 1 or 2, the result is that of one answer that changes by
    a whole sensitivity. For exponents between 1 and 2 it is some hundredths more, and beyond 2 it
    may be far more.

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
    (sampling_rate, secret), at = Sample.of(sampling, secret_sample), arithmetic(_PRECISIONS[0])
    is_skellam = one._spec.kind is Kind.SKELLAM
    exact = _whole_order(order) if is_skellam else _order(order)
    divergence: Callable[[Fraction], Any]
    if not (is_skellam or is_vector(dimension, sum_norm) or clients > 1):
        spec = centred_simplest(one)
        if norm is None:
            divergence = partial(_renyi_upper, spec, sensitivity=whole_sensitivity(sensitivity))
        else:
            divergence = partial(_renyi_of_ball, spec, sensitivity=sensitivity, norm=norm)
    elif norm is not None:
        raise ParameterTypeError("norm must not be given for a Skellam law or a sum of shares")
    elif is_skellam:
        of_vector = Sensitivity.of_vector(sensitivity, dimension, sum_norm)
        divergence = RenyiCurve.of_skellam(of_vector, one._spec.parameter, 1).divergence
    else:
        rho = rho_of_one(law, sensitivity, dimension, sum_norm)
        divergence = RenyiCurve.of_rho(rho).divergence
    if sampling_rate != 1:
        if exact > _LAST_SAMPLED:
            raise refused("order", f"be at most {_LAST_SAMPLED} with sampling", order)
        moment = sampled_moment(divergence, exact, sampling_rate, secret=secret)
        return float_at_least(at.up.mul(moment, gmpy2.mpq(count / (exact - 1))))
    found = divergence(exact)
    if isinstance(found, Fraction):
        return float_at_least(at.rational(count * found).upper)
    return float_at_least(at.up.mul(found, count))


def _renyi_of_ball(spec: LawSpec, order: Fraction, sensitivity: object, norm: object) -> Any:
    """Return the bound for all changes within a ball."""
    radius = positive_number(sensitivity, "sensitivity")
    if not 1 <= radius <= _MOST_CHANGES:
        raise refused("sensitivity", f"be from 1 to {_MOST_CHANGES}", sensitivity)
    exponent = exact_rational(norm, "norm")
    if exponent < 1:
        raise refused("norm", "be at least 1", norm)
    at = arithmetic(_PRECISIONS[0])
    worst: Any = ZERO
    for moved in range(1, int(radius) + 1):
        relative = at.power(at.rational(radius / moved), exponent)
        worst = max(worst, at.up.mul(_renyi_upper(spec, order, moved), relative.upper))
    return worst


def renyi_delta(divergence: object, order: object, epsilon: object) -> float:
    """Return a delta at which a Renyi divergence implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    divergence : number
        At least 0. It is that of one release, or the sum over several releases, at one order.
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
    return float_at_least(_UP.exp(min(log, ZERO)))


def _order(value: object) -> Fraction:
    exact = positive_number(value, "order")
    if exact <= 1:
        raise refused("order", "be above 1", value)
    return exact


def _whole_order(value: object) -> Fraction:
    """Return the order of a Skellam law's divergence."""
    exact = exact_rational(value, "order")
    if exact.denominator != 1:
        raise refused("order", "be a whole number with a Skellam law", value)
    if exact < 2:
        raise refused("order", "be at least 2", value)
    return Fraction(word_count(exact.numerator, "order"))


def _renyi_upper(spec: LawSpec, order: Fraction, sensitivity: int) -> Any:
    """Return an upper bound on the divergence, at least 0."""
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        at = arithmetic(_PRECISIONS[0])
        return at.rational(order * sensitivity**2 / (2 * Fraction(spec.parameter))).upper
    of_order = _laplace if spec.kind is Kind.DISCRETE_LAPLACE else _summed
    found = Interval(ZERO, gmpy2.inf())
    for bits in _PRECISIONS:
        at = arithmetic(bits)
        found = at.scale(of_order(spec, order, sensitivity, at), 1 / (order - 1))
        if relative_width_below(found, _RIGHT_BITS):
            break
    pure = formulas_of(spec).pure_epsilon(spec, sensitivity)  # a bound at any order
    if pure is not None:
        return max(min(found.upper, at.rational(pure).upper), ZERO)
    return max(found.upper, ZERO)


def _laplace(spec: LawSpec, order: Fraction, sensitivity: int, at: Arithmetic) -> Interval:
    """Return the logarithm of the sum of P**a Q**(1 - a): x >= 0, x <= -D, and between."""
    t = Fraction(spec.parameter)
    one_minus_r = at.neg(at.expm1(at.rational(-1 / t)))
    high, low = (at.exp(at.rational(sign * (order - 1) * sensitivity / t)) for sign in (1, -1))
    outside = at.add(high, at.mul(low, at.exp(at.rational(-sensitivity / t))))
    total = at.div(outside, one_minus_r)
    if sensitivity > 1:
        step = (2 * order - 1) / t
        # the terms exp(-y step) for y = 1..D-1
        part = at.div(
            at.expm1(at.rational(-(sensitivity - 1) * step)), at.neg(at.expm1(at.rational(step)))
        )
        total = at.add(total, at.mul(high, part))
    weight = at.div(at.shift(at.exp(at.rational(-1 / t)), 1), one_minus_r)
    return at.log(at.div(total, weight))


def _summed(spec: LawSpec, order: Fraction, sensitivity: int, at: Arithmetic) -> Interval:
    """Return the logarithm of the sum of P**a Q**(1 - a), integer by integer, with its tails.

    The unit of the sum is its largest term, which may be beyond all exponents.
    """
    depth = at.bits * _DEPTH // _PRECISIONS[0]
    phi = cache(lambda x: phi_at(spec, x, at))

    def exponent(x: int) -> Interval:
        return at.sub(at.scale(phi(abs(x + sensitivity)), order - 1), at.scale(phi(abs(x)), order))

    def slope(y: int) -> Interval:
        """Return phi'(y) = beta phi(y)/y."""
        return at.scale(phi(y), Fraction(spec.beta) / y)

    def rise(x: int) -> Interval:
        grown = at.power(at.rational(1 + Fraction(sensitivity, x)), Fraction(spec.beta) - 1)
        return at.mul(slope(x), at.shift(at.scale(grown, 1 - order), order))

    def require(reach: int) -> None:
        if reach > _MOST_INTEGERS:
            rule = f"be smaller for this law: more than {_MOST_INTEGERS} integers contribute"
            raise refused("order", rule, order, ParameterOverflowError)

    # Go far enough out on either side. The bounds hold wherever the sums end.
    right, highest = 1, exponent(0).upper
    while rise(right).lower <= 0 or exponent(right).upper > -depth + min(highest, 0):
        highest = max(highest, exponent(right).upper)
        right *= 2
        require(right)
    left = sensitivity
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
    # If the exponents are enclosed too widely for a sum, one of its terms is a bound.
    log = Interval(max(log.lower, *(one.lower for one in exponents)), log.upper)
    return at.sub(log, at.log(normaliser(spec, at.bits)[1]))


# --- curves

_UP: Any = arithmetic(80).up


class Bounds:
    """A cost that is known by upper bounds on log(delta) and on epsilon."""

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return an upper bound on log(delta), at most 0."""
        raise NotImplementedError

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return an upper bound on the least epsilon, at least 0."""
        raise NotImplementedError

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
        """Return None, because no such bound tells an epsilon for delta = 0."""
        return None


@dataclass(frozen=True)
class RenyiCurve(Bounds):
    """The cost of releases, by a bound on their Renyi divergence of each order."""

    #: Each (slope, more), slope > 0: the divergence of order a is at most slope a + more.
    lines: tuple[tuple[Fraction, Fraction], ...]
    #: Whether the lines are bounds for whole orders alone.
    whole: bool = False

    @classmethod
    def of_rho(cls, rho: Fraction) -> RenyiCurve:
        """Return the curve of rho-zCDP."""
        return cls(((rho, Fraction(0)),))

    @classmethod
    def of_skellam(cls, change: Sensitivity, variance: Fraction, queries: int) -> RenyiCurve:
        """Return the curve (1) of several queries."""
        gaussian, square = change.norm2 / (2 * variance), 4 * variance**2
        first = gaussian + 2 * change.norm2 / square, (6 * change.l1 - change.norm2) / square
        second = gaussian, 3 * change.l1 / (2 * variance)
        return cls(tuple((queries * a, queries * b) for a, b in (first, second)), whole=True)

    def divergence(self, order: Fraction) -> Fraction:
        """Return the bound at an order."""
        return min(slope * order + more for slope, more in self.lines)

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return the bound by the best order."""
        return min(
            log_delta_upper(slope, epsilon - more, whole=self.whole) for slope, more in self.lines
        )

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return the bound by the best order."""
        return min(
            epsilon_upper(slope, delta, more, whole=self.whole) for slope, more in self.lines
        )
