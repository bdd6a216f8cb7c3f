"""Laws drawn by the compiled core."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from fractions import Fraction
from functools import partial
from sys import modules
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import INT64, Method, fits_dtype
from .._inputs.graphs import outside_of_graphs, refuse_recorded
from .._inputs.messages import describe
from .._inputs.parameter_arrays import Laws
from .._inputs.source import Source, check_filled
from .._law import Kind, LawSpec
from .._native import __file__ as core_file
from .._native import ffi, lib
from ..errors import (
    EntropyError,
    ParameterValueError,
    RangeError,
    SourceError,
)
from .add import NO_FIT, Addend, add_objects

if not lib.dg_mpfr_is_thread_local():
    raise ImportError(
        "the compiled core needs a thread-safe MPFR, but the libmpfr in use is not thread-safe "
        "(mpfr_buildopt_tls_p() is 0): install one that was configured with "
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
_SOURCES: dict[Any, Any] = {
    name: ffi.new("dg_source *", {"kind": kind}) for name, kind in _KINDS.items()
}
_FORMATS = {"i": lib.DG_INTEGERS, "f": lib.DG_FLOATS}

#: The folder of the extension and of the kernel's source.
FOLDER = os.path.dirname(core_file)

#: More threads than this are never started: more threads than processors only take turns,
#: and ten thousand would starve the machine.
_MOST_THREADS = max(64, 4 * (os.cpu_count() or 1))

_PAUSE = ffi.addressof(lib, "dg_python_pause")
_FILL = ffi.addressof(lib, "dg_python_source")

#: Keyed by numpy's type numbers, because two of them may name the same integer type.
_CODES = {np.dtype(name).num: _DTYPES[np.dtype(name)] for name in np.typecodes["AllInteger"]}

#: Results below this are statuses, not draws (dg_python_draw).
_LEAST_DRAW = -(2**63) + lib.DG_PYTHON_STATUSES

_KEY_BYTES = 32

_buffer, _fill, _draw = ffi.from_buffer, lib.dg_python_fill, lib.dg_python_draw

#: About how many draws become Python integers at a time.
_PIECE = 2**16


def _address(value: object) -> Any:
    """Return the address of an object for C; the caller keeps the object alive."""
    return ffi.cast("void *", id(value))


class _Caller:
    """A caller's ``fill(buffer)`` for one call of the C core."""

    def __init__(self, fill: Callable[[memoryview], object]) -> None:
        self._fill, self._zeros = fill, 0

    def __call__(self, buffer: memoryview, whole: memoryview) -> None:
        """Let the caller fill the buffer, which it may keep; raise if it says that it did not."""
        self._zeros = check_filled(self._fill(buffer), whole, self._zeros)


class Call:
    """The source of bits and the most threads of one call of the C core.

    The C core starts the threads, joins them, and handles signals between two pieces, all in one
    call. The next signal could interrupt Python code that did the same.
    """

    def __init__(self, source: Source, threads: int = 1) -> None:
        if "torch" in modules:
            refuse_recorded()
        # C gets objects that do not refer to this one, so that no cycle keeps it alive
        self.errors: list[BaseException] = []
        errors = ffi.cast("void *", id(self.errors))
        self.run = ffi.new("dg_run *", (min(threads, _MOST_THREADS), _PAUSE, errors))
        if isinstance(source, str):  # not `in`, because a caller's object may define ==
            self.source = _SOURCES[source]
            return
        caller = _Caller(source)
        context = ffi.new("void *[2]", [_address(caller), _address(self.errors)])
        self._references = caller, context
        self.source = ffi.new("dg_source *", (lib.DG_SOURCE_CALLER, _FILL, context))

    def __call__(self, function: Any, *arguments: Any) -> None:
        """Call a function of the C core, and raise the error that its status means."""
        status = function(*arguments, self.run, self.source)
        if status:
            raise_for_status(status, self.errors)


#: The error for each status that is no argument's, and comes without further information.
_ERRORS: dict[int, tuple[type[Exception], str]] = {
    lib.DG_ERR_SOURCE: (SourceError, "the source of bits failed"),
    lib.DG_ERR_NOMEM: (MemoryError, ""),
    lib.DG_ERR_STOPPED: (
        RuntimeError,
        "the draw was stopped in a forked child, or memory ran out while an error was recorded",
    ),
    lib.DG_ERR_RANGE: (RangeError, NO_FIT),
}

