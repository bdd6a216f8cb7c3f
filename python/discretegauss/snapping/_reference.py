"""The side on which noise leaves a cell: csrc/mechanisms/leave_cell.c, in plain Python."""

from __future__ import annotations

from ..reference import Bytes, bernoulli, bernoulli_exp


def leave_cell(offset: int, shift: int, num: int, den: int, doublings: int, source: Bytes) -> int:
    """Return the side, 1 or -1, on which noise takes a value out of its cell; 0 if it does not.

    The value is offset/2**shift cells from the middle. The noise is Laplace; a cell is t =
    2**doublings num/den of its scales long, num/den <= 1. A fair bit chooses a side. The border
    there is u = 1/2 - side offset/2**shift cells away, and the noise reaches it with probability
    exp(-u t). With u 2**doublings = wholes + v that takes `wholes` flips of exp(-num/den), and one
    of exp(-v num/den): Algorithm 1, whose Bernoulli(v num/(den k)) flips num/(den k) and v.
    """
    side = 1 if source.read(1)[0] < 128 else -1
    distance = (1 << (shift - 1)) - side * offset
    wholes, v = divmod(distance << doublings, 1 << shift)
    for _ in range(wholes):
        if not bernoulli_exp(num, den, source):
            return 0
    k = 1
    while bernoulli(num, den * k, source) and bernoulli(v, 1 << shift, source):
        k += 1
    return side if k % 2 == 1 else 0
