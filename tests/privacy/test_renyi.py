"""Renyi divergences: never below sums at 60 digits, and above every vector of a ball."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import mpmath
import pytest
from privacy_reference import mp

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError
from discretegauss.privacy import renyi, renyi_delta


def _summed(scale: str, beta: str, order: str, change: int, reach: int) -> Any:
    """The definition, integer by integer."""
    with mpmath.workdps(60):
        s, b, a = (mp(Fraction(text)) for text in (scale, beta, order))
        phi = [(mpmath.mpf(abs(x)) / s) ** b for x in range(-reach, reach + change + 1)]
        total = mpmath.fsum(mpmath.exp(-one) for one in phi)
        pairs = zip(phi, phi[change:], strict=False)
        moment = mpmath.fsum(mpmath.exp((a - 1) * moved - a * here) for here, moved in pairs)
        return mpmath.log(moment / total) / (a - 1)


@pytest.mark.parametrize(
    ("scale", "beta", "order", "change", "reach"),
    [
        ("8", "3/2", "5", 5, 400),
        ("8", "4", "5", 5, 300),
        ("2", "5/4", "11/10", 3, 400),
        ("3", "7/3", "100/99", 1, 200),
        ("3", "1", "2", 1, 500),
        ("3", "1", "3/2", 4, 500),
        ("6", "2", "7/2", 2, 100),
        ("1", "20", "2", 1, 60),  # exp of the divergence, some 10**27, is beyond all exponents
        ("1/10", "5", "2", 1, 30),
    ],
)
def test_divergences_are_the_sums_rounded_up(
    scale: str, beta: str, order: str, change: int, reach: int
) -> None:
    """Within a relative 1e-15."""
    found = renyi(dg.GeneralizedGaussian(scale, beta), order, change)
    exact = _summed(scale, beta, order, change, reach)
    assert exact * (1 - mpmath.mpf(10) ** -40) <= found <= exact * (1 + mpmath.mpf(10) ** -15)


def test_an_order_next_to_1_is_the_kullback_leibler_divergence() -> None:
    """More bits make up for those that cancel. That of the Laplace is its rho."""
    law, order = dg.DiscreteLaplace(3), 1 + 2.0**-52
    least = dg.privacy.rho(law, 2)
    assert (
        least * (1 - Fraction(1, 2**60)) <= renyi(law, order, 2) <= least * (1 + Fraction(1, 2**49))
    )


@pytest.mark.parametrize("beta", ["1", "3/2", "2", "3"])
def test_no_vector_of_a_ball_loses_more(beta: str) -> None:
    """All vectors of up to four coordinates within a norm of 6."""
    law, order, radius = dg.GeneralizedGaussian(5, beta), 4, 6
    bound = renyi(law, order, radius, norm=beta)
    of_one = [0.0, *(renyi(law, order, c) for c in range(1, radius + 1))]
    worst = 0.0
    for vector in combinations_with_replacement(range(radius + 1), 4):
        if sum(v ** mp(Fraction(beta)) for v in vector) <= radius ** mp(Fraction(beta)):
            worst = max(worst, sum(of_one[v] for v in vector))
    assert worst <= bound * (1 + 1e-14)
    # for beta = 3 two coordinates of 4 have a norm of 5.04, and cost more than one of 6 or less
    assert bound <= worst * {"1": 1 + 1e-12, "3/2": 1.1, "2": 1 + 1e-12, "3": 3.0}[beta]


def test_what_it_implies_is_the_conversion_of_rho() -> None:
    """With the best order it is Corollary 13."""
    law = dg.DiscreteGaussian(100)
    by_rho = dg.privacy.zcdp_delta(dg.privacy.rho(law), 1)
    deltas = [renyi_delta(renyi(law, f"{a}/10"), f"{a}/10", 1) for a in range(900, 1200)]
    assert by_rho <= min(deltas) <= by_rho * 1.0001
    assert dg.privacy.delta(law, 1) < by_rho
    assert renyi_delta(5, 2, 1) == 1


def test_too_many_integers_are_refused() -> None:
    """The error names the parameter, before anything is summed."""
    with pytest.raises(ParameterOverflowError, match=r"^order must be smaller for this law"):
        renyi(dg.GeneralizedGaussian(10**9, "3/2"), 2)
    with pytest.raises(ValueError, match=r"^order must be above 1, got 1"):
        renyi(dg.DiscreteGaussian(3), 1)
    with pytest.raises(ValueError, match=r"^sensitivity must be from 1 to 1024, got '1/2'"):
        renyi(dg.DiscreteGaussian(3), 2, "1/2", norm=2)
    with pytest.raises(ValueError, match=r"^norm must be at least 1, got 0"):
        renyi(dg.DiscreteGaussian(3), 2, norm=0)
