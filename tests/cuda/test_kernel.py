"""The kernel's source, run on the CPU, draws the core's items in any order of threads."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from engine import needs_core
from evidence_cases import evidence
from exact_law import ExactLaw
from kernel_on_cpu import CALL, MOST_IN_DOUBT, TILE, KernelOnCpu, fresh_call, head_of
from law_sums import GG, G, L
from numpy.typing import NDArray
from parts import NativeTable, copied_table
from scipy import stats

pytestmark = [
    pytest.mark.repository,  # compiles
    needs_core,
]

F = Fraction
KEY = bytes(range(100, 132))
LAWS: dict[str, Any] = {
    "narrow": G(1),
    "centred elsewhere": G(10**5, "7/3"),
    "wide": G(2**100, "-1000000.5"),
    "laplace": L("5/2", "1/3"),
    "wide laplace": L(2**24),
    "generalised": GG(1000, "3/2"),
}
CASES = [(name, dtype) for name in LAWS for dtype in ("int32", "int64")]
CASES.remove(("wide", "int32"))


def by_core(sampler: Any, first: int, n: int) -> NDArray[Any]:
    out = np.zeros(n, np.int64)
    sampler.noise_at(out, first, KEY)
    return out


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_the_kernel_draws_what_the_core_draws(name: str, dtype: str) -> None:
    """Compare every item, with 1 to 3 blocks in two orders, a queue that overflows, and sums."""
    sampler, n, first = NativeTable(LAWS[name]), 3 * TILE + 1234, 7 * 2**30 * TILE
    law, expected = sampler.packed(), by_core(sampler, first, n)
    values = np.arange(-5000, n - 5000).astype(dtype)
    short_queue = ("-O1", "-DQUEUE=40") if name in ("wide", "wide laplace") else ()
    for n_blocks, seed, options in ((1, 0, ()), (3, 7, ()), (2, 8, short_queue)):
        kernel, call = KernelOnCpu(dtype, sampler.words, n_blocks, seed, *options), fresh_call(KEY)
        out = np.full(n + 2, 77, dtype)
        kernel.run("noise", out[1:], None, n, first, law, call)
        assert (out[1:-1] == expected).all()
        assert out[[0, -1]].tolist() == [77, 77]  # nothing beside it is written
        out[1:-1] = values
        kernel.run("noise", out[1:], out[1:], n, first, law, call)
        assert (out[1:-1] == values + expected).all()
        assert call["n_in_doubt"] == 0


@pytest.mark.parametrize("n", [10**6, *evidence(2 * 10**7)])
@pytest.mark.parametrize("name", LAWS)
def test_the_kernels_draws_have_the_law(name: str, n: int) -> None:
    """Test by chi-square, in some 60 bins to 5 deviations from the mean, under a fixed key."""
    law, out = LAWS[name], np.empty(n, np.int64)
    sampler = NativeTable(law)
    kernel = KernelOnCpu("int64", sampler.words, 4, 11)
    kernel.run("noise", out, None, n, 0, sampler.packed(), fresh_call(KEY))
    centre, step = round(law.mu), max(1, int(law.std() / 6))
    edges = [centre + step * i for i in range(-30, 31)]
    cdf = [0.0, *(law.cdf(edge - 1) for edge in edges), 1.0]
    probability = np.diff(cdf)
    seen = np.bincount(np.searchsorted(edges, out, side="right"), minlength=len(probability))
    bins = probability * n >= 10
    few = float(probability[~bins].sum())
    expected, got = [*probability[bins] * n], [*seen[bins]]
    if few > 0:
        expected, got = [*expected, few * n], [*got, seen[~bins].sum()]
    assert len(got) >= 10
    assert stats.chisquare(got, expected).pvalue > 1e-9


def test_powers_and_logarithms_are_as_far_off_as_the_lemmas_say() -> None:
    """Test every part of each table against lemmas 15 and 20 of csrc/isochronous/PROOF.md."""
    kernel, draws = KernelOnCpu("int64", 1), random.Random(1)
    with mpmath.workprec(200):
        for i in range(4000):
            x = (i % 16 << 48) + draws.randrange(2**48) + (draws.randrange(40) << 52)
            exact = mpmath.power(2, 52 - mpmath.mpf(x) / 2**52)
            assert -6 < kernel.number("height", x) - exact <= 0
            r = (16 + i % 16 << 47 | draws.randrange(2**47)) >> draws.randrange(52)
            exact = mpmath.log(r, 2) * 2**53
            assert 0 <= kernel.number("log2", r) - exact < 4
        assert kernel.number("height", 0) > 2**52 - 6
        assert kernel.number("height", 70 << 52) == 0


NUMBERS = ["height", "n_full", "n_partial", "n_tail_side", "levels", "above", "below"]
NUMBERS += ["above_a_step"]
SETTLED = [
    *LAWS.values(),
    *(G("1/4"), G("1/2", "1/3"), G(F(2, 7) * 10**12, "1/2")),
    *(L("1/10"), L(F(2**52, 3))),
    *(GG(1, "11/10", "1/3"), GG(10**9, 50, "-2/5")),
]


@pytest.mark.parametrize("law", SETTLED, ids=str)
def test_heights_decide_as_exact_numbers_do(law: Any) -> None:
    """Decisions next to where f' meets the law are right, and in doubt no wider than proven."""
    table, packed, exact = copied_table(law), NativeTable(law).packed(), ExactLaw(law)
    kernel = KernelOnCpu("int64", 1)
    w, tail = 1 << table.tick_bits, 1 << table.tail_bits
    cells = [(p.block, p.level, 0) for p in table.partial[:: max(1, len(table.partial) // 30)]]
    for level in (0, 3, 20, 43):
        cells.append((table.last_block + 1 + level * tail, 0, level))
        cells.append((table.first_block - (level + 1) * tail, 0, level))
    for block, m, level in cells:
        for y in {block * w, block * w + w // 3, block * w + w - 1}:
            edge, _ = exact.floor(table.height << level + 64, y, m << 64)
            for off in (1, 2**18, 2**22, 40 * table.height << 20):
                below, above = edge - off, edge + off
                if 0 <= below < 2**64:
                    outcome = kernel.settle(y, m, level, below, packed)
                    assert outcome == 1 if off > 2**30 else outcome in (1, 2), (y, m, level, off)
                if 0 <= above < 2**64:
                    outcome = kernel.settle(y, m, level, above, packed)
                    assert outcome == 0 if off > 2**30 else outcome in (0, 2), (y, m, level, off)


@pytest.mark.parametrize("law", SETTLED, ids=str)
def test_fewer_than_one_item_of_10_to_the_9_is_in_doubt(law: Any) -> None:
    """Add up lemma 27 once more; these laws have fewer than 2 of 10**11."""
    head = {name: int(head_of(NativeTable(law).packed())[name][0]) for name in NUMBERS}
    height, n_tail = head["height"], 2 * head["n_tail_side"]
    wide = head["above"] + head["below"]
    wider = wide + head["levels"] * head["above_a_step"]
    heights = head["n_partial"] * (height * (F(wide, 256) + 2) + 1)
    heights += n_tail * (height * (F(wider, 256) + 2) + 1)
    an_attempt = (heights / 2**44 + F(n_tail, 2 ** head["levels"])) / 2**16
    an_item = an_attempt / F(head["n_full"], 2**16)
    assert an_item < F(1, 10**9)
    assert an_item < F(2, 10**11)


def test_the_host_draws_what_is_in_doubt() -> None:
    """If it may decide no tail, the kernel notes the items of tails, and `finish` puts them."""
    sampler, n = NativeTable(LAWS["laplace"]), 50 * TILE
    expected, law, values = by_core(sampler, 0, n), sampler.packed(), np.full(n, 10, np.int32)
    head = head_of(law)
    assert head["levels"] == 44
    head["levels"] = 0
    call, kernel = fresh_call(KEY), KernelOnCpu("int32", 1, 3, 5)
    kernel.run("noise", values, values, n, 0, law, call)
    n_in_doubt = int(call["n_in_doubt"][0])
    items = call["item"][0, :n_in_doubt]
    assert 0 < n_in_doubt < MOST_IN_DOUBT
    assert (values[items.astype(int)] == 10).all()
    call["drawn"][0, :n_in_doubt] = expected[items.astype(int)]
    kernel.run("finish", values, values, 0, call)
    assert (values == expected + 10).all()
    assert call["n_refused"] == 0


def test_sums_that_do_not_fit_are_never_stored() -> None:
    """A special item next to the end of its type is in doubt, and then refused."""
    sampler, n = NativeTable(LAWS["wide laplace"]), 10 * TILE
    values, call = np.full(n, 2**31 - 1, np.int32), fresh_call(KEY)
    kernel = KernelOnCpu("int32", 1, 2, 5)
    kernel.run("noise", values, values, n, 0, sampler.packed(), call)
    noted = min(int(call["n_in_doubt"][0]), MOST_IN_DOUBT)
    assert noted == MOST_IN_DOUBT
    call["n_in_doubt"] = noted
    call["drawn"] = 1
    kernel.run("finish", values, values, 0, call)
    assert call["n_refused"] == noted
    call["drawn"] = -1
    kernel.run("finish", values, values, 0, call)
    assert call["n_refused"] == noted


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_ends_of_values_are_found(dtype: str) -> None:
    info = np.iinfo(dtype)
    for n in (1, 3000):
        values, call = np.arange(n, dtype=dtype) - 7, np.zeros(1, CALL)
        values[n // 2] = info.min
        values[-1] = info.max if n > 1 else info.min
        call["least"] = call["greatest"] = values[0]
        KernelOnCpu(dtype, 1, 4, 3).run("ends", values, n, call)
        assert call["least"] == info.min
        assert call["greatest"] == values[-1]
