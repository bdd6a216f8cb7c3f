"""The radius of a weighted sum of draws is enough, and little more than the least."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss.estimate._chernoff import critical_value
from discretegauss.estimate._chernoff import radius as chernoff_radius
from discretegauss.estimate._ring import _masses, ring_radius
from discretegauss.estimate._weighted_sum import _SplitDraws, radius

G, L = dg.DiscreteGaussian, dg.DiscreteLaplace
OTHERS = [dg.Skellam(1), dg.GeneralizedGaussian(2, 4)]

Draws = dict[tuple[Fraction, Any], int]
Sums = dict[int, tuple[int, int]]
"""Bounds on the probability of each value of S, in units of 2**-90."""

BITS = 90


def of_weights(*weights: Any) -> Draws:
    """Return these draws: of weight, law, number."""
    return {(Fraction(w), law): n for w, law, n in weights}


@functools.cache
def masses(law: Any) -> list[tuple[int, int, int]]:
    """Return x and certified bounds on P(X = x), for all x but some of 10**-14 together."""
    reach = int(law.isf(1e-15))
    found = []
    for x in range(-reach, reach + 1):
        low, high = law.pmf(x, bounds=True)
        found.append((x, math.floor(low * Fraction(2**BITS)), math.ceil(high * Fraction(2**BITS))))
    return found


def exact(draws: Draws) -> tuple[Fraction, Sums]:
    """Return a unit, and bounds on the probabilities of S in this unit, by the definition."""
    common = math.lcm(*(w.denominator for w, _ in draws))
    unit = Fraction(math.gcd(*(int(w * common) for w, _ in draws)), common)
    found: Sums = {0: (2**BITS, 2**BITS)}
    for (w, law), n in draws.items():
        for _ in range(n):
            new: dict[int, tuple[int, int]] = {}
            for at, (low, high) in found.items():
                for x, p, q in masses(law):
                    place = at + int(w / unit) * x
                    a, b = new.get(place, (0, 0))
                    new[place] = a + low * p, b + high * q
            found = {at: (a >> BITS, (b >> BITS) + 1) for at, (a, b) in new.items()}
    return unit, found


def inside(found: Sums, r: Fraction, unit: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds on P(abs(S) <= r)."""
    low = sum(a for at, (a, _) in found.items() if abs(at) * unit <= r)
    high = sum(b for at, (_, b) in found.items() if abs(at) * unit <= r)
    return Fraction(low, 2**BITS), Fraction(high, 2**BITS) + Fraction(1, 10**13)


CASES = {
    "sixteenths": of_weights((Fraction(3, 16), G(3), 2), (Fraction(9, 16), G(3), 1)),
    "two laws": of_weights((1, G("1/2"), 2), (Fraction(2, 3), L(1), 2)),
    "little noise": of_weights((Fraction(1, 3), L("1/4"), 3), (Fraction(1, 7), L("1/5"), 2)),
    "large weights": of_weights((100, G(5), 1), (7, G(5), 1)),
    "skellam": of_weights((2, OTHERS[0], 2), (Fraction(1, 2), OTHERS[0], 1)),
    "generalized": of_weights((2, OTHERS[1], 1), (Fraction(3, 4), OTHERS[1], 2)),
    "all kinds": of_weights(
        *((w, law, 1) for w, law in zip((2, 3, 4), (G(1), L(1), OTHERS[0]), strict=True))
    ),
}


