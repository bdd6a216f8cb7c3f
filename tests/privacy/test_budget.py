"""rho of laws, and its sums."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from engine import needs_core
from evidence_cases import crossed
from privacy_reference import mp

import discretegauss as dg
from discretegauss._certified.interval import arithmetic
from discretegauss.errors import ParameterTypeError, ParameterValueError
from discretegauss.privacy import (
    calibrate,
    compose,
    rho,
    zcdp,
)


def test_theorem_4_is_exact() -> None:
    assert rho(dg.DiscreteGaussian("355/113"), "5/3") == Fraction(25, 9) * 113 / 710
    assert rho(dg.DiscreteGaussian(5, mu=-3)) == Fraction(1, 10)
    assert rho(
        dg.DiscreteGaussian(calibrate(dg.DiscreteGaussian, rho="0.1", sensitivity=7).sigma2), 7
    ) == Fraction(1, 10)


def test_theorem_14_adds_up_queries_with_a_sigma2_each() -> None:
    laws = [dg.DiscreteGaussian(s) for s in ("1/2", 3, 10)]
    exact = Fraction(1) + Fraction(4, 6) + Fraction(9, 20)
    assert rho(laws, [1, 2, 3]) == exact
    assert rho(tuple(laws), np.array([1, 2, 3])) == exact
    assert rho(laws[1], np.array(2)) == Fraction(4, 6)  # of no dimension: one number
    assert rho(laws) == Fraction(1) + Fraction(1, 6) + Fraction(1, 20)
    assert rho(laws[1], ["3/2", 2]) == (Fraction(9, 4) + 4) / 6


def renyi_over_order(scale: Fraction, change: int, order: Any) -> Any:
    """D_a(P, Q)/a for the noise P and the moved noise Q; a = 1 is the divergence."""
    with mpmath.workdps(40):
        t, reach = mp(scale), int(250 * scale) + 2 * change + 5
        xs = range(-reach, reach + 1)
        weight = [mpmath.exp(-k / t) for k in range(reach + 1)]
        total = mpmath.fsum(weight[abs(x)] for x in xs)
        steps = {x: abs(x + change) - abs(x) for x in xs}  # the loss is 1/t of it
        if order == 1:
            return mpmath.fsum(weight[abs(x)] * step for x, step in steps.items()) / t / total
        raised = {step: mpmath.exp((order - 1) * step / t) for step in set(steps.values())}
        moment = mpmath.fsum(weight[abs(x)] * raised[step] for x, step in steps.items()) / total
        return mpmath.log(moment) / (order - 1) / order


@pytest.mark.parametrize(
    ("scale", "change"), crossed(["1/10", "1/2", "1", "3", "20"], [1, 2, 7, 30], n=4)
)
def test_laplace_rho_is_the_least(scale: str, change: int) -> None:
    """It is the divergence, rounded up, and no Renyi divergence is above it."""
    exact_scale = Fraction(scale)
    found = rho(dg.DiscreteLaplace(scale), change)
    divergence = renyi_over_order(exact_scale, change, 1)
    with mpmath.workdps(40):
        assert divergence <= mp(found) <= divergence * (1 + mpmath.mpf(2) ** -59)
        for order in (1.001, 1.1, 1.5, 2, 4, 16, 100):
            assert renyi_over_order(exact_scale, change, order) <= mp(found)
    assert found < (change / exact_scale) ** 2 / 2


def test_laplace_rho_of_one_step_is_that_of_randomised_response() -> None:
    """epsilon tanh(epsilon/2), for change 1; and epsilon**2/2 in the limit."""
    for scale in (Fraction(1, 3), *(Fraction(10**digits) for digits in (0, 1, 3, 5, 8, 12))):
        with mpmath.workdps(60):
            exact = mpmath.tanh(1 / mp(2 * scale)) / mp(scale)
            assert exact <= mp(rho(dg.DiscreteLaplace(scale))) <= exact * (1 + mp(2) ** -59)
    for digits in (50, 3000, 15000):
        ratio = rho(dg.DiscreteLaplace(10**digits)) * 2 * 10 ** (2 * digits)
        assert 1 - Fraction(1, 10**50) <= ratio <= 1


@pytest.mark.parametrize("bits", range(8, 16))
def test_with_few_bits_laplace_rho_is_an_upper_bound(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few bits make each rounding large. From 80 bits on none of them shows."""
    cases = [(Fraction(n, 7), change) for n in (1, 5, 8, 20, 50) for change in (1, 2, 9)]
    exact = [rho(dg.DiscreteLaplace(scale), change) for scale, change in cases]
    few = arithmetic(bits)
    monkeypatch.setattr(zcdp, "arithmetic", lambda _bits: few)
    for (scale, change), close in zip(cases, exact, strict=True):
        assert rho(dg.DiscreteLaplace(scale), change) >= close * (1 - Fraction(1, 2**59))


def test_compose_adds_numbers_laws_and_pairs_exactly() -> None:
    gaussian, laplace = dg.DiscreteGaussian(5), dg.DiscreteLaplace(2)
    assert compose() == 0
    assert compose("0.1", 0, Fraction(1, 3), 0.5) == Fraction(14, 15)
    assert compose(gaussian, (gaussian, 3)) == Fraction(1, 10) + Fraction(9, 10)
    assert compose((laplace, 2), ([gaussian, gaussian], [1, 2])) == rho(laplace, 2) + Fraction(1, 2)
    assert compose(*[Fraction(1, 3)] * 300) == 100


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((dg.DiscreteGaussian(1), 0), "sensitivity"),
        ((dg.DiscreteGaussian(1), [1, -1]), "sensitivity"),
        ((dg.DiscreteLaplace(1), "1/2"), "sensitivity"),
        ((dg.DiscreteGaussian(1, mu="1/2"),), "mu"),
        (([dg.DiscreteGaussian(1)], [1, 2]), "law and sensitivity"),
        (([], []), "law and sensitivity"),
    ],
)
def test_what_is_out_of_range_is_a_value_error(arguments: tuple[Any, ...], name: str) -> None:
    with pytest.raises(ParameterValueError, match=rf"^{name} must"):
        rho(*arguments)


def test_what_is_of_the_wrong_kind_is_a_type_error() -> None:
    for bad in (None, 5, "law", [5]):
        with pytest.raises(ParameterTypeError, match=r"^law must"):
            rho(bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterTypeError, match=r"^rho must"):
        compose(None)
    with pytest.raises(ParameterTypeError, match="a part must"):
        compose((dg.DiscreteGaussian(1), 1, 2))
    with pytest.raises(ParameterValueError, match=r"^rho must"):
        compose(-1)


@needs_core
def test_no_rho_is_known_of_a_generalised_gaussian() -> None:
    with pytest.raises(ParameterValueError, match=r"^law must be a discrete Gaussian or Laplace"):
        rho(dg.GeneralizedGaussian(2, 3))
