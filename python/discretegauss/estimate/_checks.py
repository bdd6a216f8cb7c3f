"""Checks of the arguments that all estimates share, and the type of their results."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._certified.probability import miss_of_each
from .._inputs.messages import describe, refused
from .._inputs.privacy_arguments import checked_probability, query_count
from ..data.cells import Cells, Container
from ..data.entry import open_container
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import Law


def unshifted(law: object, name: str = "law") -> Any:
    """Return the law, which must have mu = 0, so that the noise is symmetric about 0."""
    if not isinstance(law, Law):
        raise ParameterTypeError(
            f"{name} must be the law of the noise, such as DiscreteGaussian(5), got {describe(law)}"
        )
    if getattr(law, "mu", 0) != 0:
        raise refused(name, "have mu = 0", law.mu)
    return law


def miss(confidence: object, queries: object = 1) -> Fraction:
    """Return the probability with which each interval may miss so that all hold as required."""
    return miss_of_each(checked_probability(confidence, "confidence"), query_count(queries))


def refuse_estimate(values: object, name: str) -> None:
    """Refuse an estimate, which is made of draws that other counts may share."""
    if isinstance(values, Estimate):
        raise ParameterTypeError(
            f"{name} must be noisy counts, each with its own draw, not an Estimate made of them"
        )


def open_noisy_column(values: Any, name: str) -> Container:
    """Open noisy counts, which must not be a frame or an estimate."""
    refuse_estimate(values, name)
    if hasattr(type(values), "columns") or hasattr(type(values), "column_names"):
        raise ParameterTypeError(f"{name} must be an array or one column, not a frame or table")
    return open_container(values, floats=True, name=name)


def check_pairs(a: Any, b: Any, names: str) -> None:
    """Refuse containers whose labels differ, because numbers are paired by place."""
    if isinstance(a, dict) and isinstance(b, dict):
        equal = list(a) == list(b)
    else:
        labels, others = getattr(a, "index", None), getattr(b, "index", None)
        equal = not hasattr(labels, "equals") or not hasattr(others, "equals")
        equal = equal or labels.equals(others)  # type: ignore[union-attr]  # series of pandas
    if not equal:
        raise ParameterValueError(f"{names} must have the same labels in the same order")


def integers_without_nulls(cells: Cells, name: str) -> NDArray[Any]:
    """Return the integers of the cells, none of which may be null."""
    if cells.nulls is not None and np.any(cells.nulls):
        raise ParameterValueError(f"{name} must have no nulls")
    return cells.integers


class Estimate(NamedTuple):
    """An estimate of a number, or of each in a container, with its error and interval.

    Attributes
    ----------
    error : Any
        The standard error.
    high : Any
        The truth lies between `low` and `high` with the requested confidence.
    """

    value: Any
    error: Any
    low: Any
    high: Any
