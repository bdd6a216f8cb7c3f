"""A picture of a plan: counts and error, level by level. It shows what is published alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._plan_report import PlanRelease
from ._plot import SomeRows, picture_file

__all__ = ["PlanPicture"]

_LARGEST = 1e300
_PER_TABLE = 2.2
"""Inches."""


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

    def next_table(self) -> SomeRows:
        """Return what is to be shown the counts of the next table."""
        self._tables.append(SomeRows())
        return self._tables[-1]

    def drawn(self, done: PlanRelease) -> bytes:
        """Return the picture's file: of each table the sizes of its counts, and their error."""
        from matplotlib.figure import Figure

        n = len(self._tables)
        figure = Figure((max(6.0, 1 + _PER_TABLE * n), 6.5), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True)
        sizes = [np.nan_to_num(np.abs(one.rows.ravel()), nan=_LARGEST) for one in self._tables]
        errors = [min(float(min(one.bound95, int(_LARGEST))), _LARGEST) for one in done.tables]
        for i, (size, error) in enumerate(zip(sizes, errors, strict=True)):
            _box(top, i, size)
            bar = top.plot([i - 0.35, i + 0.35], [error, error], color="C3", lw=2)
            bar[0].set_label("" if i else "95 % of the noise is below this")
            with np.errstate(divide="ignore", over="ignore"):
                _box(bottom, i, np.minimum(100 * error / np.maximum(size, 0.5), _LARGEST))
        top.set_yscale("symlog", linthresh=1)
        top.set_ylim(bottom=0)
        bottom.set_yscale("log" if min(errors) else "symlog")
        for ax in (top, bottom):
            ax.grid(axis="y", alpha=0.3)
        top.set_ylabel("size of the noisy counts")
        bottom.set_ylabel("95 % error of a count, in %")
        bottom.axhline(100, color="grey", lw=1, ls="--")
        top.legend(fontsize="small")
        names = [f"{one.out.name}\n{one.rows:,} rows" for one in done.tables]
        bottom.set_xticks(range(n), [name.replace("$", r"\$") for name in names], fontsize="small")
        bottom.set_xlim(-0.6, n - 0.4)
        budget = f"epsilon = {done.epsilon:.3g}, delta = {float(done.delta):.0e}"
        top.set_title(f"one budget over {n} table{'s' * (n > 1)}: {budget}", fontsize="medium")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of glyphs that no font has
            return picture_file(figure, self._ending)


def _box(ax: Any, place: int, values: NDArray[Any]) -> None:
    """Draw where 90 %, 50 % of the values lie, and their median."""
    low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    label = "" if place else "middle 90 % (line), 50 % (bar), median"
    ax.plot([place, place], [low, high], color="C0", lw=1)
    ax.plot([place, place], [first, third], color="C0", lw=9, alpha=0.4, solid_capstyle="butt")
    ax.plot([place], [middle], "o", color="C0", ms=5, label=label)
