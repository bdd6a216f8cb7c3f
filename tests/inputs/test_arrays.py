"""size, dtype and out: the arrays that draws come in."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once
from inputs import CENTRED, INTEGER_CODES, Function, each_function, layouts, must_not_draw, tape
from parts import before_each_call

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from discretegauss.testing import TapeSource

# --- size ---


@each_function
@at_once(
    ("size", "shape"),
    [
        (0, (0,)),
        (3, (3,)),
        ((), ()),
        ((0, 5), (0, 5)),
        ((5, 0), (5, 0)),
        ((2, 3), (2, 3)),
        ([2, 3], (2, 3)),
        (np.int64(3), (3,)),
        ((np.uint8(2), 1), (2, 1)),
        ((1,) * 20, (1,) * 20),
        ([np.int64(2), 3], (2, 3)),
        (np.array([2, 3]), (2, 3)),
        (np.array([2, 0], np.uint8), (2, 0)),
        (np.array(3), (3,)),
        (np.array([], int), ()),
        (np.array([4, 3], object), (4, 3)),
    ],
)
def test_size_gives_the_shape(function: Function, name: str, size: Any, shape: Any) -> None:
    """An int or a tuple of ints is the shape of the array that comes back."""
    result = function(3, size)
    assert isinstance(result, np.ndarray)
    assert result.shape == shape
    assert result.dtype == (np.bool_ if function is dg.bernoulli_exp else np.int64)


@each_function
def test_nothing_is_drawn_for_an_empty_result(function: Function, name: str) -> None:
    """size 0 asks for no bits."""
    assert function(3, (0, 5), source=must_not_draw).shape == (0, 5)


@each_function
@at_once("size", [-1, (2, -1), (-1, 0), np.int8(-5)])
def test_a_negative_size_is_a_value_error(function: Function, name: str, size: Any) -> None:
    """Negative lengths are refused."""
    with pytest.raises(ParameterValueError, match="size"):
        function(3, size, source=must_not_draw)


@each_function
def test_a_size_of_a_class_that_compares_in_its_own_way_is_looked_at(
    function: Function, name: str
) -> None:
    """The number that is checked is the number that is used."""
    own = type("Own", (int,), {"__lt__": lambda *_: False})
    for option in ({"size": own(-5)}, {"size": (2, own(-5))}, {"size": 2, "threads": own(0)}):
        with pytest.raises(ParameterValueError, match=r"(size|threads) must be at least"):
            function(3, **option, source=must_not_draw)


@each_function
@at_once(
    "size",
    [
        *(True, np.True_, 2.0, "3", b"3", 1j, (None,), (2, 1.5), (True,), {}, {3}),
        *(
            *(
                np.array([2.0, 3]),
                np.array([[2, 3]]),
                np.array(2.0),
                np.array([True]),
                np.array([]),
            ),
            *(np.ma.array([2, 3], mask=[0, 1]), np.ma.array(2, mask=True)),  # type: ignore[arg-type]
            *(np.array(3, "m8[s]"), np.array([3], "m8[s]"), range(2, 4)),
            np.timedelta64(3, "s"),
            (np.timedelta64(3, "ns"),),
            np.timedelta64("NaT", "s"),
        ),
    ],
)
def test_a_size_that_is_no_integer_is_a_type_error(
    function: Function, name: str, size: Any
) -> None:
    """A bool or a float, even a whole one, is no length."""
    with pytest.raises(ParameterTypeError, match="size"):
        function(3, size, source=must_not_draw)


@each_function
@pytest.mark.parametrize("parameter", [3, [3]], ids=str)
def test_a_huge_size_is_a_clear_error(function: Function, name: str, parameter: Any) -> None:
    """A size beyond what numpy counts is named; one beyond the memory is a MemoryError."""
    for size in (2**62, 10**30, (2**40, 2**40), [2**32, 2**32], (0, 2**70), (2**20_000,)):
        with pytest.raises(ParameterOverflowError, match=r"\bsize\b"):
            function(parameter, size, source=must_not_draw)
    with pytest.raises(ParameterValueError, match=r"\bsize\b.*32 axes.*got 33"):
        function(parameter, (1,) * 33, source=must_not_draw)
    assert function(parameter, (1,) * 32).ndim == 32
    with pytest.raises(MemoryError):
        function(parameter, 10**17, source=must_not_draw)


# --- dtype ---


@at_once("dtype", [*INTEGER_CODES, "i4", ">i4", "<u2", ">u8", int, np.int16, np.dtype("u4")])
@at_once("function", [*CENTRED, dg.geometric_exp])
def test_every_integer_dtype(function: Function, dtype: Any) -> None:
    """Any integer type that holds the law gives the same draws, in that type."""
    centre: dict[str, Any] = {} if function is dg.geometric_exp else {"mu": 60}
    parameter = 1 if function is dg.geometric_exp else "1/2"
    result = function(parameter, 50, dtype=dtype, source=tape(), **centre)
    assert result.dtype == np.dtype(dtype)
    wanted = function(parameter, 50, dtype=object, source=tape(), **centre)
    assert [int(x) for x in result] == wanted.tolist()


@at_once("function", [*CENTRED, dg.geometric_exp])
@at_once(
    "dtype",
    [
        *(float, np.float32, complex, bool, None, "S4", "U", "M8[s]", "m8[s]", "i4,i4", "no", 5),
        *([1], np.dtype(("i8", [("low", "i4"), ("high", "i4")]))),
    ],
)
def test_other_dtypes_are_type_errors(function: Function, dtype: Any) -> None:
    """Floats, bool, dates, texts and unknown names are refused."""
    for size in (None, 3):
        with pytest.raises(ParameterTypeError, match="dtype"):
            function(3, size, dtype=dtype, source=must_not_draw)


@at_once("size", [None, 1, 0, (2, 2)])
@at_once(
    ("function", "parameter", "mu", "dtype"),
    [
        (dg.discrete_gaussian, 100, 0, np.int8),
        (dg.discrete_gaussian, 100, 0, np.uint64),
        (dg.discrete_gaussian, 1, 120, np.int8),
        (dg.discrete_gaussian, 10**8, 0, np.int16),
        (dg.discrete_gaussian, 10**18, 0, np.int32),
        (dg.discrete_gaussian, 2**121, 0, np.int64),
        (dg.discrete_gaussian, 1, 2**63 - 1, np.int64),
        (dg.discrete_gaussian, 1, -(2**63), np.int64),
        (dg.discrete_gaussian, 1, 2**70, np.int64),
        (dg.discrete_gaussian, 1, 10, np.uint8),
        (dg.discrete_gaussian, 1, Fraction(10**400, 3), np.int64),
        (dg.discrete_laplace, 2, 0, np.int8),
        (dg.discrete_laplace, 2**58, 0, np.int64),
        (dg.discrete_laplace, 1, 40, np.uint8),
        (dg.discrete_laplace, "1/1000", 2**63, np.int64),
        (dg.geometric_exp, "1/2", None, np.int8),
        (dg.geometric_exp, Fraction(1, 2**60), None, np.int64),
        (dg.geometric_exp, 5e-324, None, np.uint64),
    ],
)
def test_a_dtype_too_narrow_is_an_overflow_error(
    function: Function, parameter: Any, mu: Any, dtype: Any, size: Any
) -> None:
    """A law that may not fit is refused before any draw; the message names a dtype that works."""
    centre = {} if mu is None else {"mu": mu}
    assert type(function(parameter, source=tape(), **centre)) is int  # which has room
    with pytest.raises(ParameterOverflowError, match="dtype=object"):
        function(parameter, size, dtype=dtype, source=must_not_draw, **centre)
    assert function(parameter, 2, dtype=object, source=tape(), **centre).dtype == object


@pytest.mark.parametrize(
    ("parameter", "mu", "dtype"),
    [
        (1, 0, np.int8),
        (80, 0, np.int8),
        (80, 127, np.uint8),
        (2**100, 0, np.int64),
        (2**118, 0, np.int64),
        (1, 2**63 - 30, np.int64),
        (1, 2**64 - 30, np.uint64),
        (1, 30, np.uint64),
        (5e-324, 0, np.int8),
    ],
)
def test_a_dtype_wide_enough_is_taken(parameter: Any, mu: int, dtype: Any) -> None:
    """Fourteen standard deviations of room are enough, at either end."""
    draws = dg.discrete_gaussian(parameter, 100, mu=mu, dtype=dtype, source=tape())
    exact = dg.discrete_gaussian(parameter, 100, mu=mu, dtype=object, source=tape())
    assert [int(x) for x in draws] == exact.tolist()


@pytest.mark.parametrize("dtype", [np.int64, int, "i8", np.dtype(np.int64), np.int32, object])
def test_a_dtype_that_was_asked_for_is_checked(dtype: Any) -> None:
    """So it is for one draw, which is a Python integer of any size by default."""
    law = dg.DiscreteGaussian(10**100)
    for draw in (law.sample, partial(dg.discrete_gaussian, 10**100)):
        assert type(draw()) is int
        if dtype is object:
            assert type(draw(dtype=dtype)) is int
            continue
        with pytest.raises(ParameterOverflowError, match="dtype"):
            draw(dtype=dtype, source=must_not_draw)
        with pytest.raises(ParameterOverflowError, match="dtype"):
            draw(size=2, source=must_not_draw)
    assert type(dg.discrete_gaussian(100, dtype=dtype)) is int


# --- out ---


@at_once("dtype", [*INTEGER_CODES, "O"])
def test_out_of_any_layout_and_dtype(dtype: str) -> None:
    """The draws fill out in order, for all strides, byte orders and alignments."""
    wanted = dg.discrete_gaussian("1/2", (4, 6), mu=60, dtype=object, source=tape())
    for out in layouts(dtype):
        assert dg.discrete_gaussian("1/2", mu=60, out=out, source=tape()) is out
        assert out.astype(object).tolist() == wanted.tolist()


def test_engines_write_to_aligned_memory_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unaligned writes stop some machines, though not x86, so such an array gets copies."""
    written: list[Any] = []
    before_each_call(monkeypatch, "fill", lambda flat, *_: written.append(flat))
    plain = np.zeros((4, 6), np.int64)
    others = np.zeros(33, np.uint8)[1:].view(np.int64), plain.astype(">i8"), plain[::2, ::-1]
    for out in (plain, np.asfortranarray(plain), *others):
        dg.discrete_gaussian(4, mu=1000, out=out)
        (flat,) = written
        written.clear()
        assert flat.flags.carray
        assert flat.dtype.isnative
        assert flat.ndim == 1
        assert (abs(out - 1000) < 100).all()
        assert np.shares_memory(flat, out) is not any(out is other for other in others)


