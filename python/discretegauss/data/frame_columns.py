"""Which columns of a frame or table get noise."""

from __future__ import annotations

from collections.abc import Sequence

from .._inputs.messages import describe
from ..errors import ParameterTypeError, ParameterValueError

__all__ = ["places"]


def places(labels: Sequence[object], columns: object) -> list[int]:
    """Return the places of the columns that are named, in the frame's order; None names all.

    Raises
    ------
    ParameterTypeError
        If `columns` is neither a string nor a list.
    ParameterValueError
        If it names nothing, one column twice, one that is not there or one that is there twice.
    """
    if columns is None:
        if not labels:
            raise ParameterValueError("values must have a column")
        return list(range(len(labels)))
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, list):
        raise ParameterTypeError(
            f"columns must be a string or a list, got {type(columns).__name__}"
        )
    if not columns:
        raise ParameterValueError("columns must name at least one column, got an empty list")
    found = []
    for column in columns:
        at = [i for i, label in enumerate(labels) if label == column]
        if len(at) != 1 or at[0] in found:
            fault = "twice" if at else "not there"
            raise ParameterValueError(
                f"columns must name columns of values, each once, but {describe(column)} is {fault}"
            )
        found.append(at[0])
    return sorted(found)
