"""A cell table as data, copied out of the C core for the verifier."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from .._law import LawSpec


class Arc(NamedTuple):
    """``dg_arc`` of csrc/cells/table.h."""

    base: int
    slope: int
    error: int
    bulge: int


class Partial(NamedTuple):
    """``dg_partial`` of csrc/cells/table.h, without its arc."""

    block: int
    level: int


class Row(NamedTuple):
    """A row of ``dg_rows`` of csrc/cells/rows.h: the ends of two pieces, the codes of three."""

    end: tuple[int, int]
    code: tuple[int, int, int]
    special: int


@dataclass(frozen=True)
class CellTable:
    """``dg_table`` of csrc/cells/table.h, with the same names; `full` is ``block_of``.

    `arcs` has the arcs of the partial cells, in their order, then ``tail_arcs``.
    """

    spec: LawSpec
    index_bits: int
    position_bits: int
    block_bits: int
    tick_bits: int
    rest_bytes: int
    tail_bits: int
    height: int
    first_block: int
    last_block: int
    coded_first: int
    n_coded: int
    n_tail_side: int
    tail_arc_bits: int
    full: tuple[int, ...]
    partial: tuple[Partial, ...]
    arcs: tuple[Arc, ...]
    rows: tuple[Row, ...]


def sampler_of(spec: LawSpec, index_bits: int, block_bits: int, method: int | None = None) -> Any:
    """Return a sampler of the C core, by cells or another method; its last reference frees it."""
    from .._drawing.native import c_texts, raise_for_status
    from .._native import ffi, lib

    sizes = {"index_bits": index_bits, "block_bits": block_bits}
    sampler, options = ffi.new("dg_sampler **"), ffi.new("dg_options *", sizes)
    by = lib.DG_CELLS if method is None else method
    arguments = int(spec.kind), *c_texts(spec), by, options
    raise_for_status(lib.dg_sampler_new_with(sampler, *arguments))
    return ffi.gc(sampler[0], lib.dg_sampler_free)


def copy_out(spec: LawSpec, *, index_bits: int = 16, block_bits: int = -1) -> CellTable:
    """Return the table that the C core builds for a law.

    The law is a discrete Laplace, Gaussian or generalised Gaussian. With -1 the core chooses the
    size of the blocks.
    """
    from .._native import ffi, lib

    handle, info = sampler_of(spec, index_bits, block_bits), ffi.new("dg_sampler_info *")
    lib.dg_sampler_describe(info, handle)
    block = ffi.new("int32_t *")
    level = ffi.new("uint32_t *")
    full: list[int] = []
    partial: list[Partial] = []
    for i in range(info.n_full + info.n_partial):
        lib.dg_table_cell(block, level, i, handle)
        if i < info.n_full:
            full.append(block[0])
        else:
            partial.append(Partial(block[0], level[0]))
    base, slope = ffi.new("int32_t *"), ffi.new("uint32_t *")
    error, bulge = ffi.new("uint32_t *"), ffi.new("int32_t *")
    arcs: list[Arc] = []
    for i in range(info.n_partial + info.n_tail_arcs):
        lib.dg_table_arc(base, slope, error, bulge, i, handle)
        arcs.append(Arc(base[0], slope[0], error[0], bulge[0]))
    end, code = ffi.new("uint32_t[2]"), ffi.new("uint32_t[3]")
    rows: list[Row] = []
    for i in range(1 << info.row_bits):
        lib.dg_table_row(end, code, level, i, handle)
        rows.append(Row((end[0], end[1]), (code[0], code[1], code[2]), level[0]))
    names = [field.name for field in fields(CellTable) if hasattr(info, field.name)]
    numbers: dict[str, Any] = {name: getattr(info, name) for name in names}
    return CellTable(
        spec,
        **numbers,
        full=tuple(full),
        partial=tuple(partial),
        arcs=tuple(arcs),
        rows=tuple(rows),
    )


#: ``DG_REACH_BITS``: an arc depends on this many bits of an integer's place in its range.
REACH_BITS = 24

#: ``DG_SPECIAL_CODE``: the code of a piece that belongs to no block.
SPECIAL_CODE = 255
