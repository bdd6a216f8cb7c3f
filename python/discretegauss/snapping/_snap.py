"""The snapping mechanism: checks of arguments, shapes, and the choice of the method."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import checked_out, checked_source, checked_threads
from .._inputs.graphs import outside_of_graphs
from .._inputs.numbers import Number
from .._inputs.source import Source
from ..errors import ParameterTypeError
from ._doubles import as_doubles
from ._exact import mechanism
from ._mironov import snap_in_doubles
from ._parameters import Method, parameters


@overload
def snapping_laplace(
    values: float,
    epsilon: Number,
    bound: Number | None = ...,
    *,
    sensitivity: Number = ...,
    method: Method = ...,
    grid: Number | None = ...,
    lower: Number | None = ...,
    upper: Number | None = ...,
    source: Source = ...,
    threads: int = ...,
    out: None = None,
) -> float: ...


@overload
def snapping_laplace(
    values: Any,
    epsilon: Number,
    bound: Number | None = ...,
    *,
    sensitivity: Number = ...,
    method: Method = ...,
    grid: Number | None = ...,
    lower: Number | None = ...,
    upper: Number | None = ...,
    source: Source = ...,
    threads: int = ...,
    out: NDArray[np.float64] | None = ...,
) -> NDArray[np.float64]: ...


@outside_of_graphs
def snapping_laplace(
    values: Any,
    epsilon: Number,
    bound: Number | None = None,
    *,
    sensitivity: Number = 1,
    method: Method = "exact",
    grid: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    source: Source = "chacha20",
    threads: int = 1,
    out: NDArray[np.float64] | None = None,
) -> Any:
    """Add Laplace noise to doubles, round to a grid and clamp: epsilon-differentially private.

    Parameters
    ----------
    values : number or array_like
        Doubles, or numbers that doubles hold exactly; infinities are clamped. You round other
        numbers, because that may add to the sensitivity.
    epsilon : number
        The cost of the release of a value, > 0; any number type.
    bound : number
        Values are clamped to [-bound, bound], before noise and after: a double, > 0.
    sensitivity : number, optional
        The most by which one person changes a value, > 0.
    method : {"exact", "mironov"}, optional
        "exact": the law of `SnappedLaplace`. "mironov": Mironov's floating-point mechanism, to the
        bit, with the noise that his theorem asks for; for comparison.
    grid : number, optional
        Outputs are multiples of this power of two, or ends of the range. None: the least one that
        is at least the scale of the noise, sensitivity/epsilon, as in Mironov's mechanism. A finer
        grid costs nothing.
    lower, upper : number, optional
        The ends of a range, doubles, instead of bound.
    source : "getrandom", "chacha20" or callable, optional
        The source of bits, as for `discretegauss.discrete_gaussian`.
    threads : int, optional
        The most threads that draw; 1 with your own source.
    out : ndarray of float64, optional
        Array to fill and return instead of a new one; unchanged after an error.

    Returns
    -------
    float or ndarray of float64
        Shaped like values.

    Raises
    ------
    TypeError, ValueError, OverflowError
        A parameter is not a number or breaks its rule; the message names it, or a value's place.
    OSError
        The operating system gave no randomness; nothing is returned.

    Notes
    -----
    Guaranteed by "exact": pure epsilon for values that differ by at most sensitivity as real
    numbers, for any range and any grid. No float takes part in the draw. The output is a function
    of the value plus true Laplace noise, and each output is possible for every value.

    Not promised: the time, which depends on the values and on the noise.

    References
    ----------
    Mironov, *On Significance of the Least Significant Bits for Differential Privacy*, CCS 2012.

    Examples
    --------
    >>> import discretegauss as dg
    >>> noisy = dg.snapping.snapping_laplace([0.3, 17.25, 1e6], "1/3", bound=1000)
    >>> bool((noisy % 4 == 0).all()), bool((abs(noisy) <= 1000).all())
    (True, True)
    >>> fine = dg.snapping.snapping_laplace(0.3, 1, lower=0, upper=1, grid=2**-20)
    >>> (fine * 2**20).is_integer() and 0 <= fine <= 1
    True
    """
    bits = checked_source(source)
    n_threads = checked_threads(threads, bits)
    settings = parameters(
        epsilon, bound, sensitivity, method=method, grid=grid, lower=lower, upper=upper
    )
    doubles = as_doubles(values)
    result = None if out is None else _checked_out(out, doubles.shape)
    flat = doubles.reshape(-1)
    if method == "exact":
        noisy = mechanism(settings).snap(flat, bits, n_threads)
    else:
        noisy = snap_in_doubles(flat, settings, float(settings.ends.upper), bits, n_threads)
    noisy = noisy.reshape(doubles.shape)
    if result is not None:
        result[...] = noisy
        return out
    return noisy if doubles.ndim or isinstance(values, np.ndarray) else float(noisy)


def _checked_out(out: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
    result = checked_out(out, None)
    if result is None or result.dtype != np.float64:
        raise ParameterTypeError("out must be an array of float64")
    if result.shape != shape:
        raise ParameterTypeError(
            f"out must have the shape of values, {shape}, got one of {result.shape}"
        )
    return result
