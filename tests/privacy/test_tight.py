"""The least delta: Theorem 7 to 60 digits, the definition, and epsilon for a delta."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import gmpy2
import mpmath
import pytest
from engine import needs_core
from evidence_cases import crossed, evidence
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_reference import (
    DIGITS,
    delta_by_definition,
    delta_by_theorem_7,
    gaussian_weight,
    generalized_weight,
    laplace_weight,
    mp,
    rest_by_theorem_7,
    tail_by_euler_maclaurin,
    tail_by_terms,
)

import discretegauss as dg
from discretegauss.errors import ParameterTypeError, ParameterValueError
from discretegauss.laws import centred_simplest
from discretegauss.privacy import (
    delta,
    epsilon,
    hockey_stick,
    log_delta,
    rho,
)
from discretegauss.privacy.hockey_stick import (
    delta_enclosed,
    delta_is_at_most,
)

GAUSSIAN = dg.DiscreteGaussian(1)

SIGMA2 = [Fraction(s) for s in ("1/100", "1/4", "1", "355/113", "10", "100", "12345/7")] + [
    Fraction(10) ** e for e in (4, 6, 9, 12)
]
CHANGES = [1, 3, 1000]


def epsilons(sigma2: Fraction, change: int) -> list[Fraction]:
    """0, 1/10, 1, 4, and some that make delta small, down to about 10**-300 and 10**-4000."""
    unit = Fraction(change * 1000, math.isqrt(math.ceil(10**6 * sigma2)))  # about D/sigma
    return [Fraction(e) for e in ("0", "1/10", "1", "4")] + [
        unit * Fraction(t) for t in ("1/3", "2", "7", "36", "136")
    ]


def test_the_reference_agrees_with_itself() -> None:
    """Terms and Euler-Maclaurin are two methods for the same tail, to 60 digits."""
    with mpmath.workdps(80):
        for m in (0, 1, 77, 500, 3000):
            exact = tail_by_terms(Fraction(10**4), m)
            assert abs(tail_by_euler_maclaurin(Fraction(10**4), m) / exact - 1) < 1e-60


@pytest.mark.parametrize(("sigma2", "change"), crossed(SIGMA2, CHANGES, n=11))
def test_delta_is_theorem_7_rounded_up(sigma2: Fraction, change: int) -> None:
    """It is never below, and at most 1.5 floats above. The same holds for its logarithm."""
    law = dg.DiscreteGaussian(sigma2)
    for e in epsilons(sigma2, change):
        exact = delta_by_theorem_7(sigma2, e, change)
        found, log_found = delta(law, e, change), log_delta(law, e, change)
        with mpmath.workdps(90):
            assert exact <= found
            if exact > 1e-300:
                assert found <= exact * (1 + 2**-52 * mpmath.mpf(1.01)) <= exact * (1 + 1e-12)
            log_exact = mpmath.log(exact) if exact < 0.5 else -mpmath.log1p((1 - exact) / exact)
            assert log_exact <= log_found
            assert log_found <= log_exact * (1 - 3e-16) + 1e-100


def test_delta_below_every_float_is_the_smallest_float() -> None:
    law = dg.DiscreteGaussian(10**12)
    assert delta(law, 1) == 5e-324
    # delta is about exp(-epsilon**2 sigma2/2)
    assert math.isclose(log_delta(law, 1), -5e11, rel_tol=1e-5)
    assert math.isclose(log_delta(law, 10**100), -5e211, rel_tol=1e-15)
    assert log_delta(law, 10**300) == -math.nextafter(math.inf, 0)  # -5e611 is below all floats


LAWS: list[Any] = [
    *((dg.DiscreteGaussian, gaussian_weight, (s,)) for s in ("1/5", "1", "7/2")),
    *((dg.DiscreteLaplace, laplace_weight, (s,)) for s in ("1/3", "1", "5/2")),
    *(
        pytest.param((dg.GeneralizedGaussian, generalized_weight, parameters), marks=needs_core)
        for parameters in (("2", "3/2"), ("3", "3"), ("1/2", "5/4"), ("3", "2"))
    ),
]


@pytest.mark.parametrize("of", LAWS)
@pytest.mark.parametrize("changes", [(1, 4), *evidence(((2, 5),))])
def test_delta_is_that_of_the_definition(of: tuple[Any, ...], changes: tuple[int, ...]) -> None:
    """The sum of the excess of P over e**eps Q, over all integers that matter, in both orders."""
    kind, weight_of, parameters = of
    law, weight = kind(*parameters), weight_of(*map(Fraction, parameters))
    for change, e in product(changes, ("0", "1/7", "1", "3")):
        exact = delta_by_definition(weight, 450, Fraction(e), change)
        found = delta(law, e, change)
        with mpmath.workdps(DIGITS):  # with fewer, the difference would be rounded to a float
            assert exact - mpmath.mpf(10) ** -55 <= found <= exact * (1 + 1e-15)
        assert delta(law, epsilon(law, found, change), change) <= found


@needs_core
@pytest.mark.parametrize(
    ("scale", "beta", "loss", "change"), [("2", "3", "7/8", 1), ("1", "5/2", "31", 3)]
)
def test_a_loss_that_no_precision_tells_from_epsilon(
    scale: str, beta: str, loss: str, change: int
) -> None:
    """phi(x) = x**3/8, so loss(1) = 7/8; and x**(5/2), whose loss(1) logarithms do not show."""
    weight = generalized_weight(Fraction(scale), Fraction(beta))
    exact = delta_by_definition(weight, 60, Fraction(loss), change)
    found = delta(dg.GeneralizedGaussian(scale, beta), loss, change)
    with mpmath.workdps(DIGITS):
        assert exact * (1 - mpmath.mpf(10) ** -40) <= found <= exact * (1 + 1e-15)


@needs_core
def test_a_generalised_gaussian_far_out() -> None:
    """phi(x) = x**3/8: the loss 3 x**2/8 is epsilon at x, and log(delta) about -phi(x)."""
    law = dg.GeneralizedGaussian(2, 3)
    for e in (2**14, 2**18):
        x = math.sqrt(8 / 3 * e)
        assert math.isclose(log_delta(law, e), -(x**3) / 8, rel_tol=0.01)


@needs_core
def test_a_loss_that_hardly_ever_occurs_has_a_delta_below_all_floats() -> None:
    """With beta near 1 the loss is 2 only from about x = 2**1000000 on: the result is a bound."""
    for scale, beta in ((1, "1.000001"), (10**30, "1.0001")):
        law = dg.GeneralizedGaussian(scale, beta)
        assert delta(law, 2) == 5e-324
        assert log_delta(law, 2) < -(2.0**28)


@needs_core
def test_beta_1_and_2_are_the_laplace_and_the_gaussian() -> None:
    assert delta(dg.GeneralizedGaussian(4, 2), 1) == delta(dg.DiscreteGaussian(8), 1)
    assert delta(dg.GeneralizedGaussian(4, 1), "0.1") == delta(dg.DiscreteLaplace(4), "0.1")
    assert rho(dg.GeneralizedGaussian(4, 2)) == rho(dg.DiscreteGaussian(8))


# --- epsilon for a delta


@pytest.mark.parametrize(
    ("parameter", "d", "change"),
    crossed(
        ["1/100", "1/4", "1", "355/113", "100", 10**6, 10**12],
        ["1/2", "1e-3", "1e-10", "1e-300", Fraction(1, 10**1000)],
        [1, 3],
    ),
)
def test_epsilon_is_the_least_float_that_is_enough(
    parameter: str | int, d: str | Fraction, change: int
) -> None:
    law = dg.DiscreteGaussian(parameter)
    found = epsilon(law, d, change)
    with mpmath.workdps(DIGITS):
        exact, slack = mp(Fraction(d)), mpmath.mpf(10) ** -50
        assert delta_by_theorem_7(law.sigma2, Fraction(found), change) <= exact * (1 + slack)
        if found > 0:
            less = Fraction(math.nextafter(found, 0))
            assert delta_by_theorem_7(law.sigma2, less, change) > exact * (1 - slack)


@pytest.mark.parametrize("scale", ["1/10", "1", "20", 10**9])
@pytest.mark.parametrize("change", [1, 7])
def test_epsilon_of_the_discrete_laplace(scale: str | int, change: int) -> None:
    law = dg.DiscreteLaplace(scale)
    pure = change / Fraction(scale)
    found = epsilon(law, 0, change)
    assert Fraction(math.nextafter(found, 0)) < pure <= Fraction(found)
    assert delta(law, pure, change) == 0.0
    assert log_delta(law, pure, change) == -math.inf
    assert delta(law, pure * (1 - Fraction(1, 10**9)), change) > 0
    for d in ("0.5", "1e-3", "1e-30"):
        found = epsilon(law, d, change)
        assert found <= epsilon(law, 0, change)
        assert delta(law, found, change) <= float(d)
        if 0 < found < pure:
            assert delta(law, math.nextafter(found, 0), change) > float(d) * (1 - 1e-15)


def test_a_delta_below_the_true_one_is_not_enough_however_close() -> None:
    """Only a proof counts: the true delta might be above a lower bound."""
    for spec in (
        centred_simplest(dg.DiscreteGaussian(10)),
        centred_simplest(dg.DiscreteLaplace(3)),
    ):
        epsilon = gmpy2.mpq(1, 4)
        enclosed = delta_enclosed(spec, epsilon, 1, 300)
        assert enclosed is not None
        assert not delta_is_at_most(spec, epsilon, 1, gmpy2.mpq(enclosed.lower(320)))
        assert delta_is_at_most(spec, epsilon, 1, gmpy2.mpq(enclosed.upper(320)))


def test_delta_that_agrees_to_500_bits_counts_as_too_small() -> None:
    """Otherwise bits would grow without end. A delta larger by a part of 2**-400 is enough."""
    for spec in (
        centred_simplest(dg.DiscreteGaussian(10)),
        centred_simplest(dg.DiscreteLaplace(3)),
    ):
        epsilon = gmpy2.mpq(1, 4)
        enclosed = delta_enclosed(spec, epsilon, 1, 2000)
        assert enclosed is not None
        exact = gmpy2.mpq(enclosed.upper(2100))
        assert delta_is_at_most(spec, epsilon, 1, exact * (1 + gmpy2.mpq(1, 2**400)))
        assert not delta_is_at_most(spec, epsilon, 1, exact * (1 + gmpy2.mpq(1, 2**700)))
        assert not delta_is_at_most(spec, epsilon, 1, exact)


def test_a_pure_epsilon_that_is_almost_a_float_is_rounded_up() -> None:
    """1 + 2**-100, which 80 bits rounded down do not show."""
    law = dg.DiscreteLaplace(Fraction(2**100, 2**100 + 1))
    assert epsilon(law, 0) == math.nextafter(1, 2)


@pytest.mark.parametrize(("change", "goal"), [(80, "1e-9"), (105, "3e-6"), (90, "1e-6")])
def test_the_search_for_epsilon_stays_among_the_floats(
    change: int, goal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If delta hardly falls, Newton's step for log(epsilon) is too long to be tried."""
    about, tried = hockey_stick.log_of_log, []

    def recorded(spec: Any, epsilon: Any, change: int, goal: Any) -> float:
        tried.append(epsilon)
        return about(spec, epsilon, change, goal)

    law = dg.DiscreteGaussian(5)
    monkeypatch.setattr(hockey_stick, "log_of_log", recorded)
    found = epsilon(law, goal, change)
    assert delta(law, found, change) <= Fraction(goal) < delta(law, found * (1 - 1e-9), change)
    assert tried
    assert max(x.denominator.bit_length() + x.numerator.bit_length() for x in tried) < 2500


