"""Cells that get noise, and what a container of them is to the rest of the package."""

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
    """Integers, all of which get noise of one law: a column, or an array of any shape.

    Parameters
    ----------
    integers : ndarray
        Of an integer dtype, any width, layout and byte order; or objects, all Python integers.
    nulls : ndarray of bool or None
        Where there is none. Any integer may stand there; the results are 0.
    range : tuple of int or None
        The least and greatest number that the results may be; None: any.
    label : object
        Of a column of several, what an error calls it.
    """

    integers: NDArray[Any]
    nulls: NDArray[np.bool_] | None = None
    range: tuple[int, int] | None = INT64_RANGE
    label: object = None


class Opened(NamedTuple):
    """A container: its cells, and what makes one of its kind of the results.

    Parameters
    ----------
    cells : list of Cells
        One for each column that gets noise.
    n_columns : int
        How many cells one person may change in a row: of an array of several axes, all of a row.
    close : callable
        Takes the results, an array for each of `cells`; the container takes them over.
    """

    cells: list[Cells]
    n_columns: int
    close: Callable[[list[NDArray[Any]]], Any]

    @property
    def n_rows(self) -> int:
        """Return how many rows there are: as many as the result will have."""
        return sum(one.integers.size for one in self.cells) // self.n_columns


def refuse_type(what: object) -> ParameterTypeError:
    """Return the error for cells that are no integers."""
    are_floats = "float" in str(what).lower() or "double" in str(what)
    hint = "; integral_floats=True takes whole numbers in floats" if are_floats else ""
    return ParameterTypeError(f"values must be integers, got {what}{hint}")


_NOT_WHOLE = (
    "values must be whole numbers, small enough that a float is no other integer rounded; "
    "one of them is not"
)


def from_floats(
    floats: NDArray[Any], nulls: NDArray[np.bool_] | None, *, allowed: bool
) -> NDArray[np.int64]:
    """Return floats as integers, which they must be; 0 where there is none.

    Raises
    ------
    ParameterTypeError
        If they are not `allowed`.
    ParameterValueError
        If one is no whole number, not finite, or so large that it may stand for several.
    """
    if not allowed:
        raise refuse_type(floats.dtype.name)
    largest = 2 ** min(np.finfo(floats.dtype).nmant + 1, 62)
    if nulls is not None:
        floats = np.where(nulls, floats.dtype.type(0), floats)
    with np.errstate(invalid="ignore"):  # NaN, which is refused
        right = (np.abs(floats) <= largest) & (np.trunc(floats) == floats)
    if not right.all():
        raise ParameterValueError(_NOT_WHOLE)
    return floats.astype(np.int64)


def from_objects(
    objects: Iterable[Any], *, floats: bool, is_null: Callable[[Any], bool] = lambda x: x is None
) -> tuple[Cells, Callable[[NDArray[Any]], list[Any]]]:
    """Return cells of Python objects, and what makes such objects of the results.

    Integers of any type become Python integers, Decimals stay Decimals; nulls stay as they were.
    """
    given = list(objects)
    nulls = np.fromiter(map(is_null, given), np.bool_, len(given))
    pairs = zip(given, nulls, strict=True)
    integers = np.fromiter([0 if null else _integer(x, floats) for x, null in pairs], object)

    def close(results: NDArray[Any]) -> list[Any]:
        return [
            x if null else Decimal(result) if isinstance(x, Decimal) else result
            for x, null, result in zip(given, nulls, results.tolist(), strict=True)
        ]

    return Cells(integers, nulls if nulls.any() else None, None), close


def from_decimals(decimals: Iterable[Any], digits: int) -> Cells:
    """Return cells of Decimals that are whole numbers; the results have at most so many digits."""
    most = 10**digits - 1
    return from_objects(decimals, floats=False)[0]._replace(range=(-most, most))


def is_integer(x: object) -> bool:
    """Return whether an object is one integer; neither a bool nor one of numpy's times."""
    return not isinstance(x, bool | np.timedelta64) and isinstance(x, Integral)


def _integer(x: Any, floats: bool) -> int:
    """Return a Python object as the integer that it is."""
    if is_integer(x):
        return int(x)
    if isinstance(x, Decimal):
        if x.is_finite() and abs(x.adjusted()) < 10_000 and x == x.to_integral_value():
            return int(x)
        raise ParameterValueError(_NOT_WHOLE)
    if isinstance(x, float | np.floating):
        return int(from_floats(np.atleast_1d(x), None, allowed=floats)[0])
    raise refuse_type(f"an object of type {type(x).__name__}")
