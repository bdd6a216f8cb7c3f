"""Each number of the comparisons agrees with a computation that shares no formula with it."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from evidence_cases import crossed
from hypothesis import given, settings
from hypothesis import strategies as st

import discretegauss as dg
from discretegauss import privacy, utility
from discretegauss.errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from discretegauss.utility import gaussians


def by_losses(scale: Fraction, epsilon: Fraction, queries: int) -> float:
    """Convolve the privacy loss of one release, from the probabilities of its law, k times.

    The losses of single outcomes are counted, however many there are. It is a result that there are
    only two; the convolution composes them.
    """
    law = dg.DiscreteLaplace(scale)
    reach = 40 * math.ceil(scale)
    one: dict[Fraction, float] = {}
    for x in range(-reach, reach + 1):
        loss = (abs(x - 1) - abs(x)) / scale
        one[loss] = one.get(loss, 0) + law.pmf(x)
    total = {Fraction(0): 1.0}
    for _ in range(queries):
        longer: dict[Fraction, float] = {}
        for (a, p), (b, r) in itertools.product(total.items(), one.items()):
            longer[a + b] = longer.get(a + b, 0) + p * r
        total = longer
    return math.fsum(p * -math.expm1(epsilon - loss) for loss, p in total.items() if loss > epsilon)


@pytest.mark.parametrize(
    ("scale", "queries"), crossed(["1/2", "3/4", "5", "16659/400"], [1, 3, 5, 100], n=4)
)
def test_laplace_delta_is_the_exact_composition_of_the_losses(scale: str, queries: int) -> None:
    """The optimal composition of all pure mechanisms is that of this one."""
    t = Fraction(scale)
    for epsilon in (Fraction(0), Fraction(1), queries / t / 3, queries / t * Fraction(9, 10)):
        found = privacy.delta(dg.DiscreteLaplace(t), epsilon, queries=queries)
        assert found == pytest.approx(by_losses(t, epsilon, queries), rel=1e-10)


def test_laplace_delta_is_an_upper_bound_and_close() -> None:
    """It agrees with 100 digits, also at k = 100, on which the comparison depends."""
    with mpmath.workdps(100):
        for k, scale, epsilon in ((100, Fraction(16659, 400), 1), (1000, Fraction(9, 2), 100)):
            e = mpmath.e ** (mpmath.mpf(scale.denominator) / scale.numerator)
            terms = (
                mpmath.binomial(k, j) * max(0, e ** (k - j) - mpmath.e**epsilon * e**j)
                for j in range(k + 1)
            )
            exact = mpmath.fsum(terms) / (1 + e) ** k
            found = privacy.delta(dg.DiscreteLaplace(scale), epsilon, queries=k)
            assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -9)


def test_laplace_delta_is_0_where_no_loss_exceeds_epsilon_only() -> None:
    law = dg.DiscreteLaplace(10)
    assert privacy.delta(law, "3/10", queries=3) == 0
    assert privacy.delta(law, "2999999/10000000", queries=3) > 0


@settings(max_examples=60)
@given(
    st.fractions(min_value=0, max_value=5),
    st.fractions(min_value="1/1000000000", max_value="999/1000").filter(lambda d: d > 0),
    st.integers(1, 60),
)
def test_calibrate_laplace_is_enough_and_the_decimal_before_is_not(
    epsilon: Fraction, delta: Fraction, queries: int
) -> None:
    law = privacy.calibrate(dg.DiscreteLaplace, epsilon=epsilon, delta=delta, queries=queries)
    assert privacy.delta(law, epsilon, queries=queries) <= math.nextafter(delta, 1)
    exponent = Decimal(float(law.scale)).adjusted()
    less = dg.DiscreteLaplace(law.scale - Fraction(10) ** (exponent - 4))
    assert privacy.delta(less, epsilon, queries=queries) > delta


@pytest.mark.parametrize(
    "rho",
    ["1/1000000", "1/2", 1, 50, 10**30, Fraction(1, 10**30), Fraction(10**900, 10**900 + 1)],
    ids=repr,
)
@pytest.mark.parametrize("queries", [1, 7])
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_calibrate_laplace_by_rho(rho: str | Fraction | int, queries: int) -> None:
    law = privacy.calibrate(dg.DiscreteLaplace, rho=rho, queries=queries)
    cost = queries * dg.privacy.rho(law)
    assert Fraction(rho) * (1 - Fraction(1, 10**4)) < cost <= Fraction(rho)
    assert (
        privacy.calibrate(dg.DiscreteLaplace, rho=dg.privacy.rho(law)) == law
    )  # which is reached exactly


def test_100_queries_as_in_the_paper() -> None:
    """The Laplace has 69 % more variance than the Gaussian by zCDP, 94 % more than the tight."""
    found = utility.compare_queries(epsilon=1, delta="1e-6", queries=100)
    assert found.gaussian_by_zcdp.var() == pytest.approx(2052.9, rel=1e-4)
    assert found.gaussian_tight.sigma2 == Fraction("1784.8")
    assert found.laplace.var() == pytest.approx(3468.9, rel=1e-4)
    assert found.ratio_by_zcdp() == pytest.approx(1.690, rel=1e-3)
    assert found.ratio_tight() == pytest.approx(1.944, rel=1e-3)


def test_ratios_of_variances_that_are_no_floats() -> None:
    """Ratios are right below, at about exp(-3000) with draws in -1..1, and above, at 1e319."""
    found = utility.compare_queries(epsilon=3000, delta="1e-6", queries=1)
    with mpmath.workdps(40):
        for ratio, gaussian in (
            (found.ratio_by_zcdp(), found.gaussian_by_zcdp),
            (found.ratio_tight(), found.gaussian_tight),
        ):
            logs = (1 / found.laplace.scale, 1 / (2 * gaussian.sigma2))
            below, above = (mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) for x in logs)
            assert found.laplace.var() == gaussian.var() == 0
            assert abs(mpmath.mpf(ratio) * above / below - 1) < 2.0**-52
    found = utility.compare_queries(epsilon=0, delta="1e-160", queries=1)
    exact = 2 * found.laplace.scale**2 / found.gaussian_tight.sigma2
    assert found.laplace.var() == math.inf
    assert found.ratio_tight() == pytest.approx(float(exact), rel=1e-15)
    found = utility.compare_queries(epsilon="1e300", delta="1e-6", queries=5)
    for function in (found.ratio_by_zcdp, found.ratio_tight):
        with pytest.raises(ParameterOverflowError, match=r"^epsilon must be below"):
            function()


def test_all_three_noises_keep_to_the_budget() -> None:
    for queries in (1, 9, 300):
        found = utility.compare_queries(epsilon="1/2", delta="1e-9", queries=queries)
        for law in (found.gaussian_by_zcdp, found.gaussian_tight):
            assert dg.privacy.delta(law, "1/2", queries=queries) <= 1e-9
        rho = queries * dg.privacy.rho(found.gaussian_by_zcdp)
        # zcdp_delta rounds up, so the float may be the next one
        assert 1e-9 * (1 - 1e-12) < dg.privacy.zcdp_delta(rho, "1/2") <= math.nextafter(1e-9, 1)
        assert privacy.delta(found.laplace, "1/2", queries=queries) <= 1e-9
        assert found.gaussian_tight.sigma2 < found.gaussian_by_zcdp.sigma2


def test_the_ratio_agrees_with_dp_accounting() -> None:
    """Google's accountant composes the Laplace's loss to the same delta."""
    pytest.importorskip("dp_accounting")
    found = utility.compare_queries(epsilon=1, delta="1e-6", queries=100)
    composed = dg.privacy.pld(found.laplace).self_compose(100)
    assert composed.get_delta_for_epsilon(1) == pytest.approx(1e-6, rel=0.02)


def test_noises_of_the_same_rho() -> None:
    noise = utility.compare_noise("9/4")
    assert noise.rho == Fraction(2, 9)
    assert noise.gaussian == dg.DiscreteGaussian("9/4")
    cost = dg.privacy.rho(noise.laplace)
    assert noise.rho * Fraction(9999, 10000) < cost <= noise.rho
    variances = noise.variances()
    assert variances["continuous Gaussian"] == 2.25
    assert variances["discrete Gaussian"] <= 2.25 < variances["rounded Gaussian"]
    assert variances["discrete Laplace"] == noise.laplace.var()
    assert set(utility.compare_noise("1e400").variances().values()) == {math.inf}


def test_tails_of_the_same_rho() -> None:
    noise = utility.compare_noise(4)
    for k in (0, 1, 5, 30):
        tails = noise.tails(k)
        assert tails["discrete Gaussian"] <= tails["its bound"]
        assert tails["discrete Gaussian"] == pytest.approx(
            math.fsum(noise.gaussian.pmf(x) for x in range(k, k + 60)), rel=1e-12
        )
        assert tails["rounded Gaussian"] == pytest.approx(
            math.erfc((k - 0.5) / math.sqrt(8)) / 2, rel=1e-13
        )
        assert tails["continuous Gaussian"] == pytest.approx(
            math.erfc(k / math.sqrt(8)) / 2, rel=1e-13
        )
        assert tails["discrete Laplace"] == noise.laplace.sf(k - 1)


@pytest.mark.parametrize("sigma2", ["1/100", "1/10", "2499/10000", "1/4", "1/2", "1", "30"])
def test_the_rounded_gaussian_by_its_definition(sigma2: str) -> None:
    """Probabilities are those of erfc in 40 digits, and give the variance and the tails."""
    with mpmath.workdps(40):
        root = mpmath.sqrt(
            2 * mpmath.mpf(Fraction(sigma2).numerator) / Fraction(sigma2).denominator
        )
        tail = [mpmath.erfc((k + mpmath.mpf("0.5")) / root) / 2 for k in range(-80, 81)]
        exact = {k: tail[k + 79] - tail[k + 80] for k in range(-79, 80)}
        for k in (-3, 0, 1, 2, 9):
            assert utility.rounded_gaussian_pmf(sigma2, k) == pytest.approx(
                float(exact[abs(k)]), rel=3e-16, abs=5e-324
            )
            assert utility.rounded_gaussian_sf(sigma2, k) == pytest.approx(
                float(tail[k + 80]), rel=3e-16, abs=5e-324
            )
        variance = mpmath.fsum(k * k * p for k, p in exact.items())
        assert utility.rounded_gaussian_variance(sigma2) == pytest.approx(
            float(variance), rel=3e-16
        )


def test_rounded_gaussian_variance_with_few_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum holds the variance even if omitted terms and roundings are large."""
    sums: list[Any] = []
    monkeypatch.setattr(gaussians, "float_value", sums.append)
    for n in (*range(4, 24), *range(25, 45)):
        utility.rounded_gaussian_variance(Fraction(n, 100))
        exact = sums[-1](200)
        for bits in range(3, 14):
            found = sums[-1](bits)
            assert found.lower <= exact.lower <= exact.upper <= found.upper


