"""NVIDIA's driver, called by ctypes: devices, contexts, memory, streams and kernels.

A call works in the primary context of the device where its array lies. It pushes that context and
pops it, so the caller's current context stays what it was.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import byref
from functools import cache
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterValueError

__all__ = ["Device", "Memory", "call", "device_at", "devices", "functions", "launch"]

_LIBRARY = "libcuda.so.1"

#: Numbers of the driver's interface: attributes of devices and pointers, a mode, errors.
_MULTIPROCESSORS, _MAJOR, _MINOR = 16, 75, 76
_CONTEXT, _BUFFER, _ORDINAL, _RELAXED = 1, 7, 9, 2
_NO_MEMORY, _NOT_INITIALIZED, _INVALID_HANDLE = 2, 3, 400
_NO_DEVICE, _WRONG_CODE = {34, 100, 101, 802, 803, 804}, {200, 209, 218, 222}
_CAPTURES = range(900, 909)

_MISSING = "noise on a GPU needs NVIDIA's driver and a GPU; "
_FORKED = (
    "a process that was forked after the first use of CUDA cannot use a GPU: start it by the "
    "method 'spawn' of multiprocessing, or use CUDA only in the children"
)
_CAPTURED = (
    "{} must not be on a stream that captures a graph, nor on the default stream beside one, "
    "because replays would repeat the noise; draw outside the capture"
)


@cache
def _library() -> tuple[ctypes.CDLL, int]:
    """Return the initialised driver, and the process that loaded it."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise RuntimeError(f"{_MISSING}{error}") from None
    if status := library.cuInit(0):
        raise _error(library, "cuInit", status)
    return library, os.getpid()


def call(name: str, *given: Any) -> None:
    """Call a function of the driver, and raise an error if it fails.

    Integers go as 64 bits: the platforms of CUDA take these for a C int, too.
    """
    library, process = _library()
    if process != os.getpid():
        raise RuntimeError(_FORKED)
    wide = (ctypes.c_uint64(each) if type(each) is int else each for each in given)
    if status := getattr(library, name)(*wide):
        raise _error(library, name, status)


def _error(library: ctypes.CDLL, name: str, status: int) -> Exception:
    text = ctypes.c_char_p()
    library.cuGetErrorName(status, byref(text))
    what = f"{name.partition('_')[0]} answers {(text.value or b'').decode() or status}"
    if status == _NO_MEMORY:
        return MemoryError(f"no memory is left for noise on a GPU: {what}")
    if status == _INVALID_HANDLE:
        return ParameterValueError(f"out must be on a stream of its own GPU: {what}")
    if status in _CAPTURES:
        return ParameterValueError(_CAPTURED.format("out"))
    if status in _WRONG_CODE:
        advice = "update the driver, or pip install 'cuda-core[cu12]'"
        return RuntimeError(f"NVIDIA's driver is older than cuda-core: {advice}; {what}")
    if status == _NOT_INITIALIZED:
        return RuntimeError(f"{_FORKED}; {what}")
    return RuntimeError(f"{_MISSING if status in _NO_DEVICE else 'NVIDIA driver: '}{what}")


def _integer(name: str, *given: int) -> int:
    number = ctypes.c_int()
    call(name, byref(number), *given)
    return number.value


def _read_attributes(address: int, attributes: dict[int, Any]) -> None:
    """Set numbers to attributes of a pointer, or to 0 or less if the driver does not know it."""
    n, of = len(attributes), map(ctypes.addressof, attributes.values())
    kinds, to = (ctypes.c_int * n)(*attributes), (ctypes.c_void_p * n)(*of)
    call("cuPointerGetAttributes", n, kinds, to, address)


