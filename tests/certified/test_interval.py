"""Interval arithmetic: close ends enclose the exact value, and are rounded outwards to floats."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discretegauss._certified import interval as _interval
from discretegauss._certified.floats import (
    FIRST_BITS,
    float_at_least,
    float_at_most,
    float_bounds,
    float_nearest,
    float_value,
)
from discretegauss._certified.interval import Interval, arithmetic, relative_width_below

F = Fraction

PRECISIONS = st.integers(24, 300)
RATIONALS = st.fractions(-(10**30), 10**30, max_denominator=10**40) | st.fractions()


def exact(x: Any) -> F:
    numerator, denominator = x.as_integer_ratio()
    return F(int(numerator), int(denominator))


def holds(a: Interval, value: F) -> bool:
    return exact(a.lower) <= value <= exact(a.upper)


def narrow(a: Interval, value: F, bits: int) -> bool:
    return exact(a.upper) - exact(a.lower) <= abs(value) * F(4, 2**bits)


@given(PRECISIONS, RATIONALS)
def test_rationals_are_enclosed_by_neighbours(bits: int, value: F) -> None:
    at = arithmetic(bits)
    a = at.rational(value)
    assert holds(a, value)
    assert a.lower == a.upper or at.down.next_above(a.lower) == a.upper


@given(PRECISIONS, RATIONALS, RATIONALS)
def test_the_four_operations_enclose_the_exact_result(bits: int, x: F, y: F) -> None:
    """The operands are enclosed, and have all signs."""
    at = arithmetic(bits)
    a, b = at.rational(x), at.rational(y)
    assert holds(at.add(a, b), x + y)
    assert holds(at.sub(a, b), x - y)
    assert holds(at.mul(a, b), x * y)
    assert narrow(at.mul(a, b), x * y, bits - 2)
    assert holds(at.neg(a), -x)
    assert holds(at.scale(a, y), x * y)
    assert holds(at.shift(a, y), x + y)
    if y:
        assert holds(at.div(a, b), x / y)
        assert narrow(at.div(a, b), x / y, bits - 2)


def test_a_gmpy2_that_divides_by_the_threads_context_is_refused() -> None:
    """gmpy2 before 2.3 divided so, and no bound held; this context divides the same way."""

    class Context:
        precision = 64

        def div(self, a: Any, b: int) -> Any:
            return a / b

    with pytest.raises(ImportError, match=r"^gmpy2 must be 2\.3 or later, got 2\.\d"):
        _interval._require_own_precision(Context())
    _interval._require_own_precision(gmpy2.context(precision=64))


@settings(max_examples=50)
@given(PRECISIONS, RATIONALS, RATIONALS, RATIONALS, RATIONALS)
def test_operations_on_wide_intervals_enclose_all_results(
    bits: int, x: F, dx: F, y: F, dy: F
) -> None:
    at = arithmetic(bits)
    a = Interval(at.rational(x - abs(dx)).lower, at.rational(x + abs(dx)).upper)
    b = Interval(at.rational(y - abs(dy)).lower, at.rational(y + abs(dy)).upper)
    for u in (x - abs(dx), x, x + abs(dx)):
        for v in (y - abs(dy), y, y + abs(dy)):
            assert holds(at.mul(a, b), u * v)
            quotient = at.div(a, b)
            if v and gmpy2.is_finite(quotient.lower) and gmpy2.is_finite(quotient.upper):
                assert holds(quotient, u / v)
            if b.lower <= 0 <= b.upper:
                assert quotient.lower == -gmpy2.inf()
                assert quotient.upper == gmpy2.inf()


def is_close(a: Interval, value: Any, bits: int, lost: int) -> bool:
    """Return whether bounds enclose a value of mpmath's, to all but a few of the bits."""
    lower, upper = (mpmath.mpf(e.numerator) / e.denominator for e in map(exact, a))
    error = mpmath.mpf(2) ** -700 * max(1, abs(value))
    within = lower - error <= value <= upper + error
    return bool(within and upper - lower <= abs(value) * mpmath.mpf(2) ** (lost - bits) + error)


FUNCTIONS: dict[str, tuple[Any, F | int, F | int]] = {
    "exp": (mpmath.exp, -300, 300),
    "expm1": (mpmath.expm1, -300, 300),
    "log": (mpmath.log, F(1, 10**9), 10**9),
    "log1p": (mpmath.log1p, F(-99, 100), 10**9),
    "sqrt": (mpmath.sqrt, 0, 10**9),
    "erfc": (mpmath.erfc, -20, 20),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=30)
@given(st.data())
def test_functions_enclose_what_mpmath_says(name: str, data: st.DataObject) -> None:
    """The argument's error counts up to abs(x) or so times in the exponential's."""
    function, low, high = FUNCTIONS[name]
    x = data.draw(st.fractions(low, high, max_denominator=10**12))
    bits = data.draw(PRECISIONS)
    at = arithmetic(bits)
    with mpmath.workprec(800):
        value = function(mpmath.mpf(x.numerator) / x.denominator)
        assert is_close(getattr(at, name)(at.rational(x)), value, bits, 14)


@given(PRECISIONS, st.fractions(F(1, 10**6), 10**6), st.fractions(-20, 20, max_denominator=12))
def test_powers_enclose_what_mpmath_says(bits: int, base: F, exponent: F) -> None:
    at = arithmetic(bits)
    with mpmath.workprec(800):
        x, y = (mpmath.mpf(q.numerator) / q.denominator for q in (base, exponent))
        assert is_close(at.power(at.rational(base), exponent), mpmath.power(x, y), bits, 12)


