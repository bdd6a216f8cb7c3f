"""Random calls never crash, hang, draw before a refusal or return an undocumented result.

They use functions and laws with numbers of all types and sizes, all methods, sources and dtypes,
and several threads.

pytest tests/inputs/test_random.py                     # 40 of each function
pytest tests/inputs/test_random.py -m evidence         # 25 000 of each
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar, cast

import gmpy2
import numpy as np
import pytest
from engine import ENGINE
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import FUNCTIONS, INTEGER_CODES, Function

import discretegauss as dg
from discretegauss.errors import DiscreteGaussError, MissingCoreError

Test = TypeVar("Test", bound=Callable[..., None])

_floats = st.floats(width=64)
_numbers = st.one_of(
    st.integers(-(10**6), 10**6),
    st.integers(-(2**200), 2**200),
    _floats,
    st.fractions(),
    st.decimals(),
    st.fractions().map(str),
    st.decimals().map(str),
    _floats.map(np.float64),
    st.integers(-128, 127).map(np.int8),
    st.integers(0, 2**64 - 1).map(np.uint64),
    st.integers(-(2**80), 2**80).map(gmpy2.mpz),
    st.fractions().map(gmpy2.mpq),
    _floats.map(gmpy2.mpfr),
)
_anything = st.one_of(
    _numbers,
    st.none(),
    st.booleans(),
    st.complex_numbers(),
    st.binary(max_size=9),
    st.text(max_size=9),
    st.lists(_numbers, max_size=3),
    st.dictionaries(st.integers(), st.integers(), max_size=1),
)
_lengths = st.integers(-1, 5)
_sizes = st.one_of(
    st.none(),
    st.just(30_001),
    _lengths,
    st.lists(_lengths, max_size=3).map(tuple),
    st.floats(),
    st.booleans(),
)
_dtypes = st.sampled_from([*INTEGER_CODES, ">i2", ">u8", object, np.int64, float, bool, None, "no"])
_sources = st.sampled_from(["tape", "tape", "tape", "getrandom", "chacha20", "urandom", 5])
_calls = st.fixed_dictionaries(
    {"first": st.one_of(_numbers, _anything), "size": _sizes, "source": _sources},
    optional={
        "mu": st.one_of(_numbers, _anything),
        "beta": st.one_of(st.fractions(1, 9), _numbers, _anything),
        "dtype": _dtypes,
        "method": st.sampled_from(["auto", "reference", "cells", "isochronous", "cell", None]),
        "threads": st.one_of(st.integers(-1, 4), _anything),
    },
)

NAMES = ("sigma2", "scale", "gamma", "beta", "mu", "size", "dtype", "method", "source", "threads")

each_way_to_draw = pytest.mark.parametrize(
    "function", [*(function for function, _ in FUNCTIONS), dg.generalized_gaussian]
)


class Tape:
    """Random bytes that follow from a seed, and the number of those that were read."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)
        self.n_bytes = 0

    def __call__(self, buffer: memoryview) -> None:
        self.n_bytes += len(buffer)
        buffer[:] = self._generator.randbytes(len(buffer))


def arguments_for(function: Function, call: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return those arguments of a random call that the function has."""
    keywords = dict(call)
    first = [keywords.pop("first")]
    beta = keywords.pop("beta", "3/2")
    if function is dg.generalized_gaussian:
        first.append(beta)
    if function in (dg.geometric_exp, dg.bernoulli_exp):
        keywords.pop("mu", None)
    if function is dg.bernoulli_exp:
        keywords.pop("dtype", None)
    return first, keywords


def check_refusal(error: Exception, tape: Tape) -> None:
    """Require a documented error, before any draw, that is short and names a parameter."""
    assert isinstance(error, DiscreteGaussError), repr(error)
    assert tape.n_bytes == 0
    assert isinstance(error, TypeError | ValueError | OverflowError)
    assert any(name in str(error) for name in NAMES), str(error)
    assert len(str(error)) < 500


def check_result(result: Any, function: Function, keywords: dict[str, Any]) -> None:
    """Require draws of the shape and the type that were asked for."""
    size = keywords["size"]
    if not isinstance(result, np.ndarray):
        assert size is None
        assert type(result) is (bool if function is dg.bernoulli_exp else int)
        return
    wanted = np.bool_ if function is dg.bernoulli_exp else keywords.get("dtype", np.int64)
    assert result.dtype == np.dtype(wanted)
    if size is not None:
        assert result.shape == (tuple(size) if isinstance(size, tuple) else (size,))
    if result.dtype == object:
        assert all(type(x) is int for x in result.ravel())


def check_call(function: Function, call: dict[str, Any], seed: int) -> None:
    """Require a documented result, or a documented error before any draw."""
    first, keywords = arguments_for(function, call)
    tape = Tape(seed)
    given = keywords | ({"source": tape} if keywords["source"] == "tape" else {})
    try:
        result = function(*first, **given)
    except MissingCoreError:
        assert ENGINE == "python"
    except (TypeError, ValueError, OverflowError) as error:
        check_refusal(error, tape)
    else:
        check_result(result, function, keywords)


def random_calls(examples: int) -> Callable[[Test], Test]:
    """Let Hypothesis run a test with this number of examples."""
    options = settings(max_examples=examples)

    def decorate(test: Test) -> Test:
        decorated = options(given(call=_calls, seed=st.integers(0, 2**32))(test))
        return cast(Test, decorated)

    return decorate


@each_way_to_draw
@random_calls(40)
def test_random_calls(function: Function, call: dict[str, Any], seed: int) -> None:
    """No random call crashes, hangs, draws before it refuses, or returns another type."""
    check_call(function, call, seed)


@pytest.mark.evidence
@each_way_to_draw
@random_calls(25_000)
def test_many_random_calls(function: Function, call: dict[str, Any], seed: int) -> None:
    """No call of 25 000 for each function crashes, hangs, or returns an undocumented result."""
    check_call(function, call, seed)
