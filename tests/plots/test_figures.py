"""The figures of the paper: files, numbers, and one line for whatever goes wrong."""

from __future__ import annotations

import json
import math
import os
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import Command
from drawn_figures import Written

import discretegauss
from discretegauss import privacy, utility
from discretegauss.errors import ParameterValueError

NAMES = ["variance.png", "tails.png", "epsilon_delta.png", "queries.png"]


def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.style", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)


def failure(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run the command, which must fail with exit code 2; return its line."""
    done = Command(capsys)("figures", *arguments)
    assert done.code == 2
    assert done.is_one_line_with("")
    return done.err.removeprefix("discretegauss: error: ").rstrip("\n")


def test_without_matplotlib_one_line_names_the_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_matplotlib(monkeypatch)
    line = failure(capsys, "--out", tmp_path / "new")
    assert line == "figures need matplotlib: pip install matplotlib"
    assert not (tmp_path / "new").exists()


def test_the_command_line_does_not_import_matplotlib() -> None:
    code = "import discretegauss._cli.entry, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_a_whole_png_of_the_size_stated(written: Written, name: str) -> None:
    """By its header, the checksums of all its parts, and its pixels, most of which are white."""
    data = (written.folder / name).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, compressed, kinds = 8, b"", []
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == int.from_bytes(data[at + 8 + length : at + 12 + length])
        kinds.append(kind)
        compressed += body if kind == b"IDAT" else b""
        at += 12 + length
    assert (kinds[0], kinds[-1]) == (b"IHDR", b"IEND")
    assert struct.unpack(">II", data[16:24]) == (1800, 810)
    pixels = zlib.decompress(compressed)
    assert len(pixels) == 810 * (1 + 4 * 1800)
    assert len(data) > 30_000


def test_only_the_figures_are_in_the_folder_and_the_command_says_so(
    written: Written,
) -> None:
    folder, out, _ = written
    assert sorted(os.listdir(folder)) == sorted(NAMES)
    assert out.splitlines()[:4] == [f"written to {folder / name}" for name in NAMES]


def test_the_command_prints_the_numbers_of_the_paper(written: Written) -> None:
    """1.690, 1.94, and what they are made of, each within 1 %."""
    numbers = [float(line.split()[-1]) for line in written.out.splitlines() if line[:2] == "  "]
    expected = [2052.9, 1784.8, 3468.9, 1.690, 1.94]
    assert numbers == pytest.approx(expected, rel=0.01)


def test_the_numbers_come_from_the_computation() -> None:
    """Another budget, other numbers; in the figure they stand beside k = 100."""
    plots_queries = pytest.importorskip("discretegauss.plots._queries")
    from discretegauss._cli.figures import _text
    from discretegauss.plots.writing import Figures

    other = utility.compare_queries(epsilon=2, delta="1e-9", queries=30)
    text = _text(Figures((Path("a.png"),), other))
    assert "30 queries of sensitivity 1 need for (epsilon, delta) = (2, 1e-9):" in text
    for number in (other.laplace.var(), other.gaussian_tight.var(), other.gaussian_by_zcdp.var()):
        assert f" {number:.1f}\n" in text
    assert f" {other.ratio_by_zcdp():.3f}\n" in text
    assert text.endswith(f" {other.ratio_tight():.3f}")
    assert plots_queries.MARKED_QUERIES == 100


def few_comparisons() -> list[Any]:
    return [utility.compare_queries(epsilon=1, delta="1e-6", queries=k) for k in (2, 100)]


def drawn(name: str) -> tuple[Any, Any]:
    """Draw a figure; return its panels."""
    from matplotlib.figure import Figure

    from discretegauss.plots import _epsilon_delta, _queries, _tails, _variance

    found = few_comparisons() if name == "queries.png" else []
    draws: dict[str, Callable[..., None]] = {
        "variance.png": _variance.draw_variance,
        "tails.png": _tails.draw_tails,
        "epsilon_delta.png": _epsilon_delta.draw_curves,
        "queries.png": partial(_queries.draw_queries, found=found),
    }
    figure = Figure()
    left, right = figure.subplots(1, 2)
    draws[name](figure, (left, right))
    assert figure.get_suptitle()
    return left, right


@pytest.mark.parametrize("name", NAMES)
def test_every_panel_has_a_title_names_of_axes_and_a_legend(name: str) -> None:
    pytest.importorskip("matplotlib")
    for panel in drawn(name):
        assert panel.get_title()
        assert panel.get_xlabel()
        assert panel.get_ylabel()
        legend = [text.get_text() for text in panel.get_legend().get_texts()]
        assert len(legend) >= 2
        assert all(legend)


def curves(name: str) -> list[dict[str, tuple[list[float], list[float]]]]:
    """Draw a figure; return what its lines go through, by name, for each panel."""
    return [
        {
            str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata()))
            for line in panel.get_lines()
        }
        for panel in drawn(name)
    ]


def test_the_curves_of_delta_are_those_of_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """From epsilon = 0 on, in equal steps."""
    pytest.importorskip("matplotlib")
    from discretegauss.plots import _epsilon_delta as curves_module

    monkeypatch.setattr(curves_module, "_POINTS", 5)
    for panel, sigma2, last in zip(curves("epsilon_delta.png"), (1, 100), (8, 0.8), strict=True):
        law = discretegauss.DiscreteGaussian(sigma2)
        cost = privacy.rho(law)
        functions: dict[str, Callable[..., float]] = {
            "zCDP, standard conversion": partial(privacy.zcdp_delta_standard, cost),
            "zCDP, optimal conversion\n(Corollary 13)": partial(privacy.zcdp_delta, cost),
            "tight (Theorem 7)": partial(privacy.delta, law),
            "continuous Gaussian, tight": partial(utility.continuous_gaussian_delta, sigma2),
        }
        assert list(panel) == list(functions)
        for label, function in functions.items():
            x, y = panel[label]
            assert x == pytest.approx([last * i / 4 for i in range(5)])
            steps = [Fraction(str(last)) * Fraction(i, 4) for i in range(5)]
            assert y == [function(epsilon) for epsilon in steps]


def test_the_tails_drawn_are_those_of_the_laws() -> None:
    """Bars beside each integer from -4 to 4, a density in the same units, P(noise >= k) to 8."""
    pytest.importorskip("matplotlib")
    noise = utility.compare_noise(1)
    left, _ = drawn("tails.png")
    heights: dict[str, Callable[..., float]] = {
        "discrete Gaussian": noise.gaussian.pmf,
        "rounded Gaussian": partial(utility.rounded_gaussian_pmf, 1),
        "discrete Laplace": noise.laplace.pmf,
    }
    assert [bars.get_label() for bars in left.containers] == list(heights)
    edges: list[tuple[float, float]] = []
    for bars, (label, pmf) in zip(left.containers, heights.items(), strict=True):
        centres = [bar.get_x() + bar.get_width() / 2 for bar in bars]
        assert [round(x) for x in centres] == list(range(-4, 5)), label
        assert [bar.get_height() for bar in bars] == [pmf(k) for k in range(-4, 5)]
        edges += [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    edges.sort()
    assert all(right <= next_left for (_, right), (next_left, _) in pairwise(edges))
    density, tails = curves("tails.png")
    x, y = density["continuous Gaussian (density)"]
    assert (x[0], x[-1]) == (-x[-1], 4.48)
    assert x == pytest.approx([x[0] + i / 25 for i in range(len(x))])
    assert y == pytest.approx([math.exp(-t * t / 2) / math.sqrt(2 * math.pi) for t in x])
    x, y = tails.pop("continuous Gaussian")
    assert x == pytest.approx([i / 10 for i in range(81)])
    assert y == pytest.approx([math.erfc(t / math.sqrt(2)) / 2 for t in x])
    assert len(tails) == 4
    for label, (x, y) in tails.items():
        name = "its bound" if "bound" in label else label
        assert x == list(range(9))
        assert y == [noise.tails(k)[name] for k in range(9)]


def test_the_variances_drawn_are_those_of_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over sigma2 from 1/25 to 10, in equal steps of its logarithm; on the right, over sigma2."""
    pytest.importorskip("matplotlib")
    from discretegauss.plots import _variance as variance_module

    monkeypatch.setattr(variance_module, "_POINTS", 6)
    left, right = curves("variance.png")
    assert len(left) == len(right) == 4
    for name, (x, y) in left.items():
        assert x == pytest.approx([0.04 * 250 ** (i / 5) for i in range(6)])
        assert y == [utility.compare_noise(sigma2).variances()[name] for sigma2 in x]
        assert right[name] == (
            x,
            [variance / sigma2 for sigma2, variance in zip(x, y, strict=True)],
        )


def test_the_noises_of_k_queries_drawn_are_those_of_the_comparison() -> None:
    pytest.importorskip("matplotlib")
    left, right = curves("queries.png")
    few = few_comparisons()
    laws = [[one.laplace, one.gaussian_by_zcdp, one.gaussian_tight] for one in few]
    assert list(left.values()) == [
        ([2, 100], [law.var() for law in same]) for same in zip(*laws, strict=True)
    ]
    assert [right[f"over the Gaussian{way}"] for way in (" by way of zCDP", ", tight")] == [
        ([2, 100], [one.ratio_by_zcdp() for one in few]),
        ([2, 100], [one.ratio_tight() for one in few]),
    ]
    assert ([0, 1], [1, 1]) in right.values()  # all across: where both need as much
    assert ([100, 100], [0, 1]) in right.values()
    marked = {
        text.get_text(): text.xy for text in drawn("queries.png")[1].texts if hasattr(text, "xy")
    }
    ratios = (few[1].ratio_by_zcdp(), few[1].ratio_tight())
    assert marked == {f"k = 100: {ratio:.3f}": (100, ratio) for ratio in ratios}


def test_the_figure_of_queries_is_for_epsilon_1_and_delta_1e_6() -> None:
    """As its title says; 22 numbers of queries from 1 to 1000, the paper's among them."""
    plots_queries = pytest.importorskip("discretegauss.plots._queries")
    found = plots_queries.comparisons()
    k = [one.queries for one in found]
    assert (k, k[0], k[-1], len(k)) == (sorted({*k}), 1, 1000, 22)
    assert 100 in k
    assert {(one.epsilon, one.delta) for one in found} == {(1, Fraction(1, 10**6))}


def test_lines_differ_by_more_than_colour() -> None:
    from discretegauss.plots.look import LINES

    styles = [str(look["linestyle"]) for look in LINES.values()]
    assert len(set(styles)) == len(styles)


def test_matplotlib_is_left_as_it_was(written: Written) -> None:
    """A caller's own style does not show in the figures, and is there afterwards; so no pyplot."""
    assert json.loads(written.err.splitlines()[-1]) == {"as it was": True, "pyplot": False}
    image = pytest.importorskip("matplotlib.image").imread(written.folder / "variance.png")
    assert image[0, 0].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("out", ["/proc/figures", "/proc", "/dev/null", "/dev/null/figures"])
def test_a_folder_that_cannot_be_written_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    """Nobody creates files in /proc, root neither."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("discretegauss.plots.writing.render", lambda *_, **__: b"a picture")
    assert re.fullmatch(re.escape(out) + r"(/\w+\.png)?: .+", failure(capsys, "--out", out))


@pytest.mark.parametrize("out", ["", "a\0b"])
def test_a_name_that_is_none_is_one_line(capsys: pytest.CaptureFixture[str], out: str) -> None:
    pytest.importorskip("matplotlib")
    assert "folder must name a folder, got " in failure(capsys, "--out", out)


def test_errors_of_the_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from discretegauss.plots import write_figures

    with pytest.raises(ParameterValueError, match="folder must name a folder"):
        write_figures("")
    without_matplotlib(monkeypatch)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        write_figures(tmp_path)
    assert not list(tmp_path.iterdir())


def test_files_of_these_names_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that is there already; others stay. What is drawn does not matter here."""
    pytest.importorskip("matplotlib")
    from discretegauss.plots import writing as write

    monkeypatch.setattr(write, "render", lambda *_, **__: b"new")
    monkeypatch.setattr(write, "comparisons", few_comparisons)
    for name in ("variance.png", "mine.png"):
        (tmp_path / name).write_bytes(b"before")
    found = write.write_figures(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "mine.png": b"before",
        **dict.fromkeys(NAMES, b"new"),
    }
    assert found.files == tuple(tmp_path / name for name in NAMES)
    assert found.comparison.queries == 100


def test_the_folder_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--out" in failure(capsys)


#: The command, with something that is drawn at once and takes as many bytes as a figure.
LONG_PICTURES = """
import sys
from discretegauss._cli import entry as cli
from discretegauss.plots import writing as write
write.render = lambda *_, **__: bytes(30_000)
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.process
def test_a_disk_that_is_full_leaves_no_part_of_a_file(tmp_path: Path) -> None:
    """A real failure in the middle of writing: the process may write files of 20 kB at most."""
    pytest.importorskip("matplotlib")
    (tmp_path / "variance.png").write_text("before")
    done = subprocess.run(
        [
            *("sh", "-c", 'ulimit -f 20 && exec "$0" "$@"', sys.executable),
            *("-c", LONG_PICTURES, "figures", "--out", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "variance.png: File too large" in done.stderr
    assert os.listdir(tmp_path) == ["variance.png"]
    assert (tmp_path / "variance.png").read_text() == "before"
