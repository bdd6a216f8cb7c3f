"""From a budget to generalised Gaussian noise, for many releases or samples of the people."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

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

#: Buckets while the scale is looked for, roughly, and its relative error then.
_FEW_BUCKETS = 2**12
#: Buckets of the result.
_BUCKETS = 2**14

_COARSE = 1e-3

#: What stands for the logarithm of a delta of 0.
_NOTHING = -1e4

#: What stands for one that is too large by less than a rounding.
_TOO_MUCH = 1e-300

#: The factor by which a first guess of the scale is changed until delta lies between.
_STRIDE = 3.0


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
        Between 0 and 1.
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
        ** queries).delta(epsilon)``, which is never below the truth, is at most delta. With 16 384
        buckets for the losses, one less in the last digit is too little.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
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
    change, count = whole_sensitivity(sensitivity), query_count(queries)
    rate = positive_number(sampling, "sampling")
    # its own check refuses a rate above 1, before anything is looked for
    PrivacyLoss.of_noise(GeneralizedGaussian(change, exponent), change, sampling=rate, most=64)
    log_most = math.log(most)

    def excess(scale: Fraction, buckets: int = _BUCKETS) -> float:
        """Return log(found/delta), at most 0 where the budget is met, and only there."""
        law = GeneralizedGaussian(scale, exponent)
        one = PrivacyLoss.of_noise(law, change, sampling=rate, most=buckets)
        found = (one**count).delta(target)
        log = math.log(found) - log_most if found else _NOTHING
        return min(log, 0.0) if found <= most else max(log, _TOO_MUCH)

    guess = change * max(1.0, math.sqrt(count) * float(rate)) / max(float(target), 0.1)
    low, high = _bracket(lambda x: excess(Fraction(math.exp(x)), _FEW_BUCKETS), math.log(guess))
    about = (low + high) / 2
    # now by ordinals of decimals of six digits, where one is a relative step of 1e-6 to 1e-5
    n = decimal_ordinal(Fraction(math.exp(about)))
    return GeneralizedGaussian(decimal_at(_least_decimal(excess, n)), exponent)


def _bracket(excess: Callable[[float], float], x: float) -> tuple[float, float]:
    """Return two logarithms of scales close to each other, about the least that meets a budget."""
    stride = math.log(_STRIDE)
    y = excess(x)
    low = high = (x, y)
    while high[1] > 0:
        low, high = high, (high[0] + stride, excess(high[0] + stride))
    while low[1] <= 0:
        low, high = (low[0] - stride, excess(low[0] - stride)), low
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
