"""Noise as a function of (key, item, law): the specification of ``dg_noise_at`` and of the GPU's.

An item's draw is a function of the key of 32 bytes, of the item's number and of the law alone. The
law's part is its cell table (csrc/cells/PROOF.md), which ``python -m discretegauss.verify`` proves:
2**16 cells, a cell of a block of 2**tick_bits neighbouring integers and a slab of height 1/H.

The bits are those of ChaCha20 (RFC 8439): ``block(number, attempt, depth)`` is its block function
with `number` in the counter and the nonce's first word, `attempt` and `depth` in its other words.
Bulk cells come from blocks of attempt 0 and depth 0, whose numbers are counted by tiles: a block
serves the items i, i + 256, ... of its tile. All else about item i comes from blocks of number i.

Decisions compare real numbers, and f' has as many bits as its comparison takes. There are only
integers and balls, because no float may come near a draw.
"""

from __future__ import annotations

import struct
from itertools import count
from typing import Any

from cell_model import SPECIAL
from exact_law import ExactLaw
from keystream import Tape, chacha20_block

COLUMNS = 256


def block(key: bytes, number: int, attempt: int, depth: int) -> tuple[int, ...]:
    """Return a block of ChaCha20 as 16 words."""
    nonce = struct.pack("<III", number >> 32, attempt, depth)
    return struct.unpack("<16I", chacha20_block(key, number & 0xFFFFFFFF, nonce))


def noise_at(item: int, key: bytes, table: Any, law: ExactLaw) -> int:
    """Return the draw of an item: that of the first attempt that succeeds.

    `table` has the numbers of the law's table under the names of csrc/cells/table.h.
    """
    words = 1 if table.tick_bits <= 16 else 2
    items = 16 // words
    tile, place = item // (COLUMNS * items), item // COLUMNS % items
    cell = block(key, tile * COLUMNS + item % COLUMNS, 0, 0)[words * place :][:words]
    attempt = 0
    while (y := attempt_at(cell, item, attempt, key, table, law)) is None:
        cell = block(key, item, attempt, 1)[4 : 4 + words]
        attempt += 1
    return law.c + y


def attempt_at(
    cell: tuple[int, ...], item: int, attempt: int, key: bytes, table: Any, law: ExactLaw
) -> int | None:
    """Return the y of an attempt, relative to c, or None if it fails."""
    row, position = cell[0] & 255, cell[0] >> 8 & 255
    tick: int = (cell[0] >> 16 | sum(cell[1:]) << 16) & ((1 << table.tick_bits) - 1)
    piece = sum(position >= end for end in table.rows[row].end)
    code = table.rows[row].code[piece]
    if code != SPECIAL:
        return int(table.coded_first + code << table.tick_bits) + tick
    number = table.n_coded + (position + table.rows[row].special) % 2**16
    if number < len(table.full):
        return int(table.full[number] << table.tick_bits) + tick
    number -= len(table.full)
    if number < len(table.partial):
        y_block, m = table.partial[number]
        level = 0
    else:
        number -= len(table.partial)
        side, in_side = divmod(number, table.n_tail_side)
        if side > 1:
            return None  # a cell that no block has
        m, level = 0, leading_ones(Further(item, attempt, key, 1))
        outwards = (level << table.tail_bits) + in_side % (1 << table.tail_bits)
        y_block = table.last_block + 1 + outwards if side else table.first_block - 1 - outwards
    y = (y_block << table.tick_bits) + tick
    bits = Further(item, attempt, key, 0)
    return y if law.is_below(y, table.height << level, m, 0, 0, bits) else None


class Further(Tape):
    """The bits of f' (0) or of the level (1), 8 bytes at a time."""

    def __init__(self, item: int, attempt: int, key: bytes, which: int) -> None:
        super().__init__(b"")
        self.blocks = (block(key, item, attempt, depth) for depth in count(1))
        self.which = which

    def read(self, n: int) -> bytes:
        """Return the next 8 bytes."""
        assert n == 8
        return struct.pack("<2I", *next(self.blocks)[2 * self.which :][:2])


def leading_ones(bits: Further) -> int:
    """Return how many ones lead the bits, each word from its most significant on."""
    level, ones = 0, 64
    while ones == 64:
        ones = 64 - (int.from_bytes(bits.read(8), "little") ^ (2**64 - 1)).bit_length()
        level += ones
    return level
