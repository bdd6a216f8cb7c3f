"""Samplers of the C core with options: what tests and benchmarks look at."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from discretegauss._drawing.engines import native
from discretegauss._inputs.draw_arguments import Method
from discretegauss._inputs.source import Source
from discretegauss._law import Kind, LawSpec

if native is not None:
    from discretegauss._native import ffi, lib

_Base: Any = object if native is None else native.NativeSampler


class Sampler(_Base):
    """A law made ready for one method, with what tests choose; the law is the same."""

    def __init__(
        self,
        spec: LawSpec,
        method: Method,
        *,
        words: bool = True,
        isa: int = 0,
        index_bits: int = 16,
        block_bits: int = -1,
    ) -> None:
        super().__init__(spec, method)  # refuses what has no such method
        arithmetic = lib.DG_ARITHMETIC_AUTO if words else lib.DG_ARITHMETIC_GMP
        options = ffi.new("dg_options *", (arithmetic, isa, index_bits, block_bits))
        handle = ffi.new("dg_sampler **")
        given = int(spec.kind), *native.c_texts(spec), native._METHODS[method], options
        native.raise_for_status(lib.dg_sampler_new_with(handle, *given))
        self._handle = ffi.gc(handle[0], lib.dg_sampler_free)
        self.info = ffi.new("dg_sampler_info *")
        lib.dg_sampler_describe(self.info, self._handle)
        self.chunk = int(lib.dg_sampler_chunk(self._handle))


def keystream(key: bytes, first_block: int, n_blocks: int) -> bytes:
    """Blocks of the core's ChaCha20 stream under a key of 32 bytes."""
    blocks = ffi.new("uint8_t[]", 64 * n_blocks)
    lib.dg_keystream(blocks, n_blocks, ffi.from_buffer("uint8_t[]", key), first_block)
    return bytes(ffi.buffer(blocks))


def fill_in_lanes(
    out: NDArray[Any], kind: Kind, columns: list[NDArray[Any]], source: Source, threads: int
) -> None:
    """Fill `out` by dg_laws_fill, law i by item i."""
    parameter, centre = (native._c_column(words) for words in columns)
    laws = ffi.new("dg_laws *", {"kind": int(kind), "parameter": parameter, "centre": centre})
    buffer = ffi.from_buffer("char[]", out, require_writable=True)
    native.Call(source, threads)(lib.dg_laws_fill, buffer, out.size, lib.DG_INT64, laws, ffi.NULL)
