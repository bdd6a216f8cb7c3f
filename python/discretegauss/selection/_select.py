"""Permute-and-flip and the exponential mechanism."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, cast, overload

import numpy as np
from numpy.typing import NDArray

from .._drawing.fill import empty, fill_array
from .._inputs.draw_arguments import (
    Shape,
    Size,
    checked_size,
    checked_source,
    checked_threads,
)
from .._inputs.graphs import outside_of_graphs
from .._inputs.keywords import with_hints
from .._inputs.law_parameters import parameter_shape
from .._inputs.numbers import MAX_BITS, Number, positive
from .._inputs.source import Source
from ..errors import ParameterOverflowError
from ._engine import Selection, prepare
from ._scores import gaps_of, scores_array


def rows_of(shape: tuple[int, ...] | None, rows: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the result: the rows of candidates, broadcast to `shape`."""
    return parameter_shape(shape, [rows])


def _rate(epsilon: object, sensitivity: object, monotone: bool) -> Fraction:
    """Return the rate r: a score that is 1 lower passes exp(r) times less often."""
    rate = positive(epsilon, "epsilon") / positive(sensitivity, "sensitivity")
    return rate if monotone else rate / 2


def _select(
    kind: Selection,
    scores: object,
    epsilon: object,
    sensitivity: object,
    size: Size,
    monotone: bool,
    source: Source,
    threads: int,
) -> Any:
    """Select, as both functions do; check every argument before anything is drawn."""
    bits = checked_source(source)
    n_threads = checked_threads(threads, bits)
    result_shape = checked_size(size)
    rate = _rate(epsilon, sensitivity, monotone)
    array = scores_array(scores, "scores")
    rows = array.shape[:-1]
    shape = rows_of(result_shape, rows)
    gaps = gaps_of(array, "scores")
    rate /= gaps.denominator
    if max(rate.numerator.bit_length(), rate.denominator.bit_length()) > MAX_BITS:
        raise ParameterOverflowError(
            "epsilon, sensitivity and the denominators of scores must be shorter: "
            f"epsilon / sensitivity per unit of the scores has more than {MAX_BITS} bits"
        )
    row_of = None
    if shape[len(shape) - len(rows) :] != rows:  # else item i has row i modulo their number
        each = np.arange(array.size // array.shape[-1], dtype=np.int64).reshape(rows)
        row_of = np.ascontiguousarray(np.broadcast_to(each, shape)).reshape(-1)
    selected = empty(shape, np.int64)
    fill_array(selected, prepare(kind, rate, gaps, row_of), bits, n_threads)
    return selected if shape or size is not None else int(selected)


class _Selects(Protocol):
    """The type of both functions: they return an array if `size` is a shape."""

    @overload
    def __call__(
        self,
        scores: Any,
        epsilon: Number,
        sensitivity: Number = ...,
        *,
        size: Shape,
        monotone: bool = ...,
        source: Source = ...,
        threads: int = ...,
    ) -> NDArray[np.int64]: ...

    @overload
    def __call__(
        self,
        scores: Any,
        epsilon: Number,
        sensitivity: Number = ...,
        *,
        size: None = None,
        monotone: bool = ...,
        source: Source = ...,
        threads: int = ...,
    ) -> Any: ...


def _selects(function: Callable[..., Any]) -> _Selects:
    return cast(_Selects, outside_of_graphs(function))


@_selects
@with_hints
def permute_and_flip(
    scores: Any,
    epsilon: Number,
    sensitivity: Number = 1,
    *,
    size: Size = None,
    monotone: bool = False,
    source: Source = "chacha20",
    threads: int = 1,
) -> Any:
    """Select a candidate of high score by permute-and-flip: epsilon-differentially private.

    It visits candidates in uniformly random order, and selects each with probability
    exp(-epsilon (best - score) / (2 sensitivity)) until one is selected.

    Parameters
    ----------
    scores : array_like, shape (..., k)
        Scores of k candidates, higher is better: integers, floats (which mean their binary values),
        Fractions, strings such as "1/3". One selection is made along the last axis for each row.
    epsilon : number
        The cost of a selection, > 0; any number type.
    sensitivity : number, optional
        The most by which one person changes any score, > 0.
    size : int or sequence of int, optional
        Shape of the result, to which the rows of scores broadcast; None: that of the rows.
    monotone : bool, optional
        True: one person moves all scores in the same direction, as in counts of people. Then
        exp(-epsilon (best - score) / sensitivity) costs no more than epsilon, and errs half as
        much.
    source : "getrandom", "chacha20" or callable, optional
        The source of bits, as for `discretegauss.discrete_gaussian`.
    threads : int, optional
        The most threads that select; 1 with your own source.

    Returns
    -------
    int or ndarray of int64
        Places of the selected candidates in the last axis: an int for one row without `size`.

    Raises
    ------
    TypeError, ValueError, OverflowError
        A parameter is not a number or breaks its rule; the message names it, or a score's place.
    OSError
        The operating system gave no randomness; nothing is returned.

    Notes
    -----
    Guaranteed: the law is exact for the rational numbers that the parameters mean; no float takes
    part. At the same epsilon, permute-and-flip's expected error is at most that of the exponential
    mechanism, and may be half of it.

    Not promised: the time, which depends on the scores and on the selection.

    References
    ----------
    McKenna, Sheldon, *Permute-and-Flip: A new mechanism for differentially private selection*,
    NeurIPS 2020, arXiv:2010.12603, Algorithm 1.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.selection.permute_and_flip([12, 900, 31], epsilon=1)  # 900 is ahead by far
    1
    >>> dg.selection.permute_and_flip([[1, 2], [3, "1/3"]], "1/2").shape
    (2,)
    >>> dg.selection.permute_and_flip([5, 6, 7], 0.1, monotone=True, size=4).shape
    (4,)
    """
    return _select(
        Selection.PERMUTE_AND_FLIP, scores, epsilon, sensitivity, size, monotone, source, threads
    )


@_selects
@with_hints
def exponential(
    scores: Any,
    epsilon: Number,
    sensitivity: Number = 1,
    *,
    size: Size = None,
    monotone: bool = False,
    source: Source = "chacha20",
    threads: int = 1,
) -> Any:
    """Select a candidate c with probability ~ exp(epsilon scores[c] / (2 sensitivity)), exactly.

    This is the exponential mechanism: epsilon-differentially private, and (epsilon**2/8)-zCDP
    (`exponential_rho`). For one selection `permute_and_flip` errs less. For many, added up in rho,
    `exponential` costs a quarter as much.

    Parameters
    ----------
    scores, epsilon, sensitivity, size, monotone, source, threads
        As for `permute_and_flip`.

    Returns
    -------
    int or ndarray of int64
        As `permute_and_flip`.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        As `permute_and_flip`.

    References
    ----------
    McSherry, Talwar, *Mechanism Design via Differential Privacy*, FOCS 2007.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.selection.exponential([12, 900, 31], epsilon=1)  # 900 is ahead by far
    1
    """
    return _select(
        Selection.EXPONENTIAL, scores, epsilon, sensitivity, size, monotone, source, threads
    )
