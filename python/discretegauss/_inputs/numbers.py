"""Turn what a user passes into an exact rational, or say what is wrong with it.

This is the only place that does so. A float means exactly the binary fraction that it holds.
"""

from __future__ import annotations

import math
import numbers
import re
import sys
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from .messages import printable

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "LEAST_FLOAT",
    "MAX_BITS",
    "Number",
    "are_rounded",
    "as_int64_ratios",
    "describe",
    "exact_rational",
    "if_loaded",
    "named_path",
    "not_finite",
    "not_negative",
    "positive",
    "printable",
    "single",
    "to_numpy_exactly",
    "whole_number",
    "written",
]

#: A single number, for type checkers; gmpy2's, which has no types of its own, are Any to them.
Number = int | float | numbers.Rational | Decimal | str | np.integer[Any] | np.floating[Any]

#: No numerator or denominator may be longer: the arithmetic below aborts the process when memory
#: runs out, so its operands stay small. DG_MAX_PARAMETER_BITS of the C header is the same number.
MAX_BITS = 65536

#: False, as all denormals are, while the processor takes them for 0: a library linked with -Ofast
#: has set it so (MXCSR.DAZ). Then only their bits tell what they are, and no arithmetic.
LEAST_FLOAT = math.nextafter(0.0, 1.0)

#: Python's own limit for decimal text; Fraction("1e999999999") would run for ever.
_MAX_TEXT = 4300
_MAX_EXPONENT = 20000

#: Decimal and Fraction would take more: underscores, digits of every script, "inf".
_TEXT = re.compile(
    r"\s*[+-]?(\d+/0*[1-9]\d*|(\d+(\.\d*)?|\.\d+)([eE][+-]?0*(?P<exponent>\d+))?)\s*", re.ASCII
)

_DECIMALS_EXPONENT = 18
"""Digits of an exponent that Decimal takes."""

_ACCEPTED = (
    "int, float, Fraction, Decimal, a string such as '1/3' or '0.1', or a numpy or gmpy2 number"
)


def describe(value: object) -> str:
    """Return `value` as an error message shows it: short, whatever it is.

    Numbers, texts and types are shown, and of all else its type alone: a column of counts that was
    passed in the wrong place is data.

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
    if not isinstance(value, numbers.Number | np.bool_ | str | bytes | type | None):
        return hidden
    try:
        text = repr(value)
    except Exception:  # Python's limit of 4300 digits, or somebody else's __repr__
        return hidden
    return text if len(text) <= 80 else text[:77] + "..."


def written(value: object) -> str:
    """Return a number as Python code that means it exactly, the shortest; of all else the repr.

    A fraction is an integer, a float or a text, whichever says just this number.

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
    return text if len(text) <= _MAX_TEXT else repr(value)


def _as_float(value: Fraction) -> str:
    """Return a float as text that is just this number; nothing if there is none.

    Nor for denormals, whose arithmetic may be off: see LEAST_FLOAT.
    """
    try:
        nearest = float(value)
    except OverflowError:
        return ""
    is_it = abs(nearest) >= sys.float_info.min and Fraction(nearest) == value
    return repr(nearest) if is_it else ""


def if_loaded(module: str, name: str) -> Any:
    """Return a type for isinstance: of a module that is not loaded nobody has an object.

    Examples
    --------
    >>> isinstance(1, if_loaded("fractions", "Fraction")), isinstance(1, if_loaded("no.such", "T"))
    (False, False)
    """
    return getattr(sys.modules.get(module), name, ())


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
    # The size of the fraction is known from the exponent, before 10**exponent is computed.
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and (
        abs(exponent) > _MAX_EXPONENT or value.adjusted() > _MAX_EXPONENT
    ):
        raise _too_long(value, name)
    return Fraction(value)


def _from_text(text: str, name: str) -> Fraction:
    if len(text) > _MAX_TEXT:
        raise ParameterOverflowError(f"{name} must have at most {_MAX_TEXT} characters as a string")
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ParameterValueError(
            f"{name} must be a number such as '1/3' or '0.1', got {describe(text)}"
        )
    if "/" in text:
        # by Decimal, whatever sys.set_int_max_str_digits says
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


def _from_float(value: Any) -> Fraction:
    if value or isinstance(value, np.float16 | np.longdouble):  # these two are as they should be
        return Fraction(*value.as_integer_ratio())
    bits, least = (32, 149) if isinstance(value, np.float32) else (64, 1074)
    word = int(np.asarray(value).view(f"i{bits // 8}"))  # 0 or denormal: see LEAST_FLOAT
    return Fraction(word if word >= 0 else -(word + 2 ** (bits - 1)), 2**least)


