"""NVIDIA's cuda-core has the interface that tests/support/fake_cuda.py fakes; needs no driver."""

from __future__ import annotations

import ctypes
import inspect
from typing import Any

import pytest

pytestmark = pytest.mark.repository


def test_cuda_core_has_what_is_called() -> None:
    """Names and arguments are the same, and kernels get integers as 64 bits."""
    core: Any = pytest.importorskip("cuda.core")
    driver: Any = pytest.importorskip("cuda.bindings.driver")
    handler: Any = pytest.importorskip("cuda.core._kernel_arg_handler")
    for of, names in {
        core.Device: "allocate arch default_stream device_id properties set_current",
        core.Stream: "from_handle handle sync",
        core.Buffer: "copy_from copy_to fill handle",
        core.ObjectCode: "get_kernel",
        core.Kernel: "attributes occupancy",
        core: "LaunchConfig LegacyPinnedMemoryResource Program ProgramOptions launch",
        driver: "cuStreamIsCapturing",
    }.items():
        assert set(names.split()) <= set(dir(of)), of
    for function, names in {
        core.Device.allocate: "size stream",
        core.Buffer.copy_from: "src stream",
        core.LegacyPinnedMemoryResource.allocate: "size",
        core.launch: "stream config kernel kernel_args",
    }.items():
        assert set(names.split()) <= set(inspect.signature(function).parameters), function
    assert core.LaunchConfig(grid=7, block=256).grid == (7, 1, 1)
    macros = [("ITEM", "long long"), ("WORDS", "2")]
    core.ProgramOptions(arch="sm_90", std="c++17", include_path="folder", define_macro=macros)
    assert int(core.Stream.from_handle(4711).handle) == 4711
    given = [2**63 - 1, 0, -(2**63)]
    held = handler.ParamHolder(tuple(given))
    addresses = (ctypes.c_void_p * 3).from_address(held.ptr)
    assert [ctypes.c_int64.from_address(a or 0).value for a in addresses] == given
