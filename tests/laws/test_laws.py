"""The laws as objects: exact parameters, value semantics, draws."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from fractions import Fraction
from functools import partial
from typing import Any, assert_type, cast

import numpy as np
import pytest
from engine import ENGINE
from evidence_cases import at_once
from numpy.typing import NDArray

import discretegauss as dg

F = Fraction

LAWS: list[Any] = [
    dg.DiscreteGaussian("355/113", mu="1/3"),
    dg.DiscreteGaussian(2**200),
    dg.DiscreteLaplace(0.1, -2),
    dg.Skellam("5/2"),
]
if ENGINE == "native":
    LAWS.append(dg.GeneralizedGaussian(10, "3/2", mu=1))


def test_parameters_are_kept_exactly() -> None:
    """A float means its binary value, a string its decimal one."""
    assert dg.DiscreteGaussian(0.1).sigma2 == F(0.1) != F(1, 10)
    assert dg.DiscreteGaussian("0.1", "1/3") == dg.DiscreteGaussian(F(1, 10), mu=F(1, 3))
    laws: list[object] = [dg.DiscreteLaplace(2), dg.DiscreteGaussian(2)]
    assert laws[0] != laws[1]


def test_results_are_of_the_types_that_checkers_are_told() -> None:
    """mypy --strict checks each assert_type; the asserts check the same at run time."""
    counts, out = [1, 2], cast(NDArray[np.int16], np.empty(4, np.int16))
    for one in (
        assert_type(dg.discrete_gaussian(100), int),
        assert_type(dg.discrete_gaussian(sigma="1/3", mu=F(1, 2)), int),
        assert_type(dg.discrete_laplace(2.5, dtype=np.int16), int),
        assert_type(dg.geometric_exp(np.int64(1)), int),
        assert_type(dg.bernoulli_exp(1), bool),
        assert_type(dg.DiscreteLaplace(100, mu="1/2").sample(), int),
    ):
        assert isinstance(one, int)
    for several in (
        assert_type(dg.discrete_gaussian(100, 4), NDArray[Any]),
        assert_type(dg.discrete_gaussian(sigma=10, size=(2, 2)), NDArray[Any]),
        assert_type(dg.discrete_laplace([1, 2], size=2, mu=counts), NDArray[Any]),
        assert_type(dg.bernoulli_exp(1, size=4), NDArray[np.bool_]),
        assert_type(dg.discrete_gaussian(100, out=out), NDArray[np.int16]),
        assert_type(dg.discrete_gaussian([1, 2]), NDArray[Any]),
    ):
        assert isinstance(several, np.ndarray)
    law = dg.DiscreteGaussian(100)
    assert assert_type(law.sample(out=out), NDArray[np.int16]) is out
    assert assert_type(law.sample((2, 3), dtype=np.int16), NDArray[Any]).shape == (2, 3)
    for number in (
        assert_type(law.pmf(3), float),
        assert_type(law.logsf("1/3"), float),
        assert_type(law.ppf(0.5), float),
        *assert_type(law.cdf(3, bounds=True), tuple[float, float]),
        *assert_type(law.interval(0.95), tuple[float, float]),
    ):
        assert isinstance(number, float)
    for array in (
        assert_type(law.pmf(counts), NDArray[Any]),
        assert_type(law.isf(np.array([0.1, 0.2])), NDArray[Any]),
        *assert_type(law.sf(counts, bounds=True), tuple[NDArray[Any], NDArray[Any]]),
        *assert_type(law.interval([0.5, 0.9]), tuple[NDArray[Any], NDArray[Any]]),
    ):
        assert isinstance(array, np.ndarray)
    if ENGINE == "native":
        assert assert_type(dg.generalized_gaussian(10, "3/2", 4), NDArray[Any]).shape == (4,)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_laws_are_values(law: Any) -> None:
    """Laws are frozen, and after pickle, copy and deepcopy equal, of one hash and able to draw."""
    for other in (pickle.loads(pickle.dumps(law)), copy.copy(law), copy.deepcopy(law)):
        assert other == law
        assert hash(other) == hash(law)
        assert isinstance(other.sample(), int)
    with pytest.raises(AttributeError):
        law.mu = 3


LONG_LAWS: list[Any] = [
    dg.DiscreteGaussian(10**5000),
    dg.DiscreteGaussian(1, mu=F(-(10**5000), 7)),
    dg.DiscreteLaplace(F(1, 10**5000)),
    dg.GeneralizedGaussian(10, F(10**5000 + 1, 10**5000)),
]


@at_once("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@at_once("law", LAWS + LONG_LAWS)
def test_every_pickle_gives_an_equal_law(law: Any, protocol: int) -> None:
    """This holds for any protocol, and for numbers of more digits than Python writes."""
    other = pickle.loads(pickle.dumps(law, protocol))
    assert other == law
    assert hash(other) == hash(law)
    assert other.mean(bounds=True) == law.mean(bounds=True)


def test_a_copy_draws_bits_of_its_own() -> None:
    """Pickles hold no randomness, so the copy's draws are others."""
    draws = [law.rvs(60, dtype=object) for law in (LAWS[1], pickle.loads(pickle.dumps(LAWS[1])))]
    assert (draws[0] != draws[1]).any()


