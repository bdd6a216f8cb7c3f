"""Continuous Gaussian noise, however often, and Laplace noise once have the delta of mpmath."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from operator import matmul
from typing import Any

import mpmath
import pytest
from privacy_reference import mp

from discretegauss.privacy import PrivacyLoss
from discretegauss.privacy._noise_outcomes import LaplaceNoise

#: The most that a result may be above the truth, relatively: roundings of floats.
ABOVE = 1 + mpmath.mpf(2) ** -51


def of_gaussians(mu2: Any, e: Any) -> Any:
    """Return delta of a normal law that moves by the root of mu2 deviations."""
    mu = mpmath.sqrt(mu2)
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def of_laplace(d: Any, s: Any, e: Any) -> Any:
    """Return delta of both adjacencies, the larger: integrals of max(0, P - exp(e) Q)."""

    def p(x: Any) -> Any:
        return mpmath.exp(-abs(x)) / 2

    def mixed(x: Any) -> Any:
        return s * p(x - d) + (1 - s) * p(x)

    found = []
    for first, second, sign in ((mixed, p, 1), (p, mixed, -1)):
        # the loss is monotone between 0 and d, and constant elsewhere: bisection finds its place
        def gap(x: Any, first: Any = first, second: Any = second) -> Any:
            return first(x) - mpmath.exp(e) * second(x)

        low, high = (mpmath.mpf(0), d)[::sign]
        if gap(high) <= 0:
            found.append(mpmath.mpf(0))
            continue
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if gap(middle) <= 0 else (low, middle)
        ends = sorted([high, (d, mpmath.mpf(0))[sign < 0]])
        found.append(mpmath.quad(gap, ends) + gap(ends[sign > 0]))  # the integral of exp(-x)
    return max(found)


@pytest.mark.parametrize(
    ("sigma2", "times"), [([100], [100]), ([3, 50, "7/2"], [1, 20, 4]), (["1/30", "1/7"], [9, 2])]
)
def test_gaussians_are_one_gaussian(sigma2: list[Any], times: list[int]) -> None:
    """With lower bounds, in any order, and beside another release."""
    losses = [PrivacyLoss.of_gaussian(v) ** n for v, n in zip(sigma2, times, strict=True)]
    loss = reduce(matmul, losses)
    with mpmath.workdps(50):
        mu2 = mpmath.fsum(n / mp(Fraction(v)) for v, n in zip(sigma2, times, strict=True))
        for part in ("0", "0.5", "1", "2"):
            e = Fraction(float(mu2)) * Fraction(part)
            exact = of_gaussians(mu2, mp(e))
            low, found = loss.delta(e, bounds=True)
            assert low <= exact <= found <= exact * ABOVE
            assert exact / ABOVE <= low
            assert math.isclose(loss.log_delta(e), mpmath.log(exact), rel_tol=1e-15)
            if part != "0":
                less, back = loss.epsilon(found, bounds=True)
                assert e * (1 - Fraction(1, 2**48)) <= less < back <= e
                assert of_gaussians(mu2, mp(Fraction(back))) <= found
        e, tenth = Fraction(float(mu2)) / 2, Fraction(1, 10)
        beside = reduce(matmul, [losses[-1], PrivacyLoss.of_pure(tenth), *losses[:-1]])
        found = beside.delta(e)
        assert of_gaussians(mu2, mp(e)) <= found <= of_gaussians(mu2, mp(e - tenth))


def test_extreme_budgets_of_a_gaussian_have_an_epsilon() -> None:
    one = PrivacyLoss.of_gaussian(1)
    with mpmath.workdps(700):
        for delta in (Fraction(1, 10**400), Fraction(1, 10**30), Fraction(999, 1000)):
            found = Fraction(one.epsilon(delta))
            assert of_gaussians(mpmath.mpf(1), mp(found)) <= mp(delta)
            if found:
                less = mp(found) * (1 - mpmath.mpf(2) ** -50)
                assert of_gaussians(mpmath.mpf(1), less) > mp(delta)
    assert one.delta(10**30) == 5e-324
    assert one.epsilon(0) == math.inf


@pytest.mark.parametrize("sampling", [1, "1/2", "1/100", "1e-9"])
@pytest.mark.parametrize("scale", ["1/10", 1, 10])
def test_one_laplace_is_its_integral(scale: Any, sampling: Any) -> None:
    """Both adjacencies are integrated; delta and epsilon are held from both sides."""
    loss = PrivacyLoss.of_laplace(scale, sampling=sampling)
    d, s = 1 / Fraction(scale), Fraction(sampling)
    with mpmath.workdps(40):
        most = mpmath.log1p(mp(s) * mpmath.expm1(mp(d)))
        assert most <= loss.pure() <= most * ABOVE
        assert loss.delta(loss.pure()) == 0
        for part in ("0", "0.3", "0.9"):
            e = Fraction(float(most)) * Fraction(part)
            exact = of_laplace(mp(d), mp(s), mp(e))
            low, found = loss.delta(e, bounds=True)
            assert exact / ABOVE <= low <= exact * (1 + mpmath.mpf(10) ** -20)
            assert exact * (1 - mpmath.mpf(10) ** -20) <= found <= exact * ABOVE
            assert math.isclose(loss.log_delta(e), mpmath.log(exact), rel_tol=1e-13)
            if part != "0":
                less, back = loss.epsilon(found, bounds=True)
                assert back / ABOVE <= less <= back
                assert abs(back - float(e)) <= 1e-12 * float(e)
                assert of_laplace(mp(d), mp(s), mp(Fraction(back))) <= found * (1 + 1e-20)
    assert loss.epsilon(min(float(s) * 1.01, 1)) == 0


def test_a_sample_of_laplace_noise_needs_few_cells() -> None:
    """Losses of a sample differ by less, so fewer cells are as fine."""
    noise = LaplaceNoise.of(1, None, Fraction(1, 100))
    cells = noise.cells(adding=False, widest=2.0**-15)
    assert 2.0**-17 < cells.spread[2:].max() < 2.0**-15
    assert cells.loss.size < 4000  # 65538 without sampling