@given(PRECISIONS, st.fractions(-3, 3, max_denominator=10**6))
def test_cosines_of_turns_keep_their_precision_near_zeros(bits: int, turns: F) -> None:
    at = arithmetic(bits)
    with mpmath.workprec(800):
        angle = 2 * mpmath.pi * turns.numerator / turns.denominator
        assert is_close(at.cos_of_turns(turns), mpmath.cos(angle), bits, 6)
        assert is_close(at.sin_of_turns(turns), mpmath.sin(angle), bits, 6)
    for zero in (F(1, 4), F(3, 4), F(-1, 4)):
        assert at.cos_of_turns(zero) == at.rational(0)


def test_ends_leave_the_range_of_exponents_on_the_safe_side() -> None:
    at = arithmetic(60)
    tiny = at.exp(at.rational(-(10**30)))
    assert tiny.lower == 0 < tiny.upper < 1e-300
    huge = at.exp(at.rational(10**30))
    assert gmpy2.is_finite(huge.lower)
    assert huge.upper == gmpy2.inf()
    assert at.mul(tiny, huge) == Interval(at.rational(0).lower, gmpy2.inf())
    assert at.mul(at.neg(tiny), huge).lower == -gmpy2.inf()
    unknown = at.mul(at.rational(0), Interval(at.rational(1).lower, gmpy2.inf()))
    assert unknown.lower <= 0 <= unknown.upper
    assert at.log(Interval(at.rational(0).lower, at.rational(1).upper)).lower == -gmpy2.inf()
    assert at.log1p(at.rational(-1)).lower == -gmpy2.inf()


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-1, 1), st.integers(60, 1200))
def test_floats_are_the_nearest_on_either_side(x: float, nudge: int, tiny: int) -> None:
    """The numbers are at, just above and just below each float."""
    at = arithmetic(4000)
    value = at.shift(at.rational(F(x)), F(nudge, 2 ** (1074 + tiny))).lower
    low, high = float_at_most(value), float_at_least(value)
    assert low == -math.inf or F(low) <= exact(value)
    assert high == math.inf or exact(value) <= F(high)
    assert (low == high) == (nudge == 0)
    if nudge:
        assert math.nextafter(low, math.inf) == high
        assert x == (low if nudge > 0 else high)


def test_floats_at_the_ends_of_their_range() -> None:
    at = arithmetic(100)
    big = at.rational(10**400)
    assert float_at_most(big.lower) == 1.7976931348623157e308
    assert float_at_least(big.upper) == math.inf
    assert float_nearest(big) == math.inf
    assert float_nearest(at.neg(big)) == -math.inf
    small = at.rational(F(1, 10**400))
    assert (float_at_most(small.lower), float_at_least(small.upper)) == (0.0, 5e-324)
    assert float_nearest(small) == 0.0
    # half a step past the largest float
    assert float_nearest(at.rational(2**1024 - 2**970 - 1)) == 1.7976931348623157e308
    assert float_at_most(gmpy2.inf()) == math.inf
    assert float_at_least(-gmpy2.inf()) == -math.inf


@given(RATIONALS)
def test_the_nearest_float_is_pythons(x: F) -> None:
    value = arithmetic(300).rational(x)
    try:
        expected = float(x)
    except OverflowError:
        expected = math.copysign(math.inf, x)
    assert float_nearest(value) == expected


def test_the_threads_context_plays_no_part() -> None:
    """A precision of 10 bits and rounding up, set for the thread, change no result."""
    at = arithmetic(80)

    def results() -> tuple[Any, ...]:
        x = at.rational(F(1, 3))
        return at.mul(x, x), at.exp(x), float_nearest(x), float_at_most(x.lower)

    before = results()
    with gmpy2.context(precision=10, round=gmpy2.RoundUp, emax=20, emin=-20):
        assert results() == before


def test_relative_widths() -> None:
    at = arithmetic(100)
    assert relative_width_below(at.rational(F(-1, 3)), 98)
    assert not relative_width_below(at.rational(F(-1, 3)), 101)
    assert relative_width_below(at.rational(0), 10**6)
    assert not relative_width_below(Interval(at.rational(-1).lower, at.rational(1).upper), 1)
    assert not relative_width_below(Interval(at.rational(1).lower, gmpy2.inf()), 1)


@pytest.mark.parametrize("bits", [10, 60, 400])
@pytest.mark.parametrize("exponent", [1, 5, 29, 31, 60, 199, 201, 300])
def test_gamma_of_a_tiny_number_is_gamma_of_it_with_more_bits(bits: int, exponent: int) -> None:
    """If a**2 is below a unit, the logarithm of gamma(1 + a) up to it is enough."""
    for a in (F(1, 2**exponent), F(3, 2 ** (exponent + 2))):
        value, more = arithmetic(bits).gamma(a), arithmetic(1000).gamma(a)
        assert relative_width_below(value, bits - 4)
        assert value.lower <= more.lower
        assert more.upper <= value.upper


def test_bounds_are_asked_again_until_two_steps_apart() -> None:
    """Three steps are too many, even if the value is in the middle of them."""
    steps = [1.0]
    for _ in range(4):
        steps.append(math.nextafter(steps[-1], 2))
    asked: list[int] = []

    def enclosure(bits: int) -> Interval:
        asked.append(bits)
        return Interval(gmpy2.mpfr(steps[0]), gmpy2.mpfr(steps[5 - min(len(asked) + 1, 3)]))

    assert float_bounds(enclosure) == (steps[0], steps[2])
    assert asked == [FIRST_BITS, 2 * FIRST_BITS]


def test_a_value_that_no_precision_decides_is_an_error() -> None:
    """An enclosure that never narrows ends in an ArithmeticError, not in a guess."""
    at = arithmetic(64)
    wide = Interval(at.rational(1).lower, at.rational(2).upper)
    with pytest.raises(ArithmeticError, match="bits"):
        float_value(lambda _bits: wide)
