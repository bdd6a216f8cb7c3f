"""What all estimates are given, laws without a shift and how sure to be; and what they return."""

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
from ..laws import DiscreteGaussian, Law


def unshifted(law: object, name: str = "law") -> Any:
    """Return the law, which must be one with mu = 0: symmetric about 0, as added noise is."""
    if not isinstance(law, Law):
        raise ParameterTypeError(
            f"{name} must be the law of the noise, as DiscreteGaussian(5) is, got {describe(law)}"
        )
    if getattr(law, "mu", 0) != 0:
        raise refused(name, "have mu = 0", law.mu)
    return law


def gaussian_sigma2(law: object) -> Fraction:
    """Return sigma2 of a law, which must be a discrete Gaussian: sums of others have no bound."""
    if not isinstance(unshifted(law), DiscreteGaussian):
        raise ParameterTypeError(
            f"law must be a DiscreteGaussian for a total, got {type(law).__name__}"
        )
    return Fraction(law.sigma2)  # type: ignore[attr-defined]  # it is one


def miss(confidence: object, queries: object = 1) -> Fraction:
    """Return how likely one interval may miss so that all of them hold with the confidence."""
    return miss_of_each(checked_probability(confidence, "confidence"), query_count(queries))


def open_noisy_column(values: Any, name: str) -> Container:
    """Open noisy counts that are no frame."""
    if hasattr(type(values), "columns") or hasattr(type(values), "column_names"):
        raise ParameterTypeError(f"{name} must be an array or one column, not a frame or table")
    return open_container(values, floats=True, name=name)


def check_pairs(a: Any, b: Any, names: str) -> None:
    """Refuse containers whose labels differ: numbers are paired by place."""
    if isinstance(a, dict) and isinstance(b, dict):
        equal = list(a) == list(b)
    else:
        labels, others = getattr(a, "index", None), getattr(b, "index", None)
        equal = not hasattr(labels, "equals") or not hasattr(others, "equals")
        equal = equal or labels.equals(others)  # type: ignore[union-attr]  # series of pandas
    if not equal:
        raise ParameterValueError(f"{names} must have the same labels in the same order")


def integers_without_nulls(cells: Cells, name: str) -> NDArray[Any]:
    """Return what the cells hold, none of which may be null."""
    if cells.nulls is not None and np.any(cells.nulls):
        raise ParameterValueError(f"{name} must have no nulls")
    return cells.integers


class Estimate(NamedTuple):
    """A number, or a container of them, and how far off it may be.

    Attributes
    ----------
    error : Any
        The standard error.
    high : Any
        The truth lies between these two with the confidence asked for.
    """

    value: Any
    error: Any
    low: Any
    high: Any
