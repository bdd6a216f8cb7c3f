"""Intervals of consistent tables: how far an estimate may be from the truth.

An estimate is a weighted sum of noisy counts. With A, s and N of ``_crossed.py`` the estimates have
the covariance C = A inv(N) A', and the weight of count j in estimate i is C[i, j]/s_j. So one fit
of a table whose only count is 1, in row i, shows all weights of estimate i: it returns
C[i, j]/s_i at j. ``_weighted_sum.py`` bounds the sum of the draws with these weights.

Rows of one shape have the same weights, in another order: all rows of a margin if every combination
is a row, and of nested tables those whose parts, wholes and neighbours are alike. So there is one
fit and one ring for each shape. Rows of unknown or rare shapes have the critical value that holds
for any weights (``_chernoff.py``), and so have rows that were not released.

Weights are floats. Their errors, and that of rounding them to a grid, are added as doubts.
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
FLOATS_ERR = Fraction(1, 2**44)
"""More than the error of a fit in floats, in parts of its largest count."""

Fit = Callable[[Sequence[Floats]], Sequence[Floats]]


def radii(
    noisy: Sequence[Floats],
    var: Sequence[Floats],
    laws: Sequence[Any],
    errors: Sequence[Floats],
    shapes: Sequence[Index] | None,
    fit: Fit,
    miss: Fraction,
) -> list[Floats]:
    """Return, for each table, the distances within which the truth is, but for this miss.

    `var` has the variances, infinite at nulls; `errors` the standard errors of the estimates, or
    upper bounds on them; `shapes` numbers that are equal for rows with the same weights in another
    order. `fit` returns the estimates from counts. `miss` is the probability for each estimate.
    """
    any_weights = critical_value(laws, miss)
    rounding = float(FLOATS_ERR) * max((float(np.abs(y).max(initial=0)) for y in noisy), default=0)
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
            least = _of_row(i, place, var, laws, fit, miss)
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
        doubts[(grid + FLOATS_ERR) * factor, law] += weights.size
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
