"""The laws in dp-accounting: never below our own delta, and close to it."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError, ParameterValueError
from discretegauss.privacy import delta, dp_event, pld, rho

accounting = pytest.importorskip("dp_accounting")

#: dp-accounting computes in floats; what it adds up itself may be too small by this.
FLOATS = 1e-14

GAUSSIANS = [("1/4", 1), ("1", 1), ("100", 1), ("2000", 3), ("1e6", 50), ("1e12", 1000)]
LAPLACES = [("1/2", 1), ("3", 1), ("20", 7), ("1e5", 10**5)]


@pytest.mark.parametrize(("sigma2", "change"), GAUSSIANS)
def test_gaussian_pld_is_theorem_7_at_the_multiples(sigma2: str, change: int) -> None:
    law = dg.DiscreteGaussian(sigma2)
    interval = 2.0**-13
    distribution = pld(law, change, value_discretization_interval=interval)
    sigma = math.sqrt(law.sigma2)
    for t in (0.0, 0.3, 1, 3, 6):
        j = round(t * change / sigma / interval)
        tight = delta(law, j * interval, change)
        found = distribution.get_delta_for_epsilon(j * interval)
        # many integers are put into runs
        close = 1e-9 if sigma2 != "1e12" else 1e-3
        assert tight * (1 - FLOATS) <= found <= tight * (1 + close) + 1e-20
        between = (j + 0.4) * interval
        found = distribution.get_delta_for_epsilon(between)
        assert delta(law, between, change) * (1 - FLOATS) <= found
        assert found <= tight * (1 + close) + 1e-20


@pytest.mark.parametrize(("scale", "change"), LAPLACES)
def test_the_laplace_likewise(scale: str, change: int) -> None:
    law = dg.DiscreteLaplace(scale)
    pure = change / Fraction(scale)
    distribution = pld(law, change, value_discretization_interval=1e-4)
    for t in ("0", "0.1", "0.5", "0.9"):
        e = float(pure * Fraction(t))
        tight = delta(law, e, change)
        found = distribution.get_delta_for_epsilon(e)
        assert tight * (1 - FLOATS) <= found <= tight * (1 + 1e-3)
    assert distribution.get_delta_for_epsilon(float(pure) + 1e-4) <= 1e-15


@pytest.mark.parametrize(("sigma2", "queries"), [("5", 2), ("100", 2), ("100", 10), ("400", 100)])
def test_compositions_agree_with_several_queries(sigma2: str, queries: int) -> None:
    law = dg.DiscreteGaussian(sigma2)
    composed = pld(law, value_discretization_interval=1e-4).self_compose(queries)
    unit = math.sqrt(queries / law.sigma2)
    for t in (0.3, 1, 3):
        tight = delta(law, t * unit, queries=queries)
        found = composed.get_delta_for_epsilon(t * unit)
        assert tight * (1 - 1e-9) <= found <= tight * (1 + 1e-4)


def test_other_betas_go_by_buckets() -> None:
    """At multiples of the interval delta is the least, and composes."""
    law = dg.GeneralizedGaussian(8, beta="3/2")
    distribution = pld(law, 2, value_discretization_interval=2.0**-10)
    for e in (0, 0.25, 1):
        tight = delta(law, e, 2)
        assert tight * (1 - FLOATS) <= distribution.get_delta_for_epsilon(e) <= tight * (1 + 1e-9)
    ours = dg.privacy.loss(law, 2) ** 50
    lower, upper = ours.delta(3, bounds=True)
    theirs = distribution.self_compose(50).get_delta_for_epsilon(3.0)
    assert lower <= theirs <= upper * 1.01


def test_losses_beyond_the_range_count_as_infinite() -> None:
    """P(loss > 1/2) is about exp(-12) at the bound of -10: delta never falls below it."""
    law = dg.DiscreteGaussian(100)
    distribution = pld(law, log_mass_truncation_bound=-10)
    assert distribution.get_delta_for_epsilon(5.0) > 1e-7 > delta(law, 5)


def test_losses_below_the_range_count_as_one_in_it() -> None:
    """No probability is lost, and none moves to a smaller loss. At multiples below 0, which count
    those losses, the hockey stick is at least that of the definition (both adjacencies agree).
    """
    law, h = dg.DiscreteGaussian(100), 0.05  # five losses to a multiple
    distribution = pld(law, value_discretization_interval=h, log_mass_truncation_bound=-11)
    assert math.exp(-14) < distribution.get_delta_for_epsilon(9.0) < math.exp(-11)
    assert 1 <= distribution.get_delta_for_epsilon(-99.0) * (1 + FLOATS) <= 1 + 1e-9
    for j in range(-20, 0):
        exact = -math.expm1(j * h) + math.exp(j * h) * delta(law, -j * h)
        assert distribution.get_delta_for_epsilon(j * h) >= exact * (1 - FLOATS)


def test_numpy_may_be_told_to_raise() -> None:
    """The caller's error settings do not matter."""
    expected = pld(dg.DiscreteGaussian(10), value_discretization_interval=0.1)
    with np.errstate(all="raise"):
        found = pld(dg.DiscreteGaussian(10), value_discretization_interval=0.1)
        assert dg.GeneralizedGaussian(9, 3).cdf(np.arange(-99, 99))[0] == 0
    epsilons = [0.1, 0.5, 1]
    assert list(found.get_delta_for_epsilon(epsilons)) == list(
        expected.get_delta_for_epsilon(epsilons)
    )


