"""A result's memory holds what its cells show: nothing under nulls, and no rows of a longer table.

The cells that must go are searched for in a file of Arrow's, and in a pickle.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss.data.arrow_buffers import bare, keep_used_words

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SECRET, TEXT = 31337, "SECRETTEXT"
NUMBER = np.int64(SECRET).tobytes()
LAW = dg.DiscreteGaussian(10**12)
SECOND_IS_NULL = pa.py_buffer(b"\x05")


def holds_secret(data: bytes) -> bool:
    return NUMBER in data or TEXT.encode() in data


def arrow_file(column: Any) -> bytes:
    table = pa.table({"a": column})
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


INTEGERS = pa.array([1, SECRET, 7])
TEXTS = pa.array(["x", TEXT, "z"])
LISTS: list[Any] = [[1], [SECRET, SECRET], []]
PAIRS = [[("x", 1)], [(TEXT, SECRET)], []]
COLUMNS: dict[str, Any] = {
    "int64": INTEGERS,
    "decimal": INTEGERS.cast(pa.decimal128(30, 0)),
    "timestamp": INTEGERS.cast(pa.timestamp("ns", "UTC")),
    "interval": pa.array([pa.MonthDayNano([1, 2, x]) for x in (1, SECRET, 7)]),
    "bytes": pa.array([b"abcdefghij", TEXT.encode(), b"klmnopqrst"], pa.binary(10)),
    "text": TEXTS,
    "large text": TEXTS.cast(pa.large_string()),
    "view": pa.array(["x", TEXT + " that is long", "y"], pa.string_view()),
    "list": pa.array(LISTS),
    "large list": pa.array(LISTS, pa.large_list(pa.int64())),
    "list view": pa.array(LISTS, pa.list_view(pa.int64())),
    "large list view": pa.array(LISTS, pa.large_list_view(pa.int64())),
    "fixed list": pa.array([[1, 2], [3, SECRET], [4, 5]], pa.list_(pa.int64(), 2)),
    "list of texts": pa.array([["x"], [TEXT, "y"], ["z"]]),
    "list of views": pa.array([["x"], [TEXT + " and more"], ["z"]], pa.list_(pa.string_view())),
    "list of words": pa.ListArray.from_arrays([0, 1, 2, 3], TEXTS.dictionary_encode()),
    "map": pa.array(PAIRS, pa.map_(pa.string(), pa.int64())),
    "struct": pa.array([{"a": x, "b": y} for x, y in ((1, "x"), (SECRET, TEXT), (7, "z"))]),
    "words": TEXTS.dictionary_encode(),
    "words in views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2]), pa.array(TEXTS.to_pylist(), pa.string_view())
    ),
    "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(np.array([[1], [SECRET], [7]])),
    "dense union": pa.UnionArray.from_dense(
        pa.array([0, 0, 0], pa.int8()), pa.array([0, 1, 2], pa.int32()), [INTEGERS]
    ),
    "sparse union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [INTEGERS, pa.array([SECRET, SECRET, SECRET])]
    ),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), INTEGERS),
}


def with_second_null(column: Any) -> Any:
    """Return the column with a null in the middle, over the cell that was there."""
    kind, buffers = column.type, column.buffers()
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(with_second_null(column.indices), column.dictionary)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, with_second_null(column.storage))
    children, n_buffers = [], len(buffers)
    if pa.types.is_struct(kind):
        children, n_buffers = [column.field(i) for i in range(kind.num_fields)], 1
    elif kind.num_fields:
        children = [column.values]
        n_buffers = 1 if pa.types.is_fixed_size_list(kind) else 3 if "list_view" in str(kind) else 2
    buffers = [SECOND_IS_NULL, *buffers[1:n_buffers]]
    return pa.Array.from_buffers(kind, len(column), buffers, children=children)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_bare_column_of_arrow_has_the_same_cells_and_nothing_else(name: str) -> None:
    """It is a slice before or after a secret cell, or has a null over it, also within a struct."""
    column = COLUMNS[name]
    before, after = column.slice(0, 1), column.slice(2, 1)
    cases = [before, after, column.slice(1, 0)]
    unable = ["dense union", "sparse union", "runs"]  # they have no nulls of their own
    if pa.__version__.startswith("17."):  # makes no views of buffers
        unable.append("view")
    if name not in unable:
        cases.append(with_second_null(column))
    outer = pa.StructArray.from_arrays([column], ["a"])
    cases.append(pa.Array.from_buffers(outer.type, 3, [SECOND_IS_NULL], children=[column]))
    assert holds_secret(arrow_file(cases[-1]))
    for case in cases:
        found = bare(case, keep_used_words)
        found.validate(full=True)
        assert found.type == case.type
        assert found.to_pylist() == case.to_pylist()
        assert not holds_secret(arrow_file(found))
    whole = bare(pa.chunked_array([column, before]), keep_used_words)
    assert whole.to_pylist() == [*column.to_pylist(), *before.to_pylist()]
    assert [len(chunk) for chunk in whole.chunks] == [3, 1]


def test_children_without_nulls_stay_so_under_a_null() -> None:
    """Parquet refuses nulls in a field that may have none, even under a null of its struct."""
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = [TEXTS.dictionary_encode(), INTEGERS, TEXTS, COLUMNS["list"]]
    fields = [pa.field(str(i), x.type, nullable=False) for i, x in enumerate(columns)]
    mask = pa.array([False, True, False])
    structs = pa.StructArray.from_arrays(columns, fields=fields, mask=mask)
    found = bare(structs, keep_used_words)
    found.validate(full=True)
    parquet.write_table(pa.table({"s": found}), io.BytesIO())
    assert found.to_pylist() == structs.to_pylist()
    assert not holds_secret(arrow_file(found))


def test_nothing_is_copied_if_nothing_is_hidden() -> None:
    """Whole columns of numbers and texts come back as they are."""
    for column in (INTEGERS, TEXTS, COLUMNS["bytes"]):
        assert bare(column) is column


@pytest.mark.parametrize("kind", [pa.table, pa.record_batch])
def test_a_table_of_pyarrow(kind: Any) -> None:
    """The words of a dictionary stay, because they can be seen."""
    columns = {"n": INTEGERS, "other": INTEGERS, "text": TEXTS, "words": COLUMNS["words"]}
    table = kind({name: with_second_null(column) for name, column in columns.items()})
    noisy = dg.add_noise(table, LAW, columns="n")
    assert type(noisy) is type(table)
    assert noisy.select([1, 2, 3]).equals(table.select([1, 2, 3]))
    for name in ("n", "other", "text"):
        assert holds_secret(arrow_file(table.column(name)))
        assert not holds_secret(arrow_file(noisy.column(name)))


def test_a_frame_of_pandas() -> None:
    """Neither a pickle nor a feather file of the result has the cells or the true counts."""
    hidden = pd.arrays.IntegerArray(np.array([1, SECRET, 7]), np.array([False, True, False]))
    frame = pd.DataFrame(
        {
            "n": [SECRET] * 3,
            "m": [1, 2, 3],
            "hidden": hidden,
            "flag": pd.array([True, None, False], "boolean"),
            "arrow": pd.arrays.ArrowExtensionArray(with_second_null(INTEGERS)),
            "share": pd.array([0.5, None, 1], "Float32"),
        }
    )
    noisy = dg.add_noise(frame, LAW, columns="n")
    assert noisy.dtypes.tolist() == frame.dtypes.tolist()
    assert noisy.drop(columns="n").equals(frame.drop(columns="n"))
    assert holds_secret(pickle.dumps(frame[["hidden"]]))
    assert not holds_secret(pickle.dumps(noisy))
    texts = pd.DataFrame({"n": [1, 2], "t": pd.array(["x", TEXT], "string[pyarrow]")}).iloc[:1]
    for values, found in ((texts, True), (dg.add_noise(texts, LAW, columns="n"), False)):
        file = io.BytesIO()
        values.to_feather(file, compression="uncompressed")
        assert holds_secret(file.getvalue()) is found
        assert values["t"].tolist() == ["x"]


def test_a_frame_of_polars() -> None:
    names = ["int64", "text", "list", "struct", "timestamp"]
    hidden = [pl.from_arrow(with_second_null(COLUMNS[name])).alias(name) for name in names]
    more = [
        pl.Series("words", ["x", None, "y"], pl.Enum(["y", "x"])),
        pl.Series("codes", ["x", None, "y"], pl.Categorical),
        pl.Series("wide", [1, None, 2**100], pl.Int128),
        pl.Series("objects", [object, None, int], pl.Object),
    ]
    frame = pl.DataFrame([pl.Series("n", [SECRET] * 3), *hidden, *more])
    noisy = dg.add_noise(frame, LAW, columns="n")
    assert noisy.schema == frame.schema
    for name in frame.columns[1:]:
        assert noisy[name].to_list() == frame[name].to_list()
    held = {}
    for when, some in (("before", frame), ("after", noisy)):
        file = io.BytesIO()
        some.drop("objects").write_ipc(file, compression="uncompressed")
        held[when] = holds_secret(file.getvalue())
    assert held == {"before": True, "after": False}
