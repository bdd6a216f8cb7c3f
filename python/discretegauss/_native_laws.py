"""Laws drawn by the compiled core."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._native import ffi, lib
from ._parameters import shown
from ._source import Source, check_filled
from ._spec import Kind, Spec
from ._threads import interruptible
from .errors import (
    EntropyError,
    ParameterOverflowError,
    ParameterValueError,
    RangeError,
    SourceError,
)

__all__ = [
    "NativeLaw",
    "NativeLaws",
    "NativeSteady",
    "NativeTable",
    "keystream",
    "versions",
    "wipe_traces",
]

if not lib.dg_mpfr_is_thread_local():
    raise ImportError(
        "the compiled core needs an MPFR whose state belongs to each thread; the libmpfr in use "
        "was built without (mpfr_buildopt_tls_p() is 0): take one configured with "
        "--enable-thread-safe"
    )

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


#: ChaCha20 under a key that each call takes from the operating system.
_CHACHA20 = ffi.new("dg_source *", {"kind": lib.DG_SOURCE_CHACHA20})


class _Caller:
    """A caller's ``fill(buffer)``, and the exception that it raised."""

    def __init__(self, fill: Callable[[memoryview], object]) -> None:
        self.fill = fill
        self.error: BaseException | None = None
        self.zeros = 0


class _CallerSource:
    """A caller as the C core calls it.

    Not the caller itself: what its handle refers to must not hold the handle, or the source would
    live until Python looks for cycles.
    """

    def __init__(self, fill: Callable[[memoryview], object]) -> None:
        self.caller = _Caller(fill)
        self._handle = ffi.new_handle(self.caller)
        self.pointer = ffi.new(
            "dg_source *",
            {
                "kind": lib.DG_SOURCE_CALLER,
                "fill": lib.dg_python_fill,
                "context": self._handle,
            },
        )


