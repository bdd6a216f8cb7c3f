"""References for the privacy tests: theorems in mpmath, and the definition as a finite sum."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath

DIGITS = 60
_GUARD = 80  # the difference in Theorem 7 loses up to some 20 digits at sigma2 = 10**12, D = 1

Weight = Callable[[int], Any]


def mp(value: Fraction | int) -> Any:
    """Return the rational at mpmath's current precision."""
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def delta_by_theorem_7(sigma2: Fraction, epsilon: Fraction, change: int) -> Any:
    """Return P[Y > eps sigma2/D - D/2] - e**eps P[Y > eps sigma2/D + D/2], as in the paper."""
    with mpmath.workdps(DIGITS + _GUARD):
        at = epsilon * sigma2 / change
        first = (at - Fraction(change, 2)).__floor__() + 1
        second = (at + Fraction(change, 2)).__floor__() + 1
        total = gaussian_tail(sigma2, 0) * 2 - 1  # in units of the weight of 0
        difference = gaussian_tail(sigma2, first) - mpmath.exp(mp(epsilon)) * gaussian_tail(
            sigma2, second
        )
        return difference / total


def rest_by_theorem_7(sigma2: Fraction, epsilon: Fraction, change: int) -> Any:
    """Return 1 - delta to 60 digits, if the first tail is more than 1/2."""
    with mpmath.workdps(DIGITS):
        at = epsilon * sigma2 / change
        first = (at - Fraction(change, 2)).__floor__() + 1
        total = gaussian_tail(sigma2, 0) * 2 - 1
        below, above = gaussian_tail(sigma2, 1 - first), gaussian_tail(sigma2, first + change)
        return (below + mpmath.exp(mp(epsilon)) * above) / total


def gaussian_tail(sigma2: Fraction, m: int) -> Any:
    """Return the sum of exp(-x**2/(2 sigma2)) over x >= m, by terms if few count."""
    return _gaussian_tail(sigma2, m, mpmath.mp.prec)


@lru_cache(maxsize=1000)
def _gaussian_tail(sigma2: Fraction, m: int, _bits: int) -> Any:
    if m < 0:
        return 2 * gaussian_tail(sigma2, 0) - 1 - gaussian_tail(sigma2, 1 - m)
    few = sigma2 < 10**4 or 50 * m > sigma2
    return tail_by_terms(sigma2, m) if few else tail_by_euler_maclaurin(sigma2, m)


def tail_by_terms(sigma2: Fraction, m: int) -> Any:
    """Sum terms until one is below 10**-digits of the first.

    Each follows from the one before, by exp(-(2 x + 1)/(2 sigma2)), so n lose 2 log10(n) digits.
    """
    rate = 1 / (2 * mp(sigma2))
    first = mpmath.exp(-rate * m * m)
    ratio, squared = mpmath.exp(-rate * (2 * m + 1)), mpmath.exp(-2 * rate)
    total = term = first
    least = first * mpmath.mpf(10) ** -mpmath.mp.dps
    while term > least:
        term *= ratio
        ratio *= squared
        total += term
    return total


def tail_by_euler_maclaurin(sigma2: Fraction, m: int) -> Any:
    """Sum the integral, half of the first term, and 24 derivatives (Hermite polynomials)."""
    sigma = mpmath.sqrt(mp(sigma2))
    z = m / sigma
    weight = mpmath.exp(-z * z / 2)
    total = sigma * mpmath.sqrt(mpmath.pi / 2) * mpmath.erfc(z / mpmath.sqrt(2)) + weight / 2
    hermite = [mpmath.mpf(1), z]
    for n in range(1, 48):
        hermite.append(z * hermite[n] - n * hermite[n - 1])
    for k in range(1, 25):
        n = 2 * k - 1  # the n-th derivative is -He_n(z) exp(-z**2/2)/sigma**n, n odd
        factor = mpmath.bernoulli(2 * k) / mpmath.factorial(2 * k)
        total += factor * hermite[n] * weight / sigma**n
    return total


def delta_by_definition(weight: Weight, reach: int, epsilon: Fraction, change: int) -> Any:
    """Return the larger sum of max(0, P(x) - e**eps P(x - d)), d = +-change, |x| <= reach."""
    with mpmath.workdps(DIGITS):
        factor = mpmath.exp(mp(epsilon))
        total = mpmath.fsum(weight(x) for x in range(-reach, reach + 1))
        return max(
            mpmath.fsum(
                max(mpmath.mpf(0), weight(x) - factor * weight(x - d))
                for x in range(-reach - change, reach + change + 1)
            )
            / total
            for d in (change, -change)
        )


def cached(weight: Weight) -> Weight:
    """Return the function with a cache."""
    known: dict[int, Any] = {}

    def look_up(x: int) -> Any:
        if x not in known:
            with mpmath.workdps(DIGITS + 10):
                known[x] = weight(x)
        return known[x]

    return look_up


def gaussian_weight(sigma2: Fraction) -> Weight:
    return cached(lambda x: mpmath.exp(-mp(Fraction(x * x) / (2 * sigma2))))


def laplace_weight(scale: Fraction) -> Weight:
    return cached(lambda x: mpmath.exp(-mp(Fraction(abs(x)) / scale)))


def generalized_weight(scale: Fraction, beta: Fraction) -> Weight:
    return cached(lambda x: mpmath.exp(-((abs(x) / mp(scale)) ** mp(beta))))