def test_the_gaussian_as_an_event_is_zcdp_rounded_up() -> None:
    event = dp_event(dg.DiscreteGaussian(15), 2)
    assert isinstance(event, accounting.ZCDpEvent)
    assert math.nextafter(event.rho, 0) < rho(dg.DiscreteGaussian(15), 2) <= event.rho
    assert event.xi == 0
    accountant = accounting.rdp.RdpAccountant([1 + x / 10 for x in range(1, 200)])
    accountant.compose(event, 3)
    law = dg.DiscreteGaussian(15)
    assert accountant.get_delta(2.0) >= delta(law, 2, 2, queries=3)


def test_the_laplace_as_an_event_is_itself_rounded_up() -> None:
    event = dp_event(dg.DiscreteLaplace(3), 2)
    assert type(event).__name__ == "DiscreteLaplaceDpEvent"
    assert event.sensitivity == 2
    with pytest.raises(ParameterValueError, match=r"^law must be a discrete Gaussian or Lapl"):
        dp_event(dg.Skellam(3))
    assert math.nextafter(event.noise_parameter, 0) < Fraction(1, 3) <= event.noise_parameter


def test_events_of_what_is_almost_a_float_are_rounded_up() -> None:
    """1 + 2**-100, which 64 bits rounded down do not show."""
    almost_1 = 1 + Fraction(1, 2**100)
    following = math.nextafter(1, 2)
    assert dp_event(dg.DiscreteGaussian(1 / (2 * almost_1))).rho == following
    assert dp_event(dg.DiscreteLaplace(1 / almost_1)).noise_parameter == following


def test_what_docs_privacy_md_says_of_subsampling() -> None:
    """dp-accounting cannot sample our distributions; its own ones are close to ours."""
    rdp = pytest.importorskip("dp_accounting.rdp")
    law, laplace = dg.DiscreteGaussian(100), dg.DiscreteLaplace(10)
    for event in (dp_event(law), dp_event(laplace)):
        sampled = accounting.PoissonSampledDpEvent(0.1, event)
        for accountant in (rdp.RdpAccountant(), accounting.pld.PLDAccountant()):
            with pytest.raises(accounting.UnsupportedEventError):
                accountant.compose(sampled)
    made = accounting.pld.privacy_loss_distribution
    for own, parameter, ours in (
        (made.from_discrete_gaussian_mechanism, 10, pld(law)),
        (made.from_discrete_laplace_mechanism, 0.1, pld(laplace)),
    ):
        whole, sampled, expected = (
            distribution.self_compose(10).get_epsilon_for_delta(1e-6)
            for distribution in (own(parameter), own(parameter, sampling_prob=0.1), ours)
        )
        assert whole == pytest.approx(expected, abs=1e-3)
        assert sampled < whole / 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"value_discretization_interval": 0},
        {"value_discretization_interval": -1e-4},
        {"log_mass_truncation_bound": 0},
        {"log_mass_truncation_bound": math.inf},
        {"sensitivity": "1/2"},
    ],
)
def test_a_wrong_parameter_is_named(arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(ParameterValueError, match=rf"^{name} must"):
        pld(dg.DiscreteGaussian(10), **arguments)
    assert pld(dg.DiscreteGaussian(10), log_mass_truncation_bound=-1) is not None  # the largest


@pytest.mark.parametrize("interval", ["1e400", "1e-400", Fraction(1, 2**1100), 2**1024])
def test_an_interval_that_is_no_float_is_refused_by_name(interval: Any) -> None:
    with pytest.raises(ParameterOverflowError, match=r"^value_discretization_interval must"):
        pld(dg.DiscreteGaussian(10), value_discretization_interval=interval)


@at_once("n", range(3, 60))
def test_an_interval_is_the_float_that_dp_accounting_is_given(n: int) -> None:
    """A longer interval would put masses on multiples that do not exist, perhaps too low."""
    law = dg.DiscreteGaussian(5)
    found, same = (
        pld(law, value_discretization_interval=interval)
        for interval in (Fraction(1, n), float(Fraction(1, n)))
    )
    epsilons = [j / n for j in range(2 * n)]
    assert list(found.get_delta_for_epsilon(epsilons)) == list(same.get_delta_for_epsilon(epsilons))


@pytest.mark.parametrize("function", [pld, dp_event])
def test_without_dp_accounting_the_error_says_what_to_install(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "dp_accounting"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(ImportError, match=r"pip install dp-accounting"):
        function(dg.DiscreteGaussian(10))
