"""The law of S = sum of v_j X_j on a ring: whole v_j, the X_j independent and symmetric.

The remainder of S modulo N has the Fourier transform

    F(k) = product of f_j(v_j k mod N),    f_j(k) = E cos(2 pi k X_j/N).

f_j is the transform of the masses of X_j modulo N. So one transform for each law, products, and one
inverse transform give all masses of S modulo N, whatever the number of draws. abs(S mod N) <= m
is also true of some S beyond N/2, which are rarer than ``_WRAPPED`` of the miss (``_chernoff.py``):

    P(abs(S) <= m) >= sum of the masses from -m to m - P(abs(S) >= N/2).

*The error, mass by mass.* The masses of X_j are floats next to the true ones, and `transform` has a
proven error. So the computed g_j is within d_j of f_j. With a_j = abs(g_j) + d_j, which is at
least abs(f_j), a product of n_j factors for each j is off by at most

    e(k) = product of a_j**n_j times (sum of n_j d_j/a_j + the rounding of the products).

A mass is then off by at most 4/N times the sum over k of e(k), besides the error of `inverse`. The
a_j are small for most k, so this is small, even if there are many draws. Masses less this error,
rounded down to multiples of 2**-_BITS, are summed as integers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from .._certified.fourier import inverse, inverse_error, transform, transform_error
from ._chernoff import radius as chernoff_radius
from ._nested import Floats

LARGEST = 2**20
"""The largest N. Both transforms then take some 0.2 s."""

_WRAPPED = Fraction(1, 2**30)
_BITS = 60
_SMALLEST = 16
_U = 2.0**-53
_TINY = 1e-290
"""More than what underflow takes from a product."""

_BEYOND = Fraction(1, 2**64)
"""The probability of each tail beyond the masses of a draw."""


def ring_radius(cells: Mapping[tuple[int, Any], int], miss: Fraction) -> int | None:
    """Return the least m with P(abs(S) > m) <= miss that is proven; None if there is none.

    `cells` has the number of draws for each v, above 0, and law; miss is in (0, 1).
    """
    wrapped = miss * _WRAPPED
    far = chernoff_radius({(Fraction(v), law): n for (v, law), n in cells.items()}, wrapped)
    size = max(_SMALLEST, 1 << math.ceil(2 * far + 2).bit_length())
    if size > LARGEST:
        return None
    masses, error = _masses(cells, size)
    below = np.floor(np.maximum(masses - error, 0.0) * 2.0**_BITS).astype(np.int64)
    below[1:] *= 2
    inside = np.cumsum(below)
    needed = math.ceil((1 - miss + wrapped) * 2**_BITS)
    found = int(np.searchsorted(inside, needed))
    return found if found < inside.size else None


def tails_of_sum(law: Any, n: int, beyond: Fraction) -> tuple[Floats, float] | None:
    """Return P(S > m), m = 0, 1, ..., of n draws, up to about this probability, and their error.

    None if that takes too long.
    """
    cells = {(1, law): n}
    far = chernoff_radius({(Fraction(1), law): n}, beyond)
    size = max(_SMALLEST, 1 << math.ceil(2 * far + 2).bit_length())
    if size > LARGEST:
        return None
    masses, error = _masses(cells, size)
    tails = np.cumsum(np.maximum(masses, 0.0)[::-1])[::-1]
    of_sums = tails.size * (error + _U) + float(beyond)
    return np.append(tails[1 : math.ceil(far) + 1], 0.0), 1.001 * of_sums


def _masses(cells: Mapping[tuple[int, Any], int], size: int) -> tuple[Floats, float]:
    """Return P(S mod N = m), 0 <= m < N/2, and the error of each."""
    k = np.arange(size // 2 + 1)
    product, bound, relative = np.ones(k.size), np.ones(k.size), np.zeros(k.size)
    for (v, law), n in cells.items():
        spectrum, error = _spectrum(law, size)
        at = v * k % size
        values = spectrum[np.minimum(at, size - at)]
        largest = np.abs(values) + error
        product *= _power(values, n)
        bound *= _power(largest, n)
        relative += n * error / largest
    # each of n factors and products adds at most u, in the product as in the bound
    rounding = 4 * _U * (sum(cells.values()) + len(cells))
    errors = bound * (relative + rounding) * (1 + 2 * rounding) + _TINY
    masses = inverse(product.astype(np.complex128))[: size // 2]
    sums = inverse_error(size) * np.abs(product).sum() + errors.sum()
    of_each = 4 / size * float(sums) * 1.001 + 2 * _U * float(np.abs(masses).max())
    return masses, of_each


@lru_cache(maxsize=16)
def _spectrum(law: Any, size: int) -> tuple[Floats, float]:
    """Return the transform of the law modulo N, which is real, and its error."""
    reach = int(law.isf(_BEYOND))
    half = np.asarray(law.pmf(np.arange(reach + 1)), np.float64)
    both = np.concatenate([half[:0:-1], half])
    places = np.arange(-reach, reach + 1) % size
    folded = np.asarray(np.bincount(places, both, size), np.float64)
    # a mass is at most 4 u off, and each of those in one place adds u
    of_masses = (4 + math.ceil(both.size / size)) * _U + 2 * float(_BEYOND)
    error = 1.001 * (transform_error(size) + of_masses)
    return np.clip(transform(folded).real, -1.0, 1.0), error


def _power(values: Floats, n: int) -> Floats:
    """Return the n-th power by fewer than 2 n products, whose relative error is below n u."""
    found = values if n & 1 else np.ones_like(values)
    while n := n >> 1:
        values = values * values
        if n & 1:
            found = found * values
    return found
