"""A picture of a release: noisy counts and how far the true ones may be. It holds no true count."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OutputError
from ._report import Release

__all__ = ["Picture", "SomeRows", "picture_file"]

_MOST_ROWS = 4096
"""That are kept; of a longer table every second, fourth, eighth ... row."""

_MOST_COLUMNS = 8
"""The first of them, where there are more: each has axes of its own."""

_WITH_BARS = 60
"""Up to so many rows each count has an error bar; more are a band."""

_LARGEST = 10**300
"""Counts from here on are not drawn."""

_ENDINGS = {".png", ".pdf", ".svg"}


class Picture:
    """Collects noisy counts while they are written, and draws them.

    Parameters
    ----------
    path : Path
        Where it will be; its ending says the format.
    release : Release
        Whose noise has the error bars.
    """

    def __init__(self, path: Path, release: Release) -> None:
        self._ending, self._release = path.suffix.lower(), release
        self._columns = release.columns[:_MOST_COLUMNS]
        self._some = SomeRows()

    @staticmethod
    def require(path: Path) -> None:
        """Raise an error if the ending says no format, or matplotlib is not there."""
        if path.suffix.lower() not in _ENDINGS:
            raise OutputError(f"{path}: a plot is written as .png, .pdf or .svg")
        try:
            import matplotlib.figure  # noqa: F401  # it is there
        except ImportError:
            raise ImportError("a plot needs matplotlib: pip install matplotlib") from None

    def add(self, noisy: NDArray[Any]) -> None:
        """Keep some of the next rows."""
        self._some.add(noisy[:, :_MOST_COLUMNS])

    def drawn(self) -> bytes:
        """Return the picture's file."""
        from matplotlib.figure import Figure

        counts, stride = self._some.rows, self._some.stride
        columns, bound = self._columns, _as_float(self._release.bound95)
        row = np.arange(len(counts)) * stride + 1
        figure = Figure((8, 1 + 2.4 * len(columns)), layout="constrained")
        axes = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
        for ax, name, values in zip(axes, columns, counts.T, strict=True):
            if len(row) <= _WITH_BARS:
                ax.errorbar(row, values, yerr=bound, fmt="o", ms=3, capsize=2, lw=1)
            else:
                ax.fill_between(row, values - bound, values + bound, alpha=0.3, lw=0)
                ax.plot(row, values, lw=0.6)
            ax.set_ylabel(name.replace("$", r"\$"))
        some = "" if stride == 1 else f"; every {stride}th row"
        axes[0].set_title(f"released counts, 95 % interval of the noise: ± {bound:g}{some}")
        axes[-1].set_xlabel("row")
        return picture_file(figure, self._ending)


class SomeRows:
    """Rows of noisy counts, as floats: all, or of a longer table evenly some."""

    def __init__(self) -> None:
        self._kept: list[NDArray[Any]] = []
        self._n_seen, self._n_kept = 0, 0
        self.stride = 1
        """One of so many rows is kept, the first among them."""

    def add(self, noisy: NDArray[Any]) -> None:
        """Keep some of the next rows."""
        some = noisy[-self._n_seen % self.stride :: self.stride]
        self._n_seen += len(noisy)
        floats = [[_as_float(count) for count in row] for row in some.tolist()]
        self._kept.append(np.array(floats).reshape(some.shape))
        self._n_kept += len(some)
        while self._n_kept > _MOST_ROWS:
            together = self.rows[::2]
            self._kept, self._n_kept = [together], len(together)
            self.stride *= 2

    @property
    def rows(self) -> NDArray[Any]:
        """Those that are kept, by columns."""
        return np.concatenate(self._kept)


def picture_file(figure: Any, ending: str) -> bytes:
    """Return the figure as the content of a file."""
    file = io.BytesIO()
    figure.savefig(file, format=ending[1:], dpi=150)
    return file.getvalue()


def _as_float(count: int) -> float:
    return float(count) if abs(count) < _LARGEST else np.nan
