"""The search for the s of the zCDP formulas: near enough, short enough, in few steps."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import gmpy2
import pytest

from discretegauss.privacy._root_finding import (
    FLOAT_BITS,
    search_precision,
    solve_increasing,
    turning_point,
)
from discretegauss.privacy.zcdp import _delta_turns, _epsilon_turns, _rho_turns


def exact_s(problem: Callable[..., Any], *values: Fraction) -> gmpy2.mpfr:
    """Halve log(s) from -10**5 .. 10**5 on, 350 times: by signs alone, no slope and no guess."""
    with search_precision(1200):
        balance, _ = problem(gmpy2, *(gmpy2.mpfr(gmpy2.mpq(value)) for value in values))
        low, high = gmpy2.mpfr(-(10**5)), gmpy2.mpfr(10**5)
        for _ in range(350):
            middle = (low + high) / 2
            low, high = (middle, high) if balance(middle)[0] < 0 else (low, middle)
        return gmpy2.exp(low)


def counted(problem: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    """The same problem; what its balance is asked for is kept."""

    def same(ops: Any, *values: Any) -> Any:
        balance, guess = problem(ops, *values)

        def kept(u: Any) -> Any:
            calls.append(u)
            return balance(u)

        return kept, guess

    return same


def numbers(size: int, generator: random.Random) -> Fraction:
    return Fraction(generator.randrange(1, 10**6)) * Fraction(10) ** generator.randint(-size, size)


@pytest.mark.parametrize("size", [2, 12, 100, 1000, 10000])
@pytest.mark.parametrize("problem", [_delta_turns, _epsilon_turns, _rho_turns])
def test_s_is_found_to_the_bits_asked_for(problem: Callable[..., Any], size: int) -> None:
    """All but ten of them, which log(s) has before its point; and it has at most 32 bits more."""
    generator = random.Random(size)
    for _ in range(4):
        first, second = numbers(size, generator), numbers(size, generator)
        if problem is _delta_turns:  # rho and epsilon - rho
            second = second if generator.random() < 0.5 else -first * Fraction(generator.random())
        else:  # -log(delta), of some number of at most 65536 bits
            second = min(second, Fraction(45000))
        exact = exact_s(problem, first, second)
        for bits in (FLOAT_BITS, 80, 200):
            tried: list[Any] = []
            s = turning_point(counted(problem, tried), first, second, bits=bits)
            with search_precision(1200):
                assert abs(s / exact - 1) < 2.0 ** (10 - bits)
            assert s == gmpy2.mpfr(s, bits + 32)
            assert len(tried) < 30


@pytest.mark.parametrize("problem", [_delta_turns, _epsilon_turns, _rho_turns])
def test_s_is_so_for_numbers_of_which_floats_keep_few_bits(problem: Callable[..., Any]) -> None:
    """1.5e-323 is three times the smallest float, but 1.7e-323 is no float."""
    for values in product((Fraction(17, 10**324), Fraction(3)), repeat=2):
        with search_precision(1200):
            assert abs(turning_point(problem, *values) / exact_s(problem, *values) - 1) < 2.0**-38


@pytest.mark.parametrize("root", [-1000.0, -3.0, 0.5, 7.0, 90.0, 1000.0])
@pytest.mark.parametrize("guess", [-60.0, 0.0, 500.0])
def test_a_root_is_found_where_slopes_are_of_no_use(root: float, guess: float) -> None:
    """Newton's step is infinite; steps that double, and halving, find it all the same."""
    found = solve_increasing(lambda u: (math.atan(u - root), 5e-324), guess)
    assert found == pytest.approx(root, rel=1e-15)


@pytest.mark.parametrize(("guess", "within"), [(math.inf, math.inf), (-math.inf, 9.0), (7.0, 9.0)])
def test_where_no_number_is_left_to_try_the_search_ends(guess: float, within: float) -> None:
    """A guess that floats have no number for, and roots beyond the ends: they took 300 steps."""
    for sign in (-math.inf, math.inf):
        tried: list[float] = []

        def balance(
            u: float, sign: float = sign, tried: list[float] = tried
        ) -> tuple[float, float]:
            tried.append(u)
            return sign, math.nan

        assert abs(solve_increasing(balance, guess, within=within)) == within
        assert len(tried) < 70


@pytest.mark.parametrize("within", [math.inf, 100.0])
@pytest.mark.parametrize("root", [-40.0, -3.0, 0.0, 7.0, 90.0])
@pytest.mark.parametrize("guess", [-60.0, 0.0, 1e6])
def test_a_root_is_found_where_newtons_steps_lead_away_from_it(
    root: float, guess: float, within: float
) -> None:
    """The arc tangent: from a distance of 1.4 on, each step ends farther away than it began."""
    tried: list[float] = []

    def balance(u: float) -> tuple[float, float]:
        tried.append(u)
        return math.atan(u - root), 1 / (1 + (u - root) ** 2)

    found = solve_increasing(balance, guess, within=within)
    assert found == pytest.approx(root, rel=1e-15, abs=1e-15)
    assert within == math.inf or max(map(abs, tried)) <= within
    assert len(tried) < 70
