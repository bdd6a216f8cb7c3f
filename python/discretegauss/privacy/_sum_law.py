"""Several queries with little noise: the law of the sum of their draws, from below.

By _composition.py the worst change is D in each of the k queries, and the loss is a function of the
sum S of the draws: that of N_Z(0, k sigma2) at S, for a change of k D. So with T(m) = P(S >= m)

    delta = T(m) - exp(epsilon) T(m + k D),    m the least y with loss(y) > epsilon,          (3)

without any factor, once the law of S itself is known. It is the k-fold convolution of N_Z(0,
sigma2), of which few integers matter where sigma2 is small (_certified/convolution.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from typing import Any

import gmpy2

from .._certified.convolution import Tails, tails_of_sum
from .._certified.floats import float_at_least
from .._certified.interval import ZERO, Interval, arithmetic
from ._composition import OneQuery
from ._hockey_stick import relative_bits
from ._privacy_loss import loss_exceeds_from

#: Results aim at a relative width of 2**-_AIM.
_AIM = 64

#: Enough where epsilon - log(delta) is below 2700 or so.
_MOST_BITS = 4096


def delta_of_sum(query: OneQuery, epsilon: Fraction, log_delta: Any) -> Interval | None:
    """Return delta of several queries, enclosed; None where that would take too long.

    ``log_delta`` is about its logarithm.
    """
    found = None
    if not log_delta > -_MOST_BITS:
        return None
    for bits in _precisions(epsilon - int(float(log_delta))):
        tails = tails_of_sum(query.one, query.queries, bits)
        if tails is None:
            break
        found = _delta(query, epsilon, tails)
        if relative_bits(found) >= _AIM:
            break
    return found


def delta_of_sum_is_at_most(query: OneQuery, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether the noise is proven to have (epsilon, delta), for several queries."""
    bits = next(_precisions(epsilon + _minus_log(delta)), None)
    tails = None if bits is None else tails_of_sum(query.one, query.queries, bits)
    return tails is not None and bool(_delta(query, epsilon, tails).upper <= gmpy2.mpq(delta))


def epsilon_of_sum(query: OneQuery, delta: Fraction, epsilon: Any) -> float:
    """Return the least float at which the noise is proven to have (epsilon, delta).

    ``epsilon`` is about that; infinity where it would take too long. By (3) for each m delta is at
    most the one asked for from epsilon = log((T(m) - delta)/T(m + k D)) on; the largest counts.
    """
    if not epsilon < _MOST_BITS:
        return math.inf
    bits = next(_precisions(int(float(epsilon)) + _minus_log(delta)), None)
    tails = None if bits is None else tails_of_sum(query.one, query.queries, bits)
    if tails is None:
        return math.inf
    less = delta * (1 - Fraction(1, 2 ** (_AIM - 4)))  # so that `delta_of_sum` finds it met
    above, below = _largest_quotient(tails, query.change, math.floor(less * 2**tails.bits))
    if not below:  # no cover: the precision is taken so that it is above 0
        return math.inf
    up = arithmetic(_AIM + 64).up
    return float_at_least(up.log(up.add(gmpy2.mpq(max(above, below), below), ZERO)))


def _largest_quotient(tails: Tails, change: int, delta: int) -> tuple[int, int]:
    """Return numerator and denominator of the largest (T(m) - delta)/T(m + change), m > -change/2.

    Of the m up to ``first``, where the bound on T(m) is 1, the last has the largest.
    """
    above, below = 0, 1
    for m in count(max(tails.first, -change // 2 + 1)):
        n, d = tails.at(m)[1] - delta, tails.at(m + change)[0]
        if n <= 0:
            break
        if n * below > above * d:
            above, below = n, d
    return above, below


def _delta(query: OneQuery, epsilon: Fraction, tails: Tails) -> Interval:
    """Return (3), enclosed."""
    exact = gmpy2.mpq(epsilon)
    m, _ = loss_exceeds_from(query.spec, exact, query.change) or (tails.first, 0)
    at = arithmetic(tails.bits + _AIM)
    near, far = (
        Interval(*(at.rational(gmpy2.mpq(end, 1 << tails.bits)).lower for end in tails.at(x)))
        for x in (m, m + query.change)
    )
    return at.sub(near, at.mul(at.exp(at.rational(exact)), far))


def _precisions(digits: Fraction | int) -> Iterator[int]:
    """Yield precisions for a result of about exp(-digits), more and more, while they are few."""
    if digits > _MOST_BITS:
        return
    bits = (2 * _AIM + 24 + int(digits * 3 / 2)) // 64 * 64 + 64  # exp(1) has less than 3/2 bits
    while bits <= _MOST_BITS:
        yield bits
        bits += bits // 128 * 64


def _minus_log(delta: Fraction) -> int:
    """Return about -log2(delta), more than -log(delta)."""
    return delta.denominator.bit_length() - delta.numerator.bit_length() + 1
