"""What the figures share: size, colours, lines, and the way to bytes.

Figures are made without pyplot, so there is no list of open figures and no backend to choose, and
within matplotlib's own default style, which is put back to the caller's afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

__all__ = ["LINES", "WIDTH_HEIGHT", "Panels", "finish", "png"]

_INCHES = (12.0, 5.4)
_DOTS_PER_INCH = 150

WIDTH_HEIGHT = (1800, 810)
"""Pixels of every figure."""

Panels = tuple[Any, Any]
"""The two sides of a figure, matplotlib axes."""

_BLUE, _ORANGE, _GREEN, _PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_YELLOW = "#E69F00"

LINES: dict[str, dict[str, Any]] = {
    "discrete Gaussian": {"color": _BLUE, "linestyle": "-", "linewidth": 2.6, "marker": "o"},
    "continuous Gaussian": {"color": "black", "linestyle": (0, (4, 2.5)), "linewidth": 1.3},
    "rounded Gaussian": {"color": _GREEN, "linestyle": "-.", "linewidth": 1.8, "marker": "s"},
    "discrete Laplace": {"color": _ORANGE, "linestyle": ":", "linewidth": 2.4, "marker": "^"},
    "bound or conversion": {"color": _PURPLE, "linestyle": "--", "linewidth": 1.8, "marker": "D"},
    "standard conversion": {"color": _YELLOW, "linestyle": (0, (1, 1)), "linewidth": 2.4},
}
"""The same look for the same noise everywhere; the colours are told apart by the colour-blind
(Okabe and Ito's), and no line differs from another by its colour alone."""


_STYLE = {
    "figure.titlesize": 14,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "axes.grid": True,
    "grid.color": "0.85",
    "axes.axisbelow": True,
    "legend.fontsize": 10.5,
    "legend.framealpha": 1.0,
    "legend.handlelength": 2.8,
}


def png(draw: Callable[[Any, Panels], None]) -> bytes:
    """Return the figure that ``draw`` makes of two empty panels, as the bytes of a PNG file."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.style.context(["default", _STYLE]):
        figure = Figure(figsize=_INCHES, dpi=_DOTS_PER_INCH, layout="constrained")
        canvas: Any = FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2)
        draw(figure, (left, right))
        buffer = BytesIO()
        canvas.print_png(buffer)
    return buffer.getvalue()


def finish(axes: Any, title: str, x: str, y: str, *, legend_at: str = "lower left") -> None:
    """Give the panel its title, the names of its axes and a legend."""
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.legend(loc=legend_at)
