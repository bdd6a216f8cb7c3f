"""Report noisy max: add integer noise to votes, and return where the largest sum is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import Size, checked_size, checked_source, checked_threads
from .._inputs.graphs import outside_of_graphs
from .._inputs.keywords import with_hints
from .._inputs.law_parameters import naming_places
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from .._inputs.source import Source
from .._law import fits_range
from ..errors import ParameterTypeError, ParameterValueError, RangeError
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law
from ..sampling import uniform_below
from ._scores import scores_array
from ._select import rows_of

#: 64-bit integers hold the sum of a vote and noise that are both within this.
_HALF = 2**62


def _whole(value: object) -> int:
    exact = exact_rational(value, "votes")
    if exact.denominator != 1:
        raise ParameterValueError(f"votes must be whole numbers, got {describe(value)}")
    return exact.numerator


def _integers(votes: NDArray[Any]) -> NDArray[Any]:
    """Return votes as int64 if all are within _HALF, else as objects."""
    if votes.dtype.kind in "iu":
        low, high = int(votes.min(initial=0)), int(votes.max(initial=0))
        if low >= -_HALF and high < _HALF:
            return votes.astype(np.int64, copy=False)
    whole = np.empty(votes.size, dtype=object)
    whole[:] = [_whole(value) for value in votes.ravel().tolist()]
    if all(-_HALF <= value < _HALF for value in whole):
        return whole.astype(np.int64).reshape(votes.shape)
    return whole.reshape(votes.shape)


def _noise(law: Law, shape: tuple[int, ...], dtype: Any, source: Source, threads: int) -> Any:
    noise = law.sample(shape, dtype=dtype, source=source, threads=threads)
    if dtype is not object and noise.size and not -_HALF <= noise.min() <= noise.max() < _HALF:
        noise.fill(0)
        raise RangeError("a draw did not fit the output type; nothing is returned")
    return noise


def _largest(sums: NDArray[Any], source: Source) -> NDArray[np.int64]:
    """Return the place of the largest sum of each row, uniformly among those that tie."""
    best = sums.max(axis=-1, keepdims=True)
    is_best = np.asarray(sums == best, np.bool_)
    best.fill(0)
    selected = np.asarray(is_best.argmax(axis=-1), np.int64)
    ties = is_best.sum(axis=-1)
    tied = np.flatnonzero(ties.ravel() > 1)
    if tied.size:
        rows = is_best.reshape(-1, is_best.shape[-1])[tied]
        rank = uniform_below(ties.ravel()[tied], source=source)
        selected.reshape(-1)[tied] = (rows.cumsum(axis=-1) > rank[:, None]).argmax(axis=-1)
    return selected


@outside_of_graphs
@with_hints
def report_noisy_max(
    votes: Any,
    law: Law,
    *,
    size: Size = None,
    source: Source = "chacha20",
    threads: int = 1,
) -> Any:
    """Add noise to every vote and return where the largest sum is, ties broken uniformly.

    Parameters
    ----------
    votes : array_like of integers, shape (..., k)
        Votes for k candidates; one maximum is reported along the last axis for each row. Whole
        numbers of any type and size.
    law : DiscreteLaplace, DiscreteGaussian or GeneralizedGaussian
        The noise: one independent draw for each vote.
    size : int or sequence of int, optional
        Shape of the result, to which the rows of votes broadcast; None: that of the rows.
    source : "getrandom", "chacha20" or callable, optional
        The source of bits, as for `discretegauss.discrete_gaussian`: first for all noise, then for
        ties, row after row.
    threads : int, optional
        The most threads that draw noise; 1 with your own source.

    Returns
    -------
    int or ndarray of int64
        Places of the largest sums in the last axis: an int for one row without `size`.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        As `permute_and_flip`.

    Notes
    -----
    Guaranteed: noise and ties are exact. With Laplace noise it costs `noisy_max_epsilon`. With any
    law it costs at most as much as the release of all noisy votes, because it is a function of them
    (docs/noise/selection.md).

    References
    ----------
    Dwork, Roth, *The Algorithmic Foundations of Differential Privacy*, 2014, Claim 3.9. Papernot et
    al., *Scalable Private Learning with PATE*, ICLR 2018.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.selection.report_noisy_max([12, 900, 31], dg.DiscreteLaplace(2))  # 900 is ahead by far
    1
    >>> dg.selection.report_noisy_max([[1, 2], [3, 4]], dg.DiscreteGaussian(100)).shape
    (2,)
    """
    bits = checked_source(source)
    n_threads = checked_threads(threads, bits)
    result_shape = checked_size(size)
    if not isinstance(law, DiscreteGaussian | DiscreteLaplace | GeneralizedGaussian):
        raise ParameterTypeError(
            "law must be a DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian, got "
            f"{describe(law)}"
        )
    array = scores_array(votes, "votes")
    shape = rows_of(result_shape, array.shape[:-1])
    whole = naming_places(lambda: _integers(array), array, "votes", _whole)
    words = whole.dtype != object and fits_range(law._spec, -_HALF, _HALF - 1)
    dtype = np.int64 if words else object
    noise = _noise(law, (*shape, array.shape[-1]), dtype, bits, n_threads)
    try:
        noise += whole
        selected = _largest(noise, bits)
    finally:
        noise.fill(0)
    return selected if shape or size is not None else int(selected)
