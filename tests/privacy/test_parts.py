"""Parts below the calculus, whose errors its figures hardly show: they hold at any precision."""

from __future__ import annotations

import functools
import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from composition_reference import delta_of_gaussians
from evidence_cases import crossed, evidence
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from privacy_reference import delta_by_theorem_7, gaussian_weight
from privacy_reference import mp as real

from discretegauss._certified import convolution
from discretegauss._certified.convolution import density_ratio_upper
from discretegauss._certified.double_double_functions import exponential_in_floats
from discretegauss._certified.fourier import inverse, inverse_error, transform, transform_error
from discretegauss._certified.interval import Interval, arithmetic
from discretegauss._certified.search import first_true
from discretegauss._law import Kind, LawSpec
from discretegauss.privacy._known_sample import KnownSample
from discretegauss.privacy._loss_bounds import log_moment
from discretegauss.privacy._outcomes import OutcomeCells, RandomOutcome
from discretegauss.privacy._search import (
    crossing,
    decimal_at,
    decimal_ordinal,
    float_at,
    ordinal,
)
from discretegauss.privacy.hockey_stick import HockeyStick, Scaled, relative_bits

# --- the law of a sum


@pytest.mark.parametrize("bits", [6, 20, 64])
def test_masses_of_the_sum_are_bounds_at_any_precision(bits: int) -> None:
    for sigma2, queries in ((Fraction(1, 4), 5), (Fraction(2), 3), (Fraction(1, 50), 2)):
        tails = convolution.tails_of_sum(LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2), queries, bits)
        assert tails is not None
        with mpmath.workdps(50):
            reach = math.isqrt(int(280 * sigma2)) + 2
            weight = gaussian_weight(sigma2)
            one = np.array([weight(x) for x in range(-reach, reach + 1)], object)
            law = functools.reduce(np.convolve, [one / mpmath.fsum(one)] * queries)
            for m in range(tails.first - 2, 1 - tails.first + 3):
                exact = mpmath.fsum(law[max(m + queries * reach, 0) :])
                lower, upper = (mpmath.mpf(int(end)) / 2**bits for end in tails.at(m))
                assert lower <= exact * (1 + mpmath.mpf(10) ** -40)
                assert exact <= upper * (1 + mpmath.mpf(10) ** -40)
        assert tails.missing < 10 * queries * bits  # some units for each mass


@pytest.mark.parametrize(
    ("queries", "sigma2"), crossed([2, 3, 4, 5], ["1/5", "3/10", "1/2", "1", "2"])
)
def test_the_bound_on_eta_holds(queries: int, sigma2: str) -> None:
    """Against the sum over the dual lattice: one z in each class, entries up to 4."""
    with mpmath.workdps(40):
        c = 2 * mpmath.pi**2 * real(Fraction(sigma2))
        exact = mpmath.mpf(0)
        for rest in itertools.product(range(-4, 5), repeat=queries - 1):
            squared = sum(x * x for x in rest) - Fraction(sum(rest) ** 2, queries)
            exact += mpmath.exp(-c * real(squared)) if any(rest) else 0
        assert exact < convolution._eta_upper(Fraction(sigma2), queries)
        factor = density_ratio_upper(Fraction(sigma2), queries)
        if factor is not None:  # it is between the delta of the sum and that of one wider draw
            one = delta_by_theorem_7(queries * Fraction(sigma2), Fraction(2), queries)
            ratio = one / delta_of_gaussians(Fraction(sigma2), Fraction(2), 1, queries)
            assert 1 / real(factor) <= ratio <= real(factor)


