"""What the laws say of themselves, against sums in 60 digits."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import discretegauss as dg
from discretegauss.errors import ParameterTypeError, ParameterValueError

G, L, GG = dg.DiscreteGaussian, dg.DiscreteLaplace, dg.GeneralizedGaussian

LAWS = [
    *(G(s2, mu) for s2 in ("1/100", "1/4", 1, 10, 400, 10**4) for mu in (0, "1/3", "-1/2")),
    *(L(scale, mu) for scale in ("1/10", 1, "5/2", 40) for mu in (0, "1/3", "-1/2")),
    *(
        GG(scale, beta, mu)
        for scale in (1, 20)
        for beta in (1, "3/2", 2, 3, 4)
        for mu in (0, "1/3")
    ),
    GG(5, 100),
]


def phi(law: Any, k: int) -> Any:
    r = mpf(abs(k - law.mu).numerator) / abs(k - law.mu).denominator
    if isinstance(law, G):
        return r * r / 2 * law.sigma2.denominator / law.sigma2.numerator
    z = r * law.scale.denominator / law.scale.numerator
    return z if isinstance(law, L) else z ** (mpf(law.beta.numerator) / law.beta.denominator)


@cache
def weights(law: Any) -> dict[int, Any]:
    """Weights exp(-phi), out to where they are below 10^-80 of the largest."""
    with mp.workdps(60):
        middle = round(law.mu)
        found = {middle: mpmath.exp(-phi(law, middle))}
        for step in (1, -1):
            k = middle + step
            while (w := mpmath.exp(-phi(law, k))) > found[middle] * mpf(10) ** -80:
                found[k] = w
                k += step
        return found


def close(value: float, exact: Any) -> bool:
    with mp.workdps(60):
        return bool(abs(mpf(float(value)) - exact) <= abs(exact) * mpf("1e-14"))


def encloses(bounds: tuple[float, float], exact: Any) -> bool:
    with mp.workdps(60):
        lower, upper = (mpf(float(x)) for x in bounds)
        # the sums themselves are right to some 50 digits
        slack = abs(exact) * mpf(10) ** -50
        tight = upper - lower <= abs(exact) * mpf("1e-15")
        return bool(lower - slack <= exact <= upper + slack and tight)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_probabilities_are_those_of_the_sums(law: Any) -> None:
    """pmf, cdf, sf and their logarithms are right to 1e-14, and their bounds certainly hold."""
    table = weights(law)
    with mp.workdps(60):
        total = mpmath.fsum(table.values())
        ks = sorted(table)
        picked = ks[:: max(1, len(ks) // 8)]
        for k in picked:
            below = mpmath.fsum(table[i] for i in ks if i <= k)
            above = mpmath.fsum(table[i] for i in ks if i > k)
            for name, exact in (
                ("pmf", table[k] / total),
                ("cdf", below / total),
                ("sf", above / total),
            ):
                if exact < mpf(10) ** -25:  # beyond, the cut of the sums shows
                    continue
                function, log = getattr(law, name), getattr(law, "log" + name)
                assert close(function(k), exact), (name, k)
                assert encloses(function(k, bounds=True), exact), (name, k)
                if abs(mpmath.log(exact)) > 1e-3:
                    assert close(log(k), mpmath.log(exact)), (name, k)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_moments_are_those_of_the_sums(law: Any) -> None:
    """Mean, variance, standard deviation and entropy."""
    table = weights(law)
    with mp.workdps(60):
        total = mpmath.fsum(table.values())
        mean = mpmath.fsum(k * w for k, w in table.items()) / total
        var = mpmath.fsum((k - mean) ** 2 * w for k, w in table.items()) / total
        entropy = mpmath.log(total) + mpmath.fsum(phi(law, k) * w for k, w in table.items()) / total
        if abs(mean) > mpf(10) ** -40:
            assert close(law.mean(), mean)
            assert encloses(law.mean(bounds=True), mean)
        else:
            assert law.mean() == 0
        assert close(law.var(), var)
        assert encloses(law.var(bounds=True), var)
        assert close(law.std(), mpmath.sqrt(var))
        assert close(law.entropy(), entropy)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_quantiles_invert_the_cdf(law: Any) -> None:
    """ppf(q) is the smallest integer whose cdf reaches q; isf its mirror."""
    table = weights(law)
    with mp.workdps(60):
        total = mpmath.fsum(table.values())
        for q in (1e-12, 0.025, 0.3, 0.5, 0.7, 0.999):
            below, expected = mpf(0), None
            for k in sorted(table):
                below += table[k]
                if expected is None and below >= mpf(q) * total * (1 - mpf(10) ** -45):
                    expected = k
            assert law.ppf(q) == expected
            above, expected = total, None
            for k in sorted(table):
                above -= table[k]
                if expected is None and above <= mpf(q) * total * (1 + mpf(10) ** -45):
                    expected = k
            assert law.isf(q) == expected


@pytest.mark.parametrize("sigma2", [10**12, 10**100, 2**4000 + Fraction(1, 3)])
def test_laws_of_any_width_answer(sigma2: Any) -> None:
    """Far beyond any sum the law is the normal one to all digits of a float."""
    law = G(sigma2)
    sigma = math.isqrt(math.floor(sigma2))
    assert law.cdf(sigma) == pytest.approx(0.8413447460685429, rel=1e-6)
    assert law.logpmf(0) == pytest.approx(
        -0.5 * (math.log(2 * math.pi) + math.log(math.floor(sigma2))), rel=1e-14
    )
    assert law.ppf(0.975) // (sigma // 10**5) == 195996
    assert law.logsf(40 * sigma) == pytest.approx(-804.608442013754, rel=1e-6)


def test_extreme_arguments_have_scipys_meaning() -> None:
    law = G(4)
    assert law.pmf(0.5) == 0
    assert law.cdf(0.5) == law.cdf(0)
    assert (law.cdf(math.inf), law.sf(-math.inf), law.pmf(math.inf)) == (1, 1, 0)
    assert math.isnan(law.pmf(math.nan))
    assert (law.ppf(0), law.ppf(1)) == (-math.inf, math.inf)
    assert np.isnan(law.ppf([-0.1, 1.1])).all()
    assert law.pmf([[0, 1], [2, 3]]).shape == (2, 2)
    assert type(law.pmf(0)) is float
    assert law.pmf(10**400) == 0
    assert law.logpmf(10**30) < -1e58


@settings(max_examples=60, deadline=None)
@given(
    st.fractions(Fraction(1, 50), 2000),
    st.fractions(-3, 3),
    st.sampled_from([G, L]),
    st.floats(0.001, 0.999),
)
def test_a_law_is_consistent(parameter: Fraction, mu: Fraction, kind: Any, q: float) -> None:
    """Sums to one, differences of the cdf, inversion, symmetry, and the variance's bound."""
    law = kind(parameter, mu)
    width = int(45 * (law.std() + 1)) + 5
    ks = np.arange(-width, width + 1)
    pmf, cdf = law.pmf(ks), law.cdf(ks)
    assert math.fsum(pmf) == pytest.approx(1, abs=1e-12)
    assert np.allclose(np.diff(cdf), pmf[1:], rtol=0, atol=1e-15)
    assert np.allclose(cdf + law.sf(ks), 1, rtol=0, atol=1e-15)
    k = law.ppf(q)
    assert law.cdf(k) >= q * (1 - 1e-15)
    assert law.cdf(k - 1) <= q * (1 + 1e-15)
    mirrored = kind(parameter, -mu)
    assert np.allclose(mirrored.pmf(-ks), pmf, rtol=1e-13, atol=0)
    if kind is G and mu.denominator == 1:
        assert law.var(bounds=True)[0] <= parameter
        assert law.mean() == mu