def test_every_law_has_a_repr() -> None:
    """Python reads the repr back. If its numbers are too long for that, it is short."""
    assert repr(dg.DiscreteGaussian(5)) == "DiscreteGaussian(sigma2=5)"
    assert repr(dg.DiscreteGaussian("0.1", mu="-1/2")) == "DiscreteGaussian(sigma2='1/10', mu=-0.5)"
    assert repr(LAWS[2]) == "DiscreteLaplace(scale=0.1, mu=-2)"
    long = [F(10**3000, 10**3000 - 1), 10**4000, F(10**4000 + 1, 10**4000), 5e-324, 1e308]
    for law in (*LAWS, *map(dg.DiscreteGaussian, long), dg.GeneralizedGaussian(10, "3/2", -0.1)):
        assert eval(repr(law), {**vars(dg), "Fraction": F}) == law  # noqa: S307
    assert repr(LONG_LAWS[0]) == "DiscreteGaussian(sigma2=a fraction of 16610 bits)"
    for law in LONG_LAWS:
        assert str(law) == f"{law}" == repr(law)
        assert len(repr(law)) < 120


def test_a_notebook_shows_a_law_and_some_of_its_probabilities() -> None:
    """It shows the middle and three steps of the width on either side, or the repr alone."""
    law = dg.DiscreteGaussian(100, mu=7)
    shown = law._repr_html_()
    assert shown.startswith("<code>DiscreteGaussian(sigma2=100, mu=7)</code><table>")
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td>", shown)
    assert rows == [(str(k), f"{law.pmf(k):.4g}") for k in range(-23, 38, 10)]
    assert "<td>exp(-5757.38)</td>" in LONG_LAWS[0]._repr_html_()
    for extreme in (*LAWS, *LONG_LAWS, dg.GeneralizedGaussian(10, 10**300)):
        assert extreme._repr_html_().startswith("<code>")
    assert "<table>" not in dg.DiscreteGaussian(1, mu=2**65536 - 1)._repr_html_()


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_sample_takes_what_the_functions_take(law: Any) -> None:
    """It takes size, dtype, out, method, source and threads, and raises the same errors."""
    assert law.sample((2, 3), dtype=object).shape == (2, 3)
    assert law.sample(5, dtype=object, threads=2).dtype == object
    out = np.empty(4, dtype=object)
    assert law.sample(out=out) is out
    with pytest.raises(ValueError, match="size"):
        law.sample(-1)
    with pytest.raises(ValueError, match="method"):
        law.sample(method="none")
    with pytest.raises(ValueError, match="source"):
        law.sample(source="numpy")
    with pytest.raises(TypeError, match="threads"):
        law.sample(threads=True)


