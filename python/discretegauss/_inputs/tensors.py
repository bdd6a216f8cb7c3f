"""Access to the memory of other libraries' tensors, on the host or on a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterTypeError, ParameterValueError
from .draw_arguments import CHACHA20

__all__ = [
    "NO_ROOM",
    "DeviceArray",
    "in_memory",
    "is_tensor",
    "outside_of_graphs",
    "require_defaults",
]

#: Values of DLPack's ``DLDeviceType``: memory that the host can read and write, and GPU memory.
_HOST, _GPU = {1, 3}, {2, 13}

_JAX = (
    "{name} must be writable, but an array of jax never changes: draw into an array of numpy or "
    "CuPy and convert it to jax outside of jax.jit, which would repeat the draws"
)
#: Of sums that might not fit a dtype.
NO_ROOM = "values with noise must fit {} with Pr[outside] < 2**-128, but they might not"

_TRACED = (
    "{name} must not be used while torch records a graph, because replays would repeat the draws; "
    "call this outside of torch.export, torch.jit.trace and make_fx"
)


class DeviceArray(NamedTuple):
    """An array of integers on a GPU that fills a block of memory, in any order of its axes.

    Parameters
    ----------
    address, device, stream : int
        The address, the device, and the current stream of the caller's library. If the library does
        not tell the device, it is None, which means the current one.
    shape, strides : tuple of int
        `strides` is in bytes.
    dtype : dtype
        int32 or int64.
    """

    address: int
    device: int | None
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
    return hasattr(kind, "__cuda_array_interface__") or kind.__module__.startswith("jax.")


def outside_of_graphs(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call such that `torch.compile` runs it each time, and makes no graph of it."""
    dynamo: Any = sys.modules.get("torch._dynamo")
    return call if dynamo is None else dynamo.disable(call)


def _torch_records() -> bool:
    """Return whether torch records what is called, to replay it."""
    torch: Any = sys.modules["torch"]
    fx: Any = sys.modules.get("torch.fx.experimental.proxy_tensor")
    by_fx = fx is not None and fx.get_proxy_mode() is not None
    return bool(by_fx or torch.compiler.is_compiling() or torch.jit.is_tracing())


def in_memory(tensor: Any, name: str) -> NDArray[Any] | DeviceArray:
    """Return a numpy array that shares a tensor's memory, or its DeviceArray if it is on a GPU.

    Raises
    ------
    ParameterTypeError, ParameterValueError
        If it cannot take draws: it is immutable, has gaps, is on a GPU and neither int32 nor int64,
        or a compiler would repeat the call. Nothing was drawn.
    """
    root = type(tensor).__module__.partition(".")[0]
    if root in ("jax", "jaxlib"):
        raise ParameterTypeError(_JAX.format(name=name))
    if root == "torch" and _torch_records():
        raise ParameterTypeError(_TRACED.format(name=name))
    kind, device = 2, None
    if hasattr(tensor, "__dlpack_device__"):
        try:
            kind, device = tensor.__dlpack_device__()
        except (TypeError, RuntimeError, BufferError, ValueError):  # a device that DLPack lacks
            kind = 0
    if int(kind) in _HOST:
        try:
            shared: NDArray[Any] = tensor.numpy() if root == "torch" else np.from_dlpack(tensor)
        except (TypeError, RuntimeError, BufferError):  # a sparse tensor, or one with a gradient
            raise ParameterTypeError(f"{name} must be a dense tensor of integers") from None
        return shared
    if int(kind) not in _GPU:
        raise ParameterTypeError(f"{name} must be a tensor on the host or on an NVIDIA GPU")
    return _on_gpu(tensor, name, None if device is None else int(device), root)


def _on_gpu(tensor: Any, name: str, device: int | None, root: str) -> DeviceArray:
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
    shape, (address, is_read_only) = tuple(map(int, interface["shape"])), interface["data"]
    strides = interface.get("strides")
    strides = _of_c_order(shape, dtype) if strides is None else tuple(map(int, strides))
    if is_read_only or (not address and prod(shape)):
        raise ParameterValueError(f"{name} must be writable")
    if not _is_dense(shape, strides, dtype.itemsize):
        raise ParameterValueError(f"{name} must fill a block of memory without gaps on a GPU")
    stream = interface.get("stream")
    if root == "torch":
        stream = sys.modules["torch"].cuda.current_stream(device).cuda_stream
    return DeviceArray(int(address), device, int(stream or 1), shape, strides, dtype)


def _of_c_order(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
    return tuple(dtype.itemsize * prod(shape[i + 1 :]) for i in range(len(shape)))


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
        raise ParameterValueError(
            "threads must be 1 for an array on a GPU, which has its own threads"
        )
