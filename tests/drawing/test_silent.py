"""The silent engine's definition draws what a twin in Python draws from the same bytes.

The twin is tests/oracles/silent_twin.py. tests/c/test_silent.c looks at all 2^24 positions.
"""

from __future__ import annotations

import random
from fractions import Fraction as F
from functools import partial
from typing import Any

import pytest
from keystream import Tape
from law_sums import GG, G, L
from parts import silent_draws
from silent_twin import SilentTwin

from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")

LAWS: list[tuple[Any, Any, Any]] = [
    (G, 1, "1/3"),
    (G, "1/4", "-1/2"),
    (G, "1/1000000", "549755813889/1099511627776"),
    (G, 170, "-7/3"),
    (G, 900, "49/100"),
    (G, 10**6, 0),
    (G, 10**12, "1/3"),
    (G, 2**106, "-1/3"),
    (L, "1/50", "1/4"),
    (L, 8, "1/3"),
    (L, 30, "-5/2"),
    (L, 2**53, "1/3"),
    (partial(GG, beta=3), 5, "1/3"),
    (partial(GG, beta="6/5"), 200, "1/3"),
    (partial(GG, beta="3/2"), 10**6, "-1/3"),
    (partial(GG, beta="5/2"), 1000, 0),
    (partial(GG, beta=20), 1000, "1/3"),
    (partial(GG, beta="127/2"), 10**9, "1/2"),
]


@pytest.mark.parametrize(("kind", "parameter", "mu"), LAWS, ids=repr)
@pytest.mark.parametrize("n", [1, 100, 3000])
def test_draws_are_those_of_the_twin(kind: Any, parameter: Any, mu: Any, n: int) -> None:
    """One draw, a batch, and batches of two sizes are the twin's, and use as many bytes."""
    twin = SilentTwin(kind, F(parameter), F(mu))
    data = random.Random(n).randbytes(60_000)
    source, read = TapeSource(data), Tape(data)
    assert silent_draws(kind(F(parameter), mu=F(mu)), n, source) == twin.draws(n, read)
    assert source.used == read.used


@pytest.mark.parametrize(
    ("kind", "parameter", "mu"), [LAWS[i] for i in (0, 4, 6, 10, 14, 16)], ids=repr
)
@pytest.mark.parametrize("further", [b"\0", b"\xff", b"\x55"])
def test_attempts_at_borders_are_those_of_the_twin(
    kind: Any, parameter: Any, mu: Any, further: bytes
) -> None:
    """Places next to the end of what is accepted, and tails, more than a batch has words for."""
    twin = SilentTwin(kind, F(parameter), F(mu))
    rng = random.Random(5)
    m, planes = 128, -(-twin.block_bits // 8)  # for 76 draws at most
    n = next(n for n in range(1, 100) if -(-((n * twin.per_1024 >> 10) + n // 32 + 12) // 64) == 2)
    columns = [bytearray(rng.randbytes(m)) for _ in range(3 + planes)]
    for i in range(0, m, 2):
        row = columns[0][i]
        tick = int.from_bytes(bytes(c[i] for c in columns[3:]), "little") >> (
            8 * planes - twin.block_bits
        )
        y = twin._y(row, (row % 128 << twin.block_bits) + tick)
        last = twin.law.floor(twin.end[row] * twin.height, y)[0] // twin.c[row]
        position = min(max(last + rng.randrange(-1, 2), 0), twin.end[row] - 1)
        columns[1][i], columns[2][i] = divmod(position, 256)
    data = b"".join(map(bytes, columns)) + 64 * further + rng.randbytes(60_000)
    source, read = TapeSource(data), Tape(data)
    assert silent_draws(kind(F(parameter), mu=F(mu)), n, source) == twin.draws(n, read)
    assert source.used == read.used
