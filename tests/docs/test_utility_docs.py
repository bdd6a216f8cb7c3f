"""The examples of docs/utility.md give what stands beside them."""

from __future__ import annotations

import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from doc_examples import run_examples

import discretegauss as dg

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "utility.md"


def test_the_examples_give_what_is_shown() -> None:
    failed, tried = run_examples(DOCUMENT)
    assert failed == 0
    assert tried >= 10


def test_the_program_draws_and_prints_what_is_shown(tmp_path: Path) -> None:
    """The paper's numbers, and four pictures."""
    pytest.importorskip("matplotlib")
    program = ROOT / "examples" / "paper_figures.py"
    text = DOCUMENT.read_text("utf-8")
    _, _, shown = text.partition("$ python examples/paper_figures.py --out figures\n")
    done = subprocess.run(
        [sys.executable, str(program), "--out", "figures"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == shown.partition("```")[0]
    for line in done.stdout.splitlines()[:4]:
        picture = (tmp_path / line.removeprefix("written to ")).read_bytes()
        assert picture[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_curves_drawn_are_those_of_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deltas of both panels, and the ratios that are written down."""
    figures = pytest.importorskip("matplotlib.figure")
    program = runpy.run_path(str(ROOT / "examples" / "paper_figures.py"))
    draw = program["draw_deltas"]
    monkeypatch.setitem(draw.__globals__, "POINTS", 3)
    figure = figures.Figure()
    draw(figure, panels := figure.subplots(1, 2))
    for ax, sigma2, last in zip(panels, (1, 100), (Fraction(8), Fraction(4, 5)), strict=True):
        epsilons = (0, last / 2, last)
        law = dg.DiscreteGaussian(sigma2)
        cost = dg.privacy.rho(law)
        assert [list(line.get_ydata()) for line in ax.get_lines()] == [
            [dg.privacy.zcdp_delta_standard(cost, x) for x in epsilons],
            [dg.privacy.zcdp_delta(cost, x) for x in epsilons],
            [dg.privacy.delta(law, x) for x in epsilons],
            [dg.utility.continuous_gaussian_delta(sigma2, x) for x in epsilons],
        ]
    found = [dg.utility.compare_queries(epsilon=1, delta="1e-6", queries=k) for k in (2, 100)]
    program["draw_queries"](figure, panels := figure.subplots(1, 2), found)
    assert [text.get_text() for text in panels[1].texts][:2] == ["k = 100: 1.690", "k = 100: 1.944"]
