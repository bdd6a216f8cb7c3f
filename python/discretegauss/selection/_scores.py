"""The exact gaps of a user's scores: how far each score is below the best of its row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._inputs.law_parameters import as_array, naming_places
from .._inputs.numbers import MAX_BITS, exact_rational
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError

#: Numerators of floats are 64-bit integers up to this, so that a sum of two is one, too.
_SMALL = 2**62


class Gaps(NamedTuple):
    """Rows of gaps, over a common denominator."""

    data: NDArray[Any]
    """The gaps as bytes, `gap_bytes` each, least significant first."""
    gap_bytes: int
    denominator: int
    shape: tuple[int, ...]
    """The shape of the scores."""

    def row(self, i: int) -> list[int]:
        """Return a row as integers."""
        k, n = self.shape[-1], self.gap_bytes
        data = self.data.reshape(-1).view(np.uint8)[i * k * n : (i + 1) * k * n].tobytes()
        return [int.from_bytes(data[j : j + n], "little") for j in range(0, k * n, n)]


def scores_array(values: object, name: str) -> NDArray[Any]:
    """Return an array whose last axis has at least one candidate; refuse anything else."""
    if isinstance(values, Mapping):
        raise ParameterTypeError(
            f"{name} must be numbers in an order, got a dict: give list(x.values()), and look the "
            "place up in list(x)"
        )
    array = as_array(values, name)
    if array is None:
        raise ParameterTypeError(
            f"{name} must be an array of numbers, with candidates along the last axis, got "
            f"{type(values).__name__}"
        )
    if not array.shape[-1]:
        raise ParameterValueError(f"{name} must have a candidate: the last axis is empty")
    return array


def gaps_of(scores: NDArray[Any], name: str) -> Gaps:
    """Return the exact gaps of scores."""
    return naming_places(
        lambda: _gaps(scores, name), scores, name, lambda value: exact_rational(value, name)
    )


def _gaps(scores: NDArray[Any], name: str) -> Gaps:
    denominator = 1
    if scores.dtype.kind == "f" and scores.dtype.itemsize <= 8:
        integers = _common_integers(scores)
        if integers is not None:
            scores, denominator = integers
    if scores.dtype.kind in "iu" and not isinstance(scores.dtype, np.dtypes.TimeDelta64DType):
        word = scores.dtype if scores.dtype == np.uint64 else np.dtype(np.int64)
        # modulo 2**64, where a difference that is not negative is exact
        words = np.ascontiguousarray(scores, word).view(np.uint64)
        best = np.ascontiguousarray(scores.max(axis=-1, keepdims=True), word).view(np.uint64)
        return Gaps((best - words).astype("<u8", copy=False), 8, denominator, scores.shape)
    return _gaps_of_objects(scores, name)


def _common_integers(floats: NDArray[Any]) -> tuple[NDArray[np.int64], int] | None:
    """Return integers and a common denominator, if 64-bit integers hold them."""
    floats = floats.astype(np.float64)
    if not np.isfinite(floats).all():
        return None
    fractions, exponents = np.frexp(floats)
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    lowest = np.frexp((mantissas & -mantissas).astype(np.float64))[1] - 1  # the last bit; -1 for 0
    places = np.where(mantissas == 0, 0, 53 - exponents - lowest).max(initial=0)
    if places > 1000 or (np.abs(floats) > np.ldexp(float(_SMALL), -int(places))).any():
        return None
    return np.ldexp(floats, int(places)).astype(np.int64), 1 << int(places)


def _gaps_of_objects(scores: NDArray[Any], name: str) -> Gaps:
    """Return the gaps of numbers of any type and length."""
    values = [exact_rational(value, name) for value in scores.ravel().tolist()]
    denominator = 1
    for value in values:
        denominator = math.lcm(denominator, value.denominator)
        if denominator.bit_length() > MAX_BITS:
            raise ParameterOverflowError(
                f"{name} must have a common denominator of at most {MAX_BITS} bits"
            )
    k = scores.shape[-1]
    gaps: list[int] = []
    for start in range(0, len(values), k):
        gaps += _row_gaps(values[start : start + k], denominator)
    gap_bits = max(gaps, default=0).bit_length()
    if gap_bits > 2 * MAX_BITS:  # the C core's bound
        raise ParameterOverflowError(
            f"{name} must differ by at most {2 * MAX_BITS} bits of their common denominator"
        )
    gap_bytes = max(8, (gap_bits + 7) // 8)
    data = b"".join(gap.to_bytes(gap_bytes, "little") for gap in gaps)
    return Gaps(np.frombuffer(data, np.uint8), gap_bytes, denominator, scores.shape)


def _row_gaps(row: list[Fraction], denominator: int) -> list[int]:
    integers = [value.numerator * (denominator // value.denominator) for value in row]
    best = max(integers)
    return [best - integer for integer in integers]
