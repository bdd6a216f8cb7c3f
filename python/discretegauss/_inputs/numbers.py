"""Conversion of the user's numbers to exact rationals; every other input is refused.

Only this module converts numbers. A float means exactly the binary fraction that it holds.
"""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from .foreign_arrays import single
from .messages import MOST_DIGITS, describe, if_loaded, refused

#: A single number, for type checkers. gmpy2 has no type hints, so its numbers are Any.
Number = int | float | numbers.Rational | Decimal | str | np.integer[Any] | np.floating[Any]

#: The most bits of a numerator or denominator. GMP aborts the process if memory runs out, so its
#: operands must stay small. DG_MAX_PARAMETER_BITS of the C header is the same number.
MAX_BITS = 65536

#: A bound on decimal exponents, because Fraction("1e999999999") would run for ever.
_MAX_EXPONENT = 20000

#: The accepted texts. Decimal and Fraction accept more: underscores, digits of every script, "inf".
_TEXT = re.compile(
    r"\s*[+-]?(\d+/0*[1-9]\d*|(\d+(\.\d*)?|\.\d+)([eE][+-]?0*(?P<exponent>\d+))?)\s*", re.ASCII
)

_DECIMALS_EXPONENT = 18
"""An exponent with this many digits may be too long for Decimal."""

_ACCEPTED = (
    "int, float, Fraction, Decimal, a string such as '1/3' or '0.1', or a numpy or gmpy2 number"
)


def _too_long(value: object, name: str) -> ParameterOverflowError:
    return ParameterOverflowError(
        f"{name} must have a numerator and a denominator of at most {MAX_BITS} bits, "
        f"got {describe(value)}"
    )


def _not_a_number(value: object, name: str) -> ParameterValueError:
    return ParameterValueError(f"{name} must be a finite number, got {describe(value)}")


def _from_decimal(value: Decimal, name: str) -> Fraction:
    if not value.is_finite():
        raise _not_a_number(value, name)
    # The exponent tells the size of the fraction before 10**exponent is computed.
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and (
        abs(exponent) > _MAX_EXPONENT or value.adjusted() > _MAX_EXPONENT
    ):
        raise _too_long(value, name)
    return Fraction(value)


def _from_text(text: str, name: str) -> Fraction:
    if len(text) > MOST_DIGITS:
        raise ParameterOverflowError(
            f"{name} must have at most {MOST_DIGITS} characters as a string"
        )
    match = _TEXT.fullmatch(text)
    if match is None:
        raise refused(name, "be a number such as '1/3' or '0.1'", text)
    if "/" in text:
        # by Decimal, to which sys.set_int_max_str_digits does not apply
        numerator, denominator = (int(Decimal(part)) for part in text.split("/"))
        return Fraction(numerator, denominator)
    if len(match["exponent"] or "") >= _DECIMALS_EXPONENT:
        raise _too_long(text, name)
    return _from_decimal(Decimal(text), name)


def _from_mpfr(value: Any, name: str) -> Fraction:
    if not value.is_finite():
        raise _not_a_number(value, name)
    mantissa, exponent = value.as_mantissa_exp()
    exponent = int(exponent)
    if abs(exponent) > MAX_BITS:
        raise _too_long(value, name)
    return Fraction(int(mantissa)) * Fraction(2) ** exponent


def exact_rational(value: object, name: str) -> Fraction:
    """Return the exact rational that `value` holds.

    A float means exactly its binary value. A string is a decimal or a quotient of integers in the
    digits 0 to 9, without underscores; it may begin and end with blanks. A bool is no number. A
    number is refused if it is not finite, if its numerator or denominator is longer than
    `MAX_BITS`, or if a decimal exponent is beyond 20 000, even of 0.

    Examples
    --------
    >>> exact_rational("0.1", "sigma2"), exact_rational(0.5, "sigma2")
    (Fraction(1, 10), Fraction(1, 2))
    """
    if type(value) is float and math.isfinite(value):  # the usual case, which is never too long
        return Fraction(value)
    if type(value) not in (int, str, Fraction):
        value = single(value)
    if isinstance(value, bool | np.bool_):
        raise refused(name, "be a number, not a bool", value, ParameterTypeError)
    if isinstance(value, np.timedelta64):  # a subclass of numpy's integers
        raise ParameterTypeError(f"{name} must be a number, got {type(value).__name__}")
    if isinstance(value, numbers.Rational):  # int, Fraction, numpy integers, gmpy2 mpz and mpq
        # numpy's numerator and denominator are numpy integers
        num, den = int(value.numerator), int(value.denominator)
        if max(num.bit_length(), den.bit_length()) > MAX_BITS:  # the gcd might take minutes
            raise _too_long(value, name)
        exact = Fraction(num, den)
    elif isinstance(value, float | np.floating):
        if not np.isfinite(value):
            raise _not_a_number(value, name)
        exact = Fraction(*value.as_integer_ratio())
    elif isinstance(value, Decimal):
        exact = _from_decimal(value, name)
    elif isinstance(value, str):
        exact = _from_text(value, name)
    elif isinstance(value, if_loaded("gmpy2", "mpfr")):
        exact = _from_mpfr(value, name)
    else:
        raise ParameterTypeError(
            f"{name} must be a number ({_ACCEPTED}), got {type(value).__name__}"
        )
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MAX_BITS:
        raise _too_long(exact, name)
    return exact


def not_finite(value: object) -> float | None:
    """Return a NaN or infinity of any type as a float; None for any other object.

    Examples
    --------
    >>> not_finite(Decimal("-Infinity")), not_finite(2.5), not_finite("one")
    (-inf, None, None)
    """
    value = single(value)
    if isinstance(value, (float, np.floating, Decimal, if_loaded("gmpy2", "mpfr"))):
        # Comparing a signalling NaN raises an error if the caller's context traps it.
        if value.is_nan() if isinstance(value, Decimal) else value != value:
            return math.nan
        if value in (math.inf, -math.inf):
            return float(value)
    return None


def positive(value: object, name: str) -> Fraction:
    """Return the exact number, which must be above 0."""
    exact = exact_rational(value, name)
    if exact.numerator <= 0:
        raise refused(name, "be positive", value)
    return exact


def not_negative(value: object, name: str) -> Fraction:
    """Return the exact number, which must be at least 0."""
    exact = exact_rational(value, name)
    if exact.numerator < 0:
        raise refused(name, "not be negative", value)
    return exact


def whole_number(value: object, name: str, *, minimum: int) -> int:
    """Return `value` as an int. It must have an integer type and be at least `minimum`."""
    no_number = isinstance(value, bool | np.bool_ | np.timedelta64)  # subclasses of integers
    if no_number or not isinstance(value, numbers.Integral):
        raise refused(name, "be an integer", value, ParameterTypeError)
    number = int(value)  # before comparing, because a user's class may compare differently
    if number < minimum:
        raise refused(name, f"be at least {minimum}", number)
    return number


def checked_flag(value: object, name: str) -> bool:
    """Return `value`, which must be True or False."""
    if not isinstance(value, bool):
        raise refused(name, "be True or False", value, ParameterTypeError)
    return value
