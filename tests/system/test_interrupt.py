"""Ctrl-C in the middle of a draw: KeyboardInterrupt, no thread that goes on, and the next is right.

The draws are made in an interpreter of their own, so that a stray signal ends no other test, again
and again until the signal comes: when the process has used so much of the processor, as a busy
machine puts it off as it does the draws. It is answered in 4 to 58 ms (medians on two idle cores,
2026-11-23).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import discretegauss as dg

# When an import is cut short while it runs a string, as that of a dataclass does, Python remembers
# it, and ends by SIGINT in the end, although the KeyboardInterrupt was caught.
from discretegauss import selection, snapping
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.process

LONG = 5 * 10**8
"""Arrays of this size cost no memory until they are written to."""


def slow_source(buffer: memoryview) -> None:
    """A caller's source: the signal may find the interpreter within it or within the C core."""
    buffer[:] = os.urandom(len(buffer))


def table_of_long_parameters() -> object:
    beta, scale = Fraction(5**20_000 + 1, 5**20_000), Fraction(3**40_000, 7**20_000)
    return dg.GeneralizedGaussian(scale, beta, mu=1).sample(10, dtype=object, method="cells")


_int8 = partial(dg.discrete_gaussian, 4, LONG, dtype=np.int8)
_objects = partial(dg.discrete_gaussian, 10**100, 10**6, dtype=object)

DRAWS: dict[str, Callable[[], object]] = {
    "select": lambda: selection.permute_and_flip([0, 1, 2], 1, size=LONG // 8),
    "snap": lambda: snapping.snapping_laplace(np.zeros(LONG // 50), 1, 8),
    "auto": _int8,
    "reference": partial(_int8, method="reference"),
    "objects": _objects,
    "bernoulli": lambda: dg.bernoulli_exp(Fraction(1, 3), LONG // 8),
    "long parameters": lambda: dg.discrete_gaussian(3**40_000, 10**6, dtype=object),
    "threads": partial(_int8, threads=2),
    "a source": lambda: dg.discrete_laplace("1/7", LONG, dtype=np.int8, source=slow_source),
    "arrays of parameters": lambda: dg.discrete_gaussian([1, 4], (10**6, 2), dtype=np.int8),
    "sums": lambda: dg.add_noise(np.zeros(10**7, np.int64), dg.DiscreteGaussian(100)),
}
if dg.build_info()["engine"] == "native":
    DRAWS |= {
        "isochronous": partial(_int8, method="isochronous"),
        "cells by getrandom": partial(_int8, method="cells", source="getrandom"),
        "cells by threads": partial(_int8, method="cells", threads=2),
        "cells of objects": partial(_objects, method="cells"),
        "tables": table_of_long_parameters,
    }


def interrupt(draw: Callable[[], object], seconds: float = 0.03) -> None:
    """Draw until SIGINT comes: when so much of the processor is used."""
    signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        while True:
            draw()
    except KeyboardInterrupt:
        return


def draws_from_a_tape() -> list[int]:
    """The same draws every time, of several laws, as long as the library is in order."""
    tape = TapeSource(random.Random(1).randbytes(20_000))
    return [
        *dg.discrete_gaussian(100, 50, source=tape).tolist(),
        *dg.discrete_gaussian(10**60, 50, dtype=object, source=tape).tolist(),
        *dg.discrete_laplace("5/3", 50, mu="1/3", source=tape).tolist(),
    ]


def in_order_after_each() -> dict[str, bool]:
    """Of each draw whether, once it was interrupted, the next were right."""
    expected, found = draws_from_a_tape(), {}
    for name, draw in DRAWS.items():
        interrupt(draw)
        fresh = dg.discrete_gaussian(2**100, 1000)
        found[name] = draws_from_a_tape() == expected and len(np.unique(fresh)) == 1000
    return found


def keeps_out() -> bool:
    """Whether an array is the caller's again once the call has raised."""
    out = np.empty(20_000_000, np.int64)
    interrupt(partial(dg.discrete_gaussian, 2**80, out=out, threads=8), 0.1)
    out.fill(7)
    for _ in range(10):
        draws_from_a_tape()
    return bool((out == 7).all())


def run(scenario: Callable[[], object]) -> Any:
    """Run a scenario in a fresh interpreter; what it returns."""
    command = [sys.executable, __file__, scenario.__name__]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""  # nothing is printed behind the caller's back
    return json.loads(result.stdout)


def test_ctrl_c_ends_a_draw_and_the_next_is_right() -> None:
    """SIGINT in the middle of a draw raises KeyboardInterrupt, and nothing else."""
    assert run(in_order_after_each) == dict.fromkeys(DRAWS, True)


def test_after_ctrl_c_no_thread_writes_to_the_callers_array() -> None:
    """Threads are joined before the error is raised."""
    assert run(keeps_out)


def main() -> None:
    """Run the scenario of the first argument."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores SIGINT
    print(json.dumps(globals()[sys.argv[1]]()))


if __name__ == "__main__":
    main()
