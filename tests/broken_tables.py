"""Cell tables broken on purpose: the verifier has to reject every one, each for its own reason.

Each takes a table of the core, as data, and changes one thing. `bias` says what the law of the
draws would become; `reason` is part of what the verifier says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from discretegauss._spec import Kind, Spec
from discretegauss._verify_table import SPECIAL_CODE, Line, Partial, Row, Table

SINGLE = Spec(Kind.DISCRETE_GAUSSIAN, Fraction(10), Fraction(1, 3))  # blocks of one integer
WIDE = Spec(Kind.DISCRETE_LAPLACE, Fraction(1000), Fraction(1, 3))
CUBIC = Spec(Kind.GENERALIZED_GAUSSIAN, Fraction(10**6), Fraction(1, 3), Fraction(3))
HUGE = Spec(Kind.DISCRETE_GAUSSIAN, 2**4000 + Fraction(1, 3), Fraction(-1, 2))


class Corruption(NamedTuple):
    """One thing wrong with a table."""

    name: str
    bias: str
    change: Callable[[Table], Table]
    reason: str


def _partial(table: Table, i: int, cell: Partial) -> Table:
    return replace(table, partial=(*table.partial[:i], cell, *table.partial[i + 1 :]))


def _moved_cell(table: Table) -> Table:
    full = list(table.full)
    full[full.index(1)] = 0
    return replace(table, full=tuple(full))


def _full_cell_twice(table: Table) -> Table:
    return replace(table, full=(*table.full, 1))


def _partial_made_full(table: Table) -> Table:
    """A consistent layout, and a wrong law."""
    cell = min((c for c in table.partial if c.block == 2), key=lambda c: c.level)
    partial = tuple(c for c in table.partial if c != cell)
    return replace(table, full=(*table.full, cell.block), partial=partial)


def _top_cell_dropped(table: Table) -> Table:
    cell = max((c for c in table.partial if c.block == 2), key=lambda c: c.level)
    return replace(table, partial=tuple(c for c in table.partial if c != cell))


def _level_off(table: Table) -> Table:
    cell = table.partial[0]
    return _partial(table, 0, cell._replace(level=cell.level + 1))


def _lines_swapped(table: Table) -> Table:
    i, j = 3, len(table.partial) // 2
    one, other = table.partial[i], table.partial[j]
    swapped = _partial(table, i, one._replace(line=other.line))
    return _partial(swapped, j, other._replace(line=one.line))


def _core_cut(table: Table) -> Table:
    last = table.last_block
    return replace(
        table,
        last_block=last - 1,
        full=tuple(block for block in table.full if block != last),
        partial=tuple(cell for cell in table.partial if cell.block != last),
    )


def _narrow_tails(table: Table) -> Table:
    """Where a tail block is one block already, the number of its cells is off instead."""
    bits = max(0, table.tail_bits - 1)
    return replace(table, tail_bits=bits, n_tail_side=table.n_tail_side // 2)


def _row(table: Table, holds: Callable[[Row], bool], change: Callable[[Row], Row]) -> Table:
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


CORRUPTIONS = [
    Corruption(
        "one cell moved to another block",
        "block 0 a cell too likely, block 1 a cell too unlikely",
        _moved_cell,
        "block 0",
    ),
    Corruption("one full cell twice", "block 1 a cell too likely", _full_cell_twice, "cells"),
    Corruption(
        "a partial cell made full",
        "block 2 too likely by what its cell should reject",
        _partial_made_full,
        "full cells of block 2 lie under the law",
    ),
    Corruption(
        "a top cell dropped",
        "block 2 too unlikely by its highest cell",
        _top_cell_dropped,
        "cells of block 2 cover the law",
    ),
    Corruption(
        "a level off by one",
        "the core's outermost block too unlikely by most of a cell",
        _level_off,
        "are the levels above its full ones",
    ),
    Corruption(
        "two cells with each other's lines",
        "two cells accept by the law of another place",
        _lines_swapped,
        "bounds 2**0 H g",
    ),
    Corruption(
        "height one more",
        "all partial cells accept too rarely, by one part in H of the law",
        lambda table: replace(table, height=table.height + 1),
        "cover the law",
    ),
    Corruption(
        "height one less",
        "full cells accept what lies above the law, by one part in H of it",
        lambda table: replace(table, height=table.height - 1),
        "lie under the law",
    ),
    Corruption(
        "a core block fewer",
        "the right tail starts where H g > 1: its first integers are too unlikely",
        _core_cut,
        "where the right tail starts",
    ),
    Corruption(
        "tails half as wide, or none",
        "tail levels fall slower than 1/2: 2**i H g > 1 is cut off",
        _narrow_tails,
        "tail",
    ),
    Corruption(
        "too few tail cells",
        "one integer in each right tail block too unlikely by half",
        lambda table: replace(table, n_tail_side=table.n_tail_side - 1),
        "n_tail_side",
    ),
    Corruption(
        "no tails",
        "the law is cut off where the core ends, at some 4 sigma",
        lambda table: replace(table, n_tail_side=0),
        "n_tail_side",
    ),
    Corruption(
        "one index bit fewer",
        "half of the cells are never drawn",
        lambda table: replace(table, index_bits=table.index_bits - 1),
        "fit 2**index_bits",
    ),
    Corruption(
        "one tick bit fewer",
        "every other integer of a block is never drawn",
        lambda table: replace(table, tick_bits=table.tick_bits - 1),
        "make up the low bits of y",
    ),
    Corruption(
        "a row given to another block",
        "one block a row too likely, its neighbour a row too unlikely",
        lambda table: _row(table, _is_whole, _to_next_block),
        "blocks have their full cells",
    ),
    Corruption(
        "a piece of a row one position longer",
        "one cell too many for one block, or for what is not full",
        lambda table: _row(table, lambda row: row.end[1] > row.end[0] > 0, _longer_piece),
        "cell",
    ),
    Corruption(
        "special cells of a row off by one",
        "one special cell twice, one never",
        lambda table: _row(
            table, _has_special, lambda row: row._replace(special=(row.special + 1) % 2**16)
        ),
        "every other cell is led to once",
    ),
    Corruption(
        "a law half a percent wider",
        "sigma2 or scale too small by 0.5 %",
        lambda table: replace(
            table,
            spec=table.spec._replace(parameter=table.spec.parameter * Fraction(201, 200)),
        ),
        "cover the law",
    ),
]

LINE_CORRUPTIONS: dict[str, tuple[str, Callable[[Line], Line]]] = {
    "no error": (
        "heights within the line's error are decided by the line",
        lambda line: line._replace(error=0),
    ),
    "a negative error": (
        "heights are accepted beyond the line",
        lambda line: line._replace(error=-1),
    ),
    "base too high": (
        "cells of the line accept too often by its error",
        lambda line: line._replace(base=line.base + 2 * line.error + 1),
    ),
    "base too low": (
        "cells of the line accept too rarely by its error",
        lambda line: line._replace(base=line.base - 2 * line.error - 1),
    ),
}
"""Each on three lines of the core and three of the tails, in tests/test_verify.py."""


def with_line(table: Table, i: int, line: Line) -> Table:
    """Return the table with another line in one place."""
    return replace(table, lines=(*table.lines[:i], line, *table.lines[i + 1 :]))
