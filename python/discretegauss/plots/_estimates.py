"""Figures: intervals of noisy counts, the gain of consistent tables, and groups that are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .. import estimate
from .._inputs.decimal_text import rounded_down
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from ..data.entry import open_container
from ..errors import ParameterValueError
from ..selection import keep_rule
from ._before_after import draw_bars, line_height, name_lines
from .look import LINES, finish, legend_above

_COLOR = LINES["discrete Gaussian"]["color"]
_LEAST_BAR, _LEAST_PAIR = 3.0, 12.0
"""Least height, in points, of a line with one error bar, and of one with two."""

_STYLES = ("-", "--", "-.", ":")


def interval(
    ax: Any,
    noisy: Any,
    law: Any,
    confidence: object = 0.95,
    *,
    queries: int = 1,
    at_least: int | None = None,
    column: object = None,
    labels: Sequence[object] | None = None,
) -> Any:
    """Draw noisy counts with the intervals of `discretegauss.estimate.interval` as error bars.

    Too many counts for bars are drawn in order of size, and a band shows their intervals.

    Parameters
    ----------
    ax : matplotlib axes
        The axes to draw into.
    noisy, law, confidence, queries, at_least
        As for `discretegauss.estimate.interval`.
    column : label, optional
        The column of noisy counts of a frame. Its other columns name the rows.
    labels : sequence, optional
        A name for each count. By default the keys of a dict, the index of a series of pandas, the
        other columns of a frame, or numbers from 1 on.

    Returns
    -------
    matplotlib axes
        The same axes.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `discretegauss.estimate.interval`, or if there are not as many labels as counts.
    """
    ends = estimate.interval(
        noisy, law, confidence, queries=queries, at_least=at_least, columns=column
    )
    cells = [open_container(x, column, floats=True).cells[0] for x in (noisy, *ends)]
    counts, low, high = (np.asarray(x.integers, dtype=np.float64) for x in cells)
    if cells[0].nulls is not None:  # nulls get no mark
        counts = np.where(cells[0].nulls, np.nan, counts)
    names = _names(noisy, column, counts.size) if labels is None else [str(x) for x in labels]
    if len(names) != counts.size:
        raise ParameterValueError(
            f"labels must have as many entries as counts, {counts.size}, got {describe(len(names))}"
        )
    each = "each count by itself" if queries == 1 else f"{queries} counts at once"
    # by the float's shortest text, because the float 0.95 is a little less; and never 100 %
    share = min(float(exact_rational(confidence, "confidence")), math.nextafter(1, 0))
    title = f"{rounded_down(100 * Fraction(repr(share)))} % intervals, {each}"
    if line_height(ax, counts.size) >= _LEAST_BAR:
        bars = [np.maximum(counts - low, 0), np.maximum(high - counts, 0)]
        draw_bars(ax, counts, bars, "noisy count")
        name_lines(ax, names)
        ax.set(title=title, xlabel="noisy count, with its interval")
    else:
        order = np.argsort(-counts)[: np.count_nonzero(~np.isnan(counts))]
        _draw_band(ax, low[order], high[order], "interval")
        places = np.arange(1, order.size + 1)
        ax.plot(counts[order], places, color=_COLOR, linewidth=1, label="noisy count")
        ax.set_ylim(order.size + 0.5, 0.5)
        if order.size:  # so that intervals can be seen beside counts of any size
            ax.set_xscale("symlog", linthresh=max(1.0, float(np.max(high[order] - counts[order]))))
        x = "count (logarithmic scale beyond the size of an interval)"
        finish(ax, title, x, "counts, from the largest on", legend_at="lower right")
    return ax


def consistent(
    ax: Any, before: Any, after: Any, law: Any, count: object, *, deviations: float = 2
) -> Any:
    """Draw a table before and after `discretegauss.estimate.consistent`, each with error bars.

    If there are too many rows for bars, a band shows those of the estimates, and two dashed lines
    show those of the noisy counts.

    Parameters
    ----------
    ax : matplotlib axes
        The axes to draw into.
    before, after : frame of pandas or polars, table of pyarrow, or dict of columns
        The noisy table, and the result of `consistent`: the same rows, and a column "error".
    law : DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian
        The noise of the table.
    count : label
        The column of counts.
    deviations : float, optional
        The number of standard errors on either side of a bar.

    Returns
    -------
    matplotlib axes
        The same axes.

    Raises
    ------
    ValueError
        If the tables differ in length.
    """
    noisy, value, error = (
        np.asarray(table[label], dtype=np.float64)
        for table, label in ((before, count), (after, count), (after, "error"))
    )
    if noisy.shape != value.shape:
        raise ParameterValueError(
            f"after must have as many rows as before, {noisy.size}, got {value.size}"
        )
    raw = float(law.std())
    name_lines(ax, _names(before, count, noisy.size))
    if (line := line_height(ax, noisy.size)) >= _LEAST_PAIR:
        bars = np.full(noisy.shape, deviations * raw)
        draw_bars(ax, noisy - value, bars, "noisy", "discrete Laplace", -0.15)
        draw_bars(ax, value - value, deviations * error, "made to add up", shift=0.15)
        shown = f"with {deviations:g} standard errors"
    else:
        look = LINES["discrete Laplace"]
        _draw_band(ax, -deviations * error, deviations * error, "made to add up")
        places = np.arange(1, noisy.size + 1)
        mark = {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
        size = min(6.0, max(1.5, 0.7 * line))
        ax.plot(noisy - value, places, markersize=size, label="noisy", **mark)
        for end in (-deviations * raw, deviations * raw):
            ax.axvline(end, color=look["color"], linestyle="--", linewidth=1)
        shown = f"band and dashed lines: {deviations:g} standard errors"
    gain = raw**2 / float(np.mean(error**2))
    ax.set_xlabel(f"distance from the new count, {shown}")
    legend_above(ax, f"a table made to add up: variance 1/{gain:.3g}")
    return ax


def _draw_band(ax: Any, low: Any, high: Any, label: str) -> None:
    """Draw the intervals of lines that are too thin for bars, as a band."""
    edges = np.arange(low.size + 1) + 0.5
    ends = ([*x, *x[-1:]] for x in (low, high))
    ax.fill_betweenx(edges, *ends, step="post", color=_COLOR, alpha=0.3, linewidth=0, label=label)


def keep_groups(ax: Any, epsilon: Any, delta: Any, groups_per_person: Sequence[int] = (1,)) -> Any:
    """Draw the probability that `discretegauss.selection.keep_groups` keeps a group, by its size.

    Parameters
    ----------
    ax : matplotlib axes
        The axes to draw into.
    epsilon, delta : number
        The budget.
    groups_per_person : sequence of int, optional
        Numbers of groups that one person is in, with a line for each.

    Returns
    -------
    matplotlib axes
        The same axes.
    """
    rules = [keep_rule(epsilon, delta, groups) for groups in groups_per_person]
    last = max(2 * rule.threshold for rule in rules) + 2
    for i, (groups, rule) in enumerate(zip(groups_per_person, rules, strict=True)):
        n = np.unique(np.linspace(0, last, min(last, 400) + 1).astype(np.int64))
        look = LINES["discrete Laplace" if hasattr(rule.law, "largest") else "discrete Gaussian"]
        ax.plot(
            n,
            rule.keep_probability(n),
            color=look["color"],
            linestyle=_STYLES[i % 4],
            label=f"{groups} group{'s' * (groups > 1)} a person, {type(rule.law).__name__}",
        )
    ax.axhline(0.5, color="0.35", linewidth=1)
    finish(
        ax,
        f"groups kept at (epsilon, delta) = ({epsilon}, {delta})",
        "people in the group",
        "probability that it is kept",
        legend_at="lower right",
    )
    return ax


def _names(table: Any, column: object, n: int) -> list[str]:
    """Return a name for each row: from keys, other columns or the index, or else its number."""
    if isinstance(table, dict) and column is None:
        return [str(key) for key in table]
    labels = getattr(table, "column_names", None) or getattr(table, "columns", None)
    labels = list(table) if isinstance(table, dict) else labels
    others = [label for label in (() if labels is None else labels) if label != column]
    if others:
        return [" ".join(map(str, row)) for row in zip(*(table[x] for x in others), strict=True)]
    index = getattr(table, "index", None)
    if index is not None and not callable(index):
        return [str(key) for key in index]
    return [str(i + 1) for i in range(n)]
