"""Laws drawn by the compiled core."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._native import ffi, lib
from ._parameters import shown
from ._spec import Spec
from .errors import (
    EntropyError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
    RangeError,
)

__all__ = ["NativeLaw", "versions"]

_DTYPES = {
    np.dtype(name): value
    for name, value in [
        ("int8", lib.DG_INT8),
        ("int16", lib.DG_INT16),
        ("int32", lib.DG_INT32),
        ("int64", lib.DG_INT64),
        ("uint8", lib.DG_UINT8),
        ("uint16", lib.DG_UINT16),
        ("uint32", lib.DG_UINT32),
        ("uint64", lib.DG_UINT64),
    ]
}

#: Python objects are made from a buffer of at most about so many bytes at a time.
_WIDE_BYTES = 2**20


class _CallerSource:
    """A caller's ``fill(buffer)`` as the C core calls it; keeps the exception that it raised."""

    def __init__(self, fill: Callable[[memoryview], object]) -> None:
        self.fill = fill
        self.error: BaseException | None = None
        self._handle = ffi.new_handle(self)
        self.pointer = ffi.new("dg_source *", {"fill": lib.dg_python_fill, "context": self._handle})


@ffi.def_extern(error=1)
def dg_python_fill(context: Any, out: Any, n: int) -> int:
    """Let the caller's source fill a buffer of ours, then copy it: it may keep the memoryview."""
    source: _CallerSource = ffi.from_handle(context)
    buffer = bytearray(n)
    try:
        filled = source.fill(memoryview(buffer))
        if filled is not None and filled != n:
            raise ParameterValueError(
                "source must fill the whole buffer and return None (or the number of bytes), "
                f"got {shown(filled) if isinstance(filled, int) else type(filled).__name__}"
            )
        ffi.memmove(out, buffer, n)
    except BaseException as error:  # handed on to the caller by _check
        source.error = error
        return 1
    finally:
        buffer[:] = bytes(n)
    return 0


def _check(status: int, source: _CallerSource | None) -> None:
    """Raise what a status other than DG_OK means."""
    if status == lib.DG_OK:
        return
    if status == lib.DG_ERR_ENTROPY:
        code = ffi.errno
        raise EntropyError(
            code, f"the operating system gave no randomness (getrandom: {os.strerror(code)})"
        )
    if status == lib.DG_ERR_SOURCE and source is not None and source.error is not None:
        raise source.error
    if status == lib.DG_ERR_NOMEM:
        raise MemoryError
    if status == lib.DG_ERR_RANGE:
        raise RangeError("a draw did not fit the output type; nothing is returned")
    if status == lib.DG_ERR_TOO_LONG:
        raise ParameterOverflowError(
            f"parameters must have at most {lib.DG_MAX_PARAMETER_BITS} bits"
        )
    raise ParameterTypeError(f"the C core refused a parameter (status {status})")


def _to_bytes(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)


class NativeLaw:
    """A law made ready in the C core.

    Parameters
    ----------
    spec : Spec
        What to draw.
    words : bool, optional
        False draws with GMP even where machine words would do (tests compare the two).
    """

    def __init__(self, spec: Spec, *, words: bool = True) -> None:
        encoded = [
            _to_bytes(value)
            for number in (spec.parameter, spec.mu)
            for value in (number.numerator, number.denominator)
        ]
        buffers = [ffi.from_buffer("uint8_t[]", data) for data in encoded]
        parameters = ffi.new("dg_parameters *", [(b, len(b)) for b in buffers])
        handle = ffi.new("dg_law **")
        arithmetic = lib.DG_ARITHMETIC_AUTO if words else lib.DG_ARITHMETIC_GMP
        _check(lib.dg_law_new(handle, int(spec.kind), arithmetic, parameters), None)
        self._law = ffi.gc(handle[0], lib.dg_law_free)
        self._wide = int(lib.dg_law_wide_bytes(self._law))
        self.uses_words = bool(lib.dg_law_uses_words(self._law))
        parameter_bytes = max(map(len, encoded))
        self.first_piece = max(1, 2**13 // parameter_bytes)

    def draw(self, fill: Callable[[memoryview], object] | None) -> int:
        """Return one draw."""
        out = ffi.new("uint8_t[]", self._wide)
        if fill is None:
            status = lib.dg_law_fill_wide(out, 1, self._wide, self._law, ffi.NULL)
            if status != 0:
                _check(status, None)
        else:
            source = _CallerSource(fill)
            _check(lib.dg_law_fill_wide(out, 1, self._wide, self._law, source.pointer), source)
        return int.from_bytes(ffi.buffer(out), "little", signed=True)

    def fill(self, out: NDArray[Any], fill: Callable[[memoryview], object] | None) -> None:
        """Fill `out`: one axis, contiguous, native integers or objects."""
        source = None if fill is None else _CallerSource(fill)
        pointer = ffi.NULL if source is None else source.pointer
        if out.dtype == object:
            self._fill_objects(out, source, pointer)
            return
        buffer = ffi.from_buffer("char[]", out, require_writable=True)
        _check(lib.dg_law_fill(buffer, out.size, _DTYPES[out.dtype], self._law, pointer), source)

    def _fill_objects(self, out: NDArray[Any], source: _CallerSource | None, pointer: Any) -> None:
        width = self._wide
        at_once = max(1, _WIDE_BYTES // width)
        for start in range(0, out.size, at_once):
            n = min(at_once, out.size - start)
            wide = bytearray(n * width)
            buffer = ffi.from_buffer("uint8_t[]", wide, require_writable=True)
            _check(lib.dg_law_fill_wide(buffer, n, width, self._law, pointer), source)
            view = memoryview(wide)
            for i in range(n):
                draw = view[i * width : (i + 1) * width]
                out[start + i] = int.from_bytes(draw, "little", signed=True)
            view[:] = bytes(n * width)


def versions() -> dict[str, str]:
    """Return the versions of the libraries below the C core, as they report themselves."""
    return {
        "gmp": ffi.string(lib.dg_gmp_version()).decode(),
        "mpfr": ffi.string(lib.dg_mpfr_version()).decode(),
    }
