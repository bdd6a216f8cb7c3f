"""Laws drawn by the compiled core."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from inspect import cleandoc
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import INT64, Method
from .._inputs.messages import describe
from .._inputs.source import Source, check_filled
from .._law import Kind, LawSpec
from .._native import __file__ as core_file
from .._native import ffi, lib
from ..errors import (
    EntropyError,
    ParameterOverflowError,
    ParameterValueError,
    RangeError,
    SourceError,
)
from .fill import in_one_process
from .sampler import Sampler

__all__ = [
    "NativeFiller",
    "NativeSampler",
    "built_in_sample",
    "c_parameters",
    "columns",
    "fill_laws",
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
_SAMPLER_OF = ffi.addressof(lib, "dg_python_sampler_of")


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
    """Return functions.h's: fill_now, new_sample, columns."""
    functions: list[Any] = [_error_for_status, np.empty, INT64, np.ndarray]
    if lib.dg_python_functions(_address(functions)) != 0:
        raise MemoryError
    return functions[4:]


def _error_for_status(status: int, errno: int) -> Exception:
    """Return what a status other than DG_OK means, of a draw with bits of the system."""
    try:
        raise_for_status(status, None, None, errno)
    except Exception as error:
        return error
    raise SystemError("no draw and no error")  # no cover: the status is not DG_OK


_fill_now, _new_sample, columns = _built_in_functions()

_SIGNATURE = (
    "sample($self, size=None, *, dtype='int64', out=None, method='auto', source='getrandom', "
    "threads=1)\n--\n\n"
)


def built_in_sample(cls: type, slowly: Callable[..., Any]) -> Any:
    """Return a method of a class of laws: `slowly` as a built-in one (csrc/python/sample.h)."""
    shown = (_SIGNATURE + cleandoc(slowly.__doc__ or "")).encode()
    return _new_sample((cls, slowly, shown))


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


_METHODS = {
    "auto": lib.DG_AUTO,
    "reference": lib.DG_REFERENCE,
    "cells": lib.DG_CELLS,
    "isochronous": lib.DG_ISOCHRONOUS,
}


