"""The Skellam law as an object: noise whose sums over clients are noise of the same kind."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._inputs.draw_arguments import (
    INT64,
    SYSTEM,
    Size,
    checked_dtype,
    checked_size,
    checked_source,
)
from .._inputs.messages import describe, written
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import positive_number
from .._inputs.source import Source
from ..errors import ParameterOverflowError, ParameterTypeError
from ._skellam_draws import LARGEST_TABLE, by_inversion, by_rejection
from ._skellam_weights import Weights, weights

__all__ = ["Skellam"]

_LARGEST = 2**1024

#: P(abs(X) >= x) <= 2 exp(-x**2/(2 (v + x/3))), as cosh(t) - 1 <= t**2/2/(1 - t/3): for v up to
#: this and x = 2**62 that is below exp(-2**20).
FITS_INT64 = 2**100

#: Below the least float.
_FAR_BITS = 1200


@dataclass(frozen=True, init=False, repr=False)
class Skellam:
    """The law of A - B, with A and B independent Poisson variables of mean variance/2.

    P(X = k) = exp(-variance) I_k(variance), I_k the modified Bessel function. The sum of n
    independent draws is Skellam noise of n times the variance, exactly. So what clients add one by
    one is, in sum, one draw of a law that is known.

    Parameters
    ----------
    variance : number
        Positive and below 2**1024; exactly the value given. The papers call it mu.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If the variance is wrong.

    References
    ----------
    Agarwal, Kairouz, Liu, *The Skellam Mechanism for Differentially Private Federated Learning*,
    NeurIPS 2021, arXiv:2110.04995.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.distributed.Skellam("5/2")
    >>> law, law.var(), law.sum_of(4)
    (Skellam(variance=2.5), 2.5, Skellam(variance=10))
    >>> law.sample(3).shape, round(law.pmf(0), 12)
    ((3,), 0.270046441612)
    """

    variance: Fraction

    def __init__(self, variance: Any) -> None:
        exact = positive_number(variance, "variance")
        if exact >= _LARGEST:
            raise ParameterOverflowError(f"variance must be below 2**1024, got {describe(exact)}")
        object.__setattr__(self, "variance", exact)

    def __repr__(self) -> str:
        return f"Skellam(variance={written(self.variance)})"

    def sum_of(self, clients: int) -> Skellam:
        """Return the law of the sum of so many independent draws, at least 1."""
        return Skellam(self.variance * whole_number(clients, "clients", minimum=1))

    def sample(
        self, size: Size = None, *, dtype: DTypeLike = INT64, source: Source = SYSTEM
    ) -> Any:
        """Draw from the law, exactly.

        Parameters
        ----------
        size : int or sequence of int, optional
            The shape; None for one draw.
        dtype : dtype, optional
            int64, or object for Python integers; object alone for a variance above 2**100.
        source : "getrandom", "chacha20" or callable, optional
            Where bits come from, as for `discretegauss.discrete_gaussian`.

        Returns
        -------
        int or ndarray
            Independent draws.

        Raises
        ------
        TypeError, ValueError, OverflowError, OSError
            If a parameter is wrong, before anything is drawn; or no randomness can be had.

        Notes
        -----
        Up to a variance of 2**28 by inversion: 64 bits a draw, and more where these do not decide.
        Its table, of some 9 sqrt(variance) entries, is made once, in up to a second. Above, a draw
        takes about 0.3 ms.
        """
        bits = checked_source(source)
        shape = checked_size(size)
        kind = checked_dtype(dtype)
        if kind not in (np.dtype(object), np.dtype(np.int64)):
            raise ParameterTypeError(f"dtype must be int64 or object, got {kind}")
        if shape is not None and kind.kind == "i" and self.variance > FITS_INT64:
            raise ParameterOverflowError(
                "dtype must be object for a variance above 2**100, got "
                f"variance = {describe(self.variance)}"
            )
        n = 1 if shape is None else prod(shape)
        drawn: NDArray[Any]
        if self.variance <= LARGEST_TABLE:
            drawn = by_inversion(self.variance, n, bits)
        else:
            drawn = by_rejection(self.variance, n, bits)
        if shape is None:
            return int(drawn[0])
        return drawn.astype(kind, copy=False).reshape(shape)

    rvs = sample

    def pmf(self, k: Any) -> Any:
        """Return the probability of integers.

        Parameters
        ----------
        k : int or array_like of int
            Where.

        Returns
        -------
        float or ndarray of float64
            Within one unit in the last place; 0 below every float.

        Raises
        ------
        TypeError, OverflowError
            If k is no integer, or the variance is above 2**28.
        """
        if self.variance > LARGEST_TABLE:
            raise ParameterOverflowError(
                f"variance must be at most 2**28 for pmf, got {describe(self.variance)}"
            )
        array = np.asarray(k)
        if array.size and array.dtype.kind not in "iuO":
            raise ParameterTypeError(f"k must hold integers, got dtype {array.dtype}")
        near = weights(self.variance, 192)
        flat = [
            abs(whole_number(place, "k", minimum=-(2**4300))) for place in array.ravel().tolist()
        ]
        values = [self._at(place, near) for place in flat]
        return values[0] if array.ndim == 0 else np.array(values).reshape(array.shape)

    def _at(self, k: int, near: Weights) -> float:
        if k >= len(near.at_lower) or near.at_lower[k].bit_length() < 64:
            near = weights(self.variance, _FAR_BITS)
        if k >= len(near.at_lower):
            return 0.0
        return float(Fraction(near.at_lower[k] + near.at_upper[k], 2 << near.bits))

    def mean(self) -> float:
        """Return 0."""
        return 0.0

    def var(self) -> float:
        """Return the variance as a float."""
        return float(self.variance)

    def std(self) -> float:
        """Return the standard deviation."""
        return sqrt(self.var())
