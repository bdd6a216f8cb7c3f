"""Cell tables draw the law, and every loop makes the same draws from the same bytes."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evidence_cases import crossed, evidence, some
from law_checks import ALPHA, check_counts, count_cells, gaussian_table, laplace_table, rejected
from law_sums import GG, G, L
from parts import NativeTable, by_each_loop, fits, keystream
from same_bits import same_bits

import discretegauss as dg
from discretegauss.testing import NotPrivateWarning, SeededSource, seeded_source

pytestmark = pytest.mark.usefixtures("native_engine")

F = Fraction


SPECS = [
    *(G(s2) for s2 in ("1/100", 1, 100, 900, 10**4, 10**6, 10**8, 10**12, 10**18, 10**26)),
    *(G(s2, "1/3") for s2 in ("1/1000", 1, 10**4, 10**9)),
    G(2**52),  # ticks of more than 16 bits in an int32
    G(2**116, "1/3"),  # a remainder of one byte in an int64
    G(100, 10**12),
    G(F(10**33, 7), F(-(10**20), 3)),
    *(L(scale) for scale in ("1/10", 1, 10, 1000, 10**6, 10**12)),
    L(100, "-1/2"),
    *(GG(1000, beta) for beta in (1, "3/2", 2, 3, 4, "11/10", 50)),
    GG(10**6, "3/2", "1/3"),
]


def ids(law: Any) -> str:
    return str(law)[:60]


def by_loop(law: Any, **sizes: int) -> tuple[Any, list[Any]]:
    """Return the table with the portable loop, and with each vector loop of this machine."""
    made = by_each_loop(NativeTable, law, **sizes)
    for isa in ("AVX512", "SSE41"):  # lanes alone have loops for them
        made.pop(isa, None)
    assert all(table.isa == isa for isa, table in made.items() if isa != "AUTO")
    return made.pop("PORTABLE"), list(made.values())


def drawn(table: Any, n: int, dtype: Any = np.int64) -> tuple[list[int], int]:
    source, out = same_bits(), np.empty(n, dtype)
    table.fill(out, source)
    return out.tolist(), source.used


@pytest.mark.parametrize("law", some(SPECS), ids=ids)
def test_every_loop_draws_the_same(law: Any) -> None:
    """Portable and vector loops make the same draws in every output type and use as many bytes."""
    n = 9000  # more than a chunk
    portable, others = by_loop(law)
    expected = drawn(portable, n, object)
    types: list[Any] = [object, np.int64] if fits(law, -(2**63), 2**63 - 1) else [object]
    reach = max(map(abs, expected[0]))
    types += [t for t in (np.int8, np.int16, np.int32) if reach <= np.iinfo(t).max]
    for table in others:
        for dtype in types:
            assert drawn(table, n, dtype) == expected, dtype


def test_every_loop_draws_long_ticks_into_short_integers() -> None:
    """An int32 holds blocks of 2^25 integers, which no table chooses by itself."""
    portable, others = by_loop(G(2**52), block_bits=25)
    expected = drawn(portable, 9000, object)
    for table in others:
        assert drawn(table, 9000, np.int32) == expected


@pytest.mark.parametrize("block_bits", [2, *evidence(1, 4)])
def test_every_loop_draws_where_most_rows_are_mixed(block_bits: int) -> None:
    """If blocks are too wide for the law, most rows are mixed and most draws of a batch special."""
    portable, others = by_loop(L(1), block_bits=block_bits)
    expected = drawn(portable, 2500, object)
    for table in others:
        for dtype in (np.int8, np.int16, np.int32, np.int64):
            assert drawn(table, 2500, dtype) == expected


@pytest.mark.parametrize("law", [G(1), G(10**6), G(10**40)], ids=ids)
def test_a_fill_may_be_cut_at_chunks(law: Any) -> None:
    """Pieces that are whole chunks draw what one fill draws."""
    table = NativeTable(law)
    whole, used = drawn(table, 5 * table.chunk + 7, object)
    source, pieces = same_bits(), []
    for n in (2 * table.chunk, table.chunk, 2 * table.chunk + 7):
        out = np.empty(n, object)
        table.fill(out, source)
        pieces += out.tolist()
    assert (pieces, source.used) == (whole, used)


N = 400_000


@pytest.mark.parametrize(
    ("index_bits", "block_bits", "mu"),
    crossed([8, 12, 16], [-1, 3], [F(1, 3), F(0), F(-1, 2)], n=3),
)
def test_tables_of_any_size_draw_the_same_law(
    index_bits: int, block_bits: int, mu: Fraction
) -> None:
    """Table size and block size change the time, not the law."""
    sizes: dict[str, Any] = {"index_bits": index_bits, "block_bits": block_bits}
    out = np.empty(N, np.int64)
    NativeTable(G(400, mu), **sizes).fill(out, "chacha20")
    assert rejected(out, gaussian_table(F(400), mu)) == []
    NativeTable(L(12, mu), **sizes).fill(out, "chacha20")
    assert rejected(out, laplace_table(F(12), mu)) == []


@pytest.mark.parametrize("mu", [F(0), F(1, 3)])
@pytest.mark.parametrize("scale", [F(1, 2), F(20), *evidence(F(1000))])
def test_the_generalised_gaussian_contains_the_other_laws(scale: Fraction, mu: Fraction) -> None:
    """beta = 1 is the discrete Laplace, beta = 2 the discrete Gaussian of sigma2 = scale^2/2."""
    one = dg.generalized_gaussian(scale, 1, N, mu=mu, source="chacha20")
    assert rejected(one, laplace_table(scale, mu)) == []
    two = dg.generalized_gaussian(scale, 2, N, mu=mu, source="chacha20")
    assert rejected(two, gaussian_table(scale**2 / 2, mu)) == []


@pytest.mark.parametrize("sigma2", [F(10**100), *evidence(F(10**200, 7), F(2) ** 4000 + F(1, 3))])
def test_wide_laws_have_the_right_shape_and_free_low_bits(sigma2: Fraction) -> None:
    """Beyond 64 bits x/sigma passes for normal, and x mod 256 for uniform."""
    from math import isqrt

    from scipy import stats

    draws = dg.discrete_gaussian(sigma2, 100_000, dtype=object, method="cells")
    sigma = isqrt(sigma2.numerator // sigma2.denominator)
    scaled = np.array([float(Fraction(x, sigma)) for x in draws])
    assert stats.kstest(scaled, "norm").pvalue > 1e-9
    low = np.bincount([x % 256 for x in draws], minlength=256)
    assert stats.chisquare(low).pvalue > 1e-9


@pytest.mark.parametrize(
    "law",
    [
        G(F(1, 10**17)),
        L(F(1, 10**20)),
        GG("1/3", 50),
        GG("1/1000", 17, "1/3"),
        GG(10**6, 1000),
        GG(10**15, 50),
        GG(1000, "11/10", "1/3"),
        GG(5, 10**30),
    ],
    ids=ids,
)
def test_extreme_parameters_have_tables(law: Any) -> None:
    """Their draws are near the centre."""
    out = np.empty(1000, np.int64)
    NativeTable(law).fill(out, "getrandom")
    reach = 30 if getattr(law, "beta", 1) < 10 else 2
    assert abs(out).max() <= max(1, reach * getattr(law, law.__match_args__[0]))


def test_a_centre_of_63_bits_is_drawn_around() -> None:
    """A law around a mu beyond 2^62 is drawn if the dtype holds it."""
    draws = dg.discrete_gaussian(4, 100_000, mu=2**62 + 5)
    assert abs(draws - (2**62 + 5)).max() < 30
    draws = dg.discrete_gaussian(4, 100_000, mu=2**63 + 5, dtype=np.uint64)
    assert abs(draws.astype(object) - (2**63 + 5)).max() < 30


def test_methods_that_a_law_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="method"):
        dg.geometric_exp(1, 3, method="cells")
    with pytest.raises(ValueError, match="method"):
        dg.bernoulli("1/2", method="isochronous")
    with pytest.raises(ValueError, match="method"):
        dg.generalized_gaussian(1, 2, 3, method="reference")
    with pytest.raises(ValueError, match="beta"):
        dg.generalized_gaussian(1, "1/2", 3)


@pytest.mark.parametrize("source", ["getrandom", "chacha20"])
@pytest.mark.parametrize("method", ["reference", "cells"])
def test_no_two_calls_share_bits(source: Any, method: Any) -> None:
    """Each call uses new bits: no value occurs twice among 2000 wide draws."""
    draws = [
        x
        for _ in range(20)
        for x in dg.discrete_gaussian(2**200, 100, dtype=object, source=source, method=method)
    ]
    assert len(set(draws)) == len(draws)


@pytest.mark.parametrize("blocks", [(0, 1), (0, 100), (7, 33), (2**32 - 20, 20)])
def test_the_keystream_is_that_of_a_well_kept_library(blocks: tuple[int, int]) -> None:
    """The package cryptography computes the same ChaCha20."""
    ciphers = pytest.importorskip("cryptography.hazmat.primitives.ciphers")
    first, n = blocks
    key = random.Random(first).randbytes(32)
    nonce = first.to_bytes(4, "little") + bytes(12)
    encryptor = ciphers.Cipher(ciphers.algorithms.ChaCha20(key, nonce), mode=None).encryptor()
    assert keystream(key, first, n) == encryptor.update(bytes(64 * n))


def test_a_seeded_source_repeats_and_warns() -> None:
    """The same seed gives the same draws, and a warning says that they are not private."""
    with pytest.warns(NotPrivateWarning):
        one = seeded_source(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other, different = seeded_source(7), seeded_source(8)
    draws = [dg.discrete_gaussian(100, 2000, method="cells", source=s) for s in (one, other)]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] != dg.discrete_gaussian(100, 2000, method="cells", source=different)).any()
    assert (draws[0] != dg.discrete_gaussian(100, 2000, method="cells", source=one)).any()


def test_a_seeded_source_does_not_mind_how_it_is_read() -> None:
    """Reads in pieces return the bytes of the stream."""
    whole = bytearray(1000)
    SeededSource(3)(memoryview(whole))
    pieces, source = bytearray(), SeededSource(3)
    for n in (1, 63, 64, 65, 7, 300, 500):
        part = bytearray(n)
        source(memoryview(part))
        pieces += part
    assert pieces == whole


@pytest.mark.evidence
@pytest.mark.parametrize("sigma2", [F(1), F(355, 113), F(10**4), F(10**12)])
def test_a_thousand_million_draws(sigma2: Fraction) -> None:
    """10^9 draws from the cell table follow the law.

    At sigma2 = 10^12 they are rounded to multiples of 2^14 first and compared with the discrete
    Gaussian of that grid. Its variance is 2 * 10^-5 larger, a tenth of what 10^9 draws show.
    """
    step = 1 if sigma2 < 10**6 else 2**14
    exact = gaussian_table(sigma2 / step**2)
    out = np.empty(10**7, np.int64)
    counts = np.zeros(len(exact.pmf) + 2, np.int64)
    for _ in range(100):
        dg.discrete_gaussian(sigma2, out=out, method="cells", source="chacha20")
        if step > 1:
            out += step // 2
            out //= step
        counts += count_cells(out, exact)
    assert [finding for finding in check_counts(counts, exact) if finding.p_value < ALPHA] == []
