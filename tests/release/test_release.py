"""release_table adds exact noise, keeps all else, and writes the output whole or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import os
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import process, release
from evidence_cases import at_once
from same_bits import same_bits
from tables import FLIGHTS, column, other_columns, write_counts

import discretegauss as dg
from discretegauss.errors import (
    OutputError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
    TableError,
)
from discretegauss.release import release_table
from discretegauss.testing import TapeSource


def test_the_real_table_is_released(tmp_path: Path) -> None:
    """The release has the same rows, other counts, and a report that matches."""
    out = tmp_path / "noisy.csv"
    done = release_table(FLIGHTS, "flights", out, rho="0.1")
    assert other_columns(out, "flights") == other_columns(FLIGHTS, "flights")
    noise = np.array(column(out, "flights")) - np.array(column(FLIGHTS, "flights"))
    # sigma2 = 5: a draw beyond 45 = 20 standard deviations has a probability below 1e-87.
    assert 0 < np.abs(noise).max() <= 45
    assert (done.rows, done.sigma2, done.rho) == (5268, Fraction(5), Fraction(1, 10))
    assert done.bound95 == 4
    assert os.listdir(tmp_path) == ["noisy.csv"]
    # no seed is fixed: by chance, 5268 draws are equal with a probability below 2**-8000
    release_table(FLIGHTS, "flights", tmp_path / "b.csv", rho="0.1")
    assert (tmp_path / "b.csv").read_bytes() != out.read_bytes()


@pytest.mark.parametrize("rho", ["0.1", "1/7", *(Fraction(1, 2**i) for i in (57, 113, 114, 500))])
def test_noisy_minus_count_is_the_draw_for_counts_of_any_size(tmp_path: Path, rho: Any) -> None:
    """The same bits give the same draw, in int64 and beyond; nothing wraps, rounds or clamps."""
    counts = [0, 1, -1, 2**63 - 1, -(2**63), 2**70, -(2**70), 10**500, -(10**500), 7]
    source_file, out = tmp_path / "counts.csv", tmp_path / "noisy.csv"
    write_counts(source_file, counts)
    done = release_table(source_file, "n", out, rho=rho, source=same_bits())
    assert done.sigma2 == 1 / (2 * Fraction(rho))
    draws = dg.discrete_gaussian(done.sigma2, len(counts), dtype=object, source=same_bits())
    noisy = column(out, "n")
    assert [a - b for a, b in zip(noisy, counts, strict=True)] == draws.tolist()


@pytest.mark.parametrize("rho", ["1e30", "0.1", "1e-7", "1e-9", "1e-30"])
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_the_interval_is_the_shortest_that_holds_95_percent(tmp_path: Path, rho: str) -> None:
    """Certified bounds prove that each tail has at most 2.5 %, and more for a shorter interval."""
    write_counts(tmp_path / "t.csv", [5])
    noise = release_table(tmp_path / "t.csv", "n", tmp_path / "o.csv", rho=rho)
    assert noise.sigma2 == 1 / (2 * Fraction(rho))
    assert noise.law.sf(noise.bound95, bounds=True)[1] <= 0.025
    assert noise.bound95 == 0 or noise.law.sf(noise.bound95 - 1, bounds=True)[0] > 0.025


def test_sensitivity_and_rows_per_person_enter_sigma2_exactly(tmp_path: Path) -> None:
    done = release_table(
        FLIGHTS, "flights", tmp_path / "o", rho="1/3", sensitivity="5/2", rows_per_person=3
    )
    assert done.sigma2 == 3 * Fraction(25, 4) / (2 * Fraction(1, 3))
    assert done.rho == Fraction(1, 3)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.csv", lambda path: path.write_text("n\n4\n5\n")),
        ("t.npy", lambda path: np.save(path, np.array([4, 5]))),
    ],
)
def test_one_person_cannot_change_more_rows_than_the_table_has(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    """The error suggests a sensitivity. Nothing is drawn or written."""
    table, out, column = tmp_path / name, tmp_path / f"o{name[1:]}", "0" if "npy" in name else "n"
    write(table)
    with pytest.raises(ParameterValueError) as caught:
        release_table(table, column, out, rho=1, rows_per_person=3, source=TapeSource(b""))
    said = str(caught.value)
    assert said.startswith("rows_per_person must be at most 2, the number of rows, got 3; ")
    assert "did you mean sensitivity=3?" in said
    assert os.listdir(tmp_path) == [name]
    release_table(table, column, out, rho=1, rows_per_person=2)


@pytest.mark.parametrize(("rows", "code"), [(2, 0), (3, 2)])
def test_rows_of_a_pipe_are_counted_as_they_come(rows: int, code: int) -> None:
    """A pipe cannot be read twice, so the refusal comes at its end."""
    how = release("-", "--rho", 1, "--column", "n", "--rows-per-person", rows, table="-")
    done = process(*how, input="n\n4\n5\n")
    assert done.code == code
    assert (done.out == "") == ("did you mean --sensitivity 3?" in done.err) == (code == 2)


@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_a_table_with_semicolons(tmp_path: Path) -> None:
    """It is read and written with semicolons. A name that says another format is refused."""
    table = tmp_path / "t.csv"
    table.write_text('Ort;n\n"A;1,5";4\nB;5\n')
    how: dict[str, Any] = {"rho": "1e9", "delimiter": ";"}
    release_table(table, "n", tmp_path / "o.csv", **how)
    assert (tmp_path / "o.csv").read_text() == table.read_text()
    with pytest.raises(TableError, match=r"1 column: commas delimit, .*delimiter=';'"):
        release_table(table, "n", tmp_path / "p.csv", rho=1)
    with pytest.raises(OutputError, match=r"p\.tsv: .*a tab"):
        release_table(table, "n", tmp_path / "p.tsv", **how)
    np.save(tmp_path / "t.npy", np.array([4, 5]))
    for name, error in (("t.npy", TableError), ("t.parquet", TableError)):
        with pytest.raises(error, match="delimiter must not be given for"):
            release_table(tmp_path / name, "0", tmp_path / f"p{name[1:]}", **how)
    refused: tuple[Any, ...] = (";;", "", "a", '"', "\n", 5)
    for wrong in refused:
        with pytest.raises((ParameterValueError, ParameterTypeError), match="delimiter must be"):
            release_table(table, "n", tmp_path / "p.csv", rho=1, delimiter=wrong)
    for bar in ("|", "\t", ","):
        table.write_text(f"Ort{bar}n\nB{bar}5\n")
        release_table(table, "n", tmp_path / "p.csv", rho="1e9", delimiter=bar, force=True)
        assert (tmp_path / "p.csv").read_text() == table.read_text()


def test_an_epsilon_delta_budget_is_kept(tmp_path: Path) -> None:
    done = release_table(FLIGHTS, "flights", tmp_path / "o", epsilon=1, delta="1e-6")
    assert dg.privacy.delta(done.law, 1) <= 1e-6
    assert done.asked_epsilon == 1 >= done.epsilon


class _BytesPath:
    def __fspath__(self) -> bytes:
        return b"/path/a.csv"


A_PATH = "must be a path (a str, or an os.PathLike of one)"
FROM_1 = "must be at least 1, because counts change by whole numbers"
NO_PATHS = [b"/path/a.csv", _BytesPath(), 3, None, io.StringIO("n\n1\n"), np.arange(3), ["a.csv"]]

WRONG_TYPES: list[tuple[dict[str, Any], str]] = [
    *((budget, "rho") for budget in ({"rho": None}, {"delta": 0.1}, {"rho": 1, "epsilon": 1})),
    ({"rows_per_person": 1.5}, "rows_per_person must be an integer, got 1.5"),
    *(
        ({"column": column}, "column must be ")
        for name in (0, None, b"flights")
        for column in (name, [name], ("flights", name))
    ),
    *(
        ({parameter: value}, f"{parameter} {A_PATH}, got {type(value).__name__}")
        for parameter in ("table", "out")
        for value in NO_PATHS
    ),
    *(
        ({name: value}, f"{name} must be True or False, got {value!r}")
        for name in ("force", "disjoint", "progress")
        for value in ("no", "", 0, 1, None)
    ),
]

WRONG_VALUES: list[tuple[dict[str, Any], str]] = [
    *(({"rho": rho}, "rho must be ") for rho in (0, -1, float("nan"))),
    *(({"epsilon": 1, "delta": delta}, "delta must ") for delta in (-1, 1)),
    ({"epsilon": 1, "delta": 0.1, "sensitivity": "3/2"}, "sensitivity must be "),
    ({"epsilon": 1, "delta": 0.1, "report_delta": "1e-6"}, "report_delta needs rho and must not"),
    ({"report_delta": 1}, "report_delta must "),
    ({"rows_per_person": 0}, "rows_per_person must be "),
    *(
        ({"sensitivity": norm}, f"sensitivity {FROM_1}, got {norm!r}")
        for norm in ("1/2", 0, -1, "0.999999")
    ),
    ({"column": []}, "column must name at least one column, got none"),
    ({"column": ["flights"] * 2}, "column must name each column once, got 'flights' twice"),
    *(
        ({"column": name}, "column must not be empty, got '")
        for name in ("", " ", "\u00a0", "\u200b")  # an unset shell variable is empty
    ),
    *(
        ({parameter: name}, f"{parameter} must name a file, got {name!r}")
        for parameter in ("table", "out")
        for name in ("", "a\0b")
    ),
]


@at_once(
    ("error", "changed", "message"),
    [
        *((ParameterTypeError, *case) for case in WRONG_TYPES),
        *((ParameterValueError, *case) for case in WRONG_VALUES),
        (TableError, {"column": ["flights", " flights"]}, "two of the names differ only in blanks"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_drawn_or_written(
    tmp_path: Path, error: type[Exception], changed: dict[str, Any], message: str
) -> None:
    """The error names the parameter and its rule. The string "no" as force replaces no file."""
    (tmp_path / "o").write_text("before")
    source = same_bits()
    usual: dict[str, Any] = {"table": FLIGHTS, "column": "flights", "out": tmp_path / "o"}
    usual |= {"source": source, "force": True}
    budget: dict[str, Any] = {} if changed.keys() & {"rho", "epsilon", "delta"} else {"rho": 1}
    with pytest.raises(error) as raised:
        release_table(**usual | budget | changed)
    assert message in str(raised.value)
    assert source.used == 0
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_noise_has_at_most_600_digits_and_a_tiny_deviation_is_0(tmp_path: Path) -> None:
    """sigma2 must be below 10**1200, and a deviation below 1e-160 is reported as 0."""
    write_counts(tmp_path / "t.csv", [5])

    def released(rho: Any) -> Any:
        return release_table(tmp_path / "t.csv", "n", tmp_path / "o", rho=rho, force=True)

    assert released(Fraction(1, 2 * 10**1200 - 1)).sigma2 == 10**1200 - Fraction(1, 2)
    with pytest.raises(ParameterOverflowError, match="at most 600 digits"):
        released(Fraction(1, 2 * 10**1200))
    assert released(700).std > 0 == released(800).std


@pytest.mark.parametrize("path", [str, Path, lambda path: list(os.scandir(path.parent)).pop()])
def test_a_path_of_any_kind_is_taken(tmp_path: Path, path: Callable[[Path], Any]) -> None:
    write_counts(tmp_path / "t.csv", [1])
    done = release_table(path(tmp_path / "t.csv"), "n", str(tmp_path / "o"), rho=1)
    assert (done.table, done.out) == (tmp_path / "t.csv", tmp_path / "o")


@pytest.mark.parametrize("name", ["TableError", "OutputError"])
def test_the_errors_of_a_release_are_public(name: str) -> None:
    """They are in discretegauss.errors, and beside the function that raises them."""
    for module in (dg.errors, dg.release):
        assert name in module.__all__
        assert issubclass(getattr(module, name), dg.errors.DiscreteGaussError)
        assert issubclass(getattr(module, name), ValueError)
    assert getattr(dg.errors, name) is getattr(dg.release, name)


TOWNS = "town,people,children\nA,120,30\nB,7,0\nC,0,0\n"


def test_a_second_column_is_a_release_of_the_output(tmp_path: Path) -> None:
    """The second release keeps the noisy first column, as docs/release.md says."""
    (tmp_path / "t.csv").write_text(TOWNS)
    half, noisy = tmp_path / "half.csv", tmp_path / "noisy.csv"
    first = release_table(tmp_path / "t.csv", "people", half, rho="0.05")
    second = release_table(half, "children", noisy, rho="0.05")
    assert column(half, "children") == [30, 0, 0]
    assert column(noisy, "people") == column(half, "people")
    columns = ["people", "children"]
    both = release_table(tmp_path / "t.csv", columns, tmp_path / "both.csv", rho="0.1")
    assert first.sigma2 == second.sigma2 == both.sigma2 == 10
    assert both.epsilon < first.epsilon + second.epsilon


def test_several_columns_share_the_budget(tmp_path: Path) -> None:
    """One person changes rows_per_person counts of each column. Draws go column by column."""
    (tmp_path / "t.csv").write_text(TOWNS)
    done = release_table(
        tmp_path / "t.csv", ["children", "people"], tmp_path / "o", rho="0.1", source=same_bits()
    )
    assert (done.sigma2, done.queries, done.rho) == (Fraction(10), 2, Fraction(1, 10))
    assert (done.columns, done.other_columns) == (("people", "children"), 1)
    law, source = dg.DiscreteGaussian(10), same_bits()
    noise = np.column_stack([law.sample(3, source=source) for _ in range(2)])
    noisy = np.array([column(tmp_path / "o", name) for name in ("people", "children")]).T
    assert (noisy - noise).tolist() == [[120, 30], [7, 0], [0, 0]]
    alone = release_table(
        tmp_path / "t.csv", ["people", "children"], tmp_path / "p", rho="0.1", disjoint=True
    )
    assert (alone.sigma2, alone.queries) == (Fraction(5), 1)
    three = release_table(
        tmp_path / "t.csv", ["people", "children"], tmp_path / "q", rho="0.1", rows_per_person=3
    )
    assert (three.sigma2, three.queries) == (Fraction(30), 6)


@pytest.mark.parametrize("table", ["t.csv", "t.csv.gz", "t.csv.zst", "t.tsv.gz", "t.tab"])
@pytest.mark.parametrize("out", ["o.csv", "o.csv.gz", "o.csv.zst", "o.tsv", "o.zst", "o"])
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_the_name_says_how_a_table_is_compressed_and_delimited(
    tmp_path: Path, table: str, out: str
) -> None:
    """Other programs read the gzip and zstd files. The output may have another compression."""
    if ".zst" in table + out:
        pytest.importorskip("pyarrow")
    plain = TOWNS.replace(",", "\t") if table.startswith("t.t") else TOWNS
    (tmp_path / table).write_bytes(packed(plain.encode(), table))
    release_table(tmp_path / table, "people", tmp_path / out, rho="1e9")
    tabs = ".tsv" in out or (out in ("o", "o.zst") and table.startswith("t.t"))
    expected = TOWNS.replace(",", "\t") if tabs else TOWNS
    assert unpacked((tmp_path / out).read_bytes(), out).decode() == expected


def packed(data: bytes, name: str) -> bytes:
    if name.endswith(".zst"):
        return bytes(_zstd().compress(data, asbytes=True))
    return gzip.compress(data) if name.endswith(".gz") else data


def unpacked(data: bytes, name: str) -> bytes:
    if name.endswith(".zst"):
        return bytes(_zstd().decompress(data, decompressed_size=len(TOWNS), asbytes=True))
    return gzip.decompress(data) if name.endswith(".gz") else data


def _zstd() -> Any:
    import pyarrow

    return pyarrow.Codec("zstd")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst"])
def test_a_compressed_table_that_is_damaged_is_refused_and_leaves_nothing(
    tmp_path: Path, name: str
) -> None:
    if name.endswith(".zst"):
        pytest.importorskip("pyarrow")
    rows = "".join(f"{n}\n" for n in random.Random(1).choices(range(10**9), k=200_000))
    whole = packed(("n\n" + rows).encode(), name)
    for data in (TOWNS.encode(), whole[:-7], whole[: len(whole) // 2], whole[:30]):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(TableError, match="is damaged, cut off, or not compressed by"):
            release_table(tmp_path / name, "n", tmp_path / f"o{name[5:]}", rho=1)
        assert os.listdir(tmp_path) == [name]


def test_an_error_of_the_system_while_a_compressed_table_is_read_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not reported as a damaged file."""

    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    (tmp_path / "t.csv.gz").write_bytes(packed(TOWNS.encode(), "t.csv.gz"))
    monkeypatch.setattr("discretegauss.release._files.gzip.GzipFile.read", fail)
    with pytest.raises(OSError, match="Input/output error"):
        release_table(tmp_path / "t.csv.gz", "people", tmp_path / "o", rho=1)


