"""Real numbers on a lattice of integers: rounding that lengthens nothing, and proven clipping.

Noise on floats breaks differential privacy (Mironov, CCS 2012). So real vectors first become
integers, which count steps of a lattice. Then integer noise is added, and the published result is
the sum times the step. The sensitivity is a number of steps, too.

>>> import discretegauss as dg
>>> from discretegauss import lattice
>>> gradients = [[0.3, -1.25, 7.0], [0.01, 0.02, 0.0]]
>>> z = lattice.clip(gradients, norm=1, steps=64)     # no vector longer than 64 steps
>>> total = z.sum(axis=0)
>>> noisy = dg.add_noise(total, dg.DiscreteGaussian(sigma=64 * 5)) / 64
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import gmpy2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._certified.interval import arithmetic
from ._inputs.foreign_arrays import finite_array
from ._inputs.law_parameters import checked_beta
from ._inputs.messages import refused
from ._inputs.numbers import whole_number
from ._inputs.privacy_arguments import length_of_floats, positive_number
from .data import add_noise
from .errors import ParameterOverflowError, ParameterValueError
from .laws import Law

__all__ = ["clip", "noisy", "to_lattice"]
__dir__ = __all__.copy  # dir() and completion show these names alone

Rounding = Literal["toward_zero", "nearest"]

_INT64_END = 2.0**63

#: The longest table of powers.
_MOST_STEPS = 2**16

#: A factor that rounding made too large becomes smaller by this part, as often as necessary.
_LESS = 2.0**-30


def to_lattice(
    values: ArrayLike, step: object, *, rounding: Rounding = "toward_zero"
) -> NDArray[Any]:
    """Return exact quotients of values and a step, rounded to integers.

    Parameters
    ----------
    values : array_like of float or int
        Finite; a float means exactly its binary value.
    step : number
        The distance of neighbouring lattice points, positive. A power of two is fastest.
    rounding : {"toward_zero", "nearest"}, optional
        Rounding toward zero lengthens no vector in any norm. Rounding to the nearest, ties to even,
        has smaller errors, but may lengthen each coordinate by up to half a step.

    Returns
    -------
    ndarray
        Of the same shape: int64, or Python integers if one of them does not fit.

    Examples
    --------
    >>> to_lattice([0.3, -0.3, 2.5], 0.125)
    array([ 2, -2, 20])
    """
    array = finite_array(values, "values")
    exact = positive_number(step, "step")
    if rounding not in ("toward_zero", "nearest"):
        raise refused("rounding", "be 'toward_zero' or 'nearest'", rounding)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if array.dtype.kind == "f" and exact == Fraction(2) ** exponent:
        with np.errstate(over="ignore", under="ignore"):
            # exact, unless a quotient underflows or overflows
            quotients = np.ldexp(array.astype(np.float64), -exponent)
        if not array.size or float(np.abs(quotients).max()) < _INT64_END:
            whole = np.trunc(quotients) if rounding == "toward_zero" else np.rint(quotients)
            return whole.astype(np.int64)
    convert: Callable[[Fraction], int] = int if rounding == "toward_zero" else round
    integers = [convert(Fraction(x) / exact) for x in array.ravel().tolist()]
    fits = all(-(2**63) <= n < 2**63 for n in integers)
    return np.array(integers, np.int64 if fits else object).reshape(array.shape)


@lru_cache(maxsize=32)
def _lengths(beta: Fraction, steps: int, count: int) -> tuple[NDArray[np.int64], int]:
    """Return n**beta for n = 0..steps, rounded up, and steps**beta, rounded down, in one unit.

    The unit makes sums of ``count`` of them exact in int64.
    """
    at = arithmetic(128)
    largest = at.power(at.rational(steps), beta).upper
    unit_bits = -1
    if gmpy2.is_finite(largest):
        unit_bits = 62 - count.bit_length() - int(gmpy2.get_exp(largest))
    if beta.denominator == 1 and unit_bits >= 0:
        unit_bits = 0  # whole numbers as they are
    elif unit_bits < 16:
        raise ParameterOverflowError(
            f"steps**beta must be smaller: the sum of {count} such powers does not fit in 64 bits"
        )
    unit = Fraction(2) ** unit_bits
    powers = [at.scale(at.power(at.rational(n), beta), unit) for n in range(1, steps + 1)]
    table = [0, *(int(-(-gmpy2.mpq(power.upper) // 1)) for power in powers)]
    return np.array(table, np.int64), int(gmpy2.mpq(powers[-1].lower) // 1)


def clip(vectors: ArrayLike, *, norm: object, steps: object, beta: object = 2) -> NDArray[np.int64]:
    """Return vectors on a lattice, shortened if they are too long; the norm is proven.

    Parameters
    ----------
    vectors : array_like of float, shape (..., d)
        Finite; one vector along the last axis.
    norm : number
        The largest norm, from 2**-1000 to 2**1000: the sum of abs(x)**beta, to the power 1/beta.
    steps : int
        The norm in steps, at most 65 536. One step is norm/steps.
    beta : number, optional
        The exponent of the norm, at least 1.

    Returns
    -------
    ndarray of int64, shape (..., d)
        Vectors in steps, rounded toward zero, with sum(abs(z)**beta) <= steps**beta. Integers prove
        that for each, so the rounding of floats does not matter.

    Notes
    -----
    If one person's vector is added or left out, the sum of all vectors changes by at most ``steps``
    in that norm. Add the integers first, and then the noise.

    Examples
    --------
    >>> clip([[3.0, 4.0], [0.1, 0.0]], norm=1, steps=100)
    array([[60, 80],
           [10,  0]])
    """
    array = finite_array(vectors, "vectors").astype(np.float64)
    if array.ndim == 0:
        raise ParameterValueError("vectors must have at least one axis, got a single number")
    length = length_of_floats(norm, "norm")
    count = whole_number(steps, "steps", minimum=1)
    if count > _MOST_STEPS:
        raise refused("steps", f"be at most {_MOST_STEPS}", count)
    exponent = checked_beta(beta)
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    table, most = _lengths(exponent, count, array.shape[-1])
    rows = array.reshape(-1, array.shape[-1])
    with np.errstate(over="ignore", under="ignore"):  # a length that overflows is too long
        unit_rows, norms = _directions(rows, float(exponent))
        in_steps = np.minimum(norms * float(count / length), float(count))[:, np.newaxis]
    found = np.trunc(unit_rows * in_steps).astype(np.int64)
    less = _LESS
    while True:  # each pass shortens the vectors that are too long, in the end to 0
        size = np.abs(found)
        lengths = table[np.minimum(size, count)].sum(axis=1)
        wrong = (size.max(axis=1) > count) | (lengths > most)
        if not wrong.any():
            return found.reshape(array.shape)
        in_steps[wrong] *= 1 - less
        found[wrong] = np.trunc(unit_rows[wrong] * in_steps[wrong]).astype(np.int64)
        less = min(2 * less, 0.5)


def _directions(
    rows: NDArray[np.float64], beta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each vector divided by its norm, and the norms; both are approximate."""
    largest = np.abs(rows).max(axis=1)
    safe = np.where(largest > 0, largest, 1.0)[:, np.newaxis]
    shares = rows / safe
    relative = (np.abs(shares) ** beta).sum(axis=1) ** (1 / beta)
    relative = np.where(relative > 0, relative, 1.0)
    return shares / relative[:, np.newaxis], relative * largest


def noisy(
    values: ArrayLike, law: Law, *, step: object, source: Any = "chacha20"
) -> NDArray[np.float64]:
    """Return values on a lattice with noise: noisy integers times the step, as floats.

    Parameters
    ----------
    values : array_like of float
        Finite; rounded toward zero to multiples of the step.
    law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
        The noise in steps, independent for each value.
    step : number
        From 2**-1000 to 2**1000. If it is a power of two, results below 2**53 steps are exact.
    source : "getrandom", "chacha20" or callable, optional
        As for the drawing functions.

    Returns
    -------
    ndarray of float64
        A function of the noisy integers, so it is as private as they are.

    Notes
    -----
    The caller must know the sensitivity in steps. Sums of floats have rounding errors, which may
    enlarge it. It is better to clip vectors to integers (`clip`), add these, and add noise to the
    sum.
    """
    unit = length_of_floats(step, "step")
    integers = to_lattice(values, unit)
    drawn = np.asarray(add_noise(integers, law, source=source))
    found: NDArray[np.float64] = drawn.astype(np.float64) * float(unit)
    return found
