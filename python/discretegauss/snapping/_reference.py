"""On which side noise leaves a cell: csrc/mechanisms/leave_cell.c, in plain Python."""

from __future__ import annotations

from ..reference import Bytes, bernoulli, bernoulli_exp


def leave_cell(offset: int, shift: int, num: int, den: int, doublings: int, source: Bytes) -> int:
    """Return 1, -1 or 0: a value offset/2**shift cells from the middle of its cell, plus noise.

    The noise is Laplace; a cell is t = 2**doublings num/den of its scales long, num/den <= 1. A
    side is chosen by a fair bit. The way to the border there is u = 1/2 - side offset/2**shift
    cells, and the noise gets so far with probability exp(-u t). With u 2**doublings = wholes + v
    that is so many flips of exp(-num/den), and one of exp(-v num/den): Algorithm 1, whose
    Bernoulli(v num/(den k)) is that of num/(den k) and that of v.
    """
    side = 1 if source.read(1)[0] < 128 else -1
    way = (1 << (shift - 1)) - side * offset
    wholes, v = divmod(way << doublings, 1 << shift)
    for _ in range(wholes):
        if not bernoulli_exp(num, den, source):
            return 0
    k = 1
    while bernoulli(num, den * k, source) and bernoulli(v, 1 << shift, source):
        k += 1
    return side if k % 2 == 1 else 0