@pytest.mark.parametrize("miss", [Fraction(1, 10), Fraction(1, 20), Fraction(1, 10**6)], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_if_a_unit_divides_all_weights_the_radius_is_the_least(name: str, miss: Fraction) -> None:
    """By sums of certified masses, r is enough, and no smaller number is."""
    unit, found = exact(CASES[name])
    r = radius(CASES[name], miss)
    assert inside(found, r, unit)[0] >= 1 - miss
    assert inside(found, r - unit / 2, unit)[1] < 1 - miss
    assert r % unit == 0


@pytest.mark.parametrize("miss", [Fraction(1, 10), Fraction(1, 20), Fraction(1, 10**6)], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_if_no_unit_divides_weights_the_radius_is_little_more(name: str, miss: Fraction) -> None:
    """With the weights a little off, the radius is enough for the true ones; at most 2 % more."""
    off = Fraction(math.pi) / 10**6
    moved = {
        (w * (1 + (i - 1) * off), law): n for i, ((w, law), n) in enumerate(CASES[name].items())
    }
    unit, found = exact(CASES[name])
    r = radius(moved, miss)
    far = sum(
        n * abs(w - v) * 60
        for ((w, law), n), (v, _) in zip(moved.items(), CASES[name], strict=True)
    )
    assert inside(found, r + far, unit)[0] >= 1 - miss
    assert r <= radius(CASES[name], miss) * Fraction(102, 100) + far


@pytest.mark.parametrize("law", [G(3), L(1), OTHERS[0], OTHERS[1]], ids=repr)
def test_masses_on_the_ring_are_within_their_error(law: Any) -> None:
    """The proven error holds for every mass, and is some rounding errors."""
    draws = of_weights((1, law, 2), (3, law, 2))
    _, found = exact(draws)
    computed, error = _masses({(int(w), law): n for (w, _), n in draws.items()}, 2**10)
    assert 0 < error < 1e-13
    for m in range(2**9):
        low, high = (Fraction(mass, 2**BITS) for mass in found.get(m, (0, 0)))
        most = high + Fraction(error) + Fraction(1, 10**13)
        assert low - Fraction(error) <= computed[m] <= most


def test_a_ring_that_is_too_large_or_not_precise_enough_has_no_radius() -> None:
    """Then the radius is Chernoff's: enough, and up to 40 % more."""
    assert ring_radius({(1, L(10**6)): 2}, Fraction(1, 20)) is None
    assert ring_radius({(1, L(2)): 2, (2, L(2)): 1}, Fraction(1, 10**16)) is None
    draws = of_weights((1, G(5), 1), (2, G(5), 1))
    miss = Fraction(1, 10**16)
    r = radius(draws, miss)
    assert r == chernoff_radius(draws, miss)
    assert 8.2 * 5 < r < 1.1 * 8.2 * 5


@pytest.mark.parametrize("name", CASES)
def test_chernoff_bounds_hold(name: str) -> None:
    """They are enough, with a sub-Gaussian term, too, and less than four times the least."""
    unit, found = exact(CASES[name])
    for miss in (Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6)):
        r = chernoff_radius(CASES[name], miss)
        assert inside(found, r, unit)[0] >= 1 - miss
        assert r <= 4 * radius(CASES[name], miss) + unit
    more = chernoff_radius(CASES[name], Fraction(1, 20), Fraction(100))
    assert more > chernoff_radius(CASES[name], Fraction(1, 20))
    assert more >= 10 * Fraction(math.sqrt(2 * math.log(40)))


@pytest.mark.parametrize(
    ("law", "most"),
    [(G(5), 2.717), (G("1/10"), 6.3), (L(1), 3.4), (L(3), 3.34), *((x, 3) for x in OTHERS)],
)
def test_a_critical_value_holds_for_any_weights(law: Any, most: float) -> None:
    """Sums of two draws, of any angle, are within so many deviations."""
    t = critical_value([law], Fraction(1, 20))
    assert 1.96 < t <= most
    for w in (0, Fraction(1, 5), Fraction(1, 2), 1):
        draws = of_weights((1, law, 1), *(((w, law, 1),) if w not in (0, 1) else ()))
        unit, found = exact(draws)
        far = Fraction(t) * Fraction(math.sqrt(law.var() * sum(float(w) ** 2 for w, _ in draws)))
        assert inside(found, far, unit)[0] >= Fraction(19, 20)


@pytest.mark.parametrize("law", [G(10**12), G(400), L(10**6), L(10**3)], ids=repr)
def test_wide_draws_are_split_and_keep_their_law(law: Any) -> None:
    """Their sums have the radius of narrow ones, in deviations, and at most 2 % more."""
    for weights in ((1, 1, 1), (1, 2, 5), (1, 3, 3, 17)):

        def of(one: Any, weights: tuple[int, ...] = weights) -> float:
            draws = {(Fraction(w), one): weights.count(w) for w in weights}
            spread = math.sqrt(one.var() * sum(w * w for w in weights))
            return float(radius(draws, Fraction(1, 20))) / spread

        least = 1.959964 if isinstance(law, G) else of(L(60))
        assert 0.995 * least < of(law) < 1.025 * least


def test_the_parts_of_a_split_have_the_moments_of_the_whole() -> None:
    """w X = unit v Y + off Y + w Z: the variances add up, and Z has its sub-Gaussian parameter."""
    for law, q in itertools.product((G(10**6), L(1000)), (1, 7, 50)):
        part = _SplitDraws(Fraction(3, 7), law, 1, Fraction(3, 7) * q + Fraction(1, 9))
        assert part.q in {q, q + 1}
        assert abs(part.weight * part.q - part.v * Fraction(3, 7) * q - part.off) < 1
        rest = float(law.var()) - part.q**2 * float(part.law.var())
        assert -1e-9 * law.var() <= rest <= float(part.proxy) + 1e-6
        assert part.proxy <= 3 * part.q**2
    assert _SplitDraws(Fraction(1), G(100), 1, Fraction(40)).q == 2  # 18 q**2 <= sigma2
    assert _SplitDraws(Fraction(1), dg.Skellam(100), 1, Fraction(40)).q == 1


def test_doubts_about_weights_widen_the_radius() -> None:
    """Weights may be off by the doubts, in either direction."""
    draws = of_weights((1, G(5), 2), (2, G(5), 1))
    doubts = of_weights((Fraction(1, 5), G(5), 3))
    r = radius(draws, Fraction(1, 20), doubts)
    assert r > radius(draws, Fraction(1, 20))
    for sign in (1, -1):
        true = {(w + sign * Fraction(1, 5), law): n for (w, law), n in draws.items()}
        unit, found = exact(true)
        assert inside(found, r, unit)[0] >= Fraction(19, 20)


def test_no_draws_have_no_radius() -> None:
    assert radius({}, Fraction(1, 20)) == 0
    assert radius({}, Fraction(1, 20), of_weights((1, G(5), 1))) > 4
    assert radius(of_weights((0, G(5), 3)), Fraction(1, 20)) == 0
    assert radius(of_weights((Fraction(2, 3), L(3), 1)), Fraction(1, 20)) == Fraction(2, 3) * int(
        L(3).isf(Fraction(1, 40))
    )


def test_many_draws_are_as_precise() -> None:
    """A million draws of each of two weights have the normal law's radius to 1e-3."""
    for law in (G("1/4"), L(2), G(10**8)):
        r = radius(of_weights((1, law, 10**6), (3, law, 10**6)), Fraction(1, 20))
        assert 1.9599 < float(r) / math.sqrt(1e7 * law.var()) < 1.9799
    assert np.isfinite(float(r))
