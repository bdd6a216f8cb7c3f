"""The functions that draw: check, make the law ready, fill an array, return it."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._arguments import (
    Method,
    Size,
    Source,
    checked_dtype,
    checked_method,
    checked_out,
    checked_size,
    checked_source,
    checked_threads,
    require_fit,
)
from ._engine import PreparedLaw, prepare
from ._fill import fill_array
from ._parameters import exact_rational, positive, shown
from ._spec import Kind, Spec
from .errors import ParameterTypeError, ParameterValueError

__all__ = ["bernoulli_exp", "discrete_gaussian", "discrete_laplace", "geometric_exp"]

_NAMES = {
    Kind.DISCRETE_GAUSSIAN: "sigma2",
    Kind.DISCRETE_LAPLACE: "scale",
    Kind.GEOMETRIC_EXP: "gamma",
    Kind.BERNOULLI_EXP: "gamma",
}


def _exact_spec(kind: Kind, parameter: object, mu: object) -> Spec:
    name = _NAMES[kind]
    exact = exact_rational(parameter, name)
    if kind is not Kind.BERNOULLI_EXP:
        positive(exact, name)
    elif exact < 0:
        raise ParameterValueError(f"{name} must not be negative, got {shown(exact)}")
    return Spec(kind, exact, exact_rational(mu, "mu"))


#: Types whose equal values mean the same number, so that they may be keys of a cache.
_PLAIN_NUMBERS = frozenset({int, float, Fraction, str})


@lru_cache(maxsize=256, typed=True)
def _prepare_scalar(kind: Kind, parameter: object, mu: object) -> PreparedLaw:
    """Return the law for parameters as the user wrote them: saves scalar draws the conversion."""
    return prepare(_exact_spec(kind, parameter, mu))


def _as_array(value: object) -> NDArray[Any] | None:
    """Return `value` as an array if it is one of some kind, else None: it is a single number.

    Lists become arrays of objects: numpy would make floats or strings of mixed ones, and so change
    their values.
    """
    if isinstance(value, np.ndarray):
        return value if value.ndim else None
    if isinstance(value, list | tuple):
        try:
            return np.array(value, dtype=object)
        except ValueError:
            raise ParameterValueError("arrays of parameters must not be ragged") from None
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        array = np.asarray(value)
        return array if array.ndim else None
    return None


def _groups(
    kind: Kind, parameter: NDArray[Any], mu: NDArray[Any]
) -> list[tuple[Spec, NDArray[np.intp]]]:
    """Return the distinct laws of two arrays of one shape, each with its flat positions."""
    members: dict[Any, list[int]] = {}
    try:
        for i, pair in enumerate(zip(parameter.ravel().tolist(), mu.ravel().tolist(), strict=True)):
            # the types keep True apart from 1
            members.setdefault((pair, type(pair[0]), type(pair[1])), []).append(i)
    except TypeError:
        raise ParameterTypeError(
            f"{_NAMES[kind]} and mu must be numbers or arrays of numbers"
        ) from None
    return [
        (_exact_spec(kind, *pair), np.array(positions, dtype=np.intp))
        for (pair, _, _), positions in members.items()
    ]


def _parameter_shape(
    shape: tuple[int, ...] | None, parameter: NDArray[Any], mu: NDArray[Any]
) -> tuple[int, ...]:
    """Return the shape of the result; parameters broadcast to `shape`, as in numpy."""
    try:
        own = np.broadcast_shapes(parameter.shape, mu.shape)
        if shape is None:
            return own
        if np.broadcast_shapes(own, shape) == shape:
            return shape
    except ValueError:
        pass
    raise ParameterValueError(
        "size (or the shape of out) must be one that the arrays of parameters broadcast to, got "
        f"{shape} for {parameter.shape} and {mu.shape}"
    )


def _draw_groups(
    out: NDArray[Any],
    groups: list[tuple[Spec, NDArray[np.intp]]],
    source: Any,
    threads: int,
) -> None:
    """Fill `out` with draws of each law at its positions."""
    flat = np.empty(out.size, out.dtype)
    try:
        for spec, positions in groups:
            part = np.empty(positions.size, out.dtype)
            fill_array(part, prepare(spec), source, threads)
            flat[positions] = part
            part.fill(0)
        out[...] = flat.reshape(out.shape)
    except BaseException:
        out.fill(0)
        raise
    finally:
        flat.fill(0)


def _draw(
    kind: Kind,
    parameter: object,
    mu: object,
    *,
    size: Size,
    dtype: DTypeLike,
    out: NDArray[Any] | None,
    method: Method,
    source: Source,
    threads: int,
) -> Any:
    """Draw: the body of every public function. Everything is checked before anything is drawn."""
    checked_method(method)
    if (  # one draw with everything else left as it is: checked by these lines alone
        size is None
        and out is None
        and dtype is np.int64
        and source == "getrandom"
        and threads == 1
        and type(threads) is int
        and type(parameter) in _PLAIN_NUMBERS
        and type(mu) in _PLAIN_NUMBERS
    ):
        return _prepare_scalar(kind, parameter, mu).draw(None)
    fill = checked_source(source)
    n_threads = checked_threads(threads, fill)
    shape = checked_size(size)
    result = checked_out(out, shape)
    kept_dtype = checked_dtype(dtype) if result is None else checked_dtype(result.dtype)
    if result is not None:
        shape = result.shape

    parameters, centres = _as_array(parameter), _as_array(mu)
    if parameters is None and centres is None:
        spec = _exact_spec(kind, parameter, mu)
        if shape is None:
            if kept_dtype != np.int64:  # a Python int has room; another dtype was asked for
                require_fit(spec, kept_dtype, _NAMES[kind])
            return prepare(spec).draw(fill)
        require_fit(spec, kept_dtype, _NAMES[kind])
        result = np.empty(shape, kept_dtype) if result is None else result
        fill_array(result, prepare(spec), fill, n_threads)
        return result

    one_parameter = parameters if parameters is not None else np.array(parameter, dtype=object)
    one_mu = centres if centres is not None else np.array(mu, dtype=object)
    shape = _parameter_shape(shape, one_parameter, one_mu)
    groups = _groups(kind, np.broadcast_to(one_parameter, shape), np.broadcast_to(one_mu, shape))
    for spec, _ in groups:
        require_fit(spec, kept_dtype, _NAMES[kind])
    result = np.empty(shape, kept_dtype) if result is None else result
    _draw_groups(result, groups, fill, n_threads)
    return result


def discrete_gaussian(
    sigma2: Any,
    size: Size = None,
    *,
    mu: Any = 0,
    dtype: DTypeLike = np.int64,
    out: NDArray[Any] | None = None,
    method: Method = "auto",
    source: Source = "getrandom",
    threads: int = 1,
) -> Any:
    """Draw from the discrete Gaussian, P(x) ~ exp(-(x - mu)**2 / (2 sigma2)), exactly.

    Parameters
    ----------
    sigma2 : number or array_like
        The scale parameter, > 0; about the variance, never less than it. int, Fraction, Decimal,
        string ("1/3", "0.1"), numpy or gmpy2 number, or a float, which means its binary value.
    size : int or tuple of int, optional
        Shape of the result. None: one Python integer (or an array shaped by the parameters).
    mu : number or array_like, optional
        The centre, any rational.
    dtype : dtype, optional
        Integer type of the result, or object for Python integers of any size.
    out : ndarray, optional
        Array to fill and return instead of a new one; its shape and dtype hold.
    method : {"auto", "reference"}, optional
        How to draw; the law is the same.
    source : "getrandom" or callable, optional
        Where bits come from: the operating system, or ``fill(buffer: memoryview)``, which must fill
        the whole buffer with independent uniform bytes.
    threads : int, optional
        How many threads fill the array.

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

    Not promised: the time of a draw depends on its value (SECURITY.md).

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
    return _draw(
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
    dtype: DTypeLike = np.int64,
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
    return _draw(
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


def geometric_exp(
    gamma: Any,
    size: Size = None,
    *,
    dtype: DTypeLike = np.int64,
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
    return _draw(
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
    if out is not None and (not isinstance(out, np.ndarray) or out.dtype != np.bool_):
        raise ParameterTypeError("out must be a numpy array of bool")
    result = _draw(
        Kind.BERNOULLI_EXP,
        gamma,
        Fraction(0),
        size=size,
        dtype=np.uint8,
        out=None if out is None else out.view(np.uint8),
        method=method,
        source=source,
        threads=threads,
    )
    if out is not None:
        return out
    return result.view(np.bool_) if isinstance(result, np.ndarray) else bool(result)
