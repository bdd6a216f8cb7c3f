"""`add_noise` returns each other container of counts as it came, with the exact sums."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inputs import must_not_draw
from same_bits import same_bits

import discretegauss as dg

LAW = dg.DiscreteGaussian(100)

Ages = namedtuple("Ages", "young old")


def add(values: Any, **options: Any) -> Any:
    return dg.add_noise(values, LAW, source=same_bits(), **options)


def sums(counts: list[int], dtype: Any = object) -> list[int]:
    drawn: list[int] = LAW.sample(len(counts), dtype=dtype, source=same_bits()).tolist()
    return [x + noise for x, noise in zip(counts, drawn, strict=True)]


@pytest.mark.parametrize(
    "values",
    [
        {"b": 3, "a": 2**70},
        Counter({"b": 3, "a": 2}),
        OrderedDict([("b", 3), ("a", 2)]),
        defaultdict(int, {"b": 3, "a": 2}),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_dict_keeps_its_keys_and_its_type(values: dict[str, int]) -> None:
    """So does a Counter, whose own `update` would add the counts again."""
    before = dict(values)
    noisy = add(values)
    assert type(noisy) is type(values)
    assert list(noisy.items()) == list(zip("ba", sums(list(before.values())), strict=True))
    assert values == before
    assert isinstance(noisy, Mapping)
    assert getattr(noisy, "default_factory", None) is getattr(values, "default_factory", None)


def test_tuples_stay_tuples() -> None:
    """Named tuples keep their type."""
    assert add((3, 2**70)) == tuple(sums([3, 2**70]))
    assert add(Ages(3, 4)) == Ages(*sums([3, 4]))
    assert type(add(Ages(3, 4))) is Ages
    assert add(()) == ()
    noisy = add((Decimal("3.0"), None))
    assert noisy == (Decimal(sums([3])[0]), None)
    assert add(Decimal(7)) == Decimal(sums([7])[0])


def test_a_mask_keeps_its_fill_value() -> None:
    """It does if the new dtype has room for the value, and a hard mask stays hard."""
    values = np.ma.MaskedArray([1, 2], [True, False], np.int16, fill_value=-9, hard_mask=True)
    noisy = add(values)
    assert (noisy.fill_value, noisy.hardmask) == (-9, True)
    assert noisy.filled().tolist()[0] == -9
    floats = np.ma.MaskedArray([1.0, 2.0], [True, False])  # its fill value is 1e20
    assert add(floats, integral_floats=True).dtype == np.int64


@pytest.mark.parametrize("order", ["C", "F", ">i8"])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_out_takes_the_sums(order: str, layout: Any) -> None:
    """`out` may have any layout and byte order, and is returned."""
    values = np.array(np.arange(12).reshape(3, 4), np.uint16, order=layout)
    out = np.zeros((3, 4), ">i8" if order == ">i8" else np.int64, "F" if order == "F" else "C")
    assert dg.add_noise(values, LAW, out=out, source=same_bits()) is out
    assert (out == add(values)).all()
    residues = np.zeros((3, 4), np.uint64)
    dg.add_noise(values, LAW, out=residues, modulus=2**64, source=same_bits())
    assert (residues == out.astype(np.int64).astype(np.uint64)).all()
    objects = np.zeros((3, 4), object)
    assert dg.add_noise(values.astype(object), LAW, out=objects) is objects
    assert type(objects[0, 0]) is int


def test_arrays_in_files_go_to_arrays_in_files(tmp_path: Path) -> None:
    np.save(tmp_path / "counts.npy", np.arange(3000, dtype=np.uint32))
    counts = np.load(tmp_path / "counts.npy", mmap_mode="r")
    noisy = np.lib.format.open_memmap(tmp_path / "noisy.npy", "w+", np.int64, counts.shape)
    dg.add_noise(counts, LAW, out=noisy, source=same_bits())
    noisy.flush()
    writable = np.load(tmp_path / "counts.npy", mmap_mode="r+")
    for out in (np.load(tmp_path / "counts.npy", mmap_mode="r+"), writable[::-1]):
        with pytest.raises(ValueError, match="no memory and no file"):
            dg.add_noise(writable, LAW, out=out)
    assert np.load(tmp_path / "noisy.npy").tolist() == sums(list(range(3000)), np.int64)


def test_an_out_that_does_not_go_is_refused_before_a_draw() -> None:
    """The error shows its dtype and shape, which are not the counts'."""
    values = np.arange(4)
    read_only = np.zeros(4, np.int64)
    read_only.flags.writeable = False
    wrong: list[tuple[Any, type[Exception], str]] = [
        (np.zeros(4, np.int32), ValueError, "out must have dtype int64 here, got int32"),
        (np.zeros(3, np.int64), ValueError, "out must have the shape of values"),
        (np.ma.zeros(4, np.int64), TypeError, "out must be a numpy array without a mask"),
        ([0] * 4, TypeError, "out must be a numpy array"),
        (read_only, ValueError, "out must be writable"),
        (values, ValueError, "out must share no memory and no file"),
    ]
    for out, error, match in wrong:
        with pytest.raises(error, match=match):
            dg.add_noise(values, LAW, out=out, source=must_not_draw)
    assert values.tolist() == [0, 1, 2, 3]
    for container in ([1, 2, 3, 4], np.ma.MaskedArray(values)):
        with pytest.raises(TypeError, match="out needs a numpy array without a mask"):
            dg.add_noise(container, LAW, out=read_only)  # type: ignore[arg-type]


