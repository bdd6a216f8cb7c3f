"""`add_noise` on columns and frames keeps kind, labels and nulls, and draws for each cell."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from inputs import must_not_draw
from same_bits import same_bits

import discretegauss as dg

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

LAW = dg.DiscreteGaussian(100)
SPREAD = dg.DiscreteGaussian(10**34)
"""It fits int64. Two of 2000 draws are equal with a probability below 10**-10."""

COUNTS = [2**53 + 1, None, 2**60 + 1, 0]


def expected(counts: list[int | None], law: dg.Law = LAW) -> list[int | None]:
    """Return the exact sums, by the same bits; nulls have a draw, too."""
    drawn = law.sample(len(counts), source=same_bits()).tolist()
    return [None if x is None else x + noise for x, noise in zip(counts, drawn, strict=True)]


def add(values: Any, **options: Any) -> Any:
    return dg.add_noise(values, LAW, source=same_bits(), **options)


# --- columns

PANDAS_DTYPES = ["Int64", "UInt64", "int64[pyarrow]", "uint64[pyarrow]", object]


@pytest.mark.parametrize("dtype", PANDAS_DTYPES)
def test_a_series_of_pandas_keeps_index_name_attrs_and_nulls(dtype: Any) -> None:
    """Labels of the index may occur twice."""
    series = pd.Series(COUNTS, dtype=dtype, index=list("abca"), name="n")
    series.attrs["source"] = {"of": 2013}
    before = series.copy()
    noisy = add(series)
    assert noisy.index.tolist() == list("abca")
    assert (noisy.name, noisy.attrs) == ("n", series.attrs)
    assert str(noisy.dtype).lower() == str(series.dtype).lower().replace("uint", "int")
    assert [None if pd.isna(x) else x for x in noisy] == expected(COUNTS)
    pd.testing.assert_series_equal(series, before)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "Int64", "UInt8", "uint16[pyarrow]"])
def test_a_series_without_nulls_keeps_its_family_of_dtypes(dtype: str) -> None:
    """It becomes int64, Int64 or int64[pyarrow], from any width."""
    noisy = add(pd.Series([1, 2, 3], dtype=dtype))
    family = {"i": "int64", "u": "int64", "I": "Int64", "U": "Int64"}[dtype[0]]
    assert str(noisy.dtype) == family + ("[pyarrow]" if "pyarrow" in dtype else "")
    assert noisy.tolist() == expected([1, 2, 3])


TOP = 2**63 + 5
UNSIGNED: list[Any] = [
    lambda values: np.array(values, np.uint64),
    lambda values: pd.Series(values, dtype="uint64"),
    lambda values: pd.Series(values, dtype="UInt64"),
    lambda values: pd.Series(values, dtype="uint64[pyarrow]"),
    lambda values: pl.Series(values, dtype=pl.UInt64),
    lambda values: pa.array(values, pa.uint64()),
    lambda values: pa.chunked_array([pa.array(values, pa.uint64())]),
]


@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
@pytest.mark.parametrize("column", UNSIGNED)
def test_counts_beyond_int64_do_not_wrap(column: Any) -> None:
    """Columns of uint64 are refused, clamped, brought back, or reduced: no count turns negative."""
    narrow, values = dg.DiscreteGaussian("1/1000"), [TOP, 3, 2**64 - 1]
    how: dict[str, Any] = {"source": must_not_draw}
    with pytest.raises(OverflowError, match="values with noise must fit int64"):
        dg.add_noise(column(values), narrow, **how)
    for law, options, wanted in (
        (narrow, {"overflow": "saturate"}, [2**63 - 1, 3, 2**63 - 1]),
        (dg.DiscreteGaussian("1/1000", -(2**63)), {}, [5, 3 - 2**63, 2**63 - 1]),
        (narrow, {"modulus": 2**64}, values),
        (narrow, {"modulus": 2**63}, [5, 3, 2**63 - 1]),
    ):
        assert np.asarray(dg.add_noise(column(values), law, **options)).tolist() == wanted
    with pytest.raises(OverflowError, match="modulus must be at most 18446744073709551616"):
        dg.add_noise(column(values), narrow, modulus=2**64 + 1, **how)


def test_whole_floats_of_pandas_are_integers_with_nulls() -> None:
    """pandas makes floats of integers if some are missing."""
    floats = pd.Series([1, None, 3])
    assert floats.dtype == float
    with pytest.raises(TypeError, match="got float64; integral_floats=True"):
        add(floats)
    for series in (floats, floats.astype("Float64"), floats.astype("double[pyarrow]")):
        noisy = add(series, integral_floats=True)
        assert str(noisy.dtype).lower().startswith("int64")
        assert [None if pd.isna(x) else x for x in noisy] == expected([1, None, 3])
    assert add(floats.fillna(2), integral_floats=True).dtype == np.int64


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64])
def test_a_series_of_polars_keeps_name_and_nulls(dtype: Any) -> None:
    """It becomes Int64, with the same name and nulls."""
    series = pl.Series("n", COUNTS, dtype=dtype)
    noisy = add(series)
    assert (noisy.name, noisy.dtype) == ("n", pl.Int64)
    assert noisy.to_list() == expected(COUNTS)
    sliced = pl.concat([series, series], rechunk=False)[2:7]
    assert add(sliced).to_list() == expected(sliced.to_list())


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_arrays_of_pyarrow_keep_chunks_and_nulls(kind: Any) -> None:
    """They may be slices, whose nulls begin within a byte."""
    array = pa.array(COUNTS * 5, kind)
    for values in (array, array[3:], array[3:7], array[:0], pa.nulls(3, kind)):
        noisy = add(values)
        noisy.validate(full=True)
        assert noisy.type == pa.int64()
        assert noisy.to_pylist() == expected(values.to_pylist())
    chunked = pa.chunked_array([array[:2], array[:0], array[5:]])
    noisy = add(chunked)
    noisy.validate(full=True)
    assert [len(chunk) for chunk in noisy.chunks] == [2, 0, 15]
    assert noisy.to_pylist() == expected(chunked.to_pylist())
    assert add(pa.chunked_array([], kind)).type == pa.int64()


def test_polars_without_pyarrow_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nulls, integers and whole floats give the same; pyarrow only saves copies."""
    from discretegauss.data import from_polars

    series = pl.Series("n", COUNTS)
    floats = pl.Series("n", [1.0, None, 3.0])
    sliced = pl.Series("n", [None, *COUNTS, None])[1:]
    for values in (series, sliced, floats):
        by_arrow = add(values, integral_floats=True)
        with monkeypatch.context() as patched:
            patched.setattr(from_polars, "_has_pyarrow", lambda: False)
            alone = add(values, integral_floats=True)
        assert by_arrow.equals(alone, check_names=True, check_dtypes=True)
        assert by_arrow.null_count() == values.null_count()


