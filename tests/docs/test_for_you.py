"""The library computes the numbers of docs/for_you.md, on the safe side, and of docs/budget.md."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from programs import printed

import discretegauss as dg

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "for_you.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| (?P<rho>[\d.]+)(?P<said>[^|]*) \| (?P<epsilon>[\d.]+) \| ± (?P<within>\d+) "
    r"\| at most (?P<right>\d+) \|$",
    re.MULTILINE,
)


def of_a_coin(law: dg.Law, counts: int = 1) -> float:
    """Return the chance of the best guess of two equal sides: half of 1 + delta at epsilon 0."""
    return 50 * (1 + dg.privacy.delta(law, 0, queries=counts))


def up(x: float, digits: int) -> Fraction:
    """Return x rounded up to a number of decimals."""
    return Fraction(-(-Fraction(x) * 10**digits // 1), 10**digits)


def down(x: Fraction, digits: int) -> Fraction:
    """Return x rounded down to a number of decimals."""
    return Fraction(x * 10**digits // 1, 10**digits)


def test_the_table_of_budgets() -> None:
    """The bound on noise holds 95 times in 100; epsilon and guesses are rounded up."""
    rows = list(ROW.finditer(PAGE))
    assert [row["rho"] for row in rows] == ["0.001", "0.01", "0.0279", "0.1", "0.1", "1", "2.56"]
    for row in rows:
        counts = 3 if "three counts" in row["said"] else 1
        law = dg.privacy.calibrate(dg.DiscreteGaussian, rho=row["rho"], queries=counts)
        if "epsilon = 1" in row["said"]:
            law = dg.privacy.calibrate(dg.DiscreteGaussian, epsilon=1, delta="1e-6")
            assert Fraction(row["rho"]) == down(dg.privacy.rho(law), 4)
        epsilon = dg.privacy.epsilon(law, "1e-6", queries=counts)
        digits = len(row["epsilon"].partition(".")[2])
        assert Fraction(row["epsilon"]) == up(epsilon, digits)
        assert int(row["within"]) == law.interval(0.95)[1]
        assert int(row["right"]) == up(of_a_coin(law, counts), 0)


def test_the_numbers_in_the_text() -> None:
    """The rows for a person in three counts, and for an epsilon of 2.56, agree with the library."""
    wrong = dg.privacy.calibrate(dg.DiscreteGaussian, rho="0.1")
    cost, right = re.findall(r"cost rho (\S+), not 0.1, and (\d+) guesses in 100", PAGE)[0]
    assert Fraction(cost) == dg.privacy.rho(wrong, [1, 1, 1])
    assert int(right) == up(of_a_coin(wrong, 3), 0)
    law = dg.privacy.calibrate(dg.DiscreteGaussian, epsilon="2.56", delta="1e-6")
    rho, right = re.findall(r"epsilon of 2\.56 is a rho of (\S+): at most (\d+)", PAGE)[0]
    assert Fraction(rho) == down(dg.privacy.rho(law), 3)
    assert int(right) == up(of_a_coin(law), 0)


def test_the_sentences_to_publish_hold() -> None:
    """The picture is for rho = 0.1 and a person in one count."""
    law = dg.privacy.calibrate(dg.DiscreteGaussian, rho="0.1")
    said = PAGE.partition("## What to publish with a table")[2].partition("\n## ")[0]
    sentences = re.findall(r"^> \d\. (.*)$", said, re.MULTILINE)
    assert len(sentences) == 3
    assert f"variance parameter {law.sigma2})" in sentences[0]
    assert f"within {law.interval(0.95)[1]:.0f} of" in sentences[0]
    epsilon = up(dg.privacy.epsilon(law, "1e-6"), 2)
    assert f"rho = 0.1 (zCDP), which is epsilon = {float(epsilon)} at delta = 10^-6" in sentences[1]


def test_the_picture_of_budgets_is_drawn(tmp_path: Path) -> None:
    """Its program draws the picture, from new draws."""
    pytest.importorskip("matplotlib")
    program, out = ROOT / "examples" / "for_you_budget.py", tmp_path / "budget.png"
    printed(sys.executable, program, "--out", out)
    assert out.read_bytes().startswith(b"\x89PNG")


def test_the_numbers_of_the_page_on_budgets() -> None:
    """The library computes each cell of its tables, and the three chances."""
    page = (ROOT / "docs" / "budget.md").read_text(encoding="utf-8")
    lines = [line[2:-2].split(" | ") for line in page.splitlines() if line.startswith("| ")]
    rows = {name: cells for name, *cells in lines}
    deltas = ("1e-4", "1e-6", "1e-8", "1e-10", "1e-12")
    laws: list[dg.Law] = [
        *(dg.privacy.calibrate(dg.DiscreteGaussian, epsilon=1, delta=delta) for delta in deltas),
        dg.DiscreteLaplace(1),
    ]
    assert rows["standard deviation"] == [f"{law.std():.2f}" for law in laws]
    assert rows["95 of 100 counts are within"] == [f"{law.interval(0.95)[1]:.0f}" for law in laws]
    law = dg.DiscreteGaussian(5)
    of_one = [f"{dg.privacy.epsilon(law, f'1e-{k}'):.2f}" for k in (3, 6, 9, 12)]
    of_any = [f"{dg.privacy.zcdp_epsilon('0.1', f'1e-{k}'):.2f}" for k in (3, 6, 9, 12)]
    assert rows["epsilon of one Gaussian count"] == of_one
    assert rows["epsilon of any release"] == of_any
    for rho in ("0.01", "0.1", "1", "2.56"):
        law = dg.privacy.calibrate(dg.DiscreteGaussian, rho=rho)
        found = dg.privacy.epsilon(law, "1e-6"), dg.privacy.zcdp_epsilon(rho, "1e-6"), law.std()
        for said, number in zip(rows[rho], found, strict=True):
            assert float(said) == round(number, len(said.partition(".")[2]))
    chances = [float(dg.selection.keep_rule(1, f"1e-{k}").keep_probability(1)) for k in (3, 6, 9)]
    written = re.findall(r"(\d\.\d) x 10\^-(\d+)", page)
    assert [f"{digits}e-{k.zfill(2)}" for digits, k in written] == [f"{x:.1e}" for x in chances]
