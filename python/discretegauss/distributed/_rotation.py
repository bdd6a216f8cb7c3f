"""The randomised Hadamard rotation: it spreads a vector evenly over its coordinates.

Let S be a diagonal of random signs and H the Hadamard matrix of order N, so H H = N. Then the map
x -> H S x/sqrt(N) is orthogonal. It makes all coordinates about equally large, so a smaller modulus
holds their sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._inputs.draw_arguments import checked_source
from .._inputs.foreign_arrays import array_of_list, finite_array
from .._inputs.graphs import outside_of_graphs
from .._inputs.messages import refused
from .._inputs.privacy_arguments import word_count
from .._inputs.source import Source
from ..errors import ParameterOverflowError, ParameterValueError
from ..sampling import uniform_below

_MOST = 2**31


def _hadamard(rows: NDArray[Any]) -> NDArray[Any]:
    """Return each row times the Hadamard matrix of Sylvester: N log2(N) sums and differences."""
    n, length = rows.shape
    step = 1
    while step < length:
        pairs = rows.reshape(n, -1, 2, step)
        rows = np.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), axis=2)
        step *= 2
    return rows.reshape(n, length)


class Rotation:
    """A random rotation that all clients of a round share.

    It is public randomness: privacy holds for every rotation, even if everybody knows it. It may
    travel in the clear, and a pickle of it has one bit for each sign. Random signs keep rotated
    numbers small if vectors do not depend on them, so draw the rotation before the vectors.

    Parameters
    ----------
    dimension : int
        The length of a vector. Zeros fill it up to the next power of two.
    source : "getrandom", "chacha20" or callable, optional
        The source of the signs' bits, as for `discretegauss.discrete_gaussian`.

    Attributes
    ----------
    dimension, padded : int
        d, and the length N of rotated vectors, which is the next power of two.
    signs : ndarray of int64, shape (N,)
        1 or -1, each with probability 1/2.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        If a parameter is wrong, before anything is drawn; or if the source fails.

    Notes
    -----
    `apply` works in floats, so rounding may lengthen a vector. Clip the vector or round it
    conditionally afterwards, as `SecureSum` does; then privacy does not depend on floats. `undo`
    adds integers exactly and divides once.

    References
    ----------
    Kairouz, Liu, Steinke, arXiv:2102.06387, Section 4.2.

    Examples
    --------
    >>> import discretegauss as dg
    >>> rotation = dg.distributed.Rotation(3)
    >>> rotated = rotation.apply([8.0, 0.0, 0.0])
    >>> abs(rotated).tolist(), rotation.undo([4, 4, 4, 4]).shape
    ([4.0, 4.0, 4.0, 4.0], (3,))
    """

    @outside_of_graphs
    def __init__(self, dimension: int, *, source: Source = "chacha20") -> None:
        bits = checked_source(source)
        self.dimension = word_count(dimension, "dimension")
        if self.dimension > _MOST:
            raise refused("dimension", "be at most 2**31", dimension, ParameterOverflowError)
        self.padded = 1 << (self.dimension - 1).bit_length()
        fair = uniform_below(2, self.padded, source=bits)
        self.signs: NDArray[np.int64] = 2 * np.asarray(fair, np.int64) - 1

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with a bit for each sign."""
        return {**vars(self), "signs": np.packbits(self.signs > 0)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes, and each sign from its bit."""
        vars(self).update(state)
        fair = np.unpackbits(state["signs"], count=self.padded)
        self.signs = 2 * fair.astype(np.int64) - 1

    @outside_of_graphs
    def apply(self, vectors: ArrayLike) -> NDArray[np.float64]:
        """Return vectors rotated, in floats.

        Parameters
        ----------
        vectors : array_like of float, shape (..., d)
            One vector along the last axis.

        Returns
        -------
        ndarray of float64, shape (..., N)
            Of the same norm, except for rounding.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If vectors are not finite, or of another length; or if a sum of their numbers is too
            large for a float.
        """
        array = real_floats(vectors, "vectors")
        rows = self._rows(array, self.dimension, "vectors")
        wide = np.zeros((len(rows), self.padded))
        wide[:, : self.dimension] = rows
        with np.errstate(over="ignore", invalid="ignore"):
            found = _hadamard(wide * self.signs) / np.sqrt(float(self.padded))
        if not np.isfinite(found).all():
            raise ParameterOverflowError("vectors must be short enough to be rotated in floats")
        return np.asarray(found.reshape(*array.shape[:-1], self.padded))

    @outside_of_graphs
    def undo(self, vectors: ArrayLike) -> NDArray[np.float64]:
        """Return the vectors that `apply` rotated.

        Parameters
        ----------
        vectors : array_like of int or float, shape (..., N)
            Sums of integers are exact.

        Returns
        -------
        ndarray of float64, shape (..., d)
        """
        array = real_array(vectors, "vectors")
        rows = self._rows(array, self.padded, "vectors")
        if array.dtype.kind in "iu":
            largest = max(abs(int(end)) for end in (rows.min(initial=0), rows.max(initial=0)))
            rows = rows.astype(np.int64 if largest * self.padded < 2**63 else object)
        sums = (_hadamard(rows) * self.signs)[:, : self.dimension]
        try:
            turned = sums.astype(np.float64)
        except OverflowError:
            raise ParameterOverflowError(
                "vectors must be small enough for their sums to be floats, below 2**1024"
            ) from None
        found = turned / np.sqrt(float(self.padded))
        return np.asarray(found.reshape(*array.shape[:-1], self.dimension))

    def _rows(self, array: NDArray[Any], length: int, name: str) -> NDArray[Any]:
        if array.ndim == 0 or array.shape[-1] != length:
            raise ParameterValueError(
                f"{name} must have {length} numbers along the last axis, got shape {array.shape}"
            )
        return array.reshape(-1, length)


def real_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return an array of finite floats or integers; long integers are objects."""
    array = array_of_list(values)
    if array.dtype == object and all(isinstance(x, int) for x in array.ravel().tolist()):
        return array
    return finite_array(array, name)


def real_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return an array of finite floats; integers become the nearest floats."""
    array = real_array(values, name)
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise ParameterOverflowError(f"{name} must be floats, below 2**1024") from None
