"""A report rounds rho, epsilon and delta up to six digits, never down."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from tables import write_plan

from discretegauss import release
from discretegauss.release._calibration import Cost
from discretegauss.release._plan import read_plan
from discretegauss.release._report import budget_text, plan_text

NUMBER = r"([0-9.]+(?:e[+-][0-9]+)?)"


def _is_just_above(text: str, exact: Fraction) -> bool:
    """Return whether a printed number is at least the exact one, and so to six digits."""
    return exact <= Fraction(text) <= exact * (1 + Fraction(1, 10**5))


def test_a_printed_cost_is_never_below_the_objects() -> None:
    """Of 300 random costs, from 1e-30 to 1e30, each number is right to six digits, upwards."""
    rng = random.Random(58)
    for _ in range(300):
        rho, epsilon, delta = (
            Fraction(rng.getrandbits(60) + 1, 2**60) * Fraction(10) ** rng.randint(*ends)
            for ends in ((-30, 30), (-30, 30), (-30, -1))
        )
        cost = Cost(rho=rho, epsilon=float(epsilon), delta=delta, epsilon_by="a proof")
        found = re.fullmatch(
            rf"rho = {NUMBER}, \(epsilon, delta\) = \({NUMBER}, {NUMBER}\)", budget_text(cost)
        )
        assert found is not None
        exact = rho, Fraction(cost.epsilon), delta
        assert all(map(_is_just_above, found.groups(), exact)), budget_text(cost)


@pytest.mark.parametrize("epsilon", ["0", "0.3", "1/3", "2"])
def test_the_object_and_its_text_agree_about_a_budget(tmp_path: Path, epsilon: str) -> None:
    """At epsilon 0 a computed bound was 1.09e-11, and the text 0: the budget's 0 is proven."""
    asked = Fraction(epsilon)
    many = {"rows_per_person": 40}  # with fewer, Laplace noise of epsilon alone is less
    tables = {"share": "1/3", **many}, {"share": "2/3", **many}
    plan = read_plan(write_plan(tmp_path, f'epsilon = "{epsilon}"\ndelta = "0.01"', *tables))
    text = re.search(rf"achieved: \({NUMBER}, 0.01\)", plan_text(plan))
    assert text is not None
    assert float(text[1]) >= plan.cost.epsilon or Fraction(text[1]) == asked
    assert plan.cost.epsilon <= math.nextafter(asked, math.inf)
    assert _is_just_above(text[1], min(Fraction(plan.cost.epsilon), asked))


def test_a_frame_plan_at_epsilon_0_prints_its_own_number() -> None:
    person = release.Person(3, distinct="town")
    tables = {"nation": release.Table([]), "towns": release.Table("town")}
    plan = release.Plan(person, tables, epsilon=0, delta="0.01")
    assert plan.epsilon == 0
    assert "achieved: (0, 0.01)" in str(plan)
