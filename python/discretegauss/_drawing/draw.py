"""Draw: the body of every public function that draws; all is checked before anything is drawn."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._inputs.draw_arguments import (
    AUTO,
    CHACHA20,
    FEW,
    INT64,
    ONE_THREAD,
    SYSTEM,
    Method,
    Size,
    checked_dtype,
    checked_method,
    checked_out,
    checked_size,
    checked_source,
    checked_threads,
)
from .._inputs.law_parameters import (
    arrays_of,
    exact_spec,
    laws_of,
    parameter_name,
    parameter_shape,
)
from .._inputs.numbers import DENORMALS_WORK
from .._inputs.source import Source
from .._law import Kind
from ..errors import ParameterValueError
from .engines import native, sampler
from .fill import NO_MEMORY, empty, fill_array
from .many_laws import fill_laws
from .sampler import Sampler

#: A law as a user gives it: its kind, its parameter, mu, beta.
Given = tuple[Kind, object, object, object]

#: Types whose equal values mean the same number, so that they may be keys of a cache: one that
#: tells types apart, or a law of 1 would be at hand for True.
_PLAIN_NUMBERS = frozenset({int, float, Fraction, str}) | {
    np.dtype(code).type for code in np.typecodes["AllInteger"] + "efd"
}


@lru_cache(maxsize=256, typed=True)
def _kept(kind: Kind, parameter: object, mu: object, beta: object) -> Sampler:
    """Return the law for parameters as the user wrote them: saves calls the conversion."""
    return sampler(exact_spec(kind, parameter, mu, beta))


def _checked_law(given: Sampler | Given) -> Sampler | list[NDArray[Any]]:
    """Return the law for single parameters; those of many laws as arrays, not yet checked."""
    if isinstance(given, Sampler):
        return given
    _, parameter, mu, beta = given
    if (
        type(parameter) in _PLAIN_NUMBERS
        and type(mu) in _PLAIN_NUMBERS
        and type(beta) in _PLAIN_NUMBERS
        # while denormals are 0, they would be one key
        and (DENORMALS_WORK or (parameter and (mu or type(mu) is int)))
    ):
        return _kept(*given)
    return arrays_of(*given) or sampler(exact_spec(*given))


def draw(
    law: Sampler | Given,
    size: Size,
    dtype: DTypeLike,
    out: NDArray[Any] | None,
    method: Method,
    source: Source,
    threads: int,
) -> Any:
    """Draw: the body of every public function; all is checked before anything is drawn."""
    checked: Sampler | list[NDArray[Any]] | None = None
    if (
        out is None
        and dtype is INT64
        and method is AUTO
        and threads is ONE_THREAD
        and (source is SYSTEM or source is CHACHA20)
        and (size is None or type(size) is int)
    ):
        if type(law) is tuple and native is not None and DENORMALS_WORK:
            kind, parameter, mu, beta = law
            if (type(parameter) is np.ndarray or type(mu) is np.ndarray) and kind.in_core:
                is_chacha20 = source is CHACHA20
                if type(parameter) in (int, float) and mu.dtype.char == "d":  # type: ignore[attr-defined]
                    parameter = np.array([parameter])  # of one number as of several
                drawn = native.columns(_kept, kind, parameter, mu, beta, size, is_chacha20)
                if drawn is not None:
                    return drawn
        if size is None or 0 <= size <= FEW:
            checked = _checked_law(law)
            if isinstance(checked, Sampler):
                return checked.draw(source) if size is None else checked.int64s(size, source)
    kind = law.spec.kind if isinstance(law, Sampler) else law[0]
    if method is not AUTO:
        checked_method(method, kind)
    bits = source if source is SYSTEM else checked_source(source)
    n_threads = threads if threads is ONE_THREAD else checked_threads(threads, bits)
    shape = None if size is None else checked_size(size)
    result = None if out is None else checked_out(out, shape)
    kept_dtype = INT64 if dtype is INT64 else checked_dtype(dtype)
    if result is not None:
        asked_dtype, kept_dtype = kept_dtype, checked_dtype(result.dtype, "out")
        if dtype is not INT64 and asked_dtype != kept_dtype:
            raise ParameterValueError(f"dtype must be that of out, {kept_dtype}, got {asked_dtype}")
        shape = result.shape

    checked = law if isinstance(law, Sampler) else checked or _checked_law(law)
    if isinstance(checked, Sampler):
        if shape is None:
            if dtype is not INT64:  # a Python int has room, but a dtype was asked for
                checked.require_fit(kept_dtype)
            return checked.draw(bits, method)
        checked.require_fit(kept_dtype)
        if result is None:
            result = empty(shape, kept_dtype)
        fill_array(result, partial(checked.fill, method=method), bits, n_threads)
    else:
        shape = parameter_shape(shape, checked)
        try:
            laws = laws_of(kind, checked, shape)
        except MemoryError:
            raise MemoryError(NO_MEMORY) from None
        laws.require_fit(kept_dtype, parameter_name(kind))
        if result is None:
            result = empty(shape, kept_dtype)
        fill_laws(result, laws, method, bits, n_threads)
    return result if out is None else out
