"""Memory does not grow with the number of calls, successful or not.

A process of its own repeats each kind of call in ten rounds. In the first five caches fill. Over
the last five the bytes in use by malloc, for Python and the core, must not grow by more than
`SLACK`, 64 KiB. So by default the test finds a leak of 26 bytes a call for single draws (2500 in
five rounds), and of 2.6 KiB for arrays; with -m evidence a hundredth of that. A control that keeps
56 bytes a call is found.

    pytest tests/system/test_leaks.py
    pytest tests/system/test_leaks.py -m evidence -s   # 10^6 single draws, the others as long
"""

from __future__ import annotations

import contextlib
import ctypes
import fractions
import gc
import itertools
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once

import discretegauss as dg

ROUNDS = 10
SLACK = 2**16
needs_mallinfo = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library does not tell"
)
NATIVE = dg.build_info()["engine"] == "native"

_counter = itertools.count(1)
_kept: list[bytes] = []


def _source(buffer: memoryview) -> None:
    buffer[:] = os.urandom(len(buffer))


def _failing_source(_buffer: memoryview) -> None:
    raise ConnectionError


def refused(call: Callable[[], object], error: type[Exception]) -> None:
    """Make a call that must fail."""
    with contextlib.suppress(error):
        call()
        raise RuntimeError("the call did not fail")


def in_a_thread(call: Callable[[], object]) -> None:
    """Make a call in a thread that then ends."""
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


GAUSS, LAPLACE = dg.discrete_gaussian, dg.discrete_laplace
LAW = dg.DiscreteGaussian(100)
OUT = np.empty(1000, np.int64)

#: By name: the call, and how often a round makes it by default (all rounds take about as long).
CALLS: dict[str, tuple[Callable[[], object], int]] = {
    "one": (lambda: GAUSS(100), 500),
    "one of a law object": (LAW.sample, 500),
    "one by GMP": (lambda: GAUSS(10**100), 125),
    "one off centre": (lambda: LAPLACE("7/3", mu="1/3"), 250),
    "bernoulli and geometric": (lambda: (dg.bernoulli_exp("1/3"), dg.geometric_exp("1/3")), 125),
    "one from a source": (lambda: GAUSS(100, source=_source), 125),
    "array": (lambda: GAUSS(100, 1000, method="reference"), 5),
    "objects": (lambda: GAUSS(10**100, 100, dtype=object), 5),
    "new laws": (lambda: dg.DiscreteGaussian(next(_counter), mu="1/3").sample(), 75),
    "long laws": (
        lambda: GAUSS(3**1000 + next(_counter), mu="1/3", dtype=object),
        60,
    ),  # 256 laws are kept
    "arrays of parameters": (lambda: GAUSS([1, 4, 9], (10, 3)), 5),
    "other byte order": (lambda: GAUSS(100, out=OUT.byteswap().view(">i8")), 5),
    "threads": (lambda: LAPLACE(100, 10_000, method="reference", threads=3), 5),
    "refused parameter": (lambda: refused(lambda: GAUSS(-1), ValueError), 125),
    "refused type": (lambda: refused(lambda: GAUSS(10**30, 2, dtype=np.int8), OverflowError), 75),
    "failing source": (
        lambda: refused(lambda: GAUSS(100, 9, source=_failing_source), ConnectionError),
        75,
    ),
}
if NATIVE:
    CALLS |= {
        "one by getrandom": (lambda: GAUSS(100, source="getrandom"), 125),
        "cells": (lambda: GAUSS(100, 1000, method="cells"), 25),
        "cells, objects": (lambda: GAUSS(10**100, 100, dtype=object, method="cells"), 12),
        "cells, threads": (lambda: GAUSS(100, 50_000, method="cells", threads=2), 5),
        "tables built and given up": (
            lambda: LAPLACE(Fraction(10**9 + next(_counter) % 20, 7), 10, method="cells"),
            10,
        ),
        "generalised laws": (
            lambda: dg.GeneralizedGaussian(10**9 + next(_counter), 3).sample(),
            60,
        ),
        "tables built in threads": (
            lambda: in_a_thread(lambda: LAPLACE(10**9 + next(_counter) % 20, 10, method="cells")),
            10,
        ),
        "no such table": (
            lambda: refused(
                lambda: dg.GeneralizedGaussian(
                    "1/2", 2**300 + next(_counter), Fraction(1, 2) - Fraction(1, 2**300)
                ).sample(),
                ValueError,
            ),
            2,  # 256 laws are kept
        ),
        "failing source in cells": (
            lambda: refused(
                lambda: GAUSS(100, 9, source=_failing_source, method="cells"), ConnectionError
            ),
            75,
        ),
    }
