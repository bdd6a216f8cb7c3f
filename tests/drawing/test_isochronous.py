"""Isochronous draws have the law, and a twin in Python makes the same draws from the same bytes.

The twin is tests/oracles/silent_twin.py. It knows the format of csrc/isochronous/silent.h and the
law; ball arithmetic decides its comparisons. The C tests look at all positions of a tick
(tests/c/test_silent.c), compare kernels (tests/c/test_silent_kernels.c) and look for branches
(tests/c/test_silence.c). benchmarks/leakage.py measures what the times still tell.
"""

from __future__ import annotations

import random
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from evidence_cases import some
from inputs import INTEGER_CODES, must_not_draw
from keystream import Tape
from law_checks import ALPHA, check_counts, count_cells, gaussian_table, rejected, table_of
from law_sums import GG, G, L
from parts import NativeSilent, by_each_loop
from silent_twin import SilentTwin

import discretegauss as dg
from discretegauss import errors
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")

#: Blocks of one integer, of bytes, of 7 bytes; mirrored laws; the ends of what is held.
LAWS = [
    G(1, "1/3"),
    G("1/4", "-1/2"),
    G(F(1, 2**40), F(2**39 - 1, 2**40)),
    G(170, "-7/3"),
    G(900, "49/100"),
    G(10**6),
    G(10**12, "1/3"),
    G(100, 2**59 + 7),
    G(2**106, "-1/3"),
    L("1/50", "1/4"),
    L(8, "1/3"),
    L(30, "-5/2"),
    L(2**53, "1/3"),
    GG("1/3", "3/2", "1/2"),
    GG(5, 3, "1/3"),
    GG(110, 63),
    GG(200, "6/5", "1/3"),
    GG(10**6, "3/2", "-1/3"),
    GG(1000, "5/2"),
    GG(1000, 20, "1/3"),
    GG(10**12, "11/10", "1/3"),
    GG(10**9, "127/2", "1/2"),
]


def ids(law: Any) -> str:
    return str(law)[:60]


def stream(seed: int, n_bytes: int) -> bytes:
    return random.Random(seed).randbytes(n_bytes)


def kernels(law: Any) -> list[Any]:
    """Return the law with each kernel that this machine has."""
    made = by_each_loop(NativeSilent, law).values()
    return list({by.isa: by for by in made}.values())


def require(law: Any, tape: bytes, expected: list[int], used: int) -> None:
    """Require that every kernel draws this from a tape, and reads so many of its bytes."""
    for kernel in kernels(law):
        source, out = TapeSource(tape), np.empty(len(expected), np.int64)
        kernel.fill(out, source)
        assert out.tolist() == expected
        assert source.used == used


@pytest.mark.parametrize("law", LAWS, ids=ids)
def test_draws_are_those_of_the_twin(law: Any) -> None:
    """One draw, a batch, and batches of two sizes are the twin's, and use as many bytes."""
    twin = SilentTwin.of(law)
    for n in (1, 100, 3000):
        read = Tape(stream(n, 60_000))
        expected = twin.draws(n, read)
        require(law, stream(n, 60_000), expected, read.used)
    assert (
        NativeSilent(law).draw(TapeSource(stream(1, 1000)))
        == twin.draws(1, Tape(stream(1, 1000)))[0]
    )


def test_pieces_are_those_of_the_twin() -> None:
    """A fill of more than 2^16 draws begins again behind them."""
    law, n, tape = G(1, "1/3"), 2**16 + 100, stream(2, 300_000)
    read = Tape(tape)
    require(law, tape, SilentTwin.of(law).draws(n, read), read.used)


@pytest.mark.parametrize("law", some(LAWS, 6), ids=ids)
@pytest.mark.parametrize("further", [b"\0", b"\xff", b"\x55"])
def test_attempts_at_borders_are_those_of_the_twin(law: Any, further: bytes) -> None:
    """Places next to the end of what is accepted, and tails, more than a batch has words for."""
    twin, rng = SilentTwin.of(law), random.Random(5)
    n, m, planes = 30, SilentTwin.of(law).attempts(30), twin.planes
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
    tape = b"".join(map(bytes, columns)) + 64 * further + rng.randbytes(60_000)
    read = Tape(tape)
    require(law, tape, twin.draws(n, read), read.used)


