"""A picture of a plan: error against level. It is made from what is published alone."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from ._formats import Format, opened_table
from ._plan_report import PlanRelease

__all__ = ["plan_picture"]

_LARGEST = 10**300
"""Counts from here on are drawn there."""


def plan_picture(done: PlanRelease, formats: Sequence[Format], ending: str) -> bytes:
    """Return a picture's file: for each table its 95 % error, and the size of its noisy counts.

    A table whose bar of counts reaches below its error has counts that the noise hides.
    """
    from matplotlib.figure import Figure

    figure = Figure((8, 4.5), layout="constrained")
    ax = figure.subplots()
    for i, (release, form) in enumerate(zip(done.tables, formats, strict=True)):
        sizes = []
        with opened_table(release.out, release.columns, form, form) as table:
            for chunk in table.chunks():
                sizes += [min(abs(count), _LARGEST) for count in chunk.counts.ravel().tolist()]
        low, middle, high = np.quantile(np.array(sizes, float), [0.1, 0.5, 0.9])
        ax.plot([i, i], [low, high], lw=8, alpha=0.3, color="C0", label="" if i else _COUNTS)
        ax.plot([i], [middle], "o", color="C0", label="" if i else "their median")
        error = float(min(release.bound95, _LARGEST))
        ax.plot([i - 0.3, i + 0.3], [error, error], color="C3", label="" if i else _ERROR)
    names = [f"{one.out.name}\n{one.rows} rows" for one in done.tables]
    ax.set_xticks(range(len(names)), [name.replace("$", r"\$") for name in names])
    ax.set_yscale("symlog", linthresh=1)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("count")
    ax.set_title(f"one budget, rho = {float(done.rho):g}, over {len(names)} tables")
    ax.legend()
    file = io.BytesIO()
    figure.savefig(file, format=ending, dpi=150)
    return file.getvalue()


_COUNTS = "size of noisy counts, 10 % to 90 %"
_ERROR = "95 % of the noise is below"
