"""Sums over the integers: against sums term by term in mpmath, and against each other.

If a sum takes too long (sigma = 10**50), identities of tails are checked at a sufficient precision:
R(m) = 1 + w R(m + 1) with w the ratio of the two weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

import mpmath
import pytest
from evidence_cases import at_once, crossed, evidence, some
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from discretegauss._certified import discrete_gaussian as _gaussian
from discretegauss._certified import moments as _moments
from discretegauss._certified.discrete_gaussian import gaussian_tail
from discretegauss._certified.formulas import mirrored
from discretegauss._certified.generalized_tail import TailShape, generalized_tail
from discretegauss._certified.incomplete_gamma import _gamma, scaled_gamma
from discretegauss._certified.interval import Interval, arithmetic, relative_width_below
from discretegauss._certified.laws_of_integers import normaliser, tail_ratio, weight_ratio
from discretegauss._law import Kind, LawSpec

F = Fraction

gaussian = partial(LawSpec, Kind.DISCRETE_GAUSSIAN)
laplace = partial(LawSpec, Kind.DISCRETE_LAPLACE)


def general(scale: F, beta: F, mu: F | int = 0) -> LawSpec:
    return LawSpec(Kind.GENERALIZED_GAUSSIAN, scale, F(mu), beta)


SPECS = [
    *(gaussian(F(p)) for p in ("1/100", "1/3", "1", "355/113", "30", "1000", "100000/3")),
    *(laplace(F(p)) for p in ("1/20", "5/2", "20")),
    *(general(F(scale), F(beta)) for scale, beta in (("1/10", "3/2"), (1, "5/4"), (10, "3/2"))),
    *(
        general(F(scale), F(beta))
        for scale, beta in ((10, 100), (40, "7/3"), (200, 3), (1000, 100))
    ),
    *(general(F(scale), F(10**6)) for scale in (7, 10)),
]
CENTRES = [F(0), F(1, 2), F(-1, 3), F(1, 10**30), F(51, 100)]


def mpq(x: F | int) -> Any:
    return mpf(F(x).numerator) / F(x).denominator


def number(x: Any) -> Any:
    numerator, denominator = x.as_integer_ratio()
    return mpf(int(numerator)) / mpf(int(denominator))


def encloses(a: Interval, value: Any, slack: Any = 0) -> bool:
    return bool(number(a.lower) - slack <= value <= number(a.upper) + slack)


def overlap(a: Interval, b: Interval) -> bool:
    return bool(a.lower <= b.upper and b.lower <= a.upper)


def phi(spec: LawSpec) -> Callable[[F], Any]:
    """The exponent as a function of the distance from mu."""
    p, beta = mpq(spec.parameter), mpq(spec.beta)
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return lambda y: mpq(y) ** 2 / (2 * p)
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return lambda y: mpq(y) / p
    return lambda y: (mpq(y) / p) ** beta if y else mpf(0)


SUM_BITS = 300


@cache
def tail_by_terms(spec: LawSpec, d: F) -> Any:
    """The sum of exp(phi(d) - phi(y)) over y = d, d + 1, ..., to SUM_BITS; mu plays no part.

    If phi is linear, d does not matter either, and one sum is enough for all.
    """
    if spec.kind is Kind.DISCRETE_LAPLACE and d != 0:
        return tail_by_terms(spec, F(0))
    with mp.workprec(SUM_BITS):
        exponent, least = phi(spec), mpf(2) ** -(SUM_BITS + 20)
        first, total, y = exponent(d), mpf(0), d
        while True:
            fall = exponent(y) - first
            if fall > SUM_BITS + 20:  # an exponential of 10**6 digits may take seconds
                return total
            ratio = mpmath.exp(-fall)
            total += ratio
            if ratio < least:
                return total
            y += 1


# --- against sums term by term


@pytest.mark.parametrize("spec", some(SPECS), ids=str)
@pytest.mark.parametrize("bits", [60, 150])
def test_tails_are_those_of_sums_in_mpmath(spec: LawSpec, bits: int) -> None:
    """Tails from the centre, near it and far out are enclosed, to the requested width."""
    size = max(1, math.isqrt(int(spec.parameter))) if spec.beta == 1 else int(spec.parameter) + 1
    with mp.workprec(SUM_BITS):
        slack = mpf(2) ** -(bits + 100)
        for mu in (F(0), F(-1, 3)):
            for m in {0, 1, size, 5 * size, 40 * size}:
                tail = tail_ratio(spec._replace(mu=mu), m, bits)
                value = tail_by_terms(spec, m - mu)  # which both numbers of bits share
                assert encloses(tail, value, slack * value), (mu, m)
                assert relative_width_below(tail, bits), (mu, m)


@pytest.mark.parametrize("spec", some(SPECS), ids=str)
@pytest.mark.parametrize("mu", some(CENTRES, 2), ids=str)
def test_the_normaliser_is_that_of_two_sums(spec: LawSpec, mu: F) -> None:
    bits = 100
    m0, total = normaliser(spec._replace(mu=mu), bits)
    assert abs(m0 - mu) <= F(1, 2)
    with mp.workprec(SUM_BITS):
        exponent, up = phi(spec), math.ceil(mu)
        value = mpf(0)
        for d in (up - mu, mu - up + 1):
            value += tail_by_terms(spec, d) * mpmath.exp(exponent(abs(m0 - mu)) - exponent(d))
        assert encloses(total, value, value * mpf(2) ** -(bits + 100))
    assert relative_width_below(total, bits)


@pytest.mark.parametrize(
    "shape",
    some([TailShape(F(1), F(3, 2)), TailShape(F(30), F(7, 3)), TailShape(F(300), F(40))], 2),
    ids=str,
)
@pytest.mark.parametrize("power", [1, 2, 3, 4, None])
def test_weighted_tails_are_those_of_sums_in_mpmath(shape: TailShape, power: int | None) -> None:
    """With (y/s)**1, ..., (y/s)**4 and (y/s)**beta as weights (None: beta)."""
    bits = 80
    spec = general(shape.scale, shape.beta)
    exponent = shape.beta if power is None else F(power)
    with mp.workprec(300):
        for d in (F(0), F(1, 3), shape.scale // 2 + F(1, 7), 2 * shape.scale):
            value = mpf(0)
            first, y = phi(spec)(d), d
            term = mpf(0)
            while y < d + shape.scale + 2 or term > value * mpf(2) ** -250:
                ratio = mpmath.exp(first - phi(spec)(y))
                term = ratio * (mpq(y / shape.scale) ** mpq(exponent) if y else 0)
                value += term
                y += 1
            tail = generalized_tail(shape, d, bits, exponent)
            assert encloses(tail, value, value * mpf(2) ** -200), d
            assert relative_width_below(tail, bits - 10), d


# --- identities, for any size

THIRD = F(1, 3)
WIDE = [
    *(gaussian(p, mu) for p, mu in ((F(10) ** 12, THIRD), (F(10) ** 100, -THIRD))),
    gaussian(F(2) ** 4000 + THIRD, F(1, 7)),
    laplace(F(10) ** 50, THIRD),
    *(general(F(10) ** n, b, THIRD) for n, b in ((6, F(3, 2)), (30, F(5, 2)), (30, F(4)))),
    general(F(10) ** 12, F(10) ** 6, THIRD),
]


@pytest.mark.parametrize(("spec", "tenths"), crossed(WIDE, [3, 10, 12, 55, 0, 300]))
def test_neighbouring_tails_differ_by_a_weight(spec: LawSpec, tenths: int) -> None:
    """R(m) = 1 + ... + w_n R(m + n), at a precision far beyond 1/R: wrong digits would show."""
    size = int(normaliser(spec, 60)[1].upper)
    bits = 60 + 2 * size.bit_length()
    m = 1 + size * tenths // 10
    if spec.beta > 100 and tenths > 10:
        m = size // 2 + tenths  # beyond the edge all is 0
    at = arithmetic(bits + 20)
    here, after = tail_ratio(spec, m, bits), tail_ratio(spec, m + 3, bits)
    assert relative_width_below(here, bits)
    expected = at.mul(after, weight_ratio(spec, m + 3, m, bits))
    for n in range(3):
        expected = at.add(expected, weight_ratio(spec, m + n, m, bits))
    assert overlap(here, expected)
    assert relative_width_below(expected, bits - 10)


@pytest.mark.parametrize("spec", WIDE, ids=lambda spec: f"{spec.kind.name}-{spec.beta}")
def test_the_normaliser_is_the_sum_of_both_tails(spec: LawSpec) -> None:
    """For the Gaussian that is Poisson summation against Euler-Maclaurin."""
    size = int(normaliser(spec, 60)[1].upper)
    bits = 60 + 2 * size.bit_length()
    at = arithmetic(bits + 20)
    m0, total = normaliser(spec, bits)
    up = math.ceil(spec.mu)
    right = at.mul(tail_ratio(spec, up, bits), weight_ratio(spec, up, m0, bits))
    left = at.mul(tail_ratio(mirrored(spec), 1 - up, bits), weight_ratio(spec, up - 1, m0, bits))
    assert relative_width_below(total, bits - 2)
    assert overlap(total, at.add(right, left))


FAR = [(2**25, 40), (10**15, 100), (10**40, 40), (10**40, 400), (10**200, 400)]


@at_once(("depth2", "bits"), FAR)
@at_once("rate", [F(1, 10**9), F(1, 300), F(1, 20), F(3)])
def test_far_tails_are_the_sums(depth2: int, bits: int, rate: F) -> None:
    """d/sigma2 is the rate, (d/sigma)**2 the depth2."""
    sigma2 = depth2 / rate**2
    d = rate * sigma2
    found = gaussian_tail(sigma2, d, bits)
    assert relative_width_below(found, bits)
    growth = 1 / sigma2
    if rate > F(1, 1000):
        summed = _gaussian.direct_sum((d + F(1, 2)) * growth, growth, 60, bits)
    else:
        summed = gaussian_tail(sigma2, d, 3 * bits)
    assert relative_width_below(summed, bits - 4)
    assert overlap(found, summed)


def test_a_sum_whose_first_ratio_is_rounded_to_1_goes_on() -> None:
    """1 + q0 + q0 q1 + ... with q0 = exp(-2**-200), qj = q0 exp(-j)."""
    value = _gaussian.direct_sum(F(1, 2**200), F(1), 0, 60)
    expected = 1 + sum(math.exp(-j * (j + 1) / 2) for j in range(20))
    assert value.lower <= value.upper
    assert float(value.lower) == pytest.approx(expected, rel=1e-15)


def test_a_far_tail_of_thousands_of_bits_is_found() -> None:
    """Also where sigma2 is 10**1000."""
    for rate in (F(1, 10**6), F(1, 200), F(1, 2)):
        assert relative_width_below(gaussian_tail(F(10**1000), rate * 10**1000, 4000), 4000)


@pytest.mark.parametrize(
    ("exponent", "bits"),
    [
        *product([3, 6, 1000], [60, 150]),
        *evidence((5, 1700), (1000, 3400), (5, 3400)),
    ],
)
def test_tails_of_wide_laws_are_those_of_the_named_laws(exponent: int, bits: int) -> None:
    """From mu on and near it, beta = 1 is a geometric series, beta = 2 the Gaussian's tail.

    To many bits, which take hundreds of corrections; and of wide laws, by circles that grow.
    """
    scale = F(10**exponent)
    for d in (F(0), F(1, 3), F(20)):
        tail = generalized_tail(TailShape(scale, F(1)), d, bits)
        assert relative_width_below(tail, bits)
        assert overlap(tail, tail_ratio(laplace(scale), math.ceil(d), bits + 20))
    for d in (F(0), F(1, 3), F(20), 20 * scale):
        tail = generalized_tail(TailShape(scale, F(2)), d, bits)
        assert relative_width_below(tail, bits)
        assert overlap(tail, gaussian_tail(scale**2 / 2, d, bits))


@pytest.mark.parametrize("beta", [F(3, 2), F(100), *evidence(F(1001, 1000), F(3), F(999))], ids=str)
@pytest.mark.parametrize("exponent", [5, *evidence(10, 100)])
def test_more_bits_tell_the_same_of_wide_laws(beta: F, exponent: int) -> None:
    """With and without weights, near mu. More bits choose other circles."""
    shape = TailShape(F(10**exponent, 7), beta)
    for power in (0, 1, 2, 3, 4, beta):
        for d in (F(0), F(1, 3), F(200, 7)):
            few, many = (generalized_tail(shape, d, bits, power) for bits in (60, 250))
            assert relative_width_below(few, 50)
            assert overlap(few, many)


def test_a_tail_that_would_take_hours_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="longer than minutes"):
        generalized_tail(TailShape(F(10**15000), F(10**4)), F(0), 60000)


HUGE = F(2) ** 60000
EXTREME = [
    *(gaussian(F(1, 10**30)), gaussian(HUGE), laplace(1 / HUGE)),
    *(general(scale, F(3, 2)) for scale in (1 / HUGE, HUGE)),
    *(general(scale, HUGE) for scale in (F(10), F(1, 3))),
]


@pytest.mark.parametrize("spec", EXTREME, ids=range(len(EXTREME)))
def test_extreme_parameters_have_tails(spec: LawSpec) -> None:
    """Up to 60 000 bits, the enclosure has the requested width, and R >= 1."""
    bits = 80
    _, total = normaliser(spec, bits)
    assert relative_width_below(total, bits)
    size = int(total.upper) + 1
    for m in (0, 1, size, 3 * size, size**2):
        tail = tail_ratio(spec, m, bits)
        assert relative_width_below(tail, bits)
        assert tail.upper >= 1
        assert tail.lower <= total.upper


@settings(max_examples=60)
@given(
    st.fractions(F(1, 10**3), 10**7),
    st.fractions(1, 30, max_denominator=12),
    st.fractions(-1, 1, max_denominator=10**6),
    st.integers(1, 10**4),
    st.sampled_from([60, 90, 140]),
)
def test_random_tails_obey_the_identity(scale: F, beta: F, mu: F, m: int, bits: int) -> None:
    for spec in (general(scale, beta, mu), gaussian(scale, mu)):
        at = arithmetic(bits + 20)
        here, after = tail_ratio(spec, m, bits), tail_ratio(spec, m + 1, bits)
        assert relative_width_below(here, bits)
        weight = weight_ratio(spec, m + 1, m, bits)
        assert overlap(here, at.shift(at.mul(weight, after), 1))


# --- parts


@at_once("a", [F(1, 2), F(2, 3), F(1, 100), F(1, 10**6), F(99, 100), F(1), F(5, 2)])
@at_once("x", [F(0), F(1, 10**50), F(1, 2), F(3), F(13), F(40), F(1000), F(10**12)])
@at_once("bits", [60, 200])
def test_the_incomplete_gamma_function_is_mpmaths(a: F, x: F, bits: int) -> None:
    value = scaled_gamma(a, arithmetic(2 * bits + 80).rational(x), bits)
    with mp.workprec(600):
        expected = (
            mpmath.gamma(mpq(a))
            if x == 0
            else mpq(x) ** mpq(a) * mpmath.hyperu(1, 1 + mpq(a), mpq(x))
            if x >= 1000
            else mpmath.gammainc(mpq(a), mpq(x)) * mpmath.exp(mpq(x))
        )
        assert encloses(value, expected, expected * mpf(2) ** -300)
    assert relative_width_below(value, bits)


@pytest.mark.parametrize("a", [F(1, 3), F(1000, 1001), F(1, 10**7)])
@pytest.mark.parametrize("bits", some([3900, 4100, 9000], 2))
def test_the_gamma_function_of_many_bits_is_flints(
    a: F, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In ball arithmetic, which is 100 times faster than mpmath and bounds its error."""
    flint = pytest.importorskip("flint")
    monkeypatch.setattr(flint.ctx, "prec", bits + 60)
    value = _gamma(a, bits)
    ball = flint.arb(flint.fmpq(a.numerator, a.denominator)).gamma()
    assert ball.rel_accuracy_bits() > bits + 45
    digits, exponent = map(int, ball.mid().man_exp())
    with mp.workprec(bits + 60):
        expected = mpf(digits) * mpf(2) ** exponent
        assert encloses(value, expected, expected * mpf(2) ** -(bits + 40))
    assert relative_width_below(value, bits - 4)