def test_the_rounded_gaussian_between_integers_and_far_away() -> None:
    assert utility.rounded_gaussian_pmf(1, "1/2") == 0
    assert utility.rounded_gaussian_sf(1, "3/2") == utility.rounded_gaussian_sf(1, 1)
    assert utility.rounded_gaussian_sf(1, "-3/2") == utility.rounded_gaussian_sf(1, -2)
    assert math.copysign(1, utility.rounded_gaussian_pmf(2**4000, 0)) == 1
    assert utility.rounded_gaussian_variance(10**30) == 1e30
    assert utility.rounded_gaussian_variance("1e-9") == 0
    assert utility.rounded_gaussian_variance("1e-30") == 0  # below MPFR's least number


@pytest.mark.parametrize("sigma2", ["1/4", "1", "100", "1e12"])
@pytest.mark.parametrize("sensitivity", ["1", "5/2"])
def test_continuous_delta_is_an_upper_bound_and_close(sigma2: str, sensitivity: str) -> None:
    with mpmath.workdps(80):
        s, d = mpmath.sqrt(mpmath.mpf(sigma2) if "/" not in sigma2 else 0.25), Fraction(sensitivity)
        change = mpmath.mpf(d.numerator) / d.denominator
        for multiple in (0, 1, 5, 20):
            epsilon = multiple * change / s  # about `multiple` standard deviations away
            rational = Fraction(str(mpmath.nstr(epsilon, 15)))
            e = mpmath.mpf(rational.numerator) / rational.denominator
            a, b = e * s / change - change / (2 * s), e * s / change + change / (2 * s)
            exact = mpmath.ncdf(-a) - mpmath.exp(e) * mpmath.ncdf(-b)
            found = utility.continuous_gaussian_delta(sigma2, rational, sensitivity)
            assert exact <= found <= exact * (1 + mpmath.mpf(2) ** -51)


