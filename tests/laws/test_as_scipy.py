"""A law as a distribution of scipy.stats passes scipy's own checks of discrete distributions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import mpmath
import numpy as np
import pytest
from evidence_cases import evidence
from law_sums import GG, G, L, phi
from our_calls import calls

from discretegauss.errors import ParameterOverflowError, ParameterTypeError, ParameterValueError

stats = pytest.importorskip("scipy.stats")

LAWS = [G(4), G(100, "1/3"), G("3/2", "-1/2"), L(3), L("5/2", "1/2"), GG(6, "3/2"), GG(9, 4, 1)]
each_law = pytest.mark.parametrize("law", LAWS, ids=str)


@pytest.fixture
def basic(request: pytest.FixtureRequest) -> Any:
    """Return scipy's tests of its discrete distributions, or skip if the build lacks them."""
    for marker in ("slow", "thread_unsafe", "xfail_on_32bit", "parallel_threads_limit"):
        request.config.addinivalue_line("markers", f"{marker}: of scipy's own tests")
    return pytest.importorskip("scipy.stats.tests.test_discrete_basic")


def likely(law: Any) -> Any:
    """Return the integers with a probability and an upper tail above 1e-7, as scipy assumes."""
    ks = np.arange(-400, 401)
    return ks[(law.pmf(ks) > 1e-7) & (law.sf(ks) > 1e-7)]


# --- scipy's own checks


@each_law
def test_scipys_checks_of_probabilities_and_quantiles(law: Any, basic: Any) -> None:
    dist, ks = law.as_scipy(), likely(law)
    basic.check_cdf_ppf(dist, (), ks, "round trip")
    basic.check_oth(dist, (), ks, "sf, isf, ppf between")
    basic.check_edge_support(dist, ())


@each_law
def test_scipys_checks_of_moments_and_calls(law: Any, basic: Any) -> None:
    dist = law.as_scipy()
    mean, var, skewness, kurtosis = dist.stats(moments="mvsk")
    basic.check_normalization(dist, (), "normalised")
    basic.check_moment(dist, (), mean, var, "moments")
    basic.check_mean_expect(dist, (), mean, "mean")
    basic.check_var_expect(dist, (), mean, var, "variance")
    basic.check_skew_expect(dist, (), mean, var, skewness, "skewness")
    basic.check_kurt_expect(dist, (), mean, var, kurtosis, "kurtosis")
    basic.check_moment_frozen(dist, (), mean, 1)
    basic.check_moment_frozen(dist, (), var + mean**2, 2)
    basic.check_entropy(dist, (), "entropy")
    basic.check_private_entropy(dist, (), stats.rv_discrete)
    functions = [dist.pmf, dist.logpmf, dist.cdf, dist.logcdf, dist.logsf]
    basic.check_named_args(dist, 1, (), (0,), functions)


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    "law", [*LAWS[:5], pytest.param(LAWS[5], marks=pytest.mark.evidence), LAWS[6]], ids=str
)
def test_scipys_check_of_draws(law: Any, basic: Any) -> None:
    """The chi-square has a level of 1e-9, so this test fails by chance in 1 of 10^8 runs."""
    dist = law.as_scipy()
    draws = dist.rvs(size=4000)
    basic.check_discrete_chisquare(dist, (), draws, 1e-9, "draws")


# --- the same facts without scipy's tests, and more


@each_law
def test_the_distribution_answers_as_the_law_does(law: Any) -> None:
    dist, ks = law.as_scipy(), np.arange(-40, 41)
    for name in ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"):
        for asked in (name, f"_{name}"):  # scipy's internals go past the public functions
            np.testing.assert_array_equal(getattr(dist, asked)(ks), getattr(law, name)(ks))
    qs = np.linspace(0, 1, 21)
    for name in ("ppf", "isf"):
        np.testing.assert_array_equal(getattr(dist, name)(qs), getattr(law, name)(qs))
        assert np.isnan(getattr(dist, name)([-1, 2, np.nan])).all()
    assert (dist.mean(), dist.var(), dist.std()) == pytest.approx(
        (law.mean(), law.var(), law.std()), rel=1e-15
    )
    assert dist.entropy() == law.entropy()
    assert dist.median() == law.median()
    assert dist.interval(0.9) == law.interval(0.9)
    assert dist.expect(lambda k: (k - law.mean()) ** 2) == pytest.approx(law.var(), rel=1e-6)
    assert dist.support() == law.support()


