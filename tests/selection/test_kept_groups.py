"""The result of keep_groups is made of the kept groups alone: a dropped one leaves no trace."""

from __future__ import annotations

import datetime
import io
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from discretegauss.errors import ParameterTypeError
from discretegauss.selection import TruncatedLaplace, keep_groups

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

Rows = list[tuple[Any, int]]
DROPPED = "m-SECRET-of-one-person-that-lies-out-of-line"
TEXTS: tuple[Any, Any, Any] = ("alpha", DROPPED, "zulu")
TIME = datetime.datetime(2026, 1, 1)
TIMES = TIME, pd.Timestamp("2026-01-01 00:00:00.000000001"), TIME.replace(year=2027)


@pytest.fixture(autouse=True)
def no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise, the same groups are kept, with the same counts."""
    monkeypatch.setattr(TruncatedLaplace, "sample", lambda _, size, **__: np.zeros(size, np.int64))


def _columns(rows: Rows) -> dict[str, Any]:
    return {"g": [key for key, _ in rows], "n": [n for _, n in rows]}


def _frame(rows: Rows, dtype: Any = None) -> Any:
    columns = _columns(rows)
    frame = pd.DataFrame({"g": pd.Series(columns["g"], dtype=dtype), "n": columns["n"]})
    frame.attrs["groups"] = len(rows)
    return frame


def _index(rows: Rows, dtype: Any = None, name: Any = "g") -> Any:
    frame = _frame(rows, dtype)
    return pd.Series(frame["n"].array, pd.Index(frame["g"], name=name))


def _levels(rows: Rows) -> Any:
    return pd.concat({"town": _index(rows)}, names=["town"])


def _polars(dtype: Any) -> Callable[[Rows], Any]:
    def make(rows: Rows) -> Any:
        columns = _columns(rows)
        kind = pl.Enum([key for key, _ in rows]) if dtype is pl.Enum else dtype
        frame = pl.DataFrame(
            {"g": pl.Series(columns["g"], dtype=kind, strict=False), "n": columns["n"]}
        )
        return pl.concat([frame[:1], frame[1:]], rechunk=False)

    return make


def _arrow(kind: Any) -> Callable[[Rows], Any]:
    def make(rows: Rows) -> Any:
        columns = _columns(rows)
        keys = pa.array(columns["g"], pa.string()) if kind == "dictionary" else None
        keys = pa.array(columns["g"], kind) if keys is None else keys.dictionary_encode()
        schema = pa.schema(
            [pa.field("g", keys.type, metadata={"groups": str(rows)}), ("n", pa.int32())],
            metadata={"groups": str(rows)},
        )
        table = pa.table([keys, pa.array(columns["n"], pa.int32())], schema=schema)
        return pa.concat_tables([table[:1], table[1:]])

    return make


def _pandas_in_arrow(rows: Rows) -> Any:
    return pa.Table.from_pandas(_frame(rows, "category"))


def _duckdb(rows: Rows) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("create table t (g varchar, n bigint)")
    connection.executemany("insert into t values (?, ?)", rows)
    return connection.table("t")


CASES: list[Any] = [
    pytest.param(make, keys, id=f"{name}, {about}")
    for name, about, make, keys in [
        ("dict", "text", dict, TEXTS),
        ("dict", "numbers", dict, (1, 0.5, 2)),
        ("list", "counts", lambda rows: [n for _, n in rows], TEXTS),
        ("tuple", "counts", lambda rows: tuple(n for _, n in rows), TEXTS),
        ("array", "counts", lambda rows: np.array([n for _, n in rows]), TEXTS),
        ("Series", "places", lambda rows: _frame(rows)["n"], TEXTS),
        ("Series", "places out of order", lambda rows: _frame(rows).sort_values("n")["n"], TEXTS),
        ("Series", "labels", _index, TEXTS),
        ("Series", "labels without a name", lambda rows: _index(rows, name=None), TEXTS),
        ("Series", "labels and a number", lambda rows: _index(rows, name=None), ("a", 7, "z")),
        ("Series", "numbers without a name", lambda rows: _index(rows, name=None), (1, 7, 9)),
        ("Series", "numbers or text", lambda rows: _index(rows, name=None), (1, "m", 9)),
        ("Series", "categories", lambda rows: _index(rows, "category"), TEXTS),
        ("Series", "times", _index, TIMES),
        ("Series", "intervals", _index, tuple(pd.Interval(x, x + 1) for x in (1, 0.5, 7))),
        ("Series", "periods", _index, tuple(pd.period_range("2026-01", periods=3, freq="M"))),
        ("Series", "levels", _levels, TEXTS),
        ("Series", "Arrow", lambda rows: _index(rows, pd.ArrowDtype(pa.string())), TEXTS),
        ("DataFrame", "text", _frame, TEXTS),
        ("DataFrame", "objects", lambda rows: _frame(rows, object), TEXTS),
        ("DataFrame", "string[pyarrow]", lambda rows: _frame(rows, "string[pyarrow]"), TEXTS),
        ("DataFrame", "categories", lambda rows: _frame(rows, "category"), TEXTS),
        ("DataFrame", "a missing number", _frame, (1, None, 2)),
        ("DataFrame", "a fraction", _frame, (1, 0.5, 2)),
        ("DataFrame", "numbers or text", _frame, (1, "m", 2)),
        ("DataFrame", "a missing truth", _frame, (False, None, True)),
        ("DataFrame", "an index without a name", lambda rows: _frame(rows)[::-1], TEXTS),
        ("DataFrame", "an index", lambda rows: _index(rows).to_frame("n"), TEXTS),
        ("polars", "String", _polars(pl.String), TEXTS),
        ("polars", "Categorical", _polars(pl.Categorical), TEXTS),
        ("polars", "Enum", _polars(pl.Enum), TEXTS),
        ("polars", "a fraction", _polars(None), (1, 0.5, 2)),
        ("polars", "a null", _polars(None), (1, None, 2)),
        ("polars", "Decimal", _polars(None), (Decimal("1.5"), Decimal("1.25"), Decimal(2))),
        ("polars", "times", lambda rows: pl.from_pandas(_frame(rows)), TIMES),
        ("polars", "LazyFrame", lambda rows: _polars(pl.String)(rows).lazy(), TEXTS),
        ("polars", "Series", lambda rows: _polars(pl.String)(rows)["n"], TEXTS),
        ("pyarrow", "string", _arrow(pa.string()), TEXTS),
        ("pyarrow", "large_string", _arrow(pa.large_string()), TEXTS),
        ("pyarrow", "string_view", _arrow(pa.string_view()), TEXTS),
        ("pyarrow", "dictionary", _arrow("dictionary"), TEXTS),
        ("pyarrow", "binary", _arrow(pa.binary()), tuple(text.encode() for text in TEXTS)),
        ("pyarrow", "a null", _arrow(pa.int16()), (1, None, 2)),
        ("pyarrow", "decimal", _arrow(None), (Decimal("1.5"), Decimal("1.25"), Decimal(2))),
        ("pyarrow", "times", lambda rows: pa.Table.from_pandas(_frame(rows)), TIMES),
        ("pyarrow", "of pandas", _pandas_in_arrow, TEXTS),
        ("pyarrow", "batch", lambda rows: _pandas_in_arrow(rows).to_batches()[0], TEXTS),
        ("pyarrow", "column", lambda rows: _arrow(pa.string())(rows)["n"], TEXTS),
        ("DuckDB", "relation", _duckdb, TEXTS),
    ]
]


def _memory(result: Any) -> bytes:
    """Return all that a result says of itself: its pickle, its buffers, and files of it."""
    if isinstance(result, pl.LazyFrame):
        result = result.collect()
    parts = [pickle.dumps(pickle.loads(pickle.dumps(result)))]
    if isinstance(result, pl.DataFrame | pd.DataFrame):
        file = io.BytesIO()
        getattr(result, "write_parquet" if isinstance(result, pl.DataFrame) else "to_parquet")(file)
        parts.append(file.getvalue())
    if isinstance(result, pl.DataFrame):
        result.write_ipc(file := io.BytesIO())
        parts.append(file.getvalue())
        result = result.to_arrow()
    if isinstance(result, pa.Table | pa.RecordBatch):
        parts.append(str(result.schema).encode())
        for column in result.columns:
            for chunk in getattr(column, "chunks", [column]):
                parts += [bytes(buffer) for buffer in chunk.buffers() if buffer]
    return b"|".join(parts)


@pytest.mark.parametrize(("make", "keys"), CASES)
def test_a_dropped_group_leaves_no_trace(make: Callable[[Rows], Any], keys: Any) -> None:
    """With and without a group of one, and in another order, the whole result is the same.

    This holds for its types, its memory, its pickle and files of it.
    """
    first, dropped, last = keys
    without = make([(first, 500), (last, 400)])
    columns = "n" if hasattr(type(without), "columns") else None
    kept = keep_groups(without, 1, "1e-6", columns=columns)
    of_one_more = make([(last, 400), (dropped, 1), (first, 500)])
    memory = _memory(keep_groups(of_one_more, 1, "1e-6", columns=columns))
    assert memory == _memory(kept)
    assert b"SECRET" not in memory


def test_groups_are_in_the_order_of_their_keys() -> None:
    """The order of kept groups depends on the kept ones only, whatever their keys are."""
    keys = ["z", "a", 2.0, True, None, ("b", 2), ("b", 1.5), b"x", TIME, TIME.date(), float("nan")]
    keys += [Decimal("0.5"), np.int64(7), TIME.time(), datetime.timedelta(1), frozenset("q")]
    keys += [pd.NaT, TIME.time().replace(1, tzinfo=ZoneInfo("Europe/Berlin"))]
    keys += [at.replace(tzinfo=datetime.UTC) for at in (TIME, TIME.time())]
    counts = {key: 100 + i for i, key in enumerate(keys)}
    forth = keep_groups(counts, 1, "1e-6")
    back = keep_groups(dict(reversed(counts.items())), 1, "1e-6")
    assert list(forth.items()) == list(back.items())
    assert set(map(repr, forth.values())) == {repr(100 + i) for i in range(len(keys))}
    assert [key for key in forth if isinstance(key, str)] == ["a", "z"]
    ages = pd.cut(pd.Series([150] * 30 + [5] * 20 + [30] * 40), [0, 9, 99, 999]).value_counts()
    assert [age.left for age in keep_groups(ages, 1, "1e-6").index] == [0, 9, 99]


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_keys_keep_their_values(library: str) -> None:
    """Large numbers and fine times come back as they were."""
    types = {
        "id": (pa.uint64(), [2**63, 2**64 - 1]),
        "wide": (pa.decimal128(38, 2), [Decimal(10**30), Decimal("0.25")]),
        "share": (pa.float32(), [0.5, 0.25]),
        "large": (pa.float64(), [1e300, None]),
        "at": (pa.timestamp("ns", "UTC"), [1, 2]),
        "far": (pa.timestamp("ms"), [10**17, 0]),
        "second": (pa.time32("s"), [1, None]),
        "day": (pa.date32(), [1, 2]),
        "long": (pa.duration("ms"), [1, 2]),
        "raw": (pa.binary(), [b"\xff", b""]),
        "yes": (pa.bool_(), [True, None]),
        "n": (pa.int64(), [100, 200]),
    }
    if library == "pyarrow":
        types["wider"] = pa.decimal256(76, 2), [Decimal(10**50), Decimal("0.25")]
    table = pa.table({name: pa.array(values, kind) for name, (kind, values) in types.items()})
    kept = keep_groups(
        table if library == "pyarrow" else pl.from_arrow(table), 1, "1e-6", columns="n"
    )
    if library == "polars":
        kept = kept.to_arrow()
    assert kept.column_names == table.column_names
    kept = kept.sort_by("n")
    for name, (kind, _) in types.items():
        assert kept[name].cast(kind).equals(table[name]), name


def test_large_integers_of_pandas_stay_exact_beside_a_null() -> None:
    keys = [None, 2**60 + 1, 2**60]
    frame = pd.DataFrame({"g": pd.array(keys, dtype="Int64"), "n": [400, 500, 600]})
    kept = keep_groups(frame, 1, "1e-6", columns="n")
    assert kept["g"].dtype == "Int64"
    assert kept["g"].tolist()[1:] == [2**60, 2**60 + 1]
    assert kept["n"].tolist() == [400, 600, 500]


def test_categories_are_those_of_kept_groups() -> None:
    """Their order is that of the values, because another one is that of all groups."""
    kinds = pd.CategoricalDtype(["z", DROPPED, "a"], ordered=True)
    frame = pd.DataFrame({"g": pd.Series(["z", DROPPED, "a"], dtype=kinds), "n": [400, 1, 500]})
    of_frame = keep_groups(frame, 1, "1e-6", columns="n")["g"]
    of_index = keep_groups(frame.set_index("g")["n"], 1, "1e-6").index
    for kept in (of_frame, of_index):
        assert kept.dtype == pd.CategoricalDtype(["a", "z"], ordered=False)
    kept = keep_groups(pa.Table.from_pandas(frame), 1, "1e-6", columns="n")["g"].chunk(0)
    assert kept.dictionary.to_pylist() == ["a", "z"]
    assert keep_groups(pl.from_pandas(frame), 1, "1e-6", columns="n").schema["g"] == pl.String


def test_columns_and_levels_of_pandas_keep_their_names() -> None:
    """The index comes first in the order of keys, and labels of columns may be anything."""
    columns = pd.MultiIndex.from_tuples([("n", ""), ("a", 1)], names=["one", "two"])
    frame = pd.DataFrame([[300, "x"], [200, "y"]], pd.Index([2, 1], name="id"), columns)
    kept = keep_groups(frame, 1, "1e-6", columns=[("n", "")])
    assert kept.columns.equals(columns)
    assert list(kept.columns.names) == ["one", "two"]
    assert kept.index.name == "id"
    assert kept.reset_index().values.tolist() == [[1, 200, "y"], [2, 300, "x"]]
    levels = pd.MultiIndex.from_tuples([("x", "b", 2), ("y", "a", 1)], names=[1, 0, None])
    series = keep_groups(pd.Series([300, 200], levels, name=7), 1, "1e-6")
    assert series.index.equals(pd.MultiIndex.from_tuples([("x", "b"), ("y", "a")]))
    assert list(series.index.names) == [1, 0]
    assert (series.tolist(), series.name) == ([300, 200], 7)
    for of_three in (
        pd.CategoricalIndex(["g", "n", DROPPED]),
        pd.MultiIndex.from_tuples([("g", 1), ("n", 1), (DROPPED, 1)]),
    ):
        frame = pd.DataFrame([["a", 20, 0]], columns=of_three).iloc[:, :2]
        kept = keep_groups(frame, 1, "1e-6", columns=[frame.columns[1]])
        assert list(kept.columns) == list(frame.columns)
        assert b"SECRET" not in pickle.dumps(kept)
    for column in (pd.Index([30, 20, 1], name="n"), pd.array([30, 20, 1])):
        alone = keep_groups(column, 1, "1e-6")
        assert alone.tolist() == [20, 30]
        assert getattr(alone, "name", None) == getattr(column, "name", None)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_an_empty_result_has_types(make: Any) -> None:
    """They are those of kept groups, so that empty tables are like others."""
    of_one = {"g": ["a"], "k": [1], "n": [1]}
    kept = keep_groups(make(of_one), 1, "1e-6", columns="n")
    of_many = keep_groups(make(of_one | {"n": [100]}), 1, "1e-6", columns="n")
    assert len(kept) == 0
    assert kept.schema == of_many.schema


def test_other_keys_and_containers_are_refused() -> None:
    """Lists are no keys, and an array of xarray is no table; nothing is drawn."""
    xarray = pytest.importorskip("xarray")
    lists = {"g": [[1]], "n": [100]}
    for counts in (pl.DataFrame(lists), pa.table(lists), xarray.DataArray([100], dims="g")):
        with pytest.raises(ParameterTypeError, match="counts must"):
            keep_groups(counts, 1, "1e-6", columns=None if hasattr(counts, "dims") else "n")
