"""Values as text, for error messages, reprs and terminals."""

from __future__ import annotations

import numbers
import sys
from fractions import Fraction
from typing import Any

from ..errors import DiscreteGaussError, ParameterValueError

#: Python's own limit for decimal text.
MOST_DIGITS = 4300


def describe(value: object) -> str:
    """Return a short text for `value` in an error message.

    It shows numbers, texts and types. Of any other object it shows only the type, because a column
    of counts in the wrong place is data.

    Examples
    --------
    >>> describe(-0.1), describe(Fraction(-0.1)), describe("1,5"), describe([1204, 87])
    ('-0.1', '-0.1', "'1,5'", 'an object of type list')
    """
    if isinstance(value, Fraction):
        value_bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if value_bits > 256:
            return _as_float(value) or f"a fraction of {value_bits} bits"
        return written(value)
    if isinstance(value, int):
        return (
            repr(value) if value.bit_length() <= 256 else f"an integer of {value.bit_length()} bits"
        )
    hidden = f"an object of type {type(value).__name__}"
    shown = (numbers.Number, str, bytes, type, type(None), if_loaded("numpy", "bool_"))
    if not isinstance(value, shown):
        return hidden
    try:
        text = repr(value)
    except Exception:  # Python's limit of 4300 digits, or another library's __repr__
        return hidden
    return text if len(text) <= 80 else text[:77] + "..."


def refused(
    name: str, rule: str, value: object, error: type[DiscreteGaussError] = ParameterValueError
) -> DiscreteGaussError:
    """Return the error for a value that breaks the rule of a parameter.

    Examples
    --------
    >>> refused("sigma2", "be positive", -0.1)
    ParameterValueError('sigma2 must be positive, got -0.1')
    """
    from .foreign_arrays import single  # here, because the command's help should not import numpy

    return error(f"{name} must {rule}, got {describe(single(value))}")


def if_loaded(module: str, name: str) -> Any:
    """Return a type for isinstance, or () if its module is not loaded: then no object has it.

    Examples
    --------
    >>> isinstance(1, if_loaded("fractions", "Fraction")), isinstance(1, if_loaded("no.such", "T"))
    (False, False)
    """
    return getattr(sys.modules.get(module), name, ())


def written(value: object) -> str:
    """Return the shortest Python code that means a number exactly; the repr of any other object.

    The code of a fraction is an integer, a float or a string.

    Examples
    --------
    >>> written(Fraction(5)), written(Fraction(1, 10)), written(Fraction(0.1))
    ('5', "'1/10'", '0.1')
    """
    if not isinstance(value, Fraction):
        return repr(value)
    try:
        if value.denominator == 1:
            return repr(value.numerator)
        text = _as_float(value) or repr(f"{value.numerator}/{value.denominator}")
    except ValueError:  # more digits than Python writes
        return _as_float(value) or describe(value)
    return text if len(text) <= MOST_DIGITS else repr(value)


def _as_float(value: Fraction) -> str:
    """Return the repr of the float that equals the value; "" if there is none."""
    try:
        nearest = float(value)
    except OverflowError:
        return ""
    return repr(nearest) if Fraction(nearest) == value else ""


def printable(text: str) -> str:
    r"""Return a foreign text, such as the name of a file, in a form that is safe on a terminal.

    Line breaks, escape characters and marks that change the direction of text are escaped.

    Examples
    --------
    >>> print(printable("n\n\x1b[2J.csv"))
    n\n\x1b[2J.csv
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def number_of(n: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> number_of(1, "row"), number_of(5268, "row")
    ('1 row', '5,268 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
