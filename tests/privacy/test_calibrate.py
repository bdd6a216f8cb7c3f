"""Calibration: sigma2 proven to be enough, one step less proven not to be."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_reference import DIGITS, delta_by_theorem_7, mp, rest_by_theorem_7

import discretegauss as dg
from discretegauss._certified.search import (
    decimal_at,
    decimal_ordinal,
    first_true,
    float_at,
    ordinal,
)
from discretegauss.errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from discretegauss.privacy import (
    calibrate,
    delta,
    log_delta,
    zcdp_rho,
)


def one_digit_less(sigma2: Fraction) -> Fraction:
    return decimal_at(decimal_ordinal(sigma2) - 1)


@pytest.mark.parametrize("e", ["0", "0.1", "1", "4", "10"])
@pytest.mark.parametrize("d", ["0.3", "1e-6", "1e-12", "1e-100"])
@pytest.mark.parametrize(("sensitivity", "queries"), [(1, 1), (1, 100), (7, 3)])
def test_sigma2_is_enough_and_a_thousandth_less_is_not(
    e: str, d: str, sensitivity: int, queries: int
) -> None:
    law = calibrate(
        dg.DiscreteGaussian, epsilon=e, delta=d, sensitivity=sensitivity, queries=queries
    )

    def achieved(sigma2: Fraction) -> float:
        return delta(dg.DiscreteGaussian(sigma2), e, sensitivity, queries=queries)

    assert achieved(law.sigma2) <= float(d)
    assert achieved(one_digit_less(law.sigma2)) > float(d) * (1 - 1e-15)
    assert achieved(law.sigma2 * Fraction("0.999")) > float(d)
    # never more noise than zCDP asks for, with the same rounding
    by_rho = queries * sensitivity**2 / (2 * Fraction(zcdp_rho(e, d)))
    assert law.sigma2 <= decimal_at(decimal_ordinal(by_rho))


@pytest.mark.parametrize("sensitivity", [1, 5])
def test_by_60_digits(sensitivity: int) -> None:
    """The same without the package's own delta."""
    for e, d in [("1", "1e-6"), ("1/10", "1e-9"), ("4", "1e-5")]:
        sigma2 = calibrate(dg.DiscreteGaussian, epsilon=e, delta=d, sensitivity=sensitivity).sigma2
        with mpmath.workdps(DIGITS):
            asked = mp(Fraction(d))
            assert delta_by_theorem_7(sigma2, Fraction(e), sensitivity) <= asked
            assert delta_by_theorem_7(one_digit_less(sigma2), Fraction(e), sensitivity) > asked


def test_known_values() -> None:
    """sigma2 of the continuous analytic Gaussian mechanism is 17.9; 100 queries: 100 times that."""
    assert calibrate(dg.DiscreteGaussian, epsilon=1, delta="1e-6").sigma2 == Fraction("17.8995")
    assert calibrate(dg.DiscreteGaussian, epsilon=1, delta="1e-6", queries=100).sigma2 == Fraction(
        "1784.8"
    )


@settings(max_examples=25, deadline=None)
@given(
    e=st.fractions(0, 2, max_denominator=10**6),
    exponent=st.integers(2, 200),
    sensitivity=st.integers(1, 20),
    queries=st.integers(1, 1000),
)
def test_any_budget_is_kept(e: Fraction, exponent: int, sensitivity: int, queries: int) -> None:
    d = Fraction(1, 2**exponent)
    law = calibrate(
        dg.DiscreteGaussian, epsilon=e, delta=d, sensitivity=sensitivity, queries=queries
    )
    assert Fraction(delta(law, e, sensitivity, queries=queries)) <= d
    less = dg.DiscreteGaussian(one_digit_less(law.sigma2))
    assert Fraction(delta(less, e, sensitivity, queries=queries)) >= d


@pytest.mark.parametrize("digits", [20, 190, 400])
def test_for_a_delta_next_to_1_it_is_the_least_too(digits: int) -> None:
    rest = Fraction(1, 10**digits)
    sigma2 = calibrate(dg.DiscreteGaussian, epsilon=1, delta=1 - rest, sensitivity=60).sigma2
    assert rest_by_theorem_7(sigma2, Fraction(1), 60) >= mp(rest)
    assert rest_by_theorem_7(one_digit_less(sigma2), Fraction(1), 60) < mp(rest)


def test_from_rho_it_is_exact_and_counts_all_queries() -> None:
    """rho = queries * sensitivity**2 / (2 sigma2) (Theorem 14), without rounding."""
    law = calibrate(dg.DiscreteGaussian, rho=Fraction(1, 7), sensitivity="2/3", queries=5)
    assert law == dg.DiscreteGaussian(5 * Fraction(4, 9) * 7 / 2)
    assert calibrate(dg.DiscreteGaussian, rho="0.1").sigma2 == 5


