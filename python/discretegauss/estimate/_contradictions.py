"""Whether noisy tables can be of the same people: each sum, and a chi-square of all sums.

Two tables say the same about each group of rows that agree in their common columns: both counts,
summed over the group, have the same truth. So the difference D of the two sums is a sum of
independent draws. Groups have different rows, so the D of two tables are independent.

*Each D by itself* must be within the radius of Chernoff's bound (``_chernoff.py``) for these draws.
Half of `_FALSE_ALARM` is shared by all groups of all pairs of tables. This test names a row.

*All D of two tables* may be too large together, although each may be chance.

*Sub-Gaussian noise.* Let each draw X of a table satisfy E exp(t X) <= exp(t**2 s/2) for all t. Let
V be the sum of s over the draws of D. Then S = D/sqrt(V) has E exp(t S) <= exp(t**2/2). Average
this over a normal t of variance 2 u < 1:

    E exp(u S**2) <= (1 - 2 u)**(-1/2).

For a normal S this is an equality. So the sum Q of S**2 over G groups has the bound of
Laurent and Massart (2000, lemma 1) for a chi-square, whose proof uses nothing else:

    P(Q > G + 2 sqrt(G L) + 2 L) <= exp(-L).

*s of a discrete Gaussian* is sigma2 (``_chernoff.py``), which exceeds its variance if that
is small.

*s of other laws.* They are symmetric. Let q be so large that all n draws of the tables are within
their q, but for a probability of n P(abs(X) > q). Given that, X is symmetric, within q, and its
variance is at most v, that of the law. cosh(t x) - 1 is at most (x/q)**2 (cosh(t q) - 1), so with
p = v/q**2, a = log(2/p), b = log(1/p) and t q = z

    E exp(t X) <= 1 + p (cosh z - 1).

If z <= a: (cosh z - 1)/z**2 grows, so the logarithm is at most z**2 p exp(a)/2/a**2 = z**2/a**2.
If z > a: p exp(z)/2 > 1, so the logarithm is at most log(p exp(z)) = z - b <= z**2/(4 b). And
always E exp(t X) <= cosh z <= exp(z**2/2). So s = q**2 min(1, max(2/a**2, 1/(2 b))).

A quarter of `_FALSE_ALARM` is for Q, shared by the pairs of tables, and one for draws beyond q.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ContradictionError
from ..laws import DiscreteGaussian
from ._chernoff import radius
from ._nested import Floats, Index

_FALSE_ALARM = Fraction(1, 10**9)
"""The largest probability with which tables of the same people are refused."""

_SURELY_CHANCE = 6.0
"""Differences of up to so many deviations are not looked at one by one."""

_FLOATS_ERR = 1e-9
"""More than the relative error of Q and its bound in floats."""

_HALF = 2.0**27
"""Counts are below 2**53. Sums of their upper and lower halves are exact in floats."""


@lru_cache(maxsize=64)
def sub_gaussian(law: Any, draws: int) -> float:
    """Return an s for the noise of a law, in tables that have so many draws together."""
    if isinstance(law, DiscreteGaussian):
        return float(law.sigma2)
    q = max(1.0, float(law.isf(_FALSE_ALARM / (8 * draws))))
    p = float(law.var()) / q**2
    a, b = math.log(2 / p), math.log(1 / p)
    return q**2 * min(1.0, max(2 / a**2, 1 / (2 * b)))


def refuse_contradictions(
    rows: RowGroups, noisy: Sequence[Floats], var: Sequence[Floats], laws: Sequence[Any]
) -> None:
    """Raise ContradictionError if two tables differ by more than chance explains.

    `var` has the variances, infinite at nulls.
    """
    pairs = [_TwoTables(rows, i, j, noisy, var) for i, j in combinations(range(len(noisy)), 2)]
    groups = sum(pair.difference.size for pair in pairs)
    for pair in pairs:
        own, others = laws[pair.i], laws[pair.j]
        for at in np.flatnonzero(np.abs(pair.difference) > _SURELY_CHANCE * pair.deviation):
            draws = Counter({(Fraction(1), own): int(pair.n[at])})
            draws[Fraction(1), others] += int(pair.m[at])
            if abs(pair.difference[at]) > radius(draws, _FALSE_ALARM / (2 * groups)):
                raise _error(rows, pair)
    total = sum(y.size for y in noisy)
    s = [sub_gaussian(law, total) for law in laws]
    most = math.log(4 * max(len(pairs), 1) / _FALSE_ALARM)
    for pair in pairs:
        square = np.square(pair.difference) / (pair.n * s[pair.i] + pair.m * s[pair.j])
        bound = square.size + 2 * math.sqrt(square.size * most) + 2 * most
        if float(square.sum()) > bound * (1 + _FLOATS_ERR):
            raise _error(rows, pair)


class RowGroups(Protocol):
    """What the rows of the tables count."""

    def groups(self, level: int, other: int) -> tuple[Index, Index]:
        """Return the group of each row of two tables."""

    def in_common(self, level: int, other: int, row: int) -> tuple[str, str]:
        """Return the names of two tables, and of what they have in common with a row of one."""


class _TwoTables:
    """The differences of two tables in all groups whose counts were released."""

    def __init__(
        self, rows: RowGroups, i: int, j: int, noisy: Sequence[Floats], var: Sequence[Floats]
    ) -> None:
        self.i, self.j = i, j
        groups = rows.groups(i, j)
        size = 1 + max(int(group.max(initial=-1)) for group in groups)
        sums = [_sums(groups[k], noisy[at], var[at], size) for k, at in enumerate((i, j))]
        (upper, lower, n, variance), (others, other_lower, m, other_variance) = sums
        known = np.isfinite(variance + other_variance) & (n > 0) & (m > 0)
        self.difference = ((upper - others) * _HALF + (lower - other_lower))[known]
        self.deviation = np.sqrt((variance + other_variance)[known])
        self.n, self.m = n[known], m[known]
        self._known, self._groups = np.flatnonzero(known), groups[0]

    def worst(self) -> tuple[int, float]:
        """Return a row of the worst group, and how many deviations that is off."""
        off = np.abs(self.difference) / self.deviation
        at = int(np.argmax(off))
        return int(np.flatnonzero(self._groups == self._known[at])[0]), float(off[at])


def _error(rows: RowGroups, pair: _TwoTables) -> ContradictionError:
    row, off = pair.worst()
    tables, where = rows.in_common(pair.i, pair.j, row)
    return ContradictionError(
        f"tables must be noisy counts of the same people, but {tables} differ by up to {off:.3g} "
        f"standard deviations of the noise{where and f', most where {where}'}; is a total among "
        "the rows, or is one of another time or with another law?"
    )


def _sums(group: Index, y: Floats, var: Floats, size: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the sums of each group: of the counts' upper and lower halves, of 1, of variances."""
    upper = np.floor(y / _HALF)
    parts: list[NDArray[np.float64]] = [upper, y - upper * _HALF, np.ones(y.size), var]
    found = [np.asarray(np.bincount(group, part, size), np.float64) for part in parts]
    return found[0], found[1], found[2], found[3]
