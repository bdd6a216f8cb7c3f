"""law.stream: the draws of the law, a chunk at a time."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from same_bits import same_bits

import discretegauss as dg
from discretegauss.errors import ParameterTypeError, ParameterValueError
from discretegauss.testing import TapeSource

LAWS = [dg.DiscreteGaussian(100), dg.DiscreteLaplace(10, mu="1/2")]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize(("total", "chunk"), [(0, 5), (1, 5), (5, 5), (12, 5), (40_000, 15_000)])
def test_a_stream_is_what_sample_draws_chunk_by_chunk(law: Any, total: int, chunk: int) -> None:
    """The draws from the same bits are equal, and no two arrays share memory."""
    source = same_bits()
    expected = [law.sample(min(chunk, total - i), source=source) for i in range(0, total, chunk)]
    arrays = list(law.stream(total, chunk, source=same_bits()))
    assert [array.tolist() for array in arrays] == [array.tolist() for array in expected]
    assert all(array.dtype == np.int64 for array in arrays)
    assert not any(np.shares_memory(a, b) for a, b in pairwise(arrays))


def test_a_stream_without_end_is_drawn_as_it_is_read() -> None:
    arrays = dg.DiscreteGaussian(100).stream(10**18, 1000, dtype=np.int32)
    assert [array.dtype for array in islice(arrays, 2)] == [np.int32, np.int32]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((-1,), {}, ParameterValueError, "total must be at least 0, got -1"),
        ((1.5,), {}, ParameterTypeError, "total must be an integer, got 1.5"),
        ((1, 0), {}, ParameterValueError, "chunk must be at least 1, got 0"),
        ((1,), {"progress": "no"}, ParameterTypeError, "progress must be True or False, got 'no'"),
        ((1,), {"dtype": "int8"}, OverflowError, "int8"),
        ((1,), {"dtype": float}, (TypeError, ValueError), "dtype"),
        ((1,), {"method": "fast"}, ParameterValueError, "method"),
        ((1,), {"source": "seed"}, ParameterValueError, "source"),
        ((1,), {"threads": 0}, ParameterValueError, "threads"),
    ],
)
def test_the_call_refuses_what_is_wrong_before_anything_is_drawn(
    arguments: tuple[Any, ...], options: dict[str, Any], error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        dg.DiscreteGaussian(10**4).stream(*arguments, **{"source": TapeSource(b"")} | options)
