"""Parquet and Arrow IPC: counts get exact noise, other data stays, and no error shows a value."""

from __future__ import annotations

import errno
import os
import weakref
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from same_bits import same_bits
from tables import write_plan

import discretegauss as dg
from discretegauss.errors import OutputError, TableError
from discretegauss.release import release_plan, release_table
from discretegauss.testing import TapeSource

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")

SECRET = 31337
IS_OLD = pa.__version__.startswith("17.")


def write_ipc(table: Any, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=4)


def write_stream(table: Any, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def write_parquet(table: Any, path: Path) -> None:
    parquet.write_table(table, path, row_group_size=4, compression="gzip")


def read(path: Path) -> Any:
    if path.suffix == ".parquet":
        return parquet.read_table(path)
    with pa.ipc.open_file(path) as reader:
        return reader.read_all()


FORMATS = [("t.parquet", write_parquet), ("t.arrow", write_ipc), ("t.feather", write_stream)]
TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize(("name", "write"), FORMATS)
def test_a_file_is_what_add_noise_makes_of_its_chunks(
    tmp_path: Path, name: str, write: Callable[[Any, Path], None]
) -> None:
    """Counts of every type get the same draws. Nulls, types, metadata and other columns agree."""
    values = [0, 1, None, 3, 4, 5, None, 7, 8, 9]
    whole = [None if v is None else Decimal(v) * 10**15 for v in values]
    counts = {kind: pa.array(values, kind) for kind in TYPES}
    counts |= {"units": pa.array(whole, pa.decimal128(30, 0))}
    counts |= {"cents": pa.array(whole, pa.decimal128(20, 2))}
    counts |= {"coded": pa.array(values, pa.int16()).dictionary_encode()}
    table = pa.table(
        {
            "town": pa.array(list("abcabcabca")).dictionary_encode(),
            **counts,
            "share": pa.array([[0.5 * i] * (i % 3) for i in range(10)]),
        },
        metadata={"source": "census"},
    )
    unit = table.schema.field("int8").with_metadata({"unit": "people"})
    table = table.cast(table.schema.set(1, unit))
    write(table, tmp_path / name)
    if name == "t.parquet":
        table = read(tmp_path / name)  # its fields have metadata of Parquet, too
    out = tmp_path / ("o.parquet" if name == "t.parquet" else "o.arrow")
    done = release_table(tmp_path / name, list(counts), out, rho="1.1", source=same_bits())
    law, stream = dg.DiscreteGaussian(5), same_bits()
    size = 10 if name == "t.feather" else 4
    chunks = [table.slice(start, size) for start in range(0, 10, size)]
    noisy = [dg.add_noise(one, law, columns=list(counts), source=stream) for one in chunks]
    found, expected = (x.unify_dictionaries() for x in (read(out), pa.concat_tables(noisy)))
    assert found.equals(expected, check_metadata=True)
    assert (done.law, done.rows, done.other_columns) == (law, 10, 2)


def test_row_groups_and_compression_are_kept_and_statistics_are_of_the_noise(
    tmp_path: Path,
) -> None:
    """A minimum or a dictionary page of the true counts would publish them."""
    table = pa.table({"n": [SECRET] * 10, "town": ["a"] * 10})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=4, compression="gzip")
    release_table(tmp_path / "t.parquet", "n", tmp_path / "o.parquet", rho="1e-9")
    file = parquet.ParquetFile(tmp_path / "o.parquet")
    groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
    assert [group.num_rows for group in groups] == [4, 4, 2]
    assert {group.column(j).compression for group in groups for j in (0, 1)} == {"GZIP"}
    noisy = file.read().column("n").to_pylist()
    statistics = groups[0].column(0).statistics
    assert (statistics.min, statistics.max) == (min(noisy[:4]), max(noisy[:4]))
    assert not groups[0].column(0).has_dictionary_page
    assert groups[0].column(1).has_dictionary_page


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("name", ["t.arrow", "t.feather"])
def test_an_arrow_file_is_compressed_as_its_table_is(
    tmp_path: Path, name: str, codec: str | None
) -> None:
    """Parquet, which has other codecs, becomes an Arrow file with zstd."""
    table = pa.table({"town": ["a"] * 1000, "n": [SECRET] * 1000})
    new = pa.ipc.new_file if name == "t.arrow" else pa.ipc.new_stream
    with new(tmp_path / name, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as w:
        w.write_table(table)
    release_table(tmp_path / name, "n", tmp_path / "o.arrow", rho="1e9")
    with pa.ipc.new_file(
        tmp_path / "expected.arrow",
        read(tmp_path / "o.arrow").schema,
        options=pa.ipc.IpcWriteOptions(compression=codec),
    ) as writer:
        writer.write_table(read(tmp_path / "o.arrow"))
    assert (tmp_path / "o.arrow").read_bytes() == (tmp_path / "expected.arrow").read_bytes()
    assert (b"\x28\xb5\x2f\xfd" in (tmp_path / "o.arrow").read_bytes()) == (codec == "zstd")
    write_parquet(table, tmp_path / "t.parquet")
    release_table(tmp_path / "t.parquet", "n", tmp_path / "p.arrow", rho="1e9")
    assert b"\x28\xb5\x2f\xfd" in (tmp_path / "p.arrow").read_bytes()


def hidden(values: list[Any]) -> Any:
    """Return a column with a null over its last value."""
    whole = pa.array(values)
    valid = np.packbits([1] * (len(values) - 1) + [0], bitorder="little")
    return pa.Array.from_buffers(
        whole.type, len(values), [pa.py_buffer(valid), *whole.buffers()[1:]]
    )


@pytest.mark.parametrize("out", ["o.parquet", "o.arrow"])
@pytest.mark.parametrize(("name", "write"), FORMATS)
def test_a_file_has_nothing_that_no_cell_shows(
    tmp_path: Path, name: str, write: Callable[[Any, Path], None], out: str
) -> None:
    """Neither values under nulls nor words of a dictionary that no row has leave the table."""
    words = pa.DictionaryArray.from_arrays(
        pa.array([3, 1, None, 1, 3, None], pa.int8()), ["SECRETTEXT", "b", "SECRETTEXT", "a"]
    )
    columns = {
        "n": hidden([1, 2, 3, 4, 5, SECRET]),
        "m": hidden([1, 2, 3, 4, 5, SECRET]),
        "text": hidden(["a", "b", "c", "d", "e", "SECRETTEXT"]),
        "words": words,
        "struct": pa.StructArray.from_arrays([words], ["words"]),
    }
    table = pa.table(columns)
    if name == "t.parquet":
        parquet.write_table(table, tmp_path / name, row_group_size=4, compression="none")
    else:
        write(table, tmp_path / name)
    secrets = (np.int64(SECRET).tobytes(), b"SECRETTEXT")
    data = (tmp_path / name).read_bytes()
    assert secrets[1] in data
    assert (secrets[0] in data) == (name != "t.parquet")  # it has no room for hidden values
    release_table(tmp_path / name, "n", tmp_path / out, rho="1e9")
    data = (tmp_path / out).read_bytes()
    assert not [secret for secret in secrets if secret in data]
    found = read(tmp_path / out)
    assert found.drop_columns("n").to_pydict() == table.drop_columns("n").to_pydict()
    if IS_OLD and "parquet" in name + out:  # it forgets that indices are int8
        write_parquet(table, tmp_path / "kept.parquet")
        table = read(tmp_path / "kept.parquet")
    assert found.schema.types == table.schema.types
    if out == "o.arrow":
        assert {*found.column("words").chunk(0).dictionary.to_pylist()} == {"a", "b"}


def test_a_dictionary_that_grows_from_batch_to_batch_has_the_words_of_all(tmp_path: Path) -> None:
    parts = [
        pa.DictionaryArray.from_arrays(codes, words)
        for codes, words in (
            (pa.array([1, 1], pa.int8()), ["SECRETTEXT", "b"]),
            (pa.array([2, None], pa.int8()), ["SECRETTEXT", "b", "c", "SECRETTEXT too"]),
        )
    ]
    schema = pa.schema([("n", pa.int64()), ("words", parts[0].type)])
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(tmp_path / "t.arrow", schema, options=options) as writer:
        for part in parts:
            writer.write_batch(pa.RecordBatch.from_arrays([pa.array([1, 2]), part], schema=schema))
    release_table(tmp_path / "t.arrow", "n", tmp_path / "o.arrow", rho="1e9")
    found = read(tmp_path / "o.arrow").column("words")
    assert found.to_pylist() == ["b", "b", "c", None]
    assert [chunk.dictionary.to_pylist() for chunk in found.chunks] == [["b", "c"]] * 2
    assert b"SECRETTEXT" not in (tmp_path / "o.arrow").read_bytes()


@pytest.mark.parametrize("out", ["o.parquet", "o.arrow"])
def test_other_libraries_read_dictionaries_that_lost_words(tmp_path: Path, out: str) -> None:
    """Each reads the same texts, from categories of pandas and from an Enum of polars."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts, kinds = ["b", None, "b"], ["SECRETTEXT", "b", "c"]
    of_pandas = pd.DataFrame({"n": [1, 2, 4], "t": pd.Categorical(texts, kinds, ordered=True)})
    of_polars = pl.DataFrame({"n": [1, 2, 4], "t": pl.Series(texts, dtype=pl.Enum(kinds))})
    is_parquet = out == "o.parquet"
    for frame in (of_pandas, of_polars):
        path = tmp_path / f"t{Path(out).suffix}"
        if frame is of_pandas:
            (frame.to_parquet if is_parquet else frame.to_feather)(path)
        else:
            (frame.write_parquet if is_parquet else frame.write_ipc)(path)
        release_table(path, "n", tmp_path / out, rho="1e9", force=True)
        if is_parquet or frame is of_pandas or not IS_OLD:  # it knows no unsigned indices
            by_pandas = (pd.read_parquet if is_parquet else pd.read_feather)(tmp_path / out)["t"]
            assert by_pandas.astype(object).where(by_pandas.notna(), None).tolist() == texts
        by_polars = (pl.read_parquet if is_parquet else pl.read_ipc)(tmp_path / out)["t"]
        assert by_polars.to_list() == texts


def test_one_row_group_is_held_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row group is written and freed before the next one is read."""
    write_parquet(pa.table({"n": range(16)}), tmp_path / "t.parquet")
    read = parquet.ParquetFile.read_row_group
    seen: list[Any] = []
    pool = pa.default_memory_pool().backend_name

    def read_alone(file: Any, *group: int, **options: Any) -> Any:
        assert [table() for table in seen] == [None] * len(seen)
        table = read(file, *group, **options)
        seen.append(weakref.ref(table))
        return table

    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", read_alone)
    release_table(tmp_path / "t.parquet", "n", tmp_path / "out.parquet", rho=1)
    assert len(seen) == 8  # in each of the two passes
    assert pa.default_memory_pool().backend_name == pool


APART = [
    ({"town": range(16), "n": range(16)}, True),
    ({"n": range(16), "n.of": range(16)}, False),
    ({"n.b": range(16), "n": range(16)}, False),
    ({"n": range(16), "town": [{"n": i, "m": i} for i in range(16)]}, True),
]


@pytest.mark.parametrize(("columns", "are_apart"), APART)
def test_a_first_look_reads_few_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: dict[str, Any], are_apart: bool
) -> None:
    """pyarrow reads "n.of" for "n", too, so all is read where a name begins with another."""
    write_parquet(pa.table(columns), tmp_path / "t.parquet")
    read_group, asked = parquet.ParquetFile.read_row_group, list[Any]()

    def noted(file: Any, group: int, names: Any, **options: Any) -> Any:
        asked.append(names)
        return read_group(file, group, names, **options)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", noted)
    release_table(tmp_path / "t.parquet", "n", tmp_path / "o.parquet", rho="1e9")
    assert read(tmp_path / "o.parquet").to_pydict() == pa.table(columns).to_pydict()
    look, write = 4 * [["n"]], 4 * [["n"], ["town"]]
    assert asked == (look + write if are_apart else 8 * [None])


