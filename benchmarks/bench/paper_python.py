"""Algorithms 1-3 of Canonne, Kamath and Steinke (arXiv 2004.00010) as a reader would type them.

Plain Python with Fraction and SystemRandom, nothing tuned: the starting line of the benchmark.
Not for use: discretegauss.reference is the twin that the tests check bit for bit.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, isqrt
from random import SystemRandom

_random = SystemRandom()


def bernoulli(p: Fraction) -> bool:
    """True with probability p, for a rational p in [0, 1]."""
    return _random.randrange(p.denominator) < p.numerator


def bernoulli_exp(gamma: Fraction) -> bool:
    """Algorithm 1: True with probability exp(-gamma), for a rational gamma >= 0."""
    if gamma > 1:
        for _ in range(floor(gamma)):
            if not bernoulli_exp(Fraction(1)):
                return False
        return bernoulli_exp(gamma - floor(gamma))
    k = 1
    while bernoulli(gamma / k):
        k += 1
    return k % 2 == 1


def discrete_laplace(scale: Fraction) -> int:
    """Algorithm 2: x with probability proportional to exp(-|x| / scale), scale = t/s."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = _random.randrange(t)
        if not bernoulli_exp(Fraction(u, t)):
            continue
        v = 0
        while bernoulli_exp(Fraction(1)):
            v += 1
        magnitude = (u + t * v) // s
        negative = bernoulli(Fraction(1, 2))
        if negative and magnitude == 0:
            continue  # or zero would be counted twice
        return -magnitude if negative else magnitude


def discrete_gaussian(sigma2: Fraction) -> int:
    """Algorithm 3: x with probability proportional to exp(-x^2 / (2 sigma2))."""
    t = isqrt(floor(sigma2)) + 1  # floor(sigma) + 1
    while True:
        y = discrete_laplace(Fraction(t))
        if bernoulli_exp((abs(y) - sigma2 / t) ** 2 / (2 * sigma2)):
            return y
