"""Tables that cross: margins of one finest table, over sets of its columns.

Weighted least squares over the cells x of the finest table: the least sum of (A x - y)**2/s.

*Full product tables* (every combination is a row): the analysis of variance. The space of tables
splits into orthogonal parts, one for each set B of columns: centred along B, constant along the
others. The margin over the columns M is a sum of c_M cells; it sees part B if B lies in M, with the
precision c_M/s_M. So, with lambda_B = sum over M that contain B of c_M/s_M,

    x_B = (1/lambda_B) sum over these M of (1/s_M) (y_M spread over the cells, its part B),
    variance of a cell of margin M = (c_M**2/n) sum over B in M of dim_B/lambda_B,

n the number of cells, dim_B the product of the numbers of levels less 1: no solver, exact errors.

*Others*: the normal equations where they are small; else scipy's lsmr, and the errors of the noisy
counts as an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ._nested import Floats, Index, sums

_MOST_DENSE = 2000
"""Cells of the finest table, whose normal equations are written down."""


def fit_product(
    shape: Sequence[int],
    margins: Sequence[tuple[int, ...]],
    noisy: Sequence[Floats],
    var: Sequence[float],
) -> tuple[Floats, list[float]]:
    """Return the finest table, as an array of this shape, and the variance of each margin's cells.

    noisy has the margins over these axes, in order; one is over all of them.
    """
    axes = range(len(shape))
    n = math.prod(shape)
    cells = [math.prod(shape[i] for i in axes if i not in m) for m in margins]  # c_M
    of_part: dict[tuple[int, ...], float] = {}
    x = np.zeros(shape)
    for part in (b for k in range(len(shape) + 1) for b in combinations(axes, k)):
        seen = [i for i, m in enumerate(margins) if set(part) <= set(m)]
        precision = math.fsum(cells[i] / var[i] for i in seen)
        mean = np.zeros([shape[i] if i in part else 1 for i in axes])
        for i in seen:
            spread = noisy[i].reshape([shape[j] if j in margins[i] else 1 for j in axes])
            others = tuple(j for j in axes if j not in part)
            mean = mean + spread.mean(axis=others, keepdims=True) / var[i]
        for i in part:
            mean = mean - mean.mean(axis=i, keepdims=True)
        x = x + mean / precision
        of_part[part] = math.prod(shape[i] - 1 for i in part) / precision
    variances = [
        c**2 / n * math.fsum(d for part, d in of_part.items() if set(part) <= set(m))
        for c, m in zip(cells, margins, strict=True)
    ]
    return x, variances


def fit_any(
    members: Sequence[Index], noisy: Sequence[Floats], var: Sequence[Floats]
) -> tuple[list[Floats], list[Floats]]:
    """Return what is estimated in each table, and the variances, or bounds of them.

    members has, for each cell of the finest table, the row of each table that it is part of. var
    is infinite where there is no count.
    """
    values: list[Floats]
    if members[-1].size > _MOST_DENSE:
        x = _by_lsmr(members, noisy, var)
        values = [sums(m, x, y.size) for m, y in zip(members, noisy, strict=True)]
        return values, list(var)
    n = members[-1].size
    normal, right = np.zeros((n, n)), np.zeros(n)
    for member, y, s in zip(members, noisy, var, strict=True):
        normal += (member[:, None] == member) / s[member]
        right += (np.where(np.isfinite(s), y, 0) / s)[member]
    covariance = np.linalg.inv(normal)
    x = covariance @ right
    values, variances = [], list[Floats]()
    for member, y in zip(members, noisy, strict=True):
        of_rows = np.zeros((y.size, n))
        np.add.at(of_rows, member, covariance)
        values.append(sums(member, x, y.size))
        variances.append(sums(member, of_rows[member, np.arange(n)], y.size))
    return values, variances


def _by_lsmr(
    members: Sequence[Index], noisy: Sequence[Floats], var: Sequence[Floats]
) -> NDArray[np.float64]:
    try:
        from scipy.sparse import csr_matrix, vstack
        from scipy.sparse.linalg import lsmr
    except ImportError as error:  # no cover: tests have scipy
        raise ImportError(
            f"tables that cross, are no full product and have more than {_MOST_DENSE} cells need "
            "scipy: pip install scipy"
        ) from error
    n = members[-1].size
    blocks, rights = [], []
    for member, y, s in zip(members, noisy, var, strict=True):
        root = 1 / np.sqrt(s)
        blocks.append(csr_matrix((root[member], (member, np.arange(n))), shape=(y.size, n)))
        rights.append(np.where(np.isfinite(s), y, 0) * root)
    found = lsmr(vstack(blocks).tocsr(), np.concatenate(rights), atol=1e-13, btol=1e-13)
    return np.asarray(found[0], np.float64)
