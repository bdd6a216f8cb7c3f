"""Fourier transforms of real arrays, with an error bound that is known beforehand.

numpy's transform is as accurate but promises no bound. This one uses only additions and
multiplications of floats (IEEE 754, u = 2**-53), so its error can be counted. It is Stockham's
algorithm. Each of ``stages`` steps has radix 4, or 2 for the last. In each step a value passes two
complex sums (u each) and a product (sqrt(5) u; Brent, Percival and Zimmermann, Mathematics of
Computation 76, 2007) with a root of unity whose error is 1.01 u. So each output is the sum of
x_j w**(j k) (1 + e_j) with

    abs(e_j) <= E = 6 u stages,

which bounds the error of each output by E times the sum of the absolute values of the inputs.

Two real values make one complex value. The step that separates them again,
X = (Z + Z')/2 + w (Z - Z')/2i, doubles the error and adds 7 u.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .double_double import Floats, Pair, Pairs, pair, pair_sum, product
from .interval import arithmetic

Complexes = NDArray[np.complex128]

_U = 2.0**-53

#: Roots of unity are products of entries of tables of 2**_TABLE_BITS numbers.
_TABLE_BITS = 4


def _stages(n: int) -> int:
    """Return the number of steps of a complex transform of n values."""
    return n.bit_length() // 2


def transform_error(n: int) -> float:
    """Return the error bound of `transform` of n numbers whose absolute values sum to 1."""
    return (2 * 6 * _stages(n // 2) + 8) * _U


def inverse_error(n: int) -> float:
    """Return the error bound of `inverse` for absolute values that sum to n/4."""
    return (6 * _stages(n // 2) + 9) * _U


def transform(x: Floats) -> Complexes:
    """Return the sums of x_j exp(-2 pi i j k/n), k = 0, ..., n/2; n is a power of 2, at least 8."""
    roots = _roots(x.size)
    z = _stockham(x.view(np.complex128), roots)
    z = np.concatenate([z, z[:1]])
    mirrored = np.conj(z[::-1])
    even, odd = (z + mirrored) * 0.5, (z - mirrored) * -0.5j
    found: Complexes = even + odd * roots[: z.size]
    return found


def inverse(spectrum: Complexes) -> Floats:
    """Return the real numbers of which this is the `transform`.

    The error of each is at most `inverse_error` times 4/n times the sum of the absolute values.
    Errors in the spectrum add at most 4/n times the sum of their absolute values.
    """
    half = spectrum.size - 1
    roots = _roots(2 * half)
    here, mirrored = np.conj(spectrum[:-1]), spectrum[:0:-1]
    twice = here + mirrored + (here - mirrored) * -1j * roots[:half]  # of the conjugate
    found = np.conj(_stockham(twice, roots)) / (2 * half)
    return found.view(np.float64)


def _stockham(z: Complexes, roots: Complexes) -> Complexes:
    """Return the transform of complex numbers, in order. ``roots`` has at least z.size roots."""
    n, stride = z.size, 1
    while n > 2:
        quarter, step = n // 4, roots.size // n
        a, b, c, d = z.reshape(4, quarter, stride)
        sum_ac, difference_ac, sum_bd = a + c, a - c, b + d
        difference_bd = (b - d) * 1j
        found = np.empty((quarter, 4, stride), np.complex128)
        k = np.arange(0, quarter * step, step)
        np.add(sum_ac, sum_bd, out=found[:, 0])
        np.multiply(difference_ac - difference_bd, roots[k][:, None], out=found[:, 1])
        np.multiply(sum_ac - sum_bd, roots[2 * k][:, None], out=found[:, 2])
        np.multiply(difference_ac + difference_bd, roots[3 * k][:, None], out=found[:, 3])
        z, n, stride = found.reshape(-1), quarter, 4 * stride
    if n == 2:
        a, b = z.reshape(2, stride)
        z = np.concatenate([a + b, a - b])
    return z


@lru_cache(maxsize=8)
def _roots(n: int) -> Complexes:
    """Return exp(-2 pi i k/n), k = 0, ..., n - 1, each to 1.01 u; n is a power of 2, at least 8.

    An eighth of the circle is computed as products of pairs; swaps and signs give the rest.
    """
    found = _table(Fraction(1), 1)
    bits = n.bit_length() - 4
    for shift in range(0, bits, _TABLE_BITS):
        count = 1 << min(_TABLE_BITS, bits - shift)
        table = _table(Fraction(1 << shift, n), count)
        found = _products(table, found)
    eighth = found[0].high - 1j * found[1].high
    corner = np.array([1 - 1j]) * np.sqrt(0.5)
    quarter = np.concatenate([eighth, corner, -1j * np.conj(eighth[:0:-1])])
    half = np.concatenate([quarter, [-1j], -np.conj(quarter[:0:-1])])
    result = np.concatenate([half, -half])
    result.flags.writeable = False  # it is cached
    return result


def _table(step: Fraction, count: int) -> tuple[Pairs, Pairs]:
    """Return cosines and sines of 0, 1, ..., count - 1 steps. A step is in turns."""
    at = arithmetic(160)
    cosines = [pair(at.cos_of_turns(i * step)) for i in range(count)]
    sines = [pair(at.sin_of_turns(i * step)) for i in range(count)]
    return _arrays(cosines), _arrays(sines)


def _arrays(values: list[Pair]) -> Pairs:
    return Pairs(np.array([v.high for v in values]), np.array([v.low for v in values]))


def _products(a: tuple[Pairs, Pairs], b: tuple[Pairs, Pairs]) -> tuple[Pairs, Pairs]:
    """Return cosines and sines of all sums of two angles; the index of b varies fastest."""

    def outer(x: Pairs, y: Pairs) -> Pairs:
        shape = x.high.size, y.high.size
        left = Pairs(*(np.repeat(part, shape[1]) for part in x))
        return product(left, Pairs(*(np.tile(part, shape[0]) for part in y)))

    less = outer(a[1], b[1])
    cosines = pair_sum(outer(a[0], b[0]), Pairs(-less.high, -less.low))
    return cosines, pair_sum(outer(a[1], b[0]), outer(a[0], b[1]))