#: Beyond these a float may stand for several integers.
_EXACT_FLOATS = 2**53


def _is_float(dtype: object) -> bool:
    """Return whether a dtype, of numpy or another library, is one of floats."""
    kind = getattr(dtype, "kind", None)
    return kind == "f" if isinstance(kind, str) else "float" in str(dtype).lower()


def _objects(value: Any) -> NDArray[Any]:
    """Return an array of objects; pandas makes them from its columns only where asked like this."""
    if hasattr(value, "astype"):
        value = value.astype(object)
    objects: NDArray[Any] = np.asanyarray(value, dtype=object)
    return objects


def to_numpy_exactly(value: Any) -> NDArray[Any]:
    """Return what has ``__array__`` as an array of numpy, of objects if floats would round it.

    Of a table of integers and floats, or of integers of which some are missing, numpy would make
    floats. A mask stays, to be refused.
    """
    array: NDArray[Any] = np.asanyarray(value)
    dtypes = _dtypes(value)
    if array.dtype.kind != "f" or isinstance(value, np.ndarray) or dtypes is None:
        return array
    if all(map(_is_float, dtypes)):
        if all(isinstance(dtype, np.dtype) for dtype in dtypes) or not np.isnan(array).any():
            return array
        return _objects(value)  # NaN, or what is missing
    objects = _objects(value)
    if objects.ndim == 1 and any(isinstance(x, float) for x in objects.tolist()):
        objects[:] = list(value)  # rounded nevertheless
    return objects


def are_rounded(array: NDArray[Any], value: Any) -> bool:
    """Return whether elements of `array`, what `to_numpy_exactly` made of `value`, may be rounded.

    By libraries that make floats even where objects are asked for: of tables with columns of
    several types, and of integers of which some are missing.
    """
    if not array.ndim or isinstance(value, np.ndarray):
        return False
    dtypes = _dtypes(value)
    if dtypes is None:  # of what it holds nothing is known
        return array.dtype.kind == "f" and any(map(_may_be_several, array.ravel().tolist()))
    if array.dtype != object or array.ndim != 2:
        return False
    return any(
        any(map(_may_be_several, column.tolist()))
        for dtype, column in zip(dtypes, array.T, strict=False)
        if "int" in str(dtype).lower()
    )


def _dtypes(value: Any) -> list[Any] | None:
    """Return the dtypes of the columns of a table, or that of an array; None: it tells none."""
    told = getattr(value, "dtypes", None)  # first: a column of a table may be called "dtype"
    if told is None:
        told = getattr(value, "dtype", None)
    if told is None:
        return None
    return list(told) if isinstance(told, list | tuple) or hasattr(told, "__array__") else [told]


def _may_be_several(x: object) -> bool:
    return isinstance(x, float) and _EXACT_FLOATS <= abs(x) < math.inf


def single(value: Any) -> Any:
    """Return the element of an array of no axes, or of what numpy takes for one; else `value`."""
    if not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__array__"):
        array = to_numpy_exactly(value)
        return value if array.ndim else array[()]
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def exact_rational(value: object, name: str) -> Fraction:
    """Return the exact rational that `value` holds.

    Parameters
    ----------
    value : int, float, Fraction, Decimal, str, numpy or gmpy2 number
        A float means exactly its binary value; a string is decimal or a quotient of integers, in
        the digits 0 to 9, without underscores. Blanks around it do not matter.
    name : str
        What errors call it.

    Raises
    ------
    ParameterTypeError
        If `value` is no number: None, bool, bytes, complex, a container.
    ParameterValueError
        If it is not finite, or a string that is no number.
    ParameterOverflowError
        If its numerator or denominator is longer than `MAX_BITS`, or a decimal exponent beyond
        20 000, whatever it multiplies.

    Examples
    --------
    >>> exact_rational("0.1", "sigma2"), exact_rational(0.5, "sigma2")
    (Fraction(1, 10), Fraction(1, 2))
    """
    if type(value) is float and math.isfinite(value):  # most often; never too long
        return Fraction(value) if value else _from_float(value)
    value = single(value)
    if isinstance(value, bool | np.bool_):
        raise ParameterTypeError(f"{name} must be a number, not a bool, got {describe(value)}")
    if isinstance(value, np.timedelta64):  # numpy counts it among its integers
        raise ParameterTypeError(f"{name} must be a number, got {type(value).__name__}")
    if isinstance(value, numbers.Rational):  # int, Fraction, numpy integers, gmpy2 mpz and mpq
        # numpy spells numerator and denominator as Python does, but keeps its own types
        num, den = int(value.numerator), int(value.denominator)
        if max(num.bit_length(), den.bit_length()) > MAX_BITS:  # their gcd might take minutes
            raise _too_long(value, name)
        exact = Fraction(num, den)
    elif isinstance(value, float | np.floating):
        if not np.isfinite(value):
            raise _not_a_number(value, name)
        exact = _from_float(value)
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
    """Return the NaN or infinity that a number of any type is, as a float; None for all else.

    Examples
    --------
    >>> not_finite(Decimal("-Infinity")), not_finite(2.5), not_finite("one")
    (-inf, None, None)
    """
    value = single(value)
    if isinstance(value, (float, np.floating, Decimal, if_loaded("gmpy2", "mpfr"))):
        # Comparing a signalling NaN raises what the caller's context traps.
        if value.is_nan() if isinstance(value, Decimal) else value != value:
            return math.nan
        if value in (math.inf, -math.inf):
            return float(value)
    return None


