"""Generalised Gaussians of large beta: phi may have 2**40 bits, the answers have 53."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from engine import needs_core
from evidence_cases import crossed
from privacy_reference import DIGITS, Weight, cached, delta_by_definition, mp

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError
from discretegauss.privacy import delta, epsilon, log_delta

LONG = 3**41_000  # 64 984 bits


def steep_weight(scale: Fraction, beta: Fraction) -> Weight:
    """exp(-(|x|/s)**beta), or 0 below exp(-2**60)."""

    def weight(x: int) -> Any:
        if x == 0:
            return mpmath.mpf(1)
        log_phi = mp(beta) * mpmath.log(mp(abs(x) / scale))
        return mpmath.exp(-mpmath.exp(log_phi)) if log_phi < 41 else mpmath.mpf(0)

    return cached(weight)


@needs_core
@pytest.mark.parametrize(
    ("scale", "beta"),
    crossed(
        ["1", "10", "7/2", "1/3"],
        ["1000", f"{10**6}/7", 2**20, 2**27, 2**29, 2**30, 2**40, 2**65],
    ),
)
def test_delta_is_that_of_the_definition(scale: str, beta: str | int) -> None:
    """A loss may be close to epsilon = 1: loss(9) is 1 - 0.9**beta for a scale of 10.

    Such laws must not abort, take a minute, or raise an error of Python.
    """
    law = dg.GeneralizedGaussian(scale, beta)
    weight = steep_weight(law.scale, law.beta)
    for change in (1, 2, 19, 21, 30):
        for e in ("0", "1/7", "1", "40"):
            exact = delta_by_definition(weight, 20, Fraction(e), change)
            with mpmath.workdps(DIGITS):
                found = delta(law, e, change)
                assert exact - mpmath.mpf(10) ** -55 <= found <= exact * (1 + 1e-15) + 5e-324
                if exact > 1e-50:
                    log, least = log_delta(law, e, change), mpmath.log(exact)
                    assert least - mpmath.mpf(10) ** -50 <= log
                    assert log <= least * (1 - mpmath.mpf(2) ** -51) + mpmath.mpf(10) ** -50


@needs_core
@pytest.mark.parametrize(
    ("scale", "beta", "change"),
    [
        (10, 2**40, 30),
        (10, 2**65, 1),
        (10**10, 2 * 10**9 + 1, 10**61),
        (1, 5, 10**10_000),
        (Fraction(3**41_000, 7**23_000), LONG, 2 * LONG),
    ],
    ids=["2**40", "2**65", "2 * 10**9 + 1", "long change", "all long"],
)
def test_epsilon_is_infinite_where_outcomes_tell_two_answers_apart(
    scale: Fraction | int, beta: int, change: int
) -> None:
    """delta stays above 1/1000 for every epsilon."""
    law = dg.GeneralizedGaussian(scale, beta)
    assert delta(law, 2**1000, change) > 1e-3
    assert epsilon(law, "1/1000", change) == math.inf


@needs_core
def test_epsilon_of_large_beta() -> None:
    """P(X >= 0) - e**epsilon P(X >= 1) = 1/2, for weights of 1 at 0 and 1/e at -1 and 1."""
    law = dg.GeneralizedGaussian(1, 2**40)
    with mpmath.workdps(40):
        exact = 1 - mpmath.log(2)
        assert exact <= epsilon(law, "1/2") <= exact * (1 + mpmath.mpf(2) ** -52)
    assert epsilon(law, "0.3") < epsilon(law, "0.22") < 1 < math.inf == epsilon(law, "0.2")


@needs_core
def test_a_delta_below_all_floats_of_a_loss_beyond_them() -> None:
    """phi(2) = 2**20000 is not computed to 20 000 bits, and phi(1) = 1 stays exact."""
    law = dg.GeneralizedGaussian(1, 20_000)
    assert delta(law, 2**20_001) == 5e-324
    assert log_delta(law, 2**20_001) < -(2.0**29)
    near = 2**20_000 - 2  # loss(1) is 1 more: T(1) - e**epsilon T(2) = (1/e - 1/e**2)/(1 + 2/e)
    exact = (math.exp(-1) - math.exp(-2)) / (1 + 2 * math.exp(-1))
    assert exact <= delta(law, near) <= math.exp(-1) / (1 + 2 * math.exp(-1)) * (1 + 1e-15)


@needs_core
def test_the_first_large_loss_of_very_wide_noise_is_found() -> None:
    """The search skips the last of 65 000 bits."""
    law = dg.GeneralizedGaussian(2**65_000, 3)
    assert log_delta(law, 1) < -(2.0**28)
    alike = delta(dg.GeneralizedGaussian(2**1000, 3), 1, sensitivity=2**1000)
    assert delta(law, 1, sensitivity=2**65_000) == pytest.approx(alike, rel=1e-15)


@needs_core
@pytest.mark.evidence
def test_the_wall_of_very_wide_and_steep_noise_is_found() -> None:
    """It takes 5 s, because the search skips the last of 65 000 bits."""
    assert delta(dg.GeneralizedGaussian(LONG, 7**23_000), 1) == 5e-324


@needs_core
def test_a_law_of_65_kilobit_parameters() -> None:
    """P(X = 0) is 1/(2 s) up to a part in beta, and the tail beyond the scale E1(1)/(2 beta).

    Neither may take a minute, and `var` must not raise an OverflowError of Python.
    """
    law = dg.GeneralizedGaussian(LONG, 3**40_000)
    log_3 = math.log(3)
    assert math.isclose(law.logpmf(0), -math.log(2) - 41_000 * log_3, rel_tol=1e-15)
    e1 = 0.21938393439552027
    assert math.isclose(law.logsf(LONG), math.log(e1 / 2) - 40_000 * log_3, rel_tol=1e-15)
    wide = dg.GeneralizedGaussian(3**300, 3**290)
    assert math.isclose(wide.var(), float(3**600 // 3), rel_tol=1e-15)
    assert math.isclose(wide.entropy(), math.log(2) + 300 * log_3, rel_tol=1e-15)


def test_a_count_of_queries_has_no_more_bits_than_other_parameters() -> None:
    for function, parameter in ((delta, 1), (log_delta, 1), (epsilon, "1/10")):
        with pytest.raises(
            ParameterOverflowError, match=r"^queries must have at most 65536 bits, got an integer"
        ):
            function(dg.DiscreteGaussian(10), parameter, queries=10**400_000)


CALLS = """
import resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import discretegauss as dg
from discretegauss.privacy import delta, epsilon, log_delta
for function, value in (delta, 1), (log_delta, 1), (epsilon, 0.01):  # imports
    function(dg.GeneralizedGaussian(1, 2**20), value)
space = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (space + 2**22,) * 2)
for beta in (2**20, 2**29, 2**30, 2**40):
    for scale in (1, 10, "7/2", 10**30):
        law = dg.GeneralizedGaussian(scale, beta)
        for change in (1, 10**100):
            for function, value in (delta, 1), (delta, 2**60_000), (log_delta, 1), (epsilon, 0.01):
                try:
                    function(law, value, change)
                except dg.errors.DiscreteGaussError:
                    pass
"""


@needs_core
def test_little_memory_is_taken() -> None:
    """4 MiB more are enough for an answer or for an error of the package."""
    subprocess.run([sys.executable, "-c", CALLS], check=True)
