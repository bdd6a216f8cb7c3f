"""Algorithms 1-3 of Canonne, Kamath and Steinke in plain Python, and the Skellam law.

This module is the specification of the C core, which runs the same algorithms, reads the same bytes
in the same order and returns the same draws; tests compare the two. It takes parameters and results
of any size, and it draws if the extension module is missing. Draws use integers, never floats.

Draws read whole bytes. An integer of k bytes is read least significant byte first.

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
__dir__ = __all__.copy  # dir() and completion show these names alone


class Bytes(Protocol):
    """A stream of independent uniform bytes."""

    def read(self, n: int) -> bytes:
        """Return the next n bytes."""


class SystemBytes:
    """Bytes of the operating system. Nothing is read ahead, so a forked child inherits none.

    They come from getrandom(2), or from ``os.urandom`` if Python lacks it (macOS, Windows, a
    browser).
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
        whole = memoryview(buffer)  # while this view exists, `fill` cannot shorten the buffer
        self._zeros = check_filled(self._fill(memoryview(buffer)), whole, self._zeros)
        return bytes(whole)


def bernoulli(a: int, b: int, source: Bytes) -> bool:
    """Return True with probability a/b (0 <= a/b <= 1, b > 0).

    Let U = (F + U')/256 with F the byte read and U' uniform on [0, 1) again. Then U < a/b means
    U' < (256 a - F b)/b: the same question about a new a, which a <= 0 or a >= b decides.
    """
    while 0 < a < b:
        a = 256 * a - source.read(1)[0] * b
    return a > 0


def uniform_below(n: int, source: Bytes) -> int:
    """Return one of 0, ..., n-1 with equal probabilities.

    It is floor(U n). k bytes F give U = (F + U')/256**k and U n = high + (low + U' n)/256**k. The
    floor is high if U' < (256**k - low)/n, else high + 1. A byte more than n-1 fills often decides.
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

    If mu is an integer, this is Algorithm 2. Otherwise mu = c + f with c the nearest integer. The
    integers on c's side of mu are at the distances ``|f| + k`` (k = 0, 1, ...), the others at
    ``1 - |f| + k``. A fair bit chooses a side, the farther one is accepted with probability
    ``exp(-(1 - 2|f|)/scale)``, and k is geometric on both.
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

    If mu is an integer, this is Algorithm 3: a discrete Laplace y of scale t = floor(sigma) + 1 is
    accepted with probability exp(-(abs(y) - sigma2/t)**2 / (2 sigma2)). Otherwise mu = c + f with c
    the nearest integer, and y is accepted with probability exp(-gamma(y)), where gamma(y) =
    ((y - f)**2 - 2 h abs(y) - m)/(2 sigma2) and h = sigma2/t. Here m is the minimum over the
    integers of (y - f)**2 - 2 h abs(y). It is taken at the integer nearest to h + abs(f), on the
    side of f. csrc/law/law.c has the derivation.
    """
    p, q = sigma2.numerator, sigma2.denominator
    t = isqrt(p // q) + 1
    c = (2 * mu.numerator + mu.denominator) // (2 * mu.denominator)
    n, d = (mu - c).numerator, (mu - c).denominator

    def raised(y: int) -> int:
        """Return (y - f)**2 - 2 h abs(y) times d*d*q*t, which is an integer."""
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

    k is proposed with probability 2**-(k + 1) and accepted with probability (2**k/k!)/2, which is
    at most 1 because 2**k <= 2 k!. The product is 1/(4 k!), so accepted k have the law ~ 1/k!.
    """
    while True:
        k = 0
        while bernoulli(1, 2, source):
            k += 1
        if bernoulli(2**k, 2 * factorial(k), source):
            return k


def poisson(mean: Fraction, source: Bytes) -> int:
    """Return k with probability exp(-mean) mean**k/k!, mean >= 0.

    Poisson draws add up. A draw of mean 1 whose units are each kept with probability p has mean p.
    """
    whole, remainder = divmod(mean.numerator, mean.denominator)
    total = sum(_poisson_of_mean_1(source) for _ in range(whole))
    if remainder:
        units = _poisson_of_mean_1(source)
        total += sum(bernoulli(remainder, mean.denominator, source) for _ in range(units))
    return total


def skellam(variance: Fraction, source: Bytes) -> int:
    """Return the difference of two Poisson draws of mean variance/2."""
    return poisson(variance / 2, source) - poisson(variance / 2, source)