def _keep_error(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> int:
    """Keep an exception that came outside the try below: Ctrl-C as the callback is entered."""
    context = None if traceback is None else traceback.tb_frame.f_locals.get("context")
    if context is not None:
        source: _Caller = ffi.from_handle(context)
        source.error = error
    return 1


@ffi.def_extern(error=1, onerror=_keep_error)
def dg_python_fill(context: Any, out: Any, n: int) -> int:
    """Let the caller's source fill a buffer of ours, then copy it: it may keep the memoryview."""
    source: _Caller = ffi.from_handle(context)
    buffer = bytearray(n)
    try:
        whole = memoryview(buffer)  # ours: while it is there, nobody can shorten the buffer
        source.zeros = check_filled(source.fill(memoryview(buffer)), whole, source.zeros)
        ffi.memmove(out, whole, n)
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
    if status == lib.DG_ERR_SOURCE and source is not None and source.caller.error is not None:
        error, source.caller.error = source.caller.error, None
        try:
            raise error
        finally:
            del error  # its traceback has this frame
    if status == lib.DG_ERR_SOURCE:
        raise SourceError("the source of bits failed")
    if status == lib.DG_ERR_NOMEM:
        raise MemoryError
    if status == lib.DG_ERR_RANGE:
        raise RangeError("a draw did not fit the output type; nothing is returned")
    if status == lib.DG_ERR_TOO_LONG:
        raise ParameterOverflowError(
            f"parameters must have at most {lib.DG_MAX_PARAMETER_BITS} bits"
        )
    raise ParameterValueError("the C core has no such law or table for these parameters")


def _to_bytes(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)


def _opened(source: Source) -> tuple[_CallerSource | None, Any]:
    """Return what a call draws from: the caller's source, if it is one, and the C pointer."""
    if isinstance(source, str):  # a caller's own may compare as it likes
        return None, ffi.NULL if source == "getrandom" else _CHACHA20
    caller = _CallerSource(source)
    return caller, caller.pointer


class _Draws:
    """Draws from a C handle, by the two functions that fill arrays from it."""

    _handle: Any
    _fill: Any
    _fill_wide: Any
    _width: int
    chunk: int

    def draw(self, source: Source) -> int:
        """Return one draw."""
        out = ffi.new("uint8_t[]", self._width)
        if isinstance(source, str) and source == "getrandom":
            status = self._fill_wide(out, 1, self._width, self._handle, ffi.NULL)
            if status != 0:
                _check(status, None)
        else:
            caller, pointer = _opened(source)
            _check(self._fill_wide(out, 1, self._width, self._handle, pointer), caller)
        return int.from_bytes(ffi.buffer(out), "little", signed=True)

    def fill(self, out: NDArray[Any], source: Source) -> None:
        """Fill `out`: one axis, contiguous, native integers or objects."""
        caller, pointer = _opened(source)
        if out.dtype == object:
            self._fill_objects(out, caller, pointer)
            return
        buffer = ffi.from_buffer("char[]", out, require_writable=True)
        _check(self._fill(buffer, out.size, _DTYPES[out.dtype], self._handle, pointer), caller)

    def _fill_objects(self, out: NDArray[Any], caller: _CallerSource | None, pointer: Any) -> None:
        width = self._width
        # a whole number of chunks, so that the pieces use the bits that one fill would use
        at_once = max(1, _WIDE_BYTES // (width * self.chunk)) * self.chunk
        for start in range(0, out.size, at_once):
            n = min(at_once, out.size - start)
            wide = bytearray(n * width)
            buffer = ffi.from_buffer("uint8_t[]", wide, require_writable=True)
            _check(self._fill_wide(buffer, n, width, self._handle, pointer), caller)
            try:
                out[start : start + n] = [
                    int.from_bytes(one, "little", signed=True)
                    for (one,) in struct.iter_unpack(f"{width}s", wide)
                ]
            finally:
                wide[:] = bytes(n * width)


class NativeLaw(_Draws):
    """A law made ready in the C core, drawn by Algorithms 1-3.

    Parameters
    ----------
    spec : Spec
        What to draw.
    words : bool, optional
        False draws with GMP even where machine words would do (tests compare the two).
    """

    chunk = 1

    def __init__(self, spec: Spec, *, words: bool = True) -> None:
        self._handle = _new_law(spec, words=words)
        self._fill = lib.dg_law_fill
        self._fill_wide = lib.dg_law_fill_wide
        self._width = int(lib.dg_law_wide_bytes(self._handle))
        self.uses_words = bool(lib.dg_law_uses_words(self._handle))
        self.first_piece = max(1, 2**15 // self._width)


class NativeTable(_Draws):
    """A law made ready in the C core, drawn from its cell table.

    Parameters
    ----------
    spec : Spec
        What to draw: a discrete Laplace, Gaussian or generalised Gaussian.
    index_bits, block_bits, isa : int, optional
        The table's size, its blocks', and the instruction set that looks up; tests choose others.
    """

    def __init__(
        self, spec: Spec, *, index_bits: int = 16, block_bits: int = -1, isa: int = 0
    ) -> None:
        self._law = _new_law(spec)  # the table refers to it

        def build() -> tuple[int, Any]:
            handle = ffi.new("dg_table **")
            status = lib.dg_table_new(handle, self._law, index_bits, block_bits, isa)
            return status, ffi.gc(handle[0], lib.dg_table_free) if status == lib.DG_OK else None

        status, self._handle = interruptible(build) if _builds_slowly(spec) else build()
        if status == lib.DG_ERR_PARAMETER and spec.kind is Kind.GENERALIZED_GAUSSIAN:
            raise _no_table(spec)
        _check(status, None)
        self._fill = lib.dg_table_fill
        self._fill_wide = lib.dg_table_fill_wide
        self._width = int(lib.dg_law_wide_bytes(self._law))
        self.info = ffi.new("dg_table_info *")
        lib.dg_table_describe(self.info, self._handle)
        self.chunk = int(self.info.chunk)
        self.first_piece = max(1, 2**18 // self._width)


def _no_table(spec: Spec) -> ParameterValueError:
    return ParameterValueError(
        "beta: so large that 128 bits of (abs(x - mu)/scale)**beta do not tell the integers next "
        f"to mu apart; no table holds such a law, got beta = {shown(spec.beta)} with scale = "
        f"{shown(spec.parameter)}"
    )


class NativeLaws:
    """Many laws of one kind, of four 64-bit numbers each, drawn by Algorithms 1-3 in one C call.

    Parameters
    ----------
    kind : Kind
        Of all of them; not the generalised Gaussian.
    numbers : ndarray
        A row of int64 for each law: numerator and denominator of its parameter, then of its centre,
        each pair in lowest terms.
    """

    first_piece = 2**10

    def __init__(self, kind: Kind, numbers: NDArray[np.int64]) -> None:
        self._kind = int(kind)
        self._numbers = np.ascontiguousarray(numbers, np.int64)

    def fill(self, out: NDArray[Any], which: NDArray[np.int64], source: Source) -> None:
        """Fill `out` (one axis, contiguous, native integers): out[i] has law which[i]."""
        caller, pointer = _opened(source)
        buffer = ffi.from_buffer("char[]", out, require_writable=True)
        numbers = ffi.from_buffer("int64_t[]", self._numbers)
        indices = ffi.from_buffer("int64_t[]", which)
        _check(
            lib.dg_laws_fill(
                buffer, out.size, _DTYPES[out.dtype], self._kind, numbers, indices, pointer
            ),
            caller,
        )


class NativeSteady:
    """A law made ready in the C core for single draws whose time does not depend on their value.

    Parameters
    ----------
    spec : Spec
        What to draw: a discrete Laplace, Gaussian or generalised Gaussian.

    Raises
    ------
    ParameterValueError
        There is no steady sampler for such parameters (csrc/cells/steady.h).
    """

    def __init__(self, spec: Spec) -> None:
        law, handle = _new_law(spec), ffi.new("dg_steady **")
        _check(lib.dg_steady_new(handle, law), None)
        #: It refers to the law, and so holds it: whoever has the handle has that, too.
        self.handle = ffi.gc(handle[0], partial(_free_before, law, lib.dg_steady_free))
        self._width = int(lib.dg_law_wide_bytes(law))
        self.info = ffi.new("dg_steady_info *")
        lib.dg_steady_describe(self.info, self.handle)
        #: One draw from getrandom, with nothing on the way that could be left out; and no reference
        #: to this object, which would then live until Python looks for cycles.
        self.draw_now: Callable[[], int] = (
            _system_draws(self.handle)
            if self.info.fits_int64
            else partial(_wide_draw, self.handle, self._width, "getrandom")
        )

    def draw(self, source: Source) -> int:
        """Return one draw."""
        if not self.info.fits_int64:
            return _wide_draw(self.handle, self._width, source)
        caller, pointer = _opened(source)
        drawn = lib.dg_steady_draw(self.handle, pointer)
        if drawn < _LEAST_DRAW:
            _check(drawn - _FAILED, caller)
        return drawn


def _free_before(_law: Any, free: Callable[[Any], None], handle: Any) -> None:
    """Free a sampler, whose law is still there; a module's names are not when Python ends."""
    free(handle)


#: Below _LEAST_DRAW dg_steady_draw returns _FAILED + status.
_LEAST_DRAW = lib.DG_LEAST_DRAW
_FAILED = -(2**63)


def _system_draws(handle: Any) -> Callable[[], int]:
    """Return a function that draws once from getrandom: all it needs is at hand."""
    c_draw, null, least_draw = lib.dg_steady_draw, ffi.NULL, _LEAST_DRAW

    def draw_now() -> int:
        drawn = c_draw(handle, null)
        if drawn < least_draw:
            _check(drawn - _FAILED, None)
        return drawn

    return draw_now


def _wide_draw(handle: Any, width: int, source: Source) -> int:
    """Return one draw of any size."""
    out = ffi.new("uint8_t[]", width)
    caller, pointer = _opened(source)
    _check(lib.dg_steady_draw_wide(out, width, handle, pointer), caller)
    return int.from_bytes(ffi.buffer(out), "little", signed=True)


def _builds_slowly(spec: Spec) -> bool:
    """Return whether the table of a law may take more than some 5 ms to build: up to 0.4 s."""
    parts = [n for f in (spec.parameter, spec.mu) for n in (f.numerator, f.denominator)]
    return spec.kind is Kind.GENERALIZED_GAUSSIAN or max(n.bit_length() for n in parts) > 1000


def _new_law(spec: Spec, *, words: bool = True) -> Any:
    """Return a law of the C core, to be freed with its last reference."""
    encoded = [
        _to_bytes(value)
        for number in (spec.parameter, spec.mu, spec.beta)
        for value in (number.numerator, number.denominator)
    ]
    buffers = [ffi.from_buffer("uint8_t[]", data) for data in encoded]
    parameters = ffi.new("dg_parameters *", [(b, len(b)) for b in buffers])
    handle = ffi.new("dg_law **")
    arithmetic = lib.DG_ARITHMETIC_AUTO if words else lib.DG_ARITHMETIC_GMP
    _check(lib.dg_law_new(handle, int(spec.kind), arithmetic, parameters), None)
    return ffi.gc(handle[0], lib.dg_law_free)


def keystream(key: bytes, first_block: int, n_blocks: int) -> bytearray:
    """Return blocks of the ChaCha20 stream under a key of 32 bytes."""
    out = bytearray(64 * n_blocks)
    buffer = ffi.from_buffer("uint8_t[]", out, require_writable=True)
    lib.dg_keystream(buffer, n_blocks, ffi.from_buffer("uint8_t[]", key), first_block)
    return out


def wipe_traces() -> None:
    """Wipe the vector registers, and the stack below, of draws that were copied by way of them."""
    lib.dg_wipe_traces()


def versions() -> dict[str, str]:
    """Return the versions of the libraries below the C core, as they report themselves."""
    return {
        "gmp": ffi.string(lib.dg_gmp_version()).decode(),
        "mpfr": ffi.string(lib.dg_mpfr_version()).decode(),
    }
