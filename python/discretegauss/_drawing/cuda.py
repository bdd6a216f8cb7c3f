"""Noise on a GPU: the kernel of csrc/cuda, compiled and launched by NVIDIA's cuda-core.

A call takes a key from the operating system, and wipes it before it returns. Until then the key is
in page-locked memory of the host, which the GPU reads; the driver keeps no copy of it.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.tensors import NO_ROOM, DeviceArray
from .._law import LawSpec, fits_range
from ..errors import ParameterOverflowError, ParameterValueError, RangeError
from .add import NO_FIT
from .engines import core, engine

__all__ = ["add", "fill"]

_THREADS = 256

#: Thread blocks that run on a multiprocessor at a time.
_RESIDENT = 4

#: Items of a launch: whole tiles, and few enough that hardly one is in doubt.
_LAUNCH = 2**32

_MOST_IN_DOUBT = 256

#: ``call_t`` of noise.cu.
_CALL = np.dtype(
    [
        *(("key", "u4", 8), ("n_in_doubt", "u8"), ("n_refused", "u8")),
        *(("least", "i8"), ("greatest", "i8")),
        *(("item", "u8", _MOST_IN_DOUBT), ("drawn", "i8", _MOST_IN_DOUBT)),
    ]
)
_ITEMS = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}


def fill(out: DeviceArray, spec: LawSpec) -> None:
    """Fill an array on a GPU with draws, on the caller's current stream, and wait for them.

    Raises
    ------
    ImportError, RuntimeError
        If cuda-core is not installed, or finds no driver.
    ParameterValueError
        If the stream is capturing a graph, or no GPU draws the law. Nothing was drawn.
    RangeError
        If a draw did not fit. The contents of `out` then mean nothing.
    """
    with _Launches(out, spec) as launches:
        launches.draw(out, None)


def add(out: DeviceArray, values: DeviceArray, spec: LawSpec) -> None:
    """Set an array on a GPU to values plus draws; it may be the array of the values itself.

    Raises
    ------
    ParameterOverflowError
        If a sum might not fit; nothing was drawn.
    Exception
        As `fill`.
    """
    with _Launches(out, spec) as launches:
        launches.require_room(values)
        launches.draw(out, values)


def _cuda_core() -> Any:
    try:
        import cuda.core
    except ImportError:
        raise ImportError(
            "noise on a GPU needs NVIDIA's cuda-core: pip install 'cuda-core[cu13]'"
        ) from None
    return cuda.core


@contextmanager
def _current(device: int | None) -> Iterator[Any]:
    """Make a device the thread's current one within a ``with`` block."""
    of = _cuda_core().Device
    try:
        before = of()
        current = before if device is None else of(device)
        current.set_current()
    except Exception as error:  # cuda-core raises another type for each missing part
        reason = str(error).partition("\n")[0]
        raise RuntimeError(f"noise on a GPU needs NVIDIA's driver and a GPU; {reason}") from None
    try:
        yield current
    finally:
        before.set_current()


def _refuse_capture(stream: int) -> None:
    """Refuse a stream that is captured, because a replay would repeat the noise."""
    from cuda.bindings import driver

    status, state = driver.cuStreamIsCapturing(stream)
    if int(status) or int(state):
        raise ParameterValueError(
            "out must not be on a stream that captures a graph, because replays would repeat the "
            "noise; draw outside the capture"
        )


@lru_cache
def _kernels(device: int, arch: str, folder: str, item: str, words: int) -> dict[str, Any]:
    """Compile the kernels of a folder for a device, once for each kind of items."""
    of = _cuda_core()
    with open(os.path.join(folder, "noise.cu"), encoding="utf-8") as file:
        source = file.read()
    options = of.ProgramOptions(
        arch=f"sm_{arch}",
        std="c++17",
        include_path=folder,
        define_macro=[("ITEM", item), ("WORDS", str(words))],
    )
    code = of.Program(source, "c++", options).compile("cubin")
    return {name: code.get_kernel(name) for name in ("noise", "finish", "ends")}


