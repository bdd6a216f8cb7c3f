"""Figure: counts before and after a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from ..errors import DiscreteGaussError, ParameterValueError
from ..laws import Law
from .look import LINES, legend_above

_LEAST_LINE = 5.5
"""Least height, in points, of a line with a name; names of lower lines are left out. So all of 40
lines have names in a figure that is 4 inches high."""


def before_after(
    ax: Any,
    before: Sequence[object],
    after: Sequence[object],
    *,
    labels: Sequence[str] | None = None,
    law: Law | None = None,
) -> Any:
    """Draw each count and its noisy count on one line. It shows true counts: for your eyes only.

    Parameters
    ----------
    ax : matplotlib axes
        The axes to draw into.
    before, after : sequence of numbers
        The counts, and the counts with noise, in the same order.
    labels : sequence of str, optional
        A name for each; numbers from 1 on by default. Some are left out if there is no room.
    law : Law, optional
        The law of the noise: each noisy count gets its central 95 % as an error bar.

    Returns
    -------
    matplotlib axes
        The same axes.

    Raises
    ------
    ValueError
        If the sequences differ in length, or a number is not finite.
    """
    counts, noisy = _floats(before, "before"), _floats(after, "after")
    names = [str(i + 1) for i in range(len(counts))] if labels is None else list(labels)
    for name, sequence in (("after", noisy), ("labels", names)):
        if len(sequence) != len(counts):
            raise ParameterValueError(
                f"{name} must have as many entries as before, {len(counts)}, got "
                f"{describe(len(sequence))}"
            )
    bars = None
    if law is not None:
        low, high = (float(k) for k in law.interval(0.95))
        # for noise between low and high, the count lies between noisy - high and noisy - low
        bars = [[high] * len(noisy), [-low] * len(noisy)]
    label = "after (noisy)" if law is None else "after (noisy; 95 % of the noise)"
    draw_bars(ax, noisy, bars, label)
    hollow = {"marker": "D", "markerfacecolor": "none", "color": "0.25", "linestyle": "none"}
    places, size = range(1, len(counts) + 1), 6 * _thinness(ax, len(counts))
    ax.plot(counts, places, label="before (true counts)", markersize=size, **hollow)
    name_lines(ax, names)
    ax.set_xlabel("count")
    legend_above(ax, "before and after")
    return ax


def draw_bars(
    ax: Any, x: Any, error: Any, label: str, look: str = "discrete Gaussian", shift: float = 0.0
) -> None:
    """Draw a mark with an error bar on each line, or `shift` below it."""
    marker, color = LINES[look]["marker"], LINES[look]["color"]
    places = [i + shift for i in range(1, len(x) + 1)]
    thin = _thinness(ax, len(x))
    ax.errorbar(
        x,
        places,
        xerr=error,
        fmt=marker,
        capsize=3 * thin,
        markersize=6 * thin,
        elinewidth=0.5 + thin,
        color=color,
        label=label,
    )


def _thinness(ax: Any, lines: int) -> float:
    """Return how much smaller marks are on thin lines, at most 1."""
    return min(1.0, line_height(ax, lines) / 12)


def line_height(ax: Any, lines: int) -> float:
    """Return the height of each line in points."""
    height = 72 * ax.bbox.height / ax.figure.dpi
    return float(max(1.0, height) / max(1, lines))


def name_lines(ax: Any, names: Sequence[str]) -> None:
    """Give lines their names, or only some if there is no room for all."""
    line = line_height(ax, len(names))
    ax.set_ylim(len(names) + 0.5, 0.5)
    named = math.ceil(_LEAST_LINE / line)
    places = range(1, len(names) + 1)
    ax.set_yticks(places[::named], names[::named], fontsize=min(11, 0.8 * line * named))


def _floats(values: Sequence[object], name: str) -> list[float]:
    """Return values as floats; no message shows one, because they may be private."""
    floats = []
    for i, value in enumerate(values):
        try:
            floats.append(float(exact_rational(value, name)))
        except (DiscreteGaussError, OverflowError):
            raise ParameterValueError(
                f"{name} must be finite numbers, but is not at index {i}"
            ) from None
    return floats
