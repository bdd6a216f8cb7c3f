"""Cell tables with a planted fault: the verifier has to reject each, for its own reason.

Each fault changes one thing of a table of the core; the verifier's message has to contain `reason`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from law_sums import GG, G, L

from discretegauss.verify._table import SPECIAL_CODE, Arc, CellTable, Partial, Row

SINGLE = G(10, "1/3")  # blocks of one integer
WIDE = L(1000, "1/3")
CUBIC = GG(10**6, 3, "1/3")
HUGE = G(2**4000 + Fraction(1, 3), "-1/2")


class Corruption(NamedTuple):
    """A single fault of a table."""

    name: str
    change: Callable[[CellTable], CellTable]
    reason: str


def _partial(table: CellTable, i: int, cell: Partial) -> CellTable:
    return replace(table, partial=(*table.partial[:i], cell, *table.partial[i + 1 :]))


def _moved_cell(table: CellTable) -> CellTable:
    full = list(table.full)
    full[full.index(1)] = 0
    return replace(table, full=tuple(full))


def _full_cell_twice(table: CellTable) -> CellTable:
    return replace(table, full=(*table.full, 1))


def _keep_partial(table: CellTable, keep: Callable[[Partial], bool]) -> CellTable:
    """Drop the other partial cells, and their arcs."""
    kept = [i for i, cell in enumerate(table.partial) if keep(cell)]
    return replace(
        table,
        partial=tuple(table.partial[i] for i in kept),
        arcs=(*(table.arcs[i] for i in kept), *table.arcs[len(table.partial) :]),
    )


def _partial_made_full(table: CellTable) -> CellTable:
    """Return a consistent layout of a wrong law."""
    cell = min((c for c in table.partial if c.block == 2), key=lambda c: c.level)
    fuller = replace(table, full=(*table.full, cell.block))
    return _keep_partial(fuller, lambda c: c != cell)


def _top_cell_dropped(table: CellTable) -> CellTable:
    cell = max((c for c in table.partial if c.block == 2), key=lambda c: c.level)
    return _keep_partial(table, lambda c: c != cell)


def _level_off(table: CellTable) -> CellTable:
    cell = table.partial[0]
    return _partial(table, 0, cell._replace(level=cell.level + 1))


def _arcs_swapped(table: CellTable) -> CellTable:
    i, j = 3, len(table.partial) // 2
    swapped = with_arc(table, i, table.arcs[j])
    return with_arc(swapped, j, table.arcs[i])


def _core_cut(table: CellTable) -> CellTable:
    last = table.last_block
    cut = replace(
        table, last_block=last - 1, full=tuple(block for block in table.full if block != last)
    )
    return _keep_partial(cut, lambda cell: cell.block != last)


def _narrow_tails(table: CellTable) -> CellTable:
    """Narrow the tail blocks; if they are one block already, change the number of their cells."""
    bits = max(0, table.tail_bits - 1)
    return replace(table, tail_bits=bits, n_tail_side=table.n_tail_side // 2)


def _row(table: CellTable, holds: Callable[[Row], bool], change: Callable[[Row], Row]) -> CellTable:
    """Change the first row that fits."""
    i = next(i for i, row in enumerate(table.rows) if holds(row))
    return replace(table, rows=(*table.rows[:i], change(table.rows[i]), *table.rows[i + 1 :]))


def _is_whole(row: Row) -> bool:
    return row.end == (0, 0)


def _has_special(row: Row) -> bool:
    return SPECIAL_CODE in row.code


def _to_next_block(row: Row) -> Row:
    code = 1 if row.code[2] == 0 else row.code[2] - 1
    return row._replace(code=(code, code, code))


def _longer_piece(row: Row) -> Row:
    return row._replace(end=(row.end[0] + 1, max(row.end[0] + 1, row.end[1])))


def _core_cut_left(table: CellTable) -> CellTable:
    first = table.first_block
    cut = replace(
        table, first_block=first + 1, full=tuple(block for block in table.full if block != first)
    )
    return _keep_partial(cut, lambda cell: cell.block != first)


def _ticks_moved(table: CellTable, n_bytes: int) -> CellTable:
    """Return the same integers, with fewer bytes below the ticks."""
    return replace(
        table, tick_bits=table.tick_bits + 8 * n_bytes, rest_bytes=table.rest_bytes - n_bytes
    )


CORRUPTIONS = [
    Corruption("one cell moved to another block", _moved_cell, "block 0"),
    Corruption("one full cell twice", _full_cell_twice, "cells"),
    Corruption(
        "a partial cell made full", _partial_made_full, "full cells of block 2 lie under the law"
    ),
    Corruption("a top cell dropped", _top_cell_dropped, "cells of block 2 cover the law"),
    Corruption("a level off by one", _level_off, "are the levels above its full ones"),
    Corruption("two cells with each other's arcs", _arcs_swapped, "bounds 2**0 H g"),
    Corruption(
        "an arc missing", lambda table: replace(table, arcs=table.arcs[:-1]), "have an arc each"
    ),
    Corruption(
        "height one more", lambda table: replace(table, height=table.height + 1), "cover the law"
    ),
    Corruption(
        "height one less",
        lambda table: replace(table, height=table.height - 1),
        "lie under the law",
    ),
    Corruption("a core block fewer", _core_cut, "where the right tail starts"),
    Corruption("tails half as wide, or none", _narrow_tails, "tail"),
    Corruption(
        "too few tail cells",
        lambda table: replace(table, n_tail_side=table.n_tail_side - 1),
        "n_tail_side",
    ),
    Corruption("no tails", lambda table: replace(table, n_tail_side=0), "n_tail_side"),
    Corruption(
        "one index bit fewer",
        lambda table: replace(table, index_bits=table.index_bits - 1),
        "fit 2**index_bits",
    ),
    Corruption(
        "one tick bit fewer",
        lambda table: replace(table, tick_bits=table.tick_bits - 1),
        "make up the low bits of y",
    ),
    Corruption(
        "a row given to another block",
        lambda table: _row(table, _is_whole, _to_next_block),
        "blocks have their full cells",
    ),
    Corruption(
        "a piece of a row one position longer",
        lambda table: _row(table, lambda row: row.end[1] > row.end[0] > 0, _longer_piece),
        "cell",
    ),
    Corruption(
        "special cells of a row off by one",
        lambda table: _row(
            table, _has_special, lambda row: row._replace(special=(row.special + 1) % 2**16)
        ),
        "one row and position leads to each other cell",
    ),
    Corruption(
        "a law half a percent wider",
        lambda table: replace(
            table, spec=table.spec._replace(parameter=table.spec.parameter * Fraction(201, 200))
        ),
        "cover the law",
    ),
]

LAYOUT_CORRUPTIONS = [
    Corruption("a core block fewer on the left", _core_cut_left, "where the left tail starts"),
    Corruption(
        "no core",
        lambda table: replace(table, first_block=1, last_block=0, height=1),
        "block 0 is in the core",
    ),
    Corruption("height 0", lambda table: replace(table, height=0), "height >= 1"),
    Corruption(
        "a block without cells",
        lambda table: replace(table, last_block=table.last_block + 1),
        "no others have cells",
    ),
    Corruption(
        "more arcs in a tail block than it has ticks",
        lambda table: replace(table, tail_arc_bits=table.tail_bits + table.tick_bits + 1),
        "divide its ticks",
    ),
    Corruption(
        "a row fewer",
        lambda table: replace(table, rows=table.rows[:-1]),
        "as many positions as cells",
    ),
    Corruption(
        "a piece that ends behind its row",
        lambda table: _row(
            table, _is_whole, lambda row: row._replace(end=(2**table.position_bits,) * 2)
        ),
        "the pieces of a row are in order",
    ),
    Corruption(
        "pieces that end in the wrong order",
        lambda table: _row(
            table, lambda row: row.end[1] > row.end[0], lambda row: row._replace(end=row.end[::-1])
        ),
        "the pieces of a row are in order",
    ),
    Corruption(
        "a mixed row whose first piece is empty",
        lambda table: _row(table, _is_whole, lambda row: row._replace(end=(0, 3))),
        "a row without a position is one block's",
    ),
    Corruption(
        "a row without a position that is special",
        lambda table: _row(
            table,
            lambda row: row.end == (1, 1) and row.code[2] == SPECIAL_CODE,
            lambda row: row._replace(end=(0, 0)),
        ),
        "a row without a position is one block's",
    ),
]
"""Faults that do not depend on the size of the table. test_verify.py plants them in a small one,
which it verifies in milliseconds."""

REST_CORRUPTIONS = [
    Corruption(
        "more than 48 bits of ticks",
        lambda table: _ticks_moved(table, 1),
        "make up the low bits of y",
    ),
    Corruption(
        "ticks too few to tell the place", lambda table: _ticks_moved(table, -3), "ticks alone tell"
    ),
]
"""Faults of a table whose blocks have more integers than ticks."""

ARC_CORRUPTIONS: dict[str, Callable[[Arc], Arc]] = {
    "no error": lambda arc: arc._replace(error=0),
    "a negative error": lambda arc: arc._replace(error=-1),
    "base too high": lambda arc: arc._replace(base=arc.base + 2 * arc.error + 1),
    "base too low": lambda arc: arc._replace(base=arc.base - 2 * arc.error - 1),
}
"""tests/verify/test_verify.py plants each in an arc of the core and in one of the tails."""

SHAPE_CORRUPTIONS: dict[str, Callable[[Arc], Arc]] = {
    "too steep": lambda arc: arc._replace(slope=arc.slope + 4 * arc.error + 6),
    "too flat": lambda arc: arc._replace(slope=max(0, arc.slope - 4 * arc.error - 6)),
    "bulging out": lambda arc: arc._replace(bulge=arc.bulge + 2 * arc.error + 2),
    "bulging in": lambda arc: arc._replace(bulge=arc.bulge - 2 * arc.error - 2),
    "its bulge turned over": lambda arc: arc._replace(bulge=-arc.bulge),
}
"""Faults that a block of one integer does not show. Each is planted in arcs that it makes wrong."""


def arc_height(reach: int, arc: Arc) -> int:
    """Return v, as ``dg_arc_height`` of csrc/cells/decide.h computes it."""
    middle = (reach * (2**24 - reach)) >> 30
    return arc.base - ((arc.slope * reach) >> 24) + ((arc.bulge * middle) >> 16)


def told_at(table: CellTable, i: int) -> int:
    """Return the reach at which an arc is read: that of the middle integer, or the only one."""
    n_bits = table.block_bits
    if i >= len(table.partial):
        n_bits += table.tail_bits - table.tail_arc_bits
    return 2**23 if n_bits > 0 else 0


def telling(table: CellTable) -> list[int]:
    """Return the arcs that say something there, with close bounds that are within the cell."""
    return [
        i
        for i, arc in enumerate(table.arcs)
        if arc.error < 2**12
        and arc.error <= arc_height(told_at(table, i), arc) <= 2**16 - arc.error
    ]


def made_wrong(table: CellTable, change: Callable[[Arc], Arc]) -> list[int]:
    """Return those that a change makes wrong, because bounds before and after do not meet."""
    wrong = []
    for i in telling(table):
        arc, reach = table.arcs[i], told_at(table, i)
        changed = change(arc)
        moved = abs(arc_height(reach, changed) - arc_height(reach, arc))
        if moved > arc.error + changed.error:
            wrong.append(i)
    return wrong


def with_arc(table: CellTable, i: int, arc: Arc) -> CellTable:
    """Return the table with another arc in one place."""
    return replace(table, arcs=(*table.arcs[:i], arc, *table.arcs[i + 1 :]))