def test_the_input_of_a_column_with_nulls_stays_and_shares_nothing() -> None:
    """Buffers are read in place, but numbers and nulls of the input do not change with the sums."""
    series = pd.Series(COUNTS, dtype="Int64")
    noisy = add(series)
    noisy[0] = pd.NA
    noisy[1] = 5
    assert series.isna().tolist() == [False, True, False, False]
    assert series[0] == 2**53 + 1
    backwards = add(pd.Series(COUNTS, dtype="Int64")[::-1])
    assert backwards.isna().tolist() == [False, False, True, False]


def test_flags_of_arrow_may_begin_within_a_byte() -> None:
    """The format allows that, even if this version of pyarrow slices otherwise."""
    from discretegauss.data import arrow_buffers

    flags = [True, False, False, True, True] * 4
    assert arrow_buffers.flags(pa.array(flags)[3:18]).tolist() == flags[3:18]


def test_what_lies_under_a_null_is_neither_looked_at_nor_shown() -> None:
    """Arrow may hold any number there, even one that would not fit."""
    hidden = np.array([5, 2**63 - 1])
    bits = pa.py_buffer(b"\x01")
    array = pa.Array.from_buffers(pa.int64(), 2, [bits, pa.py_buffer(hidden)])
    noisy = add(array)
    assert noisy.to_pylist()[1] is None
    assert np.frombuffer(noisy.buffers()[1], np.int64)[1] == 0
    masked = pd.Series(pd.arrays.IntegerArray(hidden, np.array([False, True])))
    assert pd.isna(add(masked)[1])
    assert add(pl.Series(array)).to_list()[1] is None


