"""People on Dask and Spark are counted there as pandas counts them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from discretegauss.release import Person, Plan, Table

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


@pytest.fixture(scope="module", params=["dask", "spark"])
def there(request: pytest.FixtureRequest, people: Any) -> Iterator[Any]:
    if request.param == "dask":
        dd = pytest.importorskip("dask.dataframe")
        yield dd.from_pandas(people, npartitions=3)
        return
    sql = pytest.importorskip("pyspark.sql")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = session.getOrCreate()
    yield spark.createDataFrame(people)
    spark.stop()


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