def test_continuous_delta_below_every_float_or_too_far_away() -> None:
    assert utility.continuous_gaussian_delta(10**12, 1) == 5e-324
    assert utility.continuous_gaussian_delta("1e-9", 1) == 1
    assert utility.continuous_gaussian_delta(2**4000, 0, Fraction(1, 2**4000)) == 5e-324
    with pytest.raises(ParameterOverflowError, match="epsilon must be below about"):
        utility.continuous_gaussian_delta(1, 2**2001, 2**1001)
    with pytest.raises(ParameterOverflowError, match=r"sigma2 must have .* at most 4001 bits"):
        utility.continuous_gaussian_delta(2**4001, 1)
    with pytest.raises(ParameterOverflowError, match="sigma2 must have"):
        utility.rounded_gaussian_variance(2**5000)


@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_what_is_wrong_is_named() -> None:
    for call in (
        lambda k: privacy.calibrate(dg.DiscreteLaplace, epsilon=1, delta="1/2", queries=k),
        lambda k: utility.compare_queries(epsilon=1, delta="1/2", queries=k),
    ):
        with pytest.raises(ParameterValueError, match="queries must be at least 1"):
            call(0)
    for other in ({"epsilon": 1}, {"delta": "1/2"}):
        with pytest.raises(ParameterTypeError, match="alone or with delta, not both"):
            privacy.calibrate(dg.DiscreteLaplace, rho=1, **other)
    with pytest.raises(ParameterTypeError, match=r"either rho, or epsilon, alone or with delta$"):
        privacy.calibrate(dg.DiscreteLaplace, delta="1/2")
    assert privacy.calibrate(dg.DiscreteLaplace, rho=2**4002).scale > 0
    assert privacy.calibrate(dg.DiscreteLaplace, rho=Fraction(1, 2**4002)).scale > 2**2000
    for rho in (gmpy2.mpz(2) ** 4003, Fraction(1, 2**4003)):
        with pytest.raises(ParameterOverflowError, match=r"rho must be between 2\*\*-4002 and"):
            privacy.calibrate(dg.DiscreteLaplace, rho=rho)


