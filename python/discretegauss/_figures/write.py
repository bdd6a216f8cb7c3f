"""Compute, draw and write all figures."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .._inputs.paths import named_path
from .._system.atomic_file import atomic_write
from ..utility.compare import QueriesComparison
from .curves import draw_curves
from .drawing import png
from .queries import MARKED_QUERIES, comparisons, draw_queries
from .tails import draw_tails
from .variance import draw_variance

__all__ = ["Figures", "write_figures"]

_EXTRA = "figures need matplotlib: pip install matplotlib"


class Figures(NamedTuple):
    """What was written, and the numbers of the paper's comparison."""

    files: tuple[Path, ...]
    comparison: QueriesComparison
    """For 100 queries, as marked in queries.png."""


def write_figures(folder: str | os.PathLike[str]) -> Figures:
    """Draw the figures of arXiv 2004.00010 and write them as PNG files, 1800 x 810 pixels each.

    Parameters
    ----------
    folder : path
        Where to; made if it does not exist. Files of these names are replaced: variance.png,
        tails.png, epsilon_delta.png, queries.png.

    Returns
    -------
    Figures
        With ``files`` and ``comparison``.

    Raises
    ------
    ImportError
        If matplotlib is not installed; nothing is written.
    ValueError
        If the name is empty, or has a NUL character.
    OSError
        If the folder cannot be made or written to. Every file is whole or as it was before.

    Examples
    --------
    ``write_figures("figures").comparison.ratio_tight()`` is 1.944; the files are in ``figures``.
    """
    try:
        import matplotlib.backends.backend_agg  # noqa: F401
    except ImportError as error:
        raise ImportError(_EXTRA) from error
    into = named_path(os.fsdecode(folder), "folder", "a folder")
    into.mkdir(parents=True, exist_ok=True)  # before the work, so that a wrong name shows at once
    found = comparisons()
    pictures = {
        "variance.png": png(draw_variance),
        "tails.png": png(draw_tails),
        "epsilon_delta.png": png(draw_curves),
        "queries.png": png(partial(draw_queries, found=found)),
    }
    for name, data in pictures.items():
        with atomic_write(into / name, replace=True) as write:
            write(data)
    marked = next(one for one in found if one.queries == MARKED_QUERIES)
    return Figures(tuple(into / name for name in pictures), marked)
