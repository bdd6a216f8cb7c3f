"""Every parameter takes the documented numbers exactly, and refuses all else before any draw.

A refusal is a TypeError, ValueError or OverflowError of the package that names the parameter. The
source `must_not_draw` fails a test that reads bits. A tape shows what a parameter means: equal
numbers give equal draws from equal bits.
"""

from __future__ import annotations

import sys
from array import array
from collections import UserList, UserString, deque
from ctypes import c_int
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from evidence_cases import at_once
from inputs import Function, each_centred, each_function, must_not_draw, tape

import discretegauss as dg
from discretegauss.errors import (
    DiscreteGaussError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
)

TENTH = Fraction(0.1)

NUMBERS: list[tuple[Any, Fraction]] = [
    (1, Fraction(1)),
    (7, Fraction(7)),
    (2**4000, Fraction(2**4000)),
    (2**65535, Fraction(2**65535)),
    (0.1, TENTH),
    (5e-324, Fraction(1, 2**1074)),
    (1e308, Fraction(1e308)),
    (Fraction(355, 113), Fraction(355, 113)),
    (Fraction(1, 2**4000), Fraction(1, 2**4000)),
    (Decimal("0.1"), Fraction(1, 10)),
    (Decimal("1e-400"), Fraction(1, 10**400)),
    (Decimal("1e19727"), Fraction(10**19727)),
    ("1/3", Fraction(1, 3)),
    ("0.1", Fraction(1, 10)),
    (" 22/7\n", Fraction(22, 7)),
    ("1e3", Fraction(1000)),
    ("2.50", Fraction(5, 2)),
    *((np.dtype(code).type(100), Fraction(100)) for code in "bBhHiIlLqQ"),
    (np.float16(0.1), Fraction(819, 8192)),
    (np.float32(0.1), Fraction(13421773, 2**27)),
    (np.float64(0.1), TENTH),
    (np.longdouble(0.1), TENTH),
    (np.longdouble("1e-4000"), Fraction(*np.longdouble("1e-4000").as_integer_ratio())),
    (np.str_("1/3"), Fraction(1, 3)),
    (np.array(3), Fraction(3)),
    (np.array("1/3"), Fraction(1, 3)),
    (np.array(3, dtype=">i2"), Fraction(3)),
    (gmpy2.mpz(9), Fraction(9)),
    (gmpy2.mpq(2, 3), Fraction(2, 3)),
    (gmpy2.mpfr(0.1), TENTH),
]

# inputs_table.py has the usual ones, for every parameter
NOT_NUMBERS: list[Any] = [
    False,
    np.array(True),
    bytearray(b"1"),
    memoryview(b"1"),
    np.bytes_(b"1"),
    np.complex64(1),
    gmpy2.mpc(1),
    int,
    {1, 2},
    range(3),
    iter([1]),
    np.void(b"1"),
    np.array(None),
    np.datetime64("2020-01-01"),
    np.datetime64(1, "ns"),
    np.timedelta64(1, "s"),
    np.timedelta64(5, "ns"),
    np.timedelta64("NaT", "s"),
]

NOT_FINITE: list[Any] = [
    float("-inf"),
    np.float32("nan"),
    np.float64("inf"),
    np.longdouble("-inf"),
    np.array(np.nan),
    Decimal("-Infinity"),
    gmpy2.mpfr("inf"),
]

NOT_NUMBER_TEXTS = [
    " ",
    "nan",
    "sNaN",
    "inf",
    "-Infinity",
    "1/0",
    "0/0",
    "1/3/4",
    "1.5/2",
    "1/-3",
    "0x10",
    "1 2",
    "1j",
    "1/3\0",
    "½",
    "1_0/3",
    "1/1_0",
    "1e1_0",
    "\u0661",  # digits of other scripts
    "1/\u0663",
    "\u0661.5",
    "1e\u0661",
    "\uff17",
    "\u22121",  # a minus that is no hyphen
    "\u00a07",  # spaces of other kinds
    "7\u2003",
    "1 /3",
    "+ 1",
    "--1",
    ".",
    "1e",
    "1e0.5",
    "1/3e1",
]

