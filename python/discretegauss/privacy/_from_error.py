"""How much noise an error allows: the widest law whose draws are mostly that small.

P(abs(X) <= e) falls as the scale of a law exp(-(abs(x)/scale)**beta) grows: what two scales make of
the ratio of any two weights is monotone in abs(x). Of a Skellam law, too: more variance is one more
draw, symmetric and unimodal, added to one that is so. So there is one parameter up to which it is
enough, found among decimals of six digits, by certified tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from .._certified.probability import miss_of_each
from .._certified.search import decimal_at, decimal_ordinal, least_decimal
from .._inputs.messages import refused
from .._inputs.privacy_arguments import at_least_zero, checked_probability, query_count
from ..errors import ParameterOverflowError

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
