"""Masses as integers over 2**128, in arrays; sums and convolutions are exact, then rounded once.

A mass is three 64-bit words, the least first: multiples of 2**-128 up to 2**64. A product of two
sequences of masses is one product of two long integers (Kronecker's substitution): each mass has a
slot of five words, which hold any sum of products here, as masses of a sequence sum to about 1. So
GMP multiplies, exactly, in quasi-linear time; and a shift by 128 bits is a shift by two words.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.interval import Rational, Real

#: A row of three words for each mass.
Masses = NDArray[np.uint64]

BITS = 128
ONE = 1 << BITS
_UNIT = gmpy2.mpq(1, ONE)

_WORDS = 3
_SLOT_WORDS = 5
_SLOT_BYTES = 8 * _SLOT_WORDS

#: What precedes the digits of a positive integer in gmpy2's binary form.
_BINARY_HEAD = b"\x01\x01"


def rounded(value: Real | Rational | Fraction | int, *, up: bool) -> int:
    """Return a number of at least 0 in multiples of 2**-128."""
    if value < _UNIT:  # perhaps too small for a rational
        return int(up and value > 0)
    exact = gmpy2.mpq(value)
    product = exact.numerator << BITS
    return int(-(-product // exact.denominator) if up else product // exact.denominator)


def masses(values: list[int]) -> Masses:
    """Return integers over 2**128 as masses."""
    data = b"".join([value.to_bytes(8 * _WORDS, "little") for value in values])
    return np.frombuffer(data, "<u8").reshape(-1, _WORDS).astype(np.uint64)


def integers(values: Masses) -> list[Any]:
    """Return masses as integers over 2**128 (of gmpy2)."""
    data = values.astype("<u8").tobytes()
    width = 8 * _WORDS
    return [
        gmpy2.mpz(int.from_bytes(data[i : i + width], "little")) for i in range(0, len(data), width)
    ]


def approximately(values: Masses) -> NDArray[np.float64]:
    """Return masses as floats, within some roundings."""
    found: NDArray[np.float64] = values @ np.array([2.0**-128, 2.0**-64, 1.0])
    return found


def total(values: Masses) -> int:
    """Return the exact sum."""
    halves = values.astype("<u8").view("<u4").reshape(-1, 2 * _WORDS).sum(axis=0, dtype=np.uint64)
    return sum(int(half) << 32 * i for i, half in enumerate(halves))


def _packed(values: Masses) -> Any:
    """Return the integer with a mass in each slot."""
    slots = np.zeros((len(values), _SLOT_WORDS), "<u8")
    slots[:, :_WORDS] = values
    return gmpy2.from_binary(_BINARY_HEAD + slots.tobytes()) if len(values) else gmpy2.mpz(0)


def _unpacked(packed: Any, n: int, *, up: bool) -> Masses:
    """Return what is in n slots over 2**256 as masses over 2**128, rounded."""
    digits = gmpy2.to_binary(packed)[len(_BINARY_HEAD) :] if packed else b""
    slots = np.frombuffer(digits.ljust(n * _SLOT_BYTES, b"\0"), "<u8").reshape(n, _SLOT_WORDS)
    found = slots[:, 2:].astype(np.uint64)
    if up:
        carry = (slots[:, 0] | slots[:, 1]) != 0
        for word in range(_WORDS):
            found[:, word] += carry
            carry &= found[:, word] == 0
    return found


def convolved(a: Masses, b: Masses, *, up: bool) -> Masses:
    """Return the masses of sums of independent indices: len(a) + len(b) - 1 of them.

    Requires: that each sums to less than 2**32.
    """
    packed = _packed(a)
    product = packed * packed if a is b else packed * _packed(b)
    return _unpacked(product, len(a) + len(b) - 1, up=up)


def scaled_sum(terms: list[tuple[Masses, int, int]], n: int, *, up: bool) -> Masses:
    """Return the sum of masses times a factor each, begun at a place each, in n places.

    Parameters
    ----------
    terms : list of (Masses, int, int)
        Masses, their factor over 2**128, at most 1, and the place of the first of them.
    n : int
        How many masses to return.
    up : bool
        Whether to round up.
    """
    packed = gmpy2.mpz(0)
    for values, factor, place in terms:
        packed += _packed(values) * factor << 8 * _SLOT_BYTES * place
    return _unpacked(packed, n, up=up)
