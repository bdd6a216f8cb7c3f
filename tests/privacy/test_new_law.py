"""A new law needs only its Formulas and a line in the registry.

Its weights are exp(-(abs(x) + x**2)/scale), which are neither a Gaussian's nor a Laplace's.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import gmpy2
import pytest

from discretegauss._certified import laws_of_integers
from discretegauss._certified.formulas import About, RationalFormulas, term_by_term
from discretegauss._certified.interval import Arithmetic, Interval, Rational, arithmetic
from discretegauss._law import Kind, LawSpec
from discretegauss.privacy.hockey_stick import delta_enclosed, least_epsilon
from discretegauss.privacy.zcdp import rho_of_law

NEW: Any = max(Kind) + 1
SPEC = LawSpec(NEW, Fraction(7))


class NewFamily(RationalFormulas):
    """The formulas that a new law must have."""

    def exact_phi(self, spec: LawSpec, x: int) -> Rational:
        return (abs(x) + x * x) / gmpy2.mpq(spec.parameter)

    def tail_ratio(self, spec: LawSpec, m: int, bits: int) -> Interval:
        """Sum the terms. Their ratios fall, so the remainder is below a geometric series."""
        at = arithmetic(bits + 20)
        total, x = at.rational(1), m
        while True:
            x += 1
            term = self.weight_ratio(spec, x, m, bits + 20)
            total = at.add(total, term)
            q = self.weight_ratio(spec, x + 1, x, bits + 20).upper
            rest = at.up.div(at.up.mul(term.upper, q), at.down.sub(1, q))
            if rest * 2 ** (bits + 4) < 1:
                return Interval(total.lower, at.up.add(total.upper, rest))

    def distance_of(self, spec: LawSpec, level: Interval, at: Arithmetic) -> Interval:
        """Solve y**2 + y = level scale."""
        root = at.sqrt(at.shift(at.scale(level, 4 * spec.parameter), 1))
        return at.scale(at.shift(root, -1), Fraction(1, 2))

    def whole_width(self, spec: LawSpec) -> int:
        return math.isqrt(math.floor(spec.parameter))

    def moments(self, spec: LawSpec, bits: int, order: int) -> About:
        return term_by_term(self, spec, bits, order)

    def loss_exceeds_from(self, spec: LawSpec, epsilon: Any, change: int) -> int | None:
        x = -change
        while self.exact_log_ratio(spec, x, x + change) <= epsilon:
            x += 1
        return x


#: This test does not use the other methods of Formulas.
NewFamily.__abstractmethods__ = frozenset()


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    family: Any = NewFamily
    monkeypatch.setitem(laws_of_integers._FORMULAS, NEW, family())


def delta_summed(epsilon: float, change: int) -> float:
    """The sum over the integers of the excess of P(X = x) over exp(epsilon) P(X = x + change)."""
    weights = {x: math.exp(-(abs(x) + x * x) / 7) for x in range(-60, 61)}
    excess = (
        weights[x] - math.exp(epsilon) * weights[x + change]
        for x in range(-60 + change, 61 - change)
    )
    return sum(max(0.0, one) for one in excess) / sum(weights.values())


@pytest.mark.parametrize("change", [1, 4])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_delta_of_a_new_law_is_the_sum_of_what_is_in_excess(epsilon: float, change: int) -> None:
    enclosed = delta_enclosed(SPEC, gmpy2.mpq(epsilon), change)
    assert enclosed is not None
    assert enclosed.lower() <= enclosed.upper()
    assert float(enclosed.upper()) == pytest.approx(delta_summed(epsilon, change), rel=1e-9)


def test_epsilon_of_a_new_law_has_the_delta_asked_for() -> None:
    found = least_epsilon(SPEC, 1, gmpy2.mpq(1, 1000))
    assert delta_summed(found, 1) == pytest.approx(1e-3, rel=1e-9)


def test_of_a_new_law_no_rho_is_known() -> None:
    with pytest.raises(ValueError, match="no rho is known"):
        rho_of_law(SPEC, 1)
