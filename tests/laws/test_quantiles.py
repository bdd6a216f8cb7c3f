"""Quantiles are exact: the integer at which the distribution function passes q."""

from __future__ import annotations

import math
from bisect import bisect_left
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from operator import neg
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from evidence_cases import some
from law_sums import GG, LAWS, G, L, weights
from mpmath import mp, mpf

from discretegauss._certified.array_functions import in_floats, tail_table, upper_tails
from discretegauss._law import Kind, LawSpec
from discretegauss._law_functions import quantiles as _quantile_arrays
from discretegauss._law_functions.quantiles import _finder, _sure
from discretegauss.errors import ParameterTypeError, ParameterValueError


@pytest.mark.parametrize("law", some(LAWS), ids=str)
def test_quantiles_invert_the_cdf(law: Any) -> None:
    """ppf(q) is the smallest integer whose cdf reaches q, and isf is its mirror."""
    table = weights(law)
    with mp.workdps(60):
        total = mpmath.fsum(table.values())
        ks = sorted(table)
        below = list(accumulate(table[k] for k in ks))
        above = [total - weight for weight in below]
        for q in (1e-12, 0.025, 0.3, 0.5, 0.7, 0.999):
            enough = mpf(q) * total * (1 - mpf(10) ** -45)
            assert law.ppf(q) == ks[bisect_left(below, enough)]
            most = mpf(q) * total * (1 + mpf(10) ** -45)
            assert law.isf(q) == ks[bisect_left(above, -most, key=neg)]


# --- quantiles


@pytest.mark.parametrize(
    "law",
    some(
        [G(400, "1/3"), L(7, "1/2"), GG(12, "5/2"), G("1/9"), G("1/4", "1/3"), L("1/3", "-2/5")], 2
    ),
    ids=str,
)
def test_quantiles_of_arrays_are_those_of_numbers(law: Any) -> None:
    rng = np.random.default_rng(7)
    q = np.concatenate(
        [rng.random(24), 10.0 ** -rng.uniform(0, 300, 30), [0.5, 0, 1, math.nan, -1, 1e-315]]
    )
    for function in (law.ppf, law.isf):
        values = function(q)
        np.testing.assert_array_equal(values, [function(x) for x in q.tolist()])
    # the hard cases are probabilities that are nearly those of an integer
    ks = np.array([-30, -21, -12, *range(-5, 6), 13, 20, 29])
    near = np.concatenate([law.cdf(ks) * factor for factor in (1 - 1e-15, 1, 1 + 1e-15)])
    near = near[near < 1]
    np.testing.assert_array_equal(law.ppf(near), [law.ppf(x) for x in near.tolist()])
    # probabilities of one tail alone
    small = 10.0 ** -rng.uniform(1, 300, 20)
    np.testing.assert_array_equal(law.ppf(small), [law.ppf(x) for x in small.tolist()])


@pytest.mark.parametrize(
    "law", some([G(10**14, "1/3"), G(10**23), L(10**8, "1/2"), L(10**20, -(10**9))], 1), ids=str
)
def test_quantiles_of_arrays_of_wide_laws_are_those_of_numbers(law: Any) -> None:
    """These laws are too wide for a table of tails, so a search or single numbers find them."""
    rng = np.random.default_rng(11)
    q = np.concatenate([rng.random(600), 10.0 ** -rng.uniform(1, 320, 300)])
    q[:4] = 0.5, 0, math.nan, 2
    for function in (law.ppf, law.isf):
        values, few = function(q), function(q[:20])  # few are not worth a search
        for i in [*range(20), *rng.integers(20, q.size, 20)]:
            np.testing.assert_equal(values[i], function(q.tolist()[i]))
        for one_of_many, one_of_few in zip(values, few, strict=False):
            np.testing.assert_equal(one_of_many, one_of_few)