def test_a_long_table_is_released_in_chunks(tmp_path: Path) -> None:
    """Each count keeps its noise, even if the end of a block splits the line."""
    counts = random.Random(1).choices(range(10**6), k=30_000)
    rows = "".join(f"{i:x<90},{count}\n" for i, count in enumerate(counts))  # 2.9 MB
    (tmp_path / "t.csv").write_text("town,n\n" + rows)
    done = release_table(tmp_path / "t.csv", "n", tmp_path / "o", rho="0.1")
    noise = np.array(column(tmp_path / "o", "n")) - np.array(counts)
    assert done.rows == 30_000
    assert 0 < np.abs(noise).max() <= 45
    # the mean square is within 20 of its standard deviations of 5
    assert abs((noise**2).mean() - 5) < 20 * np.sqrt(2 * 25 / 30_000)
    assert other_columns(tmp_path / "o", "n") == other_columns(tmp_path / "t.csv", "n")


@pytest.mark.parametrize(("rows", "ending"), [(3, ".png"), (30_000, ".png"), (3, ".svg")])
def test_the_plot_holds_noisy_counts_only(tmp_path: Path, rows: int, ending: str) -> None:
    """No true count is in the picture's data; the noise is too wide for a coincidence."""
    write_counts(tmp_path / "t.csv", [31337] * rows)
    plot = tmp_path / f"p{ending}"
    release_table(tmp_path / "t.csv", "n", tmp_path / "o.csv", rho="1e-12", plot=plot)
    heads = {".png": b"\x89PNG", ".svg": b"<?xml"}
    assert plot.read_bytes().startswith(heads[ending])
    assert b"31337" not in plot.read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        release_table(tmp_path / "t.csv", "n", tmp_path / "q.csv", rho=1, plot=plot)
    write_counts(tmp_path / "t.svg", [31337])
    with pytest.raises(OutputError, match="is the output; the plot must be another file"):
        release_table(tmp_path / "t.svg", "n", tmp_path / "q.svg", rho=1, plot=tmp_path / "q.svg")
    assert not (tmp_path / "q.csv").exists()