@pytest.mark.parametrize("law", [G(4), G(100, "1/3"), L(3), GG(6, "3/2")], ids=str)
def test_scipy_takes_the_law_for_one_of_its_own(law: Any) -> None:
    """What scipy checks of its discrete distributions."""
    pytest.importorskip("scipy")
    dist = law.as_scipy()
    ks = np.arange(-400, 401)
    inside = ks[np.abs(ks - float(law.mu)) < 5 * law.std()]
    assert np.allclose(np.cumsum(dist.pmf(ks)), dist.cdf(ks), atol=1e-12)
    assert np.allclose(dist.sf(ks), 1 - dist.cdf(ks), atol=1e-14)
    assert np.allclose(dist.logpmf(inside), np.log(dist.pmf(inside)))
    assert (dist.ppf(dist.cdf(inside) * (1 - 1e-12)) == inside).all()
    assert dist.mean() == law.mean()
    assert dist.var() == law.var()
    assert dist.expect(lambda k: (k - law.mean()) ** 2) == pytest.approx(law.var(), rel=1e-6)
    assert dist.entropy() == pytest.approx(law.entropy())
    assert dist.cdf(3, loc=3) == law.cdf(0)
    assert dist().pmf(0) == law.pmf(0)
    with pytest.raises(TypeError, match="random_state"):
        dist.rvs(size=3, random_state=1)


@pytest.mark.usefixtures("native_engine")
def test_scipys_rvs_are_exact_draws() -> None:
    draws = G(4).as_scipy().rvs(size=(50, 4))
    assert draws.shape == (50, 4)
    assert draws.dtype == np.int64


def test_quantiles_of_arrays_of_any_numbers() -> None:
    """Lists of mixed types, as single numbers; what is no number is refused by name."""
    law = G(100)
    mixed = ["1/3", 0.5, Decimal("NaN"), Fraction(1, 3), float("nan"), 2, gmpy2.mpfr("inf")]
    got = law.ppf(mixed)
    assert got.tolist()[:2] == [law.ppf("1/3"), 0]
    assert np.isnan(got).tolist() == [False, False, True, False, True, True, True]
    assert law.isf([0.25, 0.5, 0.75]).tolist() == [law.isf(q) for q in (0.25, 0.5, 0.75)]
    for wrong in ([None, 0.5], [1j, 2], [[0.5, "a"]], [b"1"], np.array(["a", "b"])):
        for function in (law.ppf, law.isf):
            with pytest.raises((ParameterTypeError, ParameterValueError), match=r"^q must"):
                function(wrong)