def test_a_tail_from_below_the_centre_is_refused() -> None:
    with pytest.raises(ValueError, match="at least mu"):
        tail_ratio(gaussian(F(1)), -1, 60)


@at_once("bits", [8, 14, 22, 35, 50])
@pytest.mark.parametrize(
    "spec",
    [
        *(gaussian(s, THIRD) for s in (F(1, 9), F(2, 5), F(1, 2), F(7), F(900))),
        laplace(F(5, 2), THIRD),
        *(general(F(1), F(3, 2), THIRD), general(F(3, 2), F(5), THIRD)),
        *(general(F(30), F(3), THIRD), general(F(9), F(50), THIRD)),
    ],
    ids=str,
)
def test_what_few_bits_enclose_is_there_with_many(spec: LawSpec, bits: int) -> None:
    """Bounds include the remainder of a sum, which is most of them if bits are few."""
    for function in (
        _moments.mean,
        _moments.variance,
        _moments.skewness,
        _moments.excess_kurtosis,
        _moments.entropy,
        lambda spec, bits: _moments._moments(spec, bits).energy,
        lambda spec, bits: normaliser(spec, bits)[1],
        lambda spec, bits: tail_ratio(spec, 1, bits),
        lambda spec, bits: tail_ratio(spec, 40, bits),
    ):
        few, many = function(spec, bits), function(spec, 160)
        assert few.lower <= many.lower <= many.upper <= few.upper


@pytest.mark.parametrize("bits", [8, 14, 22, 36])
@pytest.mark.parametrize("a", [F(1, 10), F(2, 5), F(2, 3)])
def test_what_few_bits_enclose_of_the_incomplete_gamma_function(a: F, bits: int) -> None:
    for x in (F(1, 100), F(1, 2), F(3), F(20)):  # the series, and the continued fraction
        few, many = (scaled_gamma(a, arithmetic(400).rational(x), n) for n in (bits, 160))
        assert few.lower <= many.lower <= many.upper <= few.upper


@pytest.mark.parametrize("x", [F(1, 10**9), F(1, 3), F(1), F(7, 2)])
def test_incomplete_gamma_of_a_tiny_a_is_an_exponential_integral(x: F) -> None:
    """e**x Gamma(a, x) is e**x E1(x), up to a part of about a."""
    for a in (F(1, 2**400), F(3, 7**23_000)):
        value = scaled_gamma(a, arithmetic(400).rational(x), 100)
        assert relative_width_below(value, 100)
        with mp.workprec(600):
            expected = mpmath.exp(mpq(x)) * mpmath.e1(mpq(x))
            assert encloses(value, expected, expected * mpf(2) ** -300)
