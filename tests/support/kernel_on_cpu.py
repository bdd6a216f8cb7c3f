"""The kernels of csrc/cuda/noise.cu, compiled for the CPU by tests/cuda/on_cpu.cpp."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import parts
import pytest
from numpy.typing import NDArray

__all__ = ["CALL", "MOST_IN_DOUBT", "TILE", "KernelOnCpu"]
__all__ += ["fresh_call", "head_of", "library_on_cpu"]

MOST_IN_DOUBT = 256

#: The most items of a tile; first items are multiples of it.
TILE = 4096

#: ``call_t`` of noise.cu.
CALL = np.dtype(
    [
        *(("key", "u4", 8), ("n_in_doubt", "u8"), ("n_refused", "u8")),
        *(("least", "i8"), ("greatest", "i8")),
        *(("item", "u8", MOST_IN_DOUBT), ("drawn", "i8", MOST_IN_DOUBT)),
    ]
)

#: ``dg_noise_law`` of noise_law.h; the arrays of the table follow it.
LAW = np.dtype(
    [
        *(("rows", "u8", 256), ("c", "i8")),
        *((name, "i4") for name in ("coded_first", "first_block", "last_block")),
        *((name, "u4") for name in ("n_coded", "n_full", "n_partial", "n_tail_side", "height")),
        *((name, "u4") for name in ("tick_bits", "tail_bits", "tail_arc_bits")),
        *((name, "u4") for name in ("block_of_at", "partial_at", "tail_arcs_at")),
        *((name, "u4") for name in ("kind", "levels", "units_up", "units_down")),
        *((name, "u4") for name in ("rate_shift", "below")),
        *((name, "u8") for name in ("above", "above_a_step", "farthest", "rate", "twice_f")),
        *((name, "u8") for name in ("f", "nearest", "log_scale", "at_centre")),
        ("offset", "i8", 2),
    ]
)


def head_of(law: NDArray[Any]) -> Any:
    """Return the numbers of a packed law, as a view of its memory."""
    return np.frombuffer(law, LAW, 1)


def fresh_call(key: bytes) -> NDArray[Any]:
    """Return the memory of a call, with a key."""
    call = np.zeros(1, CALL)
    call["key"] = np.frombuffer(key, "u4")
    return call


def _passed(given: int | NDArray[Any] | None) -> Any:
    if isinstance(given, int):
        return ctypes.c_uint64(given)
    return ctypes.c_void_p(None if given is None else given.ctypes.data)


@cache
def library_on_cpu(*chosen: str) -> Path:
    """Compile the kernels for the CPU, and return the library's path; `chosen` are options."""
    compiler = shutil.which("g++") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs a C++ compiler: g++ or clang")
    source = Path(__file__).parents[1] / "cuda" / "on_cpu.cpp"
    target = Path(mkdtemp()) / "on_cpu.so"
    options = "-x c++ -std=c++17 -Wall -Wextra -Werror -Wno-unknown-pragmas -shared -fPIC"
    given = [*options.split(), *chosen, "-I", parts.kernel_folder()]
    subprocess.run([compiler, *given, "-o", str(target), str(source)], check=True)
    return target


class KernelOnCpu:
    """The kernels for one type of items.

    `seed` shuffles the order of threads, 0 keeps it; `options` go to the compiler.
    """

    def __init__(
        self, dtype: str, words: int, n_blocks: int = 3, seed: int = 0, *options: str
    ) -> None:
        item = {"int32": "int", "int64": "long long"}[dtype]
        chosen = f"-DITEM={item}", f"-DWORDS={words}", *(options or ("-O1",))
        self._library = ctypes.CDLL(str(library_on_cpu(*chosen)))
        self._grid = ctypes.c_uint(n_blocks), ctypes.c_uint64(seed)

    def run(self, name: str, *given: int | NDArray[Any] | None) -> None:
        """Run a kernel with numbers, and arrays by their addresses."""
        if self._library[f"{name}_on_cpu"](*self._grid, *map(_passed, given)):
            raise AssertionError("some threads came to a barrier, and others to their end")

    def number(self, name: str, x: int) -> int:
        """Return height_of or log2_of of a number."""
        function = self._library[f"{name}_on_cpu"]
        function.restype = ctypes.c_uint64
        return int(function(ctypes.c_uint64(x)))

    def settle(self, y: int, m: int, level: int, f: int, law: NDArray[Any]) -> int:
        """Return 0 if the attempt fails, 1 if it is accepted, 2 if it is in doubt."""
        given = ctypes.c_int64(y), ctypes.c_uint(m), ctypes.c_uint(level), ctypes.c_uint64(f)
        return int(self._library.settle_on_cpu(*given, _passed(law)))
