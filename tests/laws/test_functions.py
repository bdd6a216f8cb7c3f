"""The functions of laws keep their precision, and obey the paper's and each other's bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from evidence_cases import some
from law_sums import GG, G, L


def test_logarithms_of_what_is_almost_1_keep_their_precision() -> None:
    law = G(1)
    assert law.cdf(30) == 1.0
    assert law.logcdf(30) == -law.sf(30) < 0
    assert law.logsf(-31) == law.logcdf(30)
    assert law.logcdf(60, bounds=True) == (-5e-324, 0.0)


@pytest.mark.parametrize("sigma2", ["1/100", "1/10", "1/3", "1", "3"])
def test_the_variance_is_within_the_papers_bounds(sigma2: str) -> None:
    """With mu = 0 it is at most sigma2 (1 - 4 pi**2 sigma2/(exp(4 pi**2 sigma2) - 1)).

    If sigma2 <= 1/3, it is at most 3 exp(-1/(2 sigma2)) (arXiv:2004.00010, Proposition 21).
    """
    s2 = float(Fraction(sigma2))
    var = G(sigma2).var()
    rate = 4 * math.pi**2 * s2
    assert var <= s2 * (1 - rate / math.expm1(rate)) * (1 + 1e-14)
    if s2 <= 1 / 3:
        assert var <= 3 * math.exp(-1 / (2 * s2))


# --- one law, two names


@pytest.mark.parametrize("mu", [0, "1/3"])
def test_special_exponents_are_the_named_laws(mu: Any) -> None:
    """beta = 2 has the floats of the Gaussian of sigma2 = scale**2/2, beta = 1 of the Laplace."""
    ks = np.arange(-60, 61)
    for general, named in ((GG(10, 2, mu), G(50, mu)), (GG(10, 1, mu), L(10, mu))):
        for name in ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"):
            assert (getattr(general, name)(ks) == getattr(named, name)(ks)).all()
        for name in ("mean", "var", "std", "entropy", "median"):
            assert getattr(general, name)() == getattr(named, name)()
        assert general.interval(0.9) == named.interval(0.9)


def test_mu_moves_the_law() -> None:
    """An integer mu of any size moves it exactly."""
    far = 10**40
    law, moved = G(100, "1/3"), G(100, far + Fraction(1, 3))
    assert moved.pmf(far + 5) == law.pmf(5)
    assert moved.sf([far + 5, far - 90]).tolist() == law.sf([5, -90]).tolist()
    assert moved.ppf(0.9) == far + int(law.ppf(0.9))
    assert moved.var() == law.var()


@pytest.mark.parametrize("mu", some([0, 5, "1/2", "1/3", "-2/5"], 3))
@pytest.mark.parametrize("sigma2", some(["1/50", "1/3", 1, 100, 10**6, 10**40], 3))
def test_the_papers_tail_bound_holds(sigma2: Any, mu: Any) -> None:
    """P(X >= k) is at most P(N(mu, sigma2) >= k - 1), by arXiv:2004.00010, Proposition 25."""
    law = G(sigma2, mu)
    width = math.isqrt(math.ceil(Fraction(sigma2)))
    for z in (1, 2, 5, 10, 30):
        k = math.ceil(law.mu) + 1 + z * width
        exact = law.sf(k - 1, bounds=True)[0]
        bound = law.tail_bound(k)
        assert exact <= bound <= 1
        square = (k - 1 - law.mu) ** 2 / (2 * law.sigma2)
        if law.mu.denominator == 1 and square < 676:
            with mpmath.workdps(40):
                x = mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator)
                assert mpmath.erfc(x) / 2 <= bound <= mpmath.erfc(x) / 2 * (1 + 1e-9)
    assert law.tail_bound(math.floor(law.mu)) == 1
    assert law.tail_bound([-math.inf, math.inf]).tolist() == [1, 0]
    assert math.isnan(law.tail_bound(math.nan))
    assert law.tail_bound(law.mu + Fraction(3, 2)) == law.tail_bound(
        math.ceil(law.mu + Fraction(3, 2))
    )


@pytest.mark.parametrize("beta", some([1, "5/4", "5/2", 20, 10**6, 10**300], 4))
@pytest.mark.parametrize("scale", some(["1/30", 1, 100, 10**50], 2))
def test_the_tail_bound_of_other_exponents_holds(scale: Any, beta: Any) -> None:
    """It holds for the Laplace (beta = 1), too, and for any mu."""
    for mu in (0, "1/2", "1/3"):
        law = GG(scale, beta, mu)
        bounds = law.tail_bound([math.ceil(law.scale * z) + 2 for z in (0, 1, 2, 7)])
        assert bounds.shape == (4,)
        for z, bound in zip((0, 1, 2, 7), bounds, strict=True):
            k = math.ceil(law.scale * z) + 2
            assert law.sf(k - 1, bounds=True)[0] <= bound <= 1
            assert law.scale < 2 or bound <= 0.6


# --- no engine is needed


def test_laws_answer_without_being_made_ready_to_draw() -> None:
    """A generalised Gaussian needs the compiled core to draw, and only for that."""
    law = GG(10, "3/2")
    assert 0 < law.pmf(0) < 1
    with pytest.raises(AttributeError):
        object.__getattribute__(law, "_sampler")
