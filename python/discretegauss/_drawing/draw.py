"""Draw: the body of every public function that draws; all is checked before anything is drawn."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._inputs.draw_arguments import (
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
from .._inputs.law_parameters import (
    as_array,
    distinct_laws,
    exact_spec,
    parameter_name,
    parameter_shape,
)
from .._inputs.numbers import LEAST_FLOAT, single
from .._inputs.parameter_arrays import Laws
from .._inputs.source import Source
from .._law import Kind, Spec
from ..errors import ParameterValueError
from .engines import ScalarLaw, prepare_scalar
from .fill import empty, fill_array
from .many_laws import fill_laws, require_all_fit
from .method import choose, has_cells

__all__ = ["draw"]


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