def by_sums(noise: utility.compare.NoiseComparison, k: int) -> dict[str, float]:
    """Return P(noise >= k) for an integer k, by the probabilities of smaller integers."""
    sigma2 = noise.gaussian.sigma2
    smaller = range(-200, k)
    return {
        "discrete Gaussian": 1 - math.fsum(map(noise.gaussian.pmf, smaller)),
        "rounded Gaussian": 1 - math.fsum(utility.rounded_gaussian_pmf(sigma2, x) for x in smaller),
        "discrete Laplace": 1 - math.fsum(map(noise.laplace.pmf, smaller)),
    }


@pytest.mark.parametrize("k", [0.5, "1/2", Decimal("0.0001"), Fraction(999, 1000), 1, "1"])
def test_tails_between_integers_are_those_of_the_next(k: object) -> None:
    noise = utility.compare_noise(2)
    tails = noise.tails(k)
    for name, expected in by_sums(noise, 1).items():
        assert tails[name] == pytest.approx(expected, rel=1e-12), name
    assert tails["discrete Gaussian"] <= tails["its bound"]
    assert tails["continuous Gaussian"] == utility.continuous_gaussian_sf(2, k)


@pytest.mark.parametrize(
    "k", [np.uint8(0), np.int8(-128), np.uint64(2**64 - 1), np.int64(-(2**63))]
)
def test_tails_at_an_integer_of_numpy_are_those_at_the_python_integer(k: object) -> None:
    noise = utility.compare_noise(1)
    assert noise.tails(k) == noise.tails(int(k))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("k", "error"),
    [
        (None, ParameterTypeError),
        ([1], ParameterTypeError),
        (True, ParameterTypeError),
        (1j, ParameterTypeError),
        (math.nan, ParameterValueError),
        (-math.inf, ParameterValueError),
        ("one", ParameterValueError),
        (2**5000, ParameterOverflowError),
        ("1e-4000", ParameterOverflowError),
    ],
    ids=str,
)
def test_tails_name_a_k_that_is_none(k: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^k must "):
        utility.compare_noise(1).tails(k)
