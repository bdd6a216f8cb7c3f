"""The rationals that an array of floats or integers holds, as pairs of 64-bit words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_int64_ratios"]


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
