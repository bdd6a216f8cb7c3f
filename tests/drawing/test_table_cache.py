"""Tables when they pay over time: draws are counted by law, bytes bounded; a caller's draws stay.

The rules themselves, law by law, and all threads and forks: tests/c/test_sampler.c.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import parts
import pytest

import discretegauss as dg
from discretegauss._drawing import engines as _engine
from discretegauss._drawing.draw import _kept
from discretegauss._law import Kind, LawSpec
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")

#: So many draws at once repay the table of sigma2 = 4, whatever the machine.
MANY = 10**4


@pytest.fixture(autouse=True)
def _no_law_is_at_hand() -> Iterator[None]:
    forget()
    yield
    forget()


def forget() -> None:
    _kept.cache_clear()
    _engine.sampler.cache_clear()


def facts(law: Any) -> Any:
    """What the law's sampler did."""
    return parts.describe(_engine.sampler(law._spec))


def tape() -> TapeSource:
    return TapeSource(random.Random(20261123).randbytes(400_000))


@pytest.mark.parametrize("source", ["getrandom", "chacha20"])
def test_many_calls_of_few_draws_build_a_table(source: Any) -> None:
    """Neither at once, where it might never pay, nor never."""
    law = dg.DiscreteGaussian(4)
    for n_calls in range(100):
        law.sample(1000, source=source)
        if n_calls == 0:
            assert not facts(law).has_table or facts(law).by_reference + facts(law).by_lanes == 0
    assert facts(law).n_built == 1
    assert facts(law).by_cells > facts(law).by_lanes + facts(law).by_reference


def test_draws_are_counted_by_law_not_by_who_writes_it() -> None:
    """Functions, law objects and arrays given share what they know of a law."""
    law = dg.DiscreteGaussian(4)
    dg.discrete_gaussian(np.int64(4), 7)
    dg.DiscreteGaussian("4").sample(out=np.empty(3, np.int32))
    dg.DiscreteGaussian(sigma=2).sample((5, 1), dtype=np.int16)
    dg.discrete_gaussian(4.0, 2)
    assert facts(law).by_reference == 17


def test_a_callers_draws_depend_on_no_earlier_call() -> None:
    """Neither on draws counted nor on a table at hand; nor do they count."""
    for law in (dg.DiscreteGaussian(4), dg.GeneralizedGaussian(10, "3/2")):
        alone = [law.sample(100, source=tape()).tolist() for _ in range(3)]
        assert alone[0] == alone[1] == alone[2]
        law.sample(10**5)
        assert facts(law).n_built == 1
        assert law.sample(100, source=tape()).tolist() == alone[0]
        by_table = law.sample(MANY, source=tape()).tolist()
        forget()
        assert type(law)(*law_numbers(law)).sample(MANY, source=tape()).tolist() == by_table


def law_numbers(law: Any) -> tuple[Fraction, ...]:
    return (law.sigma2,) if isinstance(law, dg.DiscreteGaussian) else (law.scale, law.beta)


def test_the_tables_take_no_more_bytes_than_they_may() -> None:
    """Those used last stay; without a budget none does, and draws are made."""
    lib = _engine.native.lib
    laws = [dg.DiscreteGaussian(4, mu) for mu in range(25)]
    laws[0].sample(MANY)
    before, one = lib.dg_tables_budget(), facts(laws[0]).table_bytes
    try:
        lib.dg_tables_set_budget(10 * one)
        for law in laws:
            law.sample(MANY)
            laws[0].sample(10)
            assert lib.dg_tables_bytes() <= 10 * one
        assert facts(laws[0]).n_built == 1
        assert not facts(laws[1]).has_table
        lib.dg_tables_set_budget(0)
        assert lib.dg_tables_bytes() == 0
        assert laws[1].sample(MANY).shape == (MANY,)
        assert lib.dg_tables_bytes() == 0
    finally:
        lib.dg_tables_set_budget(before)


def test_few_draws_of_a_generalized_gaussian_build_no_table() -> None:
    """They are isochronous fills: the same bits give the same ones."""
    law = dg.GeneralizedGaussian(10, "3/2", mu="1/3")
    isochronous = law.sample(20, method="isochronous", source=tape()).tolist()
    assert law.sample(20, source=tape()).tolist() == isochronous
    assert law.sample(20, source=tape(), dtype=object).tolist() == isochronous
    law.sample(20)
    assert facts(law).n_built == 0
    law.sample(10**5)
    assert facts(law).n_built == 1


def test_laws_are_told_apart_by_the_types_of_their_numbers() -> None:
    """Those of the cache whose keys are what a user wrote: True is no number, and 1 is."""

    class Whole(int):
        pass

    dg.discrete_gaussian(1, 3)
    dg.discrete_gaussian(np.float32(0.1), 3)
    for refused in (True, np.True_):
        with pytest.raises(dg.errors.ParameterTypeError):
            dg.discrete_gaussian(refused, 3)
    before = _kept.cache_info()
    dg.discrete_gaussian(Whole(1), 3)  # a class of the user's may compare as it likes
    assert _kept.cache_info().misses == before.misses
    dg.discrete_gaussian(np.float64(0.1), 3)
    assert _kept(Kind.DISCRETE_GAUSSIAN, np.float32(0.1), 0, 1).spec.parameter != Fraction(0.1)
    assert _kept(Kind.DISCRETE_GAUSSIAN, np.float64(0.1), 0, 1).spec.parameter == Fraction(0.1)
    seven = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(7))
    for kind in (np.int8, np.uint64, np.float32, int, str, Fraction):
        assert _kept(Kind.DISCRETE_GAUSSIAN, kind(7), 0, 1).spec == seven
