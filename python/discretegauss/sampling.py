"""The functions that draw: check, make the law ready, fill an array, return it."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._arguments import (
    INT64,
    Method,
    Size,
    checked_dtype,
    checked_method,
    checked_out,
    checked_size,
    checked_source,
    checked_threads,
    require_fit,
)
from ._choice import choose, has_cells
from ._distinct import Laws
from ._engine import ScalarLaw, prepare_scalar
from ._fill import empty, fill_array
from ._given import as_array, distinct_laws, exact_spec, parameter_name, parameter_shape
from ._many import fill_laws, require_all_fit
from ._parameters import LEAST_FLOAT, single
from ._source import Source
from ._spec import Kind, Spec
from .errors import ParameterTypeError, ParameterValueError

__all__ = [
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "exact_spec",
    "generalized_gaussian",
    "geometric_exp",
]


def _check_method(kind: Kind, method: Method) -> None:
    """Refuse a method that the law does not have."""
    if method == "cells" and not has_cells(kind):
        raise ParameterValueError("method must be 'auto' or 'reference' for this law, got 'cells'")
    if method == "reference" and kind is Kind.GENERALIZED_GAUSSIAN:
        raise ParameterValueError("method must be 'auto' or 'cells' for this law, got 'reference'")


#: In the place of numpy's message, which tells the shape: it may be a column of counts.
_NO_MEMORY = "size: there is no memory for such an array"

_OWN_SOURCES = frozenset({"getrandom", "chacha20"})

#: Types whose equal values mean the same number, so that they may be keys of a cache.
_PLAIN_NUMBERS = frozenset({int, float, Fraction, str})


def _prepare_one(spec: Spec, method: Method, source: Source) -> ScalarLaw:
    """Return the law made ready for one draw."""
    return prepare_scalar(spec) if method == "auto" else choose(spec, method, 1, source)


@lru_cache(maxsize=256, typed=True)
def _prepare_given(kind: Kind, parameter: object, mu: object, method: Method) -> ScalarLaw:
    """Return the law for parameters as the user wrote them: saves scalar draws the conversion."""
    return _prepare_one(exact_spec(kind, parameter, mu), method, "getrandom")


def draw(
    kind: Kind,
    parameter: object,
    mu: object,
    beta: object = 1,
    *,
    size: Size,
    dtype: DTypeLike,
    out: NDArray[Any] | None,
    method: Method,
    source: Source,
    threads: int,
) -> Any:
    """Draw: the body of every public function; all is checked before anything is drawn."""
    _check_method(kind, checked_method(method))
    if (  # one draw with everything else left as it is: checked by these lines alone
        size is None
        and out is None
        and dtype is INT64
        and isinstance(source, str)  # an array compares to an array
        and source in _OWN_SOURCES
        and type(threads) is int
        and threads == 1
        and type(parameter) in _PLAIN_NUMBERS
        and type(mu) in _PLAIN_NUMBERS
        and method != "cells"
        and kind is not Kind.GENERALIZED_GAUSSIAN
        and (LEAST_FLOAT or (parameter and (mu or type(mu) is int)))  # else denormals are one key
    ):
        return _prepare_given(kind, parameter, mu, method).draw(source)
    bits = checked_source(source)
    n_threads = checked_threads(threads, bits)
    shape = checked_size(size)
    result = checked_out(out, shape)
    kept_dtype = checked_dtype(dtype)
    if result is not None:
        asked_dtype, kept_dtype = kept_dtype, checked_dtype(result.dtype, "out")
        if dtype is not INT64 and asked_dtype != kept_dtype:
            raise ParameterValueError(f"dtype must be that of out, {kept_dtype}, got {asked_dtype}")
        shape = result.shape

    given, name = (parameter, mu, beta), parameter_name(kind)
    as_arrays = [
        as_array(value, called) for value, called in zip(given, (name, "mu", "beta"), strict=True)
    ]
    laws: Spec | Laws
    if all(array is None for array in as_arrays):
        laws = exact_spec(kind, *given)
        if shape is None:
            if dtype is not INT64:  # a Python int has room, but a dtype was asked for
                require_fit(laws, kept_dtype, name)
            return _prepare_one(laws, method, bits).draw(bits)
        require_fit(laws, kept_dtype, name)
    else:
        arrays = [
            array if array is not None else np.array(single(value), dtype=object)
            for array, value in zip(as_arrays, given, strict=True)
        ]
        shape = parameter_shape(shape, arrays)
        try:
            laws = distinct_laws(kind, arrays, shape)
        except MemoryError:
            raise MemoryError(_NO_MEMORY) from None
        require_all_fit(laws, kept_dtype, name)
    if result is None:
        result = empty(shape, kept_dtype)
    if isinstance(laws, Laws):
        fill_laws(result, laws, method, bits, n_threads)
    else:
        fill_array(result, choose(laws, method, result.size, bits), bits, n_threads)
    return result if out is None else out


def discrete_gaussian(
    sigma2: Any,
    size: Size = None,
    *,
    mu: Any = 0,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "getrandom",
    threads: int = 1,
) -> Any:
    """Draw from the discrete Gaussian, P(x) ~ exp(-(x - mu)**2 / (2 sigma2)), exactly.

    Parameters
    ----------
    sigma2 : number or array_like
        The scale parameter, > 0; about the variance. int, Fraction, Decimal,
        string ("1/3", "0.1"), numpy or gmpy2 number, or a float, which means its binary value.
    size : int or sequence of int, optional
        Shape of the result: a tuple, a list, or an array of integers with one axis. None:
        one Python integer (or an array shaped by the parameters). ``discrete_gaussian(1, counts)``
        takes the counts for a shape, as numpy does: one axis for each. Pass ``counts.shape``.
    mu : number or array_like, optional
        The centre, any rational.
    dtype : dtype, optional
        Integer type of the result, or object for Python integers of any size. One draw is a Python
        integer in any case; if dtype is given, of a law that fits it.
    out : ndarray, optional
        Array to fill and return instead of a new one; its shape and dtype hold. Filled in C order;
        in Fortran order if its memory is. After an error it holds zeros where it held draws, and
        elsewhere what it held before.
    method : {"auto", "reference", "cells"}, optional
        How to draw; the law is the same. "auto": one draw by the sampler whose time does not depend
        on the value, where the law has one; an array by Algorithms 1-3 or by cell table, whichever
        is faster for so many draws. With a source of your own it decides by the law and the number
        of draws alone; else also by whether a table is at hand from an earlier call.
    source : "getrandom", "chacha20" or callable, optional
        Where bits come from: the operating system; ChaCha20 (RFC 8439) under a key that each call
        takes from the operating system; or ``fill(buffer: memoryview)``, which must fill the whole
        buffer, zeros at first, with independent uniform bytes, and return None or their number. One
        that returns their number, and leaves 16 bytes in a row as zeros, is refused.
    threads : int, optional
        How many threads fill the array at most: fewer, where the draws do not repay them; 1 with a
        source of your own.

    Returns
    -------
    int or ndarray
        Independent draws.

    Raises
    ------
    TypeError, ValueError
        A parameter is no number or breaks its rule; the message names it.
    OverflowError
        The law does not provably fit dtype, P(outside) < 2**-128; nothing was drawn.
    OSError
        The operating system gave no randomness; nothing is returned.

    Notes
    -----
    Guarantee: given independent uniform bits, P(x) is the stated law for every integer x, without
    truncation or rounding; every bit comes from `source`; nothing random outlives the call.

    Not promised: time. The time of one draw does not depend on its value in the C core, but making
    Python's integer does a little, and an array's draws by any method do (SECURITY.md).

    References
    ----------
    Canonne, Kamath, Steinke, *The Discrete Gaussian for Differential Privacy*, NeurIPS 2020,
    arXiv:2004.00010, Algorithm 3.

    Examples
    --------
    >>> import discretegauss as dg
    >>> noise = dg.discrete_gaussian(sigma2=100, size=(2, 3))
    >>> noise.shape, noise.dtype
    ((2, 3), dtype('int64'))
    >>> type(dg.discrete_gaussian("1/3"))
    <class 'int'>
    >>> dg.discrete_gaussian([1, 100, 10**6]).shape
    (3,)
    """
    return draw(
        Kind.DISCRETE_GAUSSIAN,
        sigma2,
        mu,
        size=size,
        dtype=dtype,
        out=out,
        method=method,
        source=source,
        threads=threads,
    )


def discrete_laplace(
    scale: Any,
    size: Size = None,
    *,
    mu: Any = 0,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "getrandom",
    threads: int = 1,
) -> Any:
    """Draw from the discrete Laplace, P(x) ~ exp(-abs(x - mu) / scale), exactly.

    Parameters
    ----------
    scale : number or array_like
        The scale t/s, > 0; any number type, as for `discrete_gaussian`.
    size, mu, dtype, out, method, source, threads
        As for `discrete_gaussian`.

    Returns
    -------
    int or ndarray
        Independent draws.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        As `discrete_gaussian`.

    References
    ----------
    Canonne, Kamath, Steinke, arXiv:2004.00010, Algorithm 2.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.discrete_laplace("5/2", size=4).shape
    (4,)
    """
    return draw(
        Kind.DISCRETE_LAPLACE,
        scale,
        mu,
        size=size,
        dtype=dtype,
        out=out,
        method=method,
        source=source,
        threads=threads,
    )


def generalized_gaussian(
    scale: Any,
    beta: Any,
    size: Size = None,
    *,
    mu: Any = 0,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "getrandom",
    threads: int = 1,
) -> Any:
    """Draw from the generalised Gaussian, P(x) ~ exp(-(abs(x - mu) / scale)**beta), exactly.

    Parameters
    ----------
    scale : number or array_like
        The scale, > 0; any number type, as for `discrete_gaussian`.
    beta : number or array_like
        The exponent, >= 1: 1 is the discrete Laplace, 2 the discrete Gaussian of sigma2 =
        scale**2/2.
    size, mu, dtype, out, source, threads
        As for `discrete_gaussian`.
    method : {"auto", "cells"}, optional
        As for `discrete_gaussian`, but there is no reference algorithm for this law: arrays are
        always drawn from a cell table.

    Returns
    -------
    int or ndarray
        Independent draws.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        As `discrete_gaussian`. ValueError also where beta is so large (beyond some 2**90, and not
        for all scales) that 128 bits of (abs(x - mu) / scale)**beta do not tell the integers next
        to mu apart.
    RuntimeError
        The compiled core is not in use.

    Examples
    --------
    >>> import discretegauss as dg
    >>> if dg.build_info()["engine"] == "native":
    ...     noise = dg.generalized_gaussian(10, "3/2", size=4)
    """
    return draw(
        Kind.GENERALIZED_GAUSSIAN,
        scale,
        mu,
        beta,
        size=size,
        dtype=dtype,
        out=out,
        method=method,
        source=source,
        threads=threads,
    )


def geometric_exp(
    gamma: Any,
    size: Size = None,
    *,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "getrandom",
    threads: int = 1,
) -> Any:
    """Draw k = 0, 1, 2, ... with P(k) ~ exp(-gamma k), exactly.

    Parameters
    ----------
    gamma : number or array_like
        The rate, > 0; any number type, as for `discrete_gaussian`.
    size, dtype, out, method, source, threads
        As for `discrete_gaussian`.

    Returns
    -------
    int or ndarray
        Independent draws.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        As `discrete_gaussian`.

    References
    ----------
    Canonne, Kamath, Steinke, arXiv:2004.00010, first half of Algorithm 2.

    Examples
    --------
    >>> import discretegauss as dg
    >>> bool((dg.geometric_exp("1/10", size=100) >= 0).all())
    True
    """
    return draw(
        Kind.GEOMETRIC_EXP,
        gamma,
        0,
        size=size,
        dtype=dtype,
        out=out,
        method=method,
        source=source,
        threads=threads,
    )


def bernoulli_exp(
    gamma: Any,
    size: Size = None,
    *,
    out: NDArray[np.bool_] | None = None,
    method: Method = "auto",
    source: Source = "getrandom",
    threads: int = 1,
) -> Any:
    """Draw True with probability exp(-gamma), exactly.

    Parameters
    ----------
    gamma : number or array_like
        The exponent, >= 0; any number type, as for `discrete_gaussian`.
    size, method, source, threads
        As for `discrete_gaussian`.
    out : ndarray of bool, optional
        Array to fill and return instead of a new one.

    Returns
    -------
    bool or ndarray of bool
        Independent draws.

    Raises
    ------
    TypeError, ValueError, OSError
        As `discrete_gaussian`.

    References
    ----------
    Canonne, Kamath, Steinke, arXiv:2004.00010, Algorithm 1.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.bernoulli_exp(0)
    True
    >>> dg.bernoulli_exp("1/2", size=3).dtype
    dtype('bool')
    """
    flags = checked_out(out, None)
    if flags is not None and flags.dtype != np.bool_:
        raise ParameterTypeError(f"out must be a numpy array of bool, got {flags.dtype}")
    result = draw(
        Kind.BERNOULLI_EXP,
        gamma,
        Fraction(0),
        size=size,
        dtype=np.uint8,
        out=None if flags is None else flags.view(np.uint8),
        method=method,
        source=source,
        threads=threads,
    )
    if out is not None:
        return out
    return result.view(np.bool_) if isinstance(result, np.ndarray) else bool(result)