class NativeSampler(Sampler):
    """A law made ready in the C core, which decides how it is drawn (csrc/sampler)."""

    def __init__(self, spec: LawSpec) -> None:
        super().__init__(spec)
        handle, (parameters, _kept) = ffi.new("dg_sampler **"), c_parameters(spec)
        raise_for_status(lib.dg_sampler_new(handle, int(spec.kind), parameters), None)
        self._handle = ffi.gc(handle[0], lib.dg_sampler_free)
        self._address = int(ffi.cast("uintptr_t", self._handle))
        self._width = int(lib.dg_sampler_wide_bytes(self._handle))

    def require_fit(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype that does not provably hold the law; most fit int64 by far."""
        if dtype != INT64 or not lib.dg_sampler_fits_int64(self._handle):
            super().require_fit(dtype)

    def describe(self) -> Any:
        """Return the handle's dg_sampler_info."""
        info = ffi.new("dg_sampler_info *")
        lib.dg_sampler_describe(info, self._handle)
        return info

    def require(self, method: Method) -> None:
        """Refuse a method by which the law cannot be drawn."""
        self.choose(1, "getrandom", method)

    def choose(self, n: int, source: Source, method: Method = "auto", run: Any = None) -> int:
        """Return the dg_method by which n draws are made, and have it ready."""
        way, (_caller, pointer) = ffi.new("dg_method *"), _c_source(source)
        run = run or _Run(1)
        status = lib.dg_sampler_choose(way, n, _METHODS[method], self._handle, run.pointer, pointer)
        if status != lib.DG_OK:
            self._raise(status, method, None, run)
        return int(way[0])

    def _raise(
        self,
        failure: Any,
        method: Method,
        caller: _CallerSource | None = None,
        run: _Run | None = None,
    ) -> NoReturn:
        """Raise what a status other than DG_OK means, or what a signal's handler raised."""
        if isinstance(failure, BaseException):
            raise failure
        status, errno = failure if isinstance(failure, tuple) else (failure, None)
        if status == lib.DG_ERR_PARAMETER:
            raise _no_isochronous() if method == "isochronous" else _no_table(self.spec)
        raise_for_status(status, caller, run, errno)
        raise SystemError("no draw and no error")  # no cover: the status is not DG_OK

    def draw(self, source: Source, method: Method = "auto") -> int:
        """Return one draw, of any size."""
        out, (caller, pointer) = ffi.new("uint8_t[]", self._width), _c_source(source)
        status = lib.dg_sampler_draw_wide(out, self._width, _METHODS[method], self._handle, pointer)
        if status != lib.DG_OK:
            self._raise(status, method, caller)
        if self._one is None:
            self._one = self._address if lib.dg_sampler_fits_int64(self._handle) else 0
        return int.from_bytes(ffi.buffer(out), "little", signed=True)

    def fill(
        self, out: NDArray[Any], source: Source, threads: int = 1, method: Method = "auto"
    ) -> None:
        """Fill `out`: one axis, contiguous, native integers or objects."""
        dtype = _DTYPES.get(out.dtype)
        if dtype is None:
            self._fill_in_pieces(out, _keep_objects, source, threads, method)
            return
        zero_out = out.fill
        n_threads = threads if threads < _MOST_THREADS else _MOST_THREADS
        way, n_threads = _METHODS[method], min(threads, _MOST_THREADS)
        caller, run = None, None
        try:
            if isinstance(source, str):  # a caller's own may compare as it likes
                failure = _fill_now(self._address, out, dtype, way, n_threads, _KINDS[source])
            else:
                caller, run = _CallerSource(source), _Run(1)
                buffer = ffi.from_buffer("char[]", out, require_writable=True)
                given = (buffer, out.size, dtype, way, self._handle, run.pointer, caller.pointer)
                failure = lib.dg_sampler_fill(*given) or None
        except BaseException:  # a signal, heard as the call returned
            zero_out(0)
            raise
        if failure is not None:
            self._raise(failure, method, caller, run)

    def add(
        self,
        out: NDArray[np.int64],
        values: NDArray[np.int64],
        nulls: NDArray[np.bool_] | None,
        source: Source,
        threads: int = 1,
        method: Method = "auto",
    ) -> None:
        """Let `out` hold `values` plus draws, exactly, and 0 where `nulls` are; else as `fill`."""
        run, (caller, pointer), zero_out = _Run(threads), _c_source(source), out.fill
        sums = ffi.from_buffer("int64_t[]", out, require_writable=True)
        addend = ffi.from_buffer("int64_t[]", values)
        shown = ffi.NULL if nulls is None else ffi.from_buffer("uint8_t[]", nulls.view(np.uint8))
        how = (_METHODS[method], self._handle, run.pointer, pointer)
        try:
            status = lib.dg_sampler_add(sums, addend, shown, out.size, *how)
        except BaseException:  # a signal, heard as the call returned
            zero_out(0)
            raise
        if status != lib.DG_OK:
            self._raise(status, method, caller, run)

    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out`, contiguous: two's complement, least significant byte first."""
        self._fill_in_pieces(out, _keep_bytes, source, threads, "auto")

    def _fill_in_pieces(
        self,
        out: NDArray[Any],
        keep: Callable[[NDArray[Any], Any, int], None],
        source: Source,
        threads: int,
        method: Method,
    ) -> None:
        """Have `keep` put the draws, integers of as many bytes as any may need, into `out`."""
        run, width = _Run(threads), self._width
        way = self.choose(len(out), source, method, run)  # all pieces go one way
        # a whole number of chunks, so that the pieces use the bits that one fill would use
        chunk = int(self.describe().chunk) if way == lib.DG_CELLS else 1
        at_once = max(1, _WIDE_BYTES // (width * chunk)) * chunk
        wide = np.empty(min(at_once, len(out)) * width, np.uint8)
        wipe, zero_drawn, reached = partial(wide.fill, 0), partial(out[:0].fill, 0), 0
        caller, pointer = _c_source(source)
        buffer = ffi.from_buffer("uint8_t[]", wide, require_writable=True)

        def fill_each() -> None:
            nonlocal zero_drawn, reached
            for start in range(0, len(out), at_once):
                part = out[start : start + at_once]
                if start + at_once > reached:  # the child of a fork begins anew
                    reached = start + at_once
                    zero_drawn = partial(out[:reached].fill, 0)
                status = lib.dg_sampler_fill_wide(
                    buffer, len(part), width, way, self._handle, run.pointer, pointer
                )
                raise_for_status(status, caller, run)
                keep(part, buffer, width)

        try:
            try:
                in_one_process(fill_each)
            finally:
                wipe()
        except BaseException:  # also a signal, heard as the buffer was wiped
            zero_drawn()
            raise


def _keep_objects(part: NDArray[Any], buffer: Any, width: int) -> None:
    objects = ffi.from_buffer("void *[]", part, require_writable=True)
    if lib.dg_python_integers(objects, len(part), width, buffer):
        raise MemoryError


def _keep_bytes(part: NDArray[Any], buffer: Any, width: int) -> None:
    rows, (n, n_bytes) = ffi.from_buffer("uint8_t[]", part), part.shape
    if lib.dg_python_resize(rows, n_bytes, n, width, buffer):
        raise_for_status(lib.DG_ERR_RANGE, None)


def _no_table(spec: LawSpec) -> ParameterValueError:
    return ParameterValueError(
        "beta: so large that 128 bits of (abs(x - mu)/scale)**beta do not tell the integers next "
        f"to mu apart; no table holds such a law, got beta = {describe(spec.beta)} with scale = "
        f"{describe(spec.parameter)}"
    )


def fill_laws(
    out: NDArray[Any],
    kind: Kind,
    columns: list[NDArray[Any]],
    sampler_of: Callable[[int], Sampler],
    method: Method,
    source: Source,
    threads: int,
) -> None:
    """Fill `out` (one axis, contiguous, native integers): out[i] has law i.

    Parameters
    ----------
    kind : Kind
        Of all laws.
    columns : list of ndarray
        Parameters, centres, betas: one number for all laws, or one for each; int64 or finite
        float64 with one axis; or rows of int64, numerator and denominator in lowest terms.
    sampler_of : callable
        Returns a law, its centre without the nearest integer.
    """
    held: list[Sampler] = []

    def address_of(place: int) -> int | None:
        held.append(sampler_of(place))
        return held[-1]._address

    caller, pointer = _c_source(source)
    run, zero_out = _Run(threads), out.fill
    context = ffi.new("void *[2]", [_address(address_of), _address(run.errors)])
    parameter, centre, beta = (
        {
            "words": ffi.from_buffer("uint64_t[]", words),
            "stride": words.ndim if len(words) > 1 else 0,
            "format": _number_format(words),
        }
        for words in columns
    )
    given = {"kind": int(kind), "parameter": parameter, "centre": centre, "beta": beta}
    laws = ffi.new("dg_laws *", {**given, "sampler_of": _SAMPLER_OF, "context": context})
    buffer = ffi.from_buffer("char[]", out, require_writable=True)
    try:
        status = lib.dg_samplers_fill(
            buffer,
            out.size,
            _DTYPES[out.dtype],
            laws,
            _METHODS[method],
            ffi.NULL,
            run.pointer,
            pointer,
        )
    except BaseException:  # a signal, heard as the call returned
        zero_out(0)
        raise
    if status == lib.DG_ERR_PARAMETER and method == "isochronous":
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


def c_parameters(spec: LawSpec) -> tuple[Any, Any]:
    """Return a law's numbers as the C core takes them, and what has to be kept meanwhile."""
    encoded = [
        value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        for number in (spec.parameter, spec.mu, spec.beta)
        for value in number.as_integer_ratio()
    ]
    buffers = [ffi.from_buffer("uint8_t[]", data) for data in encoded]
    return ffi.new("dg_parameters *", [(b, len(b)) for b in buffers]), buffers


def new_law(spec: LawSpec, *, words: bool = True) -> Any:
    """Return a law of the C core, to be freed with its last reference."""
    handle, (parameters, _kept) = ffi.new("dg_law **"), c_parameters(spec)
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
