"""Releases that a person hardly ever takes part in: bounds are near the truth, which is enumerated.

Buckets that fit the few large losses would be too wide for the many small ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from privacy_reference import mp

import discretegauss as dg
from discretegauss import privacy
from discretegauss.privacy import PrivacyLoss
from discretegauss.privacy._least_bounds import Capped
from discretegauss.privacy._outcomes import Outcomes
from discretegauss.privacy.loss_distribution import _outcomes

Law = Mapping[int, Any]


def of_rounds(p: list[Any], q: list[Any], rate: Fraction, rounds: int, e: Any) -> Any:
    """Return delta of rounds on a sample: all numbers of times that three outcomes come up."""
    mixed = [rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)]
    with mpmath.workdps(60):
        factor, here, there = mpmath.exp(mp(e)), mpmath.mpf(0), mpmath.mpf(0)
        pairs = [(mp(a), mp(b)) for a, b in zip(mixed, q, strict=True)]
        for i in range(rounds + 1):
            for j in range(rounds + 1 - i):
                ways = mpmath.binomial(rounds, i) * mpmath.binomial(rounds - i, j)
                powers = i, j, rounds - i - j
                a = ways * mpmath.fprod(one**k for (one, _), k in zip(pairs, powers, strict=True))
                b = ways * mpmath.fprod(one**k for (_, one), k in zip(pairs, powers, strict=True))
                here, there = here + max(a - factor * b, 0), there + max(b - factor * a, 0)
        return max(here, there)


P, Q = ["6/10", "0.39999999", "1e-8"], ["4/10", "0.5999999999999", "1e-13"]


@pytest.mark.parametrize(
    ("rate", "rounds", "e", "above"),
    [
        ("1e-6", 60, "0", 1e-2),
        ("1e-6", 60, "1e-6", 1e-2),
        ("1e-4", 60, "1e-4", 1e-2),
        ("1e-9", 3, "0", 1e-2),
        ("1e-3", 60, "1e-2", 1e-2),
    ],
)
def test_few_large_losses_leave_the_bounds_near_the_truth(
    rate: str, rounds: int, e: str, above: float
) -> None:
    """One outcome in 10**8 has 10**5 times the odds; both adjacencies, all outcomes."""
    loss = PrivacyLoss.of_pair(P, Q, sampling=rate) ** rounds
    exact = of_rounds([*map(Fraction, P)], [*map(Fraction, Q)], Fraction(rate), rounds, Fraction(e))
    lower, upper = loss.delta(e, bounds=True)
    assert lower <= exact <= upper <= exact * (1 + above)
    found = loss.epsilon(upper)
    assert loss.delta(found) <= upper
    assert found <= float(e) * 1.01 + float(rate) / 10


@pytest.mark.parametrize("rate", ["1e-8", "1e-3"])
def test_two_queries_with_skellam_noise_are_enumerated(rate: str) -> None:
    """At epsilon = 0 and 1e-8 the known sample has 4.9e-9; buckets that are too wide gave 2e-8."""
    law, s = dg.Skellam(3), Fraction(rate)
    with mpmath.workdps(50):
        one = {x: mpmath.exp(-3) * mpmath.besseli(x, 3) for x in range(-40, 41)}
        pairs = [(mp(s) * one.get(x - 1, 0) + mp(1 - s) * one[x], one[x]) for x in one]
        for e in (Fraction(0), s / 2):
            factor = mpmath.exp(mp(e))
            exact = max(
                mpmath.fsum(max(a * c - factor * b * d, 0) for a, b in these for c, d in these)
                for these in (pairs, [(b, a) for a, b in pairs])
            )
            found = privacy.delta(law, e, queries=2, sampling=rate)
            assert exact * (1 - mpmath.mpf(10) ** -30) <= found <= exact * 1.01
            back = privacy.epsilon(law, found * 1.001, queries=2, sampling=rate)
            assert back <= float(e) + 0.01 * float(s)


def test_figures_of_gaussian_noise_lie_between_close_bounds() -> None:
    """Delta was 4.7 and 1.5 times the lower bound. Narrow buckets hold both sides."""
    for sampling, times, e, least in (("1e-6", 100, 0, 1.01), ("1e-4", 100, "1e-3", 1.005)):
        loss = PrivacyLoss.of_gaussian(1, sampling=sampling) ** times
        width = Fraction(1, 2**20) if e == 0 else Fraction(1, 2**17)
        fine = PrivacyLoss.of_gaussian(1, sampling=sampling, width=width, most=2**26) ** times
        lower, upper = fine.delta(e, bounds=True)
        assert lower <= loss.delta(e) <= min(lower * 1.03, upper * least)


def test_capped_losses_count_as_infinite_and_others_stay() -> None:
    release = Outcomes(_outcomes(P, Q, bounds=False), Fraction(1, 1000))
    whole = release.cells(adding=False, widest=1.0)
    found = Capped(release, 1e-3).cells(adding=False, widest=1.0)
    kept = whole.loss <= 1e-3
    assert kept.sum() == 2
    assert found.mass_above >= whole.mass_above + whole.p_up[~kept].sum()
    assert (found.p_up == whole.p_up[kept]).all()
    assert (found.p_low == 0).all()
    assert found.infinity_mass == 0


def test_more_buckets_never_make_epsilon_larger() -> None:
    """0.1462 by 2**20 buckets and 0.1755 by 2**22: their errors were most of delta."""
    losses = [
        PrivacyLoss.of_gaussian("0.49", sampling="1e-6", most=most) ** 10**6
        for most in (2**17, 2**20, 2**21)
    ]
    found = [loss.epsilon("1e-9") for loss in losses]
    assert found == sorted(found, reverse=True)
    assert 0.0117 < found[-1] < 0.079
    assert losses[-1].delta(found[-1]) <= 1e-9


@pytest.mark.parametrize("law", [dg.Skellam("3.8"), dg.DiscreteGaussian("1/8").sum(3)])
@pytest.mark.parametrize("secret", [True, False])
def test_vectors_have_at_most_the_chance_of_taking_part(law: Any, secret: bool) -> None:
    """Renyi divergences alone give 0.01; all coins are 0 but with a chance of 1 - (1 - q)**n."""
    how: Any = {"sensitivity": "9/4", "dimension": 2, "queries": 3, "sampling": "1e-9"}
    how["secret_sample"] = secret
    chance = 1 - (1 - Fraction("1e-9")) ** 3
    found = privacy.delta(law, "1e-12", **how)
    assert found <= chance * (1 + Fraction(1, 2**52))
    assert privacy.log_delta(law, "1e-12", **how) <= mpmath.log(mp(chance)) * (1 - 1e-15)
    assert privacy.epsilon(law, chance * (1 + Fraction(1, 2**60)), **how) == 0
    assert privacy.epsilon(law, chance / 10**6, **how) > 0