#: The statuses of laws that the core does not draw as asked; callers have their own words for them.
_REFUSALS = {lib.DG_ERR_METHOD, lib.DG_ERR_STEEP_BETA, lib.DG_ERR_NOISE_SAMPLER}


def raise_for_status(
    status: int,
    errors: list[BaseException] | None = None,
    refusal: Callable[[], Exception] | None = None,
    errno: int | None = None,
) -> None:
    """Raise the error that a status means; errors of Python code that C called come first."""
    if status == lib.DG_OK:
        return
    if status in (lib.DG_ERR_STOPPED, lib.DG_ERR_SOURCE) and errors:
        raise errors.pop()
    if status == lib.DG_ERR_ENTROPY:
        code = ffi.errno if errno is None else errno
        reason = f"the operating system gave no randomness (getrandom: {os.strerror(code)})"
        raise EntropyError(code, reason)
    if status in _REFUSALS and refusal is not None:
        raise refusal()
    if status not in _ERRORS:  # arguments are checked before, so this is a last resort
        raise ParameterValueError(ffi.string(lib.dg_status_text(status)).decode())
    error, message = _ERRORS[status]
    raise error(*filter(None, [message]))


def _error_for_status(status: int, errno: int) -> Exception:
    """Return the error that a status other than DG_OK means, for bit_generator.h."""
    try:
        raise_for_status(status, errno=errno)
    except Exception as error:
        return error
    raise SystemError("no draw and no error")  # no cover: the status is not DG_OK


def _bits_type() -> Any:
    functions: list[Any] = [_error_for_status]
    if lib.dg_python_bits_type(_address(functions)) != 0:
        raise MemoryError
    return functions[1]


_Bits = _bits_type()


def bits_behind(capsule: object, source: str, *, looks: bool = False) -> Any:
    """Set the functions by which numpy takes bits from a capsule; return the lock that holds them.

    `looks` is for tests: each call checks the process, even if the system wipes in forked children.
    """
    return _Bits(capsule, RLock, _KINDS[source], looks)


def fill_by(
    function: Any, out: NDArray[Any], handle: Any, source: Source, threads: int = 1
) -> None:
    """Fill `out` (one axis, contiguous, native integers) by a function like dg_selection_fill."""
    buffer = ffi.from_buffer("char[]", out, require_writable=True)
    Call(source, threads)(function, buffer, out.size, _DTYPES[out.dtype], handle)


def fill_words(out: NDArray[Any], source: Source, threads: int = 1) -> None:
    """Fill `out` (one axis, contiguous, native unsigned integers) with uniform words."""
    buffer = ffi.from_buffer("char[]", out, require_writable=True)
    Call(source, threads)(lib.dg_words_fill, buffer, out.size, _DTYPES[out.dtype])


