"""Facts that hold for every law, on laws that hypothesis picks."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_sums import GG, G, L

CENTRES = st.one_of(st.integers(-5, 5).map(Fraction), st.fractions(-3, 3, max_denominator=1000))
WIDTHS = st.fractions(Fraction(1, 50), 2000, max_denominator=10**6)
SCALES = st.fractions(Fraction(1, 50), 60, max_denominator=10**6)
BETAS = st.one_of(st.sampled_from([1, 2, 3, 4, 100]), st.fractions(1, 12, max_denominator=100)).map(
    Fraction
)

laws = st.one_of(
    st.builds(G, WIDTHS, CENTRES),
    st.builds(L, SCALES, CENTRES),
    st.builds(GG, SCALES, BETAS, CENTRES),
)


def integers_around(law: Any, n: int = 40) -> Any:
    return math.floor(law.mu) + np.arange(-n, n + 1)


@settings(max_examples=20)
@given(laws)
def test_probabilities_certainly_sum_to_1(law: Any) -> None:
    """1 lies between the sums of bounds of pmf within 40 of mu, and of cdf and sf outside."""
    ks = integers_around(law)
    lower, upper = law.pmf(ks, bounds=True)
    below, above = law.cdf(int(ks[0]) - 1, bounds=True), law.sf(int(ks[-1]), bounds=True)
    least = sum(map(Fraction, lower)) + Fraction(below[0]) + Fraction(above[0])
    most = sum(map(Fraction, upper)) + Fraction(below[1]) + Fraction(above[1])
    assert least <= 1 <= most
    assert most - least < Fraction(1, 2**51)


@settings(max_examples=30)
@given(laws)
def test_distribution_functions_are_sums_of_probabilities(law: Any) -> None:
    ks = integers_around(law)
    pmf, cdf, sf = law.pmf(ks), law.cdf(ks), law.sf(ks)
    np.testing.assert_allclose(np.diff(cdf), pmf[1:], rtol=0, atol=4e-16)
    np.testing.assert_allclose(cdf + sf, 1, rtol=0, atol=4e-16)
    assert (np.diff(cdf) >= 0).all()
    assert (np.diff(sf) <= 0).all()
    positive = pmf > 1e-300
    np.testing.assert_allclose(
        law.logpmf(ks)[positive], np.log(pmf[positive]), rtol=1e-13, atol=1e-15
    )
    np.testing.assert_allclose(law.cdf(ks + 0.5), cdf, rtol=1e-14)


@settings(max_examples=30)
@given(laws)
def test_minus_x_has_the_mirrored_law(law: Any) -> None:
    mirror = type(law)(*[getattr(law, f) for f in law.__match_args__[:-1]], -law.mu)
    ks = integers_around(law, 12)
    np.testing.assert_allclose(mirror.pmf(-ks), law.pmf(ks), rtol=1e-14, atol=5e-324)
    np.testing.assert_allclose(mirror.cdf(-ks), law.sf(ks - 1), rtol=1e-14, atol=5e-324)
    assert mirror.mean() == -law.mean()
    assert mirror.var() == pytest.approx(law.var(), rel=1e-15)


@settings(max_examples=30)
@given(laws, st.integers(-60, 60))
def test_the_quantile_of_a_probability_is_its_integer(law: Any, k: int) -> None:
    """A float just below P(X <= k) has the quantile k, unless P(X = k) is tiny beside it."""
    k += math.floor(law.mu)
    lower, _ = law.cdf(k, bounds=True)
    if lower >= 5e-300 and law.pmf(k) > 1e-10 * lower:
        assert law.ppf(lower) == k


@settings(max_examples=30)
@given(laws, st.integers(-40, 400), st.integers(0, 200))
def test_the_tail_bound_is_above_the_tail(law: Any, k: int, z: int) -> None:
    for at in (k, math.ceil(law.mu + z * Fraction(law.std()))):
        assert law.sf(at - 1, bounds=True)[0] <= law.tail_bound(at) <= 1
