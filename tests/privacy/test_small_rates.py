"""Releases that a person hardly ever takes part in: bounds are near the truth, which is enumerated.

Buckets that fit the few large losses would be too wide for the many small ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from privacy_reference import mp

import discretegauss as dg
from discretegauss import privacy
from discretegauss.privacy import PrivacyLoss, _least_bounds
from discretegauss.privacy._discretise import Width
from discretegauss.privacy._least_bounds import Bulk
from discretegauss.privacy._outcomes import Outcomes
from discretegauss.privacy._rare_sums import Atoms, Divergence
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
        ("1e-2", 80, "0.1", 1e-2),
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


@pytest.mark.parametrize("rate", ["1e-60", "1e-63"])
def test_rates_far_below_floats_have_the_chance_of_taking_part(rate: str) -> None:
    """Their widths are so small that -300 is beyond the 64-bit indices."""
    for law in (dg.GeneralizedGaussian(2, beta=3), dg.DiscreteGaussian("0.49")):
        found = privacy.delta(law, 0, queries=2, sampling=rate)
        assert 0 < found <= 2 * Fraction(rate) * (1 + Fraction(1, 2**50))


def test_losses_above_the_cap_are_apart_and_others_stay() -> None:
    release = Outcomes(_outcomes(P, Q, bounds=False), Fraction(1, 1000))
    whole = release.cells(adding=False, widest=1.0)
    bulk = Bulk(release, 1e-3)
    found, rare = bulk.apart(adding=False, widest=1.0, tilt=0.0)
    kept = whole.loss <= 1e-3
    assert kept.sum() == 2
    assert found.mass_above >= whole.mass_above + whole.p_up[~kept].sum()
    assert (found.p_up == whole.p_up[kept]).all()
    assert (rare.p_up == whole.p_up[~kept]).all()
    assert rare.mass_above == whole.mass_above
    assert (found.p_low == 0).all()
    assert found.infinity_mass == 0


RANDOM = [
    (["0.5", "0.3", "0.19", "0.01"], ["0.6", "0.3", "0.0999", "0.0001"], "1/7", 3),
    (["0.2", "0.5", "0.299", "0.001"], ["0.25", "0.5", "0.249995", "5e-6"], "1/100", 2),
    (["0.9", "0.05", "0.0499", "0.0001"], ["0.97", "0.02", "0.01", "0"], "1/1000", 4),
    (["0.4", "0.3", "0.2999", "0.0001"], ["0.4", "0.5", "0.0999999", "1e-7"], "1/3", 5),
]


@pytest.mark.parametrize(("p", "q", "rate", "rounds"), RANDOM)
@pytest.mark.parametrize("cap", [0.02, 0.3, 3.0])
def test_rare_losses_apart_bound_every_delta(
    monkeypatch: pytest.MonkeyPatch, p: list[str], q: list[str], rate: str, rounds: int, cap: float
) -> None:
    """At every cap: all outcomes of all rounds, in fractions but for exp(epsilon)."""
    monkeypatch.setattr(_least_bounds, "_cap", lambda *_, **__: cap)
    s, mixed = Fraction(rate), []
    for a, b in zip(map(Fraction, p), map(Fraction, q), strict=True):
        mixed.append((s * a + (1 - s) * b, b))
    release = Outcomes(_outcomes(p, q, bounds=False), s)
    for adding in (False, True):
        one = [(b, a) for a, b in mixed] if adding else mixed
        bound = _least_bounds.Apart([(release, rounds)], adding=adding, width=None, most=2**16)
        both = (zip(*outcomes, strict=True) for outcomes in product(one, repeat=rounds))
        pairs = [(math.prod(a), math.prod(b)) for a, b in both]
        for e in ("0", "1e-3", "0.05", "0.3", "1", "2.5", "6"):
            factor = Fraction(math.exp(float(e)))
            exact = sum(max(a - factor * b, 0) for a, b in pairs)
            found = bound.delta_above(Fraction(e))
            assert found >= exact * (1 - Fraction(1, 10**13))
            assert found <= 1


def test_the_divergence_of_masses_is_enumerated() -> None:
    """At multiples of the width, between them, below and above all; mpmath at 40 digits."""
    width, masses = Width.of(Fraction(1, 2**12)), np.array([1.0, 0.3, 0.1, 0.0, 0.05, 1e-9])
    found = Divergence.of(-3, masses, 1e-12, width)
    at = np.array([-64.0, -4.0, -3.0, -2.0, -1.3, 0.0, 0.45, 1.0, 1.3, 2.0, 64.0]) / 2**12
    with mpmath.workdps(40):
        for x, upper in zip(at, found(at), strict=True):
            exact = sum(
                mpmath.mpf(m) * max(1 - mpmath.exp(mpmath.mpf(x) - mpmath.mpf(i - 3) / 2**12), 0)
                for i, m in enumerate(masses)
                if i > 0
            )
            assert exact <= upper
            if x >= -3 / 2**12:  # below, nothing is known but that D is convex, and at most 1
                assert upper <= exact * (1 + 1e-3) + 1e-11
            else:
                assert upper <= 1 - math.exp(x + 3 / 2**12) * (1 - found.at[0]) + 1e-11


def test_losses_connected_as_dots_dominate_and_keep_their_mass() -> None:
    points = np.geomspace(1e-3, 4.0, 7)
    atoms = Atoms(np.array([1e-3, 0.5, 1.7, 4.0]), np.array([0.2, 0.1, 0.01, 1e-9]))
    found = atoms.regrouped(points)

    def divergence(these: Any, x: float) -> Any:
        terms = zip(these.loss, these.mass, strict=True)
        return mpmath.fsum(m * max(1 - mpmath.exp(x - mpmath.mpf(loss)), 0) for loss, m in terms)

    with mpmath.workdps(40):
        for x in (-1.0, 0.0, 0.3, 0.5, 1.0, 1.7, 2.5, 3.9):
            assert divergence(atoms, x) <= divergence(found, x)
        assert divergence(found, -700.0) <= divergence(atoms, -700.0) * (1 + 1e-12)
        assert divergence(found, -1.0) <= divergence(atoms, -1.0) * (1 + 1e-2)


def test_rare_losses_do_not_make_epsilon_of_a_million_rounds_large() -> None:
    """0.1462 when rare losses had no sum apart. dp-accounting says 0.0503, or at best 0.0178."""
    loss = PrivacyLoss.of_gaussian("0.49", sampling="1e-6") ** 10**6
    found = loss.epsilon("1e-9")
    assert 0.0117 < found < 0.01278
    assert 0.99e-9 < loss.delta(found) <= 1e-9


def test_more_buckets_never_make_epsilon_larger() -> None:
    """They did when errors of transforms were most of delta."""
    losses = [
        PrivacyLoss.of_gaussian("0.49", sampling="1e-5", most=most) ** 10**5
        for most in (2**16, 2**18, 2**20)
    ]
    found = [loss.epsilon("1e-9") for loss in losses]
    assert all(after <= before * (1 + 1e-3) for before, after in itertools.pairwise(found))


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


def test_a_sample_costs_at_most_what_all_cost_also_at_the_least_deltas() -> None:
    """Buckets say nothing below about 1e-50; rho without sampling does."""
    law = dg.DiscreteGaussian(100)
    for d in ("1e-100", "1e-300", "1e-5000"):
        least, found = (privacy.epsilon(law, d, queries=100, sampling=q) for q in (1, "0.1"))
        assert least < found < 1.01 * least
    assert privacy.delta(dg.DiscreteGaussian(1), "1e5000", queries=100, sampling="0.1") < 1e-40
