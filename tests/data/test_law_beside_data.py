"""`counts + law` is a forgotten draw: it raises, and says what to write."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once

import discretegauss as dg

LAW = dg.DiscreteGaussian(5)


def beside() -> list[Any]:
    """Return containers of counts, of every installed library."""
    values: list[Any] = [
        *(5, 2.5, [1, 2], np.int64(3), np.arange(3), np.ma.MaskedArray([1, 2])),
        *(np.array([1, 2], object), np.array([0.5])),
    ]
    for name in ("pandas", "pyarrow"):
        try:
            library = __import__(name)
        except ImportError:  # no cover: both are in the extra `test`
            continue
        if name == "pyarrow":
            values += [library.array([1]), library.chunked_array([[1]])]
            continue
        dtypes = ("int64", "Int64", object)
        values += [library.Series([1, 2], dtype=dtype) for dtype in dtypes]
        values += [library.DataFrame({"a": [1]}), library.Index([1, 2])]
    return values


@at_once("values", beside())
@at_once("operation", [operator.add, operator.sub])
def test_a_law_beside_data_raises_and_names_add_noise(
    values: Any, operation: Callable[[Any, Any], Any]
) -> None:
    """In both orders, instead of one draw for all values or an array of objects."""
    for pair in ((values, LAW), (LAW, values)):
        with pytest.raises(TypeError, match=r"add_noise\(values, law\)"):
            operation(*pair)
    with pytest.raises((TypeError, AttributeError)):  # of pandas, before Python asks the law
        values += LAW


def test_polars_raises_as_well() -> None:
    """With a message of its own where it stands on the left."""
    pl = pytest.importorskip("polars")
    for values in (pl.Series([1]), pl.DataFrame({"a": [1]})):
        with pytest.raises(TypeError, match="add_noise"):
            LAW + values
        with pytest.raises((TypeError, pl.exceptions.PolarsError)):
            values + LAW


def test_numpy_compares_laws_as_before() -> None:
    """Only sums and differences are refused."""
    laws = np.array([LAW, dg.DiscreteLaplace(2)], object)
    assert (laws == LAW).tolist() == [True, False]
    assert (np.arange(2) == LAW).tolist() == [False, False]
    with pytest.raises(TypeError, match="unsupported operand"):
        np.arange(3) * LAW  # type: ignore[operator]
