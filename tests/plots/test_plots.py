"""`discretegauss.plots` draws into the caller's axes, and refuses wrong input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from programs import printed

import discretegauss as dg
from discretegauss import plots
from discretegauss.errors import ParameterValueError
from discretegauss.plots import look

pytest.importorskip("matplotlib")


def axes() -> Any:
    from matplotlib.figure import Figure

    return Figure().subplots()


def test_a_function_draws_into_the_axes_that_it_is_given() -> None:
    ax = axes()
    assert plots.before_after(ax, [5, 7], [4, 9]) is ax
    assert ax.get_title()
    assert len(ax.get_legend().get_texts()) == 2


def test_before_and_after_has_the_law_as_error_bars() -> None:
    law = dg.DiscreteGaussian(4)
    ax = axes()
    plots.before_after(ax, [50, 70], [48, 75], labels=["north", "south"], law=law)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["north", "south"]
    low, high = law.interval(0.95)
    (segments,) = [bars.get_segments() for bars in ax.collections]
    ends = [[float(x) for x, _ in segment] for segment in segments]
    assert ends == [[48 - high, 48 - low], [75 - high, 75 - low]]


@pytest.mark.parametrize("count", [1, 8, 50, 300])
def test_names_of_counts_do_not_touch_each_other(count: int) -> None:
    """Names do not touch for any number of counts, and the legend hides no count."""
    found: list[Any] = []

    def draw(_figure: Any, ax: Any) -> None:
        names = [f"a long name of a town {i}" for i in range(count)]
        plots.before_after(ax, range(count), range(count), labels=names)
        found.append(ax)

    look.render(draw, inches=(7, 4))
    (ax,) = found
    boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
    assert all(lower.y1 <= upper.y0 for upper, lower in pairwise(boxes))
    top = ax.transData.transform((0, 1))[1]
    assert ax.get_legend().get_window_extent().y0 > top


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (
            lambda ax: plots.before_after(ax, [1, 2], [1]),
            "after must have as many entries as before, 2",
        ),
        (
            lambda ax: plots.before_after(ax, [1], [2], labels=[]),
            "labels must have as many entries",
        ),
        (lambda ax: plots.before_after(ax, [1], ["x"]), "after must be finite numbers.* index 0$"),
        (lambda ax: look.render(lambda *_: None, format="gif"), "'png', 'svg' or 'pdf'"),  # type: ignore[arg-type]
        (lambda ax: look.render(lambda *_: None, format=[]), "got an object of type list"),  # type: ignore[arg-type]
    ],
)
def test_what_is_refused(draw: Callable[[Any], object], words: str) -> None:
    """Wrong input raises an error whose message shows no count."""
    with pytest.raises(ParameterValueError, match=words):
        draw(axes())


def test_svg_files_are_the_same_for_the_same_figure() -> None:
    """An SVG file has no date and no random name."""

    def draw(_figure: Any, ax: Any) -> None:
        plots.before_after(ax, [1], [2])

    once = look.render(draw, format="svg")
    assert once == look.render(draw, format="svg")
    assert b"<svg" in once
    assert b"before (true counts)" in once


#: A program that draws a picture while the caller has set a style of matplotlib.
RED = """
import sys
import matplotlib
matplotlib.rcParams["figure.facecolor"] = "red"
settings = lambda: dict(dict.items(matplotlib.rcParams))  # as stored: asking finds a backend
before = settings()
from discretegauss.plots.look import render
open(sys.argv[1], "wb").write(render(lambda figure, ax: None, panels=2))
print(settings() == before, "matplotlib.pyplot" in sys.modules)
"""


def test_matplotlib_is_left_as_it_was(tmp_path: Path) -> None:
    """The caller's style does not show in a picture and stays set; pyplot is not imported."""
    picture = tmp_path / "picture.png"
    assert printed(sys.executable, "-c", RED, picture) == "True False\n"
    pixels = pytest.importorskip("matplotlib.image").imread(picture)
    assert pixels.shape == (810, 1800, 4)
    assert pixels[0, 0].tolist() == [1, 1, 1, 1]


def test_without_matplotlib_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.style", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"^figures need matplotlib: pip install matplotlib$"):
        look.render(lambda *_: None)
