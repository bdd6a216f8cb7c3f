"""The composed losses of the tables of a plan are bounds, for wide noise and narrow."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discretegauss import DiscreteGaussian
from discretegauss.privacy import loss as loss_of
from discretegauss.privacy import plan_loss, zcdp_rho
from discretegauss.privacy.plan_loss import Table, largest_rho


def test_wide_noise_is_enclosed_as_narrow_noise_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both proofs bound epsilon from above, and nearly agree."""
    parts = [
        Table(Fraction(600), Fraction(1), 3),
        Table(Fraction(2300), Fraction(1), 30),
        Table(Fraction(14100, 7), Fraction(2), 1),
    ]
    delta = Fraction(1, 10**6)
    losses = [loss_of(DiscreteGaussian(p.sigma2), p.sensitivity) for p in parts]
    losses = [loss**part.queries for loss, part in zip(losses, parts, strict=True)]
    lower, upper = losses[0].compose(*losses[1:]).epsilon(delta, bounds=True)
    monkeypatch.setattr(plan_loss, "_WIDE_FROM", 0)
    wide = plan_loss.plan_loss(parts)
    assert wide is not None
    assert lower <= wide.epsilon(delta) <= upper * 1.001
    monkeypatch.setattr(plan_loss, "_WIDE_FROM", 3000)  # some tables are wide, some are not
    both = plan_loss.plan_loss(parts)
    assert both is not None
    assert lower <= both.epsilon(delta) <= upper * 1.001
    assert float(wide.delta(Fraction(0))) >= float(both.delta(Fraction(0))) * 0.999


def test_a_norm_that_is_no_whole_number_costs_what_its_counts_cost() -> None:
    """For wide noise a norm of nearly sqrt(2) costs the same as two counts that change by 1."""
    whole = plan_loss.plan_loss([Table(Fraction(10**6), Fraction(1), 2)])
    norm = plan_loss.plan_loss([Table(Fraction(10**6), Fraction(14143, 10000), 1)])
    assert whole is not None
    assert norm is not None
    delta = Fraction(1, 10**6)
    assert whole.epsilon(delta) < norm.epsilon(delta) < whole.epsilon(delta) * 1.0001


@pytest.mark.parametrize("epsilon", ["0", "1/2"])
@pytest.mark.parametrize("delta", ["1e-30", "1e-3", "0.9999"])
def test_the_largest_rho_meets_the_budget_and_little_more_does_not(
    epsilon: str, delta: str
) -> None:
    """If the losses have no bound at that delta, it is the rho that zCDP implies."""

    def tables_of(rho: Fraction) -> list[Table]:
        return [Table(1 / rho, Fraction(1), 1), Table(900 * 3 / rho, Fraction(30), 3)]

    budget = Fraction(epsilon), Fraction(delta)
    found = largest_rho(tables_of, *budget)
    loss, more = (
        plan_loss.plan_loss(tables_of(rho)) for rho in (found, found * Fraction("1.00001"))
    )
    if loss is None:
        assert found == Fraction(zcdp_rho(*budget)) < Fraction(1, 10**9)
        return
    assert more is not None
    assert loss.delta(budget[0]) <= budget[1] < more.delta(budget[0])
