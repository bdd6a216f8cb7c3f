"""Access to the memory of other libraries' tensors, on the host or on a GPU."""

from __future__ import annotations

import sys
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterTypeError, ParameterValueError
from .draw_arguments import CHACHA20
from .graphs import refuse_recorded
from .messages import if_loaded

__all__ = ["DEFAULT_STREAM", "NO_ROOM", "DeviceArray", "in_memory", "is_tensor", "require_defaults"]

#: Values of DLPack's ``DLDeviceType``: memory that the host can read and write, and GPU memory.
_HOST, _GPU = {1, 3}, {2, 13}

#: The number of a device's default stream in the CUDA Array Interface, and for the driver.
DEFAULT_STREAM = 1

_JAX = (
    "{name} must be writable, but an array of jax never changes: draw into an array of numpy or "
    "CuPy and convert it to jax outside of jax.jit, which would repeat the draws"
)
#: Of sums that might not fit a dtype.
NO_ROOM = "values with noise must fit {} with Pr[outside] < 2**-128, but they might not"

_ELSEWHERE = (
    "{name} must lie in memory of its own, and torch does not show that of a {kind}: pass the "
    "plain tensor behind it, outside of torch.func and FakeTensorMode"
)


class DeviceArray(NamedTuple):
    """An array of int32 or int64 on a GPU that fills a block of memory, in any order of its axes.

    The driver knows the GPU; `stream` is the current one of the caller's library.
    """

    address: int
    stream: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)


def is_tensor(array: object) -> bool:
    """Return whether an object is a tensor of another library, on any device."""
    kind = type(array)
    if kind is np.ndarray:  # the usual case
        return False
    return hasattr(kind, "__cuda_array_interface__") or kind.__module__.startswith("jax.")


def in_memory(tensor: Any, name: str, *, is_read_only: bool = False) -> NDArray[Any] | DeviceArray:
    """Return a numpy array that shares a tensor's memory, or its DeviceArray if it is on a GPU.

    An error is raised if it cannot take draws: it is immutable unless `is_read_only`, has gaps, is
    on a GPU and neither int32 nor int64, or a compiler would repeat the call.
    """
    root = type(tensor).__module__.partition(".")[0]
    if root in ("jax", "jaxlib"):
        raise ParameterTypeError(_JAX.format(name=name))
    refuse_recorded()
    is_torch = isinstance(tensor, if_loaded("torch", "Tensor"))
    kind, device = 2, None
    if hasattr(tensor, "__dlpack_device__"):
        try:
            kind, device = tensor.__dlpack_device__()
        except Exception:  # a device that DLPack lacks; a wrapper's own code may raise anything
            kind = 0
    if int(kind) in _HOST:
        return _on_host(tensor, name, is_torch=is_torch)
    if int(kind) not in _GPU:
        raise ParameterTypeError(f"{name} must be a tensor on the host or on an NVIDIA GPU")
    memory = _on_gpu(tensor, name, is_read_only=is_read_only)
    if not is_torch:
        return memory
    if memory.size and tensor.data_ptr() != memory.address:
        raise ParameterTypeError(_ELSEWHERE.format(name=name, kind=type(tensor).__name__))
    stream = sys.modules["torch"].cuda.current_stream(device).cuda_stream
    return memory._replace(stream=int(stream) or DEFAULT_STREAM)


def _on_host(tensor: Any, name: str, *, is_torch: bool) -> NDArray[Any]:
    try:
        shared: NDArray[Any] = tensor.numpy() if is_torch else np.from_dlpack(tensor)
        # numpy() of a wrapper may be a copy, or what it wraps
        is_shared = not is_torch or not shared.size or tensor.data_ptr() == shared.ctypes.data
    except Exception:  # a sparse tensor, one with a gradient; a wrapper's own code
        raise ParameterTypeError(f"{name} must be a dense tensor of integers") from None
    if not is_shared:
        raise ParameterTypeError(_ELSEWHERE.format(name=name, kind=type(tensor).__name__))
    return shared


def _on_gpu(tensor: Any, name: str, *, is_read_only: bool) -> DeviceArray:
    try:
        interface = tensor.__cuda_array_interface__
    except Exception:  # a sparse tensor, or one with a gradient
        interface = None
    rule = f"{name} must be a dense array of int32 or int64 on a GPU"
    if interface is None or interface.get("mask") is not None:
        raise ParameterTypeError(f"{rule}, got an object of type {type(tensor).__name__}")
    dtype = np.dtype(interface["typestr"])
    if dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise ParameterTypeError(f"{rule}, got {dtype}")
    shape, (address, is_fixed) = tuple(map(int, interface["shape"])), interface["data"]
    strides = interface.get("strides")
    if strides is None:  # the order of C
        strides = [dtype.itemsize * prod(shape[i + 1 :]) for i in range(len(shape))]
    strides = tuple(map(int, strides))
    if is_fixed and not is_read_only:
        raise ParameterValueError(f"{name} must be writable")
    if not _is_dense(shape, strides, dtype.itemsize):
        raise ParameterValueError(f"{name} must fill a block of memory without gaps on a GPU")
    stream = interface.get("stream") or DEFAULT_STREAM
    return DeviceArray(int(address or 0), int(stream), shape, strides, dtype)


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> bool:
    """Return whether the elements fill a block of memory, in any order of the axes."""
    step = item
    for stride, n in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n != 1):
        if stride != step:
            return 0 in shape
        step *= n
    return True


def require_defaults(method: object, source: object, threads: object) -> None:
    """Refuse options that a GPU does not have."""
    if method not in ("auto", "cells"):
        raise ParameterValueError("method must be 'auto' or 'cells' for an array on a GPU")
    if not (isinstance(source, str) and source == CHACHA20):
        raise ParameterValueError("source must be 'chacha20' for an array on a GPU")
    if threads != 1:
        raise ParameterValueError("threads must be 1 for an array on a GPU, which has its own")
