"""Whether noisy tables can be of the same people: a chi-square for each pair of tables.

Two tables say the same about each group of rows that agree in their common columns: both counts,
summed over the group, have the same truth. So the difference D of the two sums is a sum of
independent draws. Groups have different rows, so the D of two tables are independent.

*Sub-Gaussian noise.* Let each draw X of a table satisfy E exp(t X) <= exp(t**2 s/2) for all t. Let
V be the sum of s over the draws of D. Then S = D/sqrt(V) has E exp(t S) <= exp(t**2/2). Average
this over a normal t of variance 2 u < 1:

    E exp(u S**2) <= (1 - 2 u)**(-1/2).

For a normal S this is an equality. So the sum Q of S**2 over G groups has the bound of
Laurent and Massart (2000, lemma 1) for a chi-square, whose proof uses nothing else:

    P(Q > G + 2 sqrt(G L) + 2 L) <= exp(-L).

*s of a discrete Gaussian* is sigma2 (``_sum_of_gaussians.py``), which exceeds its variance if that
is small.

*s of other laws.* They are symmetric. Let q be so large that all n draws of the tables are within
their q, but for a probability of n P(abs(X) > q). Given that, X is symmetric, within q, and its
variance is at most v, that of the law. cosh(t x) - 1 is at most (x/q)**2 (cosh(t q) - 1), so with
p = v/q**2, a = log(2/p), b = log(1/p) and t q = z

    E exp(t X) <= 1 + p (cosh z - 1).

If z <= a: (cosh z - 1)/z**2 grows, so the logarithm is at most z**2 p exp(a)/2/a**2 = z**2/a**2.
If z > a: p exp(z)/2 > 1, so the logarithm is at most log(p exp(z)) = z - b <= z**2/(4 b). And
always E exp(t X) <= cosh z <= exp(z**2/2). So s = q**2 min(1, max(2/a**2, 1/(2 b))).

Half of `_FALSE_ALARM` is for Q, shared by the pairs of tables, and half for the draws beyond q.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterValueError
from ..laws import DiscreteGaussian
from ._nested import Floats, Index

_FALSE_ALARM = Fraction(1, 10**9)
"""The largest probability with which tables of the same people are refused."""

_FLOATS_ERR = 1e-9
"""More than the relative error of Q and its bound in floats."""

_HALF = 2.0**27
"""Counts are below 2**53. Sums of their upper and lower halves are exact in floats."""


class ContradictionError(ParameterValueError):
    """Noisy tables are not of the same people. Its text depends on noisy counts."""


@lru_cache(maxsize=64)
def sub_gaussian(law: Any, draws: int) -> float:
    """Return an s for the noise of a law, in tables that have so many draws together."""
    if isinstance(law, DiscreteGaussian):
        return float(law.sigma2)
    q = max(1.0, float(law.isf(_FALSE_ALARM / (4 * draws))))
    p = float(law.var()) / q**2
    a, b = math.log(2 / p), math.log(1 / p)
    return q**2 * min(1.0, max(2 / a**2, 1 / (2 * b)))


def refuse_contradictions(
    groups_of: Callable[[int, int], tuple[Index, Index]],
    noisy: Sequence[Floats],
    var: Sequence[Floats],
    laws: Sequence[Any],
    numbers: Sequence[int],
) -> None:
    """Raise ContradictionError if two tables differ by more than chance explains.

    Parameters
    ----------
    groups_of : callable
        Returns the group of each row of two tables.
    noisy, var : sequence of ndarray
        The counts of each table, and their variances, infinite at nulls.
    laws : sequence of laws
        The noise of each table.
    numbers : sequence of int
        The tables' numbers in errors.
    """
    draws = sum(y.size for y in noisy)
    s = [sub_gaussian(law, draws) for law in laws]
    pairs = list(combinations(range(len(noisy)), 2))
    most = math.log(2 * len(pairs) / _FALSE_ALARM) if pairs else 0.0
    for i, j in pairs:
        groups = groups_of(i, j)
        size = 1 + max(int(group.max(initial=-1)) for group in groups)
        sums = [_sums(groups[k], noisy[at], var[at], size) for k, at in enumerate((i, j))]
        (upper, lower, n, variance), (others, other_lower, m, other_variance) = sums
        is_known = np.isfinite(variance + other_variance) & (n > 0) & (m > 0)
        difference = ((upper - others) * _HALF + (lower - other_lower))[is_known]
        square = np.square(difference) / (n * s[i] + m * s[j])[is_known]
        count = square.size
        bound = count + 2 * math.sqrt(count * most) + 2 * most
        if float(square.sum()) > bound * (1 + _FLOATS_ERR):
            off = np.abs(difference) / np.sqrt((variance + other_variance)[is_known])
            first, second = sorted((numbers[i], numbers[j]))
            raise ContradictionError(
                "tables must be noisy counts of the same people, but what the counts of table "
                f"{first} and table {second} have in common differs by up to {off.max():.3g} "
                "standard deviations of the noise"
            )


def _sums(group: Index, y: Floats, var: Floats, size: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the sums of each group: of the counts' upper and lower halves, of 1, of variances."""
    upper = np.floor(y / _HALF)
    parts: list[NDArray[np.float64]] = [upper, y - upper * _HALF, np.ones(y.size), var]
    found = [np.asarray(np.bincount(group, part, size), np.float64) for part in parts]
    return found[0], found[1], found[2], found[3]
