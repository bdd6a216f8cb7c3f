"""The zCDP calculus: every float on the safe side, and within a few ulp of the formula."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import gmpy2
import pytest
from evidence_cases import at_once, crossed
from hypothesis import given, settings
from hypothesis import strategies as st

from discretegauss._certified.interval import arithmetic
from discretegauss.privacy import (
    zcdp,
    zcdp_delta,
    zcdp_delta_standard,
    zcdp_epsilon,
    zcdp_rho,
)
from discretegauss.privacy.zcdp import (
    epsilon_upper,
    log_delta_upper,
    rho_lower,
    turning_point,
)

# --- the formula of Corollary 13 as printed, by MPFR with 1000 bits, minimised by golden section.
#     Its arithmetic, minimiser and form differ from those of the package.


def exact_log_delta(rho: Fraction, epsilon: Fraction, steps: int = 90) -> gmpy2.mpfr:
    """log(delta), the minimum over s = alpha - 1 in e**-400 .. e**400, to about 30 digits."""
    with gmpy2.context(gmpy2.get_context(), precision=1000):
        r, e = gmpy2.mpfr(gmpy2.mpq(rho)), gmpy2.mpfr(gmpy2.mpq(epsilon))

        def log_delta(log_s: gmpy2.mpfr) -> gmpy2.mpfr:
            alpha = 1 + gmpy2.exp(log_s)
            return (
                (alpha - 1) * (alpha * r - e)
                - gmpy2.log(alpha - 1)
                + alpha * gmpy2.log(1 - 1 / alpha)
            )

        return golden_minimum(log_delta, gmpy2.mpfr(-400), gmpy2.mpfr(400), steps)


def golden_minimum(
    f: Callable[[gmpy2.mpfr], gmpy2.mpfr], low: gmpy2.mpfr, high: gmpy2.mpfr, steps: int
) -> gmpy2.mpfr:
    ratio = (gmpy2.sqrt(gmpy2.mpfr(5)) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    f_left, f_right = f(left), f(right)
    for _ in range(steps):  # 800 * 0.618**90 < 1e-16
        if f_left < f_right:
            high, right, f_right = right, left, f_left
            left = high - ratio * (high - low)
            f_left = f(left)
        else:
            low, left, f_left = left, right, f_right
            right = low + ratio * (high - low)
            f_right = f(right)
    return min(f_left, f_right)


def allows(rho: Fraction, epsilon: Fraction, delta: Fraction, steps: int = 90) -> bool:
    """Return whether rho-zCDP implies (epsilon, delta) by Corollary 13."""
    with gmpy2.context(gmpy2.get_context(), precision=1000):
        return bool(exact_log_delta(rho, epsilon, steps) <= gmpy2.log(gmpy2.mpfr(gmpy2.mpq(delta))))


RHOS = [Fraction(r) for r in ("1e-12", "1/50", "0.1", "1", "10", "100")]
EPSILONS = [Fraction(e) for e in ("0", "1e-3", "1/2", "3", "20", "1000")]
DELTAS = [Fraction(d) for d in ("1e-100", "1e-9", "1e-6", "1/2", "0.999999")]


@pytest.mark.parametrize(("rho", "epsilon"), crossed(RHOS, EPSILONS))
def test_delta_is_an_upper_bound_within_one_ulp(rho: Fraction, epsilon: Fraction) -> None:
    delta = zcdp_delta(rho, epsilon)
    with gmpy2.context(gmpy2.get_context(), precision=1000):
        exact = gmpy2.exp(exact_log_delta(rho, epsilon))
        assert exact <= delta
        assert delta == 5e-324 or exact > math.nextafter(delta, 0.0)


def near(rho: Fraction, k: int) -> Fraction:
    """An epsilon at which delta is about exp(-k/4)."""
    return rho + Fraction(math.isqrt(int(k * rho * 4**1200)), 2**1200)


#: exponents of 10; the last are floats with few bits
SIZES = [*range(0, 61, 4), 150, 300, -150, -312, -322]


@pytest.mark.parametrize(("p", "k"), crossed(SIZES, (1, 40, 2900)))
def test_delta_is_so_for_any_rho_and_an_epsilon_close_to_it(p: int, k: int) -> None:
    rho = Fraction(13, 10) * Fraction(10) ** p
    epsilon = near(rho, k)
    test_delta_is_an_upper_bound_within_one_ulp(rho, epsilon)
    assert zcdp_delta(rho, epsilon) <= zcdp_delta_standard(rho, epsilon)
    if rho > 100:
        assert zcdp_delta(rho, rho - 1) > 0.5


@pytest.mark.parametrize(("rho", "delta"), crossed(RHOS, DELTAS))
def test_epsilon_is_an_upper_bound_within_two_ulp(rho: Fraction, delta: Fraction) -> None:
    epsilon = zcdp_epsilon(rho, delta)
    assert allows(rho, Fraction(epsilon), delta)
    if epsilon > 0:
        assert not allows(rho, Fraction(epsilon - 2 * math.ulp(epsilon)), delta)


@pytest.mark.parametrize(("rho", "digits"), crossed(RHOS[:4], (8, 16, 20, 30, 60, 100)))
def test_epsilon_is_so_where_it_is_next_to_0(rho: Fraction, digits: int) -> None:
    with gmpy2.context(gmpy2.get_context(), precision=1000):
        at_0 = gmpy2.mpq(gmpy2.exp(exact_log_delta(rho, Fraction(0), steps=400)))
    less, more = (Fraction(str(at_0)) * (1 + Fraction(sign, 10**digits)) for sign in (-1, 1))
    epsilon = zcdp_epsilon(rho, less)
    assert epsilon > 0
    assert allows(rho, Fraction(epsilon), less, steps=400)
    assert not allows(rho, Fraction(epsilon - 2 * math.ulp(epsilon)), less, steps=400)
    assert zcdp_epsilon(rho, more) == 0.0


@pytest.mark.parametrize(("epsilon", "delta"), crossed(EPSILONS, DELTAS))
def test_rho_is_a_lower_bound_within_two_ulp(epsilon: Fraction, delta: Fraction) -> None:
    rho = zcdp_rho(epsilon, delta)
    assert rho == 0.0 or allows(Fraction(rho), epsilon, delta)
    assert not allows(Fraction(rho + 2 * math.ulp(rho)), epsilon, delta)


@at_once(("epsilon", "k"), product((0, 1, 1000), (30, 300, 1000, 10000)))
def test_rho_is_so_where_delta_is_next_to_1(epsilon: int, k: int) -> None:
    """At delta = 1 - 10**-k it is epsilon + log(10**k), to about k digits (s = 10**-k)."""
    rho = zcdp_rho(epsilon, 1 - Fraction(1, 10**k))
    with gmpy2.context(gmpy2.get_context(), precision=1000):
        exact = epsilon + k * gmpy2.log(gmpy2.mpfr(10))
        assert rho <= exact <= rho + 2 * math.ulp(rho)


@pytest.mark.parametrize(("rho", "epsilon"), crossed(RHOS, EPSILONS))
def test_the_older_conversion_is_its_formula_rounded_up(rho: Fraction, epsilon: Fraction) -> None:
    assert zcdp_delta_standard(0, epsilon) == 0.0
    found = zcdp_delta_standard(rho, epsilon)
    assert found >= zcdp_delta(rho, epsilon)
    with gmpy2.context(gmpy2.get_context(), precision=1000):
        excess = gmpy2.mpfr(gmpy2.mpq(max(epsilon - rho, Fraction(0))))
        exact = gmpy2.exp(-(excess**2) / (4 * gmpy2.mpfr(gmpy2.mpq(rho))))
        assert exact <= found
        assert found == 5e-324 or exact > math.nextafter(found, 0.0)


def test_values_known_from_elsewhere() -> None:
    """OpenDP 0.16 (make_zCDP_to_approxDP) has these for rho = 0.1, from its own minimiser."""
    assert zcdp_epsilon("0.1", "1e-6") == pytest.approx(2.141938928385474, rel=1e-14)
    assert zcdp_delta("0.1", "2.1") == pytest.approx(1.5570051527653162e-06, rel=1e-12)


def test_extreme_numbers_neither_overflow_nor_underflow_the_unsafe_way() -> None:
    huge, tiny = Fraction(2) ** 4000, Fraction(1, 2**4000)
    assert zcdp_delta(huge, 1) == 1.0
    assert zcdp_delta(huge, huge) == 1.0
    assert zcdp_delta(1, 1e308) == 5e-324  # below every float, but not 0
    assert zcdp_delta(tiny, 0) == 5e-324
    assert zcdp_delta(0, 0) == 0.0
    assert zcdp_epsilon(huge, "1e-6") == math.inf
    assert zcdp_epsilon(tiny, tiny) == 5e-324
    assert zcdp_epsilon(0, tiny) == 0.0
    assert zcdp_rho(huge, "1e-6") == math.nextafter(math.inf, 0.0)
    assert zcdp_rho(0, tiny) == 0.0
    assert 0 < zcdp_epsilon(1, Fraction(1, 10**15000)) < math.inf
    assert 0 < zcdp_rho(1, 1 - Fraction(1, 10**15000)) < math.inf


rationals = st.fractions(min_value=0, max_value=10**9, max_denominator=10**9)


@settings(max_examples=30)
@given(epsilon=rationals, delta=st.fractions(0, 1).filter(lambda d: 0 < d < 1))
def test_the_three_conversions_agree(epsilon: Fraction, delta: Fraction) -> None:
    """A conversion and its inverse lose only the rounding."""
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= float(epsilon) * (1 + 1e-9) + 1e-12
    assert zcdp_delta(rho, epsilon) <= float(delta) * (1 + 1e-6)


# --- the directions of rounding, which floats from 80 or 192 bits do not show


def at_s(name: str, x: Fraction, y: Fraction, s: gmpy2.mpq) -> gmpy2.mpfr:
    """f(s), epsilon(s) or rho(s) of the module, given two of rho, epsilon and delta."""
    with gmpy2.context(gmpy2.get_context(), precision=1000):
        a, b = gmpy2.mpfr(gmpy2.mpq(x)), gmpy2.mpfr(gmpy2.mpq(y))
        inverse, log = gmpy2.log1p(1 / gmpy2.mpfr(s)), gmpy2.log1p(gmpy2.mpfr(s))
        if name == "delta":
            return s * ((1 + s) * a - b) - s * inverse - log
        if name == "epsilon":
            return (1 + s) * a - inverse - gmpy2.log(b) / s - log / s
        return (s * (a + inverse) + log + gmpy2.log(b)) / (s * (1 + s))


@pytest.mark.parametrize("name", ["delta", "epsilon", "rho"])
def test_with_9_bits_the_bounds_are_bounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rounding is on the safe side at any precision; s is an exact number of 6 bits."""
    generator, at = random.Random(1), arithmetic(9)
    found_s: list[gmpy2.mpq] = []

    def coarse(*arguments: Any, **options: Any) -> gmpy2.mpq:
        found_s.append(gmpy2.mpq(gmpy2.mpfr(turning_point(*arguments, **options), 6)))
        return found_s[-1]

    monkeypatch.setattr(zcdp, "turning_point", coarse)
    monkeypatch.setattr(zcdp, "arithmetic", lambda _bits: at)
    monkeypatch.setattr(zcdp, "_AT_80_BITS", at)
    bounds: dict[str, Callable[..., Any]] = {
        "delta": log_delta_upper,
        "epsilon": epsilon_upper,
        "rho": rho_lower,
    }
    bound = bounds[name]
    told = 0
    for _ in range(400):
        x = Fraction(generator.randrange(1, 64), 2 ** generator.randrange(14))
        y = Fraction(generator.randrange(1, 10**6), 10**6)
        y = x + 9 * y if name == "delta" else y ** generator.randrange(1, 9)
        found, exact = bound(x, y), at_s(name, x, y, found_s[-1])
        assert found <= max(exact, 0) if name == "rho" else found >= min(exact, 0)
        assert name != "epsilon" or found >= exact
        told += found != 0
    assert told > 120


