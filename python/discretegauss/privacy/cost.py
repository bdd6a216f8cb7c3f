"""The cost of noise as (epsilon, delta), and the choice of the object that computes it.

- One query, and several with Gaussian noise that are like one: a `HockeyStick`, exactly
  (hockey_stick.py).
- Other queries that one person changes by integers, also on a sample of the people: a
  `PrivacyLoss` with proven bounds (loss_distribution.py), or a pure epsilon or rho that is less.
- Vectors, sums of shares, and Skellam noise of a variance above 2**28, also on a sample: the `Best`
  of several bounds (shares.py).

docs/concepts/accounting.md says how tight each is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import matmul
from typing import TypeAlias

from .._certified.skellam import LARGEST_TABLE
from .._inputs.keywords import with_hints
from .._inputs.messages import refused
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import (
    at_least_zero,
    integer_sensitivity,
    query_count,
    whole_sensitivity,
)
from .._law import Kind, LawSpec
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import Law, centred_simplest
from ._known_sample import Sample
from .hockey_stick import HockeyStick
from .loss_distribution import Known, PrivacyLoss, Query, loss_of_queries
from .renyi import Bounds, RenyiCurve
from .sensitivity import Sensitivity, clients_of, is_vector, refuse_vector
from .shares import Rounds, cost_of_shares

_ONE = Fraction(1)

#: The arguments that have a cost.
Noise = Law | SumOfDraws | PrivacyLoss

_COMPOSE = "compose losses that differ, loss(a, 1, sampling=q) @ loss(b, 2), and ask that object"

#: Beyond this many queries, the bound from rho is as good as the buckets'.
_MOST_COMPOSED = 10**9


@with_hints
def delta(
    law: Noise | Sequence[Noise],
    epsilon: object,
    sensitivity: object = 1,
    *,
    queries: int = 1,
    sampling: object = 1,
    secret_sample: bool = True,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return the least delta for which the noise is (epsilon, delta)-differentially private.

    Parameters
    ----------
    law : law, sum of shares, or PrivacyLoss; or a sequence of laws and sums
        The noise, added to an integer; its mu must be an integer. ``law.sum(n)`` is noise in shares
        of n clients, if at least n keep their shares to themselves. A sequence has the noise of
        each of several queries, all of which one person may change: ``[law.sum(n) for n in (90,
        100)]``. A PrivacyLoss already includes everything but epsilon and the queries.
    epsilon : number
        At least 0. Any number type of this package, taken exactly.
    sensitivity : number
        The largest change of the answer by one person, a whole number. For a Skellam law and sums
        of shares it is the Euclidean norm of the change of a vector of integers.
    queries : int, optional
        The number of answers that one person may change, each by at most ``sensitivity``. Each has
        its own noise. Later queries may depend on earlier answers. A sequence of laws is repeated
        as often.
    sampling : number, optional
        The probability with which each person takes part in each query. Each person and query has
        its own coin, which stays secret. **All noise that is counted must be there whether or not
        that person is sampled.** If a client that is not sampled sends nothing, its share of the
        noise is missing and the figure is false. Use ``secret_sample=False`` for that, or
        ``SecureSum.message(vector, sampling=...)``.
    secret_sample : bool, optional
        False: an observer may know who is sampled, for example because only sampled clients send
        noise. The person's own share then counts among the n. Sampling no longer hides anybody; it
        only makes each person part of fewer queries. Coins must not depend on data, noise or
        answers.
    dimension : int, optional
        The number of integers in such a vector.
    sum_norm : number, optional
        The largest sum of absolute changes of such a vector by one person, if a bound is known that
        is better than min(sqrt(dimension) sensitivity, sensitivity**2).

    Returns
    -------
    float
        Never below that delta, and at most 1. For one query it is the smallest such float, or the
        next; for several it is within 1e-9 of delta. A delta below the smallest positive float,
        5e-324, comes back as 5e-324 (see `log_delta`). 0 means 0: a discrete Laplace law with
        epsilon >= queries sensitivity/scale.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    For one query this is the least delta there is, by Theorem 7 and its like for other laws, not a
    bound from zCDP. The same holds for several queries with discrete Gaussian noise from about
    sigma2 = 4 on, up to a factor of 1 + 1e-15. `PrivacyLoss` composes other queries. In 677 random
    cases of Laplace and narrow Gaussian noise with a delta above 1e-30, the result was at most
    3e-10 above the least delta. On a sample it is usually within 5 in 10 000.

    For discrete Gaussian vectors and sums of shares it is the least of three bounds: from `rho`,
    from `renyi` divergences of the sample, and from a continuous Gaussian that dominates them. For
    a sum on one number that changes by a whole sensitivity it is the least delta, as for other
    queries. For a Skellam law with a dimension above 1, a sensitivity that is not whole, or a
    variance above 2**28 it comes from the `renyi` divergences. docs/concepts/shares.md has the
    proofs.

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
    cost = _cost(law, sensitivity, queries, sampling, secret_sample, dimension, sum_norm)
    return cost.delta(at_least_zero(epsilon, "epsilon"))


@with_hints
def log_delta(
    law: Noise | Sequence[Noise],
    epsilon: object,
    sensitivity: object = 1,
    *,
    queries: int = 1,
    sampling: object = 1,
    secret_sample: bool = True,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return the natural logarithm of `delta`, which may be below every float.

    Parameters
    ----------
    law, epsilon, sensitivity, queries, sampling, secret_sample, dimension, sum_norm
        As for `delta`.

    Returns
    -------
    float
        An upper bound on the logarithm, at most 0; -inf if delta is 0. For several narrow queries
        it is loose if delta is below 1e-30.

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
    cost = _cost(law, sensitivity, queries, sampling, secret_sample, dimension, sum_norm)
    return cost.log_delta(at_least_zero(epsilon, "epsilon"))


@with_hints
def epsilon(
    law: Noise | Sequence[Noise],
    delta: object,
    sensitivity: object = 1,
    *,
    queries: int = 1,
    sampling: object = 1,
    secret_sample: bool = True,
    dimension: int = 1,
    sum_norm: object = None,
) -> float:
    """Return the least epsilon for which the noise is (epsilon, delta)-differentially private.

    Parameters
    ----------
    law, sensitivity, queries, sampling, secret_sample, dimension, sum_norm
        As for `delta`.
    delta : number
        Between 0 and 1, both excluded. 0 is allowed for a discrete Laplace law, whose pure epsilon
        is queries sensitivity/scale, and for a PrivacyLoss.

    Returns
    -------
    float
        Never below that epsilon. It is the smallest such float if `delta` is, and for several
        queries usually larger by at most 1e-7 of it. It is inf if it exceeds every float.

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
    [3.54, 3.31]
    """
    cost = _cost(law, sensitivity, queries, sampling, secret_sample, dimension, sum_norm)
    exact = exact_rational(delta, "delta")
    if exact == 0 and (pure := cost.pure()) is not None:
        return pure
    if not 0 < exact < 1:
        rule = "lie between 0 and 1, both excluded (0 only for a discrete Laplace)"
        raise refused("delta", rule, delta)
    return cost.epsilon(exact)


def _cost(
    law: object,
    sensitivity: object,
    queries: object,
    sampling: object,
    secret_sample: object,
    dimension: object,
    sum_norm: object,
) -> _Cost:
    for name, value in (("sensitivity", sensitivity), ("sampling", sampling)):
        if isinstance(value, list | tuple):
            raise ParameterTypeError(f"{name} must be one number for all queries; {_COMPOSE}")
    count, sample = query_count(queries), Sample.of(sampling, secret_sample)
    if isinstance(law, PrivacyLoss):
        refuse_vector(dimension, sum_norm, "a PrivacyLoss")
        if sample != Sample(_ONE) or integer_sensitivity(sensitivity) != 1:
            raise ParameterTypeError(
                "sensitivity, sampling and secret_sample must not be given with a PrivacyLoss, "
                "which already contains them"
            )
        return law**count
    laws = law if isinstance(law, list | tuple) else [law]
    if not laws:
        raise ParameterValueError("law must have at least one entry, got none")
    if PrivacyLoss in map(type, laws):
        raise ParameterTypeError(
            f"law must have laws and sums in a list, got PrivacyLoss; {_COMPOSE}"
        )
    shares = Counter(clients_of(one) for one in laws)
    how = sensitivity, dimension, sum_norm
    if any(clients > 1 or _needs_a_norm(one, *how) for one, clients in shares):
        for one, _ in shares if len(shares) > 1 else ():
            _require_share(one._spec)
        change = Sensitivity.of_vector(*how)
        rounds = [
            Rounds(centred_simplest(one), clients, change, count * times)
            for (one, clients), times in shares.items()
        ]
        return cost_of_rounds(rounds, sample)
    refuse_vector(dimension, sum_norm, "this law")
    whole, numbers = whole_sensitivity(sensitivity), Counter[LawSpec]()
    for (one, _), times in shares.items():
        numbers[centred_simplest(one)] += count * times
    if len(numbers) > 1:
        return _cost_of_numbers(numbers, whole, sample)
    [(spec, total)] = numbers.items()
    return cost_of(spec, whole, total, sample)


def cost_of_rounds(rounds: Sequence[Rounds], sample: Sample) -> _Cost:
    """Return the cost of sums of shares."""
    one = rounds[0]
    if len(rounds) == 1 and one.is_skellam and one.change.of_a_number:
        total = one.spec._replace(parameter=one.total)
        return cost_of(total, int(one.change.each), one.times, sample)
    return cost_of_shares(rounds, sample)


def cost_of(spec: LawSpec, sensitivity: int, count: int, sample: Sample) -> _Cost:
    """Return the cost of ``count`` queries with the noise of a centred law."""
    sampling_rate = sample.rate
    if _is_wide(spec) or (sampling_rate < 1 and not sample.secret):
        return _cost_of_numbers({spec: count}, sensitivity, sample)
    if sampling_rate == 1:
        known = Known.of({Query(spec, sensitivity): count})
        if isinstance(known.one, HockeyStick):
            return known.one
        if spec.kind is Kind.DISCRETE_GAUSSIAN and known.rho and count > _MOST_COMPOSED:
            return RenyiCurve.of_rho(known.rho)
    return loss_of_queries(spec, sensitivity, count, sampling_rate)


def _cost_of_numbers(queries: Mapping[LawSpec, int], change: int, sample: Sample) -> _Cost:
    """Return the cost of queries with several laws together, or on a sample that is known."""
    if any(map(_is_wide, queries)):
        for spec in queries:
            _require_share(spec)
        of_number = Sensitivity.of_vector(change)
        rounds = [Rounds(spec, 1, of_number, n) for spec, n in queries.items()]
        return cost_of_shares(rounds, sample)
    return reduce(matmul, (loss_of_queries(one, change, n, *sample) for one, n in queries.items()))


def _is_wide(spec: LawSpec) -> bool:
    """Return whether only the Renyi divergences of the law are known."""
    return spec.kind is Kind.SKELLAM and spec.parameter > LARGEST_TABLE


def _require_share(spec: LawSpec) -> None:
    if spec.kind not in (Kind.SKELLAM, Kind.DISCRETE_GAUSSIAN):
        raise ParameterValueError(
            "law must have Gaussian and Skellam shares only, if one of its entries is a sum of "
            "shares, noise for a vector, or a Skellam law of a variance above 2**28; privacy.rho "
            "adds up Gaussian and Laplace noise"
        )


#: The objects that answer. Each has delta, log_delta, epsilon and pure.
_Cost: TypeAlias = HockeyStick | PrivacyLoss | Bounds


def _needs_a_norm(law: Law, sensitivity: object, dimension: object, sum_norm: object) -> bool:
    """Return whether the sensitivity is a Euclidean norm, of a vector or not whole."""
    kind = law._spec.kind
    if kind not in (Kind.SKELLAM, Kind.DISCRETE_GAUSSIAN):
        return False
    if is_vector(dimension, sum_norm):
        return True
    return kind is Kind.SKELLAM and integer_sensitivity(sensitivity).denominator > 1
