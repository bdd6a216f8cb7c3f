"""The bounds hold for the true law of the sum, agree with mpmath, and never fall short."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from evidence_cases import at_once
from privacy_reference import mp as real

import discretegauss as dg
from discretegauss.privacy import calibrate


def formulas(s: Any, n: int, norm: int, d: int) -> Any:
    with mpmath.workdps(60):
        s = real(s)
        tau = 10 * sum(mpmath.exp(-2 * mpmath.pi**2 * s * k / (k + 1)) for k in range(1, n))
        sum_norm = min(mpmath.sqrt(d) * norm, norm**2)
        root = mpmath.sqrt(n * s)
        first = norm**2 / (2 * n * s) + tau * d
        second = (norm**2 / (n * s) + 2 * tau * sum_norm / root + tau**2 * d) / 2
        return min(first, second, norm**2 / (2 * s))


@at_once(
    "s", [Fraction(3, 14), Fraction(1, 4), Fraction(1), Fraction(5, 3), *map(Fraction, (4, 17))]
)
@at_once(("n", "norm", "d"), [(1, 3, 10), (2, 1, 1), (3, 2, 9), (50, 12, 1000)])
def test_rho_is_the_formula_rounded_up(s: Fraction, n: int, norm: int, d: int) -> None:
    """Both sides: 60 digits tell 128 bits that are rounded down. Each bound decides somewhere."""
    law = dg.DiscreteGaussian(s)
    found = dg.privacy.rho(law.sum(n), sensitivity=norm, dimension=d)
    with mpmath.workdps(60):
        exact = formulas(s, n, norm, d) if s >= Fraction(1, 4) else norm**2 / (2 * real(s))
        assert exact * (1 - mpmath.mpf(2) ** -180) <= real(found)
        assert real(found) <= exact * (1 + mpmath.mpf(2) ** -120)


def test_many_clients_are_bounded_from_above_and_closely() -> None:
    found = dg.privacy.rho(dg.DiscreteGaussian(1).sum(5000))
    with mpmath.workdps(60):
        exact = formulas(Fraction(1), 5000, 1, 1)
        assert exact <= real(found) <= exact * 1.0001
    assert dg.privacy.rho(dg.DiscreteGaussian(3).sum(2**63)) > Fraction(1, 6 * 2**63)


def test_noise_of_very_many_clients_is_found_at_once() -> None:
    """Blocks of tau end once its terms no longer change; sigma2 is nearly that of tau = 0."""
    n, change = 2**64 - 1, 2**33
    law = calibrate(dg.DiscreteGaussian, rho=1, sensitivity=change, clients=n)
    assert 2 < law.sigma2 < 8
    assert dg.privacy.rho(law.sum(n), change) <= 1
    wide = calibrate(dg.DiscreteGaussian, rho="1/1000", sensitivity=change, clients=n)
    assert wide.sigma2 == pytest.approx(2000, rel=1e-5)


@pytest.mark.parametrize(("s", "n"), [("1/4", 2), ("1/2", 3), (1, 10), ("1/20", 15)])
def test_the_true_divergence_of_the_convolution_is_below(s: Any, n: int) -> None:
    law = dg.DiscreteGaussian(s)
    with mpmath.workdps(60):
        bits = [
            mpmath.exp(-mpmath.mpf(k * k) / 2 / mpmath.mpf(float(law.sigma2)))
            for k in range(-14, 15)
        ]
        one = np.array([b / mpmath.fsum(bits) for b in bits], object)
        p = functools.reduce(np.convolve, [one] * n)
        for alpha in (mpmath.mpf(1001) / 1000, 2, 5):
            terms = p[1:] ** alpha * p[:-1] ** (1 - alpha)
            divergence = mpmath.log(mpmath.fsum(terms.tolist())) / (alpha - 1)
            assert divergence <= alpha * real(dg.privacy.rho(law.sum(n), sensitivity=1))


@pytest.mark.parametrize("budget", ["1/1000", 1, 50])
def test_calibrate_is_the_least_of_its_digits(budget: Any) -> None:
    how: dict[str, Any] = {"sensitivity": 5, "dimension": 100}
    law = calibrate(dg.DiscreteGaussian, rho=budget, clients=20, **how)
    assert dg.privacy.rho(law.sum(20), **how) <= float(Fraction(budget))
    less = dg.DiscreteGaussian(law.sigma2 * Fraction(99999, 100000))
    assert dg.privacy.rho(less.sum(20), **how) > float(Fraction(budget))


LAW, LAPLACE = dg.DiscreteGaussian(1), dg.DiscreteLaplace(1)
HALF: Any = {"sampling": "1/2"}
NO_SHARES: Any = {"epsilon": 1, "clients": 2}
OF_SHARES = "law must be a sum of discrete Gaussian or Skellam"


@at_once(
    ("call", "message"),
    [
        (lambda: dg.privacy.rho(LAPLACE.sum(2)), OF_SHARES),
        (lambda: dg.privacy.loss(LAPLACE.sum(2)), OF_SHARES),
        (lambda: dg.privacy.rho(dg.DiscreteGaussian(1, "1/2").sum(2)), "mu must be an integer"),
        (lambda: LAW.sum(0), "clients must be at least 1"),
        (lambda: dg.privacy.rho(LAW.sum(2), 0), "sensitivity must be at least 1"),
        (lambda: dg.privacy.rho(LAW.sum(2), dimension=2**64), "dimension must be below"),
        (
            lambda: dg.privacy.epsilon(LAPLACE, "1e-6", dimension=2),
            "dimension and sum_norm must not be given for",
        ),
        (
            lambda: dg.privacy.rho(LAW.sum(2), **HALF),
            r"^sampling must be 1 for a rho, .* got 0\.5$",
        ),
        (
            lambda: dg.privacy.renyi(LAW.sum(2), 5000, **HALF),
            "order must be at most 4096 with samp",
        ),
        (
            lambda: dg.privacy.loss(dg.DiscreteGaussian(10**6).sum(100)),
            "clients must be fewer, the law narrower",
        ),
        *(
            (lambda how=how: calibrate(dg.DiscreteLaplace, **how), "clients must be 1 except for")
            for how in (NO_SHARES, NO_SHARES | HALF | {"delta": "1e-6"})
        ),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises((ValueError, OverflowError), match=message):
        call()


def test_epsilon_is_below_what_rho_implies() -> None:
    """A sum of shares costs as much as one continuous Gaussian, to three digits."""
    law = dg.DiscreteGaussian(40).sum(100)
    how: Any = {"sensitivity": 10, "dimension": 1000}
    rho: Any = dg.privacy.rho(law, queries=20, **how)
    found = dg.privacy.epsilon(law, "1e-6", queries=20, **how)
    continuous = dg.privacy.PrivacyLoss.of_gaussian(4000, 10) ** 20
    assert continuous.epsilon("1e-6", bounds=True)[0] < found < 3.309
    assert dg.privacy.zcdp_epsilon(rho, "1e-6") > 3.53
    assert dg.privacy.delta(law, found, queries=20, **how) <= 1.0001e-6
    asked: Any = {"epsilon": 3, "delta": "1e-6", "queries": 20, "clients": 100}
    share = calibrate(dg.DiscreteGaussian, **asked, **how)
    met = dg.privacy.epsilon(share.sum(100), "1e-6", queries=20, **how)
    assert 2.999 < met <= 3