# --- pandas


def test_an_index_and_an_array_of_pandas_stay_what_they_are() -> None:
    pd = pytest.importorskip("pandas")
    for index in (pd.Index([3, 4], "uint8", name="n"), pd.RangeIndex(3, 5, name="n")):
        noisy = add(index)
        assert (type(noisy), noisy.dtype, noisy.name) == (pd.Index, np.int64, "n")
        assert noisy.tolist() == sums([3, 4])
    nullable = pd.Index([3, None], dtype="UInt8")
    assert add(nullable).dtype == "Int64"
    assert add(pd.Index([Decimal(3)])).dtype == object
    for dtype in ("Int8", "int8"):
        array = pd.array([3, 4], dtype=dtype)
        noisy = add(array)
        assert (type(noisy), noisy.dtype) == (type(array), "Int64" if dtype == "Int8" else "int64")
        assert list(noisy) == sums([3, 4])


# --- columns=, of every library


def test_columns_are_named_by_whatever_holds_labels() -> None:
    """Labels may be no text, in tuples or arrays; a tuple that is a label means that label."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 2, "x"]], columns=[2013, 2014, "name"])
    both = add(frame, columns=[2013, 2014])
    columns = (2013, 2014), frame.columns[:2], np.array([2013, 2014]), {2013: 0, 2014: 0}
    for names in columns:
        assert add(frame, columns=names).equals(both)
    assert add(frame, columns=2014).loc[0, 2014] == sums([2])[0]
    levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 1)]))
    assert add(levels, columns=("b", 1)).iloc[0].tolist() == [1, sums([2])[0]]
    for missing in (2015, ("a",), [["a"]]):
        with pytest.raises(ValueError, match="is not there"):
            add(frame, columns=missing)


def test_columns_may_be_selected_as_polars_does() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1], "name": ["x"], "b": [2]})
    both = add(frame, columns=["a", "b"])
    for selector in (pl.selectors.integer(), pl.col("a", "b"), ("a", "b")):
        assert add(frame, columns=selector).equals(both)
        assert add(frame.lazy(), columns=selector).collect().equals(both)
    with pytest.raises(ValueError, match="columns must name at least one column"):
        add(frame, columns=pl.selectors.boolean())


# --- wide integers, decimals


@pytest.mark.parametrize("dtype", ["Int128", "UInt128"])
def test_wide_integers_of_polars_stay_wide(dtype: str) -> None:
    """They become Int128, which has room for negative noise."""
    pl = pytest.importorskip("polars")
    if not hasattr(pl, dtype):
        pytest.skip(f"this polars has no {dtype}")
    series = pl.Series("n", [2**100, None, 3], dtype=getattr(pl, dtype))
    noisy = add(series)
    (first, _, last) = sums([2**100, 0, 3])
    assert (noisy.name, noisy.dtype, noisy.to_list()) == ("n", pl.Int128, [first, None, last])
    with pytest.raises(OverflowError, match="fit Int128"):
        add(pl.Series([2**127 - 1], dtype=pl.Int128))


def test_whole_decimals_of_any_scale_keep_it() -> None:
    """They have all digits, and decimals that are not whole are refused."""
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    counts = [Decimal("3.00"), None]
    expected = [Decimal(sums([3])[0]), None]
    noisy = add(pa.array(counts, pa.decimal128(9, 2)))
    assert (noisy.type, noisy.to_pylist()) == (pa.decimal128(38, 2), expected)
    series = add(pl.Series(counts, dtype=pl.Decimal(9, 2)))
    assert (series.dtype, series.to_list()) == (pl.Decimal(38, 2), expected)
    hundreds = add(pa.array([Decimal(300)], pa.decimal128(5, -2)))
    assert (hundreds.type.scale, hundreds.to_pylist()) == (0, sums([300]))
    with pytest.raises(OverflowError, match="decimals of this precision"):
        add(pa.array([Decimal(10**36 - 1)], pa.decimal128(38, 2)))


# --- xarray, DuckDB


def test_a_data_array_keeps_dimensions_coordinates_name_and_attrs() -> None:
    """It drops the encoding of a file, whose dtype may have no room for noise."""
    xr = pytest.importorskip("xarray")
    counts = np.arange(6, dtype=np.uint8).reshape(2, 3)
    array = xr.DataArray(
        counts, dims=("town", "year"), coords={"year": [1, 2, 3]}, name="n", attrs={"of": "people"}
    )
    array.encoding["dtype"] = "uint8"
    noisy = add(array)
    assert noisy.values.ravel().tolist() == sums(list(range(6)))
    assert noisy.copy(data=counts).identical(array)
    assert "dtype" not in noisy.encoding
    assert array.encoding == {"dtype": "uint8"}
    with pytest.raises(TypeError, match="columns needs a frame"):
        add(array, columns="year")
    for values, match in ((array.to_dataset(), "got Dataset"), (array.coords, "got ")):
        with pytest.raises(TypeError, match=match):
            add(values)


def test_a_lazy_data_array_is_refused() -> None:
    xr = pytest.importorskip("xarray")
    dask_array = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"call its compute\(\) first; got one of dask"):
        add(xr.DataArray(dask_array.zeros(3, int)))


def test_a_relation_of_duckdb_becomes_a_table_of_pyarrow() -> None:
    """It is read once. DuckDB's sums are HUGEINT for any integers."""
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    relation = duckdb.sql(
        "select town, sum(n) as n from (values ('a', 3), ('b', 4)) t(town, n) group by town "
        "order by town"
    )
    noisy = add(relation, columns="n")
    assert isinstance(noisy, pa.Table)
    assert noisy.column("town").to_pylist() == ["a", "b"]
    assert noisy.column("n").to_pylist() == sums([3, 4])


def test_a_stream_of_arrow_is_read_once() -> None:
    """The stream may come from any library."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"n": [3, 4]})

    class Stream:
        read = 0

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            self.read += 1
            return table.__arrow_c_stream__(requested_schema)

    stream = Stream()
    assert add(stream).column("n").to_pylist() == sums([3, 4])
    assert stream.read == 1
    assert add(table.to_reader()).column("n").to_pylist() == sums([3, 4])
