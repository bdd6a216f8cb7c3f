"""The common look of the figures: size, colours and lines; and `render`, which makes files.

Figures are made without pyplot, so there is no list of open figures and no backend to choose. They
use matplotlib's default style, and the caller's style is restored afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any, Literal

from .._inputs.messages import describe
from ..errors import ParameterValueError

_INCHES = (12.0, 5.4)
_DOTS_PER_INCH = 150

_BLUE, _ORANGE, _GREEN, _PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_YELLOW = "#E69F00"

LINES: dict[str, dict[str, Any]] = {
    "discrete Gaussian": {"color": _BLUE, "marker": "o"},
    "discrete Laplace": {"color": _ORANGE, "marker": "^"},
}
"""The same noise looks the same everywhere. Colour-blind readers can tell Okabe and Ito's colours
apart, and no mark differs from another by its colour alone."""

_DATES: dict[str, dict[str, None]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
"""Metadata of each format without the date, so that a file does not say when it was made."""

_STYLE = {
    # C0, C1, ...
    "axes.prop_cycle": f"cycler(color={[_BLUE, _ORANGE, _GREEN, _PURPLE, _YELLOW]})",
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


def render(
    draw: Callable[[Any, Any], object],
    *,
    panels: int = 1,
    inches: tuple[float, float] = _INCHES,
    dots_per_inch: int = _DOTS_PER_INCH,
    widths: Sequence[float] | None = None,
    format: Literal["png", "svg", "pdf"] = "png",  # noqa: A002  # as matplotlib's savefig
) -> bytes:
    """Let a function draw into new axes, and return the bytes of a file.

    Parameters
    ----------
    draw : callable
        ``draw(figure, axes)``; axes are matplotlib's, a tuple of them if there are several panels.
    panels : int, optional
        The number of axes side by side.
    inches : tuple of float, optional
        Width and height.
    dots_per_inch : int, optional
        The resolution of a PNG.
    widths : sequence of float, optional
        The relative widths of the panels.
    format : {"png", "svg", "pdf"}, optional
        The format of the file.

    Returns
    -------
    bytes
        The file. matplotlib's settings, list of open figures and backend stay unchanged.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If the format is none of these.

    Examples
    --------
    >>> from discretegauss import plots
    >>> from discretegauss.plots.look import render
    >>> render(lambda figure, ax: plots.before_after(ax, [1], [2]))[1:4]
    b'PNG'
    """
    if format not in list(_DATES):  # a list, because `format` may have no hash
        raise ParameterValueError(f"format must be 'png', 'svg' or 'pdf', got {describe(format)}")
    try:
        import matplotlib.style
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install matplotlib") from error
    # text stays text; without a date and random names, the same picture makes the same file
    style = {**_STYLE, "svg.fonttype": "none", "svg.hashsalt": "discretegauss"}
    with matplotlib.style.context(["default", style]):
        figure = Figure(figsize=inches, dpi=dots_per_inch, layout="constrained")
        canvas: Any = FigureCanvasAgg(figure)
        axes = figure.subplots(1, panels, squeeze=False, width_ratios=widths)[0]
        draw(figure, axes[0] if panels == 1 else tuple(axes))
        buffer = BytesIO()
        canvas.print_figure(buffer, format=format, dpi=dots_per_inch, metadata=_DATES[format])
    return buffer.getvalue()


def finish(axes: Any, title: str, x: str, y: str, *, legend_at: str = "lower left") -> None:
    """Give a panel its title, the names of its axes and a legend."""
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.legend(loc=legend_at)


def legend_above(axes: Any, title: str) -> None:
    """Put the title, and the legend below it, above the axes, where it hides no row."""
    axes.set_title(title, pad=20)
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "borderaxespad": 0}
    axes.legend(ncols=2, frameon=False, **above)
