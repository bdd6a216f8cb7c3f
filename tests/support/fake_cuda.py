"""A fake of the parts of cuda-core that the package uses; kernels run on the CPU.

The memory of a device is numpy's.
"""

from __future__ import annotations

import ctypes
import sys
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from kernel_on_cpu import CALL, MOST_IN_DOUBT, KernelOnCpu
from numpy.typing import NDArray

__all__ = ["FakeGpu", "Tensor"]

_ITEMS = {"int": "int32", "long long": "int64"}


class Tensor:
    """A tensor on a device of a FakeGpu; `array` has its contents."""

    def __init__(self, array: NDArray[Any], device: int = 0, stream: int = 33) -> None:
        self.array, self.device, self.stream = array, device, stream
        self.is_read_only = False

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        told = dict(self.array.__array_interface__)
        told["data"] = told["data"][0], self.is_read_only
        return told | {"version": 3, "stream": self.stream}


class FakeGpu:
    """The driver: a test reads what was launched, and sets what it answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.current = 0
        self.capturing: set[int] = set()
        self.launched: list[tuple[str, int, int]] = []
        """Kernels, their streams, and the current device."""
        self.keys: list[bytes] = []
        self.calls: list[NDArray[Any]] = []
        self.buffers: list[_Buffer] = []
        """Page-locked memory, kept, so that a test sees what a call left there."""
        self.compiled: list[dict[str, Any]] = []
        self.doubt: list[int] = []
        """Items that `noise` notes as in doubt, although it drew them."""
        names = ("Device", "Stream", "LaunchConfig", "ProgramOptions", "launch", "Program")
        module: Any = ModuleType("cuda.core")
        for name in names:
            setattr(module, name, getattr(self, f"_{name}", SimpleNamespace))
        module.Stream = SimpleNamespace(from_handle=_Stream)
        module.LegacyPinnedMemoryResource = lambda: SimpleNamespace(allocate=self._allocate)
        driver = SimpleNamespace(cuStreamIsCapturing=lambda s: (0, int(s in self.capturing)))
        root: Any = ModuleType("cuda")
        root.core = module
        bindings: Any = ModuleType("cuda.bindings")
        bindings.driver = driver
        for name, fake in (("cuda", root), ("cuda.core", module), ("cuda.bindings", bindings)):
            monkeypatch.setitem(sys.modules, name, fake)

    def _allocate(self, size: int) -> _Buffer:
        self.buffers.append(_Buffer(size))
        return self.buffers[-1]

    def _Device(self, number: int | None = None) -> Any:
        chosen = self.current if number is None else number

        def set_current() -> None:
            self.current = chosen

        return SimpleNamespace(
            device_id=chosen,
            arch="90",
            name="a fake",
            set_current=set_current,
            properties=SimpleNamespace(multiprocessor_count=2),
            default_stream=_Stream(1),
            allocate=lambda size, stream: _Buffer(size),
        )

    def _Program(self, source: str, kind: str, options: Any) -> Any:
        given = dict(options.define_macro)
        self.compiled.append(given | {"arch": options.arch})
        assert kind == "c++"
        assert "noise_law.h" in source
        kernel = KernelOnCpu(_ITEMS[given["ITEM"]], int(given["WORDS"]), 2, 9, "-O0")
        return SimpleNamespace(
            compile=lambda target: SimpleNamespace(get_kernel=partial(_Kernel, kernel))
        )

    def _launch(self, stream: Any, config: Any, kernel: Any, *given: int) -> None:
        on_cpu, name = kernel.on_cpu, kernel.name
        assert config.block == 256
        assert 1 <= config.grid <= 8  # blocks that are at work at a time
        self.launched.append((name, stream.handle, self.current))
        memory: Any = (ctypes.c_char * CALL.itemsize).from_address(given[-1])
        call = np.frombuffer(memory, CALL)
        self.calls.append(call)
        if name == "noise":
            self.keys.append(call["key"].tobytes())
        if name == "noise" and self.doubt:
            self._leave_in_doubt(on_cpu, given, call)
        else:
            on_cpu.run(name, *given)

    def _leave_in_doubt(self, on_cpu: KernelOnCpu, given: tuple[int, ...], call: Any) -> None:
        """Draw all items except some, whose memory stays as it was."""
        item = np.dtype(on_cpu.item)
        memory: Any = (ctypes.c_char * (given[2] * item.itemsize)).from_address(given[0])
        out = np.frombuffer(memory, item)
        kept = out[self.doubt].copy()
        on_cpu.run("noise", *given)
        out[self.doubt] = kept
        call["n_in_doubt"] = len(self.doubt)
        noted = self.doubt[:MOST_IN_DOUBT]
        call["item"][0, : len(noted)] = noted


class _Kernel(NamedTuple):
    on_cpu: KernelOnCpu
    name: str
    attributes: Any = SimpleNamespace(num_regs=56, local_size_bytes=0, shared_size_bytes=14416)
    occupancy: Any = SimpleNamespace(max_active_blocks_per_multiprocessor=lambda size, more: 4)


class _Stream:
    def __init__(self, handle: int) -> None:
        self.handle = handle

    def sync(self) -> None:
        """Do nothing, because every launch has run already."""


class _Buffer:
    def __init__(self, size: int) -> None:
        self._bytes = np.full(size, 0xA5, np.uint8)
        self.handle = self._bytes.ctypes.data

    def fill(self, value: int, stream: _Stream) -> None:
        self._bytes[:] = value

    def copy_to(self, other: _Buffer, stream: _Stream) -> None:
        other.copy_from(self, stream)

    def copy_from(self, other: _Buffer, stream: _Stream) -> None:
        assert stream is not None
        self._bytes[:] = other._bytes