CONTROL = "control"

#: malloc serves all from one arena, and takes freed blocks back at once.
ENVIRONMENT = {
    "PYTHONMALLOC": "malloc",
    "MALLOC_ARENA_MAX": "1",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
}


class Mallinfo(ctypes.Structure):
    """The result of mallinfo2(3)."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def in_use() -> int:
    """Return how many bytes malloc has given out."""
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    found = libc.mallinfo2()
    return int(found.uordblks + found.hblkhd)


def forget_hashes() -> None:
    """Empty the cache in which Python, from 3.12 on, keeps 2^14 fractions of any length."""
    kept: Any = getattr(fractions, "_hash_algorithm", None)
    if hasattr(kept, "cache_clear"):
        kept.cache_clear()


def measure(call: Callable[[], object], calls_a_round: int) -> list[int]:
    """Return the bytes in use after each round."""
    sizes = []
    for _ in range(ROUNDS):
        for _ in range(calls_a_round):
            call()
        forget_hashes()
        gc.collect()
        sizes.append(in_use())
    return sizes


def leak() -> None:
    """Leak 56 bytes, as a control."""
    _kept.append(bytes(15))  # 48 bytes, and the list's 8


def main() -> None:
    """In the child: repeat the calls of the names given, each in a fork of its own."""
    times, *names = sys.argv[1:]
    gc.freeze()
    for name in names:
        if os.fork() == 0:
            call, by_default = CALLS.get(name, (leak, 500))
            print(json.dumps([name, measure(call, int(times) * by_default)]), flush=True)
            os._exit(0)
        os.wait()


def growth(times: int, *names: str) -> dict[str, int]:
    """Return how much a process grows over its last five rounds, for each kind of call."""
    output = subprocess.run(
        [sys.executable, __file__, str(times), *names],
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.PIPE,
        check=True,
        timeout=1800,
    ).stdout
    found: dict[str, list[int]] = dict(map(json.loads, output.splitlines()))
    return {name: sizes[-1] - sizes[ROUNDS // 2 - 1] for name, sizes in found.items()}


@needs_mallinfo
def test_memory_does_not_grow() -> None:
    """Memory in use grows by a few pages at most over the second half of the calls."""
    grown = growth(1, *CALLS)
    assert set(grown) == set(CALLS)
    assert {name: n_bytes for name, n_bytes in grown.items() if n_bytes > SLACK} == {}


@needs_mallinfo
def test_the_check_finds_a_leak() -> None:
    """56 bytes a call, kept 2500 times, are found."""
    assert growth(1, CONTROL)[CONTROL] > SLACK


class _Source:
    """A source that a weak reference can follow."""

    def __init__(self, error: type[BaseException] | None) -> None:
        self.error = error

    def __call__(self, buffer: memoryview) -> None:
        if self.error is not None:
            raise self.error
        buffer[:] = os.urandom(len(buffer))


@at_once(
    ("size", "parameter", "error"),
    itertools.product([None, 2], [100, [100, 1], 10**60], [None, ConnectionError]),
)
def test_a_source_is_let_go_with_its_call(
    size: int | None, parameter: object, error: type[BaseException] | None
) -> None:
    """Its last reference goes with the call or its error; no collection of cycles is needed."""
    source = _Source(error)
    alive = weakref.ref(source)
    gc.disable()
    try:
        with contextlib.suppress(ConnectionError):
            GAUSS(parameter, size, dtype=object, source=source)
        del source
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.evidence
@needs_mallinfo
@pytest.mark.parametrize("name", CALLS)
def test_memory_does_not_grow_in_a_million_calls(name: str) -> None:
    """40 or 200 times as many calls make 10^6 single draws, or thousands of tables."""
    times = 200 if CALLS[name][1] >= 25 else 40
    grown = growth(times, name)[name]
    print(f"{name}: {ROUNDS * times * CALLS[name][1]} calls, {grown} bytes more in the second half")
    assert grown <= SLACK


if __name__ == "__main__":
    main()