TOO_LONG: list[Any] = [
    2**65536,
    Fraction(1, 2**70000),
    Fraction(2**70000 + 1, 2**70000),
    gmpy2.mpz(2) ** 70000,
    gmpy2.mpq(1, gmpy2.mpz(2) ** 70000),
    gmpy2.mpfr("1e30000"),
    gmpy2.mpfr("1e-30000"),
    Decimal("1e999999999"),
    Decimal("1e-999999999"),
    Decimal("1e19999"),
    Decimal((0, (1,) * 30_000, -29_999)),
    "1e999999999",
    "1e-999999999",
    "1" * 5000,
    "1/" + "1" * 5000,
]

NOT_POSITIVE: list[Any] = [
    0.0,
    -1.5,
    -5e-324,
    Fraction(-1, 2),
    Decimal(0),
    Decimal("-0.0"),
    "0",
    "-1/3",
    np.int8(0),
    np.int8(-128),
    np.float32(-0.0),
    gmpy2.mpz(0),
    gmpy2.mpq(-1, 3),
    -(2**4000),
]


@each_function
@at_once(("value", "exact"), NUMBERS)
def test_a_number_means_exactly_what_it_holds(
    function: Function, name: str, value: Any, exact: Fraction
) -> None:
    """A parameter of any accepted type draws what the Fraction it holds draws."""
    wide = {} if function is dg.bernoulli_exp else {"dtype": object}
    assert function(value, 5, source=tape(), **wide).tolist() == (
        function(exact, 5, source=tape(), **wide).tolist()
    )
    one = function(value, source=tape())
    assert one == function(exact, source=tape())
    assert type(one) is (bool if function is dg.bernoulli_exp else int)


NEGATIVES = [
    (-value, -exact)
    for value, exact in NUMBERS
    if not isinstance(value, str | np.ndarray | np.unsignedinteger)
]
ZEROS = [(zero, Fraction(0)) for zero in (0.0, -0.0, "0", Decimal("-0"), np.int8(0))]


@each_centred
@at_once(("value", "exact"), NUMBERS + NEGATIVES + ZEROS)
def test_mu_means_exactly_what_it_holds(function: Function, value: Any, exact: Fraction) -> None:
    """mu takes the same numbers, of either sign, and zeros, of which -0.0 is one."""
    mine = function(3, 5, mu=value, dtype=object, source=tape())
    assert mine.tolist() == function(3, 5, mu=exact, dtype=object, source=tape()).tolist()
    assert all(abs(x - exact) < 200 for x in mine.tolist())


@each_function
@at_once("value", NOT_NUMBERS)
@at_once("size", [None, 3])
def test_what_is_no_number_is_a_type_error(
    function: Function, name: str, value: Any, size: Any
) -> None:
    """None, bool, bytes, complex, dates and containers raise a TypeError with the name."""
    with pytest.raises(ParameterTypeError, match=rf"\b{name}\b"):
        function(value, size, source=must_not_draw)


@each_function
@at_once("value", [*NOT_FINITE, *NOT_NUMBER_TEXTS])
@at_once("size", [None, 3])
def test_what_is_not_finite_is_a_value_error(
    function: Function, name: str, value: Any, size: Any
) -> None:
    """NaN, infinities and other texts raise a ValueError with the parameter's name."""
    with pytest.raises(ParameterValueError, match=rf"\b{name}\b"):
        function(value, size, source=must_not_draw)


@each_function
@at_once("value", TOO_LONG)
@at_once("size", [None, 3])
def test_what_is_too_long_is_an_overflow_error(
    function: Function, name: str, value: Any, size: Any
) -> None:
    """A number of more than 65536 bits raises OverflowError at once, even if written shortly."""
    with pytest.raises(ParameterOverflowError, match=rf"\b{name}\b"):
        function(value, size, source=must_not_draw)


@each_centred
@at_once(
    ("values", "error"),
    [
        (NOT_NUMBERS, ParameterTypeError),
        (NOT_FINITE, ParameterValueError),
        (NOT_NUMBER_TEXTS, ParameterValueError),
        (TOO_LONG, ParameterOverflowError),
    ],
)
def test_mu_is_refused_for_the_same_reasons(
    function: Function, values: list[Any], error: type[Exception]
) -> None:
    """mu must be a finite number that is not too long, too."""
    for value in values:
        for size in (None, 3):
            with pytest.raises(error, match=r"\bmu\b"):
                function(3, size, mu=value, dtype=object, source=must_not_draw)


