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
from .._inputs.law_parameters import as_array
from .._inputs.source import Source
from ..errors import ParameterValueError
from ..laws import DiscreteGaussian, DiscreteLaplace, Law
from ..sampling import discrete_gaussian, discrete_laplace
from ._in_steps import (
    PLAIN_NUMBERS,
    loc_in_steps,
    locs_in_steps,
    plain_loc_in_steps,
    scale_in_steps,
    scales_in_steps,
)

OfSteps = Callable[[Fraction], Law]
"""Returns the law of the noise for a scale in steps of the granularity."""


class NoiseGrid(NamedTuple):
    """The multiples of a granularity, and the source of bits.

    Parameters
    ----------
    exponent : int
        The granularity is 2**exponent; from -500 to 500.
    least : int
        The least scale except 0, in steps: 0, or 1 if the user gave no granularity.
    source : "getrandom", "chacha20" or callable
        The checked source of bits.
    """

    exponent: int
    least: int
    source: Source


def gaussian(steps: Fraction) -> Law:
    """Return the law of `normal`."""
    return DiscreteGaussian(steps**2)


def laplace(steps: Fraction) -> Law:
    """Return the law of `laplace`."""
    return DiscreteLaplace(steps)


def noise(grid: NoiseGrid, of_steps: OfSteps, loc: object, scale: object, size: Size) -> Any:
    """Return loc plus granularity times draws; check all arguments before the first draw.

    Parameters
    ----------
    grid : NoiseGrid
        The grid of the generator.
    of_steps : callable
        `gaussian` or `laplace`.
    loc, scale, size : object
        As the user gave them: see `NumpyNoise.normal`.
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