def by_pandas(path: Path) -> list[Any]:
    pd = pytest.importorskip("pandas")
    read = pd.read_parquet if path.suffix == ".parquet" else pd.read_feather
    return [None if pd.isna(x) else int(x) for x in read(path)["n"]]


def by_polars(path: Path) -> list[Any]:
    pl = pytest.importorskip("polars")
    read = pl.read_parquet if path.suffix == ".parquet" else pl.read_ipc
    return list(read(path)["n"])


def by_duckdb(path: Path) -> list[Any]:
    duckdb = pytest.importorskip("duckdb")
    if path.suffix == ".parquet":
        return [n for (n,) in duckdb.read_parquet(str(path)).select("n").fetchall()]
    return [n for (n,) in duckdb.from_arrow(read(path)).select("n").fetchall()]


COLUMNS_OF_PANDAS = ["uint16", "UInt16", "Int8", "uint8[pyarrow]", "category", "object", "decimal"]


@pytest.mark.parametrize("dtype", COLUMNS_OF_PANDAS)
@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
@pytest.mark.parametrize("reader", [by_pandas, by_polars, by_duckdb])
def test_a_released_file_opens_in_every_library(
    tmp_path: Path, dtype: str, name: str, reader: Callable[[Path], list[Any]]
) -> None:
    """They open it even if the dtype in the metadata of pandas has no room for the noise."""
    pd = pytest.importorskip("pandas")
    counts = [0, 1, 2, 3] * 9
    if dtype == "decimal":
        column = pd.Series(map(Decimal, counts), dtype=object)
    else:
        column = pd.Series(counts, dtype=dtype)
        if dtype == "UInt16":
            column[5] = None
    frame = pd.DataFrame({"n": column, "town": "a"})
    (frame.to_parquet if name == "t.parquet" else frame.to_feather)(tmp_path / name)
    out = tmp_path / f"o{Path(name).suffix}"
    release_table(tmp_path / name, "n", out, rho="1/1000000")  # sigma = 707
    expected = read(out).column("n").to_pylist()
    assert [x is None for x in expected] == column.isna().tolist()
    assert (
        min(x for x in expected if x is not None) < 0
    )  # fails by chance with a probability below 2**-35
    assert reader(out) == expected


