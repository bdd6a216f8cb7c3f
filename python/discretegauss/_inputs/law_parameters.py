"""Checks of the parameters of laws, single numbers or arrays, as the user gives them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial
from operator import le, lt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._law import KINDS, Kind, LawSpec
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from .draw_arguments import MOST_AXES
from .foreign_arrays import are_rounded, single, to_numpy_exactly
from .messages import describe, if_loaded, refused
from .numbers import MAX_BITS, exact_rational, not_negative, positive
from .parameter_arrays import ParameterColumn, indexed

_T = TypeVar("_T")

_VARIANCES_BELOW = 2**1024
"""The bound on the variance of Skellam laws."""


def parameter_name(kind: Kind) -> str:
    """Return the user's name for the main parameter of laws of a kind."""
    return KINDS[kind].parameter


def _checked_parameter(kind: Kind, value: object) -> Fraction:
    facts = KINDS[kind]
    name = facts.parameter
    if kind is Kind.BERNOULLI:
        exact = exact_rational(value, name)
        if not 0 <= exact <= 1:
            raise refused(name, "be between 0 and 1", value)
        return exact
    exact = (not_negative if facts.may_be_zero else positive)(value, name)
    if kind is Kind.UNIFORM_BELOW and exact.denominator != 1:
        raise refused(name, "be a whole number", value)
    if kind is Kind.SKELLAM and exact >= _VARIANCES_BELOW:
        raise refused(name, "be below 2**1024", exact, ParameterOverflowError)
    return exact


def checked_beta(value: object) -> Fraction:
    """Return the exact exponent of a law or of a norm, which must be at least 1."""
    exact = exact_rational(value, "beta")
    if exact < 1:
        raise refused("beta", "be at least 1", value)
    return exact


def exact_spec(kind: Kind, parameter: object, mu: object, beta: object = 1) -> LawSpec:
    """Check each parameter and return the exact specification of the law."""
    exact = _checked_parameter(kind, parameter)
    exact_beta = checked_beta(beta)
    return LawSpec(kind, exact, exact_rational(mu, "mu"), exact_beta)


#: Types that are safe as cache keys: values never change, and equal ones mean the same number.
NUMBERS = frozenset({int, float, Fraction, str}) | {
    np.dtype(code).type for code in np.typecodes["AllInteger"] + "efd"
}

_PLACES = {"mu": 1, "beta": 2}


def columns_of(law: Any, parameters: Sequence[object]) -> list[ParameterColumn] | None:
    """Return columns of the main parameter, mu and beta, each checked; None if all are numbers.

    The ``__match_args__`` of the law's class name the elements of `parameters`.
    """
    kind = law._kind
    mu, beta = _column_of_one(kind, 0, "mu"), _column_of_one(kind, 1, "beta")
    columns = [mu, mu, beta]
    are_single = True
    for name, value in zip(law.__match_args__, parameters, strict=True):
        place = _PLACES.get(name, 0)
        if type(value) in NUMBERS:
            columns[place] = _column_of_one(kind, value, name)
            continue
        if type(value) is ParameterColumn:  # of `sigma2_of`, which has checked it
            columns[place], are_single = value, False
            continue
        array: Any = value
        if type(value) is not np.ndarray or not value.ndim or value.dtype.kind not in "iuf":
            array = as_array(value, name)
            are_single = are_single and array is None
        else:
            are_single = False
        columns[place] = _column(
            kind, np.array(single(value), object) if array is None else array, name
        )
    return None if are_single else columns


def _column(kind: Kind, array: NDArray[Any], name: str) -> ParameterColumn:
    exact, obeys = _rule(kind, name)
    read = partial(ParameterColumn.read, array, exact, obeys, each=kind in _OBEYING)
    return naming_places(read, array, name, exact)


@lru_cache(maxsize=256, typed=True)
def _column_of_one(kind: Kind, value: object, name: str) -> ParameterColumn:
    return ParameterColumn.of_fractions((), [_rule(kind, name)[0](value)])


def _rule(kind: Kind, name: str) -> tuple[Callable[[object], Fraction], Callable[[Any], Any]]:
    """Return a parameter's check, which also makes it exact, and a test of its rule for floats."""
    if name == "mu":
        return lambda value: exact_rational(value, "mu"), lambda x: x > -math.inf
    if name == "beta":
        return checked_beta, lambda x: x >= 1
    least = _AT_LEAST_0 if KINDS[kind].may_be_zero else _ABOVE_0
    return partial(_checked_parameter, kind), _OBEYING.get(kind) or least


_ABOVE_0: Callable[[Any], Any] = partial(lt, 0)
_AT_LEAST_0: Callable[[Any], Any] = partial(le, 0)

#: The kinds whose parameter has a rule beyond its sign.
_OBEYING: dict[Kind, Callable[[Any], Any]] = {
    Kind.BERNOULLI: lambda x: (x >= 0) & (x <= 1),
    Kind.UNIFORM_BELOW: lambda x: (x > 0) & (x % 1 == 0),
}


