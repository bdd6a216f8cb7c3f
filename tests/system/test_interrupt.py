"""Ctrl-C during a draw raises KeyboardInterrupt, stops all threads, and spoils no later draw.

A child interpreter under getrandom_shim.c draws until the signal comes, at a counted call of
getrandom. The clock of the shim makes the core look for signals after each piece of a fill, so the
call tells the piece.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shims

import discretegauss as dg

# When an import is cut short while it runs a string, as that of a dataclass does, Python remembers
# it, and ends by SIGINT in the end, although the KeyboardInterrupt was caught.
from discretegauss import selection, snapping
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")

LONG = 5 * 10**7
"""Arrays of this size cost no memory until they are written to."""


def slow_source(buffer: memoryview) -> None:
    """Fill the buffer of a caller's source, so that the signal finds the interpreter within it."""
    buffer[:] = os.urandom(len(buffer))


def table_of_long_parameters() -> object:
    beta, scale = Fraction(5**2000 + 1, 5**2000), Fraction(3**4000, 7**2000)
    return dg.GeneralizedGaussian(scale, beta, mu=1).sample(10, dtype=object, method="cells")


_int8 = partial(dg.discrete_gaussian, 4, LONG, dtype=np.int8)
_objects = partial(dg.discrete_gaussian, 10**100, 10**5, dtype=object)

DRAWS: dict[str, Callable[[], object]] = {
    "select": lambda: selection.permute_and_flip([0, 1, 2], 1, size=LONG // 8),
    "snap": lambda: snapping.snapping_laplace(np.zeros(LONG // 500), 1, 8),
    "auto": _int8,
    "reference": partial(_int8, method="reference"),
    "objects": _objects,
    "bernoulli": lambda: dg.bernoulli_exp(Fraction(1, 3), LONG // 8),
    "long parameters": lambda: dg.discrete_gaussian(3**4000, 10**5, dtype=object),
    "a source": lambda: dg.discrete_laplace("1/7", LONG, dtype=np.int8, source=slow_source),
    "arrays of parameters": lambda: dg.discrete_gaussian([1, 4], (10**5, 2), dtype=np.int8),
    "sums": lambda: dg.add_noise(np.zeros(10**6, np.int64), dg.DiscreteGaussian(100)),
}
THREADED: dict[str, Callable[[], object]] = {"threads": partial(_int8, threads=2)}
if dg.build_info()["engine"] == "native":
    DRAWS |= {
        "isochronous": partial(_int8, method="isochronous"),
        "cells by getrandom": partial(_int8, method="cells", source="getrandom"),
        "cells of objects": partial(_objects, method="cells"),
        "tables": table_of_long_parameters,
    }
    THREADED |= {"cells by threads": partial(_int8, method="cells", threads=2)}


def interrupt(draw: Callable[[], object], call: int) -> int:
    """Draw until SIGINT comes, at this call of getrandom; return the number of calls in the end."""
    control = shims.control()
    control.dg_shim_set(shims.SIGNAL, 0, call)
    try:
        while True:
            draw()
    except KeyboardInterrupt:
        return int(control.dg_shim_calls())
    finally:
        control.dg_shim_set(shims.REAL, 0, 0)


def draws_from_a_tape() -> list[int]:
    """Return draws of several laws from a tape, always the same if the library is in order."""
    tape = TapeSource(random.Random(1).randbytes(20_000))
    return [
        *dg.discrete_gaussian(100, 50, source=tape).tolist(),
        *dg.discrete_gaussian(10**60, 50, dtype=object, source=tape).tolist(),
        *dg.discrete_laplace("5/3", 50, mu="1/3", source=tape).tolist(),
    ]


def in_order_after_each(draws: dict[str, Callable[[], object]] = DRAWS) -> dict[str, bool]:
    """Return for each draw whether it ended at once, wherever interrupted, and the next was right.

    A piece by getrandom is four calls of it.
    """
    expected, found = draws_from_a_tape(), dict.fromkeys(draws, True)
    for name, draw in draws.items():
        for call in range(1, 11):
            found[name] &= interrupt(draw, call) < call + (4 if draws is DRAWS else 100)
        fresh = dg.discrete_gaussian(2**100, 1000)
        found[name] &= draws_from_a_tape() == expected and len(np.unique(fresh)) == 1000
    return found


def in_order_after_threads() -> dict[str, bool]:
    return in_order_after_each(THREADED)


def keeps_out() -> bool:
    """Return whether the call leaves an array alone after it has raised."""
    out = np.empty(20_000_000, np.int64)
    interrupt(partial(dg.discrete_gaussian, 2**80, out=out, threads=8), 20)
    out.fill(7)
    for _ in range(10):
        draws_from_a_tape()
    return bool((out == 7).all())


def run(shim: Path, scenario: Callable[..., object]) -> Any:
    """Run a scenario in a fresh interpreter, and return its result."""
    command = [sys.executable, __file__, scenario.__name__]
    result = subprocess.run(
        command,
        env=shims.environment(shim),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""  # nothing is printed behind the caller's back
    return json.loads(result.stdout)


def test_ctrl_c_ends_a_draw_and_the_next_is_right(getrandom_shim: Path) -> None:
    """SIGINT at each of the first ten pieces of a draw, in turn, raises KeyboardInterrupt alone."""
    assert run(getrandom_shim, in_order_after_each) == dict.fromkeys(DRAWS, True)


@pytest.mark.process
def test_ctrl_c_ends_a_draw_by_threads_and_the_next_is_right(getrandom_shim: Path) -> None:
    """The counted call of getrandom may be any thread's."""
    assert run(getrandom_shim, in_order_after_threads) == dict.fromkeys(THREADED, True)


@pytest.mark.process
def test_after_ctrl_c_no_thread_writes_to_the_callers_array(getrandom_shim: Path) -> None:
    """Threads are joined before the error is raised."""
    assert run(getrandom_shim, keeps_out)


def main() -> None:
    """Run the scenario of the first argument."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores SIGINT
    print(json.dumps(globals()[sys.argv[1]]()))


if __name__ == "__main__":
    main()
