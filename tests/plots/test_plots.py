"""`discretegauss.plots` draws the right numbers into the caller's axes, and refuses wrong input."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss import plots
from discretegauss.errors import ParameterTypeError, ParameterValueError
from discretegauss.plots import look

pytest.importorskip("matplotlib")

LAW = dg.DiscreteGaussian(5)
STATES: dict[str, list[Any]] = {"state": ["N", "S"], "n": [13, 71]}
TOWNS: dict[str, list[Any]] = {"state": ["N", "N", "S"], "town": ["a", "b", "d"], "n": [9, 3, 70]}


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


@pytest.mark.parametrize("count", [1, 8, 40, 300])
def test_names_of_counts_do_not_touch_each_other(count: int) -> None:
    """Names do not touch for any number of counts; the legend hides no count, and no band is empty.

    All of 40 counts have a name, and of more some.
    """
    found: list[Any] = []

    def draw(_figure: Any, ax: Any) -> None:
        names = [f"a long name of a town {i}" for i in range(count)]
        plots.before_after(ax, range(count), range(count), labels=names)
        found.append(ax)

    look.render(draw, inches=(7, 4))
    (ax,) = found
    boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
    assert all(lower.y1 <= upper.y0 for upper, lower in pairwise(boxes))
    assert (len(boxes) == count) is (count <= 40)
    assert ax.get_ylim() == (count + 0.5, 0.5)
    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


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


def test_the_callers_style_does_not_show_in_a_picture_and_stays_set() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context({"figure.facecolor": "red"}):
        before = dict(dict.items(matplotlib.rcParams))  # as stored: asking finds a backend
        picture = look.render(lambda figure, ax: None, panels=2)
        assert dict(dict.items(matplotlib.rcParams)) == before
    pixels = pytest.importorskip("matplotlib.image").imread(io.BytesIO(picture))
    assert pixels.shape == (810, 1800, 4)
    assert pixels[0, 0].tolist() == [1, 1, 1, 1]


def test_without_matplotlib_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.style", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"^figures need matplotlib: pip install matplotlib$"):
        look.render(lambda *_: None)


# --- estimates


def bars(ax: Any, which: int = 0) -> list[tuple[float, float]]:
    """Return the ends of the error bars of a series."""
    (lines,) = ax.containers[which].lines[2]
    return [(segment[0][0], segment[1][0]) for segment in lines.get_segments()]


def names(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_intervals_are_those_of_estimate() -> None:
    """Dicts, columns and frames have the same intervals; other columns of frames name the rows."""
    pd = pytest.importorskip("pandas")
    ax = axes()
    assert plots.interval(ax, {"Aix": 7, "Bex": -9}, LAW, at_least=0) is ax
    assert bars(ax) == [(3, 11), (-9, 0)]  # a count below 0 has an interval up to 0
    assert names(ax) == ["Aix", "Bex"]
    assert "each count by itself" in ax.get_title()
    frame = pd.DataFrame(TOWNS)
    plots.interval(ax := axes(), frame, LAW, 0.99, queries=3, column="n")
    low, high = dg.estimate.interval(frame, LAW, 0.99, queries=3, columns="n")
    assert bars(ax) == list(zip(low["n"], high["n"], strict=True))
    assert names(ax) == ["N a", "N b", "S d"]
    assert "3 counts at once" in ax.get_title()
    plots.interval(ax := axes(), frame.set_index("town")["n"], LAW)
    assert names(ax) == ["a", "b", "d"]
    plots.interval(ax := axes(), [5, 6], LAW, labels=["x", 2])
    assert names(ax) == ["x", "2"]
    plots.interval(ax := axes(), [5, 6], LAW)
    assert names(ax) == ["1", "2"]
    with pytest.raises(ParameterValueError, match="labels"):
        plots.interval(axes(), [5, 6], LAW, labels=["x"])


@pytest.mark.parametrize(
    ("confidence", "said"),
    [
        (0.95, "95"),
        ("0.99999996", "99.9999"),
        ("2/3", "66.6666"),
        (1 - Fraction(1, 10**20), "99.9999"),
    ],
)
def test_a_title_says_no_more_confidence_than_there_is(confidence: object, said: str) -> None:
    """The title has six digits, rounded down, of a float as it is written."""
    plots.interval(ax := axes(), [5, 6], LAW, confidence)
    assert ax.get_title().startswith(f"{said} % intervals")


def test_what_is_missing_has_no_mark() -> None:
    """A number under a mask is not drawn."""
    ax = axes()
    plots.interval(ax, np.ma.array([100, 777, 5], mask=[False, True, False]), LAW)
    points = ax.containers[0][0].get_xdata()
    np.testing.assert_array_equal(points, [100, np.nan, 5])


def test_a_margin_shows_both_errors() -> None:
    """Bars around the new counts show the error of the noise and that of the estimate."""
    states, _ = dg.estimate.consistent([STATES, TOWNS], LAW, "n")
    plots.consistent(ax := axes(), STATES, states, LAW, "n", deviations=1)
    error = np.array(states["error"])
    assert np.allclose(bars(ax, 1), np.transpose([-error, error]))
    middle = np.array(STATES["n"]) - np.array(states["n"])
    assert np.allclose(bars(ax, 0), np.transpose([middle - LAW.std(), middle + LAW.std()]))
    assert names(ax) == ["N", "S"]
    with pytest.raises(ParameterValueError, match="after"):
        plots.consistent(axes(), TOWNS, states, LAW, "n")


def test_many_counts_are_a_curve_and_a_band() -> None:
    """Counts are in order of size, without missing ones; tables have a band of the new errors."""
    counts = [*range(300), None]
    plots.interval(ax := axes(), counts[::-1], LAW, at_least=0)
    (line,) = ax.get_lines()
    assert line.get_xdata().tolist() == [*range(300)][::-1]
    (band,) = ax.collections
    ends = dg.estimate.interval([*range(300)][::-1], LAW, at_least=0)
    corners = set(map(tuple, band.get_paths()[0].vertices.tolist()))
    assert {(x, i + 0.5) for end in ends for i, x in enumerate(end)} <= corners
    assert not ax.containers
    towns = {"state": [i // 2 for i in range(200)], "town": [*range(200)], "n": [*range(200)]}
    states = {"state": [*range(100)], "n": [*range(1, 400, 4)]}
    found, _ = dg.estimate.consistent([states, towns], LAW, "n")
    plots.consistent(ax := axes(), states, found, LAW, "n", deviations=3)
    (band,) = ax.collections
    reach = band.get_datalim(ax.transData).intervalx
    assert reach == pytest.approx([-3 * found["error"][0], 3 * found["error"][0]])
    marks, *ends = ax.get_lines()
    assert marks.get_xdata() == pytest.approx(np.array(states["n"]) - found["n"])
    assert [end.get_xdata()[0] for end in ends] == pytest.approx([-3 * LAW.std(), 3 * LAW.std()])


def test_keep_probabilities_are_those_of_the_rules() -> None:
    """Each number of groups has a line with its rule's probabilities."""
    plots.keep_groups(ax := axes(), 1, "1e-6", (1, 16))
    one, several, _half = ax.get_lines()
    for line, groups in ((one, 1), (several, 16)):
        n, p = line.get_data()
        rule = dg.selection.keep_rule(1, "1e-6", groups)
        assert p.tolist() == rule.keep_probability(n).tolist()
        assert type(rule.law).__name__ in line.get_label()
    with pytest.raises(ParameterTypeError, match="integers"):
        dg.selection.keep_rule(1, "1e-6").keep_probability(1.5)