def test_a_frozen_copy_and_a_pickle_are_the_same_distribution() -> None:
    dist = G(7, "1/3").as_scipy()
    for other in (dist(), dist(loc=0), pickle.loads(pickle.dumps(dist))):
        assert other.pmf(2) == dist.pmf(2)
    frozen = pickle.loads(pickle.dumps(dist()))
    assert frozen.cdf(5) == dist.cdf(5)
    assert pickle.loads(pickle.dumps(dist)).law == copy.copy(dist).law == dist.law


@pytest.mark.usefixtures("native_engine")
def test_rvs_are_exact_draws() -> None:
    dist = G(4).as_scipy()
    draws = dist.rvs(size=(50, 4))
    assert draws.shape == (50, 4)
    assert draws.dtype == np.int64
    assert isinstance(dist.rvs(), int | np.integer)
    assert dist().rvs(size=3, random_state=None).shape == (3,)


@pytest.mark.parametrize("state", [1, np.random.default_rng(1), np.random.RandomState(1)])
def test_no_seed_is_taken_and_none_ignored(state: Any) -> None:
    """scipy's check_random_state_property and check_pickling would set one."""
    dist = G(4).as_scipy()
    frozen = dist()
    for call in (
        lambda: dist.rvs(size=3, random_state=state),
        lambda: frozen.rvs(size=3, random_state=state),
        lambda: setattr(dist, "random_state", state),
        lambda: setattr(frozen, "random_state", state),
    ):
        with pytest.raises(ParameterTypeError, match="random_state"):
            call()
    dist.random_state = frozen.random_state = None
    assert dist.random_state is None
    assert frozen.random_state is stats.norm().random_state  # scipy's word for None


# --- loc: refused, because the law has mu

#: The functions that have a loc, and the arguments before it.
WITH_LOC: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "moment"), (3,)),
    **dict.fromkeys(("ppf", "isf", "interval"), (0.5,)),
    **dict.fromkeys(("rvs", "mean", "var", "std", "stats", "entropy", "median", "support"), ()),
    **dict.fromkeys(("expect", "freeze", "__call__"), ()),
}


@pytest.mark.parametrize("name", WITH_LOC)
def test_a_loc_is_refused_and_said_what_to_write(name: str) -> None:
    """A loc of any type is refused, except 0, which scipy's own code passes."""
    call, given = getattr(G(4).as_scipy(), name), WITH_LOC[name]
    locs: list[Any] = [1, 0.5, -(2**70), "0", float("nan"), None, [0], np.array([0, 1])]
    for loc in locs:
        with pytest.raises(ParameterValueError, match=r"loc must be 0, got .*: use mu"):
            call(*given, loc=loc)
    assert call(*given, loc=0) is not None
    if name != "expect":
        with pytest.raises(ParameterValueError, match="use mu"):
            call(*given, 7)


@pytest.mark.parametrize("size", [2.0, -1, True, (2, 1.5), np.array([2.0, 3]), 10**30], ids=str)
def test_size_is_that_of_sample(size: Any) -> None:
    """as_scipy refuses the same shapes as sample does."""
    for draw in (G(4).sample, G(4).as_scipy().rvs, G(4).as_scipy()().rvs):
        with pytest.raises((ParameterTypeError, ParameterValueError, OverflowError), match="size"):
            draw(size=size)


# --- sums: expect and the higher moments

GG_THIRD = GG(6, "3/2", "1/3")


@pytest.mark.parametrize(
    ("law", "func", "value"),
    [
        (G(10**4), np.square, 10**4),
        (G(10**6, "1/3"), lambda _: 1, 1),
        (G(7, -(10**15)), None, -(10**15)),
        (L("1/3", 2**40), lambda k: k == 2**40, L("1/3").pmf(0)),
        (L(50), lambda k: k > 2000, L(50).sf(2000)),
        (G(4), lambda k: k > 20, G(4).sf(20)),
        (GG_THIRD, np.square, GG_THIRD.var() + GG_THIRD.mean() ** 2),
        *evidence((GG(6000, "3/2"), lambda _: 1, 1)),
        (GG(30, 1025), np.square, GG(30, 1025).var()),
    ],
)
def test_expect_sums_over_the_whole_law(law: Any, func: Any, value: float) -> None:
    """scipy's own sum ends after 1000 terms, or at the first few that are small."""
    assert law.as_scipy().expect(func) == pytest.approx(value, rel=1e-11)


