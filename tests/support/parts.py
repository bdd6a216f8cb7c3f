"""The parts of a sampler of the C core, one by one: what tests and benchmarks look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discretegauss._drawing.engines import native
from discretegauss._inputs.source import Source
from discretegauss._law import Kind, LawSpec

if native is not None:
    from discretegauss._native import ffi, lib


def new_law(spec: LawSpec, *, words: bool = True) -> Any:
    """A law of the C core, freed with its last reference."""
    arithmetic = lib.DG_ARITHMETIC_AUTO if words else lib.DG_ARITHMETIC_GMP
    handle = ffi.new("dg_law **")
    native.raise_for_status(
        lib.dg_law_new(handle, int(spec.kind), *native.c_texts(spec), arithmetic)
    )
    return ffi.gc(handle[0], lib.dg_law_free)


def keystream(key: bytes, first_block: int, n_blocks: int) -> bytes:
    """Blocks of the core's ChaCha20 stream under a key of 32 bytes."""
    blocks = ffi.new("uint8_t[]", 64 * n_blocks)
    lib.dg_keystream(blocks, n_blocks, ffi.from_buffer("uint8_t[]", key), first_block)
    return bytes(ffi.buffer(blocks))


def _made(kind: str, *given: Any) -> tuple[Any, Any]:
    """A handle of the C core, freed with its last reference, and its facts."""
    handle, info = ffi.new(f"dg_{kind} **"), ffi.new(f"dg_{kind}_info *")
    native.raise_for_status(getattr(lib, f"dg_{kind}_new")(handle, *given))
    held = ffi.gc(handle[0], getattr(lib, f"dg_{kind}_free"))
    getattr(lib, f"dg_{kind}_describe")(info, held)
    return held, info


class _Part:
    """What fills arrays from a handle that refers to a law."""

    chunk = 1

    def __init__(self, law: Any, kind: str, handle: Any) -> None:
        self._law, self._handle = law, handle
        self._filler = native.NativeFiller()
        self._filler._handle, self._filler._fill = handle, getattr(lib, f"dg_{kind}_fill")
        self._wide = getattr(lib, f"dg_{kind}_fill_wide")

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        if out.dtype == object:
            out[:] = self._integers(len(out), source)
        else:
            self._filler.fill(out, source, threads)

    def draw(self, source: Source) -> int:
        return self._integers(1, source)[0]

    def _integers(self, n: int, source: Source) -> list[int]:
        width = int(lib.dg_law_wide_bytes(self._law))
        out, call = np.empty((n, width), np.uint8), native.Call(source)
        buffer = ffi.from_buffer("uint8_t[]", out, require_writable=True)
        status = self._wide(buffer, n, width, self._handle, ffi.NULL, call.source)
        native.raise_for_status(status, call.errors)
        return [int.from_bytes(row.tobytes(), "little", signed=True) for row in out]


class NativeLaw(_Part):
    """A law drawn by Algorithms 1-3; without `words` by GMP, even where machine words would do."""

    def __init__(self, spec: LawSpec, *, words: bool = True) -> None:
        law = new_law(spec, words=words)
        super().__init__(law, "law", law)
        self.uses_words = bool(lib.dg_law_uses_words(law))


class NativeTable(_Part):
    """A law drawn from a cell table of a size, by an instruction set."""

    def __init__(
        self, spec: LawSpec, *, index_bits: int = 16, block_bits: int = -1, isa: int = 0
    ) -> None:
        law = new_law(spec)
        handle, self.info = _made("table", law, index_bits, block_bits, isa)
        super().__init__(law, "table", handle)
        self.chunk, self.memory = int(self.info.chunk), int(self.info.memory)


class NativeLanes(_Part):
    """A law drawn isochronously, many attempts at once, by an instruction set."""

    def __init__(self, spec: LawSpec, *, isa: int = 0) -> None:
        law = new_law(spec)
        handle, self.info = _made("lanes", law, isa)
        super().__init__(law, "lanes", handle)


class NativeIsochronous:
    """A law drawn isochronously, one draw at a time."""

    def __init__(self, spec: LawSpec) -> None:
        self._law = new_law(spec)
        self.handle, self.info = _made("isochronous", self._law)

    def draw(self, source: Source) -> int:
        width = int(lib.dg_law_wide_bytes(self._law))
        out, call = ffi.new("uint8_t[]", width), native.Call(source)
        status = lib.dg_isochronous_draw_wide(out, width, self.handle, call.source)
        native.raise_for_status(status, call.errors)
        return int.from_bytes(ffi.buffer(out), "little", signed=True)


def fill_in_lanes(
    out: NDArray[Any], kind: Kind, columns: list[NDArray[Any]], source: Source, threads: int
) -> None:
    """Fill `out` by dg_laws_fill, law i by item i."""
    parameter, centre = (native._c_column(words) for words in columns)
    laws = ffi.new("dg_laws *", {"kind": int(kind), "parameter": parameter, "centre": centre})
    buffer = ffi.from_buffer("char[]", out, require_writable=True)
    native.Call(source, threads)(lib.dg_laws_fill, buffer, out.size, lib.DG_INT64, laws, ffi.NULL)
