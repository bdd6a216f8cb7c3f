"""Rows are one group if the library of their frame groups them, and rows of people are refused."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from inputs import must_not_draw

import discretegauss
from discretegauss.data.frame_columns import places
from discretegauss.data.identifiers import names_people
from discretegauss.errors import ParameterValueError
from discretegauss.release import Person, Plan, Table
from discretegauss.release._chunks import column_indices
from discretegauss.release._person import names_of

dg: Any = discretegauss

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)


def release(frame: Any, by: Any) -> dict[str, Any]:
    """Add noise to one frame of a plan, whose column n has the counts."""
    return Plan(Person(1), {"t": Table(by)}, rho=1).add_noise({"t": frame}, "n")


def of_objects(values: list[Any]) -> Any:
    return pd.DataFrame({"g": pd.Series(values, dtype=object), "n": [1] * len(values)})


SAME = [
    *([1, 1.0], [1, True], [None, np.nan], [None, pd.NA], [np.nan, pd.NaT], [0.0, -0.0]),
    *(
        ["a", np.str_("a")],
        [Decimal(1), Decimal("1.0")],
        [1, Decimal(1)],
        [pd.Timestamp(NOON), NOON],
    ),
    [NOON, NOON.astimezone(timezone(timedelta(hours=2)))],
]


@pytest.mark.parametrize("values", SAME, ids=repr)
def test_rows_that_pandas_groups_are_one_group(values: list[Any]) -> None:
    frame = of_objects(values)
    assert len(frame.groupby("g", dropna=False).size()) == 1
    with pytest.raises(ParameterValueError, match=r"rows 1 and 2 must differ in by \(g\)"):
        release(frame, "g")


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("values", "is_one"),
    [
        ([0.0, -0.0], True),
        ([float("nan")] * 2, True),
        ([None, None], True),
        (["a", "A"], False),
        ([1, 2], False),
        ([date(2020, 1, 1), date(2020, 1, 2)], False),
        (np.array([1, 2], "M8[ns]"), False),
        ([Decimal("1.0"), Decimal("1.00")], True),
    ],
    ids=repr,
)
def test_each_library_compares_by_value(
    kind: Callable[[Any], Any], values: Any, is_one: bool
) -> None:
    frame = kind({"g": values, "n": [1, 2]})
    if is_one:
        with pytest.raises(ParameterValueError, match="rows 1 and 2 must differ in by"):
            release(frame, "g")
    else:
        assert len(release(frame, "g")["t"]) == 2


def test_null_and_nan_are_two_groups_of_polars() -> None:
    frame = pl.DataFrame({"g": [None, float("nan")], "n": [1, 2]})
    assert len(frame.group_by("g").len()) == 2
    release(frame, "g")


def test_groups_of_several_keys_are_told_apart() -> None:
    keys = [(i % 7, str(i % 11), i % 13) for i in range(1001)]
    frame = pd.DataFrame(keys, columns=list("abc")).assign(n=range(1, 1002))
    release(frame, list("abc"))
    with pytest.raises(ParameterValueError, match=r"rows 1 and 78 must differ in by \(a, b\)"):
        release(frame, ["a", "b"])


# --- rows of people

IDS = [
    ("station_id", range(20)),
    ("PatientID", range(20)),
    ("name", [f"N{i}" for i in range(20)]),
    ("who", [f"u{i}@example.org" for i in range(20)]),
    ("key", [str(UUID(int=i)) for i in range(20)]),
]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(("name", "values"), IDS)
def test_a_column_of_identifiers_is_asked_about(
    kind: Callable[[Any], Any], name: str, values: Any
) -> None:
    """Naming it in `by` is the answer, as are fewer rows, or two rows that agree in it."""
    frame = kind({name: list(values), "n": range(7, 27)})
    with pytest.raises(ParameterValueError, match=f"each row looks like one person.*{name!r}"):
        dg.add_noise(frame, rho=1, columns="n", source=must_not_draw)
    assert len(release(frame, name)["t"]) == 20
    few = kind({name: list(values)[:10], "n": range(7, 17)})
    assert dg.noise_for(few, rho=1, columns="n").sigma2 == 0.5
    again = kind({name: [*[*values][:19], next(iter(values))], "n": range(7, 27)})
    assert dg.noise_for(again, rho=1, columns="n").sigma2 == 0.5


def test_an_index_of_identifiers_is_asked_about() -> None:
    series = pd.Series(range(7, 27), pd.Index(range(20), name="user_id"))
    with pytest.raises(ParameterValueError, match="'user_id' reads as an identifier"):
        dg.add_noise(series, rho=1, source=must_not_draw)


@pytest.mark.parametrize(
    "name",
    ["town", "GEOID", "county_name", "email_domain", "persons", "bid", "person_type", "idle", 7],
)
def test_names_of_groups_are_none_of_people(name: object) -> None:
    assert not names_people(name)


# --- plans

YEARS = pd.DataFrame({"year": [2001, 2002, 2011], "n": [3, 4, 6]})
DECADES = pd.DataFrame({"year": [2000, 2010], "town": ["A", "B"], "n": [3, 4]})


def plan(**tables: Table) -> Plan:
    each = {"years": Table("year"), "decades": Table(["year", "town"])}
    return Plan(Person(3, ["year"]), tables or each, rho=1)


def test_one_name_is_one_grouping_in_all_frames() -> None:
    """Years and decades differ; some of the years do not, nor the same in another library."""
    with pytest.raises(
        ParameterValueError,
        match=r"^frames\['years'\] and frames\['decades'\] must have the same groups in 'year'",
    ) as e:
        plan().add_noise({"years": YEARS, "decades": DECADES}, "n", source=must_not_draw)
    assert "2001" not in str(e.value)
    some = DECADES.assign(year=[2011, 2001])
    for frame in (some, pl.from_pandas(some), pa.table(some), some.astype({"year": float})):
        plan().add_noise({"years": YEARS, "decades": frame}, "n")
    with pytest.raises(ParameterValueError, match="must have the same groups in 'year'"):
        plan().add_noise({"years": YEARS, "decades": some.astype({"year": str})}, "n")
    days = pd.DataFrame({"year": pd.to_datetime(["2001-01-01", "2002-01-01"]), "n": [3, 4]})
    by_date = pl.DataFrame({"year": [date(2001, 1, 1)], "town": ["A"], "n": [3]})
    plan().add_noise({"years": days, "decades": by_date}, "n")


def test_names_of_columns_are_the_groups_of_across() -> None:
    wide = pd.DataFrame({"town": ["A", "B"], "2001": [1, 2], "2011": [3, 5]})
    tables = {"years": Table("year", "n"), "wide": Table("town", ["2001", "2011"], across="year")}
    plan(**tables).add_noise({"years": YEARS, "wide": wide})
    with pytest.raises(ParameterValueError, match="must have the same groups in 'year'"):
        plan(**tables).add_noise({"years": DECADES.assign(town="A"), "wide": wide})


def test_a_column_that_is_a_sum_elsewhere_needs_values() -> None:
    tables = {"a": Table("g", "income", values=[0, 100]), "b": Table("g", "income")}
    frame = pd.DataFrame({"g": ["x", "y"], "income": [70, 20]})
    said = Plan(Person(1), tables, rho=1)
    with pytest.raises(
        ParameterValueError, match=r"^frames\['b'\] needs values: its column 'incom"
    ):
        said.add_noise({"a": frame, "b": frame}, source=must_not_draw)
    said = Plan(Person(1), tables | {"b": Table("g", "income", values=[0, 1])}, rho=1)
    said.add_noise({"a": frame, "b": frame})


# --- many columns


class Label(str):
    """A label that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Label.compared += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize(
    "named",
    [
        lambda labels: names_of(labels, "columns"),
        lambda labels: places(labels, [Label(x) for x in labels]),
        lambda labels: column_indices(labels, [Label(x) for x in labels]),
        lambda labels: Plan(
            Person(1),
            {"t": Table([*map(Label, [*labels[1:20], "c0"])], [*map(Label, labels[150:])])},
            rho=1,
        ).add_noise({"t": pd.DataFrame([[1] * 300] * 2, columns=pd.Index(labels, dtype=object))}),
    ],
)
def test_each_name_is_looked_up_and_not_searched(named: Callable[[list[Hashable]], object]) -> None:
    """300 names are compared a few times each, not with all others."""
    labels: list[Hashable] = [Label(f"c{i}") for i in range(300)]
    Label.compared = 0
    try:
        named(labels)
    except ParameterValueError as error:  # the rows of the frame are one group
        assert "must differ" in str(error)  # noqa: PT017
    assert Label.compared < 40 * 300


def test_a_column_may_have_the_name_of_an_attribute() -> None:
    """pandas answers `frame.coords` with that column."""
    frame = pd.DataFrame({"coords": ["a", "b"], "to_frame": [1, 2], "index": [3, 4], "n": [5, 6]})
    assert dg.noise_for(frame, rho=1, columns="n").sigma2 == 0.5
    assert len(release(frame, ["coords", "to_frame", "index"])["t"]) == 2


def test_values_without_a_hash_are_groups() -> None:
    for values, is_one in (([[1], [1]], True), ([[1], [2]], False)):
        for kind in (pd.DataFrame, pl.DataFrame, pa.table):
            frame = kind({"g": values, "n": [1, 2]})
            if is_one:
                with pytest.raises(ParameterValueError, match="must differ in by"):
                    release(frame, "g")
            else:
                release(frame, "g")