def test_expect_takes_scipys_bounds() -> None:
    law = G(10**24)
    dist = law.as_scipy()
    assert dist.expect(lambda _: 1, lb=0, ub=99) == pytest.approx(100 * law.pmf(0), rel=1e-12)
    given = G(4).as_scipy()
    within = given.pmf([2, 3, 4, 5])
    assert given.expect(lb=1.5, ub=5, conditional=True) == pytest.approx(
        np.sum(within * [2, 3, 4, 5]) / np.sum(within), rel=1e-13
    )
    assert given().expect(np.square, ub=np.inf, lb=-np.inf) == given.expect(np.square)
    for lb, ub in [(5, 4), (np.inf, None), (None, -np.inf), (10**6, None), (None, -(10**6))]:
        assert given.expect(lambda _: 1, lb=lb, ub=ub, maxcount=1, chunksize=8) == 0


def test_moments_of_higher_orders_are_those_of_the_whole_law() -> None:
    """The Gaussian's moments differ from the continuous one's by 1e-80 at most."""
    assert G(10**6).as_scipy().moment(6) == pytest.approx(15 * 1e18, rel=1e-12)
    assert G(10**4).as_scipy().moment(8) == pytest.approx(105 * 1e16, rel=1e-12)
    double_factorial = float(np.prod(np.arange(1.0, 100, 2)))
    assert G(10**4).as_scipy().moment(100) == pytest.approx(double_factorial * 1e200, rel=1e-11)
    assert G(4, 3).as_scipy()().moment(5) == pytest.approx(3**5 + 10 * 27 * 4 + 5 * 3 * 48)
    assert G(10**24).as_scipy().moment(6) == pytest.approx(1.5e73, rel=1e-15)


@pytest.mark.parametrize(
    "law", [G(10**6), G("1/9"), L(10), L("1e40"), GG(6, "3/2"), GG(10**9, 5), GG("1/2", 3)], ids=str
)
def test_odd_moments_of_symmetric_laws_are_0(law: Any) -> None:
    assert [law.as_scipy().moment(n) for n in (1, 3, 5, 7, 99)] == [0] * 5


def test_moments_beyond_every_float_are_infinite_or_0() -> None:
    """For these laws scipy's own formula has 0 times infinity."""
    assert G(2**4000).as_scipy().moment(3) == 0
    assert G(2**4000, "1/2").as_scipy().moment(4) == np.inf


@pytest.mark.parametrize("law", [*LAWS, G("1/4", "1/7"), L("1/2", "1/3"), GG(9, 4, "1/3")], ids=str)
def test_moments_are_those_of_sums_in_many_digits(law: Any) -> None:
    dist = law.as_scipy()
    with mpmath.workdps(60):
        weights = {k: mpmath.exp(-phi(law, k)) for k in range(-500, 501)}
        total = mpmath.fsum(weights.values())

        def moment(order: int, about: Any = 0) -> Any:
            return mpmath.fsum(w * (k - about) ** order for k, w in weights.items()) / total

        for order in (1, 2, 3, 4, 5, 6, 7, 30):
            close = pytest.approx(float(moment(order)), rel=1e-13, abs=1e-40)
            assert dist.moment(order) == dist().moment(order) == close
        mean, variance = moment(1), moment(2, moment(1))
        skewness, kurtosis = dist.stats(moments="sk")
        expected = moment(3, mean) / variance**1.5, moment(4, mean) / variance**2 - 3
        assert (skewness, kurtosis) == pytest.approx([*map(float, expected)], rel=1e-13, abs=1e-40)


@pytest.mark.parametrize(
    "call",
    [
        lambda: G(10**24).as_scipy().expect(lambda _: 1),
        lambda: GG(10**9, 5).as_scipy().moment(6),
        lambda: GG(10**4, 3).as_scipy().moment(100),
        lambda: G(7, 10**16).as_scipy().expect(lambda _: 1),
        lambda: GG(10**5, 10**5).as_scipy().expect(lambda _: 1),
        lambda: G(10**6).as_scipy().moment(100),
    ],
)
def test_sums_that_would_be_wrong_or_endless_are_refused(call: Any) -> None:
    """These are too many terms, integers that no floats tell apart, and moments beyond floats."""
    with pytest.raises(ParameterOverflowError):
        call()


def test_expect_refuses_what_has_no_meaning() -> None:
    dist = G(4).as_scipy()
    for bounds in ({"lb": 5, "ub": 4}, {"lb": 10**6}):
        with pytest.raises(ParameterValueError, match="conditional"):
            dist.expect(conditional=True, **bounds)
    with pytest.raises(ParameterValueError, match="ub"):
        dist.expect(ub=np.nan)
    with pytest.raises(ParameterTypeError, match="args"):
        dist.expect(args=(1,))
    with pytest.raises(ParameterValueError, match="order"):
        dist.moment(101)