def as_int64_ratios(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the exact rationals that integers or floats hold, as far as 64-bit words hold them.

    Parameters
    ----------
    values : ndarray
        One axis; integers of any width, or floats of at most 64 bits.

    Returns
    -------
    numbers : ndarray
        A row for each: numerator and denominator, in lowest terms.
    small : ndarray of bool
        Whether the row is right. Elsewhere (not finite, or too long) it means nothing.

    Examples
    --------
    >>> as_int64_ratios(np.array([0.75, -6.0, 1e300]))[0][:2].tolist()
    [[3, 4], [-6, 1]]
    """
    numbers = np.ones((values.size, 2), np.int64)
    if values.dtype.kind in "iu":
        numbers[:, 0] = values
        return numbers, values <= np.iinfo(np.int64).max
    with np.errstate(invalid="ignore"):  # of a NaN that signals, which is refused by name
        floats = values.astype(np.float64)  # exact
    small = np.isfinite(floats)
    mantissas, exponents = np.frexp(np.where(small, floats, 0))
    odd = np.ldexp(mantissas, 53).astype(np.int64)  # floats = odd 2**(exponents - 53), exactly
    zeros = np.frexp((odd & -odd).astype(np.float64))[1] - 1  # trailing ones; -1 for 0
    odd >>= np.maximum(zeros, 0)
    shift = np.where(odd == 0, 0, exponents - 53 + zeros)
    lengths = np.frexp(np.abs(odd).astype(np.float64))[1]
    small &= (shift >= -62) & (shift + lengths <= 62)
    numbers[:, 0] = odd << np.where(small, np.maximum(shift, 0), 0)
    numbers[:, 1] <<= np.where(small, np.maximum(-shift, 0), 0)
    return numbers, small


def positive(value: object, name: str) -> Fraction:
    """Return the exact number, which must be above 0."""
    exact = exact_rational(value, name)
    if exact.numerator <= 0:
        raise ParameterValueError(f"{name} must be positive, got {describe(single(value))}")
    return exact


def not_negative(value: object, name: str) -> Fraction:
    """Return the exact number, which must be at least 0."""
    exact = exact_rational(value, name)
    if exact.numerator < 0:
        raise ParameterValueError(f"{name} must not be negative, got {describe(single(value))}")
    return exact


def named_path(text: str, name: str, what: str) -> Path:
    """Return the path of `what` ("a file"), which must have a name."""
    if not text or "\0" in text:
        raise ParameterValueError(f"{name} must name {what}, got {describe(text)}")
    from pathlib import Path

    return Path(text)


def whole_number(value: object, name: str, *, least: int) -> int:
    """Return `value` as an int; it must be a whole number of an integer type, at least `least`."""
    no_number = isinstance(value, bool | np.bool_ | np.timedelta64)  # numpy's times are integers
    if no_number or not isinstance(value, numbers.Integral):
        raise ParameterTypeError(f"{name} must be an integer, got {describe(value)}")
    number = int(value)  # once: a class of its own may compare as it likes
    if number < least:
        raise ParameterValueError(f"{name} must be at least {least}, got {describe(number)}")
    return number
