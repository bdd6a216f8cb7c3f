"""The real cuda-core and NVRTC make the code that the driver gets; neither needs a GPU."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import parts
import pytest
from engine import needs_core
from fake_cuda import FakeGpu, Tensor
from kernel_on_cpu import library_on_cpu
from nvrtc import installed

import discretegauss as dg

pytestmark = [
    pytest.mark.repository,
    needs_core,
    pytest.mark.skipif(not installed(), reason="needs NVRTC: pip install nvidia-cuda-nvrtc"),
]


def test_a_tensor_gets_noise_by_the_real_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the driver is a stand-in: it gets machine code, and runs the same source on the CPU."""
    pytest.importorskip("cuda.core")
    gpu = FakeGpu(monkeypatch, compiler=False)
    for law, dtype, words in (
        (dg.DiscreteGaussian(100), "int32", 1),
        (dg.DiscreteLaplace(2**40), "int64", 2),
    ):
        item = {"int32": "int", "int64": "long long"}[dtype]
        gpu.run_elf_by(library_on_cpu(f"-DITEM={item}", f"-DWORDS={words}", "-O0"))
        tensor, expected = Tensor(np.zeros(5000, dtype)), np.zeros(5000, dtype)
        law.sample(out=tensor)
        parts.NativeTable(law).noise_at(expected, 0, gpu.keys[-1])
        assert (tensor.array == expected).all()
    assert gpu.key_bytes == 0


def test_a_device_that_nvrtc_does_not_know_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.core")
    gpu = FakeGpu(monkeypatch, compiler=False)
    gpu.driver.fake_compute_capability(3, 5)
    with pytest.raises(
        RuntimeError,
        match=r"^NVRTC 1\d\.\d does not compile for a fake 0, sm_35: pip install 'cuda",
    ):
        dg.DiscreteGaussian(100).sample(out=Tensor(np.zeros(9, np.int64)))
    assert gpu.key_bytes == 0


def test_a_missing_nvrtc_is_said() -> None:
    """In a new process, whose search for libraries finds none."""
    pytest.importorskip("cuda.core")
    code = """if True:
        from cuda import pathfinder

        def missing(name):
            raise pathfinder.DynamicLibNotFoundError("none was found\\nin many folders")

        pathfinder.load_nvidia_dynamic_lib = missing
        from discretegauss._drawing.cuda import nvrtc

        try:
            nvrtc()
        except ImportError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "noise on a GPU needs NVIDIA's compiler NVRTC: pip install 'cuda-core[cu13]'\n"
    )