class NativeSampler:
    """A law prepared by the C core for one method (dg_sampler)."""

    __slots__ = ("_handle", "_owner", "_spec", "_width", "is_int64")

    def __init__(self, spec: LawSpec, method: Method = "auto") -> None:
        handle = ffi.new("dg_sampler **")
        status = lib.dg_sampler_new(handle, int(spec.kind), *c_texts(spec), _METHODS[method])
        if status:
            refusal = _no_isochronous if method == "isochronous" else partial(_no_table, spec)
            raise_for_status(status, refusal=refusal)
        self._spec = spec
        self._handle = ffi.gc(handle[0], lib.dg_sampler_free)
        self._owner: Any = None
        self.is_int64 = bool(lib.dg_sampler_fits_int64(self._handle))
        self._width = int(lib.dg_sampler_wide_bytes(self._handle))

    def for_draws(self, n: int) -> NativeSampler:
        """Return the sampler that draws n draws in parts by the method that draws them at once."""
        by = ffi.new("const dg_sampler **")
        raise_for_status(lib.dg_sampler_for(by, n, self._handle))
        if by[0] == self._handle:
            return self
        found = copy(self)
        found._handle, found._owner = by[0], self._handle  # C frees both with the second
        return found

    def draw(self, source: Source) -> int:
        """Return one draw, of any size."""
        if "torch" in modules:
            refuse_recorded()
        if not self.is_int64:
            return self._integers(1, source)[0]
        call = None if isinstance(source, str) else Call(source)
        result: int = _draw(self._handle, _SOURCES[source] if call is None else call.source)
        if result < _LEAST_DRAW:
            raise_for_status(result + 2**63, None if call is None else call.errors)
        return result

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`, C-contiguous: native integers that hold the law, or objects."""
        if "torch" in modules:
            refuse_recorded()
        code = _CODES.get(out.dtype.num)
        if code is None:
            self._fill_objects(out.reshape(-1), source, threads)
            return
        call = None if isinstance(source, str) else Call(source)
        bits = _SOURCES[source] if call is None else call.source
        errors: list[BaseException] = [] if call is None else call.errors
        most = threads if threads < _MOST_THREADS else _MOST_THREADS
        status = _fill(_buffer(out), out.size, code, self._handle, most, bits, id(errors))
        if status:
            raise_for_status(status, errors)

    def noise_at(self, out: NDArray[Any], first_item: int, key: bytes | NDArray[Any]) -> None:
        """Fill `out`, one axis, with the items of a key's noise from `first_item` on."""
        n_bytes = key.nbytes if isinstance(key, np.ndarray) else len(key)
        if n_bytes != _KEY_BYTES:
            raise ParameterValueError(f"key must have {_KEY_BYTES} bytes, got {n_bytes}")
        arguments = self._handle, first_item, ffi.from_buffer("uint8_t[]", key)
        status = lib.dg_noise_at(_buffer(out), out.size, _CODES[out.dtype.num], *arguments)
        raise_for_status(status, refusal=_no_items)

    def packed(self) -> NDArray[np.uint64]:
        """Return the law as the kernel of a GPU reads it (dg_noise_pack)."""
        n_bytes = ffi.new("size_t *")
        check = partial(raise_for_status, refusal=_no_items)
        check(lib.dg_noise_pack(ffi.NULL, n_bytes, self._handle))
        law = np.empty(-(-n_bytes[0] // 8), np.uint64)
        to = ffi.from_buffer("uint8_t[]", law, require_writable=True)
        check(lib.dg_noise_pack(to, n_bytes, self._handle))
        return law

    @property
    def words(self) -> int:
        """The number of words of an item's cell (csrc/cells/noise_at.h)."""
        info = ffi.new("dg_sampler_info *")
        lib.dg_sampler_describe(info, self._handle)
        return int(info.noise_words)

    @outside_of_graphs
    def _fill_objects(self, out: NDArray[Any], source: Source, threads: int) -> None:
        """Fill `out`, one axis of objects, piece by piece, with draws from an int64 array."""
        by = self.for_draws(out.size)
        chunk = lib.dg_sampler_chunk(by._handle)
        words = 1 if self.is_int64 else self._width // 8 + 1
        step = max(_PIECE // chunk // words, 1) * chunk
        for start in range(0, out.size, step):
            part = out[start : start + step]
            if not self.is_int64:
                part[:] = by._integers(part.size, source, threads)
                continue
            draws = np.empty(part.size, INT64)
            try:
                by.fill(draws, source, threads)
                part[:] = draws
            finally:
                draws.fill(0)

    def _integers(self, n: int, source: Source, threads: int = 1) -> list[int]:
        """Return n draws of any size."""
        rows, call = np.empty(n, f"V{self._width}"), Call(source, threads)
        try:
            call(lib.dg_sampler_fill_wide, _buffer(rows), n, self._width, self._handle)
            return [int.from_bytes(row, "little", signed=True) for row in rows.tolist()]
        finally:
            rows.view(np.uint8).fill(0)

    def add(self, out: NDArray[Any], addend: Addend, source: Source, threads: int = 1) -> None:
        """Set `out` to integers plus draws, in the C core if int64 holds the noise."""
        if addend.values.dtype == object or not (self.is_int64 or fits_dtype(self._spec, INT64)):
            by = self.for_draws(out.size)
            add_objects(out, addend, lambda draws: by.fill(draws, source, threads))
            return
        c_addend, _buffers = _c_addend(addend)
        arguments = ffi.from_buffer(out), out.size, c_addend, self._handle
        Call(source, threads)(lib.dg_sampler_add, *arguments)


def _no_table(spec: LawSpec) -> ParameterValueError:
    return ParameterValueError(
        "beta must be smaller for this scale, because 128 bits of (abs(x - mu)/scale)**beta cannot "
        "distinguish the integers next to mu, got beta = "
        f"{describe(spec.beta)} with scale = {describe(spec.parameter)}"
    )


def _no_items() -> ParameterValueError:
    return ParameterValueError(
        "law must have a centre and a sigma or scale of at most about 2**52 for noise by item or "
        "on a GPU, where sigma or scale must also be at least 1/4 (1 for a GeneralizedGaussian), "
        "got another law"
    )


def addend_ends(addend: Addend, *, exactly: bool) -> tuple[int, int]:
    """Return the least and the greatest integer, or bounds of them (dg_addend_ends)."""
    (c_addend, _buffers), call = _c_addend(addend), Call("getrandom")
    ends, n = np.empty(2, np.uint64), addend.values.size
    words = ffi.from_buffer("uint64_t[]", ends, require_writable=True)
    if status := lib.dg_addend_ends(words, n, c_addend, exactly, call.run):
        raise_for_status(status, call.errors)
    typed = ends.view(f"{addend.values.dtype.kind}8")
    return int(typed[0]), int(typed[1])


def _c_addend(addend: Addend) -> tuple[Any, Any]:
    """Return integers as the C core takes them, and the buffers to keep alive meanwhile."""
    values, nulls = addend.values, addend.nulls
    if not (values.dtype.isnative and values.flags.aligned):
        values = values.astype(values.dtype.newbyteorder("="))
    words = ffi.from_buffer("char[]", values)
    are_null = ffi.NULL if nulls is None else ffi.from_buffer("uint8_t[]", nulls.view(np.uint8))
    rule = lib.DG_CLAMP if addend.is_clamped else lib.DG_REFUSE
    modulus = 0
    if addend.modulus is not None:
        rule, modulus = lib.DG_REDUCE, addend.modulus % 2**64
    fields = words, _DTYPES[values.dtype], are_null, rule, modulus
    return ffi.new("dg_addend *", fields), (words, are_null)


def fill_laws(out: NDArray[Any], laws: Laws, method: Method, source: Source, threads: int) -> None:
    """Fill `out`, C-contiguous native integers: element i from law i (dg_laws_fill)."""
    parameter, centre = laws.parameter.numbers(laws.shape), laws.mu.numbers(laws.shape)
    columns = _c_column(parameter, laws.parameter.are_roots), _c_column(centre)
    c_laws = ffi.new("dg_laws *", (int(laws.kind), *columns, _METHODS[method]))
    call = Call(source, threads)
    buffer, code = ffi.from_buffer(out), _CODES[out.dtype.num]
    status = lib.dg_laws_fill(buffer, out.size, code, c_laws, ffi.NULL, call.run, call.source)
    if status:
        raise_for_status(status, call.errors, refusal=_no_isochronous_laws)


def _c_column(words: NDArray[Any], are_roots: bool = False) -> dict[str, Any]:
    own = lib.DG_RATIOS if words.ndim == 2 else _FORMATS[words.dtype.kind]
    return {
        "words": ffi.from_buffer("uint64_t[]", words),
        "stride": words.ndim if len(words) > 1 else 0,
        "format": lib.DG_ROOTS if are_roots else own,
    }


def _no_isochronous() -> ParameterValueError:
    return ParameterValueError(
        "method may be 'isochronous' only for scales from about 2**-20 to 2**52, centres below "
        "2**61 and beta below 64, got 'isochronous' for another law"
    )


def _no_isochronous_laws() -> ParameterValueError:
    return ParameterValueError(
        "method may be 'isochronous' in arrays of laws only for scales from 2**-11 to 2**42, or "
        "sigma2 from 2**-16 to 2**62 (from 2**-4 if mu is not an integer), got 'isochronous' for "
        "another law"
    )


def c_text(number: Fraction) -> bytes:
    """Return a number as the C core reads it."""
    return b"%#x/%#x" % number.as_integer_ratio()


def c_texts(spec: LawSpec) -> tuple[bytes, Any, Any]:
    """Return the parameter, mu and beta of a law as the C core reads them."""
    beta = c_text(spec.beta) if spec.kind == Kind.GENERALIZED_GAUSSIAN else ffi.NULL
    return c_text(spec.parameter), c_text(spec.mu) if spec.mu else ffi.NULL, beta


def versions() -> dict[str, str]:
    """Return whether the C core's libraries came with it, and the versions that they report."""
    bundled = any(name.startswith("libgmp-") for name in os.listdir(FOLDER))
    return {
        "libraries": "bundled" if bundled else "system",
        "gmp": ffi.string(lib.dg_gmp_version()).decode(),
        "mpfr": ffi.string(lib.dg_mpfr_version()).decode(),
    }