@each_function
@at_once("value", NOT_POSITIVE)
@at_once("size", [None, 3, 0])
def test_zero_and_negative_parameters_are_value_errors(
    function: Function, name: str, value: Any, size: Any
) -> None:
    """sigma2, scale and a geometric gamma are positive; a Bernoulli gamma is not negative."""
    if function is dg.bernoulli_exp and Fraction(str(value)) == 0:
        assert function(value, source=must_not_draw) is True
        return
    with pytest.raises(ParameterValueError, match=rf"\b{name}\b"):
        function(value, size, source=must_not_draw)


def test_messages_say_parameter_rule_and_value() -> None:
    """Every message reads like "sigma2 must be positive, got -0.1", with the value as typed."""
    for value, typed in (
        (-0.1, "-0.1"),
        ("-1/2", "'-1/2'"),
        (Decimal("-0.1"), r"Decimal\('-0.1'\)"),
    ):
        for call in (dg.discrete_gaussian, dg.DiscreteGaussian):
            with pytest.raises(ValueError, match=rf"^sigma2 must be positive, got {typed}$"):
                call(value)
        with pytest.raises(ValueError, match=rf"^sigma must be positive, got {typed}$"):
            dg.discrete_gaussian(sigma=value)
    with pytest.raises(OverflowError, match=r"int8 does not for sigma2 = 10000\.5; dtype=object"):
        dg.discrete_gaussian(10000.5, 3, dtype=np.int8, source=must_not_draw)
    with pytest.raises(OverflowError, match=r"; unsigned types cannot hold negative noise; dtype"):
        dg.discrete_gaussian(100, 3, dtype=np.uint64, source=must_not_draw)
    with pytest.raises(TypeError, match=r"^scale must be a number, not a bool, got True$"):
        dg.discrete_laplace(True)


@each_function
def test_messages_are_short(function: Function, name: str) -> None:
    """A value of a million digits does not come back in the message."""
    for value in (2**3_000_000, "7" * 10**6, Decimal((0, (7,) * 10**6, 0)), b"7" * 10**6):
        with pytest.raises(DiscreteGaussError) as caught:
            function(value, source=must_not_draw)
        assert name in str(caught.value)
        assert len(str(caught.value)) < 400


# --- arrays of parameters ---


@at_once(
    ("sigma2", "mu", "size", "shape"),
    [
        ([1, 2, 3], 0, None, (3,)),
        ((1, 2, 3), 0, None, (3,)),
        (np.array([1.5, 2.5]), 0, None, (2,)),
        ([["1/3"], [Decimal(2)]], [1, 2, 3], None, (2, 3)),
        (5, [1, 2], None, (2,)),
        ([1, 2], 0, (4, 2), (4, 2)),
        ([1, 2], 0, 2, (2,)),
        ([[1], [2]], [0, 1], (3, 2, 2), (3, 2, 2)),
        ([], 0, None, (0,)),
        ([[]], 0, None, (1, 0)),
        ([1], 0, 0, (0,)),
        (np.array(["1/3", "2"]), 0, None, (2,)),
        (np.array([1, 2], dtype=">i4"), 0, None, (2,)),
        (np.arange(1, 9).reshape(2, 4)[:, ::2], 0, None, (2, 2)),
    ],
)
def test_arrays_of_parameters_broadcast(sigma2: Any, mu: Any, size: Any, shape: Any) -> None:
    """Parameters broadcast against each other and against size, as in numpy."""
    assert dg.discrete_gaussian(sigma2, size, mu=mu).shape == shape
    assert dg.discrete_laplace(sigma2, size, mu=mu, dtype=object).shape == shape


@each_function
@at_once(
    "value",
    [
        [1, None],
        [1, True],
        [1, 0j],
        [1, [2, 3]],
        [np.ones((2, 2)), np.ones((2, 3))],
        [1, float("nan")],
        [1, -1],
        [1, "x"],
        [1, 2**70000],
        [1, Decimal("sNaN")],
        np.array([True]),
        np.array([1 + 0j]),
        np.array([b"1"]),
        np.array([np.nan]),
        np.array([1], dtype="m8[ns]"),
        np.array([1], dtype="M8[ns]"),
        np.array([1], dtype="m8[s]"),
        np.array([(1, 2)], dtype="i4,i4"),
    ],
)
def test_one_bad_element_refuses_the_array(function: Function, name: str, value: Any) -> None:
    """One bad element among the parameters refuses the whole call before any draw."""
    with pytest.raises(DiscreteGaussError, match=rf"\b{name}\b|ragged"):
        function(value, source=must_not_draw)


