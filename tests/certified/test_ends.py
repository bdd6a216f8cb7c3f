"""The limits of certified numbers: empty input, undecided values, the last integers of floats."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction

import numpy as np
import pytest

import discretegauss as dg
from discretegauss._certified import floats as _floats
from discretegauss._certified.interval import Interval
from discretegauss._law import Kind, LawSpec

GAUSSIAN = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100))


def test_a_value_that_no_precision_decides_is_an_error() -> None:
    """An enclosure that never narrows ends in an ArithmeticError, not in a guess."""
    at = importlib.import_module("discretegauss._certified.interval").arithmetic(64)
    wide = Interval(at.rational(1).lower, at.rational(2).upper)
    with pytest.raises(ArithmeticError, match="bits"):
        _floats.float_value(lambda _bits: wide)


def test_a_sum_whose_first_ratio_is_rounded_to_1_goes_on() -> None:
    """1 + q0 + q0 q1 + ... with q0 = exp(-2**-200), qj = q0 exp(-j)."""
    from discretegauss._certified.gaussian_tail import direct_sum

    value = direct_sum(Fraction(1, 2**200), Fraction(1), 0, 60)
    expected = 1 + sum(math.exp(-j * (j + 1) / 2) for j in range(20))
    assert value.lower <= value.upper
    assert float(value.lower) == pytest.approx(expected, rel=1e-15)


def test_tails_next_to_the_last_integer_of_the_fast_way_are_left_to_the_other() -> None:
    """Floats hold integers only up to a bound. No table of tails goes beyond it."""
    from discretegauss._certified import array_functions, array_weights

    mu = array_weights.LARGEST - 5
    law = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100), Fraction(mu))
    assert array_functions.tail_table(law, mu, mu + 3, most=100) is not None
    assert array_functions.tail_table(law, mu, mu + 20, most=100) is None


def test_quantiles_of_nothing_are_nothing() -> None:
    """Empty arrays of probabilities."""
    assert dg.DiscreteGaussian(100).ppf([]).shape == (0,)
    assert dg.DiscreteGaussian(100).isf(np.empty((0, 3))).shape == (0, 3)
