"""Random calls: no crash, no hang, no draw before a refusal, no undocumented result.

pytest tests/test_inputs_random.py                     # 300 of each function
pytest tests/test_inputs_random.py -m evidence         # 25 000 of each
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar, cast

import gmpy2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inputs import CENTRED, INTEGER_CODES, Function, each_function

import discretegauss as dg
from discretegauss.errors import DiscreteGaussError

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
    st.none(), _lengths, st.lists(_lengths, max_size=3).map(tuple), st.floats(), st.booleans()
)
_dtypes = st.sampled_from([*INTEGER_CODES, ">i2", ">u8", object, np.int64, float, bool, None, "no"])
_calls = st.fixed_dictionaries(
    {"first": st.one_of(_numbers, _anything), "size": _sizes},
    optional={"mu": st.one_of(_numbers, _anything), "dtype": _dtypes},
)


def check_call(function: Function, call: dict[str, Any], seed: int) -> None:
    """A call gives what is documented, or one of the documented errors before any draw."""
    keywords = dict(call)
    first = keywords.pop("first")
    if function not in CENTRED:
        keywords.pop("mu", None)
    if function is dg.bernoulli_exp:
        keywords.pop("dtype", None)
    generator = random.Random(seed)
    asked: list[int] = []

    def source(buffer: memoryview) -> None:
        asked.append(len(buffer))
        buffer[:] = generator.randbytes(len(buffer))

    refusal: DiscreteGaussError | None = None
    try:
        result = function(first, source=source, **keywords)
    except DiscreteGaussError as error:
        refusal = error
    if refusal is not None:
        assert asked == []
        assert isinstance(refusal, TypeError | ValueError | OverflowError)
        names = ("sigma2", "scale", "gamma", "mu", "size", "dtype")
        assert any(name in str(refusal) for name in names)
        assert len(str(refusal)) < 500
        return
    size = keywords["size"]
    if isinstance(result, np.ndarray):
        wanted = np.bool_ if function is dg.bernoulli_exp else keywords.get("dtype", np.int64)
        assert result.dtype == np.dtype(wanted)
        if size is not None:
            assert result.shape == (tuple(size) if isinstance(size, tuple) else (size,))
        if result.dtype == object:
            assert all(type(x) is int for x in result.ravel())
    else:
        assert size is None
        assert type(result) is (bool if function is dg.bernoulli_exp else int)


def random_calls(examples: int) -> Callable[[Test], Test]:
    """Hypothesis without a deadline (no test asserts a time) and without a database of failures."""
    options = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )

    def decorate(test: Test) -> Test:
        decorated = options(given(call=_calls, seed=st.integers(0, 2**32))(test))
        return cast(Test, decorated)

    return decorate


@each_function
@random_calls(300)
def test_random_calls(function: Function, name: str, call: dict[str, Any], seed: int) -> None:
    """No random call crashes, hangs, draws before it refuses, or returns another type."""
    check_call(function, call, seed)


@pytest.mark.evidence
@each_function
@random_calls(25_000)
def test_many_random_calls(function: Function, name: str, call: dict[str, Any], seed: int) -> None:
    """A hundred thousand random calls in all: no crash, no hang, no undocumented result."""
    check_call(function, call, seed)
