"""Arrays of centres: noise of their fractions plus their integers, or an error and no draws."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once
from inputs import must_not_draw
from parts import sums

import discretegauss as dg
from discretegauss import reference
from discretegauss.errors import ParameterOverflowError
from discretegauss.testing import TapeSource

native = pytest.mark.usefixtures("native_engine")

DTYPES = ["i1", "i2", ">i4", "i8", "u1", ">u2", "u4", "u8", "O"]


# --- sums ---


def numbers(dtype: str) -> np.ndarray[Any, Any]:
    """Return the ends of a dtype, integers near them and near 0, and some between."""
    if dtype == "O":
        return np.array([-(2**63), -1, 0, 1, 2**64] * 20, object)
    info, rng = np.iinfo(dtype), random.Random(dtype)
    ends = [int(info.min), int(info.min) + 1, 0, 1, int(info.max) - 1, int(info.max)] * 10
    return np.array([*ends, *(rng.randint(info.min, info.max) for _ in range(40))], dtype)


RULES: list[dict[str, Any]] = [
    {},
    {"is_clamped": True},
    *({"modulus": m} for m in (1, 2, 10**6 + 3, 2**40, 2**63, 2**63 + 1, 2**64 - 1, 2**64)),
]


@native
@at_once("rule", RULES)
@pytest.mark.parametrize("dtype", DTYPES)
@at_once("has_nulls", [False, True])
def test_the_core_adds_what_plain_python_adds(dtype: str, rule: Any, has_nulls: bool) -> None:
    """Integers of any dtype get the same sums from the same bits, or RangeError from both."""
    tape, values = random.Random(5).randbytes(9000), numbers(dtype)
    for held in (values, values[2:5], values[:0]):
        nulls = np.arange(held.size) % 3 == 0 if has_nulls else None
        given = {"nulls": nulls, "bounds": None if dtype == "O" else (-(2**63), 2**63 - 1)} | rule
        result = "O" if dtype == "O" else "u8" if rule.get("modulus", 0) > 2**63 else "i8"
        by_core, by_python = (
            sums(dg.DiscreteGaussian(100), held, result, TapeSource(tape), in_core=core, **given)
            for core in (True, False)
        )
        assert by_core == by_python


# --- draws with arrays of centres ---


@native
def test_a_column_of_counts_has_the_draws_of_one_law_and_the_counts_added() -> None:
    """This holds in any layout and any dtype that holds the sums. `out` may be the counts."""
    counts = np.random.default_rng(3).integers(-(2**40), 2**40, (30, 40))
    tape = random.Random(1).randbytes(200_000)
    noise = dg.discrete_gaussian(100, counts.shape, source=TapeSource(tape))
    wanted = counts + noise
    for mu in (counts, counts.astype(np.float64), counts.astype(">i8"), counts.astype(object)):
        drawn = dg.discrete_gaussian(100, mu=mu, source=TapeSource(tape))
        assert (drawn == wanted).all()
    for out in (
        np.empty((30, 40), ">i8"),
        np.empty((30, 40), object),
        np.empty((60, 80), np.int64)[::2, ::-2],
        counts.copy(),
    ):
        mu = out if out.dtype == np.int64 and out.flags.c_contiguous else counts
        assert dg.discrete_gaussian(100, mu=mu, out=out, source=TapeSource(tape)) is out
        assert (out == wanted).all()


def test_draws_around_real_centres_are_those_of_the_reference() -> None:
    """From the same bits reference.py draws the same, one centre after the other."""
    mu = [0.5, 1e-9, 1.25, 2.0**60, -1e-9, 12345.678, -7.5, 3.0]
    tape = random.Random(5).randbytes(10**4)
    source, other = TapeSource(tape), TapeSource(tape)
    drawn = dg.discrete_gaussian(7, mu=np.array(mu), method="reference", source=source)
    stream = reference.CallableBytes(other)
    wanted = [reference.discrete_gaussian(Fraction(7), Fraction(m), stream) for m in mu]
    assert drawn.tolist() == wanted
    assert source.used == other.used


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i8", "u8", "O"])
def test_centres_near_the_ends_of_a_dtype(dtype: str) -> None:
    """A centre is taken if the law around it provably fits the dtype, and else refused."""
    info = None if dtype == "O" else np.iinfo(dtype)
    low, high = (-(2**80), 2**80) if info is None else (int(info.min), int(info.max))
    mu = np.array([low + 30, (low + high) // 2, high - 30], object)
    drawn = dg.discrete_gaussian(4, mu=mu, dtype=dtype)
    assert drawn.dtype == dtype
    assert all(abs(int(x) - m) < 30 for x, m in zip(drawn, mu.tolist(), strict=True))
    narrow = np.array([low, high], object)  # the draws are the centres, almost surely
    assert dg.discrete_gaussian("1e-6", mu=narrow, dtype=dtype).tolist() == [low, high]
    if info is not None:
        for far in (low + 5, high - 5):
            bad = np.array([(low + high) // 2, far], object)
            with pytest.raises(ParameterOverflowError, match=r"mu\[1\]"):
                dg.discrete_gaussian(4, mu=bad, dtype=dtype, source=must_not_draw)


@pytest.mark.parametrize("dtype", ["i8", "f8", ">f8", "i4"])
def test_columns_of_any_layout_are_read(dtype: str) -> None:
    """Strided, reversed and unaligned columns give the numbers that they hold."""
    records = np.zeros(40, [("pad", "u1"), ("n", dtype)])
    records["n"] = np.arange(1, 41) * 10**6
    for numbers in (records["n"], records["n"][::-3], np.asfortranarray(np.ones((4, 10), dtype))):
        around = dg.discrete_gaussian(numbers * 0 + 1, mu=numbers)
        assert (np.abs(around - numbers) < 30).all()
        assert (np.abs(dg.discrete_gaussian(numbers)) < 30 * np.sqrt(numbers)).all()
