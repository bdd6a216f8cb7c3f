"""Functions of arrays return what they return for single numbers, bit for bit."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from evidence_cases import crossed
from law_sums import GG, G, L
from our_calls import calls

LAWS = [
    GG(100, "3/2"),
    GG(30, "5/2", "1/3"),
    GG(40, "1.1", "1e-30"),
    GG("1/2", 3, "1/2"),
    GG("1/20", "3/2", "9/20"),
    GG(9, 60, "1/2"),
    GG(20, 3000, -(2**40)),
    GG(10**12, "3/2", "1/7"),
    GG("1/1000", "3/2", "2/5"),
    GG("1/1000", 5000, "1/2"),  # its exponents are beyond all floats
    GG(300, 2**17),
    G(100),
    G("1/3", "1/7"),
    G(10**17, "-1/3"),
    G(10**40, "2/5"),  # floats hold only its middle
    L("5/2", "1/3"),
    L(10**9),
]


def points(law: Any, rng: np.random.Generator, n: int) -> Any:
    """Return integers in no order, some twice: near mu, in the tails, and beyond all floats."""
    m0, s = round(law.mu), max(1, min(int(law.std()), 2**50))
    reach = max(
        1,
        min(int(s * 700 ** float(1 / getattr(law, "beta", 2 if isinstance(law, G) else 1))), 2**52),
    )
    ks = np.concatenate(
        [
            m0 + rng.integers(-3, 4, n),
            m0 + np.rint(rng.normal(0, s, n)).astype(np.int64),
            m0 + rng.integers(-reach, reach + 1, n),
            m0 + np.array([-1, 1]) * (reach * 2 + 3),
            [-(2**63), 2**63 - 1, 2**61],
        ]
    )
    rng.shuffle(ks)
    return ks


@pytest.mark.parametrize(("law", "name"), crossed(LAWS, ["pmf", "cdf", "sf"], n=len(LAWS)))
def test_arrays_are_rounded_as_numbers_are(law: Any, name: str) -> None:
    ks = points(law, np.random.default_rng(1), 12)
    function = getattr(law, name)
    assert function(ks).tolist() == [function(k) for k in ks.tolist()]


@pytest.mark.evidence
@pytest.mark.parametrize("seed", range(12))
def test_arrays_of_random_laws_are_rounded_as_numbers_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(4):
        beta = 1 + Fraction(10 ** rng.uniform(-3, 2)).limit_denominator(50) + Fraction(1, 101)
        scale = Fraction(10 ** rng.uniform(-1, 9)).limit_denominator(100)
        law = GG(scale, beta, Fraction(int(rng.integers(-99, 99)), int(rng.integers(1, 99))))
        ks = points(law, rng, 100)
        for function in (law.pmf, law.cdf, law.sf):
            values = function(ks)
            some = rng.integers(0, ks.size, 40)
            assert values[some].tolist() == [function(k) for k in ks[some].tolist()], law


@pytest.mark.parametrize(
    ("law", "name"),
    [
        *crossed(LAWS[:7], ["pmf", "cdf", "sf"], n=7),
        *((GG(10**8, "3/2", "1/3"), name) for name in ("cdf", "sf")),
    ],
)
def test_twenty_thousand_numbers_cost_less_than_twenty(law: Any, name: str) -> None:
    """Pairs of floats decide nearly all of them, and certified functions one in 2**11."""
    m0, reach = round(law.mu), int(law.scale * 500 ** (1 / law.beta))
    ks = m0 + np.random.default_rng(2).integers(-reach, reach + 1, 20000)
    function = getattr(law, name)
    assert function(ks)[:4].tolist() == [function(k) for k in ks[:4].tolist()]
    assert len(calls(partial(function, ks))) < 20 * len(calls(partial(function, int(ks[0]))))


def test_a_logarithm_next_to_0_is_not_above_it() -> None:
    """The law is nearly all at one integer, whose exponent is 0 up to an error."""
    law = GG("1/81", "201/100", mu=-1 - Fraction(1, 10**30))
    ks = np.arange(-9, 9)
    assert law.logpmf(ks)[ks == -1].tolist() == [law.logpmf(-1)] == [0.0]


def test_a_sum_in_rows_is_the_sum() -> None:
    """The tails of a wide law at many integers are the certified ones at some of them."""
    law = GG(20000, "3/2", "1/3")
    ks = np.arange(-60000, 90000)
    for function in (law.cdf, law.sf):
        values = function(ks)
        for k in (-60000, -54321, -1, 0, 1, 2, 54321, 89999):
            assert values[k + 60000] == function(k)
