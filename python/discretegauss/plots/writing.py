"""Compute, draw and write all figures."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .._inputs.paths import named_path
from .._system.atomic_file import atomic_write
from .._system.folders import folder_made
from ..utility.compare import QueriesComparison
from ._epsilon_delta import draw_curves
from ._queries import MARKED_QUERIES, comparisons, draw_queries
from ._tails import draw_tails
from ._variance import draw_variance
from .look import render

Format = Literal["png", "svg"]


class Figures(NamedTuple):
    """What was written, and the numbers of the paper's comparison."""

    files: tuple[Path, ...]
    comparison: QueriesComparison
    """For 100 queries, as marked in queries.png."""


def write_figures(
    folder: str | os.PathLike[str],
    *,
    format: Format = "png",  # noqa: A002  # as matplotlib's savefig
) -> Figures:
    """Draw the figures of arXiv 2004.00010 and write them; PNG files have 1800 x 810 pixels.

    Parameters
    ----------
    folder : path
        Where to; made if it does not exist. After an error it is removed if it was made and is
        empty. Files of these names are replaced: variance.png, tails.png, epsilon_delta.png,
        queries.png; or .svg.
    format : {"png", "svg"}, optional
        Of the files.

    Returns
    -------
    Figures
        With ``files`` and ``comparison``.

    Raises
    ------
    ImportError
        If matplotlib is not installed; nothing is written.
    ValueError
        If the name is empty, or has a NUL character, or the format is another.
    OSError
        If the folder cannot be made or written to. Every file is whole or as it was before.

    Examples
    --------
    ``write_figures("figures").comparison.ratio_tight()`` is 1.944; the files are in ``figures``.
    """
    _render(lambda figure, axes: None, format)  # or says what is wrong, before anything is made
    into = named_path(os.fsdecode(folder), "folder", "a folder")
    with folder_made(into):  # before the work, so that a wrong name shows at once
        found = comparisons()
        draws: dict[str, Callable[[Any, Any], None]] = {
            "variance": draw_variance,
            "tails": draw_tails,
            "epsilon_delta": draw_curves,
            "queries": partial(draw_queries, found=found),
        }
        pictures = {f"{name}.{format}": _render(draw, format) for name, draw in draws.items()}
        for name, data in pictures.items():
            with atomic_write(into / name, replace=True) as write:
                write(data)
    marked = next(one for one in found if one.queries == MARKED_QUERIES)
    return Figures(tuple(into / name for name in pictures), marked)


def _render(draw: Callable[[Any, Any], None], format: Format) -> bytes:  # noqa: A002
    return render(draw, panels=2, format=format)
