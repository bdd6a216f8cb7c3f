"""Laws drawn by the compiled core."""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import cleandoc
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import INT64, Method, fits_dtype
from .._inputs.messages import describe
from .._inputs.parameter_arrays import Numbers
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
from .add import NO_FIT, Addend
from .sampler import Sampler

if not lib.dg_mpfr_is_thread_local():
    raise ImportError(
        "the compiled core needs an MPFR whose state belongs to each thread; the libmpfr in use "
        "was built without (mpfr_buildopt_tls_p() is 0): take one configured with "
        "--enable-thread-safe"
    )

_DTYPES = {
    np.dtype(f"{sign}{n_bytes}"): getattr(lib, f"DG_{name}{8 * n_bytes}")
    for sign, name in (("i", "INT"), ("u", "UINT"))
    for n_bytes in (1, 2, 4, 8)
}
_METHODS = {
    "auto": lib.DG_AUTO,
    "reference": lib.DG_REFERENCE,
    "cells": lib.DG_CELLS,
    "isochronous": lib.DG_ISOCHRONOUS,
}
_KINDS = {"getrandom": lib.DG_SOURCE_GETRANDOM, "chacha20": lib.DG_SOURCE_CHACHA20}
_SOURCES = {name: ffi.new("dg_source *", {"kind": kind}) for name, kind in _KINDS.items()}
_FORMATS = {"i": lib.DG_INTEGERS, "f": lib.DG_FLOATS}

#: More threads than this are never started: far more than the processors there are take turns, and
#: ten thousand would starve the machine.
_MOST_THREADS = max(64, 4 * (os.cpu_count() or 1))

_PAUSE = ffi.addressof(lib, "dg_python_pause")
_FILL = ffi.addressof(lib, "dg_python_fill")
_KEEP = ffi.addressof(lib, "dg_python_keep")
_SAMPLER_OF = ffi.addressof(lib, "dg_python_sampler_of")


def _address(value: object) -> Any:
    """Return the address of an object for C; the caller keeps the object alive."""
    return ffi.cast("void *", id(value))


class _Caller:
    """A caller's ``fill(buffer)`` for one call of the C core."""

    def __init__(self, fill: Callable[[memoryview], object]) -> None:
        self._fill, self._zeros = fill, 0

    def __call__(self, buffer: memoryview, whole: memoryview) -> None:
        """Have it fill the buffer; raise if it says that it did not. The buffer it may keep."""
        self._zeros = check_filled(self._fill(buffer), whole, self._zeros)


class Call:
    """A call of the C core: with which bits, by how many threads at most.

    The C core starts the threads, joins them, hears signals between two pieces, and zeroes what was
    drawn if a handler raises, all in one call: Python code that did so could itself be cut short by
    the next signal.
    """

    def __init__(self, source: Source, threads: int = 1) -> None:
        # C is given objects that do not hold this one: it would live until Python looks for cycles
        self.errors: list[BaseException] = []
        self.run = ffi.new("dg_run *", (min(threads, _MOST_THREADS), _PAUSE, _address(self.errors)))
        if isinstance(source, str):  # a caller's own may compare as it likes
            self.source = _SOURCES[source]
            return
        caller = _Caller(source)
        context = ffi.new("void *[2]", [_address(caller), _address(self.errors)])
        self._held = caller, context
        self.source = ffi.new("dg_source *", (lib.DG_SOURCE_CALLER, _FILL, context))

    def __call__(
        self,
        function: Any,
        *given: Any,
        zero: Callable[[int], object] = int,  # which zeroes nothing
        refusal: Callable[[], Exception] | None = None,
    ) -> None:
        """Call a function; raise what its status says, `refusal` where that is a parameter.

        If a signal is heard as it returns, draws are there: `zero` zeroes them. After that, in the
        frames up to the caller's, it finds them as it would one line later there.
        """
        try:
            status = function(*given, self.run, self.source)
        except BaseException:
            zero(0)
            raise
        raise_for_status(status, self.errors, refusal)


