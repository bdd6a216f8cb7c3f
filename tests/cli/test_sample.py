"""``discretegauss sample`` writes draws of the law in every format, whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import tracemalloc
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command, process, without_reader
from numpy.typing import NDArray

import discretegauss as dg
from discretegauss import laws

needs_core = pytest.mark.skipif(
    dg.build_info()["engine"] != "native", reason="takes minutes in plain Python"
)


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
    numbers = np.array([int(line) for line in lines])
    assert lines == [str(number) for number in numbers]
    return numbers


@pytest.mark.parametrize(
    "ending", [".npy", ".parquet", ".arrow", ".csv", ".txt", "_without_core.txt"]
)
def test_every_format_holds_the_draws(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """The same bits give the same draws in chunks, extreme values included."""
    if ending in (".parquet", ".arrow"):
        pytest.importorskip("pyarrow")
    if "core" in ending:
        monkeypatch.setattr("discretegauss.release._csv_table.native", None)
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


def test_a_dash_writes_to_a_pipe_which_may_close(tmp_path: Path) -> None:
    """``| head`` closes the pipe early, although the draws would fill a disk."""
    done = process("sample", "--sigma2", 100, "--size", 5, "--out", "-", cwd=tmp_path)
    assert (done.code, done.err, len([int(n) for n in done.out.split()])) == (0, "", 5)
    told = process("sample", "--scale", 3, "--size", 5, "--out", "-", "--json", cwd=tmp_path)
    report = json.loads(told.err)  # not between the draws
    assert (told.code, len([int(n) for n in told.out.split()])) == (0, 5)
    assert (report["law"], report["scale"], report["size"]) == ("discrete Laplace", "3", 5)
    with without_reader() as pipe:
        done = process("sample", "--sigma2", 100, "--size", 10**15, "--out", "-", stdout=pipe)
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

    monkeypatch.setattr(
        "discretegauss.release.commands.checked_destinations", lambda _, force: [out]
    )
    monkeypatch.setattr(laws.DiscreteGaussian, "sample", slow)
    done = run("sample", "--sigma2", 1, "--size", 3, "--out", out)
    monkeypatch.undo()  # a file that is there from the beginning is refused in the same words
    for one in (done, run("sample", "--sigma2", 1, "--size", 3, "--out", out)):
        assert one.is_refused_with("n.txt already exists; use --force to replace it")
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
