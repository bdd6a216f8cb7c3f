"""Messages of a secure sum: integer vectors with noise, modulo an integer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import checked_source
from .._inputs.messages import describe
from .._inputs.numbers import whole_number
from .._inputs.source import Source
from .._law import fits_range
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import Law

_WORD = 2**62
"""Two numbers below this add up in 64-bit integers."""


def _integers(values: Any, name: str) -> NDArray[Any]:
    """Return an array of integers: rounding is a decision that is not made here."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuO" and array.size:
        raise ParameterTypeError(f"{name} must hold integers, got dtype {array.dtype}")
    if array.dtype != object:
        return array
    whole = np.empty(array.size, object)
    for i, value in enumerate(array.ravel().tolist()):
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise ParameterTypeError(f"{name} must hold integers, got a {type(value).__name__}")
        whole[i] = int(value)
    return whole.reshape(array.shape)


def _residues(values: NDArray[Any], modulus: int) -> NDArray[Any]:
    """Return the numbers modulo an integer, in [0, modulus), as a new array."""
    if modulus <= _WORD and values.dtype.kind == "i":
        return np.asarray(values.astype(np.int64) % modulus)
    reduced = np.asarray(values.astype(object) % modulus, object)
    return reduced.astype(np.int64) if modulus <= _WORD else reduced


def share(vector: Any, law: Law, modulus: int, *, source: Source = "getrandom") -> NDArray[Any]:
    """Add a client's noise to its vector and reduce the sum modulo an integer.

    Parameters
    ----------
    vector : array_like of integers
        What the client contributes, its norm bounded already; integers of any size.
    law : law
        The client's noise: one independent draw for each entry.
    modulus : int
        That of the secure sum, at least 2.
    source : "getrandom", "chacha20" or callable, optional
        Where bits come from, as for `discretegauss.discrete_gaussian`.

    Returns
    -------
    ndarray
        In [0, modulus), of the vector's shape; int64, or object for a modulus above 2**62.

    Raises
    ------
    TypeError, ValueError, OSError
        If a parameter is wrong, before anything is drawn; or no randomness can be had.

    Examples
    --------
    >>> import discretegauss as dg
    >>> message = share([3, -1, 0], dg.DiscreteGaussian(4), 2**16)
    >>> message.shape, message.dtype, bool((message < 2**16).all())
    ((3,), dtype('int64'), True)
    """
    bits = checked_source(source)
    if not isinstance(law, Law):
        raise ParameterTypeError(f"law must be a law, as Skellam(5) is, got {describe(law)}")
    base = whole_number(modulus, "modulus", minimum=2)
    message = _residues(_integers(vector, "vector"), base)
    words = fits_range(law._spec, -_WORD, _WORD - 1)
    noise = np.asarray(law.sample(message.shape, dtype=np.int64 if words else object, source=bits))
    drawn = [noise]
    try:
        drawn.append(_residues(noise, base))
        message += drawn[1]
        return np.asarray(message % base)
    finally:
        for array in drawn:
            array.fill(0)
        message.fill(0)


def total(messages: Any, modulus: int) -> NDArray[Any]:
    """Return the sum of all messages modulo an integer, as the numbers nearest to 0.

    Parameters
    ----------
    messages : array_like of integers, shape (clients, ...)
        One for each client along the first axis.
    modulus : int
        The same, at least 2.

    Returns
    -------
    ndarray
        In [-(modulus // 2), (modulus + 1) // 2), of the shape of one message; int64, or object for
        a modulus above 2**62. The sum of vectors and noise, if that lies in this range; else wrong
        by a multiple of the modulus, which nothing shows.

    Raises
    ------
    TypeError, ValueError
        If a parameter is wrong.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.distributed.total([[5, 15], [4, 14]], 16).tolist()
    [-7, -3]
    """
    base = whole_number(modulus, "modulus", minimum=2)
    array = _integers(messages, "messages")
    if array.ndim == 0:
        raise ParameterValueError("messages must have an axis of clients, got a single number")
    reduced = _residues(array, base)
    exact = reduced if reduced.shape[0] * base < 2 * _WORD else reduced.astype(object)
    half = base // 2
    summed = np.asarray((np.asarray(exact.sum(axis=0)) + half) % base - half)
    return summed.astype(np.int64 if base <= _WORD else object)