class Device:
    """A GPU and its primary context, which stays alive until the process ends."""

    def __init__(self, number: int) -> None:
        device = _integer("cuDeviceGet", number)
        asked = (_MAJOR, _MINOR, _MULTIPROCESSORS)
        major, minor, self.processors = (_integer("cuDeviceGetAttribute", n, device) for n in asked)
        name, version = ctypes.create_string_buffer(256), _integer("cuDriverGetVersion")
        call("cuDeviceGetName", name, len(name), device)
        self.name, self.arch = name.value.decode(errors="replace"), 10 * major + minor
        self.driver = f"{version // 1000}.{version % 1000 // 10}"
        self.context = ctypes.c_void_p()
        call("cuDevicePrimaryCtxRetain", byref(self.context), device)
        self._blocks: list[Memory] = []  # page-locked memory that no call uses now

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make the primary context current; a graph that another thread captures stays valid."""
        call("cuCtxPushCurrent_v2", self.context)
        try:
            mode = ctypes.c_int(_RELAXED)
            call("cuThreadExchangeStreamCaptureMode", byref(mode))
            try:
                yield
            finally:
                call("cuThreadExchangeStreamCaptureMode", byref(mode))
        finally:
            call("cuCtxPopCurrent_v2", byref(ctypes.c_void_p()))

    @contextmanager
    def block(self, stream: int, n_bytes: int) -> Iterator[Memory]:
        """Lend page-locked memory to kernels on a stream, and wipe it when they are done."""
        with self.current():
            require_stream(stream, "out")
            try:
                block = self._blocks.pop()  # a signal handler may draw within a call, too
            except IndexError:
                block = Memory(self, n_bytes, on_host=True)
            block.require()
            try:
                yield block
            except BaseException:
                call("cuStreamSynchronize", stream)  # until then a kernel may use the block
                raise
            finally:
                block.array[:] = 0
            self._blocks.append(block)


_device = cache(Device)


def devices() -> list[Device]:
    """Return all GPUs of the process."""
    return [_device(number) for number in range(_integer("cuDeviceGetCount"))]


def device_at(address: int, name: str) -> Device:
    """Return the device of memory, which must be of its primary context or of a pool."""
    number, context = ctypes.c_int(-1), ctypes.c_void_p()
    _read_attributes(address, {_ORDINAL: number, _CONTEXT: context})
    if number.value < 0:
        raise ParameterValueError(f"{name} must lie in memory of a GPU, as the driver knows it")
    device = _device(number.value)
    if context.value not in (None, device.context.value):  # None: of a pool
        raise ParameterValueError(f"{name} must be allocated in the primary context of its GPU")
    return device


class Memory:
    """Memory of the current device, or page-locked memory of the host, which is zero."""

    def __init__(self, device: Device, n_bytes: int, *, on_host: bool = False) -> None:
        at, flags = ctypes.c_void_p(), [0] if on_host else []
        call("cuMemHostAlloc" if on_host else "cuMemAlloc_v2", byref(at), n_bytes, *flags)
        self.address = at.value or 0
        finalize(self, _free, device, self.address, on_host=on_host).atexit = False
        if on_host:
            memory: Any = (ctypes.c_char * n_bytes).from_address(self.address)
            self.array: NDArray[np.uint8] = np.frombuffer(memory, np.uint8)
            self.array[:] = 0
        self._number = self._read_number()

    def _read_number(self) -> int:
        number = ctypes.c_uint64()
        _read_attributes(self.address, {_BUFFER: number})
        return number.value

    def require(self) -> None:
        """Raise an error if the memory is gone, because something reset the device."""
        if self._read_number() != self._number:
            raise RuntimeError("the GPU was reset after its first use: start a new process")


def _free(device: Device, address: int, *, on_host: bool) -> None:
    with suppress(Exception), device.current():  # after a failed kernel nothing can be freed
        call("cuMemFreeHost" if on_host else "cuMemFree_v2", address)


def require_stream(stream: int, name: str) -> None:
    """Refuse a stream that captures a graph."""
    state = ctypes.c_int()
    call("cuStreamIsCapturing", stream, byref(state))
    if state.value:
        raise ParameterValueError(_CAPTURED.format(name))


def functions(code: bytes, *names: str) -> dict[str, ctypes.c_void_p]:
    """Load machine code into the current context, and return its kernels."""
    module, found = ctypes.c_void_p(), {name: ctypes.c_void_p() for name in names}
    call("cuModuleLoadData", byref(module), code)
    try:
        for name, function in found.items():
            call("cuModuleGetFunction", byref(function), module, name.encode())
    except BaseException:
        call("cuModuleUnload", module)
        raise
    return found


def launch(function: ctypes.c_void_p, blocks: int, threads: int, stream: int, *given: int) -> None:
    """Run a kernel, whose arguments all have 64 bits, and wait for it."""
    values = (ctypes.c_uint64 * len(given))(*given)
    first = ctypes.addressof(values)
    at = (ctypes.c_void_p * len(given))(*range(first, first + 8 * len(given), 8))
    call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, stream, at, None)
    call("cuStreamSynchronize", stream)