@pytest.mark.parametrize("level", [0, 1, 2, 3, 62, 63, 130])
@pytest.mark.parametrize("law", [L(30, "1/3"), L(30), G(1, "1/3"), G(10**12)], ids=ids)
def test_tails_are_as_high_as_the_law(law: Any, level: int) -> None:
    """A first attempt in a tail is accepted if f' is below 2^(level + 2) H g, and else is not.

    Blocks, words and thresholds are computed here; the others of the batch are the centre.
    """
    twin = SilentTwin.of(law)
    m, tick = twin.attempts(1), (1 << twin.block_bits) - 1
    for left, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
        z = ((127 + 2 * level + k) << twin.block_bits) + tick
        y = -1 - z if left else z
        n_words = 3 + level // 16  # thresholds decrease with the level
        if (threshold := twin.law.floor(twin.height << (level + 2 + 64 * n_words), y)[0]) == 0:
            continue  # such a word would have to be longer
        bits = [k, *[1] * level, 0]
        bits += [0] * (-len(bits) % 64)
        words = b"".join(
            sum(bit << i for i, bit in enumerate(bits[at : at + 64])).to_bytes(8, "little")
            for at in range(0, len(bits), 64)
        )
        row = b"".join(
            bytes([first]) + bytes([rest]) * (m - 1)
            for first, rest in [(127 + 128 * left, 0), (0, 0), (0, 0), *[(255, 0)] * twin.planes]
        )
        for f, accepted in ((threshold - 1, True), (threshold + 1, False)):
            parts = [f >> 64 * i & (2**64 - 1) for i in reversed(range(n_words))]
            f_words = [part.to_bytes(8, "little") for part in parts]
            assert parts[0] < 2**26
            tape = row + f_words[0] + bytes(56) + words + b"".join(f_words[1:]) + bytes(64)
            for kernel in kernels(law):
                drawn = kernel.draw(TapeSource(tape))
                assert drawn == twin.sign * (twin.law.c + (y if accepted else 0))


class ZeroOnBothSides(SilentTwin):
    @staticmethod
    def _y(code: int, z: int) -> int:
        return z if code < 128 else -z


class WeighsTheNextInteger(SilentTwin):
    def _accepts(self, y: int, rel: int, length: int, c: int, words: Any, tape: Tape) -> bool:
        return super()._accepts(y + 1, rel, length, c, words, tape)


class TheRestIsOfAnotherCode(SilentTwin):
    def _set_rows(self) -> None:
        self.c[0], self.c[1] = self.c[0] - 100, self.c[1] + 100
        super()._set_rows()


@pytest.mark.parametrize("broken", [ZeroOnBothSides, WeighsTheNextInteger, TheRestIsOfAnotherCode])
def test_a_broken_twin_draws_otherwise(broken: type[SilentTwin]) -> None:
    """The comparison above sees each of these faults."""
    law, tape = G(10**6, "-1/3"), stream(20261123, 400_000)
    out = np.empty(40_000, np.int64)
    NativeSilent(law).fill(out, TapeSource(tape))
    assert out.tolist() != broken.of(law).draws(40_000, Tape(tape))


@pytest.mark.parametrize("dtype", [*INTEGER_CODES, object, ">i4"])
def test_every_dtype_holds_the_same_draws(dtype: Any) -> None:
    """The draws from the same bytes are equal, in a part of an array, too."""
    law, tape = dg.DiscreteGaussian(4, "181/3"), stream(7, 300_000)
    how: dict[str, Any] = {"method": "isochronous"}
    for n in (1, 2000, 2**16 + 200):
        expected = law.sample(n, source=TapeSource(tape), **how).tolist()
        draws = law.sample(n, dtype=dtype, source=TapeSource(tape), **how)
        assert draws.dtype == np.dtype(dtype)
        assert draws.tolist() == expected
        out = np.zeros(2 * n, dtype)[::2]
        law.sample(out=out, source=TapeSource(tape), **how)
        assert out.tolist() == expected
        noisy = dg.add_noise(np.zeros(n, np.int64), law=law, source=TapeSource(tape), **how)
        assert noisy.tolist() == expected


