"""Ctrl-C in the middle of a long draw: KeyboardInterrupt, no draws, and the next call is right.

The draws are made in an interpreter of their own, so that a stray signal ends no other test. By
default the signal comes when the process has used so much of the processor: a busy machine puts it
off as it does the draw. The evidence run sends it from another thread, at random moments, and
prints how soon the answer came; so does ``python benchmarks/interrupt.py`` (target: 100 ms).

    pytest tests/system/test_interrupt.py
    pytest tests/system/test_interrupt.py -m evidence -s
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discretegauss as dg

# When an import is cut short while it runs a string, as that of a dataclass does, Python remembers
# it, and ends by SIGINT in the end, although the KeyboardInterrupt was caught.
from discretegauss import selection, snapping
from discretegauss.testing import TapeSource

LONG = 5 * 10**8
"""Draws of a second and more. Arrays of this size cost no memory until they are written to."""


def slow_source(buffer: memoryview) -> None:
    """A caller's source: the signal may find the interpreter within it or within the C core."""
    buffer[:] = os.urandom(len(buffer))


def draw_int8() -> object:
    return dg.discrete_gaussian(1, LONG, dtype=np.int8)


def draw_objects() -> object:
    return dg.discrete_gaussian(10**100, 10**7, dtype=object)


def draw_bernoulli() -> object:
    return dg.bernoulli_exp(Fraction(1, 3), LONG // 8)


def draw_long_parameters() -> object:
    return dg.discrete_gaussian(3**40_000, 10**6, dtype=object)


def draw_by_two_threads() -> object:
    return dg.discrete_gaussian(1, LONG, dtype=np.int8, threads=2)


def draw_from_a_source() -> object:
    return dg.discrete_laplace("1/7", LONG, dtype=np.int8, source=slow_source)


def draw_with_arrays_of_parameters() -> object:
    return dg.discrete_gaussian([1, 4], (LONG // 8, 2), dtype=np.int8)


def sort_long_parameters() -> object:
    return dg.discrete_gaussian(np.random.default_rng(1).random(5 * 10**6), mu=[[0], [1]])


def draw_by_chacha20() -> object:
    return dg.discrete_gaussian(1, LONG, dtype=np.int8, method="reference", source="chacha20")


def draw_from_cells() -> object:
    return dg.discrete_gaussian(4, LONG, dtype=np.int8, method="cells")


def draw_from_cells_by_chacha20_and_threads() -> object:
    """So often that the other thread cannot do it all while this one waits for a processor."""
    options: dict[str, Any] = {"method": "cells", "source": "chacha20", "threads": 2}
    for _ in range(100):
        drawn = dg.discrete_gaussian(4, LONG, dtype=np.int8, **options)
    return drawn


def draw_objects_from_cells() -> object:
    return dg.discrete_gaussian(10**100, 10**7, dtype=object, method="cells")


def draw_from_cells_from_a_source() -> object:
    return dg.discrete_laplace(1000, LONG // 4, dtype=np.int32, method="cells", source=slow_source)


def build_tables() -> None:
    """Tables of long parameters, one after the other."""
    for i in range(10**6):
        beta = Fraction(5**20_000 + 1 + i, 5**20_000)
        scale = Fraction(3**40_000, 7**20_000)
        dg.generalized_gaussian(scale, beta, 10, mu=1, dtype=object, method="cells")


def give_up_a_law_that_fits_nothing() -> None:
    """One that is refused after a while: the bounds of the exponents say nothing."""
    for _ in range(10**6):
        with contextlib.suppress(dg.errors.ParameterValueError):
            mu = Fraction(1, 2) - Fraction(1, 3**3000)
            dg.GeneralizedGaussian("1/2", 3**3000, mu).sample()


def select() -> object:
    return selection.permute_and_flip([0, 1, 2], 1, size=LONG // 8)


def snap() -> object:
    return snapping.snapping_laplace(np.zeros(LONG // 50), 1, 8)


DRAWS = [
    select,
    snap,
    draw_int8,
    draw_objects,
    draw_bernoulli,
    draw_long_parameters,
    draw_by_two_threads,
    draw_from_a_source,
    draw_with_arrays_of_parameters,
    sort_long_parameters,
]
if dg.build_info()["engine"] == "native":
    DRAWS += [
        draw_by_chacha20,
        draw_from_cells,
        draw_from_cells_by_chacha20_and_threads,
        draw_objects_from_cells,
        draw_from_cells_from_a_source,
        build_tables,
        give_up_a_law_that_fits_nothing,
    ]


def interrupted(draw: Callable[[], object], seconds: float) -> bool:
    """Draw, with SIGINT when so much of the processor is used; whether KeyboardInterrupt came."""
    signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        draw()
    except KeyboardInterrupt:
        return True
    raise RuntimeError("the draw was over before the signal came: make it longer")


def latency(draw: Callable[[], object]) -> float:
    """Draw, with SIGINT by another thread, at any moment; seconds until KeyboardInterrupt came."""
    sent: list[float] = []

    def send() -> None:
        time.sleep(random.uniform(0.05, 0.15))
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    try:
        sender.start()
        draw()
        sender.join()
        time.sleep(1)
        raise RuntimeError("the draw was over before the signal came: make it longer")
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]


def draws_from_a_tape() -> list[int]:
    """The same draws every time, of several laws, as long as the library is in order."""
    tape = TapeSource(random.Random(1).randbytes(20_000))
    return [
        *dg.discrete_gaussian(100, 50, source=tape).tolist(),
        *dg.discrete_gaussian(10**60, 50, dtype=object, source=tape).tolist(),
        *dg.discrete_laplace("5/3", 50, mu="1/3", source=tape).tolist(),
    ]


def in_order(expected: list[int]) -> bool:
    """Whether the next calls are right: from a tape, and from the operating system."""
    fresh = dg.discrete_gaussian(2**100, 1000)
    return draws_from_a_tape() == expected and len(np.unique(fresh)) == 1000


def run(*arguments: object) -> Any:
    """Run this file in a fresh interpreter; what it prints."""
    command = [sys.executable, __file__, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""  # nothing is printed behind the caller's back
    return json.loads(result.stdout)


def test_ctrl_c_ends_a_long_draw_and_the_next_is_right() -> None:
    """SIGINT in a long draw raises KeyboardInterrupt, and nothing else, each of three times."""
    assert run("three times") == {draw.__name__: [[True, True]] * 3 for draw in DRAWS}


def test_ctrl_c_leaves_no_draws_in_the_callers_array() -> None:
    """After KeyboardInterrupt the array given as out holds zeros, and what it held.

    What was not begun is not written to: it may be larger than memory, and Ctrl-C is told at once.
    """
    assert run("out") == {"first": 0, "last": 1, "no_draws": True}


def draw_into_out() -> dict[str, Any]:
    """The scenario of the test above."""
    out = np.full((20_000_000,), 1)
    interrupted(lambda: dg.discrete_gaussian(2**80, out=out), 0.06)
    no_draws = bool(((out == 0) | (out == 1)).all())
    return {"first": int(out[0]), "last": int(out[-1]), "no_draws": no_draws}


def three_times() -> dict[str, list[list[bool]]]:
    """Of each draw whether it was interrupted, and the next were right."""
    expected = draws_from_a_tape()
    return {
        draw.__name__: [
            [interrupted(draw, seconds), in_order(expected)] for seconds in (0.03, 0.06, 0.09)
        ]
        for draw in DRAWS
    }


@pytest.mark.evidence
@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_report_how_soon_ctrl_c_is_answered(draw: Callable[[], object]) -> None:
    """Prints the latencies of twenty interruptions; asserts that each came, and the next draws."""
    report = run("latencies", draw.__name__, 20)
    seconds = sorted(report["seconds"])
    print(f"{draw.__name__}: median {seconds[10] * 1e3:.0f} ms, worst {seconds[-1] * 1e3:.0f} ms")
    assert len(seconds) == 20
    assert report["in_order"]


def latencies(name: str, repeats: int) -> dict[str, Any]:
    """Of one draw, interrupted so many times."""
    expected = draws_from_a_tape()
    seconds = [latency(globals()[name]) for _ in range(repeats)]
    return {"seconds": seconds, "in_order": in_order(expected)}


def main() -> None:
    """Run the scenario of the first argument."""
    scenario, *arguments = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores SIGINT
    if scenario == "latencies":
        print(json.dumps(latencies(arguments[0], int(arguments[1]))))
    else:
        print(json.dumps(draw_into_out() if scenario == "out" else three_times()))


if __name__ == "__main__":
    main()
