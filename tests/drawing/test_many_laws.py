"""Arrays of parameters: every method draws each element from its own law."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from inputs import must_not_draw
from law_checks import gaussian_table, rejected

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError, ParameterValueError
from discretegauss.testing import TapeSource

native = pytest.mark.usefixtures("native_engine")


def bits() -> TapeSource:
    return TapeSource(random.Random(20261125).randbytes(400_000))


# --- which law an element has ---


@pytest.mark.parametrize("mu", [0, "1/3", 2**62 + 1])
def test_by_reference_laws_draw_what_each_draws_alone(mu: Any) -> None:
    """Algorithms 1-3 draw one law after the other, in the order in which they first appear."""
    shuffled = np.repeat([0.1, 1.5, 7.0, 1e6, 2.0**60], [3, 1, 4, 2, 5])
    np.random.default_rng(1).shuffle(shuffled)
    how: dict[str, Any] = {"mu": mu, "dtype": object, "method": "reference"}
    drawn, source = dg.discrete_gaussian(shuffled, source=bits(), **how), bits()
    for value in dict.fromkeys(shuffled.tolist()):
        n = int((shuffled == value).sum())
        alone = dg.discrete_gaussian(value, n, source=source, **how)
        assert drawn[shuffled == value].tolist() == alone.tolist()


@native
@pytest.mark.parametrize("function", [dg.discrete_gaussian, dg.discrete_laplace])
def test_numbers_of_every_format_mean_their_value(function: Any) -> None:
    """Floats, integers and fractions of equal value draw the same from the same bits."""
    rng = np.random.default_rng(1)
    narrow = rng.uniform(1 / 4, 9, 20).astype(np.float16)
    columns: list[tuple[Any, Any]] = [
        (np.array([2.0**-20, 0.1, 1 / 3, 1.0, 3.5, 1e5 + 0.1, 2.0**50, 1e15]), np.float64(0.25)),
        (np.float64(7), np.array([0.5, -0.5, 1.5, -2.5, 2.0**-40, 2**33, -7.75, 0.1])),
        (np.array([1, 2, 10**9, 2**40], np.uint64), rng.normal(0, 1000, 4)),
        (narrow, narrow - 1),
        (narrow.astype(">f4"), np.arange(20, dtype="i1")),
    ]
    for scale, mu in columns:
        one, other = bits(), bits()
        drawn = function(scale, mu=mu, source=one)
        exactly = [np.array([Fraction(x.item()) for x in np.ravel(v)], object) for v in (scale, mu)]
        assert drawn.tolist() == function(exactly[0], mu=exactly[1], source=other).tolist()
        assert one.used == other.used


@native
@pytest.mark.parametrize("function", [dg.discrete_gaussian, dg.discrete_laplace])
def test_laws_that_lanes_do_not_hold_are_drawn_by_the_reference(function: Any) -> None:
    """Laws too narrow for lanes draw, in order, what Algorithms 1-3 draw."""
    scales = [5e-324, 2.0**-63, 1e-30, 2.0**-62, 1e-12] * 20
    for mu in (0.5, 0.25, 0.0, -1e-300):
        one, other = bits(), bits()
        drawn = function(np.array(scales), mu=np.full(100, mu), source=one)
        how: dict[str, Any] = {"mu": mu, "method": "reference", "source": other}
        assert drawn.tolist() == [int(function(scale, **how)) for scale in scales]
        assert one.used == other.used


@native
def test_squares_that_lanes_do_not_hold_are_drawn_by_the_reference() -> None:
    """Laws of sigma too small or large for lanes draw what Algorithms 1-3 draw of the squares."""
    sigma = [5e-324, 1e-160, 0.001, 2.0**31, 1e10, 0.1 * 2**40] * 9
    for mu in (0.0, 0.25):
        one, other = bits(), bits()
        drawn = dg.discrete_gaussian(sigma=np.array(sigma), mu=mu, source=one)
        how: dict[str, Any] = {"mu": mu, "method": "reference", "source": other}
        wanted = [int(dg.discrete_gaussian(Fraction(s) ** 2, **how)) for s in sigma]
        assert drawn.tolist() == wanted
        assert one.used == other.used


@native
@pytest.mark.parametrize("function", [dg.geometric_exp, dg.bernoulli_exp, dg.bernoulli])
def test_other_laws_draw_what_each_draws_alone(function: Any) -> None:
    """Element i is drawn from law i, in order."""
    values, source = np.array([0.25, 1.0, 0.5]), bits()
    wanted = [function(value, source=source) for _ in range(7) for value in values]
    assert function(np.tile(values, 7), source=bits()).tolist() == wanted


@native
@pytest.mark.parametrize(
    ("sigma2", "mu"),
    [
        (2**70, np.array([0.5, 0.25, 1.5])),
        (np.array([1.5, 2.5, 7.0]), Fraction(1, 3**50)),
        (100, np.array([0.5, 0.25, 1e6])),
        (0.25, np.array([0.5, 0.25, 1e6])),
        (np.array([4.0, 9.0]), np.array([1000.5])),
    ],
    ids=repr,
)
def test_one_number_stands_for_all_laws(sigma2: Any, mu: Any) -> None:
    """A number, long or not, or an array of one belongs to every law."""
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
    """No byte is read in advance that the next law might not use."""
    together, one_by_one = bits(), bits()
    dg.geometric_exp(np.array([2.0**-40, *[1.0] * 15]), source=together)
    for gamma, n in ((2.0**-40, 1), (1.0, 15)):
        dg.geometric_exp(gamma, n, source=one_by_one)
    assert together.used == one_by_one.used


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
@pytest.mark.parametrize("n", [1000, 100_000])
@pytest.mark.parametrize("are_floats", [False, True])
def test_mixed_arrays_follow_the_laws(n: int, are_floats: bool) -> None:
    """Draws of three laws in random order, in one piece or many, follow their own laws."""
    values = [Fraction(1), Fraction(13, 4), Fraction(100)]
    which = np.random.default_rng(7).integers(0, 3, n)
    given: Any = [values[i] for i in which]
    if are_floats:
        given = np.array(given, float)
    drawn = dg.discrete_gaussian(given, source="chacha20")
    for i, sigma2 in enumerate(values):
        assert rejected(drawn[which == i], gaussian_table(sigma2)) == []


@native
@pytest.mark.parametrize("shape", [(4,), (5, 1, 1, 1), (2, 1, 3, 4)])
@pytest.mark.parametrize("mu", [0, "1/3", np.arange(4) * 100, np.arange(12).reshape(3, 1, 4)])
def test_numbers_that_take_turns_draw_what_repeated_ones_do(shape: Any, mu: Any) -> None:
    """A broadcast array of parameters draws what the whole array does."""
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


# --- errors ---


@pytest.mark.parametrize(
    ("sigma2", "error"),
    [
        (np.array([1.0, 2.0, np.nan]), ParameterValueError),
        (np.array([1.0, -np.inf]), ParameterValueError),
        (np.array([1.0, 0.0]), ParameterValueError),
        (np.array([1, -3]), ParameterValueError),
        ([1.0, 0.0], ParameterValueError),
        (np.array([1.0, 1e40]), ParameterOverflowError),
        ([1, 10**40], ParameterOverflowError),
    ],
    ids=repr,
)
def test_one_bad_element_refuses_all(sigma2: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        dg.discrete_gaussian(sigma2, source=must_not_draw)
