"""The law of a sum of independent draws: nearly the law of one draw, or by convolution.

*A sum of discrete Gaussian draws is nearly one draw.* k draws of N_Z(0, sigma2) sum to
N_Z(0, k sigma2), up to a factor between (1 - eta)/(1 + eta) and (1 + eta)/(1 - eta) of every
probability. eta is that of `density_ratio_upper`, and privacy/hockey_stick.py has the proof.

*A convolution.* It is computed in integers. Masses are in units of 2**-bits, rounded down, also
after each product. So each is at most the probability of its integer, and the mass missing from 1
bounds every error at once. T(m) = P(S >= m) is at least the sum of the masses from m on. It exceeds
that sum by at most the missing mass, because P(S < m) is at least the sum of the masses before m.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import gmpy2

from .._law import LawSpec
from .interval import ONE, arithmetic
from .laws_of_integers import formulas_of, normaliser

_AT64 = arithmetic(64)

#: The most bits of a product. It takes milliseconds, and less memory than `arithmetic` makes sure
#: of.
_MOST_PRODUCT_BITS = 2**21


class Tails(NamedTuple):
    """Lower bounds on T(first), T(first + 1), ..., and the missing mass, in units of 2**-bits."""

    bits: int
    first: int
    lower: list[int]
    missing: int

    def at(self, m: int) -> tuple[int, int]:
        """Return bounds on T(m); the lower one is 0 beyond the masses."""
        i = max(m - self.first, 0)
        lower = self.lower[i] if i < len(self.lower) else 0
        return lower, lower + self.missing


@lru_cache(maxsize=4)
def tails_of_sum(one: LawSpec, draws: int, bits: int) -> Tails | None:
    """Return bounds on the tails of the sum; None if there are too many masses.

    The law of one is centred.
    """
    masses = single = masses_below(one, bits)
    if not single:
        return None
    for binary_digit in bin(draws)[3:]:
        for factor in [masses, single] if binary_digit == "1" else [masses]:
            slot = 2 * bits + len(factor).bit_length()  # fits a sum of len(factor) products
            if slot * (len(masses) + len(factor)) > _MOST_PRODUCT_BITS:
                return None
            product = gmpy2.pack(masses, slot) * gmpy2.pack(factor, slot)
            size = len(masses) + len(factor) - 1
            masses = [mass >> bits for mass in gmpy2.unpack(product, slot)]
            masses = _trimmed(masses + [gmpy2.mpz(0)] * (size - len(masses)))
    tails = list(accumulate(reversed(masses)))[::-1]
    return Tails(bits, -(len(masses) // 2), tails, (1 << bits) - tails[0])


def masses_below(spec: LawSpec, bits: int) -> list[Any]:
    """Return the probabilities of one draw in units of 2**-bits, rounded down, -r to r.

    The list is empty if these alone are too many for any product.
    """
    at = arithmetic(bits + 32)
    total = normaliser(spec, bits + 32)[1]
    formulas = formulas_of(spec)
    right: list[Any] = []
    for x in range(_MOST_PRODUCT_BITS // bits):
        mass = at.div(at.exp(at.neg(formulas.phi(spec, x, at))), total).lower
        if mass < gmpy2.mpq(1, 1 << bits):
            return right[:0:-1] + right
        numerator, denominator = mass.as_integer_ratio()
        right.append((numerator << bits) // denominator)
    return []


def _trimmed(masses: list[Any]) -> list[Any]:
    """Return symmetric masses without the zeros at the ends."""
    zeros = next(i for i, mass in enumerate(masses) if mass)
    return masses[zeros : len(masses) - zeros]


def density_ratio_upper(sigma2: Fraction, queries: int) -> Any:
    """Return an upper bound on (1 + eta)/(1 - eta), an mpq; None if eta may be above 1/2."""
    eta = _eta_upper(sigma2, queries)
    if eta > 0.5:
        return None
    exact = gmpy2.mpq(eta) if eta > 2.0**-80 else gmpy2.mpq(1, 2**80)  # an mpq of few bits
    return (1 + exact) / (1 - exact)


def _eta_upper(sigma2: Fraction, queries: int) -> Any:
    up, down = _AT64.up, _AT64.down
    pi_squared = down.square(down.const_pi())
    # exponents are rounded towards 0, so their exponentials are upper bounds
    half_c = down.mul(pi_squared, gmpy2.mpq(sigma2))
    q = up.exp(up.minus(half_c))
    a = up.exp(up.minus(down.mul(half_c, gmpy2.mpq(2 * (queries - 1), queries))))
    if q > 0.5:
        return ONE
    ku = up.mul(queries, _theta_upper(q))
    one = up.mul(queries, _theta_upper(a))
    more = up.mul(up.div(up.square(ku), 2), up.exp(ku))
    return up.add(one, more)


def _theta_upper(q: Any) -> Any:
    """Return an upper bound on 2 (q + q**4 + q**9 + ...), 0 < q <= 1/2."""
    return _AT64.up.div(_AT64.up.mul(2, q), _AT64.down.sub(1, _AT64.up.pow(q, 3)))
