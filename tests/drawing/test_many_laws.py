"""Arrays of parameters: each element is drawn from its own law, exactly, whichever way it takes."""

from __future__ import annotations

import random
import tracemalloc
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np

import pytest
from law_checks import gaussian_table, rejected

import discretegauss as dg
from discretegauss._drawing import engines as _engine
from discretegauss._inputs.numbers import exact_rational
from discretegauss._law import Kind, LawSpec
from discretegauss.errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from discretegauss.testing import TapeSource

native = pytest.mark.skipif(_engine.native is None, reason="the C core is not in use")


def bits() -> TapeSource:
    return TapeSource(random.Random(20261125).randbytes(400_000))






# --- which law an element has ---

NUMBERS = [
    np.array([1, 7, 127, -3], "i1"),
    np.array([1, 2**63, 2**64 - 1], ">u8"),
    np.array([1.5, 3.0, -6e-8], "f2"),
    np.array([1.5, 0.1, 1e-45], ">f4"),
    np.array([0.1, -0.0, 1e300, 2.5, 2.0**-62, 2.0**-63]),
    np.array([0.1, 3, -5e-324], "g"),
    np.array([0.1, 2.5, 5e-324], object),
    np.array([1, 2**63 - 1, -(2**63)], object),
    np.array([1, 2**63, -(2**63)], object),
    np.array([1, 2**63 - 1, -(2**63) - 1], object),
    np.array([1, 1.0, "1/3", Fraction(1, 3), Fraction(2**62, 2**63 - 1), "-1e40"], object),
]


def exact(array: Any) -> list[Fraction]:
    return [exact_rational(x, "x") for x in array.ravel()]




@native
@pytest.mark.parametrize("mu", [0, "1/3", 2**62 + 1])
def test_many_laws_draw_what_each_draws_alone(mu: Any) -> None:
    """From the same bits, laws drawn together give what one call for each gives, in the order in
    which they appear first."""
    sigma2 = np.array([0.1, 1.5, 7.0, 1e6, 2.0**60])
    counts = [3, 1, 4, 2, 5]
    order = random.Random(1).sample(range(15), 15)
    shuffled = np.repeat(sigma2, counts)[order]
    drawn = dg.discrete_gaussian(shuffled, mu=mu, dtype=object, source=bits())
    source = bits()
    for value in dict.fromkeys(shuffled.tolist()):
        n = int((shuffled == value).sum())
        alone = dg.discrete_gaussian(value, n, mu=mu, dtype=object, source=source)
        assert drawn[shuffled == value].tolist() == alone.tolist()


@native
@pytest.mark.parametrize("function", [dg.discrete_gaussian, dg.discrete_laplace])
def test_different_laws_draw_what_each_draws_alone(function: Any) -> None:
    """The core makes the same laws of floats, integers and fractions as they come."""
    floats = np.array([5e-324, 2.0**-63, 2.0**-62, 0.1, 1 / 3, 1.0, 3.5, 1e5 + 0.1, 2.0**50, 1e15])
    rng = random.Random(3)
    columns = [
        (floats, np.float64(0.25)),
        (floats, floats - 2.0**-40),
        (np.float64(7), np.array([0.5, -0.5, 1.5, -2.5, 5e-324, -1e-300, 0.49999999999999994])),
        (np.array([1, 2, 10**9, 2**50], np.uint64), np.array([0.1, 2**33, -7.75, 1e-9])),
        ([Fraction(rng.randrange(1, 2**20), rng.randrange(1, 2**20)) for _ in range(9)], "1/7"),
        (np.arange(1, 8), [Fraction(i, 7) for i in range(7)]),
        (np.float64(100), np.random.default_rng(1).normal(0, 1000, 20)),
        (np.random.default_rng(1).uniform(0, 9, 20), np.random.default_rng(2).normal(0, 3, 20)),
    ]
    for scale, mu in columns:
        one, other = bits(), bits()
        drawn = function(scale, mu=mu, source=one)
        scales, mus = np.broadcast_arrays(np.array(scale, object), np.array(mu, object))
        alone = [function(s, 1, mu=m, source=other)[0] for s, m in zip(scales, mus, strict=True)]
        assert drawn.tolist() == alone
        assert one.used == other.used


