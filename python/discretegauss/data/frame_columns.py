"""The choice of the columns of a frame or table that get noise."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from .._inputs.messages import describe
from ..errors import ParameterTypeError, ParameterValueError
from .cells import Cells, Container

Column = tuple[Cells, Callable[[NDArray[Any]], Any]]
"""The cells of a column, and a function that makes a column of the same kind from results."""


def open_alone(column: Column, named: object = None) -> Container:
    """Open a single column or array, for which the user cannot name columns."""
    if named is not None:
        raise ParameterTypeError("columns needs a frame or table, got one column or array")
    cells, close = column
    return Container([cells], 1, lambda results: close(results[0]))


def open_frame(
    labels: Sequence[object],
    named: object,
    open_one: Callable[[int], Column],
    replaced: Callable[[dict[int, Any]], Any],
) -> Container:
    """Open the columns of a frame that get noise. The error about a column names it.

    `named` is the user's argument `columns`. `open_one` opens the column at a place, and `replaced`
    returns the frame with new columns at their places.
    """
    at = places(labels, named)
    cells, closes = [], []
    for i in at:
        try:
            one, close_one = open_one(i)
        except (ParameterTypeError, ParameterValueError) as error:
            hint = "; columns= names the columns of counts" if named is None else ""
            raise type(error)(f"{error} (column {describe(labels[i])}{hint})") from None
        cells.append(one._replace(label=labels[i]))
        closes.append(close_one)

    def close(results: list[NDArray[Any]]) -> Any:
        each = zip(at, closes, results, strict=True)
        return replaced({i: close_one(noisy) for i, close_one, noisy in each})

    return Container(cells, len(at), close)


def places(labels: Sequence[object], columns: object) -> list[int]:
    """Return the places of the named columns in the frame's order; None names all.

    `columns` is one label, or any iterable of labels.

    Refused are no column, a column twice, a missing one, and a label that two columns have.
    """
    if columns is None:
        if not labels:
            raise ParameterValueError("values must have a column")
        return list(range(len(labels)))
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        named: list[Any] = [columns]
    elif isinstance(columns, tuple) and columns in labels:  # a label with several levels, in pandas
        named = [columns]
    else:
        named = list(columns)
    if not named:
        raise ParameterValueError("columns must name at least one column, got none")
    at_label: dict[object, list[int]] = {}
    for i, label in enumerate(labels):
        at_label.setdefault(label, []).append(i)
    found = set[int]()
    for column in named:
        at = at_label.get(column, []) if isinstance(column, Hashable) else []
        if len(at) != 1 or at[0] in found:
            fault = "twice" if at else "not there"
            raise ParameterValueError(
                f"columns must name columns of values, each once, but {describe(column)} is {fault}"
            )
        found.add(at[0])
    return sorted(found)
