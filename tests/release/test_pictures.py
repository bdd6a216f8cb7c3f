"""Pictures of releases: the artists that they draw, and names that can be read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import write_plan

from discretegauss.plots import look
from discretegauss.release import Release, release_plan, release_table

pytest.importorskip("matplotlib")


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list that gets each figure once it is drawn."""
    drawn: list[Any] = []
    render = look.render

    def keep(draw: Callable[[Any, Any], object], **how: Any) -> bytes:
        def and_keep(figure: Any, axes: Any) -> None:
            draw(figure, axes)
            drawn.append(figure)

        return render(and_keep, **how)

    monkeypatch.setattr(look, "render", keep)
    return drawn


def released(folder: Path, lines: list[str], *columns: str, rho: object = 1) -> Release:
    """Release a table of these lines with a plot."""
    (folder / "t.csv").write_text("\n".join(lines))
    files = folder / "t.csv", columns or "people", folder / "o.csv"
    return release_table(*files, rho=rho, plot=folder / "p.svg")


def labels(ax: Any, axis: str = "y") -> list[str]:
    return [text.get_text() for text in getattr(ax, f"get_{axis}ticklabels")()]


def noisy_counts(folder: Path, column: int) -> list[float]:
    lines = (folder / "o.csv").read_text().splitlines()[1:]
    return [float(line.split(",")[column]) for line in lines]


