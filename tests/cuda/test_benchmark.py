"""benchmarks/gpu.py runs on a fake GPU, which runs the kernel on the CPU."""

from __future__ import annotations

import ctypes
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import needs_core
from fake_cuda import FakeGpu

import discretegauss as dg

pytestmark = [pytest.mark.repository, needs_core]


def counted(array: Any, name: str, *given: int) -> None:
    """Do in numpy what the kernel `count` of gpu.cu does; skip `cipher`."""
    if name == "count":
        _, _, low, step, counts = given
        bins = np.clip((array.to_host() - low) // step + 1, 0, 65)
        memory: Any = (ctypes.c_char * (66 * 8)).from_address(counts)  # a device's is the host's
        np.frombuffer(memory, np.int64)[:] += np.bincount(bins, minlength=66)


def test_the_program_says_right_of_right_draws_and_wrong_of_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All parts run. Items that differ from the CPU's, and draws of another law, end it with 1."""
    pytest.importorskip("scipy")
    FakeGpu(monkeypatch)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    gpu: Any = importlib.import_module("gpu")
    monkeypatch.setattr(gpu, "launch", counted)
    monkeypatch.setattr(gpu, "beside_torch", lambda n: [])  # torch without CUDA may be there
    monkeypatch.setattr(gpu, "SMALL", 100)
    monkeypatch.setattr(gpu, "known_answers", lambda: [("a law", True)])
    monkeypatch.setattr(gpu, "per_second", lambda call, n: call() and "")
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--items=1e4", "--draws=1.2e5", "--call=2e4"])
    assert gpu.main() == 0
    said = capsys.readouterr().out
    assert said.count("; right") == 2 * len(gpu.LAWS) + 1
    assert "of 1e+04 items differ" in said
    monkeypatch.setattr(gpu, "by_cpu", lambda law, dtype, n, key: np.zeros(n, dtype))
    monkeypatch.setattr(dg.DiscreteLaplace, "cdf", lambda self, x: dg.DiscreteGaussian(9).cdf(x))
    assert gpu.main() == 1
    said = capsys.readouterr().out
    assert said.count("differ; WRONG") == len(gpu.LAWS)
    assert said.count("WRONG") == len(gpu.LAWS) + 2  # and both Laplace laws by chi-square