def _pinned(n_bytes: int) -> tuple[Any, NDArray[Any]]:
    """Return zeroed memory that host and GPUs read and write, and the bytes as an array."""
    buffer = _cuda_core().LegacyPinnedMemoryResource().allocate(n_bytes)
    memory: Any = (ctypes.c_char * n_bytes).from_address(int(buffer.handle))
    array = np.frombuffer(memory, np.uint8)
    array[:] = 0
    return buffer, array


@lru_cache(maxsize=32)
def _law_on(device: int, spec: LawSpec) -> Any:
    """Return a law in the memory of the current device."""
    sampler: Any = engine(spec, "cells")
    words = sampler.packed().view(np.uint8)
    staging, array = _pinned(words.size)
    array[:] = words
    of = _cuda_core().Device(device)
    stream = of.default_stream
    law = of.allocate(words.size, stream=stream)
    law.copy_from(staging, stream=stream)
    stream.sync()
    return law


class _Launches:
    """The launches of one call, under one key."""

    def __init__(self, out: DeviceArray, spec: LawSpec) -> None:
        if not spec.kind.has_cells:
            raise ParameterValueError("law must have a centre, mu, for an array on a GPU")
        self._spec = spec
        self._core = core("noise on a GPU")
        self._sampler: Any = engine(spec, "cells")
        self._current = _current(out.device)
        self._dtype = out.dtype
        self._stream_handle = out.stream

    def __enter__(self) -> _Launches:
        of, device = _cuda_core(), self._current.__enter__()
        try:
            _refuse_capture(self._stream_handle)
            self._law = _law_on(device.device_id, self._spec)
            kind = self._core.FOLDER, _ITEMS[self._dtype], self._sampler.words
            self._kernels = _kernels(device.device_id, device.arch, *kind)
            self._most_blocks = _RESIDENT * device.properties.multiprocessor_count
            self._stream = of.Stream.from_handle(self._stream_handle)
            self._memory = _pinned(_CALL.itemsize)
        except BaseException:
            self._current.__exit__(None, None, None)
            raise
        self._call = self._memory[1].view(_CALL)
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._stream.sync()  # after this the GPU no longer uses the call's memory
        finally:
            self._memory[1][:] = 0
            self._current.__exit__(None, None, None)

    def _launch(self, name: str, n: int, *arguments: int) -> None:
        tile = _THREADS * 16 // self._sampler.words
        blocks = min(-(-n // tile), self._most_blocks)
        of = _cuda_core()
        config = of.LaunchConfig(grid=blocks, block=_THREADS)
        call = int(self._memory[0].handle)
        of.launch(self._stream, config, self._kernels[name], *arguments, call)
        self._stream.sync()

    def require_room(self, values: DeviceArray) -> None:
        """Refuse values whose sums with draws might not fit."""
        info = np.iinfo(self._dtype)
        self._call["least"], self._call["greatest"] = 2**63 - 1, -(2**63)
        if values.size:
            self._launch("ends", values.size, values.address, values.size)
        least, greatest = int(self._call["least"][0]), int(self._call["greatest"][0])
        if values.size and not fits_range(
            self._spec, int(info.min) - least, int(info.max) - greatest
        ):
            raise ParameterOverflowError(NO_ROOM.format(self._dtype))

    def draw(self, out: DeviceArray, values: DeviceArray | None) -> None:
        """Set `out` to draws, plus values if there are any."""
        self._core.fill_words(self._call["key"][0], "getrandom")
        step = out.dtype.itemsize
        for first in range(0, out.size, _LAUNCH):
            n = min(_LAUNCH, out.size - first)
            to = out.address + step * first
            of = 0 if values is None else values.address + step * first
            self._call["n_in_doubt"] = 0
            self._launch("noise", n, to, of, n, first, int(self._law.handle))
            self._finish(to, of, first)

    def _finish(self, to: int, of: int, first: int) -> None:
        """Draw the items in doubt."""
        n = int(self._call["n_in_doubt"][0])
        if n == 0:
            return
        if n > _MOST_IN_DOUBT:
            raise RuntimeError("more items are in doubt than chance explains; use none of them")
        key, items, draws = (self._call[name][0] for name in ("key", "item", "drawn"))
        for i in range(n):
            self._sampler.noise_at(draws[i : i + 1], int(items[i]), key.view(np.uint8))
        self._launch("finish", n, to, of, first)
        if self._call["n_refused"][0]:
            raise RangeError(NO_FIT)
