"""About how large the delta of a discrete Gaussian is: for a first guess, in one precision."""

from __future__ import annotations

import math
from typing import Any

import gmpy2

from .zcdp import search_precision

_FAR = 2**20
"""Beyond exp(-_FAR) nothing is told roughly."""

_STEEP, _NARROW = gmpy2.mpq(1, 4), 64
"""Where tails fall so fast, or of a smaller sigma2, they are summed term by term."""


def rough_log_delta(sigma2: Any, epsilon: Any, change: int) -> tuple[Any, Any] | None:
    """Return about log(delta), and minus its slope in epsilon, as two mpfr; None where m is far.

    By (1) of _hockey_stick.py, without bounds: a guess, to some ten digits, that intervals check.
    """
    m = math.floor(epsilon * sigma2 / change - gmpy2.mpq(change, 2)) + 1
    phi = gmpy2.mpq(max(m, 0) ** 2) / (2 * sigma2)
    if phi > _FAR:
        return None
    cancelled = max(0, gmpy2.mpz(sigma2).bit_length() // 2 - change.bit_length())
    with search_precision(80 + 2 * cancelled + gmpy2.mpz(phi).bit_length()):
        v = gmpy2.mpfr(sigma2)
        if v < 1:
            total = 2 * _rough_tail(v, 0) - 1
        else:  # by Poisson summation
            pi = gmpy2.const_pi()
            total = gmpy2.sqrt(2 * pi * v) * (1 + 2 * gmpy2.exp(-2 * pi * pi * v))
        if m > 0:
            kept = _rough_tail(v, m)
        else:
            kept = total - gmpy2.exp(-gmpy2.mpq((1 - m) ** 2) / (2 * sigma2)) * _rough_tail(
                v, 1 - m
            )
        exponent = epsilon + phi - gmpy2.mpq((m + change) ** 2) / (2 * sigma2)
        taken = gmpy2.exp(exponent) * _rough_tail(v, m + change)
        if kept <= taken:  # no cover: more cancels than is foreseen
            return None
        return gmpy2.log((kept - taken) / total) - phi, taken / (kept - taken)


def _rough_tail(v: Any, x: int) -> Any:
    """Return about the weight of all integers from x on, in units of that of x."""
    slope = x / v
    if slope > _STEEP or v < _NARROW:
        total = term = ratio = gmpy2.exp(-slope - 1 / (2 * v))
        step, least = gmpy2.exp(-1 / v), gmpy2.exp2(-gmpy2.get_context().precision)
        while term > least * total:
            ratio *= step
            term *= ratio
            total += term
        return 1 + total
    # Euler and Maclaurin, with the derivatives of exp(-x**2/(2 v)) of orders 1, 3 and 5
    z = slope * slope * v
    whole = gmpy2.sqrt(gmpy2.const_pi() * v / 2) * gmpy2.exp(z / 2) * gmpy2.erfc(gmpy2.sqrt(z / 2))
    third = slope * (3 / v - slope**2) / 720
    fifth = slope * (15 / v**2 - 10 * slope**2 / v + slope**4) / 30240
    return whole + 0.5 + slope / 12 + third + fifth