def test_decimals_stay_decimals() -> None:
    """Sums of up to 38 digits are exact; a sum that might have more is refused, or clamped."""
    counts = [Decimal(10**37 + 1), None, Decimal(-3)]  # Decimal's own sums would be rounded
    noise = LAW.sample(3, dtype=object, source=same_bits()).tolist()
    sums = [Decimal(10**37 + 1 + noise[0]), None, Decimal(-3 + noise[2])]
    assert add(pl.Series(counts, dtype=pl.Decimal(38, 0))).to_list() == sums
    for kind, widest in (
        (pa.decimal128(38, 0), pa.decimal128(38, 0)),
        (pa.decimal256(40, 0), pa.decimal256(76, 0)),
    ):
        noisy = add(pa.chunked_array([pa.array(counts, kind)]))
        assert noisy.type == widest
        assert noisy.to_pylist() == sums
    series = pd.Series(counts, dtype=object)
    assert add(series).tolist() == sums
    most = pa.array([Decimal(10**38 - 1)] * 20, pa.decimal128(38, 0))
    with pytest.raises(OverflowError, match="decimals of this precision"):
        add(most)
    assert max(add(most, overflow="saturate").to_pylist()) == 10**38 - 1
    assert add(most, modulus=10**38).to_pylist()[0] < 10**38
    for parts in (pa.array([Decimal("0.5")]), pl.Series([Decimal("0.5")])):
        with pytest.raises(ValueError, match="whole numbers"):
            add(parts)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True]),
        pd.Series(["1"]),
        pd.Series([1], dtype="category"),
        pd.Series([1], dtype="Sparse[int]"),
        pd.to_datetime(pd.Series([1])),
        pd.Series([True], dtype="boolean"),
        pl.Series([True]),
        pl.Series(["1"]),
        pl.Series([[1]]),
        pl.Series([1], dtype=pl.Duration),
        pa.array([True]),
        pa.array(["1"]).dictionary_encode(),
        pa.array([1], pa.date32()),
        pd.Index(["1"]),
        pd.array([True]),
        pd.MultiIndex.from_tuples([(1, 2)]),
        pl.col("a"),
        pa.scalar(1),
    ],
    ids=lambda x: f"{type(x).__module__}.{getattr(x, 'dtype', getattr(x, 'type', ''))}",
)
def test_columns_of_other_types_are_refused(column: Any) -> None:
    """The error shows their type, and no cell."""
    with pytest.raises(TypeError, match=r"^values must be"):
        add(column)


# --- frames


def frames() -> list[Any]:
    """Return the same table in each library: two columns of equal counts, and one of names."""
    columns = {"a": [7] * 1000, "b": [7] * 1000, "name": ["x"] * 1000}
    table = pa.table(columns)
    return [
        pd.DataFrame(columns, index=range(5, 1005)),
        pl.DataFrame(columns),
        pl.LazyFrame(columns),
        table,
        table.to_batches()[0],
    ]


