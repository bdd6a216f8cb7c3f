"""Messages add up exactly at the ends of every range; other values than integers are refused."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from scipy import stats

import discretegauss as dg
from discretegauss import testing
from discretegauss.distributed._rounds import share

NONE = dg.DiscreteGaussian("1/1000")
"""A draw is not 0 with a probability of some exp(-500)."""


@pytest.mark.parametrize("modulus", [2, 3, 2**32, 2**62, 2**62 + 1, 2**63, 2**64, 10**30])
def test_sums_are_exact_at_the_ends(modulus: int) -> None:
    low, high = -(modulus // 2), (modulus + 1) // 2 - 1
    rows = [[low, high, -(2**63), 2**63 - 1, 2**64], [0, 0, -1, 1, 10**40]]
    vectors = np.array(rows, dtype=object)
    messages = [share(row, NONE, modulus) for row in vectors]
    assert all(0 <= value < modulus for row in messages for value in row.tolist())
    found = dg.distributed.total(messages, modulus).tolist()
    wanted = [sum(column) for column in zip(*rows, strict=True)]
    assert found[:2] == [low, high]
    assert all((a - b) % modulus == 0 for a, b in zip(found, wanted, strict=True))
    assert all(low <= value <= high for value in found)


@pytest.mark.parametrize("clients", [1, 2, 3, 4, 1000])
def test_the_largest_messages_do_not_wrap(clients: int) -> None:
    """Moduli are about 2**63/clients, where the sum and half the modulus may exceed an int64."""
    for k in range(clients - 1, clients + 3):
        for modulus in {max(2, 2**63 // max(1, k) + i) for i in (-1, 0, 1)}:
            wanted = clients * (modulus - 1) % modulus
            found = dg.distributed.total([[modulus - 1]] * clients, modulus).tolist()
            assert found == [wanted - modulus if 2 * wanted >= modulus else wanted]


def test_types_of_integers_and_shapes() -> None:
    for dtype in (np.int8, np.uint64, np.int64):
        message = share(np.full((2, 3), 127, dtype), NONE, 100)
        assert message.dtype == np.int64
        assert message.tolist() == [[27] * 3] * 2
    assert dg.distributed.total(np.zeros((0, 3), int), 5).tolist() == [0, 0, 0]


def test_integers_that_numpy_would_make_floats_of_stay_integers() -> None:
    """A list of integers on both sides of 2**63, and arrays of int64 and uint64, stay exact."""
    modulus = 2**64 - 2**32 + 1
    assert dg.distributed.total([[2**63, 1]], modulus).tolist() == [2**63 - modulus, 1]
    arrays = [np.array([2**63 + 1], np.uint64), np.array([-3])]
    assert dg.distributed.total(arrays, 2**70).tolist() == [2**63 - 2]
    assert share([2**63 + 1, -1], NONE, 2**64).tolist() == [2**63 + 1, 2**64 - 1]
    turned = dg.distributed.Rotation(2).undo([2**63 + 1, 1 - 2**63])
    assert sorted(abs(turned).tolist()) == [2 / 2**0.5, 2.0**64 / 2**0.5]
    for take in (
        dg.distributed.Rotation(1).apply,
        dg.distributed.SecureSum(1, clip=1, steps=8, law=NONE, most_clients=2).message,
    ):
        with pytest.raises(OverflowError, match="vectors must be floats, below"):
            take([2**1024])
    with pytest.raises(TypeError, match="messages must hold integers, got a float"):
        dg.distributed.total([[2**63, 1.0]], modulus)
    with pytest.raises(TypeError, match="values must be integers or floats of at most 64 bits"):
        dg.lattice.to_lattice([2**63 + 1, 1], 1)  # not 2**63


@pytest.mark.parametrize("s", ["1/4", 2])
def test_sums_follow_the_convolution(native_engine: None, s: object) -> None:
    law, n = dg.DiscreteGaussian(s), 5
    with pytest.warns(testing.NotPrivateWarning):
        source = testing.seeded_source(1)
    zeros = np.zeros(20000, int)
    sums = dg.distributed.total([share(zeros, law, 1000, source=source) for _ in range(n)], 1000)
    p = reduce(np.convolve, [law.pmf(np.arange(-30, 31))] * n)
    k = np.arange(-30 * n, 30 * n + 1)
    keep = p * sums.size > 10
    seen = np.array([(sums == value).sum() for value in k[keep]])
    assert stats.chisquare(seen, p[keep] / p[keep].sum() * seen.sum()).pvalue > 1e-6


def test_what_is_refused_draws_nothing() -> None:
    def source(buffer: memoryview) -> None:
        raise AssertionError

    for vector in ([1.0], [True], np.array(["1"]), np.array([1, 2.5], object)):
        with pytest.raises(TypeError, match="vector must hold integers"):
            share(vector, NONE, 5, source=source)
    with pytest.raises(TypeError, match="law must be"):
        share([1], 3, 5, source=source)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="modulus must be at least 2"):
        share([1], NONE, 1, source=source)
    with pytest.raises(TypeError, match="modulus must be an integer"):
        dg.distributed.total([[1]], 2.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="axis of clients"):
        dg.distributed.total(3, 5)
    with pytest.raises(ValueError, match="messages must all have one length"):
        dg.distributed.total([[1, 2], [3]], 16)
