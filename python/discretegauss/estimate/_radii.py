"""Intervals of consistent tables: how far an estimate may be from the truth.

An estimate is a weighted sum of noisy counts. With A, s and N of ``_crossed.py`` the estimates have
the covariance C = A inv(N) A', and the weight of count j in estimate i is C[i, j]/s_j. So one fit
of a table whose only count is 1, in row i, shows all weights of estimate i: it returns
C[i, j]/s_i at j. ``_weighted_sum.py`` bounds the sum of the draws with these weights.

Rows of one shape have the same weights, in another order: all rows of a margin if every combination
is a row, and of nested tables those whose parts, wholes and neighbours are alike. So there is one
fit and one ring for each shape. Rows of unknown or rare shapes have the critical value that holds
for any weights (``_chernoff.py``), and so have rows that were not released.

*Rounding.* Weights are floats. Their errors, and that of rounding them to a grid, are added as
doubts. Let e = 2**-53, and S the largest sum of the sizes of a table's counts. Every sum of a fit
has an error of at most 2 e times the sum of sizes, however many terms it has (``_nested.parts``).
Terms of the order e**2 are left to the factors, which are twice what is needed.

*Nested, L tables.* Variances are sums, products and quotients of positive numbers: at most 10
roundings a table on the way up, so their relative error is below 10 L e. On the way up a table's
estimates have sizes that add up to at most S more than those below it, as each is a mean of its
count and the sum of its parts: to L S at most. The errors of table l from below add up to those of
the one below it and (10 L + 7) l e S, and so to less than U = 17 L**3 e S. On the way down each
table adds 2 U, and (20 L + 8) e times the distance of a whole from the sum of its parts, which is
below (2 L**2 + 2 L) S. All this is less than 163 L**4 e S.

*Crossed, d columns.* Each of the 2**d parts is a weighted mean of at most L tables, from which d
means are taken, each of at most 2**d S. So it has at most L + 4 d + 8 roundings of such sizes, and
the sum of all parts has an error below 16 4**d (L + d) e S.

For the weights of a row S is 1, as the only count of the fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ._chernoff import critical_value
from ._nested import Floats, Index
from ._weighted_sum import radius

_MOST_SHAPES = 32
"""The most shapes of a table that have their own fit."""

_MOST_WORK = 10**7
"""The most counts that are fitted for the shapes of one table."""

_GRID = Fraction(1, 2**40)


def floats_err(tables: int, columns: int) -> Fraction:
    """Return a bound on the error of a fit in floats, in parts of the largest sum of sizes."""
    return Fraction(326 * tables**4 + 64 * 4**columns * (tables + columns), 2**53)


def largest_sum(noisy: Sequence[Floats]) -> float:
    """Return the largest sum of the sizes of a table's counts."""
    return max((float(np.abs(y).sum()) for y in noisy), default=0.0)


Fit = Callable[[Sequence[Floats]], Sequence[Floats]]


def radii(
    noisy: Sequence[Floats],
    var: Sequence[Floats],
    laws: Sequence[Any],
    errors: Sequence[Floats],
    shapes: Sequence[Index] | None,
    fit: Fit,
    miss: Fraction,
    floats: Fraction,
) -> list[Floats]:
    """Return for each estimate how far the truth is from it at most, except with probability miss.

    `var` has the variances, infinite at nulls; `errors` the standard errors of the estimates, or
    upper bounds on them; `shapes` numbers that are equal for rows with the same weights in another
    order. `fit` returns the estimates from counts, and floats is the bound of `floats_err` for it.
    """
    any_weights = critical_value(laws, miss)
    rounding = float(floats) * largest_sum(noisy)
    found = [any_weights * error for error in errors]
    size = sum(y.size for y in noisy)
    for i, shape in enumerate(shapes or ()):
        released = np.flatnonzero(np.isfinite(var[i]))
        _, firsts, of_rows, rows = np.unique(
            shape[released], return_index=True, return_inverse=True, return_counts=True
        )
        most = min(_MOST_SHAPES, max(1, _MOST_WORK // max(size, 1)))
        for kind in np.argsort(-rows, kind="stable")[:most].tolist():
            place = int(released[firsts[kind]])
            least = _of_row(i, place, var, laws, fit, miss, floats)
            same = released[of_rows == kind]
            found[i][same] = np.minimum(found[i][same], least)
    return [(r + rounding) * (1 + 2.0**-40) for r in found]


def _of_row(
    table: int,
    row: int,
    var: Sequence[Floats],
    laws: Sequence[Any],
    fit: Fit,
    miss: Fraction,
    floats: Fraction,
) -> float:
    """Return the radius of one estimate, by its weights."""
    unit = [np.zeros(v.size) for v in var]
    unit[table][row] = 1.0
    cells: Counter[tuple[Fraction, Any]] = Counter()
    doubts: Counter[tuple[Fraction, Any]] = Counter()
    own = Fraction(float(var[table][row]))
    for response, v, law in zip(fit(unit), var, laws, strict=True):
        weights = np.abs(response[np.isfinite(v)])
        if not weights.size or not (largest := float(weights.max())):
            continue
        factor = own / Fraction(float(law.var()))
        grid = Fraction(largest) * _GRID
        steps, draws = np.unique(np.rint(weights / float(grid)), return_counts=True)
        for step, n in zip(steps.tolist(), draws.tolist(), strict=True):
            cells[int(step) * grid * factor, law] += n
        doubts[(grid + floats) * factor, law] += weights.size
    return float(radius(cells, miss, doubts))


def nested_shapes(var: Sequence[Floats], parents: Sequence[Index]) -> list[Index]:
    """Return the shapes of nested tables. Of the rows of one table, those released are of one law.

    Of a row, *below* tells the shape of its parts, and *shape* that of the rest of the tree too.
    """
    below = [np.zeros(v.size, np.intp) for v in var]
    for level in reversed(range(len(parents))):
        parent = parents[level]
        order = np.lexsort((below[level + 1], parent))
        ends = np.cumsum(np.bincount(parent, minlength=var[level].size))[:-1]
        numbers: dict[Any, int] = {}
        for i, parts in enumerate(np.split(below[level + 1][order], ends)):
            key = (parts.tobytes(), bool(np.isfinite(var[level][i])))
            below[level][i] = numbers.setdefault(key, len(numbers))
    shapes = below[:1]
    for parent, one in zip(parents, below[1:], strict=True):
        pairs = np.stack([shapes[-1][parent], one])
        shapes.append(np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1))
    return shapes
