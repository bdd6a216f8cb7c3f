"""Isochronous draws have the law, and a model makes the same draws from the same bytes.

The model is tests/oracles/lanes_twin.py. It knows the protocol of csrc/isochronous/lanes.h and the
three numbers of the staircase. Ball arithmetic decides its comparisons. The model of narrow laws
(csrc/isochronous/narrow.h) is tests/oracles/narrow_twin.py. The C tests enclose the heights
(tests/c/test_lanes.c), plant words at every threshold (tests/c/test_narrow.c) and look for branches
(tests/c/test_silence.c). benchmarks/leakage.py measures what the times still tell.
"""

from __future__ import annotations

import random
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once, evidence, some
from inputs import INTEGER_CODES, must_not_draw
from keystream import Tape
from lanes_twin import LaneFacts, LanesTwin
from law_checks import (
    ALPHA,
    check_counts,
    count_cells,
    gaussian_table,
    rejected,
    table_of,
)
from law_sums import GG, G, L
from narrow_twin import NarrowTwin, is_narrow
from parts import NativeLanes, by_each_loop

import discretegauss as dg
from discretegauss import errors
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")


def kernels(law: Any) -> list[Any]:
    """Return the law with each kernel that this machine has."""
    made = by_each_loop(NativeLanes, law).values()
    return list({by.isa: by for by in made}.values())


class Model(LanesTwin):
    """The protocol of csrc/isochronous/lanes.h, given the three numbers of the staircase."""

    def __init__(self, law: Any) -> None:
        info = NativeLanes(law).info
        block_bits, n_core, n_tail = (int(n) for n in (info.block_bits, info.n_core, info.n_tail))
        n_bytes = int(info.attempt_bytes)
        super().__init__(law, LaneFacts(block_bits, n_core, n_tail, n_bytes))


class EveryChoiceCounts(Model):
    def counts(self, part: int) -> bool:
        del part
        return True


class TailAsHighAsTheLevelBefore(Model):
    def accepts(self, y: int, step: int, height: int, n_bits: int, tape: Tape) -> bool:
        return super().accepts(y, max(0, step - 1), height, n_bits, tape)


class ZeroOnBothSides(Model):
    def outcome(self, z: int, *, left: bool) -> int:
        return -z if left else z


class ThirteenBitsOfTheHeight(Model):
    def accepts(self, y: int, step: int, height: int, n_bits: int, tape: Tape) -> bool:
        return super().accepts(y, step, height >> n_bits - 13, 13, tape)


NARROW = [
    *(G(s2) for s2 in ("1/1000", "1/10", 1, "355/113", 100, 187)),
    *(G(s2, "1/3") for s2 in ("1/10", 1, 47)),
    *(G(s2, "1/2") for s2 in ("1/10", 1)),
    G(100, 2**59 + 7),
    *(L(scale) for scale in ("1/20", 1, "5/2")),
    L(F(3, 7), F(10**15, 3)),
    L(1, "-1/3"),
    *(GG("1/3", beta, "1/2") for beta in (1, "3/2", 3)),
    *(GG(scale, 8, "1/3") for scale in (3, 30)),
    GG(110, 63),
    *(G(F(1, 2**40), mu) for mu in (0, "1/2", F(2**39 - 1, 2**40))),
    L(F(1, 2**20), F(2**19 - 1, 2**20)),
    GG(F(1, 2**20), "127/2", "1/3"),
    GG(F(1, 2**20), 50, F(-(2**39) + 1, 2**40)),
]

WIDE = [
    *(G(s2) for s2 in (188, 10**4, 10**8, 10**16, 10**26)),
    *(G(s2, "1/3") for s2 in (48, 10**4, 10**25)),
    G(10**4, "1/2"),
    G(1000, 2**59 + 7),
    G(F(10**30, 7), F(-(2**57), 3)),
    *(L(scale) for scale in (3, 1000, 10**12)),
    L(100, "-1/2"),
    L(10**13, "1/3"),
    *(GG(150, beta) for beta in (1, "3/2", 2, 3, 8, "11/10", 63)),
    GG(50, 8, "1/3"),
    GG(F(10**6, 7), "355/113", F(-(2**57), 3)),
    GG(10**12, "9/4", "1/3"),
    GG(10**15, "127/2"),
    G(2**106, "1/3"),
    L(2**53, "-1/2"),
    GG(2**53, "6399/100", F(2**61) - 1),
]

SPECS = NARROW + WIDE


def ids(law: Any) -> str:
    return str(law)[:60]


def stream(seed: int, n_bytes: int) -> bytes:
    return random.Random(seed).randbytes(n_bytes)


@pytest.mark.parametrize("law", some(SPECS), ids=ids)
def test_draws_are_those_of_the_model(law: Any) -> None:
    """Every kernel draws the model's 1000 values from a tape, and uses as many bytes.

    Single draws do the same.
    """
    n, tape = 1000, stream(20261123, 100_000)
    narrow, read = is_narrow(law), Tape(tape)
    assert narrow == (law in NARROW)
    model = NarrowTwin(law) if narrow else Model(law)
    expected = [model.draw(read) for _ in range(n)]
    for kernel in kernels(law):
        assert (kernel.info.attempt_bytes == 8) == narrow
        source, out = TapeSource(tape), np.empty(n, np.int64)
        kernel.fill(out, source)
        assert out.tolist() == expected
        assert source.used == read.used
    source, one = TapeSource(tape), NativeLanes(law)
    assert [one.draw(source) for _ in range(n)] == expected
    assert source.used == read.used


