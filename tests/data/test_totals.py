"""A table that counts somebody again in a total is refused, and other tables are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from inputs import must_not_draw

import discretegauss
from discretegauss.data.cells import Cells
from discretegauss.data.totals import RunningTotal
from discretegauss.errors import ParameterValueError
from discretegauss.release import Person, Plan, Table

dg: Any = discretegauss

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
xr = pytest.importorskip("xarray")

KINDS = [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table]

WIDE: dict[str, Any] = {"g": ["x", "y", "z"], "p": [31, 7, 11], "q": [5, 2, 23]}


def add(values: Any, **options: Any) -> Any:
    """Add noise by a source that fails the test if anything is drawn."""
    return dg.add_noise(values, rho=1, source=must_not_draw, **options)


def margins() -> Any:
    """Return a crosstab with margins, as pandas makes it."""
    a, b = (pd.Series(list(x), name=x[0]) for x in ("axyzxyzxyx", "bppqqppqpq"))
    return pd.crosstab(a[1:], b[1:], margins=True)


def long() -> Any:
    """Return the same crosstab with a row for each cell."""
    return margins().stack().rename("n").reset_index()


@pytest.mark.parametrize("kind", KINDS)
def test_a_total_row_is_refused_before_anything_is_drawn(kind: Callable[[Any], Any]) -> None:
    total = {"g": [*WIDE["g"], "All"], "p": [31, 7, 11, 49], "q": [5, 2, 23, 30]}
    names = ["p", "q"]
    with pytest.raises(ParameterValueError, match=r"^row 4 is in every column .*leave it out") as e:
        add(kind(total), columns=names)
    assert "49" not in str(e.value)
    assert dg.noise_for(kind(total), rho=1, columns=names, rows_per_person=2).sigma2 == 2
    assert dg.noise_for(kind(WIDE), rho=1, columns=names).sigma2 == 1
    total["q"][0] += 1
    assert dg.noise_for(kind(total), rho=1, columns=names).sigma2 == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_total_column_is_refused_where_nobody_is_in_two(kind: Callable[[Any], Any]) -> None:
    """Without `disjoint` it has its share of the noise."""
    table, names = kind({**WIDE, "both": [36, 9, 34]}), ["p", "q", "both"]
    with pytest.raises(ParameterValueError, match=r"^column 'both' is in every row the sum"):
        add(table, columns=names, disjoint=True, rows_per_person=2)
    assert dg.noise_for(table, rho=1, columns=names).sigma2 == 1.5
    plan = Plan(Person(1), {"t": Table("g", names, across="sex")}, rho=1)
    if kind is not pl.LazyFrame:
        with pytest.raises(ParameterValueError, match=r"^frames\['t'\]: column 'both' is in every"):
            plan.add_noise({"t": table}, source=must_not_draw)


def test_margins_are_found_in_long_form() -> None:
    """In a frame, in a series, as a rollup with nulls, and with a statement about a person."""
    whole = long()
    rollup = whole[whole["b"] != "All"].replace({"a": {"All": None}})
    for frame in (whole, rollup, pl.from_pandas(rollup), pa.table(whole)):
        with pytest.raises(ParameterValueError, match="that agree with it in b, so"):
            add(frame, columns="n")
    with pytest.raises(ParameterValueError, match="that agree with it in b, so"):
        add(margins().stack())
    for records in (1, 3):
        plan = Plan(Person(records, ["a", "b"]), {"t": Table(["a", "b"])}, rho=1)
        with pytest.raises(
            ParameterValueError, match=r"rows_per_person=2 in place of the statement"
        ):
            plan.add_noise({"t": whole}, "n", source=must_not_draw)
    cells = whole[(whole["a"] != "All") & (whole["b"] != "All")]
    assert dg.noise_for(cells, rho=1, columns="n").sigma2 == 0.5


def test_a_stream_is_looked_at_and_then_released() -> None:
    """Its rows come only once, and it has them for both."""
    for counts in ([5, 3, 8], [5, 3, 9]):
        reader = pa.table({"g": ["x", "y", "z"], "n": counts}).to_reader()
        if counts[-1] == 8:
            with pytest.raises(ParameterValueError, match=r"^row 3 is in every column"):
                add(reader, columns="n")
        else:
            assert dg.add_noise(reader, rho=1, columns="n")["g"].to_pylist() == ["x", "y", "z"]


def test_the_first_dimension_has_the_rows_of_xarray() -> None:
    """A person counts in all places of the others: their sums are no totals of rows."""
    ages = {"age": ["young", "old", "both"]}
    counts = xr.DataArray([[5, 3, 8], [1, 6, 7]], ages, ["town", "age"])
    for array in (counts, counts.assign_coords(town=["A", "B"])):
        assert dg.noise_for(array, rho=1).sigma2 == 1.5
    with pytest.raises(ParameterValueError, match=r"^row 3 is in every column"):
        add(counts.transpose())


def test_labels_make_a_total_of_a_column() -> None:
    """A list or an array without labels is taken as it is."""
    for values in (
        pd.Series({"x": 5, "y": 3, "Total": 8}),
        {"x": 5, "y": 3, "Total": 8},
        xr.DataArray([[5, 1], [3, 2], [8, 3]], dims=("g", "b"), coords={"g": ["x", "y", "All"]}),
    ):
        with pytest.raises(ParameterValueError, match=r"^row 3 is"):
            add(values)
    for plain in ([5, 3, 8], np.array([5, 3, 8]), pd.Series([5, 3, 8]), pl.Series([5, 3, 8])):
        dg.noise_for(plain, rho=1)
    dg.noise_for(pd.DataFrame({"n": [5, 3, 8]}), dg.DiscreteGaussian(3))


@pytest.mark.parametrize(
    ("counts", "is_total"),
    [
        ([0, 0, 0], False),
        ([5, 0, 5], False),
        ([5, 5, 0, 0], False),
        ([5, 5], False),
        ([2, 1, 1], True),
        ([1, -1, 0], False),
        ([4, -1, 3], True),
        ([2**63 - 1, 2**62, 2**62 - 1], True),
        ([2**62, 2**62, 2**62, 2**62], False),  # 2**63 wraps to 0 in int64
        ([None, 2, 1, 1], True),
    ],
)
def test_a_total_is_not_trivial(counts: list[int | None], is_total: bool) -> None:
    frame = pd.DataFrame({"n": pd.array(counts, "Int64")})
    if is_total:
        with pytest.raises(ParameterValueError, match=r"^row [123] is"):
            dg.noise_for(frame, rho=1)
    else:
        assert dg.noise_for(frame, rho=1).sigma2 == 0.5


def test_a_replaced_record_pays_for_a_total_but_not_for_margins() -> None:
    """A person leaves one row for another: two rows change, and the total does not."""
    replaced = Person(1, neighbours="replace")
    total = pd.DataFrame({"g": ["x", "y", "All"], "n": [5, 3, 8]})
    for person, keys, frame, refused in (
        (replaced, ["g"], total, None),
        (Person(2, neighbours="replace"), ["g"], total, r"row 3 is"),
        (replaced, ["a", "b"], long(), "that agree with it in b"),
    ):
        plan = Plan(person, {"t": Table(keys)}, rho=1)
        if refused is None:
            assert len(plan.add_noise({"t": frame}, "n")["t"]) == 3
            continue
        with pytest.raises(ParameterValueError, match=refused):
            plan.add_noise({"t": frame}, "n", source=must_not_draw)


def test_a_norm_covers_a_total() -> None:
    """A sensitivity that is not whole is the norm of several changes."""
    total = pd.Series({"x": 5, "y": 3, "All": 8})
    dg.noise_for(total, rho=1, sensitivity="1.4143")
    with pytest.raises(ParameterValueError, match=r"^row 3 is"):
        add(total, sensitivity=2)


def test_one_town_of_a_state_is_no_total() -> None:
    """Nested keys: a town is in one state, where it may be as large as the others by chance."""
    towns = {"state": list("AAABBBCC"), "town": list("abcdefgh"), "n": [4, 3, 1, 9, 7, 2, 5, 5]}
    assert dg.noise_for(pd.DataFrame(towns), rho=1, columns="n").sigma2 == 0.5


def test_a_running_total_is_that_of_the_whole_table() -> None:
    """In chunks of any size, in 500 tables of small counts, of which some have a total."""
    random, found = np.random.default_rng(5), 0
    for _ in range(500):
        rows = random.integers(0, 3, (int(random.integers(1, 6)), int(random.integers(1, 3))))
        running, start = RunningTotal(), 0
        while start < len(rows):
            stop = start + int(random.integers(1, 4))
            running.add([Cells(column) for column in rows[start:stop].T])
            start = stop
        totals = [i for i, row in enumerate(rows) if row.any() and (2 * row == sum(rows)).all()]
        if rows.any(axis=1).sum() < 3:
            totals = []
        assert (running.total is None) == (not totals)
        assert running.total is None or running.total in totals
        found += bool(totals)
    assert 20 < found < 480
