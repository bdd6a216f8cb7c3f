"""Plans: one budget over many tables; all are written, or none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discretegauss import release
from discretegauss._cli import main
from discretegauss.errors import DiscreteGaussError, OutputError, TableError

PLAN = """
rho = "1/10"
[[tables]]
table = "a.csv"
column = "n"
out = "a_noisy.csv"
share = "1/3"
[[tables]]
table = "b.csv"
column = ["n", "m"]
out = "b_noisy.csv"
share = "2/3"
rows_per_person = 3
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("c,n\nx,10\ny,20\n")
    (tmp_path / "b.csv").write_text("n,m\n5,3\n7,1\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"


def _files(plan: Path) -> set[str]:
    return {path.name for path in plan.parent.iterdir()}


def test_the_parts_add_up_to_the_budget(plan: Path) -> None:
    """And each table is written, with the law of its part."""
    found = release.release_plan(plan)
    assert [one.law.sigma2 for one in found.tables] == [15, 45]  # k/(2 rho share)
    assert sum(found.shares) == 1
    assert found.cost.rho == Fraction(1, 10)
    assert (plan.parent / "a_noisy.csv").read_text().startswith("c,n\nx,")
    assert (plan.parent / "b_noisy.csv").read_text().startswith("n,m\n")
    with pytest.raises(OutputError, match="exists already"):
        release.release_plan(plan)


def test_a_table_that_is_wrong_leaves_none_written(plan: Path) -> None:
    """Whichever it is; the message says which, and shows no cell."""
    for name in ("a.csv", "b.csv"):
        before = (plan.parent / name).read_text()
        (plan.parent / name).write_text(before + "4711x,4711x\n")
        files = _files(plan)
        with pytest.raises(TableError, match=r"plan.toml: table [12]: .*line 4") as caught:
            release.release_plan(plan)
        assert "4711" not in str(caught.value)
        assert _files(plan) == files
        (plan.parent / name).write_text(before)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('share = "1/3"', 'share = "1/4"', "the shares must add up to 1, exactly; they are 11/12"),
        ('share = "1/3"\n', "", "share must be given for all tables or for none"),
        ('rho = "1/10"', 'rho = "-1"', "rho must be positive"),
        ("rows_per_person", "rows", "'rows' is no key of a plan here"),
        ('out = "b_noisy.csv"', 'out = "a_noisy.csv"', "out must be a file of its own"),
        ('rho = "1/10"', "rho = ", "is not a TOML file"),
    ],
)
def test_refusals(plan: Path, old: str, new: str, message: str) -> None:
    plan.write_text(PLAN.replace(old, new, 1))
    files = _files(plan)
    with pytest.raises(DiscreteGaussError) as caught:
        release.release_plan(plan)
    assert message in str(caught.value)
    assert _files(plan) == files


def test_calibrate_touches_no_data(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There need not even be a table."""
    (plan.parent / "a.csv").unlink()
    assert main(["calibrate", "--plan", str(plan)]) == 0
    shown = capsys.readouterr().out
    assert "sigma2              15" in shown
    assert "total rho           0.1 (zCDP)" in shown
    assert main(["release", "--plan", str(plan)]) == 2
    assert _files(plan) == {"plan.toml", "b.csv"}
