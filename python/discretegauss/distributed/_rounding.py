"""Conditional rounding: random rounding that keeps to a bound on the norm.

Let x be a vector of norm at most c. Each number is rounded up or down at random, so that its mean
stays the same. That is repeated until the norm is at most

    B = min( c + sqrt(d),  sqrt(c**2 + d/4 + sqrt(2 log(1/retry)) (c + sqrt(d)/2)) )

Each try is rejected with a probability of at most retry (Kairouz, Liu, Steinke, arXiv 2102.06387,
Theorem 1 and Proposition 22). Clients claim the norm B, and `round_conditionally` checks it in
integers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from .._inputs.draw_arguments import checked_source
from .._inputs.foreign_arrays import finite_array
from .._inputs.graphs import outside_of_graphs
from .._inputs.messages import refused
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import positive_number, word_count
from .._inputs.source import Source
from ..errors import ParameterValueError
from ..sampling import bernoulli, uniform_below

_AT128 = arithmetic(128)
_MOST = 2**24
"""The largest norm. Squares of integers and their sums stay far below 2**63, and floats hold the
fractions."""

_TWO_64 = 2.0**64

_UNDERFLOWS = 2.0**-900
"""Of larger squared norms, underflow loses some 2**-140 at most."""


def rounded_norm(norm: object, *, dimension: int, retry: object = None) -> float:
    """Return a bound on the norm of what `round_conditionally` returns.

    Parameters
    ----------
    norm : number
        A bound on the Euclidean norm of a vector before rounding; positive.
    dimension : int
        The length of a vector.
    retry : number, optional
        The largest probability of another try, in [0, 1); exp(-1/2) by default, as in the paper.

    Returns
    -------
    float
        B, rounded up. A sum of such vectors has this ``sensitivity``, if one is added or left out.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    With c the norm and d the dimension, B is the less of c + sqrt(d) and
    sqrt(c**2 + d/4 + sqrt(2 log(1/retry)) (c + sqrt(d)/2)).

    References
    ----------
    Kairouz, Liu, Steinke, arXiv:2102.06387, Theorem 1 and Proposition 22.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.distributed.rounded_norm(100, dimension=1024)
    101.8...
    """
    length = positive_number(norm, "norm")
    d = word_count(dimension, "dimension")
    root = _AT128.sqrt(_AT128.rational(d))
    longest = _AT128.shift(root, length)
    if retry is None:
        twice_log = _AT128.rational(1)
    else:
        share = exact_rational(retry, "retry")
        if not 0 <= share < 1:
            raise refused("retry", "be at least 0 and below 1", retry)
        if share == 0:
            return float_at_least(longest.upper)
        twice_log = _AT128.scale(_AT128.log(_AT128.rational(share)), -2)
    moves = _AT128.mul(
        _AT128.sqrt(twice_log), _AT128.shift(_AT128.scale(root, Fraction(1, 2)), length)
    )
    typical = _AT128.sqrt(_AT128.shift(moves, length**2 + Fraction(d, 4)))
    return float_at_least(min(longest.upper, typical.upper))


def _require_short(rows: NDArray[np.float64], norm: Fraction) -> None:
    """Refuse a row that is longer than the norm; fractions decide if floats cannot."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.square(rows).sum(axis=1)
    limit = float(norm) ** 2
    # A sum of d squares in floats has a relative error of at most (d + 1) 2**-53 in any order,
    # except for squares that underflow.
    threshold = limit * (1 - (rows.shape[1] + 8) * 2.0**-52) if limit > _UNDERFLOWS else -1.0
    doubtful = squares > threshold
    for row in rows[doubtful]:
        if sum(Fraction(x) ** 2 for x in row.tolist()) > norm**2:
            raise ParameterValueError("values must have a norm of at most norm: clip them first")


def _rounded(sizes: NDArray[np.float64], source: Source) -> NDArray[np.int64]:
    """Return floor(x) + 1 with exactly the probability x - floor(x), else floor(x), for x >= 0.

    The fraction of a double is a double, and so is 2**64 times it. A uniform word of 64 bits below
    its floor means up, and one above it down. If they are equal, the remainder of the fraction is
    the probability of up.
    """
    fractions, floors = np.modf(sizes)
    scaled = fractions * _TWO_64
    whole = np.floor(scaled)
    halves = uniform_below(2**32, (*sizes.shape, 2), dtype=np.uint32, source=source)
    words = halves[..., 0].astype(np.uint64) << np.uint64(32) | halves[..., 1]
    limits = whole.astype(np.uint64)
    up = words < limits
    for place in np.argwhere((words == limits) & (scaled > whole)):
        at = tuple(place)
        up[at] = bernoulli(float(scaled[at] - whole[at]), source=source)
    halves.fill(0)
    words.fill(0)
    return np.asarray(floors.astype(np.int64) + up)


@outside_of_graphs
def round_conditionally(
    values: ArrayLike, norm: object, *, retry: object = None, source: Source = "chacha20"
) -> NDArray[np.int64]:
    """Round vectors to integers at random; no result is longer than `rounded_norm` says.

    Parameters
    ----------
    values : array_like of float or int, shape (..., d)
        Finite, one vector along the last axis. Each has a Euclidean norm of at most ``norm``. A
        float means exactly its binary value.
    norm : number
        Positive, at most 2**24, in units of the integers.
    retry : number, optional
        As for `rounded_norm`.
    source : "getrandom", "chacha20" or callable, optional
        The source of bits, as for `discretegauss.discrete_gaussian`.

    Returns
    -------
    ndarray of int64, shape (..., d)
        Each number is rounded up or down independently, with its own mean, on the condition that
        the vector's exact norm is at most ``rounded_norm``. A larger ``retry`` makes that bound
        sharper, and the bias of the condition larger; 0 means no condition.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        If a parameter is wrong, before anything is drawn; or if the source fails.

    Notes
    -----
    The number of tries depends on the vector, so nobody but the client may learn it.

    References
    ----------
    Kairouz, Liu, Steinke, arXiv:2102.06387, Section 4 and Proposition 22.

    Examples
    --------
    >>> import discretegauss as dg
    >>> z = dg.distributed.round_conditionally([[0.5, -2.25, 1.0]], norm=3)
    >>> z.shape, int(z[0, 2])
    ((1, 3), 1)
    >>> float((z**2).sum() ** 0.5) <= dg.distributed.rounded_norm(3, dimension=3)
    True
    """
    bits = checked_source(source)
    length = positive_number(norm, "norm")
    if length > _MOST:
        raise refused("norm", "be at most 2**24", norm)
    array = finite_array(values, "values").astype(np.float64)
    if array.ndim == 0:
        raise ParameterValueError("values must have at least one axis, got a single number")
    if array.shape[-1] == 0:
        return np.zeros(array.shape, np.int64)
    bound = rounded_norm(length, dimension=array.shape[-1], retry=retry)
    most = int(Fraction(bound) ** 2)
    rows = array.reshape(-1, array.shape[-1])
    _require_short(rows, length)
    sizes = np.abs(rows)
    found = np.empty(rows.shape, np.int64)
    open_rows = np.arange(len(rows))
    while open_rows.size:
        found[open_rows] = _rounded(sizes[open_rows], bits)
        lengths = np.square(found[open_rows]).sum(axis=1)
        open_rows = open_rows[lengths > most]
    found[rows < 0] *= -1
    return found.reshape(array.shape)
