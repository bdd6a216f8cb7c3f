"""The C core and its twin in plain Python make the same draws from the same bytes.

The default run compares 500 draws of each law, and ``-m evidence`` 10**6 draws in all.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction as F
from typing import Any

import numpy as np
import parts
import pytest
from evidence_cases import evidence
from law_sums import G, L

from discretegauss.laws import Bernoulli, BernoulliExp, Geometric, UniformBelow
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")


GAUSSIANS: list[Any] = [
    *map(G, [1, 2, 3, 5, 10, 99, 100, 101, 10**4, 10**6]),
    *map(G, ["1/4", "1/1000", "355/113", "99/100", "10/3"]),
    *map(G, [0.1, 1e-3, 2.7182818284590451, 12345.678]),
    *map(G, [2**40, 2**52, 2**64, 2**110, 2**200, F(2**200 + 1, 3)]),
    *(G(1, "1/3"), G(100, "-1/2"), G("1/1000", "1/2"), G("1/50", "-12345/7"), G(0.1, "1/3")),
    *(G(10**6, 10**12), G(2**120, "22/7")),
]
LAPLACES: list[Any] = [
    *map(L, [1, 10, 1000, "1/2", "5/2", "1/1000", 0.3, 2**53, 2**54, 2**56, 2**150]),
    *(L(1, "1/2"), L("1/100", "-1/2"), L(10, "-22/7"), L(2**70, "1/3"), L("5/2", "1/3")),
    L("3/7", "-1/5"),
]
OTHERS: list[Any] = [
    *map(Geometric, [1, "1/10", 3, 0.001]),
    *map(BernoulliExp, [0, 1, 2, "1/3", "17/5", 0.7, 2**100]),
    *map(Bernoulli, [0, 1, "1/2", "2/3", 0.1, F(1, 2**130) + F(1, 3)]),
    *map(UniformBelow, [1, 2, 3, 256, 257, 10**9, 2**55, 2**56 + 1, 10**40]),
]
LAWS = GAUSSIANS + LAPLACES + OTHERS


def tape_for(law: Any, n: int) -> bytes:
    """Return a tape for n draws that looks random and is the same in every run."""
    longest = max(map(int.bit_length, getattr(law, law.__match_args__[0]).as_integer_ratio()))
    return hashlib.shake_256(repr(law).encode()).digest(n * (200 + longest) + 10**4)


def draws(law: Any, n: int, tape: bytes) -> tuple[list[int], int]:
    """Return n draws from the tape, and how many of its bytes they used."""
    source = TapeSource(tape)
    out = np.empty(n, dtype=object)
    law.fill(out, source)
    return out.tolist(), source.used


def ids(law: Any) -> str:
    return str(law)[:60]


@pytest.mark.parametrize("n", [500, *evidence(-(-(10**6) // len(LAWS)))])
@pytest.mark.parametrize("law", LAWS, ids=ids)
def test_core_and_twin_agree_on_draws_and_bytes_used(law: Any, n: int) -> None:
    """C (words and GMP) and Python draw the same from the same tape and use the same bytes."""
    tape = tape_for(law, n)
    expected = draws(parts.python_sampler(law), n, tape)
    assert draws(parts.NativeLaw(law), n, tape) == expected
    assert draws(parts.NativeLaw(law, words=False), n, tape) == expected


def test_enough_laws_are_compared() -> None:
    """At least 40 parameters, from 10**-3 to 2**200, in words and in GMP."""
    assert len(LAWS) >= 40
    in_words = [parts.NativeLaw(law).uses_words for law in LAWS]
    assert min(in_words.count(True), in_words.count(False)) >= 10


@pytest.mark.parametrize("law", [GAUSSIANS[6], LAPLACES[1], GAUSSIANS[-1]], ids=ids)
def test_how_a_fill_is_cut_does_not_change_the_draws(law: Any) -> None:
    """No byte of a caller's source goes unused, so pieces continue one another."""
    tape = tape_for(law, 500)
    whole, used = draws(parts.NativeLaw(law), 500, tape)
    source, pieces = TapeSource(tape), []
    for n in [1, 2, 3, 94, 400]:
        out = np.empty(n, dtype=object)
        parts.NativeLaw(law).fill(out, source)
        pieces += out.tolist()
    assert (pieces, source.used) == (whole, used)
