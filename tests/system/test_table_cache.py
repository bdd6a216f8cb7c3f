"""Tables when they pay over time: draws are counted, bytes bounded; a caller's draws stay."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss._drawing import engines as _engine
from discretegauss._drawing.draw import _kept
from discretegauss._drawing.method import LANES_FROM, cells_from, one_law
from discretegauss._drawing.table_cache import TableCache
from discretegauss._law import Kind, LawSpec
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[LawSpec]]:
    """No table is at hand and no draw counted; the list holds the laws whose tables are built."""
    laws: list[LawSpec] = []
    make = _engine.native.NativeTable

    def count(spec: LawSpec) -> Any:
        laws.append(spec)
        return make(spec)

    monkeypatch.setattr(_engine.native, "NativeTable", count)
    forget()
    yield laws
    forget()


def forget() -> None:
    _engine.tables.clear()
    _kept.cache_clear()
    one_law.cache_clear()


def gaussian(sigma2: object, mu: int = 0) -> LawSpec:
    return LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(str(sigma2)), Fraction(mu))


#: So many draws at once repay the table of gaussian(4).
CROSSING = cells_from(gaussian(4), "getrandom")


def tape() -> TapeSource:
    return TapeSource(random.Random(20261123).randbytes(400_000))


@pytest.mark.parametrize("n", [1, 37, 1000])
@pytest.mark.parametrize("source", ["getrandom", "chacha20"])
def test_a_table_is_built_when_the_draws_without_one_have_cost_as_much(
    built: list[LawSpec], source: Any, n: int
) -> None:
    """Neither before, where it might never pay, nor later: at most twice the best in hindsight."""
    law, unit = dg.DiscreteGaussian(4), _engine.REFERENCE_UNITS
    paid, in_lanes = 0, False
    while paid < unit * cells_from(gaussian(4)):
        assert built == []
        in_lanes = in_lanes or paid + n * unit >= LANES_FROM * unit
        paid += n * (_engine.lane_units(source) if in_lanes else unit)
        law.sample(n, source=source)
    assert built == [gaussian(4)]


def test_draws_are_counted_by_law_not_by_who_writes_it(built: list[LawSpec]) -> None:
    """Functions, law objects and arrays given share what they know of a law."""
    half = CROSSING // 2 + 1
    dg.discrete_gaussian(np.int64(4), half)
    dg.DiscreteGaussian("4").sample(out=np.empty(3, np.int32))
    assert built == []
    dg.DiscreteGaussian(sigma=2).sample((half, 1), dtype=np.int16)
    assert built == [gaussian(4)]
    dg.discrete_gaussian(4.0, 2)
    assert built == [gaussian(4)]


def test_a_law_whose_table_was_given_up_counts_anew(built: list[LawSpec]) -> None:
    """Or laws whose tables have no room would build one in every call."""
    law = dg.DiscreteGaussian(4)
    law.sample(CROSSING)
    _engine.tables.clear()
    law.sample(CROSSING - 1)
    assert len(built) == 1
    law.sample(1)
    assert len(built) == 2


def test_a_callers_draws_depend_on_no_earlier_call(built: list[LawSpec]) -> None:
    """Neither on draws counted nor on a table at hand; nor do they count."""
    for law in (dg.DiscreteGaussian(4), dg.GeneralizedGaussian(10, "3/2")):
        n = cells_from(law._spec) - 1
        alone = [law.sample(n, source=tape()).tolist() for _ in range(3)]
        assert built == []
        law.sample(cells_from(law._spec, "getrandom"))
        assert len(built) == 1
        assert [law.sample(n, source=tape()).tolist() for _ in range(3)] == alone
        by_table = law.sample(n + 1, source=tape()).tolist()
        forget()
        assert type(law)(*law_numbers(law)).sample(n + 1, source=tape()).tolist() == by_table
        built.clear()


def law_numbers(law: Any) -> tuple[Fraction, ...]:
    return (law.sigma2,) if isinstance(law, dg.DiscreteGaussian) else (law.scale, law.beta)


def test_the_tables_take_no_more_bytes_than_they_may(
    built: list[LawSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those used last stay; a law does not keep one that was given up."""
    memory = _engine.native.NativeTable(gaussian(4)).memory
    monkeypatch.setattr(_engine.tables, "most_bytes", 10 * memory)
    built.clear()
    laws = [dg.DiscreteGaussian(4, mu) for mu in range(25)]
    for law in laws:
        law.sample(5000)
        laws[0].sample(10)
        assert _engine.tables.memory() <= 10 * memory
    assert len(_engine.tables) == 10
    assert built.count(gaussian(4)) == 1
    assert _engine.cached_table(gaussian(4, 1)) is None
    assert laws[1]._checked._table is not None
    assert laws[1]._checked._table.table is None


def test_a_table_without_room_is_drawn_from_and_not_kept(built: list[LawSpec]) -> None:
    """Whatever most_bytes is, draws are made."""
    cache = TableCache(most_bytes=1000)
    kept = cache.keep(gaussian(4), object(), 1001)
    assert kept.table is None
    assert len(cache) == 0
    assert cache.keep(gaussian(4), "one", 999).table == "one"
    assert cache.keep(gaussian(4), "of a thread that was slower", 999).table == "one"


def test_few_draws_of_a_generalized_gaussian_build_no_table(built: list[LawSpec]) -> None:
    """They are isochronous fills: the same bits give the same ones."""
    law = dg.GeneralizedGaussian(10, "3/2", mu="1/3")
    isochronous = law.sample(20, method="isochronous", source=tape()).tolist()
    assert law.sample(20, source=tape()).tolist() == isochronous
    assert law.sample(20, source=tape(), dtype=object).tolist() == isochronous
    law.sample(20)
    assert built == []
    law.sample(10**4)
    assert built == [law._spec]


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
    for kind in (np.int8, np.uint64, np.float32, int, str, Fraction):
        assert _kept(Kind.DISCRETE_GAUSSIAN, kind(7), 0, 1).spec == gaussian(7)
