"""How much noise a budget asks for, or an error: noise of any kind.

*An error.* P(abs(X) <= e) falls as the scale of a law exp(-(abs(x)/scale)**beta) grows: what two
scales make of the ratio of any two weights is monotone in abs(x). Of a Skellam law, too: more
variance is one more draw, symmetric and unimodal, added to one that is so. So there is one
parameter up to which it is enough, found among decimals of six digits, by certified tails.

*A Gaussian.* For (epsilon, delta) the least sigma2 is looked for, although delta does not always
fall as sigma2 = v grows. With w(x) = exp(-x**2/(2 v)), T(m) = P(Y >= m) and one query that changes
by D,

    delta(v) = max over m of f(v, m),    f(v, m) = T(m) - exp(epsilon) T(m + D),

and m is the one integer on the *piece* v(m - 1) <= v < v(m), with v(m) = D (2 m + D)/(2 epsilon)
(hockey_stick.py). At v(m) the values for m and m + 1 agree: delta is continuous. Three facts:

*(a) For m <= 0 delta falls.* f = 1 - T(1 - m) - exp(epsilon) T(m + D), and P(Y >= j) grows with v
for every j >= 1.

*(b) For m >= 1 f(v, m) rises, then falls:* on a piece delta is least at one of its ends. With
S(m) the sum of (b**2 - a**2) w(a) w(b) over abs(a) < m <= b, dT(m)/dv = const S(m) > 0, so df/dv
has the sign of 1 - exp(epsilon) S(m + D)/S(m), and it is enough that this quotient grows with v:
that E(a**2 + b**2) under the weights of S(m) grows with m. By Holley's inequality it does, for
the pairs (abs(a), b): maxima of a pair of S(m) and one of S(m + 1) make a pair of S(m + 1),
minima one of S(m), and b**2 - a**2 is log-supermodular, as (s - t')(s' - t) - (s - t)(s' - t') =
(s - s')(t' - t) for any squares s >= s' and t <= t'.

*(c) delta(v(m)) falls as m = 0, 1, 2, ... grows.* With h = m + D/2, and so v(m) = h D/epsilon, it
is

    2 exp(epsilon/2 - epsilon D/(8 h) - epsilon h/(2 D))/Z  sum over j >= 1 of
        exp(-epsilon j/D - epsilon j**2/(2 h D)) sinh(epsilon j/(2 h)),

for real m, too, and 2 v h times the derivative of its logarithm by h is

    E(j**2 - j D coth(j D/(2 v))) - m (m + D) - s,    s = E(Y**2),                            (1)

E by weights w(j) exp(-j m/v) (1 - exp(-j D/v)), j >= 1. That (1) is negative for m = 0 is enough:
the function of j is -2 v at 0, falls and then rises, so that it crosses s >= 0 once, and a larger
m gives less weight to larger j. For m = 0, with J the sum of j w(j) and b(j) = w(j) exp(-j D/v),
it says

    s/2 + s sum of b(j) < D J + sum of j (j + D) b(j).

s/2 <= J in any case: with A, B the sums of w(j), j**2 w(j), that is B - J <= 2 A J, the sum of n
(n - 1) w(n) against that of (k + l) w(k) w(l), and w(k) w(l) >= w(k + l). So it holds if s <= 2,
as j (j + D) >= 2; and if v <= 2, as s <= v (Poisson summation, discrete_gaussian.py: no term for k
> 0 of E(Y**2) Z/v exceeds that of Z). For v > 2 let P(t) = t b(t): P' = b - t (t + D) b/v is 1 at
0, falls to no less than -2 exp(-3/2), and rises to 0; its variation V is at most 1 + 4 exp(-3/2),
its integral 0. By the trapezoidal rule its sum over j >= 1 is at most (V - 1)/2, and so s/2 + s
sum of b(j) at most v V/2 + sum of j (j + D) b(j); and J >= v - 1/12 - 0.03/sqrt(v) (Euler and
Maclaurin) is above v V/2.

So if v(m), m >= 0, is the first of these ends that meets the budget, no sigma2 up to v(m - 1)
does (by (b) and (c); by (a) there is nothing before m = 0 but one falling stretch), and what does
between v(m - 1) and v(m) is one interval that ends at v(m): its beginning is the least sigma2
there is.
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
from .._certified.search import (
    crossing,
    decimal_at,
    decimal_ordinal,
    first_true,
    least_decimal,
    zero_of,
)
from .._certified.skellam import LARGEST_TABLE
from .._inputs.budget import Budget
from .._inputs.law_parameters import checked_beta
from .._inputs.messages import describe, refused
from .._inputs.privacy_arguments import (
    at_least_zero,
    checked_probability,
    positive_number,
    query_count,
    whole_sensitivity,
    word_count,
)
from .._law import Kind, LawSpec
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law, Skellam, centred
from ._calibrate_shares import calibrate_shares
from ._known_sample import Sample
from .cost import cost_of
from .hockey_stick import as_one_query, delta_is_at_most, log_of_log
from .question import Change, is_vector, least_variance, refuse_vector
from .renyi import RenyiCurve
from .zcdp import SumOfGaussians, minus_log_upper, rho_lower
from .zcdp import rho as rho_of

_AnyLaw = TypeVar("_AnyLaw", DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Skellam)

_MOST_RHO_BITS = 4002
_ONE = Fraction(1)

#: Of a Skellam law of a larger variance, some 10**6, each step of a search takes 0.1 s and more.
_MOST_CROSSED = 14.3

#: What lies beyond all buckets is less, of one release.
_LEAST_DELTA = Fraction(1, 2**100)

#: Exponentials of epsilon are taken up to here, for a guess.
_MOST_EPSILON = Fraction(700)

#: What stands for the logarithm of a delta of 0.
_NOTHING = -1e4

#: What stands for one that is too large by less than a rounding.
_TOO_MUCH = 1e-300


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
        and delta. **All noise must be there whether or not that person is sampled** (see `delta`).
    secret_sample : bool, optional
        False: an observer may know who is sampled, as for `delta`.
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
      delta) the decimal before is not proven to do; by (epsilon, delta) it is at most the pure one.
    - Generalised Gaussian, Skellam noise for one number (of a variance up to some 10**6), and any
      kind with sampling: a crossing, at which the budget begins to be
      met as the parameter grows. Delta need not fall as it grows: a smaller one may meet the
      budget, too, and a larger one break it. By the default `loss`, one less in the
      last digit is too little.
    - For an error: P(abs(X) <= error)**queries >= confidence is proven, and not for the next
      decimal of six digits: so the least budget that has it, of this kind.
    - Skellam noise for vectors, or wider: the least variance of six digits that its Renyi
      divergences prove.
    - Gaussian shares, rho: the least sigma2 of six digits by the bounds of `rho`.
    - Gaussian shares and vectors, (epsilon, delta), and any shares or vectors with sampling: a
      crossing, at which `epsilon` and `delta` begin to meet the budget.

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
        secret_sample,
        beta,
        clients,
        dimension,
        sum_norm,
    )
    found: Any = _BY_KIND[kind](asked)
    return found  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _delta(spec: LawSpec, change: int, queries: int, sample: Sample, epsilon: Fraction) -> float:
    """Return delta; what the last searches tried is kept, so the same call again is fast."""
    return cost_of(spec, change, queries, sample).delta(epsilon)


class _Asked:
    """What is asked for, checked as far as it is the same for all kinds."""

    def __init__(
        self,
        budget: Budget,
        sensitivity: object,
        queries: object,
        sampling: object,
        secret_sample: object,
        beta: object,
        clients: object,
        dimension: object,
        sum_norm: object,
    ) -> None:
        self.budget, self.sensitivity, self.beta = budget, sensitivity, beta
        self.queries, self.sample = query_count(queries), Sample.of(sampling, secret_sample)
        self.rate = self.sample.rate
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

    def of_shares(self, law_of: Callable[[Fraction], Law]) -> Law:
        """Return the law of each share, or for vectors; its parameter is a variance."""
        change = SumOfGaussians(self.clients, self.sensitivity, *self.vector)
        return calibrate_shares(law_of, *self.epsilon_delta, change, self.queries, self.sample)

    def is_of_shares(self) -> bool:
        """Return whether noise in shares is asked for, or for vectors."""
        return self.clients > 1 or is_vector(*self.vector)

    def crossing(
        self,
        law_of: Callable[[Fraction], Law],
        power: int = 1,
        beta: Fraction = _ONE,
        enough: Fraction | None = None,
    ) -> Law:
        """Return a law that meets the budget, while one less in its last digit does not.

        Parameters
        ----------
        law_of : callable
            The law of a parameter, about the scale to that power.
        power, beta : int, Fraction
            What a first guess depends on.
        enough : Fraction, optional
            A parameter that meets the budget, as all larger ones do.

        Notes
        -----
        Delta need not fall as the parameter grows: where few integers count, the probability of the
        next one grows before it counts for nothing. So this is *a* crossing, at which the budget
        begins to be met, and not always the least.
        """
        self.require_no_shares()
        (epsilon, delta), change = self.epsilon_delta, whole_sensitivity(self.sensitivity)
        if (law_of is not DiscreteLaplace or self.rate != 1) and not self.is_in_reach():
            rule = "be at least 2**-100 for each query, as what lies in no bucket is below that"
            raise refused("delta", rule, delta)
        log_delta = log_of(delta)

        def excess(parameter: Fraction) -> float:
            """Return log(found/delta), at most 0 where the budget is met, and only there."""
            spec = centred(law_of(parameter))
            found = _delta(spec, change, self.queries, self.sample, epsilon)
            log = math.log(found) - log_delta if found else _NOTHING
            return min(log, 0.0) if found <= delta else max(log, _TOO_MUCH)

        guess = fraction_of(arithmetic(53).up.exp(power * self.log_scale(beta)))
        if enough is not None:
            guess = min(guess, enough)
        found = crossing(excess, guess, max(-2 / power * log_delta, 1.0))
        return law_of(found if enough is None else min(found, enough))

    def is_in_reach(self) -> bool:
        """Return whether delta is above what may lie in no bucket."""
        return self.epsilon_delta[1] >= self.queries * _LEAST_DELTA

    def log_scale(self, beta: Fraction = _ONE) -> float:
        """Return about the logarithm of the scale of noise for one number, where queries are many.

        Their losses add up to nearly normal ones (the central limit theorem): with J/scale**2 the
        Fisher information of one, to those of a normal mean moved by mu deviations,

            mu**2 = rate**2 queries (exp((change/scale)**2 J) - 1),    (change/scale)**2 J queries

        with sampling and without; J = beta**2 G(2 - 1/beta)/G(1/beta), and 1 for a Gaussian's
        sigma.
        """
        (epsilon, delta), b = self.epsilon_delta, float(min(beta, _ONE * 10**4))
        e, log_delta = float(min(epsilon, _MOST_EPSILON)), max(log_of(delta), -700.0)

        def excess(log_mu: float) -> float:
            mu = math.exp(log_mu)
            tails = [math.erfc((e / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1)]
            found = tails[0] - math.exp(e) * tails[1]
            return (math.log(found) if found > 0 else _NOTHING) - log_delta

        log_mu = zero_of(excess, 0.0, 14.0)
        if self.rate != 1:
            share = 2 * log_mu - log_of(self.rate**2 * self.queries)  # of exp(mu1**2) - 1
            log_mu1 = math.log(math.log1p(math.exp(share)) if share < 700 else share) / 2
        else:
            log_mu1 = log_mu - log_of(Fraction(self.queries)) / 2
        log_j = math.log(b**2 * math.gamma(2 - 1 / b) / math.gamma(1 / b))
        return log_of(Fraction(whole_sensitivity(self.sensitivity))) + log_j / 2 - log_mu1


def _gaussian(asked: _Asked) -> Law:
    rho, queries = asked.budget.rho, asked.queries
    if asked.is_of_shares() and (rho is None or asked.rate != 1):
        return asked.of_shares(DiscreteGaussian)
    if asked.rate != 1:
        return asked.crossing(DiscreteGaussian, 2)
    if asked.clients > 1 and rho is not None:
        change = SumOfGaussians(asked.clients, asked.sensitivity, *asked.vector)
        each = rho / queries
        guess = change.squared / (2 * change.clients * each)
        return DiscreteGaussian(least_variance(change.cost, each, guess, "the budget"))
    if rho is not None:
        squared = queries * positive_number(asked.sensitivity, "sensitivity") ** 2
        return DiscreteGaussian(squared / (2 * rho))
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
    epsilon, delta = asked.budget.epsilon, asked.budget.delta
    pure = queries * change / epsilon if epsilon else None
    return asked.crossing(DiscreteLaplace, enough=pure) if delta else DiscreteLaplace(pure)


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
        of_shares = asked.is_of_shares()
        return asked.of_shares(Skellam) if of_shares else asked.crossing(Skellam, 2)
    (epsilon, delta), queries = asked.epsilon_delta, word_count(asked.queries, "queries")
    of_a_number = asked.clients == 1 and not is_vector(*asked.vector)
    of_a_number &= positive_number(asked.sensitivity, "sensitivity").denominator == 1
    if of_a_number and asked.is_in_reach() and 2 * asked.log_scale() < _MOST_CROSSED:
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


# --- Gaussians

_UP: Any = arithmetic(80).up

_MOST_SIGMA2_BITS = 4000
"""Beyond this delta is no longer computed tightly (hockey_stick.py)."""

_MANY_PIECES = 10**9
"""Of more, only every so many-th is searched for an end that is enough: they are far narrower than
the steps of decimals."""


class GaussianTarget(NamedTuple):
    """(epsilon, delta) for so many queries, each changed by at most ``change``."""

    epsilon: Fraction
    delta: Fraction
    change: int
    queries: int

    def least_sigma2(self) -> Fraction:
        """Return the least sigma2 rounded up to a decimal, or the end of its piece."""
        guess = self.guess()
        if self.epsilon == 0:  # delta falls
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
        """Return step and n, n large unless step is 1: v(n step) is enough, v((n - 1) step) not."""
        step = max(1, guess // _MANY_PIECES)
        n = first_true(lambda n: self.met_by(self.end(n * step)), -(-guess // step), low=0)
        if step == 1 or n > _MANY_PIECES // 2:
            return step, n
        return self.first_ends(n * step)

    def least_decimal(self, before: Fraction, last: int, guess: Fraction) -> Fraction:
        """Return the least decimal above ``before`` that is enough, if the last one is."""

        def holds(n: int) -> bool:
            value = decimal_at(n)
            return n >= last or (value > before and self.met_by(value))

        start = max(guess, before) if before else guess
        return decimal_at(first_true(holds, min(decimal_ordinal(start), last)))

    def end(self, m: int) -> Fraction:
        """Return v(m), from which on m counts no more; of several queries that of their sum."""
        return self.change * (2 * m + self.queries * self.change) / (2 * self.epsilon)

    def piece_of(self, sigma2: Fraction) -> int:
        """Return the m with v(m - 1) <= sigma2 < v(m)."""
        x = self.epsilon * sigma2 / self.change - Fraction(self.queries * self.change, 2)
        return math.floor(x) + 1

    def met_by(self, sigma2: Fraction) -> bool:
        """Return whether that is proven, as `delta` does it."""
        spec = LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2)
        one = as_one_query(spec, self.change, self.queries)
        if one is not None:
            law, change, factor = one
            return delta_is_at_most(law, gmpy2.mpq(self.epsilon), change, self.delta / factor)
        return _delta(spec, self.change, self.queries, Sample(_ONE), self.epsilon) <= self.delta

    def guess(self) -> Fraction:
        """Return about the sigma2 looked for, to six digits or so.

        log(-log(delta)) is nearly a line in log(sigma2).
        """
        goal, epsilon = minus_log_upper(self.delta), gmpy2.mpq(self.epsilon)
        change = self.queries * self.change  # of the single query that stands for all

        def sigma2(u: float) -> Fraction:
            return change**2 * fraction_of(_UP.exp(u))

        def excess(u: float) -> float:
            return log_of_log(LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2(u)), epsilon, change, goal)

        # What is enough by way of zCDP is a little too large.
        rho = rho_lower(self.epsilon, self.delta)
        enough: Any = gmpy2.mpq(self.delta) ** -2
        if rho > 0:
            enough = 1 / (2 * gmpy2.mpq(rho))
        if enough > 1 << _MOST_SIGMA2_BITS:
            raise ParameterOverflowError(
                "epsilon and delta must leave noise of a standard deviation below "
                f"2**{_MOST_SIGMA2_BITS // 2} times the sensitivity"
            )
        start = float(_UP.log(enough))
        return sigma2(zero_of(excess, start, _MOST_SIGMA2_BITS)) / self.queries


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