@native
@pytest.mark.parametrize(
    ("sigma2", "mu"),
    [
        (2**70, np.array([0.5, 0.25, 1.5])),
        (np.array([1.5, 2.5, 7.0]), Fraction(1, 3**50)),
        (np.array([9]), np.arange(4) * 100),
        (100, np.array([0.5, 0.25, 1e6])),
        (0.25, np.array([0.5, 0.25, 1e6])),
        (np.array([4.0, 9.0]), np.array([1000.5])),
    ],
    ids=repr,
)
def test_one_number_stands_for_all_laws(sigma2: Any, mu: Any) -> None:
    """A number, long or not, and an array of one are those of every law: with any bits."""
    one, other = bits(), bits()
    drawn = dg.discrete_gaussian(sigma2, mu=mu, source=one)
    every = np.broadcast_arrays(np.array(sigma2, object), np.array(mu, object))
    wanted = dg.discrete_gaussian(every[0], mu=every[1], source=other)
    assert drawn.tolist() == wanted.tolist()
    for source in ("getrandom", "chacha20"):
        drawn = dg.discrete_gaussian(sigma2, mu=mu, source=source)
        off = [(x - m) ** 2 <= 1000 * s + 1 for x, s, m in zip(drawn.tolist(), *every, strict=True)]
        assert all(off)


@native
def test_many_laws_ask_a_callers_source_for_what_they_use() -> None:
    """No byte is asked for in advance that a following law, one that needs fewer, might not use."""
    together, one_by_one = bits(), bits()
    dg.geometric_exp(np.array([2.0**-40, *[1.0] * 15]), source=together)
    for gamma, n in ((2.0**-40, 1), (1.0, 15)):
        dg.geometric_exp(gamma, n, source=one_by_one)
    assert together.used == one_by_one.used


@native
@pytest.mark.parametrize("function", [dg.discrete_laplace, dg.geometric_exp, dg.bernoulli_exp])
def test_other_laws_draw_what_each_draws_alone(function: Any) -> None:
    values = np.array([0.25, 1.0, 3.5])
    source = bits()
    wanted = [function(value, 7, source=source).tolist() for value in values]
    drawn = function(values[:, None], (3, 7), source=bits())
    assert drawn.tolist() == wanted


@pytest.mark.parametrize(
    "given",
    [
        np.array([1e-300, 4.0, 1e20, 25.0]),
        np.array([1, 10**9, 2**63, 2**64 - 1], np.uint64),
        [1, 10**9, 10**19, 10**30],
        [0.5, 10, Fraction(1, 3), "1/7"],
        [Fraction(10**30, 7), 2**70, "1e25", 3.5],
    ],
    ids=repr,
)
@pytest.mark.parametrize("dtype", [np.int64, object])
def test_long_and_mixed_numbers_are_laws_too(given: Any, dtype: Any) -> None:
    """Elements of any size and type are near their own centres, and are integers of the dtype."""
    mu = np.array([-(10**17), 3, 10**12, -5])
    drawn = dg.discrete_gaussian(given, mu=mu, dtype=dtype)
    assert drawn.dtype == dtype
    for x, centre, sigma2 in zip(drawn.tolist(), mu.tolist(), given, strict=True):
        assert isinstance(x, int)
        assert (x - centre) ** 2 <= 200 * Fraction(str(sigma2)) + 1


@native
@pytest.mark.parametrize("n", [1000, 40_000, 100_000])
@pytest.mark.parametrize("are_floats", [False, True])
def test_mixed_arrays_follow_the_laws(n: int, are_floats: bool) -> None:
    """Three laws in random order, by Algorithms 1-3, lanes or tables: each follows its own."""
    values = [Fraction(1), Fraction(13, 4), Fraction(100)]
    which = np.random.default_rng(7).integers(0, 3, n)
    given: Any = [values[i] for i in which]
    if are_floats:
        given = np.array(given, float)
    drawn = dg.discrete_gaussian(given, source="chacha20")
    for i, sigma2 in enumerate(values):
        assert rejected(drawn[which == i], gaussian_table(sigma2)) == []


