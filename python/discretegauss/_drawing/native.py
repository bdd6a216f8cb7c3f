"""Laws drawn by the compiled core."""

from __future__ import annotations

import os
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
    "NativeFiller",
    "NativeIsochronous",
    "NativeLanes",
    "NativeLaw",
    "NativeLaws",
    "NativeTable",
    "keystream",
    "new_law",
    "raise_for_status",
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

#: Objects, and integers of few bytes, are made from a buffer of about so many bytes at a time.
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


_KINDS = {"getrandom": lib.DG_SOURCE_GETRANDOM, "chacha20": lib.DG_SOURCE_CHACHA20}

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


def raise_for_status(
    status: int,
    source: _CallerSource | None,
    run: _Run | None = None,
    errno: int | None = None,
) -> None:
    """Raise what a status other than DG_OK means."""
    if status == lib.DG_OK:
        return
    if status == lib.DG_ERR_STOPPED and run is not None and run.errors:
        raise run.errors.pop()
    if status == lib.DG_ERR_ENTROPY:
        code = ffi.errno if errno is None else errno
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


def _built_in_functions() -> list[Any]:
    """Return python_calls.h's functions: fill_by_law, fill_by_table, fill_by_lanes, new_draw."""
    functions: list[Any] = [_error_for_status]
    if lib.dg_python_functions(_address(functions)) != 0:
        raise MemoryError
    return functions[1:]


def _error_for_status(status: int, errno: int) -> Exception:
    """Return what a status other than DG_OK means, of a draw with bits of the system."""
    try:
        raise_for_status(status, None, None, errno)
    except Exception as error:
        return error
    raise SystemError("no draw and no error")  # no cover: the status is not DG_OK


_fill_by_law, _fill_by_table, _fill_by_lanes, _new_draw = _built_in_functions()


def _to_bytes(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)


def _c_source(source: Source) -> tuple[_CallerSource | None, Any]:
    """Return what a call draws from: the caller's source, if it is one, and the C pointer."""
    if isinstance(source, str):  # a caller's own may compare as it likes
        return None, ffi.NULL if source == "getrandom" else _CHACHA20
    caller = _CallerSource(source)
    return caller, caller.pointer


