"""Algorithms 1-3 of Canonne, Kamath and Steinke in plain Python: the specification of the C core.

And the Skellam law, as slow and as exact.

Same algorithms, same bytes read in the same order, same draws. It is what the tests hold the C core
to, it takes parameters and results of any size, and it draws where the extension module is missing.
Python integers only: no float comes near a draw.

The protocol: draws read whole bytes; an integer of k bytes is read least significant byte first.

References
----------
Canonne, Kamath, Steinke, *The Discrete Gaussian for Differential Privacy*, NeurIPS 2020,
arXiv:2004.00010.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from math import factorial, isqrt
from typing import Protocol

from ._inputs.source import check_filled
from .errors import EntropyError

__all__ = [
    "CallableBytes",
    "SystemBytes",
    "bernoulli",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric_exp",
    "poisson",
    "skellam",
    "uniform_below",
]


class Bytes(Protocol):
    """A stream of independent uniform bytes."""

    def read(self, n: int) -> bytes:
        """Return the next n bytes."""


class SystemBytes:
    """Bytes from the system, nothing read ahead: a fork finds nothing here to inherit.

    From getrandom(2), or where Python has it not (macOS, Windows, a browser) from ``os.urandom``.
    """

    def read(self, n: int) -> bytes:
        """Return the next n bytes."""
        data = b""
        system = getattr(os, "getrandom", os.urandom)
        while len(data) < n:  # a signal may cut a long read short
            try:
                part = system(n - len(data))
            except NotImplementedError:
                part = b""
            except OSError as error:
                raise EntropyError(
                    error.errno, "the operating system gave no randomness (getrandom)"
                ) from None
            if not part:
                raise EntropyError("the operating system gave no randomness (getrandom)")
            data += part
        return data


class CallableBytes:
    """Bytes from a caller's source, ``fill(buffer: memoryview)``."""

    def __init__(self, fill: Callable[[memoryview], object]) -> None:
        self._fill = fill
        self._zeros = 0

    def read(self, n: int) -> bytes:
        """Return the next n bytes."""
        if n == 0:
            return b""
        buffer = bytearray(n)
        whole = memoryview(buffer)  # ours: while it is there, nobody can shorten the buffer
        self._zeros = check_filled(self._fill(memoryview(buffer)), whole, self._zeros)
        return bytes(whole)


def bernoulli(a: int, b: int, source: Bytes) -> bool:
    """Return True with probability a/b (0 <= a/b <= 1, b > 0).

    Let U = (F + U')/256 with F the byte read and U' uniform on [0, 1) again. Then U < a/b is
    U' < (256 a - F b)/b: the same question about a new a, decided once a <= 0 or a >= b.
    """
    while 0 < a < b:
        a = 256 * a - source.read(1)[0] * b
    return a > 0


def uniform_below(n: int, source: Bytes) -> int:
    """Return one of 0, ..., n-1, all alike: floor(U n), U revealed as far as needed.

    k bytes F give U = (F + U')/256**k and U n = high + (low + U' n)/256**k, whose floor is high if
    U' < (256**k - low)/n, else high + 1. One byte more than n-1 fills makes a doubt rare.
    """
    k = 0 if n == 1 else ((n - 1).bit_length() + 7) // 8 + 1
    one = 1 << 8 * k
    high, low = divmod(int.from_bytes(source.read(k), "little") * n, one)
    stays = bernoulli(one - low, n, source)
    return high if stays else high + 1


def bernoulli_exp(num: int, den: int, source: Bytes) -> bool:
    """Return True with probability exp(-num/den) (num >= 0, den > 0): Algorithm 1."""
    while num > den:
        if not bernoulli_exp(1, 1, source):
            return False
        num -= den
    k = 1
    while bernoulli(num, den * k, source):
        k += 1
    return k % 2 == 1


def geometric_exp(s: int, t: int, source: Bytes) -> int:
    """Return k >= 0 with probability (1 - exp(-s/t)) exp(-k s/t): the first half of Algorithm 2."""
    u = uniform_below(t, source)
    while not bernoulli_exp(u, t, source):
        u = uniform_below(t, source)
    v = 0
    while bernoulli_exp(1, 1, source):
        v += 1
    return (u + t * v) // s


def _centred_laplace(t: int, s: int, source: Bytes) -> int:
    """Return y with probability ~ exp(-|y| s/t): Algorithm 2."""
    while True:
        y = geometric_exp(s, t, source)
        negative = bernoulli(1, 2, source)
        if not (negative and y == 0):
            return -y if negative else y


def discrete_laplace(scale: Fraction, mu: Fraction, source: Bytes) -> int:
    """Return x with probability ~ ``exp(-|x - mu| / scale)``.

    With mu an integer: Algorithm 2. Else mu = c + f, c the nearest integer. The integers from c
    away from f lie at ``|f| + k`` (k = 0, 1, ...), the others at ``1 - |f| + k``. A fair bit
    chooses a side, the farther one is kept with probability ``exp(-(1 - 2|f|)/scale)``, and k is
    geometric on either.
    """
    t, s = scale.numerator, scale.denominator
    c = (2 * mu.numerator + mu.denominator) // (2 * mu.denominator)
    f = mu - c
    if f == 0:
        return c + _centred_laplace(t, s, source)
    sign = 1 if f > 0 else -1
    side_num, side_den = (f.denominator - 2 * abs(f.numerator)) * s, f.denominator * t
    while True:
        far = bernoulli(1, 2, source)
        if not far or bernoulli_exp(side_num, side_den, source):
            break
    k = geometric_exp(s, t, source)
    return c + sign * (1 + k) if far else c - sign * k


def discrete_gaussian(sigma2: Fraction, mu: Fraction, source: Bytes) -> int:
    """Return x with probability ~ exp(-(x - mu)**2 / (2 sigma2)).

    With mu an integer: Algorithm 3, a discrete Laplace of scale t = floor(sigma) + 1 accepted with
    probability exp(-(abs(y) - sigma2/t)**2 / (2 sigma2)). Else mu = c + f, c the nearest integer,
    and y is accepted with exp(-gamma(y)), gamma(y) = ((y - f)**2 - 2 h abs(y) - m)/(2 sigma2), h =
    sigma2/t, where m is the least value of the rest over the integers, found at the integer nearest
    to h + abs(f), on the side of f. Derivation: csrc/law/law.c.
    """
    p, q = sigma2.numerator, sigma2.denominator
    t = isqrt(p // q) + 1
    c = (2 * mu.numerator + mu.denominator) // (2 * mu.denominator)
    n, d = (mu - c).numerator, (mu - c).denominator

    def raised(y: int) -> int:
        """((y - f)**2 - 2 h abs(y)) as an integer, over 2 sigma2 a fraction over `den`."""
        return (y * d - n) ** 2 * q * t - 2 * p * d * d * abs(y)

    best = abs(n) * q * t * 2 + p * d * 2 + q * t * d
    best = best // (2 * q * t * d)
    least = raised(best if n > 0 else -best)
    while True:
        y = _centred_laplace(t, 1, source)
        if n == 0:
            accepted = bernoulli_exp((abs(y) * q * t - p) ** 2, 2 * p * q * t * t, source)
        else:
            accepted = bernoulli_exp(raised(y) - least, 2 * p * d * d * t, source)
        if accepted:
            return c + y


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
