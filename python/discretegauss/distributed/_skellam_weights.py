"""Proven bounds of the Skellam law's probabilities, in Python integers.

X = A - B, with A and B Poisson of mean v/2, has P(X = k) = exp(-v) I_k(v), I the modified Bessel
function. These weights obey, exactly (DLMF 10.29.1),

    I_(k-1) = I_(k+1) + (2 k/v) I_k,    so    r_(k-1) = 1/(2 k/v + r_k)    for r_k = I_(k+1)/I_k.

r_k lies in (0, 1) and falls in k, as the law is log-concave (it is the convolution of two such
laws). With the recurrence r_k (2 k/v + r_k) <= 1 and r_k (2 (k + 1)/v + r_k) >= 1 follow, so

    sqrt(1 + ((k + 1)/v)**2) - (k + 1)/v  <=  r_k  <=  sqrt(1 + (k/v)**2) - k/v.

From such bounds far out the recurrence leads to bounds of every r_k below, narrower at each step by
r_k**2: 1/(c + r) falls in r and has that derivative. The weights I_k/I_0 are products of the r_j,
and beyond the farthest k their sum is at most a geometric series.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import asinh, hypot, isqrt, log
from typing import NamedTuple

__all__ = ["Weights", "weights"]


class Weights(NamedTuple):
    """Bounds of P(X = k) and of P(abs(X) <= k), k = 0, 1, ..., as integers over 2**bits.

    Beyond the last k there is less than 2**(2 - bits).
    """

    bits: int
    at_lower: list[int]
    at_upper: list[int]
    up_to_lower: list[int]
    up_to_upper: list[int]


@lru_cache(maxsize=16)
def weights(variance: Fraction, bits: int) -> Weights:
    """Return bounds, those of P(abs(X) <= k) within 2 units; the last ones are kept.

    They are no secrets.
    """
    start = _reach(variance, 2.2 * bits)
    while True:
        found = _from_afar(variance, bits, start)
        pairs = zip(found.up_to_lower, found.up_to_upper, strict=True)
        if all(upper - lower <= 2 for lower, upper in pairs):
            return found
        start += start // 2


def _reach(variance: Fraction, bits: float) -> int:
    """Return about the k with P(X >= k) < 2**-bits, by Chernoff's bound: a guess that may fail.

    E(exp(t X)) = exp(v (cosh(t) - 1)), least in exp(-t k) times that at sinh(t) = k/v.
    """
    v = max(float(variance), 1e-300)
    low, high = 0, 4
    while v + high * asinh(high / v) - hypot(v, high) < bits * log(2):
        low, high = high, 2 * high
    while high - low > 1 + low // 16:
        middle = (low + high) // 2
        if v + middle * asinh(middle / v) - hypot(v, middle) < bits * log(2):
            low = middle
        else:
            high = middle
    return high + 2


def _from_afar(variance: Fraction, bits: int, start: int) -> Weights:
    """Return bounds from those of r_start, however wide they are."""
    num, den = variance.numerator, variance.denominator
    working = bits + 2 * start.bit_length() + 16
    one, square = 1 << working, 1 << 2 * working
    low, high = _root(num, den * (start + 1), working)[0], _root(num, den * start, working)[1]
    beyond = high * one // (one - high) + 1  # of the weight of the start
    ratios = []
    for k in range(start, 0, -1):
        step, rest = divmod(2 * k * den << working, num)
        low, high = square // (step + (rest > 0) + high), square // (step + low) + 1
        ratios.append((low, high))
    lows, highs = [one], [one]
    for low, high in reversed(ratios):
        lows.append(lows[-1] * low >> working)
        highs.append((highs[-1] * high >> working) + 1)
    total_low = 2 * sum(lows) - one
    total_high = 2 * sum(highs) - one + 2 * (highs[-1] * beyond // one + 1)
    found = Weights(bits, [], [], [], [])
    enough = (1 << bits) - 2
    for at_low, at_high, sum_low, sum_high in zip(
        lows, highs, accumulate(lows), accumulate(highs), strict=True
    ):
        found.at_lower.append((at_low << bits) // total_high)
        found.at_upper.append((at_high << bits) // total_low + 1)
        found.up_to_lower.append((2 * sum_low - one << bits) // total_high)
        upper = (2 * sum_high - one << bits) // total_low + 1
        found.up_to_upper.append(min(upper, 1 << bits))
        if found.up_to_lower[-1] >= enough:
            break
    return found


def _root(num: int, k_den: int, bits: int) -> tuple[int, int]:
    """Return bounds of sqrt(1 + x**2) - x = 1/(sqrt(1 + x**2) + x) < 1, x = k_den/num > 0."""
    root = isqrt(num * num + k_den * k_den << 2 * bits)
    one = num << 2 * bits
    lower = one // (root + 1 + (k_den << bits))
    return lower, min(one // (root + (k_den << bits)) + 1, (1 << bits) - 1)
