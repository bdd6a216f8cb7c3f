"""``discretegauss sample`` writes draws of the law in every format, whole or not at all."""

from __future__ import annotations

import os
import signal
import tracemalloc
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command, process
from numpy.typing import NDArray

import discretegauss as dg
from discretegauss import laws
from discretegauss.release import _csv_table

needs_core = pytest.mark.skipif(
    dg.build_info()["engine"] != "native", reason="takes minutes in plain Python"
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


def read(path: Path) -> NDArray[Any]:
    """Return the numbers that another program reads in the file."""
    match path.suffix:
        case ".npy":
            draws: NDArray[Any] = np.load(path)
            return draws
        case ".parquet":
            parquet = pytest.importorskip("pyarrow.parquet")
            return np.array(parquet.read_table(path).column("noise").to_pylist())
        case ".arrow":
            pa = pytest.importorskip("pyarrow")
            with pa.ipc.open_file(path) as reader:
                return np.array(reader.read_all().column("noise").to_pylist())
    lines = path.read_text().split("\n")
    assert lines.pop() == ""
    if path.suffix == ".csv":
        assert lines.pop(0) == "noise"
    return np.array([int(line) for line in lines])


@pytest.mark.parametrize("ending", [".npy", ".parquet", ".arrow", ".csv", ".txt"])
def test_every_format_holds_the_draws(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """The same bits give the same draws in chunks, extreme values included."""
    if ending in (".parquet", ".arrow"):
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("discretegauss._cli._CHUNK", 1000)
    drawn: list[int] = []
    sample = laws.DiscreteLaplace.sample

    def seen(law: Any, size: int, **options: Any) -> Any:
        draws = sample(law, size, **options)
        draws[:4] = [-(2**63), 2**63 - 1, 0, -1][: len(draws)]
        drawn.extend(draws.tolist())
        return draws

    monkeypatch.setattr(laws.DiscreteLaplace, "sample", seen)
    out = tmp_path / f"noise{ending}"
    done = run("sample", "--scale", "5/2", "--size", 2500, "--out", out)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"2500 draws of DiscreteLaplace(scale=2.5) are written to {out}\n"
    assert read(out).tolist() == drawn
    assert len(drawn) == 2500
    assert os.listdir(tmp_path) == [out.name]


def test_text_is_the_same_without_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = dg.DiscreteGaussian(10**6).sample(1000)
    by_core = bytes(_csv_table.column_text(draws))
    monkeypatch.setattr(_csv_table, "native", None)
    assert by_core == _csv_table.column_text(draws)


@pytest.mark.parametrize(
    ("arguments", "law"),
    [
        (["--sigma2", "5"], "DiscreteGaussian(sigma2=5)"),
        (["--sigma", "5", "--mu=-1/2"], "DiscreteGaussian(sigma2=25, mu=-0.5)"),
        (["--scale", "5", "--mu", "7"], "DiscreteLaplace(scale=5, mu=7)"),
        (["--scale", "5", "--beta", "3/2"], "GeneralizedGaussian(scale=5, beta=1.5)"),
    ],
)
def test_the_options_say_the_law(
    run: Command, tmp_path: Path, arguments: list[str], law: str
) -> None:
    if "--beta" in arguments and dg.build_info()["engine"] != "native":
        pytest.skip("cell tables are in the compiled core")
    done = run("sample", *arguments, "--size", 5, "--out", tmp_path / "n.txt", "--force")
    assert done.out.startswith(f"5 draws of {law} are")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of --sigma2, --sigma and --scale"),
        (["--sigma2", "1", "--scale", "1"], "give one of --sigma2, --sigma and --scale"),
        (["--sigma2", "1", "--beta", "2"], "--beta only with --scale"),
        (["--sigma2", "1", "--size", "0"], "--size: must be a whole number, at least 1"),
        (["--sigma2", "1", "--size", "1.5"], "--size: must be a whole number, at least 1"),
        (["--sigma2", "1", "--threads", "0"], "--threads: must be a whole number, at least 1"),
        (["--sigma2", "1", "--source", "seed"], "--source: invalid choice"),
        (["--sigma2", "1e100"], "sigma2"),
        (["--sigma2", "1", "--out", "no/n.npy"], "must be in a folder that exists"),
        (["--sigma2", "1", "--out", "there.npy"], "there.npy already exists; use --force"),
        (["--sigma2", "1", "--out", "."], "not a regular file"),
    ],
)
def test_a_bad_argument_is_one_line_exit_code_2_and_no_file(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.npy").touch()
    usual = {"--size": "3", "--out": "n.npy"}
    given = [f"{name}={value}" for name, value in usual.items() if name not in arguments]
    done = run("sample", *given, *arguments)
    assert done.code == 2
    assert done.is_one_line_with(message), done.err
    assert os.listdir() == ["there.npy"]


def test_a_dash_writes_to_a_pipe_which_may_close(tmp_path: Path) -> None:
    """``| head`` closes the pipe early, although the draws would fill a disk."""
    done = process("sample", "--sigma2", 100, "--size", 5, "--out", "-", cwd=tmp_path)
    assert (done.code, done.err, len([int(n) for n in done.out.split()])) == (0, "", 5)
    reading, writing = os.pipe()
    os.close(reading)
    done = process("sample", "--sigma2", 100, "--size", 10**15, "--out", "-", stdout=writing)
    os.close(writing)
    assert (done.code, done.err) == (141, "")


@needs_core
@pytest.mark.usefixtures("usual_handlers")
@pytest.mark.parametrize("ending", [".npy", ".csv", ".parquet", ".arrow"])
def test_ctrl_c_leaves_nothing_behind(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """Ctrl-C comes at the third chunk of draws that would take a day."""
    if ending in (".parquet", ".arrow"):
        pytest.importorskip("pyarrow")
    sample, parts = laws.DiscreteGaussian.sample, count(1)

    def interrupted(law: Any, *size: int, **options: Any) -> Any:
        if next(parts) == 3:
            signal.raise_signal(signal.SIGINT)
        return sample(law, *size, **options)

    monkeypatch.setattr(laws.DiscreteGaussian, "sample", interrupted)
    out = tmp_path / f"n{ending}"
    done = run("sample", "--sigma2", 100, "--size", 10**14, "--out", out)
    assert (done.code, done.err) == (130, "discretegauss: error: interrupted\n")
    assert next(parts) == 4
    assert not list(tmp_path.iterdir())


def test_a_file_that_comes_to_be_meanwhile_is_kept(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "n.txt"
    sample = laws.DiscreteGaussian.sample

    def slow(law: Any, size: int, **options: Any) -> Any:
        out.write_text("of another")
        return sample(law, size, **options)

    monkeypatch.setattr("discretegauss.release.checked_destination", lambda _, out, force: out)
    monkeypatch.setattr(laws.DiscreteGaussian, "sample", slow)
    done = run("sample", "--sigma2", 1, "--size", 3, "--out", out)
    assert done.code == 2
    assert done.is_one_line_with("n.txt already exists; use --force to replace it")
    assert out.read_text() == "of another"


@needs_core
@pytest.mark.parametrize("ending", [".npy", ".csv"])
def test_memory_does_not_grow_with_the_draws(run: Command, tmp_path: Path, ending: str) -> None:
    """numpy and Python never hold more than half of 32 MiB of draws."""
    out = tmp_path / f"n{ending}"
    tracemalloc.start()
    try:
        assert run("sample", "--sigma2", 100, "--size", 2**22, "--out", out).code == 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert out.stat().st_size > 10**7
    assert peak < 2**24
