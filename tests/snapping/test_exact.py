"""The exact snapping mechanism has the law and the privacy that it states."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs import must_not_draw
from same_bits import same_bits
from scipy import stats

import discretegauss as dg
from discretegauss.errors import (
    DiscreteGaussError,
    ParameterTypeError,
    ParameterValueError,
)
from discretegauss.snapping import SnappedLaplace, snapping_laplace
from discretegauss.snapping._doubles import DoubleGrid
from discretegauss.snapping._parameters import Range
from discretegauss.snapping._sides import Sides, reference_sides
from discretegauss.testing import TapeSource

NATIVE = dg.build_info()["engine"] == "native"
N = 10**5 if NATIVE else 2000


# --- the draws

#: Values on borders and in the middle of cells, tiny and huge; ranges that clamp, or do not.
LAWS: list[tuple[float, Any, dict[str, Any]]] = [
    (0.3, 1, {"bound": 100}),
    (0.3, 0.1, {"bound": 3.7}),
    (-0.5, 1, {"bound": 4, "grid": 1}),
    (math.nextafter(0.5, 0), 1, {"bound": 4, "grid": 1}),
    (5e-324, "1/3", {"bound": 10}),
    (-1e-40, 1, {"bound": 10}),
    (9, "1/3", {"bound": 10}),
    (1e300, 2, {"lower": -1, "upper": 2.75}),
    (0.7, 3, {"lower": 0, "upper": 1, "grid": "1/8"}),
    (0.1, "1/7", {"bound": 50, "grid": 64}),
    (0.25, 1, {"lower": 0, "upper": 0.5, "grid": 8}),
    (3.3, Fraction(1, 3**30), {"bound": 2**50, "sensitivity": Fraction(1, 3**30)}),
]


@pytest.mark.parametrize(("value", "epsilon", "how"), LAWS)
def test_draws_have_the_law(value: float, epsilon: Any, how: dict[str, Any]) -> None:
    """Chi-square against the law's pmf fails below p = 1e-9, and all outputs are in its support."""
    law = SnappedLaplace(value, epsilon, **how)
    draws = snapping_laplace(np.full(N, value), epsilon, **how)
    found, counts = np.unique(draws, return_counts=True)
    p = law.pmf(found)
    assert (p > 0).all()
    often = p * N > 10
    observed, expected = list(counts[often]), list(p[often] * N)
    if (rest := 1 - p[often].sum()) * N > 10:
        observed.append(N - sum(observed))
        expected.append(rest * N)
    expected = list(np.array(expected) * sum(observed) / sum(expected))
    assert stats.chisquare(observed, expected).pvalue > 1e-9


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    ("cell", "values"),
    [
        (Fraction(4, 3), [0.3, -1.5, 7.0, 5e-324, -1e-20, 2.0**-70]),
        (Fraction(1), [0.5, -0.5, 0.0]),
        (Fraction(0.1) / 2**20, [0.3, 1e-30]),
        (Fraction(37, 5), [0.49, -0.3]),
        (Fraction(10**15, 3), [0.49999999999999994, 0.3]),
        (Fraction(1, 3**80), [0.3, 1e-300]),
    ],
)
def test_the_core_leaves_cells_as_its_twin(cell: Fraction, values: list[float]) -> None:
    """In machine words and in GMP integers, the core draws the same sides from the same bytes."""
    doubles: Any = np.tile(np.array(values), 300)
    places = DoubleGrid(Fraction(1), Range(Fraction(-8), Fraction(8))).places(doubles)
    ours, theirs = same_bits(), same_bits()
    sides, expected = np.empty((2, doubles.size), np.int64)
    Sides(cell).prepare(places)(sides, ours, 1)
    step, doublings = cell, 0
    while step > 1:
        step, doublings = step / 2, doublings + 1
    reference_sides(places, step, doublings)(expected, theirs, 1)
    assert (sides == expected).all()
    assert ours.used == theirs.used > 0


@given(
    st.lists(st.floats(allow_nan=False), min_size=1),
    st.integers(-60, 40),
    st.floats(2.0**-30, 2.0**30),
)
def test_doubles_lie_on_the_grid_where_they_should(
    values: list[float], exponent: int, bound: float
) -> None:
    """In rationals, n is the integer nearest to the clamped value over the grid; phi is exact."""
    grid = Fraction(2) ** exponent
    if bound > grid * 2**53:
        return
    ends = Range(-Fraction(bound), Fraction(bound))
    places = DoubleGrid(grid, ends).places(np.array(values))
    for i, value in enumerate(values):
        x = Fraction(min(max(value, -bound), bound)) / grid
        n = math.floor(x + Fraction(1, 2))
        assert int(places.cell[i]) == n
        assert Fraction(int(places.offset[i]), 2 ** int(places.shift[i])) == x - n
    cells = np.array([-(2**62), -1, 0, 1, 2**62])
    expected = [float(max(min(int(c) * grid, ends.upper), ends.lower)) for c in cells]
    assert DoubleGrid(grid, ends).doubles(cells).tolist() == expected


