"""The noise that a budget, or an error, asks for.

*An error.* P(abs(X) <= e) falls as the scale of a law exp(-(abs(x)/scale)**beta) grows, because the
ratio of the weights of two scales is monotone in abs(x). For a Skellam law it falls, too, because
more variance adds one more draw, symmetric and unimodal, to another such draw. So exactly the
parameters up to some value are small enough. The largest decimal of six digits among them is found
by certified tails.

*A Gaussian.* (epsilon, delta) asks for the least sigma2, although delta does not always fall as
sigma2 = v grows. Let w(x) = exp(-x**2/(2 v)) and T(m) = P(Y >= m). For one query of sensitivity D,

    delta(v) = max over m of f(v, m),    f(v, m) = T(m) - exp(epsilon) T(m + D),

and m is the one integer on the *piece* v(m - 1) <= v < v(m), with v(m) = D (2 m + D)/(2 epsilon)
(hockey_stick.py). At v(m) the values for m and m + 1 agree, so delta is continuous. Three facts
follow.

*(a) For m <= 0 delta falls.* f = 1 - T(1 - m) - exp(epsilon) T(m + D), and P(Y >= j) grows with v
for every j >= 1.

*(b) For m >= 1 f(v, m) rises, then falls,* so on a piece delta is least at one of its ends. With
S(m) the sum of (b**2 - a**2) w(a) w(b) over abs(a) < m <= b, dT(m)/dv = const S(m) > 0, so df/dv
has the sign of 1 - exp(epsilon) S(m + D)/S(m). It is enough that this quotient grows with v, and
for that, that E(a**2 + b**2) under the weights of S(m) grows with m. It does so by Holley's
inequality for the pairs (abs(a), b). Maxima of a pair of S(m) and a pair of S(m + 1) make a pair of
S(m + 1), and minima a pair of S(m). And b**2 - a**2 is log-supermodular, because (s - t')(s' - t) -
(s - t)(s' - t') = (s - s')(t' - t) for any squares s >= s' and t <= t'.

*(c) delta(v(m)) falls as m = 0, 1, 2, ... grows.* With h = m + D/2, and so v(m) = h D/epsilon, it
is

    2 exp(epsilon/2 - epsilon D/(8 h) - epsilon h/(2 D))/Z  sum over j >= 1 of
        exp(-epsilon j/D - epsilon j**2/(2 h D)) sinh(epsilon j/(2 h)),

also for real m. The derivative of its logarithm by h, times 2 v h, is

    E(j**2 - j D coth(j D/(2 v))) - m (m + D) - s,    s = E(Y**2),                            (1)

with E by weights w(j) exp(-j m/v) (1 - exp(-j D/v)), j >= 1. It is enough that (1) is negative for
m = 0: the function of j is -2 v at 0, falls and then rises, so it crosses s >= 0 once, and a larger
m gives less weight to larger j. For m = 0, with J the sum of j w(j) and b(j) = w(j) exp(-j D/v),
(1) says

    s/2 + s sum of b(j) < D J + sum of j (j + D) b(j).

s/2 <= J in any case. With A, B the sums of w(j), j**2 w(j) this is B - J <= 2 A J, the sum of n
(n - 1) w(n) against the sum of (k + l) w(k) w(l), and w(k) w(l) >= w(k + l). So (1) holds if
s <= 2, because j (j + D) >= 2. It holds if v <= 2, because s <= v (Poisson summation,
discrete_gaussian.py: no term for k > 0 of E(Y**2) Z/v exceeds that of Z). For v > 2 let
P(t) = t b(t). P' = b - t (t + D) b/v is 1 at 0, falls to no less than -2 exp(-3/2), and rises to 0.
Its variation V is at most 1 + 4 exp(-3/2), and its integral 0. By the trapezoidal rule its sum over
j >= 1 is at most (V - 1)/2, so s/2 + s sum of b(j) is at most v V/2 + sum of j (j + D) b(j). And
J >= v - 1/12 - 0.03/sqrt(v) (Euler and Maclaurin) is above v V/2.

Let v(m), m >= 0, be the first of these ends that meets the budget. Then no sigma2 up to v(m - 1)
meets it, by (b) and (c); before m = 0 there is only one falling stretch, by (a). The sigma2 that
meet it between v(m - 1) and v(m) are one interval that ends at v(m), and its beginning is the least
sigma2 there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any, NamedTuple, TypeVar

import gmpy2

from .._certified.euler_maclaurin import log_of
from .._certified.interval import arithmetic, fraction_of
from .._certified.probability import miss_of_each
from .._certified.search import first_true
from .._certified.skellam import LARGEST_TABLE
from .._inputs.budget import Budget
from .._inputs.keywords import with_hints
from .._inputs.law_parameters import checked_beta
from .._inputs.messages import describe, refused
from .._inputs.numbers import MAX_BITS
from .._inputs.privacy_arguments import (
    at_least_zero,
    checked_probability,
    integer_sensitivity,
    query_count,
    whole_sensitivity,
    word_count,
)
from .._law import Kind, LawSpec
from .._law_functions.narrow import warn_of_narrow
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import (
    DiscreteGaussian,
    DiscreteLaplace,
    GeneralizedGaussian,
    Law,
    Skellam,
    centred_simplest,
)
from ._calibrate_shares import calibrate_shares
from ._known_sample import Sample
from ._search import crossing, decimal_at, decimal_ordinal, least_decimal, zero_of
from .cost import cost_of
from .hockey_stick import as_one_query, delta_is_at_most, log_of_log
from .renyi import RenyiCurve
from .sensitivity import Sensitivity, is_vector, refuse_vector
from .zcdp import LEAST_FLOAT, is_log_within, minus_log_upper, rho_lower, rho_of_shares
from .zcdp import rho as rho_of

_AnyLaw = TypeVar("_AnyLaw", DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Skellam)

_MOST_RHO_BITS = 4002
_ONE = Fraction(1)

#: The logarithm of the largest Skellam variance for a crossing. From a normal law's variance two to
#: seven steps lead there, each of 0.1 to 1.5 s. They may go a little beyond the guess.
_MOST_CROSSED = math.log(LARGEST_TABLE) - 0.01

#: The mass that one release may have outside of all buckets is less than this.
_LEAST_DELTA = Fraction(1, 2**100)

#: Guesses take exponentials of epsilon up to this.
_MOST_EPSILON = Fraction(700)

#: A guess uses this as the logarithm of a delta of 0.
_NOTHING = -1e4

#: The excess of a delta that is too large by less than a rounding.
_TOO_MUCH = 1e-300


@with_hints
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
    secret_sample: bool = True,
    beta: object = None,
    clients: int | None = None,
    dimension: int = 1,
    sum_norm: object = None,
    error: object = None,
    confidence: object = None,
) -> _AnyLaw:
    """Return the noise that a budget asks for, rho or (epsilon, delta), or that an error allows.

    Parameters
    ----------
    kind : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
        The class of the law.
    budget : Budget, optional
        The budget of all queries together. It may also be given by name:
    rho : number, optional
        The zCDP budget, positive, for Gaussian and Laplace noise.
    epsilon, delta : number, optional
        The (epsilon, delta) budget: epsilon at least 0, delta strictly between 0 and 1. With a
        discrete Laplace law, epsilon alone means pure differential privacy, delta = 0.
    sensitivity : number, optional
        The largest change of one answer by one person, a whole number. For a Gaussian with rho it
        is any number of at least 1, for example the Euclidean norm of the change of several
        answers. For shares and Skellam noise it is the Euclidean norm of the change of a vector of
        integers, at least 1.
    queries : int, optional
        The number of answers that one person may change, each by at most ``sensitivity``. Each has
        its own noise from the law returned. Later queries may depend on earlier answers.
    sampling : number, optional
        The probability with which each person takes part in each query, independently; for epsilon
        and delta. **All noise must be there whether or not that person is sampled** (see `delta`).
    secret_sample : bool, optional
        False: an observer may know who is sampled, as for `delta`.
    beta : number, optional
        The exponent of a generalised Gaussian, at least 1.
    clients : int, optional
        The least number of clients that add a share and keep it to themselves, for Gaussian and
        Skellam noise. The law returned is that of each share.
    dimension, sum_norm : optional
        For vectors, as for `delta`.
    error, confidence : number, optional
        Instead of a budget: how far off an answer may be, and the probability that all answers are
        within that error at once, 0.95 by default. `rho`, `delta` and `epsilon` tell the cost.

    Returns
    -------
    law of that kind
        It has mu = 0. Its parameter is exact, or a decimal of six digits, rounded up. Its cost is
        proven to be within the budget.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong, or no cost is known for such a budget.

    Warns
    -----
    PrivacyWarning
        If the noise of all clients together is 0 in more than 999 of 1000 draws.

    Notes
    -----
    How near the result is to the least noise:

    - Gaussian, rho: ``sigma2 = queries * sensitivity**2 / (2 rho)``, exactly (CKS 2020, Theorem
      14).
    - Gaussian, (epsilon, delta): from the least delta there is, not from zCDP. For one query no
      sigma2 that is smaller by more than 1 in 10**5 meets the budget. A larger sigma2 may break it
      again. If epsilon is above about sensitivity/2, delta does not always fall as sigma2 grows, so
      the sigma2 that meet a budget may form several intervals, and the result lies at the beginning
      of the first. If the first is too short to hold a decimal of 6 digits, the result is its end,
      sensitivity (2 m + sensitivity)/(2 epsilon) for an integer m. Several queries use the same
      search.
    - Laplace, pure: ``scale = queries * sensitivity / epsilon``, exactly. For rho or (epsilon,
      delta) the next smaller decimal is not proven to meet the budget. For (epsilon, delta) the
      scale is at most the pure one.
    - Generalised Gaussian, Skellam noise for one number (of a variance up to 2**28), and any kind
      with sampling: a crossing, at which the parameter begins to meet the budget as it grows. Delta
      need not fall as the parameter grows. A smaller one may also meet the budget, and a larger one
      may break it. By the default `loss`, one less in the last digit is too little.
    - For an error: P(abs(X) <= error)**queries >= confidence is proven, and is not proven for the
      next decimal of six digits. To six digits, no noise of this kind within that error costs less.
    - Skellam noise for vectors, or wider: the least variance of six digits for which its Renyi
      divergences prove the budget.
    - Gaussian shares, rho: the least sigma2 of six digits by the bounds of `rho`.
    - Gaussian shares and vectors, (epsilon, delta), and any shares or vectors with sampling: a
      crossing, at which `epsilon` and `delta` begin to meet the budget.

    If one person changes several coordinates of one answer, each counts as a query, unless a
    Euclidean norm is given.

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
        raise ParameterTypeError(
            "beta must be given for a GeneralizedGaussian, and for no other kind"
        )
    if error is not None:
        others = {"budget": budget, "rho": rho, "epsilon": epsilon, "delta": delta}
        others |= {"clients": clients, "sum_norm": sum_norm}
        others |= {"sampling": None if type(sampling) is int and sampling == 1 else sampling}
        for name, value in others.items():
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
        law = law_of(widest(law_of, error, **how))
        warn_of_narrow([law])
        return law  # type: ignore[no-any-return]
    if confidence is not None:
        raise ParameterTypeError("confidence needs error, which was not given")
    request = _Request(
        Budget.of(budget, rho=rho, epsilon=epsilon, delta=delta),
        sensitivity,
        queries,
        sampling,
        secret_sample,
        beta,
        clients,
        dimension,
        sum_norm,
    )
    found: Any = _BY_KIND[kind](request)
    warn_of_narrow([found], request.clients)
    return found  # type: ignore[no-any-return]