@pytest.mark.parametrize(
    ("law", "dtype"),
    [
        (dg.DiscreteGaussian(2**116, "1/3"), np.int64),
        (dg.DiscreteLaplace(2**55), np.int64),
        (dg.DiscreteGaussian(2**100, 2**63), np.uint64),
        (dg.DiscreteGaussian(4, 2**63), np.uint64),
        (dg.DiscreteLaplace(100, -(2**62)), np.int64),
    ],
    ids=["wide", "wide laplace", "unsigned", "few integers", "far"],
)
def test_dtypes_hold_laws_that_are_not_drawn_so(law: Any, dtype: Any) -> None:
    """A dtype that barely holds the law gets the same draws as objects do."""
    one = law.sample(300, dtype=dtype, source=TapeSource(stream(8, 20_000)))
    other = law.sample(300, dtype=object, source=TapeSource(stream(8, 20_000)))
    assert one.tolist() == other.tolist()


# --- the law ---------------------------------------------------------------------------------

FOLLOWED = [
    *some([G(s2, mu) for s2 in ("1/4", 1, 100, 10**4) for mu in (0, "1/3", "-1/2")], 4),
    *some([L(scale, mu) for scale in ("1/2", 3, 100) for mu in (0, "2/5")], 3),
    *some(
        [
            GG(scale, beta, mu)
            for beta in ("3/2", 8, 1, 3)
            for scale in ("1/2", 3, 1000)
            for mu in (0, "1/3")
        ],
        2,
    ),
]


@pytest.mark.parametrize("law", FOLLOWED, ids=str)
def test_draws_follow_the_law(law: Any) -> None:
    """2 * 10^6 draws by two threads, half of them from each source, follow the exact law."""
    how: dict[str, Any] = {"method": "isochronous", "threads": 2}
    draws = [law.sample(10**6, source=source, **how) for source in ("chacha20", "getrandom")]
    assert rejected(np.concatenate(draws), table_of(law)) == []


@pytest.mark.parametrize("law", [G("1/4", "1/3"), G(10**4, "1/3"), L(3, "2/5")], ids=str)
def test_single_draws_follow_their_law(law: Any) -> None:
    """30 000 calls of law.sample() pass, for blocks of one integer and of several."""
    draws = np.array([law.sample() for _ in range(30_000)])
    assert rejected(draws, table_of(law)) == []


@pytest.mark.evidence
@pytest.mark.parametrize("mu", [F(0), F(1, 2), F(1, 3)])
@pytest.mark.parametrize("sigma2", [F(1, 4), F(1), F(64), F(625), F(10**6)])
def test_a_thousand_million_draws(sigma2: F, mu: F) -> None:
    """10^9 draws of sigma 1/2, 1, 8, 25 and 1000, around and between integers, follow the law."""
    exact = gaussian_table(sigma2, mu)
    out, counts = np.empty(10**7, np.int64), np.zeros(len(exact.pmf) + 2, np.int64)
    for _ in range(100):
        dg.discrete_gaussian(sigma2, mu=mu, out=out, method="isochronous", source="chacha20")
        counts += count_cells(out, exact)
    assert int(counts.sum()) == 10**9
    assert [finding for finding in check_counts(counts, exact) if finding.p_value < ALPHA] == []


# --- public calls ----------------------------------------------------------------------------


@pytest.mark.parametrize("law", [G(100), G(10**4, "1/3"), L(10**9)], ids=ids)
def test_whole_batches_are_read(law: Any) -> None:
    """A call asks its source for the bytes of its batches, and for no others."""
    twin, asked = SilentTwin.of(law), list[int]()

    def fill(buffer: memoryview) -> None:
        asked.append(len(buffer))
        buffer[:] = stream(len(asked), len(buffer))

    law.sample(60, method="isochronous", source=fill)
    assert asked[0] == (3 + twin.planes) * twin.attempts(60) + 64
    assert len(asked) == 1 or asked[1] == (3 + twin.planes) * 64 + 64


OUTSIDE = [
    dg.DiscreteGaussian(F(1, 2**40 + 1)),
    dg.DiscreteGaussian(F(2**108), "1/3"),
    dg.DiscreteLaplace(F(1, 2**65_000)),
    dg.DiscreteLaplace(2**54),
    dg.DiscreteLaplace(10, 2**61),
    dg.GeneralizedGaussian(10, 64),
]


@pytest.mark.parametrize("size", [None, 5])
@pytest.mark.parametrize("law", OUTSIDE, ids=lambda law: str(law)[:40])
def test_laws_that_are_not_held_are_refused(law: Any, size: int | None) -> None:
    """The error names the method, and comes before anything is drawn."""
    with pytest.raises(errors.ParameterValueError, match="method"):
        law.sample(size, dtype=object, method="isochronous", source=must_not_draw)
