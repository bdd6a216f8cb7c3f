"""method="auto" depends on the law and n alone, and draws as the method that it stands for."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once

import discretegauss as dg
from discretegauss.errors import ParameterValueError
from discretegauss.selection import TruncatedLaplace
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")

#: Laws that are isochronous in small calls, and the least n that cells draw.
BULK = {
    dg.DiscreteGaussian(sigma="13.4"): 2**16,
    dg.DiscreteGaussian("1/3", mu="1/7"): 2**16,
    dg.DiscreteLaplace("2.8"): 2**16,
    dg.DiscreteGaussian(sigma="13.5"): 2**18,
    dg.DiscreteGaussian(sigma="53.9"): 2**18,
    dg.DiscreteLaplace(1000, mu=-5): 2**18,
    dg.DiscreteGaussian(sigma=54): 2**19,
    dg.GeneralizedGaussian(10**6, "3/2"): 2**19,
}
#: The same of laws of which Algorithms 1-3 draw fewer.
BULK_BESIDE_REFERENCE = 2**12

IN_LANES = [*BULK]
NARROW = IN_LANES[0]
BEYOND_LANES = [
    dg.DiscreteGaussian(10**40, mu="1/3"),
    dg.DiscreteLaplace(1, mu=10**20),
    dg.DiscreteLaplace(2.0**-21),
]
STEEP = dg.GeneralizedGaussian(10, 64)

TAPE = random.Random(20261128).randbytes(12_000_000)


def drawn(law: Any, size: int | None, method: str, dtype: Any = object) -> tuple[Any, int]:
    """Return draws from the tape, and how many of its bytes they used."""
    source = TapeSource(TAPE)
    draws = law.sample(size, dtype=dtype, method=method, source=source)
    return draws if size is None else draws.tolist(), source.used


CASES: list[tuple[Any, int | None, str]] = [
    *((law, n, "isochronous") for law in IN_LANES for n in (None, 1, 1000)),
    *((law, n, "reference") for law in BEYOND_LANES for n in (None, 1, BULK_BESIDE_REFERENCE - 1)),
    *((law, BULK_BESIDE_REFERENCE, "cells") for law in BEYOND_LANES),
    *((STEEP, n, "cells") for n in (None, 1, 1000)),
]


@at_once(("law", "n", "method"), CASES)
def test_auto_draws_as_the_method_that_it_stands_for(law: Any, n: int | None, method: str) -> None:
    """Both make the same draws from the same bytes, and use as many."""
    assert drawn(law, n, "auto") == drawn(law, n, method)


@at_once(("law", "bulk"), BULK.items())
def test_auto_takes_cells_from_some_n_on(law: Any, bulk: int) -> None:
    """Fewer draws are isochronous, also when the table is there."""
    for n, method in ((bulk - 1, "isochronous"), (bulk, "cells"), (bulk - 1, "isochronous")):
        assert drawn(law, n, "auto", np.int64) == drawn(law, n, method, np.int64), n


def in_parts(method: Any) -> dict[str, tuple[Any, int]]:
    """Return draws that are made in parts, of which the last has few, and the bytes they used."""
    sources = [TapeSource(TAPE) for _ in range(4)]
    wide, narrow, source = dg.DiscreteGaussian(sigma=1000), dg.DiscreteGaussian(4), sources[0]
    objects = wide.sample(2**19 + 9, dtype=object, method=method, source=source)
    n, source = 2**17 + 9, sources[1]
    sums = dg.add_noise(np.full(n, 10**30, object), narrow, method=method, source=source)
    n, source = 2**20 + 9, sources[2]
    moved = dg.discrete_gaussian(10**6, mu=np.arange(n), method=method, source=source)
    n, source = 2**18 + 9, sources[3]
    if method == "auto":
        within = TruncatedLaplace(1000, 10**6).sample(n, source=source)
    else:  # nothing is beyond 10^6
        within = dg.DiscreteLaplace(1000).sample(n, method=method, source=source)
    made = {"objects": objects, "sums": sums, "moved": moved, "within": within}
    return {
        name: (array.tolist(), source.used)
        for (name, array), source in zip(made.items(), sources, strict=True)
    }


def test_draws_in_parts_are_by_the_method_of_all() -> None:
    """The number of all draws of a call chooses, though parts have fewer than cells draw."""
    auto, cells = in_parts("auto"), in_parts("cells")
    for name, draws in cells.items():
        assert auto[name] == draws, name


@pytest.mark.parametrize("law", [NARROW, BEYOND_LANES[0], STEEP], ids=repr)
def test_a_single_draw_is_an_array_of_one(law: Any) -> None:
    one, used = drawn(law, None, "auto")
    assert drawn(law, 1, "auto") == ([one], used)


def test_what_was_drawn_before_changes_nothing() -> None:
    """Neither earlier tables nor earlier draws change the method."""
    law = dg.DiscreteGaussian(77)
    before = drawn(law, None, "auto"), drawn(law, 5000, "auto")
    law.sample(2**17)
    law.sample(100, method="cells")
    for _ in range(1000):
        law.sample(100)
    again = pickle.loads(pickle.dumps(law))
    assert (drawn(law, None, "auto"), drawn(law, 5000, "auto")) == before
    assert (drawn(again, None, "auto"), drawn(again, 5000, "auto")) == before


def test_a_function_draws_as_its_law() -> None:
    """The spelling of the parameters changes nothing."""
    expected = drawn(dg.DiscreteGaussian(100, mu="1/2"), 50, "auto")[0]
    for sigma2, mu in ((100, "1/2"), ("1e2", 0.5), (100.0, np.float32(0.5))):
        tape = TapeSource(TAPE)
        assert dg.discrete_gaussian(sigma2, 50, mu=mu, source=tape).tolist() == expected


def test_without_a_table_cells_say_why() -> None:
    """No other method takes their place, and auto fails for the same reason."""
    law = dg.GeneralizedGaussian("1/3", 2**130, mu="1/3")
    for method in ("cells", "auto"):
        with pytest.raises(ParameterValueError, match="beta must be smaller"):
            law.sample(10, method=method)
