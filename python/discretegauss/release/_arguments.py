"""What a release is told in words and numbers, checked: by the caller, or by a plan's file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from .._inputs.foreign_arrays import single
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from .._inputs.paths import named_path
from ..errors import ParameterTypeError, ParameterValueError
from ._csv_rows import BLANKS


def column_names(column: object) -> tuple[str, ...]:
    """Return the names: of one column, or of several."""
    names = (
        (column,) if isinstance(column, str) or not isinstance(column, Sequence) else tuple(column)
    )
    for name in names:
        if not isinstance(name, str):
            raise ParameterTypeError(
                f"column must be a string, or several strings, got {type(name).__name__}"
            )
        if not name.strip(BLANKS):  # an unset variable of a shell, and an index without a name
            raise ParameterValueError(f"column must not be empty, got {describe(name)}")
    if not names:
        raise ParameterValueError("column must name at least one column, got none")
    if len(set(names)) < len(names):
        raise ParameterValueError(
            f"column must name each column once, got {describe(_twice(names))} twice"
        )
    return names


def _twice(names: Sequence[str]) -> str:
    return next(name for i, name in enumerate(names) if name in names[:i])


def file_path(value: object, name: str) -> Path:
    """Return the path of a file."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):  # bytes, of a path or alone
        raise ParameterTypeError(
            f"{name} must be a path, a str or os.PathLike of one, got {type(value).__name__}"
        )
    return named_path(text, name, "a file")


def sensitivity_of_counts(sensitivity: object) -> Fraction:
    """Return it, at least 1."""
    exact = exact_rational(sensitivity, "sensitivity")
    if exact < 1:
        raise ParameterValueError(
            "sensitivity must be at least 1, as counts change by whole numbers, "
            f"got {describe(single(sensitivity))}"
        )
    return exact
