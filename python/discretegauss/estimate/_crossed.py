"""Least squares for tables that cross: margins of one finest table, over sets of its columns.

The cells x of the finest table minimise the sum of (A x - y)**2/s.

*Full product tables* (every combination is a row) need only the analysis of variance. The space of
tables splits into orthogonal parts, one for each set B of columns: centred along B and constant
along the others. A count of the margin over the columns M is a sum of c_M cells. The margin sees
part B with the precision c_M/s_M if M contains B. So, with lambda_B the sum of these precisions,

    x_B = (1/lambda_B) sum over these M of (1/s_M) (y_M spread over the cells, its part B),
    variance of a cell of margin M = (c_M**2/n) sum over B in M of dim_B/lambda_B,

where n is the number of cells and dim_B the product of the numbers of levels less 1.

*Other tables* need a solver of N x = A' y/s with N = A' (1/s) A. A solver in floats improves x.
Then the gradient g = A' (y - A x)/s is computed exactly, in integers, for the next step. By Cauchy
and Schwarz no row of A x is farther from its estimate, in standard errors, than sqrt(g' inv(N) g).
That is at most abs(g) sqrt(s), s the variance of the cells, because N is at least 1/s. This proves
the result, whatever the solver does: steps end below `_FAR`, or there is no result.

The solver is the factor R of the roots of the weights times A, which also gives the errors. For
many cells it is conjugate gradients, and the errors of the noisy counts are the upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterValueError
from ._nested import Floats, Index, parts, sums

_MOST_DENSE = 2000
"""The most cells of the finest table for which R is computed."""

_FAR = 2.0**-30
"""The largest distance of a value from the estimate, in standard errors, besides its rounding."""

_ERRORS_ERR = 1e-4
"""The largest relative error of the standard errors that R gives."""

_MOST_ITERATIONS = 2000
_UNLIKE = (
    "laws must have variances that differ less: tables that cross, with combinations missing, "
    "cannot be solved with proven digits for these"
)


def fit_product(
    shape: Sequence[int],
    margins: Sequence[tuple[int, ...]],
    noisy: Sequence[Floats],
    var: Sequence[float],
) -> tuple[list[Floats], list[float]]:
    """Return the estimated margins, and the variance of the cells of each.

    noisy has the margins over these axes, in order; one is over all of them. Each margin is summed
    from its own parts, because the rounding of a sum of cells may exceed the margin's error.
    """
    axes = range(len(shape))
    n = math.prod(shape)
    cells = [math.prod(shape[i] for i in axes if i not in m) for m in margins]  # c_M
    of_part: dict[tuple[int, ...], float] = {}
    found = [np.zeros([shape[i] if i in m else 1 for i in axes]) for m in margins]
    for part in (b for k in range(len(shape) + 1) for b in combinations(axes, k)):
        seen = [i for i, m in enumerate(margins) if set(part) <= set(m)]
        precision = math.fsum(cells[i] / var[i] for i in seen)
        mean = np.zeros([shape[i] if i in part else 1 for i in axes])
        for i in seen:
            spread = noisy[i].reshape([shape[j] if j in margins[i] else 1 for j in axes])
            others = tuple(j for j in axes if j not in part)
            mean = mean + _mean(spread, others) / var[i]
        for i in part:
            mean = mean - _mean(mean, (i,))
        for i in seen:
            found[i] = found[i] + cells[i] * mean / precision
        of_part[part] = math.prod(shape[i] - 1 for i in part) / precision
    variances = [
        c**2 / n * math.fsum(d for part, d in of_part.items() if set(part) <= set(m))
        for c, m in zip(cells, margins, strict=True)
    ]
    return [x.reshape(-1) for x in found], variances


def _mean(values: Floats, axes: tuple[int, ...]) -> Floats:
    total = sum(part.sum(axis=axes, keepdims=True) for part in reversed([*parts(values)]))
    return np.asarray(total / math.prod(values.shape[i] for i in axes), np.float64)


def fit_any(
    members: Sequence[Index], noisy: Sequence[Floats], var: Sequence[Floats]
) -> tuple[list[Floats], list[Floats]]:
    """Return the estimates of each table, and their variances or upper bounds.

    members has, for each table, the row to which each cell of the finest table belongs. var is
    infinite at nulls. Raises ParameterValueError if no result is proven.
    """
    s = var[-1][0]
    # weights' roots, relative to those of the cells
    roots = [np.sqrt(s) / np.sqrt(v) for v in var]
    variances = list(var)
    if members[-1].size <= _MOST_DENSE:
        solve, of_rows = _by_factor(members, roots)
        variances = [s * np.square(rows).sum(axis=1) for rows in of_rows]
    else:
        solve = _by_gradients(members, roots)
    with np.errstate(all="ignore"):  # a NaN step improves nothing, and is refused
        return _refined(members, noisy, var, solve), variances


def _refined(
    members: Sequence[Index],
    noisy: Sequence[Floats],
    var: Sequence[Floats],
    solve: Callable[[Floats], Floats],
) -> list[Floats]:
    """Return A x for an x whose gradient is small enough, by exact arithmetic."""
    s = Fraction(float(var[-1][0]))
    # the weight of each table relative to the cells'; a table has one law, or only nulls
    ratios = [s / Fraction(v.min()) if np.isfinite(v.min()) else Fraction(0) for v in var]
    common = math.lcm(*(w.denominator for w in ratios))
    # members, counts, whether they were released, weight
    tables: list[tuple[Index, NDArray[Any], NDArray[Any], int]] = [
        (
            member,
            np.array(list(map(int, y)), object),
            np.isfinite(v).astype(object),
            int(ratio * common),
        )
        for member, y, v, ratio in zip(members, noisy, var, ratios, strict=True)
    ]
    n = members[-1].size
    # x is in units of 2**-bits, fine enough for a gradient that small
    bits = 64 + max(0, _bits(max(ratios)) + _bits(Fraction(n)) - _bits(s) // 2)
    x, before = np.zeros(n, object), None
    while True:
        rows, gradient = [], np.zeros(n, object)
        for member, y, is_here, weight in tables:
            row = np.zeros(y.size, object)
            np.add.at(row, member, x)
            rows.append(row)
            gradient += ((y * 2**bits - row) * is_here * weight)[member]
        # gradient is s g in units of 1/(common 2**bits)
        square = sum(g * g for g in gradient.tolist())
        if square <= s * Fraction(_FAR) ** 2 * (common << bits) ** 2:
            return [np.array([r / 2**bits for r in row.tolist()], np.float64) for row in rows]
        if before is not None and 4 * square > before:
            raise ParameterValueError(_UNLIKE)
        before = square
        x = x + _scaled_step(solve, gradient, common)


def _scaled_step(
    solve: Callable[[Floats], Floats], gradient: NDArray[Any], common: int
) -> NDArray[Any]:
    """Return the solution for gradient/common, rounded to integers, with some 60 exact bits."""
    down = max(0, max(map(abs, gradient.tolist())).bit_length() - 60)
    step = solve((gradient >> down).astype(np.float64))
    exponent = int(np.frexp(np.abs(step).max())[1])
    found = np.rint(np.ldexp(step, 60 - exponent)).astype(np.int64).astype(object)
    up = down + exponent - 60
    return np.asarray((found << max(up, 0)) // (common << max(-up, 0)))


def _bits(number: Fraction) -> int:
    """Return the logarithm to base 2, roughly."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def _by_factor(
    members: Sequence[Index], roots: Sequence[Floats]
) -> tuple[Callable[[Floats], Floats], list[NDArray[np.float64]]]:
    """Return a solver of N d = g, and A inv(R). The squared norms of its rows are the variances.

    The computed R is exact for a matrix that differs by some eps times the norm. That changes
    squared norms by a relative error of about twice this, times the norm of inv(R), at most 1.
    """
    n = members[-1].size
    matrix = np.vstack(
        [_row_sums(m, np.eye(n), r.size) * r[:, None] for m, r in zip(members, roots, strict=True)]
    )
    # the norm of the matrix is at most the root of the product of these
    most = [float(matrix.sum(axis=axis).max()) for axis in (0, 1)]
    if not 8 * n * np.finfo(np.float64).eps * math.sqrt(most[0] * most[1]) < _ERRORS_ERR:
        raise ParameterValueError(_UNLIKE)
    inverse = np.linalg.inv(np.linalg.qr(matrix, mode="r"))
    return (
        lambda gradient: np.asarray(inverse @ (inverse.T @ gradient)),
        [_row_sums(m, inverse, r.size) for m, r in zip(members, roots, strict=True)],
    )


def _row_sums(member: Index, matrix: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    found = np.zeros((size, matrix.shape[1]))
    np.add.at(found, member, matrix)
    return found


def _by_gradients(members: Sequence[Index], roots: Sequence[Floats]) -> Callable[[Floats], Floats]:
    """Return a solver of N d = g by conjugate gradients, as precise as floats allow."""

    def times(d: Floats) -> Floats:
        products = (
            (np.square(root) * sums(member, d, root.size))[member]
            for member, root in zip(members, roots, strict=True)
        )
        return np.sum(list(products), axis=0)  # type: ignore[no-any-return]  # an array

    def solve(gradient: Floats) -> Floats:
        d, residual, direction = np.zeros(gradient.size), gradient, gradient
        size = first = float(residual @ residual)
        for _ in range(_MOST_ITERATIONS):
            if not size > 1e-20 * first:
                break
            product = times(direction)
            factor = size / float(direction @ product)
            d, residual = d + factor * direction, residual - factor * product
            size, before = float(residual @ residual), size
            direction = residual + size / before * direction
        return d

    return solve