def law_of_budget(
    kind: type[_AnyLaw], budget: Budget, sensitivity: object = 1, queries: object = 1
) -> _AnyLaw:
    """Return the law of `calibrate` for callers that warn of narrow noise themselves, or need not.

    The kind is not a GeneralizedGaussian, which has a beta, too.
    """
    found: Any = _BY_KIND[kind](_Request(budget, sensitivity, queries))
    return found  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _delta(
    spec: LawSpec, sensitivity: int, queries: int, sample: Sample, epsilon: Fraction
) -> float:
    """Return delta. It is cached, so repeating a search is fast."""
    return cost_of(spec, sensitivity, queries, sample).delta(epsilon)


class _Request:
    """The arguments of `calibrate`, checked as far as all kinds share the rules."""

    def __init__(
        self,
        budget: Budget,
        sensitivity: object,
        queries: object,
        sampling: object = 1,
        secret_sample: object = True,
        beta: object = None,
        clients: object = None,
        dimension: object = 1,
        sum_norm: object = None,
    ) -> None:
        self.budget, self.sensitivity, self.beta = budget, sensitivity, beta
        self.queries, self.sample = query_count(queries), Sample.of(sampling, secret_sample)
        self.sampling_rate = self.sample.rate
        self.clients = 1 if clients is None else word_count(clients, "clients")
        self.vector = dimension, sum_norm
        is_vector(*self.vector)  # raises if one is wrong

    @property
    def epsilon_delta(self) -> tuple[Fraction, Fraction]:
        """Return epsilon and delta; delta is above 0."""
        epsilon, delta = self.budget.epsilon, self.budget.delta
        if epsilon is None or delta is None:
            raise ParameterValueError(
                "rho is a budget for discrete Gaussians and Laplaces without sampling: give "
                f"epsilon with delta, got {self.budget}"
            )
        if not delta:
            raise ParameterValueError(
                "delta must lie between 0 and 1, both excluded, got 0, which is its default; for "
                "delta = 0 use calibrate(DiscreteLaplace, ...)"
            )
        return epsilon, delta

    def require_no_shares(self) -> None:
        if self.clients > 1:
            raise ParameterValueError(
                "clients must be 1 except for Gaussian and Skellam noise: no cost is known for "
                f"other shares, got {self.clients}"
            )
        refuse_vector(*self.vector, "this noise")

    def of_shares(self, law_of: Callable[[Fraction], Law]) -> Law:
        """Return the law of each share, or for a vector. Its parameter is a variance."""
        epsilon_delta, how = self.epsilon_delta, (self.queries, self.sample)
        return calibrate_shares(law_of, *epsilon_delta, self.clients, self.change(), *how)

    def change(self) -> Sensitivity:
        """Return how far one person changes a vector."""
        return Sensitivity.of_vector(self.sensitivity, *self.vector)

    def is_of_shares(self) -> bool:
        """Return whether the noise is in shares, or for vectors."""
        return self.clients > 1 or is_vector(*self.vector)

    def crossing(
        self,
        law_of: Callable[[Fraction], Law],
        power: int = 1,
        beta: Fraction = _ONE,
        enough: Fraction | None = None,
    ) -> Law:
        """Return a law that meets the budget, while one less in its last digit breaks it.

        `law_of` returns the law for a parameter, which is about the scale to that power. `power`
        and `beta` make a first guess. The parameter `enough` meets the budget, and so do all larger
        ones.

        Delta need not fall as the parameter grows. If few integers matter, the probability of the
        next one grows first. So this is *a* crossing, at which the parameter begins to meet the
        budget, and not always the least.
        """
        self.require_no_shares()
        (epsilon, delta), sensitivity = self.epsilon_delta, whole_sensitivity(self.sensitivity)
        if (law_of is not DiscreteLaplace or self.sampling_rate != 1) and not self.is_in_reach():
            rule = "be at least 2**-100 for each query: that mass may lie outside of all buckets"
            raise refused("delta", rule, delta)
        log_delta = log_of(delta)

        def excess(parameter: Fraction) -> float:
            """Return log(found/delta). It is at most 0 if and only if the budget is met."""
            spec = centred_simplest(law_of(parameter))
            found = _delta(spec, sensitivity, self.queries, self.sample, epsilon)
            log = math.log(found) - log_delta if found else _NOTHING
            return min(log, 0.0) if found <= delta else max(log, _TOO_MUCH)

        guess = fraction_of(arithmetic(53).up.exp(power * self.log_scale(beta)))
        if enough is not None:
            guess = min(guess, enough)
        found = crossing(excess, guess, max(-2 / power * log_delta, 1.0))
        return law_of(found if enough is None else min(found, enough))

    def is_in_reach(self) -> bool:
        """Return whether delta is at least the mass that may lie outside of all buckets."""
        return self.epsilon_delta[1] >= self.queries * _LEAST_DELTA

    def log_scale(self, beta: Fraction = _ONE) -> float:
        """Return about the logarithm of the scale of noise for one number and many queries.

        By the central limit theorem their losses sum to nearly the loss of a normal law whose mean
        moves by mu deviations. Let s be the sensitivity, q the sampling rate and J/scale**2 the
        Fisher information of one. Then

            mu**2 = q**2 queries (exp((s/scale)**2 J) - 1),    (s/scale)**2 J queries

        with sampling and without. J = beta**2 G(2 - 1/beta)/G(1/beta). For the sigma of a Gaussian
        J is 1.
        """
        (epsilon, delta), b = self.epsilon_delta, float(min(beta, _ONE * 10**4))
        e, log_delta = float(min(epsilon, _MOST_EPSILON)), max(log_of(delta), -700.0)

        def excess(log_mu: float) -> float:
            mu = math.exp(log_mu)
            tails = [math.erfc((e / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1)]
            found = tails[0] - math.exp(e) * tails[1]
            return (math.log(found) if found > 0 else _NOTHING) - log_delta

        log_mu = zero_of(excess, 0.0, 14.0)
        if self.sampling_rate != 1:
            share = 2 * log_mu - log_of(self.sampling_rate**2 * self.queries)  # of exp(mu1**2) - 1
            log_mu1 = math.log(math.log1p(math.exp(share)) if share < 700 else share) / 2
        else:
            log_mu1 = log_mu - log_of(Fraction(self.queries)) / 2
        log_j = math.log(b**2 * math.gamma(2 - 1 / b) / math.gamma(1 / b))
        return log_of(Fraction(whole_sensitivity(self.sensitivity))) + log_j / 2 - log_mu1


def _least_variance(
    cost: Callable[[Fraction], Any], budget: Fraction, guess: Fraction, name: str
) -> Fraction:
    """Return the least variance of 6 significant digits at which a share costs at most the budget.

    The cost, rounded up, falls as the variance grows. The guess is near the result. ``name`` names
    the parameter of the budget in messages.
    """
    if max(guess.numerator.bit_length(), guess.denominator.bit_length()) > MAX_BITS:
        raise ParameterOverflowError(
            f"{name} and sensitivity must have fewer digits, or be closer in size"
        )
    exact = gmpy2.mpq(budget)
    return least_decimal(lambda variance: bool(cost(variance) <= exact), guess)


def _gaussian(request: _Request) -> Law:
    rho, queries = request.budget.rho, request.queries
    if request.is_of_shares() and (rho is None or request.sampling_rate != 1):
        return request.of_shares(DiscreteGaussian)
    if request.sampling_rate != 1:
        return request.crossing(DiscreteGaussian, 2)
    if request.clients > 1 and rho is not None:
        clients, change, each = request.clients, request.change(), rho / queries
        guess = change.norm2 / (2 * clients * each)
        cost = partial(rho_of_shares, clients=clients, change=change)
        return DiscreteGaussian(_least_variance(cost, each, guess, "the budget"))
    if rho is not None:
        squared = queries * integer_sensitivity(request.sensitivity) ** 2
        return DiscreteGaussian(squared / (2 * rho))
    whole = whole_sensitivity(request.sensitivity)
    target = GaussianTarget(*request.epsilon_delta, whole, queries)
    return DiscreteGaussian(target.least_sigma2())


def _laplace(request: _Request) -> Law:
    request.require_no_shares()
    rho, queries = request.budget.rho, request.queries
    sensitivity = whole_sensitivity(request.sensitivity)
    if request.sampling_rate != 1:
        return request.crossing(DiscreteLaplace)
    if rho is not None:
        return DiscreteLaplace(_scale_for_rho(rho / queries, sensitivity))
    epsilon, delta = request.budget.epsilon, request.budget.delta
    pure = queries * sensitivity / epsilon if epsilon else None
    return request.crossing(DiscreteLaplace, enough=pure) if delta else DiscreteLaplace(pure)


def _scale_for_rho(rho: Fraction, sensitivity: int) -> Fraction:
    """Return the least decimal scale that costs at most rho for one query."""
    bits = abs(rho.numerator.bit_length() - rho.denominator.bit_length())
    if bits > _MOST_RHO_BITS:
        rule = f"be between 2**-{_MOST_RHO_BITS} and 2**{_MOST_RHO_BITS} for each query"
        raise refused("rho", rule, rho, ParameterOverflowError)
    # If the sensitivity is 1, rho is eps0 tanh(eps0/2), a little below min(eps0, eps0**2/2).
    exact = gmpy2.mpq(rho)
    eps0 = max(exact, gmpy2.mpq(arithmetic(64).up.sqrt(2 * exact)))
    guess = Fraction(int(eps0.denominator), int(eps0.numerator)) * sensitivity
    return least_decimal(lambda scale: rho_of(DiscreteLaplace(scale), sensitivity) <= rho, guess)


def _generalized(request: _Request) -> Law:
    exponent = checked_beta(request.beta)
    return request.crossing(lambda scale: GeneralizedGaussian(scale, exponent), beta=exponent)


def _skellam(request: _Request) -> Law:
    if request.sampling_rate != 1:
        of_shares = request.is_of_shares()
        return request.of_shares(Skellam) if of_shares else request.crossing(Skellam, 2)
    (epsilon, delta), queries = request.epsilon_delta, word_count(request.queries, "queries")
    of_a_number = request.clients == 1 and not is_vector(*request.vector)
    of_a_number &= integer_sensitivity(request.sensitivity).denominator == 1
    if of_a_number and request.is_in_reach() and 2 * request.log_scale() < _MOST_CROSSED:
        return request.crossing(Skellam, 2)
    change = request.change()
    if not epsilon:
        raise refused("epsilon", "be above 0 for Skellam noise", epsilon)

    def cost(variance: Fraction) -> Any:
        total = variance * request.clients
        return RenyiCurve.of_skellam(change, total, queries).epsilon_upper(delta)

    guess = queries * change.norm2 / (2 * request.clients * epsilon)
    return Skellam(_least_variance(cost, epsilon, guess, "epsilon"))


_BY_KIND: dict[Any, Callable[[_Request], Law]] = {
    DiscreteGaussian: _gaussian,
    DiscreteLaplace: _laplace,
    GeneralizedGaussian: _generalized,
    Skellam: _skellam,
}


# --- Gaussians

_UP: Any = arithmetic(80).up

_MOST_SIGMA2_BITS = 4000
"""If sigma2 has more bits, delta is no longer tight (hockey_stick.py)."""

_MANY_PIECES = 10**9
"""If there are more pieces, the search for an end takes several at a step, because pieces are then
far narrower than the steps of decimals."""


class GaussianTarget(NamedTuple):
    """(epsilon, delta) for several queries, each of this sensitivity."""

    epsilon: Fraction
    delta: Fraction
    sensitivity: int
    queries: int

    def least_sigma2(self) -> Fraction:
        """Return the least sigma2 rounded up to a decimal, or the end of its piece."""
        guess = self.guess()
        if self.epsilon == 0:  # delta falls as sigma2 grows
            return least_decimal(self.met_by, guess)
        step, n = self.first_ends(max(0, self.piece_of(guess)))
        before, end = self.end((n - 1) * step) if n else Fraction(0), self.end(n * step)
        last = decimal_ordinal(end)  # the last up to the end
        if decimal_at(last) > end:
            last -= 1
        among = decimal_at(last) > before
        if among and self.met_by(decimal_at(last)):
            return self.least_decimal(before, last, guess)
        following = decimal_at(last + 1)
        if (step == 1 or not among) and self.met_by(following):
            return following
        return end

    def first_ends(self, guess: int) -> tuple[int, int]:
        """Return step and n: v(n step) meets the budget, v((n - 1) step) does not.

        n is large unless step is 1.
        """
        step = max(1, guess // _MANY_PIECES)
        n = first_true(lambda n: self.met_by(self.end(n * step)), -(-guess // step), low=0)
        if step == 1 or n > _MANY_PIECES // 2:
            return step, n
        return self.first_ends(n * step)

    def least_decimal(self, before: Fraction, last: int, guess: Fraction) -> Fraction:
        """Return the least decimal above ``before`` that meets the budget, if the last one does."""

        def holds(n: int) -> bool:
            value = decimal_at(n)
            return n >= last or (value > before and self.met_by(value))

        start = max(guess, before) if before else guess
        return decimal_at(first_true(holds, min(decimal_ordinal(start), last)))

    def end(self, m: int) -> Fraction:
        """Return v(m), the end of the piece of m; of several queries, that of their sum."""
        return self.sensitivity * (2 * m + self.queries * self.sensitivity) / (2 * self.epsilon)

    def piece_of(self, sigma2: Fraction) -> int:
        """Return the m with v(m - 1) <= sigma2 < v(m)."""
        x = self.epsilon * sigma2 / self.sensitivity - Fraction(self.queries * self.sensitivity, 2)
        return math.floor(x) + 1

    def met_by(self, sigma2: Fraction) -> bool:
        """Return whether the budget is proven at sigma2, by the same bounds as `delta`."""
        spec = LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2)
        one = as_one_query(spec, self.sensitivity, self.queries)
        if one is not None:
            law, sensitivity, ratio = one
            return delta_is_at_most(law, gmpy2.mpq(self.epsilon), sensitivity, self.delta / ratio)
        how = spec, self.sensitivity, self.queries, Sample(_ONE)
        if self.delta < LEAST_FLOAT:
            return is_log_within(cost_of(*how).log_delta(self.epsilon), self.delta)
        return _delta(*how, self.epsilon) <= self.delta

    def guess(self) -> Fraction:
        """Return the sigma2 that meets the budget, to about six digits.

        log(-log(delta)) is nearly linear in log(sigma2).
        """
        goal, epsilon = minus_log_upper(self.delta), gmpy2.mpq(self.epsilon)
        sensitivity = self.queries * self.sensitivity  # of the one query that is like all of them

        def sigma2(u: float) -> Fraction:
            return sensitivity**2 * fraction_of(_UP.exp(u))

        def excess(u: float) -> float:
            return log_of_log(
                LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2(u)), epsilon, sensitivity, goal
            )

        # zCDP gives a sigma2 that is a little too large.
        rho = rho_lower(self.epsilon, self.delta)
        enough: Any = gmpy2.mpq(self.delta) ** -2
        if rho > 0:
            enough = 1 / (2 * gmpy2.mpq(rho))
        if enough > 1 << _MOST_SIGMA2_BITS:
            raise ParameterOverflowError(
                "epsilon and delta must be met by noise of a standard deviation below "
                f"2**{_MOST_SIGMA2_BITS // 2} times the sensitivity"
            )
        start = float(_UP.log(enough))
        return sigma2(zero_of(excess, start, MAX_BITS)) / self.queries


# --- an error

_MOST_ERROR = 10**300


def widest(
    law_of: Callable[[Fraction], Any],
    error: object,
    *,
    confidence: object,
    queries: int = 1,
    most: int | None = None,
) -> Fraction:
    """Return the largest parameter whose draws are within the error with the confidence.

    `law_of` returns a law of mu = 0, whose draws grow with the parameter. The confidence is that of
    all answers, each with its own draw. `most` is the largest variance with known tails, if the
    parameter is a variance.

    The result is a decimal of six digits. P(abs(X) <= error)**queries >= confidence is proven for
    it, but not for the next decimal. An error above 10**300, or one that allows a variance above
    ``most``, is refused.

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
        rule = (
            f"be smaller for this kind of noise: no tails are known for variances above 2**{log2}"
        )
        raise refused("error", rule, error, ParameterOverflowError)
    return decimal_at(decimal_ordinal(least) - 1)


def _normal_variance(reach: int, tail: Fraction) -> Fraction:
    """Return about the variance of a normal law that exceeds the reach with probability tail."""
    z = max(-NormalDist().inv_cdf(max(float(tail), 1e-300)), 1e-6)
    return Fraction((reach + 0.5) / z) ** 2
