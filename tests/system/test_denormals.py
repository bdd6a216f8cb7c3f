"""Denormal floats are what they are, and bounds above 0, while the processor takes them for 0.

Any library that is linked with -Ofast sets it so when it is loaded (MXCSR: FTZ for results, DAZ for
operands). Here fesetenv does it; what is found is looked at in the ordinary mode, by bits.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from typing import Any

import gmpy2
import numpy as np
import pytest

import discretegauss as dg
from discretegauss._certified.floats import float_at_least, float_at_most
from discretegauss._inputs.law_parameters import laws_of
from discretegauss._inputs.numbers import exact_rational
from discretegauss._law import Kind

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc",
    reason="the place of MXCSR in fenv_t is that of glibc on x86-64",
)

MODES = {"FTZ": 0x8000, "DAZ": 0x0040, "both": 0x8040}
_MXCSR = 28

F = Fraction


@contextmanager
def flushing(mode: str) -> Iterator[None]:
    libm = ctypes.CDLL("libm.so.6")
    before = (ctypes.c_char * 64)()
    libm.fegetenv(before)
    after = bytearray(before.raw)
    word = struct.unpack_from("<I", after, _MXCSR)[0] | MODES[mode]
    struct.pack_into("<I", after, _MXCSR, word)
    libm.fesetenv((ctypes.c_char * 64).from_buffer(after))
    try:
        yield
    finally:
        libm.fesetenv(before)


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def under(mode: str, call: Callable[[], Any]) -> Any:
    with flushing(mode):
        return call()


NUMBERS = [
    (5e-324, F(1, 2**1074)),
    (-1e-310, F(-1e-310)),
    (np.float64(sys.float_info.min / 3), F(sys.float_info.min / 3)),
    (np.float32(1e-45), F(1, 2**149)),
    (np.float32(-1e-40), F(float(np.float32(-1e-40)))),
    (np.float16(-6e-8), F(-1, 2**24)),
    (np.longdouble(1e-310), F(1e-310)),
    (-0.0, F(0)),
    (np.float32(-0.0), F(0)),
]


def test_a_denormal_parameter_means_its_value(mode: str) -> None:
    found = under(mode, lambda: [exact_rational(x, "mu") for x, _ in NUMBERS])
    assert found == [value for _, value in NUMBERS]


def test_so_in_arrays_of_parameters(mode: str) -> None:
    """sigma2 of 0 would be refused; and a law is looked up by its own value."""
    arrays = [
        np.array([5e-324, 1.0, 1e-310]),
        np.array([1e-310, 5e-324]),
        np.array([1e-45, 1.0], np.float32),
        np.array([6e-8, 1.0], np.float16),
        np.array([np.float32(1e-45), 5e-324, 1.0, 2], dtype=object),
        np.array([5e-324, 1.0], dtype=object),
    ]
    for array in arrays:
        under(mode, lambda a=array: dg.discrete_gaussian(a, size=a.shape, dtype=object))  # type: ignore[misc]
        columns = [array, np.array([0], object), np.array([1], object)]
        laws = under(mode, partial(laws_of, Kind.DISCRETE_GAUSSIAN, columns, array.shape))
        found = [laws.spec_at(i).parameter for i in range(array.size)]
        assert found == [exact_rational(x, "sigma2") for x in array]
        columns = [np.array([1], object), array, np.array([1], object)]
        laws = under(mode, partial(laws_of, Kind.DISCRETE_GAUSSIAN, columns, array.shape))
        assert [laws.spec_at(i).mu for i in range(array.size)] == found
    for zero in (np.zeros(2), np.array([0.0, 5e-324]), np.zeros(2, np.float32)):
        with flushing(mode), pytest.raises(ValueError, match="sigma2 must be positive"):
            dg.discrete_gaussian(zero)


def test_single_draws_keep_no_law_of_another_denormal(mode: str) -> None:
    under(mode, lambda: dg.discrete_gaussian(5e-324))
    with flushing(mode), pytest.raises(ValueError, match="sigma2 must be positive"):
        dg.discrete_gaussian(0.0)


@pytest.mark.parametrize("exponent", [1022, 1023, 1050, 1074, 1075, 2000])
def test_what_is_above_0_is_rounded_up_to_what_is_read_as_above_0(mode: str, exponent: int) -> None:
    x = gmpy2.div_2exp(gmpy2.mpfr(1), exponent)
    with flushing(mode):
        up, down = float_at_least(x), float_at_most(x)
        minus_up, minus_down = float_at_least(-x), float_at_most(-x)
        assert minus_down < 0 < up
        assert minus_up <= 0 <= down
    assert minus_down <= -x <= minus_up
    assert down <= x <= up <= max(x, sys.float_info.min)


def test_bounds_on_privacy_are_above_0(mode: str) -> None:
    law = dg.DiscreteGaussian(1)
    with flushing(mode):
        for bound in (
            dg.privacy.delta(dg.DiscreteGaussian(10**12), 1),
            dg.privacy.zcdp_delta("1e-4", 1),
            dg.privacy.zcdp_delta("1e-3", "1.691"),
            law.tail_bound(100),
            law.tail_bound(39),
            law.tail_bound([39])[0],
        ):
            assert bound > 0
        for lower, upper in (
            law.pmf(100, bounds=True),
            law.pmf(38, bounds=True),
            law.sf([37, 100], bounds=True),
        ):
            assert np.all(np.less_equal(lower, sys.float_info.min))
            assert np.all(np.greater(upper, 0))


def test_denormal_probabilities_are_a_float_beside_them(mode: str) -> None:
    found = under(mode, lambda: dg.DiscreteGaussian(1).pmf(38))
    assert 0 <= found <= sys.float_info.min