@pytest.mark.parametrize("dtype", ["i8", ">i8", "O"])
def test_out_in_fortran_order(dtype: str) -> None:
    """An array in Fortran order gets the same draws, each once."""
    out = np.zeros((4, 6), dtype, order="F")
    assert dg.discrete_gaussian(10**20, mu=60, out=out, source=tape()) is out
    wanted = dg.discrete_gaussian(10**20, (4, 6), mu=60, source=tape())
    assert sorted(out.ravel().tolist()) == sorted(wanted.ravel().tolist())


def test_out_may_have_axes_of_length_1() -> None:
    """Their strides, 0 after numpy.newaxis, hold no element twice."""
    plain = np.full(3, 10**6)
    out = plain[np.newaxis, :, np.newaxis]
    assert dg.discrete_gaussian(3, out=out) is out
    assert (np.abs(plain) < 100).all()


def test_out_with_arrays_of_parameters() -> None:
    """out works with broadcast parameters: each element follows its own law."""
    out = np.zeros((1000, 2), ">i4")[::2]
    assert dg.discrete_gaussian([5e-324, 10**6], mu=[7, 10**8], out=out) is out
    assert (out[:, 0] == 7).all()
    assert (np.abs(out[:, 1] - 10**8) < 20_000).all()


def test_out_of_bernoulli_exp() -> None:
    """bernoulli_exp fills arrays of bool, of any layout."""
    wanted = dg.bernoulli_exp(1, 24, source=tape()).tolist()
    for out in layouts(np.bool_):
        assert dg.bernoulli_exp(1, out=out, source=tape()) is out
        assert out.ravel().tolist() == wanted
    wrong_ones: list[tuple[Any, str]] = [
        (np.zeros(3, np.uint8), "uint8"),
        (np.zeros(3), "float64"),
        ([True], "list"),
        (True, "bool"),
        (np.ma.array([True]), "MaskedArray"),
    ]
    for wrong, what in wrong_ones:
        with pytest.raises(ParameterTypeError, match=f"out must.*, got {what}$"):
            dg.bernoulli_exp(1, out=wrong, source=must_not_draw)


