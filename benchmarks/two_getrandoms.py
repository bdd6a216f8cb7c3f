#!/usr/bin/env python
"""Draws by the C library's getrandom, which may be in the vDSO, beside the system call.

    cc -O2 -shared -fPIC -o two_getrandoms.so benchmarks/two_getrandoms.c
    LD_PRELOAD=./two_getrandoms.so python benchmarks/two_getrandoms.py

The least time of interleaved rounds, in one process; `tools/newest --bits` runs it on Debian 13.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import discretegauss as dg
from discretegauss.compat import SystemBits

N = 20_000


def cases() -> dict[str, tuple[Callable[[], object], int, int]]:
    """What is called, how many items a call makes, and how many rounds there are."""
    buffer, ask = ctypes.create_string_buffer(2**14), ctypes.CDLL(None).getrandom
    narrow, wide = dg.DiscreteGaussian(1), dg.DiscreteGaussian(10**4)
    random = partial(np.random.Generator(SystemBits()).random, 4096)
    return {
        "getrandom, 32 bytes": (partial(ask, buffer, 32, 0), 1, 4000),
        "getrandom, 16 KiB": (partial(ask, buffer, 2**14, 0), 1, 400),
        "one draw, sigma2 = 10^4": (wide.sample, 1, 4000),
        "array, sigma2 = 1": (partial(narrow.sample, N, method="cells"), N, 200),
        "array, sigma2 = 10^4": (partial(wide.sample, N, method="cells"), N, 200),
        "isochronous, sigma2 = 10^4": (partial(wide.sample, N, method="isochronous"), N, 60),
        "SystemBits, random(4096)": (random, 4096, 200),
    }


def main() -> None:
    """Print a line for each case: nanoseconds of an item by both ways, and the ratio."""
    by_syscall = ctypes.c_int.in_dll(ctypes.CDLL(None), "dg_by_syscall")
    print(f"# load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, (call, items, rounds) in cases().items():
        call()
        least = [float("inf")] * 2
        for way in [0, 1] * rounds:
            by_syscall.value = way
            start = time.perf_counter_ns()
            call()
            least[way] = min(least[way], (time.perf_counter_ns() - start) / items)
        ours, theirs = least
        print(f"{name:28} libc {ours:10.2f} ns, system call {theirs:10.2f} ns: {theirs / ours:.2f}")


if __name__ == "__main__":
    main()
