"""k releases with discrete Laplace noise: the delta of all of them, rounded up.

Kairouz, Oh and Viswanath (ICML 2015, arXiv 1311.0776, Theorem 3.3) give the least delta that holds
for every k mechanisms which are (eps0, 0)-differentially private,

    delta = sum over j of  C(k, j) max(0, exp((k - j) eps0) - exp(epsilon + j eps0))
                           divided by (1 + exp(eps0))**k,

the worst case being randomised response. The discrete Laplace X of scale 1/eps0, added to a query
that changes by 1, *is* randomised response: P(X = x) / P(X = x - 1) is exp(eps0) for x <= 0 and
exp(-eps0) for x >= 1, and nothing else, with P(X <= 0) = 1 / (1 + exp(-eps0)). So for k such
queries the formula is no bound but the value, and no accounting of their losses can do better.

With q = exp(-eps0) and everything divided by exp(k eps0), what is summed here is

    delta = sum over j with g(j) > 0 of  w(j) (1 - exp(-g(j))),
    w(j) = C(k, j) q**j / (1 + q)**k,    g(j) = (k - 2 j) eps0 - epsilon.

No term is negative, and each factor is rounded in the direction that makes it larger: the sum is an
upper bound, whatever the precision. Its relative error is below about 16 k 2**-160 (j enters
through j factors of q, and k through k divisions by 1 + q).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.interval import ONE, ZERO, arithmetic
from .._certified.search import decimal_at, decimal_ordinal, first_true
from .._inputs.messages import refused
from ..errors import ParameterOverflowError

MOST_QUERIES = 10**5
"""The sum has about k/2 terms; a calibration with more would keep a caller waiting for minutes."""

_BITS = 160


def require_few(queries: int) -> None:
    """Refuse more queries than can be summed over."""
    if queries > MOST_QUERIES:
        rule = f"be at most {MOST_QUERIES} for the optimal composition"
        raise refused("queries", rule, queries, ParameterOverflowError)


def laplace_delta_upper(scale: Fraction, epsilon: Fraction, queries: int) -> Any:
    """Return an upper bound on delta, an mpfr of at most 1 (0 if no loss exceeds epsilon).

    Requires scale > 0, epsilon >= 0, queries >= 1.
    """
    at = arithmetic(_BITS)
    up, down = at.up, at.down
    q = at.exp(at.rational(-1 / scale))
    weight_upper = up.pow(up.div(1, down.add(1, q.lower)), queries)
    step = gmpy2.mpq(2 / scale)
    gap = gmpy2.mpq(queries / scale - epsilon)
    delta_upper = ZERO
    for j in range(_losses_above(scale, epsilon, queries)):
        # 1 - exp(-gap): the larger the gap the larger, so both roundings go up
        share_upper = up.minus(down.expm1(down.add(-gap, ZERO)))
        delta_upper = up.add(delta_upper, up.mul(weight_upper, share_upper))
        weight_upper = up.mul(weight_upper, q.upper)
        weight_upper = up.div(up.mul(weight_upper, queries - j), j + 1)
        gap -= step
    return min(delta_upper, ONE)


def _losses_above(scale: Fraction, epsilon: Fraction, queries: int) -> int:
    """Return how many j have (queries - 2 j) / scale > epsilon: those below half the excess."""
    excess = queries - epsilon * scale
    return max(0, -(-excess // 2))


def laplace_scale_upper(epsilon: Fraction, delta: Fraction, queries: int) -> Fraction:
    """Return the least scale of 6 decimal digits whose delta is at most delta.

    Requires epsilon >= 0, 0 < delta < 1, 1 <= queries <= MOST_QUERIES. That it suffices is checked
    by laplace_delta_upper, in exact comparison; only that it is the least rests on delta falling as
    the scale grows (randomised response with less noise can be made into one with more).
    """
    target = gmpy2.mpq(delta)

    def suffices(ordinal: int) -> bool:
        return bool(laplace_delta_upper(decimal_at(ordinal), epsilon, queries) <= target)

    # Enough are k/epsilon, beyond which no loss exceeds epsilon, and k/(2 delta): the distance
    # between X and X + 1 is tanh(eps0/2) < eps0/2, and k of them add up to delta at most.
    enough = queries / (2 * delta)
    if epsilon > 0:
        enough = min(enough, queries / epsilon)
    return decimal_at(first_true(suffices, decimal_ordinal(enough)))
