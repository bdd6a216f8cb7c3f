"""A GPU for tests: tests/cuda/fake_libcuda.c stands in for the driver, and kernels run on the CPU.

cuda-core is faked too, unless a test wants the real one: its compiler makes code for the CPU.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType, SimpleNamespace
from typing import Any

import parts
import pytest
from kernel_on_cpu import library_on_cpu
from numpy.typing import NDArray

__all__ = ["FakeGpu", "Tensor"]

SOURCE = Path(__file__).parents[1] / "cuda" / "fake_libcuda.c"


class Tensor:
    """A tensor on a device of a FakeGpu; `array` has its contents.

    Its memory belongs to `context`; by default that is none, as for memory of a pool.
    """

    def __init__(self, array: NDArray[Any], device: int = 0, stream: int = 33) -> None:
        self.array, self.device, self.stream = array, device, stream
        self.context: int | None = None
        self.is_on_gpu = True
        self.is_read_only = False

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        told = dict(self.array.__array_interface__)
        if FakeGpu.made:
            FakeGpu.made[-1].lend(self)
        told["data"] = told["data"][0], self.is_read_only
        return told | {"version": 3, "stream": self.stream}


@cache
def _driver() -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs a C compiler")
    target = Path(mkdtemp()) / "libcuda.so.1"
    options = ("-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
    command = [compiler, *options, "-o", str(target), str(SOURCE), "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return target


class FakeGpu:
    """The driver of one test, which sets what it answers and reads what was called."""

    made: list[FakeGpu] = []  # noqa: RUF012

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, compiler: bool = True) -> None:
        path = Path(mkdtemp()) / "libcuda.so.1"  # a library of its own has a state of its own
        shutil.copy(_driver(), path)
        parts.forget_gpus(monkeypatch, driver=str(path))
        self.driver = ctypes.CDLL(str(path))
        for name in ("fake_log", "fake_current"):
            getattr(self.driver, name).restype = ctypes.c_char_p
        self.driver.fake_own_context.restype = ctypes.c_void_p
        self.archs = [75, 90]
        self.compiled: list[dict[str, Any]] = []
        monkeypatch.setattr(FakeGpu, "made", [self])
        if compiler:
            self._fake_compiler(monkeypatch)

    def _fake_compiler(self, monkeypatch: pytest.MonkeyPatch) -> None:
        core: Any = ModuleType("cuda.core")
        core.ProgramOptions, core.Program = SimpleNamespace, self._program
        root: Any = ModuleType("cuda")
        root.core = core
        bindings: Any = ModuleType("cuda.bindings")
        bindings.nvrtc = SimpleNamespace(
            nvrtcVersion=lambda: (0, 13, 5), nvrtcGetSupportedArchs=lambda: (0, self.archs)
        )
        for name, fake in (("cuda", root), ("cuda.core", core), ("cuda.bindings", bindings)):
            monkeypatch.setitem(sys.modules, name, fake)

    def _program(self, source: str, kind: str, options: Any) -> Any:
        macros = dict(options.define_macro)
        self.compiled.append(macros | {"arch": options.arch})
        assert kind == "c++"
        assert "noise_law.h" in source
        path = library_on_cpu(f"-DITEM={macros['ITEM']}", f"-DWORDS={macros['WORDS']}", "-O0")
        image = str(path).encode() + b"\0"
        return SimpleNamespace(compile=lambda target: SimpleNamespace(code=image))

    def lend(self, tensor: Tensor) -> None:
        """Make a tensor's memory that of its device."""
        if tensor.is_on_gpu:
            array, of = tensor.array, ctypes.c_void_p(tensor.context)
            at = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            self.driver.fake_lend(*at, of, tensor.device)

    def own_context(self, device: int = 0) -> int:
        """Make a context that is not the primary one current, and return it."""
        return int(self.driver.fake_own_context(device))

    def run_elf_by(self, path: Path) -> None:
        """Run the source on the CPU by a library, when the driver gets real machine code."""
        self.driver.fake_kernels_of_elf(str(path).encode())

    def fail(self, name: str, error: int, nth: int = 1) -> None:
        """Let the nth call of a function from now on fail; "" stands for any function."""
        self.driver.fake_fail(name.encode(), nth, error)

    def capture(self, stream: int, state: int = 1) -> None:
        """Let a stream capture a graph."""
        self.driver.fake_capture(ctypes.c_uint64(stream), state)

    @property
    def current(self) -> str:
        """The current context of this thread."""
        return str(self.driver.fake_current().decode())

    @property
    def log(self) -> list[str]:
        """The calls of the driver, with their arguments, and the current context of each."""
        return str(self.driver.fake_log().decode()).splitlines()

    def forget_log(self) -> None:
        """Begin a new log."""
        self.driver.fake_clear_log()

    @property
    def launched(self) -> list[tuple[str, int, str]]:
        """Kernels, their streams, and the current context, since the log began."""
        told = [line.split() for line in self.log if line.startswith("cuLaunchKernel")]
        return [(words[1], int(words[3], 0), words[-1]) for words in told]

    @property
    def keys(self) -> list[bytes]:
        """The keys of launches of `noise`, since the log began."""
        told = [line.split() for line in self.log if line.startswith("cuLaunchKernel noise")]
        return [bytes.fromhex(words[9]) for words in told]

    @property
    def key_bytes(self) -> int:
        """How many bytes of keys are left in page-locked memory, or were when it was freed."""
        return int(self.driver.fake_key_bytes())