class NativeFiller:
    """What fills arrays from a C handle."""

    _handle: Any
    _fill: Any
    """A function of the C core like dg_law_fill."""

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`: one axis, contiguous, native integers."""
        caller, pointer = _c_source(source)
        run, zero_out = _Run(threads), out.fill
        buffer = ffi.from_buffer("char[]", out, require_writable=True)
        dtype = _DTYPES[out.dtype]
        try:
            status = self._fill(buffer, out.size, dtype, self._handle, run.pointer, pointer)
        except BaseException:  # a signal, heard as the call returned
            zero_out(0)
            raise
        if status != lib.DG_OK:
            raise_for_status(status, caller, run)


class _Draws(NativeFiller):
    """Draws from the C handle of a law, by the two functions that fill arrays from it."""

    _address: int
    """That of the handle."""
    _fill_now: Any
    """Fills with bits of the system."""
    _fill_wide: Any
    _width: int
    chunk: int
    """A fill may be cut at multiples of this without changing what it draws from given bits."""

    def draw(self, source: Source) -> int:
        """Return one draw."""
        out = ffi.new("uint8_t[]", self._width)
        if isinstance(source, str) and source == "getrandom":
            status = self._fill_wide(out, 1, self._width, self._handle, ffi.NULL, ffi.NULL)
            if status != 0:
                raise_for_status(status, None)
        else:
            caller, pointer = _c_source(source)
            status = self._fill_wide(out, 1, self._width, self._handle, ffi.NULL, pointer)
            raise_for_status(status, caller)
        return int.from_bytes(ffi.buffer(out), "little", signed=True)

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`: one axis, contiguous, native integers or objects."""
        dtype = _DTYPES.get(out.dtype)
        if dtype is None:
            caller, pointer = _c_source(source)
            self._fill_objects(out, _Run(threads), caller, pointer)
            return
        if not isinstance(source, str):  # a caller's own may compare as it likes
            super().fill(out, source, threads)
            return
        zero_out = out.fill
        n_threads = threads if threads < _MOST_THREADS else _MOST_THREADS
        try:
            error = self._fill_now(self._address, out, dtype, n_threads, _KINDS[source])
        except BaseException:  # a signal, heard as the call returned
            zero_out(0)
            raise
        if error is not None:
            raise error

    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out`, contiguous: two's complement, least significant byte first."""
        caller, pointer = _c_source(source)

        def keep(part: NDArray[Any], buffer: Any) -> None:
            rows, (n, n_bytes) = ffi.from_buffer("uint8_t[]", part), part.shape
            if lib.dg_python_resize(rows, n_bytes, n, self._width, buffer):
                raise_for_status(lib.DG_ERR_RANGE, None)

        self._fill_in_pieces(out, keep, _Run(threads), caller, pointer)

    def _fill_objects(
        self, out: NDArray[Any], run: _Run, caller: _CallerSource | None, pointer: Any
    ) -> None:
        def keep(part: NDArray[Any], buffer: Any) -> None:
            objects = ffi.from_buffer("void *[]", part, require_writable=True)
            if lib.dg_python_integers(objects, len(part), self._width, buffer):
                raise MemoryError

        self._fill_in_pieces(out, keep, run, caller, pointer)

    def _fill_in_pieces(
        self,
        out: NDArray[Any],
        keep: Callable[[NDArray[Any], Any], None],
        run: _Run,
        caller: _CallerSource | None,
        pointer: Any,
    ) -> None:
        """Have `keep` put the draws, integers of as many bytes as any may need, into `out`."""
        width = self._width
        # a whole number of chunks, so that the pieces use the bits that one fill would use
        at_once = max(1, _WIDE_BYTES // (width * self.chunk)) * self.chunk
        wide = np.empty(min(at_once, len(out)) * width, np.uint8)
        wipe, zero_drawn = partial(wide.fill, 0), partial(out[:0].fill, 0)
        try:
            try:
                buffer = ffi.from_buffer("uint8_t[]", wide, require_writable=True)
                for start in range(0, len(out), at_once):
                    part = out[start : start + at_once]
                    zero_drawn = partial(out[: start + at_once].fill, 0)
                    status = self._fill_wide(
                        buffer, len(part), width, self._handle, run.pointer, pointer
                    )
                    raise_for_status(status, caller, run)
                    keep(part, buffer)
            finally:
                wipe()
        except BaseException:  # also a signal, heard as the buffer was wiped
            zero_drawn()
            raise


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
        self._handle = new_law(spec, words=words)
        self._address = int(ffi.cast("uintptr_t", self._handle))
        self._fill_now = _fill_by_law
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
        self._law = new_law(spec)  # the table refers to it

        def build() -> tuple[int, Any]:
            handle = ffi.new("dg_table **")
            status = lib.dg_table_new(handle, self._law, index_bits, block_bits, isa)
            return status, ffi.gc(handle[0], lib.dg_table_free) if status == lib.DG_OK else None

        status, self._handle = interruptible(build) if _builds_slowly(spec) else build()
        if status == lib.DG_ERR_PARAMETER and spec.kind is Kind.GENERALIZED_GAUSSIAN:
            raise _no_table(spec)
        raise_for_status(status, None)
        self._address = int(ffi.cast("uintptr_t", self._handle))
        self._fill_now = _fill_by_table
        self._fill = lib.dg_table_fill
        self._fill_wide = lib.dg_table_fill_wide
        self._width = int(lib.dg_law_wide_bytes(self._law))
        self.info = ffi.new("dg_table_info *")
        lib.dg_table_describe(self.info, self._handle)
        self.chunk, self.memory = int(self.info.chunk), int(self.info.memory)


def _no_table(spec: LawSpec) -> ParameterValueError:
    return ParameterValueError(
        "beta: so large that 128 bits of (abs(x - mu)/scale)**beta do not tell the integers next "
        f"to mu apart; no table holds such a law, got beta = {describe(spec.beta)} with scale = "
        f"{describe(spec.parameter)}"
    )


class NativeLaws:
    """Many laws of one kind, drawn in one C call: by Algorithms 1-3, or in lanes.

    Parameters
    ----------
    kind : Kind
        Of all of them; not the generalised Gaussian.
    parameters, centres : ndarray
        One number for all laws, or one for each: int64 or finite float64 with one axis; or rows of
        int64, numerator and denominator in lowest terms.
    """

    def __init__(self, kind: Kind, parameters: NDArray[Any], centres: NDArray[Any]) -> None:
        self._columns = [np.ascontiguousarray(words) for words in (parameters, centres)]
        columns = [
            {
                "words": ffi.from_buffer("uint64_t[]", words),
                "stride": words.ndim if len(words) > 1 else 0,
                "format": _number_format(words),
            }
            for words in self._columns
        ]
        given = {"kind": int(kind), "parameter": columns[0], "centre": columns[1]}
        self._laws = ffi.new("dg_laws *", given)

    def fill(
        self,
        out: NDArray[Any],
        which: NDArray[np.int64] | None,
        source: Source,
        threads: int,
        *,
        in_lanes: bool = False,
        isochronous: bool = False,
    ) -> None:
        """Fill `out` (one axis, contiguous, native integers): out[i] has law which[i], or law i.

        With `isochronous` those that lanes do not hold are drawn isochronously, too.
        """
        caller, pointer = _c_source(source)
        run = _Run(threads)
        buffer = ffi.from_buffer("char[]", out, require_writable=True)
        indices = ffi.NULL if which is None else ffi.from_buffer("int64_t[]", which)
        given = (buffer, out.size, _DTYPES[out.dtype], self._laws, indices)
        if in_lanes or isochronous:
            status = lib.dg_laws_fill_in_lanes(*given, isochronous, run.pointer, pointer)
        else:
            status = lib.dg_laws_fill(*given, run.pointer, pointer)
        if status == lib.DG_ERR_PARAMETER and isochronous:
            raise _no_isochronous()
        raise_for_status(status, caller, run)


def _number_format(words: NDArray[Any]) -> int:
    if words.ndim == 2:
        return lib.DG_RATIOS
    return lib.DG_FLOATS if words.dtype == np.float64 else lib.DG_INTEGERS


def _no_isochronous() -> ParameterValueError:
    return ParameterValueError(
        "method: there is no isochronous sampler for scales below some 2**-28, nor for "
        "beta of 64 and more, got 'isochronous'"
    )


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
        law, handle = new_law(spec), ffi.new("dg_isochronous **")
        raise_for_status(lib.dg_isochronous_new(handle, law), None)
        #: It refers to the law, and so holds it: anyone who has the handle has that, too.
        self.handle = ffi.gc(handle[0], partial(_free_before, law, lib.dg_isochronous_free))
        self._width = int(lib.dg_law_wide_bytes(law))
        self.info = ffi.new("dg_isochronous_info *")
        lib.dg_isochronous_describe(self.info, self.handle)
        #: One draw from getrandom, with nothing on the way that could be left out; and no reference
        #: to this object, which would then live until Python looks for cycles.
        self.draw_now: Callable[[], int] = (
            _new_draw((int(ffi.cast("uintptr_t", self.handle)), self.handle, _error_for_status))
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
            raise_for_status(drawn - _FAILED, caller)
        return drawn


class NativeLanes(_Draws):
    """A law made ready in the C core for arrays whose time does not depend on their values.

    Parameters
    ----------
    spec : LawSpec
        What to draw: a discrete Laplace, Gaussian or generalised Gaussian.
    isa : int, optional
        The instruction set that draws; tests choose others.

    Raises
    ------
    ParameterValueError
        There is no isochronous sampler for such parameters (csrc/isochronous/sampler.h).
    """

    chunk = 1

    def __init__(self, spec: LawSpec, *, isa: int = 0) -> None:
        law, handle = new_law(spec), ffi.new("dg_lanes **")
        status = lib.dg_lanes_new(handle, law, isa)
        if status == lib.DG_ERR_PARAMETER:
            raise _no_isochronous()
        raise_for_status(status, None)
        self._handle = ffi.gc(handle[0], partial(_free_before, law, lib.dg_lanes_free))
        self._address = int(ffi.cast("uintptr_t", self._handle))
        self._fill_now = _fill_by_lanes
        self._fill = lib.dg_lanes_fill
        self._fill_wide = lib.dg_lanes_fill_wide
        self._width = int(lib.dg_law_wide_bytes(law))
        self.info = ffi.new("dg_lanes_info *")
        lib.dg_lanes_describe(self.info, self._handle)
        #: By the fastest kernel; AVX2's is not much faster than the portable one.
        self.is_fast = bool(self.info.in_lanes and self.info.isa >= lib.DG_ISA_AVX512)


def _free_before(_law: Any, free: Callable[[Any], None], handle: Any) -> None:
    """Free a sampler, whose law is still there; a module's names are not when Python ends."""
    free(handle)


#: Below _LEAST_DRAW dg_isochronous_draw returns _FAILED + status.
_LEAST_DRAW = lib.DG_LEAST_DRAW
_FAILED = -(2**63)


def _wide_draw(handle: Any, width: int, source: Source) -> int:
    """Return one draw of any size."""
    out = ffi.new("uint8_t[]", width)
    caller, pointer = _c_source(source)
    raise_for_status(lib.dg_isochronous_draw_wide(out, width, handle, pointer), caller)
    return int.from_bytes(ffi.buffer(out), "little", signed=True)


def _builds_slowly(spec: LawSpec) -> bool:
    """Return whether the table of a law may take more than some 5 ms to build: up to 0.4 s."""
    parts = [n for f in (spec.parameter, spec.mu) for n in (f.numerator, f.denominator)]
    return spec.kind is Kind.GENERALIZED_GAUSSIAN or max(n.bit_length() for n in parts) > 1000


def new_law(spec: LawSpec, *, words: bool = True) -> Any:
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
    raise_for_status(lib.dg_law_new(handle, int(spec.kind), arithmetic, parameters), None)
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