def test_out_with_a_mask_is_refused() -> None:
    """A hard mask would hide elements from the noise; a soft one is refused, too."""
    masks: list[Any] = [[1, 0, 1, 0], False, np.ma.nomask]
    for hard in (True, False):
        for mask in masks:
            out = np.ma.array([1204, 87, 0, 5530], mask=mask, hard_mask=hard)
            for parameter in (100, [100], [1, 2, 3, 4]):
                with pytest.raises(ParameterTypeError, match=r"out.*mask"):
                    dg.discrete_gaussian(parameter, out=out, source=must_not_draw)


class Own(np.ndarray[Any, Any]):
    """A subclass with its own assignment and shape."""

    def __setitem__(self, key: Any, value: Any) -> None:
        raise AssertionError

    def reshape(self, *_: Any, **__: Any) -> Any:
        raise AssertionError

    def fill(self, value: Any) -> None:
        raise AssertionError


@at_once("dtype", ["i8", ">i4", object])
@pytest.mark.parametrize("kind", [np.matrix, np.recarray, Own])
def test_out_of_a_subclass(kind: Any, dtype: Any) -> None:
    """It is filled like its base array, by threads too, and is returned itself."""
    for parameter in (10**6, np.arange(1, 9) * 10**6):
        wanted = dg.discrete_gaussian(parameter, (500, 8), source=tape())
        plain = np.zeros((500, 8), dtype)
        out = plain.view(kind)
        assert dg.discrete_gaussian(parameter, out=out, source=tape()) is out
        assert plain.tolist() == wanted.tolist()
        for method in ("reference", "auto"):
            plain.fill(0)
            assert dg.discrete_gaussian(parameter, out=out, threads=2, method=method) is out
            assert len(set(plain.ravel().tolist())) > 100
        with pytest.raises(EOFError):
            dg.discrete_gaussian(parameter, out=out, source=TapeSource(bytes(100)))


