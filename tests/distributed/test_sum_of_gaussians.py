"""The bounds hold for the true law of the sum, agree with mpmath, and never fall short."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import discretegauss as dg


def formulas(s: Any, n: int, norm: int, d: int) -> Any:
    with mpmath.workdps(50):
        s = mpmath.mpf(s.numerator) / s.denominator
        tau = 10 * sum(mpmath.exp(-2 * mpmath.pi**2 * s * k / (k + 1)) for k in range(1, n))
        sum_norm = min(mpmath.sqrt(d) * norm, norm**2)
        root = mpmath.sqrt(n * s)
        first = norm**2 / (2 * n * s) + tau * d
        second = (norm**2 / (n * s) + 2 * tau * sum_norm / root + tau**2 * d) / 2
        return min(first, second, norm**2 / (2 * s))


@pytest.mark.parametrize("s", [Fraction(1, 4), Fraction(1), Fraction(5, 3), Fraction(4)])
@pytest.mark.parametrize(("n", "norm", "d"), [(1, 3, 10), (2, 1, 1), (50, 12, 1000)])
def test_rho_is_the_formula_rounded_up(s: Fraction, n: int, norm: int, d: int) -> None:
    law = dg.DiscreteGaussian(s)
    found = dg.distributed.rho(law, fewest_clients=n, sensitivity=norm, dimension=d)
    exact = formulas(s, n, norm, d)
    assert exact <= found <= exact * (1 + 2**-51)


def test_many_clients_are_bounded_from_above_and_closely() -> None:
    found = dg.distributed.rho(dg.DiscreteGaussian(1), fewest_clients=5000, sensitivity=1)
    exact = formulas(Fraction(1), 5000, 1, 1)
    assert exact <= found <= exact * 1.0001
    assert dg.distributed.rho(dg.DiscreteGaussian(3), fewest_clients=2**63, sensitivity=1) > 0


def test_noise_of_very_many_clients_is_found_at_once() -> None:
    """Blocks of tau end where its terms change no more; sigma2 is that of tau = 0, nearly."""
    how: dict[str, Any] = {"fewest_clients": 2**64 - 1, "sensitivity": 2**33}
    law = dg.distributed.calibrate(rho=1, **how)
    assert 2 < law.sigma2 < 8
    assert dg.distributed.rho(law, **how) <= 1
    wide = dg.distributed.calibrate(rho="1/1000", **how)
    assert wide.sigma2 == pytest.approx(2000, rel=1e-5)


@pytest.mark.parametrize(("s", "n"), [("1/4", 2), ("1/2", 3), (1, 10), ("1/20", 30)])
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
            assert divergence <= alpha * dg.distributed.rho(law, fewest_clients=n, sensitivity=1)


@pytest.mark.parametrize("budget", ["1/1000", 1, 50])
def test_calibrate_is_the_least_of_its_digits(budget: Any) -> None:
    how: dict[str, Any] = {"fewest_clients": 20, "sensitivity": 5, "dimension": 100}
    law = dg.distributed.calibrate(rho=budget, **how)
    assert dg.distributed.rho(law, **how) <= float(Fraction(budget))
    less = dg.DiscreteGaussian(law.sigma2 * Fraction(99999, 100000))
    assert dg.distributed.rho(less, **how) > float(Fraction(budget))


def test_what_is_refused() -> None:
    law = dg.DiscreteGaussian(1)
    with pytest.raises(TypeError, match="law must be a DiscreteGaussian"):
        dg.distributed.rho(dg.DiscreteLaplace(1), fewest_clients=2, sensitivity=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="integer mu"):
        dg.distributed.rho(dg.DiscreteGaussian(1, mu="1/2"), fewest_clients=2, sensitivity=1)
    with pytest.raises(ValueError, match="clients must be at least 1"):
        dg.distributed.rho(law, fewest_clients=0, sensitivity=1)
    with pytest.raises(ValueError, match="sensitivity must be positive"):
        dg.distributed.rho(law, fewest_clients=1, sensitivity=0)
    with pytest.raises(OverflowError, match="dimension must be below"):
        dg.distributed.rho(law, fewest_clients=1, sensitivity=1, dimension=2**64)
    with pytest.raises(ValueError, match="rho must be positive"):
        dg.distributed.calibrate(rho=0, fewest_clients=1, sensitivity=1)