# --- the law


def outputs_of(law: SnappedLaplace) -> list[float]:
    """Return all outputs: the ends of the range, and the multiples of the grid between them."""
    first, last = math.floor(law.lower / law.grid) + 1, math.ceil(law.upper / law.grid)
    return [float(law.lower), *(float(k * law.grid) for k in range(first, last)), float(law.upper)]


@pytest.mark.parametrize(("value", "epsilon", "how"), LAWS[:-1])
def test_the_law_agrees_with_itself(value: float, epsilon: Any, how: dict[str, Any]) -> None:
    """The probabilities of all outputs give sum, mean, bias, variance, quantile and cdf."""
    law = SnappedLaplace(value, epsilon, **how)
    outputs = np.array(outputs_of(law))
    p, x = law.pmf(outputs), min(max(value, float(law.lower)), float(law.upper))
    assert math.isclose(p.sum(), 1, rel_tol=1e-12)
    mean = (p * outputs).sum()
    assert math.isclose(law.mean(), mean, abs_tol=1e-12)
    assert math.isclose(law.bias(), mean - x, abs_tol=1e-12)
    assert math.isclose(law.var(), (p * (outputs - mean) ** 2).sum(), rel_tol=1e-11)
    assert np.allclose(law.cdf(outputs), p.cumsum(), atol=1e-12)
    assert law.cdf(float(law.lower) - 1) == 0
    for alpha in (0.3, 0.05, 1e-3):
        quantile = law.error_quantile(alpha)
        distance = abs(outputs - x)
        assert p[distance > quantile * (1 + 1e-12)].sum() <= alpha
        smaller = distance[distance < quantile * (1 - 1e-12)]
        if smaller.size:
            assert p[distance > smaller.max()].sum() > alpha
    lower, upper = law.pmf(outputs, bounds=True)
    assert ((lower <= p) & (p <= upper)).all()


def test_values_of_others() -> None:
    """The bias is one computed independently, and the formula of the notes bounds the quantile."""
    assert math.isclose(SnappedLaplace(9, "1/3", 10).bias(), -1.2795466, rel_tol=1e-7)
    law = SnappedLaplace(0.3, 1, 100)
    assert law.error_quantile("1/20") <= dg.snapping.snapping_accuracy(1, 100, "1/20")
    accuracy = dg.snapping.snapping_accuracy(1, 100, "1/20", method="mironov")
    assert math.isclose(accuracy, 3.995732273554391, rel_tol=1e-15)
    assert SnappedLaplace(0, 1, 5).bias(bounds=True) == (0, 0)


def test_pure_epsilon() -> None:
    """On a small grid, exact ratios of neighbours reach exp(epsilon) and do not exceed it."""
    epsilon, worst = 0.5, 0.0
    for how in ({"bound": 3}, {"bound": 3, "grid": "1/4"}, {"lower": -1, "upper": 2.3, "grid": 2}):
        for x in (-3.5, -1, 0, 0.3, 1.999, 2.75):
            for y in (x - 1, x - 0.25, x + 0.6, x + 1):
                one, other = (SnappedLaplace(v, epsilon, **how) for v in (x, y))
                outputs = outputs_of(one)
                ratios = np.log(one.pmf(outputs) / other.pmf(outputs))
                worst = max(worst, abs(ratios).max())
    assert 0.99 * epsilon < worst <= epsilon * (1 + 1e-12)


def test_a_bound_that_is_chosen_binds_as_seldom_as_asked() -> None:
    """By the law of the largest value, it clamps at most as often, and at least a tenth of that."""
    for epsilon in (1, "1/7"):
        bound = dg.snapping.snapping_bound(20, epsilon, "1/100")
        law = SnappedLaplace(20, epsilon, bound)
        p = law.pmf(bound) + law.pmf(-bound)
        assert 1e-3 < p <= 1e-2
    wider = dg.snapping.snapping_bound(20, 1, "1/100", method="mironov")
    assert wider > dg.snapping.snapping_bound(20, 1, "1/100")


# --- arguments


