"""The functions that draw."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._drawing.fill import empty
from ._drawing.many_laws import fill_laws
from ._inputs.draw_arguments import (
    INT64,
    DrawOptions,
    IntegerDrawOptions,
    Method,
    Size,
    checked_how,
    checked_out,
    checked_target,
)
from ._inputs.graphs import outside_of_graphs
from ._inputs.law_parameters import NUMBERS, columns_of, parameter_name, parameter_shape, sigma2_of
from ._inputs.numbers import Number
from ._inputs.parameter_arrays import Laws, ParameterColumn
from ._inputs.source import Source
from ._law import Kind
from .errors import ParameterTypeError
from .laws import (
    Bernoulli,
    BernoulliExp,
    DiscreteGaussian,
    DiscreteLaplace,
    GeneralizedGaussian,
    Geometric,
    Skellam,
    UniformBelow,
)

__all__ = [
    "bernoulli",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "generalized_gaussian",
    "geometric_exp",
    "skellam",
    "uniform_below",
]
__dir__ = __all__.copy  # dir() and completion show these names alone

_UINT8 = np.dtype(np.uint8)

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from ._inputs.draw_arguments import Filled

    _Flags = TypeVar("_Flags", bound=NDArray[np.bool_], default=NDArray[np.bool_])


# Overloads tell type checkers that numbers without size and out give one draw, others an array.
# sigma2 and sigma exclude each other.


@overload
def discrete_gaussian(
    sigma2: Number,
    size: None = None,
    *,
    mu: Number = ...,
    out: None = None,
    **how: Unpack[IntegerDrawOptions],
) -> int: ...


@overload
def discrete_gaussian(
    sigma2: None = None,
    size: None = None,
    *,
    mu: Number = ...,
    sigma: Number,
    out: None = None,
    **how: Unpack[IntegerDrawOptions],
) -> int: ...


@overload
def discrete_gaussian(
    sigma2: Any,
    size: Size = None,
    *,
    mu: Any = ...,
    out: Filled | None = None,
    **how: Unpack[IntegerDrawOptions],
) -> Filled: ...


@overload
def discrete_gaussian(
    sigma2: None = None,
    size: Size = None,
    *,
    mu: Any = ...,
    sigma: Any,
    out: Filled | None = None,
    **how: Unpack[IntegerDrawOptions],
) -> Filled: ...


def discrete_gaussian(
    sigma2: Any = None,
    size: Size = None,
    *,
    mu: Any = 0,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "chacha20",
    threads: int = 1,
    sigma: Any = None,
) -> Any:
    """Draw from the discrete Gaussian, P(x) ~ exp(-(x - mu)**2 / (2 sigma2)), exactly.

    Parameters
    ----------
    sigma2 : number or array_like
        The scale parameter, > 0, about the variance: int, Fraction, Decimal,
        string ("1/3", "0.1"), numpy or gmpy2 number, or a float, which means its binary value.
    size : int or sequence of int, optional
        Shape of the result: a tuple, a list, or an array of integers with one axis. None: one
        Python integer, or an array with the shape of the parameters. As in numpy,
        ``discrete_gaussian(1, counts)`` takes the counts for a shape. Pass ``counts.shape``.
    mu : number or array_like, optional
        The centre, any rational; ``mu=counts`` draws around each of the counts.
    dtype : dtype, optional
        Integer type of the result, or object for Python integers of any size. One draw is always a
        Python integer; if you give a dtype, the law must fit it.
    out : ndarray, optional
        Array to fill and return instead of a new one, with its own shape and dtype. It is filled in
        the order of its memory, C or Fortran. After an error its contents mean nothing.
    method : {"auto", "reference", "cells", "isochronous"}, optional
        The method of drawing; the law is the same. "isochronous": the time in the C core does not
        depend on the values. "reference": Algorithms 1-3. "cells": a table of cells, the fastest
        method in bulk. "auto" depends only on the law and the number of draws. It is "isochronous"
        if the law has that, else "reference"; and "cells" from 2**16, 2**18 or 2**19 draws on
        (docs/noise/methods.md), or from 2**12 on if the law has no isochronous draws.
    source : "chacha20", "getrandom" or callable, optional
        The source of bits. "chacha20": each call takes a key of 32 bytes from getrandom(2), and
        ChaCha20 (RFC 8439) expands it. "getrandom": every byte comes from getrandom(2), which takes
        4 to 8 times as long from 10**3 draws on. A callable, ``fill(buffer: memoryview)``, gets a
        buffer of zeros, must fill it with independent uniform bytes, and returns None or their
        number. If it returns the number and leaves 16 bytes in a row 0, the call raises an error.
    threads : int, optional
        The most threads that fill the array. Fewer run if the array is small; it must be 1 if
        `source` is a callable.
    sigma : number or array_like, optional
        The root of sigma2, > 0, if you give it in place of sigma2. sigma2 is the exact square.

    Returns
    -------
    int or ndarray
        Independent draws.

    Raises
    ------
    TypeError, ValueError
        A parameter is not a number or breaks its rule; the message names it.
    OverflowError
        P(outside dtype) < 2**-128 is not proven for the law; nothing was drawn.
    OSError
        The operating system gave no randomness; nothing is returned.

    Notes
    -----
    Guarantee: if the bits are independent and uniform, P(x) is the stated law for every integer x,
    without truncation or rounding. Every bit comes from `source`, and no random state outlives the
    call.

    Not promised: constant time. In the C core the time of isochronous draws does not depend on
    their values. The time of making Python integers and of the other methods does (SECURITY.md).

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
    >>> type(dg.discrete_gaussian(sigma=10))  # sigma2=100
    <class 'int'>
    """
    if sigma is not None or sigma2 is None:
        sigma2 = sigma2_of(sigma2, sigma, arrays=True)
    return _draw(DiscreteGaussian, (sigma2, mu), size, dtype, out, method, source, threads)


@overload
def discrete_laplace(
    scale: Number,
    size: None = None,
    *,
    mu: Number = ...,
    out: None = None,
    **how: Unpack[IntegerDrawOptions],
) -> int: ...


@overload
def discrete_laplace(
    scale: Any,
    size: Size = None,
    *,
    mu: Any = ...,
    out: Filled | None = None,
    **how: Unpack[IntegerDrawOptions],
) -> Filled: ...


def discrete_laplace(
    scale: Any,
    size: Size = None,
    *,
    mu: Any = 0,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "chacha20",
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
    return _draw(DiscreteLaplace, (scale, mu), size, dtype, out, method, source, threads)


@overload
def skellam(
    variance: Number, size: None = None, *, out: None = None, **how: Unpack[IntegerDrawOptions]
) -> int: ...


@overload
def skellam(
    variance: Any,
    size: Size = None,
    *,
    out: Filled | None = None,
    **how: Unpack[IntegerDrawOptions],
) -> Filled: ...


def skellam(
    variance: Any,
    size: Size = None,
    *,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "chacha20",
    threads: int = 1,
) -> Any:
    """Draw from the Skellam law, P(x) = exp(-variance) I_x(variance), exactly.

    Parameters
    ----------
    variance : number or array_like
        Positive and below 2**1024; any number type, as for `discrete_gaussian`.
    size, dtype, out, method, source, threads
        As for `discrete_gaussian`; one thread draws, in Python with numpy.

    Returns
    -------
    int or ndarray
        Independent draws.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        As `discrete_gaussian`.

    Notes
    -----
    The sum of such draws is exactly Skellam noise of the summed variance: see `Skellam`.

    References
    ----------
    Agarwal, Kairouz, Liu, NeurIPS 2021, arXiv:2110.04995.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.skellam("5/2", size=4).shape
    (4,)
    """
    return _draw(Skellam, (variance,), size, dtype, out, method, source, threads)


@overload
def generalized_gaussian(
    scale: Number,
    beta: Number,
    size: None = None,
    *,
    mu: Number = ...,
    out: None = None,
    **how: Unpack[IntegerDrawOptions],
) -> int: ...


@overload
def generalized_gaussian(
    scale: Any,
    beta: Any,
    size: Size = None,
    *,
    mu: Any = ...,
    out: Filled | None = None,
    **how: Unpack[IntegerDrawOptions],
) -> Filled: ...


def generalized_gaussian(
    scale: Any,
    beta: Any,
    size: Size = None,
    *,
    mu: Any = 0,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "chacha20",
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
    method : {"auto", "cells", "isochronous"}, optional
        As for `discrete_gaussian`, but this law has no reference algorithm. If "auto" does not use
        a cell table, it fills an array as "isochronous" does.

    Returns
    -------
    int or ndarray
        Independent draws.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        As `discrete_gaussian`. ValueError also if beta is so large that 128 bits of
        (abs(x - mu) / scale)**beta do not tell the integers next to mu apart: beyond some 2**90,
        and not for all scales.
    RuntimeError
        The compiled core is not in use.

    Examples
    --------
    >>> import discretegauss as dg
    >>> if dg.build_info()["engine"] == "native":
    ...     noise = dg.generalized_gaussian(10, "3/2", size=4)
    """
    parameters = scale, beta, mu
    return _draw(GeneralizedGaussian, parameters, size, dtype, out, method, source, threads)