def in_lists(value: Any) -> list[Any]:
    """Return a value, and lists that hold it."""
    return [value, [value], (value, value), [3, value], [[value], [value]], [(value,)]]


def test_a_masked_parameter_is_not_drawn_with() -> None:
    """A masked element is refused, not read from under its mask."""
    masked = np.ma.masked_array([1, 2], mask=[False, True])
    for value in (masked, masked[1:], np.ma.masked, np.ma.array(5, mask=True)):
        for sigma2 in in_lists(value):
            with pytest.raises(ParameterValueError, match="sigma2 must not have masked elements"):
                dg.discrete_gaussian(sigma2, source=must_not_draw)
    whole = np.ma.masked_array([1, 2], mask=False)
    assert dg.discrete_gaussian([whole, [3, 4]]).shape == (2, 2)


@at_once("code", ["m8[ns]", "M8[ns]", "m8[s]", "m8"])
def test_times_are_no_numbers(code: str) -> None:
    """They are refused in arrays and in lists, although numpy would turn some into integers."""
    for value in (np.array([5, 6]).astype(code), np.array(5).astype(code)):
        for sigma2 in [*in_lists(value), [value[()]], [[1, value[()]]]]:
            with pytest.raises(ParameterTypeError, match=r"\bsigma2\b"):
                dg.discrete_gaussian(sigma2, source=must_not_draw)


SEQUENCES: list[Any] = [
    range(2),
    bytearray(b"12"),
    memoryview(b"12"),
    array("d", [1, 2]),
    (c_int * 2)(1, 2),
    deque([1, 2]),
    UserList([1, 2]),
    UserString("1/3"),
    gmpy2.xmpz(3),
]


@at_once("value", SEQUENCES)
def test_what_numpy_would_make_an_array_of_is_no_number(value: Any) -> None:
    """A buffer of bytes, for example, is refused alone, in a list, and beside an array."""
    for mu in in_lists(value):
        for sigma2 in (1, [1, 2], np.array([1.0, 2.0])):
            with pytest.raises(ParameterTypeError, match=r"\bmu\b"):
                dg.discrete_gaussian(sigma2, mu=mu, source=must_not_draw)


@pytest.mark.skipif(
    np.__version__.startswith("1."), reason="numpy 2 was the first with such arrays"
)
def test_arrays_of_more_than_32_axes_are_refused() -> None:
    """numpy's broadcasting takes no more; sizes have the same limit."""
    for axes in (33, 64):
        many = np.ones((1,) * axes)
        for options in ({"sigma2": many}, {"sigma2": 1, "mu": many}, {"sigma2": many, "size": 1}):
            with pytest.raises(ParameterValueError, match=f"32 axes, got {axes}"):
                dg.discrete_gaussian(**options, source=must_not_draw)
        out = many.astype(np.int64)
        with pytest.raises(ParameterValueError, match=f"out .*32 axes, got {axes}"):
            dg.discrete_gaussian([1], out=out, source=must_not_draw)
        assert dg.discrete_gaussian(1, out=out) is out
    assert dg.discrete_gaussian(np.ones((1,) * 32)).ndim == 32


@pytest.mark.parametrize("kind", [int, float, Fraction, str])
def test_numbers_that_call_themselves_equal_are_not_taken_for_each_other(kind: type[Any]) -> None:
    """Each element of an array has its own law, even if its type compares equal to all."""
    alike = {"__eq__": lambda x, y: type(x) is type(y), "__hash__": lambda _: 0}
    own = type("Own", (kind,), alike)
    numbers = [own(1), own(20), own(9)]
    narrow = Fraction(1, 1000)  # Pr[x != mu] < exp(-499)
    assert dg.discrete_gaussian(narrow, mu=numbers).tolist() == [1, 20, 9]
    law = dg.DiscreteGaussian(100)
    assert law.pmf(numbers).tolist() == law.pmf([1, 20, 9]).tolist()


@each_function
def test_a_number_without_a_hash_is_taken_as_any_other(function: Function, name: str) -> None:
    """It is taken alone and in arrays, although hashes tell distinct values apart there."""

    class Unhashable(Fraction):
        __hash__ = None  # type: ignore[assignment]

    assert np.ndim(function(Unhashable(3))) == 0
    assert function([[Unhashable(3), 3]]).shape == (1, 2)
    with pytest.raises(ParameterValueError, match=rf"{name} must .*, but {name}\[1\] breaks it"):
        function([Unhashable(3), Unhashable(-1)], source=must_not_draw)