FAULTS = [EveryChoiceCounts, TailAsHighAsTheLevelBefore, ZeroOnBothSides, ThirteenBitsOfTheHeight]


@pytest.mark.parametrize("broken", FAULTS)
def test_a_broken_model_draws_otherwise(broken: type[Model]) -> None:
    """The comparison above sees each of these faults."""
    law, tape = L("1000", "1/3"), stream(20261123, 400_000)
    out = np.empty(5_000, np.int64)
    NativeLanes(law).fill(out, TapeSource(tape))
    read, model = Tape(tape), broken(law)
    assert out.tolist() != [model.draw(read) for _ in range(5_000)]


@at_once("law", WIDE)
def test_the_staircase_is_above_the_law(law: Any) -> None:
    """At the start of each of the first steps, on both sides, g is at most the step's height."""
    model = Model(law)
    for step in range(1, 50):
        z = (model.n_core + (step - 1) * model.n_tail) << model.block_bits
        for y in (z, -1 - z):
            whole, exact = model.law.floor(2 ** (step + 100), y)
            assert whole < 2**100 or (whole == 2**100 and exact)


@pytest.mark.parametrize("law", some(NARROW), ids=ids)
def test_words_that_are_settled(law: Any) -> None:
    """Narrow laws draw from parts of words and tails on several levels; some words draw nothing."""
    model = NarrowTwin(law)
    tape = model.settled()
    read, expected = Tape(tape), []
    while read.used < len(tape):
        expected.append(model.draw(read))
    for kernel in kernels(law):
        source, out = TapeSource(tape), np.empty(len(expected), np.int64)
        kernel.fill(out, source)
        assert out.tolist() == expected
        assert source.used == len(tape)


@pytest.mark.parametrize("law", some(WIDE), ids=ids)
def test_attempts_next_to_the_edge(law: Any) -> None:
    """Every kernel settles heights next to 2^k g(y), which words alone do not decide.

    Some heights differ from the edge only in the 64 bits that follow, on both sides.
    """
    model, rng = Model(law), random.Random(1)
    tape = b""
    for _ in range(60):
        cell = rng.choice([0, model.n_core - 1, model.n_core, model.n_core + model.n_tail - 1])
        left, low = rng.randrange(2), rng.getrandbits(model.block_bits)
        level = rng.randrange(6) if cell >= model.n_core else None
        step = 0 if level is None else level + 1
        block = cell if level is None else cell + level * model.n_tail
        z = (block << model.block_bits) + low
        n_bits = 63 - step
        whole, exact = model.law.floor(1 << (step + n_bits + 64), -1 - z if left else z)
        if exact or whole >> 64 == 0 or whole >> (64 + n_bits) != 0:
            continue
        prefix = ((1 << level) - 1) << (n_bits + 1) if level else 0
        for off in (-(2**14), -1, 0, 1, 2**14):
            height = (whole >> 64) + off
            if not 0 <= height < 2**n_bits:
                continue
            further = whole % 2**64 + rng.choice([-1, 0, 1]) if off == 0 else 0
            tape += model.words(cell, (prefix | height) << 1 | left, low)
            if off == 0:
                tape += max(0, min(further, 2**64 - 1)).to_bytes(8, "little")
                tape += bytes(8) if further == whole % 2**64 else b""
    if tape:  # else no height is that close to a word
        check_tape(law, model, tape)


def check_tape(law: Any, model: Model, tape: bytes) -> None:
    """Compare all kernels with the model on a tape, which may end within an attempt."""
    read, expected = Tape(tape + stream(3, 10_000)), []
    while read.used < len(tape):
        if (y := model.attempt(read)) is not None:
            expected.append(model.law.c + y)
    assert expected
    for kernel in kernels(law):
        out = np.empty(len(expected), np.int64)
        kernel.fill(out, TapeSource(read.everything() + stream(4, 10_000)))
        assert out.tolist() == expected


@at_once("ones", [0, 1, 46, 47, 48, 49, 62, 63, 64, 70, 71, 72])
@pytest.mark.parametrize("law", [L(10), L(10**12, "1/3"), G(400)], ids=ids)
def test_levels_far_out_are_reached(law: Any, ones: int) -> None:
    """Attempts reach tail levels as far as the bits go, on either side, among ordinary ones."""
    model = Model(law)
    in_point = min(ones, 63)
    tape = stream(5, 24) if model.block_bits <= 16 else stream(5, 32)
    for left in (0, 1):
        tape += model.words(model.n_core, (2**in_point - 1) << (64 - in_point) | left)
        if ones >= 63:
            whole, part = divmod(ones - 63, 8)
            tape += b"\xff" * whole + bytes([0xFF & ~(0xFF >> part)]) + bytes(16)
    check_tape(law, model, tape + stream(6, 240))


