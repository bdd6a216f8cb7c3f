"""A cell table as plain data, copied out of the C core: what the verifier looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ._spec import Spec

__all__ = ["Line", "Partial", "Table", "copy_out"]


class Line(NamedTuple):
    """``dg_line`` of csrc/cells/table.h."""

    base: int
    error: int
    far: int
    slope: int


class Partial(NamedTuple):
    """``dg_partial`` of csrc/cells/table.h."""

    block: int
    level: int
    line: int


@dataclass(frozen=True)
class Table:
    """``dg_table`` of csrc/cells/table.h, its names kept; `full` is ``block_of``."""

    spec: Spec
    index_bits: int
    block_bits: int
    tick_bits: int
    rest_bytes: int
    tail_bits: int
    height: int
    first_block: int
    last_block: int
    n_tail_side: int
    tail_lines: int
    tail_line_bits: int
    centre: int
    full: tuple[int, ...]
    partial: tuple[Partial, ...]
    lines: tuple[Line, ...]


def copy_out(spec: Spec, *, index_bits: int = 16, block_bits: int = -1) -> Table:
    """Return the table that the C core builds for a law.

    Parameters
    ----------
    spec : Spec
        A discrete Laplace, Gaussian or generalised Gaussian.
    index_bits, block_bits : int, optional
        The table's size and its blocks'; -1: the core chooses.

    Raises
    ------
    ParameterValueError
        The core has no such table.
    """
    from ._native import ffi, lib
    from ._native_laws import NativeTable

    native = NativeTable(spec, index_bits=index_bits, block_bits=block_bits)
    info, handle = native.info, native._handle
    block = ffi.new("int32_t *")
    level, line = ffi.new("uint32_t *"), ffi.new("uint32_t *")
    full: list[int] = []
    partial: list[Partial] = []
    for i in range(info.n_full + info.n_partial):
        lib.dg_table_cell(block, level, line, i, handle)
        if i < info.n_full:
            full.append(block[0])
        else:
            partial.append(Partial(block[0], level[0], line[0]))
    base, error = ffi.new("int64_t *"), ffi.new("int64_t *")
    far, slope = ffi.new("uint64_t *"), ffi.new("uint64_t *")
    slope_bits = ffi.new("uint32_t *")
    lines: list[Line] = []
    for i in range(info.n_lines):
        lib.dg_table_line(base, error, far, slope, slope_bits, i, handle)
        if slope_bits[0] != SLOPE_BITS:
            raise RuntimeError(f"a slope has {slope_bits[0]} binary places, not {SLOPE_BITS}")
        lines.append(Line(base[0], error[0], far[0], slope[0]))
    return Table(
        spec=spec,
        index_bits=info.index_bits,
        block_bits=info.block_bits,
        tick_bits=info.tick_bits,
        rest_bytes=info.rest_bytes,
        tail_bits=info.tail_bits,
        height=info.height,
        first_block=info.first_block,
        last_block=info.last_block,
        n_tail_side=info.n_tail_side,
        tail_lines=info.tail_lines,
        tail_line_bits=info.tail_line_bits,
        centre=info.centre,
        full=tuple(full),
        partial=tuple(partial),
        lines=tuple(lines),
    )


#: ``DG_SLOPE_BITS``: binary places of a slope.
SLOPE_BITS = 40
