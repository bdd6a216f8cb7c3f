"""`discretegauss.plots`: functions that draw into axes of the caller's, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import Command

import discretegauss as dg
from discretegauss import plots, utility
from discretegauss.errors import ParameterValueError
from discretegauss.plots import look

pytest.importorskip("matplotlib")


def axes() -> Any:
    from matplotlib.figure import Figure

    return Figure().subplots()


def lines(ax: Any) -> dict[str, tuple[list[float], list[float]]]:
    return {
        str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata()))
        for line in ax.get_lines()
    }


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: plots.probabilities(ax, sigma2=4, last=2),
        lambda ax: plots.tails(ax, sigma2=4, last=3),
        lambda ax: plots.variance(ax, first=1, last="3/2"),
        lambda ax: plots.variance(ax, first=1, last=2, relative=True),
        lambda ax: plots.epsilon_delta(ax, sigma2=4, last=2),
        lambda ax: plots.queries(ax, epsilon=2, delta="1e-5", numbers=[1, 4]),
        lambda ax: plots.queries_ratio(ax, numbers=[1, 4], mark=None),
        lambda ax: plots.before_after(ax, [5, 7], [4, 9]),
    ],
)
def test_a_function_draws_into_the_axes_that_it_is_given(draw: Callable[[Any], Any]) -> None:
    ax = axes()
    assert id(draw(ax)) == id(ax)
    assert ax.get_title()
    assert len(ax.get_legend().get_texts()) >= 2


def test_parameters_are_those_of_what_is_drawn() -> None:
    noise, ax = utility.compare_noise(4), axes()
    plots.tails(ax, sigma2=4, last=3)
    x, y = lines(ax)["discrete Gaussian"]
    assert x == [0, 1, 2, 3]
    assert y == [noise.tails(k)["discrete Gaussian"] for k in range(4)]
    ax = axes()
    plots.queries_ratio(ax, epsilon=2, delta="1e-5", numbers=[2, 4], mark=4)
    ratio = utility.compare_queries(epsilon=2, delta="1e-5", queries=4).ratio_tight()
    assert lines(ax)["over the Gaussian, tight"][1][1] == ratio
    assert f"k = 4: {ratio:.3f}" in [text.get_text() for text in ax.texts]


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
    """However many there are; nor does the legend lie on a count."""
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
        (lambda ax: plots.variance(ax, first=2, last=1), "last must be larger than first, got 1"),
        (lambda ax: plots.tails(ax, last=0), "last must be at least 1, got 0"),
        (lambda ax: plots.queries_ratio(ax, numbers=[1, 2]), "mark must be one of numbers"),
        (lambda ax: plots.before_after(ax, [1, 2], [1]), "after must be as many as before, 2"),
        (lambda ax: plots.before_after(ax, [1], [2], labels=[]), "labels must be as many"),
        (lambda ax: plots.before_after(ax, [1], ["x"]), "after must be finite numbers.* index 0$"),
        (lambda ax: look.render(lambda *_: None, format="gif"), "'png', 'svg' or 'pdf'"),  # type: ignore[arg-type]
        (lambda ax: look.render(lambda *_: None, format=[]), "got an object of type list"),  # type: ignore[arg-type]
    ],
)
def test_what_is_refused(draw: Callable[[Any], object], words: str) -> None:
    """No message shows a count."""
    with pytest.raises(ParameterValueError, match=words):
        draw(axes())


def test_svg_files_are_the_same_for_the_same_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No date and no random name in them; and the figures of the paper can be written so, too."""
    from discretegauss.plots import writing as _write

    def draw(_figure: Any, ax: Any) -> None:
        plots.before_after(ax, [1], [2])

    once = look.render(draw, format="svg")
    assert once == look.render(draw, format="svg")
    assert b"<svg" in once
    assert b"before (true counts)" in once
    few = [utility.compare_queries(epsilon=1, delta="1e-6", queries=100)]
    monkeypatch.setattr(_write, "comparisons", lambda: few)
    monkeypatch.setattr(_write, "render", lambda *_, **how: how["format"].encode())
    done = Command(capsys)("figures", "--out", tmp_path / "new", "--format", "svg")
    assert done.code == 0
    assert len(list((tmp_path / "new").glob("*.svg"))) == 4
    found = plots.write_figures(tmp_path, format="svg")
    assert [path.name for path in found.files] == [
        "variance.svg",
        "tails.svg",
        "epsilon_delta.svg",
        "queries.svg",
    ]
    assert {path.read_bytes() for path in found.files} == {b"svg"}
