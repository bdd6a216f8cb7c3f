"""The Skellam law: X = A - B, A and B Poisson of mean v/2, P(X = k) = exp(-v) I_k(v).

I_k is the modified Bessel function. The weights obey exactly (DLMF 10.29.1)

    I_(k-1) = I_(k+1) + (2 k/v) I_k,    so    r_(k-1) = 1/(2 k/v + r_k)    for r_k = I_(k+1)/I_k.

r_k lies in (0, 1). It falls in k, because the law is log-concave, as the convolution of two
log-concave laws. By the recurrence r_k (2 k/v + r_k) <= 1 and r_k (2 (k + 1)/v + r_k) >= 1, so

    1/(sqrt(1 + x**2) + x), x = (k + 1)/v    <=    r_k    <=    the same with x = k/v.

From such bounds far out, the recurrence gives bounds on every smaller r_k. 1/(c + r) falls in r and
has the relative derivative r_k r_(k-1), so the bounds become narrower by this factor at each step.
The weights I_k/I_0 are products of the r_j. Beyond the farthest k their sum is at most a geometric
series.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import asinh, hypot, isqrt, log
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from .._law import LawSpec
from ..errors import ParameterOverflowError
from .double_double import Floats, Pair, Pairs, pair_sum
from .double_double_functions import logarithm
from .formulas import About, Formulas, term_by_term
from .interval import ONE, ZERO, Arithmetic, Interval, Real, arithmetic, relative_width_below

LARGEST_TABLE = 2**28
"""The largest variance with computed weights. There are about 13 sqrt(variance) of them."""

_MOST_WEIGHTS, _MOST_DEVIATIONS = 2**16, 64
"""Weights are computed up to _MOST_WEIGHTS, or up to _MOST_DEVIATIONS if that is more. All others
are below exp(-2000) times the weight of 0."""


_MOST_TERMS = 2**16
"""The most terms of a power series, about."""

_FEW_WEIGHTS = 256
"""The table always has at least this many weights."""

_MOST_PHI = 1000.0
"""All exponents above this count as equal."""


def _chernoff_exponent(v: float, k: float) -> float:
    """Return about -log of the bound on P(X >= k) by E(exp(t X)) = exp(v (cosh(t) - 1))."""
    return v + k * asinh(k / v) - hypot(v, k)


def _reach(variance: Fraction, nats: float) -> int:
    """Return a guess of the k with P(X >= k) < exp(-nats)."""
    v = max(float(variance), 1e-300)
    low, high = 0, 4
    while _chernoff_exponent(v, high) < nats:
        low, high = high, 2 * high
    while high - low > 1 + low // 16:
        middle = (low + high) // 2
        low, high = (middle, high) if _chernoff_exponent(v, middle) < nats else (low, middle)
    return high + 2


class _BesselWeights(NamedTuple):
    """I_k and the sum of all I_j, j >= k, for k = 0, 1, ..., in units of the last weight.

    They are lower bounds. ``beyond`` bounds the weights beyond the last, which sums lack. With it,
    and times ``factor`` >= 1, all are upper bounds.
    """

    weights: list[Real]
    sums: list[Real]
    beyond: Real
    factor: Real
    up: Any

    def at(self, k: int) -> Interval:
        lower = self.weights[k]
        return Interval(lower, self.up.mul(lower, self.factor))

    def sum_from(self, k: int) -> Interval:
        lower = self.sums[k]
        return Interval(lower, self.up.mul(self.up.add(lower, self.beyond), self.factor))

    def total(self, at: Arithmetic) -> Interval:
        """Return the sum over all integers, in which I_0 counts once."""
        return at.sub(at.scale(self.sum_from(0), 2), self.at(0))


def _most_weights(variance: Fraction) -> int:
    return max(_MOST_WEIGHTS, _MOST_DEVIATIONS * isqrt(int(variance)))


def _require_near(variance: Fraction, k: int) -> None:
    if k > (most := _most_weights(variance)):
        raise ParameterOverflowError(f"k must be within {most} of 0 for so wide a Skellam law")


def _weights(variance: Fraction, k: int, bits: int) -> _BesselWeights:
    """Return the weights that I_k and the sums from 0 to k need."""
    if variance > LARGEST_TABLE:
        raise ParameterOverflowError("variance must be at most 2**28 for probabilities")
    _require_near(variance, k)
    bits = -(-bits // 64) * 64  # few values, so that the cache is useful
    span = 16 << (isqrt(int(variance)) // 2).bit_length()  # about 8 to 16 deviations
    while span < k:
        span *= 2
    found = _weights_up_to(variance, span, bits)
    # weights beyond the last have no lower bound, so they must be negligible in the sum from k on
    while not relative_width_below(found.sum_from(min(k, span)), bits):
        span *= 2
        found = _weights_up_to(variance, span, bits)
    return found


@lru_cache(maxsize=4)
def _weights_up_to(variance: Fraction, span: int, bits: int) -> _BesselWeights:
    # ratios fall, so I(k + j)/I(k) is at most I(j)/I(0)
    top = span + _reach(variance, 0.7 * bits + log(variance + 2) + 8)
    more = top.bit_length()
    at, (num, den) = arithmetic(bits + more + 8), map(gmpy2.mpz, variance.as_integer_ratio())
    up, down = at.up, at.down
    start = top + max(8, top // 8)
    while True:
        low, high = _root((start + 1) / variance, at).lower, _root(start / variance, at).upper
        for k in range(start, top, -1):  # to r_top
            twice = 2 * k * den
            above, below = up.fma(num, high, twice), down.fma(num, low, twice)
            low, high = down.div(num, above), up.div(num, below)
        if relative_width_below(Interval(low, high), bits + 4):
            break
        start += start - top
    # All multiples of the rounded step are exact in the longer numbers. Terms are positive. With
    # p = bits + more + 8, each k adds at most 2**-p to the relative error, and 2**-(p + more) for
    # its two roundings. Sums add as much again, and the first ratio 2**-bits/16 in all.
    step, following, weight = down.div(2 * den, num), low, ONE
    total, weights, sums = weight, [weight], [weight]
    with gmpy2.context(arithmetic(at.bits + more + 1).down):
        twice = step * (top + 1)
        for _ in range(top):
            twice -= step
            following, weight = weight, twice * weight + following
            total += weight
            weights.append(weight)
            sums.append(total)
    weights.reverse()
    sums.reverse()
    beyond = up.sub(up.div(ONE, down.sub(ONE, high)), ONE)  # ratios fall
    return _BesselWeights(weights, sums, beyond, up.add(ONE, up.div_2exp(ONE, bits + 2)), up)


@lru_cache(maxsize=4)
def _exponents(variance: Fraction, last: int) -> Pairs:
    """Return log(I_0/I_k), k = 0..last, up to `_MOST_PHI`, to an error of 2**-92."""
    weights, down = _weights(variance, last, 128).weights[: last + 1], arithmetic(128).down
    # as pairs, in a unit for which their logarithms are between -600 and 600
    middle = (gmpy2.get_exp(weights[0]) + gmpy2.get_exp(weights[-1])) // 2
    whole = [down.div_2exp(weight, middle) for weight in weights]
    high = [float(weight) for weight in whole]
    low = [float(down.sub(weight, near)) for weight, near in zip(whole, high, strict=True)]
    logs = logarithm(Pairs(np.array(high), np.array(low)))
    return pair_sum(Pairs(-logs.high, -logs.low), Pair(logs.high[0], logs.low[0]))


@lru_cache(maxsize=16)
def probabilities_up_to(variance: Fraction, bits: int) -> tuple[list[int], list[int]]:
    """Return lower and upper bounds on P(abs(X) <= k), k = 0, 1, ..., in units of 2**-bits.

    The last lower bound is next to 1. Results are cached, because they are not secret.
    """
    found = _weights(variance, 0, bits + 16)
    at, one = arithmetic(bits + 32), 1 << bits
    scale = at.div(at.rational(2 << bits), found.total(at))
    lower, upper = [], []
    for k in range(1, len(found.sums)):
        tail = at.mul(found.sum_from(k), scale)
        lower.append(one - int(at.up.ceil(tail.upper)))
        upper.append(one - int(at.down.floor(tail.lower)))
        if lower[-1] >= one - 2:
            break
    return lower, upper


def _is_by_table(variance: Fraction, k: int) -> bool:
    """Return whether to use the table instead of a power series of few terms."""
    return k <= _most_weights(variance) and (k <= _FEW_WEIGHTS or variance**2 > 4 * k)


def _log_weight(variance: Fraction, k: int, bits: int) -> Interval:
    """Return log(I_k/I_0), for k far out by the power series (DLMF 10.25.2).

    I_k(v) = (v/2)**k/k! times the sum of (v**2/4)**j/(j! (k + 1) ... (k + j)), whose ratios fall.
    """
    quarter = variance**2 / 4
    if _is_by_table(variance, k):
        found = _weights(variance, k, bits)
        return arithmetic(bits).log(arithmetic(bits).div(found.at(k), found.at(0)))
    if quarter > k * _MOST_TERMS or variance > LARGEST_TABLE:
        _require_near(variance, k)
    at = arithmetic(bits + 2 * k.bit_length() + 32)
    term = total = at.rational(1)
    for j in range(1, 2 * _MOST_TERMS + at.bits):
        term = at.scale(term, quarter / (j * (k + j)))
        total = at.add(total, term)
        halves = 2 * quarter < j * (k + j)  # later terms at least halve
        if halves and at.up.mul_2exp(term.upper, at.bits) < 1:
            break
    total = Interval(total.lower, at.up.add(total.upper, at.up.mul_2exp(term.upper, 1)))
    whole = at.rational(k + 1)
    log_factorial = Interval(at.down.lngamma(whole.lower), at.up.lngamma(whole.upper))
    log_power = at.scale(at.log(at.rational(variance / 2)), k)
    # I_0(v) = exp(v) P(X = 0)
    near = _weights(variance, 0, bits)
    log_first = at.shift(at.log(at.div(near.at(0), near.total(at))), variance)
    return at.sub(at.add(at.sub(log_power, log_factorial), at.log(total)), log_first)


def _far_tail_ratio(variance: Fraction, m: int, bits: int) -> Interval:
    """Return the weight of all x >= m in units of that of m: 1 + r_m (1 + r_(m+1) (1 + ...))."""
    at = arithmetic(bits + 16)
    last = m + bits
    low, high = _root((last + 1) / variance, at).lower, _root(last / variance, at).upper
    ratio = Interval(low, high)
    tail = Interval(ONE, at.up.div(ONE, at.down.sub(ONE, high)))
    for k in range(last, m, -1):
        ratio = at.div(at.rational(1), at.shift(ratio, 2 * k / variance))
        tail = at.shift(at.mul(ratio, tail), 1)
    return tail


def _root(x: Fraction, at: Arithmetic) -> Interval:
    """Return 1/(sqrt(1 + x**2) + x)."""
    return at.div(at.rational(1), at.shift(at.sqrt(at.rational(1 + x * x)), x))


class SkellamFormulas(Formulas):
    """The Skellam law; mu is 0."""

    def phi(self, spec: LawSpec, m: int, at: Arithmetic) -> Interval:
        """Return log(I_0/I_m)."""
        return self.log_weight_ratio(spec, 0, m, at.bits)

    def log_weight_ratio(self, spec: LawSpec, x: int, y: int, bits: int) -> Interval:
        """Return phi(y) - phi(x)."""
        if abs(x) == abs(y):
            return arithmetic(bits).rational(0)
        more = int(spec.parameter).bit_length() + 8  # the logarithm is at least about 1/(2 v)
        at = arithmetic(bits + more)
        if _is_by_table(spec.parameter, max(abs(x), abs(y))):
            return at.log(self.weight_ratio(spec, x, y, bits + more))
        far, near = (_log_weight(spec.parameter, abs(k), at.bits) for k in (x, y))
        return at.sub(far, near)

    def weight_ratio(self, spec: LawSpec, x: int, y: int, bits: int) -> Interval:
        """Return the weight of x in units of the weight of y.

        Because r_k < exp(-asinh(k/v)), the weight of x in units of the weight of 0 is at most
        exp(sqrt(v**2 + z**2) - v - z asinh(z/v)) with z = x - 1.
        """
        x, y = abs(x), abs(y)
        at = arithmetic(bits + 8)
        if x == y:
            return at.rational(1)
        if x > _most_weights(spec.parameter) and y == 0 and spec.parameter <= LARGEST_TABLE:
            return Interval(ZERO, at.exp(at.rational(-2000)).upper)
        found = _weights(spec.parameter, max(x, y), bits + 8)
        return at.div(found.at(x), found.at(y))

    def tail_ratio(self, spec: LawSpec, m: int, bits: int) -> Interval:
        """Return the weight of all x >= m in units of that of m, for m at least 0."""
        beyond = m > _most_weights(spec.parameter)
        if beyond and spec.parameter <= LARGEST_TABLE:  # of a negligible tail
            return _far_tail_ratio(spec.parameter, m, bits)
        found = _weights(spec.parameter, m, bits + 8)
        return arithmetic(bits + 8).div(found.sum_from(m), found.at(m))

    def tail_bound(self, spec: LawSpec, m: int, at: Arithmetic) -> Interval | None:
        """Return Chernoff's bound on P(X >= m), exp(sqrt(v**2 + m**2) - v - m asinh(m/v))."""
        if m <= 0:
            return at.rational(1)
        at = arithmetic(at.bits + int(spec.parameter).bit_length())  # these bits cancel
        ratio = at.rational(m / spec.parameter)
        root = at.sqrt(at.rational(spec.parameter**2 + m**2))
        # asinh(x) = log(x + sqrt(1 + x**2))
        power = at.scale(at.log(at.add(ratio, at.div(root, at.rational(spec.parameter)))), m)
        return at.exp(at.sub(at.shift(root, -spec.parameter), power))

    def has_exponents(self, spec: LawSpec) -> bool:
        """Return False, because array_functions.py needs exponents for laws of any width."""
        return False

    def exponents(self, spec: LawSpec, steps: Floats) -> Pairs:
        """Return log(I_0/I_k) from the table of weights, to an error of 2**-92; 1000 beyond it."""
        k = np.abs(steps)
        last = min(int(k.max(initial=0)), _reach(spec.parameter, _MOST_PHI))
        table, within = _exponents(spec.parameter, last), k <= last
        places = np.where(within, k, 0).astype(np.int64)
        high = np.where(within, table.high[places], _MOST_PHI)
        return Pairs(high, np.where(within, table.low[places], 0.0))

    def distance_of(self, spec: LawSpec, level: Interval, at: Arithmetic) -> Interval:
        """Return about the distance at which phi is ``level``."""
        return at.rational(_reach(spec.parameter, float(level.upper)))

    def whole_width(self, spec: LawSpec) -> int:
        """Return the standard deviation, rounded down."""
        return isqrt(int(spec.parameter))

    def exact_variance(self, spec: LawSpec) -> Fraction:
        """Return the variance, the law's parameter."""
        return spec.parameter

    def moments(self, spec: LawSpec, bits: int, order: int) -> About:
        """Return the moments up to the order."""
        return term_by_term(self, spec, bits, order)
