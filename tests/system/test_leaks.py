"""Memory does not grow with the number of calls, whatever the call, also where it fails.

Each kind of call is made over and over in a process of its own, in ten rounds. In the first five
caches fill and the heap finds its size; over the last five the resident memory must not grow by
more than `SLACK`, 256 KiB. So by default a leak of 26 bytes a call is found for single draws (10^4
of them in five rounds), of 2.6 KiB for arrays and tables; with -m evidence of a fiftieth or a tenth
of that. A control that keeps 56 bytes a call is found.

    pytest tests/system/test_leaks.py
    pytest tests/system/test_leaks.py -m evidence -s   # 10^6 single draws, and as long of the rest
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import resource
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import discretegauss as dg
from discretegauss._drawing.engines import native

ROUNDS = 10
SLACK = 2**18
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

#: By name: the call, and how often it is made in a round by default (it takes about as long).
CALLS: dict[str, tuple[Callable[[], object], int]] = {
    "one": (lambda: GAUSS(100), 2000),
    "one of a law object": (LAW.sample, 2000),
    "one by GMP": (lambda: GAUSS(10**100), 500),
    "one off centre": (lambda: LAPLACE("7/3", mu="1/3"), 1000),
    "bernoulli and geometric": (lambda: (dg.bernoulli_exp("1/3"), dg.geometric_exp("1/3")), 500),
    "one from a source": (lambda: GAUSS(100, source=_source), 500),
    "array": (lambda: GAUSS(100, 1000, method="reference"), 20),
    "objects": (lambda: GAUSS(10**100, 100, dtype=object), 20),
    "new laws": (lambda: dg.DiscreteGaussian(next(_counter), mu="1/3").sample(), 300),
    "long laws": (lambda: GAUSS(3**1000 + next(_counter), mu="1/3", dtype=object), 100),
    "arrays of parameters": (lambda: GAUSS([1, 4, 9], (10, 3)), 20),
    "other byte order": (lambda: GAUSS(100, out=OUT.byteswap().view(">i8")), 20),
    "threads": (lambda: LAPLACE(100, 10_000, method="reference", threads=3), 20),
    "refused parameter": (lambda: refused(lambda: GAUSS(-1), ValueError), 500),
    "refused type": (lambda: refused(lambda: GAUSS(10**30, 2, dtype=np.int8), OverflowError), 300),
    "failing source": (
        lambda: refused(lambda: GAUSS(100, 9, source=_failing_source), ConnectionError),
        300,
    ),
}
if NATIVE:
    CALLS |= {
        "one by chacha20": (lambda: GAUSS(100, source="chacha20"), 500),
        "cells": (lambda: GAUSS(100, 1000, method="cells"), 100),
        "cells, objects": (lambda: GAUSS(10**100, 100, dtype=object, method="cells"), 50),
        "cells, chacha20 and threads": (
            lambda: GAUSS(100, 50_000, method="cells", source="chacha20", threads=2),
            20,
        ),
        "tables built and given up": (
            lambda: LAPLACE(Fraction(10**9 + next(_counter), 7), 10, method="cells"),
            20,
        ),
        "generalised laws": (
            lambda: dg.GeneralizedGaussian(10**9 + next(_counter), 3).sample(),
            60,  # 256 laws are kept
        ),
        "tables built in threads": (
            lambda: in_a_thread(lambda: LAPLACE(10**9 + next(_counter), 10, method="cells")),
            20,
        ),
        "no such table": (
            lambda: refused(
                lambda: dg.GeneralizedGaussian(
                    "1/2", 2**300 + next(_counter), Fraction(1, 2) - Fraction(1, 2**300)
                ).sample(),
                ValueError,
            ),
            1,
        ),
        "failing source in cells": (
            lambda: refused(
                lambda: GAUSS(100, 9, source=_failing_source, method="cells"), ConnectionError
            ),
            300,
        ),
    }
CONTROL = "control"


def resident() -> int:
    """Resident memory in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def measure(call: Callable[[], object], calls_a_round: int) -> list[int]:
    """Return the resident memory after each round."""
    sizes = []
    for _ in range(ROUNDS):
        for _ in range(calls_a_round):
            call()
        sizes.append(resident())
    return sizes


def leak() -> None:
    """The control."""
    _kept.append(bytes(15))  # 48 bytes, and the list's 8


def main() -> None:
    """In the child: repeat the call of the first argument, so often a round as the second says."""
    name, calls_a_round = sys.argv[1], int(sys.argv[2])
    for n in range(2**14):  # so many numbers Python keeps, from 3.12 on, with their hashes
        hash(Fraction(n, 10**9 + 7))
    if native is not None:
        native.lib.dg_tables_set_budget(2**20)  # which the rounds fill
    call = leak if name == CONTROL else CALLS[name][0]
    json.dump(measure(call, calls_a_round), sys.stdout)


def growth(name: str, calls_a_round: int) -> int:
    """How much a process grows over the second half of its rounds."""
    output = subprocess.run(
        [sys.executable, __file__, name, str(calls_a_round)],
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},  # what threads free is then used again
        stdout=subprocess.PIPE,
        check=True,
        timeout=1800,
    ).stdout
    sizes: list[int] = json.loads(output)
    return sizes[-1] - sizes[ROUNDS // 2 - 1]


@pytest.mark.parametrize("name", CALLS)
def test_memory_does_not_grow(name: str) -> None:
    """The resident memory after many calls is that after half of them, but for a few pages."""
    assert growth(name, CALLS[name][1]) <= SLACK


def test_the_check_finds_a_leak() -> None:
    """56 bytes a call, kept 10 000 times, are found."""
    assert growth(CONTROL, 2000) > SLACK


class _Source:
    """A source that a weak reference can follow."""

    def __init__(self, error: type[BaseException] | None) -> None:
        self.error = error

    def __call__(self, buffer: memoryview) -> None:
        if self.error is not None:
            raise self.error
        buffer[:] = os.urandom(len(buffer))


@pytest.mark.parametrize("error", [None, ConnectionError])
@pytest.mark.parametrize("parameter", [100, [100, 1], 10**60])
@pytest.mark.parametrize("size", [None, 2])
def test_a_source_is_let_go_with_its_call(
    size: int | None, parameter: object, error: type[BaseException] | None
) -> None:
    """By itself, not when Python next looks for cycles; also after its error is forgotten."""
    source = _Source(error)
    alive = weakref.ref(source)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(ConnectionError):
            GAUSS(parameter, size, dtype=object, source=source)
        del source
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.evidence
@pytest.mark.parametrize("name", CALLS)
def test_memory_does_not_grow_in_a_million_calls(name: str) -> None:
    """The same with ten or fifty times as many calls: 10^6 single draws, thousands of tables."""
    by_default = CALLS[name][1]
    calls_a_round = (50 if by_default >= 100 else 10) * by_default
    grown = growth(name, calls_a_round)
    print(f"{name}: {ROUNDS * calls_a_round} calls, {grown} bytes more in their second half")
    assert grown <= SLACK


if __name__ == "__main__":
    main()