@pytest.mark.parametrize("dtype", [*INTEGER_CODES, object, ">i4"])
def test_every_dtype_holds_the_same_draws(dtype: Any) -> None:
    """The draws from the same bytes are equal, and so are those of a fill in pieces."""
    law, tape = dg.DiscreteGaussian(4, "181/3"), stream(7, 50_000)
    expected = law.sample(2000, method="isochronous", source=TapeSource(tape)).tolist()
    draws = law.sample(2000, dtype=dtype, method="isochronous", source=TapeSource(tape))
    assert draws.dtype == np.dtype(dtype)
    assert draws.tolist() == expected
    source, parts = TapeSource(tape), []
    for n in (1, 7, 8, 9, 255, 256, 257, 1207):
        parts += law.sample(n, dtype=dtype, method="isochronous", source=source).tolist()
    assert parts == expected


@pytest.mark.parametrize(
    ("law", "dtype"),
    [
        (dg.DiscreteGaussian(2**116, "1/3"), np.int64),
        (dg.DiscreteLaplace(2**55), np.int64),
        (dg.DiscreteGaussian(2**100, 2**63), np.uint64),
        (dg.DiscreteGaussian(4, 2**63), np.uint64),
        (dg.DiscreteLaplace(100, -(2**62)), np.int64),
    ],
    ids=["wide", "wide laplace", "unsigned", "narrow unsigned", "far"],
)
def test_dtypes_hold_laws_that_lanes_do_not(law: Any, dtype: Any) -> None:
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


@pytest.mark.parametrize("law", [G("1/4", "1/3"), G(100, "1/3"), L(3, "2/5"), GG(200, 2)], ids=str)
def test_single_draws_follow_their_law(law: Any) -> None:
    """30 000 calls of law.sample() pass, for laws with 8 bytes an attempt and with 12."""
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


def small_law(law: Any, n_points: int) -> dict[int, F]:
    """Return the probability with which an attempt returns each y, over all choices and sides.

    Heights run over n_points places of (0, 1) that words decide, in every cell and level.
    """
    model, tape = Model(law), b""
    plan: list[tuple[int, F]] = []
    n_cells = model.n_core + model.n_tail
    for cell in range(n_cells):
        for level in range(8) if cell >= model.n_core else [None]:
            step = 0 if level is None else level + 1
            z = cell if level is None else cell + level * model.n_tail
            n_bits = 63 - step
            prefix = ((1 << level) - 1) << (n_bits + 1) if level else 0
            for left in (0, 1):
                for i in range(n_points):
                    height = (2 * i + 1) * 2**n_bits // (2 * n_points)
                    tape += model.words(cell, (prefix | height) << 1 | left)
                    y = -1 - z if left else z
                    weight = F(2**16 // n_cells, 2**16) * F(1, 2) * F(1, 2**step) / n_points
                    plan.append((y, weight))
    kernel, read = NativeLanes(law), TapeSource(tape + stream(9, 10_000))
    found: dict[int, F] = {}
    position = 0
    while position < len(plan):
        out = np.empty(1, np.int64)
        kernel.fill(out, read)
        position = read.used // 12
        if position <= len(plan):
            y, weight = plan[position - 1]
            assert int(out[0]) == model.law.c + y
            found[y] = found.get(y, F(0)) + weight
    return found


@pytest.mark.parametrize("law", [G(50, "1/3"), L(3, "-1/2"), *evidence((G(188),))], ids=ids)
def test_enumeration_of_small_laws(law: Any) -> None:
    """Over all cells, sides, levels and a grid of heights, y is returned as often as g(y) says."""
    n_points = 100
    found, model = small_law(law, n_points), Model(law)
    whole = F(2**16 // (model.n_core + model.n_tail), 2**17)
    for y, weight in found.items():
        exact = F(model.law.floor(2**80, y)[0], 2**80)
        assert abs(weight / whole - exact) <= F(1, n_points)  # a grid's point more or less


# --- public calls ----------------------------------------------------------------------------


def test_no_byte_goes_unused() -> None:
    """A call reads the bytes of as many attempts as draws are missing."""
    for sigma2, n_bytes in ((100, 8), (10**4, 12), (10**18, 16)):
        asked: list[int] = []

        def fill(buffer: memoryview, asked: list[int] = asked) -> None:
            asked.append(len(buffer))
            buffer[:] = stream(len(asked), len(buffer))

        dg.discrete_gaussian(sigma2, 5000, method="isochronous", source=fill)
        assert sum(asked) % n_bytes == 0
        missing = 5000 * n_bytes
        assert asked[0] <= missing
        assert asked[-1] < 20 * n_bytes or sum(asked) == missing


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
def test_laws_that_lanes_do_not_hold_are_refused(law: Any, size: int | None) -> None:
    """The error names the method, and comes before anything is drawn."""
    with pytest.raises(errors.ParameterValueError, match="method"):
        law.sample(size, dtype=object, method="isochronous", source=must_not_draw)
