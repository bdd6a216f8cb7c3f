"""The composed losses of tables that one person changes are bounds, for wide noise and narrow."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from privacy_reference import mp

from discretegauss import DiscreteGaussian
from discretegauss.privacy import PrivacyLoss, joint, zcdp_rho
from discretegauss.privacy import loss as loss_of
from discretegauss.privacy.joint import Joint, JointLoss, largest_rho
from discretegauss.privacy.sensitivity import Sensitivity


def _joint(*parts: tuple[int | str, int]) -> Joint:
    return Joint([Sensitivity.of_parts(Fraction(change), n) for change, n in parts])


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


@pytest.mark.parametrize(
    ("sensitivity", "queries", "counts"),
    [("5/2", 1, 6), ("5/2", 3, 18), ("101/10", 1, 102), ("1/2", 9, 0)],
)
def test_normal_noise_stands_for_all_counts(sensitivity: str, queries: int, counts: int) -> None:
    """Both sides: q of all counts is at most 2**-42, hardly less; and the least sigma2 for it."""
    table, norm2 = _joint((sensitivity, queries)), queries * Fraction(sensitivity) ** 2
    found = table.loss([Fraction(50)])
    assert found is not None
    r2 = 50 - norm2 / found.norm2
    with mpmath.workdps(30):
        all_of_them = max(counts, 1) * mpmath.exp(-2 * mpmath.pi**2 * mp(r2))
        assert mpmath.mpf(2) ** -44 < all_of_them <= mpmath.mpf(2) ** -42
    assert table.loss([2 * r2]) is None
    assert table.loss([2 * r2 + Fraction(1, 10**9)]) is not None


@pytest.mark.parametrize("is_composed", [False, True])
def test_tables_cost_more_than_normal_noise_by_their_factors(is_composed: bool) -> None:
    """Both sides: delta is exp(t) times that of normal noise at epsilon - t, also below 0."""
    t, mu = Fraction(1, 100), Fraction(1, 10)
    alone = JointLoss(mu**2, t)
    tables = JointLoss(Fraction(0), t, PrivacyLoss.of_gaussian(1 / mu**2))
    tables = tables if is_composed else alone
    for epsilon in map(Fraction, ("0", "1/200", "1/100", "1/10")):
        e, m = mp(epsilon - t), mp(mu)
        near = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        exact = mpmath.exp(mp(t)) * near
        assert exact <= mp(tables.delta(epsilon)) <= (exact + max(0, -e / 2)) * (1 + 2 * mp(t))
        found = tables.epsilon(tables.delta(epsilon))
        least = max(epsilon, t) if is_composed else epsilon
        assert least <= found <= least * (1 + Fraction(1, 10**6))


def test_each_table_has_its_factor() -> None:
    """Several at once: wide tables count 2**-38 each, and narrow ones next to nothing."""
    wide, narrow, few = Fraction(10**6), Fraction(1, 2), Fraction(1, 2**38)
    two, one = (
        _joint((3, 2), (3, 2)).loss([wide] * 2),
        _joint((1, 2), (3, 2), (1, 2)).loss([narrow, wide, narrow]),
    )
    assert two is not None
    assert one is not None
    assert 2 * few <= two.t <= 2 * few * (1 + Fraction(1, 1000))
    assert few <= one.t <= few * (1 + Fraction(1, 1000))


@pytest.mark.parametrize("sigma2", [Fraction(1, 2), Fraction(9)])
def test_equal_narrow_tables_count_each(sigma2: Fraction) -> None:
    """Several at once: two equal tables of three counts, that are like one count or not."""
    found = _joint((1, 3), (2, 1), (1, 3)).loss([sigma2, Fraction(2), sigma2])
    assert found is not None
    losses = loss_of(DiscreteGaussian(sigma2)) ** 6 @ loss_of(DiscreteGaussian(2), 2)
    lower, upper = losses.epsilon("1e-6", bounds=True)
    assert lower <= found.epsilon(Fraction(1, 10**6)) <= upper * 1.001


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
