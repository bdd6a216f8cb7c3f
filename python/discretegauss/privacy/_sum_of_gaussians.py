"""What the sum of n clients' discrete Gaussian shares costs.

n draws of N_Z(0, s) sum to nearly N_Z(0, n s); how nearly is

    tau = 10 sum of exp(-2 pi**2 s k/(k + 1)) over k = 1, ..., n - 1,    s >= 1/4.

With D and L the Euclidean and the sum norm of what one person changes, of d integers, and alpha >
1, the Renyi divergence of the sum from the shifted sum is at most each of (Kairouz, Liu, Steinke,
arXiv 2102.06387, Proposition 14; Theorem 1 is made of it)

    alpha D**2/(2 n s) + tau d                                                  (1)
    alpha/2 (D**2/(n s) + 2 tau L/sqrt(n s) + tau**2 d)                         (2)
    alpha/2 (D/sqrt(n s) + tau sqrt(d))**2                                      (3)

so, as alpha > 1, rho is at most each of these with alpha = 1. (2) is (3) where L = sqrt(d) D, its
largest value, and the less below; so (3) is not computed. For integers L <= D**2, too. Besides,

    rho <= D**2/(2 s)                                                           (4)

for all s > 0: what the one client's own share costs (arXiv 2004.00010, Theorem 14), for its message
is one factor of a product whose others do not depend on that person, and the sum a function of them
all. Each of the four falls as s grows; so does their least one, (1) and (2) being added at s = 1/4.

References
----------
Kairouz, Liu, Steinke, *The Distributed Discrete Gaussian Mechanism for Federated Learning with
Secure Aggregation*, ICML 2021, arXiv:2102.06387, Theorem 1 and Proposition 14.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .._certified.interval import Interval
from ._change import AT, Change

_LEAST_SIGMA2 = Fraction(1, 4)
_EACH = 512
"""So many terms of tau are taken one by one; more in blocks that are longer by 1 in so many, or in
which the exponent changes by 1 in so many."""

_NEXT_TO_NOTHING = 16
"""Beyond this sigma2 no term is above exp(-157): each is taken for the first."""


def _tau(sigma2: Fraction, clients: int) -> Interval:
    """Return an interval whose upper end is at least tau.

    Its terms fall, so the first of a block is its largest.
    """
    total = AT.rational(0)
    rate = AT.scale(AT.power(AT.pi(), 2), -2 * sigma2)
    if sigma2 > _NEXT_TO_NOTHING:
        first = AT.exp(AT.scale(rate, Fraction(1, 2)))
        return AT.scale(first, 10 * (clients - 1))
    # from k on, exponents change by at most 20 sigma2/(k + 1) in all
    last = int(20 * sigma2 * _EACH)
    k = 1
    while k < clients:
        length = clients - k
        if k <= last:
            length = min(1 if k < _EACH else k // _EACH + 1, length)
        term = AT.exp(AT.scale(rate, Fraction(k, k + 1)))
        total = AT.add(total, AT.scale(term, length))
        k += length
    return AT.scale(total, 10)


class SumOfGaussians(Change):
    """What one person changes, and what that costs of a sum of discrete Gaussian shares."""

    def cost(self, sigma2: Fraction) -> Any:
        """Return an upper bound on the least of (1) to (4)."""
        alone = AT.rational(self.squared / (2 * sigma2)).upper
        if sigma2 < _LEAST_SIGMA2:
            return alone
        tau = _tau(sigma2, self.clients)
        hoped = self.squared / (self.clients * sigma2)
        first = AT.shift(AT.scale(tau, self.dimension), hoped / 2)
        root = AT.sqrt(AT.rational(self.clients * sigma2))
        sum_norm = Interval(self.sum_norm, self.sum_norm)
        mixed = AT.div(AT.mul(AT.scale(tau, 2), sum_norm), root)
        rest = AT.scale(AT.power(tau, 2), self.dimension)
        second = AT.scale(AT.shift(AT.add(mixed, rest), hoped), Fraction(1, 2))
        return min(alone, first.upper, second.upper)
