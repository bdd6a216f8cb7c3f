"""The composed losses of tables that one person changes are bounds, for wide noise and narrow."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discretegauss import DiscreteGaussian
from discretegauss.privacy import joint, zcdp_rho
from discretegauss.privacy import loss as loss_of
from discretegauss.privacy.joint import Changed, Joint, JointLoss, Part, largest_rho


def _joint(*parts: tuple[int | str, int]) -> Joint:
    return Joint([Changed.of_part(Part(Fraction(change), n)) for change, n in parts])


def test_wide_noise_is_enclosed_as_narrow_noise_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both proofs bound epsilon from above, and nearly agree."""
    tables, delta = _joint((1, 3), (1, 30), (2, 1)), Fraction(1, 10**6)
    variances = [Fraction(600), Fraction(2300), Fraction(14100, 7)]
    losses = [
        loss_of(DiscreteGaussian(variance), change) ** n
        for variance, (change, n) in zip(variances, [(1, 3), (1, 30), (2, 1)], strict=True)
    ]
    lower, upper = losses[0].compose(*losses[1:]).epsilon(delta, bounds=True)
    found = []
    for wide_from in (0, 3000):  # all tables are wide, or some are not
        monkeypatch.setattr(joint, "_WIDE_FROM", wide_from)
        loss = tables.loss(variances)
        assert loss is not None
        assert lower <= loss.epsilon(delta) <= upper * 1.001
        found.append(float(loss.delta(Fraction(0))))
    assert found[0] >= found[1] * 0.999


def test_a_norm_that_is_no_whole_number_costs_what_its_counts_cost() -> None:
    """For wide noise a norm of nearly sqrt(2) costs the same as two counts that change by 1."""
    delta, sigma2 = Fraction(1, 10**6), [Fraction(10**6)]
    whole, by = _joint((1, 2)).epsilon(sigma2, delta)
    norm, by_normal = _joint(("1.4143", 1)).epsilon(sigma2, delta)
    assert whole < norm < whole * 1.0001
    assert by_normal == joint.NORMAL != by


@pytest.mark.parametrize("epsilon", ["0", "1/2"])
@pytest.mark.parametrize("delta", ["1e-30", "1e-3", "0.9999"])
def test_the_largest_rho_meets_the_budget_and_little_more_does_not(
    epsilon: str, delta: str
) -> None:
    """If the losses have no bound at that delta, it is the rho that zCDP implies."""
    tables = _joint((1, 1), (30, 3))

    def loss_at(rho: Fraction) -> JointLoss | None:
        return tables.loss([1 / rho, 900 * 3 / rho])

    budget = Fraction(epsilon), Fraction(delta)
    found = largest_rho(loss_at, *budget)
    loss, more = (loss_at(rho) for rho in (found, found * Fraction("1.00001")))
    if loss is None:
        assert found == Fraction(zcdp_rho(*budget)) < Fraction(1, 10**9)
        return
    assert more is not None
    assert loss.delta(budget[0]) <= budget[1] < more.delta(budget[0])