def column(frame: Any, name: str) -> list[Any]:
    """Return a column as a list."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pa.Table | pa.RecordBatch):
        cells: list[Any] = frame.column(frame.schema.names.index(name)).to_pylist()
        return cells
    return list(frame[name])


@pytest.mark.parametrize("frame", frames(), ids=lambda x: type(x).__name__)
def test_every_cell_of_a_frame_has_a_draw_of_its_own(frame: Any) -> None:
    """`frame + law.sample(len(frame))` would have the noise of the row in every column."""
    noisy = dg.add_noise(frame, SPREAD, columns=["a", "b"])
    assert type(noisy) is type(frame)
    assert len({*column(noisy, "a"), *column(noisy, "b")}) == 2000
    assert column(noisy, "name") == ["x"] * 1000
    assert column(frame, "a") == [7] * 1000


@pytest.mark.parametrize("frame", frames(), ids=lambda x: type(x).__name__)
def test_columns_have_to_be_named_where_some_are_no_integers(frame: Any) -> None:
    """Each is named once, in any order."""
    with pytest.raises(
        TypeError, match=r"^values must be integers, got .*\(column 'name'; columns= names the col"
    ):
        add(frame)
    with pytest.raises(TypeError, match=r"\(column 'name'\)$"):
        add(frame, columns=["a", "name"])
    assert len({*column(dg.add_noise(frame, SPREAD, columns="b"), "a")}) == 1
    one, other = (add(frame, columns=names) for names in (["a", "b"], ["b", "a"]))
    assert column(one, "b") == column(other, "b")
    for names in ([], ["c"], ["a", "a"]):
        with pytest.raises(ValueError, match="columns must name"):
            add(frame, columns=names)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_an_overflow_names_its_column(kind: Any) -> None:
    """Two columns have room for noise, and the error names the one without."""
    table = kind({"a": [1, 2], "b": [3, 2**63 - 1], "c": [5, 6]})
    with pytest.raises(OverflowError, match=r"might not \(column 'b'\); overflow="):
        dg.add_noise(table, dg.DiscreteGaussian(4))


@pytest.mark.parametrize("frame", frames(), ids=lambda x: type(x).__name__)
def test_the_columns_of_a_frame_share_the_budget(frame: Any) -> None:
    """rho = 1/10 for a person in one row, and so in two cells: sigma2 = 10, or 5 if disjoint."""
    for disjoint, law in ((False, dg.DiscreteGaussian(10)), (True, dg.DiscreteGaussian(5))):
        noisy = dg.add_noise(
            frame, rho="1/10", disjoint=disjoint, columns=["a", "b"], source=same_bits()
        )
        assert column(noisy, "a") == expected([7] * 1000, law)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_one_person_cannot_change_more_rows_than_a_frame_has(kind: Any) -> None:
    """This holds for columns of the same people, and of different people."""
    frame = kind({"men": [1, 2], "women": [3, 4]})
    for disjoint in (True, False):
        dg.noise_for(frame, rho=1, rows_per_person=2, disjoint=disjoint)
        with pytest.raises(ValueError, match=r"at most 2, .*did you mean sensitivity=3\?"):
            dg.add_noise(frame, rho=1, rows_per_person=3, disjoint=disjoint)


def test_no_column_is_drawn_for_if_one_is_refused() -> None:
    """If the last one holds a count that might not fit, no bit is read for the first ones."""
    columns = {"a": [1], "b": [2**63 - 1]}
    for values in (pd.DataFrame(columns), pl.DataFrame(columns)):
        with pytest.raises(OverflowError, match="values with noise must fit int64"):
            dg.add_noise(values, LAW, source=must_not_draw)


def test_a_frame_of_pandas_keeps_index_labels_attrs_and_dtypes() -> None:
    """Labels of columns and of the index may occur twice."""
    frame = pd.DataFrame([[1, 2, 0.5], [3, 4, 1.5]], index=["i", "i"], columns=["a", "a", "f"])
    frame.attrs["year"] = 2013
    with pytest.raises(ValueError, match="is twice"):
        add(frame, columns=["a"])
    noisy = add(frame.iloc[:, :2])
    assert noisy.columns.tolist() == ["a", "a"]
    assert noisy.index.tolist() == ["i", "i"]
    assert noisy.attrs == {"year": 2013}
    assert noisy.iloc[:, 0].tolist() == expected([1, 3])
    several = pd.DataFrame({("n", 1): pd.array([1, None], "UInt8"), "f": [0.5, 1]})
    noisy = add(several, columns=[("n", 1)])
    assert noisy.dtypes.tolist() == [pd.Int64Dtype(), np.dtype(float)]
    assert several.dtypes.tolist()[0] == pd.UInt8Dtype()
    with pytest.raises(ValueError, match="must have a column"):
        add(pd.DataFrame(index=[1, 2]))


def test_tables_of_pyarrow_keep_metadata_and_order() -> None:
    """They keep metadata of the schema and of each field, and which fields have no nulls."""
    fields = [
        pa.field("n", pa.uint8(), nullable=False, metadata={"unit": "people"}),
        pa.field("name", pa.string()),
    ]
    schema = pa.schema(fields, metadata={"year": "2013"})
    table = pa.table({"n": [1, 2], "name": ["x", None]}, schema=schema)
    for values in (table, table.to_batches()[0]):
        noisy = add(values, columns="n")
        noisy.validate(full=True)
        assert noisy.schema.equals(
            schema.set(0, fields[0].with_type(pa.int64())), check_metadata=True
        )
        assert noisy.column(0).to_pylist() == expected([1, 2])


@pytest.mark.parametrize(
    ("dtype", "noisy_dtype"),
    [
        ("UInt16", "Int64"),
        ("Float64", "Int64"),
        ("uint8[pyarrow]", "int64[pyarrow]"),
        ("float64", "int64"),
        ("uint32", "int64"),
        ("category", None),
    ],
)
def test_a_table_of_pyarrow_that_was_of_pandas_is_so_again(
    dtype: str, noisy_dtype: str | None
) -> None:
    """Its metadata name the dtype with room for the noise. The other columns keep theirs."""
    frame = pd.DataFrame({"n": pd.Series([2**8 - 1, 0] * 50, dtype=dtype), "m": [1, 2] * 50})
    frame = frame.astype({"m": "UInt8"}).set_index(pd.Index(range(100, 200), name="town"))
    table = pa.Table.from_pandas(frame)
    if noisy_dtype is None:
        table = table.set_column(0, "n", table.column(0).cast(pa.int64()))
        noisy_dtype = "int64"
    noisy = dg.add_noise(table, SPREAD, columns="n", integral_floats=True)
    read = noisy.to_pandas()
    assert (str(read["n"].dtype), str(read["m"].dtype)) == (noisy_dtype, "UInt8")
    assert read["n"].tolist() == noisy.column("n").to_pylist()
    assert read.index.equals(frame.index)
    residues = dg.add_noise(table, SPREAD, columns="n", integral_floats=True, modulus=2**64)
    assert str(residues.to_pandas()["n"].dtype).lower().startswith("uint64")


@pytest.mark.parametrize("told", [b"", b"{", b"[]", b"{}", b'{"columns": [{}]}'])
def test_metadata_that_pandas_could_not_read_stay(told: bytes) -> None:
    """They are no reason to fail after the noise is drawn."""
    table = pa.table({"n": [1]}).replace_schema_metadata({"pandas": told})
    assert add(table).schema.metadata == {b"pandas": told}


def test_a_lazy_frame_is_collected_once_and_keeps_its_noise() -> None:
    """Each later collection of the result has the same noise."""
    collected = []

    def seen(frame: Any) -> Any:
        collected.append(len(frame))
        return frame

    lazy = pl.LazyFrame({"n": [7] * 100}).map_batches(seen)
    noisy = dg.add_noise(lazy, SPREAD)
    assert isinstance(noisy, pl.LazyFrame)
    assert noisy.collect().equals(noisy.collect())
    assert collected == [100]


def test_columns_goes_with_frames() -> None:
    """With one column it is refused."""
    for values in (pd.Series([1]), pl.Series([1]), pa.array([1])):
        with pytest.raises(TypeError, match="columns needs a frame or table"):
            add(values, columns="a")
