"""The Poisson and Skellam laws in plain Python integers: the specification, slow and exact."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from ..reference import Bytes, bernoulli

__all__ = ["poisson", "skellam"]


def _poisson_of_mean_1(source: Bytes) -> int:
    """Return k with probability exp(-1)/k!.

    k is proposed with probability 2**-(k + 1) and kept with (2**k/k!)/2, at most 1 as 2**k <= 2 k!.
    The product is 1/(4 k!), so what is kept has the law ~ 1/k!.
    """
    while True:
        k = 0
        while bernoulli(1, 2, source):
            k += 1
        if bernoulli(2**k, 2 * factorial(k), source):
            return k


def poisson(mean: Fraction, source: Bytes) -> int:
    """Return k with probability exp(-mean) mean**k/k!, mean >= 0.

    Poisson draws add up, and one of mean 1 whose units are each kept with probability p has mean p.
    """
    whole, rest = divmod(mean.numerator, mean.denominator)
    total = sum(_poisson_of_mean_1(source) for _ in range(whole))
    if rest:
        units = _poisson_of_mean_1(source)
        total += sum(bernoulli(rest, mean.denominator, source) for _ in range(units))
    return total


def skellam(variance: Fraction, source: Bytes) -> int:
    """Return the difference of two Poisson draws of mean variance/2: such draws add up, too."""
    return poisson(variance / 2, source) - poisson(variance / 2, source)
