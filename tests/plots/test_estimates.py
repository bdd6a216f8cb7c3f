"""Pictures of what noisy counts say: drawn into the axes given, with the numbers they mean."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss import plots
from discretegauss.errors import ParameterTypeError, ParameterValueError

pytest.importorskip("matplotlib")

LAW = dg.DiscreteGaussian(5)
STATES: dict[str, list[Any]] = {"state": ["N", "S"], "n": [1298, 5533]}
TOWNS: dict[str, list[Any]] = {"state": ["N", "N", "S"], "town": ["a", "b", "d"], "n": [9, 3, 70]}


def axes() -> Any:
    from matplotlib.figure import Figure

    return Figure().subplots()


def bars(ax: Any, which: int = 0) -> list[tuple[float, float]]:
    """Return the two ends of each error bar of a series."""
    (lines,) = ax.containers[which].lines[2]
    return [(segment[0][0], segment[1][0]) for segment in lines.get_segments()]


def names(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_intervals_are_those_of_estimate() -> None:
    """Of dicts, columns and frames, whose other columns name the rows."""
    pd = pytest.importorskip("pandas")
    ax = axes()
    assert plots.interval(ax, {"Aix": 7, "Bex": -9}, LAW, at_least=0) is ax
    assert bars(ax) == [(3, 11), (-9, 0)]  # of a count below, up to what is possible
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
    """Six digits, rounded down; a float is read as it is written."""
    plots.interval(ax := axes(), [5, 6], LAW, confidence)
    assert ax.get_title().startswith(f"{said} % intervals")


def test_what_is_missing_has_no_mark() -> None:
    """Whatever stands under a mask."""
    ax = axes()
    plots.interval(ax, np.ma.array([100, 777, 5], mask=[False, True, False]), LAW)
    points = ax.containers[0][0].get_xdata()
    np.testing.assert_array_equal(points, [100, np.nan, 5])


def test_a_margin_shows_both_errors() -> None:
    """The noise's, and that of the estimate, around the new counts."""
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
    """In order of size, without what is missing; of tables, a band of the new errors."""
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
    """One line for each number of groups."""
    plots.keep_groups(ax := axes(), 1, "1e-6", (1, 16))
    one, several, _half = ax.get_lines()
    for line, groups in ((one, 1), (several, 16)):
        n, p = line.get_data()
        rule = dg.selection.keep_rule(1, "1e-6", groups)
        assert p.tolist() == rule.keep_probability(n).tolist()
        assert type(rule.law).__name__ in line.get_label()
    with pytest.raises(ParameterTypeError, match="integers"):
        dg.selection.keep_rule(1, "1e-6").keep_probability(1.5)