def test_out_and_dtype_must_agree() -> None:
    """dtype may repeat that of out, and nothing else."""
    out = np.zeros(3, ">i4")
    for same in (">i4", out.dtype):
        assert dg.discrete_gaussian(3, out=out, dtype=same) is out
    for other in (np.int64, "<i4", np.int16, object):
        with pytest.raises(ParameterValueError, match=r"dtype.*out, >i4, got \w+"):
            dg.discrete_gaussian(3, out=out, dtype=other, source=must_not_draw)
        with pytest.raises(ParameterValueError, match=r"dtype.*out"):
            dg.DiscreteLaplace(3).sample(out=out, dtype=other, source=must_not_draw)
    with pytest.raises(ParameterTypeError, match="dtype"):
        dg.discrete_gaussian(3, out=out, dtype=float, source=must_not_draw)


def test_out_and_size_must_agree() -> None:
    """size may repeat the shape of out, and nothing else."""
    out = np.zeros((2, 3), np.int64)
    assert dg.discrete_gaussian(3, (2, 3), out=out) is out
    for size in (6, (3, 2), (2, 3, 1), 0, ()):
        with pytest.raises(ParameterValueError, match="out"):
            dg.discrete_gaussian(3, size, out=out, source=must_not_draw)


@pytest.mark.parametrize("is_known", [False, True], ids=["first", "after a draw"])
@pytest.mark.parametrize("function", [*CENTRED, dg.geometric_exp], ids=lambda f: f.__name__)
def test_an_out_that_cannot_be_filled_is_refused(function: Function, is_known: bool) -> None:
    """The wrong kind is a TypeError. A read-only out, or one with elements twice, a ValueError."""
    if is_known:  # from now on int64 is known to hold the law
        function(3, 2)
    parts = np.dtype(("i8", [("low", "i4"), ("high", "i4")]))
    for wrong in map(partial(np.zeros, 3), (float, bool, "M8[s]", "m8[s]", parts)):
        with pytest.raises(ParameterTypeError, match=r"dtype|out"):
            function(3, out=wrong, source=must_not_draw)
    no_arrays: list[Any] = [[0, 0], (0, 0), bytearray(8), 5, "out", np.int64(3)]
    for no_array in no_arrays:
        with pytest.raises(ParameterTypeError, match="out"):
            function(3, out=no_array, source=must_not_draw)
    read_only = np.zeros(3, np.int64)
    read_only.flags.writeable = False
    base = np.zeros(4, np.int64)
    twice = np.lib.stride_tricks.as_strided(base, (3, 2), (8, 8))
    same = np.lib.stride_tricks.as_strided(base, (5,), (0,))
    overlapping = np.lib.stride_tricks.as_strided(base, (3,), (4,))
    for bad in (read_only, twice, same, overlapping, np.broadcast_to(base, (2, 4))):
        with pytest.raises(ParameterValueError, match="out"):
            function(3, out=bad, source=must_not_draw)