def test_parquet_may_become_arrow_and_the_other_way(tmp_path: Path) -> None:
    write_parquet(pa.table({"n": [1, 2, 4]}), tmp_path / "t.parquet")
    release_table(tmp_path / "t.parquet", "n", tmp_path / "o.arrow", rho="1e9")
    release_table(tmp_path / "o.arrow", "n", tmp_path / "p.parquet", rho="1e9")
    assert read(tmp_path / "p.parquet").to_pydict() == {"n": [1, 2, 4]}


def test_counts_beyond_int64_and_noisy_counts_beyond_their_type(tmp_path: Path) -> None:
    """Noise has no room on an unsigned count beyond int64, and has room on a wide decimal."""
    path = tmp_path / "t.parquet"
    write_parquet(pa.table({"n": pa.array([1, 2**64 - 1], pa.uint64())}), path)
    with pytest.raises(
        TableError, match=r": rows 1 to 2, column 'n': noisy counts must fit int64"
    ) as e:
        release_table(path, "n", tmp_path / "o.parquet", rho=1)
    assert "18446" not in str(e.value)
    assert e.value.__suppress_context__
    write_parquet(pa.table({"n": pa.array([Decimal(10**37)], pa.decimal128(38, 0))}), path)
    release_table(path, "n", tmp_path / "o.parquet", rho="1e9")
    assert read(tmp_path / "o.parquet").to_pydict() == {"n": [Decimal(10**37)]}
    assert sorted(os.listdir(tmp_path)) == ["o.parquet", "t.parquet"]


