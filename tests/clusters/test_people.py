"""People on Dask and Spark are counted there as pandas counts them."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from discretegauss import DiscreteGaussian
from discretegauss.release import Person, Plan, Table
from discretegauss.selection import TruncatedLaplace

pd = pytest.importorskip("pandas")
nw = pytest.importorskip("narwhals.stable.v2")

pytestmark = [
    pytest.mark.filterwarnings("ignore:Dask support is moving:FutureWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning"),
]

TABLES = {
    "nation": Table(by=[]),
    "cells": Table(by=["town", "age"]),
    "income": Table(by=["town"], columns="income", values=(0, 5000)),
}
LISTED: Any = {"town": ["Aix", "Bex", "Dax", ...], "age": [(0, 18), (18, None)]}


@pytest.fixture(scope="module")
def people() -> Any:
    draw = np.random.default_rng(1)
    n = 20_000
    return pd.DataFrame(
        {
            "person": draw.integers(8000, size=n),
            "town": draw.choice(["Aix", "Bex", "Cux"], n),
            "age": draw.integers(0, 90, n),
            "income": draw.integers(0, 9000, n),
        }
    )


Moved = Callable[[Any], Any]


@pytest.fixture(scope="module", params=["dask", "spark"])
def moved(request: pytest.FixtureRequest) -> Iterator[Moved]:
    """Return a function that gives a frame of pandas to the engine."""
    if request.param == "dask":
        dd = pytest.importorskip("dask.dataframe")
        yield lambda frame: dd.from_pandas(frame, npartitions=3)
        return
    sql = pytest.importorskip("pyspark.sql")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = session.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    arrow = pytest.importorskip("pyarrow").Table  # keeps nulls, which createDataFrame makes NaN
    yield lambda frame: spark.createDataFrame(arrow.from_pandas(frame, preserve_index=False))
    spark.stop()


@pytest.fixture(scope="module")
def there(moved: Moved, people: Any) -> Any:
    return moved(people)


def _numbers(plan: Plan, frame: Any) -> dict[str, list[int]]:
    found = plan.count(frame, LISTED)
    labels = {"nation": "n", "cells": "n", "income": "income", "visitors": "n"}
    return {
        name: nw.from_native(one, eager_only=True)[labels[name]].to_list()
        for name, one in found.items()
    }


@pytest.mark.parametrize("who", [{}, {"id": "person"}])
def test_everybody_is_counted_as_on_pandas(people: Any, there: Any, who: dict[str, str]) -> None:
    """Nobody has more records than are kept, and the noise is 0."""
    tables = TABLES | ({"visitors": Table(by=["town"], counts="people")} if who else {})
    plan = Plan(Person(50, **who), tables, rho=10**14)  # type: ignore[arg-type]
    assert _numbers(plan, there) == _numbers(plan, people)


def test_no_more_records_are_kept_than_are_said(people: Any, there: Any) -> None:
    plan = Plan(Person(2, id="person"), TABLES, rho=10**14)
    kept = people.groupby("person").size().clip(upper=2).sum()
    found = _numbers(plan, there)
    assert found["nation"] == [kept]
    assert sum(found["cells"]) == kept


# --- groups that nobody listed ----------------------------------------------------------------


@pytest.fixture
def no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise, the same groups are kept, with the same counts."""
    for law in (TruncatedLaplace, DiscreteGaussian):
        monkeypatch.setattr(law, "sample", lambda _, size, **__: np.zeros(size, np.int64))


def _unknown(by: str | list[str], frame: Any, person: Person) -> Any:
    plan = Plan(person, {"t": Table(by, unknown=True)}, epsilon=5, delta="1e-3")
    return plan.count(frame, {"town": ["Aix", "Bex"]})["t"]


def _listed(column: Any) -> list[Any]:
    return [None if missing else x for x, missing in zip(column, column.is_null(), strict=True)]


@pytest.mark.usefixtures("no_noise")
def test_unknown_groups_are_those_of_pandas(people: Any, moved: Moved) -> None:
    """Text, integers that no float holds, booleans and dates, with nulls; a person counts once."""
    n = len(people)
    columns = {
        "job": [[None, "Mill", "Mine", "Moon"][i % 4] for i in range(n)],
        "code": pd.array([[None, -3, 2**60 + 1][i % 3] for i in range(n)], dtype="Int64"),
        "yes": [i % 5 < 2 for i in range(n)],
        "day": [[None, "2026-01-01", "2026-01-02"][i % 3] for i in range(n)],
    }
    here = people.assign(**columns)
    keys: list[str | list[str]] = ["job", "code", "yes", "day", ["code", "town", "job"]]
    one = Person(50, id="person")
    there = moved(here)
    for by in keys:
        found, wanted = (nw.from_native(_unknown(by, x, one)) for x in (there, here))
        assert found.columns == wanted.columns
        assert len(wanted) >= 2
        for name in found.columns:
            assert _listed(found[name]) == _listed(wanted[name])
    once = nw.from_native(_unknown("job", there, Person(1, id="person")))
    assert once["n"].sum() == people["person"].nunique()


@pytest.mark.usefixtures("no_noise")
def test_a_dropped_group_leaves_no_trace(moved: Moved) -> None:
    """With and without a group of one, and in another order, the result has the same bytes."""
    day = datetime.date(2026, 1, 1)
    rows = [(i, "Aix", "zulu", day) for i in range(40)]
    rows += [(i, "Bex", "alpha", day) for i in range(50, 80)]
    secret = (99, "Aix", "m-SECRET", datetime.date(1850, 3, 7))
    names = ["person", "town", "job", "day"]
    without, with_one = (
        moved(pd.DataFrame(x, columns=names)) for x in (rows, [secret, *rows[::-1]])
    )
    for by in ("job", "day", ["town", "job"]):
        if by == "day" and "dask" in type(without).__module__:
            continue  # dates of Dask are text or objects
        first, second = (_unknown(by, x, Person(1, id="person")) for x in (without, with_one))
        assert len(first) == (1 if by == "day" else 2)
        assert pickle.dumps(first) == pickle.dumps(second)
        assert b"SECRET" not in pickle.dumps(second)