def test_sigma_is_the_root_of_sigma2() -> None:
    """sigma2 is its exact square, also of a float's binary value, and after a pickle."""
    law = dg.DiscreteGaussian(sigma="1/3", mu=2)
    assert law == dg.DiscreteGaussian(F(1, 9), 2) == pickle.loads(pickle.dumps(law))
    assert dg.DiscreteGaussian(sigma=0.1).sigma2 == F(0.1) ** 2
    wrong: list[Any] = [{}, {"sigma2": 1, "sigma": 1}, {"sigma": [1]}, {"sigma": True}]
    for given in wrong:
        with pytest.raises(TypeError, match="sigma"):
            dg.DiscreteGaussian(**given)


def test_a_pickle_of_version_0_1_still_loads() -> None:
    """Version 0.1 wrote the class and its numbers in hexadecimal."""
    old = (
        b"cdiscretegauss.laws\n_unpickled\n(cdiscretegauss.laws\nDiscreteGaussian\n"
        b"V163/71\nV1/3\ntR."
    )
    assert pickle.loads(old) == dg.DiscreteGaussian("355/113", mu="1/3")


def _says(law: Any) -> tuple[Any, ...]:
    """Return answers and draws of a law that has next to no noise."""
    one, some = law.sample(), law.sample(2).tolist()
    return repr(law), hash(law), law.mu, law.var(), law.mean(), one, *some


@pytest.mark.parametrize(
    "law",
    [dg.DiscreteGaussian("1e-6", 7), dg.DiscreteLaplace("1e-6", 7)]
    + [dg.GeneralizedGaussian("1e-6", 2, 7)] * (ENGINE == "native"),
    ids=lambda law: type(law).__name__,
)
def test_a_law_is_made_once(law: Any) -> None:
    """A second __init__, an assignment or a deletion raises, and the law stays as it was."""
    before = _says(law)
    assert before[-3:] == (7, 7, 7)
    calls: list[Any] = [
        partial(law.__init__, 10**6, 3),
        partial(setattr, law, "mu", F(3)),
        partial(object.__setattr__, law, "mu", F(3)),
        partial(setattr, law, "note", "a"),
        partial(delattr, law, "mu"),
    ]
    for call in calls:
        with pytest.raises((AttributeError, TypeError)) as caught:
            call()
        assert "1000000" not in str(caught.value)
        assert _says(law) == before


def test_no_class_derives_from_a_law() -> None:
    for kind in (dg.DiscreteGaussian, dg.DiscreteLaplace, dg.GeneralizedGaussian, dg.Skellam):
        with pytest.raises(TypeError, match="is final"):
            type("Derived", (kind,), {})


def test_a_law_that_could_not_be_made_may_be_made_again() -> None:
    """An error in __init__ leaves no half-made law."""
    law = object.__new__(dg.DiscreteGaussian)
    assert not hasattr(law, "sigma2")
    with pytest.raises(ValueError, match="sigma2"):
        law.__init__(-1)
    law.__init__(100, 3)
    assert law == dg.DiscreteGaussian(100, 3)


def test_dask_takes_no_two_calls_of_a_law_for_one() -> None:
    """Dask runs two tasks of equal tokens once, so tokens of a law are never equal."""
    law = dg.DiscreteGaussian(100)
    same = [law, law, copy.copy(law), law.as_scipy()]
    assert len({repr(one.__dask_tokenize__()) for one in same}) == len(same)
    dask = pytest.importorskip("dask.base")
    assert dask.tokenize(law.sample, 5) != dask.tokenize(law.sample, 5)


def test_a_law_has_a_public_type_for_annotations() -> None:
    """dg.Law stands for every class of laws, also in mypy --strict, which checks these lines."""

    def cost(law: dg.Law, noise: dg.Law) -> float:
        size: list[int] = [2, 3]
        law.sample(size)
        law.sample(np.int64(3))
        law.sample(np.array([2, 3]))
        return dg.privacy.delta(law, 1) + float(noise.var())

    assert cost(dg.DiscreteLaplace(1), dg.DiscreteGaussian(4)) > 1
    for law in LAWS:
        assert isinstance(law, dg.Law)
    assert not isinstance(3, dg.Law)


def test_what_looks_at_the_classes_finds_all_they_have() -> None:
    """Documentation tools ask a class for each of its attributes."""
    for law in LAWS:
        assert {"mu", "sample"} <= dict(inspect.getmembers(type(law))).keys()
