"""The functions of laws agree with sums in 60 digits."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from evidence_cases import some
from law_sums import GG, LAWS, G, L, close, encloses, phi, weights
from mpmath import mp, mpf


@pytest.mark.parametrize("law", some(LAWS), ids=str)
def test_probabilities_are_those_of_the_sums(law: Any) -> None:
    """pmf, cdf, sf and their logarithms are right to 1e-14, and their bounds certainly hold."""
    table = weights(law)
    with mp.workdps(60):
        total = mpmath.fsum(table.values())
        ks = sorted(table)
        picked = ks[:: max(1, len(ks) // 8)]
        ends = [ks.index(k) + 1 for k in picked]
        parts = [
            mpmath.fsum(table[k] for k in ks[start:end])
            for start, end in zip([0, *ends], [*ends, len(ks)], strict=True)
        ]
        for i, k in enumerate(picked, 1):
            below, above = mpmath.fsum(parts[:i]), mpmath.fsum(parts[i:])
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


@pytest.mark.parametrize("law", some(LAWS), ids=str)
def test_moments_are_those_of_the_sums(law: Any) -> None:
    """They are mean, variance, standard deviation and entropy."""
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


# --- far out, and at any size


@cache
def log_tail(law: Any, m: int) -> Any:
    """Return log of the sum of exp(-phi(k)) over k >= m >= mu, term by term, to 60 digits.

    If phi is linear, phi(k) - phi(m) depends on k - m alone, so one sum serves all m and mu.
    """
    first, total, k = phi(law, m), mpf(0), m
    if (isinstance(law, L) or getattr(law, "beta", 2) == 1) and (law.mu, m) != (0, 0):
        centred = type(law)(*[getattr(law, f) for f in law.__match_args__[:-1]], 0)
        return log_tail(centred, 0) - first
    while (term := mpmath.exp(first - phi(law, k))) > mpf(10) ** -75:
        total += term
        k += 1
    return mpmath.log(total) - first


@pytest.mark.parametrize("law", some(LAWS), ids=str)
def test_far_tails_and_their_logarithms_are_those_of_the_sums(law: Any) -> None:
    """This holds down to the smallest floats and far below them, on both sides."""
    with mp.workdps(60):
        log_total = mpmath.log(mpmath.fsum(weights(law).values()))
        width = math.ceil(law.std()) + 1
        for distance in (3, 8, 20, 37, 100, 10**4):
            if isinstance(law, GG) and law.beta >= 4 and distance > 37:
                continue
            k = math.ceil(law.mu) + distance * width
            mirrored_k = math.floor(law.mu) - distance * width
            mirror = type(law)(*[getattr(law, f) for f in law.__match_args__[:-1]], -law.mu)
            for exact, names, at in (
                (log_tail(law, k + 1) - log_total, ("sf", "logsf"), k),
                (log_tail(mirror, -mirrored_k) - log_total, ("cdf", "logcdf"), mirrored_k),
                (-phi(law, k) - log_total, ("pmf", "logpmf"), k),
            ):
                function, log = (getattr(law, name) for name in names)
                assert close(log(at), exact), (names, at)
                assert encloses(log(at, bounds=True), exact), (names, at)
                value = mpmath.exp(exact)
                lower, upper = function(at, bounds=True)
                assert mpf(lower) <= value <= mpf(upper)
                assert math.nextafter(math.nextafter(lower, 1), 1) >= upper
                if exact < -746:
                    assert (function(at), lower) == (0, 0)
                elif exact > -700:
                    assert close(function(at), value), (names, at)


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
        x = float((k - 1 - law.mu) ** 2 / (2 * law.sigma2)) ** 0.5
        if law.mu.denominator == 1 and x < 26:
            assert math.isclose(bound, math.erfc(x) / 2, rel_tol=1e-9)
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