@pytest.mark.parametrize("size", [2, 100, 10000])
@pytest.mark.parametrize("bound", [log_delta_upper, epsilon_upper, rho_lower])
def test_few_steps_find_the_turning_point(
    bound: Callable[..., Any], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The balance is below 0 just before s and above 0 just after it, for numbers of any size."""
    searches = 0

    def judged(problem: Callable[..., Any], *values: Any, **how: Any) -> gmpy2.mpq:
        nonlocal searches
        tried: list[Any] = []

        def counted(*values: Any) -> tuple[Callable[[Any], Any], Any]:
            balance, guess = problem(*values)

            def kept(u: Any) -> Any:
                tried.append(u)
                return balance(u)

            return kept, guess

        for bits in (48, 200):
            searches += 1
            tried.clear()
            s = turning_point(counted, *values, bits=bits)
            assert len(tried) < 20
            assert s == gmpy2.mpfr(s, bits + 32)
            with gmpy2.context(gmpy2.get_context(), precision=1200):
                balance, _ = problem(*(gmpy2.mpfr(gmpy2.mpq(x)) for x in values))
                u = gmpy2.log(s)
                close = gmpy2.exp2(10 - bits) * max(1, abs(u))
                assert balance(u - close)[0] < 0 < balance(u + close)[0]
        return turning_point(problem, *values, **how)

    monkeypatch.setattr(zcdp, "turning_point", judged)
    generator = random.Random(size)

    def number() -> Fraction:
        exponent = generator.randint(-size, size)
        return Fraction(generator.randrange(1, 10**6)) * Fraction(10) ** exponent

    for _ in range(10):
        if bound is log_delta_upper:
            rho = min(number(), Fraction(90000))
            gap = number() if generator.random() < 0.5 else -rho * Fraction(generator.random())
            bound(rho, rho + gap)
        else:
            small = Fraction(1, 1 + generator.randrange(10**6) * 10 ** generator.randrange(size))
            bound(number(), small / 2 if generator.random() < 0.5 else 1 - small / 2)
    assert searches >= 20
