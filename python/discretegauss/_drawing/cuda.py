"""Noise on a GPU: the kernel of csrc/cuda, compiled by NVIDIA's cuda-core.

A call takes a key from the operating system, and wipes it before it returns. Until then the key is
in page-locked memory of the host, which the GPU reads; the driver keeps no copy of it. Before the
first draw of a law on a device the kernels draw items of another key, and must draw the CPU's.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import describe
from .._inputs.tensors import DEFAULT_STREAM, NO_ROOM, DeviceArray
from .._law import LawSpec, fits_range
from ..errors import ParameterOverflowError, ParameterValueError, RangeError
from . import cuda_driver as driver
from .add import NO_FIT
from .engines import core, engine

__all__ = ["fill", "require_known_answer"]

#: Thread blocks that run on a multiprocessor at a time.
_RESIDENT = 4

#: Items of a launch: whole tiles, and few enough that hardly one is in doubt.
_LAUNCH = 2**32

#: As in noise.cu. The last is its ``call_t``.
_THREADS, _MOST_OF_A_TILE, _MOST_IN_DOUBT = 256, 4096, 256
_CALL = np.dtype(
    [
        *(("key", "u4", 8), ("n_in_doubt", "u8"), ("n_refused", "u8")),
        *(("least", "i8"), ("greatest", "i8")),
        *(("item", "u8", _MOST_IN_DOUBT), ("drawn", "i8", _MOST_IN_DOUBT)),
    ]
)
_ITEMS = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}

#: Items of a known answer, which follows the ``call_t`` of a block.
_ANSWER = 4096
_BLOCK_BYTES = _CALL.itemsize + 8 * _ANSWER


def fill(out: DeviceArray, spec: LawSpec, values: DeviceArray | None = None) -> None:
    """Set an array on a GPU to draws, plus values if given, which may be the array itself.

    Nothing was drawn after a ParameterValueError (a stream captures a graph, no GPU draws the law),
    a ParameterOverflowError (a sum might not fit), an ImportError or a MemoryError. After any other
    error, from the driver or of a known answer, the contents of `out` mean nothing.
    """
    if not spec.kind.has_cells:
        raise ParameterValueError("law must have a centre, mu, for an array on a GPU")
    if not out.size:
        return
    device = driver.device_at(out.address, "out")
    if values is not None:
        if driver.device_at(values.address, "values") is not device:
            raise ParameterValueError("out must be on the device of values")
        _require_room(spec, out.dtype, 0, 0)
        if values.stream != out.stream:  # it may still write the values
            with device.current():
                driver.require_stream(values.stream, "values")
                driver.call("cuStreamSynchronize", values.stream)
    with device.block(out.stream, _BLOCK_BYTES) as block:
        call = _KernelCall(device, block, out.stream, out.dtype, spec)
        if values is not None:
            _require_room(spec, out.dtype, *call.ends(values.address, values.size))
        call.draw(out.address, 0 if values is None else values.address, out.size)


def require_known_answer(device: driver.Device, spec: LawSpec, dtype: str) -> None:
    """Raise an error if a GPU's items of a random key are not those of the CPU."""
    with device.block(DEFAULT_STREAM, _BLOCK_BYTES) as block:
        _KernelCall(device, block, DEFAULT_STREAM, np.dtype(dtype), spec).require_known_answer()


def _require_room(spec: LawSpec, dtype: np.dtype[Any], least: int, greatest: int) -> None:
    info = np.iinfo(dtype)
    if not fits_range(spec, int(info.min) - least, int(info.max) - greatest):
        raise ParameterOverflowError(NO_ROOM.format(dtype))


def nvrtc() -> tuple[str, list[int]]:
    """Return the version of NVRTC, and the devices for which it compiles: 90 is sm_90."""
    part = "NVIDIA's cuda-core"
    try:
        import cuda.core  # noqa: F401
        from cuda.bindings import nvrtc as by

        part = "NVIDIA's compiler NVRTC"
        (_, *version), (_, archs) = by.nvrtcVersion(), by.nvrtcGetSupportedArchs()
    except Exception as error:  # cuda-core has its own type for a library that is not found
        raise ImportError(f"noise on a GPU needs {part}: pip install 'cuda-core[cu13]'") from error
    return ".".join(map(str, version)), list(archs)


@lru_cache
def _kernels(device: driver.Device, folder: str, item: str, words: int) -> dict[str, Any]:
    """Compile the kernels of a folder for the current device, once for each kind of items."""
    version, archs = nvrtc()
    if device.arch not in archs:
        raise RuntimeError(
            f"NVRTC {version} does not compile for {device.name}, sm_{device.arch}: pip install "
            "'cuda-core[cu12]' for a device before sm_75, or a newer 'cuda-core[cu13]'"
        )
    import cuda.core as by

    source = Path(folder, "noise.cu").read_text("utf-8")
    macros = {"ITEM": item, "WORDS": str(words)}
    options = by.ProgramOptions(
        arch=f"sm_{device.arch}", std="c++17", include_path=folder, define_macro=[*macros.items()]
    )
    code = by.Program(source, "c++", options).compile("cubin").code
    return driver.functions(code, "noise", "finish", "ends")


