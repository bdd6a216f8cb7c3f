"""Figure: the noise that k queries need, Gaussian and Laplace."""

from __future__ import annotations

from typing import Any

from ..utility import compare_queries
from ..utility.compare import QueriesComparison
from .drawing import LINES, Panels, finish

__all__ = ["MARKED_QUERIES", "comparisons", "draw_queries"]

MARKED_QUERIES = 100
"""The number of queries that the paper speaks of."""

_EPSILON, _DELTA = 1, "1e-6"
_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 18, 24, 32, 42, 56, 75, 100, 133, 178, 237, 316, 562, 1000)

_BY_ZCDP, _TIGHT = "bound or conversion", "discrete Gaussian"
"""Of `LINES`."""


def comparisons() -> list[QueriesComparison]:
    """Compute what the figure shows, for each number of queries."""
    return [compare_queries(epsilon=_EPSILON, delta=_DELTA, queries=k) for k in _NUMBERS]


def draw_queries(figure: Any, panels: Panels, found: list[QueriesComparison]) -> None:
    """Draw the variances, and the Laplace's over the Gaussian's."""
    left, right = panels
    k = [one.queries for one in found]
    for look, law, label in (
        ("discrete Laplace", "laplace", "discrete Laplace,\noptimal composition"),
        (_BY_ZCDP, "gaussian_by_zcdp", "discrete Gaussian by way of zCDP\n(Corollary 13)"),
        (_TIGHT, "gaussian_tight", "discrete Gaussian, tight\n(Theorem 7)"),
    ):
        left.loglog(k, [getattr(one, law).var() for one in found], **LINES[look], label=label)

    ratios = (
        ("ratio_by_zcdp", _BY_ZCDP, "over the Gaussian by way of zCDP", (8, -28)),
        ("ratio_tight", _TIGHT, "over the Gaussian, tight", (-104, 12)),
    )
    for name, look, label, offset in ratios:
        y = [getattr(one, name)() for one in found]
        right.semilogx(k, y, **LINES[look], label=label)
        at = k.index(MARKED_QUERIES)
        right.annotate(
            f"k = {MARKED_QUERIES}: {y[at]:.3f}",
            (k[at], y[at]),
            xytext=offset,
            textcoords="offset points",
            fontsize=12,
            fontweight="bold",
        )
    right.axhline(1, color="0.35", linewidth=1)
    right.axvline(MARKED_QUERIES, color="0.35", linewidth=1, linestyle=":")
    right.text(125, 1.03, "above 1: the Gaussian\nneeds less noise", fontsize=10.5)
    right.set_ylim(0, 2.4)

    figure.suptitle(
        f"Noise for k queries that together have (epsilon, delta) = ({_EPSILON}, {_DELTA}), "
        "sensitivity 1 each"
    )
    x = "k, the number of queries"
    finish(left, "variance for each query", x, "variance (squared counts)", legend_at="lower right")
    title = "discrete Laplace over discrete Gaussian"
    finish(right, title, x, "ratio of the variances", legend_at="lower right")
