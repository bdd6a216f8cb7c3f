"""Laws drawn by the compiled core."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import describe
from .._inputs.source import Source, check_filled
from .._law import Kind, LawSpec
from .._native import __file__ as core_file
from .._native import ffi, lib
from .._system.threads import interruptible
from ..errors import (
    EntropyError,
    ParameterOverflowError,
    ParameterValueError,
    RangeError,
    SourceError,
)

__all__ = [
    "NativeIsochronous",
    "NativeLaw",
    "NativeLaws",
    "NativeTable",
    "keystream",
    "versions",
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


#: More threads than this are never started: far more than the processors there are take turns, and
#: ten thousand would starve the machine.
_MOST_THREADS = max(64, 4 * (os.cpu_count() or 1))

_PAUSE = ffi.addressof(lib, "dg_python_pause")
_FILL = ffi.addressof(lib, "dg_python_fill")


def _address(value: object) -> Any:
    """Return an object as C sees it: who asks keeps it alive."""
    return ffi.cast("void *", id(value))


class _Run:
    """How a fill is run: by how many threads at most; and what a signal's handler raised meanwhile.

    The C core starts the threads, joins them, hears signals between two pieces of the fill, and
    zeroes what was drawn if a handler raises, all in one call: Python code that did so could itself
    be cut short by the next signal.
    """

    def __init__(self, threads: int) -> None:
        self.errors: list[BaseException] = []
        self.pointer = ffi.new(
            "dg_run *",
            {
                "threads": min(threads, _MOST_THREADS),
                "pause": _PAUSE,
                "context": ffi.cast("void *", id(self.errors)),
            },
        )


#: ChaCha20 under a key that each call takes from the operating system.
_CHACHA20 = ffi.new("dg_source *", {"kind": lib.DG_SOURCE_CHACHA20})


class _Caller:
    """A caller's ``fill(buffer)`` for one call of the C core."""

    def __init__(self, fill: Callable[[memoryview], object]) -> None:
        self._fill, self._zeros = fill, 0

    def __call__(self, buffer: memoryview, whole: memoryview) -> None:
        """Have it fill the buffer; raise if it says that it did not. The buffer it may keep."""
        self._zeros = check_filled(self._fill(buffer), whole, self._zeros)


class _CallerSource:
    """A caller's source as the C core calls it, and what it raised.

    What C is given are objects that do not hold this one, or it would live until Python looks
    for cycles.
    """

    def __init__(self, fill: Callable[[memoryview], object]) -> None:
        self.errors: list[BaseException] = []
        self._caller = _Caller(fill)
        self._context = ffi.new("void *[2]", [_address(self._caller), _address(self.errors)])
        self.pointer = ffi.new(
            "dg_source *",
            {"kind": lib.DG_SOURCE_CALLER, "fill": _FILL, "context": self._context},
        )


def _raise_for_status(status: int, source: _CallerSource | None, run: _Run | None = None) -> None:
    """Raise what a status other than DG_OK means."""
    if status == lib.DG_OK:
        return
    if status == lib.DG_ERR_STOPPED and run is not None and run.errors:
        raise run.errors.pop()
    if status == lib.DG_ERR_ENTROPY:
        code = ffi.errno
        raise EntropyError(
            code, f"the operating system gave no randomness (getrandom: {os.strerror(code)})"
        )
    if status == lib.DG_ERR_SOURCE and source is not None and source.errors:
        raise source.errors.pop()
    if status == lib.DG_ERR_SOURCE:
        raise SourceError("the source of bits failed")
    if status in (lib.DG_ERR_NOMEM, lib.DG_ERR_STOPPED):  # stopped: no memory to say by what
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