def test_the_bound_on_eta_is_rounded_up_at_any_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 8 bits, against the formula in 40 digits: each operation on the safe side."""
    monkeypatch.setattr(convolution, "_AT64", arithmetic(8))
    told = 0
    with mpmath.workdps(40):
        for numerator, k in itertools.product(range(3, 90), (2, 3, 5, 7, 100)):
            c = 2 * mpmath.pi**2 * numerator / 32
            ku, one = (
                2 * k * q / (1 - q**3) for q in (mpmath.exp(-c / 2), mpmath.exp(-c * (k - 1) / k))
            )
            eta = one + ku**2 / 2 * mpmath.exp(ku)
            assert eta <= convolution._eta_upper(Fraction(numerator, 32), k)
            factor = density_ratio_upper(Fraction(numerator, 32), k)
            if factor is not None:
                assert (1 + eta) / (1 - eta) <= mpmath.mpf(factor.numerator) / factor.denominator
                told += 1
    assert told > 100


def test_the_factor_is_near_1_from_small_sigma2_on() -> None:
    """The documentation has these numbers."""
    for queries in (2, 3, 10, 100, 1000):
        assert 1 < density_ratio_upper(Fraction(2), queries) < 1 + Fraction(1, 10**7)
        assert 1 < density_ratio_upper(Fraction(4), queries) < 1 + Fraction(1, 10**15)
    assert (
        density_ratio_upper(Fraction(1, 10), 100)
        is density_ratio_upper(Fraction(1, 100), 2)
        is None
    )


# --- floats


@pytest.mark.parametrize("n", [8, 16, 1024, *evidence(2**13)])
def test_transforms_are_as_good_as_is_said(n: int) -> None:
    """Some values, and their inverses, are the sums at 40 digits."""
    x = np.random.default_rng(n).random(n) ** 9
    x /= x.sum()
    found = transform(x)
    with mp.workdps(40):
        for k in (0, 1, n // 3, n // 2):
            turn = mp.exp(-2j * mp.pi * k / n)
            value, power = mp.mpc(0), mp.mpc(1)
            for one in x:
                value, power = value + mp.mpf(float(one)) * power, power * turn
            assert abs(mp.mpc(complex(found[k])) - value) <= transform_error(n)
    error = inverse_error(n) * 4 / n * np.abs(found).sum() + 4 / n * found.size * transform_error(n)
    assert np.abs(inverse(found) - x).max() <= error


def test_exponentials_in_floats_are_as_good_as_is_said() -> None:
    """Random, small and large arguments, at 60 digits."""
    rng = np.random.default_rng(1)
    a = np.concatenate([rng.uniform(-690, 690, 500), rng.normal(0, 1e-3, 500)])
    low = rng.uniform(-1, 1, a.size) * 2.0**-21
    found = exponential_in_floats(a, low)
    with mp.workdps(60):
        for x, y, z in zip(a, low, found, strict=True):
            assert (
                abs(mp.mpf(float(z)) / mp.exp(mp.mpf(float(x)) + mp.mpf(float(y))) - 1)
                < mp.mpf(2) ** -51
            )


@pytest.mark.parametrize("ratio", [1, 2, Fraction(10, 9)])
def test_the_density_ratio_of_several_queries_is_in_every_answer(ratio: Any) -> None:
    """Both sides: delta, its logarithm and epsilon. Ratios of real queries show in no float."""
    spec, epsilon = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(9)), Fraction(1, 2)
    alone, several = HockeyStick(spec, 3), HockeyStick(spec, 3, gmpy2.mpq(ratio))
    delta = Fraction(alone.delta(epsilon))
    assert delta * ratio * (1 - Fraction(1, 2**50)) <= several.delta(epsilon)
    assert several.delta(epsilon) <= delta * ratio * (1 + Fraction(1, 2**50))
    log = several.log_delta(epsilon) - alone.log_delta(epsilon)
    assert log == pytest.approx(math.log(ratio), abs=1e-14)
    aim = Fraction(1, 10**6)
    assert several.epsilon(aim) == alone.epsilon(aim / ratio)


def test_a_known_sample_has_its_part_of_every_mass() -> None:
    """Both sides, also of what lies outside of all cells: q times it, and 1 - q beside."""
    rate, ulps = Fraction(3, 7), Fraction(1, 2**49)
    two = [np.array([x, 0.3]) for x in (0.4, 0.5, 0.2, 0.9)]
    whole = OutcomeCells(np.array([1.0, -0.5]), np.zeros(2), *two, 0.07, 0.05, 0.11)  # type: ignore[call-arg,arg-type]

    class Fixed(RandomOutcome):
        symmetric, unit, span = True, None, 1.5

        def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
            return whole

    sample = KnownSample(Fixed(), rate)
    found = sample.cells(adding=True, widest=1.0)
    assert found.loss.tolist() == [1.0, -0.5, 0.0]
    assert found.spread.tolist() == [0.0] * 3
    for name in ("p_low", "r_low", "p_up", "r_up"):
        wanted = [*(rate * Fraction(x) for x in getattr(whole, name).tolist()), 1 - rate]
        for one, mass in zip(getattr(found, name).tolist(), wanted, strict=True):
            assert one <= mass if "low" in name else one >= mass
            assert mass * (1 - ulps) <= one <= mass * (1 + ulps)
    for name in ("mass_below", "mass_above", "infinity_mass"):
        one, mass = getattr(found, name), rate * Fraction(getattr(whole, name))
        assert one <= mass if name == "infinity_mass" else one >= mass
        assert mass * (1 - ulps) <= one <= mass * (1 + ulps)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("s", [2.0**-12, 0.3, 7.0])
def test_a_moment_is_not_below_that_of_any_outcomes_in_the_cells(seed: int, s: float) -> None:
    """Outcomes with given P and Q, many a cell; the moment is what the ends of cells would have."""
    rng = np.random.default_rng(seed)
    rows, exact, ends = [], mpmath.mpf(0), mpmath.mpf(0)
    with mpmath.workdps(50):
        for width in (0.0, 1e-12, 1e-3, 0.2, 3.0):
            p = [mpmath.mpf(float(x)) for x in rng.random(5) / 25]
            losses = [mpmath.mpf(float(x)) for x in np.sort(rng.uniform(0, width, 5) - 1 - width)]
            first, last = losses[0], losses[-1]
            loss, top = math.nextafter(float(first), -9), float(last - first) + 1e-15
            mass, r = (
                mpmath.fsum(p),
                mpmath.fsum(a * mpmath.exp(loss - b) for a, b in zip(p, losses, strict=True)),
            )
            rows.append((loss, top, 0.0, float(mass) * (1 + 1e-15), float(r) * (1 - 1e-15), 1.0))
            exact += mpmath.fsum(a * mpmath.exp(s * b) for a, b in zip(p, losses, strict=True))
            ends += mass * mpmath.exp(s * last)
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        found = log_moment(OutcomeCells._make([*columns, 0.0, 0.0, 0.0, None]), s)
        assert mpmath.log(exact) <= mpmath.mpf(found) < mpmath.log(ends) + 1e-13


# --- enclosures of delta


def test_relative_bits_are_never_too_many() -> None:
    """1 with a width of 2**-n has n - 1 to n bits; a number that may be 0 has none."""
    for n in (5, 50, 500):
        above = gmpy2.mpfr(1 + gmpy2.mpq(1, 2**n), 600)
        assert n - 1 <= relative_bits(Interval(gmpy2.mpfr(1), above)) <= n
    assert relative_bits(Interval(gmpy2.mpfr(1), gmpy2.mpfr(1))) >= 4096
    assert relative_bits(Interval(gmpy2.mpfr(-1), gmpy2.mpfr(1))) < 0


def test_bounds_of_a_delta_are_bounds_at_any_precision() -> None:
    """With 8 bits a wrong direction of rounding shows; also for delta near 1."""
    generator, at = random.Random(1), arithmetic(400)
    for _ in range(500):
        shift = gmpy2.mpq(generator.randrange(4000), 97)
        factor = at.rational(Fraction(generator.randrange(1, 1009), 1009))
        enclosed = Scaled(shift, factor, None)
        scale = at.exp(at.rational(-shift))
        assert enclosed.lower(8) <= at.mul(scale, factor).lower
        assert at.mul(scale, factor).upper <= enclosed.upper(8) <= 2 * enclosed.lower(8)
        assert at.shift(at.log(factor), -shift).upper <= enclosed.log_upper(8)
        near_1 = Scaled(gmpy2.mpq(0), at.sub(at.rational(1), factor), factor)
        assert at.log1p(at.neg(factor)).lower <= near_1.log_upper(8)


@pytest.mark.parametrize("in_eighths", [(2, 4), (6, 7)])
def test_bounds_of_a_delta_known_to_few_bits_are_its_ends(in_eighths: tuple[int, int]) -> None:
    """They are on the safe side for any enclosure, also from the complement."""
    low, high = (Fraction(n, 8) for n in in_eighths)
    at = arithmetic(80)
    factor = Interval(at.rational(low).lower, at.rational(high).upper)
    rest = at.sub(at.rational(1), factor) if low > 0.5 else None
    number = Scaled(gmpy2.mpq(0), factor, rest)
    assert number.lower() == low
    assert number.upper() == high
    with mpmath.workdps(40):
        assert 0 <= number.log_upper() - mpmath.log(real(high)) < mpmath.mpf(2) ** -70
    assert number.is_at_most(gmpy2.mpq(high), 80) is True
    assert number.is_at_most(gmpy2.mpq((low + high) / 2), 80) is None
    assert number.is_at_most(gmpy2.mpq(low * 9999 / 10000), 80) is False


# --- searches


@given(holding=st.sets(st.integers(-60, 60)), guess=st.integers(-70, 70), bounded=st.booleans())
def test_what_least_finds_holds_also_where_larger_numbers_do_not(
    holding: set[int], guess: int, bounded: bool
) -> None:
    """delta, too, may grow with sigma2: only a number that was tried is returned."""
    low = min(guess, -50) if bounded else None

    def holds(n: int) -> bool:
        return n in holding or n > 60

    found = first_true(holds, guess, low)
    assert holds(found)
    assert found == low or not holds(found - 1)


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


@pytest.mark.parametrize("guess", [Fraction(1, 10**9), Fraction(7, 10), Fraction(10**9)])
@pytest.mark.parametrize("steep", [1.0, 20.0, 400.0])
def test_a_crossing_is_found_in_few_steps(guess: Fraction, steep: float) -> None:
    """A search may begin anywhere, with a wrong slope."""
    tried = []

    def excess(x: Fraction) -> float:
        tried.append(x)
        return -20 * math.log(x * 3)

    assert crossing(excess, guess, steep) == Fraction(333334, 10**6)
    assert len(tried) < 40