@pytest.mark.parametrize("budget", [{}, {"epsilon": 1}, {"delta": 0.1}, {"rho": 1, "delta": 0.1}])
def test_a_budget_is_rho_or_epsilon_with_delta(budget: dict[str, float]) -> None:
    with pytest.raises(ParameterTypeError, match="either rho, or epsilon with delta"):
        calibrate(dg.DiscreteGaussian, **budget)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"rho": 0}, "rho"),
        ({"rho": -1}, "rho"),
        ({"rho": 1, "sensitivity": 0}, "sensitivity"),
        ({"epsilon": -1, "delta": 0.1}, "epsilon"),
        ({"epsilon": 1, "delta": 0}, "delta"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": math.nan, "delta": 0.1}, "epsilon"),
        ({"epsilon": 1, "delta": 0.1, "sensitivity": "3/2"}, "sensitivity"),
        ({"epsilon": 1, "delta": 0.1, "sensitivity": -1}, "sensitivity"),
        ({"epsilon": 1, "delta": 0.1, "queries": 0}, "queries"),
    ],
)
def test_a_number_out_of_range_is_a_value_error_that_names_it(
    arguments: dict[str, Any], name: str
) -> None:
    with pytest.raises(ParameterValueError, match=rf"^{name} must"):
        calibrate(dg.DiscreteGaussian, **arguments)


@pytest.mark.parametrize(("e", "queries"), [("900", 100), ("70", 10), ("60", 20), ("5e7", 10**6)])
def test_noise_so_small_that_zcdp_decides_is_enough_too(e: str, queries: int) -> None:
    """The density ratio of several queries is useless or nearly useless here."""
    law = calibrate(dg.DiscreteGaussian, epsilon=e, delta="1e-6", queries=queries)
    assert delta(law, e, queries=queries) <= 1e-6
    less = dg.DiscreteGaussian(one_digit_less(law.sigma2))
    assert delta(less, e, queries=queries) > 1e-6 * (1 - 1e-15)


@pytest.mark.parametrize(
    ("e", "d"), [(0, Fraction(1, 10**1000)), (Fraction(1, 10**3000), Fraction(1, 10**3000))]
)
def test_noise_beyond_all_measure_is_an_overflow_error(e: Any, d: Fraction) -> None:
    with pytest.raises(ParameterOverflowError, match=r"below 2\*\*2000 times the sensitivity"):
        calibrate(dg.DiscreteGaussian, epsilon=e, delta=d)


@pytest.mark.parametrize("e", [Fraction(1, 10**100), Fraction(10**50), Fraction(10**1000)])
@pytest.mark.parametrize("d", [Fraction(1, 10**300), 1 - Fraction(1, 10**60)])
def test_extreme_budgets_are_kept(e: Fraction, d: Fraction) -> None:
    """log(delta) decides: the float of the second delta is 1, which tells nothing."""
    law = calibrate(dg.DiscreteGaussian, epsilon=e, delta=d)
    with mpmath.workdps(400):
        log_d = mpmath.log(mp(d))
    assert log_delta(law, e) <= log_d * (1 - 1e-15)
    assert log_delta(dg.DiscreteGaussian(one_digit_less(law.sigma2)), e) > log_d * (1 + 1e-15)


# --- the searches below


@pytest.mark.parametrize("answer", [-1000, -1, 0, 1, 7, 12345])
@pytest.mark.parametrize("guess", [-5000, -1, 0, 6, 7, 8, 10**6])
def test_least_finds_the_first_number_that_holds(answer: int, guess: int) -> None:
    assert first_true(lambda n: n >= answer, guess) == answer
    if guess >= 0:
        assert first_true(lambda n: n >= answer, guess, low=0) == max(answer, 0)


@settings(deadline=None)
@given(holding=st.sets(st.integers(-60, 60)), guess=st.integers(-70, 70), bounded=st.booleans())
def test_what_least_finds_holds_also_where_larger_numbers_do_not(
    holding: set[int], guess: int, bounded: bool
) -> None:
    """delta, too, may grow with sigma2: only a number that was tried is returned."""
    low = -80 if bounded else None

    def holds(n: int) -> bool:
        return n in holding or n > 60

    found = first_true(holds, guess, low)
    assert holds(found)
    assert not holds(found - 1)


@settings(deadline=None)
@given(value=st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_a_decimal_of_six_digits_is_the_next_at_least_as_large(value: Fraction) -> None:
    n = decimal_ordinal(value)
    assert decimal_at(n - 1) < value <= decimal_at(n)
    assert decimal_ordinal(decimal_at(n)) == n
    found = decimal_at(n)
    mantissa = f"{Decimal(found.numerator) / Decimal(found.denominator):e}".split("e")[0]
    assert len(mantissa.replace(".", "").rstrip("0")) <= 6


@given(x=st.floats(min_value=0, allow_nan=False))
def test_floats_are_numbered_in_order(x: float) -> None:
    n = ordinal(x)
    assert float_at(n) == x
    if x < math.inf:
        assert float_at(n + 1) == math.nextafter(x, math.inf)
