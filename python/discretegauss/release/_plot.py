"""Pictures of a release. They show noisy counts with their error, and no true count."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from .._inputs.decimal_text import rounded_up
from .._inputs.messages import number_of, printable
from ..errors import OutputError
from ._chunks import Chunk
from ._report import PlanRelease, Release, budget_text, law_and_budget, name_of

_MOST_ROWS = 4096
"""The most rows in memory. A longer table is thinned to every second, fourth, eighth ... row."""

_MOST_COLUMNS = 6
"""The most columns of counts that are drawn, each with its own axes."""

_WITH_NAMES = 60
"""The most rows that are drawn with their names. More rows are drawn in order of their counts."""

_LONGEST_NAME = 36
_MOST_CELLS = 4
"""The most cells in the name of a row."""

_LARGEST = 10**300
"""Larger counts are not drawn."""

_LINEAR_UP_TO = 50
"""If a count is larger than this many error bars, the axis is logarithmic to keep them visible."""

_ENDINGS = {".png", ".pdf", ".svg"}


def require_plot(path: Path) -> None:
    """Raise an error if the ending names no format, or matplotlib is not installed."""
    if path.suffix.lower() not in _ENDINGS:
        raise OutputError(f"{path} must end in .png, .pdf or .svg to hold a plot")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError("a plot needs matplotlib: pip install matplotlib") from None


class Picture:
    """Collects noisy counts of each table while they are written, and draws them.

    It is a .png, .pdf or .svg. `of_plan` shows the sizes of the counts of several tables, instead
    of one table's counts.
    """

    def __init__(self, ending: str, *, of_plan: bool) -> None:
        self._ending, self._of_plan = ending, of_plan
        self.tables: list[_PlottedRows] = []

    def next_table(self, release: Release, others: Sequence[str]) -> _PlottedRows:
        """Return the collector of the next table's counts; ``others`` are the columns of names."""
        columns = release.columns if self._of_plan else release.columns[:_MOST_COLUMNS]
        self.tables.append(_PlottedRows(release, columns, others))
        return self.tables[-1]

    def drawn(self, release: PlanRelease) -> bytes:
        """Return the picture's file."""
        from ..plots.look import render

        draw: Callable[[Any, Sequence[Any]], None]
        if self._of_plan:
            draw, n_panels = partial(_draw_plan, tables=self.tables, release=release), 2
            inches = (11.0, 2.2 + 0.55 * len(self.tables))
        else:
            table = self.tables[0]
            n_panels = len(table.columns)
            if table.n_seen <= _WITH_NAMES:
                draw = partial(_draw_rows, table=table)
                inches = (3.0 + 3.2 * n_panels, 1.7 + 0.2 * table.n_seen)
            else:
                draw, inches = partial(_draw_sorted, table=table), (1.2 + 4.4 * n_panels, 4.6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about glyphs that no font has
            return render(
                lambda figure, axes: draw(figure, axes if n_panels > 1 else (axes,)),
                panels=n_panels,
                inches=inches,
                format=cast("Literal['png', 'svg', 'pdf']", self._ending.lower()[1:]),
            )


class _PlottedRows:
    """The noisy counts of a table as floats, evenly thinned if it is long. NaN is not drawn.

    `columns` of counts are drawn, and `others` name a row. `names` has the names of the rows, if
    there are few. `n_seen` rows were added. Every `stride`-th of them is in memory, beginning with
    the first.
    """

    def __init__(self, release: Release, columns: Sequence[str], others: Sequence[str]) -> None:
        self.release, self.columns, self.others = release, columns, others
        self.names: list[str] = []
        self._parts: list[NDArray[Any]] = []
        self._n_rows = 0
        self.n_seen = 0
        self.stride = 1

    def add(self, chunk: Chunk, noisy: list[NDArray[Any]]) -> None:
        """Take some of the next rows."""
        some = slice(-self.n_seen % self.stride, None, self.stride)
        self.n_seen += chunk.n_rows
        if self.n_seen <= _WITH_NAMES:
            self.names += [_row_name(cells) for cells in chunk.other_cells()]
        columns = []
        for sums, cells in zip(noisy[: len(self.columns)], chunk.cells, strict=False):
            floats = np.array([_as_float(x) for x in sums[some].tolist()], np.float64)
            if cells.nulls is not None:
                floats[cells.nulls[some]] = np.nan
            columns.append(floats)
        self._parts.append(np.column_stack(columns))
        self._n_rows += len(columns[0])
        while self._n_rows > _MOST_ROWS:
            every_second = self.rows[::2]
            self._parts, self._n_rows = [every_second], len(every_second)
            self.stride *= 2

    @property
    def rows(self) -> NDArray[Any]:
        """The rows in memory, an array of rows by columns."""
        return np.concatenate(self._parts)


def _draw_rows(figure: Any, panels: Sequence[Any], *, table: _PlottedRows) -> None:
    """Draw each row as a dot, with an error bar and its name."""
    counts, bound = table.rows, _as_float(table.release.bound95)
    row = np.arange(len(counts))
    for ax, name, values in zip(panels, table.columns, counts.T, strict=True):
        ax.errorbar(values, row, xerr=bound, fmt="o", ms=5, capsize=3, lw=1.4, color="C0")
        ax.set_xlabel(f"{_name(name)}\nnoisy count")
        ax.locator_params(axis="x", nbins=6)
        ax.set_ylim(len(row) - 0.5, -0.5)
        ax.set_yticks(row, table.names if table.others else row + 1)
        ax.tick_params(axis="y", labelleft=ax is panels[0])
    panels[0].set_ylabel(_row_name(table.others) if table.others else "row")
    figure.suptitle(_title(table), fontsize="medium")


def _draw_sorted(figure: Any, panels: Sequence[Any], *, table: _PlottedRows) -> None:
    """Draw the rows in order of their noisy counts; their order in the table means nothing."""
    counts, bound = np.sort(table.rows, axis=0), _as_float(table.release.bound95)
    percent = 100 * (np.arange(len(counts)) + 0.5) / len(counts)
    for ax, name, values in zip(panels, table.columns, counts.T, strict=True):
        ax.fill_between(percent, values - bound, values + bound, color="C0", alpha=0.35, lw=0)
        ax.plot(percent, values, color="C0", lw=1.6)
        ax.axhline(0, color="0.35", lw=1)
        if np.nanmax(np.abs(values), initial=0) > _LINEAR_UP_TO * bound:
            ax.set_yscale("symlog", linthresh=10 ** np.ceil(np.log10(max(bound, 1.0))))
        ax.set_xlim(0, 100)
        ax.set_ylabel(f"{_name(name)}\nnoisy count")
    figure.supxlabel(f"rows from the smallest count to the largest, % of {table.n_seen:,}")
    figure.suptitle(_title(table), fontsize="medium")


def _title(table: _PlottedRows) -> str:
    bound = rounded_up(Fraction(table.release.bound95))
    law = law_and_budget(table.release)
    left_out = []
    if table.stride > 1:
        left_out.append(f"1 row in {table.stride} is drawn")
    if len(table.columns) < len(table.release.columns):
        n_all = len(table.release.columns)
        left_out.append(f"the first {len(table.columns)} of {n_all} columns of counts")
    text = f"noisy counts ± {bound}, the 95 % interval of the noise\n{law}\n{'; '.join(left_out)}"
    return text.rstrip()


def _draw_plan(
    figure: Any, panels: Sequence[Any], *, tables: Sequence[_PlottedRows], release: PlanRelease
) -> None:
    """Draw the sizes of each table's counts, and their error."""
    left, right = panels
    sizes = [np.abs(one.rows[~np.isnan(one.rows)]) for one in tables]
    errors = [min(float(min(one.bound95, int(_LARGEST))), _LARGEST) for one in release.tables]
    for i, (size, error) in enumerate(zip(sizes, errors, strict=True)):
        median = _box(left, i, size)
        (line,) = left.plot([error, error], [i - 0.35, i + 0.35], color="C1", lw=3)
        if i == 0:
            median.set_label("middle 90 % (line), 50 % (bar), median of the counts")
            line.set_label("95 % of the noise is at most this")
        with np.errstate(divide="ignore", over="ignore"):
            _box(right, i, np.minimum(100 * error / np.maximum(size, 0.5), _LARGEST))
    left.set_xscale("symlog", linthresh=1)
    left.set_xlim(0, max(20, left.get_xlim()[1]))  # room for some ticks if all counts are small
    left.set_xlabel("size of the noisy counts")
    right.set_xscale("log" if min(errors) else "symlog")
    right.set_xlabel("95 % error of a count, in % of it")
    right.axvline(100, color="0.35", lw=1.4, ls="--", label="error as large as the count")
    names = [f"{_name(one.out.name)}\n{number_of(one.rows, 'row')}" for one in release.tables]
    for ax in panels:
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.grid(visible=False, axis="y")
    right.tick_params(axis="y", labelleft=False)
    law = name_of(release.tables[0])
    title = f"one budget over {number_of(len(names), 'table')}, {law} noise"
    figure.suptitle(f"{title}\n{budget_text(release.cost)}", fontsize="medium")
    figure.legend(loc="outside lower center", ncols=3)


def _name(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name for matplotlib: on one line, not too long, and never a formula."""
    text = printable(text)
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return text.replace("$", r"\$")


def _row_name(cells: Sequence[str]) -> str:
    """Return the name of a row: its first cells, shortened so that all of them fit."""
    first_cells = cells[:_MOST_CELLS]
    names = [_name(cell, _LONGEST_NAME // len(first_cells)) for cell in first_cells]
    return ", ".join(names + ["…"] * (len(cells) > _MOST_CELLS))


def _as_float(count: int) -> float:
    return float(count) if abs(count) < _LARGEST else np.nan


def _box(ax: Any, place: int, values: NDArray[Any]) -> Any:
    """Draw the middle 90 % and 50 % of the values; draw their median and return it."""
    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    low, first, middle, third, high = np.quantile(values if values.size else [np.nan], shares)
    ax.plot([low, high], [place, place], color="C0", lw=1.4)
    ax.plot([first, third], [place, place], color="C0", lw=9, alpha=0.4, solid_capstyle="butt")
    return ax.plot([middle], [place], "o", color="C0", ms=6)[0]
