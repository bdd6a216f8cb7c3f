"""When memory runs out a call returns its result or raises MemoryError, and no process ends.

A process of its own makes each call, with a full heap and an address space (RLIMIT_AS) that has
only some bytes left. GMP and MPFR abort when an allocation fails. So the core allocates what they
may need before it calls them; bounds on parameters keep that small (tests/c/test_memory.c).

One case is open: other threads that allocate at the same moment, or a system that promises more
memory than it has, may still make an allocation of GMP fail.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import discretegauss as dg
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.process

SPARE = [0, *(2**k for k in range(14, 22)), 3 * 2**17, 2**26]
"""Bytes of address space left to a call."""

LONG = 3**41_300  # 65 459 bits
OTHER = 7**23_300


def out_of(function: Callable[..., Any], *parameters: Any, **options: Any) -> Callable[[], Any]:
    """Return a call."""
    return lambda: function(*parameters, **options)


EXPECTED = dg.discrete_gaussian(10**20, 9, source=TapeSource(4 * bytes(range(256)))).tolist()
GAUSS, LAPLACE = dg.discrete_gaussian, dg.discrete_laplace

CALLS: dict[str, Callable[[], Any]] = {
    "one": out_of(GAUSS, 101),
    "array": out_of(GAUSS, 102, 10_000, method="reference"),
    "array, GMP": out_of(GAUSS, 10**17, 1000, mu=f"1/{2**80}"),
    "objects": out_of(GAUSS, 10**90, 1000, dtype=object),
    "long": out_of(GAUSS, LONG, 3, dtype=object),
    "long, off centre": out_of(GAUSS, Fraction(LONG, OTHER), 2, mu=Fraction(OTHER, LONG)),
    "long laplace": out_of(LAPLACE, Fraction(LONG, OTHER), mu=Fraction(OTHER, LONG)),
    "geometric": out_of(dg.geometric_exp, Fraction(1, LONG), 2, dtype=object),
    "bernoulli": out_of(dg.bernoulli_exp, Fraction(OTHER, LONG), 10),
    "arrays of parameters": out_of(GAUSS, [1, 4, 9], (1000, 3), mu=["1/3", 2, 3]),
    "law": lambda: dg.DiscreteLaplace("7/9").sample(100),
    "threads": out_of(GAUSS, 103, 15_000, method="reference", threads=4),
    "too long": out_of(GAUSS, 1 << 10**6),
    "denominator too long": out_of(GAUSS, Fraction(1, 1 << 10**6)),
    "mu too long": out_of(LAPLACE, 1, mu=Fraction(1, 1 << 10**6)),
    "rho": out_of(dg.privacy.zcdp_delta, 0.5, 4),
}
if dg.build_info()["engine"] == "native":
    CALLS |= {
        "chacha20": out_of(GAUSS, 104, 10_000, source="chacha20"),
        "cells": out_of(GAUSS, 105, 10_000, method="cells"),
        "cells, objects": out_of(GAUSS, 10**91, 1000, dtype=object, method="cells"),
        "cells, long": out_of(GAUSS, LONG, 3, dtype=object, method="cells"),
        "cells, threads": out_of(GAUSS, 106, 120_000, method="cells", threads=4),
        "generalised": lambda: dg.GeneralizedGaussian(11, "3/2").sample(1000),
        "tight delta of large beta": lambda: dg.privacy.delta(dg.GeneralizedGaussian(1, 2**29), 1),
        "tight epsilon of large beta": lambda: dg.privacy.epsilon(
            dg.GeneralizedGaussian(10, 2**40), "1/1000"
        ),
        "beta too long": out_of(dg.generalized_gaussian, 1, 1 << 10**6),
    }


with open("/proc/self/maps", encoding="utf-8") as maps:
    GMP = ctypes.CDLL(next(line.split()[-1] for line in maps if "libgmp" in line))


# --- in the child -------------------------------------------------------------------------------


def address_space() -> int:
    """Return the size of this process's address space in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def limit(n_bytes: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, hard))


def starve(spare: int) -> None:
    """Fill this process's heap and leave it some bytes of address space."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    now = address_space()
    limit(now)
    for size in [2**20, 2**16, 2**12, 2**10, 2**8, 2**6, 2**4]:
        while libc.malloc(size):
            pass
    limit(now + spare)


def next_is_right() -> bool:
    """Return whether a later call, with enough memory, gives the right result."""
    tape = TapeSource(4 * bytes(range(256)))
    return bool(dg.discrete_gaussian(10**20, 9, source=tape).tolist() == EXPECTED)


def outcome(call: Callable[[], Any], spare: int) -> str:
    """Make a call in a starving process, and return how it ended."""
    pid = os.fork()
    if pid == 0:
        status = 90
        try:
            starve(spare)
        except MemoryError:
            os._exit(status)
        try:
            call()
            status = 0
        except MemoryError:
            limit(resource.RLIM_INFINITY)
            status = 1 if next_is_right() else 91
        except dg.errors.ParameterOverflowError:
            status = 2
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return {0: "result", 1: "MemoryError", 2: "overflow"}.get(os.WEXITSTATUS(status), "other")


def abort_in_gmp() -> None:
    """Ask GMP for memory that is not there, as a control."""
    GMP["__gmpz_init2"](ctypes.create_string_buffer(16), ctypes.c_ulong(2**23))


def main() -> None:
    """In the child: make every call with every amount of memory to spare."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    GAUSS([1, 2], method="reference")  # numpy imports modules at its first call
    sys.stderr.close()
    os.close(2)
    calls = CALLS | {"control": abort_in_gmp}
    json.dump({name: [outcome(call, n) for n in SPARE] for name, call in calls.items()}, sys.stdout)


# --- the test -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def outcomes() -> dict[str, list[str]]:
    """Return how each call ended with each amount of memory."""
    output = subprocess.run(
        [sys.executable, __file__], stdout=subprocess.PIPE, check=True, timeout=600
    ).stdout
    report: dict[str, list[str]] = json.loads(output)
    return report


@pytest.mark.parametrize("name", CALLS)
def test_scarce_memory_gives_a_result_or_a_memory_error(
    outcomes: dict[str, list[str]], name: str
) -> None:
    """With enough memory each call gives its result, or says that a parameter is too long.

    After a MemoryError the next call is right (else the outcome is another).
    """
    done = "overflow" if "too long" in name else "result"
    assert outcomes[name][-1] == done
    assert set(outcomes[name]) <= {done, "MemoryError"}


def test_the_harness_sees_scarcity_and_aborts(outcomes: dict[str, list[str]]) -> None:
    """Most calls run out of memory at times. GMP, called directly, ends the process."""
    assert "SIGABRT" in outcomes["control"]
    starved = [name for name in CALLS if "MemoryError" in outcomes[name]]
    assert len(starved) > len(CALLS) / 2


if __name__ == "__main__":
    main()
