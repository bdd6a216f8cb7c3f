"""The calls whose traces test_wiped.py looks for, and the program that makes one and waits.

    LD_PRELOAD=getrandom_shim.so python tests/support/wiped_calls.py NAME THREADS SOURCE[:OPTION]...

For each source, when a line comes in, it makes the call once for warming up (imports, tables,
caches) and once on a part of the shim's stream that nothing else is given, wipes what it was given,
and prints where that part begins and ends. Then it waits for the next line, or the end of its
input.
It never holds the stream, so what is found in its memory was left by the call.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import shims

import discretegauss as dg

OPTIONS = ("", "no-wiping", "signals")


@dataclass(frozen=True)
class Call:
    """A call of a public function for n draws (None: for one, `n_scalars` times)."""

    function: str
    parameters: tuple[Any, ...]
    n: int | None = 600
    dtype: Any = np.int64
    mu: Any = 0
    method: str = "auto"
    n_scalars = 10

    def keywords(self) -> dict[str, Any]:
        """Return the keyword arguments but for size, out, source and threads."""
        if self.function == "bernoulli_exp":
            return {"method": self.method}
        keywords = {"dtype": self.dtype, "method": self.method}
        return keywords if self.function == "geometric_exp" else keywords | {"mu": self.mu}


GAUSS, LAPLACE, GENERAL = "discrete_gaussian", "discrete_laplace", "generalized_gaussian"

CALLS = {
    # Algorithms 1-3 in machine words
    "gaussian, words": Call(GAUSS, (100,)),
    "gaussian, long words": Call(GAUSS, (2**100,)),
    "gaussian, off centre": Call(GAUSS, ("7/3",), mu="1/3", dtype=np.int32, method="reference"),
    "laplace, words": Call(LAPLACE, ("1000/7",), dtype=np.int16, method="reference"),
    "geometric": Call("geometric_exp", ("1/10",)),
    "bernoulli": Call("bernoulli_exp", ("1/10",), dtype=np.bool_),
    "other byte order": Call(
        GAUSS, (2**100,), dtype=np.dtype(np.int64).newbyteorder("S"), method="reference"
    ),
    "one by one": Call(GAUSS, (2**100,), n=None, method="reference"),
    # an array of parameters: a law drawn by itself, and one, less often, as many are together
    "arrays of parameters": Call(LAPLACE, ([Fraction(2**120 + 1, 2**64)] * 500 + [2**56] * 100,)),
    # by GMP
    "gaussian, GMP": Call(GAUSS, (10**17 + 3,), mu="1/100000000000000003", method="reference"),
    "laplace, GMP": Call(LAPLACE, ("1000000000000/7",), mu=f"1/{2**70 + 1}", method="reference"),
    "gaussian, objects": Call(GAUSS, (10**100,), n=100, dtype=object),
    "gaussian, 16 000 bits": Call(GAUSS, (3**20_000,), n=8, dtype=object),
    "one by one, GMP": Call(GAUSS, (10**100,), n=None, method="reference"),
    # by cell table
    "cells, 2 bytes": Call(GAUSS, (100,), n=3000, method="cells"),
    "cells, 4 bytes": Call(GAUSS, (10**10,), n=3000, dtype=np.int32, method="cells"),
    "cells, 8 bytes": Call(GAUSS, (2**100,), n=3000, method="cells"),
    "cells, few": Call(GAUSS, (2**100,), n=5, method="cells"),
    "cells, far centre": Call(GAUSS, (2**80,), n=3000, mu=2**55 + 12345678901, method="cells"),
    "cells, laplace": Call(LAPLACE, (2**40,), n=3000, method="cells"),
    "cells, generalised": Call(GENERAL, (2**40, "3/2"), n=3000),
    "cells, objects": Call(GAUSS, (10**100,), n=1500, dtype=object, method="cells"),
    "cells, one by one": Call(GENERAL, (2**50, 2), n=None),
}

#: Long enough for a few hundred signals.
LONG_CALLS = {
    "many draws, words": Call(GAUSS, (2**100,), n=100_000, method="reference"),
    "many draws, GMP": Call(
        GAUSS, (2**100 + 1,), mu=f"1/{2**70 + 1}", n=10_000, method="reference"
    ),
    "many draws, cells": Call(GAUSS, (2**100,), n=200_000, method="cells"),
}


#: So many draws that each of three threads has a part.
THREADED_CALLS = {
    "words by threads": Call(GAUSS, (2**100,), n=5000, method="reference"),
    "GMP by threads": Call(GAUSS, (2**100 + 1,), mu=f"1/{2**70 + 1}", n=5000, method="reference"),
    "cells by threads": Call(GAUSS, (2**100,), n=400_000, method="cells"),
}


#: A signal with a handler: the kernel stores every register on the stack, as the dynamic linker and
#: others do when they please.
REGISTERS_STORED = signal.SIGUSR1


def shim_source(buffer: memoryview) -> None:
    """A caller's source that writes the shim's stream in place and keeps no copy."""
    in_place = ctypes.c_char.from_buffer(buffer)
    shims.control().dg_shim_fill(ctypes.addressof(in_place), len(buffer))


def make(call: Call, source: Any, threads: int) -> None:
    """Make a call and wipe what it returned, as far as Python can."""
    draw = getattr(dg, call.function)
    if call.n is None:
        for _ in range(call.n_scalars):
            draw(*call.parameters, mu=call.mu, source=source, method=call.method)
        signal.raise_signal(REGISTERS_STORED)
        return
    out = np.zeros(call.n, call.dtype)
    keywords = call.keywords() | {"source": source, "threads": threads}
    keywords.pop("dtype", None)
    draw(*call.parameters, out=out, **keywords)
    signal.raise_signal(REGISTERS_STORED)
    out.fill(0)


def main() -> None:
    name, threads, *steps = sys.argv[1:]
    call, control = (CALLS | LONG_CALLS | THREADED_CALLS)[name], shims.control()
    signal.signal(REGISTERS_STORED, lambda *_: None)
    for number, step in enumerate(steps):
        sys.stdin.readline()
        source_name, _, option = step.partition(":")
        if option not in OPTIONS:
            raise ValueError(step)
        source = shim_source if source_name == "caller" else source_name
        if option == "signals":  # they come in the middle of the C core, wherever it is
            signal.signal(signal.SIGALRM, lambda *_: None)
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0002)
        make(call, source, int(threads))
        if number == 0:
            control.dg_shim_set(shims.WHOLE, 0, 0)
        if option == "no-wiping":
            control.dg_shim_no_wiping(1)
        start = control.dg_shim_position()
        make(call, source, int(threads))
        if option == "signals":
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(start, control.dg_shim_position(), flush=True)
        control.dg_shim_no_wiping(0)
    sys.stdin.read()


if __name__ == "__main__":
    main()
