"""Mironov's snapping mechanism in doubles, to the bit: the only module that draws with floats.

    F(x) = clamp(round_L(clamp(x) + S (lambda * LN(U)))),

with + and * of doubles, LN the correctly rounded logarithm, S a fair sign, U a uniform double: (1 +
m/2**52) 2**-E, m of 52 fair bits, E the place of the first 1 among fair bits, at most 1022.
round_L rounds to the nearest multiple of L, ties up.

*How LN(U) is decided.* All steps after it are monotone in it: products with lambda, sums,
rounding, clamps. Let l be within 2**-41 of log U, relatively. If l (1 + 2**-40) and l (1 - 2**-40)
give the same output, so does LN(U), which lies between them; else MPFR computes LN(U).

*The logarithm l.* U = f 2**e with about sqrt(1/2) <= f < sqrt(2). s = (f - 1)/(f + 1) has |s| <
0.1717. f - 1 is exact, so s has a relative error of at most about 2**-52. log f = 2 s (1 + s**2/3 +
s**4/5 + ...). In this series in s**2 < 0.0295, the terms from the ninth power on are below
0.0295**9/19/(1 - 0.0295) < 2**-49 of its value. Horner's scheme rounds each of 18 operations by
2**-53, and all terms are positive: below 2**-48. If e = 0, these are all errors. Else |e| log 2 >=
0.69 and |log f| < 0.347, so the sum is at least half the larger, and its error is below 2**-46.
Both are far below 2**-41. Nothing here underflows, because |s| >= 2**-55.
"""

from __future__ import annotations

import math

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._drawing.fill import empty
from .._inputs.source import Source
from ._parameters import Parameters, log2_of_grid
from ._sides import draw_words

_Floats = NDArray[np.float64]

#: How many values are drawn at a time, so that temporaries stay in the cache.
_CHUNK = 2**13

_LOG_2 = math.log(2)
_SERIES = [1 / (2 * k + 1) for k in range(8, -1, -1)]
_SLACK = 2.0**-40
_LAST_EXPONENT = 1022

#: The place, from 1 on, of the lowest 1 among 11 bits; 11 if there is none.
_FIRST_ONE = np.array([11, *((i & -i).bit_length() for i in range(1, 2**11))])

_NEAREST = gmpy2.context(precision=53, round=gmpy2.RoundToNearest)


def LN(u: float) -> float:
    """Return the natural logarithm of a double, correctly rounded."""
    return float(_NEAREST.log(gmpy2.mpfr(u, 53)))


def uniform_doubles(words: NDArray[np.uint64], source: Source) -> tuple[_Floats, _Floats]:
    """Return signs and uniform doubles. A word has 1 bit for S, 52 for m, 11 for E, or more."""
    bits = words.view(np.int64)
    signs = np.where(bits < 0, -1.0, 1.0)
    upper = (bits >> 52) & 0x7FF
    exponents = _FIRST_ONE[upper]
    open_ones = np.flatnonzero(upper == 0)
    while open_ones.size:
        more = draw_words(open_ones.size, source, 1).view(np.int64) & 0x7FF
        exponents[open_ones] += _FIRST_ONE[more]
        open_ones = open_ones[more == 0]
    np.minimum(exponents, _LAST_EXPONENT, out=exponents)
    mantissas = bits & ((1 << 52) - 1)
    return signs, (mantissas | ((1023 - exponents) << 52)).view(np.float64)


def logarithm(u: _Floats) -> _Floats:
    """Return log u for 0 < u < 1, to a relative 2**-41, by the four operations alone."""
    f, e = np.frexp(u)
    low = f < 0.7071
    f = np.where(low, 2 * f, f)
    e = e - low
    s = (f - 1) / (f + 1)
    square = s * s
    series = np.full(u.shape, _SERIES[0])
    for term in _SERIES[1:]:
        series *= square
        series += term
    series *= 2 * s
    series += e * _LOG_2
    return series


def _outputs(
    logs: _Floats, signs: _Floats, x: _Floats, settings: Parameters, bound: float
) -> _Floats:
    """Return the outputs of the chain of operations for logarithms LN(U)."""
    exponent = log2_of_grid(settings.grid)
    z = x + signs * (float(settings.scale) * logs)
    quotients = np.ldexp(z, -exponent)
    below = np.floor(quotients)
    below += quotients - below >= 0.5
    noisy: _Floats = np.clip(np.ldexp(below, exponent), -bound, bound)
    return noisy


def _snap_chunk(
    x: _Floats, signs: _Floats, u: _Floats, settings: Parameters, bound: float
) -> tuple[_Floats, int]:
    """Return noisy values, and how many of them MPFR decided."""
    x = np.clip(x, -bound, bound)
    logs = logarithm(u)
    noisy = _outputs(logs * (1 + _SLACK), signs, x, settings, bound)
    undecided = np.flatnonzero(noisy != _outputs(logs * (1 - _SLACK), signs, x, settings, bound))
    if undecided.size:
        exact = np.array([LN(one) for one in u[undecided].tolist()])
        noisy[undecided] = _outputs(exact, signs[undecided], x[undecided], settings, bound)
    return noisy, undecided.size


def snap_in_doubles(
    doubles: _Floats, settings: Parameters, bound: float, source: Source, threads: int
) -> _Floats:
    """Return doubles, one axis, with noise."""
    noisy: _Floats = empty(doubles.size, np.float64)
    try:
        for start in range(0, doubles.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            words = draw_words(doubles[part].size, source, threads)
            signs, u = uniform_doubles(words, source)
            words.fill(0)
            noisy[part] = _snap_chunk(doubles[part], signs, u, settings, bound)[0]
            signs.fill(0)
            u.fill(0)
    except BaseException:
        noisy.fill(0)
        raise
    return noisy
