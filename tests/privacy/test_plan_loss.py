"""The composed losses of the tables of a plan are bounds, for wide noise and narrow."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from privacy_reference import mp

from discretegauss import DiscreteGaussian
from discretegauss.privacy import PrivacyLoss, plan_loss, zcdp_rho
from discretegauss.privacy import loss as loss_of
from discretegauss.privacy.plan_loss import PlanLoss, Table, largest_rho


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


@pytest.mark.parametrize(
    ("sensitivity", "queries", "counts"),
    [(Fraction(5, 2), 1, 6), (Fraction(5, 2), 3, 18), (Fraction(3), 4, 4), (Fraction(1, 2), 9, 0)],
)
def test_normal_noise_stands_for_all_counts(
    sensitivity: Fraction, queries: int, counts: int
) -> None:
    """Both sides: q of all counts is at most 2**-42, hardly less; and the least sigma2 for it."""

    def norm2(sigma2: Fraction) -> Fraction | None:
        return plan_loss._smoothed(Table(sigma2, sensitivity, queries))

    found = norm2(Fraction(50))
    assert found is not None
    r2 = 50 - queries * sensitivity**2 / found
    with mpmath.workdps(30):
        all_of_them = max(counts, 1) * mpmath.exp(-2 * mpmath.pi**2 * mp(r2))
        assert mpmath.mpf(2) ** -44 < all_of_them <= mpmath.mpf(2) ** -42
    assert norm2(2 * r2) is None
    assert norm2(2 * r2 + Fraction(1, 10**9)) is not None


def test_a_plan_costs_more_than_its_loss_by_the_factors_of_its_tables() -> None:
    """Both sides: delta is exp(t) times that of normal noise at epsilon - t, also below 0."""
    t, mu = Fraction(1, 100), Fraction(1, 10)
    plan = PlanLoss(PrivacyLoss.of_gaussian(1 / mu**2), t)
    for epsilon in map(Fraction, ("0", "1/200", "1/100", "1/10")):
        e, m = mp(epsilon - t), mp(mu)
        near = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        exact = mpmath.exp(mp(t)) * near
        assert exact <= mp(plan.delta(epsilon)) <= (exact + max(0, -e / 2)) * (1 + 2 * mp(t))
        found = plan.epsilon(plan.delta(epsilon))
        assert max(epsilon, t) <= found <= max(epsilon, t) * (1 + Fraction(1, 10**6))
    wide, narrow = Table(Fraction(10**6), Fraction(3), 2), Table(Fraction(1, 2), Fraction(1), 2)
    two, some = (plan_loss.plan_loss(tables) for tables in ([wide] * 2, [narrow, wide, narrow]))
    assert two is not None
    assert some is not None
    assert 2 * Fraction(1, 2**38) <= two.t <= 2 * Fraction(1, 2**38) * (1 + Fraction(1, 1000))
    assert Fraction(1, 2**38) <= some.t <= Fraction(1, 2**38) * (1 + Fraction(1, 1000))


def test_equal_narrow_tables_count_each() -> None:
    """Several at once: two equal tables of three counts, and one beside them."""
    one = Table(Fraction(1, 2), Fraction(1), 3)
    found = plan_loss.plan_loss([one, Table(Fraction(2), Fraction(2), 1), one])
    assert found is not None
    losses = loss_of(DiscreteGaussian("1/2")) ** 6 @ loss_of(DiscreteGaussian(2), 2)
    lower, upper = losses.epsilon("1e-6", bounds=True)
    assert lower <= found.epsilon(Fraction(1, 10**6)) <= upper * 1.001


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
