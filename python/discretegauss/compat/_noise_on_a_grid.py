"""The draws of `NumpyNoise`: locations plus noise on the multiples of a granularity."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ldexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import Size, checked_size
from .._inputs.law_parameters import as_array, naming_places
from .._inputs.messages import refused
from .._inputs.numbers import exact_rational, not_negative
from .._inputs.source import Source
from ..errors import (
    DiscreteGaussError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
)
from ..laws import DiscreteGaussian, DiscreteLaplace, Law
from ..sampling import discrete_gaussian, discrete_laplace

OfSteps = Callable[[Fraction], Law]
"""Returns the law of the noise for a scale in steps of the granularity."""


class NoiseGrid(NamedTuple):
    """The multiples of a granularity, and the source of bits."""

    exponent: int  # the granularity is 2**exponent; from -500 to 500
    least: int  # the least scale except 0, in steps: 0, or 1 if the user gave no granularity
    source: Source


def gaussian(steps: Fraction) -> Law:
    """Return the law of `normal`."""
    return DiscreteGaussian(steps**2)


def laplace(steps: Fraction) -> Law:
    """Return the law of `laplace`."""
    return DiscreteLaplace(steps)


def noise(grid: NoiseGrid, of_steps: OfSteps, loc: object, scale: object, size: Size) -> Any:
    """Return loc plus granularity times draws; check all arguments before the first draw.

    `of_steps` is `gaussian` or `laplace`. The other arguments are as the user gave them: see
    `NumpyNoise.normal`.
    """
    exponent, least, source = grid
    sample: Any = None
    if type(scale) in PLAIN_NUMBERS and scale:
        sample = _cached_sample(of_steps, scale, exponent, least)
        if size is None and (centre := plain_loc_in_steps(loc, exponent)) is not None:
            return ldexp(sample(source=source) + centre, exponent)
    locs, scales = as_array(loc, "loc"), as_array(scale, "scale")
    shape = _common_shape(locs, scales, size)
    each = None if scales is None else scales_in_steps(scales, exponent, least=least)
    if scales is None and sample is None:
        steps = scale_in_steps(scale, exponent, least=least)
        sample = of_steps(steps).sample if steps else None
    centres: Any = loc_in_steps(loc, exponent) if locs is None else locs_in_steps(locs, exponent)
    ks: NDArray[np.int64]
    if each is not None:
        ks = np.where(each == 0, 0, _draws(of_steps, np.where(each == 0, 1, each), shape, source))
    elif sample is not None:
        ks = sample(shape, source=source)
    else:
        ks = np.zeros(shape, np.int64)
    values = np.asarray(np.ldexp((ks + centres).astype(np.float64), exponent))
    is_one = size is None and locs is None and scales is None
    return float(values) if is_one else values.reshape(shape)


@lru_cache(maxsize=256)
def _cached_sample(of_steps: OfSteps, scale: object, exponent: int, least: int) -> Any:
    """Return the `sample` for a scale of type `PLAIN_NUMBERS`, not 0; cached to convert it once."""
    return of_steps(scale_in_steps(scale, exponent, least=least)).sample


def _draws(
    of_steps: OfSteps, steps: NDArray[Any], shape: tuple[int, ...], source: Source
) -> NDArray[np.int64]:
    """Draw from the laws of an array of scales in steps."""
    if of_steps is gaussian:
        return discrete_gaussian(size=shape, sigma=steps, source=source)
    return discrete_laplace(steps, shape, source=source)


def _common_shape(
    locs: NDArray[Any] | None, scales: NDArray[Any] | None, size: Size
) -> tuple[int, ...]:
    """Return the shape of the result: size, to which loc and scale must broadcast, or theirs."""
    checked = checked_size(size)
    if locs is None and scales is None:  # the usual case
        return checked or ()
    shapes = [array.shape for array in (locs, scales) if array is not None]
    try:
        shape = np.broadcast_shapes(*shapes, () if checked is None else checked)
    except ValueError:
        shape = None
    if shape is None or checked not in (None, shape):
        # the message omits the lengths, because size may be counts
        raise ParameterValueError(
            "loc, scale and size must have shapes that broadcast to that of size"
        )
    return shape


# --- exact steps of a granularity

#: Number types whose comparisons and conversion to float follow their values.
PLAIN_NUMBERS = frozenset({int, float, np.int64, np.float64})

_LARGEST_SCALE = 2**45
"""In steps. Then a Laplace is beyond 2^52 steps with probability exp(-2^7), below 2^-184."""

_LARGEST_LOC = 2**52
"""In steps. Then loc plus noise stays below 2^53 steps, which float64 holds exactly."""

_EXACT_INTEGERS = 2**53
"""Up to this number float64 holds every integer."""

_NORMAL_FLOATS = 2.0**-500
"""From this number of steps on, no product with a granularity is a denormal float."""


def scale_in_steps(scale: object, exponent: int, *, least: int) -> Fraction:
    """Return a scale in steps of 2**exponent.

    It is 0, or from `least` to 2**45 steps.
    """
    steps = not_negative(scale, "scale") / Fraction(2) ** exponent
    if 0 < steps < least:
        raise refused(
            "scale",
            "be at least 1 without a granularity: NumpyNoise(granularity=...) takes the power of "
            "two of which your data are multiples, 1 for counts",
            scale,
        )
    if steps > _LARGEST_SCALE:
        raise refused(
            "scale", "be at most 2**45 times the granularity", scale, ParameterOverflowError
        )
    return steps


def scales_in_steps(scales: NDArray[Any], exponent: int, *, least: int) -> NDArray[Any]:
    """Return an array of scales in steps, as `scale_in_steps` does; in floats if exact."""
    floats = _as_floats(scales)
    if floats is not None:
        steps = _ldexp(floats, -exponent)
        with np.errstate(invalid="ignore"):
            right = (max(least, _NORMAL_FLOATS) <= steps) & (steps <= _LARGEST_SCALE)
        if (right | (floats == 0)).all():
            return steps

    def one(scale: object) -> Fraction:
        return scale_in_steps(scale, exponent, least=least)

    return naming_places(lambda: _each(one, scales), scales, "scale", one)


def plain_loc_in_steps(loc: Any, exponent: int) -> int | None:
    """Return the result of `loc_in_steps` quickly, or None if only `loc_in_steps` can decide."""
    kind = type(loc)
    if kind is int or kind is np.int64:
        whole = int(loc)
        if not exponent and -_LARGEST_LOC <= whole <= _LARGEST_LOC:
            return whole
        if not -_EXACT_INTEGERS <= whole <= _EXACT_INTEGERS:
            return None
    elif kind is not float and kind is not np.float64:
        return None
    try:
        steps = ldexp(loc, -exponent)
    except OverflowError:
        return None
    if not steps:
        return None if loc else 0
    return int(steps) if steps.is_integer() and abs(steps) <= _LARGEST_LOC else None


def loc_in_steps(loc: object, exponent: int) -> int:
    """Return a location in steps of 2**exponent. It may be data, so no message shows it.

    It must be a whole number of steps, at most 2**52.
    """
    try:
        centre = exact_rational(loc, "loc") / Fraction(2) ** exponent
    except DiscreteGaussError:
        raise ParameterTypeError(
            "loc must be a finite number, or an array of finite numbers"
        ) from None
    if centre.denominator != 1 or abs(centre) > _LARGEST_LOC:
        raise _no_multiple()
    return int(centre)


def locs_in_steps(locs: NDArray[Any], exponent: int) -> NDArray[np.int64]:
    """Return an array of locations in steps, as `loc_in_steps` does."""
    floats = _as_floats(locs)
    if floats is None:
        return _each(lambda loc: loc_in_steps(loc, exponent), locs).astype(np.int64)
    steps = _ldexp(floats, -exponent)
    with np.errstate(invalid="ignore"):
        right = (abs(steps) <= _LARGEST_LOC) & (np.trunc(steps) == steps)
    if not (right & ((steps == 0) == (floats == 0))).all():
        raise _no_multiple()
    return steps.astype(np.int64)


def _no_multiple() -> ParameterValueError:
    return ParameterValueError(
        "loc must be a whole multiple of the granularity, at most 2**52 times it"
    )


def _as_floats(numbers: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return floats, or integers that doubles hold, as doubles; None for other arrays."""
    if numbers.dtype.kind in "iu":
        if not ((numbers >= -_EXACT_INTEGERS) & (numbers <= _EXACT_INTEGERS)).all():
            return None
    elif numbers.dtype.kind != "f" or numbers.dtype.itemsize > 8:
        return None
    with np.errstate(invalid="ignore"):  # signalling NaNs, which the callers refuse
        return numbers.astype(np.float64)


def _ldexp(numbers: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):  # the callers check the results
        steps: NDArray[np.float64] = np.ldexp(numbers, exponent)
    return steps


def _each(one: Callable[[object], Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the results of `one` for each element, in an array of objects."""
    results = np.empty(numbers.size, object)
    results[:] = [one(x) for x in numbers.ravel().tolist()]
    return results.reshape(numbers.shape)
