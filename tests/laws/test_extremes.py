"""Laws of any width and exponent answer, and their answers fit together."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from evidence_cases import some
from law_sums import GG, G, L


@pytest.mark.parametrize("sigma2", [10**12, 10**100, 2**4000 + Fraction(1, 3)])
def test_laws_of_any_width_answer(sigma2: Any) -> None:
    """A law too wide for any sum has the values of the normal law."""
    law = G(sigma2)
    sigma = math.isqrt(math.floor(sigma2))
    assert law.cdf(sigma) == pytest.approx(0.8413447460685429, rel=1e-6)
    assert law.logpmf(0) == pytest.approx(
        -0.5 * (math.log(2 * math.pi) + math.log(math.floor(sigma2))), rel=1e-14
    )
    assert law.ppf(0.975) // (sigma // 10**5) == 195996
    assert law.logsf(40 * sigma) == pytest.approx(-804.608442013754, rel=1e-6)


def test_limits_of_narrow_laws() -> None:
    """As sigma -> 0 all weight is on the nearest integer, or half on each of two."""
    assert G("1e-30").pmf([0, 1]).tolist() == [1, 0]
    assert G("1e-30").var() == G("1e-30").entropy() == 0
    halves = G("1e-30", "1/2")
    assert halves.pmf([-1, 0, 1, 2]).tolist() == [0, 0.5, 0.5, 0]
    assert (halves.mean(), halves.var(), halves.entropy()) == (0.5, 0.25, math.log(2))
    assert (halves.cdf(0), halves.median()) == (0.5, 0)


def test_limits_of_wide_laws() -> None:
    """As sigma grows the laws' moments become those of the continuous laws."""
    law = G(10**100)
    assert law.var() == 1e100
    assert law.std() == 1e50
    of_one = 0.5 * math.log(2 * math.pi * math.e)
    assert math.isclose(law.entropy(), of_one + 50 * math.log(10))
    assert G(2**4000).var() == G(2**4000).std() == math.inf
    assert math.isclose(G(2**4000).entropy(), of_one + 2000 * math.log(2))
    assert math.isclose(L(10**50).var(), 2e100)
    assert math.isclose(L(10**50).entropy(), 1 + math.log(2e50))


def test_the_median_is_the_nearest_integer_whatever_the_law() -> None:
    """This holds even if the sides differ by less than any number of bits can show."""
    for beta in (1, 2, 3, 10**6, 10**300):
        for mu, expected in (("1/3", 0), ("2/3", 1), ("1/2", 0), ("-1/2", -1), ("-1/3", 0)):
            law = GG("9/10", beta, mu)
            assert law.median() == law.ppf("1/2") == law.isf(0.5) == expected


def test_a_quantile_that_no_bits_decide_is_refused() -> None:
    """To over 10**6 bits the law is uniform on five integers, so P(X < -1) may be 1/5, or not."""
    law = GG("5/2", 10**30)
    with pytest.raises(ArithmeticError, match="could not be decided"):
        law.ppf("1/5")
    assert (law.ppf("0.19"), law.ppf("0.21")) == (-2, -1)


@pytest.mark.parametrize(
    "beta", ["3/2", *(pytest.param(beta, marks=pytest.mark.evidence) for beta in ("1.001", 3))]
)
def test_the_widest_laws_have_quantiles_and_moments(beta: Any) -> None:
    """To 15 digits they are those of a narrower law."""
    narrow, wide = GG(10**30, beta), GG(10**1000, beta)
    for q in (1e-30, 0.3, 0.75):
        assert wide.ppf(q) // 10**985 == narrow.ppf(q) // 10**15
        assert wide.cdf(wide.ppf(q), bounds=True)[1] >= q
    assert wide.entropy() - narrow.entropy() == pytest.approx(970 * math.log(10))


def test_flat_laws_are_nearly_uniform() -> None:
    """Their tail bounds are, for beta up to 10**9000, and their moments, up to the edges."""
    for beta in (10**9, 10**300, 10**3000, 10**9000):
        bounds = GG("7/2", beta).tail_bound([1, 2, 4, 5])
        # the tail of the uniform law on -7/2..7/2 beyond k - 1
        assert bounds.tolist() == pytest.approx([1 / 2, 5 / 14, 1 / 14, 0])
    assert GG("5/2", 10**30).entropy() == math.log(5)
    assert GG("5/2", 10**30).var() == 2
    assert GG(10**30, 10**6).entropy() == pytest.approx(math.log(2e30), abs=1e-5)
    assert GG(10**50, 10**30).std() == pytest.approx(1e50 / math.sqrt(3))


SCALES = ["1e-300", "1/2", "9/10", 1, "5/2", 10**40]
BETAS = ["5/4", 3, 100, 10**4, 10**30, 10**300]
CENTRES = [0, "1/3", "1e-30", "1/2"]
EXTREME = [
    G("1e-30"),
    G("1e-30", "1/2"),
    G(10**100, "1/3"),
    G(2**4000 + Fraction(1, 3)),
    L("1e-30", "1/3"),
    L(10**50),
    GG(10**50, "3/2"),
    GG(10**30, 10**6),
    # the hardest to decide
    GG("9/10", 10**6, "1/3"),
    GG(33, 10**3),
    GG(33, 10**30, "1e-30"),
    GG(10**50, 10**300),
    GG(10**300, "3/2", "1/3"),
]


CROSSED = [GG(*each) for each in product(SCALES, BETAS, CENTRES)]


@pytest.mark.parametrize("law", [*some(EXTREME, 7), *some(CROSSED)])
def test_extreme_laws_answer_consistently(law: Any) -> None:
    """Bounds of pmf, cdf and sf fit together, quantiles invert, moments are enclosed."""
    scale = int(law.ppf(0.74) - law.ppf(0.26))  # 3/4 may take 10**5 bits to decide
    for k in (0, 1, -1, scale, 3 * scale + 2, -scale // 2, 10**400):
        lower, upper = np.array([f(k, bounds=True) for f in (law.cdf, law.sf)]).T
        assert lower.sum() <= 1 <= upper.sum()
        assert all(0 <= f(k) <= 1 for f in (law.pmf, law.cdf, law.sf))
        assert all(f(k) <= 0 for f in (law.logpmf, law.logcdf, law.logsf))
    for q in (1e-300, 1e-9, 0.11, 0.5, 0.91, 1 - 2**-53):
        k = int(law.ppf(q))
        assert law.cdf(k, bounds=True)[1] >= q >= law.cdf(k - 1, bounds=True)[0]
        k = int(law.isf(q))
        assert law.sf(k, bounds=True)[0] <= q <= law.sf(k - 1, bounds=True)[1]
        assert law.tail_bound(k + 1) >= law.sf(k, bounds=True)[0]
    lower, upper = law.interval(0.95)
    assert lower <= law.median() <= upper
    for moment in (law.mean, law.var, law.std, law.entropy):
        lower, upper = moment(bounds=True)
        assert lower <= moment() <= upper
        assert upper >= 0
    assert abs(law.mean() - float(law.mu)) <= 1
    width2 = law.sigma2 if isinstance(law, G) else law.scale**2
    assert law.var(bounds=True)[0] <= 1 + 3 * width2
    assert law.std() * law.std() == pytest.approx(law.var())
