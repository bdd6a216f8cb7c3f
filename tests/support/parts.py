"""Samplers and bits of the C core with the options that tests and benchmarks set."""

from __future__ import annotations

from sys import maxsize
from typing import Any

from numpy.typing import NDArray

from discretegauss._drawing.engines import native
from discretegauss._inputs.source import Source
from discretegauss._law import Kind, LawSpec
from discretegauss.compat import SystemBits

if native is not None:
    from discretegauss._native import ffi, lib

_Native: Any = object if native is None else native.NativeSampler


def keystream(key: bytes, first_block: int, n_blocks: int) -> bytes:
    """Return blocks of the core's ChaCha20 stream under a key of 32 bytes."""
    blocks = ffi.new("uint8_t[]", 64 * n_blocks)
    lib.dg_keystream(blocks, n_blocks, ffi.from_buffer("uint8_t[]", key), first_block)
    return bytes(ffi.buffer(blocks))


class _Sampler(_Native):  # type: ignore[misc]
    """The package's sampler for a method and options (dg_options); `info` describes it."""

    def __init__(self, spec: LawSpec, method: int, **options: int) -> None:
        handle, self.info = ffi.new("dg_sampler **"), ffi.new("dg_sampler_info *")
        chosen = ffi.new("dg_options *", {"index_bits": 16, "block_bits": -1} | options)
        given = *native.c_texts(spec), method, chosen
        native.raise_for_status(lib.dg_sampler_new_with(handle, int(spec.kind), *given))
        self._spec, self._handle = spec, ffi.gc(handle[0], lib.dg_sampler_free)
        self._width = int(lib.dg_sampler_wide_bytes(self._handle))
        self.is_int64 = bool(lib.dg_sampler_fits_int64(self._handle))
        self.cells_from = maxsize
        self.chunk = int(lib.dg_sampler_chunk(self._handle))
        lib.dg_sampler_describe(self.info, self._handle)


class NativeLaw(_Sampler):
    """A law drawn by Algorithms 1-3; with words=False always by GMP."""

    def __init__(self, spec: LawSpec, *, words: bool = True) -> None:
        arithmetic = lib.DG_ARITHMETIC_AUTO if words else lib.DG_ARITHMETIC_GMP
        super().__init__(spec, lib.DG_REFERENCE, arithmetic=arithmetic)
        self.uses_words = bool(self.info.uses_words)


class NativeTable(_Sampler):
    """A law drawn from a cell table of a size, by an instruction set."""

    def __init__(
        self, spec: LawSpec, *, index_bits: int = 16, block_bits: int = -1, isa: int = 0
    ) -> None:
        sizes = {"index_bits": index_bits, "block_bits": block_bits}
        super().__init__(spec, lib.DG_CELLS, isa=isa, **sizes)


class NativeLanes(_Sampler):
    """A law drawn isochronously, in lanes, by an instruction set."""

    def __init__(self, spec: LawSpec, *, isa: int = 0) -> None:
        super().__init__(spec, lib.DG_ISOCHRONOUS, isa=isa)


class LookingBits(SystemBits):
    """SystemBits on a system that does not wipe memory in forked children."""

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self._bits = native.bits_behind(self.capsule, source, looks=True)


def fill_in_lanes(
    out: NDArray[Any], kind: Kind, columns: list[NDArray[Any]], source: Source, threads: int
) -> None:
    """Fill `out` by dg_laws_fill, law i by item i."""
    parameter, centre = (native._c_column(words) for words in columns)
    laws = ffi.new("dg_laws *", {"kind": int(kind), "parameter": parameter, "centre": centre})
    buffer = ffi.from_buffer("char[]", out, require_writable=True)
    native.Call(source, threads)(lib.dg_laws_fill, buffer, out.size, lib.DG_INT64, laws, ffi.NULL)
