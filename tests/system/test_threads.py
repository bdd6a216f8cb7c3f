"""Several threads may draw at once, and one call may use several threads.

At sigma2 = 2^116 two equal values among n have a probability of about n^2 / (7 * 2^58): below 2 *
10^-8 for 160 000 values, so that no two draws can have come from the same random words. Among a
million one pair is let pass, and two have a probability below 10^-12.

tests/c/test_threads.c, built with -DDG_SANITIZE=thread, looks for races.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inputs import must_not_draw
from law_checks import gaussian_table, rejected

import discretegauss as dg
from discretegauss.testing import TapeSource

SIGMA2 = 2**116
ENGINE = dg.build_info()["engine"]
VALUES = 10_000 if ENGINE == "native" else 500
THREADS = 8

#: Every path from random words to draws.
WAYS: dict[str, dict[str, Any]] = {"reference": {"method": "reference"}}
if ENGINE == "native":
    WAYS |= {
        "cells": {"method": "cells"},
        "by getrandom": {"method": "reference", "source": "getrandom"},
        "cells by getrandom": {"method": "cells", "source": "getrandom"},
        "cells of objects": {"method": "cells", "dtype": object},
    }
ways = pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)


def at_once(draw: Callable[[int], Any]) -> list[Any]:
    """Return draw(0), draw(1), ... by threads that begin together and are switched often."""
    start = threading.Barrier(THREADS)

    def begin(i: int) -> Any:
        start.wait()
        return draw(i)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(begin, range(THREADS)))
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.process
@ways
def test_threads_that_draw_at_once_share_no_value(options: dict[str, Any]) -> None:
    """Eight threads draw from one law object, and no value twice, in one thread or in two."""
    law = dg.DiscreteGaussian(SIGMA2, mu="1/3")
    values = np.concatenate(at_once(lambda _: law.sample(VALUES, **options)))
    assert len(set(values.tolist())) == THREADS * VALUES


@pytest.mark.process
def test_single_draws_of_threads_share_no_value() -> None:
    """Eight threads draw one by one from one law object, and no value twice."""
    law = dg.DiscreteLaplace(2**55)
    values = at_once(lambda _: [law.sample() for _ in range(VALUES // 10)])
    assert len({x for drawn in values for x in drawn}) == THREADS * (VALUES // 10)


@pytest.mark.process
@pytest.mark.usefixtures("native_engine")
def test_threads_may_build_one_table_at_once() -> None:
    """Each thread finds or builds a table that is new to all, and draws from it rightly."""

    def draw(mu: int, _i: int) -> Any:
        return dg.discrete_gaussian(SIGMA2, 1000, mu=mu, method="cells")

    for mu in range(2**30, 2**30 + 10):
        values = at_once(partial(draw, mu))
        assert len(set(np.concatenate(values).tolist())) == THREADS * 1000


@pytest.mark.usefixtures("native_engine")
def test_mpfr_keeps_its_state_per_thread() -> None:
    """The MPFR in use was built for threads, so each has its own flags and constants."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    libraries = {line.split()[-1] for line in maps if "libmpfr" in line}
    assert libraries
    assert all(ctypes.CDLL(library).mpfr_buildopt_tls_p() == 1 for library in libraries)


@pytest.mark.process
@ways
@pytest.mark.parametrize("threads", [2, 8])
def test_one_call_by_several_threads_draws_no_value_twice(
    threads: int, options: dict[str, Any]
) -> None:
    """Each thread of a call has bits of its own, and a part of the array (tests/c/test_run.c)."""
    size = threads * (130_000 if options["method"] == "cells" else 2 * VALUES)
    values = dg.discrete_gaussian(SIGMA2, size, threads=threads, **options)
    assert len(set(values.tolist())) >= size - 1


@pytest.mark.process
def test_the_count_of_values_catches_words_used_twice() -> None:
    """Threads whose sources hand out the same words have all their draws in common."""
    tape = np.random.default_rng(1).bytes(200_000)
    values = at_once(lambda _: dg.discrete_gaussian(SIGMA2, 500, source=TapeSource(tape)))
    assert len(set(np.concatenate(values).tolist())) == 500


@pytest.mark.process
@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("source", ["getrandom", "chacha20"])
@pytest.mark.parametrize("method", ["reference", "cells"])
def test_draws_by_several_threads_follow_the_law(method: Any, source: Any) -> None:
    """A million draws by three threads pass for draws of the exact law."""
    draws = dg.discrete_gaussian(100, 1_000_000, threads=3, method=method, source=source)
    assert rejected(draws, gaussian_table(Fraction(100))) == []


@pytest.mark.parametrize("size", [0, 1, 2, (3, 5), (0, 4)])
def test_more_threads_than_draws(size: Any) -> None:
    """Small results come out whole, whatever the number of threads."""
    draws = dg.discrete_laplace(10**12, size, threads=8)
    assert draws.shape == np.empty(size).shape
    assert (draws != 0).all()  # at scale 10^12 a zero is an element that nobody filled


@pytest.mark.process
def test_one_output_for_each_thread() -> None:
    """Threads that fill disjoint slices of one array leave each other's alone."""
    out = np.zeros((4, VALUES), dtype=np.int64)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: dg.discrete_gaussian(SIGMA2, out=row), out))
    assert len(np.unique(out)) == out.size


def test_a_callers_source_is_not_shared_between_threads() -> None:
    """threads=2 with a caller's source is refused, because its bits would come in no order."""
    with pytest.raises(ValueError, match="threads"):
        dg.discrete_gaussian(1, 3, source=must_not_draw, threads=2)


SMALL_STACKS = """
import threading
from fractions import Fraction
import discretegauss as dg

threading.stack_size(64 * 1024)
for method in ("reference", "auto"):
    dg.discrete_gaussian(100, 10**5, method=method, threads=3)
if dg.build_info()["engine"] == "native":
    for source in ("getrandom", "chacha20"):
        dg.discrete_gaussian(101, 10**6, method="cells", threads=3, source=source)
    dg.discrete_gaussian(3**41_000, 5, mu=Fraction(1, 3), dtype=object, method="cells")
assert threading.stack_size() == 64 * 1024
threading.stack_size(2**24)
dg.discrete_gaussian(100, 10**5, threads=2)
assert threading.stack_size() == 2**24
"""


@pytest.mark.process
def test_threads_of_ours_have_a_stack_of_their_own_size() -> None:
    """threading.stack_size() may be too small for the core, and stays unchanged."""
    subprocess.run([sys.executable, "-c", SMALL_STACKS], check=True, timeout=600)


AT_SHUTDOWN = """
import discretegauss as dg

class Last:
    def __del__(self, draw=dg.discrete_gaussian, print=print):
        print(draw(1, 10**5, threads=3).shape, draw([1, 2] * 2**20).shape)

last = Last()
"""


@pytest.mark.process
@pytest.mark.usefixtures("native_engine")  # plain Python is slow
def test_draws_while_the_interpreter_ends() -> None:
    """No new thread can start then, and the draw waits for none."""
    command = [sys.executable, "-c", AT_SHUTDOWN]
    ended = subprocess.run(command, check=True, timeout=600, capture_output=True, text=True)
    assert ended.stdout == "(100000,) (2097152,)\n", ended.stderr
