"""The numbers of isochronous draws, copied out of the C core, and what must hold for them.

csrc/isochronous/silent.h defines them. With H = height, w = 2**block_bits and g(0) = 1, draws have
the law (csrc/isochronous/PROOF.md) if

1. c is 1 of the two tails, and adds up to 2**24;
2. row r has end[r] positions of code r, and the others of alias[r]: each code has c of them;
3. c >= H g at the first integer of a block, which is where g is largest;
4. g <= 2**-64 where the tails begin;
5. what kernels take for 2**16 H g / c is at most err from it.

Facts 1 to 4 are proven of all numbers. Fact 5 is looked at where a block begins and ends, in its
middle and between; PROOF.md proves it of all integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from .._law import LawSpec
from ._weight import Weight, at_most, ball

if TYPE_CHECKING:
    from flint import arb

CODES, TAIL, POSITIONS, ALL = 256, 127, 2**16, 2**24
_FAR = 64
_GRID = 8

#: A fact, and the question that a `Weight` answers; None if its precision does not tell.
Question = tuple[Callable[[Weight], bool | None], str]


@dataclass(frozen=True)
class Units:
    """``dg_silent`` of csrc/isochronous/silent.h, with the same names.

    `shares` has of each block the ticks that are looked at, and what kernels take there.
    """

    spec: LawSpec
    block_bits: int
    height: int
    c: tuple[int, ...]
    end: tuple[int, ...]
    alias: tuple[int, ...]
    err: tuple[int, ...]
    shares: tuple[tuple[tuple[int, int], ...], ...]


def _ticks(block_bits: int) -> list[int]:
    last = (1 << block_bits) - 1
    return sorted({last * k // _GRID for k in range(_GRID + 1)})


def copy_out_units(spec: LawSpec) -> Units:
    """Return the numbers by which the C core draws a law isochronously.

    A law that it does not hold raises ParameterValueError.
    """
    from .._native import ffi, lib
    from ._table import sampler_of

    handle = sampler_of(spec, 16, -1, lib.DG_ISOCHRONOUS)
    info, numbers = ffi.new("dg_sampler_info *"), [ffi.new("uint32_t *") for _ in range(4)]
    lib.dg_sampler_describe(info, handle)
    rows: list[list[int]] = []
    for i in range(CODES):
        lib.dg_silent_row(numbers[0], numbers[1], numbers[2], numbers[3], i, handle)
        rows.append([number[0] for number in numbers])
    end, alias, c, err = map(tuple, zip(*rows, strict=True))
    bits = int(info.block_bits)

    def share(i: int, tick: int) -> int:
        return lib.dg_silent_share(i, tick << 16 >> bits, handle)

    shares = tuple(tuple((t, share(i, t)) for t in _ticks(bits)) for i in range(CODES))
    return Units(spec, bits, info.height, c, end, alias, err, shares)


def _is(answer: bool, _weight: Weight) -> bool:
    return answer


def _covers(n: int, scale: int, y: int, weight: Weight) -> bool | None:
    return at_most(scale * weight.weight_at(y), ball(n))


def _is_near(share: int, err: int, c: int, scale: int, y: int, weight: Weight) -> bool | None:
    value: arb = scale * weight.weight_at(y)
    answers = at_most(ball(c * (share - err)), value), at_most(value, ball(c * (share + err)))
    return False if False in answers else None if None in answers else True


def facts_of(units: Units) -> Iterator[Question]:
    """Generate what must hold."""
    spec = units.spec
    mirrored = spec.mu > (spec.mu + type(spec.mu)(1, 2)).__floor__()  # f > 0: -mu is drawn

    def y_of(code: int, z: int) -> int:
        y = z if code < CODES // 2 else -1 - z
        return -y if mirrored else y

    positions = [0] * CODES
    for row, (end, alias) in enumerate(zip(units.end, units.alias, strict=True)):
        yield partial(_is, 1 <= end < POSITIONS), f"row {row} has two pieces"
        positions[row] += end
        positions[alias] += POSITIONS - end
    yield partial(_is, positions == list(units.c)), "each code has c positions"
    yield partial(_is, sum(units.c) == ALL and min(units.c) >= 1), "c adds up to 2**24"
    yield partial(_is, 1 <= units.height <= ALL), "the height is at most 2**24"
    for code in range(CODES):
        first = (code % 128) << units.block_bits
        if code % 128 == TAIL:
            yield partial(_is, units.c[code] == 1), "a tail has one position"
            yield partial(_covers, 1, 2**_FAR, y_of(code, first)), "g <= 2**-64 in tails"
            continue
        c, y = units.c[code], y_of(code, first)
        yield partial(_covers, c, units.height, y), f"c of code {code} covers the law"
        for tick, share in units.shares[code]:
            scale, y = units.height * POSITIONS, y_of(code, first + tick)
            question = partial(_is_near, share, units.err[code], c, scale, y)
            yield question, f"the arc of code {code} keeps its error at tick {tick}"
