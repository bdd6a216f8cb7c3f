"""Several queries with discrete Gaussian noise of one sigma2 each, as a single query.

One person changes each of k queries by at most D; each answer gets independent noise X_i with the
law N_Z(0, sigma2). How much the worst case gives away:

*The worst change is D in every query.* For one query and any a >= 0, sup over sets A of P(X in A)
- a P(X + d in A) grows with d >= 0: the best A is a half-line from some t (_hockey_stick.py), and
P(X >= t) - a P(X >= t + d) grows with d for each t. For several, fix the outcomes of all queries
but one: the difference is the mean, over these outcomes, of that of the one query with its own a.
So each d_i may be replaced by D, one after the other; the sign does not matter, by symmetry. If
queries are chosen in view of earlier answers, d_i depends on the outcomes before it: that of the
last query is replaced first, which then depends on no other, and so on back to the first.

*The sum is all that matters.* With D everywhere, the loss at (x_1, ..., x_k) is (2 D y + k D**2)
/ (2 sigma2) for y = x_1 + ... + x_k: the loss at y of N_Z(0, k sigma2), for a query that changes by
k D. The law of the sum Y is that law up to a factor near 1: splitting each vector into its mean
and the rest,

    P(Y = y) = const exp(-y**2/(2 k sigma2)) Theta(y mod k),

Theta(r) the sum of exp(-|v|**2/(2 sigma2)) over a coset of the lattice A_(k-1) (integer vectors of
sum 0). By Poisson summation Theta(r) = const (1 + xi_r) with

    |xi_r| <= eta = sum of exp(-2 pi**2 sigma2 |w|**2) over w != 0 of the dual lattice.

A shift by k D keeps y mod k, so delta is the mean of max(0, 1 - exp(epsilon - loss(y))) under
either law, terms that are not negative, each changed by a factor within (1 - eta)/(1 + eta) and
(1 + eta)/(1 - eta). So is their sum:

    delta of the k queries = delta of N_Z(0, k sigma2) at k D, within that factor.           (2)

*A bound on eta.* The dual lattice is the projection of Z**k along (1, ..., 1). In each class of
Z**k modulo (1, ..., 1) take a z with a median of 0; its projection w has |w|**2 = |z|**2 -
(sum z)**2/k. At most k/2 entries of z are positive and as many negative, so (sum z)**2 is at most
|z|**2 k/2 by Cauchy and Schwarz, and |w|**2 >= |z|**2/2; if only one entry is not 0, |w|**2 =
|z|**2 (k - 1)/k. With c = 2 pi**2 sigma2, a = exp(-c (k - 1)/k), q = exp(-c/2), and sum over n >= 1
of q**(n**2) <= q/(1 - q**3),

    eta <= 2 k a/(1 - a**3) + sum over j >= 2 of binomial(k, j) u**j,     u = 2 q/(1 - q**3),

and the last sum is at most (k u)**2/2 exp(k u).
"""

from __future__ import annotations

from typing import Any

import gmpy2

from .._certified.convolution import factor_upper
from .._law import LawSpec

#: Beyond this factor other bounds are better.
_LOOSE = 1 + gmpy2.mpq(1, 2**50)


def as_one_query(spec: LawSpec, change: int, queries: int) -> tuple[LawSpec, int, Any] | None:
    """Return noise, change and factor of (2); None where the factor is above 1 + 2**-50.

    The noise is a discrete Gaussian, each query changed by at most ``change``.
    """
    factor = gmpy2.mpq(1) if queries == 1 else factor_upper(spec.parameter, queries)
    if factor is None or factor > _LOOSE:
        return None
    return spec._replace(parameter=spec.parameter * queries), change * queries, factor