def test_arrays_of_sigma_are_drawn_as_their_squares() -> None:
    """They have any shape and type, are broadcast as those of sigma2, and give equal draws."""
    bits = random.Random(7).randbytes(10**5)
    given: list[tuple[Any, Any]] = [
        (np.array([1, 20, 300]), 0),
        (np.array([[0.5], [1.5]]), [1, 2, 3]),
        (["1/3", 2, Fraction(5, 2), 0.1], "1/2"),
        (3, [1, 2, 3]),
    ]
    for sigma, mu in given:
        exact: Any = [Fraction(x) ** 2 for x in np.array(sigma, object).ravel().tolist()]
        sigma2 = np.array(exact, object).reshape(np.array(sigma, object).shape)
        drawn = dg.discrete_gaussian(sigma=sigma, mu=mu, source=TapeSource(bits))
        assert np.array_equal(drawn, dg.discrete_gaussian(sigma2, mu=mu, source=TapeSource(bits)))
    assert dg.discrete_gaussian(sigma=[], size=0).shape == (0,)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({}, TypeError, "one of sigma2 and sigma must be given, got neither"),
        ({"sigma2": 1, "sigma": 1}, TypeError, "one of sigma2 and sigma must be given, got both"),
        ({"sigma": [1, -2]}, ValueError, r"^sigma must be positive, but sigma\[1\] breaks it$"),
        ({"sigma": [1, 0.0]}, ValueError, r"sigma\[1\] breaks it$"),
        ({"sigma": np.array([np.nan, 1])}, ValueError, r"sigma\[0\] breaks it$"),
        ({"sigma": 2**40_000}, OverflowError, "^sigma must .* 32768 bits, .* of 40001 bits$"),
        ({"sigma": [1, 2**40_000]}, OverflowError, r"sigma\[1\] breaks it$"),
    ],
)
def test_no_sigma_or_a_bad_one_is_refused(options: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        dg.discrete_gaussian(**options, source=must_not_draw)