def test_at_the_smallest_floats_neighbours_of_a_tail_are_not_taken_for_it() -> None:
    """A true tail between n and n + 1 units may be rounded to either float."""
    unit = 5e-324
    for n in (0, 1, 2, 9, 2**40, 2**51):
        below, above = n * unit, (n + 1) * unit
        told = n < 2**41  # beyond, the margin is some units
        for tail in (below, above):
            for p in {below, above} - {0.0}:
                at_most_p = _sure(np.array([np.inf]), np.array([tail]), np.array([p]))
                assert at_most_p.tolist() == [told and tail < p]
                beyond_p = _sure(np.array([tail]), np.array([0.0]), np.array([p]))
                assert beyond_p.tolist() == [told and tail > p]


@pytest.mark.parametrize("law", [G(400), G(10**14), L(10**8, "1/3"), GG(12, "5/2")], ids=str)
def test_quantiles_of_many_numbers_are_told_by_floats(
    law: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Certified functions, a millisecond or more each, decide the close cases only."""
    decided: list[Fraction] = []

    def note(_spec: LawSpec, level: Fraction) -> int:
        decided.append(level)
        return 0

    monkeypatch.setattr(_quantile_arrays, "lower_quantile", note)
    q = np.random.default_rng(3).random(1000)
    law.ppf(q)
    law.isf(q)
    assert len(decided) <= 3
    # they decide all numbers that come alone
    assert law.ppf(0.3) == 0
    assert decided[-1] == Fraction(0.3)


def test_a_table_of_certified_tails_is_built_where_it_is_worth_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is not for few numbers of a wide law, nor if floats do not hold its integers."""
    sizes: list[int] = []

    def note(_function: object, _spec: LawSpec, ks: Any, *, bounds: bool) -> Any:
        assert not bounds
        sizes.append(ks.size)
        return np.linspace(0.5, 0, ks.size)

    monkeypatch.setattr(_quantile_arrays, "evaluate", note)
    p = np.linspace(0.1, 0.4, 16)
    for scale, mu, built in ((400, 0, False), (100, 0, True), (100, 2**53, False)):
        beta = Fraction(2**17)  # beyond what floats do
        law = LawSpec(Kind.GENERALIZED_GAUSSIAN, Fraction(scale), Fraction(mu), beta)
        sizes.clear()
        find = _finder(law, p.min(), p.size)
        assert (sizes != [], find is not None) == (built, built)
        assert sum(sizes) <= 20 * 16 + 2


def test_quantiles_that_are_searched_for_are_certain_or_unknown() -> None:
    """Near a tail the search says nothing. Elsewhere it is right, at mu and far from it."""
    law = LawSpec(Kind.DISCRETE_LAPLACE, Fraction(10**9))
    ms = np.concatenate([[0, 1], np.geomspace(2, 5e11, 400).astype(np.int64)])
    pairs, found = upper_tails(law, ms)
    assert found.size == ms.size
    tails = in_floats(pairs)
    for factor, known in ((1 - 5e-14, None), (1 + 5e-14, None), (1 - 5e-10, 1), (1 + 5e-10, 0)):
        with_limit = np.append(tails * factor, 1e-200)
        find = _finder(law, with_limit.min(), with_limit.size)
        assert find is not None
        quantiles, sure = find(with_limit)
        assert (sure[:-1] == (known is not None)).all()
        assert known is None or (quantiles[:-1] == ms + known).all()


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


def test_a_quantile_is_looked_up_only_if_neither_neighbour_is_close() -> None:
    """A tail of the table that is right to 1e-14 may stand on the wrong side of p."""
    law = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100))
    pairs = tail_table(law, 0, 60, most=10**6)
    assert pairs is not None
    table = in_floats(pairs)
    for m in range(40):
        for factor, known in (
            (1 - 5e-14, None),
            (1 + 5e-14, None),
            (1 - 1e-9, m + 1),
            (1 + 1e-9, m),
        ):
            p = np.array([table[m] * factor, table[59]])
            find = _finder(law, p.min(), p.size)
            assert find is not None
            quantiles, sure = find(p)
            assert sure[0] == (known is not None)
            assert known in (None, quantiles[0])


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
