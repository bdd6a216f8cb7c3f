"""From a budget to generalised Gaussian noise, for many releases or samples of the people."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import count

import gmpy2

from .._certified.euler_maclaurin import log_of
from .._certified.interval import arithmetic
from .._certified.search import decimal_at, decimal_ordinal
from .._inputs.foreign_arrays import single
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import (
    at_least_zero,
    checked_probability,
    positive_number,
    query_count,
    whole_sensitivity,
)
from ..errors import ParameterValueError
from ..laws import GeneralizedGaussian
from .losses import PrivacyLoss

__all__ = ["calibrate_generalized"]

#: The relative error of the scale while it is looked for, roughly.
_COARSE = 1e-3

#: What lies beyond all buckets is less, of one release.
_LEAST_DELTA = Fraction(1, 2**100)

#: What stands for the logarithm of a delta of 0.
_NOTHING = -1e4

#: What stands for one that is too large by less than a rounding.
_TOO_MUCH = 1e-300

#: The factor by which a first guess of the scale is changed until delta lies between; its square
#: after so many steps, the square of that after the next, ...
_STRIDE = 3.0
_STEPS = 4


def calibrate_generalized(
    beta: object,
    *,
    epsilon: object,
    delta: object,
    sensitivity: object = 1,
    queries: object = 1,
    sampling: object = 1,
) -> GeneralizedGaussian:
    """Return generalised Gaussian noise that meets a budget, of a scale that is hardly too large.

    Parameters
    ----------
    beta : number
        The exponent, at least 1: 1 is the discrete Laplace, 2 the discrete Gaussian.
    epsilon : number
        At least 0.
    delta : number
        Between 0 and 1; where beta is not 1 at least 2**-100 for each query.
    sensitivity : number, optional
        The most that one person changes one answer, a whole number.
    queries : int, optional
        How many answers one person may change.
    sampling : number, optional
        The probability with which each person takes part in each query, independently.

    Returns
    -------
    GeneralizedGaussian
        With a scale of six digits, at which ``(PrivacyLoss.of_noise(law, sensitivity, sampling=...)
        ** queries).delta(epsilon)``, which is never below the truth, is at most delta; with one
        less in the last digit it is more.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    Delta need not fall as the scale grows: with a large beta or epsilon few integers count, and
    before the next one counts for nothing its probability grows. So the scale returned is one at
    which the budget begins to be met; a smaller scale may meet it, too.

    A person who changes several coordinates of one answer counts as several queries, each with the
    change of its coordinate: where beta is not 1 or 2 the norm does not tell (docs/generalized.md).

    Source: the mechanism is that of Rinberg et al., arXiv 2506.12553.

    Examples
    --------
    >>> from discretegauss import privacy
    >>> privacy.calibrate_generalized("3/2", epsilon=1, delta="1e-5")
    GeneralizedGaussian(scale='57667/20000', beta=1.5)
    """
    exponent = exact_rational(beta, "beta")
    if exponent < 1:
        raise ParameterValueError(f"beta must be at least 1, got {describe(single(beta))}")
    target, most = at_least_zero(epsilon, "epsilon"), checked_probability(delta, "delta")
    change, releases = whole_sensitivity(sensitivity), query_count(queries)
    rate = positive_number(sampling, "sampling")
    if exponent != 1 and most < releases * _LEAST_DELTA:
        raise ParameterValueError(
            "delta must be at least 2**-100 for each query, as what lies in no bucket is below "
            f"that, got {describe(single(delta))}"
        )
    # its own check refuses a rate above 1, before anything is looked for
    PrivacyLoss.of_noise(GeneralizedGaussian(change, exponent), change, sampling=rate)
    log_most = log_of(most)

    def excess(scale: Fraction) -> float:
        """Return log(found/delta), at most 0 where the budget is met, and only there."""
        law = GeneralizedGaussian(scale, exponent)
        one = PrivacyLoss.of_noise(law, change, sampling=rate)
        found = (one**releases).delta(target)
        log = math.log(found) - log_most if found else _NOTHING
        return min(log, 0.0) if found <= most else max(log, _TOO_MUCH)

    sum_of_samples = max(0.0, log_of(Fraction(releases)) / 2 + log_of(rate))
    guess = log_of(Fraction(change)) + sum_of_samples - log_of(max(target, Fraction(1, 10)))
    low, high = _bracket(lambda x: excess(_exp(x)), guess)
    about = (low + high) / 2
    # now by ordinals of decimals of six digits, where one is a relative step of 1e-6 to 1e-5
    n = decimal_ordinal(_exp(about))
    return GeneralizedGaussian(decimal_at(_least_decimal(excess, n)), exponent)


def _exp(x: float) -> Fraction:
    """Return about exp(x), also where it is no float."""
    exact = gmpy2.mpq(arithmetic(53).up.exp(gmpy2.mpfr(x)))
    return Fraction(int(exact.numerator), int(exact.denominator))


def _bracket(excess: Callable[[float], float], x: float) -> tuple[float, float]:
    """Return two logarithms of scales close to each other, about the least that meets a budget."""
    y = excess(x)
    low = high = (x, y)
    steps = count(-_STEPS)
    while high[1] > 0:
        x = high[0] + math.log(_STRIDE) * 2 ** max(next(steps), 0)
        low, high = high, (x, excess(x))
    while low[1] <= 0:
        x = low[0] - math.log(_STRIDE) * 2 ** max(next(steps), 0)
        low, high = (x, excess(x)), low
    tries = 0
    while high[0] - low[0] > _COARSE:
        tries += 1
        share = low[1] / (low[1] - high[1]) if tries % 3 and high[1] > _NOTHING else 0.5
        x = low[0] + (high[0] - low[0]) * min(max(share, 0.02), 0.98)
        y = excess(x)
        if y > 0:
            low = (x, y)
        else:
            high = (x, y)
    return low[0], high[0]


def _least_decimal(excess: Callable[[Fraction], float], n: int) -> int:
    """Return the number of a decimal that meets a budget, while the one before it does not."""
    known: dict[int, float] = {}

    def at(k: int) -> float:
        if k not in known:
            known[k] = excess(decimal_at(k))
        return known[k]

    step = 64
    bad = good = n
    if at(n) > 0:
        while at(good) > 0:
            bad, good, step = good, good + step, 4 * step
    else:
        while at(bad) <= 0:
            good, bad, step = bad, bad - step, 4 * step
    while good - bad > 1:
        share = at(bad) / (at(bad) - at(good)) if at(good) > _NOTHING else 0.5
        # next to where it should be, on alternate sides, so that both ends come close
        k = bad + round((good - bad) * share) + (-1 if len(known) % 2 else 1)
        k = min(max(k, bad + 1), good - 1)
        if at(k) > 0:
            bad = k
        else:
            good = k
    return good
