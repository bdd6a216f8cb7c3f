"""Quantiles are exact: the integer at which the distribution function passes q."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import gmpy2
import numpy as np
import pytest
from evidence_cases import evidence
from law_sums import GG, G, L
from our_calls import calls

from discretegauss.errors import ParameterTypeError, ParameterValueError


@pytest.mark.parametrize(
    "law",
    [
        *(G(400, "1/3"), L("1/3", "-2/5"), G(10**4)),
        *(GG(100, 2**17), GG(100, 2**17, 2**53)),  # certified tails, or none
        *(G(10**14, "1/3"), L(10**8, "1/2"), L(10**20, -(10**9))),
        *evidence(G("1/9"), G("1/4", "1/3"), L(7, "1/2"), GG(12, "5/2")),
        *evidence(GG(400, 2**17), G(10**23), G(10**18, "-1/3"), GG(10**9, "3/2", "1/3")),
    ],
    ids=str,
)
def test_quantiles_of_arrays_are_those_of_numbers(law: Any) -> None:
    """It holds in short and long arrays, next to the jumps of the cdf, and at the least floats."""
    rng = np.random.default_rng(7)
    far = math.floor(law.mu) + np.rint(rng.normal(0, law.std(), 3))
    jumps = np.concatenate([function([int(k) for k in far]) for function in (law.cdf, law.sf)])
    near = [*(np.nextafter(jumps, end) for end in (0, 1)), jumps * (1 - 1e-14), jumps * (1 + 1e-14)]
    special = [0.5, 0, 1, math.nan, -1, 2, 1 - 2**-53]
    usual = [rng.random(9), 10.0 ** -rng.uniform(0, 290, 9), jumps, *near, special]
    least = [10.0 ** -rng.uniform(290, 323, 14), 5e-324 * np.array([1, 2, 3, 9, 2**40, 2**51])]
    for q in map(np.concatenate, (usual, least)):
        rng.shuffle(q)
        for function in (law.ppf, law.isf):
            one_by_one = [function(x) for x in q.tolist()]
            for times in (1, 16):
                np.testing.assert_equal(function(np.tile(q, times)).tolist(), one_by_one * times)


@pytest.mark.parametrize("law", [G(400), G(10**14), L(10**8, "1/3"), GG(12, "5/2")], ids=str)
def test_a_thousand_quantiles_cost_less_than_ten(law: Any) -> None:
    """Floats tell nearly all of them, and certified functions decide the close cases."""
    q = np.random.default_rng(3).random(1000)
    for function in (law.ppf, law.isf):
        function(q)
        assert len(calls(partial(function, q))) < 10 * len(calls(partial(function, 0.3)))


def test_quantiles_take_exact_numbers() -> None:
    law = G(100)
    assert law.ppf(Fraction(39, 40)) == law.ppf("0.975") == 20
    assert law.interval("0.95") == (-20, 20)
    assert law.isf("1e-400") == law.isf(Fraction(1, 10**400)) > 400
    assert law.isf(0.1) == law.ppf(1 - Fraction(0.1))
    # 1 - q is not rounded: here 1.0 - q would be 1
    assert law.isf(1e-20) == -law.ppf(1e-20) == 93


def test_quantiles_beyond_2_to_the_53_are_integers() -> None:
    law = G(10**100)
    assert type(law.ppf(0.9)) is int
    assert law.cdf(law.ppf(0.9)) >= 0.9 > law.cdf(law.ppf(0.9) - 10**40)
    mixed = law.ppf([0.9, 0.5, 0, math.nan])
    assert mixed.dtype == object
    assert [type(x) for x in mixed] == [int, int, float, float]
    assert G(100).ppf([0.9, 0.5]).dtype == np.float64


@pytest.mark.parametrize("mu", [2**53 + 1, -(2**53) - 1])
def test_the_first_integer_that_is_no_float_is_not_rounded(mu: int) -> None:
    """This holds on both sides, and in arrays."""
    for law in (L("1/10", mu), G("1/100", mu)):
        assert law.ppf("1/2") == mu
        assert law.isf(["1/2"]).tolist() == [mu]
        assert law.interval(0) == (mu, mu)


def test_quantiles_of_nothing_are_nothing() -> None:
    assert G(100).ppf([]).shape == (0,)
    assert G(100).isf(np.empty((0, 3))).shape == (0, 3)


def test_intervals() -> None:
    law = G(100)
    assert law.interval(0) == (0, 0)
    assert law.interval(1) == (-math.inf, math.inf)
    lower, upper = law.interval([0.5, 0.9])
    assert (lower.tolist(), upper.tolist()) == ([-7, -16], [7, 16])
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="confidence"):
            law.interval(bad)
    assert law.support() == (-math.inf, math.inf)


def test_quantiles_of_arrays_of_any_numbers() -> None:
    """Lists of mixed types mean the same as single numbers. Other lists are refused by name."""
    law = G(100)
    mixed = ["1/3", 0.5, Decimal("NaN"), Fraction(1, 3), float("nan"), 2, gmpy2.mpfr("inf")]
    got = law.ppf(mixed)
    assert got.tolist()[:2] == [law.ppf("1/3"), 0]
    assert np.isnan(got).tolist() == [False, False, True, False, True, True, True]
    np.testing.assert_array_equal(law.ppf(mixed * 3), np.tile(got, 3))  # many
    assert law.isf([0.25, 0.5, 0.75]).tolist() == [law.isf(q) for q in (0.25, 0.5, 0.75)]
    for wrong in ([None, 0.5], [1j, 2], [[0.5, "a"]], [b"1"], np.array(["a", "b"])):
        for function in (law.ppf, law.isf):
            with pytest.raises((ParameterTypeError, ParameterValueError), match=r"^q must"):
                function(wrong)
