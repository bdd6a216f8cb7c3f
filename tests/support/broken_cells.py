"""Samplers whose cell table has one fault: the statistics have to reject every one.

The table is made here in floats, as csrc/cells/PROOF.md says but with few index bits, so a cell is
worth some per cent of a probability. No code of the package is used.
broken_tables.py breaks the core's own tables, for the verifier.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, floor

import numpy as np
import numpy.typing as npt
from broken_samplers import Control, gauss

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass
class Table:
    """The table of the discrete Gaussian around 0, with blocks of w integers."""

    sigma2: float
    index_bits: int
    w: int = 1
    full: list[int] = field(default_factory=list)
    partial: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tail_w: int = self.w * 2 ** ceil(max(0.0, np.log2(0.6 * self.sigma2**0.5 / self.w)))
        self.n_tail_side: int = 2 * self.tail_w // self.w
        # twice what all cells would have if they were as many as height times the weights
        self.height = int(2 ** (self.index_bits + 1) * self.w / (2 * np.pi * self.sigma2) ** 0.5)
        while self._lay_out() > 2**self.index_bits:
            self.height -= 1

    def weight(self, y: Ints | int) -> Floats:
        """Return g(y); g(0) = 1."""
        return np.exp(-(np.asarray(y, dtype=np.float64) ** 2) / (2 * self.sigma2))

    def _lay_out(self) -> int:
        """Lay out the cells for the current height, and return their number."""
        self.full, self.partial = [], []
        last = 0
        while self.height * self.weight((last + 1) * self.w) >= 1:
            last += 1
        self.first_block, self.last_block = -last - 1, last
        for block in range(self.first_block, self.last_block + 1):
            ends = (block * self.w, block * self.w + self.w - 1)
            near, far = ends if block >= 0 else ends[::-1]
            n_full = floor(self.height * self.weight(far))
            n_cells = ceil(self.height * self.weight(near))
            self.full += [block] * n_full
            self.partial += [(block, level) for level in range(n_full, n_cells)]
        return len(self.full) + len(self.partial) + 2 * self.n_tail_side


@dataclass(frozen=True)
class Fault:
    """A fault of the draws from a table; the default is none."""

    moved_cell: bool = False  # a full cell of block 0 belongs to block 1
    height_off: int = 0  # added to H where cells decide
    error: float = 0.0  # heights are taken for this much less
    tail_level_off: int = 0  # added to the level that is drawn
    last_tail_level: int = 10**6  # later ones are rejected
    keeps_failed: bool = False  # a draw whose attempt failed keeps what was tried
    tick_bits_lost: int = 0  # low bits of the tick that are always 0
    tick_shared: bool = False  # two neighbouring draws have the same tick


def draw(rng: np.random.Generator, n: int, table: Table, fault: Fault) -> Ints:
    """Return n draws, in rounds as csrc/cells/draw.h has them."""
    out = np.zeros(n, np.int64)
    pending = np.arange(n)
    while len(pending):
        y, accepted = _attempts(rng, len(pending), table, fault)
        out[pending] = y
        pending = pending[:0] if fault.keeps_failed else pending[~accepted]
    return out


def _attempts(rng: np.random.Generator, n: int, table: Table, fault: Fault) -> tuple[Ints, Bools]:
    """Return the places of n attempts, and which of them succeed."""
    index = rng.integers(0, 2**table.index_bits, n)
    tick = rng.integers(0, table.w, n) >> fault.tick_bits_lost << fault.tick_bits_lost
    if fault.tick_shared:
        tick = np.repeat(tick[::2], 2)[:n]
    full = np.array(table.full)
    if fault.moved_cell:
        full[table.full.index(0)] = 1
    block, level = (np.array(column) for column in zip(*table.partial, strict=True))
    n_core = len(full) + len(block)
    ends = np.cumsum([len(full), len(block), table.n_tail_side, table.n_tail_side])
    kind = np.searchsorted(ends, index, "right")
    y, accepted = np.zeros(n, np.int64), np.zeros(n, np.bool_)

    at = kind == 0
    y[at], accepted[at] = full[index[at]] * table.w + tick[at], True
    at = kind == 1
    cell = index[at] - len(full)
    y[at] = block[cell] * table.w + tick[at]
    accepted[at] = _under(rng, y[at], level[cell], table, fault)
    for left in (True, False):
        at = kind == (2 if left else 3)
        cell = index[at] - n_core - (0 if left else table.n_tail_side)
        y[at], accepted[at] = _tail(rng, left, cell, tick[at], table, fault)
    return y, accepted


def _under(rng: np.random.Generator, y: Ints, level: Ints, table: Table, fault: Fault) -> Bools:
    """Return which attempts in partial cells are under the law."""
    height = rng.random(len(y))
    bound = (table.height + fault.height_off) * table.weight(y) - level
    under: Bools = height - fault.error < bound
    return under


def _tail(
    rng: np.random.Generator, left: bool, cell: Ints, tick: Ints, table: Table, fault: Fault
) -> tuple[Ints, Bools]:
    """Return the places of attempts in tail cells, and which succeed."""
    level = rng.geometric(0.5, len(cell)) - 1
    out = cell % (table.tail_w // table.w) * table.w + (level + fault.tail_level_off) * table.tail_w
    start = table.first_block * table.w - 1 if left else (table.last_block + 1) * table.w
    y = start - out - tick if left else start + out + tick
    under = rng.random(len(cell)) < 2.0**level * table.height * table.weight(y)
    under &= level <= fault.last_tail_level
    return y, under


SINGLE, BLOCKS = Table(100, 8), Table(100, 8, w=4)
"""A cell of SINGLE is a tenth of the likeliest integer's probability."""


def _control(name: str, fault: Fault, table: Table = SINGLE) -> Control:
    return Control(f"cells: {name}", gauss(100), lambda rng, n: draw(rng, n, table, fault))


SOUND_CELLS = [
    _control("blocks of one integer", Fault()),
    _control("blocks of four integers", Fault(), BLOCKS),
]

BROKEN_CELLS = [
    _control("one cell of the table moved", Fault(moved_cell=True)),
    _control("H one more where cells decide", Fault(height_off=1)),
    _control("a line wrong by a tenth of a cell", Fault(error=0.1)),
    _control("tail levels off by one", Fault(tail_level_off=1)),
    _control("tails cut after two levels", Fault(last_tail_level=1)),
    _control("failed attempts are kept", Fault(keeps_failed=True)),
    _control("the tick's low bit is lost", Fault(tick_bits_lost=1), BLOCKS),
    _control("neighbours share their tick", Fault(tick_shared=True), BLOCKS),
]