@overload
def geometric_exp(
    gamma: Number, size: None = None, *, out: None = None, **how: Unpack[IntegerDrawOptions]
) -> int: ...


@overload
def geometric_exp(
    gamma: Any, size: Size = None, *, out: Filled | None = None, **how: Unpack[IntegerDrawOptions]
) -> Filled: ...


def geometric_exp(
    gamma: Any,
    size: Size = None,
    *,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "chacha20",
    threads: int = 1,
) -> Any:
    """Draw k >= 0 with P(k) ~ exp(-gamma k), exactly.

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
    return _draw(Geometric, (gamma,), size, dtype, out, method, source, threads)


@overload
def bernoulli(
    p: Number, size: None = None, *, out: None = None, **how: Unpack[DrawOptions]
) -> bool: ...


@overload
def bernoulli(
    p: Any, size: Size = None, *, out: _Flags | None = None, **how: Unpack[DrawOptions]
) -> _Flags: ...


def bernoulli(
    p: Any,
    size: Size = None,
    *,
    out: NDArray[np.bool_] | None = None,
    method: Method = "auto",
    source: Source = "chacha20",
    threads: int = 1,
) -> Any:
    """Draw True with probability p, exactly: for Poisson sampling, for example.

    Parameters
    ----------
    p : number or array_like
        The probability, from 0 to 1; any number type, as for `discrete_gaussian`. 0.1 means the
        binary value of that float, and "1/10" means one tenth.
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

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.bernoulli(1), dg.bernoulli(0)
    (True, False)
    >>> dg.bernoulli("1/100", size=1000).dtype  # who takes part in this round
    dtype('bool')
    """
    return _draw_flags(Bernoulli, (p,), size, out, method, source, threads)


@overload
def uniform_below(
    n: Number, size: None = None, *, out: None = None, **how: Unpack[IntegerDrawOptions]
) -> int: ...


@overload
def uniform_below(
    n: Any, size: Size = None, *, out: Filled | None = None, **how: Unpack[IntegerDrawOptions]
) -> Filled: ...


def uniform_below(
    n: Any,
    size: Size = None,
    *,
    dtype: DTypeLike = INT64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "chacha20",
    threads: int = 1,
) -> Any:
    """Draw one of 0, 1, ..., n - 1 with exactly equal probabilities.

    Parameters
    ----------
    n : number or array_like
        A whole number > 0 of any number type, as for `discrete_gaussian`, and of any size.
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

    Examples
    --------
    >>> import discretegauss as dg
    >>> bool((dg.uniform_below(6, size=10) < 6).all())
    True
    >>> 0 <= dg.uniform_below(10**40) < 10**40
    True
    """
    return _draw(UniformBelow, (n,), size, dtype, out, method, source, threads)


@overload
def bernoulli_exp(
    gamma: Number, size: None = None, *, out: None = None, **how: Unpack[DrawOptions]
) -> bool: ...


@overload
def bernoulli_exp(
    gamma: Any, size: Size = None, *, out: _Flags | None = None, **how: Unpack[DrawOptions]
) -> _Flags: ...


def bernoulli_exp(
    gamma: Any,
    size: Size = None,
    *,
    out: NDArray[np.bool_] | None = None,
    method: Method = "auto",
    source: Source = "chacha20",
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
    return _draw_flags(BernoulliExp, (gamma,), size, out, method, source, threads)


def _draw_flags(
    law: type[Any],
    parameters: tuple[object, ...],
    size: Size,
    out: NDArray[np.bool_] | None,
    method: Method,
    source: Source,
    threads: int,
) -> Any:
    """Draw from a law of 0 and 1, and return the draws as bool."""
    flags = None if out is None else checked_out(out, None)
    if flags is not None and flags.dtype != np.bool_:
        raise ParameterTypeError(f"out must be a numpy array of bool, got {flags.dtype}")
    words = None if flags is None else flags.view(np.uint8)
    result = _draw(law, parameters, size, _UINT8, words, method, source, threads)
    if out is not None:
        return out
    return result.view(np.bool_) if isinstance(result, np.ndarray) else bool(result)


@lru_cache(maxsize=256, typed=True)
def _law(law: Any, *parameters: object) -> Any:
    """Return the law of class `law` with these numbers, as the user wrote them."""
    return law(*parameters)


def _draw(
    law: type[Any],
    parameters: tuple[object, ...],
    size: Size,
    dtype: DTypeLike,
    out: NDArray[Any] | None,
    method: Method,
    source: Source,
    threads: int,
) -> Any:
    """Draw from the law of these parameters, or from one law an element if they are arrays."""
    if NUMBERS.issuperset(map(type, parameters)):
        made = _law(law, *parameters)  # type: ignore[arg-type]  # a class has a hash
    else:
        columns = columns_of(law, parameters)
        if columns is not None:
            return _draw_many(law._kind, columns, size, dtype, out, method, source, threads)
        made = law(*parameters)
    return made.sample(size, dtype=dtype, out=out, method=method, source=source, threads=threads)


@outside_of_graphs
def _draw_many(
    kind: Kind,
    columns: list[ParameterColumn],
    size: Size,
    dtype: DTypeLike,
    out: NDArray[Any] | None,
    method: Method,
    source: Source,
    threads: int,
) -> Any:
    """Draw once from each of many laws, whose parameters are arrays."""
    by, bits, n_threads = checked_how(kind, method, source, threads)
    shape, element_type, result = checked_target(size, dtype, out)
    shape = parameter_shape(shape, [columns[0].shape, columns[1].shape, columns[2].shape])
    laws = Laws(kind, columns, shape)
    if not laws.all_fit(element_type):
        laws.require_fit(element_type, parameter_name(kind))
    if result is None:
        result = empty(shape, element_type)
    fill_laws(result, laws, by, bits, n_threads)
    return result if out is None else out
