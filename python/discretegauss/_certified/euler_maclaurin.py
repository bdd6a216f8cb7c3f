"""The Euler-Maclaurin formula, with its remainder bounded by Cauchy's estimate.

For a function g of x >= 0 that tends to 0 with its derivatives, and any p >= 1,

    g(0) + g(1) + ... = integral of g + g(0)/2 - sum for k = 1..p of B_2k/(2k)! g^(2k-1)(0) + R

where R is the integral of -B_2p({x})/(2p)! g^(2p)(x) over x >= 0 (NIST DLMF 2.10(i)). Because
abs(B_2p({x}))/(2p)! <= 2 zeta(2p)/(2 pi)**(2p) and zeta(2p) <= zeta(2) < 2,

    abs(R) <= 4/(2 pi)**(2p) integral of abs(g^(2p)).

If g is analytic in the discs of radius r around all x >= 0, Cauchy bounds its derivative there:
abs(g^(2p)(x)) <= (2p)!/r**(2p) M(x), where M(x) is the maximum of abs(g) on the circle. Together

    abs(R) <= 4 (2p)!/(2 pi r)**(2p) integral of M                          (*)

For 2p about 2 pi r this is about exp(-2 pi r). If r may be much larger, few terms are enough. Discs
may also grow with x, with radius (x/y) r at x >= y. The integral is then that of (y/x)**(2p) M(x),
which is at most about y max M / (2p - 1), however slowly g falls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import gmpy2

from .interval import Arithmetic, Interval

#: The most terms p. They cost p**2 products, which take minutes.
_MOST_TERMS = 2**14


@lru_cache(maxsize=16)
def _bernoulli_even(n: int) -> tuple[Fraction, ...]:
    """Return B_2, B_4, ..., B_2n."""
    # from the tangent numbers T_1..T_n (Brent and Harvey, arXiv 1108.0286, Section 6.1)
    tangent = [gmpy2.mpz(0), gmpy2.mpz(1)]
    for k in range(2, n + 1):
        tangent.append((k - 1) * tangent[k - 1])
    for k in range(2, n + 1):
        for j in range(k, n + 1):
            tangent[j] = (j - k) * tangent[j - 1] + (j - k + 2) * tangent[j]
    return tuple(
        Fraction((-1) ** (k - 1) * 2 * k * int(tangent[k]), 4**k * (4**k - 1))
        for k in range(1, n + 1)
    )


def corrections(taylor: Sequence[Interval], terms: int, at: Arithmetic) -> Interval:
    """Return g(0)/2 - sum of B_2k/(2k)! g^(2k-1)(0) for k = 1..terms.

    `taylor` has the coefficients of g at 0, g^(n)(0)/n!, for n < 2 terms.
    """
    total = at.scale(taylor[0], Fraction(1, 2))
    numbers = _bernoulli_even(
        max(32, 1 << (terms - 1).bit_length())
    )  # of few lengths, which are cached
    for k in range(1, terms + 1):
        total = at.sub(total, at.scale(taylor[2 * k - 1], numbers[k - 1] / (2 * k)))
    return total


def remainder_factor(terms: int, radius: Fraction, at: Arithmetic) -> Interval:
    """Return an interval whose upper end is at least 4 (2p)!/(2 pi r)**(2p), for p = terms."""
    two_pi_r = at.scale(at.pi(), 2 * radius)
    factorial = at.rational(4 * math.factorial(2 * terms))
    return at.div(factorial, at.power(two_pi_r, 2 * terms))


# --- planning: floats choose the number of terms and the radius; (*) then bounds the error


def log_of(value: Fraction) -> float:
    """Return the natural logarithm of a positive rational of any size, as a float.

    Its relative error is small, also if the value is near 1 and the logarithm near 0.
    """
    above, below = value.numerator, value.denominator
    if 2 * abs(above - below) < below:
        return math.log1p((above - below) / below)
    return math.log(above) - math.log(below)


def log_remainder_factor(terms: int, log_radius: float) -> float:
    """Return the logarithm of `remainder_factor`, as a float."""
    n = 2 * terms
    return math.log(4) + math.lgamma(n + 1) - n * (math.log(2 * math.pi) + log_radius)


def terms_for(log_radius: float, log_goal: float) -> int | None:
    """Return the fewest terms whose remainder factor is at most exp(log_goal), or None.

    The factor falls with the number p of terms while 2p < 2 pi r. There it is at most about
    exp(-2p), so at most -log_goal terms are needed.
    """
    low, high = 0, max(8, math.ceil(min(-log_goal, _MOST_TERMS)))
    if log_radius < math.log(high / math.pi):
        high = int(math.pi * math.exp(log_radius))
    if high < 1 or log_remainder_factor(high, log_radius) > log_goal:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if log_remainder_factor(middle, log_radius) <= log_goal:
            high = middle
        else:
            low = middle
    return high
