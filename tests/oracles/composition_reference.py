"""Delta of several queries by independent formulas: Kairouz's sum, and a convolution in integers.

Both hold for independent queries with the worst change in each, to 40 digits and more.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath
from privacy_reference import mp

_DIGITS = 60


def delta_of_laplaces(scale: Fraction, epsilon: Fraction, queries: int) -> Any:
    """Return delta by Kairouz, Oh and Viswanath, arXiv 1311.0776, Theorem 3.3, for changes of 1.

    The theorem's bound is the value, because the discrete Laplace is randomised response there.
    """
    with mpmath.workdps(_DIGITS):
        q, total = mpmath.exp(-1 / mp(scale)), mpmath.mpf(0)
        weight = (1 + q) ** -queries
        for j in range(queries // 2 + 1):
            gap = mp((queries - 2 * j) / scale - epsilon)
            if gap <= 0:
                break
            total -= weight * mpmath.expm1(-gap)
            weight *= q * (queries - j) / (j + 1)
        return total


def delta_of_gaussians(sigma2: Fraction, epsilon: Fraction, change: int, queries: int) -> Any:
    """Return T(m) - exp(epsilon) T(m + k D), T the tail of k draws, m the least of larger loss.

    The law of the sum is a power of a polynomial, whose coefficients are integers over 2**bits.
    """
    bits = 256 + int(epsilon * 3 / 2)  # exp(1) has less than 3/2 bits
    reach = math.isqrt(int(2 * sigma2 * bits)) + 1
    with mpmath.workprec(bits + 64):
        weights = [
            mpmath.exp(-mp(Fraction(x * x) / (2 * sigma2))) for x in range(-reach, reach + 1)
        ]
        unit = 2**bits / mpmath.fsum(weights)
        one = [gmpy2.mpz(int(weight * unit)) for weight in weights]
    law = one
    for digit in bin(queries)[3:]:
        law = _product(law, law, bits)
        if digit == "1":
            law = _product(law, one, bits)
    first = -(len(law) // 2)
    m = math.floor(epsilon * sigma2 / change - Fraction(queries * change, 2)) + 1
    with mpmath.workprec(bits):
        near, far = (int(sum(law[max(x - first, 0) :])) for x in (m, m + queries * change))
        return (near - mpmath.exp(mp(epsilon)) * far) / 2**bits


def _product(a: list[Any], b: list[Any], bits: int) -> list[Any]:
    slot = 2 * bits + len(a).bit_length()
    size = len(a) + len(b) - 1
    found = [mass >> bits for mass in gmpy2.unpack(gmpy2.pack(a, slot) * gmpy2.pack(b, slot), slot)]
    found += [gmpy2.mpz(0)] * (size - len(found))
    while len(found) > 1 and not found[0] and not found[-1]:
        found = found[1:-1]
    return found


def laplace_cases(count: int) -> list[tuple[Fraction, Fraction, int]]:
    """Return scales, epsilons and counts of queries whose deltas are above 1e-30."""
    generator = random.Random(677)
    found: list[tuple[Fraction, Fraction, int]] = []
    while len(found) < count:
        scale = Fraction(round(math.exp(generator.uniform(-1, 5)) * 1000), 1000)
        queries = round(math.exp(generator.uniform(0.7, 7)))
        epsilon = Fraction(generator.randrange(1000), 1000) * queries / scale
        epsilon *= Fraction(generator.choice([1, 1, 2, 5, 10]), 10)
        if delta_of_laplaces(scale, epsilon, queries) > 1e-30:
            found.append((scale, epsilon, queries))
    return found


def gaussian_cases(count: int) -> list[tuple[Fraction, Fraction, int, int]]:
    """Return sigma2, epsilon, change and queries of narrow noise, with deltas above 1e-30."""
    generator = random.Random(277)
    found: list[tuple[Fraction, Fraction, int, int]] = []
    while len(found) < count:
        sigma2 = Fraction(round(math.exp(generator.uniform(-3, 1)) * 1000), 1000)
        queries = round(math.exp(generator.uniform(0.7, 4)))
        change = generator.choice([1, 1, 1, 2, 3])
        rho = queries * change**2 / (2 * sigma2)
        width = math.sqrt(float(2 * rho))
        epsilon = Fraction(
            round(1000 * max(float(rho) + generator.uniform(-2, 9) * width, 0)), 1000
        )
        if delta_of_gaussians(sigma2, epsilon, change, queries) > 1e-30:
            found.append((sigma2, epsilon, change, queries))
    return found