def naming_places(
    call: Callable[[], _T], array: NDArray[Any], name: str, check: Callable[[object], object]
) -> _T:
    """Return the result of `call`, which checks the elements of an array.

    Elements may be data, so an error about one names its place and not its value. To find that
    place, `check` must raise the same error for the same element.
    """
    try:
        return call()
    except (ParameterTypeError, ParameterValueError, ParameterOverflowError) as error:
        if not array.ndim:
            raise
        kind, rule = type(error), str(error).partition(", got ")[0]
    for place, element in enumerate(array.ravel().tolist()):
        try:
            check(element)
        except kind:
            raise kind(f"{rule}, but {name}{indexed(place, array.shape)} breaks it") from None
    raise kind(rule)  # no cover: `check` has raised above


def sigma2_of(sigma2: object, sigma: object, *, arrays: bool) -> Any:
    """Return sigma2 unchanged, or the exact square of sigma; exactly one of them is not None.

    If `arrays` is true, sigma may be an array; its squares are a column, or an array of objects.
    """
    if (sigma2 is None) is (sigma is None):
        count = "neither" if sigma is None else "both"
        raise ParameterTypeError(f"one of sigma2 and sigma must be given, got {count}")
    if sigma is None:
        return sigma2
    array = as_array(sigma, "sigma") if arrays else None
    if array is None:
        return _square(sigma)

    def squares() -> ParameterColumn | NDArray[Any]:
        column = ParameterColumn.read(array, lambda value: positive(value, "sigma"), _ABOVE_0)
        of_floats = column.squared()
        if of_floats is not None:
            return of_floats
        expanded = [_square(column.exact(i)) for i in range(len(column))]
        return column.expanded(np.fromiter(expanded, object)).reshape(column.shape)

    return naming_places(squares, array, "sigma", _square)


def _square(sigma: object) -> Fraction:
    exact = positive(sigma, "sigma")
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MAX_BITS // 2:
        raise ParameterOverflowError(
            f"sigma must have a numerator and a denominator of at most {MAX_BITS // 2} bits, "
            f"because its square is the parameter, got {describe(sigma)}"
        )
    return exact * exact


def as_array(value: object, name: str) -> NDArray[Any] | None:
    """Return `value` as an array if it is any kind of array, or None if it is a single number.

    Lists become arrays of objects, because numpy would change the values of mixed lists to floats
    or strings.
    """
    if isinstance(value, if_loaded("numpy.ma", "MaskedArray")) and np.ma.is_masked(value):
        raise ParameterValueError(f"{name} must not have masked elements")
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "mMV":  # times and records, whose elements would pass for integers
            raise ParameterTypeError(f"{name} must hold numbers, got dtype {value.dtype}")
        return np.asarray(value) if value.ndim else None
    if isinstance(value, list | tuple):
        items = _items(value, name)
        try:
            return np.array(items, dtype=object)
        except ValueError:
            raise ParameterValueError("arrays of parameters must not be ragged") from None
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        array = to_numpy_exactly(value)
        if are_rounded(array, value):
            raise ParameterTypeError(
                f"{name} must hold exact numbers, but integers beyond 2**53 may have become "
                "floats: pass columns one by one, or numpy arrays"
            )
        return as_array(array, name)
    if _may_hold_several(type(value)):  # a range or a buffer, which numpy would read as an array
        exact_rational(value, name)
    return None


def _items(values: Sequence[object], name: str) -> Sequence[object]:
    """Return the items of a list; convert arrays among them by `as_array`.

    numpy would ignore masks, read times as integers, and make floats of tables.
    """
    if not any(map(_may_hold_several, set(map(type, values)))):
        return values
    return [
        _items(item, name) if isinstance(item, list | tuple) else _item(item, name)
        for item in values
    ]


def _item(value: object, name: str) -> object:
    array = as_array(value, name)
    return single(value) if array is None else array


def _may_hold_several(kind: type) -> bool:
    return not issubclass(kind, str | bytes | np.generic) and (
        hasattr(kind, "__array__") or hasattr(kind, "__len__")
    )


def parameter_shape(
    shape: tuple[int, ...] | None, shapes: Sequence[tuple[int, ...]]
) -> tuple[int, ...]:
    """Return the shape of the result, to which the parameters broadcast: `shape` unless None."""
    axes = max(len(shape or ()), *map(len, shapes))
    if axes > MOST_AXES:
        raise ParameterValueError(
            f"arrays of parameters and out must have at most {MOST_AXES} axes, got {axes}"
        )
    try:
        own = np.broadcast_shapes(*shapes)
    except ValueError:
        several = " and ".join(str(s) for s in shapes if s)
        raise ParameterValueError(
            f"arrays of parameters must broadcast to one shape, got the shapes {several}"
        ) from None
    if shape is None:
        return own
    with suppress(ValueError):
        if np.broadcast_shapes(own, shape) == shape:
            return shape
    # the message omits the lengths, which may be counts that were passed as size
    raise ParameterValueError(
        f"size (or the shape of out) must be one that the parameters broadcast to: {own}, or "
        f"{(9, *own)} for nine draws of each; got another, of {len(shape)} "
        f"{'axis' if len(shape) == 1 else 'axes'}"
    )