@native
@pytest.mark.parametrize(
    "shape", [(4,), (3, 4), (5, 1, 1, 1), (2, 1, 3, 1), (2, 1, 3, 4), (6, 1, 1, 1, 4)]
)
@pytest.mark.parametrize("mu", [0, "1/3", np.arange(4) * 100, np.arange(12).reshape(3, 1, 4)])
def test_numbers_that_take_turns_draw_what_repeated_ones_do(shape: Any, mu: Any) -> None:
    """However an array of parameters is broadcast, its draws are those of the whole array."""
    sigma2 = np.random.default_rng(1).integers(1, 4, shape) / 4
    whole = np.broadcast_shapes(
        (6, 2, 1, 3, 4) if shape[0] != 5 else (5, 3, 2, 4), shape, np.shape(mu)
    )
    one, other = bits(), bits()
    drawn = dg.discrete_gaussian(sigma2, whole, mu=mu, source=one)
    every = np.broadcast_to(sigma2, whole).copy()
    mus = np.broadcast_to(np.array(mu, object), whole)
    wanted = dg.discrete_gaussian(every, mu=mus, source=other)
    assert (drawn == wanted).all()
    assert one.used == other.used




@pytest.mark.parametrize("mu", [0, np.arange(12).reshape(3, 4), "1e30"])
@pytest.mark.parametrize("sigma2", [[25], [1, 4, 25, 100]])
def test_an_array_in_fortran_order_is_filled_in_c_order(sigma2: Any, mu: Any) -> None:
    """With arrays of parameters, draws are made in the order of the laws, not of memory."""
    dtype = object if isinstance(mu, str) else np.int64
    out = np.empty((3, 4), dtype, order="F")
    dg.discrete_gaussian(sigma2, mu=mu, out=out, source=bits())
    wanted = dg.discrete_gaussian(sigma2, (3, 4), mu=mu, dtype=dtype, source=bits())
    assert (out == wanted).all()


@native
def test_many_laws_by_several_threads() -> None:
    """Each element keeps its law when threads share the work."""
    mu = np.arange(50_000) * 1000
    drawn = dg.discrete_gaussian(1, mu=mu, threads=3)
    assert (np.abs(drawn - mu) < 30).all()
    assert len(np.unique(drawn - mu)) > 5


# --- tables ---










# --- errors ---


def must_not_draw(_buffer: memoryview) -> None:
    raise AssertionError("bits were asked for")


@pytest.mark.parametrize(
    ("sigma2", "error"),
    [
        (np.array([1.0, 2.0, np.nan]), ParameterValueError),
        (np.array([1.0, -np.inf]), ParameterValueError),
        (np.array([1.0, 0.0]), ParameterValueError),
        (np.array([1, -3]), ParameterValueError),
        (np.array([True, False]), ParameterTypeError),
        ([1, 2, True], ParameterTypeError),
        ([1.0, 0.0], ParameterValueError),
        ([1, None], ParameterTypeError),
        ([1, [2]], ParameterTypeError),
        (np.array([1.0, 1e40]), ParameterOverflowError),
        ([1, 10**40], ParameterOverflowError),
    ],
    ids=repr,
)
def test_one_bad_element_refuses_all(sigma2: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        dg.discrete_gaussian(sigma2, source=must_not_draw)


@native
def test_after_a_failure_no_draws_are_left() -> None:
    """Where the source fails in the middle, out holds zeros or what it held."""
    out = np.full(5000, 10**6)
    with pytest.raises(Exception, match="tape"):
        dg.discrete_gaussian(np.arange(1, 5001), out=out, source=TapeSource(bytes(range(256)) * 8))
    assert set(out.tolist()) <= {0, 10**6}


def test_no_elements() -> None:
    assert dg.discrete_gaussian(np.empty((0, 3))).shape == (0, 3)
    assert dg.discrete_gaussian([]).shape == (0,)


@native
def test_plain_python_draws_the_laws_of_a_call_in_the_same_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that are no rows of 64-bit integers come first, whatever the engine."""
    tape = random.Random(1).randbytes(10**5)

    def drawn() -> tuple[list[int], int]:
        source = TapeSource(tape)
        mu = [0, Fraction(1, 2**1074), Fraction(1, 3), Fraction(-1, 2**80)]
        draws = dg.discrete_laplace(
            [920528, 5, 12, 10**6], mu=mu, method="reference", source=source
        )
        return draws.tolist(), source.used

    compiled = drawn()
    for name in ("engines", "many_laws"):
        monkeypatch.setattr(f"discretegauss._drawing.{name}.native", None)
    _engine.sampler.cache_clear()
    try:
        assert drawn() == compiled
    finally:
        _engine.sampler.cache_clear()
