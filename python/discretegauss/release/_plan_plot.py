"""A picture of a plan: counts and error, table by table. It shows what is published alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import number_of
from ._plot import SomeRows, name_in_picture, rendered
from ._report import PlanRelease, Release, budget_text

_LARGEST = 1e300


class PlanPicture:
    """Collects noisy counts of each table while they are written, and draws them.

    Parameters
    ----------
    ending : str
        The format: .png, .pdf or .svg.
    """

    def __init__(self, ending: str) -> None:
        self._ending = ending
        self._tables: list[SomeRows] = []

    def next_table(self, _release: Release, _others: Sequence[str]) -> SomeRows:
        """Return what is to be shown the counts of the next table."""
        self._tables.append(SomeRows())
        return self._tables[-1]

    def drawn(self, done: PlanRelease) -> bytes:
        """Return the picture's file: of each table the sizes of its counts, and their error."""
        n = len(self._tables)
        return rendered(
            lambda figure, panels: self._draw(figure, panels, done),
            2,
            (11.0, 2.2 + 0.55 * n),
            self._ending,
        )

    def _draw(self, figure: Any, panels: Sequence[Any], done: PlanRelease) -> None:
        left, right = panels
        sizes = [np.nan_to_num(np.abs(one.rows.ravel()), nan=_LARGEST) for one in self._tables]
        errors = [min(float(min(one.bound95, int(_LARGEST))), _LARGEST) for one in done.tables]
        for i, (size, error) in enumerate(zip(sizes, errors, strict=True)):
            median = _box(left, i, size)
            (line,) = left.plot([error, error], [i - 0.35, i + 0.35], color="C1", lw=3)
            if i == 0:
                median.set_label("middle 90 % (line), 50 % (bar), median of the counts")
                line.set_label("95 % of the noise is at most this")
            with np.errstate(divide="ignore", over="ignore"):
                _box(right, i, np.minimum(100 * error / np.maximum(size, 0.5), _LARGEST))
        left.set_xscale("symlog", linthresh=1)
        left.set_xlim(0, max(20, left.get_xlim()[1]))  # some ticks, however small the counts
        left.set_xlabel("size of the noisy counts")
        right.set_xscale("log" if min(errors) else "symlog")
        right.set_xlabel("95 % error of a count, in % of it")
        right.axvline(100, color="0.35", lw=1.4, ls="--", label="error as large as the count")
        names = [
            f"{name_in_picture(one.out.name)}\n{number_of(one.rows, 'row')}" for one in done.tables
        ]
        for ax in panels:
            ax.set_yticks(range(len(names)), names)
            ax.set_ylim(len(names) - 0.4, -0.6)
            ax.grid(visible=False, axis="y")
        right.tick_params(axis="y", labelleft=False)
        tables = number_of(len(names), "table")
        title = f"one budget over {tables}, discrete Gaussian noise\n{budget_text(done.cost)}"
        figure.suptitle(title, fontsize="medium")
        figure.legend(loc="outside lower center", ncols=3)


def _box(ax: Any, place: int, values: NDArray[Any]) -> Any:
    """Draw where 90 %, 50 % of the values lie, and their median, which is returned."""
    low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    ax.plot([low, high], [place, place], color="C0", lw=1.4)
    ax.plot([first, third], [place, place], color="C0", lw=9, alpha=0.4, solid_capstyle="butt")
    return ax.plot([middle], [place], "o", color="C0", ms=6)[0]
