"""Intervals that contain sums of true counts."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import describe
from .._inputs.numbers import whole_number
from ..data.entry import open_container
from ..errors import ParameterValueError
from ..laws import Law
from ._checks import (
    Estimate,
    check_pairs,
    gaussian_sigma2,
    integers_without_nulls,
    miss,
    open_noisy_column,
)
from ._sum_of_gaussians import radius, variance

_WORDS = 2**63


def total(
    noisy: Any,
    law: Any,
    weights: Any = None,
    axis: int | None = None,
    *,
    confidence: object = 0.95,
) -> Estimate:
    """Return the sum of counts, its standard error, and an interval that contains the true sum.

    Parameters
    ----------
    noisy : list, tuple, dict, ndarray, or a column of another library
        Noisy counts, each with its own draw.
    law : DiscreteGaussian, or a list of them
        The noise, with mu = 0. A list has one law for each cell of the sum.
    weights : list or array of integers, optional
        The factor of each cell: ``[1, -1]`` is a difference. None means 1. Series of pandas need
        equal indexes.
    axis : int, optional
        The axis of an array along which cells are added. None adds all cells.
    confidence : number, optional
        Between 0 and 1.

    Returns
    -------
    Estimate
        Python integers and a float for error; with `axis`, four arrays.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If noisy has nulls or values that are not integers; if the number of weights or laws is not
        the number of cells in the sum; if a law is not a discrete Gaussian.

    Notes
    -----
    Guaranteed: the interval contains the true sum with at least the confidence, by the law of the
    noise itself. The normal law's interval is too short in half of all cases. The radius is the
    least that suffices, except in two cases. For some ten cells with little noise and large weights
    of many sizes, weights are rounded, and it is some 5 % more. For different weights and noise
    beyond 2**50 it is up to 39 % more. Cells must have independent noise: no cell may occur twice
    or be computed from others.

    References
    ----------
    ``_sum_of_gaussians.py`` has the derivation.

    Examples
    --------
    >>> import discretegauss as dg
    >>> found = dg.estimate.total([325, 310, 290], dg.DiscreteGaussian(5))
    >>> found.value, found.low, found.high
    (925, 917, 933)
    >>> round(found.error, 2)
    3.87
    >>> dg.estimate.total([325, 310], dg.DiscreteGaussian(5), weights=[1, -1]).low
    9
    """
    missed = miss(confidence)
    check_pairs(noisy, weights, "noisy and weights")
    cells = integers_without_nulls(open_noisy_column(noisy, "noisy").cells[0], "noisy")
    if axis is None:
        rows = cells.reshape(1, -1)
    else:
        place = whole_number(axis, "axis", minimum=-cells.ndim)
        if place >= cells.ndim:
            raise ParameterValueError(
                f"axis must be one of the {cells.ndim} axes, got {describe(place)}"
            )
        rows = np.moveaxis(cells, place, -1)
    n = rows.shape[-1]
    factors = None if weights is None else _weights(weights, n)
    pairs = _pairs(law, factors, n)
    found, error = radius(pairs, missed), math.sqrt(variance(pairs))
    value = _sums(rows, factors)
    if axis is None:
        whole = int(value[0])
        return Estimate(whole, error, whole - found, whole + found)
    if value.dtype != object and np.abs(value).max(initial=0) > _WORDS - 1 - found:
        value = value.astype(object)
    return Estimate(value, np.full(value.shape, error), value - found, value + found)


def _weights(weights: Any, n: int) -> list[int]:
    """Return the weights as integers, one for each of n cells."""
    flat = weights.tolist() if hasattr(weights, "tolist") else weights
    if not isinstance(flat, list | tuple) or len(flat) != n:
        raise ParameterValueError(f"weights must be a list of {n} integers, one for each cell")
    whole = integers_without_nulls(
        open_container(flat, floats=True, name="weights").cells[0], "weights"
    )
    return [int(w) for w in whole.tolist()]


def _pairs(law: Any, weights: list[int] | None, n: int) -> Counter[tuple[int, Fraction]]:
    """Return how many cells have each absolute weight and sigma2."""
    if isinstance(law, Law):
        sigma2 = gaussian_sigma2(law)
        found = Counter({1: n} if weights is None else map(abs, weights))
        return Counter({(w, sigma2): count for w, count in found.items() if w and count})
    laws = list(law) if isinstance(law, list | tuple | np.ndarray) else None
    if laws is None or len(laws) != n or not all(isinstance(one, Law) for one in laws):
        raise ParameterValueError(f"law must be a law, or a list of {n} laws, one for each cell")
    sizes = {one: gaussian_sigma2(one) for one in dict.fromkeys(laws)}
    each = zip(weights or [1] * n, laws, strict=True)
    return Counter((abs(w), sizes[one]) for w, one in each if w)


def _sums(rows: NDArray[Any], weights: list[int] | None) -> NDArray[Any]:
    """Return the sums along the last axis: int64 if none can wrap, else Python integers."""
    if rows.dtype != object and rows.size:
        most = max(abs(int(rows.min())), abs(int(rows.max())))
        if most * sum(map(abs, weights or [rows.shape[-1]])) < _WORDS:
            words = rows.astype(np.int64, copy=False)
            return np.asarray(words.sum(axis=-1) if weights is None else words @ np.array(weights))
    factors = np.array(weights or [1] * rows.shape[-1], dtype=object)
    sums = (rows.astype(object) * factors).sum(axis=-1)
    return np.asarray(sums, dtype=object)
