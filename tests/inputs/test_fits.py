"""A dtype is taken only if a draw lies outside it with a probability below 2**-128.

A proof in the package decides that. These tests sum the probability itself, to 50 digits, at the
narrowest range that it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from evidence_cases import evidence, some
from law_sums import GG, G, L, phi
from mpmath import mp, mpf
from parts import fits

from discretegauss.laws import Geometric

LEAST = mpf(2) ** -128


def total_from(start: int, step: int, law: Any) -> Any:
    """Return the sum of the weights from start outwards, to one part in 10**20."""
    total, x = mpf(0), start
    while True:
        term = mpmath.exp(-phi(law, x))
        total += term
        # the weights fall at least geometrically from there on
        if term * 10**24 <= total:
            return total
        x += step


def outside(law: Any, low: int, high: int) -> Any:
    """Return Pr[X < low or X > high] for low <= mu <= high."""
    with mp.workdps(50):
        centre = round(law.mu)
        whole = total_from(centre, 1, law) + total_from(centre - 1, -1, law)
        return (total_from(high + 1, 1, law) + total_from(low - 1, -1, law)) / whole


def around(law: Any, mu: Fraction) -> Any:
    """Return the law with another centre."""
    return type(law)(**{name: getattr(law, name) for name in law.__match_args__} | {"mu": mu})


def narrowest(taken: Callable[[int], bool], least: int) -> int:
    """Return the least n >= least that is taken, given that all larger ones are, too."""
    high = least + 1
    while not taken(high):
        high *= 2
    low = least
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if taken(middle) else (middle, high)
    return low if taken(low) else high


MUS = [Fraction(0), Fraction(1, 3), Fraction(-1, 2), Fraction(-70, 3)]
LAWS: list[Any] = [
    *map(G, ("1/1000", "1/4", 1, 90, 4000)),
    *map(L, ("1/100", "1/2", 1, 7, 30)),
    *(GG(scale, b) for scale in ("1/10", 1, 20) for b in (1, "11/10", "3/2", 2, 3, 20)),
]


@pytest.mark.parametrize("mu", [MUS[0], *evidence(*MUS[1:])], ids=str)
@pytest.mark.parametrize("law", some(LAWS), ids=str)
def test_the_narrowest_range_that_is_taken_holds_the_law(law: Any, mu: Fraction) -> None:
    """The range is -n ... n."""
    law = around(law, mu)
    n = narrowest(lambda n: fits(law, -n, n), abs(round(mu)))
    assert outside(law, -n, n) < LEAST


@pytest.mark.parametrize("law", some([*LAWS[:10], *LAWS[10::2]]), ids=str)
def test_the_range_of_an_unsigned_type_holds_the_law(law: Any) -> None:
    """The range is 0 ... 2**64 - 1, around the least mu = n + 1/3 that is taken."""
    third = Fraction(1, 3)
    n = narrowest(lambda n: fits(around(law, n + third), 0, 2**64 - 1), 0)
    assert outside(around(law, n + third), 0, 2 * n + 2**20) < LEAST


@pytest.mark.parametrize("gamma", [Fraction(1, 50), Fraction(1), Fraction(7, 3)], ids=str)
def test_the_narrowest_range_of_a_geometric_law_holds_it(gamma: Fraction) -> None:
    """Pr[X > n] is exp(-gamma (n + 1)), and one less would leave more than 2**-129 outside."""
    n = narrowest(lambda n: fits(Geometric(gamma), 0, n), 0)
    rate = mpf(gamma.numerator) / gamma.denominator
    assert mpmath.exp(-rate * (n + 1)) < LEAST
    assert mpmath.exp(-rate * n) > LEAST / 2 or gamma > 1


@pytest.mark.parametrize("law", some(LAWS[:10], 6), ids=str)
def test_what_is_refused_is_not_far_from_it(law: Any) -> None:
    """A range a fifth narrower than the narrowest taken leaves more than 2**-128 outside."""
    n = narrowest(lambda n: fits(law, -n, n), 0)
    assert n < 3 or outside(law, -(n * 4 // 5), n * 4 // 5) > LEAST
