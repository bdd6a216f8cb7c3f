"""Noise by key and item: the C core draws what the specification says, in any order."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import parts
import pytest
from engine import needs_core
from exact_law import ExactLaw
from law_checks import gaussian_table, rejected
from law_sums import GG, G, L
from noise_by_item import noise_at
from numpy.typing import NDArray

from discretegauss.errors import ParameterValueError, RangeError

pytestmark = needs_core

KEY = bytes(range(32))
LAWS = [
    G(1),
    G(900, "7/3"),
    G(2**100, "-1000000.5"),  # two words an item
    L("5/2", "1/3"),
    L(2**50),
    GG(1000, "3/2"),
]
IDS = ["narrow", "centred elsewhere", "wide", "laplace", "wide laplace", "generalised"]


def drawn(law: Any, first: int, n: int, dtype: str = "int64") -> NDArray[Any]:
    """Return the `n` items from `first` on, by the C core."""
    out = np.zeros(n, dtype)
    parts.NativeTable(law).noise_at(out, first, KEY)
    return out


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_items_are_those_of_the_specification(law: Any) -> None:
    """Items near 0, 2**40 and 2**63 agree. Some 50 of the first 2000 take more than their cell."""
    table, exact = parts.copied_table(law), ExactLaw(law)
    for first, n in ((0, 2000), (2**40 - 3, 6), (2**63 - 3, 6)):
        items = range(first, first + n)
        assert drawn(law, first, n).tolist() == [noise_at(i, KEY, table, exact) for i in items]


@pytest.mark.parametrize("law", LAWS[1:3], ids=IDS[1:3])
def test_where_a_call_starts_and_ends_changes_nothing(law: Any) -> None:
    """Calls cut at any item, within a row of a tile, across rows and tiles, draw the same items."""
    whole = drawn(law, 0, 20_000)
    edges = [0, 1, 255, 256, 300, 2047, 2049, 4095, 4096, 8200, 12_287, 12_288, 20_000]
    pieces = [drawn(law, a, b - a) for a, b in pairwise(edges)]
    assert np.array_equal(np.concatenate(pieces), whole)
    assert len(set(whole[:100])) > 10


def test_items_have_the_law() -> None:
    """10**6 items of a fixed key pass the tests of the law, and the same items moved by 1 fail."""
    items = drawn(G(16), 10**6, 10**6)
    assert rejected(items, gaussian_table(Fraction(16))) == []
    assert rejected(items + 1, gaussian_table(Fraction(16)))


def test_what_cannot_be_drawn_is_refused() -> None:
    """A type too short for an item is refused, and so is a law whose items exceed two words."""
    with pytest.raises(RangeError):
        drawn(G(10**6), 0, 1000, "int8")
    with pytest.raises(ParameterValueError, match="sigma"):
        drawn(G(2**110), 0, 1)


@pytest.mark.parametrize("n_bytes", [0, 31, 33])
def test_a_key_has_32_bytes(n_bytes: int) -> None:
    """A shorter key would let the core read beyond it."""
    out = np.full(2, 7)
    for key in (bytes(n_bytes), np.zeros(n_bytes, np.uint8)):
        with pytest.raises(ParameterValueError, match=f"^key must have 32 bytes, got {n_bytes}$"):
            parts.NativeTable(G(900)).noise_at(out, 0, key)
    assert out.tolist() == [7, 7]


def test_items_end_below_2_to_the_64() -> None:
    """The last item is 2**64 - 2. A call beyond it would begin again with item 0."""
    assert drawn(G(900), 2**64 - 3, 2).size == 2
    for first, n in ((2**64 - 2, 2), (2**64 - 1, 1)):
        with pytest.raises(ParameterValueError, match=r"first_item \+ n must be below 2\^64"):
            drawn(G(900), first, n)
