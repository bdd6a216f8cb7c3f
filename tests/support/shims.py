"""Libraries that LD_PRELOAD puts before libc, for child interpreters."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

REAL, WHOLE, EINTR_MANY, SHORT_READS, FAIL, ZERO, FAIL_LATE, TOO_MUCH, FAIL_EARLY, SIGNAL = range(
    10
)
"""The modes of getrandom_shim.c."""


def compiled(name: str, directory: Path) -> Path:
    """Compile NAME.c of this folder into a library."""
    library = directory / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return library


def environment(shim: Path, **more: str) -> dict[str, str]:
    """Return the environment of an interpreter under the shim."""
    return os.environ | {"LD_PRELOAD": str(shim), "OPENBLAS_NUM_THREADS": "1"} | more


def control() -> ctypes.CDLL:
    """Return the functions of getrandom_shim.c, in a process that runs under it."""
    library = ctypes.CDLL(None)
    library.dg_shim_set.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint64]
    library.dg_shim_calls.restype = ctypes.c_uint64
    library.dg_shim_position.restype = ctypes.c_uint64
    library.dg_shim_fill.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def stream(n: int) -> NDArray[np.uint8]:
    """Return the first n bytes of the shim's stream, computed here."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(56)).astype(np.uint8)