@pytest.mark.parametrize(
    ("count", "kind"),
    [(2**63 - 1, pa.int64()), (-(2**63), pa.int64()), (Decimal(10**38 - 1), pa.decimal128(38, 0))],
)
@pytest.mark.parametrize(("name", "write"), FORMATS)
def test_whether_noise_fits_is_decided_before_anything_is_drawn(
    tmp_path: Path, name: str, write: Callable[[Any, Path], None], count: Any, kind: Any
) -> None:
    """The counts and the law alone decide it, for every table of a plan."""
    write(pa.table({"n": pa.array([7, None, count], kind)}), tmp_path / name)
    (tmp_path / "first.csv").write_text("n\n1\n")
    outs = {"first.csv": "first.txt", name: "o.arrow"}
    tables = [{"table": table, "out": out} for table, out in outs.items()]
    plan = write_plan(tmp_path, 'rho = "0.1"', *tables)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(TableError, match=r"table 2: .*rows 1 to 3, .*noisy counts must fit"):
        release_plan(plan, source=TapeSource(b""))
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(
    ("table", "message"),
    [
        *(
            (
                {"n": [value]},
                f"column 'n' must have integers or decimals without a fraction, got type {kind}",
            )
            for value, kind in ((31337.0, "double"), ("31337", "string"), (True, "bool"))
        ),
        ({"m": [SECRET]}, "the table has no column 'n' (1 column)"),
        (
            {"n": [Decimal("1.0"), Decimal("31337.5")]},
            "row 2, column 'n': the value is not a whole",
        ),
        ({"n": pa.array(["31337"]).dictionary_encode()}, "got type string"),
        ({"n": []}, "got type null"),
        ({"n": pa.array([], pa.int64())}, "the file has a header but no rows"),
        (pa.table([pa.array([1])] * 2, ["n", "n"]), "columns 1 and 2 are both named 'n'"),
    ],
)
@pytest.mark.parametrize(("name", "write"), FORMATS)
def test_what_holds_no_counts_is_refused(
    tmp_path: Path, name: str, write: Callable[[Any, Path], None], table: Any, message: str
) -> None:
    write(pa.table(table) if isinstance(table, dict) else table, tmp_path / name)
    with pytest.raises(TableError) as caught:
        release_table(tmp_path / name, "n", tmp_path / "o", rho=1)
    assert message in str(caught.value)
    assert str(SECRET) not in str(caught.value)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    dict(FORMATS)[name](pa.table({"n": np.arange(1000) + SECRET}), path)
    whole = path.read_bytes()
    for data in (b"", b"n\n31337\n", whole[:-20], whole[: len(whole) // 2]):
        path.write_bytes(data)
        with pytest.raises(TableError):
            release_table(path, "n", tmp_path / "o", rho=1)
        assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["o.arrow", "o.parquet"])
def test_what_pyarrow_cannot_write_is_one_error_and_no_file(tmp_path: Path, name: str) -> None:
    """A file cannot hold the replaced dictionaries of a stream, and Parquet lacks some types."""
    if name == "o.arrow":
        table = "t.arrow"
        parts = [pa.array([town]).dictionary_encode() for town in ("a", "b")]
        schema = pa.schema([("n", pa.int64()), ("town", parts[0].type)])
        with pa.ipc.new_stream(tmp_path / table, schema) as writer:
            for part in parts:
                writer.write_batch(pa.RecordBatch.from_arrays([pa.array([1]), part], schema=schema))
    else:
        span = pa.array([pa.MonthDayNano([1, 2, 3])])
        write_ipc(pa.table({"n": [1], "span": span}), tmp_path / "t.arrow")
        table = "t.arrow"
    with pytest.raises(OutputError, match="pyarrow cannot write some column to"):
        release_table(tmp_path / table, "n", tmp_path / name, rho=1)
    assert os.listdir(tmp_path) == [table]


def test_decimals_of_hundreds_get_units(tmp_path: Path) -> None:
    """The output has the scale 0, because a negative scale would round the noise."""
    column = pa.array([Decimal(300)] * 50, pa.decimal128(5, -2))
    write_ipc(pa.table({"n": column}), tmp_path / "t.arrow")
    release_table(tmp_path / "t.arrow", "n", tmp_path / "o.arrow", rho="0.001")
    noisy = read(tmp_path / "o.arrow").column("n")
    assert noisy.type == pa.decimal128(38, 0)
    assert any(n % 100 for n in noisy.to_pylist())  # fails by chance: below 10**-50


def test_a_row_group_that_is_damaged_is_refused(tmp_path: Path) -> None:
    """The end of the file is whole and is read first. Then pyarrow raises an OSError."""
    path = tmp_path / "t.parquet"
    for start in (4, 60):  # the header of a page, and its compressed bytes
        write_parquet(pa.table({"n": np.arange(1000) + SECRET}), path)
        data = bytearray(path.read_bytes())
        data[start : len(data) // 4] = bytes(len(data) // 4 - start)
        path.write_bytes(data)
        with pytest.raises(TableError, match=r"t.parquet: the file is damaged: pyarrow cannot"):
            release_table(path, "n", tmp_path / "o", rho=1)
        assert os.listdir(tmp_path) == ["t.parquet"]


def test_what_the_system_refuses_to_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Error reading bytes")  # pyarrow's error lacks the name, too

    path = tmp_path / "t.parquet"
    write_parquet(pa.table({"n": [1]}), path)
    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", fail)
    with pytest.raises(OSError, match="Error reading bytes: '/") as caught:
        release_table(path, "n", tmp_path / "o", rho=1)
    assert caught.value.filename == str(path)


def test_text_is_not_written_as_parquet_nor_parquet_as_text(tmp_path: Path) -> None:
    write_parquet(pa.table({"n": [1]}), tmp_path / "t.parquet")
    with pytest.raises(OutputError, match="a table in Parquet cannot be written as text"):
        release_table(tmp_path / "t.parquet", "n", tmp_path / "o.csv", rho=1)
    with pytest.raises(OutputError, match=r"Parquet compresses its own columns; remove '.gz'"):
        release_table(tmp_path / "t.parquet", "n", tmp_path / "o.parquet.gz", rho=1)
    with pytest.raises(TableError, match=r"Parquet compresses its own columns; remove '.zst'"):
        release_table(tmp_path / "t.parquet.zst", "n", tmp_path / "o", rho=1)


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parquet(pa.table({"n": [1]}), tmp_path / "t.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install pyarrow"):
        release_table(tmp_path / "t.parquet", "n", tmp_path / "o.parquet", rho=1)