def test_a_plot_without_matplotlib_is_refused_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        release_table(FLIGHTS, "flights", tmp_path / "o", rho=1, plot=tmp_path / "p.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("force", [False, True])
def test_a_plot_that_cannot_be_written_leaves_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    """Neither file is written, nothing is spent, and the old files are back."""
    write_counts(tmp_path / "t.csv", [10**400, 5])
    out, plot = tmp_path / "o.csv", tmp_path / "p.png"
    if force:
        out.write_text("before")
    name = "replace" if force else "link"
    give_name = getattr(os, name)

    def full_disk(*files: Any, **options: Any) -> None:
        if str(files[-1]).endswith("p.png"):
            raise OSError(28, "No space left on device")
        give_name(*files, **options)

    before = sorted(os.listdir(tmp_path))
    monkeypatch.setattr(os, name, full_disk)
    with pytest.raises(OSError, match="No space left") as raised:
        release_table(tmp_path / "t.csv", "n", out, rho=1, plot=plot, force=force)
    assert not hasattr(raised.value, "__notes__")
    assert sorted(os.listdir(tmp_path)) == before
    assert not force or out.read_text() == "before"


def test_a_bad_table_is_refused_before_anything_is_drawn_or_written(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n\n1\n2.5\n")
    source = same_bits()
    with pytest.raises(TableError, match=r"t.csv: line 3, column 'n'"):
        release_table(tmp_path / "t.csv", "n", tmp_path / "o", rho=1, source=source)
    assert source.used == 0
    assert os.listdir(tmp_path) == ["t.csv"]


# --- where the output goes


@pytest.mark.parametrize("force", [False, True])
def test_the_output_may_not_be_the_table(tmp_path: Path, force: bool) -> None:
    """It may not be the table by another spelling or link either."""
    table = tmp_path / "t.csv"
    write_counts(table, [1])
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(table)
    (tmp_path / "hard").hardlink_to(table)
    for name in ("t.csv", "sub/../t.csv", "no/../t.csv", "link", "hard"):
        with pytest.raises(OutputError, match="is the table itself"):
            release_table(table, "n", tmp_path / name, rho=1, force=force)
    assert table.read_text() == "n\n1\n"


def test_an_output_that_exists_is_replaced_only_with_force(tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    out.write_text("before")
    with pytest.raises(OutputError, match="already exists"):
        release_table(FLIGHTS, "flights", out, rho=1)
    assert out.read_text() == "before"
    release_table(FLIGHTS, "flights", out, rho=1, force=True)
    assert len(column(out, "flights")) == 5268


def test_a_folder_a_device_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    for out, message in [
        (tmp_path, "not a regular file"),
        (Path("/dev/null"), "not a regular file"),
        (tmp_path / "no" / "o.csv", "must be in a folder that exists"),
        (FLIGHTS / "o.csv", "must be in a folder that exists"),
    ]:
        with pytest.raises(OutputError, match=message):
            release_table(FLIGHTS, "flights", out, rho=1, force=True)
    assert not list(tmp_path.iterdir())


def test_a_pipe_is_refused_by_the_name_it_was_given() -> None:
    """/dev/stdout may be a pipe, whose name with links resolved does not exist."""
    reading, writing = os.pipe()
    try:
        with pytest.raises(OutputError, match=f"/dev/fd/{writing} exists and is not a regular"):
            release_table(FLIGHTS, "flights", f"/dev/fd/{writing}", rho=1, force=True)
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(("number", "stream"), [(1, "stdout"), (2, "stderr")])
def test_the_file_that_a_standard_stream_goes_to_is_refused(
    tmp_path: Path, number: int, stream: str
) -> None:
    """The report would go to the file that the output replaces, and be lost."""
    goes_to = tmp_path / "f"
    goes_to.touch()
    (tmp_path / "hard").hardlink_to(goes_to)
    before = os.dup(number)
    with goes_to.open("w") as opened:
        os.dup2(opened.fileno(), number)
    try:
        for name in (goes_to, tmp_path / "hard", f"/dev/fd/{number}"):
            with pytest.raises(OutputError, match=f"{stream} goes to .*; the output must be"):
                release_table(FLIGHTS, "flights", name, rho=1, force=True)
    finally:
        os.dup2(before, number)
        os.close(before)
    assert goes_to.stat().st_nlink == 2
    assert goes_to.read_bytes() == b""


def test_the_current_folder_and_a_link_to_another_file_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    release_table(FLIGHTS, "flights", "o.csv", rho=1)
    Path("link").symlink_to("target.csv")
    release_table(FLIGHTS, "flights", "link", rho=1)
    assert Path("link").is_symlink()  # the bytes go through the link, as with cp
    assert sorted(os.listdir()) == ["link", "o.csv", "target.csv"]


# --- the report


def report(tmp_path: Path, **budget: Any) -> dict[str, str]:
    done = release_table(FLIGHTS, "flights", tmp_path / "o", force=True, **budget)
    lines = str(done).splitlines()
    width = len("standard deviation") + 2
    return {line[:width].rstrip(): line[width:] for line in lines}


def test_the_report_says_what_was_done(tmp_path: Path) -> None:
    lines = report(tmp_path, rho="0.1")
    assert lines["rows"] == "5268"
    assert lines["column"] == "flights"
    assert lines["other columns"] == "4 (published unchanged)"  # one of them might be counts
    assert lines["sigma2"] == "5"
    assert lines["standard deviation"] == "2.23607"
    assert lines["95 % interval"].startswith("-4 .. 4 ")
    assert lines["sensitivity"] == "1 (one person changes at most one count, by at most 1)"
    assert lines["rho"] == "0.1 (zCDP)"
    assert lines["(epsilon, delta)"] == "(2.00876, 1e-6), by arXiv 2004.00010, Theorem 7"
    assert lines["time"].endswith(" s")


def test_the_report_says_where_no_column_is_left_without_noise(tmp_path: Path) -> None:
    write_counts(tmp_path / "t.csv", [1])
    done = release_table(tmp_path / "t.csv", "n", tmp_path / "o", rho=1)
    assert "other columns       none" in str(done).splitlines()


def test_the_report_of_an_epsilon_delta_budget(tmp_path: Path) -> None:
    lines = report(tmp_path, epsilon=1, delta="0.1", rows_per_person=3)
    assert lines["sigma2"] == "17431/5000 = 3.4862"
    assert lines["(epsilon, delta)"].startswith("(1, 0.1) as asked; achieved: (")
    assert lines["(epsilon, delta)"].endswith(", 0.1), by arXiv 2004.00010, Theorem 7")
    assert lines["sensitivity"].startswith("1 (one person changes at most 3 counts, each by")


def test_the_report_rounds_what_privacy_costs_up(tmp_path: Path) -> None:
    lines = report(tmp_path, rho="3/7", report_delta="1/3")
    assert lines["sigma2"] == "7/6 ~ 1.16667"
    assert lines["rho"] == "0.428572 (zCDP)"  # 0.4285714...
    assert "0.333334" in lines["(epsilon, delta)"]


@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_the_report_warns_of_noise_that_is_none(tmp_path: Path) -> None:
    lines = report(tmp_path, rho="1e30")
    assert "published unchanged" in lines["95 % interval"]
    assert lines["standard deviation"] == "below 1e-160"


def test_a_sensitivity_that_is_a_norm_goes_with_rho_and_by_way_of_rho(tmp_path: Path) -> None:
    lines = report(tmp_path, rho="0.1", sensitivity="3/2")
    norm = "the Euclidean norm of all that one person changes is at most that"
    assert lines["sensitivity"] == f"1.5 ({norm})"
    by_rho = "(2.14194, 1e-6) from rho, by arXiv 2004.00010, Corollary 13"
    assert lines["(epsilon, delta)"] == by_rho


def test_the_epsilon_reported_is_that_of_all_rows_of_a_person(tmp_path: Path) -> None:
    person = {"sensitivity": 2, "rows_per_person": 3}
    done = release_table(FLIGHTS, "flights", tmp_path / "o", rho="0.1", **person)  # type: ignore[arg-type]
    assert done.epsilon == dg.privacy.epsilon(done.law, "1e-6", 2, queries=3)
    assert dg.privacy.delta(done.law, done.epsilon, 2, queries=3) <= 1e-6
