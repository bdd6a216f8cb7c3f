"""NVRTC compiles the kernel for every GPU from sm_70 on: no spills, no floating point.

Skipped without NVRTC; ``nox -s cuda`` installs it, of CUDA 12 and 13, and runs this.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from nvrtc import Compiled, Nvrtc, installed

CSRC = Path(__file__).parents[2] / "csrc" / "cuda"
SOURCE, HEADER = ((CSRC / name).read_text("utf-8") for name in ("noise.cu", "noise_law.h"))
KINDS = [(item, words) for item in ("int", "long long") for words in (1, 2)]
COMPILERS = installed() or [Path("libnvrtc.so")]
#: A multiprocessor has 65536 registers, so 4 blocks of 256 threads fit on one.
MOST_REGISTERS = 64
FLOATS = re.compile(r"\.(?:b?f16|tf32|f32|f64)\b|%f\d|%fd\d")

pytestmark = [
    pytest.mark.repository,
    pytest.mark.skipif(
        not installed() and "DG_NVRTC" not in os.environ,
        reason="needs NVRTC: pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvrtc",
    ),
]


def compiled(by: Nvrtc, arch: int, item: str, words: int) -> Compiled:
    options = f"--gpu-architecture=sm_{arch}", f"-DITEM={item}", f"-DWORDS={words}"
    return by.compile(
        SOURCE, {"noise_law.h": HEADER}, *options, "--std=c++17", "--ptxas-options=-v"
    )


@pytest.mark.parametrize("path", COMPILERS, ids=lambda path: path.name)
def test_the_kernel_compiles_for_every_device(path: Path) -> None:
    """Compile all kinds of kernel for the oldest and the newest device, one kind for the others."""
    by = Nvrtc(path)
    archs = [arch for arch in by.archs() if arch >= 70]
    ends = {archs[0], 90, max(archs)}
    assert archs[0] <= 75
    assert ends <= set(archs)
    for arch in archs:
        for item, words in KINDS if arch in ends else KINDS[2:3]:
            code = compiled(by, arch, item, words)
            assert "error" not in code.log
            assert set(re.findall(r"(\d+) bytes spill", code.log)) == {"0"}, (arch, item, words)
            registers = [int(n) for n in re.findall(r"Used (\d+) registers", code.log)]
            assert len(registers) == 3, code.log  # noise, finish, ends
            assert max(registers) <= MOST_REGISTERS, (arch, item, words)
            assert not FLOATS.search(code.ptx)
            assert code.cubin.startswith(b"\x7fELF")


@pytest.mark.parametrize("path", COMPILERS, ids=lambda path: path.name)
def test_the_kernels_of_the_benchmark_compile(path: Path) -> None:
    source = (CSRC.parents[1] / "benchmarks" / "gpu.cu").read_text("utf-8")
    headers = {"noise.cu": SOURCE, "noise_law.h": HEADER}
    options = "--gpu-architecture=sm_90", "-DITEM=int", "-DWORDS=1", "--std=c++17"
    code = Nvrtc(path).compile(source, headers, *options, "--ptxas-options=-v")
    assert set(re.findall(r"(\d+) bytes spill", code.log)) == {"0"}


@pytest.mark.parametrize("path", COMPILERS[:1], ids=lambda path: path.name)
def test_the_scans_see_what_they_look_for(path: Path) -> None:
    """The scans find a float, and spilled registers."""
    options = "--gpu-architecture=sm_90", "--ptxas-options=-v"
    halved = 'extern "C" __global__ void f(float *x) { *x /= 2; }'
    assert FLOATS.search(Nvrtc(path).compile(halved, {}, *options).ptx)
    tight = SOURCE.replace("__launch_bounds__(THREADS, 4)", "__launch_bounds__(THREADS, 8)")
    given = *options, "-DITEM=int", "-DWORDS=1", "--std=c++17"
    log = Nvrtc(path).compile(tight, {"noise_law.h": HEADER}, *given).log
    assert set(re.findall(r"(\d+) bytes spill", log)) != {"0"}
