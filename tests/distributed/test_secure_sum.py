"""Messages add up exactly at the ends of every range; other values than integers are refused."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from scipy import stats

import discretegauss as dg
from discretegauss import testing
from discretegauss.distributed import Rotation, SecureSum, total

NONE = dg.DiscreteGaussian("1/1000")
"""A draw is not 0 with a probability of some exp(-500)."""


@pytest.mark.parametrize("modulus", [2, 3, 2**32, 2**62, 2**62 + 1, 2**63, 2**64, 10**30])
def test_sums_are_exact_at_the_ends(modulus: int) -> None:
    low, high = -(modulus // 2), (modulus + 1) // 2 - 1
    rows = [[low, high, -(2**63), 2**63 - 1, 2**64], [0, 0, -1, 1, 10**40]]
    found = total([[value % modulus for value in row] for row in rows], modulus).tolist()
    wanted = [sum(column) for column in zip(*rows, strict=True)]
    assert found[:2] == [low, high]
    assert all((a - b) % modulus == 0 for a, b in zip(found, wanted, strict=True))
    assert all(low <= value <= high for value in found)


@pytest.mark.parametrize("modulus", [2, 3, 2**62, 2**62 + 1, 10**30])
def test_a_message_is_the_vector_modulo_an_integer(modulus: int) -> None:
    secure = SecureSum(
        1, clip=1, steps=8, law=NONE, most_clients=2, fewest_clients=1, modulus=modulus, wrap=True
    )
    message = secure.message([[0.5], [-0.5]])
    assert message.dtype == (np.int64 if modulus <= 2**62 else object)
    step = 4 * int(secure.rotation.signs[0])
    assert message.tolist() == [[step % modulus], [-step % modulus]]


@pytest.mark.parametrize("clients", [1, 2, 3, 4, 1000])
def test_the_largest_messages_do_not_wrap(clients: int) -> None:
    """Moduli are about 2**63/clients, where the sum and half the modulus may exceed an int64."""
    for k in range(clients - 1, clients + 3):
        for modulus in {max(2, 2**63 // max(1, k) + i) for i in (-1, 0, 1)}:
            wanted = clients * (modulus - 1) % modulus
            found = total([[modulus - 1]] * clients, modulus).tolist()
            assert found == [wanted - modulus if 2 * wanted >= modulus else wanted]


def test_integers_that_numpy_would_make_floats_of_stay_integers() -> None:
    """A list of integers on both sides of 2**63, and arrays of int64 and uint64, stay exact."""
    modulus = 2**64 - 2**32 + 1
    assert total([[2**63, 1]], modulus).tolist() == [2**63 - modulus, 1]
    arrays = [np.array([2**63 + 1], np.uint64), np.array([-3])]
    assert total(arrays, 2**70).tolist() == [2**63 - 2]
    assert total(np.zeros((0, 3), int), 5).tolist() == [0, 0, 0]
    turned = Rotation(2).undo([2**63 + 1, 1 - 2**63])
    assert sorted(abs(turned).tolist()) == [2 / 2**0.5, 2.0**64 / 2**0.5]
    for take in (
        Rotation(1).apply,
        SecureSum(1, clip=1, steps=8, law=NONE, most_clients=2, fewest_clients=1).message,
    ):
        with pytest.raises(OverflowError, match="vectors must be floats, below"):
            take([2**1024])
    with pytest.raises(TypeError, match="messages must hold integers, got a float"):
        total([[2**63, 1.0]], modulus)
    with pytest.raises(TypeError, match="values must be integers or floats of at most 64 bits"):
        dg.lattice.to_lattice([2**63 + 1, 1], 1)  # not 2**63


@pytest.mark.parametrize("s", ["1/4", 2])
def test_sums_follow_the_convolution(native_engine: None, s: object) -> None:
    law, n = dg.DiscreteGaussian(s), 5
    with pytest.warns(testing.NotPrivateWarning):
        source = testing.seeded_source(1)
    secure = SecureSum(1, clip=1, steps=8, law=law, most_clients=n, fewest_clients=1)
    zeros = np.zeros((20000, 1))
    sums = total([secure.message(zeros, source=source) for _ in range(n)], secure.modulus)
    p = reduce(np.convolve, [law.pmf(np.arange(-30, 31))] * n)
    k = np.arange(-30 * n, 30 * n + 1)
    keep = p * sums.size > 10
    seen = np.array([(sums == value).sum() for value in k[keep]])
    assert stats.chisquare(seen, p[keep] / p[keep].sum() * seen.sum()).pvalue > 1e-6


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="modulus must be an integer"):
        total([[1]], 2.0)  # type: ignore[arg-type]
    for messages, error in ((3, "axis of clients"), ([[1, 2], [3]], "must all have one length")):
        with pytest.raises(ValueError, match=error):
            total(messages, 5)
    for wrong in ([[True]], np.array([["1"]]), np.array([[1, 2.5]], object)):
        with pytest.raises(TypeError, match="messages must hold integers"):
            total(wrong, 5)