NARROWEST = [G("1e-300"), G("1e-10"), G("1e-12", "1/3"), L("1e-12", "-1/3"), GG("1/2", 10**6)]


@pytest.mark.parametrize("law", NARROWEST, ids=str)
def test_moments_of_the_narrowest_laws_are_answered(law: Any) -> None:
    """Variances are below MPFR's least number, so skewness and kurtosis are beyond every float."""
    dist = law.as_scipy()
    assert (dist.mean(), dist.var(), dist.std()) == (0, 0, 0)
    mean, var, skewness, kurtosis = dist.stats(moments="mvsk")
    assert (mean, var, kurtosis) == (0, 0, np.inf)
    assert skewness == np.sign(float(law.mu)) * np.inf if law.mu else skewness == 0
    assert [dist.moment(order) for order in range(8)] == [1, 0, 0, 0, 0, 0, 0, 0]


def test_skewness_and_kurtosis_of_narrow_laws_are_those_of_two_integers() -> None:
    """If nearly all is on 0 and P(1) = p, they are 1/sqrt(p) and 1/p, to a part in 1/p."""
    for sigma2 in ("1/2000", "1/4000", "1/8000", "1/8400"):
        law = G(sigma2, "1/3")
        log_p = law.logpmf(1)
        skewness, kurtosis = law.as_scipy().stats(moments="sk")
        assert np.log(skewness) == pytest.approx(-log_p / 2, rel=1e-14)
        if -log_p < 700:
            assert np.log(kurtosis) == pytest.approx(-log_p, rel=1e-14)
        else:
            assert kurtosis == np.inf
        assert G(sigma2, "-1/3").as_scipy().stats(moments="s") == -skewness
    # on -1, 0 and 1: (p_1 - p_-1)/(p_1 + p_-1)**1.5, p_1/p_-1 = exp(2 mu/sigma2)
    skewness = G("1/5700", "1e-400").as_scipy().stats(moments="s")
    expected = np.log(5700 / np.sqrt(2)) - 400 * np.log(10) + 5700 / 4
    assert np.log(skewness) == pytest.approx(expected, rel=1e-12)


def test_skewness_is_computed_only_if_it_is_asked_for() -> None:
    """The skewness of a wide law whose 2 mu is no integer takes ten times as much as the others."""
    dist = GG(1000, "3/2", "1/3").as_scipy()

    def others() -> None:
        assert dist.stats() == (dist.mean(), dist.var())
        assert dist.stats(moments="k") > 0
        assert dist.moment(4) > 0

    others()  # what all of them need is cached
    assert len(calls(others)) < len(calls(lambda: dist.stats(moments="s"))) / 5


# --- k: integers, whatever their types


def test_probabilities_of_integers_beyond_64_bits_are_those_of_the_law() -> None:
    law = G(7, 2**63)
    dist = law.as_scipy()
    assert dist.cdf(2**63 + 1) == law.cdf(2**63 + 1)
    assert dist.pmf(np.array([2**63 + 1], np.uint64)).tolist() == [law.pmf(2**63 + 1)]
    assert dist.logpmf(10**30) == law.logpmf(10**30)
    assert dist.cdf([2**63, -1]).tolist() == law.cdf([2**63, -1]).tolist()


def test_what_scipys_functions_return_has_scipys_types() -> None:
    dist = G(7).as_scipy()
    assert type(dist.cdf(3)) is type(dist.ppf(0.5)) is type(dist.moment(6)) is np.float64
    assert dist.cdf([[3, 4]]).shape == dist.ppf([[0.5, 0.6]]).shape == (1, 2)
    assert G(4, 2**70).as_scipy().ppf([0.5]).tolist() == [2.0**70]
    for no_number in (None, "one", 1j):
        with pytest.raises((ParameterTypeError, ParameterValueError)):
            dist.cdf(no_number)


def test_interval_of_nan_is_refused_by_a_law_and_nan_in_scipy() -> None:
    law = G(4)
    with pytest.raises(ParameterValueError, match="confidence"):
        law.interval(np.nan)
    assert np.isnan(law.as_scipy().interval(np.nan)).all()
    for interval in (law.interval, law.as_scipy().interval):
        with pytest.raises(ValueError, match="between 0 and 1"):
            interval(2)