def test_shapes_and_out() -> None:
    """The result is shaped like values, a float for a number; out is filled and returned."""
    assert type(snapping_laplace(0.5, 1, 8)) is float
    assert snapping_laplace(np.zeros((2, 3), np.float32), 1, 8).shape == (2, 3)
    assert snapping_laplace([1, 2.5, Fraction(1, 4)], 1, 8).shape == (3,)
    assert snapping_laplace([], 1, 8).shape == (0,)
    out = np.zeros((3, 2)).T
    assert snapping_laplace(np.ones((2, 3)), 1, 8, out=out) is out
    high, low = snapping_laplace([math.inf, -math.inf], 10**4, 8)
    assert 7 < high <= 8
    assert -8 <= low < -7
    assert SnappedLaplace(1, 1, 8).sample((2, 2)).shape == (2, 2)
    draws = [snapping_laplace(np.ones(50), 0.1, 900, source=same_bits()).tolist() for _ in range(2)]
    assert draws[0] == draws[1]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"values": [1, math.nan]},
            ParameterValueError,
            r"values must not be NaN, but values\[1\]",
        ),
        ({"values": np.array([[math.nan]])}, ParameterValueError, r"values\[0, 0\]"),
        ({"values": [2**53 + 1]}, ParameterValueError, r"doubles.* values\[0\]"),
        ({"values": "0.1"}, ParameterValueError, "values must be doubles"),
        ({"values": [None]}, ParameterTypeError, r"values\[0\]"),
        ({"epsilon": 0}, ParameterValueError, "epsilon must be positive"),
        ({"bound": None}, ParameterTypeError, "bound must be given"),
        ({"bound": -1}, ParameterValueError, "bound must be positive, got -1"),
        ({"bound": "1/3"}, ParameterValueError, "bound must be a double"),
        ({"bound": 10**400}, ParameterValueError, "bound must be a double"),
        ({"lower": 0}, ParameterTypeError, "got both"),
        ({"bound": None, "lower": 2, "upper": 1}, ParameterValueError, "below upper, got 2 and 1"),
        ({"grid": 3}, ParameterValueError, "grid must be a power of two .* got 3"),
        ({"grid": 2**70}, ParameterValueError, r"grid must be below 2\*\*64"),
        ({"bound": 2**60}, ParameterValueError, "grid must be at least"),
        ({"sensitivity": 0}, ParameterValueError, "sensitivity"),
        ({"method": "ideal"}, ParameterValueError, "method must be 'exact' or 'mironov'"),
        ({"method": None}, ParameterTypeError, "method"),
        ({"method": "mironov", "grid": 1}, ParameterTypeError, "grid, lower and upper"),
        ({"method": "mironov", "epsilon": 2.0**-60}, ParameterValueError, r"above 2\*\*-52"),
        ({"method": "mironov", "bound": 1000}, ParameterValueError, "708 scales"),
        ({"method": "mironov", "bound": 0.5}, ParameterValueError, "between 1 and"),
        ({"out": np.zeros(2)}, ParameterTypeError, "out must have the shape of values"),
        ({"out": np.zeros(3, int)}, ParameterTypeError, "out must be an array of float64"),
        ({"threads": 2}, ParameterValueError, "threads must be 1"),
    ],
)
def test_refusals(arguments: dict[str, Any], error: type, words: str) -> None:
    """Errors name parameter, rule and value before anything is drawn; for values only the place."""
    call: dict[str, Any] = {"values": [0.5, 1, 2], "epsilon": 1, "bound": 8}
    with pytest.raises(error, match=words) as caught:
        snapping_laplace(source=must_not_draw, **(call | arguments))
    assert isinstance(caught.value, DiscreteGaussError)


@pytest.mark.parametrize(
    ("taken", "refused"),
    [
        ({"grid": 2**63}, {"grid": 2**64}),
        ({"grid": 1, "bound": 2**53}, {"grid": 1, "bound": 2.0**53 + 2}),
        (
            {"grid": 2.0**-1022, "bound": 2.0**-1000, "epsilon": 2**1021},
            {"grid": Fraction(1, 2**1023), "bound": 2.0**-1000, "epsilon": 2**1021},
        ),
        ({"method": "mironov", "bound": 353}, {"method": "mironov", "bound": 353.001}),
        ({"method": "mironov", "bound": 1 + 2.0**-40}, {"method": "mironov", "bound": 1}),
        (
            {"method": "mironov", "sensitivity": 2.0**959, "bound": 2.0**960},
            {"method": "mironov", "sensitivity": 2.0**960, "bound": 2.0**961},
        ),
        (
            {"method": "mironov", "sensitivity": 2.0**-960, "bound": 2.0**-959},
            {"method": "mironov", "sensitivity": 2.0**-961, "bound": 2.0**-960},
        ),
    ],
)
def test_limits(taken: dict[str, Any], refused: dict[str, Any]) -> None:
    """The last value that is taken, and one beyond."""
    call: dict[str, Any] = {"values": [0.0], "epsilon": 1, "bound": 8}
    assert abs(snapping_laplace(**(call | taken))[0]) <= (call | taken)["bound"]
    with pytest.raises(ParameterValueError):
        snapping_laplace(source=must_not_draw, **(call | refused))


def test_after_an_error_out_is_as_it_was() -> None:
    out = np.full(3, 7.0)
    with pytest.raises(EOFError):
        snapping_laplace([1, 2, 3], 1, 8, out=out, source=TapeSource(b"12"))
    assert (out == 7).all()
