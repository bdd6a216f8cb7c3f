"""Quantiles by floats are right or left to certified functions, next to a tail as elsewhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discretegauss._law import Kind, LawSpec
from discretegauss._law_functions.array_functions import in_floats, tail_table, upper_tails
from discretegauss._law_functions.quantiles import _finder, _sure


def test_at_the_smallest_floats_neighbours_of_a_tail_are_not_taken_for_it() -> None:
    """A true tail between n and n + 1 units may be rounded to either float."""
    unit = 5e-324
    for n in (0, 1, 2, 9, 2**40, 2**51):
        below, above = n * unit, (n + 1) * unit
        told = n < 2**41  # beyond, the margin is some units
        for tail in (below, above):
            for p in {below, above} - {0.0}:
                at_most_p = _sure(np.array([np.inf]), np.array([tail]), np.array([p]))
                assert at_most_p.tolist() == [told and tail < p]
                beyond_p = _sure(np.array([tail]), np.array([0.0]), np.array([p]))
                assert beyond_p.tolist() == [told and tail > p]


def test_quantiles_that_are_searched_for_are_certain_or_unknown() -> None:
    """Near a tail the search says nothing. Elsewhere it is right, at mu and far from it."""
    law = LawSpec(Kind.DISCRETE_LAPLACE, Fraction(10**9))
    ms = np.concatenate([[0, 1], np.geomspace(2, 5e11, 400).astype(np.int64)])
    pairs, found = upper_tails(law, ms)
    assert found.size == ms.size
    tails = in_floats(pairs)
    for factor, known in ((1 - 5e-14, None), (1 + 5e-14, None), (1 - 5e-10, 1), (1 + 5e-10, 0)):
        with_limit = np.append(tails * factor, 1e-200)
        find = _finder(law, with_limit.min(), with_limit.size)
        assert find is not None
        quantiles, sure = find(with_limit)
        assert (sure[:-1] == (known is not None)).all()
        assert known is None or (quantiles[:-1] == ms + known).all()


def test_a_quantile_is_looked_up_only_if_neither_neighbour_is_close() -> None:
    """A tail of the table that is right to 1e-14 may stand on the wrong side of p."""
    law = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100))
    pairs = tail_table(law, 0, 60, most=10**6)
    assert pairs is not None
    table = in_floats(pairs)
    for m in range(40):
        for factor, known in (
            (1 - 5e-14, None),
            (1 + 5e-14, None),
            (1 - 1e-9, m + 1),
            (1 + 1e-9, m),
        ):
            p = np.array([table[m] * factor, table[59]])
            find = _finder(law, p.min(), p.size)
            assert find is not None
            quantiles, sure = find(p)
            assert sure[0] == (known is not None)
            assert known in (None, quantiles[0])
