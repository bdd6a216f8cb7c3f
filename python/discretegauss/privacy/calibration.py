"""How much noise a budget asks for: one door for all kinds of noise.

*An error.* P(abs(X) <= e) falls as the scale of a law exp(-(abs(x)/scale)**beta) grows: what two
scales make of the ratio of any two weights is monotone in abs(x). Of a Skellam law, too: more
variance is one more draw, symmetric and unimodal, added to one that is so. So there is one
parameter up to which it is enough, found among decimals of six digits, by certified tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any, TypeVar

import gmpy2

from .._certified.euler_maclaurin import log_of
from .._certified.interval import arithmetic, fraction_of
from .._certified.probability import miss_of_each
from .._certified.search import crossing, decimal_at, decimal_ordinal, least_decimal, zero_of
from .._certified.skellam import LARGEST_TABLE
from .._inputs.budget import Budget
from .._inputs.law_parameters import checked_beta
from .._inputs.messages import describe, refused
from .._inputs.privacy_arguments import (
    at_least_zero,
    checked_probability,
    positive_number,
    query_count,
    sampling_rate,
    whole_sensitivity,
    word_count,
)
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law, Skellam, centred
from ._calibrate_gaussian import GaussianTarget
from .cost import cost_of
from .question import Change, is_vector, least_variance, refuse_sampling, refuse_vector
from .renyi import RenyiCurve
from .zcdp import SumOfGaussians, zcdp_rho
from .zcdp import rho as rho_of

_AnyLaw = TypeVar("_AnyLaw", DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Skellam)

_MOST_RHO_BITS = 4002
_ONE = Fraction(1)

#: Of a Skellam law of a larger variance, about exp(15), each step of a search takes 0.1 s and more.
_MOST_CROSSED = 15.0


def calibrate(
    kind: type[_AnyLaw],
    budget: Budget | None = None,
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    queries: int = 1,
    sampling: object = 1,
    beta: object = None,
    clients: int | None = None,
    dimension: int = 1,
    sum_norm: object = None,
    error: object = None,
    confidence: object = None,
) -> _AnyLaw:
    """Return the noise that a budget asks for: rho, or epsilon with delta; or an error.

    Parameters
    ----------
    kind : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
        The class of the law.
    budget : Budget, optional
        What may be given away, by all queries together; or by name:
    rho : number, optional
        The zCDP budget, positive; for Gaussians and Laplaces.
    epsilon, delta : number, optional
        The (epsilon, delta) budget: epsilon at least 0, delta strictly between 0 and 1. For a
        discrete Laplace epsilon alone asks for pure differential privacy, delta = 0.
    sensitivity : number, optional
        The most that one person changes one answer, a whole number; for a Gaussian with rho any
        positive one (the Euclidean norm of the change of several answers, say), and for noise in
        shares, and a Skellam law, the Euclidean norm of the change of a vector of integers.
    queries : int, optional
        One person may change so many answers, each by at most ``sensitivity``, each with noise of
        its own from the law returned; later ones may depend on earlier answers.
    sampling : number, optional
        The probability with which each person takes part in each query, independently; with epsilon
        and delta, and not for noise in shares.
    beta : number, optional
        Of a generalised Gaussian: its exponent, at least 1.
    clients : int, optional
        The law returned is that of each client's share, and so many, at the fewest, add theirs and
        keep it to themselves; for Gaussian and Skellam noise.
    dimension, sum_norm : optional
        Of vectors, as for `delta`.
    error, confidence : number, optional
        In the place of a budget: how far off an answer may be, and how surely all queries are as
        near as that at once, 0.95 by default. `rho` and the like tell what that costs.

    Returns
    -------
    law of that kind
        Of mu = 0; its parameter is exact, or a decimal of six digits, rounded up. What it costs is
        proven to be within the budget.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong, or nothing is known for such a budget.

    Notes
    -----
    How near the law is to the one with the least noise:

    - Gaussian, rho: ``sigma2 = queries * sensitivity**2 / (2 rho)``, exactly (CKS 2020, Theorem
      14).
    - Gaussian, (epsilon, delta), by the least delta there is, not by way of zCDP. For one query no
      sigma2 that is smaller by more than 1 in 10**5 meets the budget. A larger sigma2 may break it
      again: for epsilon above about sensitivity/2 delta does not always fall as sigma2 grows, so
      the sigma2 that keep to a budget may be several intervals, and what is returned lies at the
      beginning of the first. If that one is too short to hold a decimal of 6 digits, its end is
      taken, sensitivity (2 m + sensitivity)/(2 epsilon) for an integer m. For several queries the
      same search is made.
    - Laplace, pure: ``scale = queries * sensitivity / epsilon``, exactly. By rho or (epsilon,
      delta) the decimal before is not proven to do.
    - Generalised Gaussian, Skellam noise for one number (of a variance up to some 10**6), and any
      kind with sampling: a crossing, at which the budget begins to be
      met as the parameter grows. Delta need not fall as it grows: a smaller one may meet the
      budget, too, and a larger one break it. By the default `loss`, one less in the
      last digit is too little.
    - For an error: P(abs(X) <= error)**queries >= confidence is proven, and not for the next
      decimal of six digits: so the least budget that has it, of this kind.
    - Skellam noise for vectors, or wider: the least variance of six digits that its Renyi
      divergences prove.
    - Gaussian shares: the least sigma2 of six digits by the bounds of `rho`.

    One person who changes several coordinates of one answer counts as several queries, except where
    a Euclidean norm is taken.

    References
    ----------
    arXiv 2004.00010, Theorems 4, 7 and 14; arXiv 1311.0776, Theorem 3.3; arXiv 2506.12553; arXiv
    2110.04995; arXiv 2102.06387.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.privacy.calibrate(dg.DiscreteGaussian, rho="0.1").sigma2
    Fraction(5, 1)
    >>> law = dg.privacy.calibrate(dg.DiscreteGaussian, epsilon=1, delta="1e-6", queries=100)
    >>> dg.privacy.delta(law, 1, queries=100) <= 1e-6
    True
    >>> dg.privacy.calibrate(dg.DiscreteLaplace, epsilon=1, delta="1e-6", queries=100)
    DiscreteLaplace(scale='16659/400')
    >>> dg.privacy.calibrate(dg.GeneralizedGaussian, epsilon=1, delta="1e-5", beta="3/2")
    GeneralizedGaussian(scale='57667/20000', beta=1.5)
    >>> dg.privacy.calibrate(dg.DiscreteGaussian, error=5, confidence="0.95")
    DiscreteGaussian(sigma2='795787/100000')
    >>> how = dict(sensitivity=10, dimension=1000, clients=100)
    >>> law = dg.privacy.calibrate(dg.Skellam, epsilon=3, delta="1e-6", queries=20, **how)
    >>> dg.privacy.epsilon(law.sum(100), "1e-6", sensitivity=10, dimension=1000, queries=20) <= 3
    True
    """
    if not isinstance(kind, type) or kind not in _BY_KIND:
        raise ParameterTypeError(
            "kind must be DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam, the "
            f"class itself, got {describe(kind)}"
        )
    if (beta is not None) is not (kind is GeneralizedGaussian):
        raise ParameterTypeError("beta goes with a GeneralizedGaussian, and must be given for one")
    if error is not None:
        given = {"budget": budget, "rho": rho, "epsilon": epsilon, "delta": delta}
        given |= {"clients": clients, "sum_norm": sum_norm}
        given |= {"sampling": None if type(sampling) is int and sampling == 1 else sampling}
        for name, value in given.items():
            if value is not None:
                raise ParameterTypeError(
                    f"{name} must not be given with error, which asks for noise"
                )
        law_of: Any = kind
        if beta is not None:
            law_of = partial(law_of, beta=checked_beta(beta))
        sure = "0.95" if confidence is None else confidence
        most = LARGEST_TABLE if kind is Skellam else None
        how: dict[str, Any] = {"confidence": sure, "queries": queries, "most": most}
        return law_of(widest(law_of, error, **how))  # type: ignore[no-any-return]
    if confidence is not None:
        raise ParameterTypeError("confidence goes with error, which must be given")
    if kind is DiscreteLaplace and budget is None and rho is None and delta is None:
        delta = None if epsilon is None else 0
    asked = _Asked(
        Budget.of(budget, rho=rho, epsilon=epsilon, delta=delta),
        sensitivity,
        queries,
        sampling,
        beta,
        clients,
        dimension,
        sum_norm,
    )
    found: Any = _BY_KIND[kind](asked)
    return found  # type: ignore[no-any-return]


class _Asked:
    """What is asked for, checked as far as it is the same for all kinds."""

    def __init__(
        self,
        budget: Budget,
        sensitivity: object,
        queries: object,
        sampling: object,
        beta: object,
        clients: object,
        dimension: object,
        sum_norm: object,
    ) -> None:
        self.budget, self.sensitivity, self.beta = budget, sensitivity, beta
        self.queries, self.rate = query_count(queries), sampling_rate(sampling)
        self.clients = 1 if clients is None else word_count(clients, "clients")
        self.vector = dimension, sum_norm
        is_vector(*self.vector)  # or says what is wrong

    @property
    def epsilon_delta(self) -> tuple[Fraction, Fraction]:
        """Return epsilon and delta, above 0."""
        epsilon, delta = self.budget.epsilon, self.budget.delta
        if epsilon is None or delta is None:
            raise ParameterValueError(
                "rho is a budget for discrete Gaussians and Laplaces without sampling: give "
                f"epsilon with delta, got {self.budget}"
            )
        if not delta:
            raise ParameterValueError(
                "delta must lie between 0 and 1, both excluded, got 0; noise for delta = 0 is "
                "that of calibrate(DiscreteLaplace, ...)"
            )
        return epsilon, delta

    def require_no_shares(self) -> None:
        if self.clients > 1:
            raise ParameterValueError(
                "clients must be 1 except for Gaussian and Skellam noise: of other shares no cost "
                f"is known, got {self.clients}"
            )
        refuse_vector(*self.vector, "this noise")

    def sampled(self, law_of: Callable[[Fraction], Law]) -> Law:
        """Return the law for queries on a sample; its parameter is about the scale squared."""
        if self.clients > 1 or is_vector(*self.vector):
            refuse_sampling(self.rate)
        return self.crossing(law_of, 2)

    def crossing(
        self, law_of: Callable[[Fraction], Law], power: int = 1, beta: Fraction = _ONE
    ) -> Law:
        """Return the law at a crossing; its parameter is about the scale to that power."""
        self.require_no_shares()
        epsilon, delta = self.epsilon_delta
        if law_of is not DiscreteLaplace or self.rate != 1:
            require_reach(delta, self.queries)
        change, guess = whole_sensitivity(self.sensitivity), power * self.log_scale(beta)
        if law_of is DiscreteLaplace and self.rate == 1 and epsilon:  # a pure epsilon is enough
            guess = min(guess, log_of(self.queries * change / epsilon))
        return first_crossing(law_of, guess, (epsilon, delta), change, self.queries, self.rate)

    def log_scale(self, beta: Fraction) -> float:
        """Return about the logarithm of the scale of noise for one number."""
        change, b = whole_sensitivity(self.sensitivity), float(min(beta, _ONE * 10**4))
        return log_guess(b, *self.epsilon_delta, change, self.queries, self.rate)

    def is_of_a_number(self) -> bool:
        """Return whether noise for one number is asked for, by who keeps all of it."""
        one = self.clients == 1 and not is_vector(*self.vector)
        return one and positive_number(self.sensitivity, "sensitivity").denominator == 1


def _gaussian(asked: _Asked) -> Law:
    rho, queries = asked.budget.rho, asked.queries
    if asked.rate != 1:
        return asked.sampled(DiscreteGaussian)
    if asked.clients > 1:
        change = SumOfGaussians(asked.clients, asked.sensitivity, *asked.vector)
        each = (Fraction(zcdp_rho(*asked.epsilon_delta)) if rho is None else rho) / queries
        if not each:
            raise ParameterValueError("epsilon and delta leave no rho: epsilon must be larger")
        guess = change.squared / (2 * change.clients * each)
        return DiscreteGaussian(least_variance(change.cost, each, guess, "the budget"))
    if rho is not None:
        squared = queries * positive_number(asked.sensitivity, "sensitivity") ** 2
        return DiscreteGaussian(squared / (2 * rho))
    refuse_vector(*asked.vector, "this noise")
    change_of_one = whole_sensitivity(asked.sensitivity)
    return DiscreteGaussian(
        GaussianTarget(*asked.epsilon_delta, change_of_one, queries).least_sigma2()
    )


def _laplace(asked: _Asked) -> Law:
    asked.require_no_shares()
    rho, queries = asked.budget.rho, asked.queries
    change = whole_sensitivity(asked.sensitivity)
    if asked.rate != 1:
        return asked.crossing(DiscreteLaplace)
    if rho is not None:
        return DiscreteLaplace(_scale_for_rho(rho / queries, change))
    if not asked.budget.delta:
        return DiscreteLaplace(queries * change / (asked.budget.epsilon or Fraction(1)))
    return asked.crossing(DiscreteLaplace)


def _scale_for_rho(rho: Fraction, change: int) -> Fraction:
    """Return the least decimal scale that costs at most rho, for one query: rho falls with it."""
    bits = abs(rho.numerator.bit_length() - rho.denominator.bit_length())
    if bits > _MOST_RHO_BITS:
        rule = f"be between 2**-{_MOST_RHO_BITS} and 2**{_MOST_RHO_BITS} for each query"
        raise refused("rho", rule, rho, ParameterOverflowError)
    # of a change by 1 rho is eps0 tanh(eps0/2), below both eps0 and eps0**2/2 and near the lesser
    exact = gmpy2.mpq(rho)
    eps0 = max(exact, gmpy2.mpq(arithmetic(64).up.sqrt(2 * exact)))
    guess = Fraction(int(eps0.denominator), int(eps0.numerator)) * change
    return least_decimal(lambda scale: rho_of(DiscreteLaplace(scale), change) <= rho, guess)


def _generalized(asked: _Asked) -> Law:
    exponent = checked_beta(asked.beta)
    return asked.crossing(lambda scale: GeneralizedGaussian(scale, exponent), beta=exponent)


def _skellam(asked: _Asked) -> Law:
    if asked.rate != 1:
        return asked.sampled(Skellam)
    (epsilon, delta), queries = asked.epsilon_delta, word_count(asked.queries, "queries")
    near = asked.is_of_a_number() and is_in_reach(delta, queries)
    if near and 2 * asked.log_scale(Fraction(2)) < _MOST_CROSSED:
        return asked.crossing(Skellam, 2)
    change = Change(asked.clients, asked.sensitivity, *asked.vector)
    if not epsilon:
        raise refused("epsilon", "be above 0 for Skellam noise", epsilon)

    def cost(variance: Fraction) -> Any:
        total = variance * change.clients
        return RenyiCurve.of_skellam(change, total, queries).epsilon_upper(delta)

    guess = queries * change.squared / (2 * change.clients * epsilon)
    return Skellam(least_variance(cost, epsilon, guess, "epsilon"))


_BY_KIND: dict[Any, Callable[[_Asked], Law]] = {
    DiscreteGaussian: _gaussian,
    DiscreteLaplace: _laplace,
    GeneralizedGaussian: _generalized,
    Skellam: _skellam,
}


#: What lies beyond all buckets is less, of one release.
_LEAST_DELTA = Fraction(1, 2**100)

#: Exponentials of epsilon are taken up to here, for a guess.
_MOST_EPSILON = Fraction(700)

#: What stands for the logarithm of a delta of 0.
_NOTHING = -1e4

#: What stands for log(0/delta): near there delta falls as a line, as found/delta - 1 does.
_NO_DELTA = -1.0

#: What stands for one that is too large by less than a rounding.
_TOO_MUCH = 1e-300


@lru_cache(maxsize=16)
def first_crossing(
    law_of: Callable[[Fraction], Law],
    guess: float,
    budget: tuple[Fraction, Fraction],
    change: int,
    queries: int,
    rate: Fraction,
) -> Law:
    """Return a law that meets (epsilon, delta), while one less in its last digit does not.

    Parameters
    ----------
    law_of : callable
        The law of a parameter, which makes it wider.
    guess : float
        About the logarithm of the parameter looked for.
    budget : (Fraction, Fraction)
        epsilon and delta.
    change, queries, rate : int, int, Fraction
        What one person changes, and with which probability in each query.

    Notes
    -----
    Delta need not fall as the parameter grows: where few integers count, the probability of the
    next one grows before it counts for nothing. So this is *a* crossing, at which the budget begins
    to be met, and not always the least. It is met: of one query by the least delta there is, of
    others by the losses' delta, which is never below the truth.
    """
    epsilon, delta = budget
    log_delta = log_of(delta)

    def excess(parameter: Fraction) -> float:
        """Return log(found/delta), at most 0 where the budget is met, and only there."""
        found = cost_of(centred(law_of(parameter)), change, queries, rate).delta(epsilon)
        log = math.log(found) - log_delta if found else _NO_DELTA
        return min(log, 0.0) if found <= delta else max(log, _TOO_MUCH)

    return law_of(crossing(excess, fraction_of(arithmetic(53).up.exp(guess))))


def log_guess(
    beta: float, epsilon: Fraction, delta: Fraction, change: int, queries: int, rate: Fraction
) -> float:
    """Return about the logarithm of the scale that a budget asks for, where queries are many.

    Their losses add up to nearly normal ones (the central limit theorem): with J/scale**2 the
    Fisher information of one, to those of a normal mean moved by mu deviations,

        mu**2 = rate**2 queries (exp((change/scale)**2 J) - 1),    (change/scale)**2 J queries

    with sampling and without; J = beta**2 G(2 - 1/beta)/G(1/beta), and 1 for a Gaussian's sigma.
    """
    e, log_delta = float(min(epsilon, _MOST_EPSILON)), max(log_of(delta), -700.0)

    def excess(log_mu: float) -> float:
        mu = math.exp(log_mu)
        tails = [math.erfc((e / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1)]
        found = tails[0] - math.exp(e) * tails[1]
        return (math.log(found) if found > 0 else _NOTHING) - log_delta

    log_mu = zero_of(excess, 0.0, 14.0)
    if rate != 1:
        share = 2 * log_mu - log_of(rate**2 * queries)  # of exp(mu1**2) - 1
        log_mu1 = math.log(math.log1p(math.exp(share)) if share < 700 else share) / 2
    else:
        log_mu1 = log_mu - log_of(Fraction(queries)) / 2
    log_j = math.log(beta**2 * math.gamma(2 - 1 / beta) / math.gamma(1 / beta))
    return log_of(Fraction(change)) + log_j / 2 - log_mu1


def is_in_reach(delta: Fraction, queries: int) -> bool:
    """Return whether a delta is above what may lie in no bucket."""
    return delta >= queries * _LEAST_DELTA


def require_reach(delta: Fraction, queries: int) -> None:
    """Refuse a delta that what lies in no bucket might exceed."""
    if not is_in_reach(delta, queries):
        rule = "be at least 2**-100 for each query, as what lies in no bucket is below that"
        raise refused("delta", rule, delta)


_MOST_ERROR = 10**300


def widest(
    law_of: Callable[[Fraction], Any],
    error: object,
    *,
    confidence: object,
    queries: int = 1,
    most: int | None = None,
) -> Fraction:
    """Return the largest parameter for which errors of that size are as rare as is asked for.

    Parameters
    ----------
    law_of : callable
        A law of mu = 0 for its parameter: `DiscreteGaussian`, say. The larger the parameter, the
        larger its draws.
    error : number
        At least 0: how far off an answer may be.
    confidence : number
        How likely all answers are as near as that, between 0 and 1.
    queries : int, optional
        How many answers there are, each with a draw of its own.
    most : int, optional
        The largest variance whose tails are known, of a law whose parameter is its variance.

    Returns
    -------
    Fraction
        A decimal of six digits: P(abs(X) <= error)**queries >= confidence is proven for it, and not
        for the next.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter breaks its rule, or the error is above 10**300, or allows more than the most.

    Examples
    --------
    >>> import discretegauss as dg
    >>> widest(dg.DiscreteGaussian, 5, confidence="0.95")
    Fraction(795787, 100000)
    """
    reach = math.floor(at_least_zero(error, "error"))
    if reach > _MOST_ERROR:
        raise ParameterOverflowError("error must be at most 10**300")
    sure, count = checked_probability(confidence, "confidence"), query_count(queries)
    tail = miss_of_each(sure, count) / 2

    def too_wide(parameter: Fraction) -> bool:
        if most is not None and parameter > most:
            return True
        return Fraction(law_of(parameter).sf(reach, bounds=True)[1]) > tail

    guess = Fraction(1) if most is None else min(_normal_variance(reach, tail), Fraction(most))
    least = least_decimal(too_wide, guess)
    if most is not None and least > most:
        log2 = most.bit_length() - 1
        rule = f"be smaller for this kind of noise: no tails are known of variances above 2**{log2}"
        raise refused("error", rule, error, ParameterOverflowError)
    return decimal_at(decimal_ordinal(least) - 1)


def _normal_variance(reach: int, tail: Fraction) -> Fraction:
    """Return about the variance of the normal law that is above the reach so often."""
    z = max(-NormalDist().inv_cdf(max(float(tail), 1e-300)), 1e-6)
    return Fraction((reach + 0.5) / z) ** 2
