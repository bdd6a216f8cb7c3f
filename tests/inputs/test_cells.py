"""dtype and out of draws from cell tables, by functions and by laws as objects."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from engine import ENGINE, needs_core
from evidence_cases import at_once
from inputs import INTEGER_CODES, label, layouts, must_not_draw, tape

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError, ParameterValueError

pytestmark = needs_core

Draw = Callable[..., Any]


def by_cells(function: Draw, *parameters: Any) -> Draw:
    """Return the function with mu = 60 and method='cells'; size may be the first argument."""

    def draw(size: Any = None, **options: Any) -> Any:
        return function(*parameters, size, **({"mu": 60, "method": "cells"} | options))

    return draw


WAYS: dict[str, Draw] = {
    "gaussian": by_cells(dg.discrete_gaussian, "1/2"),
    "laplace": by_cells(dg.discrete_laplace, "1/3"),
    "generalized": by_cells(dg.generalized_gaussian, 1, 2),
}
if ENGINE == "native":
    WAYS["gaussian law"] = lambda size=None, **options: dg.DiscreteGaussian("1/2", 60).sample(
        size, method="cells", **options
    )
    WAYS["generalized law"] = dg.GeneralizedGaussian(1, 2, 60).sample

each_way = pytest.mark.parametrize("draw", WAYS.values(), ids=WAYS)


@each_way
@at_once("dtype", [*INTEGER_CODES, "O"])
def test_out_of_any_layout_and_dtype(draw: Draw, dtype: str) -> None:
    """The draws fill out in order, for all strides, byte orders and alignments."""
    wanted = draw((4, 6), dtype=object, source=tape())
    for out in layouts(dtype):
        assert draw(out=out, source=tape()) is out
        assert out.astype(object).tolist() == wanted.tolist()


@at_once("size", [None, 0, 2])
@pytest.mark.parametrize(
    ("draw", "dtype"),
    [
        (by_cells(dg.discrete_gaussian, 100), np.int8),
        (by_cells(dg.discrete_gaussian, 2**121), np.int32),
        (by_cells(dg.discrete_laplace, 2**58), np.uint64),
        (by_cells(dg.generalized_gaussian, 10, "3/2"), np.int8),
        (by_cells(dg.generalized_gaussian, 2**60, 2), np.uint32),
    ],
    ids=label,
)
def test_a_dtype_too_narrow_is_an_overflow_error(draw: Draw, dtype: Any, size: Any) -> None:
    """A law that may not fit is refused before any draw, and out keeps its content."""
    with pytest.raises(ParameterOverflowError, match="dtype=object"):
        draw(size, dtype=dtype, source=must_not_draw)
    out = np.arange(5, dtype=dtype)
    with pytest.raises(ParameterOverflowError):
        draw(out=out, source=must_not_draw)
    assert out.tolist() == [0, 1, 2, 3, 4]


def test_arrays_of_generalized_gaussians_broadcast() -> None:
    """scale, beta and mu broadcast against each other and against size."""
    draws = dg.generalized_gaussian([1, 2, 3], [["3/2"], [2]], mu=Fraction(1, 3))
    assert draws.shape == (2, 3)
    assert dg.generalized_gaussian(1, [1, 2], (4, 2)).shape == (4, 2)
    with pytest.raises(ParameterValueError, match="size"):
        dg.generalized_gaussian(1, [1, 2], 3, source=must_not_draw)


#: scale, beta, and by how much mu is below its nearest half.
_EXTREME_LAWS = [
    pytest.param(Fraction(1, 387_761_233), 27_478, Fraction(59, 47_818), id="beta 27478"),
    pytest.param(Fraction(1, 9), 3**50, Fraction(1, 6), id="beta 3^50"),
    pytest.param(Fraction(1, 9), 10**6, Fraction(1, 2**60_000), id="all but a tie"),
    pytest.param(Fraction(1, 3**3000), 3**3000, Fraction(1, 6), id="long"),
]


@pytest.mark.parametrize(("scale", "beta", "off"), _EXTREME_LAWS)
def test_laws_of_one_integer_for_all_that_anyone_can_see(
    scale: Fraction, beta: int, off: Fraction
) -> None:
    """All but less than exp(-2**19) of the law is at the integer nearest to mu, 127."""
    law = dg.GeneralizedGaussian(scale, beta, Fraction(255, 2) - off)
    assert (law.sample(1000) == 127).all()
    assert law.sample() == 127
    mirrored = dg.GeneralizedGaussian(scale, beta, off - Fraction(255, 2))
    assert (mirrored.sample(1000, dtype=np.int8) == -127).all()
    assert mirrored.sample() == -127


def test_a_beta_that_no_table_holds_is_refused_by_name() -> None:
    """At mu = 1/2 - 2**-300 the weights of 0 and 1 are exp(-exp(-2)) and exp(-exp(2))."""
    mu = Fraction(1, 2) - Fraction(1, 2**300)
    for size in (None, 5):
        with pytest.raises(ParameterValueError, match=r"^beta must .*got beta = .* with scale = "):
            dg.generalized_gaussian("1/2", 2**300, size, mu=mu, source=must_not_draw)
    with pytest.raises(
        ParameterValueError, match=r"^beta must .* distinguish the integers next to mu$"
    ):
        dg.generalized_gaussian("1/2", [2, 2**300], mu=mu, source=must_not_draw)


@at_once("dtype", [np.int64, object])
@at_once("beta", [31 / 32, np.float32(0.5), 0.0, -2.0, np.float16(0.9)])
def test_a_beta_below_1_is_refused_in_arrays_too(beta: Any, dtype: Any) -> None:
    """The error names beta and comes before any draw, for all kinds of arrays."""
    for betas in (np.array([2, beta]), [2.0, float(beta)], np.array([beta]), [beta]):
        for size in (None, (0, len(betas))):
            with pytest.raises(ParameterValueError, match=r"^beta must be at least 1, but beta\["):
                dg.generalized_gaussian(
                    np.arange(1.0, 1 + len(betas)), betas, size, dtype=dtype, source=must_not_draw
                )
    assert dg.generalized_gaussian([3.0, 2.0], np.array([1.0, 1.5])).shape == (2,)