@each_function
@pytest.mark.parametrize(
    "bits", [np.uint16(0x7D00), np.uint32(0x7FA00000), np.uint64(0x7FF4 << 48)]
)
def test_a_signalling_nan_of_numpy_is_refused_by_name(
    function: Function, name: str, bits: np.unsignedinteger[Any]
) -> None:
    """It is refused even if numpy is set to raise its own errors."""
    values = np.array([bits]).view(f"f{bits.itemsize}")
    for value in (values, values[0]):
        for errors in ("warn", "raise"):
            with np.errstate(all=errors), pytest.raises(ParameterValueError, match=name):
                function(value, source=must_not_draw)


def test_an_exponent_that_decimal_does_not_take_is_too_long() -> None:
    """0e99999 is refused like 1e99999, though it is zero."""
    for digits in (5, 17, 18, 19, 30, 4000):
        for text in ("1e", "1E+", "-2.5e-", " .5e", "3.e", "0e"):
            with pytest.raises(ParameterOverflowError, match=r"\bmu\b"):
                dg.discrete_gaussian(1, mu=text + "9" * digits, source=must_not_draw)
    for text in ("1e", "e99999999999999999999", "1e9999999999999999999x", "1 e9999999999999999999"):
        with pytest.raises(ParameterValueError, match=r"\bmu\b"):
            dg.discrete_gaussian(1, mu=text, source=must_not_draw)


def test_texts_are_read_whatever_python_limits_its_own_reading_to() -> None:
    quotient = "+1/" + "7" * 700
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        exact = dg.DiscreteGaussian(quotient).sigma2, dg.DiscreteGaussian("7" * 700).sigma2
    finally:
        sys.set_int_max_str_digits(limit)
    assert exact == (Fraction(quotient), Fraction("7" * 700))


def test_errors_of_values_without_a_repr() -> None:
    """A value without a repr still gets a message."""

    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    class MuteText(Mute, str):
        pass

    bad: list[Any] = [Mute(), MuteText("x"), [10**5000]]
    for value in bad:
        for options in ({"method": value}, {"threads": value}, {"size": value}, {"dtype": value}):
            with pytest.raises((ParameterTypeError, ParameterValueError, ParameterOverflowError)):
                dg.discrete_gaussian(1, source=must_not_draw, **options)


def test_shapes_that_do_not_broadcast_are_value_errors() -> None:
    """The message names the shapes of parameters, not that of size, which may be counts."""
    named = r"size .*: \(3,\), or \(9, 3\) for nine .* 1 axis$"
    with pytest.raises(ParameterValueError, match=named):
        dg.discrete_gaussian([1, 2, 3], 2, source=must_not_draw)
    with pytest.raises(ParameterValueError, match=r"got the shapes \(2,\) and \(3,\)$"):
        dg.discrete_gaussian([1, 2], mu=[1, 2, 3], source=must_not_draw)
    with pytest.raises(ParameterValueError, match="out"):
        dg.discrete_gaussian([1, 2], out=np.empty(3, np.int64), source=must_not_draw)
    with pytest.raises(ParameterValueError):  # size must not grow to the parameters' shape
        dg.discrete_gaussian([[1], [2]], 2, source=must_not_draw)


def test_a_number_at_hand_is_not_taken_for_an_equal_one_of_another_type() -> None:
    """A cache of laws keeps 1 and True apart, though Python calls them equal."""
    numbers: list[Any] = [1, 1.0, Fraction(1), *(np.dtype(code).type(1) for code in "bBhHiIlLqQ")]
    each: list[dict[str, Any]] = [{}, {"size": 4}]
    for options in each:
        expected = [dg.discrete_gaussian(Decimal(1), mu=7, source=tape(), **options)] * 2
        for number in [*numbers, *numbers]:
            drawn = dg.discrete_gaussian(number, mu=7, source=tape(), **options)
            assert np.array_equal([drawn] * 2, expected)
        for bad in (True, np.True_, np.timedelta64(1, "s"), b"1", None):
            with pytest.raises(ParameterTypeError, match="sigma2"):
                dg.discrete_gaussian(bad, mu=7, source=must_not_draw, **options)