@needs_core
@pytest.mark.parametrize(
    ("law", "goal", "change"),
    [
        (dg.GeneralizedGaussian(10, 10**4), "1e-6", 10**4),  # an epsilon beyond the floats
        (dg.GeneralizedGaussian("7/2", 3), "1/2", 10**6),  # decided by few integers near 0
        (dg.GeneralizedGaussian("7/2", 3), "0.9999999", 10**6),  # and below it
        (dg.DiscreteGaussian("1/3"), "1e-7", 10**6),
        (dg.GeneralizedGaussian("7/2", "3/2"), "1e-6", 10**6),  # a guess that is too large
    ],
)
def test_epsilon_is_found_in_few_steps_for_a_large_change(
    law: Any, goal: str, change: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took 200 to 300."""
    line_at, lines = hockey_stick._line_at, []

    def counted(spec: Any, m: int, *others: Any) -> Any:
        lines.append(m)
        return line_at(spec, m, *others)

    monkeypatch.setattr(hockey_stick, "_line_at", counted)
    found = epsilon(law, goal, change)
    assert len(lines) < 60

    def holds(x: float) -> bool:
        return delta_is_at_most(centred_simplest(law), gmpy2.mpq(x), change, gmpy2.mpq(goal))

    assert found == math.inf or holds(found)
    assert not holds(math.nextafter(found, 0))


@pytest.mark.parametrize("digits", [20, 140, 190, 400])
def test_epsilon_of_a_delta_next_to_1_is_the_least(digits: int) -> None:
    """1 - delta decides, which the last bits of delta do not show."""
    sigma2, rest = Fraction(10), Fraction(1, 10**digits)
    found = epsilon(dg.DiscreteGaussian(sigma2), 1 - rest, 300)
    assert rest_by_theorem_7(sigma2, Fraction(found), 300) >= mp(rest)
    before = Fraction(math.nextafter(found, 0))
    assert rest_by_theorem_7(sigma2, before, 300) < mp(rest)


def test_epsilon_beyond_the_floats_and_below() -> None:
    tiny = dg.DiscreteGaussian(Fraction(1, 10**4000))
    assert epsilon(tiny, "1e-6") == math.inf
    assert epsilon(dg.DiscreteGaussian(10**30), "1e-6") == 0.0
    with pytest.raises(ParameterValueError, match=r"^delta must"):
        epsilon(dg.DiscreteGaussian(1), 0)


# --- properties

sigma2s = st.fractions(min_value=Fraction(1, 50), max_value=10**6, max_denominator=1000)
small = st.fractions(min_value=0, max_value=8, max_denominator=10**6)
changes = st.integers(1, 40)


@settings(max_examples=60)
@given(sigma2=sigma2s, e=small, more=small, change=changes)
def test_delta_falls_with_epsilon_and_grows_with_sensitivity(
    sigma2: Fraction, e: Fraction, more: Fraction, change: int
) -> None:
    law = dg.DiscreteGaussian(sigma2)
    found = delta(law, e, change)
    assert 0 < found <= 1
    assert delta(law, e + more, change) <= found <= delta(law, e, change + 1)
    assert math.exp(log_delta(law, e, change)) <= found * (1 + 1e-12)


def test_delta_may_grow_with_sigma2_for_large_epsilon() -> None:
    """Only x >= 1 has a loss above 10, at sigma2 = 1/20 and at 2/25, where it is likelier."""
    assert delta(dg.DiscreteGaussian("1/20"), 10) < 5e-5
    assert delta(dg.DiscreteGaussian("2/25"), 10) > 1e-3


@needs_core
def test_more_bits_are_right_of_the_generalised_gaussian_too() -> None:
    """120 bits, against the definition in 60 digits; exponents begin with 60 bits."""
    law = dg.GeneralizedGaussian("5/2", "3/2")
    exact = delta_by_definition(generalized_weight(law.scale, law.beta), 80, Fraction(1, 2), 2)
    found = delta_enclosed(centred_simplest(law), gmpy2.mpq(1, 2), 2, 120)
    assert found is not None
    with mpmath.workdps(DIGITS):
        lower, upper = (
            mp(Fraction(*map(int, x.as_integer_ratio())))
            for x in (found.lower(200), found.upper(200))
        )
        assert abs(lower / exact - 1) < mpmath.mpf(2) ** -115
        assert abs(upper / exact - 1) < mpmath.mpf(2) ** -115


@pytest.mark.parametrize("digits", [5, 30, 200])
def test_delta_next_to_the_pure_epsilon_is_the_float_above(digits: int) -> None:
    """All but the last bits cancel: (1 - exp(e - 1/t))/(1 + exp(-1/t)) at sensitivity 1."""
    pure, gap = Fraction(1, 3), Fraction(1, 10**digits)
    with mpmath.workdps(DIGITS):
        exact = -mpmath.expm1(-mp(gap)) / (1 + mpmath.exp(-mp(pure)))
        found = delta(dg.DiscreteLaplace(3), pure - gap)
        assert math.nextafter(math.nextafter(found, 0), 0) < exact <= found


# --- extremes and refusals


@pytest.mark.parametrize("log2_sigma2", [-30000, 300, 4001, *evidence(-300, 2000, 50000)])
def test_extreme_parameters_answer(log2_sigma2: int) -> None:
    law = dg.DiscreteGaussian(Fraction(2) ** log2_sigma2)
    for e, change in product((0, "1e-1000", 1, Fraction(2) ** 5000), (1, 2**60, 2**9000)):
        assert 0 < delta(law, e, change) <= 1
        assert log_delta(law, e, change) <= 0
    for d in ("1e-6", Fraction(1, 2**3000), 1 - Fraction(1, 2**300)):
        assert epsilon(law, d) >= 0


@pytest.mark.parametrize("function", [delta, log_delta, epsilon])
def test_what_has_no_cost_is_refused(function: Any) -> None:
    """A mu between integers, a change that is none, and laws that are none."""
    assert function(dg.DiscreteGaussian(5, mu=7), 0.5) == function(dg.DiscreteGaussian(5), 0.5)
    for law in (dg.DiscreteGaussian(1, mu="1/2"), dg.DiscreteLaplace(1, mu="1/3")):
        with pytest.raises(ParameterValueError, match=r"^mu must"):
            function(law, 0.5)
    for wrong in (None, 1, "law", dg.DiscreteGaussian, [GAUSSIAN, 3]):
        with pytest.raises(ParameterTypeError, match=r"^law must be"):
            function(wrong, 0.5)
    with pytest.raises(ParameterValueError, match=r"^sensitivity must"):
        function(GAUSSIAN, 0.5, 1.5)
    with pytest.raises(ParameterTypeError, match=r"^sensitivity must be"):
        function(GAUSSIAN, 0.5, [1, 2])


@needs_core
@pytest.mark.parametrize(
    ("beta", "delta_"),
    [
        *(("1.01", "1e-40"), ("1.0001", "1e-300")),
        *evidence(*product(("1.1", "1.01", "1.0001"), ("1e-40", "1e-100", "1e-300"))),
    ],
)
def test_epsilon_is_found_of_noise_that_is_almost_laplace_however_wide(
    beta: str, delta_: str
) -> None:
    """The search passes losses so rare that it looks for no outcome with them."""
    law = dg.GeneralizedGaussian(10**30, beta)
    found = epsilon(law, delta_)
    assert 0 < found < math.inf
    assert delta_is_at_most(centred_simplest(law), gmpy2.mpq(found), 1, gmpy2.mpq(delta_))
    before = gmpy2.mpq(math.nextafter(found, 0))
    assert not delta_is_at_most(centred_simplest(law), before, 1, gmpy2.mpq(delta_))
