"""Which columns of a frame or table get noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from .._inputs.messages import describe
from ..errors import ParameterTypeError, ParameterValueError

_Opened = TypeVar("_Opened")


def open_each(
    labels: Sequence[object], at: Sequence[int], open_one: Callable[[int], _Opened], named: object
) -> list[_Opened]:
    """Open the columns at these places; if one is refused, say which.

    `named`: what the caller has named by `columns`.
    """
    opened = []
    for i in at:
        try:
            opened.append(open_one(i))
        except (ParameterTypeError, ParameterValueError) as error:
            hint = "; columns= names the columns that get noise" if named is None else ""
            raise type(error)(f"{error} (column {describe(labels[i])}{hint})") from None
    return opened


def places(labels: Sequence[object], columns: object) -> list[int]:
    """Return the places of the columns that are named, in the frame's order; None names all.

    `columns` is one label, or several in whatever holds them.

    Raises
    ------
    ParameterValueError
        If it names nothing, one column twice, one that is not there or one that is there twice.
    """
    if columns is None:
        if not labels:
            raise ParameterValueError("values must have a column")
        return list(range(len(labels)))
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        named: list[Any] = [columns]
    elif isinstance(columns, tuple) and columns in labels:  # one of several levels, in pandas
        named = [columns]
    else:
        named = list(columns)
    if not named:
        raise ParameterValueError("columns must name at least one column, got none")
    found = []
    for column in named:
        at = [i for i, label in enumerate(labels) if label == column]
        if len(at) != 1 or at[0] in found:
            fault = "twice" if at else "not there"
            raise ParameterValueError(
                f"columns must name columns of values, each once, but {describe(column)} is {fault}"
            )
        found.append(at[0])
    return sorted(found)