def _c_source(source: Source) -> tuple[_CallerSource | None, Any]:
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
            status = self._fill_wide(out, 1, self._width, self._handle, ffi.NULL, ffi.NULL)
            if status != 0:
                _raise_for_status(status, None)
        else:
            caller, pointer = _c_source(source)
            status = self._fill_wide(out, 1, self._width, self._handle, ffi.NULL, pointer)
            _raise_for_status(status, caller)
        return int.from_bytes(ffi.buffer(out), "little", signed=True)

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`: one axis, contiguous, native integers or objects."""
        caller, pointer = _c_source(source)
        run = _Run(threads)
        if out.dtype == object:
            self._fill_objects(out, run, caller, pointer)
            return
        buffer = ffi.from_buffer("char[]", out, require_writable=True)
        dtype, zero_out = _DTYPES[out.dtype], out.fill
        try:
            status = self._fill(buffer, out.size, dtype, self._handle, run.pointer, pointer)
        except BaseException:  # a signal, heard as the call returned
            zero_out(0)
            raise
        if status != lib.DG_OK:
            _raise_for_status(status, caller, run)

    def _fill_objects(
        self, out: NDArray[Any], run: _Run, caller: _CallerSource | None, pointer: Any
    ) -> None:
        width = self._width
        # a whole number of chunks, so that the pieces use the bits that one fill would use
        at_once = max(1, _WIDE_BYTES // (width * self.chunk)) * self.chunk
        for start in range(0, out.size, at_once):
            n = min(at_once, out.size - start)
            wide = bytearray(n * width)
            buffer = ffi.from_buffer("uint8_t[]", wide, require_writable=True)
            try:
                status = self._fill_wide(buffer, n, width, self._handle, run.pointer, pointer)
                _raise_for_status(status, caller, run)
                out[start : start + n] = [
                    int.from_bytes(one, "little", signed=True)
                    for (one,) in struct.iter_unpack(f"{width}s", wide)
                ]
            finally:
                ffi.memmove(wide, bytes(n * width), n * width)


class NativeLaw(_Draws):
    """A law made ready in the C core, drawn by Algorithms 1-3.

    Parameters
    ----------
    spec : LawSpec
        What to draw.
    words : bool, optional
        False draws with GMP even where machine words would do (tests compare the two).
    """

    chunk = 1

    def __init__(self, spec: LawSpec, *, words: bool = True) -> None:
        self._handle = _new_law(spec, words=words)
        self._fill = lib.dg_law_fill
        self._fill_wide = lib.dg_law_fill_wide
        self._width = int(lib.dg_law_wide_bytes(self._handle))
        self.uses_words = bool(lib.dg_law_uses_words(self._handle))


class NativeTable(_Draws):
    """A law made ready in the C core, drawn from its cell table.

    Parameters
    ----------
    spec : LawSpec
        What to draw: a discrete Laplace, Gaussian or generalised Gaussian.
    index_bits, block_bits, isa : int, optional
        The table's size, its blocks', and the instruction set that looks up; tests choose others.
    """

    def __init__(
        self, spec: LawSpec, *, index_bits: int = 16, block_bits: int = -1, isa: int = 0
    ) -> None:
        self._law = _new_law(spec)  # the table refers to it

        def build() -> tuple[int, Any]:
            handle = ffi.new("dg_table **")
            status = lib.dg_table_new(handle, self._law, index_bits, block_bits, isa)
            return status, ffi.gc(handle[0], lib.dg_table_free) if status == lib.DG_OK else None

        status, self._handle = interruptible(build) if _builds_slowly(spec) else build()
        if status == lib.DG_ERR_PARAMETER and spec.kind is Kind.GENERALIZED_GAUSSIAN:
            raise _no_table(spec)
        _raise_for_status(status, None)
        self._fill = lib.dg_table_fill
        self._fill_wide = lib.dg_table_fill_wide
        self._width = int(lib.dg_law_wide_bytes(self._law))
        self.info = ffi.new("dg_table_info *")
        lib.dg_table_describe(self.info, self._handle)
        self.chunk = int(self.info.chunk)


def _no_table(spec: LawSpec) -> ParameterValueError:
    return ParameterValueError(
        "beta: so large that 128 bits of (abs(x - mu)/scale)**beta do not tell the integers next "
        f"to mu apart; no table holds such a law, got beta = {describe(spec.beta)} with scale = "
        f"{describe(spec.parameter)}"
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

    def __init__(self, kind: Kind, numbers: NDArray[np.int64]) -> None:
        self._kind = int(kind)
        self._numbers = np.ascontiguousarray(numbers, np.int64)

    def fill(
        self, out: NDArray[Any], which: NDArray[np.int64], source: Source, threads: int
    ) -> None:
        """Fill `out` (one axis, contiguous, native integers): out[i] has law which[i]."""
        caller, pointer = _c_source(source)
        run = _Run(threads)
        buffer = ffi.from_buffer("char[]", out, require_writable=True)
        numbers = ffi.from_buffer("int64_t[]", self._numbers)
        indices = ffi.from_buffer("int64_t[]", which)
        dtype = _DTYPES[out.dtype]
        status = lib.dg_laws_fill(
            buffer, out.size, dtype, self._kind, numbers, indices, run.pointer, pointer
        )
        _raise_for_status(status, caller, run)


class NativeIsochronous:
    """A law made ready in the C core for single draws whose time does not depend on their value.

    Parameters
    ----------
    spec : LawSpec
        What to draw: a discrete Laplace, Gaussian or generalised Gaussian.

    Raises
    ------
    ParameterValueError
        There is no isochronous sampler for such parameters (csrc/isochronous/sampler.h).
    """

    def __init__(self, spec: LawSpec) -> None:
        law, handle = _new_law(spec), ffi.new("dg_isochronous **")
        _raise_for_status(lib.dg_isochronous_new(handle, law), None)
        #: It refers to the law, and so holds it: anyone who has the handle has that, too.
        self.handle = ffi.gc(handle[0], partial(_free_before, law, lib.dg_isochronous_free))
        self._width = int(lib.dg_law_wide_bytes(law))
        self.info = ffi.new("dg_isochronous_info *")
        lib.dg_isochronous_describe(self.info, self.handle)
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
        caller, pointer = _c_source(source)
        drawn = lib.dg_isochronous_draw(self.handle, pointer)
        if drawn < _LEAST_DRAW:
            _raise_for_status(drawn - _FAILED, caller)
        return drawn


def _free_before(_law: Any, free: Callable[[Any], None], handle: Any) -> None:
    """Free a sampler, whose law is still there; a module's names are not when Python ends."""
    free(handle)


#: Below _LEAST_DRAW dg_isochronous_draw returns _FAILED + status.
_LEAST_DRAW = lib.DG_LEAST_DRAW
_FAILED = -(2**63)


def _system_draws(handle: Any) -> Callable[[], int]:
    """Return a function that draws once from getrandom: all it needs is at hand."""
    c_draw, null, least_draw = lib.dg_isochronous_draw, ffi.NULL, _LEAST_DRAW

    def draw_now() -> int:
        drawn = c_draw(handle, null)
        if drawn < least_draw:
            _raise_for_status(drawn - _FAILED, None)
        return drawn

    return draw_now


def _wide_draw(handle: Any, width: int, source: Source) -> int:
    """Return one draw of any size."""
    out = ffi.new("uint8_t[]", width)
    caller, pointer = _c_source(source)
    _raise_for_status(lib.dg_isochronous_draw_wide(out, width, handle, pointer), caller)
    return int.from_bytes(ffi.buffer(out), "little", signed=True)


def _builds_slowly(spec: LawSpec) -> bool:
    """Return whether the table of a law may take more than some 5 ms to build: up to 0.4 s."""
    parts = [n for f in (spec.parameter, spec.mu) for n in (f.numerator, f.denominator)]
    return spec.kind is Kind.GENERALIZED_GAUSSIAN or max(n.bit_length() for n in parts) > 1000


def _new_law(spec: LawSpec, *, words: bool = True) -> Any:
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
    _raise_for_status(lib.dg_law_new(handle, int(spec.kind), arithmetic, parameters), None)
    return ffi.gc(handle[0], lib.dg_law_free)


def keystream(key: bytes, first_block: int, n_blocks: int) -> bytearray:
    """Return blocks of the ChaCha20 stream under a key of 32 bytes."""
    out = bytearray(64 * n_blocks)
    buffer = ffi.from_buffer("uint8_t[]", out, require_writable=True)
    lib.dg_keystream(buffer, n_blocks, ffi.from_buffer("uint8_t[]", key), first_block)
    return out


def versions() -> dict[str, str]:
    """Return whether the libraries below the C core came with it, and the versions they report."""
    beside = os.listdir(os.path.dirname(core_file))
    bundled = any(name.startswith("libgmp-") for name in beside)
    return {
        "libraries": "bundled" if bundled else "system",
        "gmp": ffi.string(lib.dg_gmp_version()).decode(),
        "mpfr": ffi.string(lib.dg_mpfr_version()).decode(),
    }
