"""Least squares for nested levels, in which each row is a part of one row of the level above.

Two passes sum each level once (the weighted form of Hay et al., VLDB 2010, arXiv:0904.0942):

*Up.* Z is the estimate of a row from itself and all rows below it, and V its variance. The row's
own count (y, variance s) and the sum of its parts (sum of Z, variance W = sum of V) are
independent, so their precisions add.

*Down.* Given the row's final value x with variance P, a part is Z + (V/W) (x - sum of Z), with the
variance V - V**2/W + (V/W)**2 P. This conditions the parts on their sum, and is least squares.

*Integers* go from the top down. The parts of a whole number T are, up to rounding, the whole
numbers n >= 0 with the sum T and the least sum of (n - target)**2/V: the targets are projected on
numbers >= 0 (Michelot) and rounded down, then the largest remainders are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterOverflowError

_EXACT_FLOATS = 2**53
_TOO_LARGE = "counts of integers=True must be smaller: floats cannot make these add up exactly"

Floats = NDArray[np.float64]
Index = NDArray[np.intp]


def parts(values: Floats) -> Iterator[Floats]:
    """Yield arrays that add up to the values. Any sums of an array are exact, but of the last.

    Without them a sum of 10**6 equal variances has an error of 10**5 roundings.
    """
    for _ in range(2):
        most = float(np.abs(values).max(initial=0))
        if not 0 < most < 2.0**900:
            break
        top = math.ldexp(1.0, math.frexp(most)[1] + values.size.bit_length())
        high = (values + top) - top  # multiples of the last digit of top, which is above all sums
        yield high
        values = values - high
    yield values


def sums(places: Index, values: Floats, size: int) -> Floats:
    """Return an array of `size` sums: of the values at each place."""
    found = [np.bincount(places, part, size) for part in parts(values)]
    return np.asarray(sum(reversed(found)), np.float64)


def fit(
    noisy: Sequence[Floats], var: Sequence[Floats], parents: Sequence[Index]
) -> tuple[list[Floats], list[Floats]]:
    """Return the estimates of each level, and their variances.

    var is infinite at nulls; parents has the places of rows in the level above.
    """
    z, v, below, w = _up(noisy, var, parents)
    values, variances = [z[0]], [v[0]]
    for level, parent in enumerate(parents, 1):
        own, of_all = v[level], w[level - 1][parent]
        # W - V would lose digits if V is most of W, so then the others are summed
        most = own > of_all / 2
        others = sums(parent, np.where(most, 0, own), w[level - 1].size)[parent]
        others = np.where(most, others, of_all - own)
        part = own / of_all
        values.append(z[level] + part * (values[-1] - below[level - 1])[parent])
        variances.append(part * others + part**2 * variances[-1][parent])
    return values, variances


def whole(
    noisy: Sequence[Floats], var: Sequence[Floats], parents: Sequence[Index]
) -> list[NDArray[np.int64]]:
    """Return whole numbers that add up, none below 0.

    Raises ParameterOverflowError if counts are so large that floats cannot apportion them.
    """
    z, v, below, w = _up(noisy, var, parents)
    if not np.abs(z[0]).max(initial=0) <= _EXACT_FLOATS:
        raise ParameterOverflowError(_TOO_LARGE)
    values = [np.maximum(np.rint(z[0]), 0).astype(np.int64)]
    for level, parent in enumerate(parents, 1):
        total = values[-1]
        part = v[level] / w[level - 1][parent]
        targets = z[level] + part * (total - below[level - 1])[parent]
        parts = _apportion(targets, v[level], total, parent)
        added = np.zeros_like(total)
        np.add.at(added, parent, parts)
        if (parts < 0).any() or (added != total).any():
            raise ParameterOverflowError(_TOO_LARGE)
        values.append(parts)
    return values


def parts_of_wholes(var: Sequence[Floats], parents: Sequence[Index]) -> list[Floats]:
    """Return V/W of each row below the first level: its part of a change in its whole."""
    _, v, _, w = _up([np.zeros(one.size) for one in var], var, parents)
    return [v[i] / w[i - 1][parent] for i, parent in enumerate(parents, 1)]


def _up(
    noisy: Sequence[Floats], var: Sequence[Floats], parents: Sequence[Index]
) -> tuple[list[Floats], list[Floats], list[Floats], list[Floats]]:
    """Return Z and V, and the sums of each over the parts."""
    z, v = list(noisy), list(var)
    below: list[Floats] = [np.zeros(0)] * len(parents)
    w = list(below)
    for level in reversed(range(len(parents))):
        parent, rows = parents[level], noisy[level].size
        below[level] = sums(parent, z[level + 1], rows)
        w[level] = sums(parent, v[level + 1], rows)
        own, of_parts = 1 / var[level], 1 / w[level]
        v[level] = 1 / (own + of_parts)
        z[level] = v[level] * (np.where(own > 0, noisy[level], 0) * own + below[level] * of_parts)
    return z, v, below, w


def _apportion(
    targets: Floats, v: Floats, total: NDArray[np.int64], parent: Index
) -> NDArray[np.int64]:
    """Return whole numbers near the targets with the sum `total` over the parts of each whole."""
    free = np.ones(targets.size, np.bool_)
    while True:
        have = np.bincount(parent, np.where(free, targets, 0), total.size)
        weight = np.bincount(parent, v * free, total.size)
        lift = (total - have) / np.where(weight > 0, weight, 1)
        x = np.where(free, targets + v * lift[parent], 0)
        negative = x < 0
        if not negative.any():
            break
        free &= ~negative
    rounded = np.floor(x).astype(np.int64)
    missing = total - np.bincount(parent, rounded, total.size).astype(np.int64)
    order = np.lexsort((rounded - x, parent))  # the largest remainders first
    starts = np.cumsum(np.bincount(parent, minlength=total.size))
    starts = np.concatenate([[0], starts[:-1]])
    rank = np.empty(targets.size, np.int64)
    rank[order] = np.arange(targets.size) - starts[parent[order]]
    return rounded + (rank < missing[parent])