def assert_can_be_read(figure: Any) -> None:
    """Require that no name on the y axis touches the next one or leaves the figure."""
    texts = [text for text in figure.axes[0].get_yticklabels() if text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    assert len(boxes) > 1
    assert all(lower.y1 <= upper.y0 or upper.y1 <= lower.y0 for upper, lower in pairwise(boxes))
    assert all(box.x0 >= 0 for box in boxes)


def test_rows_are_dots_with_error_bars_named_by_the_other_columns(
    figures: list[Any], tmp_path: Path
) -> None:
    """Each column of counts has a panel, and the title has the noise and the budget."""
    towns = ["town,people,age,children", "Ulm,120,0-9,30", "Aix,7,10-19,2", "Bern,0,0-9,0"]
    done = released(tmp_path, towns, "children", "people", rho="0.1")
    left, right = figures[0].axes
    assert labels(left) == ["Ulm, 0-9", "Aix, 10-19", "Bern, 0-9"]
    assert left.get_ylabel() == "town, age"
    assert [ax.get_xlabel() for ax in (left, right)] == [
        "people\nnoisy count",
        "children\nnoisy count",
    ]
    for ax, column in ((left, 1), (right, 3)):
        (dots,) = [line for line in ax.get_lines() if line.get_marker() == "o"]
        assert dots.get_linestyle() == "None"
        noisy = noisy_counts(tmp_path, column)
        assert list(dots.get_xdata()) == noisy
        (bars,) = ax.collections
        ends = [[float(x) for x, _ in segment] for segment in bars.get_segments()]
        assert ends == [[x - done.bound95, x + done.bound95] for x in noisy]
    first, law, budget = figures[0].get_suptitle().splitlines()
    assert first == f"noisy counts ± {done.bound95}, the 95 % interval of the noise"
    assert law == "discrete Gaussian, standard deviation 3.16228"
    rho, _, pair = budget.partition(", (epsilon, delta) = ")
    assert rho == "rho = 0.1"
    assert f"(epsilon, delta)    {pair}, by" in str(done)


@pytest.mark.parametrize("rows", [61, 5000])
def test_many_rows_stand_in_order_of_size_within_a_band(
    figures: list[Any], tmp_path: Path, rows: int
) -> None:
    """The band is twice the bound high everywhere."""
    lines = ["people", *(str(7 * i % 300) for i in range(rows))]
    done = released(tmp_path, lines, rho="0.01")
    (figure,) = figures
    (ax,) = figure.axes
    curve, zero = ax.get_lines()
    shown = sorted(noisy_counts(tmp_path, 0)[:: 2 if rows > 4096 else 1])
    assert list(curve.get_ydata()) == shown
    assert set(zero.get_ydata()) == {0}
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    heights = [np.ptp(corners[corners[:, 0] == x, 1]) for x in curve.get_xdata()[1:-1]]
    assert set(heights) == {2 * done.bound95}
    assert band.get_alpha() >= 0.3
    assert f"% of {rows:,}" in figure.get_supxlabel()
    assert ("1 row in 2 is drawn" in figure.get_suptitle()) == (rows > 4096)


def test_names_that_are_long_or_many_can_be_read(figures: list[Any], tmp_path: Path) -> None:
    cells = ["$x$ Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch", "10-19"]
    rows = [",".join([*cells, str(i), "a", "b", "c", "d"]) for i in range(60)]
    released(tmp_path, ["town,age,people,e,f,g,h", *rows])
    (figure,) = figures
    assert len(labels(figure.axes[0])) == 60
    assert max(map(len, labels(figure.axes[0]))) < 50
    assert_can_be_read(figure)


def test_columns_that_are_left_out_are_counted_in_the_title(
    figures: list[Any], tmp_path: Path
) -> None:
    """A name may have a dollar sign, and a count beyond the floats leaves a gap."""
    names = [f"c{i}$" for i in range(9)]
    released(tmp_path, [",".join(names), ",".join(str(10 ** (70 * i)) for i in range(9))], *names)
    (figure,) = figures
    assert len(figure.axes) == 6
    assert figure.get_suptitle().endswith("\nthe first 6 of 9 columns of counts")
    assert figure.axes[0].get_ylabel() == "row"
    assert labels(figure.axes[0]) == ["1"]


def test_a_plan_names_its_tables_and_rounds_epsilon_up(figures: list[Any], tmp_path: Path) -> None:
    """Each table has a mark for its noise, and says 1 row, not 1 rows."""
    (tmp_path / "a.csv").write_text("n\n5\n")
    (tmp_path / "b.csv").write_text("n\n" + "70\n" * 2000)
    tables = [{"table": f"{name}.csv", "out": f"{name}_noisy.csv"} for name in "ab"]
    done = release_plan(write_plan(tmp_path, "rho = 1", *tables), plot=tmp_path / "p.png")
    (figure,) = figures
    left, right = figure.axes
    assert labels(left) == ["a_noisy.csv\n1 row", "b_noisy.csv\n2,000 rows"]
    assert_can_be_read(figure)
    first, budget = figure.get_suptitle().splitlines()
    assert first == "one budget over 2 tables, discrete Gaussian noise"
    epsilon = budget.removeprefix("rho = 1, (epsilon, delta) = (").removesuffix(", 1e-6)")
    assert done.epsilon <= float(epsilon) < done.epsilon + 1e-4
    marked = [line for line in left.get_lines() if line.get_color() == "C1"]
    assert [set(line.get_xdata()) for line in marked] == [{done.tables[0].bound95}] * 2
    assert all(ax.get_xlabel() for ax in (left, right))
    assert len(figure.legends[0].get_texts()) == 3


@pytest.mark.parametrize("n", [2, 100])
def test_what_is_missing_is_not_drawn(figures: list[Any], tmp_path: Path, n: int) -> None:
    """A null has no dot, and leaves a gap among many counts."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"people": [None] + [10**6] * n}), tmp_path / "t.parquet")
    files = tmp_path / "t.parquet", "people", tmp_path / "o.parquet"
    release_table(*files, rho=1, plot=tmp_path / "p.svg")
    values = [
        np.asarray(line.get_ydata() if n > 60 else line.get_xdata())
        for line in figures[0].axes[0].get_lines()
    ]
    drawn = next(x for x in values if x.size == n + 1)
    assert np.isnan(drawn).sum() == 1
    assert np.nanmin(drawn) > 10**5
