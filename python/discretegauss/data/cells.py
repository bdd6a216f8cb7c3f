"""Cells that get noise, and the form that open containers have for the rest of the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from numbers import Integral
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterTypeError, ParameterValueError

INT64_RANGE: Final = (-(2**63), 2**63 - 1)

INT128_RANGE: Final = (-(2**127), 2**127 - 1)


class Cells(NamedTuple):
    """Integers that get noise of one law: a column, or an array of any shape."""

    #: Of any integer dtype, layout and byte order, or objects that are Python ints.
    integers: NDArray[Any]
    #: True at nulls. `integers` may have any value there; the results are 0.
    nulls: NDArray[np.bool_] | None = None
    #: The least and greatest number that a result may be; None if there is no limit.
    range: tuple[int, int] | None = INT64_RANGE
    #: The name of the column in errors, if there are several.
    label: object = None


class Container(NamedTuple):
    """A container: its cells, and a function that makes one of its kind from the results."""

    #: One for each column that gets noise.
    cells: list[Cells]
    #: The number of cells in a row. In an array with several axes, a row is all but the first.
    n_columns: int
    #: Makes a container of the results, an array for each of `cells`, without copying them.
    close: Callable[[list[NDArray[Any]]], Any]

    @property
    def n_rows(self) -> int:
        """Return the number of rows, which the result has, too."""
        return sum(one.integers.size for one in self.cells) // self.n_columns


def refuse_type(kind: object) -> ParameterTypeError:
    """Return the error for cells that are not integers."""
    are_floats = "float" in str(kind).lower() or "double" in str(kind)
    hint = "; integral_floats=True takes whole numbers in floats" if are_floats else ""
    return ParameterTypeError(f"values must be integers, got {kind}{hint}")


_NOT_WHOLE = (
    "values must be whole numbers so small that no other integer rounds to the same float; "
    "one of them is not"
)


def from_floats(
    floats: NDArray[Any], nulls: NDArray[np.bool_] | None, *, allowed: bool
) -> NDArray[np.int64]:
    """Return floats, which must be whole numbers, as integers; 0 at nulls.

    Floats must be `allowed`. One is refused if it is so large that it may be several integers
    rounded.
    """
    if not allowed:
        raise refuse_type(floats.dtype.name)
    largest = 2 ** min(np.finfo(floats.dtype).nmant + 1, 62)
    if nulls is not None:
        floats = np.where(nulls, floats.dtype.type(0), floats)
    with np.errstate(invalid="ignore"):  # NaN is refused below
        right = (np.abs(floats) <= largest) & (np.trunc(floats) == floats)
    if not right.all():
        raise ParameterValueError(_NOT_WHOLE)
    return floats.astype(np.int64)


def from_objects(
    objects: Iterable[Any], *, floats: bool, is_null: Callable[[Any], bool] = lambda x: x is None
) -> tuple[Cells, Callable[[NDArray[Any]], list[Any]]]:
    """Return cells of Python objects, and a function that makes a list of the results.

    In the list, integers of any type become Python ints, and Decimals and nulls stay what they are.
    """
    elements = list(objects)
    nulls = np.fromiter(map(is_null, elements), np.bool_, len(elements))
    pairs = zip(elements, nulls, strict=True)
    integers = np.fromiter([0 if null else _integer(x, floats) for x, null in pairs], object)

    def close(results: NDArray[Any]) -> list[Any]:
        return [
            x if null else Decimal(result) if isinstance(x, Decimal) else result
            for x, null, result in zip(elements, nulls, results.tolist(), strict=True)
        ]

    return Cells(integers, nulls if nulls.any() else None, None), close


def from_decimals(decimals: Iterable[Any], digits: int) -> Cells:
    """Return cells of Decimals that are whole numbers; `digits` limits the results."""
    most = 10**digits - 1
    return from_objects(decimals, floats=False)[0]._replace(range=(-most, most))


def is_integer(x: object) -> bool:
    """Return whether an object is an integer, but neither a bool nor a time of numpy."""
    return not isinstance(x, bool | np.timedelta64) and isinstance(x, Integral)


def _integer(x: Any, floats: bool) -> int:
    """Return a Python object as an int, which it must equal."""
    if is_integer(x):
        return int(x)
    if isinstance(x, Decimal):
        if x.is_finite() and abs(x.adjusted()) < 10_000 and x == x.to_integral_value():
            return int(x)
        raise ParameterValueError(_NOT_WHOLE)
    if isinstance(x, float | np.floating):
        return int(from_floats(np.atleast_1d(x), None, allowed=floats)[0])
    raise refuse_type(f"an object of type {type(x).__name__}")
