"""The certified law of S = sum of w_j X_j for independent discrete Gaussians X_j.

Let f be the characteristic function of a symmetric law on the integers. Its remainder modulo N has

    P(abs(S mod N) <= m) = (1/N) sum over -N/2 < k <= N/2 of f(t_k) sin((2 m + 1) t_k/2)/sin(t_k/2),

where t_k = 2 pi k/N and the term of k = 0 is 2 m + 1. The sum over x of exp(-(x - c)**2/(2 sigma2))
is largest for c = 0, so E(exp(a X)) <= exp(a**2 sigma2/2). So S is sub-Gaussian with the parameter
V = sum of w_j**2 sigma2_j, and the probability of wrapping is at most 2 exp(-(N/2)**2/(2 V)). f(t)
is the product of g_j(w_j t), g(t) = E(cos(t X)), so equal cells give a power. By Poisson summation,
for t = 2 pi u,

    g = A(u)/A(0),    A(u) = sum over m of exp(-2 pi**2 sigma2 (u - m)**2).

*Few terms count.* By Jacobi's triple product g(t) is a product of factors 1 - a_n sin(t/2)**2 with
0 < a_n <= 1, so log g, as a function of y = sin(t/2)**2, is concave and 0 at y = 0, where its slope
is -2 Var(X). So g falls on [0, pi], and log g <= -2 Var(X) sin(t/2)**2. Terms whose f is small by
this bound are omitted. Since abs(f sin(...)/sin(t_k/2)) <= f N/(2 k), their sum is at most max f
times (1 + log(N/2)). If all w_j are 1, some 27 terms remain, for any number of cells.

Floats only choose the terms. Interval arithmetic encloses their sum.

*Few cells with little noise* and large weights have too many terms, but few values of S. Then the
masses are convolved exactly: integers below those of each X_j in units of 2**-b. The convolved mass
up to abs(S) = m is a lower bound on P(abs(S) <= m).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._certified.convolution import masses_below
from .._certified.interval import Arithmetic, Interval, arithmetic
from .._certified.search import first_true
from .._law import Kind, LawSpec
from ..laws import DiscreteGaussian

Pairs = Mapping[tuple[int, Fraction], int]
"""The number of cells for each weight, above 0, and sigma2."""

_MOST_CANDIDATES = 2**16
_MOST_FACTORS = 2**12
"""The most terms, and the most factors g in the chosen terms; with more, weights are rounded."""

_MOST_PRODUCTS = 2**17
"""The most products of masses in a convolution."""

_SMALL_SIGMA2 = Fraction(1, 2)
"""Below this sigma2, A(u) has many terms, but the sum over x has few."""


class _HighAndLow(NamedTuple):
    weight: int
    sigma2: Fraction
    cells: int
    variance: float
    """The variance of all these cells with weight 1, rounded down."""


def variance(pairs: Pairs) -> float:
    """Return the variance of the sum."""
    return math.fsum(
        n * w**2 * float(DiscreteGaussian(sigma2).var()) for (w, sigma2), n in pairs.items()
    )


def radius(pairs: Pairs, miss: Fraction) -> int:
    """Return the least r for which P(abs(S) > r) <= miss is proven; see the notes of `total`.

    If there are too many terms and too many values of S, weights are rounded to q times integers,
    so that S = q S' + R. R is sub-Gaussian with the parameter of its own weights. It may miss with
    1/1024 of `miss`, and S' with the remainder. The sub-Gaussian radius of S is used if smaller.
    """
    if not pairs:
        return 0
    step = math.gcd(*(w for w, _ in pairs))
    law = _law_of(_divided(pairs, step), miss)
    if law is not None:
        return law.radius(miss) * step
    convolved = _convolved_radius(_divided(pairs, step), miss)
    if convolved is not None:
        return convolved * step
    of_rest = miss / 1024
    q = step
    while law is None:
        q *= 2
        rounded: dict[tuple[int, Fraction], int] = {}
        v_rest = Fraction(0)
        for (w, sigma2), n in pairs.items():
            near = (w + q // 2) // q
            v_rest += n * sigma2 * (w - q * near) ** 2
            if near:
                rounded[near, sigma2] = rounded.get((near, sigma2), 0) + n
        # if the largest weight is 1, all are, and there is a law, so `rounded` is never empty
        of_rounded = math.gcd(*(w for w, _ in rounded))
        law = _law_of(_divided(rounded, of_rounded), miss)
    main = q * of_rounded * law.radius(miss - of_rest)
    v = sum((n * w**2 * sigma2 for (w, sigma2), n in pairs.items()), Fraction(0))
    return min(main + _sub_gaussian_radius(v_rest, of_rest), _sub_gaussian_radius(v, miss))


def _convolved_radius(pairs: Pairs, miss: Fraction) -> int | None:
    """Return the radius by convolution; None if that needs too many products."""
    bits = 64 + (miss.denominator // miss.numerator).bit_length()
    values, most, products = {0: 1}, 1, 0
    for (w, sigma2), n in pairs.items():
        masses = masses_below(LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2), bits)
        reach = len(masses) // 2
        for _ in range(n):
            products += len(values) * len(masses)
            if not masses or products > _MOST_PRODUCTS:
                return None
            new: dict[int, int] = {}
            for value, mass in values.items():
                for x, of_x in enumerate(masses, -reach):
                    new[value + w * x] = new.get(value + w * x, 0) + mass * of_x
            values, most = new, most << bits
    inside, needed = 0, math.ceil((1 - miss) * most)
    for value in sorted(values, key=abs):
        inside += values[value]
        if inside >= needed:
            return abs(value)
    return None


def _divided(pairs: Pairs, step: int) -> Pairs:
    return {(w // step, sigma2): n for (w, sigma2), n in pairs.items()}


def _sub_gaussian_radius(v: Fraction, miss: Fraction) -> int:
    """Return an r with 2 exp(-r**2/(2 v)) <= miss."""
    at = arithmetic(64 + v.numerator.bit_length())
    square = at.scale(at.log(at.rational(2 / miss)), 2 * v)
    return int(at.sqrt(square).upper) + 1


def _law_of(pairs: Pairs, miss: Fraction) -> _SumLaw | None:
    """Return the law; None if too many of its terms may count."""
    bits = 64 + (miss.denominator // miss.numerator).bit_length()
    listed = [
        _HighAndLow(w, sigma2, n, n * _variance_below(sigma2)) for (w, sigma2), n in pairs.items()
    ]
    listed.sort(key=lambda pair: -pair.variance)
    v = sum((n * w**2 * sigma2 for w, sigma2, n, _ in listed), Fraction(0))
    half = math.isqrt(math.ceil(v * bits * Fraction(7, 5))) + 2  # log(2) < 7/10
    indices: Iterator[int] | list[int] | None = None
    if all(pair.weight == 1 for pair in listed):
        indices = iter(range(1, half + 1))  # _SumLaw stops at the first small term
    else:
        indices = _candidates(listed, half, (bits + 6) * math.log(2) + 1)
    return None if indices is None else _SumLaw(listed, v, half, bits, indices)


@lru_cache(maxsize=256)
def _variance_below(sigma2: Fraction) -> float:
    return float(DiscreteGaussian(sigma2).var(bounds=True)[0])


def _candidates(pairs: list[_HighAndLow], half: int, exponent: float) -> list[int] | None:
    """Return all k from 1 to N/2 except some with f(t_k) <= exp(-exponent); None if too many.

    Each pair leaves only k near multiples of N/w. The search begins with the pair with the fewest.
    """
    n_turns = 2 * half

    def reach(pair: _HighAndLow) -> float:
        """Return the greatest distance of w k/N from a whole number."""
        square = (exponent + 1) / (2 * pair.variance) if pair.variance else 1.0
        return math.asin(math.sqrt(square)) / math.pi if square < 1 else 0.5

    if n_turns * max(pair.weight for pair in pairs) >= 2**62:
        return None
    first = min(pairs, key=lambda pair: reach(pair) * n_turns + pair.weight)
    c, w = reach(first), first.weight
    if min(c * n_turns + w, half) > _MOST_CANDIDATES:
        return None
    if c < 0.5 and 2 * c * n_turns + w < half:
        centres = np.arange(w // 2 + 1, dtype=np.float64)
        starts = np.maximum(((centres - c) * (n_turns / w)).astype(np.int64) - 1, 1)
        ends = np.minimum(((centres + c) * (n_turns / w)).astype(np.int64) + 2, half + 1)
        k = np.unique(_ranges(starts, np.maximum(ends, starts)))
    else:
        k = np.arange(1, half + 1)
    bound = np.zeros(k.size)
    for pair in pairs:
        angle = (pair.weight * k % n_turns) * (math.pi / n_turns)
        bound += 2 * pair.variance * np.sin(angle) ** 2
        may_count = bound < exponent + 1e-6 * bound  # more than the floats' errors
        if not may_count.all():
            k, bound = k[may_count], bound[may_count]
    return [int(x) for x in k] if k.size * len(pairs) <= _MOST_FACTORS else None


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the concatenation of the ranges."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


class _SumLaw:
    """The law of S, enclosed by the chosen terms and a bound on the others."""

    def __init__(
        self,
        pairs: list[_HighAndLow],
        v: Fraction,
        half: int,
        bits: int,
        indices: Iterator[int] | list[int],
    ) -> None:
        self._n_turns, self._bits = 2 * half, bits
        self._v, self._cells = v, sum(pair.cells for pair in pairs)
        self._at = at = arithmetic(bits + 32 + self._cells.bit_length())
        small = at.up.mul_2exp(at.rational(1).upper, -bits - 6)
        self._terms: list[tuple[int, Interval]] = []
        for k in indices:
            f = self._at_turn(pairs, k)
            if isinstance(indices, list) or f.upper > small:
                each = at.scale(f, Fraction(1 if k == half else 2, self._n_turns))
                wave = at.sin_of_turns(Fraction(k, 2 * self._n_turns))
                self._terms.append((k, at.div(each, wave)))
            else:
                break
        omitted = at.up.mul(small, 1 + half.bit_length())
        wrapped = at.up.mul_2exp(at.rational(2).upper, -bits)
        self._less = at.up.add(omitted, wrapped)

    def _at_turn(self, pairs: list[_HighAndLow], k: int) -> Interval:
        """Return f(t_k)."""
        at, most = self._at, max(pair.weight for pair in pairs)
        u = Fraction(most * k, self._n_turns)
        square = at.mul(at.pi(), at.pi())
        if u <= Fraction(1, 4) and (least := min(pair.sigma2 for pair in pairs)) >= _SMALL_SIGMA2:
            # each g exp(t**2 sigma2/2) is from 1 to 1 + d, d = 2.1 exp(-2 pi**2 sigma2 (1 - 2 u))
            d = at.exp(at.scale(square, -2 * least * (1 - 2 * u)))
            excess = at.up.mul(at.scale(d, Fraction(21, 10) * self._cells).upper, 2)
            if at.up.mul_2exp(excess, self._bits) <= 1:
                f = at.exp(at.scale(square, -2 * self._v * Fraction(k, self._n_turns) ** 2))
                return Interval(f.lower, at.up.mul(f.upper, at.up.add(1, excess)))
        f = at.rational(1)
        for pair in pairs:
            turns = Fraction(pair.weight * k % self._n_turns, self._n_turns)
            g = _characteristic(pair.sigma2, min(turns, 1 - turns), at)
            f = at.mul(f, at.power(g, pair.cells))
        return f

    def inside(self, m: int) -> Interval:
        """Return P(abs(S) <= m)."""
        at = self._at
        total = at.rational(Fraction(2 * m + 1, self._n_turns))
        for k, term in self._terms:
            wave = at.sin_of_turns(Fraction(k * (2 * m + 1), 2 * self._n_turns))
            total = at.add(total, at.mul(term, wave))
        return Interval(at.down.sub(total.lower, self._less), at.up.add(total.upper, self._less))

    def radius(self, miss: Fraction) -> int:
        """Return the least m for which P(abs(S) <= m) >= 1 - miss is proven."""
        sure = self._at.rational(1 - miss).upper
        z = -NormalDist().inv_cdf(float(miss / 2)) if miss > Fraction(1, 10**9) else 6.0
        edge = math.isqrt(math.floor(4 * self._v * Fraction(z) ** 2))  # about 2 m + 1
        return first_true(lambda m: self.inside(m).lower >= sure, edge // 2, low=0)


def _characteristic(sigma2: Fraction, u: Fraction, at: Arithmetic) -> Interval:
    """Return E(cos(2 pi u X)), 0 <= u <= 1/2."""
    if sigma2 >= _SMALL_SIGMA2:
        above, below = _poisson_sum(sigma2, u, at), _poisson_at_0(sigma2, at)
    else:
        above, below = _cosine_sum(sigma2, u, at), _cosine_sum(sigma2, Fraction(0), at)
    ratio = at.div(above, below)
    return Interval(ratio.lower, min(ratio.upper, at.rational(1).upper))


def _poisson_sum(sigma2: Fraction, u: Fraction, at: Arithmetic) -> Interval:
    """Return A(u). Terms beyond abs(m) = M add at most 4 exp(-2 pi**2 sigma2 (M + 1/2)**2)."""
    rate = at.scale(at.mul(at.pi(), at.pi()), -2 * sigma2)
    total, m = at.exp(at.scale(rate, u**2)), 0
    while True:
        remainder = at.up.mul(at.exp(at.scale(rate, Fraction(2 * m + 1, 2) ** 2)).upper, 4)
        if at.up.mul_2exp(remainder, at.bits) <= 1:
            return Interval(total.lower, at.up.add(total.upper, remainder))
        m += 1
        for centre in (m, -m):
            total = at.add(total, at.exp(at.scale(rate, (u - centre) ** 2)))


@lru_cache(maxsize=64)
def _poisson_at_0(sigma2: Fraction, at: Arithmetic) -> Interval:
    return _poisson_sum(sigma2, Fraction(0), at)


def _cosine_sum(sigma2: Fraction, u: Fraction, at: Arithmetic) -> Interval:
    """Return the sum over x of exp(-x**2/(2 sigma2)) cos(2 pi u x), sigma2 below 1/2."""
    weights, remainder = _weights(sigma2, at)
    total = at.rational(1)
    for x, weight in enumerate(weights, 1):
        total = at.add(total, at.mul(weight, at.cos_of_turns(u * x)))
    return Interval(at.down.sub(total.lower, remainder), at.up.add(total.upper, remainder))


@lru_cache(maxsize=64)
def _weights(sigma2: Fraction, at: Arithmetic) -> tuple[list[Interval], Any]:
    """Return 2 exp(-x**2/(2 sigma2)) for x = 1, 2, ..., and a bound on the sum of the others.

    The ratios of neighbours are below 1/2, so the sum from x on is at most twice the term of x.
    """
    weights: list[Interval] = []
    while True:
        x = len(weights) + 1
        weight = at.scale(at.exp(at.rational(-(x**2) / (2 * sigma2))), 2)
        remainder = at.up.mul(weight.upper, 2)
        if at.up.mul_2exp(remainder, at.bits) <= 1:
            return weights, remainder
        weights.append(weight)
