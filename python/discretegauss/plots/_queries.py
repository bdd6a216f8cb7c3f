"""Figure: the noise that k queries need, Gaussian and Laplace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._inputs.messages import describe
from ..errors import ParameterValueError
from ..utility import compare_queries
from ..utility.compare import QueriesComparison
from .look import Panels, finish, look_of

_X = "k, the number of queries"

MARKED_QUERIES = 100
"""The number of queries that the paper speaks of."""

_EPSILON, _DELTA = 1, "1e-6"
_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 18, 24, 32, 42, 56, 75, 100, 133, 178, 237, 316, 562, 1000)

_BY_ZCDP, _TIGHT = "bound or conversion", "discrete Gaussian"
"""Of `LINES`."""


def comparisons(
    *, epsilon: object = _EPSILON, delta: object = _DELTA, numbers: Sequence[int] = _NUMBERS
) -> list[QueriesComparison]:
    """Compute what the figure shows, for each number of queries."""
    return [compare_queries(epsilon=epsilon, delta=delta, queries=k) for k in numbers]


def queries(
    ax: Any,
    *,
    epsilon: object = _EPSILON,
    delta: object = _DELTA,
    numbers: Sequence[int] = _NUMBERS,
) -> Any:
    """Draw the variance that each of k queries needs, Gaussian and Laplace, against k.

    Parameters
    ----------
    ax : matplotlib axes
        Where to.
    epsilon, delta : number, optional
        What all k queries of sensitivity 1 cost together.
    numbers : sequence of int, optional
        The numbers k.

    Returns
    -------
    matplotlib axes
        The same.
    """
    return _variances(ax, comparisons(epsilon=epsilon, delta=delta, numbers=numbers))


def queries_ratio(
    ax: Any,
    *,
    epsilon: object = _EPSILON,
    delta: object = _DELTA,
    numbers: Sequence[int] = _NUMBERS,
    mark: int | None = MARKED_QUERIES,
) -> Any:
    """Draw how many times the Gaussian's variance the Laplace needs for k queries, against k.

    Parameters
    ----------
    ax : matplotlib axes
        Where to.
    epsilon, delta : number, optional
        What all k queries of sensitivity 1 cost together.
    numbers : sequence of int, optional
        The numbers k.
    mark : int, optional
        One of the numbers, whose ratios are written down; None: none.

    Returns
    -------
    matplotlib axes
        The same.
    """
    if mark is not None and mark not in numbers:
        raise ParameterValueError(f"mark must be one of numbers, or None, got {describe(mark)}")
    return _ratios(ax, comparisons(epsilon=epsilon, delta=delta, numbers=numbers), mark)


def _variances(ax: Any, found: list[QueriesComparison]) -> Any:
    k = [one.queries for one in found]
    for look, law, label in (
        ("discrete Laplace", "laplace", "discrete Laplace,\noptimal composition"),
        (_BY_ZCDP, "gaussian_by_zcdp", "discrete Gaussian by way of zCDP\n(Corollary 13)"),
        (_TIGHT, "gaussian_tight", "discrete Gaussian, tight\n(Theorem 7)"),
    ):
        ax.loglog(k, [getattr(one, law).var() for one in found], **look_of(look, label))
    variance = "variance (squared counts)"
    finish(ax, "variance for each query", _X, variance, legend_at="lower right")
    return ax


def _ratios(ax: Any, found: list[QueriesComparison], mark: int | None) -> Any:
    k = [one.queries for one in found]
    ratios = (
        ("ratio_by_zcdp", _BY_ZCDP, "over the Gaussian by way of zCDP", (8, -28)),
        ("ratio_tight", _TIGHT, "over the Gaussian, tight", (-104, 12)),
    )
    for name, look, label, offset in ratios:
        y = [getattr(one, name)() for one in found]
        ax.semilogx(k, y, **look_of(look, label))
        if mark is not None:
            at = k.index(mark)
            ax.annotate(
                f"k = {mark}: {y[at]:.3f}",
                (k[at], y[at]),
                xytext=offset,
                textcoords="offset points",
                fontsize=12,
                fontweight="bold",
            )
    ax.axhline(1, color="0.35", linewidth=1)
    if mark is not None:
        ax.axvline(mark, color="0.35", linewidth=1, linestyle=":")
    title = "discrete Laplace over discrete Gaussian"
    finish(ax, title, _X, "ratio of the variances", legend_at="lower right")
    return ax


def draw_queries(figure: Any, panels: Panels, found: list[QueriesComparison]) -> None:
    """Draw the variances, and the Laplace's over the Gaussian's."""
    left, right = panels
    _variances(left, found)
    _ratios(right, found, MARKED_QUERIES)
    right.text(125, 1.03, "above 1: the Gaussian\nneeds less noise", fontsize=10.5)
    right.set_ylim(0, 2.4)
    figure.suptitle(
        f"Noise for k queries that together have (epsilon, delta) = ({_EPSILON}, {_DELTA}), "
        "sensitivity 1 each"
    )
