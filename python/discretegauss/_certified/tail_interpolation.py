"""Tails in units of their first term, R(d), at many distances d >= 0 from mu, in float64.

Of the Gaussian, from polynomials that interpolate certified values, to a relative error of some
2**-49. R(d) = sum over j >= 0 of exp(-(2 d j + j**2)/(2 sigma2)), so that abs(R(z)) <= R(Re z) for
complex z: on an ellipse around a piece of the line R is bounded by its value M at the ellipse's
left end. The error of interpolation in n Chebyshev points is at most 4 M rho**-(n-1)/(rho - 1),
with rho the sum of the ellipse's half axes over half the piece's length. Distances are taken over
`unit`, a power of 2 with sigma/2 < unit <= sigma.

How large M is beside the least R of the piece, that at its right end: let t M0(t), M0 Mills' ratio
of the normal law, be increasing, as it is. By comparison of sums with integrals, max(1, sigma
M0(d/sigma)) <= R(d) <= 1 + sigma M0(d/sigma), so R(d) <= (1 + e/d) R(e) for 0 < d < e.

- [32, 72], an ellipse from 4 on: rho > 4.57 and M at most 19 R: an error below 2**-52 for n = 27.
- [2**k, 2**(k+1)], from 2**k/4 on: rho > 4.78 and M at most 9 R: below 2**-55.
- [0, 1], from -1 on: rho > 5.8, R(-unit) <= exp(1/2) (1 + sqrt(2 pi) sigma), M0(1) > 0.65, so M
  is at most 8 R: below 2**-63.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from .euler_maclaurin import log_of
from .floats import float_value
from .gaussian_tail import gaussian_tail

_Floats = NDArray[np.float64]

#: Pieces of d/unit.
_EDGES = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 72.0])
_POINTS = 27


def gaussian_tail_ratios(sigma2: Fraction, distances: _Floats) -> _Floats:
    """Return R at distances from 0 to 35 sigma, for sigma2 >= 1 and a sigma that is a float."""
    unit = float(_unit(sigma2))
    scaled = distances / unit
    pieces = np.searchsorted(_EDGES, scaled, side="right") - 1
    ratios = np.empty(distances.size)
    for piece in np.flatnonzero(np.bincount(pieces)).tolist():
        places = np.flatnonzero(pieces == piece)
        left, right = _EDGES[piece : piece + 2]
        at = (2 * scaled[places] - left - right) / (right - left)
        ratios[places] = chebyshev.chebval(at, _coefficients(sigma2, piece))
    return ratios * unit


def _unit(sigma2: Fraction) -> Fraction:
    return Fraction(2) ** math.floor(log_of(sigma2) / (2 * math.log(2)))


@lru_cache(maxsize=128)
def _coefficients(sigma2: Fraction, piece: int) -> _Floats:
    """Return the coefficients of the polynomial on a piece, of R/unit."""
    unit = _unit(sigma2)
    left, right = _EDGES[piece : piece + 2].tolist()
    distances = [(left + right + (right - left) * _cosine(2 * j + 1)) / 2 for j in range(_POINTS)]
    values = [_certified(sigma2, Fraction(d) * unit) / float(unit) for d in distances]
    # a cosine transform with one rounding: recurrences would spoil the last coefficients
    coefficients = [
        math.fsum(value * _cosine(k * (2 * j + 1)) for j, value in enumerate(values))
        for k in range(_POINTS)
    ]
    coefficients[0] /= 2
    return np.array(coefficients) * (2 / _POINTS)


def _cosine(n: int) -> float:
    """Return the cosine of n pi/(2 _POINTS), of an angle below 2 pi."""
    return math.cos(math.pi * (n % (4 * _POINTS)) / (2 * _POINTS))


def _certified(sigma2: Fraction, d: Fraction) -> float:
    return float_value(lambda bits: gaussian_tail(sigma2, d, bits))