#: What a status means, where that is all that is known.
_ERRORS: dict[int, tuple[type[Exception], str]] = {
    lib.DG_ERR_SOURCE: (SourceError, "the source of bits failed"),
    lib.DG_ERR_NOMEM: (MemoryError, ""),
    lib.DG_ERR_STOPPED: (MemoryError, ""),  # there is no memory to say by what
    lib.DG_ERR_RANGE: (RangeError, NO_FIT),
    lib.DG_ERR_PARAMETER: (
        ParameterValueError,
        "the C core has no such law or table for these parameters",
    ),
    lib.DG_ERR_TOO_LONG: (
        ParameterOverflowError,
        f"parameters must have at most {lib.DG_MAX_PARAMETER_BITS} bits",
    ),
}


def raise_for_status(
    status: int,
    errors: list[BaseException] | None = None,
    refusal: Callable[[], Exception] | None = None,
    errno: int | None = None,
) -> None:
    """Raise what a status other than DG_OK means: an error of Python code that C called, first."""
    if status == lib.DG_OK:
        return
    if status in (lib.DG_ERR_STOPPED, lib.DG_ERR_SOURCE) and errors:
        raise errors.pop()
    if status == lib.DG_ERR_ENTROPY:
        code = ffi.errno if errno is None else errno
        said = f"the operating system gave no randomness (getrandom: {os.strerror(code)})"
        raise EntropyError(code, said)
    if status == lib.DG_ERR_PARAMETER and refusal is not None:
        raise refusal()
    error, message = _ERRORS[status]
    raise error(*filter(None, [message]))


def _error_for_status(status: int, errno: int) -> Exception:
    """Return what a status other than DG_OK means, of a draw with bits of the system."""
    try:
        raise_for_status(status, errno=errno)
    except Exception as error:
        return error
    raise SystemError("no draw and no error")  # no cover: the status is not DG_OK


def _built_in_functions() -> list[Any]:
    """Return functions.h's: fill_now, new_sample, columns, and the type of bit_generator.h."""
    functions: list[Any] = [_error_for_status, np.empty, INT64, np.ndarray]
    if lib.dg_python_functions(_address(functions)) != 0:
        raise MemoryError
    return functions[4:]


_fill_now, _new_sample, columns, _Bits = _built_in_functions()

_SIGNATURE = (
    "sample($self, size=None, *, dtype='int64', out=None, method='auto', source='getrandom', "
    "threads=1)\n--\n\n"
)


def built_in_sample(cls: type, slowly: Callable[..., Any]) -> Any:
    """Return a method of a class of laws: `slowly` as a built-in one (csrc/python/sample.h)."""
    shown = (_SIGNATURE + cleandoc(slowly.__doc__ or "")).encode()
    return _new_sample((cls, slowly, shown))


def bits_behind(capsule: object, source: str, *, looks: bool = False) -> Any:
    """Set what numpy calls for bits by a capsule; return the lock for that, which holds them.

    `looks` is for tests: at each call at the process, though the system wipes in forked children.
    """
    return _Bits(capsule, RLock, _KINDS[source], looks)