class _KernelLaw:
    """A law in the memory of the current device, and the types whose known answer was right."""

    def __init__(self, device: driver.Device, spec: LawSpec) -> None:
        sampler: Any = engine(spec, "cells")
        self.sampler, self.packed = sampler, sampler.packed()
        self.memory = driver.Memory(device, self.packed.nbytes)
        self.known: set[np.dtype[Any]] = set()


_law_on = lru_cache(maxsize=32)(_KernelLaw)


class _KernelCall:
    """The launches of one call, whose keys are in a block of page-locked memory."""

    def __init__(
        self, device: driver.Device, block: driver.Memory, stream: int, dtype: Any, spec: LawSpec
    ) -> None:
        self._core = core("noise on a GPU")
        self._device, self._block, self._stream = device, block, stream
        self._dtype, self._spec, self._law = dtype, spec, _law_on(device, spec)
        self._law.memory.require()
        self._words = self._law.sampler.words
        self._kernels = _kernels(device, self._core.FOLDER, _ITEMS[dtype], self._words)
        self._shared = block.array[: _CALL.itemsize].view(_CALL)
        self.key: NDArray[np.uint8] = self._shared["key"][0].view(np.uint8)
        if dtype not in self._law.known:
            self.require_known_answer()

    def _launch(self, name: str, n: int, *arguments: int) -> None:
        blocks = min(-(-n * self._words // _MOST_OF_A_TILE), _RESIDENT * self._device.processors)
        to = self._kernels[name], blocks, _THREADS, self._stream
        driver.launch(*to, *arguments, self._block.address)

    def ends(self, values: int, n: int) -> tuple[int, int]:
        """Return the least and the greatest of n >= 1 values."""
        self._shared["least"], self._shared["greatest"] = 2**63 - 1, -(2**63)
        self._launch("ends", n, values, n)
        return int(self._shared["least"][0]), int(self._shared["greatest"][0])

    def draw(self, out: int, values: int, size: int) -> None:
        """Set an array to draws under a fresh key, plus values unless their address is 0."""
        self._core.fill_words(self._shared["key"][0], "getrandom")
        for first in range(0, size, _LAUNCH):
            n, skipped = min(_LAUNCH, size - first), first * self._dtype.itemsize
            self._draw(out + skipped, values + skipped if values else 0, n, first)

    def _draw(self, to: int, of: int, n: int, first: int) -> None:
        """Set n items from `first` on. The host draws those in doubt."""
        self._shared["n_in_doubt"] = self._shared["n_refused"] = 0
        self._launch("noise", n, to, of, n, first, self._law.memory.address)
        n_in_doubt = int(self._shared["n_in_doubt"][0])
        if n_in_doubt == 0:
            return
        if n_in_doubt > _MOST_IN_DOUBT:
            raise RuntimeError("more items are in doubt than chance explains; use none of them")
        items, draws = self._shared["item"][0], self._shared["drawn"][0]
        for i in range(n_in_doubt):
            self._law.sampler.noise_at(draws[i : i + 1], int(items[i]), self.key)
        self._launch("finish", n_in_doubt, to, of, first)
        if self._shared["n_refused"][0]:
            raise RangeError(NO_FIT)

    def require_known_answer(self) -> None:
        """Put the law on the device, and raise an error if the kernels draw other items of it.

        They draw items, find their ends, and add the same items to their negatives.
        """
        law, answer = self._law, self._block.array[_CALL.itemsize :].view(self._dtype)[:_ANSWER]
        copied = law.memory.address, law.packed.ctypes.data, law.packed.nbytes
        driver.call("cuMemcpyHtoDAsync_v2", *copied, self._stream)
        to, expected = int(answer.ctypes.data), np.empty_like(answer)
        self.draw(to, 0, _ANSWER)
        law.sampler.noise_at(expected, 0, self.key)
        is_right = bool((answer == expected).all())
        is_right &= self.ends(to, _ANSWER) == (expected.min(), expected.max())
        np.negative(expected, out=answer)
        self._draw(to, to, _ANSWER, 0)
        if is_right and not answer.any():
            law.known.add(self._dtype)
            return
        device, spec = self._device, self._spec
        told = ", ".join([spec.kind.name, *map(describe, spec[1:]), str(self._dtype)])
        raise RuntimeError(
            f"{device.name}, sm_{device.arch}, with driver {device.driver} and NVRTC {nvrtc()[0]} "
            f"draws other noise than the CPU, so none of it is used; please report the law: {told}"
        )
