"""Checks of the parameters that functions about privacy share."""

from __future__ import annotations

from fractions import Fraction

from .._system.memory import require_memory
from ..errors import ParameterOverflowError
from .foreign_arrays import single
from .messages import describe, refused, written
from .numbers import MAX_BITS, exact_rational, not_negative, positive, whole_number

_LEAST_LENGTH, _LARGEST_LENGTH = Fraction(1, 2**1000), Fraction(2**1000)


def at_least_zero(value: object, name: str) -> Fraction:
    """Return the exact number, which must not be negative."""
    require_memory()
    return not_negative(value, name)


def positive_number(value: object, name: str) -> Fraction:
    """Return the exact number, which must be above 0."""
    require_memory()
    return positive(value, name)


def length_of_floats(value: object, name: str) -> Fraction:
    """Return an exact length for vectors of floats; as a float it must be neither 0 nor inf."""
    exact = positive_number(value, name)
    if not _LEAST_LENGTH <= exact <= _LARGEST_LENGTH:
        raise refused(name, "be from 2**-1000 to 2**1000", value, ParameterOverflowError)
    return exact


def checked_probability(value: object, name: str) -> Fraction:
    """Return the exact number, which must lie strictly between 0 and 1."""
    require_memory()
    exact = exact_rational(value, name)
    if not 0 < exact < 1:
        raise refused(name, "lie between 0 and 1, both excluded", value)
    return exact


def integer_sensitivity(value: object, name: str = "sensitivity") -> Fraction:
    """Return the exact sensitivity of integers: the most that one changes by, or a norm.

    A change of integers that is not 0 has a size and a norm of at least 1. With a smaller
    sensitivity the noise would protect nobody who changes anything.
    """
    require_memory()
    exact = exact_rational(value, name)
    if exact < 1:
        raise refused(name, "be at least 1, because counts change by whole numbers", value)
    return exact


def whole_sensitivity(value: object) -> int:
    """Return the sensitivity as an int, because integer counts change by whole numbers."""
    exact = integer_sensitivity(value)
    if exact.denominator != 1:
        raise refused("sensitivity", "be a whole number (the noise is added to integers)", value)
    return exact.numerator


def require_rows(rows_per_person: object, n_rows: int, sensitivity: object) -> None:
    """Refuse `rows_per_person` above the number of rows.

    Users who pass it probably mean that one person's records may fall in one row, which is
    `sensitivity`. The message may show the number of rows, because the result shows it too.
    """
    rows = whole_number(rows_per_person, "rows_per_person", minimum=1)
    if n_rows and rows > n_rows:  # a table without rows reveals nothing
        change = rows * exact_rational(sensitivity, "sensitivity")
        error = refused(
            "rows_per_person", f"be at most {n_rows}, the number of rows", rows_per_person
        )
        typed = describe(single(rows_per_person)) if change == rows else written(change)
        raise type(error)(
            f"{error}; did you mean sensitivity={typed}? One person's records may fall in one row"
        )


def word_count(value: object, name: str) -> int:
    """Return a count as an int from 1 to 2**64 - 1."""
    number = whole_number(value, name, minimum=1)
    if number.bit_length() > 64:
        raise refused(name, "be below 2**64", number, ParameterOverflowError)
    return number


def checked_sampling_rate(value: object) -> Fraction:
    """Return the probability with which a person takes part, in (0, 1]."""
    exact = positive_number(value, "sampling")
    if exact > 1:
        raise refused("sampling", "be at most 1", value)
    if 0 < 1 - exact < Fraction(1, 2**90):
        raise refused("sampling", "be 1, or at most 1 - 2**-90", value)
    return exact


def query_count(value: object) -> int:
    """Return the number of queries that one person may change."""
    count = whole_number(value, "queries", minimum=1)
    if count.bit_length() > MAX_BITS:
        raise refused("queries", f"have at most {MAX_BITS} bits", count, ParameterOverflowError)
    return count
