"""Noise on a GPU: the kernel of csrc/cuda, compiled and launched by NVIDIA's cuda-core.

A call takes a key from the operating system, and wipes it before it returns. It lies meanwhile in
page-locked memory of the host, which the GPU reads; the driver keeps no copy of it.
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

#: Thread blocks that are at work on a multiprocessor at a time.
_RESIDENT = 4

#: Items of a launch: whole tiles, and so few that hardly one is in doubt.
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
    """Fill an array on a GPU with draws, on the caller's current stream; return with them there.

    Raises
    ------
    ImportError, RuntimeError
        If cuda-core is not installed, or finds no driver.
    ParameterValueError
        If the stream is capturing a graph, or no GPU draws the law. Nothing was drawn.
    RangeError
        If a draw did not fit. Then the contents of `out` mean nothing.
    """
    with _Launches(out, spec) as launches:
        launches.draw(out, None)


def add(out: DeviceArray, values: DeviceArray, spec: LawSpec) -> None:
    """Let an array on a GPU hold values plus draws; it may be the array of the values itself.

    Raises
    ------
    ParameterOverflowError
        If a sum might not fit; nothing was drawn.
    Exception
        As of `fill`.
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
    """Make a device the thread's current one for a while."""
    of = _cuda_core().Device
    try:
        before = of()
        chosen = before if device is None else of(device)
        chosen.set_current()
    except Exception as error:  # cuda-core has its own for each thing that may be missing
        said = str(error).partition("\n")[0]
        raise RuntimeError(f"noise on a GPU needs NVIDIA's driver and a GPU; {said}") from None
    try:
        yield chosen
    finally:
        before.set_current()


def _refuse_capture(stream: int) -> None:
    """Refuse a stream whose work is recorded: replayed, it would be the same noise again."""
    from cuda.bindings import driver

    status, state = driver.cuStreamIsCapturing(stream)
    if int(status) or int(state):
        raise ParameterValueError(
            "out: its stream captures a graph, whose replays would repeat the noise; draw outside "
            "of the capture"
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
    """Return a law in the memory of a device, the current one."""
    sampler: Any = engine(spec, "cells")
    packed = sampler.packed().view(np.uint8)
    staged, array = _pinned(packed.size)
    array[:] = packed
    of = _cuda_core().Device(device)
    stream = of.default_stream
    law = of.allocate(packed.size, stream=stream)
    law.copy_from(staged, stream=stream)
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
            self._stream.sync()  # nothing reads or writes the call any more
        finally:
            self._memory[1][:] = 0
            self._current.__exit__(None, None, None)

    def _launch(self, name: str, n: int, *given: int) -> None:
        tile = _THREADS * 16 // self._sampler.words
        blocks = min(-(-n // tile), self._most_blocks)
        of = _cuda_core()
        config = of.LaunchConfig(grid=blocks, block=_THREADS)
        of.launch(self._stream, config, self._kernels[name], *given, int(self._memory[0].handle))
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
        """Let `out` hold values, or nothing, plus draws."""
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
            raise RuntimeError("more items are in doubt than chance explains; none is to be used")
        key, items, drawn = (self._call[name][0] for name in ("key", "item", "drawn"))
        for i in range(n):
            self._sampler.noise_at(drawn[i : i + 1], int(items[i]), key.view(np.uint8))
        self._launch("finish", n, to, of, first)
        if self._call["n_refused"][0]:
            raise RangeError(NO_FIT)
