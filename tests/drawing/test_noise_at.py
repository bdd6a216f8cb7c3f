"""Noise by key and item: the C core draws what the specification says, in any order."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from engine import needs_core
from law_checks import gaussian_table, rejected
from noise_by_item import noise_at
from numpy.typing import NDArray

from discretegauss._law import Kind, LawSpec

pytestmark = needs_core

F = Fraction
GAUSSIAN, LAPLACE = Kind.DISCRETE_GAUSSIAN, Kind.DISCRETE_LAPLACE
KEY = bytes(range(32))
LAWS = [
    LawSpec(GAUSSIAN, F(1)),
    LawSpec(GAUSSIAN, F(900), F(7, 3)),
    LawSpec(GAUSSIAN, F(2**100), F(-(10**6) - F(1, 2))),  # two words an item
    LawSpec(LAPLACE, F(5, 2), F(1, 3)),
    LawSpec(LAPLACE, F(2**50)),
    LawSpec(Kind.GENERALIZED_GAUSSIAN, F(1000), F(0), F(3, 2)),
]
IDS = ["narrow", "centred elsewhere", "wide", "laplace", "wide laplace", "generalised"]


def drawn(spec: LawSpec, first: int, n: int, dtype: str = "int64") -> NDArray[Any]:
    """Return the `n` items from `first` on, by the C core."""
    from discretegauss._drawing.native import NativeSampler

    out = np.zeros(n, dtype)
    NativeSampler(spec, "cells").noise_at(out, first, KEY)
    return out


@pytest.mark.parametrize("spec", LAWS, ids=IDS)
def test_items_are_those_of_the_specification(spec: LawSpec) -> None:
    """Items near 0, 2**40 and 2**63 agree. Some 50 of the first 2000 take more than their cell."""
    from discretegauss.verify import _table

    table = _table.copy_out(spec)
    for first, n in ((0, 2000), (2**40 - 3, 6), (2**63 - 3, 6)):
        items = range(first, first + n)
        assert drawn(spec, first, n).tolist() == [noise_at(i, KEY, table) for i in items]


@pytest.mark.parametrize("spec", LAWS[1:3], ids=IDS[1:3])
def test_where_a_call_starts_and_ends_changes_nothing(spec: LawSpec) -> None:
    """Calls cut at any item, within a row of a tile, across rows and tiles, draw the same items."""
    whole = drawn(spec, 0, 20_000)
    edges = [0, 1, 255, 256, 300, 2047, 2049, 4095, 4096, 8200, 12_287, 12_288, 20_000]
    parts = [drawn(spec, a, b - a) for a, b in pairwise(edges)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert len(set(whole[:100])) > 10


def test_items_have_the_law() -> None:
    """10**6 items of a fixed key pass the tests of the law, and the same items moved by 1 fail."""
    items = drawn(LawSpec(GAUSSIAN, F(16)), 10**6, 10**6)
    assert rejected(items, gaussian_table(F(16))) == []
    assert rejected(items + 1, gaussian_table(F(16)))


def test_what_cannot_be_drawn_is_refused() -> None:
    """A type too short for an item is refused, and so is a law whose items exceed two words."""
    from discretegauss.errors import ParameterValueError, RangeError

    with pytest.raises(RangeError):
        drawn(LawSpec(GAUSSIAN, F(10**6)), 0, 1000, "int8")
    with pytest.raises(ParameterValueError, match="sigma"):
        drawn(LawSpec(GAUSSIAN, F(2**110)), 0, 1)