class NativeFiller:
    """What fills arrays from a C handle."""

    _handle: Any
    _fill: Any
    """A function of the C core like dg_law_fill."""

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`: one axis, contiguous, native integers."""
        buffer = ffi.from_buffer("char[]", out, require_writable=True)
        given = buffer, out.size, _DTYPES[out.dtype], self._handle
        Call(source, threads)(self._fill, *given, zero=out.fill)


class NativeSampler(Sampler):
    """A law made ready in the C core, which decides how it is drawn (csrc/sampler)."""

    def __init__(self, spec: LawSpec) -> None:
        super().__init__(spec)
        handle, (parameters, _kept) = ffi.new("dg_sampler **"), c_parameters(spec)
        raise_for_status(lib.dg_sampler_new(handle, int(spec.kind), parameters))
        self._handle = ffi.gc(handle[0], lib.dg_sampler_free)
        self._address = int(ffi.cast("uintptr_t", self._handle))
        self._width = int(lib.dg_sampler_wide_bytes(self._handle))

    def require_fit(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype that does not provably hold the law; most fit int64 by far."""
        if dtype != INT64 or not lib.dg_sampler_fits_int64(self._handle):
            super().require_fit(dtype)

    def require(self, method: Method) -> None:
        """Refuse a method by which the law cannot be drawn."""
        way = ffi.new("dg_method *")
        self._call(Call("getrandom"), method, lib.dg_sampler_choose, way, 1)

    def _call(
        self,
        call: Call,
        method: Method,
        function: Any,
        *given: Any,
        zero: Callable[[int], object] = int,
    ) -> None:
        """Have a function draw by a method, which the law may not have."""
        given = *given, _METHODS[method], self._handle
        call(function, *given, zero=zero, refusal=self._refusal(method))

    def _refusal(self, method: Method) -> Callable[[], Exception]:
        return _no_isochronous if method == "isochronous" else self._no_table

    def _no_table(self) -> ParameterValueError:
        return ParameterValueError(
            "beta: so large that 128 bits of (abs(x - mu)/scale)**beta do not tell the integers "
            "next to mu apart; no table holds such a law, got beta = "
            f"{describe(self.spec.beta)} with scale = {describe(self.spec.parameter)}"
        )

    def draw(self, source: Source, method: Method = "auto") -> int:
        """Return one draw, of any size."""
        errors, out = None, ffi.new("uint8_t[]", self._width)
        if isinstance(source, str):
            pointer = _SOURCES[source]
        else:
            call = Call(source)
            pointer, errors = call.source, call.errors
        given = out, self._width, _METHODS[method], self._handle, pointer
        status = lib.dg_sampler_draw_wide(*given)
        if status != lib.DG_OK:
            raise_for_status(status, errors, self._refusal(method))
        if self._one is None:
            self._one = self._address if lib.dg_sampler_fits_int64(self._handle) else 0
        return int.from_bytes(ffi.buffer(out), "little", signed=True)

    def fill(
        self, out: NDArray[Any], source: Source, threads: int = 1, method: Method = "auto"
    ) -> None:
        """Fill `out`: one axis, contiguous, native integers or objects."""
        dtype, zero_out = _DTYPES.get(out.dtype), out.fill
        if dtype is None:
            objects = ffi.from_buffer("void *[]", out, require_writable=True)
            self._stream(out, (objects, ffi.NULL, 0, 0), source, threads, method)
            return
        if not isinstance(source, str):
            buffer = ffi.from_buffer("char[]", out, require_writable=True)
            given = lib.dg_sampler_fill, buffer, out.size, dtype
            self._call(Call(source), method, *given, zero=zero_out)
            return
        how = _METHODS[method], min(threads, _MOST_THREADS), _KINDS[source]
        try:  # the same without objects of cffi's
            failure = _fill_now(self._address, out, dtype, *how)
        except BaseException:
            zero_out(0)
            raise
        if isinstance(failure, BaseException):
            raise failure
        if failure is not None:
            raise_for_status(failure[0], None, self._refusal(method), failure[1])

    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out`, contiguous: two's complement, least significant byte first."""
        rows = ffi.from_buffer("uint8_t[]", out, require_writable=True)
        self._stream(out, (ffi.NULL, rows, out.shape[1], 0), source, threads, "auto")

    def _stream(
        self, out: NDArray[Any], to: Any, source: Source, threads: int, method: Method
    ) -> None:
        """Draw integers of any size; `to`: the dg_python_wide that says where they go."""
        kept = ffi.new("dg_python_wide *", to)
        given = lib.dg_sampler_stream, _KEEP, kept, len(out)
        try:
            self._call(Call(source, threads), method, *given)
        except BaseException:
            out[: kept.reached].fill(0)  # no more: it may be larger than memory
            raise

    def ends(self, addend: Addend, *, exactly: bool) -> tuple[int, int]:
        """Return between which numbers integers are (dg_addend_ends)."""
        if addend.values.dtype == object:
            return addend.ends()
        (added, _kept), call, found = _c_addend(addend), Call("getrandom"), np.empty(2, np.uint64)
        words, n = ffi.from_buffer("uint64_t[]", found, require_writable=True), addend.values.size
        raise_for_status(lib.dg_addend_ends(words, n, added, exactly, call.run), call.errors)
        typed = found.view(f"{addend.values.dtype.kind}8")
        return int(typed[0]), int(typed[1])

    def add(
        self,
        out: NDArray[Any],
        addend: Addend,
        source: Source,
        threads: int = 1,
        method: Method = "auto",
    ) -> None:
        """Let `out` hold integers plus draws: words in the C core, if noise is int64."""
        if addend.values.dtype == object or not fits_dtype(self.spec, INT64):
            super().add(out, addend, source, threads, method)
            return
        sums = ffi.from_buffer("char[]", out, require_writable=True)
        added, _kept = _c_addend(addend)
        given = lib.dg_sampler_add, sums, out.size, added
        self._call(Call(source, threads), method, *given, zero=out.fill)


