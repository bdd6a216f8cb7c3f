"""Tensors of other libraries, on the host or on a GPU: noise goes into a tensor that is given."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._drawing.add import NO_FIT
from .._inputs.draw_arguments import checked_out
from .._inputs.tensors import NO_ROOM, DeviceArray, in_memory, is_tensor, require_defaults
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError, RangeError
from ..laws import Law
from .addition import AddOptions, noisy
from .cells import Cells, Container


def open_tensor(values: Any) -> tuple[Container, NDArray[Any] | DeviceArray]:
    """Return what a budget is for, and where the values lie."""
    memory = in_memory(values, "values", is_read_only=True)
    if memory.dtype.kind not in "iu":
        raise ParameterTypeError(f"values must be integers, got {memory.dtype}")
    counted = np.broadcast_to(np.int64(0), memory.shape)  # as many, and no memory
    columns = max(1, prod(memory.shape[1:]))
    return Container([Cells(counted)], columns, lambda results: results), memory


def add_to_tensor(out: Any, values: NDArray[Any] | DeviceArray, law: Law, how: AddOptions) -> Any:
    """Let the tensor `out`, perhaps that of the values itself, hold values plus draws."""
    if out is None or not is_tensor(out):
        raise ParameterTypeError(
            "out must be a tensor if values is one; add_noise(t, law, out=t) adds in place"
        )
    target = in_memory(out, "out")
    if target.shape != values.shape:
        raise ParameterValueError("out must have the shape of values")
    if isinstance(target, np.ndarray) and isinstance(values, np.ndarray):
        _add_on_host(checked_out(target, None), values, law, how)
        return out
    if isinstance(target, np.ndarray) or isinstance(values, np.ndarray):
        raise ParameterValueError("out must be where values is: on the host, or on its GPU")
    if (target.dtype, target.strides) != (values.dtype, values.strides):
        raise ParameterValueError("out must have the dtype and the strides of values")
    n_bytes = values.size * values.dtype.itemsize
    if 0 < abs(target.address - values.address) < n_bytes:
        raise ParameterValueError("out must be values itself, or share no memory with it")
    require_defaults(how.method, how.source, how.threads)
    from .._drawing.cuda import fill

    fill(target, law._spec, values)
    return out


def _add_on_host(target: NDArray[Any], values: NDArray[Any], law: Law, how: AddOptions) -> None:
    if target.dtype.kind not in "iu":
        raise ParameterTypeError(f"out must be integers, got {target.dtype}")
    info = np.iinfo(target.dtype)
    held = max(int(info.min), -(2**63)), min(int(info.max), 2**63 - 1)
    try:
        (sums,) = noisy([Cells(values, None, held)], law, how)
    except ParameterOverflowError:
        raise ParameterOverflowError(NO_ROOM.format(target.dtype)) from None
    try:
        if sums.size and not held[0] <= int(sums.min()) <= int(sums.max()) <= held[1]:
            raise RangeError(NO_FIT)
        target[...] = sums
    finally:
        sums.fill(0)