def _c_addend(addend: Addend) -> tuple[Any, Any]:
    """Return integers as the C core takes them, and what has to be kept meanwhile."""
    values, nulls = addend.values, addend.nulls
    if not (values.dtype.isnative and values.flags.aligned):
        values = values.astype(values.dtype.newbyteorder("="))
    words = ffi.from_buffer("char[]", values)
    are_null = ffi.NULL if nulls is None else ffi.from_buffer("uint8_t[]", nulls.view(np.uint8))
    rule = lib.DG_CLAMP if addend.is_clamped else lib.DG_REFUSE
    modulus = 0
    if addend.modulus is not None:
        rule, modulus = lib.DG_REDUCE, addend.modulus % 2**64
    given = words, _DTYPES[values.dtype], are_null, rule, modulus
    return ffi.new("dg_addend *", given), (words, are_null)


def fill_laws(
    out: NDArray[Any],
    kind: Kind,
    numbers: list[Numbers],
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
    numbers : list of Numbers
        Parameters, centres, betas.
    sampler_of : callable
        Returns a law, its centre without the nearest integer.
    """
    held: list[Sampler] = []

    def address_of(place: int) -> int | None:
        held.append(sampler_of(place))
        return held[-1]._address

    call = Call(source, threads)
    context = ffi.new("void *[2]", [_address(address_of), _address(call.errors)])
    parameter, centre, beta = map(_c_column, numbers)
    given = int(kind), parameter, centre, _SAMPLER_OF, context, beta
    buffer = ffi.from_buffer("char[]", out, require_writable=True)
    target = buffer, out.size, _DTYPES[out.dtype]
    how = ffi.new("dg_laws *", given), _METHODS[method], ffi.NULL
    refusal = _no_isochronous if method == "isochronous" else None
    call(lib.dg_samplers_fill, *target, *how, zero=out.fill, refusal=refusal)


def _c_column(numbers: Numbers) -> dict[str, Any]:
    words = numbers.words
    return {
        "words": ffi.from_buffer("uint64_t[]", words),
        "stride": words.ndim if len(words) > 1 else 0,
        "format": lib.DG_RATIOS if words.ndim == 2 else _FORMATS[words.dtype.kind],
        "repeat": numbers.repeat,
        "n": numbers.n,
    }


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


def versions() -> dict[str, str]:
    """Return whether the libraries below the C core came with it, and the versions they report."""
    beside = os.listdir(os.path.dirname(core_file))
    bundled = any(name.startswith("libgmp-") for name in beside)
    return {
        "libraries": "bundled" if bundled else "system",
        "gmp": ffi.string(lib.dg_gmp_version()).decode(),
        "mpfr": ffi.string(lib.dg_mpfr_version()).decode(),
    }
